//! Starts the processes of a program, and looks after them.

use super::computing::{ComputingWish, CountedThreads};
use super::rank::LiveRank;
use super::report::Failure;
use super::report::place::ProcessModules;
use coupling::layout::{NO_CORE, SharedTerms, cpu_of};
use coupling::processes::{Dialect, LaunchStop, LaunchWish, Output, Processes, dialect, this_core};
use coupling::{HostSide, LastCall, SharedArea};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The folder of the MPI libraries, for those that have not said how programs are started.
const LIBRARIES: &str = "FABRICSIM_MPI_LIBRARIES";
/// The variable that says how many threads a rank has.
const THREADS: &str = "OMP_NUM_THREADS";
/// Names under which programs ask for the two libraries; the first is a file, the others are links to it.
const STANDARD: &str = "libmpi_abi.so.1";
const MPICH: &str = "libmpi.so.12";
/// Time after which a rank that only computes is named.
const LONG: Duration = Duration::from_secs(10);
/// Time after which another may be named, at first; twice as long each time.
const AGAIN: Duration = Duration::from_secs(60);

/// What a study says of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramWish {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How many processes.
    pub ranks: u32,
    /// Folder in which it starts.
    pub folder: Option<PathBuf>,
    /// What computing takes.
    pub computing: Arc<ComputingWish>,
    /// Time of a look for messages or at a request (ps).
    pub poll: u64,
    /// Room for what messages say that are on their way (bytes).
    pub arena: u64,
    /// Whether its clocks show simulated time.
    pub virtual_clock: bool,
}

/// How programs are started by runs of a thread, whatever studies say: nothing of it changes what they do.
#[derive(Clone, Debug)]
pub struct LaunchManner {
    /// Folder of the MPI libraries.
    pub libraries: Option<PathBuf>,
    /// The library of programs that do not say which they need, loaded before all others; where this is not said either, it is MPICH's in Python, and
    /// whatever the program asks the loader for in others.
    pub unsaid: Option<Dialect>,
    /// Where what ranks print goes. The folder of a second program of a run has `.1` at its end, and so on.
    pub output: Output,
    /// Whether a rank of the first program reads what this process would.
    pub takes_input: bool,
    /// A rank that a debugger is started for, with its words.
    pub debugger: Option<(u32, Vec<OsString>)>,
    /// A rank that waits for a debugger.
    pub waits: Option<u32>,
    /// Whether ranks stay on the core of the simulator, which makes their calls cheaper and their computing slower.
    pub on_one_core: bool,
    /// Where the log goes. That of a second program of a run has `.1` before its ending, and so on.
    pub log: Option<PathBuf>,
    /// Where a table of what it computes goes, of a program whose CPU time is measured; named as logs are.
    pub table: Option<PathBuf>,
    /// Whether nothing is said of ranks that are waited for.
    pub is_quiet: bool,
    /// Asked a few times a second while a process is waited for: whether to go on.
    pub goes_on: Option<GoesOn>,
}

/// Whether to go on.
#[derive(Clone)]
pub struct GoesOn(pub Arc<dyn Fn() -> bool + Send + Sync>);

impl std::fmt::Debug for GoesOn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GoesOn")
    }
}

impl Default for LaunchManner {
    fn default() -> LaunchManner {
        LaunchManner {
            libraries: std::env::var_os(LIBRARIES).map(PathBuf::from),
            unsaid: None,
            output: Output::Pass,
            takes_input: true,
            debugger: None,
            waits: None,
            on_one_core: true,
            log: None,
            table: None,
            is_quiet: false,
            goes_on: None,
        }
    }
}

thread_local! {
    static MANNER: RefCell<LaunchManner> = RefCell::default();
}

/// Sets how programs are started from now on, in runs that this thread begins.
pub fn set_manner(manner: LaunchManner) {
    MANNER.set(manner);
}

impl LaunchManner {
    /// That of this thread, for the program of a run with this number.
    pub(super) fn of_program(number: u32) -> LaunchManner {
        let mut manner = MANNER.with_borrow(LaunchManner::clone);
        if number > 0 {
            manner.takes_input = false;
            manner.debugger = None;
            manner.waits = None;
            if let Output::Folder(folder) = &mut manner.output {
                folder.as_mut_os_string().push(format!(".{number}"));
            }
            for file in [&mut manner.log, &mut manner.table].into_iter().flatten() {
                let mut ending = OsString::from(number.to_string());
                if let Some(own) = file.extension() {
                    ending.push(".");
                    ending.push(own);
                }
                file.set_extension(ending);
            }
        }
        manner
    }

    /// Whether a process is waited for any longer.
    pub(super) fn goes_on(&self) -> bool {
        self.goes_on.as_ref().is_none_or(|GoesOn(goes_on)| goes_on())
    }
}

/// A program that has been started.
#[derive(Debug)]
pub(super) struct Running {
    pub host: HostSide,
    processes: Option<Processes>,
    /// Whether ranks may be waited for without a word: one is looked at with a debugger, or nobody wants to hear of it.
    is_silent: bool,
    /// When a rank was named that is waited for, and how long no other is.
    named: Mutex<Option<(Instant, Duration)>>,
    modules: Mutex<HashMap<u32, ProcessModules>>,
}

/// How long a rank has been waited for.
pub(super) struct Patience {
    since: Option<Instant>,
    is_told: bool,
}

impl Running {
    /// Starts the processes.
    pub fn start(wish: &ProgramWish, manner: &LaunchManner) -> Result<Running, Failure> {
        let choice = LibraryChoice::of(&wish.command, wish.folder.as_deref(), manner).map_err(Failure::NotStarted)?;
        let environment = environment(&choice);
        let (cpu_of, threads) = measured(wish.computing.counted()).map_err(Failure::NotStarted)?;
        let terms = SharedTerms {
            cpu_of,
            threads,
            virtual_clock: wish.virtual_clock.into(),
            core: match manner.on_one_core {
                true => this_core().unwrap_or(NO_CORE),
                false => NO_CORE,
            },
            ..SharedTerms::plain(wish.ranks, wish.arena)
        };
        let cannot = |error| Failure::NotStarted(format!("memory for the ranks cannot be had: {error}"));
        let (area, file) = SharedArea::create(terms).map_err(cannot)?;
        let mut command: Vec<OsString> = wish.command.iter().map(OsString::from).collect();
        command[0] = choice.program.into_os_string();
        let launch = LaunchWish {
            command,
            ranks: wish.ranks,
            environment,
            folder: wish.folder.clone(),
            output: manner.output.clone(),
            instead: manner.debugger.clone(),
            waits: manner.waits,
            takes_input: manner.takes_input,
        };
        let processes =
            Processes::start(&launch, &file).map_err(|stop: LaunchStop| Failure::NotStarted(stop.to_string()))?;
        if terms.core != NO_CORE {
            coupling::processes::stay_on(terms.core);
        }
        Ok(Running {
            host: HostSide::new(area),
            processes: Some(processes),
            is_silent: manner.debugger.is_some() || manner.waits.is_some() || manner.is_quiet,
            named: Mutex::default(),
            modules: Mutex::default(),
        })
    }

    /// A program whose ranks somebody else looks after.
    pub fn without_processes(host: HostSide) -> Running {
        Running {
            host,
            processes: None,
            is_silent: false,
            named: Mutex::default(),
            modules: Mutex::default(),
        }
    }

    pub fn processes(&self) -> Option<&Processes> {
        self.processes.as_ref()
    }

    /// A rank has come: where what it has loaded lies is known when it has gone, too.
    pub fn has_come(&self, rank: u32) {
        let modules = ProcessModules::of(self.host.area().process(rank));
        self.modules().insert(rank, modules);
    }

    fn modules(&self) -> MutexGuard<'_, HashMap<u32, ProcessModules>> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place in the program of a rank, in words.
    pub fn place(&self, rank: u32, address: u64) -> Option<String> {
        // What it has loaded since is known only while it is there.
        let now = ProcessModules::of(self.host.area().process(rank)).place(address);
        now.or_else(|| self.modules().get(&rank)?.place(address))
    }

    /// The last call of a rank and its place, as the end of a sentence about it.
    fn last_call(&self, rank: u32) -> Option<String> {
        let LastCall { name, place, is_inside } = self.host.area().last_call(rank)?;
        let at = self
            .place(rank, place)
            .map_or_else(String::new, |place| format!(" at {place}"));
        Some(match is_inside {
            true => format!(", in {name}{at}"),
            false => format!(", in its own code behind {name}{at}"),
        })
    }

    /// Begins to wait for a rank.
    pub fn patience(&self) -> Patience {
        Patience {
            since: None,
            is_told: self.is_silent,
        }
    }

    /// Looks whether the processes still are, while one is waited for that tells nothing.
    pub fn look(
        &self,
        number: u32,
        rank: &LiveRank,
        patience: &mut Patience,
        is_over: &dyn Fn(u32) -> bool,
    ) -> Option<Failure> {
        let processes = self.processes.as_ref()?;
        let ended = processes.ended(number).map(|status| (number, status));
        if let Some((ended, status)) = ended.or_else(|| processes.first_ended(is_over)) {
            // What it has told before it ended is still to be read.
            if self.host.peek(ended).is_some() {
                return None;
            }
            let begun = ended != number || rank.has_begun();
            let failure = Failure::ended(ended, status, begun, self.host.area().process(ended) != 0);
            return Some(failure.behind(self.last_call(ended)));
        }
        // Most waits are over before anybody looks: only those that are not ask for the time.
        if !patience.is_told && patience.since.get_or_insert_with(Instant::now).elapsed() > LONG {
            patience.is_told = true;
            self.name_waited_for(number, Instant::now());
        }
        None
    }

    /// Says that a rank is waited for, unless one has been named not long ago: ranks compute one after the other, and a thousand of them would all be named.
    fn name_waited_for(&self, number: u32, now: Instant) {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pause) = next_pause(*named, now) else { return };
        *named = Some((now, pause));
        let last = self.last_call(number).unwrap_or_default();
        eprintln!(
            "fabricsim: waiting for rank {number}, which has been in its own code for {} s of wall time{last}; ranks compute one after the other, and the next that takes long is named in {} min at the earliest",
            LONG.as_secs(),
            pause.as_secs() / 60
        );
    }
}

/// How long no rank is named after one that is named now; `None` where `before`, when the last was named and how long none is after that, leaves none to be
/// named yet.
fn next_pause(before: Option<(Instant, Duration)>, now: Instant) -> Option<Duration> {
    match before {
        None => Some(AGAIN),
        Some((then, pause)) if now.duration_since(then) >= pause => Some(2 * pause),
        Some(_) => None,
    }
}

/// Whose CPU time is measured, and what it is divided by.
fn measured(threads: Option<CountedThreads>) -> Result<(u32, u32), String> {
    match threads {
        None => Ok((cpu_of::NOTHING, 1)),
        Some(CountedThreads::Caller) => Ok((cpu_of::THREAD, 1)),
        Some(CountedThreads::Sum) => Ok((cpu_of::PROCESS, 1)),
        Some(CountedThreads::Wall) => {
            let value = std::env::var(THREADS).unwrap_or_default();
            // A list has the number of each level.
            let first = value.split(',').next().and_then(|count| count.trim().parse().ok());
            match first.filter(|&count: &u32| count > 0) {
                Some(count) => Ok((cpu_of::PROCESS, count)),
                None => Err(format!(
                    "threads = \"wall\" divides by the number of threads of a rank, and {THREADS} does not say it (\"{value}\"): set it, to 4 say"
                )),
            }
        }
    }
}

/// Which library a program gets, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryChoice {
    /// The program's file.
    pub program: PathBuf,
    /// The face of MPI that it needs.
    pub dialect: Dialect,
    /// The library's file.
    pub library: PathBuf,
    /// Whether it is loaded before all others, so that nothing else can be found first.
    pub is_loaded_first: bool,
}

impl LibraryChoice {
    /// That of a program that is started in a folder.
    ///
    /// # Errors
    /// Why it has none.
    pub fn of(command: &[String], folder: Option<&Path>, manner: &LaunchManner) -> Result<LibraryChoice, String> {
        choice(&found(command, folder)?, manner)
    }
}

/// The program's file: with its path, or in the folders of PATH.
fn found(command: &[String], folder: Option<&Path>) -> Result<PathBuf, String> {
    let Some(word) = command.first().filter(|word| !word.is_empty()) else {
        return Err("there is no program to start".to_owned());
    };
    let base = folder.unwrap_or(Path::new(""));
    let may_run = |path: &Path| {
        path.metadata()
            .is_ok_and(|about| about.permissions().mode() & 0o111 != 0)
    };
    if word.contains('/') {
        // Without the dots in it.
        let path: PathBuf = base.join(word).components().collect();
        return match path.is_file() {
            true if may_run(&path) => Ok(std::path::absolute(&path).unwrap_or(path)),
            true => Err(format!("{} may not be executed: chmod +x {word}", path.display())),
            false => Err(format!("there is no program {}", path.display())),
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .map(|folder| folder.join(word))
        .find(|path| path.is_file() && may_run(path));
    found.ok_or_else(|| {
        let hint = if base.join(word).is_file() {
            format!(": write ./{word}")
        } else {
            String::new()
        };
        format!("there is no program {word} in the folders of PATH{hint}")
    })
}

fn choice(program: &Path, manner: &LaunchManner) -> Result<LibraryChoice, String> {
    let dialect = dialect(program).map_err(|refusal| format!("{}; {}", refusal.reason, refusal.hint))?;
    let Some(folder) = &manner.libraries else {
        return Err(format!(
            "the MPI libraries of fabricsim are not installed ({LIBRARIES} is not set)"
        ));
    };
    let face = match (dialect, manner.unsaid) {
        (Dialect::Unsaid, Some(face)) => face,
        (Dialect::Standard | Dialect::Mpich | Dialect::Unsaid, _) => dialect,
    };
    let library = folder.join(match face {
        Dialect::Standard => STANDARD,
        Dialect::Mpich | Dialect::Unsaid => MPICH,
    });
    let is_loaded_first = face != Dialect::Unsaid || is_python(program);
    match library.is_file() {
        true => Ok(LibraryChoice {
            program: program.to_owned(),
            dialect,
            library,
            is_loaded_first,
        }),
        false => Err(format!(
            "the MPI library of fabricsim is not there: {}",
            library.display()
        )),
    }
}

/// Whether a program is Python, or a script in it: extensions of it may ask for their MPI by a path.
fn is_python(program: &Path) -> bool {
    let is_named = |path: &Path| {
        path.file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"python"))
    };
    let mut first = [0; 256];
    let got = File::open(program)
        .and_then(|mut file| file.read(&mut first))
        .unwrap_or(0);
    let line = first[..got].split(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_script = line.starts_with(b"#!") && line.windows(6).any(|word| word == b"python");
    is_script || is_named(program) || program.canonicalize().is_ok_and(|path| is_named(&path))
}

/// A setting of the C library: the kernel keeps no record of each thread ("restartable sequences"), which it would write whenever the thread gets the
/// processor again. To a rank that wakes that is a page which it needs for nothing else, a fifteenth of what a call that waits costs with a thousand ranks.
/// Programs that use the record themselves take another way where there is none.
const NO_SEQUENCES: &str = "glibc.pthread.rseq=0";

/// What makes the loader find our libraries, whatever else is installed. What the user has set stays, behind ours.
fn environment(choice: &LibraryChoice) -> Vec<(OsString, OsString)> {
    let before = |name: &str, first: &OsStr, between: &str| {
        let mut value = first.to_owned();
        if let Some(rest) = std::env::var_os(name).filter(|rest| !rest.is_empty()) {
            value.push(between);
            value.push(rest);
        }
        (OsString::from(name), value)
    };
    let folder = choice.library.parent().unwrap_or(Path::new(""));
    let mut environment = vec![
        before("LD_LIBRARY_PATH", folder.as_os_str(), ":"),
        // Of settings of one name the last counts: that of the user.
        before("GLIBC_TUNABLES", OsStr::new(NO_SEQUENCES), ":"),
    ];
    if choice.is_loaded_first {
        environment.push(before("LD_PRELOAD", choice.library.as_os_str(), " "));
    }
    if choice.library.ends_with(MPICH) {
        environment.push(("MPI4PY_LIBMPI".into(), choice.library.clone().into_os_string()));
        environment.push(("MPI4PY_MPIABI".into(), "mpich".into()));
    }
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_are_waited_for_are_named_ever_more_rarely() {
        let begin = Instant::now();
        let mut named = None;
        let mut at = Vec::new();
        // Every second another rank has been waited for too long.
        for second in 0..3_600 {
            let now = begin + Duration::from_secs(second);
            if let Some(pause) = next_pause(named, now) {
                named = Some((now, pause));
                at.push(second);
            }
        }
        assert_eq!(at, [0, 60, 180, 420, 900, 1_860]);
    }
}
