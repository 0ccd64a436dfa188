//! A rank plays a graph: operations start when those that they wait for have ended or started and their lane is free.
//!
//! Nothing runs ahead of the time but the inside of a collective, whose steps have a clock of their own until it waits for a message.

use super::{Ended, Endpoint, Flow, context_of};
use crate::mpi::OPERATION;
use crate::observe::{OperationRow, Record};
use crate::packet::{HORIZON, Kind, Packet};
use des::lists::NONE;
use des::{Journal, Time};
use work::graph::state::{FIRST_OPERATION, GraphProgress, STARTED, TASK, Task, stage, task_of};
use work::graph::{Doing, NO_LANE, OperationGraph, RankOperations};
use work::mpi::op::Transfer;
use work::ranks::Plan;
use work::ranks::state::{FIRST_BEGUN, fault};

/// Turns that a rank gives at most before it lets others of the same time have theirs.
const AT_ONCE: u32 = 1 << 12;

impl<'a, J: Journal> Endpoint<'a, J> {
    /// The operations of the rank in the graph that it plays.
    fn playing(&self) -> Option<RankOperations<'a>> {
        let plan: &'a Plan = self.plan;
        let phase = plan.phases.get(self.rank().phase as usize)?;
        Some(phase.graph()?.rank(self.number))
    }

    /// What an operation of the graph does.
    pub(super) fn doing(&self, own: &RankOperations, operation: u32) -> Doing {
        let record = &own.operations[operation as usize];
        match self.plan.phases.get(self.rank().phase as usize) {
            Some(phase) => phase.program.doing(self.number, operation, record),
            None => record.doing(),
        }
    }

    /// Plays a graph as far as it goes now: [`Flow::Next`] when all of it has been played.
    pub(super) fn play(&mut self, graph: &OperationGraph) -> Flow {
        let own = graph.rank(self.number);
        if self.progress().entered == 0 {
            let clock = self.rank().clock;
            if clock > self.now {
                // The program before has run ahead.
                self.wake(NONE, clock);
                return Flow::Stop;
            }
            self.enter(&own);
        }
        for _ in 0..AT_ONCE {
            if self.rank().fault.kind != fault::NONE {
                return Flow::Stop;
            }
            match self.next_task() {
                Some((lane, slot)) => self.turn(&own, lane, slot),
                None if self.progress().ended == own.operations.len() as u32 => {
                    self.leave();
                    return Flow::Next;
                }
                None => return Flow::Stop,
            }
        }
        self.wake(NONE, self.now);
        Flow::Stop
    }

    /// Begins the graph.
    fn enter(&mut self, own: &RankOperations) {
        let rank = *self.rank();
        let now = self.now;
        let progress = self.edit_progress();
        (progress.entered, progress.ended) = (1, 0);
        (progress.began, progress.spent) = (now, rank.computed.saturating_add(rank.worked));
        let words = progress.words;
        for (word, operation) in (words..).zip(own.operations) {
            self.st.mpi.graph.words.set(self.j, word, operation.predecessors);
        }
        for &root in own.roots {
            self.ready(own, root);
        }
    }

    /// Ends an iteration of the graph.
    fn leave(&mut self) {
        let now = self.now;
        let progress = self.edit_progress();
        progress.entered = 0;
        let &mut GraphProgress { began, spent, .. } = progress;
        let rank = self.edit();
        let busy = rank.computed.saturating_add(rank.worked) - spent;
        // With several lanes there may be less time than work.
        rank.waited += (now - began).saturating_sub(busy);
        (rank.clock, rank.iteration) = (now, rank.iteration + 1);
    }

    fn word(&mut self, operation: u32) -> &mut u32 {
        let place = self.progress().words + operation;
        self.st.mpi.graph.words.edit(self.j, place)
    }

    /// The task of an operation, if it has one.
    fn task_of(&self, operation: u32) -> Option<u32> {
        let place = self.progress().words + operation;
        task_of(*self.st.mpi.graph.words.get(place))
    }

    /// The lane of an operation, that of those without one, or of what needs none.
    fn lane(&self, own: &RankOperations, operation: u32) -> u32 {
        match own.operations[operation as usize].lane {
            NO_LANE => self.free_lane(),
            lane => lane.into(),
        }
    }

    /// What takes no lane waits here until its turn comes.
    pub(super) fn free_lane(&self) -> u32 {
        self.progress().n_lanes - 1
    }

    /// An operation waits for nothing but its lane.
    fn ready(&mut self, own: &RankOperations, operation: u32) {
        let slot = self.put_task(Task::new(operation, self.now, stage::READY));
        *self.word(operation) = TASK | slot;
        let lane = match own.operations[operation as usize].is_receive() {
            true => self.free_lane(),
            false => self.lane(own, operation),
        };
        self.line_up(lane, slot);
    }

    /// An operation waits for one less of those before it.
    fn released(&mut self, own: &RankOperations, operation: u32) {
        let left = self.word(operation);
        *left -= 1;
        if *left == 0 {
            self.ready(own, operation);
        }
    }

    /// A task has its turn, and its lane, which is free.
    fn turn(&mut self, own: &RankOperations, lane: u32, slot: u32) {
        let task = *self.task(slot);
        match task.stage {
            stage::READY => {
                for &waiting in own.after_start(task.operation) {
                    self.released(own, waiting);
                }
                let now = self.now;
                let task = self.edit_task(slot);
                // It may have waited for its lane.
                (task.begun, task.time) = (now, now);
                self.begin(own, lane, slot);
            }
            stage::HANDLE => {
                self.edit_task(slot).begun = self.now;
                self.worked(task.cost);
                self.occupy(own, slot, self.now.saturating_add(task.cost), stage::ENDS);
            }
            _ => self.collective_goes_on(own, slot),
        }
    }

    /// An operation starts.
    fn begin(&mut self, own: &RankOperations, lane: u32, slot: u32) {
        let operation = self.task(slot).operation;
        match self.doing(own, operation) {
            Doing::Compute(time) => {
                let rank = self.edit();
                rank.computed = rank.computed.saturating_add(time);
                self.occupy(own, slot, self.now.saturating_add(time), stage::ENDS);
            }
            Doing::Send { peer, bytes, tag, .. } => {
                let cost = self.send_cost(&transfer(peer, bytes, tag));
                self.worked(cost);
                self.occupy(own, slot, self.now.saturating_add(cost), stage::SENDS);
            }
            Doing::Recv {
                peer,
                bytes,
                tag,
                communicator,
            } => {
                let context = self.own_context(communicator);
                self.free_task(slot);
                *self.word(operation) = STARTED;
                let wanted = transfer(peer, bytes, tag);
                self.await_message(wanted, context, FIRST_OPERATION + operation, self.now);
            }
            Doing::Collective(_) => {
                self.hold(lane, operation);
                self.collective_goes_on(own, slot);
            }
        }
    }

    /// The context of a communicator of the graph.
    fn own_context(&self, communicator: u16) -> u16 {
        let phase = self.plan.phases.get(self.rank().phase as usize);
        phase.map_or(0, |phase| context_of(phase, communicator))
    }

    /// Gives a lane to an operation.
    fn hold(&mut self, lane: u32, operation: u32) {
        if lane != self.free_lane() {
            let place = self.progress().lanes + lane;
            self.st.mpi.graph.lanes.edit(self.j, place).holder = operation;
        }
    }

    /// Keeps a processor busy for `time` ps.
    pub(super) fn worked(&mut self, time: u64) {
        let rank = self.edit();
        rank.worked = rank.worked.saturating_add(time);
    }

    /// A task has its lane until a time; then comes `next`.
    pub(super) fn occupy(&mut self, own: &RankOperations, slot: u32, until: u64, next: u32) {
        let task = self.edit_task(slot);
        task.stage = next;
        let &mut Task { operation, begun, .. } = task;
        if self.net.messages.follows_ranks {
            self.show_operation(operation, begun, until);
        }
        if until <= self.now {
            return self.yields(own, slot);
        }
        let lane = self.lane(own, operation);
        self.hold(lane, operation);
        self.wake(operation, until);
    }

    /// Shows when an operation began and ends; a receive and a large send are shown while they have their lane.
    fn show_operation(&mut self, operation: u32, begin: u64, end: u64) {
        let rank = *self.rank();
        self.out.show(Record::Operation(OperationRow {
            node: self.node,
            rank: self.number,
            begin,
            phase: rank.phase,
            iteration: rank.iteration,
            index: operation,
            padding: 0,
            end,
        }));
    }

    /// Wakes the rank for one of its operations, or for its graph; not beyond the end of simulated time: it is not done when that comes.
    fn wake(&mut self, operation: u32, at: u64) {
        if at >= HORIZON.0 {
            return;
        }
        let event = Packet::new(Kind::Rank, Time(at), self.lp, self.port()).with_vc(OPERATION);
        let value = u64::from(operation) << 8 | u64::from(self.local);
        self.out.send(event.with_value(value));
    }

    /// A task gives up its lane, and its operation ends or goes on without one.
    fn yields(&mut self, own: &RankOperations, slot: u32) {
        let Task { operation, stage, .. } = *self.task(slot);
        self.free_task(slot);
        let place = self.progress().lanes + self.lane(own, operation);
        if self.st.mpi.graph.lanes.get(place).holder == operation {
            self.st.mpi.graph.lanes.edit(self.j, place).holder = NONE;
        }
        if stage == stage::SENDS {
            *self.word(operation) = STARTED;
            if !self.sets_out(own, operation) {
                return;
            }
        }
        self.ended(own, operation);
    }

    /// The message of a send sets out; whether the send ends with it.
    fn sets_out(&mut self, own: &RankOperations, operation: u32) -> bool {
        let Doing::Send {
            peer,
            bytes,
            tag,
            communicator,
        } = self.doing(own, operation)
        else {
            return true;
        };
        let context = self.own_context(communicator);
        let message = transfer(peer, bytes, tag);
        self.launch(message, context, FIRST_OPERATION + operation, self.now)
    }

    /// An operation has ended.
    fn ended(&mut self, own: &RankOperations, operation: u32) {
        // For the next iteration.
        *self.word(operation) = own.operations[operation as usize].predecessors;
        self.edit_progress().ended += 1;
        for &waiting in own.after_end(operation) {
            self.released(own, waiting);
        }
    }

    /// The time of an operation's task has come, or of the graph.
    pub(in crate::mpi) fn woken(&mut self, operation: u32) {
        if operation != NONE
            && let Some(own) = self.playing()
            && let Some(slot) = self.task_of(operation)
        {
            self.yields(&own, slot);
        }
        self.run();
    }

    /// An operation has a request more; only collectives count them.
    pub(super) fn open_for_operation(&mut self, operation: u32) {
        if let Some(own) = self.playing()
            && let Doing::Collective(_) = self.doing(&own, operation)
            && let Some(slot) = self.task_of(operation)
        {
            self.edit_task(slot).block += 1;
        }
    }

    /// A request of an operation is complete at `at`, which costs its processor `cost`; `true` if the rank goes on.
    /// `ended` is what it ends by.
    pub(super) fn complete_for_operation(&mut self, operation: u32, at: u64, cost: u64, ended: Ended) -> bool {
        let Some(own) = self.playing() else {
            return false;
        };
        if self.net.messages.follows_ranks {
            let waits = self.task_of(operation).map(|slot| *self.task(slot));
            let waits = waits.filter(|task| task.stage == stage::WAITS);
            self.show_wait((waits.map_or(at, |task| task.time.min(at)), at), ended, Some(operation));
        }
        match self.doing(&own, operation) {
            Doing::Recv { .. } => {
                let task = Task {
                    cost,
                    ..Task::new(operation, at, stage::HANDLE)
                };
                let slot = self.put_task(task);
                *self.word(operation) = TASK | slot;
                self.line_up(self.lane(&own, operation), slot);
                true
            }
            Doing::Collective(_) => {
                let slot = self.task_of(operation);
                slot.is_some_and(|slot| self.collective_hears(slot, at, cost))
            }
            _ => {
                self.ended(&own, operation);
                true
            }
        }
    }

    /// Says which operation has gone wrong.
    pub(super) fn blame(&mut self, name: u32) {
        if (FIRST_OPERATION..FIRST_BEGUN).contains(&name) {
            self.edit().index = name - FIRST_OPERATION + 1;
        }
    }
}

fn transfer(peer: u32, bytes: u64, tag: u16) -> Transfer {
    Transfer {
        tag,
        ..Transfer::new(peer, bytes)
    }
}
