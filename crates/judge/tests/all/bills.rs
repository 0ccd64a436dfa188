//! Bills of networks as they come out by hand, and the energy of runs against what is counted without the simulator.
//!
//! Prices are the defaults (Besta and Hoefler 2014): a router of k ports 350.4 k - 892.3 USD; a cable of x metres (0.4079 x + 0.5771) USD per
//! Gbit/s up to 2 m, else (0.0919 x + 7.2745). Racks hold 128 nodes and stand 1 m apart; within one cables have 1 m, else 2 m and the way.

use fabric::spec::RunSpec;
use judge::bill::of_network;
use judge::run::{RunResult, run};
use std::path::Path;
use topo::bill::{Bill, CableKind};
use vocabulary::{LoadOptions, load_study};

fn spec(study: &str) -> RunSpec {
    let text = format!("name = \"bill\"\n{study}");
    let study = load_study(text.as_bytes(), "bill.toml", Path::new("."), &LoadOptions::default());
    let study = study.unwrap_or_else(|findings| panic!("{}", vocabulary::render(&findings)));
    study.runs[0].clone()
}

fn bill(study: &str) -> Bill {
    of_network(&spec(study)).expect("the network can be built")
}

/// Class, kind, how many, metres of all, metres of the longest.
type Line = (&'static str, CableKind, u64, f64, f64);

struct ByHand {
    racks: (u32, u32),
    routers: u32,
    ports: u64,
    cables: &'static [Line],
    routers_usd: f64,
    cables_usd: f64,
    power_w: f64,
}

fn near(what: &str, found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs(),
        "{what}: {found}, by hand {expected}"
    );
}

fn check(found: &Bill, by_hand: &ByHand) {
    let cables: Vec<(&str, CableKind, u64, f64, f64)> = found
        .cables
        .iter()
        .map(|line| (line.class.as_str(), line.kind, line.cables, line.metres, line.longest_m))
        .collect();
    assert_eq!(cables, by_hand.cables);
    assert_eq!((found.racks, found.rows), by_hand.racks);
    assert_eq!((found.routers, found.ports), (by_hand.routers, by_hand.ports));
    near("routers", found.routers_usd, by_hand.routers_usd);
    near("cables", found.cables_usd, by_hand.cables_usd);
    near("price", found.price_usd, by_hand.routers_usd + by_hand.cables_usd);
    near("power", found.power_w, by_hand.power_w);
}

use CableKind::{Electrical, Optical};

/// The talk tells 1,536 cables, of which 720 are optical, in 24 racks of 28 nodes and four switches.
#[test]
fn the_hyperx_of_tsubame2_has_1536_cables_of_which_720_are_optical() {
    let found = bill(
        "topology = { preset = \"tsubame2-hyperx\" }\nlink = { bandwidth = \"40 Gbit/s\" }\n\
         [cost.layout]\nnodes_per_rack = 28\nrouters_per_rack = 4\n",
    );
    assert_eq!(found.cables.iter().map(|line| line.cables).sum::<u64>(), 1_536);
    // A rack has four routers of a column of eight: six cables. A column has two racks beside each other, 16 cables of 3 m. Columns
    // stand three to a row: of 66 pairs 32 lie 2 m and 16 lie 4 m apart along the row, and all together 90 m across.
    let cables: &[Line] = &[
        ("host", Electrical, 672, 672.0, 1.0),
        ("x", Electrical, 24 * 6, 144.0, 1.0),
        ("x", Optical, 12 * 16, 12.0 * 16.0 * 3.0, 3.0),
        (
            "y",
            Optical,
            8 * 66,
            8.0 * (32.0 * 2.0 + 16.0 * 4.0 + 90.0 + 66.0 * 2.0),
            9.0,
        ),
    ];
    let electrical = (672.0 + 144.0) * (0.4079 + 0.5771) * 40.0;
    let optical = (720.0 * 7.2745 + (576.0 + 2_800.0) * 0.0919) * 40.0;
    let by_hand = ByHand {
        racks: (24, 4),
        routers: 96,
        ports: 96 * 25,
        cables,
        routers_usd: 96.0 * (350.4 * 25.0 - 892.3),
        cables_usd: electrical + optical,
        power_w: 96.0 * 25.0 * 2.8,
    };
    check(&found, &by_hand);
    near("all of it", found.price_usd, 1_009_365.376);
}

/// Every switch in a rack of its own, all of them 10 m apart: cables are counted, not measured.
#[test]
fn the_fat_tree_of_tsubame2_has_2508_cables() {
    let found = bill(
        "topology = { preset = \"tsubame2-fat-tree\" }\nlink = { bandwidth = \"40 Gbit/s\" }\n\
         [cost.layout]\nrouters_per_rack = 1\nrack_pitch = \"0 m\"\nrow_pitch = \"0 m\"\nslack = \"10 m\"\n",
    );
    // 48 leaves with 18 cables up, 54 middle switches with 18, 672 nodes.
    let between = found.cables.iter().filter(|line| line.kind == Optical);
    assert_eq!(between.map(|line| line.cables).sum::<u64>(), 48 * 18 + 54 * 18);
    assert_eq!(found.cables[0].cables, 672);
    assert_eq!((found.racks, found.routers), (129, 48 + 54 + 27));
    let ports = 48.0 * 32.0 + 54.0 * 34.0 + 27.0 * 36.0;
    near("ports", found.ports as f64, ports);
    near("routers", found.routers_usd, 350.4 * ports - 892.3 * 129.0);
    let optical = 1_836.0 * (7.2745 + 10.0 * 0.0919) * 40.0;
    near("cables", found.cables_usd, 672.0 * 0.985 * 40.0 + optical);
    near("power", found.power_w, 12_163.2);
}

/// The ECP report's networks of 8,192 nodes at 200 Gbit/s.
fn ecp(name: &str, rest: &str) -> Bill {
    bill(&format!(
        "topology = {{ preset = \"ecp-8k-{name}\" }}\nlink = {{ bandwidth = \"25 GB/s\" }}\n{rest}"
    ))
}

#[test]
fn the_ecp_hyperx_costs_what_it_does_by_hand() {
    // A line of eight routers with 16 nodes each is a rack; y and z are the racks' rows and columns. Distances of the 28 pairs of a
    // line are 84 together.
    let across: f64 = 64.0 * 2.0 * (84.0 + 28.0 * 2.0);
    let by_hand = ByHand {
        racks: (64, 8),
        routers: 512,
        ports: 512 * 58,
        cables: &[
            ("host", Electrical, 8_192, 8_192.0, 1.0),
            ("x", Electrical, 3_584, 3_584.0, 1.0),
            ("y", Optical, 3_584, 17_920.0, 9.0),
            ("z", Optical, 3_584, 17_920.0, 9.0),
        ],
        routers_usd: 512.0 * (350.4 * 58.0 - 892.3),
        cables_usd: 200.0 * (11_776.0 * 0.985 + 7_168.0 * 7.2745 + 2.0 * across * 0.0919),
        power_w: 512.0 * 58.0 * 2.8,
    };
    let found = ecp("hyperx", "");
    check(&found, &by_hand);
    near("all of it", found.price_usd, 23_355_955.2);
}

#[test]
fn the_ecp_dragonfly_costs_what_it_does_by_hand() {
    // Four racks of eight routers are a group, two groups a row. Router p of a group is joined to router p of every other one, so that
    // 64 of 120 pairs of groups lie 4 m apart along the row, and all together 336 m across.
    let by_hand = ByHand {
        racks: (64, 8),
        routers: 512,
        ports: 512 * (16 + 31 + 15),
        cables: &[
            ("host", Electrical, 8_192, 8_192.0, 1.0),
            ("local", Electrical, 16 * 4 * 28, 1_792.0, 1.0),
            ("local", Optical, 16 * 6 * 64, 16.0 * 64.0 * 22.0, 5.0),
            (
                "global",
                Optical,
                120 * 32,
                32.0 * (64.0 * 4.0 + 336.0 + 120.0 * 2.0),
                13.0,
            ),
        ],
        routers_usd: 512.0 * (350.4 * 62.0 - 892.3),
        cables_usd: 200.0 * (9_984.0 * 0.985 + 9_984.0 * 7.2745 + 49_152.0 * 0.0919),
        power_w: 31_744.0 * 2.8,
    };
    let found = ecp("dragonfly", "");
    check(&found, &by_hand);
    near("all of it", found.price_usd, 28_062_223.36);
}

#[test]
fn the_ecp_dragonfly_plus_costs_what_it_does_by_hand() {
    // Eight racks of four leaves, in the last of them 28 spines, and a ninth with four: a group is a row. Leaves of seven racks have 4 x 28
    // cables each to the eighth, 42 m with slack, and all eight 4 x 4 to the ninth, 52 m. Spine q is joined to spine q.
    let by_hand = ByHand {
        racks: (72, 8),
        routers: 512,
        ports: 256 * 64 + 256 * 60,
        cables: &[
            ("host", Electrical, 8_192, 8_192.0, 1.0),
            ("local", Electrical, 8 * 112, 896.0, 1.0),
            ("local", Optical, 8 * 912, 8.0 * (112.0 * 42.0 + 16.0 * 52.0), 10.0),
            ("global", Optical, 28 * 128, 128.0 * (84.0 + 28.0 * 2.0), 9.0),
        ],
        routers_usd: 350.4 * 31_744.0 - 892.3 * 512.0,
        cables_usd: 200.0 * (9_088.0 * 0.985 + 10_880.0 * 7.2745 + 62_208.0 * 0.0919),
        power_w: 31_744.0 * 2.8,
    };
    let found = ecp("dragonfly+", "");
    check(&found, &by_hand);
    near("all of it", found.price_usd, 29_429_271.04);
}

#[test]
fn the_ecp_fat_tree_costs_what_it_does_by_hand() {
    // A pod is built as a group of the dragonfly+, a row of nine racks; behind the pods stand four racks of 32 top routers.
    let by_hand = ByHand {
        racks: (76, 9),
        routers: 640,
        ports: 640 * 64,
        cables: &[
            ("host", Electrical, 8_192, 8_192.0, 1.0),
            ("up1", Electrical, 8 * 112, 896.0, 1.0),
            ("up1", Optical, 8 * 912, 44_288.0, 10.0),
            ("up2", Optical, 256 * 32, 99_328.0, 18.0),
        ],
        routers_usd: 640.0 * (350.4 * 64.0 - 892.3),
        cables_usd: 200.0 * (9_088.0 * 0.985 + 15_488.0 * 7.2745 + 143_616.0 * 0.0919),
        power_w: 40_960.0 * 2.8,
    };
    let found = ecp("fat-tree", "[cost.layout]\nrows = 9\n");
    check(&found, &by_hand);
    near("all of it", found.price_usd, 40_744_801.28);
}

fn go(study: &str) -> RunResult {
    run(&spec(study), &mut |_| true).expect("the run ends")
}

const RING: &str = "topology = { kind = \"ring\", routers = 8, nodes_per_router = 2 }\nlink = { bandwidth = \"100 Gbit/s\" }\n\
                    [cost]\nrouter_power = \"10 W\"\ninterface_power = \"5 W\"\nport_send_power = \"3 W\"\ninterface_send_power = \"500 mW\"\n\
                    [cost.electrical]\npower = \"100 mW\"\n";

/// 8 routers of 10 W, with four ports of 2.8 W each; 16 interfaces of 5 W; 24 cables of 0.1 W.
const IDLE_W: f64 = 8.0 * (10.0 + 4.0 * 2.8) + 16.0 * 5.0 + 24.0 * 0.1;

#[test]
fn an_idle_network_takes_its_idle_power_over_the_time() {
    let done = go(&format!(
        "{RING}[[job]]\nwork = {{ kind = \"uniform\", load = 1e-9 }}\n[run]\nend = \"50 us\"\n"
    ));
    let cost = done.summary.cost.expect("there are prices");
    assert_eq!(done.summary.packets, 0);
    near("power", cost.power_w, IDLE_W);
    near("energy", cost.energy_j, IDLE_W * done.summary.sim_time_ns * 1e-9);
    assert!(done.summary.sim_time_ns >= 50_000.0);
    assert_eq!(cost.energy_sending_j, 0.0);
}

#[test]
fn a_loaded_network_takes_more_for_every_byte_that_is_sent() {
    // Every node sends 5 messages of 4 KiB to the one two further on, which is on the next router: one cable, and one to the node.
    let work = "[[job]]\nwork = { kind = \"shift\", by = 2, message = \"4 KiB\", count = 5 }\n";
    for model in ["sculpin", "credit"] {
        let done = go(&format!(
            "router = {{ model = \"{model}\" }}\n{RING}[observe]\nlinks = false\n{work}"
        ));
        let cost = done.summary.cost.expect("there are prices");
        let seconds = 16.0 * 5.0 * 4_096.0 * 8.0 / 100e9;
        near("sending", cost.energy_sending_j, seconds * (2.0 * 3.0 + 0.5));
        near("idle", cost.energy_idle_j, IDLE_W * done.summary.sim_time_ns * 1e-9);
        near("all", cost.energy_j, cost.energy_idle_j + cost.energy_sending_j);
        assert!(done.links.is_empty(), "loads were not asked for");
    }
}

#[test]
fn ports_send_for_as_long_as_the_table_of_links_says() {
    let done = go(&format!(
        "{RING}[[job]]\nwork = {{ kind = \"uniform\", load = 0.4 }}\n[run]\nend = \"20 us\"\n[observe]\nlinks = true\n"
    ));
    let cost = done.summary.cost.expect("there are prices");
    let time = done.summary.sim_time_ns * 1e-9;
    let busy: f64 = done.links.iter().map(|link| link.utilisation * time).sum();
    let injected = done.stats.injected_bytes as f64 * 8.0 / 100e9;
    assert!(busy > 1e-6, "{busy}");
    near("sending", cost.energy_sending_j, busy * 3.0 + injected * 0.5);
}

#[test]
fn prices_change_no_event_and_runs_without_them_have_none() {
    let work = "[[job]]\nwork = { kind = \"uniform\", load = 0.4 }\n[run]\nend = \"20 us\"\n";
    let with = go(&format!("{RING}{work}"));
    let without = go(&format!("{}{work}", RING.split("[cost]").next().unwrap_or_default()));
    assert_eq!(with.summary.digest, without.summary.digest);
    assert!(without.summary.cost.is_none());
}
