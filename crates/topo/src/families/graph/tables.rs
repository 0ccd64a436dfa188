//! Any graph: shortest-path tables by breadth-first search from every router.
//!
//! Two tables of n^2 entries: distance (one byte, 255 meaning "walk and count") and the first port of the next hop (two bytes), so
//! the number of routers is limited to [`MOST_ROUTERS`] (1.2 GB). Among several nearest neighbours the one numbered
//! `target mod alternatives` is taken, which spreads destinations over equal ways.
//!
//! Minimal routing follows the table. It runs on one VC if its channel dependency graph has no cycle (trees, for instance), else on
//! VC = number of hops so far, which needs as many VCs as the diameter and cannot have a cycle.

use super::Standing;
use crate::hop::{Came, Hop, HopList};
use crate::wiring::Wiring;

/// Routers up to which tables are built.
pub(super) const MOST_ROUTERS: u32 = 20_000;

/// Distance entry that means "as far as this or farther".
const FAR: u8 = u8::MAX;

/// A graph's tables.
#[derive(Clone, Debug)]
pub(crate) struct GraphTables {
    n: usize,
    /// Distance at `to * n + at`.
    far: Vec<u8>,
    /// First port of the next hop at `to * n + at`; `u16::MAX` on the diagonal.
    next: Vec<u16>,
    diameter: u32,
    vcs: u8,
    pub(super) names: Vec<String>,
    pub(super) standing: Standing,
}

impl GraphTables {
    /// Builds the tables of a connected wiring, or names two routers with no way between them.
    pub(crate) fn new(wiring: &Wiring, names: Vec<String>, standing: Standing) -> Result<Self, (u32, u32)> {
        let n = wiring.n_routers() as usize;
        let (mut far, mut next) = (vec![0u8; n * n], vec![u16::MAX; n * n]);
        let (mut hops, mut queue, mut diameter) = (vec![u32::MAX; n], Vec::with_capacity(n), 0);
        for to in 0..n {
            hops.fill(u32::MAX);
            queue.clear();
            hops[to] = 0;
            queue.push(to as u32);
            let mut head = 0;
            while let Some(&r) = queue.get(head) {
                head += 1;
                for run in wiring.runs(r) {
                    if hops[run.peer as usize] == u32::MAX {
                        hops[run.peer as usize] = hops[r as usize] + 1;
                        queue.push(run.peer);
                    }
                }
            }
            if let Some(lost) = hops.iter().position(|&h| h == u32::MAX) {
                return Err((to as u32, lost as u32));
            }
            for (at, &h) in hops.iter().enumerate() {
                diameter = diameter.max(h);
                far[to * n + at] = h.min(u32::from(FAR)) as u8;
                let nearer = || wiring.runs(at as u32).filter(|run| hops[run.peer as usize] < h);
                let count = nearer().count().max(1);
                next[to * n + at] = nearer().nth(to % count).map_or(u16::MAX, |run| run.port);
            }
        }
        let mut tables = Self {
            n,
            far,
            next,
            diameter,
            vcs: 1,
            names,
            standing,
        };
        if !tables.acyclic(wiring) {
            tables.vcs = diameter.min(255) as u8;
        }
        Ok(tables)
    }

    /// Whether the table's routes, all on one VC, have no cycle of channel dependencies (Dally & Seitz 1987); by repeated removal of
    /// channels that nothing waits for. Where ways rise and fall only those between routers with nodes count: no others begin or end.
    fn acyclic(&self, wiring: &Wiring) -> bool {
        let n = self.n;
        let most = (0..n as u32).map(|r| wiring.radix(r) as usize).max().unwrap_or(0);
        let ports = wiring.n_ports() as usize;
        if ports.saturating_mul(most) > 1 << 28 {
            return false;
        }
        let mut after = vec![false; ports * most];
        let counts = |router: u32| !self.standing.rises || !wiring.nodes_of(router).is_empty();
        for to in (0..n as u32).filter(|&to| counts(to)) {
            for at in (0..n as u32).filter(|&at| at != to && counts(at)) {
                let (via, back) = wiring.peer(at, self.next_port(at, to));
                if via != to {
                    let channel = wiring.port_index(at, self.next_port(at, to));
                    debug_assert!(u32::from(back) < wiring.radix(via));
                    after[channel * most + usize::from(self.next_port(via, to))] = true;
                }
            }
        }
        let target = |channel: usize, port: usize| wiring.port_index(wiring.peer_router[channel], port as u16);
        let mut waits = vec![0u32; ports];
        for c in 0..ports {
            (0..most)
                .filter(|p| after[c * most + p])
                .for_each(|p| waits[target(c, p)] += 1);
        }
        let mut free: Vec<usize> = (0..ports).filter(|&c| waits[c] == 0).collect();
        let mut removed = 0;
        while let Some(c) = free.pop() {
            removed += 1;
            for p in (0..most).filter(|p| after[c * most + p]) {
                let t = target(c, p);
                waits[t] -= 1;
                if waits[t] == 0 {
                    free.push(t);
                }
            }
        }
        removed == ports
    }

    #[inline]
    fn next_port(&self, at: u32, to: u32) -> u16 {
        self.next[to as usize * self.n + at as usize]
    }

    pub(crate) fn distance(&self, wiring: &Wiring, mut at: u32, to: u32) -> u32 {
        let mut walked = 0;
        loop {
            let far = self.far[to as usize * self.n + at as usize];
            if far < FAR {
                return walked + u32::from(far);
            }
            at = wiring.peer(at, self.next_port(at, to)).0;
            walked += 1;
        }
    }

    pub(crate) fn diameter(&self) -> u32 {
        self.diameter
    }

    pub(crate) fn minimal_vcs(&self) -> u8 {
        self.vcs
    }

    #[inline]
    fn vc(&self, came: Came) -> u8 {
        if self.vcs == 1 || came.port == Came::NONE {
            0
        } else {
            came.vc.saturating_add(1).min(self.vcs - 1)
        }
    }

    #[inline]
    pub(crate) fn minimal(&self, wiring: &Wiring, at: u32, to: u32, came: Came) -> Hop {
        if at == to {
            return Hop::EJECT;
        }
        let port = self.next_port(at, to);
        let first = wiring.port_index(at, port);
        let peers = &wiring.peer_router[first..wiring.port_offset[at as usize + 1] as usize];
        let links = peers.iter().take_while(|&&p| p == peers[0]).count() as u16;
        Hop {
            port,
            links,
            dim: 0,
            vc: self.vc(came),
        }
    }

    pub(crate) fn minimal_hops(&self, wiring: &Wiring, at: u32, to: u32, out: &mut HopList) {
        let here = self.distance(wiring, at, to);
        for run in wiring.runs(at) {
            if self.distance(wiring, run.peer, to) < here {
                out.push(Hop {
                    port: run.port,
                    links: run.links,
                    dim: 0,
                    vc: 0,
                });
            }
        }
    }
}
