//! The search for cycles in the order of the manager.

use super::super::fabric::PreparedSubnet;
use super::ABSENT;
use super::graph::{Dependency, Graph};

/// A depth-first search for cycles that goes on where it was after one is broken.
pub struct Search<'a> {
    fabric: &'a PreparedSubnet<'a>,
    /// Channels in the order in which the search starts at them, and the place of each.
    starts: Vec<u32>,
    place: Vec<u32>,
    /// All before it are finished.
    next_start: usize,
    state: Vec<State>,
    /// How many of its next channels were looked at.
    tried: Vec<u16>,
    /// Open channels, each a next one of that before.
    open: Vec<u32>,
    /// The channel from which each one was opened. It outlives the breaking of a cycle: where the search starts at a channel that was on
    /// one, it goes back to that channel at its end, even if that is finished already.
    before: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Finished,
}

impl<'a> Search<'a> {
    pub fn new(fabric: &'a PreparedSubnet<'a>, graph: &Graph) -> Self {
        let n = fabric.channels.len();
        let starts = preorder(fabric, graph);
        let mut place = vec![0; n];
        for (k, &c) in starts.iter().enumerate() {
            place[c as usize] = k as u32;
        }
        Self {
            fabric,
            starts,
            place,
            next_start: 0,
            state: vec![State::New; n],
            tried: vec![0; n],
            open: Vec::new(),
            before: vec![ABSENT; n],
        }
    }

    /// The next cycle: the open channels from this place on, the first of which closes it.
    pub fn cycle(&mut self, graph: &Graph) -> Option<usize> {
        loop {
            let Some(&at) = self.open.last() else {
                let new = |&&c: &&u32| self.state[c as usize] == State::New;
                let later = &self.starts[self.next_start..];
                let skipped = later.iter().position(|c| new(&c))?;
                self.next_start += skipped;
                let start = self.starts[self.next_start];
                self.open.push(start);
                self.state[start as usize] = State::Open;
                continue;
            };
            let Some(&next) = graph.next_of(at).get(usize::from(self.tried[at as usize])) else {
                self.state[at as usize] = State::Finished;
                self.open.pop();
                let before = std::mem::replace(&mut self.before[at as usize], ABSENT);
                if self.open.is_empty() && before != ABSENT {
                    self.tried[before as usize] = 0;
                    self.state[before as usize] = State::Open;
                    self.open.push(before);
                }
                continue;
            };
            let to = self.fabric.channels.first[self.fabric.channels.to[at as usize] as usize] + u32::from(next);
            match self.state[to as usize] {
                State::Open => return self.open.iter().rposition(|&c| c == to),
                State::New => {
                    self.state[to as usize] = State::Open;
                    self.before[to as usize] = at;
                    self.open.push(to);
                }
                State::Finished => {}
            }
            self.tried[at as usize] += 1;
        }
    }

    /// The open channels from a place on.
    pub fn open_from(&self, place: usize) -> &[u32] {
        &self.open[place..]
    }

    /// Takes the dependency with the fewest pairs out of a cycle, the first of equal ones from the closing channel on.
    ///
    /// The manager forgets all channels of the cycle but the closing one and goes on there. It comes to the same dependency by the same
    /// channels again, since all else that they led to before is finished. So only the channels after that dependency are forgotten here.
    pub fn remove_weakest(&mut self, graph: &mut Graph, closing: usize) -> Dependency {
        let last = self.open.len() - 1;
        let (mut at, mut fewest) = (closing, u64::MAX);
        for k in closing..=last {
            let pairs = graph.pairs[graph.entry(self.fabric, self.dependency(k, closing))];
            if pairs < fewest {
                (at, fewest) = (k, pairs);
            }
        }
        let weakest = self.dependency(at, closing);
        if at < last {
            self.tried[weakest.0 as usize] -= 1;
        }
        for c in self.open.drain(at + 1..) {
            self.state[c as usize] = State::New;
            self.tried[c as usize] = 0;
            self.next_start = self.next_start.min(self.place[c as usize] as usize);
        }
        graph.remove(self.fabric, weakest);
        weakest
    }

    /// The dependency of the open channel at place `k` of a cycle.
    fn dependency(&self, k: usize, closing: usize) -> Dependency {
        (self.open[k], *self.open.get(k + 1).unwrap_or(&self.open[closing]))
    }
}

/// The channels of a graph in preorder of a binary search tree by (switch, port) into which they are put as they came up.
///
/// That tree is the one whose parents came before their children, so it is built in one pass from left to right.
fn preorder(fabric: &PreparedSubnet, graph: &Graph) -> Vec<u32> {
    let channels = (fabric.order.iter())
        .flat_map(|&s| fabric.channels.of_switch(s))
        .map(|c| c as u32);
    let n = fabric.channels.len();
    let (mut left, mut right) = (vec![ABSENT; n], vec![ABSENT; n]);
    // The way down the right side.
    let mut spine: Vec<u32> = Vec::new();
    for c in channels.filter(|&c| graph.came[c as usize] != ABSENT) {
        let mut below = ABSENT;
        while let Some(&last) = spine.last() {
            if graph.came[last as usize] < graph.came[c as usize] {
                right[last as usize] = c;
                break;
            }
            below = last;
            spine.pop();
        }
        left[c as usize] = below;
        spine.push(c);
    }
    let mut stack: Vec<u32> = spine.first().copied().into_iter().collect();
    let mut order = Vec::with_capacity(graph.order.len());
    while let Some(c) = stack.pop() {
        order.push(c);
        let children = [right[c as usize], left[c as usize]];
        stack.extend(children.into_iter().filter(|&child| child != ABSENT));
    }
    order
}
