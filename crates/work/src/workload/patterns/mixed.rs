//! Several patterns at once, each for a share of the messages and with a size of its own.

use super::{JobNodes, Mixed, Pattern, PatternKeys, PatternKind, TRAFFIC};
use crate::workload::destinations::{MixedDestinations, MixedPart};
use crate::workload::{Destinations, PATTERN};
use serde::{Deserialize, Serialize};
use study::{Bytes, Default, Described, Entry, Parameter, TIB, TablesOf, Type, key, size};

/// A pattern of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PatternPart {
    /// Its share of the messages, beside those of the others.
    pub share: f64,
    /// Size of its messages; `None` is that of the whole.
    pub message: Option<Bytes>,
    /// Where they go.
    pub pattern: Pattern,
}

static PARTS: TablesOf = TablesOf {
    family: || &PATTERN,
    but: "mixed",
    own: &[
        key(
            "share",
            Type::Number { above: 0.0, max: 1e9 },
            Default::Text("1"),
            "Its share of the messages, beside those of the other parts.",
        ),
        key(
            "message",
            size(TIB),
            Default::From("`message` of the whole"),
            "Size of its messages.",
        ),
    ],
    outside: TRAFFIC,
    example: "[{ kind = \"uniform\", share = 0.9 }, { kind = \"incast\", share = 0.1 }]",
};

const MIXED: &[Parameter] = &[key(
    "parts",
    Type::Tables(&PARTS),
    Default::Required,
    "The patterns, each with its own keys; of each message it is drawn which part it is of.",
)];

impl Described for Mixed {
    const ENTRY: Entry = Entry::new(
        "mixed",
        "Several patterns at once, each for a share of the messages and with a size of its own.",
    )
    .keys(&[MIXED, TRAFFIC])
    .limits("A node that a part has no destination for sends its share by the other parts.");
}

impl PatternKind for Mixed {
    fn read(keys: PatternKeys<'_, '_>) -> Option<Self> {
        let before = keys.findings.n_errors();
        let mut parts = Vec::new();
        for (kind, values) in keys.values.tables("parts") {
            let pattern = Pattern::read(
                kind,
                PatternKeys {
                    values,
                    findings: &mut *keys.findings,
                    ..keys
                },
            );
            parts.extend(pattern.zip(values.number("share")).map(|(pattern, share)| PatternPart {
                share,
                message: values.quantity("message").map(Bytes),
                pattern,
            }));
        }
        (keys.findings.n_errors() == before && !parts.is_empty()).then_some(Mixed { parts })
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let part = |(p, part): (usize, &PatternPart)| {
            let to = part
                .pattern
                .destinations(job)
                .map_err(|reason| format!("part {p}: {reason}"))?;
            Ok(MixedPart {
                share: part.share,
                bytes: part.message.unwrap_or(job.message).0,
                to,
            })
        };
        let parts: Result<Vec<MixedPart>, String> = self.parts.iter().enumerate().map(part).collect();
        parts.map(|parts| Destinations::Mixed(MixedDestinations::new(parts)))
    }

    fn mean_size(&self, bytes: u64) -> f64 {
        let all: f64 = self.parts.iter().map(|part| part.share).sum();
        let sizes = self
            .parts
            .iter()
            .map(|part| part.share / all * part.message.map_or(bytes, |own| own.0) as f64);
        sizes.sum()
    }
}
