//! The elements of the XML: an algorithm, its GPUs, their thread blocks and steps.

use crate::operation::ANY_SOURCE;
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use quick_xml::Reader as XmlReader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Most thread blocks of a GPU: lanes are numbers of 8 bits.
const MOST_BLOCKS: usize = 256;
/// Most chunks of a step, so that its bytes are a size.
const MOST_CHUNKS: u64 = 1 << 32;

/// What a step does, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepKind {
    pub(super) receives: bool,
    /// It reduces, copies, or does nothing but wait.
    pub(super) works: bool,
    pub(super) sends: bool,
}

/// Types of steps: whether they receive, work and send.
const KINDS: [(&str, [bool; 3]); 9] = [
    ("s", [false, false, true]),
    ("r", [true, false, false]),
    ("rrc", [true, true, false]),
    ("rcs", [true, false, true]),
    ("rrcs", [true, true, true]),
    ("rrs", [true, true, true]),
    ("re", [false, true, false]),
    ("cpy", [false, true, false]),
    ("nop", [false, true, false]),
];

/// A step.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockStep {
    pub(super) kind: StepKind,
    /// Chunks of a message.
    pub(super) chunks: u64,
    /// The thread block of the GPU and its step that have to be over.
    pub(super) after: Option<(u64, u64)>,
    pub(super) line: u64,
}

/// A thread block.
#[derive(Clone, Debug)]
pub(super) struct ThreadBlock {
    pub(super) id: u64,
    pub(super) sends_to: Option<u32>,
    pub(super) receives_from: Option<u32>,
    pub(super) channel: u32,
    pub(super) steps: Vec<BlockStep>,
}

/// A GPU.
#[derive(Clone, Debug, Default)]
pub(super) struct Gpu {
    id: u64,
    line: u64,
    pub(super) blocks: Vec<ThreadBlock>,
}

/// An algorithm, whose GPUs are in the order of their numbers.
pub(super) struct MscclAlgorithm {
    pub(super) file: String,
    pub(super) gpus: Vec<Gpu>,
}

/// Counts lines of a text that is read.
struct CountedLines<R> {
    source: BufReader<R>,
    line: u64,
}

impl<R: Read> Read for CountedLines<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.fill_buf()?.read(out)?;
        self.consume(n);
        Ok(n)
    }
}

impl<R: Read> BufRead for CountedLines<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.source.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.line += self.source.buffer()[..n].iter().filter(|byte| **byte == b'\n').count() as u64;
        self.source.consume(n);
    }
}

/// The elements that are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenElement {
    /// None yet.
    Before,
    MscclAlgorithm,
    Gpu,
    ThreadBlock,
    BlockStep,
    /// The algorithm has ended.
    Behind,
}

impl MscclAlgorithm {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read on, or whose GPUs are not those that it tells.
    pub(super) fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<MscclAlgorithm, ReadStop> {
        let file = path.display().to_string();
        let cannot = |error: std::io::Error| Problem::unreadable(&file, &error);
        let (source, _) = crate::packed::open(path).map_err(cannot)?;
        let source = CountedLines {
            source: BufReader::new(source),
            line: 1,
        };
        let mut xml = XmlReader::from_reader(source);
        xml.config_mut().expand_empty_elements = true;
        let mut elements = Elements {
            file: file.clone(),
            open: OpenElement::Before,
            n_gpus: 0,
            gpus: Vec::new(),
            line: 1,
        };
        let mut buffer = Vec::new();
        let mut records = 0_u64;
        loop {
            buffer.clear();
            let event = xml.read_event_into(&mut buffer);
            elements.line = xml.get_ref().line;
            match event {
                Ok(Event::Start(element)) => elements.start(&element, reader)?,
                // Whether the right element ends is checked by who reads it.
                Ok(Event::End(_)) => elements.end(),
                Ok(Event::Eof) if elements.open == OpenElement::Behind => return elements.finish(reader),
                Ok(Event::Eof) => {
                    let hint = "it is one algo element: was it cut?";
                    return Err(elements.problem("the file ends before the algorithm does", hint).into());
                }
                Ok(Event::Text(text)) if !text.trim_ascii().is_empty() => {
                    let hint = "everything is said by attributes";
                    return Err(elements.problem("there is text between elements", hint).into());
                }
                Ok(_) => {}
                Err(error) => {
                    return Err(elements
                        .problem(format!("this is no XML: {error}"), "was it damaged?")
                        .into());
                }
            }
            records += 1;
            if records.is_multiple_of(1 << 14) {
                reader.progress.done = xml.buffer_position();
                reader.tick()?;
            }
        }
    }
}

/// What has been read of a file.
struct Elements {
    file: String,
    open: OpenElement,
    n_gpus: u32,
    gpus: Vec<Gpu>,
    /// The line that reading has come to.
    line: u64,
}

/// Attributes of an element, by name.
struct Attributes<'a> {
    elements: &'a Elements,
    element: &'static str,
    all: HashMap<String, String>,
}

impl Attributes<'_> {
    fn text(&self, name: &str) -> Result<&str, ReadStop> {
        let missing = || {
            let reason = format!("<{}> has no {name}", self.element);
            self.elements
                .problem(reason, format!("give it the attribute {name}"))
                .into()
        };
        self.all.get(name).map(String::as_str).ok_or_else(missing)
    }

    /// A whole number, `None` for -1.
    fn number_or_none(&self, name: &str) -> Result<Option<u64>, ReadStop> {
        match self.text(name)?.trim() {
            "-1" => Ok(None),
            text => text
                .parse()
                .map(Some)
                .map_err(|_| self.wrong(name, "it is a whole number, or -1 for none")),
        }
    }

    fn number(&self, name: &str) -> Result<u64, ReadStop> {
        let number = self.text(name)?.trim().parse();
        number.map_err(|_| self.wrong(name, "it is a whole number"))
    }

    fn wrong(&self, name: &str, hint: &str) -> ReadStop {
        let text = self.all.get(name).map_or("", String::as_str);
        let reason = format!("{name} of <{}> is {text:?}", self.element);
        self.elements.problem(reason, hint).into()
    }
}

impl Elements {
    /// A problem here.
    fn problem(&self, reason: impl Into<String>, hint: impl Into<String>) -> Problem {
        let problem = Problem::new(&self.file, reason, hint).at(self.line);
        match (self.open, self.gpus.last()) {
            (OpenElement::Gpu | OpenElement::ThreadBlock | OpenElement::BlockStep, Some(gpu))
                if gpu.id < u64::from(self.n_gpus) =>
            {
                problem.of_rank(gpu.id as u32)
            }
            _ => problem,
        }
    }

    fn attributes(&self, element: &'static str, start: &BytesStart<'_>) -> Result<Attributes<'_>, ReadStop> {
        let mut all = HashMap::new();
        for attribute in start.attributes() {
            let no_xml = |error: String| self.problem(format!("this is no XML: {error}"), "was it damaged?");
            let attribute = attribute.map_err(|error| no_xml(error.to_string()))?;
            let value = attribute.unescape_value().map_err(|error| no_xml(error.to_string()))?;
            let name = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
            all.insert(name, value.into_owned());
        }
        Ok(Attributes {
            elements: self,
            element,
            all,
        })
    }

    fn end(&mut self) {
        self.open = match self.open {
            OpenElement::BlockStep => OpenElement::ThreadBlock,
            OpenElement::ThreadBlock => OpenElement::Gpu,
            OpenElement::Gpu => OpenElement::MscclAlgorithm,
            OpenElement::MscclAlgorithm | OpenElement::Before | OpenElement::Behind => OpenElement::Behind,
        };
    }

    fn start(&mut self, start: &BytesStart<'_>, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let name = start.name();
        match (self.open, name.as_ref()) {
            (OpenElement::Before, b"algo") => self.algorithm(start)?,
            (OpenElement::MscclAlgorithm, b"gpu") => self.gpu(start)?,
            (OpenElement::Gpu, b"tb") => self.block(start, reader)?,
            (OpenElement::ThreadBlock, b"step") => self.step(start, reader)?,
            (_, name) => {
                let reason = format!("<{}> is not expected here", String::from_utf8_lossy(name));
                let hint = "an algo has gpus, a gpu has tbs, a tb has steps";
                return Err(self.problem(reason, hint).into());
            }
        }
        Ok(())
    }

    fn algorithm(&mut self, start: &BytesStart<'_>) -> Result<(), ReadStop> {
        let attributes = self.attributes("algo", start)?;
        let fits = |n: &u64| (1..u64::from(ANY_SOURCE)).contains(n);
        let n_gpus = Some(attributes.number("ngpus")?).filter(fits);
        let n_gpus = n_gpus.ok_or_else(|| attributes.wrong("ngpus", "an algorithm has at least 1 GPU"))?;
        (self.open, self.n_gpus) = (OpenElement::MscclAlgorithm, n_gpus as u32);
        Ok(())
    }

    fn gpu(&mut self, start: &BytesStart<'_>) -> Result<(), ReadStop> {
        let id = self.attributes("gpu", start)?.number("id")?;
        self.gpus.push(Gpu {
            id,
            line: self.line,
            blocks: Vec::new(),
        });
        self.open = OpenElement::Gpu;
        Ok(())
    }

    fn block(&mut self, start: &BytesStart<'_>, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let attributes = self.attributes("tb", start)?;
        let id = attributes.number("id")?;
        let peer = |name| match attributes.number_or_none(name)? {
            None => Ok(None),
            Some(peer) if peer < u64::from(self.n_gpus) => Ok(Some(peer as u32)),
            Some(_) => Err(attributes.wrong(name, &format!("GPUs are 0 to {}, -1 is none", self.n_gpus - 1))),
        };
        let (sends_to, receives_from) = (peer("send")?, peer("recv")?);
        let channel = attributes.number("chan")?;
        let Some(channel) = u32::try_from(channel).ok().filter(|channel| *channel < u32::MAX) else {
            return Err(attributes.wrong("chan", "channels are small numbers from 0"));
        };
        let blocks = self.gpus.last().map_or(&[][..], |gpu| &gpu.blocks);
        if blocks.len() == MOST_BLOCKS {
            let reason = format!("the GPU has more than {MOST_BLOCKS} thread blocks");
            return Err(self.problem(reason, "spread its channels over fewer").into());
        }
        if blocks.iter().any(|block| block.id == id) {
            return Err(attributes.wrong("id", "give every thread block of a GPU a number of its own"));
        }
        let same = |block: &&ThreadBlock| block.channel == channel;
        let shares = |block: &ThreadBlock| match () {
            () if sends_to.is_some() && block.sends_to == sends_to => Some(("sends to", sends_to)),
            () if receives_from.is_some() && block.receives_from == receives_from => {
                Some(("receives from", receives_from))
            }
            () => None,
        };
        let shared = blocks
            .iter()
            .filter(same)
            .find_map(|block| Some((block.id, shares(block)?)));
        if let Some((other, (what, peer))) = shared {
            let peer = peer.unwrap_or_default();
            let reason =
                format!("thread block {id} {what} GPU {peer} over channel {channel}, as thread block {other} does");
            reader.problem(self.problem(reason, "which message is whose would be open: take another channel"));
        }
        let block = ThreadBlock {
            id,
            sends_to,
            receives_from,
            channel,
            steps: Vec::new(),
        };
        if let Some(gpu) = self.gpus.last_mut() {
            gpu.blocks.push(block);
        }
        self.open = OpenElement::ThreadBlock;
        Ok(())
    }

    fn step(&mut self, start: &BytesStart<'_>, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let attributes = self.attributes("step", start)?;
        let name = attributes.text("type")?;
        let Some((_, [receives, works, sends])) = KINDS.iter().find(|kind| kind.0 == name) else {
            let known: Vec<&str> = KINDS.iter().map(|kind| kind.0).collect();
            return Err(attributes.wrong("type", &format!("types are {}", known.join(", "))));
        };
        let kind = StepKind {
            receives: *receives,
            works: *works,
            sends: *sends,
        };
        let number = attributes.number("s")?;
        let talks = kind.receives || kind.sends;
        let chunks = if talks { attributes.number("cnt")? } else { 0 };
        if talks && !(1..=MOST_CHUNKS).contains(&chunks) {
            return Err(attributes.wrong("cnt", "a message has at least a chunk"));
        }
        let after = match (attributes.number_or_none("depid")?, attributes.number_or_none("deps")?) {
            (Some(block), Some(step)) => Some((block, step)),
            (None, None) => None,
            _ => return Err(attributes.wrong("depid", "depid and deps are both -1, or none of them is")),
        };
        let gpu = self.gpus.last();
        let Some(block) = gpu.and_then(|gpu| gpu.blocks.last()) else {
            return Err(self.problem("a step is of no thread block", "was it damaged?").into());
        };
        if number != block.steps.len() as u64 {
            let hint = format!("steps of a thread block are in order: this is {}", block.steps.len());
            return Err(attributes.wrong("s", &hint));
        }
        for (talks, peer, name) in [
            (kind.sends, block.sends_to, "send"),
            (kind.receives, block.receives_from, "recv"),
        ] {
            if talks && peer.is_none() {
                let hint = format!("give the thread block the attribute {name}");
                return Err(attributes.wrong("type", &hint));
            }
        }
        if let (Some((other, at)), true) = (
            after,
            after.is_some_and(|(other, at)| other == block.id && at >= number),
        ) {
            let reason = format!("step {number} waits for step {at} of its own thread block {other}");
            reader.problem(self.problem(reason, "it would never start"));
        }
        let step = BlockStep {
            kind,
            chunks,
            after,
            line: self.line,
        };
        if let Some(block) = self.gpus.last_mut().and_then(|gpu| gpu.blocks.last_mut()) {
            block.steps.push(step);
        }
        self.open = OpenElement::BlockStep;
        Ok(())
    }

    /// Whether every GPU is there once.
    fn finish(mut self, reader: &mut TraceReader<'_>) -> Result<MscclAlgorithm, ReadStop> {
        if self.gpus.len() as u64 != u64::from(self.n_gpus) {
            let reason = format!("ngpus is {}, there are {} GPUs", self.n_gpus, self.gpus.len());
            return Err(self.problem(reason, "was it cut? the GPUs are 0 to ngpus - 1").into());
        }
        self.gpus.sort_by_key(|gpu| gpu.id);
        for (id, gpu) in (0..).zip(&self.gpus) {
            if gpu.id != id {
                self.line = gpu.line;
                let reason = format!("there is a GPU {}, and none with the number {id}", gpu.id);
                return Err(self.problem(reason, "GPUs are 0 to ngpus - 1, each once").into());
            }
        }
        reader.tick()?;
        Ok(MscclAlgorithm {
            file: self.file,
            gpus: self.gpus,
        })
    }
}
