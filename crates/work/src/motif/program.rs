//! A real MPI program: `work = { kind = "program", command = ["./a.out", "1000"] }`.
//!
//! A run holds the command, the folder that it starts in, and a SHA-256 of the files that the command names: another build is another run.

use super::keys::RANKS;
use super::{Keys, Misfit, MotifKind};
use crate::live::{LiveProgram, ProgramWish};
use crate::mpi::spec::MotifValue;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
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
    }
}

const PROGRAM: &[Parameter] = &[
    key(
        "command",
        Type::Texts,
        Default::Required,
        "The program and its arguments, as a list.",
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
        values: &["cpu"],
    }]),
    key(
        "poll",
        time(SECOND),
        Default::Text("100 ns"),
        "Time of a test of a request, or of a probe that does not wait.",
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
            measures_cpu: values.choice("compute") == Some(ProgramComputing::Cpu),
            compute_scale: values.number("compute_scale").unwrap_or(1.0),
            poll,
            arena: values.quantity_or_default("arena").max(1 << 20),
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
        let base = base.join(values.text("folder").unwrap_or(""));
        if values.given("folder") && !base.is_dir() {
            let reason = format!("there is no folder {}", base.display());
            return refuse("folder", reason, "name a folder, or leave the key out");
        }
        let sha256 = match hash(command, &base) {
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
        held.insert("folder".into(), MotifValue::Text(folder));
        held.insert("sha256".into(), MotifValue::Text(sha256));
        Some(())
    }
}

/// The SHA-256 of the command's words, and of what the files among them say.
fn hash(command: &[String], base: &Path) -> Result<String, String> {
    let mut all = Sha256::new();
    for word in command {
        all.update(word.len().to_le_bytes());
        all.update(word);
        let path = base.join(word);
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
