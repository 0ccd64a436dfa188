//! Freedom from deadlock of the routings, decided before a run by the channel dependency graph (`topo::deadlock`).

use super::Kind;
use super::deroute::DerouteRule;
use super::table::TableRule;
use super::ugal::{LegsRule, UgalRule};
use crate::spec::{Architecture, RunSpec};
use topo::deadlock::{Verdict, check_or_reduced, check_within};
use topo::{Came, HopList, MinimalRule, RoutingRule, Step, Topology, TopologySpec};

/// Steps a proof may take on the network itself before a smaller network of the same family stands for it: well under a second.
const MOST_STEPS: u64 = 4_000_000;

/// Steps that the proof of forwarding tables and on graphs may take, for which no smaller network stands: some minutes.
const MOST_TABLE_STEPS: u64 = 1 << 34;

/// What a proof found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// No packets can wait for each other for ever.
    pub free: bool,
    /// Whether the proof came to an end; if not, nothing is known.
    pub decided: bool,
    /// In words; the cycle by names if there is one.
    pub words: String,
}

/// Decides whether a run can deadlock.
pub fn prove(spec: &RunSpec, topology: &Topology, kind: &Kind, needed: u8) -> Proof {
    if !spec.router.has_bounded_buffers() {
        return Proof {
            free: true,
            decided: true,
            words: "free of deadlock: unbounded buffers, nothing waits for room".into(),
        };
    }
    let late = spec.router.architecture == Architecture::LateAdmission;
    // A chunk that enters a ring leaves room in it; parallel cables would let that room move to the wrong one.
    let rings = match topology.spec() {
        TopologySpec::Ring { width, .. } => *width == 1,
        TopologySpec::Torus(lattice) => lattice.width.iter().all(|&width| width == 1),
        _ => false,
    };
    if late && spec.router.bubble > 1 && matches!(kind, Kind::Minimal) && rings {
        return Proof {
            free: true,
            decided: true,
            words: "free of deadlock: dimension order between the rings, bubble flow control within them (Carrion et al. 1997)".into(),
        };
    }
    let vcs = if late { 1 } else { spec.router.vcs.unwrap_or(needed) };
    if let Kind::Table(table) = kind {
        let rule = TableRule::new(topology, table.clone(), vcs);
        return Proof::of(&check_within(topology, &rule, MOST_TABLE_STEPS), topology);
    }
    if let TopologySpec::Graph { .. } = topology.spec() {
        return on_graph(topology, kind, vcs);
    }
    // A reduced network needs fewer channels where they count hops; what is missing is missing there too.
    let missing = needed.saturating_sub(vcs);
    let on = |looked_at: &Topology| match looked_at.spec() == topology.spec() {
        true => vcs,
        false => needs(kind, looked_at).saturating_sub(missing).max(1),
    };
    match check_or_reduced(topology, MOST_STEPS, |looked_at| rule(kind, looked_at, on(looked_at))) {
        Ok(proof) => Proof {
            free: proof.verdict.is_free(),
            decided: is_decided(&proof.verdict),
            words: match kind {
                Kind::Deroute(deroute) if deroute.escapes() => {
                    format!("by the escape channel alone (Duato 1993): {}", proof.words)
                }
                _ => proof.words,
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

/// A graph, for which nothing smaller stands: where following every packet takes long, detours are first judged leg by leg.
fn on_graph(topology: &Topology, kind: &Kind, vcs: u8) -> Proof {
    let rule = rule(kind, topology, vcs);
    let Some(legs) = legs(kind, topology, vcs) else {
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

/// The legs of a routing that takes detours.
fn legs<'t>(kind: &Kind, topology: &'t Topology, vcs: u8) -> Option<LegsRule<'t>> {
    match kind {
        Kind::Valiant => Some(LegsRule::of_valiant(topology, vcs)),
        Kind::Ugal(ugal) => Some(LegsRule::of_ugal(*ugal, topology, vcs)),
        Kind::Classes(classes) => legs(classes.kind(), topology, vcs),
        Kind::Minimal
        | Kind::Rdr { .. }
        | Kind::MinRandom
        | Kind::MinA(_)
        | Kind::Scatter
        | Kind::AdaptiveUp(..)
        | Kind::Deroute(_)
        | Kind::Table(_) => None,
    }
}

/// Virtual channels that keep a routing free of deadlock.
pub fn needs(kind: &Kind, topology: &Topology) -> u8 {
    match kind {
        Kind::Minimal => topology.minimal_vcs(),
        Kind::Rdr { .. } | Kind::MinRandom | Kind::MinA(_) => topology.diameter().clamp(1, 255) as u8,
        Kind::Valiant => topology.minimal_vcs().saturating_mul(2),
        Kind::Ugal(ugal) => ugal.on(topology).vcs(topology),
        Kind::Scatter | Kind::AdaptiveUp(..) => 1,
        Kind::Deroute(deroute) => deroute.vcs(topology),
        Kind::Table(table) => table.n_lanes(),
        Kind::Classes(classes) => needs(classes.kind(), topology),
    }
}

fn rule<'t>(kind: &Kind, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
    match kind {
        Kind::Minimal => Box::new(MinimalRule::new(topology).limited_to(vcs)),
        Kind::Rdr { .. } | Kind::MinRandom | Kind::MinA(_) => Box::new(RandomRule { topology, vcs }),
        Kind::Scatter | Kind::AdaptiveUp(..) => Box::new(RandomRule { topology, vcs: 1 }),
        // No packet waits for another one outside the escape channel, and there it follows dimension order from any router.
        Kind::Deroute(deroute) if deroute.escapes() => Box::new(MinimalRule::new(topology)),
        Kind::Deroute(deroute) => Box::new(DerouteRule::new(*deroute, topology, vcs)),
        Kind::Valiant => Box::new(ValiantRule {
            topology,
            keys: topology.key_classes(),
            vcs,
            intermediates: (0..topology.n_routers())
                .filter(|&r| !topology.wiring().nodes_of(r).is_empty())
                .collect(),
        }),
        Kind::Ugal(ugal) => Box::new(UgalRule::new(*ugal, topology, vcs)),
        Kind::Table(table) => Box::new(TableRule::new(topology, table.clone(), vcs)),
        Kind::Classes(classes) => rule(classes.kind(), topology, vcs),
    }
}

/// Any minimal neighbour at every router, on the channel that counts the hops passed; the state is that number.
struct RandomRule<'t> {
    topology: &'t Topology,
    vcs: u8,
}

impl RandomRule<'_> {
    fn push(&self, at: u32, dst: u32, hops: u32, out: &mut Vec<Step>) {
        let mut list = HopList::new();
        self.topology.minimal_hops(at, self.topology.router_of(dst), &mut list);
        let vc = hops.min(u32::from(self.vcs) - 1) as u8;
        for hop in list.iter() {
            out.extend((0..hop.links).map(|k| Step {
                port: hop.port + k,
                vc,
                state: hops + 1,
            }));
        }
    }
}

impl RoutingRule for RandomRule<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        self.push(at, dst, 0, out);
    }

    fn next(&self, at: u32, _: u16, _: u8, hops: u32, dst: u32, out: &mut Vec<Step>) {
        self.push(at, dst, hops, out);
    }

    fn is_minimal(&self) -> bool {
        true
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}

/// Valiant: the state is the intermediate's number plus one on the first leg, zero on the second, with the key's class beside it.
struct ValiantRule<'t> {
    topology: &'t Topology,
    keys: Vec<u32>,
    vcs: u8,
    intermediates: Vec<u32>,
}

impl ValiantRule<'_> {
    fn push(&self, at: u32, dst: u32, came: Came, state: u32, out: &mut Vec<Step>) {
        let n_keys = self.keys.len() as u32;
        let (leg, class) = (state / n_keys, state % n_keys);
        let key = self.keys[class as usize];
        let own = self.topology.minimal_vcs();
        let mut came = came;
        if leg > 0 {
            let via = self.intermediates[leg as usize - 1];
            if via != at {
                let hop = self.topology.minimal_to(at, via, came, key);
                let vc = hop.vc.min(self.vcs - 1);
                out.extend((0..hop.links).map(|k| Step {
                    port: hop.port + k,
                    vc,
                    state,
                }));
                return;
            }
            came = Came::INJECTED;
        } else {
            came.vc = came.vc.saturating_sub(own);
        }
        if self.topology.router_of(dst) == at {
            return;
        }
        let hop = self.topology.minimal(at, dst, came, key);
        let vc = (hop.vc + own).min(self.vcs - 1);
        out.extend((0..hop.links).map(|k| Step {
            port: hop.port + k,
            vc,
            state: class,
        }));
    }
}

impl RoutingRule for ValiantRule<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let n_keys = self.keys.len() as u32;
        for leg in 1..=self.intermediates.len() as u32 {
            (0..n_keys).for_each(|class| self.push(at, dst, Came::INJECTED, leg * n_keys + class, out));
        }
    }

    fn next(&self, at: u32, port: u16, vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        // A packet is handed over where its node is, also on its first leg.
        if self.topology.router_of(dst) != at {
            self.push(at, dst, Came { port, vc }, state, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::ugal::Ugal;
    use crate::spec::{DetourSpec, Via, plain};
    use des::mix;
    use des::rng::below;
    use std::collections::BTreeSet;
    use topo::GraphFormat;

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
        let spec = TopologySpec::Graph {
            file: file.to_str().unwrap().into(),
            format: GraphFormat::EdgeList,
            nodes_per_router: 0,
        };
        let topology = spec.build();
        std::fs::remove_file(&file).unwrap();
        topology.unwrap()
    }

    fn kinds(topology: &Topology) -> Vec<(&'static str, Kind)> {
        let spec = plain(topology.spec().clone());
        let over = |via, progressive| {
            let detour = DetourSpec {
                via,
                ..DetourSpec::default()
            };
            Kind::Ugal(Ugal::new(&detour, progressive, &spec, topology).unwrap())
        };
        vec![
            ("valiant", Kind::Valiant),
            ("ugal", over(Via::Router, false)),
            ("ugal over nodes", over(Via::Node, false)),
            ("par", over(Via::Router, true)),
            ("all", Kind::Ugal(Ugal::always(Via::Router, &spec, topology).unwrap())),
        ]
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
                let needed = needs(&kind, &topology);
                for vcs in 1..=needed {
                    let (exact, legs) = (rule(&kind, &topology, vcs), legs(&kind, &topology, vcs).unwrap());
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

    #[test]
    fn detours_on_a_graph_of_hundreds_of_routers_are_decided() {
        let topology = graph(400, 7);
        for (name, kind) in kinds(&topology) {
            let vcs = needs(&kind, &topology);
            assert!(!is_decided(&check_within(
                &topology,
                &*rule(&kind, &topology, vcs),
                MOST_STEPS
            )));
            let proof = on_graph(&topology, &kind, vcs);
            assert!(
                proof.free && proof.words.starts_with("leg by leg"),
                "{name}: {}",
                proof.words
            );
        }
    }
}
