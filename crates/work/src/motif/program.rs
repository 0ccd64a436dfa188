//! A real MPI program: `work = { kind = "program", command = ["./a.out", "1000"] }`.
//!
//! A run holds the command, the folder that it starts in, and a SHA-256 of the files that the command names: another build is another run.

use super::keys::{RANKS, seed};
use super::{Keys, Misfit, MotifKind};
use crate::live::{
    ComputingNoise, ComputingWish, CountedThreads, LiveProgram, ProgramTimes, ProgramWish, RecordedStretches,
    StretchTable,
};
use crate::mpi::spec::MotifValue;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use study::diagnostic::Findings;
use study::reader::Values;
use study::{Default, Entry, Named, Parameter, SECOND, Type, When, choice, key, size, time};

choice! {
    /// How long a program computes between two calls of MPI.
    #[derive(Default)]
    pub enum ProgramComputing {
        #[default]
        Zero = "zero", "No time: communication alone, the same in every run.";
        Cpu = "cpu", "As long as its CPU takes, times `compute_scale`; no two runs are the same, but the log of one is.";
        Table = "table", "What a table says of regions of the program and of places in it, such as `fabricsim mpirun --compute cpu --table` writes.";
        Recorded = "recorded", "What the log of an earlier run recorded before the same operation of the same rank.";
    }
}

const PROGRAM: &[Parameter] = &[
    key(
        "command",
        Type::Arguments,
        Default::Required,
        "The program and its arguments, as a list; line ends and tabs may be in them.",
    ),
    key(
        "folder",
        Type::Text,
        Default::From("that of the study"),
        "Folder in which it is started, relative to the study's folder.",
    ),
    key(
        "compute",
        Type::Choice(ProgramComputing::WORDS),
        Default::Text("zero"),
        "How long it computes between two calls of MPI.",
    ),
    key(
        "compute_scale",
        Type::Number { above: 0.0, max: 1e6 },
        Default::Text("1"),
        "Factor of its computing.",
    )
    .when(&[When {
        key: "compute",
        values: &["cpu", "table", "recorded"],
    }]),
    key(
        "compute_floor",
        time(SECOND),
        Default::Text("200 ns"),
        "Computing that takes less of the CPU takes no time.",
    )
    .when(&[When {
        key: "compute",
        values: &["cpu"],
    }]),
    key(
        "threads",
        Type::Choice(CountedThreads::WORDS),
        Default::From("caller"),
        "Whose CPU time that is, of ranks with threads.",
    )
    .when(&[When {
        key: "compute",
        values: &["cpu"],
    }]),
    key(
        "compute_file",
        Type::Text,
        Default::From("none"),
        "The table or the log, relative to the study's folder.",
    )
    .when(&[When {
        key: "compute",
        values: &["table", "recorded"],
    }]),
    key(
        "noise",
        Type::Number { above: 0.0, max: 10.0 },
        Default::From("no noise"),
        "Standard deviation of the logarithm of a factor of mean 1 for each stretch of computing.",
    ),
    key(
        "noise_tail",
        Type::Number { above: 0.0, max: 1.0 },
        Default::From("none of them"),
        "Share of these stretches that take ten times as long.",
    ),
    seed("Seed of the noise, and of what a table says of spreads."),
    key(
        "poll",
        time(SECOND),
        Default::Text("100 ns"),
        "Time of a test of a request, or of a probe that does not wait.",
    ),
    key(
        "virtual_clock",
        Type::Flag,
        Default::From("false"),
        "Whether clocks of the C library show simulated time, as `MPI_Wtime` does, between `MPI_Init` and `MPI_Finalize`.",
    ),
    key(
        "arena",
        size(1 << 39),
        Default::Text("4 GiB"),
        "Most memory for what messages say while they are on their way.",
    ),
    key(
        "sha256",
        Type::Text,
        Default::From("that of the files"),
        "SHA-256 of the files that the command names, as the specification of a run has it: other files are refused.",
    ),
];

const LIMITS: &str = "One program per job, once: `iterations` is 1. Sequential and conservative engines, in one process, without checkpoints; a log \
    of the run (`fabricsim mpirun --log`) is played on every engine. Linux on x86-64 or aarch64. What a program reads of files, sockets and clocks is its host's. One-sided \
    communication, files, dynamic processes, sessions and partitioned communication are refused by name. Tags are at most 65,534.";

impl MotifKind for LiveProgram {
    const ENTRY: Entry = Entry::new(
        "program",
        "A real MPI program, whose processes run while their network is simulated.",
    )
    .keys(&[PROGRAM, RANKS])
    .limits(LIMITS);

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        let values = &keys.values;
        if keys.ranks > keys.room {
            let reason = format!(
                "{} ranks do not fit, the nodes of the job have room for {}",
                keys.ranks, keys.room
            );
            return Err(Misfit::new(
                "ranks",
                reason,
                "take more nodes, or a larger ranks_per_node",
            ));
        }
        let poll = values.quantity_or_default("poll");
        if poll == 0 {
            let hint = "take 1 ns or more";
            return Err(Misfit::new(
                "poll",
                "a program that polls would never see time go by",
                hint,
            ));
        }
        Ok(LiveProgram::new(ProgramWish {
            command: values.texts("command").to_vec(),
            ranks: keys.ranks,
            folder: values.text("folder").map(PathBuf::from),
            computing: Arc::new(computing(values, keys.ranks)?),
            poll,
            arena: values.quantity_or_default("arena").max(1 << 20),
            virtual_clock: values.flag("virtual_clock"),
        }))
    }

    fn read_files(
        values: &Values,
        base: &Path,
        held: &mut BTreeMap<String, MotifValue>,
        findings: &mut Findings,
    ) -> Option<()> {
        let command = values.texts("command");
        let mut refuse = |key: &str, reason: String, hint: &str| {
            findings.error(values.place(key), &format!("{}.{key}", values.path), reason, hint);
            None
        };
        if command.first().is_none_or(|word| word.is_empty()) {
            return refuse(
                "command",
                "there is no program".to_owned(),
                "write [\"./program\", \"argument\"]",
            );
        }
        let of_study = base;
        let base = base.join(values.text("folder").unwrap_or(""));
        if values.given("folder") && !base.is_dir() {
            let reason = format!("there is no folder {}", base.display());
            return refuse("folder", reason, "name a folder, or leave the key out");
        }
        let times = values.text("compute_file").map(|name| of_study.join(name));
        let is_told = matches!(
            values.choice_or_default("compute"),
            ProgramComputing::Table | ProgramComputing::Recorded
        );
        if is_told && times.is_none() {
            let reason = "computing takes what a file says, and there is none".to_owned();
            return refuse("compute_file", reason, "name the table or the log of a run");
        }
        if let Some(times) = times.as_ref().filter(|times| !times.is_file()) {
            let reason = format!("there is no file {}", times.display());
            return refuse("compute_file", reason, "name the table or the log of a run");
        }
        let sha256 = match hash(command, &base, times.as_deref()) {
            Ok(sha256) => sha256,
            Err(error) => return refuse("command", error, "give a program that can be read"),
        };
        if let Some(wanted) = values.text("sha256").filter(|wanted| *wanted != sha256) {
            let reason = format!("the program is another: its SHA-256 is {sha256}, not {wanted}");
            return refuse("sha256", reason, "take the program of that time, or leave the key out");
        }
        let Some(folder) = base.join(".").to_str().map(str::to_owned) else {
            return refuse(
                "command",
                "the folder's name is not UTF-8 text".to_owned(),
                "use folder names of printable text",
            );
        };
        if let Some(times) = times {
            held.insert("compute_file".into(), MotifValue::Text(times.display().to_string()));
        }
        held.insert("folder".into(), MotifValue::Text(folder));
        held.insert("sha256".into(), MotifValue::Text(sha256));
        Some(())
    }
}

/// What is to be known of the computing of a program.
fn computing(values: &Values, ranks: u32) -> Result<ComputingWish, Misfit> {
    let file = || PathBuf::from(values.text("compute_file").unwrap_or(""));
    let misfit = |(reason, hint): (String, &str)| Misfit::new("compute_file", reason, hint);
    let times = match values.choice_or_default("compute") {
        ProgramComputing::Zero => ProgramTimes::Zero,
        ProgramComputing::Cpu => ProgramTimes::Cpu {
            floor: values.quantity_or_default("compute_floor"),
            threads: values.choice("threads").unwrap_or_default(),
        },
        ProgramComputing::Table => {
            let read = |path: &Path| StretchTable::of_file(path).map(|table| ProgramTimes::Table(Arc::new(table)));
            let hint = "its columns are region, place, time_ns and spread_ns";
            kept_times((&file(), ProgramComputing::Table), read).map_err(|reason| misfit((reason, hint)))?
        }
        ProgramComputing::Recorded => {
            let hint = "give the log of a run, such as fabricsim mpirun --log writes";
            let read = |path: &Path| RecordedStretches::read(path).map(|log| ProgramTimes::Recorded(Arc::new(log)));
            let times =
                kept_times((&file(), ProgramComputing::Recorded), read).map_err(|reason| misfit((reason, hint)))?;
            if let ProgramTimes::Recorded(recorded) = &times
                && recorded.n_ranks() != ranks
            {
                let reason = format!("the log has {} ranks, the program {ranks}", recorded.n_ranks());
                return Err(misfit((reason, "record as many ranks")));
            }
            times
        }
    };
    Ok(ComputingWish {
        times,
        scale: values.number("compute_scale").unwrap_or(1.0),
        noise: ComputingNoise {
            sigma: values.number("noise").unwrap_or(0.0),
            tail: values.number("noise_tail").unwrap_or(0.0),
            seed: values.integer_or_default("seed"),
        },
    })
}

/// A file of times as it was when it was read, and what it was read as.
type TimesFile = (PathBuf, u64, Option<SystemTime>, ProgramComputing);

/// The times that were read last: a study is checked, and then run.
static KEPT: Mutex<Option<(TimesFile, ProgramTimes)>> = Mutex::new(None);

/// The times of a file, read unless they were the last.
fn kept_times(
    (path, how): (&Path, ProgramComputing),
    read: impl FnOnce(&Path) -> Result<ProgramTimes, String>,
) -> Result<ProgramTimes, String> {
    let about = std::fs::metadata(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let file = (path.to_owned(), about.len(), about.modified().ok(), how);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    match &*kept {
        // A file system may not say when: then nobody knows whether it is the same.
        Some((known, times)) if *known == file && file.2.is_some() => Ok(times.clone()),
        _ => {
            let times = read(path)?;
            *kept = Some((file, times.clone()));
            Ok(times)
        }
    }
}

/// The SHA-256 of the command's words, and of what the files among them, and the file of times, say.
fn hash(command: &[String], base: &Path, times: Option<&Path>) -> Result<String, String> {
    let mut all = Sha256::new();
    let words = command.iter().map(|word| (word.as_str(), base.join(word)));
    for (word, path) in words.chain(times.map(|times| ("", times.to_owned()))) {
        all.update(word.len().to_le_bytes());
        all.update(word);
        if !path.is_file() {
            continue;
        }
        let cannot = |error| format!("{} cannot be read: {error}", path.display());
        let (mut file, mut buffer, mut of_file) = (File::open(&path).map_err(cannot)?, vec![0; 1 << 16], Sha256::new());
        loop {
            let count = file.read(&mut buffer).map_err(cannot)?;
            if count == 0 {
                break;
            }
            of_file.update(&buffer[..count]);
        }
        all.update(of_file.finalize());
    }
    Ok(all.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
