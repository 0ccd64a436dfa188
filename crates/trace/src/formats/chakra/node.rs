//! A node of an execution trace, from a message or from JSON.

use super::wire::{Garbled, Wire, WireFields, take_varint, unzigzag};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt::Write;

/// What a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NodeType {
    /// Its type is 0, or none that is known.
    #[default]
    Unknown,
    Metadata,
    Load,
    Store,
    Compute,
    Send,
    Receive,
    Collective,
}

const TYPES: [(NodeType, &str); 8] = [
    (NodeType::Unknown, "INVALID_NODE"),
    (NodeType::Metadata, "METADATA_NODE"),
    (NodeType::Load, "MEM_LOAD_NODE"),
    (NodeType::Store, "MEM_STORE_NODE"),
    (NodeType::Compute, "COMP_NODE"),
    (NodeType::Send, "COMM_SEND_NODE"),
    (NodeType::Receive, "COMM_RECV_NODE"),
    (NodeType::Collective, "COMM_COLL_NODE"),
];

/// Kinds of collectives by their numbers, as JSON may name them.
const COLLECTIVES: [&str; 10] = [
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
];

/// A node, of what is used of it. Numbers may be negative in a file; who needs them looks. It is read into again and again, so that a node
/// takes no memory of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ChakraNode {
    pub id: u64,
    pub kind: NodeType,
    /// Ids that it depends on: of control, then of data.
    pub after: Vec<u64>,
    /// When it began (us).
    pub start: u64,
    /// How long it took (us).
    pub duration: u64,
    /// Values of inputs of a [`NodeType::Metadata`] that tells process groups.
    pub process_groups: Option<String>,
    pub is_cpu_op: bool,
    pub num_ops: Option<i128>,
    pub comm_type: Option<i128>,
    pub comm_size: Option<i128>,
    pub comm_src: Option<i128>,
    pub comm_dst: Option<i128>,
    pub comm_tag: Option<i128>,
    pub comm_root: Option<i128>,
    /// Its process group; empty where none is named.
    pub pg_name: String,
    /// GPU stream or thread of the CPU.
    pub tid: Option<i128>,
    /// It is a collective of some dimensions of a network, not of all.
    pub of_some_dimensions: bool,
    /// Ids of data, until those of control are all there.
    of_data: Vec<u64>,
}

/// A value of an attribute.
enum Attribute<'a> {
    Number(i128),
    Text(Cow<'a, str>),
    /// Flags: whether some are false.
    Flags(bool),
    /// Of a kind that no attribute which is used has.
    Other,
}

impl ChakraNode {
    /// Nothing, with the memory that it has.
    fn clear(&mut self) {
        let [mut after, mut of_data] = [&mut self.after, &mut self.of_data].map(std::mem::take);
        let mut pg_name = std::mem::take(&mut self.pg_name);
        after.clear();
        of_data.clear();
        pg_name.clear();
        *self = ChakraNode {
            after,
            of_data,
            pg_name,
            ..ChakraNode::default()
        };
    }

    /// Becomes the node of a message.
    pub fn read(&mut self, message: &[u8]) -> Result<(), Garbled> {
        self.clear();
        let (mut name, mut inputs) = (&[][..], &[][..]);
        for field in WireFields(message) {
            match field? {
                (1, value) => self.id = value.varint().ok_or(Garbled)?,
                (2, value) => name = value.bytes().ok_or(Garbled)?,
                (3, value) => self.kind = type_of(value.varint().ok_or(Garbled)?),
                (4, value) => take_ids(value, &mut self.after)?,
                (5, value) => take_ids(value, &mut self.of_data)?,
                (6, value) => self.start = value.varint().ok_or(Garbled)?,
                (7, value) => self.duration = value.varint().ok_or(Garbled)?,
                (8, value) => inputs = value.bytes().ok_or(Garbled)?,
                (10, value) => {
                    let (name, value) = attribute(value.bytes().ok_or(Garbled)?)?;
                    self.take(name, value);
                }
                _ => {}
            }
        }
        self.after.append(&mut self.of_data);
        // Most nodes have no inputs, and few tell groups.
        if !inputs.is_empty() && tells_groups(&String::from_utf8_lossy(name)) {
            for field in WireFields(inputs) {
                if let (1, Wire::Bytes(values)) = field? {
                    self.process_groups = Some(String::from_utf8_lossy(values).into_owned());
                }
            }
        }
        Ok(())
    }

    /// The node of an object of JSON; the words of what it lacks.
    pub fn of_object(object: &Map<String, Value>) -> Result<ChakraNode, String> {
        let get = |names: [&str; 3]| names.iter().find_map(|name| object.get(*name));
        let number = |names| {
            get(names)
                .and_then(number_of)
                .and_then(|number| u64::try_from(number).ok())
        };
        let ids = |name: [&str; 3]| -> Result<Vec<u64>, String> {
            let list = match get(name) {
                None | Some(Value::Null) => return Ok(Vec::new()),
                Some(list) => list.as_array().ok_or_else(|| format!("{} is no list", name[0]))?,
            };
            let id = |id: &Value| number_of(id).and_then(|id| u64::try_from(id).ok());
            let ids: Option<Vec<u64>> = list.iter().map(id).collect();
            ids.ok_or_else(|| format!("{} has what is no id", name[0]))
        };
        let mut node = ChakraNode {
            id: match get(["Id", "id", "ID"]) {
                // Protocol buffers leave a 0 out of their JSON, but for values of attributes: such a node has a type, and attributes in a list.
                None if object.contains_key("type") && object.get("attr").is_none_or(Value::is_array) => 0,
                _ => number(["Id", "id", "ID"]).ok_or("a node has no Id")?,
            },
            start: number(["start_time_micros", "startTimeMicros", "start"]).unwrap_or(0),
            duration: number(["runtime", "duration_micros", "durationMicros"]).unwrap_or(0),
            after: ids(["ctrlDeps", "ctrl_deps", "ctrl_dep"])?,
            ..ChakraNode::default()
        };
        node.after.extend(ids(["data_deps", "dataDeps", "data_dep"])?);
        node.kind = match get(["NodeType", "type", "node_type"]) {
            Some(Value::String(name)) => {
                let known = TYPES.iter().find(|(_, known)| known == name);
                known.map_or(NodeType::Unknown, |(kind, _)| *kind)
            }
            Some(value) => number_of(value).map_or(NodeType::Unknown, |value| type_of(value as u64)),
            None => NodeType::Unknown,
        };
        for (name, value) in object {
            node.take(name.as_bytes(), attribute_of(value));
        }
        for attribute in get(["attr", "attrs", "attribute"])
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let name = attribute.get("name").and_then(Value::as_str).unwrap_or_default();
            let is_value = |key: &str| key.ends_with("_val") || key.ends_with("Val") || key == "value";
            let values = attribute.as_object().into_iter().flatten();
            for (_, value) in values.filter(|(key, _)| is_value(key)) {
                node.take(name.as_bytes(), attribute_of(value));
            }
        }
        let name = get(["Name", "name", "NAME"]).and_then(Value::as_str);
        if name.is_some_and(tells_groups) {
            let values = get(["inputs", "Inputs", "input"]).and_then(|inputs| inputs.get("values").or(Some(inputs)));
            node.process_groups = values.map(|values| match values {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
        }
        Ok(node)
    }

    fn take(&mut self, name: &[u8], value: Attribute<'_>) {
        let number = match name {
            b"num_ops" => &mut self.num_ops,
            b"comm_type" => &mut self.comm_type,
            b"comm_size" => &mut self.comm_size,
            b"comm_src" => &mut self.comm_src,
            b"comm_dst" => &mut self.comm_dst,
            b"comm_tag" => &mut self.comm_tag,
            b"root" | b"comm_root" | b"root_rank" => &mut self.comm_root,
            b"tid" => &mut self.tid,
            b"is_cpu_op" => {
                self.is_cpu_op = matches!(value, Attribute::Number(n) if n != 0);
                return;
            }
            b"pg_name" => return self.take_group(&value),
            b"involved_dim" | b"involved_dims" => {
                self.of_some_dimensions = matches!(value, Attribute::Flags(true));
                return;
            }
            _ => return,
        };
        match value {
            Attribute::Number(value) => *number = Some(value),
            // JSON of protocol buffers has its long numbers as texts.
            Attribute::Text(text) if name == b"comm_type" => {
                let text = text.trim();
                let named = COLLECTIVES.iter().position(|known| known.eq_ignore_ascii_case(text));
                *number = named.map(|number| number as i128).or_else(|| text.parse().ok());
            }
            Attribute::Text(text) => *number = text.trim().parse().ok(),
            _ => {}
        }
    }

    fn take_group(&mut self, value: &Attribute<'_>) {
        self.pg_name.clear();
        match value {
            Attribute::Text(name) => self.pg_name.push_str(name),
            // Writing into a text never fails.
            Attribute::Number(name) => drop(write!(self.pg_name, "{name}")),
            _ => {}
        }
    }
}

fn tells_groups(name: &str) -> bool {
    name.contains("process_group:init")
}

fn type_of(value: u64) -> NodeType {
    let known = usize::try_from(value).ok().and_then(|value| TYPES.get(value));
    known.map_or(NodeType::Unknown, |(kind, _)| *kind)
}

/// Ids, packed or one by one.
fn take_ids(value: Wire<'_>, ids: &mut Vec<u64>) -> Result<(), Garbled> {
    match value {
        Wire::Varint(id) => ids.push(id),
        Wire::Bytes(mut packed) => {
            while !packed.is_empty() {
                ids.push(take_varint(&mut packed)?);
            }
        }
        _ => return Err(Garbled),
    }
    Ok(())
}

/// Name and value of an attribute; integers of every kind are numbers.
fn attribute(message: &[u8]) -> Result<(&[u8], Attribute<'_>), Garbled> {
    let mut name = &[][..];
    let mut value = Attribute::Other;
    for field in WireFields(message) {
        let (number, wire) = field?;
        match (number, wire) {
            (1, Wire::Bytes(bytes)) => name = bytes,
            // A 32-bit number of negative value takes as many bytes as one of 64.
            (7 | 9, Wire::Varint(n)) => value = Attribute::Number((n as i64).into()),
            (11 | 13 | 27, Wire::Varint(n)) => value = Attribute::Number(n.into()),
            (15 | 17, Wire::Varint(n)) => value = Attribute::Number(unzigzag(n).into()),
            (19, Wire::Fixed32(n)) => value = Attribute::Number(n.into()),
            (21, Wire::Fixed64(n)) => value = Attribute::Number(n.into()),
            (23, Wire::Fixed32(n)) => value = Attribute::Number((n as i32).into()),
            (25, Wire::Fixed64(n)) => value = Attribute::Number((n as i64).into()),
            (3, Wire::Fixed64(n)) => value = real(f64::from_bits(n)),
            (5, Wire::Fixed32(n)) => value = real(f32::from_bits(n).into()),
            (29, Wire::Bytes(text)) => value = Attribute::Text(String::from_utf8_lossy(text)),
            (28, Wire::Bytes(list)) => value = Attribute::Flags(has_false(list)?),
            _ => {}
        }
    }
    Ok((name, value))
}

/// A real number as an integer, if it is one.
fn real(value: f64) -> Attribute<'static> {
    match value.fract() == 0.0 {
        true => Attribute::Number(value as i128),
        false => Attribute::Other,
    }
}

/// Whether some flags of a list, packed or one by one, are false.
fn has_false(list: &[u8]) -> Result<bool, Garbled> {
    let mut values = Vec::new();
    for field in WireFields(list) {
        if let (1, value) = field? {
            take_ids(value, &mut values)?;
        }
    }
    Ok(values.contains(&0))
}

fn attribute_of(value: &Value) -> Attribute<'_> {
    match value {
        Value::Bool(flag) => Attribute::Number((*flag).into()),
        Value::Number(_) => number_of(value).map_or(Attribute::Other, Attribute::Number),
        Value::String(text) => Attribute::Text(text.into()),
        Value::Array(values) => Attribute::Flags(values.contains(&Value::Bool(false))),
        Value::Object(list) => match list.get("values") {
            Some(values @ Value::Array(_)) => attribute_of(values),
            _ => Attribute::Other,
        },
        Value::Null => Attribute::Other,
    }
}

/// An integer of JSON, which may be written as a text or as a real number.
fn number_of(value: &Value) -> Option<i128> {
    match value {
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(n), ..) => Some(n.into()),
            (_, Some(n), _) => Some(n.into()),
            (.., Some(n)) if n.fract() == 0.0 => Some(n as i128),
            _ => None,
        },
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}
