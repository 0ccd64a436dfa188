//! Router presets: the timing rules of known simulators as texts of keys, the same that a user would write.
//!
//! A preset stands between the user's keys and the defaults: explicit keys override it. The values are those that the programs
//! ship or that their published runs used; what a preset cannot match is said in its registry entry.

use super::loggops;
use crate::registry::loggops::NAME;
use des::Time;
use study::diagnostic::Findings;
use study::document::{Table, Value};
use study::reader::Source;

/// Values of a router preset.
#[derive(Debug)]
pub(crate) struct Preset {
    /// Its name, as in the registry.
    pub name: &'static str,
    /// Keys of `[router]`; `model` comes first.
    pub router: &'static [(&'static str, &'static str)],
    /// Keys of `[nic]`.
    pub nic: &'static [(&'static str, &'static str)],
    /// Keys of `[link]`.
    pub link: &'static [(&'static str, &'static str)],
    /// Keys of `[routing]`.
    pub routing: &'static [(&'static str, &'static str)],
    /// A credit is a packet of this many bytes on a link and takes this time besides: the default of `credit_delay` is the sum on
    /// the slowest link.
    pub credit: Option<(u64, Time)>,
}

/// SST/macro SCULPIN: a packet waits for its output port only.
const SCULPIN: Preset = Preset {
    name: "sculpin",
    router: &[
        ("model", "sculpin"),
        ("traversal", "0 ns"),
        ("switching", "cut-through"),
        ("delivery", "tail"),
    ],
    nic: &[],
    link: &[],
    routing: &[],
    credit: None,
};

/// SST/macro PISCES: an output buffer and one at the other end of the link, each shared out to the virtual channels, no latency of its own.
const PISCES: Preset = Preset {
    name: "pisces",
    router: &[
        ("model", "credit"),
        ("architecture", "output-buffered"),
        ("traversal", "0 ns"),
        ("buffer", "64 KB"),
        ("output_buffer", "64 KB"),
        ("share_buffers", "true"),
        ("switching", "cut-through"),
        ("delivery", "tail"),
    ],
    nic: &[],
    link: &[],
    routing: &[],
    credit: None,
};

/// SST Merlin `hr_router`: 20 ns in and 20 ns out besides the link, for credits too, a crossbar clocked in flits (1.5 times the
/// fastest link unless given), 250 flits of buffer at both sides, idle outputs that start a flit's time after they are woken,
/// packets handed over at head arrival.
const MERLIN: Preset = Preset {
    name: "merlin",
    router: &[
        ("model", "credit"),
        ("architecture", "input-queued"),
        ("traversal", "40 ns"),
        ("output_latency", "20 ns"),
        ("buffer", "16 kB"),
        ("output_buffer", "16 kB"),
        ("flit", "64 B"),
        ("credits_traverse", "true"),
        ("node_credit_delay", "1 ns"),
        ("arbitration", "round-robin"),
        ("switching", "cut-through"),
        ("delivery", "head"),
    ],
    nic: &[],
    link: &[],
    routing: &[("equal", "first")],
    credit: None,
};

/// CODES torus as shipped: packets of 512 B in chunks of 32 B, 50 ns of each on the link, 16,384 B of buffer, bubble rule of two
/// chunks, 10 ns per byte for the first packet of an idle queue, credits of 8 B that skip the link latency. Every local step takes
/// 0.75 ns and a credit 0.5 ns more than its size asks: the means of the random parts, U(0.5, 1) and U(0, 1) ns.
const CODES_TORUS: Preset = Preset {
    name: "codes-torus",
    router: &[
        ("model", "credit"),
        ("architecture", "late-admission"),
        ("traversal", "50 ns"),
        ("traversal_occupies_link", "true"),
        ("vcs", "1"),
        ("buffer", "16384 B"),
        ("credit_uses_link", "false"),
        ("bubble", "2"),
        ("local_latency", "0.75 ns"),
    ],
    nic: &[
        ("packet", "512 B"),
        ("chunk", "32 B"),
        ("overhead", "10 ns"),
        ("idle_delay_per_byte", "10 ns/B"),
    ],
    link: &[("latency", "0 ns")],
    routing: &[("tie", "unwrapped")],
    credit: Some((8, Time(500))),
};

/// CODES torus with a pipelined router: the 50 ns delay a chunk but leave the link to the next, and nothing is charged per byte.
const CODES_TORUS_PIPELINED: Preset = Preset {
    name: "codes-torus-pipelined",
    router: &[
        ("model", "credit"),
        ("architecture", "late-admission"),
        ("traversal", "50 ns"),
        ("traversal_occupies_link", "false"),
        ("vcs", "1"),
        ("buffer", "16384 B"),
        ("credit_uses_link", "false"),
        ("bubble", "2"),
        ("local_latency", "0.75 ns"),
    ],
    nic: &[("packet", "512 B"), ("chunk", "32 B"), ("overhead", "10 ns")],
    ..CODES_TORUS
};

/// CODES dragonfly-dally and dragonfly-plus: 100 ns of a router, credits of 8 B that skip the link latency. A message waits 10 ns before it
/// is handed over, and two local steps of 0.755 ns in the mean. Bytes of buffers and packets are those of the runs that it was compared
/// with: the program has no defaults that are in use.
const CODES_DRAGONFLY: Preset = Preset {
    name: "codes-dragonfly",
    router: &[
        ("model", "credit"),
        ("architecture", "late-admission-vcs"),
        ("traversal", "100 ns"),
        ("buffer", "32 KiB"),
        ("credit_uses_link", "false"),
        ("arbitration", "round-robin"),
    ],
    nic: &[("packet", "4096 B"), ("overhead", "11.51 ns")],
    link: &[],
    routing: &[("congestion", "unadmitted"), ("equal", "drawn")],
    credit: Some((8, Time::ZERO)),
};

/// CODES fat-tree: the same with 50 ns of a switch, cables without length, and credits with 0.5 ns more, the mean of U(0, 1) ns.
const CODES_FAT_TREE: Preset = Preset {
    name: "codes-fat-tree",
    router: &[
        ("model", "credit"),
        ("architecture", "late-admission-vcs"),
        ("traversal", "50 ns"),
        ("buffer", "32 KiB"),
        ("credit_uses_link", "false"),
        ("arbitration", "round-robin"),
    ],
    link: &[("latency", "0 ns")],
    credit: Some((8, Time(500))),
    ..CODES_DRAGONFLY
};

/// BookSim2's `iq` router as it ships: a cycle per stage, iSLIP in one round, links of a flit per cycle that take a cycle. A flit is 8 B
/// and a cycle 1 ns here, which BookSim2 leaves open.
const BOOKSIM_IQ: Preset = Preset {
    name: "booksim-iq",
    router: &[
        ("model", "credit"),
        ("architecture", "vc-router"),
        ("flit", "8 B"),
        ("buffer", "64 B"),
        ("clock", "1 ns"),
        ("credit_delay", "1 ns"),
    ],
    nic: &[],
    link: &[("bandwidth", "8 GB/s"), ("latency", "1 ns")],
    routing: &[],
    credit: None,
};

/// CAMINOS' Basic router. A phit is a flit of 8 B and a cycle 1 ns here, and a delay of 1 is the time of a flit on a link without length.
/// Sizes are those of the runs that it was compared with: the program has none of its own.
const CAMINOS_BASIC: Preset = Preset {
    name: "caminos-basic",
    router: &[
        ("model", "credit"),
        ("architecture", "vc-router"),
        ("crossbar", "per-channel"),
        ("vc_allocator", "random-greedy"),
        ("flit", "8 B"),
        ("buffer", "512 B"),
        ("output_channel_buffer", "256 B"),
        ("clock", "1 ns"),
    ],
    nic: &[("packet", "128 B")],
    link: &[("bandwidth", "8 GB/s"), ("latency", "0 ns")],
    routing: &[],
    credit: None,
};

/// CAMINOS' InputOutput router with its allocator `iSLIP`; with `Random` it does what Basic does.
const CAMINOS_INPUTOUTPUT: Preset = Preset {
    name: "caminos-inputoutput",
    router: &[
        ("model", "credit"),
        ("architecture", "vc-router"),
        ("crossbar", "per-channel"),
        ("vc_allocator", "islip"),
        ("flit", "8 B"),
        ("buffer", "512 B"),
        ("output_channel_buffer", "256 B"),
        ("clock", "1 ns"),
    ],
    ..CAMINOS_BASIC
};

/// The LogGOPS model; all but the router model follows from its parameters.
const LOGGOPS: Preset = Preset {
    name: NAME,
    router: &[("model", "sculpin")],
    nic: &[],
    link: &[],
    routing: &[],
    credit: None,
};

/// Values of what ranks pay in a known simulator.
#[derive(Debug)]
pub(crate) struct MpiPreset {
    /// Its name, as in the registry.
    name: &'static str,
    /// Keys of `[mpi]`.
    mpi: &'static [(&'static str, &'static str)],
    /// Keys of `[nic]`.
    nic: &'static [(&'static str, &'static str)],
}

/// SST Firefly as Ember starts it, with 100 ns between host and interface.
const FIREFLY: MpiPreset = MpiPreset {
    name: "firefly",
    mpi: &[
        ("send_overhead", "130 ns"),
        ("receive_overhead", "100 ns"),
        ("eager", "12000 B"),
        ("rendezvous", "get"),
        ("header", "45 B"),
        ("control", "45 B"),
        ("copy", "free"),
        ("combine", "free"),
        ("progress", "in-calls"),
        ("enter", "30 ns"),
        ("leave", "30 ns"),
        ("match_cost", "150 ns"),
        ("pin_base", "3 us"),
        ("pin_page", "100 ns"),
        ("pin_page_bytes", "4096 B"),
        ("host_delay", "100 ns"),
        ("match_delay", "100 ns"),
        ("read_delay", "200 ns"),
        ("wakes", "once"),
        ("barrier", "heap"),
        ("bcast", "heap"),
        ("reduce", "heap"),
        ("allreduce", "heap"),
        ("alltoall", "shift"),
        ("alltoallv", "shift"),
    ],
    nic: &[
        ("overhead", "50 ns"),
        ("control", "reads-first"),
        ("reads_behind", "100"),
    ],
};

/// SST/macro with a memory and processors that are to take no time: an operation takes 1 ps, and copies three for 8 B. That decides who is
/// first where messages would come together.
const SST_MACRO: MpiPreset = MpiPreset {
    name: "sst-macro",
    mpi: &[
        ("send_overhead", "0 ns"),
        ("receive_overhead", "0 ns"),
        ("eager", "8192 B"),
        ("rendezvous", "get"),
        ("header", "0 B"),
        ("control", "64 B"),
        ("copy", "21333333333334 bit/s"),
        ("combine", "free"),
        ("progress", "in-calls"),
        ("fetch_above", "512 B"),
        ("beside", "256 B"),
        ("beside_latency", "100 ns"),
        ("beside_hop", "100 ns"),
        ("beside_groups", "sst-macro"),
        ("beside_order", "sent"),
        ("barrier", "bruck"),
        ("allreduce", "rabenseifner"),
        ("allgather", "bruck"),
    ],
    nic: &[("control", "in-order")],
};

/// All of them in the order of the registry.
const MPI_PRESETS: [&MpiPreset; 2] = [&FIREFLY, &SST_MACRO];

/// Values of what memory nodes of a known simulator are.
#[derive(Debug)]
struct MemoryPreset {
    /// Its name, as in the registry.
    name: &'static str,
    /// Keys of `work`.
    work: &'static [(&'static str, &'static str)],
}

/// SST memHierarchy with an L2 above a directory: links of 1 ns between core, own cache, bus, shared cache, directory and memory; an own
/// cache of 2 cycles and a shared one of 6 at 2 GHz, a directory of 5; bus and memory at 1 GHz, a line per cycle.
const MEMHIERARCHY: MemoryPreset = MemoryPreset {
    name: "memhierarchy",
    work: &[
        ("interfaces", crate::registry::memory::BY_PART),
        ("own_node", "through-router"),
        ("clean_writebacks", "line"),
        ("writeback_answers", "as-sent"),
        ("evict", "when-asked"),
        ("virtual_networks", "one"),
        ("issue", "250 ps"),
        ("l1_latency", "2 ns"),
        ("bus_latency", "3250 ps"),
        ("l2_latency", "4 ns"),
        ("directory_latency", "2500 ps"),
        ("memory_latency", "53500 ps"),
        ("memory_bandwidth", "64 GB/s"),
    ],
};

/// All of them in the order of the registry.
const MEMORY_PRESETS: [&MemoryPreset; 1] = [&MEMHIERARCHY];

/// What a preset of memory nodes that `work` names says of its keys.
pub(crate) fn of_memory(work: &Table) -> &'static [(&'static str, &'static str)] {
    let name = match work.get("preset").map(|item| &item.node.value) {
        Some(Value::Text(name)) => name,
        _ => return &[],
    };
    let preset = MEMORY_PRESETS.into_iter().find(|preset| preset.name == name);
    preset.map_or(&[], |preset| preset.work)
}

/// All presets in the order of the registry.
const PRESETS: [&Preset; 11] = [
    &SCULPIN,
    &PISCES,
    &MERLIN,
    &CODES_TORUS,
    &CODES_TORUS_PIPELINED,
    &CODES_DRAGONFLY,
    &CODES_FAT_TREE,
    &LOGGOPS,
    &BOOKSIM_IQ,
    &CAMINOS_BASIC,
    &CAMINOS_INPUTOUTPUT,
];

/// The preset that a study names, with what follows from its parameters.
#[derive(Debug, Default)]
pub(crate) struct ChosenPreset {
    /// The preset.
    pub preset: Option<&'static Preset>,
    /// That of `[mpi]`.
    mpi: Option<&'static MpiPreset>,
    /// Section, key and value.
    computed: Vec<(&'static str, &'static str, String)>,
}

impl ChosenPreset {
    /// That of `[router]`.
    pub(crate) fn of(root: &Table, findings: &mut Findings) -> ChosenPreset {
        let preset = named(root, "router").and_then(|name| preset(&name));
        let mpi = named(root, "mpi").and_then(|name| MPI_PRESETS.into_iter().find(|preset| preset.name == name));
        let is_model = preset.is_some_and(|preset| preset.name == NAME);
        ChosenPreset {
            preset,
            mpi,
            computed: if is_model {
                loggops::values(root, findings)
            } else {
                Vec::new()
            },
        }
    }

    /// Its values of a section.
    pub(crate) fn section(&self, section: &str) -> Vec<(&str, &str)> {
        let fixed = self.preset.map_or(&[][..], |preset| match section {
            "router" => preset.router,
            "nic" => preset.nic,
            "link" => preset.link,
            "routing" => preset.routing,
            _ => &[],
        });
        let of_mpi = self.mpi.map_or(&[][..], |preset| match section {
            "mpi" => preset.mpi,
            "nic" => preset.nic,
            _ => &[],
        });
        let computed = self.computed.iter().filter(|(own, ..)| *own == section);
        let computed = computed.map(|(_, key, text)| (*key, text.as_str()));
        let fixed = fixed.iter().filter(|(key, _)| of_mpi.iter().all(|(own, _)| own != key));
        fixed.chain(of_mpi).copied().chain(computed).collect()
    }
}

/// The preset that a section names.
fn named(root: &Table, section: &str) -> Option<String> {
    let empty = Table::default();
    let source = Source::section(root, section, &empty, &mut Findings::default());
    match source.table.get("preset").map(|item| &item.node.value) {
        Some(Value::Text(name)) => Some(name.clone()),
        _ => None,
    }
}

/// The preset with this name.
pub(crate) fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.into_iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use study::Parameter;
    use study::reader::default_value;

    /// The values of a preset, section by section.
    type OfSections<'a> = &'a [(&'a str, &'a [(&'a str, &'a str)])];

    fn takes(preset: &str, sections: OfSections<'_>) {
        for (section, values) in sections {
            let section = registry::section(section).unwrap();
            values_are_taken(preset, section.parameters.iter(), values);
        }
    }

    fn values_are_taken(
        preset: &str,
        parameters: impl Iterator<Item = &'static Parameter> + Clone,
        values: &[(&str, &str)],
    ) {
        for (key, text) in values {
            let parameter = parameters.clone().find(|parameter| parameter.key == *key);
            let parameter = parameter.unwrap_or_else(|| panic!("{preset}: {key}"));
            assert!(
                default_value(&parameter.kind, text).is_some(),
                "{preset}: {key} = {text}"
            );
        }
    }

    fn names(family: &'static study::Family) -> Vec<&'static str> {
        registry::list(family).iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn every_preset_of_the_registry_has_values_that_their_keys_take() {
        assert_eq!(names(&registry::ROUTER_PRESET), PRESETS.map(|preset| preset.name));
        for preset in PRESETS {
            let sections = [
                ("router", preset.router),
                ("nic", preset.nic),
                ("link", preset.link),
                ("routing", preset.routing),
            ];
            takes(preset.name, &sections);
        }
        assert_eq!(names(&registry::MPI_PRESET), MPI_PRESETS.map(|preset| preset.name));
        for preset in MPI_PRESETS {
            takes(preset.name, &[("mpi", preset.mpi), ("nic", preset.nic)]);
        }
        assert_eq!(
            names(&registry::MEMORY_PRESET),
            MEMORY_PRESETS.map(|preset| preset.name)
        );
        let memory = registry::find(&registry::WORK, "memory").unwrap();
        for preset in MEMORY_PRESETS {
            values_are_taken(preset.name, memory.parameters(), preset.work);
        }
    }

    #[test]
    fn a_preset_names_its_model_first() {
        assert!(PRESETS.iter().all(|preset| preset.router[0].0 == "model"));
    }
}
