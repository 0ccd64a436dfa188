//! Router presets.

use study::Entry;

pub(super) const PRESETS: &[Entry] = &[
    Entry {
        name: "sculpin",
        line: "SST/macro SCULPIN: output queueing without buffers' bounds and without traversal time.",
        groups: &[],
        source: "SST/macro, SCULPIN",
        limits: "",
    },
    Entry {
        name: "pisces",
        line: "SST/macro PISCES: output buffers and buffers behind links of 64 KB each, shared out to the channels, no traversal time.",
        groups: &[],
        source: "SST/macro, PISCES",
        limits: "Packets are not interleaved within a packet time.",
    },
    Entry {
        name: "merlin",
        line: "SST Merlin hr_router: clocked crossbar at 1.5 times the link bandwidth, 16 kB buffers, delivery at the head.",
        groups: &[],
        source: "SST, Merlin hr_router",
        limits: "One virtual network; the latency of a link is added to 20 ns in and 20 ns out.",
    },
    Entry {
        name: "codes-torus",
        line: "CODES torus: 32 B chunks, 50 ns per chunk on the link, bubble rule, 10 ns per byte on an idle interface.",
        groups: &[],
        source: "CODES, torus model",
        limits: "Made for tori with dimension order routing. Random delays are their means; a message is delivered when all of it has come.",
    },
    Entry {
        name: "codes-torus-pipelined",
        line: "The same with a pipelined router: its 50 ns leave the link to the next chunk, and nothing is charged per byte.",
        groups: &[],
        source: "CODES, torus model, with the router's delay taken off the link",
        limits: "Made for tori with dimension order routing. Random delays are their means; a message is delivered when all of it has come.",
    },
    Entry {
        name: "codes-dragonfly",
        line: "CODES dragonfly-dally and dragonfly-plus: late admission by channel, 100 ns per router behind the whole packet, queues of 32 KiB, packets of 4 KiB.",
        groups: &[],
        source: "CODES, dragonfly-dally and dragonfly-plus",
        limits: "Random delays stand at their means or, below 1 ns, are left out.",
    },
    Entry {
        name: "codes-fat-tree",
        line: "CODES fat-tree: the same with 50 ns per switch and cables without latency.",
        groups: &[],
        source: "CODES, fat-tree",
        limits: "Random delays stand at their means; a delay by software (soft_delay) belongs into nic.overhead.",
    },
    Entry {
        name: "loggops",
        line: "The LogGOPS model: latency L, overhead o, gap g, gap per byte G, overhead per byte O, and S, as keys of [router], with the values of LogGOPSim.",
        groups: &[],
        source: "Hoefler, Schneider, Lumsdaine: LogGOPSim - Simulating Large-Scale Applications in the LogGOPS Model (2010)",
        limits: "Made for a single router. The gap is kept by who sends; a message above S takes two control messages more; messages to one node share its link.",
    },
    Entry {
        name: "booksim-iq",
        line: "BookSim2 iq router: flits of 8 B, buffers of 8 flits, a cycle of 1 ns per stage, iSLIP, links of a flit per cycle.",
        groups: &[],
        source: "BookSim2, routers/iq_router",
        limits: "Routings are those of fabricsim unless one of BookSim2's own is named; virtual channels are as many as router.vcs says.",
    },
    Entry {
        name: "caminos-basic",
        line: "CAMINOS Basic router: flits (phits) of 8 B, buffers of 64, of 32 per output channel, packets of 16; a flit per channel crosses in a cycle of 1 ns.",
        groups: &[],
        source: "CAMINOS, router/basic.rs",
        limits: "Routings are those of fabricsim unless one of CAMINOS' own is named; sizes are those of the runs that it was compared with.",
    },
    Entry {
        name: "caminos-inputoutput",
        line: "CAMINOS InputOutput router: the same with channels given in turn (iSLIP).",
        groups: &[],
        source: "CAMINOS, router/input_output.rs",
        limits: "As caminos-basic, which it is with the allocator Random; the crossbar has the clock of the links and no delay.",
    },
];
