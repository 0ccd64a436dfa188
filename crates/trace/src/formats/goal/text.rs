//! Reads the text of GOAL, line by line.
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: calc 1000 cpu 1
//! l2: send 8b to 1 tag 7
//! l2 requires l1
//! }
//! ```
//!
//! Between words blanks are needed only where words would run together. A statement ends with its line. Comments are those of C.

use super::{DIALECT, calc, no_ranks};
use crate::graph::RankGraph;
use crate::header::{TraceForm, TraceHeader};
use crate::lines::LinesInPieces;
use crate::operation::{ANY_SOURCE, ANY_TAG, Kind, Operation};
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Lines after which progress is told.
const OFTEN: u64 = 1 << 14;
/// What only LogGOPSim2 has.
const FOREIGN: [&[u8]; 6] = [b"put", b"get", b"tput", b"append", b"test", b"calcgem5"];

/// Whether a file is a GOAL text: behind blanks and comments it begins with the number of ranks.
pub(super) fn is_it(path: &Path, start: &[u8]) -> bool {
    let mut rest = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let found = |text: &[u8], what: &[u8]| text.windows(what.len()).position(|some| some == what);
    loop {
        rest = rest.trim_ascii_start();
        let behind = match rest {
            [b'/', b'/', ..] => found(rest, b"\n").map(|at| at + 1),
            [b'/', b'*', ..] => found(rest, b"*/").map(|at| at + 2),
            [] => None,
            _ => return rest.starts_with(b"num_ranks"),
        };
        match behind {
            Some(behind) => rest = &rest[behind..],
            // Nothing but comments in what is known of it.
            None => break,
        }
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".goal") || name.contains(".goal.")
}

/// Reads it all.
///
/// # Errors
/// A file that cannot be read on, and what the reader says.
pub(super) fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
    let (lines, all) = LinesInPieces::open(path)?;
    reader.progress.all = all;
    let mut text = GoalLines {
        file: lines.file().to_owned(),
        lines,
        scratch: Vec::new(),
    };
    let mut blocks = RankBlocks::new(text.file.clone());
    while let Some((line, number)) = text.next()? {
        let mut words = Cursor {
            text: line,
            at: 0,
            line: number,
        };
        blocks.line(&mut words, reader)?;
        if number.is_multiple_of(OFTEN) {
            reader.progress.done = text.lines.done();
            reader.tick()?;
        }
    }
    blocks.end(text.lines.number())?;
    reader.progress.done = text.lines.done();
    reader.tick()?;
    reader.end(&[])
}

/// The lines of a GOAL text without comments.
struct GoalLines {
    file: String,
    lines: LinesInPieces,
    /// A line whose comments had to be left out.
    scratch: Vec<u8>,
}

impl GoalLines {
    /// The next line that says something, and its number. A comment over several lines is a blank, and does not end its line.
    fn next(&mut self) -> Result<Option<(&[u8], u64)>, ReadStop> {
        self.scratch.clear();
        let mut commented = false;
        loop {
            let Some(line) = self.lines.next()? else {
                return match commented {
                    true => {
                        let problem = Problem::new(&self.file, "a comment has no end", "end it with */");
                        Err(problem.at(self.lines.number()).into())
                    }
                    false => Ok(None),
                };
            };
            if !commented && !line.contains(&b'/') {
                self.scratch.extend_from_slice(line);
                return Ok(Some((&self.scratch, self.lines.number())));
            }
            commented = without_comments(line, commented, &mut self.scratch);
            if self.scratch.len() > 1 << 20 {
                let problem = Problem::new(&self.file, "the line is too long", "end statements with their line");
                return Err(problem.at(self.lines.number()).into());
            }
            if !commented {
                return Ok(Some((&self.scratch, self.lines.number())));
            }
        }
    }
}

/// Copies a line without its comments, which become blanks; whether it ends within one.
fn without_comments(mut line: &[u8], mut commented: bool, out: &mut Vec<u8>) -> bool {
    loop {
        let looked_for: &[u8] = if commented { b"*/" } else { b"/" };
        let found = line.windows(looked_for.len()).position(|some| some == looked_for);
        let (before, rest) = line.split_at(found.unwrap_or(line.len()));
        if !commented {
            out.extend_from_slice(before);
        }
        (line, commented) = match (commented, rest) {
            (_, []) => return commented,
            (true, _) => {
                out.push(b' ');
                (&rest[2..], false)
            }
            (false, [b'/', b'/', ..]) => return false,
            (false, [b'/', b'*', ..]) => (&rest[2..], true),
            (false, _) => {
                out.push(b'/');
                (&rest[1..], false)
            }
        };
    }
}

/// What comes next in the text.
enum BlockState {
    /// The number of ranks.
    Start,
    /// A rank, or the end.
    Outside,
    /// The bracket that opens the rank.
    Opening,
    /// Statements of the rank, or the bracket that closes it.
    Inside,
}

/// The ranks of a text and what is known of the open one.
struct RankBlocks {
    file: String,
    state: BlockState,
    ranks: u32,
    rank: u32,
    /// Ranks that have had their block.
    seen: HashSet<u32>,
    graph: RankGraph,
    labels: HashMap<Box<[u8]>, u32>,
}

impl RankBlocks {
    fn new(file: String) -> RankBlocks {
        RankBlocks {
            file,
            state: BlockState::Start,
            ranks: 0,
            rank: 0,
            seen: HashSet::new(),
            graph: RankGraph::default(),
            labels: HashMap::new(),
        }
    }

    fn problem(&self, line: u64, reason: impl Into<String>, hint: impl Into<String>) -> Problem {
        let problem = Problem::new(&self.file, reason, hint).at(line);
        match self.state {
            BlockState::Start | BlockState::Outside => problem,
            BlockState::Opening | BlockState::Inside => problem.of_rank(self.rank),
        }
    }

    /// The text is over after so many lines.
    fn end(&self, lines: u64) -> Result<(), ReadStop> {
        let reason = match self.state {
            BlockState::Outside => return Ok(()),
            BlockState::Start => "the file ends before the number of ranks",
            BlockState::Opening | BlockState::Inside => "the file ends before the rank does",
        };
        let hint = "it begins with num_ranks and ends with a }: was it cut?";
        Err(self.problem(lines, reason, hint).into())
    }

    /// Everything that a line says.
    fn line(&mut self, words: &mut Cursor<'_>, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        while !words.is_over() {
            match self.state {
                BlockState::Start => self.start(words, reader)?,
                BlockState::Outside => self.open(words)?,
                BlockState::Opening => {
                    if !words.eat(b"{") {
                        return Err(self.expected(words, "a { that opens the rank"));
                    }
                    self.state = BlockState::Inside;
                }
                BlockState::Inside if words.eat(b"}") => {
                    reader.progress.records += u64::from(self.graph.len());
                    self.graph.tell(self.rank, reader)?;
                    self.labels.clear();
                    self.state = BlockState::Outside;
                }
                BlockState::Inside => {
                    self.statement(words, reader)?;
                    if !words.is_over() && !words.is_at(b"}") {
                        return Err(self.expected(words, "the end of the line"));
                    }
                }
            }
        }
        Ok(())
    }

    /// `num_ranks 32`
    fn start(&mut self, words: &mut Cursor<'_>, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        if !words.eat(b"num_ranks") {
            return Err(self.expected(words, "num_ranks and the number of ranks"));
        }
        let ranks = self.number(words, "the number of ranks")?;
        self.ranks = match u32::try_from(ranks) {
            Ok(0) => return Err(no_ranks(&self.file).at(words.line).into()),
            // The last numbers mean any rank and none.
            Ok(ranks) if ranks < ANY_SOURCE => ranks,
            _ => {
                let problem = self.problem(
                    words.line,
                    format!("{ranks} ranks are too many"),
                    "ranks are numbers of 32 bits",
                );
                return Err(problem.into());
            }
        };
        self.state = BlockState::Outside;
        let mut header = TraceHeader::new("goal", self.ranks, TraceForm::Graph);
        header.files.push(self.file.clone());
        reader.begin(&header)
    }

    /// `rank 3`
    fn open(&mut self, words: &mut Cursor<'_>) -> Result<(), ReadStop> {
        if !words.eat(b"rank") {
            return Err(self.expected(words, "the next rank"));
        }
        let rank = self.number(words, "the number of a rank")?;
        let (reason, hint) = match u32::try_from(rank).ok().filter(|rank| *rank < self.ranks) {
            None => (
                format!("there is no rank {rank}, there are {} ranks", self.ranks),
                format!("ranks are 0 to {}", self.ranks - 1),
            ),
            Some(rank) if !self.seen.insert(rank) => (
                format!("rank {rank} comes twice"),
                "put all operations of a rank into one block".to_owned(),
            ),
            Some(rank) => {
                (self.rank, self.state) = (rank, BlockState::Opening);
                return Ok(());
            }
        };
        Err(self.problem(words.line, reason, hint).into())
    }

    /// A statement of a rank.
    fn statement(&mut self, words: &mut Cursor<'_>, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let begin = words.at;
        let mut word = words.word();
        if word.is_empty() {
            return Err(self.expected(words, "a label or an operation"));
        }
        let mut label = None;
        if words.eat(b":") {
            label = Some(word);
            words.blanks();
            word = words.word();
        } else if let Some(started) = words.dependency() {
            return self.dependency(word, started, words, reader);
        }
        let kind = match word.get(..4) {
            Some(b"send") => Kind::Send,
            Some(b"recv") => Kind::Recv,
            Some(b"calc") => Kind::Compute,
            _ => Kind::Put,
        };
        if kind == Kind::Put || word.get(4).is_some_and(|after| !after.is_ascii_digit()) {
            return Err(self.no_operation(word, words).into());
        }
        // What was taken for a word may have run into a number.
        words.at = match label {
            None => begin + 4,
            Some(_) => words.at - word.len() + 4,
        };
        let operation = self.operation(kind, words, reader)?;
        let number = self.graph.push(operation, words.line)?;
        if let Some(label) = label
            && let Some(first) = self.labels.insert(label.into(), number)
        {
            let reason = format!(
                "the label {} is that of line {} already",
                shown(label),
                self.graph.record(first)
            );
            reader.problem(self.problem(words.line, reason, "give every operation of a rank a label of its own"));
        }
        Ok(())
    }

    /// A word that is no operation.
    fn no_operation(&self, word: &[u8], words: &Cursor<'_>) -> Problem {
        let is = |name: &&[u8]| {
            word.strip_prefix(*name)
                .is_some_and(|rest| rest.iter().all(u8::is_ascii_digit))
        };
        let hint = match FOREIGN.iter().any(is) {
            true => DIALECT,
            false => {
                "a line is \"l1: send 8b to 1 tag 0\", \"l1: recv 8b from 0 tag 0\", \"l1: calc 100\" or \"l2 requires l1\""
            }
        };
        let reason = match word.is_empty() {
            true => format!("there is no operation at {}", words.rest()),
            false => format!("there is no operation {}", shown(word)),
        };
        self.problem(words.line, reason, hint)
    }

    /// What follows `send`, `recv` or `calc`.
    fn operation(
        &self,
        kind: Kind,
        words: &mut Cursor<'_>,
        reader: &mut TraceReader<'_>,
    ) -> Result<Operation, ReadStop> {
        if kind == Kind::Compute {
            let ns = self.number(words, "nanoseconds")?;
            let cpu = self.tail(words, b"cpu")?;
            return Ok(calc(ns, cpu).unwrap_or_else(|| {
                let reason = format!("{ns} ns are too long");
                reader.problem(self.problem(words.line, reason, "a computation takes less than 213 days"));
                Operation::compute(u64::MAX)
            }));
        }
        let mut operation = Operation::new(kind);
        operation.bytes = self.number(words, "bytes")?;
        let towards: &[u8] = if kind == Kind::Send { b"to" } else { b"from" };
        for word in [b"b", towards] {
            if !words.eat(word) {
                return Err(self.expected(words, &shown(word)));
            }
        }
        operation.peer = self.number_or_any(words, "a rank", ANY_SOURCE)?;
        if words.eat(b"tag") {
            operation.tag = self.number_or_any(words, "a tag", ANY_TAG)?;
        }
        operation.lane = self.tail(words, b"cpu")?;
        operation.nic = self.tail(words, b"nic")?;
        // Whether there is that rank is for whoever checks the trace.
        Ok(operation)
    }

    /// What follows `l2 requires` or `l2 irequires`.
    fn dependency(
        &mut self,
        waiting: &[u8],
        started: bool,
        words: &mut Cursor<'_>,
        reader: &mut TraceReader<'_>,
    ) -> Result<(), ReadStop> {
        words.blanks();
        let other = words.word();
        if other.is_empty() {
            return Err(self.expected(words, "the label of what is waited for"));
        }
        let known = [waiting, other].map(|label| self.labels.get(label).copied());
        match known {
            [Some(waiting), Some(other)] if waiting == other => {
                let hint = "it would never start: take the line out";
                reader.problem(self.problem(words.line, "an operation waits for itself", hint));
            }
            [Some(waiting), Some(other)] if started => self.graph.after_start(waiting, other),
            [Some(waiting), Some(other)] => self.graph.after(waiting, other),
            _ => {
                for label in [waiting, other] {
                    if !self.labels.contains_key(label) {
                        let reason = format!("there is no label {} above", shown(label));
                        let hint = "dependencies name labels of operations of the same rank that stand before them";
                        reader.problem(self.problem(words.line, reason, hint));
                    }
                }
            }
        }
        Ok(())
    }

    /// A number.
    fn number(&self, words: &mut Cursor<'_>, what: &str) -> Result<u64, ReadStop> {
        match words.number() {
            Some(Ok(number)) => Ok(number),
            Some(Err(digits)) => {
                let reason = format!("{what}: {digits} is too large");
                Err(self.problem(words.line, reason, "numbers have at most 64 bits").into())
            }
            None => Err(self.expected(words, what)),
        }
    }

    /// A number of 32 bits, or -1.
    fn number_or_any(&self, words: &mut Cursor<'_>, what: &str, any: u32) -> Result<u32, ReadStop> {
        if words.is_minus_one() {
            return Ok(any);
        }
        let number = self.number(words, what)?;
        match u32::try_from(number) {
            // Binary files have the largest number for -1.
            Ok(u32::MAX) => Ok(any),
            // Which would be taken for any.
            Ok(number) if number != any => Ok(number),
            _ => {
                let reason = format!("{what}: {number} is too large");
                Err(self.problem(words.line, reason, "ranks and tags have 32 bits").into())
            }
        }
    }

    /// `cpu 1` or `nic 1`, 0 if it is not there.
    fn tail(&self, words: &mut Cursor<'_>, name: &[u8]) -> Result<u8, ReadStop> {
        if !words.eat(name) {
            return Ok(0);
        }
        let name = String::from_utf8_lossy(name);
        let number = self.number(words, &format!("the number of a {name}"))?;
        u8::try_from(number).map_err(|_| {
            let reason = format!("there is no {name} {number}");
            self.problem(words.line, reason, "they are 0 to 255").into()
        })
    }

    fn expected(&self, words: &Cursor<'_>, what: &str) -> ReadStop {
        let reason = format!("expected {what}, not {}", words.rest());
        self.problem(words.line, reason, "was the file damaged?").into()
    }
}

/// A piece of text for a message.
fn shown(text: &[u8]) -> String {
    const MOST: usize = 40;
    let cut = String::from_utf8_lossy(&text[..text.len().min(MOST)]);
    match text.len() > MOST {
        true => format!("{cut:?}..."),
        false => format!("{cut:?}"),
    }
}

/// A place in a line.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
}

impl<'a> Cursor<'a> {
    fn blanks(&mut self) {
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\x0C' | b'\x0B');
        self.at += self.text[self.at..].iter().take_while(blank).count();
    }

    /// Whether nothing comes any more.
    fn is_over(&mut self) -> bool {
        self.blanks();
        self.at == self.text.len()
    }

    fn is_at(&self, what: &[u8]) -> bool {
        self.text[self.at..].starts_with(what)
    }

    /// Takes -1 as a whole number.
    fn is_minus_one(&mut self) -> bool {
        self.blanks();
        let longer = self.text.get(self.at + 2).is_some_and(u8::is_ascii_digit);
        !longer && self.eat(b"-1")
    }

    /// Takes a word or sign, if it comes next.
    fn eat(&mut self, what: &[u8]) -> bool {
        self.blanks();
        let is = self.is_at(what);
        if is {
            self.at += what.len();
        }
        is
    }

    /// The letter, letters, digits and underscores that come next; nothing if there is no letter.
    fn word(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        if !rest.first().is_some_and(u8::is_ascii_alphabetic) {
            return &[];
        }
        let within = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let word = &rest[..rest.iter().take_while(within).count()];
        self.at += word.len();
        word
    }

    /// Takes `requires` (`false`) or `irequires` (`true`) as a whole word.
    fn dependency(&mut self) -> Option<bool> {
        let before = self.at;
        self.blanks();
        match self.word() {
            b"requires" => Some(false),
            b"irequires" => Some(true),
            _ => {
                self.at = before;
                None
            }
        }
    }

    /// A number; its digits if it has more than 64 bits.
    fn number(&mut self) -> Option<Result<u64, String>> {
        self.blanks();
        let rest = &self.text[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        let digits = &rest[..digits];
        if digits.is_empty() {
            return None;
        }
        let add = |sum: u64, digit: &u8| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
        Some(digits.iter().try_fold(0, add).ok_or_else(|| shown(digits)))
    }

    /// What comes next, for a message.
    fn rest(&self) -> String {
        match self.text[self.at..].trim_ascii() {
            [] => "the end of the line".to_owned(),
            rest => shown(rest),
        }
    }
}
