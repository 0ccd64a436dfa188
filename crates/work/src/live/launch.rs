//! Starts the processes of a program, and looks after them.

use super::computing::ComputingWish;
use super::rank::LiveRank;
use super::report::Failure;
use coupling::layout::{NO_CORE, SharedTerms};
use coupling::processes::{Dialect, LaunchStop, LaunchWish, Output, Processes, dialect, this_core};
use coupling::{HostSide, SharedArea};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The folder of the MPI libraries, for those that have not said how programs are started.
const LIBRARIES: &str = "FABRICSIM_MPI_LIBRARIES";
/// Names under which programs ask for the two libraries; the first is a file, the others are links to it.
const STANDARD: &str = "libmpi_abi.so.1";
const MPICH: &str = "libmpi.so.12";
/// Time after which a rank that only computes is named.
const LONG: Duration = Duration::from_secs(10);

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
}

/// How programs are started by this process, whatever studies say: nothing of it changes what they do.
#[derive(Clone, Debug)]
pub struct LaunchManner {
    /// Folder of the MPI libraries.
    pub libraries: Option<PathBuf>,
    /// Where what ranks print goes.
    pub output: Output,
    /// A rank that a debugger is started for, with its words.
    pub debugger: Option<(u32, Vec<OsString>)>,
    /// Whether ranks stay on the core of the simulator, which makes their calls cheaper and their computing slower.
    pub on_one_core: bool,
    /// Where the log of the next program goes.
    pub log: Option<PathBuf>,
    /// Where a table of what it computes goes, of a program whose CPU time is measured.
    pub table: Option<PathBuf>,
    /// Asked a few times a second while a process is waited for: whether to go on.
    pub goes_on: Option<fn() -> bool>,
}

impl Default for LaunchManner {
    fn default() -> LaunchManner {
        LaunchManner {
            libraries: None,
            output: Output::Pass,
            debugger: None,
            on_one_core: true,
            log: None,
            table: None,
            goes_on: None,
        }
    }
}

static MANNER: Mutex<Option<LaunchManner>> = Mutex::new(None);

/// Sets how programs are started from now on.
pub fn set_manner(manner: LaunchManner) {
    *MANNER.lock().unwrap_or_else(PoisonError::into_inner) = Some(manner);
}

/// Whether a process is waited for any longer.
pub(super) fn goes_on() -> bool {
    manner().goes_on.is_none_or(|goes_on| goes_on())
}

/// How programs are started.
pub(super) fn manner() -> LaunchManner {
    let manner = MANNER.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut manner = manner.unwrap_or_default();
    if manner.libraries.is_none() {
        manner.libraries = std::env::var_os(LIBRARIES).map(PathBuf::from);
    }
    manner
}

/// A program that has been started.
#[derive(Debug)]
pub(super) struct Running {
    pub host: HostSide,
    processes: Option<Processes>,
    has_debugger: bool,
}

/// How long a rank has been waited for.
pub(super) struct Patience {
    since: Instant,
    is_told: bool,
}

impl Running {
    /// Starts the processes.
    pub fn start(wish: &ProgramWish) -> Result<Running, Failure> {
        let manner = manner();
        let program = found(wish)?;
        let environment = environment(&program, &manner)?;
        let terms = SharedTerms {
            ranks: wish.ranks,
            measures_cpu: wish.computing.measures_cpu().into(),
            drops_data: 0,
            core: match manner.on_one_core {
                true => this_core().unwrap_or(NO_CORE),
                false => NO_CORE,
            },
            arena: wish.arena,
        };
        let cannot = |error| Failure::NotStarted(format!("memory for the ranks cannot be had: {error}"));
        let (area, file) = SharedArea::create(terms).map_err(cannot)?;
        let mut command: Vec<OsString> = wish.command.iter().map(OsString::from).collect();
        command[0] = program.into_os_string();
        let launch = LaunchWish {
            command,
            ranks: wish.ranks,
            environment,
            folder: wish.folder.clone(),
            output: manner.output,
            instead: manner.debugger.clone(),
        };
        let processes =
            Processes::start(&launch, &file).map_err(|stop: LaunchStop| Failure::NotStarted(stop.to_string()))?;
        if terms.core != NO_CORE {
            coupling::processes::stay_on(terms.core);
        }
        Ok(Running {
            host: HostSide::new(area),
            processes: Some(processes),
            has_debugger: manner.debugger.is_some(),
        })
    }

    /// A program whose ranks somebody else looks after.
    pub fn without_processes(host: HostSide) -> Running {
        Running {
            host,
            processes: None,
            has_debugger: false,
        }
    }

    pub fn processes(&self) -> Option<&Processes> {
        self.processes.as_ref()
    }

    /// Begins to wait for a rank.
    pub fn patience(&self, _rank: u32) -> Patience {
        Patience {
            since: Instant::now(),
            is_told: self.has_debugger,
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
            return Some(Failure::ended(
                ended,
                status,
                begun,
                self.host.area().process(ended) != 0,
            ));
        }
        if !patience.is_told && patience.since.elapsed() > LONG {
            patience.is_told = true;
            eprintln!(
                "fabricsim: waiting for rank {number}, which has been in its own code for {} s of wall time",
                LONG.as_secs()
            );
        }
        None
    }
}

/// The program's file: with its path, or in the folders of PATH.
fn found(wish: &ProgramWish) -> Result<PathBuf, Failure> {
    let Some(word) = wish.command.first().filter(|word| !word.is_empty()) else {
        return Err(Failure::NotStarted("there is no program to start".to_owned()));
    };
    let base = wish.folder.clone().unwrap_or_default();
    if word.contains('/') {
        let path = base.join(word);
        return match path.is_file() {
            true => Ok(std::path::absolute(&path).unwrap_or(path)),
            false => Err(Failure::NotStarted(format!("there is no program {}", path.display()))),
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .map(|folder| folder.join(word))
        .find(|path| path.is_file());
    found.ok_or_else(|| {
        let hint = if base.join(word).is_file() {
            format!(": write ./{word}")
        } else {
            String::new()
        };
        Failure::NotStarted(format!("there is no program {word} in the folders of PATH{hint}"))
    })
}

/// What makes the loader find our libraries, whatever else is installed.
fn environment(program: &Path, manner: &LaunchManner) -> Result<Vec<(OsString, OsString)>, Failure> {
    let refused = |refusal: coupling::processes::ProgramRefused| {
        Failure::NotStarted(format!("{}: {}", refusal.reason, refusal.hint))
    };
    let dialect = dialect(program).map_err(refused)?;
    let Some(folder) = &manner.libraries else {
        let reason = format!("the MPI libraries of fabricsim are not installed ({LIBRARIES} is not set)");
        return Err(Failure::NotStarted(reason));
    };
    let library = folder.join(match dialect {
        Dialect::Standard => STANDARD,
        Dialect::Mpich | Dialect::Unsaid => MPICH,
    });
    if !library.is_file() {
        let reason = format!("the MPI library of fabricsim is not there: {}", library.display());
        return Err(Failure::NotStarted(reason));
    }
    let before = |name: &str, first: &Path, between: &str| {
        let mut value = first.as_os_str().to_owned();
        if let Some(rest) = std::env::var_os(name).filter(|rest| !rest.is_empty()) {
            value.push(between);
            value.push(rest);
        }
        (OsString::from(name), value)
    };
    let mut environment = vec![
        before("LD_PRELOAD", &library, " "),
        before("LD_LIBRARY_PATH", folder, ":"),
    ];
    environment.push(("MPI4PY_LIBMPI".into(), folder.join(MPICH).into_os_string()));
    environment.push(("MPI4PY_MPIABI".into(), "mpich".into()));
    Ok(environment)
}
