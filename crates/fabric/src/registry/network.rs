//! Routings, router models and router presets.

use super::entry::{Entry, Kind};

pub(super) const ROUTINGS: &[Entry] = &[
    Entry {
        kind: Kind::Routing,
        name: "dor",
        line: "Dimension order: the shorter way in each dimension in turn, ties as `tie` says; dateline channels on rings.",
        groups: &[],
        source: "Dally and Seitz 1987",
        limits: "For ring, mesh, torus and hyperx.",
    },
    Entry {
        kind: Kind::Routing,
        name: "minimal",
        line: "The topology's own deterministic minimal routing.",
        groups: &[],
        source: "",
        limits: "",
    },
    Entry {
        kind: Kind::Routing,
        name: "rdr",
        line: "Randomised dynamic routing: at every router a random dimension among those not yet finished.",
        groups: &[],
        source: "Randomised dynamic routing on tori",
        limits: "For ring, mesh and torus.",
    },
    Entry {
        kind: Kind::Routing,
        name: "min-random",
        line: "A uniformly random minimal port at every router.",
        groups: &[],
        source: "",
        limits: "",
    },
    Entry {
        kind: Kind::Routing,
        name: "min-a",
        line: "Minimal adaptive: the minimal port with the least waiting before it at every router, ties to the first.",
        groups: &[],
        source: "SST Merlin, MIN-A of its HyperX",
        limits: "Sees the own router only.",
    },
    Entry {
        kind: Kind::Routing,
        name: "valiant",
        line: "Minimal routing to a random intermediate router, then on to the destination.",
        groups: &[],
        source: "Valiant and Brebner 1981",
        limits: "",
    },
    Entry {
        kind: Kind::Routing,
        name: "ugal",
        line: "At the source router minimal or over a random intermediate router, by waiting times hops (UGAL-L).",
        groups: &[],
        source: "Singh 2005; Kim, Dally, Scott and Abts 2008",
        limits: "Sees the own router only.",
    },
    Entry {
        kind: Kind::Routing,
        name: "par",
        line: "Progressive adaptive routing: UGAL's choice again at every router of the minimal way, on dragonflies of the source group.",
        groups: &[],
        source: "Jiang, Kim and Dally 2009",
        limits: "Sees the own router only; one detour per packet.",
    },
];

pub(super) const MODELS: &[Entry] = &[
    Entry {
        kind: Kind::RouterModel,
        name: "sculpin",
        line: "Packets wait for the output port in unbounded queues; no credits.",
        groups: &[],
        source: "The SCULPIN model of SST/macro",
        limits: "No back-pressure: congestion never spreads upstream.",
    },
    Entry {
        kind: Kind::RouterModel,
        name: "credit",
        line: "Input buffers per virtual channel with credits, arbitration and virtual cut-through on packets.",
        groups: &[],
        source: "Dally and Towles 2004, chapters 13 and 16",
        limits: "Packet granularity: flits of a packet are never apart.",
    },
];

pub(super) const PRESETS: &[Entry] = &[
    Entry {
        kind: Kind::RouterPreset,
        name: "sculpin",
        line: "SST/macro SCULPIN: output queueing without buffers' bounds and without traversal time.",
        groups: &[],
        source: "SST/macro, SCULPIN",
        limits: "",
    },
    Entry {
        kind: Kind::RouterPreset,
        name: "pisces",
        line: "SST/macro PISCES: 64 KiB buffers with credits, first come first served, no traversal time.",
        groups: &[],
        source: "SST/macro, PISCES",
        limits: "Packets are not interleaved within a packet time.",
    },
    Entry {
        kind: Kind::RouterPreset,
        name: "merlin",
        line: "SST Merlin hr_router: clocked crossbar at 1.5 times the link bandwidth, 16 kB buffers, delivery at the head.",
        groups: &[],
        source: "SST, Merlin hr_router",
        limits: "One virtual network; the latency of a link is added to 20 ns in and 20 ns out.",
    },
    Entry {
        kind: Kind::RouterPreset,
        name: "codes-torus",
        line: "CODES torus: 32 B chunks, 50 ns per chunk on the link, bubble rule, 10 ns per byte on an idle interface.",
        groups: &[],
        source: "CODES, torus model",
        limits: "Made for tori with dimension order routing. Random delays are their means; a message is delivered when all of it has come.",
    },
    Entry {
        kind: Kind::RouterPreset,
        name: "codes-torus-pipelined",
        line: "The same with a pipelined router: its 50 ns leave the link to the next chunk, and nothing is charged per byte.",
        groups: &[],
        source: "CODES, torus model, with the router's delay taken off the link",
        limits: "Made for tori with dimension order routing. Random delays are their means; a message is delivered when all of it has come.",
    },
];
