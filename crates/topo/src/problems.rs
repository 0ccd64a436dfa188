//! What is wrong with a specification, all of it at once, and the sizes beyond which it is refused.

/// Network ports of a network stay below this.
pub(crate) const MOST: u64 = 1 << 28;

/// Most routers of a network, and most nodes.
pub const MOST_PLACES: u64 = 1 << 26;

/// Network ports of one router stay below this: the number that means "injected here".
const MOST_PORTS: u64 = u16::MAX as u64;

/// Dimensions of a lattice and levels of a fat-tree.
pub(crate) const MOST_DIMENSIONS: usize = 64;

/// A parameter that cannot be built, in the words of the parameter's key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Key below `[topology]`, with an index where it is a list: `shape[1]`.
    pub field: String,
    /// Why not.
    pub reason: String,
    /// What to do, if there is something to say.
    pub hint: Option<String>,
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.field, self.reason)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

impl std::error::Error for FieldError {}

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Problems(pub(crate) Vec<FieldError>);

impl Problems {
    pub(crate) fn add(&mut self, field: &str, reason: String, hint: Option<&str>) {
        self.0.push(FieldError {
            field: field.into(),
            reason,
            hint: hint.map(str::to_owned),
        });
    }

    pub(crate) fn at_least(&mut self, field: &str, value: u32, least: u32) {
        if value < least {
            self.add(field, format!("{value} is too few, it must be at least {least}"), None);
        }
    }

    pub(crate) fn all_at_least(&mut self, field: &str, values: &[u32], least: u32) {
        for (i, &value) in values.iter().enumerate() {
            self.at_least(&format!("{field}[{i}]"), value, least);
        }
    }

    pub(crate) fn size(&mut self, routers: u64, ports: u64, nodes: u64, field: &str) {
        let memory = |n: u64, bytes: u64| n.saturating_mul(bytes) as f64 / 1e9;
        for (what, n, most, bytes) in [
            ("routers", routers, MOST_PLACES, 16),
            ("network ports", ports, MOST - 1, 7),
            ("nodes", nodes, MOST_PLACES, 4),
        ] {
            if n > most {
                let about = memory(n, bytes);
                self.add(
                    field,
                    format!("{n} {what} are too many, the limit is {most} (they would take {about:.1} GB)"),
                    None,
                );
            }
        }
    }

    pub(crate) fn radix(&mut self, ports: u64, width: u64, field: &str) {
        let ports = ports.saturating_mul(width);
        if ports >= MOST_PORTS {
            self.add(
                field,
                format!(
                    "a router would have {ports} network ports, the limit is {}",
                    MOST_PORTS - 1
                ),
                None,
            );
        }
    }

    pub(crate) fn done(&mut self) -> Result<(), Vec<FieldError>> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(std::mem::take(&mut self.0))
        }
    }
}
