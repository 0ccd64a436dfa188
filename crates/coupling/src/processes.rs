//! The processes of a program: started together, watched, ended together.

mod guard;
mod needs;
mod relay;

pub use needs::{Dialect, ProgramRefused, dialect};
pub use relay::Output;

use crate::environment::{RankSeat, VARIABLE, WAIT_VARIABLE};
use guard::Guard;
use relay::{Relay, Relaying};
use std::ffi::OsString;
use std::io::{Error, ErrorKind, IsTerminal};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is to be started.
#[derive(Clone, Debug)]
pub struct LaunchWish {
    /// The program and its arguments, the same for all ranks.
    pub command: Vec<OsString>,
    /// How many processes.
    pub ranks: u32,
    /// Variables of the environment besides those that are there.
    pub environment: Vec<(OsString, OsString)>,
    /// Folder in which they start; that of this process where it is not said.
    pub folder: Option<PathBuf>,
    /// Where what they print goes.
    pub output: Output,
    /// A rank that something else is started for, with the program and its arguments after it: a debugger.
    pub instead: Option<(u32, Vec<OsString>)>,
    /// A rank that waits for a debugger in `MPI_Init`.
    pub waits: Option<u32>,
    /// Whether the first rank, or the one in a debugger, reads what this process would; the others read nothing.
    pub takes_input: bool,
}

impl LaunchWish {
    /// Whether a rank is in a debugger, which speaks to the terminal itself.
    fn is_in_debugger(&self, rank: u32) -> bool {
        self.instead.as_ref().is_some_and(|(of, _)| *of == rank)
    }

    /// Whether a rank reads what this process would.
    fn reads(&self, rank: u32) -> bool {
        let reader = self.instead.as_ref().map_or(0, |(of, _)| *of);
        self.takes_input && rank == reader
    }
}

/// Why a program was not started.
#[derive(Debug)]
pub enum LaunchStop {
    /// The system has not started a rank.
    Start {
        /// The rank.
        rank: u32,
        /// The program.
        program: OsString,
        /// Why.
        error: Error,
    },
    /// Output cannot be written.
    Output(Error),
    /// The file of the shared memory cannot be handed on.
    Memory(Error),
    /// There is no process that would end the ranks if this one were killed.
    Guard(Error),
}

impl std::fmt::Display for LaunchStop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LaunchStop::Start { rank, program, error } => {
                let reason = match (error.raw_os_error(), error.kind()) {
                    (Some(libc::ENOEXEC), _) => {
                        "it is no program of this machine, nor a script with a first line such as #!/bin/sh".to_owned()
                    }
                    (_, ErrorKind::NotFound) => {
                        "what it names as its loader, or as its interpreter in the first line, is not there".to_owned()
                    }
                    _ => error.to_string(),
                };
                write!(f, "rank {rank}: {} cannot be started: {reason}", program.display())
            }
            LaunchStop::Guard(error) => write!(f, "a process that guards the ranks cannot be started: {error}"),
            LaunchStop::Memory(error) => write!(f, "the shared memory cannot be handed to the ranks: {error}"),
            LaunchStop::Output(error) => write!(f, "what ranks print cannot be written: {error}"),
        }
    }
}

/// Time between being asked to end and being ended.
const GRACE: Duration = Duration::from_secs(2);

/// A process of a rank, or how it has ended.
#[derive(Debug)]
enum RankProcess {
    Runs(Child),
    Ended(ExitStatus),
}

/// The processes of a program, in the order of ranks. They are ended when this is dropped, and by the system if this process dies.
#[derive(Debug)]
pub struct Processes {
    ranks: Mutex<Vec<RankProcess>>,
    relay: Mutex<Option<Relaying>>,
    guard: Mutex<Option<Guard>>,
}

impl Processes {
    /// Starts all ranks with the shared memory's file.
    ///
    /// # Errors
    /// The first that could not be started; those before it are ended.
    pub fn start(wish: &LaunchWish, memory: &OwnedFd) -> Result<Processes, LaunchStop> {
        let mut relay = Relay::new(&wish.output, wish.ranks).map_err(LaunchStop::Output)?;
        let mut processes = Processes {
            ranks: Mutex::new(Vec::with_capacity(wish.ranks as usize)),
            relay: Mutex::new(None),
            guard: Mutex::new(None),
        };
        let mut guard = Guard::new(wish.ranks).map_err(LaunchStop::Guard)?;
        let inherited = Inherited::of(memory).map_err(LaunchStop::Memory)?;
        let same_places = SamePlaces::begin();
        for rank in 0..wish.ranks {
            let mut command = command(wish, rank, memory.as_raw_fd());
            let relay = relay.as_mut().filter(|_| !wish.is_in_debugger(rank));
            if relay.is_some() {
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
            }
            let mut child = command.spawn().map_err(|error| LaunchStop::Start {
                rank,
                program: command.get_program().to_owned(),
                error,
            })?;
            let process = child.id();
            if let Some(relay) = relay {
                relay.follow(rank, child.stdout.take(), child.stderr.take());
            }
            processes.ranks().push(RankProcess::Runs(child));
            guard.take(process).map_err(LaunchStop::Guard)?;
        }
        drop((inherited, same_places));
        processes.guard = Mutex::new(Some(guard));
        let relay = relay.map(Relay::begin).transpose().map_err(LaunchStop::Output)?;
        processes.relay = Mutex::new(relay);
        Ok(processes)
    }

    fn ranks(&self) -> MutexGuard<'_, Vec<RankProcess>> {
        self.ranks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How a rank has ended, if it has.
    pub fn ended(&self, rank: u32) -> Option<ExitStatus> {
        self.ranks()[rank as usize].look()
    }

    /// The first rank that has ended, and how, of those that `is_over` does not know of.
    pub fn first_ended(&self, is_over: &dyn Fn(u32) -> bool) -> Option<(u32, ExitStatus)> {
        let mut ranks = self.ranks();
        (0..)
            .zip(ranks.iter_mut())
            .filter(|(rank, _)| !is_over(*rank))
            .find_map(|(rank, process)| Some((rank, process.look()?)))
    }

    /// Waits for all ranks to end by themselves, while `goes_on` says so; `None` if it did not.
    pub fn wait(&self, goes_on: &mut dyn FnMut() -> bool) -> Option<Vec<ExitStatus>> {
        let mut pause = Duration::from_micros(100);
        loop {
            let ended: Vec<Option<ExitStatus>> = self.ranks().iter_mut().map(RankProcess::look).collect();
            if let Some(ended) = ended.into_iter().collect() {
                return Some(ended);
            }
            if !goes_on() {
                return None;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// Ends all that still run: asked first, ended after two seconds.
    pub fn end(&self) {
        self.signal(libc::SIGTERM);
        let begun = Instant::now();
        if self.wait(&mut || begun.elapsed() < GRACE).is_none() {
            self.signal(libc::SIGKILL);
            self.wait(&mut || true);
        }
    }

    fn signal(&self, signal: i32) {
        for rank in self.ranks().iter_mut() {
            if rank.look().is_some() {
                continue;
            }
            if let RankProcess::Runs(child) = rank {
                let process = child.id() as libc::pid_t;
                // SAFETY: our child, which we have not waited for, so that the number is still its own; its group may not be its own.
                unsafe {
                    if libc::getpgid(process) == process {
                        libc::kill(-process, signal);
                    }
                    libc::kill(process, signal);
                }
            }
        }
    }

    /// Ends all that still run, and passes on the rest of what they have printed.
    pub fn finish(&self) {
        self.end();
        drop(self.guard.lock().unwrap_or_else(PoisonError::into_inner).take());
        let relay = self.relay.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(relay) = relay {
            relay.finish();
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.finish();
    }
}

/// A file that processes which are started have as well, for as long as this is there.
///
/// It is told of the file and not done in each process: what a process has to do before its program begins takes a copy of all that we have, half of
/// the cost of many processes.
struct Inherited<'a>(&'a OwnedFd);

impl<'a> Inherited<'a> {
    fn of(file: &'a OwnedFd) -> Result<Self, Error> {
        // SAFETY: our file.
        match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFD, 0) } {
            -1 => Err(Error::last_os_error()),
            _ => Ok(Self(file)),
        }
    }
}

impl Drop for Inherited<'_> {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { libc::fcntl(self.0.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// Processes that are started as long as this is there have program, libraries, heap and stack at the same addresses, those of every run.
///
/// What a program does that looks at addresses (tables that scatter by them, an order of pointers) is then the same each time. And parts that lie close
/// together need fewer pages of tables that say where they lie, which a rank that wakes has not at hand: a tenth of what a call that waits costs with a
/// thousand ranks. The system may refuse it, as some containers do; processes have addresses at random then.
struct SamePlaces {
    before: libc::c_ulong,
}

impl SamePlaces {
    fn begin() -> Option<SamePlaces> {
        /// Asks how this thread is, and changes nothing.
        const ASK: libc::c_ulong = 0xffff_ffff;
        // SAFETY: plain call, which speaks of this thread alone.
        let before = unsafe { libc::personality(ASK) };
        let before = libc::c_ulong::try_from(before).ok()?;
        // SAFETY: as above; what it asks for counts for programs that are started from here.
        let is_done = unsafe { libc::personality(before | libc::ADDR_NO_RANDOMIZE as libc::c_ulong) } >= 0;
        is_done.then_some(SamePlaces { before })
    }
}

impl Drop for SamePlaces {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { libc::personality(self.before) };
    }
}

impl RankProcess {
    fn look(&mut self) -> Option<ExitStatus> {
        match self {
            RankProcess::Ended(status) => Some(*status),
            RankProcess::Runs(child) => {
                let status = child.try_wait().ok()??;
                *self = RankProcess::Ended(status);
                Some(status)
            }
        }
    }
}

/// The command of a rank.
fn command(wish: &LaunchWish, rank: u32, memory: RawFd) -> Command {
    let instead = wish.instead.iter().filter(|(of, _)| *of == rank);
    let mut words = instead.flat_map(|(_, words)| words).chain(&wish.command);
    let mut command = Command::new(words.next().map_or(std::ffi::OsStr::new(""), |word| word.as_os_str()));
    command.args(words);
    if let Some(folder) = &wish.folder {
        command.current_dir(folder);
    }
    let seat = RankSeat {
        file: memory,
        rank,
        ranks: wish.ranks,
    };
    command.envs(wish.environment.iter().map(|(name, value)| (name, value)));
    command.env(VARIABLE, seat.value());
    if wish.waits == Some(rank) {
        command.env(WAIT_VARIABLE, "1");
    }
    if !wish.reads(rank) {
        command.stdin(Stdio::null());
    }
    // Only a process of the terminal's group may read from it.
    let has_group = !wish.reads(rank) || !std::io::stdin().is_terminal();
    if has_group {
        command.process_group(0);
        return command;
    }
    // The guard ends groups; of the terminal's group it is the only one that may be ended.
    let launcher = std::process::id() as libc::pid_t;
    // SAFETY: between fork and exec only calls that are allowed there.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            // It may have died before we asked to hear of it.
            if libc::getppid() != launcher {
                libc::_exit(128 + libc::SIGKILL);
            }
            Ok(())
        });
    }
    command
}

/// What a shell would say of a process' end: its code, or 128 and its signal.
pub fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

/// Keeps this thread, and those that it will start, on a core.
pub fn stay_on(core: u32) {
    // SAFETY: a set of cores is a record of numbers, and ours.
    unsafe {
        let mut cores: libc::cpu_set_t = std::mem::zeroed();
        if (core as usize) < libc::CPU_SETSIZE as usize {
            libc::CPU_SET(core as usize, &mut cores);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &cores);
        }
    }
}

/// The core that this thread is on.
pub fn this_core() -> Option<u32> {
    // SAFETY: plain call.
    let core = unsafe { libc::sched_getcpu() };
    u32::try_from(core).ok()
}
