//! What an application did, from a recording of it: `work = { kind = "trace", file = "..." }`.
//!
//! A run holds the trace's path, and the SHA-256 of what it says: two traces of one name are different runs.

use super::keys::RANKS;
use super::{Keys, Misfit, MotifKind};
use crate::mpi::LeftOut;
use crate::mpi::spec::MotifValue;
use crate::replay::{AnySource, Repairing};
use crate::replay::{CallRecording, ComputeTimes, OpenedTrace, TraceProgram, TraceWish, UnplayedTrace, open};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use study::diagnostic::{Findings, counted};
use study::reader::Values;
use study::{Default, Entry, Named, Parameter, SECOND, Type, When, choice, key, time};
use trace::cut::TracePart;
use trace::{Problem, WorkUnit};

choice! {
    /// How long computations take.
    #[derive(Default)]
    pub enum Computing {
        #[default]
        Recorded = "recorded", "As long as when they were recorded.";
        Scaled = "scaled", "`compute_scale` times as long.";
        Zero = "zero", "No time: communication alone.";
        Instructions = "instructions", "As long as their instructions take at `rate`; for traces that tell those.";
    }
}

/// A factor from a millionth to a million.
const FACTOR: Type = Type::Number { above: 0.0, max: 1e6 };
/// A time within a trace: up to a million seconds.
const LONG: Type = time(1_000_000 * SECOND);
/// Characters of a SHA-256.
const SHA256: usize = 64;

const TRACE: &[Parameter] = &[
    key(
        "file",
        Type::Text,
        Default::Required,
        "File or folder of the trace, relative to the study's folder; plain, gzip, xz or zstd.",
    ),
    key(
        "format",
        Type::Text,
        Default::From("recognised by the file's name and first bytes"),
        "Name of the format, such as `otf2` or `dumpi`.",
    ),
    key(
        "sha256",
        Type::Text,
        Default::From("that of the file"),
        "SHA-256 of what the trace says, as the specification of a run has it: a trace that says something else is refused.",
    ),
    key(
        "compute",
        Type::Choice(Computing::WORDS),
        Default::Text("recorded"),
        "How long computations take.",
    ),
    key(
        "compute_scale",
        FACTOR,
        Default::Text("1"),
        "Factor of all computations.",
    )
    .when(&[When {
        key: "compute",
        values: &["scaled"],
    }]),
    key(
        "rate",
        Type::Number { above: 0.0, max: 1e18 },
        Default::From("needed by compute \"instructions\""),
        "Instructions of a rank per second.",
    )
    .when(&[When {
        key: "compute",
        values: &["instructions"],
    }]),
    key(
        "regions",
        Type::Lines,
        Default::From("no region has a factor of its own"),
        "Factors of the computations in regions of the program: lines such as `solver = 0.5`, with the name of the innermost region.",
    ),
    key(
        "message_scale",
        FACTOR,
        Default::Text("1"),
        "Factor of the sizes of messages and collectives.",
    ),
    key(
        "any_source",
        Type::Choice(AnySource::WORDS),
        Default::Text("recorded"),
        "From whom receives from anybody receive.",
    ),
    key(
        "repair",
        Type::Choice(Repairing::WORDS),
        Default::Text("none"),
        "What becomes of that in the trace which does not match.",
    ),
    key(
        "only_ranks",
        Type::Text,
        Default::From("all of them"),
        "Ranks of the trace that are played, such as \"0..64\" for the first 64; they are numbered from 0 again.",
    ),
    key(
        "from_time",
        LONG,
        Default::From("the begin of the trace"),
        "What began then or later is played, from the begin of the trace.",
    ),
    key(
        "to_time",
        LONG,
        Default::From("the end of the trace"),
        "What began before is played.",
    ),
    key(
        "region",
        Type::Text,
        Default::From("all of the program"),
        "What is in this region of the program is played, and in those that are entered from it.",
    ),
    key(
        "visits",
        Type::Text,
        Default::From("all of them"),
        "Of the times that a rank is in `region`, those that are played, such as \"10..20\", counted from 0.",
    ),
    key(
        "from_marker",
        Type::Text,
        Default::From("the begin of the trace"),
        "Of each rank what comes from where it first enters the region of this name is played.",
    ),
    key(
        "to_marker",
        Type::Text,
        Default::From("the end of the trace"),
        "Of each rank what comes before it first enters the region of this name, after `from_marker`, is played.",
    ),
];

/// The keys that say which part of a trace is played.
const PART: [&str; 7] = [
    "only_ranks",
    "from_time",
    "to_time",
    "region",
    "visits",
    "from_marker",
    "to_marker",
];

/// What is not played as it was.
const LIMITS: &str = "Of a part what its borders cut in two is left out on both sides, and counted. Operations of a rank come one after the other in the order of the trace, whatever thread they are of; those of a graph when what they \
    wait for has ended or started, one at a time on each lane, by the time since when they wait for it: collectives of one lane that ranks come to in different \
    orders wait for each other, which the run tells. Collectives are those of \
    [mpi], whichever way the recording had them done. A scan is an allreduce of its size; gatherv, scatterv, allgatherv and reduce_scatter have \
    blocks of one size, the mean; an alltoallv has the sizes of the trace, or equal ones where it tells sums only; making a communicator is a \
    barrier of those that it is made of, giving one up takes nothing. A collective that does not wait goes on whenever one of its messages comes or leaves, \
    while its rank computes, too, as with an engine of its own; what that takes of a busy processor is owed until the rank waits; \
    one that some rank waits in all ranks wait in. Ready sends are standard ones, and so are the \
    synchronous ones of a graph; buffered ones do not wait. Where several requests are waited for and one is enough, it is the one that was complete when it was recorded, \
    where the trace tells that. A test goes on either way; a probe takes nothing, as the receive after it waits. Both ends of a sendrecv are sent and taken as they \
    come, of any size. Put and get are refused, or left out with repair = \"drop\". Requests that nobody has waited for are waited for at the end of an iteration. \
    Names: communicators that overlap make at most 128 families, a rank receives messages of at most 65,535 different tags and has at most 65,534 requests open.";

impl MotifKind for TraceProgram {
    const ENTRY: Entry = Entry::new("trace", "What an application did, from a recording of it.")
        .keys(&[TRACE, RANKS])
        .limits(LIMITS);

    fn read(keys: &Keys) -> Result<Self, Misfit> {
        let wish = wish(&keys.values, Path::new(keys.values.text("file").unwrap_or("")))?;
        let opened = open(&wish, keys.values.text("sha256"))
            .map_err(|unplayed| misfit(unplayed.problems.first().unwrap_or(&Problem::default())))?;
        let recording = opened.recording;
        if keys.ranks != recording.ranks {
            let reason = format!("{} ranks cannot play a trace of {}", keys.ranks, recording.ranks);
            let hint = "leave the key out, or record the application with as many ranks";
            return Err(Misfit::new("ranks", reason, hint));
        }
        if keys.room < recording.ranks {
            let reason = format!(
                "the {} ranks of the trace do not fit, the nodes of the job have room for {}",
                recording.ranks, keys.room
            );
            return Err(Misfit::new(
                "file",
                reason,
                "take more nodes, or a larger ranks_per_node",
            ));
        }
        let times = times(&keys.values, &recording)?;
        let scale = keys.values.number("message_scale").unwrap_or(1.0);
        let program = TraceProgram::new(recording, times, scale);
        let (message, block, ranks) = program.largest();
        super::sized("message_scale", message)?;
        super::sized_for("message_scale", block, ranks.max(1))?;
        Ok(program)
    }

    fn read_files(
        values: &Values,
        base: &Path,
        held: &mut BTreeMap<String, MotifValue>,
        findings: &mut Findings,
    ) -> Option<()> {
        let mut refuse = |key: &str, reason: String, hint: &str| {
            findings.error(values.place(key), &format!("{}.{key}", values.path), reason, hint);
            None
        };
        let path = base.join(values.text("file")?);
        let Some(text) = path.to_str() else {
            let hint = "use folder names of printable text";
            return refuse("file", "the folder's name is not UTF-8 text".to_owned(), hint);
        };
        if let Some(format) = values.text("format").filter(|format| trace::named(format).is_none()) {
            return refuse(
                "format",
                format!("there is no format {format:?}"),
                &trace::known::hint(format),
            );
        }
        if values.text("sha256").is_some_and(|sha256| !is_sha256(sha256)) {
            let reason = "it is no SHA-256".to_owned();
            return refuse(
                "sha256",
                reason,
                "give 64 digits and letters from a to f, or leave the key out",
            );
        }
        let wish = match wish(values, &path) {
            Ok(wish) => wish,
            Err(Misfit { field, reason, hint }) => return refuse(field, reason, &hint),
        };
        let opened = match open(&wish, None) {
            Ok(opened) => opened,
            Err(unplayed) => {
                let key = field_of(&unplayed, values);
                findings.errors(
                    values.place(key),
                    &format!("{}.{key}", values.path),
                    told(&unplayed, &wish),
                );
                return None;
            }
        };
        let OpenedTrace { recording, sha256, .. } = &opened;
        if let Some(wanted) = values.text("sha256").filter(|wanted| wanted != sha256) {
            let reason = format!("the trace says something else: its SHA-256 is {sha256}, not {wanted}");
            return refuse("sha256", reason, "take the trace of that time, or leave the key out");
        }
        if let Some((key, reason)) = left_out(&opened, values) {
            let hint = "the results count it, too; `fabricsim trace info` tells where it is";
            findings.warning(values.place(key), &format!("{}.{key}", values.path), reason, hint);
        }
        held.insert("file".into(), MotifValue::Text(text.to_owned()));
        held.insert("sha256".into(), MotifValue::Text(sha256.clone()));
        held.entry("ranks".into())
            .or_insert(MotifValue::Integer(recording.ranks.into()));
        Some(())
    }
}

fn is_sha256(text: &str) -> bool {
    text.len() == SHA256 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn wish(values: &Values, path: &Path) -> Result<TraceWish, Misfit> {
    Ok(TraceWish {
        path: path.to_owned(),
        format: values.text("format").map(str::to_owned),
        any_source: values.choice("any_source").unwrap_or_default(),
        repair: values.choice("repair").unwrap_or_default(),
        part: part(values)?,
    })
}

/// The part of the trace that is played.
fn part(values: &Values) -> Result<TracePart, Misfit> {
    let (from, to) = (values.quantity("from_time"), values.quantity("to_time"));
    let times = (from.is_some() || to.is_some()).then(|| from.unwrap_or(0)..to.unwrap_or(u64::MAX));
    if times.as_ref().is_some_and(Range::is_empty) {
        let hint = "take a time after from_time, or leave one of them out";
        return Err(Misfit::new("to_time", "it is not after from_time", hint));
    }
    let numbers = |key: &'static str, most: u64| values.text(key).map(|text| range(key, text, most)).transpose();
    let visits = numbers("visits", u64::MAX)?;
    if visits.is_some() && !values.given("region") {
        let hint = "name the region, or leave the key out";
        return Err(Misfit::new("visits", "visits are those of a region", hint));
    }
    let name = |key| values.text(key).map(str::to_owned);
    Ok(TracePart {
        ranks: numbers("only_ranks", u32::MAX.into())?.map(|ranks| ranks.start as u32..ranks.end as u32),
        times,
        region: name("region"),
        visits,
        from_marker: name("from_marker"),
        to_marker: name("to_marker"),
    })
}

/// Numbers from one to before another, as `A..B`.
fn range(key: &'static str, text: &str, most: u64) -> Result<Range<u64>, Misfit> {
    let number = |text: &str| text.trim().parse::<u64>().ok().filter(|&number| number <= most);
    let found = text
        .split_once("..")
        .and_then(|(begin, end)| Some(number(begin)?..number(end)?));
    found.filter(|range| !range.is_empty()).ok_or_else(|| {
        let hint = "write A..B with A below B, such as \"0..64\": B is not among them";
        Misfit::new(key, format!("{text:?} is no range of numbers"), hint)
    })
}

/// The key that a trace is not played for.
fn field_of(unplayed: &UnplayedTrace, values: &Values) -> &'static str {
    let asked = PART.into_iter().find(|key| values.given(key));
    asked.filter(|_| unplayed.is_of_part).unwrap_or("file")
}

/// All that is wrong, reason and hint of each.
fn told(unplayed: &UnplayedTrace, wish: &TraceWish) -> Vec<(String, String)> {
    let mut told: Vec<(String, String)> = unplayed
        .problems
        .iter()
        .map(|problem| {
            let Misfit { reason, hint, .. } = misfit(problem);
            (reason, hint)
        })
        .collect();
    if unplayed.more > 0 {
        let reason = format!("and {}", counted(unplayed.more, "problem", " more"));
        told.push((
            reason,
            format!("`fabricsim trace info {}` tells of them", wish.path.display()),
        ));
    }
    told
}

/// What of a trace is not played, in words, with the key that says so.
fn left_out(opened: &OpenedTrace, values: &Values) -> Option<(&'static str, String)> {
    let left_out = opened.recording.left_out;
    if left_out.is_nothing() {
        return None;
    }
    let counts = left_out.counts().into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, (noun, more))| counted(count, noun, more)).collect();
    let first = opened
        .problems
        .first()
        .map(|problem| format!(" (first: {problem})"))
        .unwrap_or_default();
    let only_cut = left_out.cut > 0
        && left_out
            == LeftOut {
                cut: left_out.cut,
                ..LeftOut::default()
            };
    let asked = PART.into_iter().find(|key| values.given(key));
    let key = asked.filter(|_| only_cut).unwrap_or("repair");
    Some((
        key,
        format!("of the trace this is left out: {}{first}", counts.join(", ")),
    ))
}

/// A problem as the file's: place and reason, and what to do.
fn misfit(problem: &Problem) -> Misfit {
    let place = Problem {
        hint: String::new(),
        ..problem.clone()
    };
    Misfit::new("file", place.to_string(), problem.hint.clone())
}

/// How long a unit of work takes (ps).
fn times(values: &Values, recording: &CallRecording) -> Result<ComputeTimes, Misfit> {
    let computing: Computing = values.choice("compute").unwrap_or_default();
    let each = match (computing, recording.unit) {
        (Computing::Zero, _) => 0.0,
        (Computing::Instructions, WorkUnit::Instructions) => {
            let needed = || {
                let reason = "a trace of instructions has no time of its own";
                Misfit::new(
                    "rate",
                    reason,
                    "say how many instructions a rank does in a second, such as rate = 2e9",
                )
            };
            1e12 / values.number("rate").ok_or_else(needed)?
        }
        (Computing::Instructions, WorkUnit::Picoseconds) => {
            let reason = "the trace tells times, not instructions";
            return Err(Misfit::new("compute", reason, "take \"recorded\" or \"scaled\""));
        }
        (Computing::Recorded | Computing::Scaled, WorkUnit::Instructions) => {
            let reason = "the trace tells instructions, not times";
            return Err(Misfit::new(
                "compute",
                reason,
                "take \"instructions\" with a rate, or \"zero\"",
            ));
        }
        (Computing::Recorded, _) => 1.0,
        (Computing::Scaled, _) => values.number("compute_scale").unwrap_or(1.0),
    };
    let mut regions = Vec::new();
    for (name, factor) in factors(values.text("regions").unwrap_or(""))? {
        let numbers = recording
            .regions
            .iter()
            .enumerate()
            .filter(|(_, region)| **region == name);
        let numbers: Vec<usize> = numbers.map(|(number, _)| number).collect();
        if numbers.is_empty() {
            let known = recording.regions.iter().map(String::as_str);
            let hint = study::diagnostic::nearest(&name, known).map_or_else(
                || "`fabricsim trace info` tells how many regions a trace has".to_owned(),
                |best| format!("did you mean {best:?}?"),
            );
            return Err(Misfit::new(
                "regions",
                format!("the trace has no region {name:?}"),
                hint,
            ));
        }
        regions.resize(recording.regions.len(), each);
        numbers.into_iter().for_each(|number| regions[number] = each * factor);
    }
    Ok(ComputeTimes { each, regions })
}

/// Names and factors, a line each.
fn factors(text: &str) -> Result<Vec<(String, f64)>, Misfit> {
    let mut factors: Vec<(String, f64)> = Vec::new();
    for (line, told) in (1..).zip(text.lines()).filter(|(_, told)| !told.trim().is_empty()) {
        let wrong = |reason: String| {
            let hint = "write lines such as `solver = 0.5`, with factors from 0 to 1000000";
            Misfit::new("regions", format!("line {line}: {reason}"), hint)
        };
        // Names of regions may have equals signs, as operators do.
        let Some((name, factor)) = told.rsplit_once('=') else {
            return Err(wrong(format!("{told:?} has no equals sign")));
        };
        let (name, factor) = (name.trim().to_owned(), factor.trim());
        let number = factor.parse::<f64>().ok().filter(|factor| (0.0..=1e6).contains(factor));
        let number = number.ok_or_else(|| wrong(format!("{factor:?} is no factor")))?;
        if factors.iter().any(|(other, _)| *other == name) {
            return Err(wrong(format!("{name:?} has a factor already")));
        }
        factors.push((name, number));
    }
    Ok(factors)
}
