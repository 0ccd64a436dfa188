//! A rank at work: it performs its program until it has to wait, and hears of messages.
//!
//! A rank may run ahead of the simulated time by the overheads of what it does: what it posts then lies in the future, and what arrives
//! before that time is matched as if it had been posted, but no earlier than it is. Receives and arrivals have one order each that all
//! agree on, so that it does not matter from which side they are matched. A rank does not run ahead of a computation.

mod begun;
mod collective;
mod graph;
mod hashed;
mod in_calls;
mod lists;
mod live;
mod matching;
mod protocol;
mod rails;
mod tasks;

pub(super) use lists::hashed_items;
pub(crate) use lists::{items, peer_places};

use super::Out;
use crate::network::Network;
use crate::observe::{Cause, OperationRow, Record, UNTIL_NEXT, WaitRow};
use crate::packet::{HORIZON, Kind, Packet};
use crate::state::State;
use des::{Journal, Time};
use work::graph::state::FIRST_OPERATION;
use work::mpi::op::{ANY_SIZE, Action, Collective, Op, Transfer, UNNAMED};
use work::ranks::state::{FIRST_BEGUN, Fault, Rank, fault, item, waiting};
use work::ranks::{Phase, Plan, Plans};

/// Operations that a rank performs at most before it lets the time catch up.
const AT_ONCE: u32 = 256;
/// The name of the requests of blocking operations and collectives of programs.
const BLOCK: u32 = work::ranks::state::BLOCK as u32;
/// Marks the contexts of collectives.
const COLLECTIVE: u16 = 1 << 7;

/// The context of messages in a communicator of a part of the work: its number, around the mark of collectives.
fn context_of(phase: &Phase, communicator: u16) -> u16 {
    let number = phase.first_context + communicator;
    number & (COLLECTIVE - 1) | number >> 7 << 8
}

/// The number behind a context without that mark.
fn number_of(context: u16) -> u16 {
    context & (COLLECTIVE - 1) | context >> 8 << 7
}

/// What a wait ends by.
#[derive(Clone, Copy)]
struct Ended {
    /// The rank at the other end of the message.
    peer: u32,
    cause: Cause,
    /// When it was set off (ps).
    since: u64,
}

/// What comes after an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// The next one.
    Next,
    /// Nothing, until an event.
    Stop,
}

/// A rank with everything around it.
pub(super) struct Endpoint<'a, J> {
    pub net: &'a Network,
    pub st: &'a mut State,
    pub j: &'a mut J,
    /// Where events go.
    pub out: &'a mut dyn Out,
    pub plans: &'a Plans,
    pub plan: &'a Plan,
    /// Its router.
    pub lp: u32,
    /// The place in the columns of its node, of several rails the first, the records of the node's ranks, and the node.
    pub place: u32,
    pub first: u32,
    pub node: u32,
    /// Its number on its node, and in the job.
    pub local: u8,
    pub number: u32,
    pub now: u64,
    /// When the message was sent whose coming this is about (ps).
    pub birth: u64,
    /// Source node, destination node and label of that message.
    pub message: [u32; 3],
}

impl<'a, J: Journal> Endpoint<'a, J> {
    fn slot(&self) -> u32 {
        self.first + u32::from(self.local)
    }

    fn rank(&self) -> &Rank {
        self.st.mpi.ranks.get(self.slot())
    }

    fn edit(&mut self) -> &mut Rank {
        let slot = self.slot();
        self.st.mpi.ranks.edit(self.j, slot)
    }

    /// Begins the program, now or when it is the rank's time.
    pub fn start(&mut self) {
        let start = self.plan.start(self.number);
        if start == 0 {
            return self.run();
        }
        let rank = self.edit();
        (rank.clock, rank.begun) = (start, start);
        self.resume();
    }

    /// Performs the program from where it is until the rank waits, computes or is done.
    pub fn run(&mut self) {
        if self.plan.costs.in_calls.is_some() {
            return self.run_in_calls();
        }
        for _ in 0..AT_ONCE {
            let rank = *self.rank();
            if rank.fault.kind != fault::NONE {
                return;
            }
            if rank.clock >= HORIZON.0 {
                // It has work beyond the end of simulated time, and is not done when that comes.
                return;
            }
            let Some(phase) = self.phase_at_hand() else {
                return;
            };
            let rank = *self.rank();
            if let Some(graph) = phase.graph() {
                match self.play(graph) {
                    Flow::Next => continue,
                    Flow::Stop => return,
                }
            }
            if self.plan.is_live {
                phase.program.told(self.number, rank.clock);
            }
            let flow = match phase.program.op(self.number, rank.iteration, rank.index) {
                Some(op) => self.perform(phase, op),
                None => {
                    let rank = self.edit();
                    (rank.iteration, rank.index) = (rank.iteration + 1, 0);
                    rank.turned = rank.clock;
                    Flow::Next
                }
            };
            if flow == Flow::Stop {
                return;
            }
        }
        self.resume();
    }

    /// The part of the work that the rank is in; `None` when it has done all of it, which is noted.
    fn phase_at_hand(&mut self) -> Option<&'a Phase> {
        let plan = self.plan;
        loop {
            let rank = *self.rank();
            let Some(phase) = plan.phases.get(rank.phase as usize) else {
                self.spend_debt();
                let rank = self.edit();
                rank.finished = rank.clock;
                return None;
            };
            if rank.iteration < phase.iterations {
                return Some(phase);
            }
            let rank = self.edit();
            (rank.phase, rank.iteration, rank.index) = (rank.phase + 1, 0, 0);
            if plan.begins_work(rank.phase) {
                rank.begun = rank.clock;
            }
        }
    }

    fn perform(&mut self, phase: &Phase, op: Op) -> Flow {
        if self.net.messages.follows_ranks {
            self.show_begin();
        }
        if !matches!(op, Op::Collective(_)) {
            self.edit().index += 1;
        }
        let context = |transfer: &Transfer| context_of(phase, transfer.communicator);
        match op {
            Op::Compute { time } => {
                let rank = self.edit();
                rank.clock = rank.clock.saturating_add(time);
                rank.computed = rank.computed.saturating_add(time);
                if time == 0 {
                    return Flow::Next;
                }
                self.resume();
                Flow::Stop
            }
            Op::Isend(send) => {
                self.send(send, context(&send), send.request.into());
                Flow::Next
            }
            Op::Irecv(recv) => {
                self.receive(recv, context(&recv), recv.request.into());
                Flow::Next
            }
            Op::Send(send) => {
                self.send(send, context(&send), BLOCK);
                self.wait(waiting::BLOCK, 0)
            }
            Op::Recv(recv) => {
                self.receive(recv, context(&recv), BLOCK);
                self.wait(waiting::BLOCK, 0)
            }
            Op::SendRecv { send, recv } => {
                self.receive(recv, context(&recv), BLOCK);
                self.send(send, context(&send), BLOCK);
                self.wait(waiting::BLOCK, 0)
            }
            Op::Wait { request } => self.wait(waiting::NAME, request.into()),
            Op::WaitAll => self.wait(waiting::ALL, 0),
            Op::WaitAny => self.wait(waiting::ANY, 0),
            Op::WaitNews => self.wait(waiting::NEWS, 0),
            Op::Test { .. } => {
                self.spend_debt();
                Flow::Next
            }
            Op::Collective(collective) => self.collective(phase, collective),
            Op::Icollective { collective, request } => self.begin_collective(phase, collective, request),
        }
    }

    /// Shows that the operation at hand begins, unless it is a collective that has begun before.
    fn show_begin(&mut self) {
        let rank = *self.rank();
        if rank.step == 0 {
            self.out.show(Record::Operation(OperationRow {
                node: self.node,
                rank: self.number,
                begin: rank.clock,
                phase: rank.phase,
                iteration: rank.iteration,
                index: rank.index,
                padding: 0,
                end: UNTIL_NEXT,
            }));
        }
    }

    /// The next action of a collective.
    fn collective(&mut self, phase: &Phase, collective: Collective) -> Flow {
        let communicator = phase.program.communicator(collective.communicator);
        let context = COLLECTIVE | context_of(phase, collective.communicator);
        let number = self.number;
        let action = self.action_at_hand(phase, &collective);
        self.edit().step += 1;
        match action {
            Action::Send { to, bytes } => {
                self.send(Transfer::new(communicator.rank(number, to), bytes), context, BLOCK);
                Flow::Next
            }
            Action::Recv { from, .. } => {
                let any = Transfer::new(communicator.rank(number, from), ANY_SIZE);
                self.receive(any, context, BLOCK);
                Flow::Next
            }
            Action::Wait => self.wait(waiting::BLOCK, 0),
            Action::Combine { bytes } => {
                self.work(self.plan.costs.combine.time(bytes));
                Flow::Next
            }
            Action::Copy { bytes } => {
                self.work(self.plan.costs.copy.time(bytes));
                Flow::Next
            }
            Action::Done => {
                let rank = self.edit();
                (rank.step, rank.index) = (0, rank.index + 1);
                Flow::Next
            }
        }
    }

    /// What the rank does next in its collective.
    fn action_at_hand(&self, phase: &Phase, collective: &Collective) -> Action {
        let communicator = phase.program.communicator(collective.communicator);
        let number = self.number;
        let rank_of = |other| communicator.rank(number, other);
        let pair_bytes = |from, to| phase.program.pair_bytes(collective, rank_of(from), rank_of(to));
        let call = self.plan.call(*collective, communicator, number, &pair_bytes);
        call.action(self.rank().step)
    }

    /// Keeps the processor busy for `time` ps.
    fn work(&mut self, time: u64) {
        let rank = self.edit();
        rank.clock = rank.clock.saturating_add(time);
        rank.worked = rank.worked.saturating_add(time);
    }

    /// Handles what has arrived while the rank was busy.
    fn spend_debt(&mut self) {
        let debt = std::mem::take(&mut self.edit().debt);
        self.work(debt);
    }

    /// Goes on when the processor is idle again.
    fn resume(&mut self) {
        let at = Time(self.rank().clock.min(HORIZON.0 - 1));
        let event = Packet::new(Kind::Rank, at, self.lp, self.port());
        self.out.send(event.with_value(self.local.into()));
    }

    /// The node's number at its router.
    fn port(&self) -> u16 {
        (self.node - self.net.sites[self.lp as usize].node) as u16
    }

    fn wait(&mut self, what: u32, name: u32) -> Flow {
        self.spend_debt();
        match self.pause(what, name) {
            true => Flow::Next,
            false => Flow::Stop,
        }
    }

    /// Begins a wait, or goes on with it; `true` if it is over.
    fn pause(&mut self, what: u32, name: u32) -> bool {
        let rank = self.edit();
        (rank.waiting, rank.name) = (what, name);
        if what == waiting::ANY && rank.open == 0 && rank.fresh == 0 {
            rank.fresh = 1;
        }
        self.satisfied()
    }

    /// Ends the wait if what the rank waits for has come.
    fn satisfied(&mut self) -> bool {
        let rank = *self.rank();
        if rank.fault.kind != fault::NONE {
            return false;
        }
        let there = match rank.waiting {
            waiting::ALL => rank.open == 0,
            waiting::ANY => rank.fresh > 0,
            waiting::NAME => !self.is_open(rank.name),
            waiting::NEWS => rank.news > 0,
            _ => rank.block == 0,
        };
        if there {
            let rank = self.edit();
            rank.fresh = match rank.waiting {
                waiting::ALL => 0,
                waiting::BLOCK | waiting::NEWS => rank.fresh,
                _ => rank.fresh.saturating_sub(1),
            };
            (rank.waiting, rank.news) = (waiting::NOTHING, 0);
        }
        there
    }

    /// Whether a request of this name is open.
    fn is_open(&self, name: u32) -> bool {
        if self.is_begun(name) {
            return true;
        }
        if self.plan.has_graphs {
            let mut items = hashed_items(self.st, self.slot());
            return items.any(|(_, item)| item.name == name && is_request(item.kind));
        }
        let named = |head: u32| {
            self.items(head)
                .any(|(_, item)| item.name == name && is_request(item.kind))
        };
        let peers = self.peers().any(|peer| named(peer.posted) || named(peer.pending));
        peers || named(self.rank().wild)
    }

    /// Stops the rank for what its program has done wrong.
    fn fail(&mut self, fault: Fault) {
        let rank = self.edit();
        if rank.fault.kind == fault::NONE {
            rank.fault = fault;
        }
    }

    /// Counts a request as open, unless one of its name is pending: then the rank stops.
    fn open(&mut self, name: u32) {
        if name >= FIRST_BEGUN {
            return self.open_for_begun(name - FIRST_BEGUN);
        }
        if name >= FIRST_OPERATION {
            return self.open_for_operation(name - FIRST_OPERATION);
        }
        if name != BLOCK && name != u32::from(UNNAMED) && self.is_open(name) {
            self.fail(Fault {
                kind: fault::PENDING,
                who: name,
                bytes: 0,
                room: 0,
            });
        }
        let rank = self.edit();
        match name {
            BLOCK => rank.block += 1,
            _ => rank.open += 1,
        }
    }

    /// An open request is complete at `at`, which costs the processor `cost`; `true` if the rank goes on. `ended` is what a wait for it ends by.
    fn complete(&mut self, name: u32, at: u64, cost: u64, ended: Ended) -> bool {
        if name >= FIRST_BEGUN {
            return self.complete_for_begun(name - FIRST_BEGUN, at, cost, ended);
        }
        if name >= FIRST_OPERATION {
            return self.complete_for_operation(name - FIRST_OPERATION, at, cost, ended);
        }
        let rank = self.edit();
        match name {
            BLOCK => rank.block -= 1,
            _ => (rank.open, rank.fresh, rank.news) = (rank.open - 1, rank.fresh + 1, rank.news + 1),
        }
        if self.plan.is_live {
            self.tell_completed(name, at);
        }
        self.goes_on(at, cost, ended)
    }

    /// Something has come at `at` that takes `cost` of the processor: now if the rank waits, later if it is busy. `true` if the rank goes on.
    fn goes_on(&mut self, at: u64, cost: u64, ended: Ended) -> bool {
        let rank = self.edit();
        if rank.waiting == waiting::NOTHING {
            rank.debt = rank.debt.saturating_add(cost);
            return false;
        }
        let (idle, begin) = (rank.clock, rank.clock.max(at));
        rank.waited += begin - idle;
        rank.clock = begin.saturating_add(cost);
        rank.worked = rank.worked.saturating_add(cost);
        if begin > idle && self.net.messages.follows_ranks {
            self.show_wait((idle, begin), ended, None);
        }
        self.satisfied()
    }

    /// Shows that a wait from one time to another has ended, or that an operation of a graph has what it was for.
    fn show_wait(&mut self, (begin, end): (u64, u64), ended: Ended, operation: Option<u32>) {
        self.out.show(Record::Waited(WaitRow {
            node: self.node,
            rank: self.number,
            begin,
            end,
            peer: ended.peer,
            cause: ended.cause as u32,
            since: ended.since,
            source: self.message[0],
            destination: self.message[1],
            label: self.message[2],
            padding: 0,
            operation: operation.unwrap_or(0),
            of_graph: operation.is_some().into(),
        }));
    }
}

fn is_request(kind: u8) -> bool {
    matches!(kind, item::RECEIVE | item::SEND | item::MATCHED | item::SENDING)
}
