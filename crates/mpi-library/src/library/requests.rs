//! Requests: what has been started and not been waited for.

use super::Library;
use crate::{
    communicators::Comm,
    datatypes::{Datatype, LayoutCursor},
    fault::{Answer, ErrorCode},
};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// A partner as a status tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagePartner {
    /// A rank of the communicator.
    Rank(u32),
    /// Nobody: `MPI_PROC_NULL`.
    Nobody,
    /// Anybody: in statuses of operations that received nothing.
    Anybody,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug)]
pub struct EndedRequest {
    /// Who sent.
    pub source: MessagePartner,
    /// With which tag; `None` in statuses of operations that received nothing.
    pub tag: Option<u16>,
    /// Bytes that the receiver has.
    pub bytes: u64,
    /// What went wrong.
    pub code: Option<ErrorCode>,
    /// Whether it was cancelled.
    pub cancelled: bool,
}

impl EndedRequest {
    /// Of an operation that received nothing.
    pub const EMPTY: Self = Self {
        source: MessagePartner::Anybody,
        tag: None,
        bytes: 0,
        code: None,
        cancelled: false,
    };
    /// Of an operation with nobody.
    pub const NOBODY: Self = Self {
        source: MessagePartner::Nobody,
        ..Self::EMPTY
    };
}

/// A buffer that outlives the call it came with.
#[derive(Clone, Debug)]
pub struct RequestPlace {
    /// Its address.
    pub address: *mut u8,
    /// How many elements.
    pub count: i64,
    /// Of what.
    pub of: Rc<Datatype>,
}

impl RequestPlace {
    /// To read and write it.
    pub fn cursor(&self) -> LayoutCursor<'_> {
        LayoutCursor {
            address: self.address,
            count: self.count,
            of: &self.of,
        }
    }

    /// Bytes of data.
    pub fn bytes(&self) -> u64 {
        (self.count * self.of.size) as u64
    }

    /// The same with the address so many bytes further, and another count.
    pub fn part(&self, offset: i64, count: i64) -> Self {
        Self {
            address: self.address.wrapping_offset(offset as isize),
            count,
            of: self.of.clone(),
        }
    }
}

/// What is done when the network is through with an operation.
pub type Finish = Box<dyn FnOnce(&Library) -> Answer>;

/// Starts a persistent operation once; returns the index of its request.
pub type RequestStart = Box<dyn Fn(&Library) -> Answer<u32>>;

/// The functions of a generalized request, by their addresses, and what they are handed.
#[derive(Clone, Copy, Debug)]
pub struct OwnFunctions {
    /// Fills the status.
    pub query: usize,
    /// Called when the request goes.
    pub free: usize,
    /// Called when the request is cancelled.
    pub cancel: usize,
    /// Handed to all of them.
    pub state: usize,
}

/// What a request is for.
pub enum RequestKind {
    /// A send.
    Send,
    /// A receive, whose data go to a place; without one, to whoever asks for the message.
    Receive {
        /// Where the data go.
        place: RefCell<Option<RequestPlace>>,
        /// What a message says that nobody has asked for yet, as it was told, and its bytes.
        held: Cell<Option<(u64, u64)>>,
        /// Whether a probe has taken its message out of the arrivals.
        probed: bool,
    },
    /// A receive that the program has cancelled, which the network still has: no message may come for it.
    TakenBack,
    /// A collective operation.
    Collective(RefCell<Option<Finish>>),
    /// Several operations that end together, and what is done then.
    Several {
        /// Their requests.
        parts: RefCell<Vec<u32>>,
        /// Which of them gives the status.
        status_of: Option<usize>,
        /// What is done at the end.
        finish: RefCell<Option<Finish>>,
    },
    /// A persistent operation.
    Persistent {
        /// Starts it.
        start: RequestStart,
        /// The request of its current start.
        active: Cell<Option<u32>>,
    },
    /// A generalized request.
    Own(OwnFunctions),
}

/// A request.
pub struct LibraryRequest {
    /// The communicator it was made on.
    pub comm: Option<Rc<Comm>>,
    /// What it is for.
    pub kind: RequestKind,
    /// Its name on the network.
    pub name: Cell<Option<u32>>,
    /// How it ended.
    pub ended: Cell<Option<EndedRequest>>,
    /// Whether the program has given it up: it goes when it ends.
    pub given_up: Cell<bool>,
}

impl LibraryRequest {
    /// A request that has not ended.
    pub fn new(comm: Option<Rc<Comm>>, kind: RequestKind) -> Self {
        Self {
            comm,
            kind,
            name: Cell::new(None),
            ended: Cell::new(None),
            given_up: Cell::new(false),
        }
    }

    /// What dropping it does. The kinds that there are many of come first, by comparisons: a table of jumps is one more page to a rank that wakes.
    #[inline]
    pub(super) fn drop_parts(self) {
        match self.kind {
            RequestKind::Send => {}
            RequestKind::Receive { place, .. } => drop(place),
            other => drop_rarely(other),
        }
    }

    /// A request that has ended already.
    pub fn done(comm: Option<Rc<Comm>>, ended: EndedRequest) -> Self {
        let request = Self::new(comm, RequestKind::Send);
        request.ended.set(Some(ended));
        request
    }
}

#[cold]
fn drop_rarely(kind: RequestKind) {
    drop(kind);
}
