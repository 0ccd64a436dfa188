//! A collective of a graph, step by step: on a clock of its own, beside whatever else its rank does.

use super::{COLLECTIVE, Endpoint};
use des::Journal;
use work::graph::state::{FIRST_OPERATION, Task, stage};
use work::graph::{Doing, RankOperations};
use work::mpi::op::{ANY_SIZE, Action, Transfer};

impl<J: Journal> Endpoint<'_, J> {
    /// Performs the steps of a collective until it has to wait or is done.
    pub(super) fn collective_goes_on(&mut self, own: &RankOperations, slot: u32) {
        let operation = self.task(slot).operation;
        let record = own.operations[operation as usize];
        let Some(phase) = self.plan.phases.get(self.rank().phase as usize) else {
            return;
        };
        let Doing::Collective(collective) = self.doing(own, operation) else {
            return;
        };
        let communicator = &phase.program.communicators()[usize::from(collective.communicator)];
        let context = COLLECTIVE | (phase.first_context + collective.communicator);
        let (number, name) = (self.number, FIRST_OPERATION + operation);
        let rank_of = |other| communicator.rank(number, other);
        let pair_bytes = |from, to| phase.program.pair_bytes(&collective, rank_of(from), rank_of(to));
        let call = self.plan.call(collective, communicator, number, &pair_bytes);
        // The number of the collective keeps those apart that are under way at once.
        let transfer = |other, bytes| Transfer {
            tag: record.tag,
            ..Transfer::new(communicator.rank(number, other), bytes)
        };
        loop {
            let step = self.task(slot).step;
            self.edit_task(slot).step += 1;
            match call.action(step) {
                Action::Send { to, bytes } => {
                    let message = transfer(to, bytes);
                    let birth = self.collective_works(slot, self.send_cost(&message));
                    self.launch(message, context, name, birth);
                }
                Action::Recv { from, .. } => {
                    self.open_for_operation(operation);
                    let time = self.task(slot).time;
                    self.await_message(transfer(from, ANY_SIZE), context, name, time);
                }
                Action::Wait => {
                    self.collective_spends(slot);
                    if self.task(slot).block > 0 {
                        self.edit_task(slot).stage = stage::WAITS;
                        return;
                    }
                }
                Action::Combine { bytes } => {
                    self.collective_works(slot, self.plan.costs.combine.time(bytes));
                }
                Action::Copy { bytes } => {
                    self.collective_works(slot, self.plan.costs.copy.time(bytes));
                }
                Action::Done => {
                    let end = self.collective_spends(slot);
                    return self.occupy(own, slot, end, stage::ENDS);
                }
            }
        }
    }

    /// Keeps the clock of a collective busy for `time` ps; when that is over.
    fn collective_works(&mut self, slot: u32, time: u64) -> u64 {
        self.worked(time);
        let task = self.edit_task(slot);
        task.time = task.time.saturating_add(time);
        task.time
    }

    /// Handles what has come while the collective was busy; when that is over.
    fn collective_spends(&mut self, slot: u32) -> u64 {
        let cost = std::mem::take(&mut self.edit_task(slot).cost);
        self.collective_works(slot, cost)
    }

    /// A message of a collective has come or left at `at`, which costs `cost`; `true` if it goes on.
    pub(super) fn collective_hears(&mut self, slot: u32, at: u64, cost: u64) -> bool {
        let task = self.edit_task(slot);
        task.block -= 1;
        if task.stage != stage::WAITS {
            task.cost = task.cost.saturating_add(cost);
            return false;
        }
        task.time = task.time.max(at);
        let &mut Task { block, .. } = task;
        self.collective_works(slot, cost);
        if block > 0 {
            return false;
        }
        self.edit_task(slot).stage = stage::GOES_ON;
        self.line_up(self.free_lane(), slot);
        true
    }
}
