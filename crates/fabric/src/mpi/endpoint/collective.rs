//! The steps of collectives that take place beside whatever else their rank does: those of graphs, and those that programs begin and wait for later.

use super::{COLLECTIVE, Endpoint, context_of};
use des::Journal;
use work::graph::state::{FIRST_OPERATION, Task, stage};
use work::graph::{Doing, RankOperations};
use work::mpi::op::{ANY_SIZE, Action, Collective, Transfer};
use work::ranks::Phase;

/// Whose steps they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stepping {
    /// Of the operation of a graph that has this task, on a clock of its own.
    Task(u32),
    /// Of a collective that its program has begun: its place, and whether the rank has nothing else to do.
    Begun(u32, bool),
}

/// How its messages are called.
#[derive(Clone, Copy)]
pub(super) struct StepNames {
    pub context: u16,
    /// Keeps those apart that are under way at once.
    pub tag: u16,
    /// Of the requests.
    pub name: u32,
}

impl<J: Journal> Endpoint<'_, J> {
    /// Performs the steps of a collective until it has to wait or, `true`, is done.
    pub(super) fn step_on(
        &mut self,
        phase: &Phase,
        (collective, of): (Collective, Stepping),
        StepNames { context, tag, name }: StepNames,
    ) -> bool {
        let communicator = phase.program.communicator(collective.communicator);
        let number = self.number;
        let rank_of = |other| communicator.rank(number, other);
        let pair_bytes = |from, to| phase.program.pair_bytes(&collective, rank_of(from), rank_of(to));
        let call = self.plan.call(collective, communicator, number, &pair_bytes);
        let transfer = |other, bytes| Transfer {
            tag,
            ..Transfer::new(communicator.rank(number, other), bytes)
        };
        loop {
            let step = self.next_step(of);
            match call.action(step) {
                Action::Send { to, bytes } => {
                    let message = transfer(to, bytes);
                    let birth = self.step_works(of, self.send_cost(&message));
                    self.launch(message, context, name, birth);
                }
                Action::Recv { from, .. } => {
                    self.open(name);
                    let time = self.step_works(of, 0);
                    self.await_message(transfer(from, ANY_SIZE), context, name, time);
                }
                Action::Wait => {
                    self.step_spends(of);
                    if self.step_waits(of) {
                        return false;
                    }
                }
                Action::Combine { bytes } => {
                    self.step_works(of, self.plan.costs.combine.time(bytes));
                }
                Action::Copy { bytes } => {
                    self.step_works(of, self.plan.costs.copy.time(bytes));
                }
                Action::Done => {
                    self.step_spends(of);
                    return true;
                }
            }
        }
    }

    /// The number of the next step.
    fn next_step(&mut self, of: Stepping) -> u32 {
        let step = match of {
            Stepping::Task(slot) => &mut self.edit_task(slot).step,
            Stepping::Begun(slot, _) => &mut self.edit_begun(slot).step,
        };
        *step += 1;
        *step - 1
    }

    /// Keeps the clock of a collective busy for `time` ps; when that is over.
    fn step_works(&mut self, of: Stepping, time: u64) -> u64 {
        match of {
            Stepping::Task(slot) => {
                self.worked(time);
                let task = self.edit_task(slot);
                task.time = task.time.saturating_add(time);
                task.time
            }
            Stepping::Begun(slot, idle) => self.begun_works(slot, idle, time),
        }
    }

    /// Handles what has come while the collective was busy.
    fn step_spends(&mut self, of: Stepping) {
        let cost = match of {
            Stepping::Task(slot) => &mut self.edit_task(slot).cost,
            Stepping::Begun(slot, _) => &mut self.edit_begun(slot).cost,
        };
        let cost = std::mem::take(cost);
        self.step_works(of, cost);
    }

    /// Whether messages of its round have yet to come or leave; then it waits.
    fn step_waits(&mut self, of: Stepping) -> bool {
        match of {
            Stepping::Task(slot) => {
                let waits = self.task(slot).block > 0;
                if waits {
                    self.edit_task(slot).stage = stage::WAITS;
                }
                waits
            }
            Stepping::Begun(slot, _) => self.begun_waits(slot),
        }
    }

    /// A collective of a graph goes on.
    pub(super) fn collective_goes_on(&mut self, own: &RankOperations, slot: u32) {
        let operation = self.task(slot).operation;
        let plan = self.plan;
        let Some(phase) = plan.phases.get(self.rank().phase as usize) else {
            return;
        };
        let Doing::Collective(collective) = self.doing(own, operation) else {
            return;
        };
        let names = StepNames {
            context: COLLECTIVE | context_of(phase, collective.communicator),
            tag: own.operations[operation as usize].tag,
            name: FIRST_OPERATION + operation,
        };
        if self.step_on(phase, (collective, Stepping::Task(slot)), names) {
            let end = self.task(slot).time;
            self.occupy(own, slot, end, stage::ENDS);
        }
    }

    /// A message of a collective of a graph has come or left at `at`, which costs `cost`; `true` if it goes on.
    pub(super) fn collective_hears(&mut self, slot: u32, at: u64, cost: u64) -> bool {
        let task = self.edit_task(slot);
        task.block -= 1;
        if task.stage != stage::WAITS {
            task.cost = task.cost.saturating_add(cost);
            return false;
        }
        task.time = task.time.max(at);
        let &mut Task { block, .. } = task;
        self.step_works(Stepping::Task(slot), cost);
        if block > 0 {
            return false;
        }
        self.edit_task(slot).stage = stage::GOES_ON;
        self.line_up(self.free_lane(), slot);
        true
    }
}
