//! Some nodes that everybody wants. Which messages are for them is drawn in the hot path.

use super::{HotSpot, JobNodes, NODES, PatternKeys, PatternKind, TRAFFIC, pattern};
use crate::workload::Destinations;
use study::{Default, Described, Entry, Parameter, Type, key};

const HOT_SPOT: &[Parameter] = &[
    key(
        "targets",
        NODES,
        Default::Text("1"),
        "Number of hot nodes: the first ones.",
    ),
    key(
        "fraction",
        Type::Number { above: 0.0, max: 1.0 },
        Default::Text("0.2"),
        "Fraction of the messages that go to the hot nodes.",
    ),
];

impl Described for HotSpot {
    const ENTRY: Entry = pattern(
        "hot-spot",
        "A fraction of the messages goes to a few hot nodes, the rest is uniform.",
    )
    .keys(&[HOT_SPOT, TRAFFIC]);
}

impl PatternKind for HotSpot {
    fn read(mut keys: PatternKeys<'_, '_>) -> Option<Self> {
        Some(HotSpot {
            targets: keys.at_most("targets", |n| n, "there are at most")?,
            fraction: keys.values.number("fraction")?,
        })
    }

    fn destinations(&self, job: &JobNodes<'_>) -> Result<Destinations, String> {
        let HotSpot { targets, fraction } = *self;
        if targets == 0 || targets >= job.n() {
            return Err(format!(
                "{targets} hot nodes of {}: at least 1, and at least one node must be cold",
                job.n()
            ));
        }
        Ok(Destinations::HotSpot { targets, fraction })
    }
}
