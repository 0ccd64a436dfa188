//! Routers joined at random, all with as many cables: what Jellyfish is (Singla, Hong, Popa and Godfrey 2012).

use super::{Standing, laid_out};
use crate::families::graph::GraphTables;
use crate::families::keys::{COUNT, NODES_PER_ROUTER};
use crate::families::{GraphFile, NamedTopology, RandomRegular, TopologyKeys};
use crate::graph_file::{CableLine, GraphText};
use crate::problems::{FieldError, Problems};
use crate::random::split_mix;
use crate::wiring::Wiring;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use study::{Default, Parameter, SEED, Type, key};

/// A random regular graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RandomRegularSpec {
    /// Number of routers.
    pub routers: u32,
    /// Cables of every router to others; of one router one less if their product is odd.
    pub degree: u32,
    /// Nodes per router.
    pub nodes_per_router: u32,
    /// What the cables are drawn from.
    pub seed: u64,
}

const KEYS: &[Parameter] = &[
    key("routers", COUNT, Default::Required, "Number of routers."),
    key(
        "degree",
        Type::Integer { min: 2, max: 4_096 },
        Default::Required,
        "Cables of every router to others, each to another one; where routers times degree is odd, one router has one less.",
    ),
    NODES_PER_ROUTER,
    key("seed", SEED, Default::Text("1"), "What the cables are drawn from."),
];

/// Draws of a whole graph before it is given up; few are in pieces, but with two cables a router most.
const TRIES: u64 = 100;

impl NamedTopology for RandomRegular {
    type Parameters = RandomRegularSpec;
    type Family = GraphTables;

    const LINE: &'static str = "Routers joined at random, all with as many cables (Jellyfish).";
    const KEYS: &'static [&'static [Parameter]] = &[KEYS];
    const SOURCE: &'static str = "Singla, Hong, Popa and Godfrey, NSDI 2012";
    const LIMITS: &'static str = "Routing is the generic minimal one.";
    const NODES: &'static str = "nodes_per_router";

    fn read(keys: &mut TopologyKeys<'_>) -> Option<RandomRegularSpec> {
        Some(RandomRegularSpec {
            routers: keys.number("routers")?,
            degree: keys.number("degree")?,
            nodes_per_router: keys.number("nodes_per_router")?,
            seed: keys.values.integer("seed")?,
        })
    }

    fn build(spec: &RandomRegularSpec, _file: &GraphFile<'_>) -> Result<(GraphTables, Wiring), Vec<FieldError>> {
        let RandomRegularSpec {
            routers,
            degree,
            nodes_per_router,
            seed,
        } = *spec;
        let mut problems = Problems::default();
        problems.at_least("degree", degree, 2);
        problems.at_least("nodes_per_router", nodes_per_router, 1);
        if degree >= routers {
            let hint = format!("take at most {}", routers.saturating_sub(1));
            problems.add(
                "degree",
                format!(
                    "{degree} cables to other routers, there are {} of them",
                    routers.saturating_sub(1)
                ),
                Some(&hint),
            );
        }
        problems.done()?;
        let mut graph = GraphText {
            names: (0..routers).map(|r| r.to_string()).collect(),
            nodes: vec![None; routers as usize],
            cables: Vec::new(),
            classes: ["host", "link"].map(str::to_owned).to_vec(),
        };
        // Sizes are checked before cables are drawn.
        graph.cables.push(CableLine {
            a: 0,
            b: 1,
            count: 1,
            class: 1,
        });
        super::check(&graph, nodes_per_router, "routers")?;
        for attempt in 0..TRIES {
            let cables = drawn(routers, degree, seed ^ attempt << 48);
            if is_whole(routers, &cables) {
                let line = |&(a, b): &(u32, u32)| CableLine {
                    a,
                    b,
                    count: 1,
                    class: 1,
                };
                graph.cables = cables.iter().map(line).collect();
                return laid_out(&graph, nodes_per_router, "routers", Standing::default());
            }
        }
        let reason = format!("{TRIES} draws of {degree} cables a router were in pieces");
        problems.add("degree", reason, Some("take more cables, or kind = \"ring\" for two"));
        Err(problems.0)
    }

    /// Nothing smaller has the same ways.
    fn reduce(_spec: &mut RandomRegularSpec) {}
}

/// Cables, each once: routers with free ports that are not joined are, two at random, until none are left; then two free ports of one router
/// take the place of a cable elsewhere.
fn drawn(routers: u32, degree: u32, seed: u64) -> BTreeSet<(u32, u32)> {
    let mut state = seed;
    let mut below = |n: usize| ((u128::from(split_mix(&mut state)) * n as u128) >> 64) as usize;
    let pair = |a: u32, b: u32| (a.min(b), a.max(b));
    let mut cables = BTreeSet::new();
    let mut free = vec![degree; routers as usize];
    let mut open: Vec<u32> = (0..routers).collect();
    let mut list: Vec<(u32, u32)> = Vec::new();
    // Two that are joined already, or one twice, are drawn now and then; many times in a row only where no others are left.
    let mut missed = 0;
    while open.len() > 1 && missed < 50 * open.len() {
        let (i, k) = (below(open.len()), below(open.len()));
        let (a, b) = (open[i], open[k]);
        if a == b || !cables.insert(pair(a, b)) {
            missed += 1;
            continue;
        }
        missed = 0;
        list.push(pair(a, b));
        // The later place first: what takes it comes from the end.
        for place in [i.max(k), i.min(k)] {
            let left = &mut free[open[place] as usize];
            *left -= 1;
            if *left == 0 {
                open.swap_remove(place);
            }
        }
    }
    // Ports that are left, of one router or of some that are all joined to each other: each two take a cable apart.
    let mut left: Vec<u32> = open
        .iter()
        .flat_map(|&router| vec![router; free[router as usize] as usize])
        .collect();
    while let (Some(a), Some(b)) = (left.pop(), left.pop()) {
        for _ in 0..100_000 {
            let at = below(list.len());
            let (c, d) = list[at];
            let fits = ![c, d].contains(&a)
                && ![c, d].contains(&b)
                && !cables.contains(&pair(a, c))
                && !cables.contains(&pair(b, d));
            if fits {
                cables.remove(&(c, d));
                cables.extend([pair(a, c), pair(b, d)]);
                list[at] = pair(a, c);
                list.push(pair(b, d));
                break;
            }
        }
    }
    cables
}

/// Whether there is a way from each router to each.
fn is_whole(routers: u32, cables: &BTreeSet<(u32, u32)>) -> bool {
    let mut neighbours = vec![Vec::new(); routers as usize];
    for &(a, b) in cables {
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
    }
    let mut seen = vec![false; routers as usize];
    let mut left = vec![0];
    seen[0] = true;
    let mut n = 1;
    while let Some(at) = left.pop() {
        for &to in &neighbours[at as usize] {
            if !std::mem::replace(&mut seen[to as usize], true) {
                n += 1;
                left.push(to);
            }
        }
    }
    n == routers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_router_has_as_many_cables_and_none_twice() {
        for (routers, degree) in [(3, 2), (10, 3), (20, 7), (9, 8), (50, 4), (7, 3), (64, 11), (200, 5)] {
            for seed in 0..20 {
                let cables = drawn(routers, degree, seed);
                let mut count = vec![0; routers as usize];
                for &(a, b) in &cables {
                    assert!(a < b, "a cable from a router to itself");
                    count[a as usize] += 1;
                    count[b as usize] += 1;
                }
                let short: u32 = count.iter().map(|&n: &u32| degree - n).sum();
                assert_eq!(short, routers * degree % 2, "{routers} of {degree}, seed {seed}");
                assert_eq!(cables, drawn(routers, degree, seed));
            }
        }
        assert_ne!(drawn(50, 4, 1), drawn(50, 4, 2));
    }

    #[test]
    fn cables_are_drawn_evenly() {
        // Each of 45 pairs of 10 routers of degree 3 has a third of a chance.
        let n = 3_000;
        let mut met = std::collections::BTreeMap::<(u32, u32), u32>::new();
        for seed in 0..n {
            drawn(10, 3, seed)
                .into_iter()
                .for_each(|pair| *met.entry(pair).or_default() += 1);
        }
        let (expected, sigma) = (n as f64 / 3.0, (n as f64 * 2.0 / 9.0).sqrt());
        assert_eq!(met.len(), 45);
        assert!(
            met.values()
                .all(|&count| (f64::from(count) - expected).abs() < 5.0 * sigma),
            "{met:?}"
        );
    }
}
