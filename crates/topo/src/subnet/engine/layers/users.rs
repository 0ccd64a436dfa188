//! Who uses a dependency: its destinations, and for each of them the sources behind it.

use super::super::fabric::PreparedSubnet;
use super::super::trees::Trees;
use super::graph::Graph;

/// The trees of all destinations from the other side, whatever the layers of their paths.
///
/// Memory: per (switch, destination) 8 bytes, per two consecutive channels 8.
pub struct Users {
    n_switches: usize,
    /// By entry of a graph: its destinations are `destinations[first[entry]..first[entry + 1]]`.
    first: Vec<u64>,
    destinations: Vec<u32>,
    /// At `destination * n_switches + switch`.
    behind: Vec<Behind>,
}

/// The switches whose traffic comes to a switch next are a list. Channels are places among those of the receiving switch, each leads back to a sender.
#[derive(Clone, Copy)]
struct Behind {
    /// To the first sender of this switch.
    first: u16,
    /// From the receiver of this switch's own traffic to that one's next sender.
    other: u16,
}

const NONE: u16 = u16::MAX;

impl Users {
    pub fn new(fabric: &PreparedSubnet, trees: &Trees, graph: &Graph) -> Self {
        let n_switches = fabric.n_switches();
        let (first, destinations) = destinations(fabric, trees, graph);
        let none = Behind {
            first: NONE,
            other: NONE,
        };
        let mut behind = vec![none; n_switches * trees.n_destinations() as usize];
        for (destination, row) in (0..).zip(behind.chunks_mut(n_switches)) {
            let tree = trees.tree(destination);
            for s in 0..n_switches as u32 {
                if let Some(c) = tree.next(fabric, s) {
                    let (to, back) = (fabric.channels.to[c as usize], fabric.channels.back[c as usize]);
                    let place = (back - fabric.channels.first[to as usize]) as u16;
                    row[s as usize].other = std::mem::replace(&mut row[to as usize].first, place);
                }
            }
        }
        Self {
            n_switches,
            first,
            destinations,
            behind,
        }
    }

    /// The destinations whose trees have a dependency, rising.
    pub fn of(&self, entry: usize) -> &[u32] {
        &self.destinations[self.first[entry] as usize..self.first[entry + 1] as usize]
    }

    /// The switches whose traffic to a destination comes to a switch next.
    pub fn behind<'a>(
        &'a self,
        fabric: &'a PreparedSubnet,
        destination: u32,
        switch: u32,
    ) -> impl Iterator<Item = u32> + 'a {
        let row = &self.behind[destination as usize * self.n_switches..][..self.n_switches];
        let channels = fabric.channels.of_switch(switch).start;
        let mut place = row[switch as usize].first;
        std::iter::from_fn(move || {
            let sender = (place != NONE).then(|| fabric.channels.to[channels + usize::from(place)])?;
            place = row[sender as usize].other;
            Some(sender)
        })
    }
}

/// The destinations of all dependencies, rising for each, and where those of each entry begin.
fn destinations(fabric: &PreparedSubnet, trees: &Trees, graph: &Graph) -> (Vec<u64>, Vec<u32>) {
    let entries = |destination: u32| {
        let tree = trees.tree(destination);
        (0..fabric.n_switches() as u32).filter_map(move |s| {
            let held = tree.next(fabric, s)?;
            let wanted = tree.next(fabric, fabric.channels.to[held as usize])?;
            Some(graph.entry(fabric, (held, wanted)))
        })
    };
    let mut first = vec![0u64; graph.pairs.len() + 1];
    for destination in 0..trees.n_destinations() {
        entries(destination).for_each(|entry| first[entry] += 1);
    }
    let mut n = 0;
    for end in &mut first {
        n += *end;
        *end = n;
    }
    // Filled from behind, the ends of the lists become their beginnings.
    let mut destinations = vec![0; n as usize];
    for destination in (0..trees.n_destinations()).rev() {
        for entry in entries(destination) {
            first[entry] -= 1;
            destinations[first[entry] as usize] = destination;
        }
    }
    (first, destinations)
}
