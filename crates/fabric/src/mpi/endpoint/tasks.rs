//! Operations of a graph that wait for their lanes: a leftist heap for each lane, whose records are nodes of one pool.
//!
//! Of all that wait for lanes which are free the one with the lowest (time, number) has its turn first, on whatever lane.

use super::Endpoint;
use des::Journal;
use des::lists::NONE;
use work::graph::state::{GraphProgress, RankLane, Task};

impl<J: Journal> Endpoint<'_, J> {
    pub(super) fn progress(&self) -> &GraphProgress {
        self.st.mpi.graph.progress.get(self.slot())
    }

    pub(super) fn edit_progress(&mut self) -> &mut GraphProgress {
        let slot = self.slot();
        self.st.mpi.graph.progress.edit(self.j, slot)
    }

    pub(super) fn task(&self, slot: u32) -> &Task {
        self.st.mpi.graph.tasks.get(slot)
    }

    pub(super) fn edit_task(&mut self, slot: u32) -> &mut Task {
        self.st.mpi.graph.tasks.edit(self.j, slot)
    }

    /// A place for a task.
    pub(super) fn put_task(&mut self, task: Task) -> u32 {
        let graph = &mut self.st.mpi.graph;
        let free = *graph.free_tasks.get(self.lp);
        if free == NONE {
            return graph.tasks.push(self.j, task);
        }
        let next = graph.tasks.get(free).left;
        graph.free_tasks.set(self.j, self.lp, next);
        graph.tasks.set(self.j, free, task);
        free
    }

    /// Gives the place of a task back.
    pub(super) fn free_task(&mut self, slot: u32) {
        let graph = &mut self.st.mpi.graph;
        graph.tasks.edit(self.j, slot).left = *graph.free_tasks.get(self.lp);
        graph.free_tasks.set(self.j, self.lp, slot);
    }

    /// Puts a task among those that wait for a lane of the rank.
    pub(super) fn line_up(&mut self, lane: u32, slot: u32) {
        let place = self.progress().lanes + lane;
        let task = self.edit_task(slot);
        (task.left, task.right, task.depth) = (NONE, NONE, 1);
        let first = self.st.mpi.graph.lanes.get(place).first;
        let first = self.meld(first, slot);
        self.st.mpi.graph.lanes.edit(self.j, place).first = first;
    }

    /// The task whose turn it is and its lane, taken from those that wait for it.
    pub(super) fn next_task(&mut self) -> Option<(u32, u32)> {
        let &GraphProgress { lanes, n_lanes, .. } = self.progress();
        let mut next: Option<((u64, u32), u32)> = None;
        for lane in 0..n_lanes {
            let &RankLane { holder, first } = self.st.mpi.graph.lanes.get(lanes + lane);
            if first == NONE || (holder != NONE && lane + 1 < n_lanes) {
                continue;
            }
            let key = self.task(first).key();
            if next.is_none_or(|(least, _)| key < least) {
                next = Some((key, lane));
            }
        }
        let (_, lane) = next?;
        let slot = self.st.mpi.graph.lanes.get(lanes + lane).first;
        let &Task { left, right, .. } = self.task(slot);
        let first = self.meld(left, right);
        self.st.mpi.graph.lanes.edit(self.j, lanes + lane).first = first;
        Some((lane, slot))
    }

    /// The root of two heaps together. Ways to the right are as long as the logarithm of what is below.
    fn meld(&mut self, one: u32, other: u32) -> u32 {
        if one == NONE {
            return other;
        }
        if other == NONE {
            return one;
        }
        let (root, below) = match self.task(one).key() <= self.task(other).key() {
            true => (one, other),
            false => (other, one),
        };
        let right = self.meld(self.task(root).right, below);
        let depth = |slot: u32| if slot == NONE { 0 } else { self.task(slot).depth };
        let left = self.task(root).left;
        let (left, right) = match depth(left) < depth(right) {
            true => (right, left),
            false => (left, right),
        };
        let depth = depth(right) + 1;
        let task = self.edit_task(root);
        (task.left, task.right, task.depth) = (left, right, depth);
        root
    }
}
