//! Requests of ranks: started, waited for, started again.
//!
//! MPI lets a program free a request without a wait, so that one which nobody waits for is counted and is no problem.

use crate::operation::{Kind, Lists, NONE, Operation};
use std::collections::{BTreeMap, HashMap};

/// The requests of a rank.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    pending: HashMap<u32, PendingRequest>,
    /// GivenNames that have ever been given.
    given: GivenNames,
    /// Started without a name, and not waited for.
    unnamed: u64,
}

#[derive(Clone, Copy, Debug)]
struct PendingRequest {
    record: u64,
    /// A test or a wait for one of several may have completed it.
    perhaps_over: bool,
}

/// What is wrong with how an operation uses requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// It starts one that is pending since a record.
    Again { request: u32, since: u64 },
    /// It does not say what it waits for.
    Unnamed,
    /// It waits for what was never started.
    Never { request: u64 },
}

impl Misuse {
    /// Reason and hint.
    pub fn words(&self, rank: u32) -> (String, String) {
        match self {
            Misuse::Again { request, since } => (
                format!("rank {rank} makes request {request} again, which is pending since record {since}"),
                "wait for it before, or take another number".into(),
            ),
            Misuse::Unnamed => (
                format!("rank {rank} does not say for which request it waits"),
                "fill in request".into(),
            ),
            Misuse::Never { request } => (
                format!("rank {rank} has made no request {request} before"),
                "start it before, or leave it out of what is waited for".into(),
            ),
        }
    }
}

/// Whether an operation starts what a request is for.
pub(crate) fn starts(kind: Kind) -> bool {
    kind.is_collective() || matches!(kind, Kind::Isend | Kind::Irecv | Kind::Put | Kind::Get)
}

impl Requests {
    /// Takes an operation; what is wrong with it goes to `tell`.
    pub fn take(&mut self, record: u64, operation: &Operation, lists: &Lists<'_>, tell: &mut dyn FnMut(Misuse)) {
        match operation.kind {
            Kind::Wait if operation.request == NONE => tell(Misuse::Unnamed),
            Kind::Wait => self.over(operation.request.into(), false, tell),
            Kind::Waitall if lists.values.is_empty() => {
                self.pending.clear();
                self.unnamed = 0;
            }
            Kind::Waitall => lists.values.iter().for_each(|&request| self.over(request, false, tell)),
            Kind::Waitany | Kind::Waitnews | Kind::Test => {
                let one = (operation.request != NONE).then_some(u64::from(operation.request));
                let known = operation.kind == Kind::Waitany && one.is_some();
                lists.values.iter().for_each(|&request| self.over(request, true, tell));
                if let Some(request) = one {
                    self.over(request, !known, tell);
                } else if lists.values.is_empty() {
                    self.pending
                        .values_mut()
                        .for_each(|pending| pending.perhaps_over = true);
                }
            }
            kind if starts(kind) => self.start(record, operation, tell),
            _ => {}
        }
    }

    /// How many are started and not waited for.
    pub fn left(&self) -> u64 {
        let named = self.pending.values().filter(|pending| !pending.perhaps_over).count();
        named as u64 + self.unnamed
    }

    fn start(&mut self, record: u64, operation: &Operation, tell: &mut dyn FnMut(Misuse)) {
        let request = operation.request;
        if request == NONE {
            self.unnamed += u64::from(matches!(operation.kind, Kind::Isend | Kind::Irecv));
            return;
        }
        let pending = PendingRequest {
            record,
            perhaps_over: false,
        };
        match self.pending.insert(request, pending) {
            Some(earlier) if !earlier.perhaps_over => {
                let since = earlier.record;
                tell(Misuse::Again { request, since });
            }
            _ => {}
        }
        self.given.add(request);
    }

    /// A request is over, or perhaps.
    fn over(&mut self, request: u64, perhaps: bool, tell: &mut dyn FnMut(Misuse)) {
        let name = u32::try_from(request).unwrap_or(NONE);
        match self.pending.get_mut(&name) {
            Some(pending) if perhaps => pending.perhaps_over = true,
            Some(_) => {
                self.pending.remove(&name);
            }
            None if self.given.has(name) => {}
            None => tell(Misuse::Never { request }),
        }
    }
}

/// GivenNames of requests: rows of neighbours, first and last.
#[derive(Debug, Default)]
pub(crate) struct GivenNames(BTreeMap<u32, u32>);

impl GivenNames {
    /// Whether a name is among them.
    pub fn has(&self, name: u32) -> bool {
        let row = self.0.range(..=name).next_back();
        row.is_some_and(|(_, last)| name <= *last)
    }

    /// Takes one more, below [`NONE`].
    pub fn add(&mut self, name: u32) {
        if self.has(name) {
            return;
        }
        let last = self.0.remove(&(name + 1)).unwrap_or(name);
        match self.0.range_mut(..name).next_back() {
            Some((_, before)) if *before + 1 == name => *before = last,
            _ => {
                self.0.insert(name, last);
            }
        }
    }
}
