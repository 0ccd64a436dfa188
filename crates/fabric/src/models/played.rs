//! For tests: what a run on the reference engine shows, to be compared with that of a model which does something in another way.

use crate::network::model::{Fabric, RouterModel};
use crate::observe::{Span, Stats};
use crate::state::Port;
use des::engine::Engine;
use des::{ReferenceEngine, Time};

/// What a run has shown.
pub(super) struct Played {
    /// All messages: source, destination, birth, time.
    pub(super) rows: Vec<[u64; 4]>,
    /// All output ports at the end, of a model with queues.
    pub(super) ports: Vec<Port>,
    /// Events.
    pub(super) events: u64,
}

/// Runs a network until some time.
pub(super) fn play<M: RouterModel>(world: &Fabric<M>, until: Time) -> Played {
    let stats = Stats::new(Span::default(), world.net.n_nodes(), true, Default::default(), (1, 0));
    let mut engine = ReferenceEngine::new(world, stats);
    engine.run(until, &mut |_, _| true);
    let (states, mut stats, outcome) = Box::new(engine).into_parts();
    stats.settle();
    let rows = stats.rows.unwrap_or_default();
    let mut rows: Vec<[u64; 4]> = rows
        .iter()
        .map(|row| [row.source.into(), row.destination.into(), row.birth, row.time])
        .collect();
    rows.sort_unstable();
    Played {
        rows,
        ports: states
            .iter()
            .flat_map(|state| state.ports.as_slice())
            .copied()
            .collect(),
        events: outcome.events,
    }
}
