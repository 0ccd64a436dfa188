//! Broken studies: every file of the folder `broken_studies` has all of its errors found, each at its line and key, with a
//! reason and a hint that help.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use vocabulary::{LoadOptions, Severity, load_study, render};

/// Line, key, part of the reason, part of the hint.
type Expected = (u32, &'static str, &'static str, &'static str);

/// File and all of its errors in order. An empty part fits any text.
const CASES: &[(&str, &[Expected])] = &[
    ("empty", &[(1, "topology", "is missing", "add [topology]")]),
    ("only_a_comment", &[(1, "topology", "is missing", "add [topology]")]),
    ("not_utf8", &[(2, "", "byte 0xE9 is not UTF-8", "UTF-8")]),
    ("binary_junk", &[(1, "", "byte 0xFF is not UTF-8", "UTF-8")]),
    ("nul_characters", &[(1, "", "", "")]),
    ("unclosed_text", &[(4, "", "basic string", "in quotes")]),
    ("unclosed_list", &[(3, "", "array", "[1, 2, 3]")]),
    ("value_without_quotes", &[(5, "", "must be quoted", "\"90 ns\"")]),
    ("word_without_quotes", &[(5, "", "quoted", "in quotes")]),
    ("key_given_twice", &[(6, "", "duplicate key", "given once")]),
    ("section_opened_twice", &[(6, "", "duplicate key", "opened once")]),
    (
        "two_syntax_errors",
        &[(5, "", "invalid float", "quotes"), (7, "", "quoted", "quotes")],
    ),
    ("json_instead_of_toml", &[(1, "", "", "")]),
    (
        "integer_beyond_64_bits",
        &[(5, "run.seed", "64-bit", "9223372036854775807")],
    ),
    ("number_not_finite", &[(5, "job[0].work.load", "infinite", "finite")]),
    (
        "unknown_section",
        &[(4, "routting", "unknown key", "did you mean `routing`")],
    ),
    ("name_is_a_number", &[(1, "name", "must be a text", "name =")]),
    ("name_is_empty", &[(1, "name", "is empty", "name")]),
    (
        "section_is_a_value",
        &[(1, "router", "must be a table, not a text", "[router]")],
    ),
    (
        "job_with_one_bracket",
        &[(4, "job", "must be a list of tables", "two brackets")],
    ),
    ("job_list_is_empty", &[(1, "job", "there is no job", "[[job]]")]),
    ("topology_without_kind", &[(1, "topology.kind", "is missing", "torus")]),
    (
        "topology_kind_misspelt",
        &[(
            2,
            "topology.kind",
            "unknown kind \"dragonfy\"",
            "did you mean `dragonfly`",
        )],
    ),
    (
        "topology_shape_missing",
        &[(1, "topology.shape", "is missing", "shape = [4, 4]")],
    ),
    (
        "topology_key_misspelt",
        &[(
            4,
            "topology.nodes_per_rooter",
            "unknown key",
            "did you mean `nodes_per_router`",
        )],
    ),
    (
        "topology_key_of_another_kind",
        &[(4, "topology.groups", "unknown key", "known keys: shape, width")],
    ),
    (
        "shape_is_a_text",
        &[(
            3,
            "topology.shape",
            "must be a list of whole numbers, not a text",
            "[4, 4]",
        )],
    ),
    (
        "shape_has_a_zero",
        &[(3, "topology.shape[1]", "0 is too small", "smallest value is 1")],
    ),
    (
        "shape_has_a_fraction",
        &[(3, "topology.shape[1]", "whole number, not a number", "list")],
    ),
    (
        "shape_over_several_lines",
        &[(5, "topology.shape[1]", "0 is too small", "1")],
    ),
    ("shape_is_empty", &[(3, "topology.shape", "0 dimensions", "shape =")]),
    (
        "width_of_other_length",
        &[(4, "topology.width", "3 widths for 2 dimensions", "one width")],
    ),
    ("ring_of_two", &[(3, "topology.routers", "2 is too small", "3")]),
    (
        "negative_nodes",
        &[(4, "topology.nodes_per_router", "-1 is too small", "1")],
    ),
    (
        "network_without_nodes",
        &[(4, "topology.nodes_per_router", "0 is too small", "1")],
    ),
    ("network_too_large", &[(3, "topology.shape", "nodes", "")]),
    (
        "dragonfly_of_no_group",
        &[(3, "topology.groups", "0 is too small", "1")],
    ),
    (
        "dragonfly_3d_group",
        &[(4, "topology.routers_per_group", "3 numbers", "rows and columns")],
    ),
    (
        "seed_without_random_arrangement",
        &[(
            5,
            "topology.seed",
            "no meaning with arrangement = \"absolute\"",
            "topology.arrangement = \"random\"",
        )],
    ),
    (
        "fat_tree_levels",
        &[(4, "topology.up", "1 entries, 3 levels need 2", "each level")],
    ),
    (
        "cost_with_mistakes",
        &[
            (3, "cost.port_price", "has no unit", "350 USD"),
            (4, "cost.port_powr", "unknown key", "did you mean `port_power`"),
            (5, "cost.router_power", "a price, not a power", "2.8 W"),
            (7, "cost.layout.rows", "too small", "1"),
            (8, "cost.layout.slack", "a time, not a length", "2 m"),
            (9, "cost.optcal", "unknown table", "did you mean `optical`"),
            (12, "cost.electrical.per", "unknown per", "bandwidth"),
        ],
    ),
    (
        "failures_that_are_not_there",
        &[
            (3, "fail.cables[0]", "no cable is called `(0,0) x-`", "`(0,0) x+`"),
            (4, "fail.routers[0]", "no router is called `(9,9)`", "as `(0,0)` is"),
            (5, "fail.nodes[0]", "no node 9", "0 to 8"),
            (6, "fail.groups[0]", "no group 7", "0 to 2"),
        ],
    ),
    (
        "racks_that_are_not_there",
        &[
            (5, "fail.racks", "no rack 3", "0 to 2"),
            (8, "outage[0].racks", "no rack 7", "0 to 2"),
            (12, "outage[1].racks", "no rack 7", "0 to 2"),
        ],
    ),
    (
        "failures_drawn_wrongly",
        &[
            (4, "fail.share", "beside `count`", "one of the two"),
            (5, "fail.clas", "unknown key", "did you mean `class`"),
        ],
    ),
    (
        "failures_of_nothing",
        &[
            (3, "fail.of", "nothing is drawn", "count = 1"),
            (4, "fail.seed", "nothing is drawn", "count = 1"),
        ],
    ),
    ("lanes_of_no_cable", &[(4, "fail.keeps", "none fails", "count = 1")]),
    (
        "too_many_failures",
        &[(3, "fail.count", "13 cables are to fail, 6 are left", "fewer")],
    ),
    (
        "failures_of_an_unknown_class",
        &[(4, "fail.class", "`up1`", "classes of cables between routers are x, y")],
    ),
    (
        "outages_that_are_not_there",
        &[
            (5, "outage[0].cables[0]", "no cable is called `(0,0) x-`", "`(0,0) x+`"),
            (8, "outage[1].until", "is not behind `at`", "a later time"),
            (11, "outage[2]", "nothing fails in it", "name cables"),
            (14, "outage[3].at", "is missing", "add at"),
            (17, "outage[4].share", "beside `count`", "one of the two"),
            (23, "outage[5].of", "nothing is drawn", "count = 1"),
        ],
    ),
    (
        "time_of_no_retransmission",
        &[(3, "nic.retransmit_after", "nothing is", "how often")],
    ),
    (
        "outage_of_lanes_of_a_router",
        &[
            (5, "outage[0].routers", "no meaning where cables live on", "two outages"),
            (
                10,
                "outage[1].reroute",
                "no meaning where cables live on",
                "two outages",
            ),
        ],
    ),
    (
        "outage_is_a_table",
        &[(3, "outage", "must be a list of tables", "[[outage]]")],
    ),
    (
        "cost_part_is_a_value",
        &[
            (3, "cost.layout", "must be a table, not a whole number", "[cost.layout]"),
            (4, "cost.port_power", "not a table", "port_power = \"2.8 W\""),
        ],
    ),
    (
        "taper_of_a_dragonfly",
        &[(
            5,
            "topology.taper",
            "3 other groups cannot have as many",
            "links_per_pair = 1 in its place",
        )],
    ),
    (
        "taper_of_a_dragonfly_beside_links",
        &[(6, "topology.taper", "stands beside `links_per_pair`", "remove")],
    ),
    (
        "taper_of_a_single_group",
        &[(5, "topology.taper", "no global cables", "more groups")],
    ),
    (
        "taper_of_a_torus",
        &[(4, "topology.taper", "is no key of a torus", "width")],
    ),
    (
        "taper_of_a_hyperx",
        &[(4, "topology.taper", "ask for 0.250 cables", "width = [2, 1, 1]")],
    ),
    (
        "taper_of_a_hyperx_beside_width",
        &[(5, "topology.taper", "stands beside `width`", "remove")],
    ),
    (
        "taper_of_a_preset_not_a_divisor",
        &[(3, "topology.taper", "has 32, which 3", "give up in its place")],
    ),
    (
        "taper_of_a_preset_of_a_hyperx",
        &[(3, "topology.taper", "has 1, which 2", "give width in its place")],
    ),
    (
        "fat_tree_taper_and_up",
        &[(5, "topology.taper", "stands beside `up`", "remove")],
    ),
    (
        "fat_tree_taper_not_a_divisor",
        &[(4, "topology.taper", "cannot share", "divisor")],
    ),
    (
        "graph_file_missing",
        &[(
            3,
            "topology.file",
            "cannot read \"no/such/file.txt\"",
            "relative to the study",
        )],
    ),
    (
        "graph_file_is_a_folder",
        &[(3, "topology.file", "not a file", "relative")],
    ),
    (
        "topology_preset_unknown",
        &[(2, "topology.preset", "unknown preset \"no-such-machine\"", "")],
    ),
    (
        "bandwidth_bare_number",
        &[(
            5,
            "link.bandwidth",
            "bare number 25 has no unit, a bandwidth is needed",
            "25 GB/s",
        )],
    ),
    (
        "latency_bare_fraction",
        &[(5, "link.latency", "bare number 0.1", "90 ns")],
    ),
    (
        "bandwidth_without_unit",
        &[(5, "link.bandwidth", "has no unit", "Gbit/s")],
    ),
    (
        "bandwidth_for_a_time",
        &[(5, "link.latency", "is a bandwidth, not a time", "90 ns")],
    ),
    ("bandwidth_zero", &[(5, "link.bandwidth", "is zero", "at least")]),
    (
        "bandwidth_negative",
        &[(5, "link.bandwidth", "negative", "zero or more")],
    ),
    (
        "bandwidth_ambiguous_b",
        &[(5, "link.bandwidth", "unknown unit \"Gb/s\"", "Gbit/s")],
    ),
    (
        "time_below_a_picosecond",
        &[(5, "link.latency", "not a whole number of picoseconds", "0 ps")],
    ),
    ("time_too_long", &[(5, "link.latency", "too large", "\"1 s\"")]),
    ("time_overflow", &[(5, "run.end", "too large", "90 ns")]),
    (
        "costs_out_of_order",
        &[(7, "mpi.costs", "8192 B come after 65536 B", "sort")],
    ),
    (
        "costs_row_too_short",
        &[
            (
                7,
                "mpi.costs[0]",
                "has 2 values, a row has 3: upto, overhead, per_byte",
                "400 ns",
            ),
            (7, "mpi.costs[1]", "must be a list of rows", "[["),
        ],
    ),
    (
        "costs_bare_numbers",
        &[
            (7, "mpi.costs[0].upto", "8192 has no unit", "8192 KiB"),
            (7, "mpi.costs[0].per_byte", "0.1 has no unit", "ns/B"),
            (7, "mpi.costs[1].overhead", "a time per byte, not a time", "90 ns"),
            (
                7,
                "mpi.costs[1].per_byte",
                "a bandwidth, not a time per byte",
                "0.05 ns/B",
            ),
        ],
    ),
    (
        "costs_beside_overheads",
        &[
            (7, "mpi.costs", "progress = \"always\"", "remove"),
            (8, "mpi.send_overhead", "no meaning with mpi.costs", "remove"),
        ],
    ),
    (
        "costs_empty",
        &[(7, "mpi.costs", "the list is empty", "a list of rows")],
    ),
    ("packet_zero", &[(5, "nic.packet", "is zero", "\"1 B\"")]),
    ("packet_too_large", &[(5, "nic.packet", "too large", "64 KiB")]),
    (
        "time_per_byte_without_byte",
        &[(
            5,
            "nic.idle_delay_per_byte",
            "is a time, not a time per byte",
            "10 ns/B",
        )],
    ),
    (
        "link_class_unknown",
        &[(4, "link.global", "not a link class", "host, x, y")],
    ),
    (
        "link_class_misspelt",
        &[(5, "link.globl", "not a link class", "did you mean `global`")],
    ),
    (
        "link_key_in_class",
        &[(5, "link.x.latncy", "unknown key", "did you mean `latency`")],
    ),
    (
        "router_model_misspelt",
        &[(5, "router.model", "unknown model \"credits\"", "did you mean `credit`")],
    ),
    (
        "router_preset_unknown",
        &[(5, "router.preset", "unknown preset", "\"merlin\"")],
    ),
    (
        "memory_preset_unknown",
        &[(5, "job[0].work.preset", "unknown preset", "\"memhierarchy\"")],
    ),
    (
        "own_node_through_the_router_with_one_interface",
        &[(5, "job[0].work.own_node", "the same interfaces", "caches-and-memory")],
    ),
    ("chunk_for_voq", &[(5, "nic.chunk", "late-admission", "remove")]),
    (
        "chunk_larger_than_a_packet",
        &[(7, "nic.chunk", "which has 512 B", "smaller")],
    ),
    (
        "late_admission_with_other_keys",
        &[
            (6, "router.vcs", "one virtual channel", "remove"),
            (7, "router.switching", "no meaning", "remove"),
            (8, "router.arbitration", "no meaning", "remove"),
            (10, "nic.bandwidth", "no meaning", "remove"),
        ],
    ),
    ("tie_for_minimal", &[(6, "routing.tie", "kind = \"minimal\"", "dor")]),
    (
        "local_latency_for_voq",
        &[(5, "router.local_latency", "architecture = \"voq\"", "late-admission")],
    ),
    (
        "router_preset_and_other_model",
        &[(6, "router.model", "preset \"merlin\" is a credit router", "remove")],
    ),
    (
        "buffer_for_sculpin",
        &[(
            6,
            "router.buffer",
            "no meaning with model = \"sculpin\"",
            "router.model = \"credit\"",
        )],
    ),
    ("host_buffer_for_sculpin", &[(7, "nic.buffer", "no meaning", "credit")]),
    (
        "crossbar_for_voq",
        &[(
            5,
            "router.crossbar_bandwidth",
            "no meaning with architecture = \"voq\"",
            "input-queued",
        )],
    ),
    (
        "bubble_for_input_queued",
        &[(6, "router.bubble", "architecture = \"input-queued\"", "late-admission")],
    ),
    ("vcs_too_many", &[(5, "router.vcs", "64 is too large", "63")]),
    (
        "vcs_in_quotes",
        &[(5, "router.vcs", "must be \"auto\" or a whole number", "vcs =")],
    ),
    (
        "vcs_auto_misspelt",
        &[(5, "router.vcs", "is not \"auto\"", "did you mean `auto`")],
    ),
    (
        "buffer_smaller_than_a_packet",
        &[(
            5,
            "router.buffer",
            "1 KiB cannot hold a packet of 2 KiB",
            "larger buffer",
        )],
    ),
    (
        "bubble_needs_two_packets",
        &[(7, "router.buffer", "cannot hold 2 packets", "larger buffer")],
    ),
    (
        "flag_in_quotes",
        &[(
            5,
            "router.credit_uses_link",
            "must be true or false, not a text",
            "true",
        )],
    ),
    (
        "fat_tree_with_too_many_ports",
        &[(4, "topology.down", "30000 ports to routers and 60000 nodes", "65,535")],
    ),
    (
        "access_beyond_the_end_of_time",
        &[(
            7,
            "job[0].work.table",
            "row 1: time_ps is 1000000000000000000",
            "simulated time ends",
        )],
    ),
    (
        "spread_of_no_perturbed_runs",
        &[(6, "run.perturb_spread", "without perturbed runs", "run.perturb")],
    ),
    (
        "starts_that_cannot_be",
        &[
            (8, "job[0].start", "has no MPI ranks", "motif"),
            (12, "job[1].start.spread", "", ""),
            (17, "job[2].start", "has no key `spread`", "spread ="),
            (17, "job[2].start.sprad", "unknown key", "did you mean `spread`"),
            (22, "job[3].start", "in-phrase", "did you mean `in-phase`"),
            (23, "job[3].work.order", "shufled", "did you mean `shuffled`"),
        ],
    ),
    (
        "routing_misspelt",
        &[(5, "routing.kind", "unknown kind \"valient\"", "did you mean `valiant`")],
    ),
    (
        "routing_not_for_this_topology",
        &[(6, "routing.kind", "needs a ring, mesh, torus or hyperx", "minimal")],
    ),
    (
        "rdr_on_a_hyperx",
        &[(5, "routing.kind", "needs a ring, mesh or torus", "minimal")],
    ),
    ("vdal_on_a_torus", &[(5, "routing.kind", "needs a hyperx", "valiant")]),
    (
        "scatter_on_a_hyperx",
        &[(5, "routing.kind", "needs a fat-tree", "min-random")],
    ),
    (
        "adaptive_up_with_detours",
        &[
            (7, "routing.ratio", "has no meaning", "\"doal\""),
            (8, "routing.via", "has no meaning", "\"valiant\""),
        ],
    ),
    (
        "adaptive_local_for_less_room",
        &[(7, "routing.ratio", "idle network", "1 or more")],
    ),
    (
        "adaptive_local_on_a_fat_tree",
        &[(6, "routing.kind", "needs a dragonfly", "minimal")],
    ),
    (
        "ugal_of_other_routers",
        &[(6, "routing.scope", "its own state only", "local")],
    ),
    (
        "parx_on_a_torus",
        &[(5, "routing.kind", "needs a hyperx of two dimensions", "minimal")],
    ),
    (
        "lanes_for_updn",
        &[
            (6, "routing.lanes", "has no meaning", "\"dfsssp\""),
            (7, "routing.path", "\"last\"", "\"round-robin\""),
        ],
    ),
    ("tables_without_a_file", &[(4, "routing.file", "is missing", "")]),
    (
        "tables_in_a_missing_file",
        &[(6, "routing.file", "cannot read", "study's folder")],
    ),
    (
        "torus_in_a_missing_file",
        &[(6, "routing.torus", "cannot read", "study's folder")],
    ),
    (
        "torus_of_a_wrong_file",
        &[
            (6, "routing.torus", "line 1: z: a number lacks", "x, y and z"),
            (6, "routing.torus", "line 3: no such keyword: `x_gate`", "x_dateline"),
        ],
    ),
    (
        "torus_for_another_engine",
        &[(6, "routing.torus", "has no meaning with", "torus-2qos")],
    ),
    (
        "small_below_for_any_size",
        &[(7, "routing.small_below", "by-size", "routing.path")],
    ),
    (
        "load_zero",
        &[(5, "job[0].work.load", "0 is outside the range", "above 0")],
    ),
    (
        "load_in_percent",
        &[(5, "job[0].work.load", "80 is outside the range", "at most 2")],
    ),
    (
        "load_in_quotes",
        &[(5, "job[0].work.load", "must be a number", "load = 0.5")],
    ),
    (
        "pattern_misspelt",
        &[(
            5,
            "job[0].work.kind",
            "unknown kind \"unifrom\"",
            "did you mean `uniform`",
        )],
    ),
    (
        "pattern_key_of_another",
        &[(5, "job[0].work.by", "unknown key", "load")],
    ),
    ("message_zero", &[(5, "job[0].work.message", "is zero", "1 B")]),
    (
        "work_is_a_text",
        &[(5, "job[0].work", "must be a table", "kind = \"uniform\"")],
    ),
    (
        "process_without_load",
        &[(5, "job[0].work.process", "no meaning without load", "add load")],
    ),
    (
        "shift_round_the_end",
        &[(5, "job[0].work.by", "16 is too large for 16 nodes", "15")],
    ),
    (
        "transpose_not_square",
        &[(5, "job[0].work.kind", "square number of nodes", "nodes = 9")],
    ),
    ("incast_too_many", &[(5, "job[0].work.sources", "too large", "15")]),
    (
        "partners_to_itself",
        &[(
            5,
            "job[0].work.table",
            "row 1: node 3 sends to itself",
            "leave the row out",
        )],
    ),
    (
        "partners_beyond",
        &[(5, "job[0].work.table", "row 0: there is no node 16", "0 to 15")],
    ),
    (
        "partners_without_rows",
        &[(5, "job[0].work.table", "the table has no row", "a row for each")],
    ),
    (
        "partners_without_table",
        &[(5, "job[0].work.file", "there is no table of partners", "`table`")],
    ),
    (
        "matrix_twice",
        &[(
            5,
            "job[0].work.table",
            "row 1: the weight from 0 to 1 comes twice",
            "add them up",
        )],
    ),
    (
        "matrix_negative",
        &[(5, "job[0].work.table", "row 0: weight is \"-2\"", "a number from 0")],
    ),
    (
        "matrix_of_nothing",
        &[(5, "job[0].work.table", "no weight above 0", "each pair that talks")],
    ),
    (
        "matrix_without_blocks",
        &[(5, "job[0].work.blocks", "is missing", "blocks = [8, 8]")],
    ),
    (
        "matrix_other_blocks",
        &[(5, "job[0].work.blocks", "has 8 nodes, the job has 16", "every node")],
    ),
    (
        "matrix_blocks_of_nodes",
        &[(5, "job[0].work.blocks", "has no meaning with of = \"nodes\"", "blocks")],
    ),
    (
        "mixed_without_parts",
        &[(5, "job[0].work.parts", "is missing", "add parts = [")],
    ),
    (
        "mixed_empty",
        &[(5, "job[0].work.parts", "the list is empty", "a list of tables")],
    ),
    (
        "mixed_in_itself",
        &[(
            5,
            "job[0].work.parts[0].kind",
            "unknown kind \"mixed\"",
            "one of \"uniform\"",
        )],
    ),
    (
        "mixed_load_of_a_part",
        &[(
            5,
            "job[0].work.parts[1].load",
            "unknown key",
            "known keys: by, share, message",
        )],
    ),
    (
        "mixed_misspelt_part",
        &[(
            5,
            "job[0].work.parts[0].kind",
            "unknown kind \"unifrom\"",
            "did you mean `uniform`?",
        )],
    ),
    (
        "mixed_part_without_kind",
        &[(5, "job[0].work.parts[0].kind", "is missing", "add kind = \"uniform\"")],
    ),
    (
        "mixed_part_that_does_not_fit",
        &[(5, "job[0].work.parts[0].sources", "too large", "15")],
    ),
    (
        "bit_reverse_of_others",
        &[(
            6,
            "job[0].work.kind",
            "needs a power of two nodes, there are 12",
            "nodes = 8",
        )],
    ),
    (
        "window_with_load",
        &[(5, "job[0].work.window", "has no meaning with load", "remove one")],
    ),
    (
        "window_with_process",
        &[(5, "job[0].work.process", "has no meaning with window", "remove process")],
    ),
    (
        "reply_without_window",
        &[(5, "job[0].work.reply", "has no meaning without window", "window = 1")],
    ),
    (
        "bernoulli_beyond_one",
        &[(5, "job[0].work.load", "is more than a message in each slot", "load = 1")],
    ),
    (
        "slot_of_poisson",
        &[(
            5,
            "job[0].work.slot",
            "has no meaning with process = \"poisson\"",
            "bernoulli",
        )],
    ),
    (
        "burst_below_one",
        &[(5, "job[0].work.burst", "is less than one message", "1 or more")],
    ),
    (
        "peak_below_load",
        &[(5, "job[0].work.peak", "is less than the mean load", "at least load")],
    ),
    (
        "graph_of_nothing",
        &[(1, "topology.file", "is missing", "a cable per line")],
    ),
    (
        "graph_twice",
        &[(4, "topology.text", "there is a file as well", "one of them")],
    ),
    (
        "graph_fabric_as_text",
        &[(3, "topology.format", "needs a file", "file in place of text")],
    ),
    ("graph_text_of_one_word", &[(4, "topology.text", "line 2:", "")]),
    (
        "hot_spot_fraction",
        &[(5, "job[0].work.fraction", "1.5 is outside", "at most 1")],
    ),
    (
        "job_too_large",
        &[(5, "job[0].nodes", "needs 17 nodes, the network has 16", "fewer nodes")],
    ),
    (
        "jobs_too_large_together",
        &[(7, "job[1].nodes", "need 17 nodes, the network has 16", "fewer")],
    ),
    (
        "job_of_one_node",
        &[(5, "job[0].nodes", "nobody to talk to", "at least 2")],
    ),
    (
        "all_nodes_beside_another_job",
        &[(4, "job[0].nodes", "takes all nodes", "number of nodes")],
    ),
    ("job_names_equal", &[(8, "job[1].name", "name of job[0]", "own name")]),
    ("job_name_with_dots", &[(5, "job[0].name", "is not a name", "letters")]),
    (
        "placement_unknown",
        &[(5, "job[0].placement", "unknown placement", "\"random\"")],
    ),
    (
        "placement_kind_unknown",
        &[(5, "job[0].placement.kind", "unknown kind", "did you mean `strided`?")],
    ),
    (
        "placement_without_kind",
        &[(5, "job[0].placement.kind", "is missing", "kind = \"strided\"")],
    ),
    (
        "placement_no_text",
        &[(
            5,
            "job[0].placement",
            "or a table with kind",
            "write placement = \"linear\"",
        )],
    ),
    (
        "placement_without_stride",
        &[(5, "job[0].placement.stride", "is missing", "add stride = 4")],
    ),
    (
        "placement_key_unknown",
        &[(5, "job[0].placement.chunk", "unknown key", "known keys: stride")],
    ),
    (
        "placement_stride_too_large",
        &[(
            5,
            "job[0].placement.stride",
            "a stride of 16 leads nowhere",
            "stride = 1 to 15",
        )],
    ),
    (
        "placement_chunk_too_large",
        &[(
            5,
            "job[0].placement.chunk",
            "chunks of 17 nodes do not fit",
            "chunk = 1 to 16",
        )],
    ),
    (
        "placement_without_groups",
        &[(5, "job[0].placement", "this network has no groups", "dragonfly")],
    ),
    (
        "placement_file_missing",
        &[(5, "job[0].placement.file", "cannot read \"no/such.csv\"", "relative")],
    ),
    (
        "placement_file_bad",
        &[
            (
                5,
                "job[0].placement.file",
                "line 4: \"2,x\" is not two node numbers",
                "a comma",
            ),
            (
                5,
                "job[0].placement.file",
                "line 5: \"9\" is not two node numbers",
                "a comma",
            ),
        ],
    ),
    (
        "placement_file_header",
        &[(
            5,
            "job[0].placement.file",
            "line 1: the header is \"rank,node\"",
            "logical,physical",
        )],
    ),
    (
        "placement_file_few",
        &[(
            5,
            "job[0].placement.file",
            "2 nodes are not enough, the job has 4: logical node 1 is missing",
            "0 to 3",
        )],
    ),
    (
        "placement_file_twice",
        &[
            (
                5,
                "job[0].placement.file",
                "line 3: logical node 0 has a node already, in line 2",
                "keep one",
            ),
            (
                5,
                "job[0].placement.file",
                "line 4: node 5 is that of logical node 0 already, in line 2",
                "of its own",
            ),
            (
                5,
                "job[0].placement.file",
                "line 5: the job has no logical node 7",
                "0 to 3",
            ),
            (5, "job[0].placement.file", "line 6: there is no node 20", "0 to 15"),
        ],
    ),
    (
        "pairs_beyond_the_job",
        &[(
            5,
            "job[0].work.pairs[1]",
            "node 16 is not one of the 16 nodes",
            "0 to 15",
        )],
    ),
    (
        "pair_with_itself",
        &[(5, "job[0].work.pairs[0]", "talk to itself", "two different")],
    ),
    (
        "pair_of_three",
        &[(5, "job[0].work.pairs[0]", "not a pair", "[sender, receiver]")],
    ),
    (
        "pairs_listed_without_list",
        &[(5, "job[0].work.pairs", "there is no pair", "pairs = [[0, 1]]")],
    ),
    (
        "batch_without_batch_mode",
        &[(
            5,
            "job[0].work.batch",
            "no meaning with mode = \"stream\"",
            "mode = \"batch\"",
        )],
    ),
    (
        "active_beyond_the_job",
        &[(5, "job[0].work.active", "17 is too large", "16")],
    ),
    ("seeds_empty", &[(5, "run.seeds", "there is no seed", "seeds = [1]")]),
    ("seeds_twice", &[(5, "run.seeds", "1 is there twice", "remove")]),
    ("seed_and_seeds", &[(6, "run.seed", "beside `seeds`", "keep one")]),
    ("seed_negative", &[(5, "run.seed", "too small", "0")]),
    ("end_done_without_end", &[(5, "run.end", "never comes", "count")]),
    ("end_zero", &[(5, "run.end", "is zero", "1 ps")]),
    (
        "end_word_misspelt",
        &[(5, "run.end", "\"dome\"", "did you mean `done`")],
    ),
    (
        "warmup_after_the_end",
        &[(5, "run.warmup", "nothing to measure", "run.end")],
    ),
    (
        "stall_before_a_packet_is_through",
        &[(7, "run.stall_after", "count as a stall", "16384.2 us")],
    ),
    (
        "engine_unknown",
        &[(5, "run.engine", "unknown engine", "\"sequential\"")],
    ),
    ("workers_zero", &[(5, "run.workers", "too small", "1")]),
    (
        "observe_messages",
        &[(
            5,
            "observe.messages",
            "\"all\" is not \"summary\" or \"full\" or",
            "messages = true",
        )],
    ),
    (
        "drain_without_end",
        &[(7, "run.drain", "no meaning without an end", "run.end")],
    ),
    (
        "sweep_of_one_value",
        &[(5, "sweep.routing.kind", "must be a list of values", "brackets")],
    ),
    (
        "sweep_names_twice",
        &[(7, "sweep.router.name", "is \"deep\" of another value", "of its own")],
    ),
    (
        "sweep_name_is_a_number",
        &[(5, "sweep.router.name", "must be a text, not a whole number", "name =")],
    ),
    ("sweep_name_is_empty", &[(5, "sweep.router.name", "is empty", "name =")]),
    (
        "sweep_of_a_named_value_twice",
        &[(5, "sweep.router", "stands twice", "remove one")],
    ),
    (
        "sweep_of_nothing",
        &[(5, "sweep.routing.kind", "no value to sweep over", "at least one")],
    ),
    (
        "sweep_of_unknown_section",
        &[(5, "sweep.ruoter.vcs", "not a key path", "did you mean `router`")],
    ),
    (
        "sweep_without_section",
        &[(5, "sweep.vcs", "not a key path", "did you mean `router.vcs`")],
    ),
    (
        "sweep_of_unknown_key",
        &[(5, "link.bandwith", "unknown key", "did you mean `bandwidth`")],
    ),
    (
        "sweep_with_one_bad_value",
        &[(6, "link.bandwidth", "unknown unit \"parsecs\"", "GB/s")],
    ),
    (
        "sweep_of_a_job_that_is_not_there",
        &[(5, "job.1.nodes", "no element \"1\"; it has 0", "path")],
    ),
    (
        "sweep_into_a_value",
        &[(5, "topology.kind.x", "`topology.kind` is a text", "path")],
    ),
    (
        "sweep_of_a_value_twice",
        &[(
            6,
            "sweep.router.vcs",
            "stands twice among the values",
            "run.seeds repeats runs",
        )],
    ),
    ("sweep_twice", &[(6, "sweep.router.vcs", "is swept twice", "remove")]),
    (
        "sweep_overlapping",
        &[(6, "sweep.router.buffer", "`router` change the same keys", "remove")],
    ),
    (
        "sweep_together_too_few",
        &[(
            5,
            "sweep.routing.kind, router.vcs",
            "1 values for 2 keys",
            "a list of values for each point",
        )],
    ),
    (
        "sweep_together_no_list",
        &[(
            5,
            "sweep.routing.kind, router.vcs",
            "2 keys need 2 values, not a text",
            "a list of values for each point",
        )],
    ),
    (
        "sweep_together_twice",
        &[(5, "sweep.router.vcs", "`router` change the same keys", "remove")],
    ),
    (
        "sample_without_points",
        &[(4, "sample.points", "is missing", "add points")],
    ),
    (
        "sample_without_keys",
        &[(4, "sample", "no key to sample", "link.bandwidth")],
    ),
    ("sample_of_no_points", &[(5, "sample.points", "0 is too small", "1")]),
    (
        "sample_of_too_many_points",
        &[(5, "sample.points", "too large", "100000")],
    ),
    (
        "sample_of_too_many_sobol_points",
        &[(5, "sample.points", "65537 is too large for sobol", "latin-hypercube")],
    ),
    (
        "sample_of_unknown_method",
        &[(6, "sample.method", "unknown method", "did you mean `sobol`")],
    ),
    (
        "sample_ends_exchanged",
        &[(6, "sample.link.bandwidth.to", "below from", "exchange")],
    ),
    (
        "sample_of_one_value",
        &[(6, "sample.link.latency.to", "the same as from", "own section")],
    ),
    (
        "sample_log_of_zero",
        &[(6, "sample.link.latency.from", "has no zero", "linear")],
    ),
    (
        "sample_unknown_unit",
        &[(6, "sample.link.latency.from", "unknown unit", "ns")],
    ),
    (
        "sample_bare_number",
        &[(6, "sample.link.latency.from", "bare number 1 has no unit", "1 ns")],
    ),
    (
        "sample_beyond_the_key",
        &[(6, "sample.link.bandwidth.to", "too large", "largest value")],
    ),
    (
        "sample_unknown_scale",
        &[(6, "sample.link.latency.scale", "unknown scale \"lag\"", "\"linear\"")],
    ),
    (
        "sample_unknown_word",
        &[(6, "sample.link.latency.skale", "unknown key", "did you mean `scale`")],
    ),
    (
        "sample_without_end",
        &[(6, "sample.link.latency.to", "is missing", "add to")],
    ),
    (
        "sample_of_names",
        &[(6, "sample.routing.kind", "has no order", "values")],
    ),
    (
        "sample_of_a_list",
        &[(6, "sample.routing.kind", "must be a range, not a list", "values")],
    ),
    (
        "sample_of_nothing",
        &[(6, "sample.routing.kind.values", "no value to sample", "at least one")],
    ),
    (
        "sample_values_and_ends",
        &[(6, "sample.router.vcs.from", "no meaning beside values", "remove")],
    ),
    (
        "sample_step_too_large",
        &[(6, "sample.router.vcs.step", "larger than the range", "smaller")],
    ),
    (
        "sample_step_of_nothing",
        &[(6, "sample.router.vcs.step", "0 is too small", "1")],
    ),
    (
        "sample_together_without_values",
        &[(6, "sample.router.vcs, routing.kind", "need values", "[[1, 2], [3, 4]]")],
    ),
    (
        "sample_of_unknown_section",
        &[(6, "sample.ruoter.vcs", "not a key path", "did you mean `router`")],
    ),
    (
        "sample_of_unknown_key",
        &[(6, "link.bandwith", "unknown key", "did you mean `bandwidth`")],
    ),
    (
        "sample_and_sweep",
        &[(8, "sweep.link.bandwidth", "is sampled as well", "remove")],
    ),
    (
        "sample_and_sweep_overlap",
        &[(
            8,
            "sweep.router",
            "and the sampled `router.vcs` change the same keys",
            "remove",
        )],
    ),
    (
        "sample_twice",
        &[(4, "sample.router", "`router.vcs` change the same keys", "remove")],
    ),
    (
        "sample_is_a_value",
        &[(1, "sample", "must be a table, not a whole number", "[sample]")],
    ),
    (
        "sample_huge",
        &[(8, "sweep", "huge sweep: 200000 points", "fewer values")],
    ),
    (
        "sample_of_too_many_values",
        &[(4, "sample", "60000 points of 17 keys are too many", "1000000")],
    ),
    (
        "ops_without_table",
        &[(5, "job[0].work.file", "there is no table of operations", "`table`")],
    ),
    (
        "ops_row",
        &[(
            5,
            "job[0].work.table",
            "row 2: there is no operation \"recieve\"",
            "\"recv\"",
        )],
    ),
    (
        "sweep_huge",
        &[(7, "sweep", "huge sweep: 111100 points", "fewer values")],
    ),
    (
        "sweep_huge_with_seeds",
        &[(7, "sweep", "huge sweep: with its seeds", "seeds")],
    ),
    (
        "sweep_bad_at_some_points",
        &[(
            5,
            "routing.kind",
            "(with routing.kind = dor, topology = { kind = \"dragonfly\"",
            "minimal",
        )],
    ),
    (
        "experiment_unknown_key",
        &[(5, "experiment.a.sett", "unknown key", "did you mean `set`")],
    ),
    (
        "experiment_sets_unknown_key",
        &[(5, "router.vc", "unknown key", "did you mean `vcs`")],
    ),
    (
        "experiment_sets_the_name",
        &[(5, "experiment.a.set.name", "not a key path", "did you mean `job.name`")],
    ),
    (
        "experiment_is_a_value",
        &[(5, "experiment.a", "must be a table", "[experiment.NAME]")],
    ),
    ("experiment_name", &[(4, "experiment.a b", "is not a name", "letters")]),
    (
        "variant_of_unknown_experiment",
        &[(
            6,
            "variant.quick.experiments",
            "no experiment \"laod\"",
            "did you mean `load`",
        )],
    ),
    (
        "variant_sweep_of_unknown_experiment",
        &[(5, "variant.quick.sweep.size", "no experiment \"size\"", "load")],
    ),
    (
        "variant_unknown_key",
        &[(5, "variant.quick.seeds", "unknown key", "experiments")],
    ),
    ("claim_without_id", &[(4, "claim[0].id", "is missing", "id =")]),
    ("claim_ids_equal", &[(7, "claim[1].id", "another claim", "own id")]),
    (
        "claim_with_one_bracket",
        &[(4, "claim", "must be a list of tables", "two brackets")],
    ),
    (
        "reproduce_is_a_text",
        &[(1, "reproduce", "must be a table", "[reproduce]")],
    ),
    (
        "trace_missing_file",
        &[(
            6,
            "job[0].work.file",
            "nowhere.goal: it cannot be read",
            "a file or folder that is there",
        )],
    ),
    (
        "trace_without_file",
        &[(4, "job[0].work.file", "is missing", "file = ")],
    ),
    (
        "trace_of_no_format",
        &[(
            6,
            "job[0].work.file",
            "letter.txt: this is no trace of a known format",
            "`fabricsim trace formats`",
        )],
    ),
    (
        "trace_format_misspelt",
        &[(7, "job[0].work.format", "no format \"goall\"", "did you mean \"goal\"?")],
    ),
    (
        "trace_format_of_another",
        &[(
            6,
            "job[0].work.file",
            "pair.goal: there are 0 files of ranks",
            "in one folder",
        )],
    ),
    (
        "trace_cut_off",
        &[(
            6,
            "job[0].work.file",
            "cut.goal, rank 0, record 4: expected a rank, not the end of the line",
            "damaged",
        )],
    ),
    (
        "trace_ranks_of_another",
        &[(
            4,
            "job[0].work.ranks",
            "3 ranks cannot play a trace of 2",
            "leave the key out",
        )],
    ),
    (
        "trace_too_large_for_the_nodes",
        &[(6, "job[0].work.file", "3 ranks of the trace do not fit", "more nodes")],
    ),
    (
        "trace_unmatched",
        &[
            (
                6,
                "job[0].work.file",
                "unmatched.goal, rank 0, record 4: rank 2 never receives",
                "add the receive",
            ),
            (
                6,
                "job[0].work.file",
                "unmatched.goal, rank 1, record 8: rank 1 receives",
                "add the send",
            ),
            (
                6,
                "job[0].work.file",
                "unmatched.goal, rank 2, record 11: rank 2 receives",
                "add the send",
            ),
        ],
    ),
    (
        "trace_requests_and_ranks_that_are_not",
        &[
            (
                6,
                "job[0].work.file",
                "trace_requests.csv, rank 0, record 2: rank 0 has made no request 1",
                "start it before",
            ),
            (
                6,
                "job[0].work.file",
                "trace_requests.csv, rank 0, record 3: rank 0 has made no request 2",
                "start it before",
            ),
            (
                6,
                "job[0].work.file",
                "trace_requests.csv, rank 0, record 4: there is no rank 9",
                "ranks are 0..=1",
            ),
            (
                6,
                "job[0].work.file",
                "trace_requests.csv, rank 1, record 5: rank 1 receives",
                "add the send",
            ),
        ],
    ),
    (
        "trace_sha256_of_another",
        &[(
            7,
            "job[0].work.sha256",
            "says something else: its SHA-256 is 2f68d7f6",
            "leave the key out",
        )],
    ),
    (
        "trace_sha256_is_a_word",
        &[(7, "job[0].work.sha256", "no SHA-256", "64 digits")],
    ),
    (
        "trace_instructions_of_times",
        &[(7, "job[0].work.compute", "tells times, not instructions", "recorded")],
    ),
    (
        "trace_region_of_factor_unknown",
        &[(7, "job[0].work.regions", "no region \"solver\"", "trace info")],
    ),
    (
        "trace_ranks_backwards",
        &[(
            7,
            "job[0].work.only_ranks",
            "\"2..0\" is no range",
            "A..B with A below B",
        )],
    ),
    (
        "trace_ranks_beyond",
        &[(
            7,
            "job[0].work.only_ranks",
            "ranks 1..3 of a trace of 2 ranks",
            "trace info",
        )],
    ),
    (
        "trace_times_backwards",
        &[(8, "job[0].work.to_time", "not after from_time", "leave one of them out")],
    ),
    (
        "trace_times_of_no_times",
        &[(
            7,
            "job[0].work.from_time",
            "does not tell when operations began",
            "trace info",
        )],
    ),
    (
        "trace_region_unknown",
        &[(7, "job[0].work.region", "no region \"solver\"", "trace info")],
    ),
    (
        "trace_visits_of_no_region",
        &[(7, "job[0].work.visits", "those of a region", "name the region")],
    ),
    (
        "trace_marker_unknown",
        &[(7, "job[0].work.from_marker", "no region \"begin\"", "trace info")],
    ),
    (
        "many_errors_at_once",
        &[
            (1, "nmae", "unknown key", "did you mean `name`"),
            (6, "link.bandwidth", "bare number", "GB/s"),
            (8, "router.vcs", "too small", "1"),
            (9, "router.bufer", "unknown key", "did you mean `buffer`"),
            (11, "routing.kind", "unknown kind", "dor"),
            (13, "nic.packet", "unknown unit", "KiB"),
            (15, "run.seeds", "no seed", "seeds"),
        ],
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken_studies")
}

#[test]
fn every_error_has_its_line_key_reason_and_hint() {
    let mut failures = Vec::new();
    for (name, expected) in CASES {
        let bytes = std::fs::read(folder().join(format!("{name}.toml"))).expect("the file of the case is there");
        let Err(found) = load_study(&bytes, "study.toml", &folder(), &LoadOptions::default()) else {
            failures.push(format!("{name}: loads without an error"));
            continue;
        };
        let fits = found.len() == expected.len()
            && found
                .iter()
                .zip(expected.iter())
                .all(|(found, (line, key, reason, hint))| {
                    found.severity == Severity::Error
                        && found.line == *line
                        && found.key == *key
                        && found.reason.contains(reason)
                        && found.hint.contains(hint)
                        && !found.reason.is_empty()
                        && !found.hint.is_empty()
                });
        if !fits {
            failures.push(format!("{name}: expected {expected:?}, found\n{}", render(&found)));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} cases:\n{}",
        failures.len(),
        CASES.len(),
        failures.join("\n")
    );
}

#[test]
fn every_file_of_the_folder_is_a_case() {
    let files: BTreeSet<String> = std::fs::read_dir(folder())
        .expect("the folder is there")
        .map(|entry| {
            entry
                .expect("the folder can be read")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        // Others are what studies there refer to.
        .filter(|name| name.ends_with(".toml"))
        .collect();
    let cases: BTreeSet<String> = CASES.iter().map(|(name, _)| format!("{name}.toml")).collect();
    assert_eq!(files, cases);
    assert_eq!(cases.len(), CASES.len());
}
