//! Collectives that a program begins and waits for later. They go on whenever one of their messages comes or leaves, as if the
//! interface woke an engine for them.
//!
//! What that takes of the processor it takes at once while the rank waits. A rank that computes goes on computing: the collective's steps have a
//! clock of their own, and what they take is owed, as for the handling of messages that come meanwhile, until the rank waits next.
//!
//! The clock of a collective is never ahead of that of its rank and what the rank owes together. So a rank that waits is
//! behind all that its collectives have done while it was busy.

use super::collective::{StepNames, Stepping};
use super::{COLLECTIVE, Ended, Endpoint, Flow, context_of};
use crate::mpi::BEGUN;
use crate::observe::Cause;
use crate::packet::{HORIZON, Kind, Packet};
use des::lists::{NONE, places};
use des::{Journal, Time};
use work::mpi::op::{ANY_TAG, Collective, CollectiveKind};
use work::ranks::Phase;
use work::ranks::state::{BegunCollective, FIRST_BEGUN, begun, waiting};

impl<J: Journal> Endpoint<'_, J> {
    pub(super) fn edit_begun(&mut self, slot: u32) -> &mut BegunCollective {
        self.st.mpi.begun.edit(self.j, slot)
    }

    fn begun(&self, slot: u32) -> &BegunCollective {
        self.st.mpi.begun.get(slot)
    }

    /// The places of what the rank has begun, in the order of their numbers.
    fn begun_places(&self) -> impl Iterator<Item = u32> + '_ {
        places(self.rank().collectives, |slot| self.st.mpi.begun.get(slot).next)
    }

    /// Whether a collective under way has this name.
    pub(super) fn is_begun(&self, request: u32) -> bool {
        self.rank().collectives != NONE
            && self.begun_places().any(|slot| {
                let begun = self.begun(slot);
                begun.is_under_way() && u32::from(begun.request) == request
            })
    }

    /// Begins a collective, and goes on.
    pub(super) fn begin_collective(&mut self, phase: &Phase, collective: Collective, request: u16) -> Flow {
        self.open(request.into());
        let tag = 1 + self.next_of(collective.communicator) % (u32::from(ANY_TAG) - 1);
        let rank = *self.rank();
        let own = BegunCollective {
            time: rank.clock,
            bytes: collective.bytes,
            root: collective.root,
            phase: rank.phase,
            request,
            tag: tag as u16,
            communicator: collective.communicator,
            kind: collective.kind as u8,
            stage: begun::RUNS,
            ..BegunCollective::new()
        };
        let slot = self.put_begun(own);
        if self.begun_goes_on(phase, slot, true) {
            let ended = Ended {
                peer: self.number,
                cause: Cause::Answered,
                since: rank.clock,
            };
            self.end_begun(slot, ended);
        }
        Flow::Next
    }

    /// How many collectives the rank has begun on a communicator of its part before, which is counted on.
    fn next_of(&mut self, communicator: u16) -> u32 {
        let phase = self.rank().phase;
        let counts = |own: &BegunCollective| {
            own.stage == begun::COUNTS && (own.phase, own.communicator) == (phase, communicator)
        };
        let found = self.begun_places().find(|&slot| counts(self.begun(slot)));
        let slot = found.unwrap_or_else(|| {
            self.put_begun(BegunCollective {
                phase,
                communicator,
                stage: begun::COUNTS,
                ..BegunCollective::new()
            })
        });
        let count = &mut self.edit_begun(slot).step;
        *count = count.wrapping_add(1);
        count.wrapping_sub(1)
    }

    /// A place for a collective: one that is free, or another behind all others. It keeps its number.
    fn put_begun(&mut self, own: BegunCollective) -> u32 {
        let (mut last, mut number) = (NONE, 0);
        let free = self.begun_places().find(|&slot| {
            let other = self.begun(slot);
            (last, number) = (slot, other.number + 1);
            other.stage == begun::FREE
        });
        if let Some(slot) = free {
            let &BegunCollective { number, next, .. } = self.begun(slot);
            *self.edit_begun(slot) = BegunCollective { number, next, ..own };
            return slot;
        }
        let slot = self.st.mpi.begun.push(self.j, BegunCollective { number, ..own });
        match last {
            NONE => self.edit().collectives = slot,
            last => self.edit_begun(last).next = slot,
        }
        slot
    }

    /// Performs steps until the collective waits or, `true`, is done. `idle`: the rank has nothing else to do.
    fn begun_goes_on(&mut self, phase: &Phase, slot: u32, idle: bool) -> bool {
        let own = *self.begun(slot);
        let collective = Collective {
            kind: CollectiveKind::ALL[usize::from(own.kind)],
            communicator: own.communicator,
            bytes: own.bytes,
            root: own.root,
        };
        let names = StepNames {
            context: COLLECTIVE | context_of(phase, collective.communicator),
            tag: own.tag,
            name: FIRST_BEGUN + own.number,
        };
        self.step_on(phase, (collective, Stepping::Begun(slot, idle)), names)
    }

    /// Takes `time` ps of the rank, now if it is idle; when the collective is over that.
    pub(super) fn begun_works(&mut self, slot: u32, idle: bool, time: u64) -> u64 {
        if idle {
            self.work(time);
            let clock = self.rank().clock;
            self.edit_begun(slot).time = clock;
            return clock;
        }
        let rank = self.edit();
        rank.debt = rank.debt.saturating_add(time);
        let own = self.edit_begun(slot);
        own.time = own.time.saturating_add(time);
        own.time
    }

    /// Whether it has to wait, which it then does.
    pub(super) fn begun_waits(&mut self, slot: u32) -> bool {
        let own = self.edit_begun(slot);
        // Beyond the end of simulated time nothing goes on.
        let waits = own.block > 0 || own.time >= HORIZON.0;
        if waits {
            own.stage = begun::WAITS;
        }
        waits
    }

    fn begun_of(&self, number: u32) -> Option<u32> {
        self.begun_places().find(|&slot| self.begun(slot).number == number)
    }

    /// A collective has a request more.
    pub(super) fn open_for_begun(&mut self, number: u32) {
        if let Some(slot) = self.begun_of(number) {
            self.edit_begun(slot).block += 1;
        }
    }

    /// A request of a collective is complete at `at`, which costs `cost`; `true` if the rank goes on.
    pub(super) fn complete_for_begun(&mut self, number: u32, at: u64, cost: u64, ended: Ended) -> bool {
        let Some(slot) = self.begun_of(number) else {
            return false;
        };
        let idle = self.rank().waiting != waiting::NOTHING;
        let own = self.edit_begun(slot);
        own.block -= 1;
        if own.stage != begun::WAITS {
            own.cost = own.cost.saturating_add(cost);
            return false;
        }
        if idle {
            // It is not for this that the rank waits.
            self.goes_on(at, cost, ended);
            let clock = self.rank().clock;
            self.edit_begun(slot).time = clock;
        } else {
            own.time = own.time.max(at);
            self.begun_works(slot, false, cost);
        }
        let own = self.edit_begun(slot);
        if own.block > 0 {
            return false;
        }
        own.stage = begun::RUNS;
        let plan = self.plan;
        let Some(phase) = plan.phases.get(self.begun(slot).phase as usize) else {
            return false;
        };
        if !self.begun_goes_on(phase, slot, idle) {
            return false;
        }
        let end = self.begun(slot).time;
        if idle || end <= self.now {
            return self.end_begun(slot, ended);
        }
        self.edit_begun(slot).stage = begun::ENDS;
        if end < HORIZON.0 {
            let event = Packet::new(Kind::Rank, Time(end), self.lp, self.port()).with_vc(BEGUN);
            let value = u64::from(number) << 8 | u64::from(self.local);
            self.out.send(event.with_value(value));
        }
        false
    }

    /// The end of a collective has come that went on while its rank was busy; `true` if the rank goes on.
    pub(in crate::mpi) fn begun_ends(&mut self, number: u32) -> bool {
        let Some(slot) = self.begun_of(number) else {
            return false;
        };
        let ended = Ended {
            peer: self.number,
            cause: Cause::Answered,
            since: self.now,
        };
        self.end_begun(slot, ended)
    }

    /// A collective is over: its request is complete; `true` if the rank goes on.
    fn end_begun(&mut self, slot: u32, ended: Ended) -> bool {
        let own = self.edit_begun(slot);
        own.stage = begun::FREE;
        let &mut BegunCollective { time, request, .. } = own;
        self.complete(request.into(), time, 0, ended)
    }
}
