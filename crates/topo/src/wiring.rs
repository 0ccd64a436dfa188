//! The cables of a network in flat arrays (compressed sparse rows), immutable once built.
//!
//! Ports are network ports only, numbered from 0 at each router; nodes hang on their router beside them. A cable joins two ports,
//! and the peer of a port's peer is the port itself. Parallel cables to one neighbour have consecutive port numbers.

use std::ops::Range;

/// Cables and nodes of a network. Given out by reference only, so what is built stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// First port of each router in the arrays below, and the total at the end: `n_routers + 1` entries.
    pub port_offset: Vec<u32>,
    /// Router at the other end, per port.
    pub peer_router: Vec<u32>,
    /// Port number at the other end, per port.
    pub peer_port: Vec<u16>,
    /// Link class, per port: an index into `class_names`, never 0.
    pub class: Vec<u8>,
    /// Names of the link classes; entry 0 is always `host`, the links between nodes and routers.
    pub class_names: Vec<String>,
    /// First node of each router, and the total at the end: `n_routers + 1` entries; router `r` has the nodes `node_offset[r]..node_offset[r + 1]`.
    pub node_offset: Vec<u32>,
    /// Router of each node.
    pub node_router: Vec<u32>,
}

/// Parallel cables from a router to one neighbour: ports `port..port + links`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParallelCables {
    /// First port.
    pub port: u16,
    /// Number of cables.
    pub links: u16,
    /// The neighbour.
    pub peer: u32,
}

impl Wiring {
    /// Starts a wiring whose ports are then pushed router by router.
    pub(crate) fn start(class_names: Vec<String>, n_routers: usize, n_ports: usize, n_nodes: usize) -> Self {
        let mut port_offset = Vec::with_capacity(n_routers + 1);
        let mut node_offset = Vec::with_capacity(n_routers + 1);
        port_offset.push(0);
        node_offset.push(0);
        Self {
            port_offset,
            peer_router: Vec::with_capacity(n_ports),
            peer_port: Vec::with_capacity(n_ports),
            class: Vec::with_capacity(n_ports),
            class_names,
            node_offset,
            node_router: Vec::with_capacity(n_nodes),
        }
    }

    /// What is known of a network that makes its cables by a rule.
    pub(crate) fn bare(class_names: Vec<String>) -> Self {
        Self::start(class_names, 0, 0, 0)
    }

    /// No router is in it.
    #[inline]
    pub(crate) fn is_bare(&self) -> bool {
        self.port_offset.len() == 1
    }

    /// [`Wiring::verify`] where that takes no long time.
    pub(crate) fn is_sound(&self) -> bool {
        self.n_routers() > 100_000 || self.verify() == Ok(())
    }

    /// Adds the next port of the router in work.
    #[inline]
    pub(crate) fn push_port(&mut self, peer: u32, peer_port: u16, class: u8) {
        self.peer_router.push(peer);
        self.peer_port.push(peer_port);
        self.class.push(class);
    }

    /// Closes the router in work, which has `nodes` nodes.
    #[inline]
    pub(crate) fn finish_router(&mut self, nodes: u32) {
        let router = (self.port_offset.len() - 1) as u32;
        self.port_offset.push(self.peer_router.len() as u32);
        self.node_router.extend(std::iter::repeat_n(router, nodes as usize));
        self.node_offset.push(self.node_router.len() as u32);
    }

    /// Number of routers.
    #[inline]
    pub fn n_routers(&self) -> u32 {
        (self.port_offset.len() - 1) as u32
    }

    /// Number of nodes.
    #[inline]
    pub fn n_nodes(&self) -> u32 {
        self.node_router.len() as u32
    }

    /// Number of network ports, which is twice the number of cables between routers.
    #[inline]
    pub fn n_ports(&self) -> u32 {
        self.peer_router.len() as u32
    }

    /// Network ports of a router.
    #[inline]
    pub fn radix(&self, router: u32) -> u32 {
        self.port_offset[router as usize + 1] - self.port_offset[router as usize]
    }

    /// Place of a router's port in the flat arrays.
    #[inline]
    pub fn port_index(&self, router: u32, port: u16) -> usize {
        self.port_offset[router as usize] as usize + usize::from(port)
    }

    /// Router and port at the other end of a cable.
    #[inline]
    pub fn peer(&self, router: u32, port: u16) -> (u32, u16) {
        let i = self.port_index(router, port);
        (self.peer_router[i], self.peer_port[i])
    }

    /// Nodes of a router.
    #[inline]
    pub fn nodes_of(&self, router: u32) -> Range<u32> {
        self.node_offset[router as usize]..self.node_offset[router as usize + 1]
    }

    /// The router and port number of a flat port index: the inverse of [`Wiring::port_index`]. Logarithmic in the routers.
    pub fn port_at(&self, index: usize) -> (u32, u16) {
        let router = self.port_offset.partition_point(|&o| o as usize <= index) - 1;
        (router as u32, (index - self.port_offset[router] as usize) as u16)
    }

    /// Every cable once, by the end that comes first: router and port, in their order.
    pub fn cables(&self) -> impl Iterator<Item = (u32, u16)> + '_ {
        let ends =
            (0..self.n_routers()).flat_map(|router| (0..self.radix(router) as u16).map(move |port| (router, port)));
        ends.filter(|&(router, port)| (router, port) < self.peer(router, port))
    }

    /// Adds routers to `order` breadth first from each of `starts` in turn; `is_new` says of a router, once, that it is to be added.
    pub(crate) fn breadth_first(
        &self,
        starts: impl IntoIterator<Item = u32>,
        mut is_new: impl FnMut(u32) -> bool,
        order: &mut Vec<u32>,
    ) {
        for start in starts {
            if !is_new(start) {
                continue;
            }
            let mut head = order.len();
            order.push(start);
            while let Some(&r) = order.get(head) {
                head += 1;
                order.extend(self.runs(r).map(|run| run.peer).filter(|&peer| is_new(peer)));
            }
        }
    }

    /// The neighbours of a router in port order, parallel cables together.
    pub fn runs(&self, router: u32) -> impl Iterator<Item = ParallelCables> + '_ {
        let first = self.port_offset[router as usize] as usize;
        let peers = &self.peer_router[first..self.port_offset[router as usize + 1] as usize];
        let mut port = 0usize;
        std::iter::from_fn(move || {
            let peer = *peers.get(port)?;
            let start = port;
            while peers.get(port) == Some(&peer) {
                port += 1;
            }
            Some(ParallelCables {
                port: start as u16,
                links: (port - start) as u16,
                peer,
            })
        })
    }

    /// Checks every invariant stated above; `Err` names the first that is broken. Linear in ports and nodes.
    pub fn verify(&self) -> Result<(), String> {
        let (n, ports) = (self.n_routers(), self.n_ports() as usize);
        if self.peer_port.len() != ports
            || self.class.len() != ports
            || *self.port_offset.last().unwrap_or(&0) as usize != ports
        {
            return Err("port arrays differ in length".into());
        }
        if self.class_names.first().map(String::as_str) != Some("host") {
            return Err("class 0 is not `host`".into());
        }
        for r in 0..n {
            for p in 0..self.radix(r) as u16 {
                let i = self.port_index(r, p);
                let (peer, back) = (self.peer_router[i], self.peer_port[i]);
                if peer >= n || u32::from(back) >= self.radix(peer) || peer == r {
                    return Err(format!("router {r} port {p} leads to no other router's port"));
                }
                let j = self.port_index(peer, back);
                if (self.peer_router[j], self.peer_port[j]) != (r, p) {
                    return Err(format!("the peer of router {r} port {p}'s peer is not itself"));
                }
                if self.class[i] != self.class[j]
                    || self.class[i] == 0
                    || usize::from(self.class[i]) >= self.class_names.len()
                {
                    return Err(format!("router {r} port {p} has a class that its cable cannot have"));
                }
            }
            let mut peers: Vec<u32> = self.runs(r).map(|run| run.peer).collect();
            let runs = peers.len();
            peers.sort_unstable();
            peers.dedup();
            if peers.len() != runs {
                return Err(format!("parallel cables of router {r} are not on consecutive ports"));
            }
            for node in self.nodes_of(r) {
                if self.node_router.get(node as usize) != Some(&r) {
                    return Err(format!("node {node} is not on router {r}"));
                }
            }
        }
        if self.node_offset.len() != self.port_offset.len() || *self.node_offset.last().unwrap_or(&0) != self.n_nodes()
        {
            return Err("node arrays differ in length".into());
        }
        Ok(())
    }
}
