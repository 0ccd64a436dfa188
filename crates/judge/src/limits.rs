//! What limits a run before it is run, and what links are called for people.
//!
//! The links that carry most of what synthetic traffic sends at full load give the load at which they are full: the most that a routing
//! takes which does not look at queues (Dally & Towles 2004, section 3.3). Buffers, arbitration and interfaces only make it lower.
//! Loads are summed over all ways where the routing's rule tells them and there are not too many; else packets are led over the idle network by the routing
//! itself, some millions of them. A routing that looks at queues chooses otherwise under load: of such the loads tell where to look first. One that
//! makes detours where queues are long is taken to lead the share of packets over detours that fills links least.

mod names;

pub use names::name;

use des::{Event, Time};
use fabric::network::Network;
use fabric::packet::Packet;
use fabric::routing::{Detours, ViaSpec};
use fabric::spec::{RoutingSpec, RunSpec};
use serde::Serialize;
use topo::Topology;
use topo::load::{TrafficPattern, channel_load};
use work::build_error::BuildError;

/// Pairs of a source and a destination that are summed up one by one: some seconds.
const MOST_PAIRS: u64 = 4_000_000;
/// Packets that are led over the network where that is too many.
const PACKETS: u64 = 4_000_000;
/// Packets of one pair at most.
const OF_A_PAIR: u64 = 256;
/// Shares of packets that make detours, which are held against each other.
const SHARES: u32 = 40;
/// Links that carry so much of what the fullest carries are as full.
const AS_FULL: f64 = 0.98;

/// Load of the links of a class at full load, in units of what a node injects.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassLoad {
    /// Its name; `injection` and `ejection` are those between interfaces and routers.
    pub class: String,
    /// How many links there are.
    pub links: u32,
    /// Of the fullest.
    pub most: f64,
    /// Over all of them.
    pub mean: f64,
    /// What a link can carry.
    pub capacity: f64,
    /// Load at which the fullest is full, a fraction of the injection bandwidth; `None` if nothing passes.
    pub bound: Option<f64>,
}

/// What limits a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrafficLimits {
    /// All ways were summed up, of a routing that does not look at queues: no load above `bound` is carried.
    pub exact: bool,
    /// The routing looks at queues.
    pub adaptive: bool,
    /// Packets may leave minimal ways.
    pub detours: bool,
    /// Nodes that send.
    pub senders: u32,
    /// The least of the bounds; `None` if nothing is sent over a link.
    pub bound: Option<f64>,
    /// The links that are full there, in words.
    pub limit: Option<String>,
    /// By class.
    pub classes: Vec<ClassLoad>,
}

/// What the open-loop traffic of a run loads the links with; `None` where it has none.
pub fn limits(run: &RunSpec) -> Result<Option<TrafficLimits>, BuildError> {
    let net = Network::build(run)?;
    let topology = run.shape()?;
    let Some(demand) = net.workload.demand(&topology, MOST_PAIRS) else {
        return Ok(None);
    };
    let LinkLoads { load, unit } = loads(run, &net, &topology, &demand.pattern)?;
    let (senders, received) = ends(&topology, &demand.pattern);
    let injection = net.injection.bandwidth().0 as f64;
    let capacity = |class: u8| net.classes[usize::from(class)].bandwidth().0 as f64 / injection;
    let mut classes = by_class(&topology, &load, unit, &capacity);
    classes.push(of_ends("ejection", &received, 0.0, capacity(0)));
    let least = |a: &ClassLoad, b: &ClassLoad| a.bound.partial_cmp(&b.bound).expect("loads are numbers");
    let first = classes
        .iter()
        .filter(|class| class.bound.is_some())
        .min_by(|a, b| least(a, b));
    let limit = first.and_then(|first| {
        let bound = first.bound?;
        let as_full = |class: &&ClassLoad| class.bound.is_some_and(|other| other <= bound / AS_FULL);
        let words = classes.iter().filter(as_full).map(|class| {
            // By packets, links that are loaded alike differ by chance.
            let chance = if unit > 0.0 {
                3.0 * (class.most * unit).sqrt()
            } else {
                0.0
            };
            let full = |load: f64| load >= AS_FULL * (class.capacity / bound - chance);
            if class.class == "ejection" {
                return names::ejection(received.iter().filter(|&&load| full(load)).count(), received.len());
            }
            let of_class = names::links(&topology).filter(|link| names::class(&topology, *link) == class.class);
            let most = of_class.filter(|&(router, port)| full(load[topology.wiring().port_index(router, port)]));
            names::words(&topology, &most.collect::<Vec<_>>())
        });
        Some(words.collect::<Vec<_>>().join(" and "))
    });
    Ok(Some(TrafficLimits {
        exact: unit == 0.0 && demand.whole && !run.routing.is_adaptive(),
        adaptive: run.routing.is_adaptive(),
        detours: run.routing.detours() != Detours::Never,
        senders,
        bound: first.and_then(|first| first.bound),
        limit,
        classes,
    }))
}

/// Units per network port.
struct LinkLoads {
    load: Vec<f64>,
    /// What a packet stands for that was led over the network; 0 where all ways were summed up.
    unit: f64,
}

fn loads(run: &RunSpec, net: &Network, topology: &Topology, traffic: &TrafficPattern) -> Result<LinkLoads, BuildError> {
    let rule = net
        .routing
        .rule(topology)
        .filter(|_| run.routing.detours() == Detours::Never);
    let pairs = |alike: bool| {
        let (routers, nodes) = (u64::from(topology.n_routers()), u64::from(topology.n_nodes()));
        match traffic {
            TrafficPattern::Uniform => routers * if alike { routers } else { nodes },
            TrafficPattern::Permutation(to) => to.len() as u64,
            TrafficPattern::Matrix(entries) => entries.len() as u64,
        }
    };
    match rule {
        Some(rule) if pairs(rule.same_for_all_nodes_of_a_router()) <= MOST_PAIRS => {
            let load = channel_load(topology, &rule, &across(topology, traffic))
                .map_err(|error| BuildError::field("routing.kind", error.to_string(), None))?;
            Ok(LinkLoads { load, unit: 0.0 })
        }
        _ => {
            let idle = by_packets(net, topology, traffic);
            Ok(match detours(run) {
                Some(around) => balanced(net, topology, idle, by_packets(&around, topology, traffic)),
                None => idle,
            })
        }
    }
}

/// The network on which all packets make the detours that some of the run's make where queues are long.
fn detours(run: &RunSpec) -> Option<Network> {
    let via = match (&run.routing, run.routing.detours()) {
        (RoutingSpec::Ugal(detour) | RoutingSpec::Par(detour), _) => RoutingSpec::Valiant(ViaSpec { via: detour.via }),
        (_, Detours::WhereQueuesAreLong) => RoutingSpec::VALIANT,
        _ => return None,
    };
    let mut around = run.clone();
    around.routing = via;
    around.router.vcs = None;
    Network::build(&around).ok()
}

/// Of the two that mixture which fills links least.
fn balanced(net: &Network, topology: &Topology, idle: LinkLoads, around: LinkLoads) -> LinkLoads {
    let speed = |class: u8| net.classes[usize::from(class)].bandwidth().0 as f64;
    let mixed = |share: f64| {
        idle.load
            .iter()
            .zip(&around.load)
            .map(move |(idle, around)| (1.0 - share) * idle + share * around)
    };
    let fullest = |share: f64| {
        let loads = mixed(share).zip(&topology.wiring().class);
        loads.map(|(load, &class)| load / speed(class)).fold(0.0, f64::max)
    };
    let shares = (0..=SHARES).map(|k| f64::from(k) / f64::from(SHARES));
    let best = shares.min_by(|a, b| fullest(*a).total_cmp(&fullest(*b))).unwrap_or(0.0);
    LinkLoads {
        load: mixed(best).collect(),
        unit: idle.unit.max(around.unit),
    }
}

/// The traffic that leaves its router.
fn across(topology: &Topology, traffic: &TrafficPattern) -> TrafficPattern {
    let leaves = |from: u32, to: u32| topology.router_of(from) != topology.router_of(to);
    match traffic {
        TrafficPattern::Uniform => TrafficPattern::Uniform,
        TrafficPattern::Permutation(to) => {
            let pairs = (0..).zip(to).filter(|&(from, &to)| leaves(from, to));
            TrafficPattern::Matrix(pairs.map(|(from, &to)| (from, to, 1.0)).collect())
        }
        TrafficPattern::Matrix(entries) => {
            let leaving = entries.iter().filter(|&&(from, to, _)| leaves(from, to));
            TrafficPattern::Matrix(leaving.copied().collect())
        }
    }
}

/// The loads by packets that the routing leads over the idle network.
fn by_packets(net: &Network, topology: &Topology, traffic: &TrafficPattern) -> LinkLoads {
    let nodes = u64::from(topology.n_nodes());
    let others = nodes.max(2) - 1;
    let mut load = vec![0.0; topology.wiring().n_ports() as usize];
    let mut send = |from: u32, to: u32, units: f64, each: u64| {
        (0..each).for_each(|k| follow(net, topology, (from, to, k), units / each as f64, &mut load));
    };
    let of_pairs = |pairs: usize| (PACKETS / pairs.max(1) as u64).clamp(1, OF_A_PAIR);
    let unit = match traffic {
        TrafficPattern::Uniform => {
            let each = (PACKETS / nodes.max(1)).clamp(1, OF_A_PAIR * others);
            for (from, k) in (0..nodes).flat_map(|from| (0..each).map(move |k| (from, k))) {
                // Every other node in turn, or some drawn among them.
                let other = match each < others {
                    true => des::rng::below(des::mix(from << 32 | k), others),
                    false => k % others,
                };
                send(
                    from as u32,
                    (other + u64::from(other >= from)) as u32,
                    1.0 / each as f64,
                    1,
                );
            }
            1.0 / each as f64
        }
        TrafficPattern::Permutation(to) => {
            let each = of_pairs(to.len());
            (0..).zip(to).for_each(|(from, &to)| send(from, to, 1.0, each));
            1.0 / each as f64
        }
        TrafficPattern::Matrix(entries) => {
            let each = of_pairs(entries.len());
            entries
                .iter()
                .for_each(|&(from, to, units)| send(from, to, units, each));
            entries.iter().map(|entry| entry.2).fold(0.0, f64::max) / each as f64
        }
    };
    LinkLoads { load, unit }
}

/// Leads packet `k` between two nodes over the network and adds its units to every link that it takes.
fn follow(net: &Network, topology: &Topology, (from, to, k): (u32, u32, u64), units: f64, load: &mut [f64]) {
    let mut router = topology.router_of(from);
    // Interfaces come behind the network ports.
    let injected = net.site_of(router).net;
    let place = net.places[router as usize];
    let birth = des::mix(k ^ u64::from(from) << 24 ^ u64::from(to) << 44) >> 24;
    let mut packet = Packet::whole(from, to, net.packet.max(1), birth).at(Time(birth), place, injected);
    let most = 4 * topology.diameter() + 4;
    for _ in 0..most {
        let site = net.site_of(router);
        let way = net.lead(site, &packet);
        if way.port() >= u32::from(site.net) {
            return;
        }
        load[topology.wiring().port_index(router, way.port() as u16)] += units;
        packet.set_phase(way.phase());
        packet.set_vc(way.vc());
        packet.count_hop();
        let peer = net.peers[(site.port + way.port()) as usize];
        packet = packet.to(packet.time() + Time(1_000), peer.address());
        router = net.router_at(peer.lp());
    }
}

/// How many nodes send, and what every node receives.
fn ends(topology: &Topology, traffic: &TrafficPattern) -> (u32, Vec<f64>) {
    let nodes = topology.n_nodes();
    let mut received = vec![0.0; nodes as usize];
    let mut sends = vec![false; nodes as usize];
    match traffic {
        TrafficPattern::Uniform => return (nodes, vec![f64::from(u8::from(nodes > 1)); nodes as usize]),
        TrafficPattern::Permutation(to) => to.iter().enumerate().for_each(|(from, &to)| {
            sends[from] = true;
            received[to as usize] += 1.0;
        }),
        TrafficPattern::Matrix(entries) => entries.iter().for_each(|&(from, to, units)| {
            sends[from as usize] = true;
            received[to as usize] += units;
        }),
    }
    (sends.iter().filter(|&&sends| sends).count() as u32, received)
}

fn by_class(topology: &Topology, load: &[f64], unit: f64, capacity: &dyn Fn(u8) -> f64) -> Vec<ClassLoad> {
    let wiring = topology.wiring();
    let mut of_class: Vec<Vec<f64>> = vec![Vec::new(); wiring.class_names.len()];
    for (&class, &load) in wiring.class.iter().zip(load) {
        of_class[usize::from(class)].push(load);
    }
    (0..)
        .zip(of_class)
        .filter(|(_, loads)| !loads.is_empty())
        .map(|(class, loads)| of_ends(&wiring.class_names[usize::from(class)], &loads, unit, capacity(class)))
        .collect()
}

/// The load of links; what chance adds to the fullest of so many, where a packet stands for `unit`, is taken off.
fn of_ends(class: &str, loads: &[f64], unit: f64, capacity: f64) -> ClassLoad {
    let count = loads.len().max(1) as f64;
    let mean = loads.iter().sum::<f64>() / count;
    let fullest = loads.iter().copied().fold(0.0, f64::max);
    let most = (fullest - (2.0 * count.ln() * fullest * unit).sqrt()).max(mean);
    ClassLoad {
        class: class.to_owned(),
        links: loads.len() as u32,
        most,
        mean,
        capacity,
        bound: (most > 0.0).then(|| capacity / most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::spec::{Bytes, Pattern, RoutingSpec, Synthetic, Work, plain};
    use topo::{Arrangement, DragonflySpec, FatTreeSpec, Lattice, TopologySpec};

    fn lattice(shape: &[u32], nodes_per_router: u32) -> Lattice {
        Lattice {
            shape: shape.to_vec(),
            width: vec![],
            nodes_per_router,
        }
    }

    fn dragonfly(links_per_pair: u32) -> TopologySpec {
        TopologySpec::Dragonfly(DragonflySpec {
            groups: 9,
            routers_per_group: vec![4],
            nodes_per_router: 2,
            links_per_pair,
            local_width: 1,
            arrangement: Arrangement::Absolute,
            arrangement_seed: 1,
        })
    }

    fn found(topology: TopologySpec, routing: RoutingSpec, pattern: Pattern) -> TrafficLimits {
        let mut run = plain(topology);
        run.routing = routing;
        run.jobs[0].work = Work::Synthetic(Synthetic::of(pattern, Bytes(2_048)));
        limits(&run).expect("a network").expect("open-loop traffic")
    }

    #[test]
    fn bounds_are_those_of_the_literature() {
        let torus = found(
            TopologySpec::Torus(lattice(&[8, 8], 1)),
            RoutingSpec::DOR,
            Pattern::Tornado,
        );
        assert_eq!((torus.exact, torus.bound), (true, Some(1.0 / 3.0)));
        assert_eq!(
            torus.limit.as_deref(),
            Some("the 64 links in direction x+ and the 64 links in direction y+")
        );
        let mesh = found(
            TopologySpec::Mesh(lattice(&[6, 6], 1)),
            RoutingSpec::DOR,
            Pattern::Uniform,
        );
        assert!((mesh.bound.unwrap() - 35.0 / 36.0 * 4.0 / 6.0).abs() < 1e-12);
        let tree = TopologySpec::FatTree(FatTreeSpec {
            down: vec![8, 8],
            up: vec![4],
            up_width: vec![1],
        });
        let tree = found(tree, RoutingSpec::MINIMAL, Pattern::Uniform);
        assert!((tree.bound.unwrap() - 0.5 * 63.0 / 56.0).abs() < 1e-12);
    }

    #[test]
    fn the_cables_between_two_groups_are_named_and_their_number_is_the_bound() {
        for links in [1, 2] {
            let found = found(dragonfly(links), RoutingSpec::MINIMAL, Pattern::Shift { by: Some(8) });
            assert_eq!(found.bound, Some(f64::from(links) / 8.0));
            let words = format!("the {} global links from groups to the next one", 9 * links);
            assert_eq!(found.limit, Some(words));
            assert!(found.exact && !found.adaptive && found.senders == 72);
        }
    }

    #[test]
    fn packets_that_are_led_over_the_idle_network_load_it_as_the_rule_says() {
        for topology in [TopologySpec::Torus(lattice(&[5, 5], 2)), dragonfly(1)] {
            for pattern in [Pattern::Uniform, Pattern::Shift { by: Some(7) }] {
                let mut run = plain(topology.clone());
                run.routing = RoutingSpec::MINIMAL;
                let Work::Synthetic(work) = &mut run.jobs[0].work else {
                    panic!("synthetic traffic")
                };
                (work.pattern, work.load, work.count) = (pattern, Some(0.5), None);
                let (net, built) = (Network::build(&run).unwrap(), topology.build().unwrap());
                let demand = net.workload.demand(&built, MOST_PAIRS).unwrap();
                let summed = loads(&run, &net, &built, &demand.pattern).unwrap();
                let led = by_packets(&net, &built, &demand.pattern);
                assert_eq!(summed.unit, 0.0);
                for (exact, packets) in summed.load.iter().zip(&led.load) {
                    // Six standard deviations of a sum of packets.
                    let chance = 6.0 * (exact * led.unit).sqrt() + 1e-9;
                    assert!((exact - packets).abs() <= chance, "{exact}, {packets} by packets");
                }
            }
        }
    }

    #[test]
    fn what_makes_detours_is_taken_to_make_the_best_share_of_them() {
        let shift = Pattern::Shift { by: Some(8) };
        let minimal = found(dragonfly(1), RoutingSpec::MINIMAL, shift.clone()).bound.unwrap();
        let text = r#"{"kind":"ugal","candidates":1,"via":"group","congestion":"both","per":"port","weigh_hops":true,"ratio":1.0,"bias":0,"threshold":0,"scope":"local","step":null}"#;
        let Ok(ugal) = serde_json::from_str::<RoutingSpec>(text) else {
            panic!("{:?}", serde_json::from_str::<RoutingSpec>(text));
        };
        let found = found(dragonfly(1), ugal, shift);
        assert!(!found.exact && found.adaptive && found.detours);
        // A share 1 - s over one cable, a share s over two others of eight: 8 (1 - s) on the cable or about 2 s on all.
        assert!(found.bound.unwrap() > 3.0 * minimal, "{:?}", found.bound);
    }

    #[test]
    fn work_without_load_has_no_limits() {
        let mut run = plain(TopologySpec::Torus(lattice(&[4, 4], 1)));
        if let Work::Synthetic(work) = &mut run.jobs[0].work {
            (work.load, work.count) = (None, Some(3));
        }
        assert_eq!(limits(&run).unwrap(), None);
    }
}
