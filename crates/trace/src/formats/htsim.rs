//! Connection matrices of htsim: a text with a line for each flow, and triggers by which flows start others.
//!
//! ```text
//! Nodes 16
//! Connections 2
//! Triggers 1
//! 0->1 id 1 start 0 size 2000000 recv_done_trigger 1
//! 1->2 id 2 trigger 1 size 2000000
//! trigger id 1 oneshot
//! ```

use super::flow_graph::{FlowEnd, FlowGraph, Gate, NetworkFlow, flow_limits};
use crate::format::FormatReader;
use crate::header::{TraceForm, TraceHeader};
use crate::lines::LinesInPieces;
use crate::operation::ANY_SOURCE;
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use study::units::Unit;

/// Connection matrices.
pub(crate) struct Htsim;

impl FormatReader for Htsim {
    const NAME: &'static str = "htsim";
    const LINE: &'static str = "flows of htsim's connection matrices, with their triggers";
    const FILES: &'static str = "the text (.cm), which begins with Nodes; it may be packed";
    const LIMITS: &'static str = flow_limits!(
        "start is in microseconds, as htsim writes it, though some versions of htsim read the number as picoseconds; \
         a flow with a trigger starts when that fires, whatever its start says; send_done is when the send is over, \
         not when the last acknowledgement is back; priorities (prio) are left out; multishot triggers and failures are told as problems"
    );
    const SOURCE: &'static str = "github.com/Broadcom/csg-htsim, connection_matrix.cpp";

    fn is_it(path: &Path, start: &[u8]) -> bool {
        let start = String::from_utf8_lossy(start);
        let mut said = start.trim_start_matches('\u{feff}').lines().map(str::trim);
        match said.find(|line| !line.is_empty() && !line.starts_with('#')) {
            Some(line) => line.split_whitespace().next() == Some("Nodes"),
            None => path.extension().is_some_and(|ending| ending == "cm"),
        }
    }

    fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let (mut lines, all) = LinesInPieces::open(path)?;
        reader.progress.all = all;
        let mut matrix = Matrix {
            file: lines.file().to_owned(),
            ..Matrix::default()
        };
        while let Some(line) = lines.next()? {
            let line = String::from_utf8_lossy(line).into_owned();
            let number = lines.number();
            let mut words = line.split_whitespace().peekable();
            match words.peek() {
                Some(word) if !word.starts_with('#') => matrix.line(&mut MatrixWords { words, number }, reader)?,
                _ => {}
            }
            if number.is_multiple_of(1 << 14) {
                reader.progress.done = lines.done();
                reader.tick()?;
            }
        }
        reader.progress.done = lines.done();
        matrix.end(lines.number(), reader)
    }
}

/// Words of a line.
struct MatrixWords<'a> {
    words: std::iter::Peekable<std::str::SplitWhitespace<'a>>,
    number: u64,
}

/// What a trigger does when flows are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fires {
    /// It fires with the first, and there is no second.
    Once,
    /// It fires when so many are done.
    After(u64),
    /// It starts a flow each time; which one depends on the order.
    EachTime,
}

/// What is known of a trigger.
#[derive(Default)]
struct KnownTrigger {
    fires: Option<Fires>,
    /// The line that says what it is, or else the first that names it.
    line: u64,
    gate: Gate,
}

/// A connection matrix as far as it is read.
#[derive(Default)]
struct Matrix {
    file: String,
    nodes: Option<u32>,
    /// Told numbers of connections, triggers and failures, and those that were found.
    told: [Option<u64>; 3],
    found: [u64; 3],
    /// NetworkFlow and line of an id.
    ids: HashMap<u64, u64>,
    triggers: BTreeMap<u64, KnownTrigger>,
    graph: FlowGraph,
}

/// How the counts are called.
const COUNTS: [&str; 3] = ["Connections", "Triggers", "Failures"];

impl Matrix {
    fn problem(&self, line: u64, reason: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem::new(&self.file, reason, hint).at(line)
    }

    /// The whole number that follows a word.
    fn value(&self, words: &mut MatrixWords<'_>, name: &str) -> Result<u64, ReadStop> {
        let value = self.text(words, name)?;
        value.parse().map_err(|_| {
            let reason = format!("{name} is \"{value}\"");
            self.problem(words.number, reason, "it is a whole number of at most 64 bits")
                .into()
        })
    }

    /// The word that follows a word.
    fn text<'a>(&self, words: &mut MatrixWords<'a>, name: &str) -> Result<&'a str, ReadStop> {
        let missing = || self.problem(words.number, format!("{name} has no value"), "it follows the word");
        Ok(words.words.next().ok_or_else(missing)?)
    }

    fn line(&mut self, words: &mut MatrixWords<'_>, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let word = words.words.next().unwrap_or_default();
        if let Some(count) = COUNTS.iter().position(|name| *name == word) {
            self.told[count] = Some(self.value(words, word)?);
            return self.nothing_more(words);
        }
        match word {
            "Nodes" => {
                let nodes = self.value(words, word)?;
                let fits = u32::try_from(nodes)
                    .ok()
                    .filter(|nodes| (1..ANY_SOURCE).contains(nodes));
                let wrong = || {
                    self.problem(
                        words.number,
                        format!("there are {nodes} nodes"),
                        "they are 1 to 4294967293",
                    )
                };
                self.nodes = Some(fits.ok_or_else(wrong)?);
                self.nothing_more(words)
            }
            "trigger" => self.trigger(words, reader),
            "failure" => {
                self.found[2] += 1;
                let hint = "take the line out, and name the links that fail in the study";
                reader.problem(self.problem(
                    words.number,
                    "a link that fails is not the work of an application",
                    hint,
                ));
                Ok(())
            }
            _ => match word.split_once("->") {
                Some(ends) => self.flow(ends, words, reader),
                None => {
                    let hint = "lines are \"Nodes 16\", \"Connections 2\", \"0->1 id 1 start 0 size 2000000\" or \"trigger id 1 oneshot\"";
                    Err(self
                        .problem(words.number, format!("\"{word}\" begins no line"), hint)
                        .into())
                }
            },
        }
    }

    fn nothing_more(&self, words: &mut MatrixWords<'_>) -> Result<(), ReadStop> {
        match words.words.next() {
            None => Ok(()),
            Some(word) => Err(self
                .problem(
                    words.number,
                    format!("\"{word}\" is too much"),
                    "the line is over before it",
                )
                .into()),
        }
    }

    /// A value that may come once.
    fn once<T>(&self, place: &mut Option<T>, value: T, words: &MatrixWords<'_>, name: &str) -> Result<(), ReadStop> {
        match place.replace(value) {
            None => Ok(()),
            Some(_) => Err(self
                .problem(words.number, format!("{name} comes twice"), "keep one")
                .into()),
        }
    }

    /// `0->1 id 1 start 0 size 2000000`
    fn flow(
        &mut self,
        ends: (&str, &str),
        words: &mut MatrixWords<'_>,
        reader: &mut TraceReader<'_>,
    ) -> Result<(), ReadStop> {
        let node = |text: &str| {
            text.parse().map_err(|_| {
                let reason = format!("\"{text}\" is no node");
                self.problem(words.number, reason, "a flow begins with its nodes: 0->1")
            })
        };
        let (source, destination): (u32, u32) = (node(ends.0)?, node(ends.1)?);
        let [mut id, mut trigger, mut sent, mut received] = [None; 4];
        let (mut start, mut size, mut priority) = (None, None, None);
        while let Some(name) = words.words.next() {
            match name {
                "start" => {
                    let time = self.start(words)?;
                    self.once(&mut start, time, words, name)?;
                }
                "prio" => {
                    let value = self.text(words, name)?;
                    self.once(&mut priority, value, words, name)?;
                }
                "size" => {
                    let value = self.value(words, name)?;
                    self.once(&mut size, value, words, name)?;
                }
                "id" | "trigger" | "send_done_trigger" | "recv_done_trigger" => {
                    let value = self.value(words, name)?;
                    let place = match name {
                        "id" => &mut id,
                        "trigger" => &mut trigger,
                        "send_done_trigger" => &mut sent,
                        _ => &mut received,
                    };
                    self.once(place, value, words, name)?;
                }
                other => {
                    let hint = "a flow has id, start, size, trigger, send_done_trigger, recv_done_trigger and prio";
                    return Err(self
                        .problem(words.number, format!("a flow has no \"{other}\""), hint)
                        .into());
                }
            }
        }
        let line = words.number;
        let same = id.and_then(|id| self.ids.insert(id, line));
        let wrong = [
            (size.unwrap_or(0) == 0).then(|| {
                let hint = "give it a size of at least a byte; to htsim 0 is without end";
                ("the flow has no end".to_owned(), hint)
            }),
            (start.is_none() && trigger.is_none())
                .then(|| ("nothing starts the flow".to_owned(), "give it a start or a trigger")),
            (source == destination).then(|| {
                let hint = "messages inside a node take no network: leave them out";
                (format!("node {source} sends to itself"), hint)
            }),
            same.map(|first| {
                let reason = format!("its id is that of line {first} already");
                (reason, "give every flow an id of its own")
            }),
        ];
        for (reason, hint) in wrong.into_iter().flatten() {
            reader.problem(self.problem(line, reason, hint));
        }
        self.found[0] += 1;
        let number = self.graph.flows.len() as u32;
        self.graph.flows.push(NetworkFlow {
            source,
            destination,
            bytes: size.unwrap_or(0),
            time: start.filter(|_| trigger.is_none()).unwrap_or(0),
            record: line,
        });
        let mut of = |trigger: Option<u64>, then: &dyn Fn(&mut Gate)| {
            // In htsim 0 is no trigger.
            if let Some(trigger) = trigger.filter(|trigger| *trigger > 0) {
                let new = || KnownTrigger {
                    line,
                    ..KnownTrigger::default()
                };
                then(&mut self.triggers.entry(trigger).or_insert_with(new).gate);
            }
        };
        of(trigger, &|gate| gate.flows.push(number));
        of(sent, &|gate| gate.ends.push(FlowEnd::Sent(number)));
        of(received, &|gate| gate.ends.push(FlowEnd::Received(number)));
        Ok(())
    }

    /// Microseconds, with decimals or an exponent; in picoseconds.
    fn start(&self, words: &mut MatrixWords<'_>) -> Result<u64, ReadStop> {
        let text = self.text(words, "start")?;
        let most = u64::MAX as f64;
        let exact = Unit::Time.parse(&format!("{text} us"));
        exact.or_else(|error| {
            // Not a plain number, or finer than a picosecond.
            let time = text.parse::<f64>().ok().map(|us| (us * 1e6).round());
            match time.filter(|time| (0.0..most).contains(time)) {
                Some(time) => Ok(time as u64),
                None => {
                    let reason = format!("start is \"{text}\"");
                    let hint = format!("it is a number of microseconds, 0 or more ({})", error.reason);
                    Err(self.problem(words.number, reason, hint).into())
                }
            }
        })
    }

    /// `trigger id 1 barrier count 3`
    fn trigger(&mut self, words: &mut MatrixWords<'_>, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let (mut id, mut count, mut kind) = (None, None, None);
        while let Some(name) = words.words.next() {
            match name {
                "id" => {
                    let value = self.value(words, name)?;
                    self.once(&mut id, value, words, name)?;
                }
                "count" => {
                    let value = self.value(words, name)?;
                    self.once(&mut count, value, words, name)?;
                }
                "oneshot" | "barrier" | "multishot" => self.once(&mut kind, name, words, "what it does")?,
                other => {
                    let hint = "a trigger has id, oneshot or barrier, and count";
                    return Err(self
                        .problem(words.number, format!("a trigger has no \"{other}\""), hint)
                        .into());
                }
            }
        }
        let wrong = |reason: &str, hint: &str| Err(self.problem(words.number, reason, hint).into());
        let Some(id) = id.filter(|id| *id > 0) else {
            return wrong("a trigger has no id", "its id is a number from 1 on");
        };
        let fires = match (kind, count) {
            (Some("oneshot"), _) => Fires::Once,
            (Some("multishot"), _) => Fires::EachTime,
            (Some(_), Some(count)) => Fires::After(count),
            (Some(_), None) => return wrong("a barrier has no count", "say how many flows it waits for: count 3"),
            (None, _) => {
                return wrong(
                    "it is not said what the trigger does",
                    "it is oneshot, or barrier with a count",
                );
            }
        };
        self.found[1] += 1;
        let trigger = self.triggers.entry(id).or_default();
        trigger.line = words.number;
        trigger.gate.record = words.number;
        if trigger.fires.replace(fires).is_some() {
            let hint = "give every trigger an id of its own";
            reader.problem(self.problem(words.number, format!("trigger {id} is there twice"), hint));
        }
        Ok(())
    }

    /// Everything has been read: what is wrong with the whole, then all operations.
    fn end(mut self, lines: u64, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let Some(nodes) = self.nodes else {
            let hint = "a connection matrix begins with \"Nodes 16\"";
            return Err(self.problem(lines, "the number of nodes is missing", hint).into());
        };
        for ((name, told), found) in COUNTS.iter().zip(self.told).zip(self.found) {
            if told.is_some_and(|told| told != found) {
                let reason = format!("{name} {} is said, {found} are there", told.unwrap_or_default());
                reader.problem(self.problem(lines, reason, "was the file cut?"));
            }
        }
        for flow in &self.graph.flows {
            for node in [flow.source, flow.destination] {
                if node >= nodes {
                    let hint = format!("nodes are 0 to {}", nodes - 1);
                    let problem =
                        self.problem(flow.record, format!("there is no node {node}, there are {nodes}"), hint);
                    // What follows would name it, too.
                    return Err(problem.into());
                }
            }
        }
        self.check_triggers(reader);
        let triggers = std::mem::take(&mut self.triggers).into_values();
        let opens = |gate: &Gate| !gate.ends.is_empty() && !gate.flows.is_empty();
        self.graph.gates = triggers.map(|trigger| trigger.gate).filter(opens).collect();
        if let Some(flow) = self.graph.never_starts() {
            let line = self.graph.flows[flow as usize].record;
            let hint = "follow its trigger back, and take one of the flows out of the circle";
            reader.problem(self.problem(line, "the flow waits for itself, over triggers", hint));
        }
        let mut header = TraceHeader::new("htsim", nodes, TraceForm::Graph);
        header.files.push(self.file);
        reader.begin(&header)?;
        reader.progress.records = self.graph.flows.len() as u64;
        self.graph.tell(reader)?;
        reader.tick()?;
        reader.end(&[])
    }

    /// Tells which triggers never fire, or not as htsim would.
    fn check_triggers(&self, reader: &mut TraceReader<'_>) {
        for (id, trigger) in &self.triggers {
            let (ends, flows) = (trigger.gate.ends.len() as u64, trigger.gate.flows.len());
            let (reason, hint) = match trigger.fires {
                None => (
                    format!("trigger {id} is named and not there"),
                    format!("add the line \"trigger id {id} oneshot\""),
                ),
                Some(Fires::EachTime) => (
                    format!("trigger {id} is multishot: which flow starts next depends on which one is done first"),
                    "give every flow a trigger of its own".to_owned(),
                ),
                Some(_) if ends == 0 && flows > 0 => (
                    format!("trigger {id} never fires: no flow has it as its send_done_trigger or recv_done_trigger"),
                    "give the flows that wait for it a start".to_owned(),
                ),
                Some(Fires::Once) if ends > 1 => (
                    format!("trigger {id} is oneshot, and {ends} flows fire it"),
                    format!("write barrier count {ends}"),
                ),
                Some(Fires::After(count)) if count != ends && (ends > 0 || flows > 0) => (
                    format!("trigger {id} waits for {count} flows, and {ends} fire it"),
                    format!("write count {ends}"),
                ),
                Some(_) => continue,
            };
            reader.problem(self.problem(trigger.line, reason, hint));
        }
    }
}
