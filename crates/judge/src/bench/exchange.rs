//! A halo exchange of 4,096 ranks on the dragonfly of the ECP report: played by the motif, and from an archive of OTF2 that is written
//! first. Both are the same operations, so that being recorded is the only difference.

use super::recorded::RecordedCase;
use crate::run::RunError;
use fabric::spec::{RunSpec, Work};
use std::path::Path;
use trace::formats::otf2::Writer;
use trace::{Kind, Lists, Operation, ReadStop, TraceForm, TraceHeader, TraceSink};
use vocabulary::{LoadOptions, load_study};
use work::motif::{Order, program};
use work::mpi::Op;
use work::mpi::spec::Part;

/// Ranks of the exchange.
const RANKS: u32 = 4_096;
/// Turns of exchanges and an allreduce at length 1: 50 million records.
const TURNS: f64 = 22.5;
/// How long a call of MPI takes in the recording (ps).
const CALL: u64 = 1_000_000;

/// The exchange and what follows it, as studies say it.
const WORK: &str = r#"[
    { kind = "halo3d", process_grid = [16, 16, 16], grid = [32, 32, 32], vars = 2, periodic = true, compute = "20 us", iterations = 10 },
    { kind = "collective", collective = "allreduce", message = "8 B", iterations = 1 },
]"#;

/// The network of both, with `work` on it.
fn study(name: &str, work: &str) -> Option<RunSpec> {
    let model = if name.ends_with("credit") { "credit" } else { "sculpin" };
    let text = format!(
        r#"
            topology = {{ preset = "ecp-8k-dragonfly" }}
            link = {{ bandwidth = "25 GB/s", latency = "100 ns" }}
            router = {{ model = "{model}", traversal = "100 ns" }}
            nic = {{ packet = "4 KiB" }}
            routing = {{ kind = "minimal" }}
            mpi = {{ eager = "8 KiB", local_bandwidth = "100 GB/s" }}
            observe = {{ links = false }}
            job = [{{ nodes = {RANKS}, work = {work} }}]
        "#
    );
    load_study(text.as_bytes(), name, Path::new(""), &LoadOptions::default())
        .ok()?
        .runs
        .into_iter()
        .next()
}

/// The parts of the work, one after the other, of a run that is `length` times as long as usual.
fn parts(spec: &RunSpec, length: f64) -> Vec<Part> {
    let Work::Ranks(ranks) = &spec.jobs[0].work else {
        return Vec::new();
    };
    let turns = ((TURNS * length).round() as usize).max(1);
    ranks
        .parts
        .iter()
        .cloned()
        .cycle()
        .take(turns * ranks.parts.len())
        .collect()
}

/// The exchange as motifs; `None` for other names.
pub fn motif_case(name: &str, length: f64) -> Option<RunSpec> {
    if !matches!(name, "halo3d-4k" | "halo3d-4k-credit") {
        return None;
    }
    let mut spec = study(name, WORK)?;
    let all = parts(&spec, length);
    if let Work::Ranks(ranks) = &mut spec.jobs[0].work {
        ranks.parts = all;
    }
    Some(spec)
}

/// The exchange from a trace of it, which is written into a folder of its own; `None` for other names.
pub fn trace_case(name: &str, length: f64) -> Option<Result<RecordedCase, RunError>> {
    matches!(name, "trace-4k" | "trace-4k-credit").then(|| {
        RecordedCase::new(
            |folder| write(&folder.join(ANCHOR), &study(name, WORK), length),
            |folder| {
                study(
                    name,
                    &format!("{{ kind = \"trace\", file = {:?} }}", folder.join(ANCHOR)),
                )
            },
        )
    })
}

/// Name of the archive's anchor.
const ANCHOR: &str = "halo.otf2";

/// Writes the exchange as an archive; how many records it has.
fn write(anchor: &Path, spec: &Option<RunSpec>, length: f64) -> Result<u64, String> {
    let spec = spec.as_ref().ok_or("the exchange is no study")?;
    let mut programs = Vec::new();
    for part in parts(spec, length) {
        let program = program(&part.motif, RANKS, (Order::Common, false)).map_err(|misfit| misfit.reason)?;
        programs.push((program, part.iterations));
    }
    let mut writer = Writer::new(anchor, "fabricsim bench");
    let mut told = || -> Result<u64, ReadStop> {
        writer.begin(&TraceHeader::new("otf2", RANKS, TraceForm::Program))?;
        let mut records = 0;
        for rank in 0..RANKS {
            let mut recorded = ExchangeRank::new(rank, &mut writer);
            for (program, iterations) in &programs {
                for iteration in 0..*iterations {
                    let ops = (0..).map_while(|index| program.op(rank, iteration, index));
                    ops.into_iter().try_for_each(|op| recorded.tell(&op))?;
                }
            }
            records += recorded.records;
        }
        writer.end(&[])?;
        Ok(records)
    };
    told().map_err(|stop| format!("{stop:?}"))
}

/// A rank as a recording sees it.
struct ExchangeRank<'w> {
    rank: u32,
    writer: &'w mut Writer,
    /// When its next call begins (ps).
    now: u64,
    /// Requests so far; those of them that are open are the last ones.
    requests: u32,
    open: Vec<u64>,
    /// Records of it in the archive.
    records: u64,
}

impl ExchangeRank<'_> {
    fn new(rank: u32, writer: &mut Writer) -> ExchangeRank<'_> {
        ExchangeRank {
            rank,
            writer,
            now: 0,
            requests: 0,
            open: Vec::new(),
            // The begin and the end of the program.
            records: 2,
        }
    }

    /// One more operation, as a recorder of MPI has it.
    fn tell(&mut self, op: &Op) -> Result<(), ReadStop> {
        let begun = |kind, transfer: &work::mpi::Transfer, request| Operation {
            request,
            ..Operation::message(kind, transfer.peer, transfer.bytes, transfer.tag.into())
        };
        let operation = match op {
            Op::Compute { time } => Operation::compute(*time),
            Op::Isend(transfer) => begun(Kind::Isend, transfer, self.requests),
            Op::Irecv(transfer) => begun(Kind::Irecv, transfer, self.requests),
            Op::WaitAll => Operation::new(Kind::Waitall),
            Op::Collective(collective) => Operation::collective(Kind::Allreduce, 0, collective.bytes),
            other => return Err(ReadStop::Refused(format!("a {} is not of the exchange", other.word()))),
        };
        let time = if operation.kind == Kind::Compute {
            operation.time
        } else {
            CALL
        };
        let start = self.now;
        let values: &[u64] = if operation.kind == Kind::Waitall {
            &self.open
        } else {
            &[]
        };
        let lists = Lists {
            values,
            ..Lists::default()
        };
        self.writer.operation(
            self.rank,
            0,
            &Operation {
                time,
                start,
                ..operation
            },
            &lists,
        )?;
        self.now += time;
        // A call is entered and left; what it does, and every request that it ends, is a record each.
        self.records += match operation.kind {
            Kind::Compute => 0,
            Kind::Waitall => 2 + self.open.len() as u64,
            Kind::Allreduce => 4,
            _ => 3,
        };
        match operation.kind {
            Kind::Waitall => self.open.clear(),
            Kind::Isend | Kind::Irecv => {
                self.open.push(self.requests.into());
                self.requests += 1;
            }
            _ => {}
        }
        Ok(())
    }
}
