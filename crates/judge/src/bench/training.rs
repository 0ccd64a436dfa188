//! The training step of `examples/training_step.py`, node by node as Chakra execution traces have it, without Python: the same nodes in
//! the same order with the same sizes. Only the jitter of computations is another one.

use super::recorded::RecordedCase;
use crate::run::RunError;
use std::collections::BTreeMap;
use std::io::Result;
use std::path::Path;
use vocabulary::{LoadOptions, load_study};

/// Kinds of nodes, as the schema numbers them.
const COMPUTE: u64 = 4;
const SEND: u64 = 5;
const RECEIVE: u64 = 6;
const COLLECTIVE: u64 = 7;
/// Streams of the accelerator.
const COMPUTING: u64 = 0;
const TENSOR: u64 = 1;
const DATA: u64 = 2;
const PIPELINE: u64 = 3;
/// Bytes of a value.
const VALUE: u64 = 2;
/// Tokens that there are.
const VOCABULARY: u64 = 32_000;
/// Floating-point operations that an accelerator does in a microsecond.
const RATE: f64 = 150e6;
/// Share by which computations differ.
const JITTER: f64 = 0.02;

/// The model and how it is shared out.
#[derive(Clone, Copy, Debug)]
pub struct TrainingStep {
    /// Ranks that share the batch.
    pub data: u32,
    /// Ranks that share a layer.
    pub tensor: u32,
    /// Stages of layers.
    pub pipeline: u32,
    /// Layers of the model, a multiple of the stages.
    pub layers: u32,
    /// Values of a token.
    pub hidden: u64,
    /// Tokens of a sample; a micro-batch is one.
    pub sequence: u64,
    /// Micro-batches of a step.
    pub batches: u32,
}

/// The step of case `chakra-1k`, with as many micro-batches as its length asks for; `None` for other names.
pub fn case(name: &str, length: f64) -> Option<std::result::Result<RecordedCase, RunError>> {
    (name == "chakra-1k").then(|| {
        let step = TrainingStep {
            data: 8,
            tensor: 8,
            pipeline: 16,
            layers: 16,
            hidden: 512,
            sequence: 128,
            batches: ((32.0 * length).round() as u32).max(1),
        };
        RecordedCase::new(
            |folder| step.write(folder).map_err(|error| error.to_string()),
            |folder| {
                let text = format!(
                    r#"
                        topology = {{ kind = "fat-tree", down = [16, 8, 8], up = [16, 8] }}
                        link = {{ bandwidth = "25 GB/s" }}
                        nic = {{ packet = "4 KiB" }}
                        observe = {{ links = false }}
                        job = [{{ work = {{ kind = "trace", file = {folder:?} }} }}]
                    "#
                );
                let study = load_study(text.as_bytes(), name, Path::new(""), &LoadOptions::default());
                study.ok()?.runs.into_iter().next()
            },
        )
    })
}

impl TrainingStep {
    fn ranks(&self) -> u32 {
        self.data * self.tensor * self.pipeline
    }

    fn tensor_group(&self, rank: u32) -> Vec<u32> {
        let first = rank - rank % self.tensor;
        (first..first + self.tensor).collect()
    }

    fn data_group(&self, rank: u32) -> Vec<u32> {
        let size = self.tensor * self.data;
        let first = rank / size * size + rank % self.tensor;
        (0..self.data).map(|number| first + number * self.tensor).collect()
    }

    /// (is forward, micro-batch) in the order of a stage: some forward, then in turn, then what is left.
    fn schedule(&self, stage: u32) -> Vec<(bool, u32)> {
        let ahead = (self.pipeline - 1 - stage).min(self.batches);
        let mut order: Vec<(bool, u32)> = (0..ahead).map(|batch| (true, batch)).collect();
        for batch in 0..self.batches {
            if ahead + batch < self.batches {
                order.push((true, ahead + batch));
            }
            order.push((false, batch));
        }
        order
    }

    /// Writes the traces, a file for each rank, with the groups beside them; how many nodes they have.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn write(&self, folder: &Path) -> Result<u64> {
        let mut numbers = BTreeMap::new();
        for rank in 0..self.ranks() {
            for group in [self.tensor_group(rank), self.data_group(rank)] {
                let next = numbers.len();
                numbers.entry(group).or_insert(next);
            }
        }
        let named = |(ranks, number): (&Vec<u32>, &usize)| (number.to_string(), serde_json::json!(ranks));
        let told: serde_json::Map<_, _> = numbers.iter().map(named).collect();
        std::fs::write(folder.join("groups.json"), serde_json::Value::from(told).to_string())?;
        let mut nodes = 0;
        for rank in 0..self.ranks() {
            let names = [self.tensor_group(rank), self.data_group(rank)].map(|group| numbers[&group].to_string());
            let mut written = TrainingRank::new(self, rank, names);
            written.step();
            std::fs::write(folder.join(format!("step.{rank}.et")), &written.bytes)?;
            nodes += written.nodes;
        }
        Ok(nodes)
    }
}

/// What a rank does, as it is written.
struct TrainingRank<'s> {
    step: &'s TrainingStep,
    rank: u32,
    stage: u32,
    /// Names of its tensor and its data group.
    names: [String; 2],
    /// Its last computation.
    last: u64,
    /// All-reduces of gradients.
    reduced: Vec<u64>,
    nodes: u64,
    random: u64,
    bytes: Vec<u8>,
}

/// The value of an attribute.
enum NodeAttribute<'a> {
    Flag(bool),
    Text(&'a str),
    Number(u64),
}

impl TrainingRank<'_> {
    fn new(step: &TrainingStep, rank: u32, names: [String; 2]) -> TrainingRank<'_> {
        let mut bytes = Vec::new();
        let mut version = Vec::new();
        put_bytes(&mut version, 1, b"0.0.4");
        put_message(&mut bytes, &version);
        TrainingRank {
            step,
            rank,
            stage: rank / (step.tensor * step.data),
            names,
            last: 0,
            reduced: Vec::new(),
            nodes: 0,
            random: u64::from(rank),
            bytes,
        }
    }

    /// Adds a node on a stream that comes after others (0 is none); its number.
    fn add(
        &mut self,
        (name, kind): (&str, u64),
        after: &[u64],
        micros: u64,
        stream: u64,
        more: &[(&str, NodeAttribute<'_>)],
    ) -> u64 {
        self.nodes += 1;
        let mut node = Vec::new();
        put_number(&mut node, 1, self.nodes);
        put_bytes(&mut node, 2, name.as_bytes());
        put_number(&mut node, 3, kind);
        after
            .iter()
            .filter(|number| **number > 0)
            .for_each(|number| put_number(&mut node, 5, *number));
        if micros > 0 {
            put_number(&mut node, 7, micros);
        }
        put_attribute(&mut node, "is_cpu_op", &NodeAttribute::Flag(false));
        put_attribute(&mut node, "tid", &NodeAttribute::Number(stream));
        more.iter()
            .for_each(|(name, value)| put_attribute(&mut node, name, value));
        put_message(&mut self.bytes, &node);
        self.nodes
    }

    /// A computation after others; they may be the same one.
    fn work(&mut self, name: &str, mut after: Vec<u64>, micros: u64, operations: u64) {
        after.sort_unstable();
        after.dedup();
        let more = [("num_ops", NodeAttribute::Number(operations))];
        self.last = self.add((name, COMPUTE), &after, micros, COMPUTING, &more);
    }

    /// A computation after the last one, which takes about as long as its operations do.
    fn compute(&mut self, name: &str, operations: u64, after: u64) {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut random = self.random;
        random = (random ^ random >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        random = (random ^ random >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        random ^= random >> 31;
        let jitter = 1.0 + JITTER * (2.0 * (random >> 11) as f64 / (1_u64 << 53) as f64 - 1.0);
        let micros = ((operations as f64 / RATE * jitter).round() as u64).max(1);
        self.work(name, vec![self.last, after], micros, operations);
    }

    /// An all-reduce after the last computation, if the group has others.
    fn all_reduce(&mut self, name: &str, stream: u64, size: u64) -> u64 {
        let (others, group) = match stream {
            TENSOR => (self.step.tensor, 0),
            _ => (self.step.data, 1),
        };
        if others == 1 {
            return self.last;
        }
        let group = self.names[group].clone();
        let more = [
            ("comm_type", NodeAttribute::Number(0)),
            ("comm_size", NodeAttribute::Number(size)),
            ("pg_name", NodeAttribute::Text(&group)),
        ];
        self.add((name, COLLECTIVE), &[self.last], 0, stream, &more)
    }

    /// The message of a micro-batch to or from another stage, if there is that stage; 0 where there is none.
    fn message(&mut self, name: &str, kind: u64, up: bool, batch: u32, forward: bool) -> u64 {
        let distance = self.step.tensor * self.step.data;
        let other = match up {
            true if self.stage + 1 < self.step.pipeline => self.rank + distance,
            false if self.stage > 0 => self.rank - distance,
            _ => return 0,
        };
        let (after, end) = if kind == SEND {
            (self.last, "comm_dst")
        } else {
            (0, "comm_src")
        };
        let more = [
            ("comm_size", NodeAttribute::Number(self.activations())),
            (
                "comm_tag",
                NodeAttribute::Number(u64::from(2 * batch + u32::from(!forward))),
            ),
            (end, NodeAttribute::Number(other.into())),
        ];
        self.add((name, kind), &[after], 0, PIPELINE, &more)
    }

    /// Bytes of what a layer gives on.
    fn activations(&self) -> u64 {
        self.step.sequence * self.step.hidden * VALUE
    }

    /// A micro-batch in one direction.
    fn pass(&mut self, batch: u32, forward: bool) {
        let (hidden, tokens, tensor) = (self.step.hidden, self.step.sequence, u64::from(self.step.tensor));
        let attention = (8 * tokens * hidden * hidden + 4 * tokens * tokens * hidden) / tensor;
        let feed_forward = 16 * tokens * hidden * hidden / tensor;
        let logits = 2 * tokens * hidden * VOCABULARY / tensor;
        let gradients = 12 * hidden * hidden / tensor * VALUE;
        let way = if forward { "forward" } else { "backward" };
        // Backward, the gradients of inputs and of parameters are worked out.
        let times = if forward { 1 } else { 2 };
        let is_last = self.stage + 1 == self.step.pipeline;
        let mut arrived = self.message(&format!("receive {way} {batch}"), RECEIVE, !forward, batch, forward);
        if is_last && !forward {
            self.compute(&format!("logits backward {batch}"), 2 * logits, arrived);
        }
        for layer in 0..self.step.layers / self.step.pipeline {
            for (half, operations) in [("attention", attention), ("mlp", feed_forward)] {
                self.compute(&format!("{half} {way} {batch}.{layer}"), times * operations, arrived);
                let name = format!("{half} all-reduce {way} {batch}.{layer}");
                arrived = self.all_reduce(&name, TENSOR, self.activations());
            }
            if !forward && batch + 1 == self.step.batches {
                let reduced = self.all_reduce(&format!("gradients {layer}"), DATA, gradients);
                self.reduced.push(reduced);
            }
        }
        if is_last && forward {
            self.compute(&format!("logits forward {batch}"), logits, arrived);
        } else if arrived != self.last {
            // What is sent is what has been reduced.
            self.work(&format!("{way} {batch} done"), vec![self.last, arrived], 1, 1);
        }
        self.message(&format!("send {way} {batch}"), SEND, forward, batch, forward);
    }

    /// The whole step.
    fn step(&mut self) {
        for (forward, batch) in self.step.schedule(self.stage) {
            self.pass(batch, forward);
        }
        let layers = u64::from(self.step.layers / self.step.pipeline);
        let parameters = 12 * self.step.hidden * self.step.hidden / u64::from(self.step.tensor) * layers;
        let mut after = self.reduced.clone();
        after.push(self.last);
        let micros = ((20 * parameters) as f64 / RATE).round() as u64;
        self.work("optimizer", after, micros.max(1), 20 * parameters);
    }
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_message(out: &mut Vec<u8>, message: &[u8]) {
    put_varint(out, message.len() as u64);
    out.extend(message);
}

fn put_number(out: &mut Vec<u8>, field: u64, number: u64) {
    put_varint(out, field << 3);
    put_varint(out, number);
}

fn put_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    put_varint(out, field << 3 | 2);
    put_message(out, bytes);
}

fn put_attribute(node: &mut Vec<u8>, name: &str, value: &NodeAttribute<'_>) {
    let mut out = Vec::new();
    put_bytes(&mut out, 1, name.as_bytes());
    match value {
        NodeAttribute::Flag(flag) => put_number(&mut out, 27, u64::from(*flag)),
        NodeAttribute::Text(text) => put_bytes(&mut out, 29, text.as_bytes()),
        NodeAttribute::Number(number) => put_number(&mut out, 9, *number),
    }
    put_bytes(node, 10, &out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use trace::{Collected, Kind};

    fn read(folder: &Path) -> Collected {
        let (collected, problems) =
            Collected::of(|reader| trace::read(folder, None, reader)).expect("it is read to the end");
        assert_eq!(problems, []);
        collected
    }

    #[test]
    fn a_step_is_that_of_the_example_but_for_how_long_computations_take() {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/training_step.py");
        for (data, tensor, pipeline, batches) in [(2, 2, 2, 3), (1, 4, 3, 2), (4, 1, 1, 1), (2, 1, 6, 4)] {
            let step = TrainingStep {
                data,
                tensor,
                pipeline,
                layers: 2 * pipeline,
                hidden: 96,
                sequence: 40,
                batches,
            };
            let [own, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let nodes = step.write(own.path()).unwrap();
            let mut python = Command::new("python3");
            python.arg(&example).args(["--hidden=96", "--sequence=40"]);
            python.arg(format!("--out={}", other.path().display()));
            python.args([
                format!("--data={data}"),
                format!("--tensor={tensor}"),
                format!("--pipeline={pipeline}"),
                format!("--layers={}", 2 * pipeline),
                format!("--micro-batches={batches}"),
            ]);
            let Ok(done) = python.output() else {
                eprintln!("there is no Python here to compare with");
                return;
            };
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            let (own, other) = (read(own.path()), read(other.path()));
            assert_eq!(own.header.communicators, other.header.communicators);
            assert_eq!(own.ranks.iter().map(|rank| rank.len() as u64).sum::<u64>(), nodes);
            assert_eq!(own.ranks.len(), other.ranks.len());
            for (own, other) in own.ranks.iter().zip(&other.ranks) {
                assert_eq!(own.len(), other.len());
                for (own, other) in own.iter().zip(other) {
                    let mut told = [own.clone(), other.clone()];
                    let [a, b] = [&told[0], &told[1]].map(|one| one.operation.time);
                    if own.operation.kind == Kind::Compute {
                        // Jitter of 2 % on both, in whole microseconds.
                        assert!(a.abs_diff(b) <= a / 24 + 1_000_000, "{a} {b}");
                        told.iter_mut().for_each(|one| one.operation.time = 0);
                    }
                    assert_eq!(told[0], told[1]);
                }
            }
        }
    }
}
