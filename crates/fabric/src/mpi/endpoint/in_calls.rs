//! Ranks that handle messages in their calls only: what comes while one computes, copies or registers memory lies at its interface.
//!
//! Such a rank is never ahead of the simulated time: all that it does takes place at its clock, step by step ([`stage`]), because what a message
//! or a receive finds in the lists, and what it costs to look there, depends on what has come before. What its interface has passed to it lies in its inbox, in
//! the order of time. At the end of each call it handles the messages that lie there, one after the other, and those that come meanwhile; while it waits, first all that tells of
//! sends, then one message whose bytes have been read, else all others, and then looks at what it waits for.

use super::{BLOCK, COLLECTIVE, Ended, Endpoint, Flow, context_of};
use crate::envelope::{Envelope, Purpose};
use crate::mpi::HEARD;
use crate::observe::Cause;
use crate::packet::{HORIZON, Kind, Packet};
use crate::state::NONE;
use des::{Journal, Time};
use work::mpi::op::{ANY_SIZE, Action, Collective, Op, Transfer};
use work::mpi::spec::{BesideOrder, CallCosts, Rendezvous, Wakes};
use work::ranks::Phase;
use work::ranks::state::{Fault, Item, fault, item, stage, waiting};

impl<J: Journal> Endpoint<'_, J> {
    fn costs(&self) -> CallCosts {
        self.plan.costs.in_calls.unwrap_or_default()
    }

    /// Whether the rank waits, and goes on when it hears of something.
    pub(in crate::mpi) fn is_asleep(&self) -> bool {
        self.rank().waiting != waiting::NOTHING
    }

    /// Goes on until the processor is busy, the rank waits, or is done.
    pub(super) fn run_in_calls(&mut self) {
        for _ in 0..super::AT_ONCE {
            let rank = *self.rank();
            if rank.fault.kind != fault::NONE || rank.clock >= HORIZON.0 {
                return;
            }
            if rank.clock > self.now {
                return self.resume();
            }
            let flow = match rank.stage & !stage::MISSED {
                stage::ENTER => self.begin_call(),
                at => self.go_on(at),
            };
            if flow == Flow::Stop {
                return;
            }
        }
        self.resume();
    }

    /// The begin of the next operation.
    fn begin_call(&mut self) -> Flow {
        let Some(phase) = self.phase_at_hand() else {
            return Flow::Stop;
        };
        let rank = *self.rank();
        let Some(op) = phase.program.op(self.number, rank.iteration, rank.index) else {
            let rank = self.edit();
            (rank.iteration, rank.index) = (rank.iteration + 1, 0);
            return Flow::Next;
        };
        if self.net.messages.follows_ranks {
            self.show_begin();
        }
        match op {
            Op::Compute { time } => {
                let rank = self.edit();
                rank.clock = rank.clock.saturating_add(time);
                rank.computed = rank.computed.saturating_add(time);
                rank.index += 1;
            }
            Op::Icollective { .. } => {
                self.fail(Fault {
                    kind: fault::BEGUN,
                    who: 0,
                    bytes: 0,
                    room: 0,
                });
                return Flow::Stop;
            }
            Op::Collective(_) => {
                self.work(self.costs().enter.0);
                self.set_stage(stage::COLLECTIVE | stage::STEP);
            }
            op => {
                self.work(self.costs().enter.0.saturating_add(self.before(&op)));
                self.edit().index += 1;
                self.set_stage(stage::ACT);
            }
        }
        Flow::Next
    }

    /// The next stage of an operation.
    fn go_on(&mut self, at: u32) -> Flow {
        let plan = self.plan;
        let rank = *self.rank();
        let of_collective = at & stage::COLLECTIVE;
        // A collective counts as one operation until it is over, others are counted when they begin.
        let index = rank.index - u32::from(of_collective == 0);
        let phase = plan.phases.get(rank.phase as usize);
        let found = phase.and_then(|phase| Some((phase, phase.program.op(self.number, rank.iteration, index)?)));
        let Some((phase, op)) = found else {
            return Flow::Stop;
        };
        match (at & !stage::COLLECTIVE, op) {
            (stage::STEP, Op::Collective(collective)) => self.step(phase, &collective),
            (stage::ACT, op) => {
                // Who waits in the same call looks then.
                let waits = self.wakes_once() && waits_for(&op).is_some() && of_collective == 0;
                match op {
                    Op::Collective(collective) => self.act_step(phase, &collective),
                    op => self.act(phase, op),
                }
                self.set_stage(of_collective | if waits { stage::WAIT } else { stage::HANDLE });
                Flow::Next
            }
            (stage::HANDLE, op) if self.wakes_once() => self.look_at_end(phase, &op),
            (stage::LIST | stage::LAST_LIST, op) => {
                match self.take_listed() {
                    Some(heard) => self.handle(&heard),
                    None if at & !stage::COLLECTIVE == stage::LIST => self.set_stage(of_collective | stage::WAIT),
                    None => self.leave_call(phase, &op),
                }
                Flow::Next
            }
            (stage::HANDLE, op) => {
                if let Some(heard) = self.take_heard(|kind| kind != item::HEARD_DATA && kind != item::HEARD_READ) {
                    self.handle(&heard);
                    return Flow::Next;
                }
                match (&op, waits_for(&op)) {
                    (Op::Collective(collective), _) => {
                        let waits = self.action_at_hand(phase, collective) == Action::Wait;
                        self.set_stage(of_collective | if waits { stage::WAIT } else { stage::STEP });
                    }
                    (_, Some(_)) => self.set_stage(stage::WAIT),
                    _ => self.end_call(),
                }
                Flow::Next
            }
            (_, op) => self.wait_in_call(&op),
        }
    }

    /// What the processor does before an operation takes place.
    fn before(&self, op: &Op) -> u64 {
        match op {
            Op::Isend(send) | Op::Send(send) => self.send_cost(send).saturating_add(self.pinned(send)),
            Op::Irecv(recv) | Op::Recv(recv) => self.pinned(recv),
            Op::SendRecv { send, recv } => {
                let own = self.send_cost(send).saturating_add(self.pinned(send));
                own.saturating_add(self.pinned(recv))
            }
            _ => 0,
        }
    }

    /// What registering the memory of a message takes, if it does not go, or will not come, without asking.
    fn pinned(&self, message: &Transfer) -> u64 {
        match message.bytes != ANY_SIZE && !self.is_eager(message) {
            true => self.costs().pin.time(message.bytes),
            false => 0,
        }
    }

    fn act(&mut self, phase: &Phase, op: Op) {
        let context = |transfer: &Transfer| context_of(phase, transfer.communicator);
        match op {
            Op::Isend(send) => self.launch_now(send, context(&send), send.request.into()),
            Op::Send(send) => self.launch_now(send, context(&send), BLOCK),
            Op::Irecv(recv) => self.receive(recv, context(&recv), recv.request.into()),
            Op::Recv(recv) => self.receive(recv, context(&recv), BLOCK),
            Op::SendRecv { send, recv } => {
                self.receive(recv, context(&recv), BLOCK);
                self.launch_now(send, context(&send), BLOCK);
            }
            _ => {}
        }
    }

    /// What the processor does before the next step of a collective takes place.
    fn step(&mut self, phase: &Phase, collective: &Collective) -> Flow {
        let next = match self.action_at_hand(phase, collective) {
            Action::Send { bytes, .. } => {
                let message = Transfer::new(0, bytes);
                self.work(self.send_cost(&message).saturating_add(self.pinned(&message)));
                stage::ACT
            }
            Action::Recv { bytes, .. } => {
                self.work(self.pinned(&Transfer::new(0, bytes)));
                stage::ACT
            }
            Action::Wait => stage::WAIT,
            Action::Combine { bytes } => {
                self.work(self.plan.costs.combine.time(bytes));
                self.edit().step += 1;
                stage::STEP
            }
            Action::Copy { bytes } => {
                self.work(self.plan.costs.copy.time(bytes));
                self.edit().step += 1;
                stage::STEP
            }
            Action::Done => {
                let rank = self.edit();
                (rank.step, rank.index) = (0, rank.index + 1);
                self.end_call();
                return Flow::Next;
            }
        };
        self.set_stage(stage::COLLECTIVE | next);
        Flow::Next
    }

    fn act_step(&mut self, phase: &Phase, collective: &Collective) {
        let communicator = phase.program.communicator(collective.communicator);
        let context = COLLECTIVE | context_of(phase, collective.communicator);
        let with = |other, bytes| Transfer::new(communicator.rank(self.number, other), bytes);
        match self.action_at_hand(phase, collective) {
            Action::Send { to, bytes } => self.launch_now(with(to, bytes), context, BLOCK),
            Action::Recv { from, .. } => self.receive(with(from, ANY_SIZE), context, BLOCK),
            _ => {}
        }
        self.edit().step += 1;
    }

    /// Waits for what an operation, or the step of a collective, waits for; what has been received is let go first.
    fn wait_in_call(&mut self, op: &Op) -> Flow {
        if self.is_asleep() {
            self.end_sleep();
        }
        if self.rank().debt > 0 && self.looks_at_receives(op) {
            self.spend_debt();
            return Flow::Next;
        }
        let (what, name) = waits_for(op).unwrap_or((waiting::BLOCK, 0));
        if self.pause(what, name) {
            let in_collective = matches!(op, Op::Collective(_));
            self.edit().step += u32::from(in_collective);
            match in_collective {
                _ if self.wakes_once() => self.set_stage(self.of_collective() | stage::HANDLE),
                true => self.set_stage(stage::COLLECTIVE | stage::STEP),
                false => self.end_call(),
            }
            return Flow::Next;
        }
        if self.wakes_once() {
            if self.rank().stage & stage::MISSED == 0 {
                return Flow::Stop;
            }
            self.edit().waiting = waiting::NOTHING;
            if self.look_once() {
                self.set_stage(self.of_collective() | stage::LIST);
            }
            return Flow::Next;
        }
        let of_sends = |kind| matches!(kind, item::HEARD_DONE | item::HEARD_CLEAR);
        let next = self.take_heard(of_sends);
        let next = next.or_else(|| self.take_heard(|kind| kind == item::HEARD_DATA));
        if let Some(heard) = next {
            self.edit().waiting = waiting::NOTHING;
            self.handle(&heard);
            return Flow::Next;
        }
        if self.has_heard() {
            let rank = self.edit();
            (rank.waiting, rank.stage) = (waiting::NOTHING, rank.stage & stage::COLLECTIVE | stage::HANDLE);
            return Flow::Next;
        }
        Flow::Stop
    }

    /// Whether the rank lets go what it has received: not while it waits for a send of its own, which comes before the receive in a collective.
    fn looks_at_receives(&self, op: &Op) -> bool {
        match op {
            Op::Send(_) => false,
            Op::Collective(_) | Op::SendRecv { .. } => {
                let sends = |item: &Item| matches!(item.kind, item::SEND | item::SENDING) && item.name == BLOCK;
                !self
                    .peers()
                    .any(|peer| self.items(peer.pending).any(|(_, item)| sends(item)))
            }
            _ => true,
        }
    }

    /// The rank hears of something for which it has waited.
    fn end_sleep(&mut self) {
        let now = self.now;
        let rank = self.edit();
        let slept = rank.clock;
        rank.waited += now - slept;
        (rank.clock, rank.waiting) = (now, waiting::NOTHING);
        let first = self.items(self.rank().inbox).next().map(|(_, heard)| *heard);
        if let Some(heard) = first.filter(|_| now > slept && self.net.messages.follows_ranks) {
            let cause = match heard.kind {
                item::HEARD_DATA | item::HEARD_CLEAR => Cause::Answered,
                item::HEARD_DONE => Cause::Sent,
                _ => Cause::Arrival,
            };
            let ended = Ended {
                peer: heard.rank,
                cause,
                since: birth_of(&heard),
            };
            self.show_wait((slept, now), ended, None);
        }
    }

    /// The end of a call.
    fn end_call(&mut self) {
        self.work(self.costs().leave.0);
        self.set_stage(stage::ENTER);
    }

    fn set_stage(&mut self, next: u32) {
        let rank = self.edit();
        rank.stage = rank.stage & stage::MISSED | next;
    }

    fn of_collective(&self) -> u32 {
        self.rank().stage & stage::COLLECTIVE
    }

    fn wakes_once(&self) -> bool {
        self.costs().wakes == Wakes::Once
    }

    /// At the end of a call, or of a step of a collective, of a rank that is woken once: where messages lie there it looks, or, if nothing has
    /// come since it last did, waits for something to come.
    fn look_at_end(&mut self, phase: &Phase, op: &Op) -> Flow {
        if self.is_asleep() {
            self.end_sleep();
        }
        if !self.sees(is_message) {
            self.leave_call(phase, op);
            return Flow::Next;
        }
        if self.rank().stage & stage::MISSED == 0 {
            self.edit().waiting = waiting::BLOCK;
            return Flow::Stop;
        }
        match self.look_once() {
            true => self.set_stage(self.of_collective() | stage::LAST_LIST),
            false => self.leave_call(phase, op),
        }
        Flow::Next
    }

    /// Behind a call, or a step of a collective.
    fn leave_call(&mut self, phase: &Phase, op: &Op) {
        let Op::Collective(collective) = op else {
            return self.end_call();
        };
        let waits = self.action_at_hand(phase, collective) == Action::Wait;
        self.set_stage(stage::COLLECTIVE | if waits { stage::WAIT } else { stage::STEP });
    }

    /// Takes all that tells of sends, then one message whose bytes have been read; where there is none it lists the messages that lie there,
    /// and says so.
    fn look_once(&mut self) -> bool {
        self.edit().stage &= !stage::MISSED;
        while let Some(heard) = self.take_heard(|kind| matches!(kind, item::HEARD_DONE | item::HEARD_CLEAR)) {
            self.handle(&heard);
        }
        if let Some(heard) = self.take_heard(|kind| kind == item::HEARD_DATA) {
            self.handle(&heard);
            return false;
        }
        let inbox = self
            .items(self.rank().inbox)
            .take_while(|(_, heard)| heard.time <= self.now);
        let listed: Vec<u32> = inbox
            .filter(|(_, heard)| is_message(heard))
            .map(|(slot, _)| slot)
            .collect();
        for &slot in &listed {
            self.st.mpi.items.edit(self.j, slot).parts = LISTED;
        }
        !listed.is_empty()
    }

    /// Takes the first message that has been listed.
    fn take_listed(&mut self) -> Option<Item> {
        let inbox = self.rank().inbox;
        let slot = self.items(inbox).find(|(_, heard)| heard.parts == LISTED)?.0;
        let (inbox, heard) = self.take(inbox, slot);
        self.edit().inbox = inbox;
        Some(heard)
    }

    fn launch_now(&mut self, message: Transfer, context: u16, name: u32) {
        let birth = self.rank().clock.saturating_add(self.costs().host_delay.0);
        self.launch_named(message, context, name, birth);
    }

    /// A message, or what is said about one, has come to the interface; `true` if the rank goes on.
    pub(super) fn hear(&mut self, costs: &CallCosts, from: u32, envelope: &Envelope, bytes: u64) -> bool {
        let about = (envelope.sequence, envelope.tag, envelope.context);
        let answers = self.plan.costs.rendezvous == Rendezvous::Get;
        let (kind, delay) = match envelope.purpose {
            // The interface answers by itself, and what comes at one time in its order.
            Purpose::Clear if answers && self.takes_as_sent() => (item::HEARD_READ, costs.read_delay.0),
            Purpose::Clear if answers => {
                self.answer(from, about, self.now.saturating_add(costs.read_delay.0));
                return false;
            }
            Purpose::Clear => (item::HEARD_CLEAR, costs.match_delay.0),
            Purpose::Eager => (item::HEARD_EAGER, self.beside(costs.match_delay.0, bytes)),
            Purpose::Empty => (item::HEARD_EMPTY, costs.match_delay.0),
            Purpose::Request => (item::HEARD_REQUEST, costs.match_delay.0),
            Purpose::Offer => (item::HEARD_OFFER, costs.match_delay.0),
            Purpose::Data | Purpose::EmptyData => (item::HEARD_DATA, 0),
            Purpose::Done => (item::HEARD_DONE, costs.match_delay.0),
        };
        let bytes = match envelope.purpose {
            Purpose::EmptyData => self.plan.costs.header,
            _ => bytes,
        };
        let of_host = if kind == item::HEARD_READ {
            0
        } else {
            costs.host_delay.0
        };
        let at = self.now.saturating_add(delay).saturating_add(of_host);
        self.put_heard(at, (kind, from, bytes), about)
    }

    /// What lies in the inbox, or at the interface, can be seen.
    pub(in crate::mpi) fn see_inbox(&mut self) {
        while let Some(read) = self.take_heard(|kind| kind == item::HEARD_READ) {
            self.birth = birth_of(&read);
            self.answer(read.rank, (read.sequence, read.tag, read.context), self.now);
        }
        while self.take_heard(|kind| kind == item::HEARD_LEFT).is_some() {}
        self.edit().stage |= stage::MISSED;
        if self.is_asleep() {
            self.run();
        }
    }

    /// Whether what comes at one time is taken in the order in which it was sent.
    fn takes_as_sent(&self) -> bool {
        let beside = self.plan.costs.beside;
        beside.is_some_and(|beside| beside.order == BesideOrder::Sent)
    }

    /// Whether something of the inbox comes before something that has come later, or can be seen at another time.
    fn comes_before(&self, earlier: &Item, later: &Item) -> bool {
        if earlier.time != later.time || !self.takes_as_sent() {
            return earlier.time <= later.time;
        }
        let place = |heard: &Item| {
            let registers = match heard.kind {
                item::HEARD_EMPTY => false,
                item::HEARD_READ => !self.is_offered(heard),
                _ => true,
            };
            let node = self.plan.locate(heard.rank).0;
            let turn = if registers { u32::MAX - node } else { node };
            // Bytes that were read are there when all else that comes then is.
            (heard.kind == item::HEARD_DATA, birth_of(heard), registers, turn)
        };
        place(earlier) <= place(later)
    }

    /// Whether a read is for a message that its sender is done with.
    fn is_offered(&self, read: &Item) -> bool {
        let offered = |item: &Item| item.kind == item::OFFERED && item.sequence == read.sequence;
        let mut peers = self.peers().filter(|peer| peer.rank == read.rank);
        peers.any(|peer| self.items(peer.pending).any(|(_, item)| offered(item)))
    }

    /// What is left of `delay` for a message of `bytes` on the wire, which its interface has spent from the first packet on.
    fn beside(&self, delay: u64, bytes: u64) -> u64 {
        let packet = u64::from(self.net.packet);
        let behind = bytes.saturating_sub(1) / packet;
        delay.saturating_sub(behind.saturating_mul(self.net.injection.ser(self.net.packet)))
    }

    /// The bytes of a message have left; `true` if the rank goes on.
    pub(super) fn hear_of_leaving(&mut self, costs: &CallCosts, to: u32, sequence: u16) -> bool {
        let at = self.now.saturating_add(costs.host_delay.0);
        let acknowledges = self.plan.costs.rendezvous == Rendezvous::Get;
        let kind = if acknowledges {
            item::HEARD_LEFT
        } else {
            item::HEARD_DONE
        };
        self.put_heard(at, (kind, to, 0), (sequence, 0, 0))
    }

    /// Puts something into the inbox that the rank may see at `at`; `true` if it does so now.
    fn put_heard(
        &mut self,
        at: u64,
        (kind, rank, bytes): (u8, u32, u64),
        (sequence, tag, context): (u16, u16, u16),
    ) -> bool {
        let heard = Item {
            time: at,
            bytes,
            rank,
            next: NONE,
            order: self.birth as u32,
            tag,
            sequence,
            name: (self.birth >> 32) as u32,
            context,
            kind,
            parts: 0,
        };
        let slot = self.put(heard);
        let mut before = NONE;
        let mut next = self.rank().inbox;
        while next != NONE && self.comes_before(self.st.mpi.items.get(next), &heard) {
            (before, next) = (next, self.st.mpi.items.get(next).next);
        }
        self.st.mpi.items.edit(self.j, slot).next = next;
        match before {
            NONE => self.edit().inbox = slot,
            before => self.st.mpi.items.edit(self.j, before).next = slot,
        }
        if at <= self.now && !self.takes_as_sent() && !self.wakes_once() {
            return self.is_asleep();
        }
        if at < HORIZON.0 {
            let event = Packet::new(Kind::Rank, Time(at), self.lp, self.port()).with_vc(HEARD);
            self.out.send(event.with_value(self.local.into()));
        }
        false
    }

    /// Whether something can be seen in the inbox.
    fn has_heard(&self) -> bool {
        self.sees(|heard| heard.kind != item::HEARD_READ)
    }

    /// Whether something of a kind can be seen in the inbox.
    fn sees(&self, wanted: impl Fn(&Item) -> bool) -> bool {
        let inbox = self.items(self.rank().inbox);
        let mut seen = inbox.take_while(|(_, heard)| heard.time <= self.now);
        seen.any(|(_, heard)| wanted(heard))
    }

    /// Takes the first of a kind that can be seen in the inbox.
    fn take_heard(&mut self, wanted: impl Fn(u8) -> bool) -> Option<Item> {
        let inbox = self.rank().inbox;
        let slot = {
            let mut seen = self.items(inbox).take_while(|(_, heard)| heard.time <= self.now);
            seen.find(|(_, heard)| wanted(heard.kind))?.0
        };
        let (inbox, heard) = self.take(inbox, slot);
        self.edit().inbox = inbox;
        Some(heard)
    }

    /// Handles something out of the inbox.
    fn handle(&mut self, heard: &Item) {
        self.birth = birth_of(heard);
        let &Item {
            rank: from,
            bytes,
            sequence,
            tag,
            context,
            ..
        } = heard;
        let costs = self.costs();
        let later = self.rank().clock.saturating_add(costs.host_delay.0);
        let purpose = match heard.kind {
            item::HEARD_CLEAR => return self.answer(from, (sequence, tag, context), later),
            item::HEARD_OFFER => return self.control(from, Purpose::Clear, (sequence, tag, context), later),
            item::HEARD_DONE => {
                self.end(from, sequence, item::SENDING, false, 0);
                return;
            }
            item::HEARD_DATA => {
                self.take_in(from, sequence, bytes);
                self.end(from, sequence, item::MATCHED, false, 0);
                let let_go = costs.pin.time(bytes.saturating_sub(self.plan.costs.header));
                let rank = self.edit();
                rank.debt = rank.debt.saturating_add(let_go);
                if self.plan.costs.rendezvous == Rendezvous::Get {
                    self.control(from, Purpose::Done, (sequence, tag, context), later);
                }
                return;
            }
            item::HEARD_REQUEST => Purpose::Request,
            item::HEARD_EMPTY => Purpose::Empty,
            _ => Purpose::Eager,
        };
        let envelope = Envelope {
            purpose,
            sequence,
            tag,
            context,
            from: 0,
            to: self.local,
            part: false,
        };
        self.come(from, &envelope, bytes);
    }

    /// Pays for a look through the receives that wait, up to the one that was posted as number `found`.
    pub(super) fn looked_at_posted(&mut self, found: Option<u32>) {
        if self.plan.costs.in_calls.is_none() {
            return;
        }
        let next = self.rank().posted;
        let of_peers: u64 = self.peers().map(|peer| self.earlier(peer.posted, next, found)).sum();
        let entries = of_peers + self.earlier(self.rank().wild, next, found);
        self.look(entries, found);
    }

    /// Pays for a look through the messages that wait, up to the one that came as number `found`.
    pub(super) fn looked_at_arrived(&mut self, found: Option<u32>) {
        if self.plan.costs.in_calls.is_none() {
            return;
        }
        let next = self.rank().arrived;
        let entries = self.peers().map(|peer| self.earlier(peer.arrived, next, found)).sum();
        self.look(entries, found);
    }

    /// How many entries of a list came before number `found`, of `None` all; `next` is the number that comes next, and numbers wrap.
    fn earlier(&self, head: u32, next: u32, found: Option<u32>) -> u64 {
        let waits = |item: &Item| matches!(item.kind, item::RECEIVE | item::EAGER | item::ANNOUNCED);
        let before = |item: &Item| found.is_none_or(|found| next.wrapping_sub(item.order) > next.wrapping_sub(found));
        let entries = self.items(head).filter(|(_, item)| waits(item) && before(item));
        entries.count() as u64
    }

    fn look(&mut self, entries: u64, found: Option<u32>) {
        let looked_at = entries + u64::from(found.is_some());
        self.work(self.costs().match_cost.0.saturating_mul(looked_at));
    }
}

/// In the parts of something in the inbox: it lay there when its rank looked.
const LISTED: u8 = 1;

/// Whether what lies in the inbox is a message, or the announcement of one.
fn is_message(heard: &Item) -> bool {
    use item::{HEARD_EAGER, HEARD_EMPTY, HEARD_OFFER, HEARD_REQUEST};
    matches!(heard.kind, HEARD_EAGER | HEARD_EMPTY | HEARD_REQUEST | HEARD_OFFER)
}

/// When what lies in the inbox was set off: the number and the name that it has no use for.
fn birth_of(heard: &Item) -> u64 {
    u64::from(heard.name) << 32 | u64::from(heard.order)
}

/// What an operation waits for when it has taken place.
fn waits_for(op: &Op) -> Option<(u32, u32)> {
    match op {
        Op::Send(_) | Op::Recv(_) | Op::SendRecv { .. } | Op::Collective(_) => Some((waiting::BLOCK, 0)),
        Op::Wait { request } => Some((waiting::NAME, (*request).into())),
        Op::WaitAll => Some((waiting::ALL, 0)),
        Op::WaitAny => Some((waiting::ANY, 0)),
        Op::WaitNews => Some((waiting::NEWS, 0)),
        _ => None,
    }
}
