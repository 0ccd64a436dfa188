//! What the files of a results directory hold beside the numbers and tables of runs: every key and column, with what it is.
//!
//! Python writes these files; their names are said here, where all others are, so that one list and one page tell any name.

use super::figure::{Measure, Together};
use serde::Serialize;

/// A key of a JSON file, or a column of a table. A word in capitals stands for what differs: `KEY`, `FILE`, `TABLE`; a 0 for any place in a
/// list.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NameInFile {
    /// It, with a dot before what is inside.
    pub name: &'static str,
    /// What it is measured in.
    pub measure: Measure,
    /// What it is.
    pub line: &'static str,
    /// What several seeds have together of it.
    pub seeds: Together,
}

impl NameInFile {
    const fn seeds(self, seeds: Together) -> NameInFile {
        NameInFile { seeds, ..self }
    }
}

/// A file, or several that hold the same.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ResultFile {
    /// Its name in a results directory.
    pub name: &'static str,
    /// What it has, and when it is there.
    pub line: &'static str,
    /// What stands in it.
    pub names: &'static [NameInFile],
}

const fn name(name: &'static str, measure: Measure, line: &'static str) -> NameInFile {
    let seeds = match measure {
        Measure::Text | Measure::Flag | Measure::Group | Measure::List => Together::Apart,
        _ => Together::Mean,
    };
    NameInFile {
        name,
        measure,
        line,
        seeds,
    }
}

const fn text(called: &'static str, line: &'static str) -> NameInFile {
    name(called, Measure::Text, line)
}

const fn count(called: &'static str, line: &'static str) -> NameInFile {
    name(called, Measure::Count, line)
}

const fn group(called: &'static str, line: &'static str) -> NameInFile {
    name(called, Measure::Group, line)
}

/// Every file of a campaign, in the order of the documentation.
pub const FILES: &[ResultFile] = &[
    RUNS,
    JOBS,
    PERTURBED,
    SUMMARY,
    ANSWER,
    MANIFEST,
    RECORD,
    SEALS,
    CLAIMS,
    SATURATION,
    SATURATION_ROWS,
    FAILURES,
    FAILURE_ROWS,
    FORKS,
    FORK_ROWS,
    KNEE,
    KNEE_ROWS,
    EFFECTS,
    EFFECT_ROWS,
    CAPACITY,
    PARETO,
];

const RUNS: ResultFile = ResultFile {
    name: "runs.parquet",
    line: "A row per run. Each swept key has a column with what the run has of it, as a text: `job.0.work.load`. Each number and text of \
           the run has one by its key; of `jobs` the times and shares of the first job of MPI ranks alone, of `verdict` not its checks; \
           `notes` are one text, `limits` are left out.",
    names: &[
        text("run_id", "Id of the run, as in the other tables."),
        text("experiment", "Its experiment; empty for runs of none."),
        count("seed", "Its seed."),
        text("hash", "Hash of what was run."),
        group(
            "perturbed",
            "With `run.perturb`: what the perturbed runs beside it say of its times.",
        ),
        count("perturbed.runs", "Perturbed runs that it is compared with."),
        count("perturbed.planned", "How many there are to be."),
        group(
            "perturbed.times",
            "Its times by key: `perturbed.times.jobs.0.time_ns.median`.",
        ),
        group("perturbed.times.KEY", "One of them."),
        name(
            "perturbed.times.KEY.unperturbed",
            Measure::Nanoseconds,
            "The time of the run itself.",
        ),
        name(
            "perturbed.times.KEY.min",
            Measure::Nanoseconds,
            "The least of it and its perturbed runs.",
        )
        .seeds(Together::Least),
        name("perturbed.times.KEY.median", Measure::Nanoseconds, "Their median."),
        name("perturbed.times.KEY.max", Measure::Nanoseconds, "The greatest of them.").seeds(Together::Greatest),
        name(
            "perturbed.times.KEY.relative",
            Measure::Share,
            "How far they lie apart, in parts of the median.",
        ),
        count("perturbed.times.KEY.runs", "Perturbed runs that have this time.").seeds(Together::Least),
    ],
};

const JOBS: ResultFile = ResultFile {
    name: "jobs.parquet",
    line: "A row per run and job. Columns have what the summary has of it, by the keys behind `jobs.NUMBER.`: `time_ns`, \
           `latency_ns.mean`.",
    names: &[
        text("run_id", "Id of the run."),
        count(
            "job",
            "Number of the job: its keys in the summary begin with `jobs.NUMBER`.",
        ),
    ],
};

const PERTURBED: ResultFile = ResultFile {
    name: "perturbed.parquet",
    line: "With `run.perturb`, a row per perturbed run. Its other columns are those of `runs.parquet`.",
    names: &[text("beside", "Id of the run that it was perturbed from.")],
};

const SUMMARY: ResultFile = ResultFile {
    name: "summary.json",
    line: "The campaign with the numbers of every run.",
    names: &[
        text("study", "Name of the study."),
        text("study_hash", "Hash of all that the study asks for."),
        text("version", "Version of fabricsim."),
        group("build", "The build that ran: see `manifest.json`."),
        name("complete", Measure::Flag, "Whether every run is finished."),
        group("verdict", "What the campaign proved."),
        name(
            "verdict.ok",
            Measure::Flag,
            "Whether every finished run passed its self-checks.",
        ),
        count("verdict.finished", "Runs that did."),
        name("verdict.failed_checks", Measure::List, "Ids of those that did not."),
        count("verdict.missing", "Runs that are not finished."),
        name(
            "runs",
            Measure::List,
            "The runs: beside what follows, each has its numbers by their keys.",
        ),
        text("runs.0.id", "Id of the run."),
        text("runs.0.hash", "Hash of what was run."),
        text("runs.0.experiment", "Its experiment; empty for runs of none."),
        name(
            "runs.0.sweep",
            Measure::List,
            "Swept keys with their values; in answers of commands by key.",
        ),
        count("runs.0.seed", "Its seed."),
    ],
};

const ANSWER: ResultFile = ResultFile {
    name: "run --json",
    line: "What `fabricsim run --json` prints: the keys of `summary.json` without `build` and `verdict`, and these.",
    names: &[
        text("out", "The results directory."),
        name(
            "ok",
            Measure::Flag,
            "Whether every run is finished and passed its self-checks.",
        ),
        text("report", "The report that was written; null without."),
    ],
};

const MANIFEST: ResultFile = ResultFile {
    name: "manifest.json",
    line: "What was asked, by what and where, written before the first run.",
    names: &[
        count("format", "Of the results directory: 2; 1 had no seals."),
        group("study", "What the study says of itself."),
        text("study.name", "Its name."),
        text("study.description", "Its description."),
        name("study.claims", Measure::List, "Its claims, as it has them."),
        group("study.reproduce", "What it says of figures, as it has it."),
        group("study.sample", "Its sample, as it has it; null without."),
        text("study_hash", "Hash of all that it asks for."),
        text("study_file", "Name of its file."),
        text("study_source", "That file."),
        name(
            "sets",
            Measure::List,
            "What `--set` and options have set in it: key and value.",
        ),
        text("variant", "Its variant; null without."),
        text("version", "Version of fabricsim."),
        group("build", "The build."),
        text("build.version", "Its version."),
        text("build.commit", "Commit of its sources; null where that is not known."),
        name(
            "build.dirty",
            Measure::Flag,
            "Whether they had been changed since; null where that is not known.",
        ),
        text("build.sources", "Digest of its sources."),
        text("command", "The command that was given; empty from Python."),
        name("engine", Measure::List, "Engines that were asked for."),
        text("created", "When it was written."),
        group("host", "The machine."),
        text("host.processor", "Its processor."),
        count("host.cores", "Cores that the process may use."),
        name("host.memory_bytes", Measure::Bytes, "Its memory."),
        text("host.system", "Its system."),
        text("host.python", "Version of Python."),
        name("runs", Measure::List, "Every run that was asked for."),
        text("runs.0.id", "Id: the first digits of its hash."),
        text("runs.0.hash", "SHA-256 of what is run."),
        text("runs.0.study", "Name of the study."),
        text("runs.0.experiment", "Its experiment; empty for runs of none."),
        name("runs.0.sweep", Measure::List, "Swept keys with their values."),
        count("runs.0.seed", "Its seed."),
        text("runs.0.engine", "Engine that was asked for."),
        group("runs.0.topology", "The topology, by the keys of the study."),
        group(
            "runs.0.estimate",
            "What the run is predicted to be and take; null where that is not known beforehand.",
        ),
        count("runs.0.estimate.nodes", "Nodes of the network."),
        count("runs.0.estimate.routers", "Routers of the network."),
        name("runs.0.estimate.memory_bytes", Measure::Bytes, "Memory."),
        count("runs.0.estimate.packets", "Packets."),
        count("runs.0.estimate.packet_hops", "Packet hops."),
        name("runs.0.estimate.seconds", Measure::Seconds, "CPU time on one core."),
        name(
            "runs.0.estimate.build_seconds",
            Measure::Seconds,
            "Of that the set-up, which does not grow with the work.",
        ),
        name(
            "runs.0.estimate.seconds_at_least",
            Measure::Seconds,
            "CPU time where iterations repeat as soon as they can, so that most are not run; null where all are.",
        ),
        text(
            "runs.0.canonical",
            "All that is run, as a JSON text with fields in fixed order.",
        ),
        group("runs.0.perturbation", "Of a perturbed run: what is perturbed."),
        count(
            "runs.0.perturbation.number",
            "Its number among those beside the run before it.",
        ),
        name(
            "runs.0.perturbation.spread_ns",
            Measure::Nanoseconds,
            "By how much its starts differ.",
        ),
        text("seal", "SHA-256 of the text without this key."),
    ],
};

const RECORD: ResultFile = ResultFile {
    name: "runs/ID.json",
    line: "The record of a finished run.",
    names: &[
        text("id", "Id of the run."),
        text("hash", "Hash of what was run."),
        text("study", "Name of the study."),
        text("experiment", "Its experiment; empty for runs of none."),
        name("sweep", Measure::List, "Swept keys with their values."),
        count("seed", "Its seed."),
        text("version", "Version of fabricsim."),
        group("build", "The build that ran it: see `manifest.json`."),
        text(
            "status",
            "`finished`, or `failed-check` where a self-check does not hold.",
        ),
        name("wall_s", Measure::Seconds, "Wall time in its process."),
        group("summary", "Its numbers by their keys."),
        group("tables", "The tables that it recorded."),
        group("tables.TABLE", "One of them."),
        text("tables.TABLE.file", "Its file, beside the record."),
        count("tables.TABLE.rows", "Its rows."),
        text("tables.TABLE.sha256", "SHA-256 of the file."),
        name("tables.TABLE.bytes", Measure::Bytes, "Size of the file."),
        text(
            "same_as",
            "Id of a run of the same work whose results it has taken over; only there then.",
        ),
        text("seal", "SHA-256 of the text without this key."),
    ],
};

const SEALS: ResultFile = ResultFile {
    name: "seals.json",
    line: "The list of files that were made from runs, with their seals.",
    names: &[
        count("format", "Of the list."),
        text("study_hash", "Hash of the study that they are of."),
        name("finished", Measure::List, "Ids of the runs that they were made from."),
        text("state", "Digest of those runs."),
        group("files", "The files, by name."),
        group("files.FILE", "One of them."),
        text("files.FILE.sha256", "SHA-256 of the file."),
        name("files.FILE.bytes", Measure::Bytes, "Its size."),
        text("files.FILE.state", "Digest of the runs that it was made from."),
        name("writing", Measure::Flag, "Whether files are being written."),
        text("seal", "SHA-256 of the text without this key."),
    ],
};

const CLAIMS: ResultFile = ResultFile {
    name: "claims.json",
    line: "A list of the study's claims, as judged by `fabricsim reproduce`.",
    names: &[
        text("0.id", "Id of the claim."),
        text("0.paper", "What the paper says."),
        text("0.ours", "What was measured, in words."),
        name(
            "0.value",
            Measure::Count,
            "The same as a number, a truth or a text; null where it was not measured.",
        ),
        text("0.expect", "What was expected."),
        text("0.verdict", "`agrees`, `differs` or `not measured`."),
        text("0.because", "Why it may differ, or why it was not measured."),
        text("0.measure", "The expression that was measured."),
        text("0.perturbed", "What perturbed runs say of it; empty without them."),
    ],
};

const FAILURES: ResultFile = ResultFile {
    name: "failures.json",
    line: "What `fabricsim failures` found.",
    names: &[
        name("failures", Measure::List, "An entry for each point of the sweep."),
        text("failures.0.sentence", "The answer in words."),
        text("failures.0.name", "The point in words."),
        group("failures.0.point", "The experiment and the values of swept keys."),
        text("failures.0.of", "What fails: `cables`, `routers` or `nodes`."),
        text(
            "failures.0.link_class",
            "Only cables of this class fail; empty for all.",
        ),
        text("failures.0.metric", "The number that slowdowns are of."),
        name("failures.0.maximise", Measure::Flag, "Whether more of it is better."),
        name(
            "failures.0.candidates",
            Measure::Count,
            "How many there are that can fail.",
        ),
        name(
            "failures.0.all_tried",
            Measure::Flag,
            "Whether each was tried by itself; else a sample.",
        ),
        text("failures.0.state", "Of the runs without failures."),
        text("failures.0.reason", "Why there is no answer; empty where there is one."),
        group("failures.0.singles", "Of failures of one thing each; null without any."),
        name("failures.0.singles.tried", Measure::Count, "How many were tried."),
        name(
            "failures.0.singles.median",
            Measure::Count,
            "Median slowdown; those without one count as worse than all others, and where they reach it, it is null. `p90` likewise.",
        ),
        name("failures.0.singles.worst", Measure::Count, "The greatest slowdown."),
        name(
            "failures.0.singles.share_within_1_percent",
            Measure::Share,
            "Share of those that cost 1 % at most.",
        ),
        name(
            "failures.0.singles.without_number",
            Measure::Count,
            "How many have no slowdown.",
        ),
        name("failures.0.worst", Measure::List, "Names of the worst."),
        name("failures.0.classes", Measure::List, "The same by class of cable."),
        name(
            "failures.0.many",
            Measure::List,
            "Of several at once, by how many: `dead`, `draws`, `least`, `median` and `worst` slowdown, `without_number`.",
        ),
        name(
            "failures.0.failures",
            Measure::List,
            "All that were tried, as in `failures.csv`.",
        ),
    ],
};

const FAILURE_ROWS: ResultFile = ResultFile {
    name: "failures.csv",
    line: "A row per point and failure; the swept keys come first.",
    names: &[
        text("name", "What fails, or how many in which draw."),
        text("link_class", "Class of a cable."),
        name("dead", Measure::Count, "How many fail."),
        name("draw", Measure::Count, "Seed of the draw; empty for a single failure."),
        text(
            "state",
            "`ok`; `saturated` or `unsettled` where the network does not keep up with the load any more, or the run cannot tell; `unreachable` where nodes are parted, or routing or jobs cannot take the failure; `failed` without a result to use.",
        ),
        name(
            "slowdown",
            Measure::Count,
            "The metric with the failure over that without, geometric mean over the seeds; the other way round where more is better.",
        ),
        text("metric", "The number that is compared; `without` and `with` hold it."),
        name("seeds", Measure::Count, "Seeds of each run."),
        name(
            "accepted_load",
            Measure::Load,
            "With the failure; `accepted_without` without it.",
        ),
        name("nodes_lost", Measure::Count, "Nodes that are dead by it."),
        name("parted", Measure::Count, "Ordered pairs of live nodes without a way."),
        text("busiest_link", "With the failure."),
        name("busy", Measure::Share, "Part of the time that it was busy."),
        text("why", "Why there is no slowdown."),
        text("names", "What fails, by name."),
    ],
};

const FORKS: ResultFile = ResultFile {
    name: "forks.json",
    line: "What `fabricsim fork` found, in the folder of forks.",
    names: &[
        name("forks", Measure::List, "An entry for each run that has forks."),
        text("forks.0.sentence", "The answer in words."),
        text("forks.0.name", "The run in words."),
        text("forks.0.run", "Its id."),
        text("forks.0.metric", "The number that is compared."),
        name("forks.0.value", Measure::Count, "That of the run; null without one."),
        text("forks.0.state", "Of the run."),
        text("forks.0.why", "Why it has no such number."),
        name(
            "forks.0.forks",
            Measure::List,
            "The forks that were asked for last, as in `forks.csv`, each with its `sentence`.",
        ),
        name("forks.0.earlier", Measure::List, "Those that were there before."),
    ],
};

const FORK_ROWS: ResultFile = ResultFile {
    name: "forks.csv",
    line: "A row per fork.",
    names: &[
        text("of", "Id of the run."),
        text("metric", "The number that is compared; `as it is` has that of the run."),
        text("name", "What is other in the fork."),
        text("run", "Its id in the folder of forks; empty where it cannot be run."),
        text(
            "state",
            "`ok`, `saturated` or `unsettled`; `refused` where it cannot be run, `failed` without a result to use.",
        ),
        text("why", "Why there is no ratio."),
        name("value", Measure::Count, "The metric; empty without one."),
        name("ratio", Measure::Count, "Over that of the run."),
        name(
            "lost",
            Measure::Count,
            "Packets that were lost, each time that one was; `sent_again` of them were sent again.",
        ),
        text("busiest_link", "In the fork."),
        name("busy", Measure::Share, "Part of the time that it was busy."),
    ],
};

const SATURATION: ResultFile = ResultFile {
    name: "saturation.json",
    line: "What `fabricsim saturation` found.",
    names: &[
        name("saturations", Measure::List, "An entry for each point of the sweep."),
        text("saturations.0.sentence", "The answer in words."),
        text("saturations.0.name", "The point in words."),
        group("saturations.0.point", "The experiment and the values of swept keys."),
        group(
            "saturations.0.changed",
            "What was changed of the study: of an entry of `moved`.",
        ),
        text(
            "saturations.0.kind",
            "`found`; `full`: it keeps up with full injection; `overload`: the least load that was run is too much; `open`: runs did not get as close as asked; `silent`: nothing is sent; `failed`.",
        ),
        text(
            "saturations.0.reason",
            "Why there is no answer; empty where there is one.",
        ),
        name(
            "saturations.0.load",
            Measure::Load,
            "The saturation load: the middle of its interval; null without one.",
        ),
        name(
            "saturations.0.low",
            Measure::Load,
            "The greatest load that the network kept up with; null without one.",
        ),
        name(
            "saturations.0.high",
            Measure::Load,
            "The least load that it did not keep up with; null without one.",
        ),
        name(
            "saturations.0.half_width",
            Measure::Load,
            "Half of the interval; null without one.",
        ),
        name("saturations.0.within", Measure::Load, "How close was asked for."),
        name(
            "saturations.0.bound",
            Measure::Load,
            "Load at which links are full by what the routing loads them with; null where that is not known.",
        ),
        name(
            "saturations.0.exact",
            Measure::Flag,
            "Whether no load above the bound can be carried; else the search only began there.",
        ),
        group("saturations.0.links", "The links that limit; null without them."),
        text("saturations.0.links.words", "Which ones."),
        text(
            "saturations.0.links.by",
            "`channel loads`, or `links` of the saturated run.",
        ),
        name(
            "saturations.0.links.busy",
            Measure::Share,
            "Part of the time that the busiest of them was busy in the saturated run; null where links were not observed.",
        ),
        count(
            "saturations.0.links.count",
            "How many; null where they were not counted in the run.",
        ),
        name(
            "saturations.0.links.full",
            Measure::Flag,
            "Whether they are full; else something other than links limits.",
        ),
        name(
            "saturations.0.twice",
            Measure::Load,
            "The bound with twice the bandwidth of the class that limits; null where the bound is not exact.",
        ),
        text("saturations.0.twice_class", "That class."),
        group(
            "saturations.0.at",
            "What was measured at the least load that was not kept up with, as in `measured`; null without one.",
        ),
        name(
            "saturations.0.measured",
            Measure::List,
            "Every load that was run, rising, each with its longest run.",
        ),
        name(
            "saturations.0.measured.0.load",
            Measure::Load,
            "Offered by every node that sends.",
        ),
        name(
            "saturations.0.measured.0.length_ns",
            Measure::Nanoseconds,
            "Simulated time of the run.",
        ),
        text(
            "saturations.0.measured.0.state",
            "`ok` if every seed is, `saturated` if one is, else `unsettled`.",
        ),
        name(
            "saturations.0.measured.0.states",
            Measure::List,
            "The state of every seed.",
        ),
        name(
            "saturations.0.measured.0.share",
            Measure::Share,
            "Which share of the saturation load it is, of 0.25, 0.5 and 0.8; null for others.",
        ),
        name(
            "saturations.0.measured.0.offered_load",
            Measure::Load,
            "Mean over all nodes, silent ones too, and the seeds.",
        ),
        name(
            "saturations.0.measured.0.accepted_load",
            Measure::Load,
            "The same of what was accepted.",
        ),
        name(
            "saturations.0.measured.0.accepted_load_error",
            Measure::Load,
            "Half the width of its 95 % interval; null where that is not known.",
        ),
        name(
            "saturations.0.measured.0.accepted_load_min",
            Measure::Load,
            "Of the worst node of the worst seed.",
        ),
        name(
            "saturations.0.measured.0.fairness",
            Measure::Share,
            "Jain's index, of the worst seed.",
        ),
        name(
            "saturations.0.measured.0.busiest_link",
            Measure::Share,
            "Part of the time that the busiest link was busy.",
        ),
        group(
            "saturations.0.measured.0.latency_ns",
            "`mean` and `p99` over the seeds, `_error` half of their 95 % interval, `_at_least` where only a bound is known.",
        ),
        count(
            "saturations.0.runs",
            "Loads that were run, those run again for longer counted again.",
        ),
        name("saturations.0.notes", Measure::List, "What else there is to say."),
        name(
            "saturations.0.moved",
            Measure::List,
            "The same with a change of `--what-if` each.",
        ),
    ],
};

const SATURATION_ROWS: ResultFile = ResultFile {
    name: "saturation.csv",
    line: "A row per load that was run; the swept keys and what was changed come first.",
    names: &[
        name("load", Measure::Load, "Offered by every node that sends."),
        name(
            "share",
            Measure::Share,
            "Which share of the saturation load it is; empty for others.",
        ),
        text(
            "state",
            "`ok` if every seed is, `saturated` if one is, else `unsettled`.",
        ),
        name("length_ns", Measure::Nanoseconds, "Simulated time of the run."),
        name(
            "offered_load",
            Measure::Load,
            "Mean over all nodes, silent ones too, and the seeds.",
        ),
        name("accepted_load", Measure::Load, "The same of what was accepted."),
        name(
            "accepted_load_error",
            Measure::Load,
            "Half the width of its 95 % interval.",
        ),
        name(
            "accepted_load_min",
            Measure::Load,
            "Of the worst node of the worst seed.",
        ),
        name("fairness", Measure::Share, "Jain's index, of the worst seed."),
        name(
            "busiest_link",
            Measure::Share,
            "Part of the time that the busiest link was busy.",
        ),
        name(
            "latency_ns.mean",
            Measure::Nanoseconds,
            "Mean over the seeds; empty where it cannot be given.",
        ),
        name(
            "latency_ns.mean_error",
            Measure::Nanoseconds,
            "Half of its 95 % interval.",
        ),
        name(
            "latency_ns.mean_at_least",
            Measure::Nanoseconds,
            "What it is not below, where only that is known.",
        ),
        name(
            "latency_ns.p99",
            Measure::Nanoseconds,
            "99 % quantile over the seeds; empty where it cannot be given.",
        ),
        name(
            "latency_ns.p99_error",
            Measure::Nanoseconds,
            "Half of its 95 % interval.",
        ),
        name(
            "latency_ns.p99_at_least",
            Measure::Nanoseconds,
            "What it is not below, where only that is known.",
        ),
    ],
};

const KNEE: ResultFile = ResultFile {
    name: "knee.json",
    line: "What `fabricsim knee` found.",
    names: &[
        name("knees", Measure::List, "A knee for each point of the other swept keys."),
        text("knees.0.over", "The key that was doubled."),
        text("knees.0.metric", "The key of what it is to improve."),
        name(
            "knees.0.gain",
            Measure::Share,
            "The gain below which a doubling does not pay.",
        ),
        name("knees.0.level", Measure::Share, "Level of the intervals."),
        name("knees.0.maximise", Measure::Flag, "Whether more is better."),
        text(
            "knees.0.kind",
            "`knee`, `never` (the last doubling still pays) or `flat` (not even the first one does).",
        ),
        count(
            "knees.0.value",
            "Where the knee is, in the unit of `knees.0.text`; null without one.",
        ),
        text("knees.0.text", "The same with its unit."),
        text(
            "knees.0.low",
            "Lower end of its interval; null where that is not known.",
        ),
        text(
            "knees.0.high",
            "Upper end of its interval; null where that is not known.",
        ),
        name("knees.0.points", Measure::List, "The values that were run."),
        count("knees.0.points.0.value", "The value."),
        text("knees.0.points.0.text", "The same with its unit."),
        count("knees.0.points.0.mean", "Mean of the metric over the seeds."),
        name("knees.0.points.0.seeds", Measure::List, "The metric of every seed."),
        count(
            "knees.0.points.0.together",
            "What the seeds have together of the metric: its mean unless it says otherwise.",
        ),
        name("knees.0.doublings", Measure::List, "The doublings that were measured."),
        count("knees.0.doublings.0.value", "The value that was doubled."),
        text("knees.0.doublings.0.text", "The same with its unit."),
        name("knees.0.doublings.0.gain", Measure::Share, "What the doubling gains."),
        name(
            "knees.0.doublings.0.low",
            Measure::Share,
            "Lower end of its interval; null with one seed.",
        ),
        name(
            "knees.0.doublings.0.high",
            Measure::Share,
            "Upper end of its interval; null with one seed.",
        ),
        count("knees.0.n_seeds", "Seeds at every value."),
        group(
            "knees.0.point",
            "The values of the other swept keys, and the experiment.",
        ),
        text(
            "knees.0.over_seeds",
            "What the seeds have together of the metric: `mean`, `sum`, `greatest` or `least`.",
        ),
        text("knees.0.sentence", "The answer in words."),
    ],
};

const KNEE_ROWS: ResultFile = ResultFile {
    name: "knee.csv",
    line: "A row per value that was run; the other swept keys come first.",
    names: &[
        text("over", "The key that was doubled."),
        text("value", "Its value."),
        text("metric", "The key of what it is to improve."),
        count("mean", "Mean of the metric over the seeds."),
        name(
            "gain",
            Measure::Share,
            "What doubling the value gains; empty where it was not doubled.",
        ),
        name(
            "gain_low",
            Measure::Share,
            "Lower end of its interval; empty with one seed.",
        ),
        name(
            "gain_high",
            Measure::Share,
            "Upper end of its interval; empty with one seed.",
        ),
        text("seeds", "The metric of every seed, with spaces between."),
        count(
            "together",
            "What the seeds have together of the metric: its mean unless it says otherwise.",
        ),
    ],
};

const EFFECTS: ResultFile = ResultFile {
    name: "effects.json",
    line: "What `fabricsim effects` found.",
    names: &[
        name(
            "effects",
            Measure::List,
            "An entry for each experiment and combination of swept keys.",
        ),
        text("effects.0.of", "The key of the metric."),
        group("effects.0.point", "The experiment and the values of swept keys."),
        count("effects.0.n_points", "Points of the sample that are finished."),
        count("effects.0.n_seeds", "Seeds at each, the least number."),
        count("effects.0.mean", "Mean of the metric over the points."),
        count("effects.0.deviation", "Its standard deviation over the points."),
        name(
            "effects.0.noise",
            Measure::Share,
            "Share of the variance that comes from the seeds; null where that cannot be told.",
        ),
        name("effects.0.effects", Measure::List, "The sampled keys."),
        text("effects.0.effects.0.key", "The key."),
        name(
            "effects.0.effects.0.share",
            Measure::Share,
            "Share of the variance that it has alone.",
        ),
        name("effects.0.effects.0.low", Measure::Share, "Lower end of its interval."),
        name("effects.0.effects.0.high", Measure::Share, "Upper end of its interval."),
        text(
            "effects.0.effects.0.method",
            "What estimated it: `rbd-fast`, `correlation-ratio`, `surface` or `hdmr`.",
        ),
        count(
            "effects.0.effects.0.first",
            "Mean of the metric over the lowest fifth of the range, or the first choice.",
        ),
        count(
            "effects.0.effects.0.last",
            "Mean of the metric over the highest fifth, or the last choice.",
        ),
        name(
            "effects.0.interactions",
            Measure::List,
            "Pairs of keys, the largest share first.",
        ),
        name("effects.0.interactions.0.keys", Measure::List, "The two keys."),
        name(
            "effects.0.interactions.0.share",
            Measure::Share,
            "Share of the variance that they have only together.",
        ),
        name(
            "effects.0.interactions.0.low",
            Measure::Share,
            "Lower end of its interval.",
        ),
        name(
            "effects.0.interactions.0.high",
            Measure::Share,
            "Upper end of its interval.",
        ),
        text("effects.0.interactions.0.method", "What estimated it."),
        name("effects.0.notes", Measure::List, "What cannot be told, and why."),
    ],
};

const EFFECT_ROWS: ResultFile = ResultFile {
    name: "effects.csv",
    line: "A row per sampled key, per pair of keys, and one of the seeds; the swept keys come first.",
    names: &[
        text("of", "The key of the metric."),
        text("key", "The sampled key; `seeds` in the row of the seeds."),
        text("with", "The other key of a pair."),
        name("share", Measure::Share, "Share of the variance."),
        name("low", Measure::Share, "Lower end of its interval."),
        name("high", Measure::Share, "Upper end of its interval."),
        text("method", "What estimated it."),
    ],
};

const CAPACITY: ResultFile = ResultFile {
    name: "capacity.csv",
    line: "What `fabricsim capacity` found: a row per job and company; the swept keys and the seed come first.",
    names: &[
        text("job", "The job."),
        text(
            "beside",
            "Who shares the network with it: `nobody`, `all`, or another job.",
        ),
        count("iterations", "Iterations that it finished; empty where it has none."),
        count(
            "slowdown",
            "Its time by its time alone; of jobs that do not end iterations alone by iterations here; of traffic its mean latency by that alone.",
        ),
    ],
};

const PARETO: ResultFile = ResultFile {
    name: "pareto.csv",
    line: "What `fabricsim pareto` found: a row per point; the swept keys and the objectives come first.",
    names: &[
        count("seeds", "Seeds of the point."),
        name(
            "front",
            Measure::Flag,
            "Whether no other point beats it in every objective: `yes` or `no`.",
        ),
    ],
};

/// The file of this name.
#[cfg(test)]
fn file(name: &str) -> &'static ResultFile {
    FILES.iter().find(|file| file.name == name).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_file_says_every_name_once_and_in_a_sentence() {
        for file in FILES {
            let names: BTreeSet<&str> = file.names.iter().map(|name| name.name).collect();
            assert_eq!(names.len(), file.names.len(), "{}", file.name);
            assert!(file.names.iter().all(|name| name.line.ends_with('.')), "{}", file.name);
        }
    }

    #[test]
    fn what_lies_furthest_among_perturbed_runs_does_so_over_seeds() {
        let seeds = |name: &str| {
            file("runs.parquet")
                .names
                .iter()
                .find(|one| one.name == name)
                .unwrap()
                .seeds
        };
        assert_eq!(seeds("perturbed.times.KEY.max"), Together::Greatest);
        assert_eq!(seeds("perturbed.times.KEY.min"), Together::Least);
        assert_eq!(seeds("perturbed.times.KEY.median"), Together::Mean);
    }
}
