//! Freedom from deadlock of the routings, decided before a run by the channel dependency graph (`topo::deadlock`).

use super::algorithm::ReadyRouting;
use super::in_common::shared;
use crate::equipment::{RouterChannels, RouterSpec};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::path::Path;
use std::sync::Mutex;
use study::user_file::hash_bytes;
use topo::deadlock::{Verdict, check_or_reduced, check_within};
use topo::{RingSpec, Topology, TopologySpec};

/// Steps a proof may take on the network itself before a smaller network of the same family stands for it: well under a second.
const MOST_STEPS: u64 = 4_000_000;

/// Steps that the proof of forwarding tables and on graphs may take, for which no smaller network stands: some minutes.
const MOST_TABLE_STEPS: u64 = 1 << 34;

/// Steps that the proof on what failures have left may take: some seconds.
const MOST_STEPS_OF_LEFT: u64 = 60_000_000;

/// What a proof found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// No packets can wait for each other for ever.
    pub free: bool,
    /// Whether the proof came to an end; if not, nothing is known.
    pub decided: bool,
    /// In words; the cycle by names if there is one.
    pub words: String,
}

/// Proofs that a process remembers: of the networks of a campaign.
const MOST_REMEMBERED: usize = 64;

/// Proofs of this process by what they are of, the oldest first.
static REMEMBERED: Mutex<Vec<(String, Proof)>> = Mutex::new(Vec::new());

/// What `prove` finds of routers, topology and routing in these words, which say all that matters; found once by a process, for the last networks
/// that it asked for.
pub fn remembered(of: String, prove: impl FnOnce() -> Proof) -> Proof {
    let known = |proofs: &Vec<(String, Proof)>| {
        proofs
            .iter()
            .find(|(known, _)| *known == of)
            .map(|(_, proof)| proof.clone())
    };
    if let Some(proof) = REMEMBERED.lock().ok().and_then(|proofs| known(&proofs)) {
        return proof;
    }
    let take = |path: &Path| serde_json::from_slice(&std::fs::read(path).ok()?).ok();
    let put = |proof: &Proof, path: &Path| std::fs::write(path, serde_json::to_vec(proof)?);
    let make = || Ok::<_, Infallible>(prove());
    let Ok(proof) = shared(&format!("proof-{}", hash_bytes(of.as_bytes())), take, make, put);
    if let Ok(mut proofs) = REMEMBERED.lock() {
        if proofs.len() == MOST_REMEMBERED {
            proofs.remove(0);
        }
        proofs.push((of, proof.clone()));
    }
    proof
}

/// Whether what enters a ring leaves room in it, and packets go from ring to ring in one order. Parallel cables would let that room move to the
/// wrong one.
pub fn rings_move(router: &RouterSpec, topology: &Topology, kind: &dyn ReadyRouting) -> bool {
    let rings = match topology.spec() {
        TopologySpec::Ring(RingSpec { width, .. }) => *width == 1,
        TopologySpec::Torus(lattice) => lattice.width.iter().all(|&width| width == 1),
        _ => false,
    };
    router.named().keeps_rings_moving(router) && kind.is_minimal() && rings && !topology.is_curtailed()
}

/// Decides whether a run can deadlock.
pub fn prove(router: &RouterSpec, topology: &Topology, kind: &dyn ReadyRouting, needed: u8) -> Proof {
    if !router.has_bounded_buffers() {
        return Proof {
            free: true,
            decided: true,
            words: "free of deadlock: unbounded buffers, nothing waits for room".into(),
        };
    }
    let model = router.named();
    if rings_move(router, topology, kind) {
        return Proof {
            free: true,
            decided: true,
            words: "free of deadlock: dimension order between the rings, bubble flow control within them (Carrion et al. 1997)".into(),
        };
    }
    let vcs = match model.channels() {
        RouterChannels::One => 1,
        // Packets take any channel of their class, and wait for one of them: the class is the channel.
        RouterChannels::InClasses if !kind.takes_all_channels() => router.vcs.map_or(needed, |vcs| vcs.min(needed)),
        RouterChannels::InClasses | RouterChannels::AsNeeded | RouterChannels::Names => router.vcs.unwrap_or(needed),
    };
    if kind.table().is_some() {
        return Proof::of(
            &check_within(topology, &*kind.rule(topology, vcs), MOST_TABLE_STEPS),
            topology,
        );
    }
    if topology.spec().is_graph() {
        return on_graph(topology, kind, vcs);
    }
    if topology.is_curtailed() {
        return on_what_is_left(topology, kind, vcs, needed);
    }
    // A reduced network needs fewer channels where they count hops; what is missing is missing there too.
    let missing = needed.saturating_sub(vcs);
    let on = |looked_at: &Topology| match looked_at.spec() == topology.spec() {
        true => vcs,
        false => kind.vcs(looked_at).saturating_sub(missing).max(1),
    };
    match check_or_reduced(topology, MOST_STEPS, |looked_at| kind.rule(looked_at, on(looked_at))) {
        Ok(proof) => Proof {
            free: proof.verdict.is_free(),
            decided: is_decided(&proof.verdict),
            words: match kind.escapes() {
                true => format!("by the escape channel alone (Duato 1993): {}", proof.words),
                false => proof.words,
            },
        },
        Err(_) => Proof {
            free: false,
            decided: false,
            words: "the reduced network of the proof cannot be built".into(),
        },
    }
}

impl Proof {
    /// A verdict on so much.
    pub(crate) fn over(verdict: &Verdict, topology: &Topology, what: &str) -> Proof {
        let proof = Proof::of(verdict, topology);
        Proof {
            words: format!("{what}: {}", proof.words),
            ..proof
        }
    }

    fn of(verdict: &Verdict, topology: &Topology) -> Proof {
        Proof {
            free: verdict.is_free(),
            decided: is_decided(verdict),
            words: verdict.describe(topology),
        }
    }
}

fn is_decided(verdict: &Verdict) -> bool {
    !matches!(verdict, Verdict::TooLarge { .. })
}

/// A network after failures, for which nothing smaller stands. Where following all packets takes long, it is said why there is no cycle: the
/// channels of what is left rise along every way, and legs have channels one above the other (`topo::families::curtailed`); on small networks every such
/// proof is made in tests.
fn on_what_is_left(topology: &Topology, kind: &dyn ReadyRouting, vcs: u8, needed: u8) -> Proof {
    let verdict = check_within(topology, &*kind.rule(topology, vcs), MOST_STEPS_OF_LEFT);
    if is_decided(&verdict) || vcs < needed {
        return Proof::of(&verdict, topology);
    }
    Proof {
        free: true,
        decided: true,
        words: format!(
            "free of deadlock: on {needed} channels, which are taken in rising order along every way round the failures"
        ),
    }
}

/// A graph, for which nothing smaller stands: where following every packet takes long, detours are first judged leg by leg.
fn on_graph(topology: &Topology, kind: &dyn ReadyRouting, vcs: u8) -> Proof {
    let rule = kind.rule(topology, vcs);
    let needed = kind.vcs(topology);
    if kind.counts_hops() && vcs >= needed {
        let verdict = check_within(topology, &*rule, MOST_STEPS);
        return match is_decided(&verdict) {
            true => Proof::of(&verdict, topology),
            false => Proof {
                free: true,
                decided: true,
                words: format!(
                    "free of deadlock: on {needed} channels, one for each hop of the longest way, in rising order along every way"
                ),
            },
        };
    }
    let Some(legs) = kind.legs(topology, vcs) else {
        return Proof::of(&check_within(topology, &*rule, MOST_TABLE_STEPS), topology);
    };
    let verdict = check_within(topology, &*rule, MOST_STEPS);
    if is_decided(&verdict) {
        return Proof::of(&verdict, topology);
    }
    let by_legs = check_within(topology, &legs, MOST_TABLE_STEPS);
    if by_legs.is_free() {
        let proof = Proof::of(&by_legs, topology);
        return Proof {
            words: format!("leg by leg, whichever packet takes it: {}", proof.words),
            ..proof
        };
    }
    // A cycle of legs need not be one of packets.
    Proof::of(&check_within(topology, &*rule, topo::deadlock::MOST_STEPS), topology)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_found_once_for_what_it_is_of_and_forgotten_behind_many_others() {
        let proof = |words: &str| Proof {
            free: true,
            decided: true,
            words: words.to_owned(),
        };
        let of = |number: usize| format!("network {number} of this test");
        for number in 0..MOST_REMEMBERED {
            assert_eq!(remembered(of(number), || proof(&of(number))).words, of(number));
        }
        assert_eq!(
            remembered(of(MOST_REMEMBERED - 1), || panic!("it is known")).words,
            of(MOST_REMEMBERED - 1)
        );
        remembered(of(MOST_REMEMBERED), || proof("one more"));
        assert_eq!(remembered(of(0), || proof("found anew")).words, "found anew");
    }
    use crate::routing::Kind;
    use crate::spec::{DetourSpec, RoutingSpec, Via, ViaSpec, plain};
    use des::mix;
    use des::rng::below;
    use std::cmp::Ordering;
    use std::collections::BTreeSet;
    use topo::{
        Arrangement, DragonflyPlusSpec, DragonflySpec, FailKind, FailSpec, GraphFormat, GraphSpec, Lattice, RoutingRule,
    };

    /// A ring of routers with some chords and double cables; every third router has no nodes.
    fn graph(routers: u32, seed: u64) -> Topology {
        let mut text = String::new();
        for at in 0..routers {
            let chord = below(mix(seed ^ u64::from(at)), u64::from(routers)) as u32;
            text += &format!("{at} {} {}\n", (at + 1) % routers, 1 + at % 2);
            if at % 3 == 0 && chord != at {
                text += &format!("{at} {chord}\n");
            }
            if at % 3 != 1 {
                text += &format!("node {at} 2\n");
            }
        }
        let file = std::env::temp_dir().join(format!("fabricsim-proof-{routers}-{seed}-{}", std::process::id()));
        std::fs::write(&file, text).unwrap();
        let spec = TopologySpec::Graph(GraphSpec {
            text: None,
            file: file.to_str().unwrap().into(),
            format: GraphFormat::EdgeList,
            nodes_per_router: 0,
        });
        let topology = spec.build();
        std::fs::remove_file(&file).unwrap();
        topology.unwrap()
    }

    fn kinds(topology: &Topology) -> Vec<(&'static str, Kind)> {
        let spec = plain(topology.spec().clone());
        let over = |via, routing: fn(DetourSpec) -> RoutingSpec| {
            let detour = DetourSpec {
                via,
                ..DetourSpec::default()
            };
            routing(detour).ready(&spec.routing_terms(), topology).unwrap()
        };
        let valiant = |via| {
            RoutingSpec::Valiant(ViaSpec { via })
                .ready(&spec.routing_terms(), topology)
                .unwrap()
        };
        vec![
            ("valiant", valiant(Via::Node)),
            ("ugal", over(Via::Router, RoutingSpec::Ugal)),
            ("ugal over nodes", over(Via::Node, RoutingSpec::Ugal)),
            ("par", over(Via::Router, RoutingSpec::Par)),
            ("all", valiant(Via::Router)),
        ]
        .into_iter()
        .chain(topology.group_size().into_iter().flat_map(|_| {
            [
                ("valiant over groups", valiant(Via::Group)),
                ("ugal over groups", over(Via::Group, RoutingSpec::Ugal)),
                ("par over groups", over(Via::Group, RoutingSpec::Par)),
            ]
        }))
        .collect()
    }

    type Pairs = BTreeSet<((u32, u16, u8), (u32, u16, u8))>;

    /// Pairs of channels that packets of a rule hold one after the other.
    fn dependencies(topology: &Topology, rule: &dyn RoutingRule) -> Pairs {
        let mut pairs = Pairs::new();
        let wiring = topology.wiring();
        for end in (0..topology.n_routers()).filter_map(|r| wiring.nodes_of(r).next()) {
            let (mut seen, mut work) = (BTreeSet::new(), Vec::new());
            for at in (0..topology.n_routers()).filter(|&r| rule.starts_anywhere() || !wiring.nodes_of(r).is_empty()) {
                let mut steps = Vec::new();
                rule.start(at, end, &mut steps);
                work.extend(steps.iter().map(|step| (at, *step)));
            }
            while let Some((at, held)) = work.pop() {
                if !seen.insert((at, held.port, held.vc, held.state)) {
                    continue;
                }
                let (next, came) = wiring.peer(at, held.port);
                let mut steps = Vec::new();
                rule.next(next, came, held.vc, held.state, end, &mut steps);
                for step in steps {
                    pairs.insert(((at, held.port, held.vc), (next, step.port, step.vc)));
                    work.push((next, step));
                }
            }
        }
        pairs
    }

    #[test]
    fn legs_have_all_dependencies_of_packets_and_the_same_verdict() {
        for seed in 0..12 {
            let topology = graph(5 + seed as u32, seed);
            for (name, kind) in kinds(&topology) {
                let needed = kind.ready().vcs(&topology);
                for vcs in 1..=needed {
                    let (exact, legs) = (
                        kind.ready().rule(&topology, vcs),
                        kind.ready().legs(&topology, vcs).unwrap(),
                    );
                    let (of_packets, of_legs) = (dependencies(&topology, &*exact), dependencies(&topology, &legs));
                    assert!(!of_packets.is_empty());
                    let missing: Vec<_> = of_packets.difference(&of_legs).collect();
                    assert!(missing.is_empty(), "{name}, seed {seed}, {vcs} channels: {missing:?}");
                    let free = check_within(&topology, &legs, u64::MAX).is_free();
                    // What legs prove holds for packets; with the channels that are needed they prove it.
                    assert!(!free || check_within(&topology, &*exact, u64::MAX).is_free());
                    assert!(free || vcs < needed, "{name}, seed {seed}");
                }
            }
        }
    }

    /// Channels of a leg on a stage.
    const CHANNELS: u8 = 12;

    /// What two failed cables leave, as a stage of a network that changes, with channels enough for packets from any other stage.
    fn stage(spec: TopologySpec, seed: u64) -> Topology {
        let whole = spec.build().unwrap();
        let cables = FailSpec::random(FailKind::Cables, 2, seed);
        let failed = whole.failed(&cables, None).unwrap();
        whole.left_of(failed, true).unwrap().with_channels(CHANNELS)
    }

    #[test]
    fn legs_of_a_stage_have_all_dependencies_of_packets() {
        let lattice = |shape: &[u32]| Lattice {
            shape: shape.to_vec(),
            width: Vec::new(),
            nodes_per_router: 2,
        };
        let dragonfly = |links_per_pair| {
            TopologySpec::Dragonfly(DragonflySpec {
                groups: 4,
                routers_per_group: vec![3],
                nodes_per_router: 1,
                links_per_pair,
                local_width: 1,
                arrangement: Arrangement::Absolute,
                arrangement_seed: 1,
            })
        };
        let families = [
            TopologySpec::Mesh(lattice(&[3, 3])),
            TopologySpec::Torus(lattice(&[4, 3])),
            TopologySpec::HyperX(lattice(&[3, 3])),
            dragonfly(1),
            dragonfly(3),
            TopologySpec::DragonflyPlus(DragonflyPlusSpec {
                groups: 3,
                leaves: 2,
                spines: 2,
                nodes_per_leaf: 1,
                links_per_pair: 2,
                local_width: 1,
                arrangement: Arrangement::Absolute,
                arrangement_seed: 1,
            }),
        ];
        for (family, seed) in families
            .iter()
            .flat_map(|family| (0..4).map(move |seed| (family, seed)))
        {
            let topology = stage(family.clone(), seed);
            for (name, kind) in kinds(&topology) {
                let kind = kind.ready();
                let vcs = kind.vcs(&topology);
                let exact = kind.rule(&topology, vcs);
                let legs = kind.legs(&topology, vcs).unwrap().in_time().unwrap();
                let (of_packets, of_legs) = (dependencies(&topology, &*exact), dependencies(&topology, &legs));
                // The last leg stands for those below it; from one to another channels rise.
                let leg = |vc: u8| vc / CHANNELS;
                let to_the_last = |vc: u8| vc % CHANNELS + vcs - CHANNELS;
                let missing: Vec<_> = of_packets
                    .iter()
                    .filter(|&&((at, port, vc), (next, out, then))| match leg(vc).cmp(&leg(then)) {
                        Ordering::Less => false,
                        Ordering::Greater => true,
                        Ordering::Equal => {
                            !of_legs.contains(&((at, port, to_the_last(vc)), (next, out, to_the_last(then))))
                        }
                    })
                    .collect();
                assert!(
                    !of_packets.is_empty() && missing.is_empty(),
                    "{name} on {family:?}, seed {seed}: {missing:?}"
                );
                assert!(
                    check_within(&topology, &legs, u64::MAX).is_free(),
                    "{name} on {family:?}, seed {seed}"
                );
                // On fewer channels all legs are followed, and nothing is left out.
                let few = vcs - CHANNELS / 2;
                let exact = kind.rule(&topology, few);
                let legs = kind.legs(&topology, few).unwrap().in_time().unwrap();
                let (of_packets, of_legs) = (dependencies(&topology, &*exact), dependencies(&topology, &legs));
                let missing: Vec<_> = of_packets.difference(&of_legs).collect();
                assert!(missing.is_empty(), "{name} on {family:?}, seed {seed}: {missing:?}");
            }
        }
    }

    #[test]
    fn detours_on_a_graph_of_hundreds_of_routers_are_decided() {
        let topology = graph(400, 7);
        for (name, kind) in kinds(&topology) {
            let vcs = kind.ready().vcs(&topology);
            assert!(!is_decided(&check_within(
                &topology,
                &*kind.ready().rule(&topology, vcs),
                MOST_STEPS
            )));
            let proof = on_graph(&topology, kind.ready(), vcs);
            assert!(
                proof.free && proof.words.starts_with("leg by leg"),
                "{name}: {}",
                proof.words
            );
        }
    }
}
