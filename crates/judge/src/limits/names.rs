//! Links in words: how many of which class, and what they have in common.

use topo::{Topology, TopologyKind};

/// A link by its router and port.
pub type LinkPlace = (u32, u16);

/// Links that are named one by one.
const MOST_NAMED: usize = 2;

/// What all of some links have in common, beside their class.
#[derive(Clone, Debug, PartialEq, Eq)]
enum InCommon {
    /// Within groups.
    Within,
    /// To the group so many further on, of so many.
    Onward(u32, u32),
    /// To a group next to theirs.
    Neighbours,
    /// Between any groups.
    Between,
    /// Of a direction of a lattice.
    Direction(String),
    /// From a level of a tree to another.
    Levels(String, String),
    /// Nothing.
    Nothing,
}

/// All network links.
pub fn links(topology: &Topology) -> impl Iterator<Item = LinkPlace> + '_ {
    let wiring = topology.wiring();
    (0..topology.n_routers()).flat_map(move |router| (0..wiring.radix(router)).map(move |port| (router, port as u16)))
}

/// A link's class.
pub fn class(topology: &Topology, (router, port): LinkPlace) -> &str {
    let wiring = topology.wiring();
    &wiring.class_names[usize::from(wiring.class[wiring.port_index(router, port)])]
}

/// Links from routers to so many of all nodes.
pub fn ejection(count: usize, nodes: usize) -> String {
    match count {
        1 => "the link to one node".to_owned(),
        _ if count == nodes => format!("the links to all {nodes} nodes"),
        _ => format!("the links to {count} of {nodes} nodes"),
    }
}

/// The name of links, ports behind the network ports being those to nodes; empty for none.
pub fn name(topology: &Topology, given: &[LinkPlace]) -> String {
    let is_network =
        |link: &&LinkPlace| link.0 < topology.n_routers() && u32::from(link.1) < topology.wiring().radix(link.0);
    let network: Vec<LinkPlace> = given.iter().filter(is_network).copied().collect();
    match given.len() - network.len() {
        0 => words(topology, &network),
        count => ejection(count, topology.n_nodes() as usize),
    }
}

/// Network links of one class in words; of several classes, which ones.
pub fn words(topology: &Topology, given: &[LinkPlace]) -> String {
    let Some(&first) = given.first() else {
        return String::new();
    };
    let mut classes: Vec<&str> = given.iter().map(|&link| class(topology, link)).collect();
    classes.sort_unstable();
    classes.dedup();
    if classes.len() > 1 {
        return format!("{} links of the classes {}", given.len(), classes.join(", "));
    }
    if given.len() <= MOST_NAMED {
        let one = |&(router, port): &LinkPlace| {
            let (from, name) = (topology.router_name(router), topology.port_name(router, port));
            format!("{from} {name}")
        };
        let plural = if given.len() == 1 { "" } else { "s" };
        let names: Vec<String> = given.iter().map(one).collect();
        return format!("the {} link{plural} {}", classes[0], names.join(" and "));
    }
    let of_class: Vec<LinkPlace> = links(topology)
        .filter(|&link| class(topology, link) == class(topology, first))
        .collect();
    let common = shared(topology, given);
    let alike = of_class.iter().filter(|&&link| common.holds(topology, link)).count();
    let noun = match &common {
        InCommon::Direction(direction) => format!("links in direction {direction}"),
        _ if topology.lattice_shape().is_some() => format!("links in dimension {}", classes[0]),
        _ => format!("{} links", classes[0]),
    };
    let noun = format!("{noun}{}", common.words());
    match given.len() {
        count if count == of_class.len() => format!("all {count} {noun}"),
        count if count == alike => format!("the {count} {noun}"),
        count => format!("{count} of the {alike} {noun}"),
    }
}

/// The closest that all the links have in common.
fn shared(topology: &Topology, given: &[LinkPlace]) -> InCommon {
    let Some(&first) = given.first() else {
        return InCommon::Nothing;
    };
    let all = |common: &InCommon| given.iter().all(|&link| common.holds(topology, link));
    candidates(topology, first)
        .into_iter()
        .find(all)
        .unwrap_or(InCommon::Nothing)
}

/// What may be common to links of which one is this, the closest first.
fn candidates(topology: &Topology, link: LinkPlace) -> Vec<InCommon> {
    if topology.group_size().is_some() {
        let (from, to, groups) = groups(topology, link);
        return match from == to {
            true => vec![InCommon::Within],
            false => vec![
                InCommon::Onward((to + groups - from) % groups, groups),
                InCommon::Neighbours,
                InCommon::Between,
            ],
        };
    }
    let kind = topology.spec().kind();
    if kind == TopologyKind::FatTree {
        let (from, to) = levels(topology, link);
        return vec![InCommon::Levels(from, to)];
    }
    match direction(topology, link) {
        Some(direction) => vec![InCommon::Direction(direction)],
        None => vec![],
    }
}

impl InCommon {
    fn holds(&self, topology: &Topology, link: LinkPlace) -> bool {
        let across = || {
            let (from, to, groups) = groups(topology, link);
            (to + groups - from) % groups
        };
        match self {
            InCommon::Within => across() == 0,
            InCommon::Onward(by, _) => across() == *by,
            InCommon::Neighbours => {
                let (_, _, groups) = groups(topology, link);
                across() == 1 || across() == groups - 1
            }
            InCommon::Between => across() != 0,
            InCommon::Direction(way) => direction(topology, link).as_ref() == Some(way),
            InCommon::Levels(from, to) => levels(topology, link) == (from.clone(), to.clone()),
            InCommon::Nothing => true,
        }
    }

    fn words(&self) -> String {
        match self {
            InCommon::Within => " within groups".to_owned(),
            InCommon::Onward(1, _) => " from groups to the next one".to_owned(),
            InCommon::Onward(by, groups) if *by == groups - 1 => " from groups to the one before".to_owned(),
            InCommon::Onward(by, _) => format!(" from groups to the one {by} further on"),
            InCommon::Neighbours => " between neighbouring groups".to_owned(),
            InCommon::Between => " between groups".to_owned(),
            InCommon::Levels(from, to) => format!(" from {from} to {to}"),
            InCommon::Direction(_) | InCommon::Nothing => String::new(),
        }
    }
}

/// Groups of a link's ends, and how many groups there are.
fn groups(topology: &Topology, (router, port): LinkPlace) -> (u32, u32, u32) {
    let wiring = topology.wiring();
    let peer = wiring.peer_router[wiring.port_index(router, port)];
    let group = |router| topology.group(router).unwrap_or(0);
    (group(router), group(peer), topology.n_groups().unwrap_or(1).max(1))
}

/// Levels of a link's ends in a tree: routers are called `L1.5`.
fn levels(topology: &Topology, (router, port): LinkPlace) -> (String, String) {
    let wiring = topology.wiring();
    let peer = wiring.peer_router[wiring.port_index(router, port)];
    let level = |router| {
        let name = topology.router_name(router);
        name.split('.').next().unwrap_or(&name).to_owned()
    };
    (level(router), level(peer))
}

/// Direction of a link of a lattice: `x+`.
fn direction(topology: &Topology, (router, port): LinkPlace) -> Option<String> {
    topology.lattice_shape()?;
    let name = topology.port_name(router, port);
    let way = name.split(' ').next().unwrap_or(&name);
    way.ends_with(['+', '-']).then(|| way.to_owned())
}
