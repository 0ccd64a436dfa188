//! A study file as a tree of values with their places, and key paths into it.
//!
//! Tables keep the order of the file. Overrides (experiments, variants, sweeps, `--set`) replace values in the tree before it
//! is checked, so that every value goes through the same checks and every error points where the value was written.

use crate::diagnostic::{Findings, Place, Sources};
use serde_json::json;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Study files above this size are refused: nobody writes them, and graphs have files of their own.
pub const LARGEST_FILE: usize = 4 << 20;

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it was written.
    pub place: Place,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a point.
    Number(f64),
    /// `true` or `false`.
    Flag(bool),
    /// Date or time, as written.
    Date(String),
    /// A list.
    List(Vec<Node>),
    /// A table, in braces or below its header.
    Table(Table),
}

impl Value {
    /// Whether two values are the same, wherever they were written.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Text(a), Value::Text(b)) | (Value::Date(a), Value::Date(b)) => a == b,
            (Value::Integer(a), Value::Integer(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => a.total_cmp(b).is_eq(),
            (Value::Flag(a), Value::Flag(b)) => a == b,
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.value.same(&b.value))
            }
            (Value::Table(a), Value::Table(b)) => {
                let (a, b) = (&a.entries, &b.entries);
                let pairs = || a.iter().zip(b);
                a.len() == b.len() && pairs().all(|(a, b)| a.key == b.key && a.node.value.same(&b.node.value))
            }
            _ => false,
        }
    }

    /// Appends a text that is the same for the same values alone, see [`Value::same`].
    pub fn identity(&self, text: &mut String) {
        match self {
            Value::Text(value) => *text += &format!("{value:?}"),
            Value::Date(value) => *text += &format!("d{value:?}"),
            Value::Integer(value) => *text += &value.to_string(),
            Value::Number(value) => *text += &format!("f{:x}", value.to_bits()),
            Value::Flag(value) => *text += &value.to_string(),
            Value::List(nodes) => {
                text.push('[');
                for node in nodes {
                    node.value.identity(text);
                    text.push(',');
                }
                text.push(']');
            }
            Value::Table(table) => {
                text.push('{');
                for item in &table.entries {
                    *text += &format!("{:?}:", item.key);
                    item.node.value.identity(text);
                    text.push(',');
                }
                text.push('}');
            }
        }
    }
}

/// A table in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Its keys in the order of the file.
    pub entries: Vec<KeyValue>,
    /// Written in braces: as an override it replaces the whole table instead of single keys.
    pub inline: bool,
    /// What a swept table is called in results; nothing of the table itself.
    pub called: Option<String>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct KeyValue {
    /// The key.
    pub key: String,
    /// Where the key was written.
    pub place: Place,
    /// Its value.
    pub node: Node,
}

impl Value {
    /// The type in words for errors.
    pub fn type_words(&self) -> &'static str {
        match self {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Number(_) => "a number",
            Value::Flag(_) => "a flag",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

impl Table {
    /// The key with its value.
    pub fn get(&self, key: &str) -> Option<&KeyValue> {
        self.entries.iter().find(|item| item.key == key)
    }

    #[cfg(test)]
    fn table(&self, key: &str) -> Option<&Table> {
        match &self.get(key)?.node.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Takes a key out, if it is there.
    pub fn remove(&mut self, key: &str) {
        self.entries.retain(|item| item.key != key);
    }

    /// Replaces or appends a key.
    pub fn insert(&mut self, key: &str, place: Place, node: Node) {
        match self.entries.iter_mut().find(|item| item.key == key) {
            Some(item) => {
                *item = KeyValue {
                    key: key.to_owned(),
                    place,
                    node,
                }
            }
            None => self.entries.push(KeyValue {
                key: key.to_owned(),
                place,
                node,
            }),
        }
    }

    /// Sets the value at a key path (`router.vcs`, `job.0.work.load`, `job.NAME.work.load`, `job.*.placement`), making tables on the way.
    ///
    /// # Errors
    /// Says in words why the path leads nowhere.
    pub fn set(&mut self, path: &str, place: Place, node: Node) -> Result<(), String> {
        let segments: Vec<&str> = path.split('.').collect();
        if segments.len() > DEEPEST_KEY || segments.iter().any(|segment| segment.trim().is_empty()) {
            let start: String = path.chars().take(60).collect();
            return Err(format!("{start:?} is not a key path"));
        }
        if segments[0] == "job" && self.get("job").is_none() {
            // Without a [[job]] there is one with default values.
            let job = Node {
                value: Value::Table(Table::default()),
                place,
            };
            self.insert(
                "job",
                place,
                Node {
                    value: Value::List(vec![job]),
                    place,
                },
            );
        }
        match segments.as_slice() {
            ["run", "seed"] => self.forget("run", "seeds"),
            ["run", "seeds"] => self.forget("run", "seed"),
            _ => {}
        }
        self.set_below(&segments, "", place, node)
    }

    /// Removes `key` from the table `section`: the two exclude each other and the later one counts.
    fn forget(&mut self, section: &str, key: &str) {
        for item in self.entries.iter_mut().filter(|item| item.key == section) {
            if let Value::Table(table) = &mut item.node.value {
                table.remove(key);
            }
        }
    }

    fn set_below(&mut self, segments: &[&str], walked: &str, place: Place, node: Node) -> Result<(), String> {
        let Some((key, rest)) = segments.split_first() else {
            return Err("the key path ends too early".to_owned());
        };
        if rest.is_empty() {
            self.insert(key, place, node);
            return Ok(());
        }
        let index = self
            .entries
            .iter()
            .position(|item| item.key == *key)
            .unwrap_or_else(|| {
                self.insert(
                    key,
                    place,
                    Node {
                        value: Value::Table(Table::default()),
                        place,
                    },
                );
                self.entries.len() - 1
            });
        let walked = if walked.is_empty() {
            (*key).to_owned()
        } else {
            format!("{walked}.{key}")
        };
        self.entries[index].node.set_below(rest, &walked, place, node)
    }
}

impl Node {
    /// Sets the value at `segments` (at least one) below this value, whose own path is `walked`.
    fn set_below(&mut self, segments: &[&str], walked: &str, place: Place, node: Node) -> Result<(), String> {
        match &mut self.value {
            Value::Table(table) => table.set_below(segments, walked, place, node),
            Value::List(elements) => {
                let Some((segment, rest)) = segments.split_first() else {
                    return Err("the key path ends too early".to_owned());
                };
                let meant = meant(elements, segment);
                if meant.is_empty() {
                    return Err(format!(
                        "`{walked}` has no element {segment:?}; it has {}",
                        names(elements)
                    ));
                }
                for position in meant {
                    if rest.is_empty() {
                        elements[position] = node.clone();
                    } else {
                        elements[position].set_below(rest, &format!("{walked}.{segment}"), place, node.clone())?;
                    }
                }
                Ok(())
            }
            other => Err(format!("`{walked}` is {}, not a table", other.type_words())),
        }
    }
}

/// The elements of a list that a path segment means: `*` all of them, else one by its position from 0 or the `name` of a table.
fn meant(elements: &[Node], segment: &str) -> Range<usize> {
    if segment == EVERY {
        return 0..elements.len();
    }
    let position = match segment.parse::<usize>() {
        Ok(position) => Some(position).filter(|&position| position < elements.len()),
        Err(_) => elements.iter().position(|element| name_of(element) == Some(segment)),
    };
    position.map_or(0..0, |position| position..position + 1)
}

fn name_of(element: &Node) -> Option<&str> {
    match &element.value {
        Value::Table(table) => match &table.get("name")?.node.value {
            Value::Text(name) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

fn names(elements: &[Node]) -> String {
    let mut words = match elements.len() {
        0 => return "none".to_owned(),
        1 => "0".to_owned(),
        n => format!("0 to {}", n - 1),
    };
    for name in elements.iter().filter_map(name_of).take(8) {
        words += &format!(", {name:?}");
    }
    words
}

/// Reads bytes into a tree; `None` after errors, all of which are in `findings`.
///
/// `like` is a key path as it could be written.
pub fn parse_file(
    bytes: &[u8],
    name: &str,
    like: &str,
    sources: &mut Sources,
    findings: &mut Findings,
) -> Option<Table> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.len() > LARGEST_FILE {
        sources.add(name, "");
        let hint = "a study is a short text; put graphs into files of their own";
        findings.error(
            Place::default(),
            "",
            format!("the file is larger than {} MiB", LARGEST_FILE >> 20),
            hint,
        );
        return None;
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let source = sources.add(name, &String::from_utf8_lossy(bytes));
            // Up to the first bad byte the lossy text is the same as the bytes.
            let start = error.valid_up_to();
            let reason = format!("byte 0x{:02X} is not UTF-8 text", bytes[start]);
            findings.error(
                Place::new(source, start..start + 3),
                "",
                reason,
                "save the study as a UTF-8 text file",
            );
            return None;
        }
    };
    let source = sources.add(name, text);
    parse_text(text, source, like, findings)
}

/// Reads one text into a tree; `None` after errors. `like` is a key path as it could be written.
pub fn parse_text(text: &str, source: u32, like: &str, findings: &mut Findings) -> Option<Table> {
    let before = findings.n_errors();
    if let Some(start) = too_deep(text) {
        let reason = format!("a key of more than {DEEPEST_KEY} parts");
        findings.error(
            Place::new(source, start..start + 1),
            "",
            reason,
            format!("keys read like {like}"),
        );
        return None;
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        findings.error(
            Place::new(source, span),
            "",
            error.message(),
            syntax_hint(error.message()),
        );
    }
    if findings.n_errors() > before {
        return None;
    }
    let table = convert_table(table.get_ref(), text, source, "", findings);
    (findings.n_errors() == before).then_some(table)
}

/// Most parts of a dotted key. Each part is a level of nesting, and nesting takes stack.
pub const DEEPEST_KEY: usize = 32;

/// The part of a key path that means every element of a list.
pub const EVERY: &str = "*";

/// Most dots in a row of letters even within texts and comments, should they be taken for keys after a syntax error.
const MOST_DOTS: usize = 500;

/// The position of the dot that makes a key too deep. The parser bounds the nesting of brackets and braces itself.
fn too_deep(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut dots, mut all_dots) = (0, 0);
    // The quotes that end the text we are in, if we are in one.
    let mut quotes: &[u8] = b"";
    let mut comment = false;
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let mut step = 1;
        if b"=,[]{}".contains(&rest[0]) {
            all_dots = 0;
        }
        match rest[0] {
            b'.' => {
                all_dots += 1;
                dots += usize::from(quotes.is_empty() && !comment);
                if dots >= DEEPEST_KEY || all_dots >= MOST_DOTS {
                    return Some(at);
                }
            }
            b'\n' => {
                (dots, all_dots, comment) = (0, 0, false);
                if quotes.len() == 1 {
                    quotes = b"";
                }
            }
            _ if comment => {}
            b'\\' if quotes.first() == Some(&b'"') && rest.get(1) != Some(&b'\n') => step = 2,
            _ if !quotes.is_empty() && !rest.starts_with(quotes) => {}
            _ if !quotes.is_empty() => {
                step = quotes.len();
                quotes = b"";
            }
            b'"' | b'\'' => {
                let long = rest.len() >= 3 && rest[1] == rest[0] && rest[2] == rest[0];
                quotes = &rest[..if long { 3 } else { 1 }];
                step = quotes.len();
            }
            b'#' => comment = true,
            b'=' | b',' | b'[' | b']' | b'{' | b'}' => dots = 0,
            _ => {}
        }
        at += step;
    }
    None
}

/// What to do about a syntax error.
fn syntax_hint(message: &str) -> &'static str {
    if message.contains("duplicate key") {
        "a table may be opened once and a key given once; remove or rename one of them"
    } else if ["quoted", "string", "float", "integer", "number"]
        .iter()
        .any(|word| message.contains(word))
    {
        "texts and quantities stand in quotes on one line, as in latency = \"90 ns\""
    } else if message.contains("array") {
        "lists read [1, 2, 3]"
    } else {
        "study files are TOML: sections in brackets, then key = value lines"
    }
}

fn convert_table(table: &DeTable<'_>, text: &str, source: u32, path: &str, findings: &mut Findings) -> Table {
    let mut entries: Vec<KeyValue> = table
        .iter()
        .map(|(key, value)| {
            let path = if path.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{path}.{}", key.get_ref())
            };
            KeyValue {
                key: key.get_ref().to_string(),
                place: Place::new(source, key.span()),
                node: convert(value.get_ref(), value.span(), text, source, &path, findings),
            }
        })
        .collect();
    entries.sort_by_key(|item| item.place.start);
    Table {
        entries,
        inline: false,
        called: None,
    }
}

fn convert(
    value: &DeValue<'_>,
    span: std::ops::Range<usize>,
    text: &str,
    source: u32,
    path: &str,
    findings: &mut Findings,
) -> Node {
    let place = Place::new(source, span.clone());
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(integer) => Value::Integer(integer),
            Err(_) => {
                let reason = "the number is outside the range of 64-bit integers";
                findings.error(place, path, reason, format!("the largest is {}", i64::MAX));
                Value::Integer(0)
            }
        },
        DeValue::Float(digits) => match digits.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => Value::Number(number),
            _ => {
                findings.error(
                    place,
                    path,
                    "infinite numbers and nan mean nothing in a study",
                    "give a finite number",
                );
                Value::Number(0.0)
            }
        },
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(elements) => Value::List(
            elements
                .iter()
                .enumerate()
                .map(|(index, element)| {
                    let path = format!("{path}[{index}]");
                    convert(element.get_ref(), element.span(), text, source, &path, findings)
                })
                .collect(),
        ),
        DeValue::Table(table) => {
            let mut table = convert_table(table, text, source, path, findings);
            table.inline = text.as_bytes().get(span.start) == Some(&b'{');
            Value::Table(table)
        }
    };
    Node { value, place }
}

/// A tree as JSON, keys in alphabetical order.
pub fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Text(text) | Value::Date(text) => json!(text),
        Value::Integer(integer) => json!(integer),
        Value::Number(number) => json!(number),
        Value::Flag(flag) => json!(flag),
        Value::List(elements) => elements.iter().map(|element| to_json(&element.value)).collect(),
        Value::Table(table) => serde_json::Value::Object(
            table
                .entries
                .iter()
                .map(|item| (item.key.clone(), to_json(&item.node.value)))
                .collect(),
        ),
    }
}

/// A JSON value as a tree, everything at one place; numbers beyond 64-bit integers become floats.
pub fn from_json(value: &serde_json::Value, place: Place) -> Node {
    let value = match value {
        serde_json::Value::Null => Value::Text(String::new()),
        serde_json::Value::Bool(flag) => Value::Flag(*flag),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(integer) => Value::Integer(integer),
            None => Value::Number(number.as_f64().unwrap_or(0.0)),
        },
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Array(elements) => {
            Value::List(elements.iter().map(|element| from_json(element, place)).collect())
        }
        serde_json::Value::Object(map) => Value::Table(Table {
            entries: map
                .iter()
                .map(|(key, value)| KeyValue {
                    key: key.clone(),
                    place,
                    node: from_json(value, place),
                })
                .collect(),
            inline: false,
            called: None,
        }),
    };
    Node { value, place }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Table {
        let mut sources = Sources::default();
        let mut findings = Findings::default();
        let table = parse_file(text.as_bytes(), "t.toml", "a.b", &mut sources, &mut findings);
        table.unwrap_or_else(|| panic!("{:?}", findings.into_diagnostics(&sources)))
    }

    fn integer(value: i64) -> Node {
        Node {
            value: Value::Integer(value),
            place: Place::default(),
        }
    }

    #[test]
    fn paths_reach_tables_jobs_and_list_elements() {
        let cases = [
            (
                "router.vcs",
                Ok(r#"{"job":[{"name":"a","work":{"load":1}},{"name":"b"}],"router":{"vcs":7},"x":[1,2]}"#),
            ),
            (
                "job.0.work.load",
                Ok(r#"{"job":[{"name":"a","work":{"load":7}},{"name":"b"}],"x":[1,2]}"#),
            ),
            (
                "job.b.nodes",
                Ok(r#"{"job":[{"name":"a","work":{"load":1}},{"name":"b","nodes":7}],"x":[1,2]}"#),
            ),
            (
                "job.*.nodes",
                Ok(r#"{"job":[{"name":"a","nodes":7,"work":{"load":1}},{"name":"b","nodes":7}],"x":[1,2]}"#),
            ),
            (
                "x.*",
                Ok(r#"{"job":[{"name":"a","work":{"load":1}},{"name":"b"}],"x":[7,7]}"#),
            ),
            ("job.1", Ok(r#"{"job":[{"name":"a","work":{"load":1}},7],"x":[1,2]}"#)),
            (
                "x.1",
                Ok(r#"{"job":[{"name":"a","work":{"load":1}},{"name":"b"}],"x":[1,7]}"#),
            ),
            (
                "x",
                Ok(r#"{"job":[{"name":"a","work":{"load":1}},{"name":"b"}],"x":7}"#),
            ),
            ("job.2.nodes", Err("has no element \"2\"; it has 0 to 1, \"a\", \"b\"")),
            ("job.c.nodes", Err("has no element \"c\"")),
            ("x.0.y", Err("`x.0` is a whole number, not a table")),
            ("job.a.name.y", Err("`job.a.name` is a text, not a table")),
            ("router..vcs", Err("not a key path")),
            ("", Err("not a key path")),
        ];
        for (path, expected) in cases {
            let mut table = tree("x = [1, 2]\n[[job]]\nname = \"a\"\nwork = { load = 1 }\n[[job]]\nname = \"b\"\n");
            let result = table.set(path, Place::default(), integer(7));
            match (result, expected) {
                (Ok(()), Ok(json)) => assert_eq!(to_json(&Value::Table(table)).to_string(), json, "{path}"),
                (Err(reason), Err(fragment)) => assert!(reason.contains(fragment), "{path}: {reason}"),
                (result, _) => panic!("{path}: {result:?}"),
            }
        }
    }

    #[test]
    fn a_seed_replaces_the_list_of_seeds() {
        let mut table = tree("[run]\nseeds = [1, 2]\n");
        table.set("run.seed", Place::default(), integer(7)).unwrap();
        assert_eq!(to_json(&Value::Table(table)).to_string(), r#"{"run":{"seed":7}}"#);
    }

    #[test]
    fn dots_in_numbers_texts_and_comments_do_not_make_a_key_deep() {
        let numbers = ["0.5"; 400].join(", ");
        let dots = ".".repeat(200);
        tree(&format!(
            "# {dots}\na = [{numbers}]\nb = \"{dots} \\\" {dots}\"\nc = '{dots}'\nd = \"\"\"\n{dots}\n\"\"\"\n"
        ));
        assert_eq!(too_deep(&format!("x = \"a\"\na{} = 1", ".a".repeat(32))), Some(71));
        assert_eq!(too_deep(&format!("a{} = 1", ".a".repeat(31))), None);
        assert!(too_deep(&format!("a{} = 1", ".\"a\"".repeat(32))).is_some());
    }

    #[test]
    fn keeps_the_order_of_the_file_and_knows_braces() {
        let table = tree("b = 1\na = { z = 1, y.k = 2 }\n[c]\nd.e = 1\n");
        let keys: Vec<_> = table.entries.iter().map(|item| item.key.as_str()).collect();
        assert_eq!(keys, ["b", "a", "c"]);
        assert!(table.table("a").unwrap().inline);
        assert!(!table.table("a").unwrap().table("y").unwrap().inline);
        assert!(!table.table("c").unwrap().inline);
    }
}
