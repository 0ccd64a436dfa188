//! `[run]` and `[observe]`: seeds, length, engine and what is recorded.

use super::jobs::is_endless;
use super::network::{LonePacketTimes, parameters};
use super::partition::{self, Map};
use des::Time;
use fabric::spec::{DrainSources, Engine, FastForward, JobSpec, MessageDetail, ObserveSpec, Perturbation, RunControl};
use std::collections::BTreeSet;
use study::diagnostic::Findings;
use study::document::Table;
use study::reader::{self, Checked, Source, Values};
use study::units::Unit;

/// End of open-loop sources that are not given one: 100 us.
const DEFAULT_END: Time = Time::from_us(100);

/// Reads `[observe]`.
pub(crate) fn read_observe(root: &Table, findings: &mut Findings) -> ObserveSpec {
    let empty = Table::default();
    let source = Source::section(root, "observe", &empty, findings);
    let values = reader::read(source, &parameters("observe"), &[], &[], findings);
    let messages = match values.get("messages") {
        Some(Checked::Word("full") | Checked::Flag(true)) => MessageDetail::Full,
        Some(Checked::Word("summary") | Checked::Flag(false)) | None => MessageDetail::Summary,
        Some(other) => unreachable!("messages = {other:?} is in the registry and not read"),
    };
    ObserveSpec {
        links: values.flag("links"),
        messages,
        timeline: values.flag("timeline"),
        ranks: values.flag("ranks"),
        operations: values.flag("operations"),
        links_every: values.quantity("links_every").map(Time),
    }
}

/// How often a point of the sweep is run.
pub(crate) struct Repeats {
    /// With each of these seeds.
    pub seeds: Vec<u64>,
    /// And, beside each of these, so perturbed.
    pub perturbed: Vec<Perturbation>,
}

/// Reads `[run]`: how often, and what all runs share; `None` after errors. `jobs` is `None` after errors there, `times` are those of a
/// lone packet, `map` what a map of its routers needs.
pub(crate) fn read_run(
    root: &Table,
    jobs: Option<&[JobSpec]>,
    times: Option<LonePacketTimes>,
    map: Map<'_>,
    findings: &mut Findings,
) -> Option<(Repeats, RunControl)> {
    let before = findings.n_errors();
    let empty = Table::default();
    let source = Source::section(root, "run", &empty, findings);
    let values = reader::read(source, &parameters("run"), &[], &[], findings);
    let seeds = read_seeds(&values, findings);
    let endless = jobs.map(|jobs| jobs.iter().any(is_endless));
    let end = read_end(&values, endless, findings);
    let time = |key: &str| values.quantity(key).map(Time);
    let warmup = time("warmup");
    if let (Some(warmup), Some(end)) = (warmup, end) {
        check_warmup(warmup, end, &values, findings);
    }
    if end.is_none()
        && endless.is_some()
        && findings.n_errors() == before
        && values.given("drain")
        && time("drain").is_some()
    {
        let reason = "has no meaning without an end: the run lasts until the work is done";
        findings.error(
            values.place("drain"),
            "run.drain",
            reason,
            "give run.end, or remove drain",
        );
    }
    let stall_after = time("stall_after")?;
    if let Some(step) = times.map(|times| times.step).filter(|step| stall_after <= *step) {
        let step = Unit::Time.print(step.0);
        let reason = format!("a single packet may take {step} for a hop, which would count as a stall");
        findings.error(
            values.place("stall_after"),
            "run.stall_after",
            reason,
            format!("give more than {step:?}"),
        );
    }
    let workers = values
        .integer("workers")
        .and_then(|workers| u16::try_from(workers).ok())
        .unwrap_or(0);
    let partition = partition::read(&values, map, workers, findings);
    let engine = read_engine(&values)?;
    let seed = seeds.first().copied().unwrap_or(1);
    let fast_forward: FastForward = values.choice("fast_forward").unwrap_or_default();
    let precision = read_precision(&values, fast_forward, findings);
    let control = RunControl {
        seed,
        end,
        warmup,
        drain: time("drain"),
        drain_sources: end.is_some()
            && endless == Some(true)
            && values.choice("drain_sources") != Some(DrainSources::Off),
        engine,
        workers,
        partition: partition.unwrap_or_default(),
        fast_forward,
        precision,
        draw_cycle: values
            .integer("draw_cycle")
            .and_then(|cycle| u32::try_from(cycle).ok())
            .unwrap_or(0),
        stall_after,
        perturbation: None,
    };
    let perturbed = read_perturbed(&values, times, findings);
    let seeds = Repeats { seeds, perturbed };
    (findings.n_errors() == before).then_some((seeds, control))
}

/// What an estimate is to be worth, in millionths; 0 where nothing is estimated.
fn read_precision(values: &Values, fast_forward: FastForward, findings: &mut Findings) -> u32 {
    /// A hundredth.
    const USUAL: f64 = 0.01;
    let is_estimated = fast_forward == FastForward::Statistical;
    if !is_estimated && values.given("precision") {
        let reason = "has no meaning where nothing is estimated";
        let hint = "say fast_forward = \"statistical\", or remove precision";
        findings.error(values.place("precision"), "run.precision", reason, hint);
    }
    match is_estimated {
        true => ((values.number("precision").unwrap_or(USUAL) * 1e6).round() as u32).max(1),
        false => 0,
    }
}

/// The seeds of the runs; a mistake if there is none, or one twice.
fn read_seeds(values: &Values, findings: &mut Findings) -> Vec<u64> {
    let seeds = match values.integer("seed") {
        Some(seed) => {
            if values.given("seeds") {
                findings.error(
                    values.place("seed"),
                    "run.seed",
                    "stands beside `seeds`",
                    "keep one of them",
                );
            }
            vec![seed]
        }
        None => values.integers("seeds").unwrap_or(&[]).to_vec(),
    };
    if values.get("seeds").is_some() && seeds.is_empty() {
        findings.error(
            values.place("seeds"),
            "run.seeds",
            "there is no seed",
            "write seeds = [1]",
        );
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = seeds.iter().find(|seed| !seen.insert(**seed)) {
        let reason = format!("{twice} is there twice: the same run would be made again");
        findings.error(values.place("seeds"), "run.seeds", reason, "remove one of them");
    }
    seeds
}

/// When sources stop; `None` until the work is done. `endless` says whether a job sends without end, if that is known.
fn read_end(values: &Values, endless: Option<bool>, findings: &mut Findings) -> Option<Time> {
    match (values.get("end"), endless) {
        (Some(Checked::Quantity(end)), _) => Some(Time(*end)),
        (Some(Checked::Word("done")), Some(true)) => {
            let reason = "\"done\" never comes: a job sends without end";
            findings.error(
                values.place("end"),
                "run.end",
                reason,
                "give a time, or a count to every job's work",
            );
            None
        }
        (Some(Checked::Word("auto")), Some(true)) => Some(DEFAULT_END),
        _ => None,
    }
}

/// Something has to be left to measure.
fn check_warmup(warmup: Time, end: Time, values: &Values, findings: &mut Findings) {
    if warmup < end {
        return;
    }
    let print = |time: Time| Unit::Time.print(time.0);
    let reason = format!(
        "{} leaves nothing to measure before the end at {}",
        print(warmup),
        print(end)
    );
    findings.error(
        values.place("warmup"),
        "run.warmup",
        reason,
        "make it shorter than run.end",
    );
}

/// Which engine executes the runs.
fn read_engine(values: &Values) -> Option<Engine> {
    Some(match values.text("engine")? {
        "sequential" => Engine::Sequential,
        "conservative" => Engine::Conservative,
        "optimistic" => Engine::Optimistic,
        "reference" => Engine::Reference,
        "rollback-check" => Engine::RollbackCheck,
        "auto" => Engine::Auto,
        other => unreachable!("engine {other:?} is in the registry and not read"),
    })
}

/// The perturbed runs beside each: as many as are asked for, spread over the given time, or over that of a packet.
fn read_perturbed(values: &Values, times: Option<LonePacketTimes>, findings: &mut Findings) -> Vec<Perturbation> {
    let perturb = values.integer_or_default("perturb") as u32;
    if perturb == 0 && values.given("perturb_spread") {
        let hint = "give run.perturb, the number of perturbed runs, or remove the key";
        let reason = "has no meaning without perturbed runs";
        findings.error(values.place("perturb_spread"), "run.perturb_spread", reason, hint);
    }
    let spread = values
        .quantity("perturb_spread")
        .map(Time)
        .or(times.map(|times| times.packet))
        .unwrap_or_default();
    (1..=perturb).map(|number| Perturbation { number, spread }).collect()
}
