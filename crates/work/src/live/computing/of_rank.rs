//! The stretches of a rank, one after the other.

use super::recorded::{self, RecordedStretches};
use super::{CallPlace, ComputingWish, MeasuredStretches, ProgramTimes, Stretch};
use crate::live::report::place;
use coupling::entry::{flag, kind};
use coupling::{HostSide, RankEntry};
use std::collections::HashMap;
use std::sync::Arc;
use trace::{Kind, Operation};

/// What a rank computes between its calls.
#[derive(Debug)]
pub(in crate::live) struct RankComputing {
    wish: Arc<ComputingWish>,
    /// What is measured is kept for a table.
    pub is_kept: bool,
    /// Stretches so far, and operations; of what was recorded before the next of these, how many stretches have been taken.
    stretches: u64,
    operations: u64,
    taken: usize,
    /// The call before: its address.
    after: u64,
    places: HashMap<u64, Option<CallPlace>>,
    /// Names of the regions that it is in, and all beginnings and ends, by the number of the record before which they were.
    inside: Vec<Arc<str>>,
    pub turns: Vec<(u32, Option<Arc<str>>)>,
    pub measured: MeasuredStretches,
}

impl RankComputing {
    pub fn new(wish: Arc<ComputingWish>) -> RankComputing {
        RankComputing {
            wish,
            is_kept: false,
            stretches: 0,
            operations: 0,
            taken: 0,
            after: 0,
            places: HashMap::new(),
            inside: Vec::new(),
            turns: Vec::new(),
            measured: MeasuredStretches::default(),
        }
    }

    /// A region begins that has a name, or the innermost ends.
    pub fn turn(&mut self, place: u32, name: Option<String>) {
        match name {
            Some(name) => {
                let name: Arc<str> = name.into();
                self.inside.push(name.clone());
                self.turns.push((place, Some(name)));
            }
            None if self.inside.pop().is_some() => self.turns.push((place, None)),
            None => {}
        }
    }

    /// What the rank has computed before an entry goes to `put`, time by time (ps): of what was recorded, all that is left where the entry is an operation.
    pub fn take(&mut self, number: u32, entry: &RankEntry, host: &HostSide, put: &mut dyn FnMut(u64)) {
        if entry.flags & flag::CALL == 0 || self.wish.times == ProgramTimes::Zero {
            return;
        }
        let after = std::mem::replace(&mut self.after, entry.place);
        let ProgramTimes::Recorded(recorded) = &self.wish.times else {
            // Whatever a process does before its first call, all start at once.
            return match after {
                0 => {}
                _ => put(self.time(number, after, entry.compute, host)),
            };
        };
        let recorded = recorded.clone();
        let left = recorded.before((number, self.operations)).iter().skip(self.taken);
        let most = if is_operation(entry.kind) { usize::MAX } else { 1 };
        for &measured in left.take(most) {
            self.taken += 1;
            put(self.time(number, after, measured, host));
        }
    }

    /// What a stretch behind a call takes (ps).
    fn time(&mut self, number: u32, after: u64, measured: u64, host: &HostSide) -> u64 {
        if self.is_kept || self.wish.needs_places() {
            self.places.entry(after).or_insert_with(|| {
                let (file, offset) = place::module(host.area().process(number), after)?;
                Some(CallPlace::new(&file, offset))
            });
        }
        let stretch = Stretch {
            measured,
            after: self.places.get(&after).and_then(Option::as_ref),
            region: self.inside.last().map_or("", |name| name),
            number: (number, self.stretches),
        };
        self.stretches += 1;
        if let Some(place) = stretch.after.filter(|_| self.is_kept) {
            self.measured.add(stretch.region, place, measured);
        }
        self.wish.time(&stretch)
    }

    fn recorded(&self) -> Option<&RecordedStretches> {
        match &self.wish.times {
            ProgramTimes::Recorded(recorded) => Some(recorded),
            ProgramTimes::Zero | ProgramTimes::Cpu { .. } | ProgramTimes::Table(_) => None,
        }
    }

    /// Whether its times are those of an earlier run, whose operations it has to do.
    pub fn is_recorded(&self) -> bool {
        self.recorded().is_some()
    }

    /// An operation of the rank is known.
    ///
    /// # Errors
    /// It is another one than was recorded.
    pub fn does(&mut self, number: u32, operation: &Operation) -> Result<(), String> {
        if operation.kind == Kind::Sleep || recorded::may_differ(operation.kind) {
            return Ok(());
        }
        let own = (number, self.operations);
        self.operations += 1;
        self.taken = 0;
        self.recorded()
            .map_or(Ok(()), |recorded| recorded.agrees(own, operation))
    }
}

/// Whether a kind of entry is an operation that counts among those that must agree, or the end.
fn is_operation(entry: u8) -> bool {
    matches!(
        entry,
        kind::SEND
            | kind::ISEND
            | kind::RECV
            | kind::IRECV
            | kind::SENDRECV
            | kind::WAIT
            | kind::WAIT_ALL
            | kind::COLLECTIVE
            | kind::ICOLLECTIVE
            | kind::FINALIZE
    )
}
