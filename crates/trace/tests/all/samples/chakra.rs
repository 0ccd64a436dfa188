//! Execution traces, by a writer of a few lines.

use super::Sample;
use std::io::Write;

/// A message of protocol buffers as it grows.
#[derive(Clone, Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    /// A number of variable length.
    pub fn varint(mut self, field: u64, value: u64) -> Message {
        varint(&mut self.0, field << 3);
        varint(&mut self.0, value);
        self
    }

    /// A text, a message or a packed list.
    pub fn bytes(mut self, field: u64, bytes: &[u8]) -> Message {
        varint(&mut self.0, field << 3 | 2);
        varint(&mut self.0, bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    /// Eight bytes as they are.
    pub fn fixed64(mut self, field: u64, value: u64) -> Message {
        varint(&mut self.0, field << 3 | 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Four bytes as they are.
    pub fn fixed32(mut self, field: u64, value: u32) -> Message {
        varint(&mut self.0, field << 3 | 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// An attribute of an integer of 64 bits.
    pub fn number(self, name: &str, value: i64) -> Message {
        self.attribute(name, Message::default().varint(9, value as u64))
    }

    /// An attribute of a text.
    pub fn text(self, name: &str, text: &str) -> Message {
        self.attribute(name, Message::default().bytes(29, text.as_bytes()))
    }

    /// An attribute with a value of any kind.
    pub fn attribute(self, name: &str, value: Message) -> Message {
        let attribute = Message::default().bytes(1, name.as_bytes());
        self.bytes(10, &[attribute.0, value.0].concat())
    }
}

fn varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Types of nodes.
pub const METADATA: u64 = 1;
pub const LOAD: u64 = 2;
pub const COMPUTE: u64 = 4;
pub const SEND: u64 = 5;
pub const RECEIVE: u64 = 6;
pub const COLLECTIVE: u64 = 7;

/// A node with an id and a type, after others.
pub fn node(id: u64, kind: u64, after: &[u64]) -> Message {
    let node = Message::default().varint(1, id).bytes(2, b"node").varint(3, kind);
    after.iter().fold(node, |node, id| node.varint(5, *id))
}

/// A file of nodes.
pub fn file(nodes: &[Message]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let metadata = Message::default().bytes(1, b"0.0.4");
    for message in std::iter::once(&metadata).chain(nodes) {
        varint(&mut bytes, message.0.len() as u64);
        bytes.extend(&message.0);
    }
    bytes
}

/// The bytes, packed by gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes).expect("memory takes it");
    packed.finish().expect("memory takes it")
}

/// A training step of two ranks: a computation, a message there and back, and an all-reduce in a group.
fn step(rank: u64) -> Vec<Message> {
    let other = 1 - rank as i64;
    let groups = r#"['[{"pg_name": "data", "ranks": [1, 0]}]']"#;
    let inputs = Message::default().bytes(1, groups.as_bytes());
    vec![
        node(3, METADATA, &[])
            .bytes(2, b"## process_group:init ##")
            .bytes(8, &inputs.0),
        // It depends on what comes later in the file.
        node(9, COLLECTIVE, &[7, 8])
            .number("comm_type", 0)
            .number("comm_size", 1 << 20)
            .text("pg_name", "data"),
        node(5, COMPUTE, &[3]).varint(6, 1_700_000_000_000_000).varint(7, 12),
        node(7, SEND, &[5])
            .number("comm_dst", other)
            .number("comm_size", 4096)
            .number("comm_tag", 2),
        node(8, RECEIVE, &[3])
            .number("comm_src", other)
            .number("comm_size", 4096)
            .number("comm_tag", 2),
        node(11, LOAD, &[9]).varint(7, 3),
    ]
}

const JSON: &str = r#"{"workload_graph": [
  {"Id": 1, "Name": "forward", "NodeType": 4, "ctrl_deps": [], "data_deps": [], "runtime": 5, "is_cpu_op": false},
  {"Id": 2, "Name": "gather", "NodeType": 7, "data_deps": [1], "comm_type": 2, "comm_size": 1024, "tensor_size": 8}
]}"#;

pub fn all() -> Vec<Sample> {
    let named = |rank: usize, bytes| (format!("step.{rank}.et"), bytes);
    let sample = |name, files, open| Sample {
        format: "chakra",
        name,
        files,
        open,
    };
    vec![
        sample(
            "a training step",
            (0..2).map(|rank| named(rank, file(&step(rank as u64)))).collect(),
            "step.0.et",
        ),
        sample(
            "a packed one",
            (0..2)
                .map(|rank| named(rank, gzip(&file(&step(rank as u64)))))
                .collect(),
            "step.1.et",
        ),
        sample(
            "JSON",
            vec![
                ("graph.0.json".into(), JSON.into()),
                ("graph.1.json".into(), JSON.into()),
            ],
            "graph.0.json",
        ),
    ]
}
