//! Failures: cables, routers and nodes that are dead from the start, by name or drawn, and cables that have lost lanes or make errors.
//!
//! A cable fails in both directions. A router fails with its cables and nodes. A node fails alone: its link carries nothing.

use crate::fallout::Fallout;
use crate::families::Curtailed;
use crate::problems::FieldError;
use crate::random::split_mix;
use crate::topology::Topology;
use crate::wiring::Wiring;
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::HashMap;
use study::{Named, choice};

/// What is dead. Names are those of tables and reports; what is drawn is drawn among what the names have left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FailSpec {
    /// Cables between routers: router and port, as in `links.parquet`: `(0,0) x+`, `g0.r3 to g1.r5 #1`; `#*` at the end for all parallel ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cables: Vec<String>,
    /// Routers, with their cables and nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routers: Vec<String>,
    /// Nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<u32>,
    /// Groups by number, with all that is in them: those of a dragonfly or dragonfly+, pods of a fat-tree, planes of a lattice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<u32>,
    /// What is drawn beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<DrawnFailures>,
    /// Cables, named and drawn ones, do not die: they keep this share of their bandwidth, above 0 and below 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps: Option<f64>,
    /// Cables, named and drawn ones, do not die: so many of the bits on them are wrong, above 0 and below 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_rate: Option<f64>,
}

impl FailSpec {
    /// So many of a kind that a seed draws, of any class, and nothing else.
    pub fn random(of: FailKind, count: u32, seed: u64) -> FailSpec {
        FailSpec {
            drawn: Some(DrawnFailures {
                of,
                many: HowMany::Count(count),
                class: None,
                seed,
            }),
            ..FailSpec::default()
        }
    }
}

/// Failures at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawnFailures {
    /// What fails.
    pub of: FailKind,
    /// How many.
    pub many: HowMany,
    /// Cables of this class alone; of all classes without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Seed of the draw. With the same one more failures are the fewer ones and others.
    pub seed: u64,
}

/// How many failures are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HowMany {
    /// So many.
    Count(u32),
    /// This share of all there are, rounded to the nearest number.
    Share(f64),
}

choice! {
    /// What can fail at random.
    pub enum FailKind {
        Cables = "cables", "Cables between routers.";
        Routers = "routers", "Routers, with their cables and nodes.";
        Nodes = "nodes", "Nodes.";
    }
}

impl FailSpec {
    /// Whether nothing fails.
    pub fn is_empty(&self) -> bool {
        *self == FailSpec::default()
    }

    /// Whether cables that fail live on, with less bandwidth or with errors.
    pub fn impairs(&self) -> bool {
        self.keeps.is_some() || self.error_rate.is_some()
    }
}

/// Link classes beside which there is room for slower ones.
const MOST_CLASSES: usize = 127;

/// Dead parts while they are collected.
struct Dead<'a> {
    topology: &'a Topology,
    /// Routers by name, once one has been asked for.
    names: OnceCell<HashMap<String, u32>>,
    /// Ports of cables that were impaired before, among which none is drawn.
    before: Vec<bool>,
    failed: Failed,
}

/// What has failed of a whole network: true for dead ports (both ends of a cable), those of cables that live on with less bandwidth or with
/// errors, routers and nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    ports: Vec<bool>,
    impaired: Vec<bool>,
    routers: Vec<bool>,
    nodes: Vec<bool>,
    /// Cables that fail live on.
    impairs: bool,
    /// Cables keep this share of their bandwidth.
    keeps: Option<f64>,
}

impl Failed {
    /// Adds what has failed beside it; impaired cables have the share of their bandwidth of the first that says one.
    pub fn join(&mut self, other: &Failed) {
        let pairs = [
            (&mut self.ports, &other.ports),
            (&mut self.impaired, &other.impaired),
            (&mut self.routers, &other.routers),
            (&mut self.nodes, &other.nodes),
        ];
        for (mine, theirs) in pairs {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine |= theirs);
        }
        self.keeps = self.keeps.or(other.keeps);
    }

    /// Whether its cables live on.
    pub fn impairs(&self) -> bool {
        self.impairs
    }

    /// Dead ports by their number in the wiring of the whole network.
    pub fn ports(&self) -> &[bool] {
        &self.ports
    }

    /// Ports of cables that live on, with less bandwidth or with errors, likewise.
    pub fn impaired(&self) -> &[bool] {
        &self.impaired
    }

    /// Dead nodes.
    pub fn nodes(&self) -> &[bool] {
        &self.nodes
    }
}

impl Topology {
    /// What is left of the network after failures.
    ///
    /// # Errors
    /// Each name that nothing has, a class or number that is not there, with its key in `[fail]`; or more failures than levels can be kept for.
    pub fn without(self, fail: &FailSpec) -> Result<Topology, Vec<FieldError>> {
        let failed = self.failed(fail, None)?;
        self.left_of(failed, false)
    }

    /// What is left of the whole network where this has failed. `everywhere`: the ways to all targets keep to the order of channels of what is
    /// left, also to those that no failure concerns, so that packets may go on from ways of one such network on those of another.
    ///
    /// # Errors
    /// More failures than levels can be kept for.
    pub fn left_of(self, failed: Failed, everywhere: bool) -> Result<Topology, Vec<FieldError>> {
        let dead = Dead {
            topology: &self,
            names: OnceCell::new(),
            before: Vec::new(),
            failed,
        };
        let (ports, fallout) = dead.fallout();
        let impaired = fallout.impaired.clone();
        let left = match everywhere || ports.contains(&true) {
            true => self.curtail(&ports, fallout, everywhere)?,
            false => self.with_fallout(fallout),
        };
        Ok(left.slow_down(&impaired))
    }

    /// What would fail of the whole network: beside what has `before`, among whose rest is drawn; of impaired cables only those that are impaired
    /// now.
    ///
    /// # Errors
    /// Each name that nothing has, a class or number that is not there, with its key in `[fail]`.
    pub fn failed(&self, fail: &FailSpec, before: Option<&Failed>) -> Result<Failed, Vec<FieldError>> {
        let nothing = Failed {
            ports: vec![false; self.wiring().n_ports() as usize],
            impaired: vec![false; self.wiring().n_ports() as usize],
            routers: vec![false; self.n_routers() as usize],
            nodes: vec![false; self.n_nodes() as usize],
            impairs: false,
            keeps: None,
        };
        let before = before.unwrap_or(&nothing).clone();
        let mut dead = Dead {
            names: OnceCell::new(),
            topology: self,
            before: before.impaired,
            failed: Failed {
                impairs: fail.impairs(),
                keeps: fail.keeps,
                impaired: nothing.impaired,
                ..before
            },
        };
        dead.collect(fail)?;
        Ok(dead.failed)
    }

    /// What would fail, and what is left of the network then.
    ///
    /// # Errors
    /// Each name that nothing has, a class or number that is not there, with its key in `[fail]`.
    pub fn find_failures(&self, fail: &FailSpec) -> Result<Fallout, Vec<FieldError>> {
        let failed = self.failed(fail, None)?;
        let dead = Dead {
            names: OnceCell::new(),
            topology: self,
            before: Vec::new(),
            failed,
        };
        Ok(dead.fallout().1)
    }

    /// The number of a port of the whole network among those that are left, if it is.
    pub fn port_now(&self, router: u32, before: u16) -> Option<u16> {
        match self.geometry.curtailed() {
            Some(left) => left.port_now(router, before),
            None => Some(before),
        }
    }

    /// The number in the whole network of a port that is left.
    pub fn port_before(&self, router: u32, now: u16) -> u16 {
        match self.geometry.curtailed() {
            Some(left) => left.port_before(self.wiring(), router, now),
            None => now,
        }
    }

    /// The same with so many virtual channels for ways round failures, where packets may come from ways of another network of the family.
    #[must_use]
    pub fn with_channels(mut self, vcs: u8) -> Topology {
        if let Some(left) = self.geometry.curtailed_mut() {
            left.take_channels(vcs);
        }
        self
    }

    /// Whether cables are dead in it, so that some ways are others than those of its family.
    pub fn is_curtailed(&self) -> bool {
        self.geometry.curtailed().is_some()
    }

    /// The class in a study's `[link]` that a link class has its bandwidth from, and the share of that which it has: 1 but where cables have
    /// lost lanes.
    pub fn rate_of_class(&self, class: usize) -> (&str, f64) {
        match self.fallout().and_then(|fallout| fallout.kept) {
            Some((share, whole)) if class >= whole => (&self.class_names()[class - whole + 1], share),
            _ => (&self.class_names()[class], 1.0),
        }
    }

    /// Whether a node is alive.
    pub fn is_alive(&self, node: u32) -> bool {
        self.fallout()
            .is_none_or(|fallout| fallout.nodes.binary_search(&node).is_err())
    }

    /// A cable's name by one of its ends: router and port.
    pub fn cable_name(&self, router: u32, port: u16) -> String {
        format!("{} {}", self.router_name(router), self.port_name(router, port))
    }

    /// The piece that a router is in: a number that all routers have in common that reach each other.
    pub fn piece(&self, router: u32) -> u32 {
        self.fallout().map_or(0, |fallout| fallout.pieces[router as usize])
    }

    /// Whether a router is alive and not cut off from another one.
    #[inline]
    pub fn are_joined(&self, a: u32, b: u32) -> bool {
        self.fallout()
            .is_none_or(|fallout| fallout.pieces[a as usize] == fallout.pieces[b as usize])
    }

    /// The pairs of routers with nodes between which the topology's own deterministic way (that of [`Topology::minimal_to`] on a whole network)
    /// crosses a cable that is dead: how many, and the first `most` of them.
    pub fn lost_ways(&self, most: usize) -> (u64, Vec<(u32, u32)>) {
        match self.geometry.curtailed() {
            Some(left) => left.lost_ways(self.wiring(), most),
            None => (0, Vec::new()),
        }
    }
}

impl Topology {
    fn curtail(self, dead: &[bool], fallout: Fallout, everywhere: bool) -> Result<Topology, Vec<FieldError>> {
        self.rebuilt(fallout, |geometry, wiring| {
            Curtailed::new(geometry, wiring, dead, everywhere).map_err(|bytes| {
                let reason = format!(
                    "ways round these failures take tables of {:.1} GB, 1.5 GB are kept at most",
                    bytes as f64 / 1e9
                );
                let hint = "take fewer failures or a smaller network".to_owned();
                vec![FieldError {
                    field: String::new(),
                    reason,
                    hint: Some(hint),
                }]
            })
        })
    }
}

impl Dead<'_> {
    fn collect(&mut self, fail: &FailSpec) -> Result<(), Vec<FieldError>> {
        let mut wrong = Vec::new();
        let mut add = |field: String, found: Result<(), Unnamed>| {
            if let Err((reason, hint)) = found {
                wrong.push(FieldError {
                    field,
                    reason,
                    hint: Some(hint),
                });
            }
        };
        for (i, name) in fail.cables.iter().enumerate() {
            add(format!("cables[{i}]"), self.cable(name));
        }
        for (i, name) in fail.routers.iter().enumerate() {
            add(format!("routers[{i}]"), self.router(name));
        }
        for (i, &node) in fail.nodes.iter().enumerate() {
            add(format!("nodes[{i}]"), self.node(node));
        }
        for (i, &group) in fail.groups.iter().enumerate() {
            add(format!("groups[{i}]"), self.group(group));
        }
        if let Some(drawn) = &fail.drawn
            && let Err((key, unnamed)) = self.draw(drawn)
        {
            add(key.into(), Err(unnamed));
        }
        if self.failed.keeps.is_some() && self.topology.class_names().len() > MOST_CLASSES {
            let reason = format!("the network has more than {MOST_CLASSES} link classes");
            add(
                "keeps".into(),
                Err((reason, "let the cables die, or give fewer classes".into())),
            );
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Dead, or impaired.
    fn fail_cable(&mut self, router: u32, port: u16) {
        let failed = match self.failed.impairs {
            false => &mut self.failed.ports,
            true => &mut self.failed.impaired,
        };
        mark(self.topology.wiring(), failed, router, port);
    }

    fn kill_router(&mut self, router: u32) {
        let wiring = self.topology.wiring();
        self.failed.routers[router as usize] = true;
        (0..wiring.radix(router) as u16).for_each(|port| mark(wiring, &mut self.failed.ports, router, port));
        wiring
            .nodes_of(router)
            .for_each(|node| self.failed.nodes[node as usize] = true);
    }

    /// A router by its name.
    fn find(&self, name: &str) -> Option<u32> {
        let all = || (0..self.topology.n_routers()).map(|router| (self.topology.router_name(router), router));
        self.names.get_or_init(|| all().collect()).get(name).copied()
    }

    fn router(&mut self, name: &str) -> Result<(), Unnamed> {
        let router = self.find(name).ok_or_else(|| {
            let first = self.topology.router_name(0);
            (
                format!("no router is called `{name}`"),
                format!("routers here are called as `{first}` is"),
            )
        })?;
        self.kill_router(router);
        Ok(())
    }

    fn cable(&mut self, name: &str) -> Result<(), Unnamed> {
        let (bundle, all) = match name.strip_suffix("#*") {
            Some(bundle) => (bundle.trim_end(), true),
            None => (name, false),
        };
        let wiring = self.topology.wiring();
        // Names of routers may have blanks: every blank may be the border.
        let borders = bundle
            .match_indices(' ')
            .map(|(i, _)| (&bundle[..i], bundle[i..].trim_start()));
        let found = borders
            .filter_map(|(router, port)| Some((self.find(router)?, port)))
            .find_map(|(router, port)| {
                let runs = wiring.runs(router);
                let port = runs.flat_map(|run| run.port..run.port + run.links).find(|&number| {
                    let to = wiring.runs(router).find(|run| run.port == number).map(|run| run.peer);
                    let peer = to.map(|peer| format!("to {}", self.topology.router_name(peer)));
                    self.topology.port_name(router, number) == port || peer.as_deref() == Some(port)
                });
                Some((router, port?))
            });
        let Some((router, port)) = found else {
            let example = wiring
                .cables()
                .next()
                .map(|(router, port)| self.topology.cable_name(router, port));
            let hint = match example {
                Some(example) => format!("cables are called as in links.parquet, here for instance `{example}`"),
                None => "this network has no cables between routers".to_owned(),
            };
            return Err((format!("no cable is called `{name}`"), hint));
        };
        match all {
            false => self.fail_cable(router, port),
            true => {
                let peer = wiring.peer(router, port).0;
                let ports = (0..wiring.radix(router) as u16).filter(|&port| wiring.peer(router, port).0 == peer);
                ports.for_each(|port| self.fail_cable(router, port));
            }
        }
        Ok(())
    }

    fn node(&mut self, node: u32) -> Result<(), Unnamed> {
        let n = self.topology.n_nodes();
        match self.failed.nodes.get_mut(node as usize) {
            Some(dead) => {
                *dead = true;
                Ok(())
            }
            None => Err((format!("there is no node {node}"), format!("nodes are 0 to {}", n - 1))),
        }
    }

    fn group(&mut self, group: u32) -> Result<(), Unnamed> {
        let topology = self.topology;
        let Some(n) = topology.n_groups() else {
            let hint = "give routers by name".to_owned();
            return Err(("this network has no groups".to_owned(), hint));
        };
        if group >= n {
            return Err((
                format!("there is no group {group}"),
                format!("groups are 0 to {}", n - 1),
            ));
        }
        let family = topology.geometry.family();
        let members = (0..topology.n_routers()).filter(|&router| family.group_of(router) == group);
        members.for_each(|router| self.kill_router(router));
        Ok(())
    }

    fn draw(&mut self, drawn: &DrawnFailures) -> Result<(), (&'static str, Unnamed)> {
        let topology = self.topology;
        let wiring = topology.wiring();
        let class = match &drawn.class {
            None => None,
            Some(name) => {
                let classes = topology.class_names();
                let number = classes.iter().skip(1).position(|class| class == name).ok_or_else(|| {
                    let known: Vec<&str> = classes.iter().skip(1).map(String::as_str).collect();
                    let hint = match known.is_empty() {
                        true => "this network has no cables between routers".to_owned(),
                        false => format!("classes of cables between routers are {}", known.join(", ")),
                    };
                    (
                        "class",
                        (format!("no cable between routers is of the class `{name}`"), hint),
                    )
                })?;
                Some(number as u8 + 1)
            }
        };
        let mut all: Vec<(u32, u16)> = match drawn.of {
            FailKind::Cables => {
                let all = wiring.cables();
                all.filter(|&(r, p)| class.is_none_or(|class| wiring.class[wiring.port_index(r, p)] == class))
                    .collect()
            }
            FailKind::Routers => (0..topology.n_routers()).map(|router| (router, 0)).collect(),
            FailKind::Nodes => (0..topology.n_nodes()).map(|node| (node, 0)).collect(),
        };
        let there = all.len();
        all.retain(|&(number, port)| match drawn.of {
            FailKind::Cables => {
                let i = wiring.port_index(number, port);
                !self.failed.ports[i] && !self.failed.impaired[i] && !self.before[i]
            }
            FailKind::Routers => !self.failed.routers[number as usize],
            FailKind::Nodes => !self.failed.nodes[number as usize],
        });
        let (key, many) = match drawn.many {
            HowMany::Count(count) => ("count", count as usize),
            HowMany::Share(share) => ("share", (share * there as f64).round() as usize),
        };
        if many > all.len() {
            let what = FailKind::WORDS[drawn.of as usize].0;
            let reason = format!("{many} {what} are to fail, {} are left to fail", all.len());
            return Err((key, (reason, "let fewer fail".into())));
        }
        // Fisher and Yates from the front: the first of a longer draw are those of a shorter one.
        let mut state = drawn.seed;
        for i in 0..many {
            let rest = (all.len() - i) as u64;
            let other = i + ((u128::from(split_mix(&mut state)) * u128::from(rest)) >> 64) as usize;
            all.swap(i, other);
        }
        for &(number, port) in &all[..many] {
            match drawn.of {
                FailKind::Cables => self.fail_cable(number, port),
                FailKind::Routers => self.kill_router(number),
                FailKind::Nodes => self.failed.nodes[number as usize] = true,
            }
        }
        Ok(())
    }

    fn fallout(self) -> (Vec<bool>, Fallout) {
        let wiring = self.topology.wiring();
        let numbers = |dead: &[bool]| (0..).zip(dead).filter(|&(_, &dead)| dead).map(|(i, _)| i).collect();
        let n = self.topology.n_routers();
        let one_end = |failed: &dyn Fn(usize) -> bool| -> Vec<(u32, u16)> {
            let all = wiring.cables();
            all.filter(|&(router, port)| failed(wiring.port_index(router, port)))
                .collect()
        };
        let cables = one_end(&|i| self.failed.ports[i]);
        let impaired = one_end(&|i| self.failed.impaired[i] && !self.failed.ports[i]);
        let mut pieces = vec![u32::MAX; n as usize];
        for router in 0..n {
            if pieces[router as usize] != u32::MAX {
                continue;
            }
            pieces[router as usize] = router;
            let mut open = vec![router];
            while let Some(at) = open.pop() {
                for port in 0..wiring.radix(at) as u16 {
                    let peer = wiring.peer(at, port).0;
                    if !self.failed.ports[wiring.port_index(at, port)] && pieces[peer as usize] == u32::MAX {
                        pieces[peer as usize] = router;
                        open.push(peer);
                    }
                }
            }
        }
        let fallout = Fallout {
            nodes: numbers(&self.failed.nodes),
            routers: numbers(&self.failed.routers),
            kept: self
                .failed
                .keeps
                .filter(|_| !impaired.is_empty())
                .map(|share| (share, wiring.class_names.len())),
            cables,
            impaired,
            pieces,
        };
        (self.failed.ports, fallout)
    }
}

/// A name that nothing has: why, and what to do.
type Unnamed = (String, String);

/// Marks a cable by both of its ends.
fn mark(wiring: &Wiring, failed: &mut [bool], router: u32, port: u16) {
    let (peer, back) = wiring.peer(router, port);
    failed[wiring.port_index(router, port)] = true;
    failed[wiring.port_index(peer, back)] = true;
}
