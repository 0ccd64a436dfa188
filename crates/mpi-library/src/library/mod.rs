//! The state of the MPI library of a process, and how calls get at it.
//!
//! All of it hangs on one [`Library`]. A call borrows tables for moments only, never while a function of the program runs, since that
//! may call MPI itself.

mod counting;
mod enter;
mod errors;
mod lookup;
mod network;
pub mod progress;
pub mod requests;

pub use counting::TimeDependent;
pub(crate) use enter::calls;
pub use enter::{PROCESS, between_calls, enter, is_inside, know_machine, library, thread_number};
pub use errors::{Handler, OwnError, OwnErrors};
pub use network::Destination;

use crate::{
    attributes::AttributeKey,
    communicators::{Comm, Hints},
    datatypes::{Datatype, named::NAMED},
    groups::ProcessGroup,
    link::NetworkLink,
    reductions::{BuiltIn, ReduceOperation},
    table::HandleTable,
};
use coupling::RankNews;
use requests::LibraryRequest;
use std::{
    cell::{Cell, OnceCell, RefCell},
    rc::Rc,
};

/// How far a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// `MPI_Init` has not been called.
    Before,
    /// Between the two.
    Running,
    /// `MPI_Finalize` has been called.
    Finalized,
}

/// A message that has come and that no receive was posted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeardArrival {
    /// Who sent it, of the job.
    pub source: u32,
    /// Number of the communicator.
    pub context: u32,
    /// Its tag.
    pub tag: u16,
    /// Its size.
    pub bytes: u64,
    /// What it says: the block with its data, or they themselves.
    pub payload: u64,
}

/// The library of this process.
pub struct Library {
    pub(crate) stage: Cell<Stage>,
    pub(crate) link: RefCell<Option<NetworkLink>>,
    /// The function that the program is in, and the communicator whose error handler it is up to.
    pub(crate) call: Cell<&'static str>,
    pub(crate) scope: RefCell<Option<Rc<Comm>>>,
    /// The simulated time of the last answer (ps).
    pub(crate) clock: Cell<u64>,
    /// The thread that called `MPI_Init`, and what it was promised.
    pub(crate) main_thread: Cell<u64>,
    pub(crate) thread_level: Cell<i64>,
    /// Those of the standard are made when they are first asked for.
    types: RefCell<HandleTable<OnceCell<Rc<Datatype>>>>,
    pub(crate) groups: RefCell<HandleTable<Rc<ProcessGroup>>>,
    pub(crate) comms: RefCell<HandleTable<Rc<Comm>>>,
    pub(crate) hints: RefCell<HandleTable<Rc<RefCell<Hints>>>>,
    pub(crate) operations: RefCell<HandleTable<ReduceOperation>>,
    pub(crate) handlers: RefCell<HandleTable<Handler>>,
    pub(crate) keys: RefCell<HandleTable<AttributeKey>>,
    pub(crate) requests: RefCell<HandleTable<Rc<LibraryRequest>>>,
    /// Requests that are gone, for the next ones.
    spare_requests: RefCell<Vec<Rc<LibraryRequest>>>,
    /// Room for lists that a call needs, which the last call has left.
    pub(crate) spare_list: Cell<Vec<(usize, u32)>>,
    spare_names: Cell<Vec<u32>>,
    /// The named datatype that was asked for last, and its number.
    last_named: RefCell<Option<(i64, Rc<Datatype>)>>,
    /// Messages that matched probes have taken: the index of their receive, or none for a message from nobody.
    pub(crate) messages: RefCell<HandleTable<u32>>,
    /// Requests by their name on the network.
    pub(crate) names: RefCell<HandleTable<u32>>,
    pub(crate) arrivals: RefCell<Vec<HeardArrival>>,
    /// Room for the news of an answer.
    told: RefCell<Vec<RankNews>>,
    /// Blocks that the network reads before its next answer.
    read_soon: RefCell<Vec<u64>>,
    pub(crate) own_errors: RefCell<OwnErrors>,
    /// The numbers from here on are those of no communicator that this process is in.
    pub(crate) next_comm: Cell<u32>,
    /// Duplicates that this process has started as the first member.
    pub(crate) started_duplicates: Cell<u32>,
    /// Calls of the program, all of them and by kind ([`TimeDependent`]), which the simulator is told before it answers.
    counts: [Cell<u64>; 1 + TimeDependent::KINDS],
    /// Whether those by kind have changed since.
    counts_by_kind: Cell<bool>,
    /// The buffer of buffered sends: address and bytes.
    pub(crate) buffer: Cell<Option<(usize, i64)>>,
    /// Attributes of the standard, which programs read through pointers.
    pub(crate) constants: [Cell<i32>; 5],
}

/// So many requests that are gone are kept for the next ones: what they speak of goes when they are used again.
const MOST_SPARE: usize = 32;
/// News and names that there is room for at first.
const FIRST_ROOM: usize = 8;
/// Requests that are there at first.
const FIRST_REQUESTS: usize = 4;

/// Error handlers of the standard, by their index.
pub const FATAL: u32 = 0;
/// As [`FATAL`], but only the processes of the communicator need end.
pub const ABORT: u32 = 1;
/// The code goes to the program.
pub const RETURN: u32 = 2;

/// Communicators of the standard, by their index.
pub const WORLD: u32 = 0;
/// The process itself.
pub const SELF: u32 = 1;

impl Library {
    pub(crate) fn new() -> Self {
        let library = Self {
            stage: Cell::new(Stage::Before),
            link: RefCell::new(None),
            call: Cell::new(""),
            scope: RefCell::new(None),
            clock: Cell::new(0),
            main_thread: Cell::new(0),
            thread_level: Cell::new(0),
            types: RefCell::default(),
            groups: RefCell::default(),
            comms: RefCell::default(),
            hints: RefCell::default(),
            operations: RefCell::default(),
            handlers: RefCell::default(),
            keys: RefCell::default(),
            requests: RefCell::default(),
            spare_requests: RefCell::default(),
            spare_list: Cell::default(),
            spare_names: Cell::default(),
            last_named: RefCell::default(),
            messages: RefCell::default(),
            names: RefCell::default(),
            arrivals: RefCell::default(),
            told: RefCell::default(),
            read_soon: RefCell::default(),
            own_errors: RefCell::default(),
            next_comm: Cell::new(2),
            started_duplicates: Cell::new(0),
            counts: Default::default(),
            counts_by_kind: Cell::new(false),
            buffer: Cell::new(None),
            constants: Default::default(),
        };
        for _ in NAMED {
            library.types.borrow_mut().insert(OnceCell::new());
        }
        library.groups.borrow_mut().insert(Rc::default());
        library.hints.borrow_mut().insert(Rc::default());
        for operation in BuiltIn::ALL {
            library
                .operations
                .borrow_mut()
                .insert(ReduceOperation::BuiltIn(operation));
        }
        for handler in [Handler::Fatal, Handler::Abort, Handler::Return] {
            library.handlers.borrow_mut().insert(handler);
        }
        library
    }

    /// Makes room for what messages need, side by side ([`Nearby`](crate::nearby::Nearby)): a rank that wakes has none of its pages at hand, and with what it
    /// makes as it goes along between what else it makes it would need as many again.
    pub(crate) fn make_room(&self) {
        self.told.borrow_mut().reserve(FIRST_ROOM);
        self.spare_list.set(Vec::with_capacity(FIRST_ROOM));
        self.spare_names.set(Vec::with_capacity(FIRST_ROOM));
        self.names.borrow_mut().reserve(FIRST_ROOM);
        self.requests.borrow_mut().reserve(FIRST_ROOM);
        let mut spare = self.spare_requests.borrow_mut();
        spare.reserve(MOST_SPARE);
        let request = |_| Rc::new(LibraryRequest::new(None, requests::RequestKind::Send));
        spare.extend((0..FIRST_REQUESTS).map(request));
    }

    /// Puts a communicator into the table; returns its index.
    pub(crate) fn keep_comm(&self, comm: Comm) -> u32 {
        let comm = Rc::new(comm);
        let index = self.comms.borrow_mut().insert(comm.clone());
        comm.index.set(index);
        index
    }

    /// Puts a request into the table; returns its index.
    #[unsafe(link_section = ".text.hot")]
    pub(crate) fn keep_request(&self, request: LibraryRequest) -> u32 {
        let spare = self.spare_requests.borrow_mut().pop();
        let kept = match spare {
            // Nobody but this has it any longer, unless a function of the program does who called from within a call.
            Some(mut spare) => match Rc::get_mut(&mut spare) {
                Some(place) => {
                    LibraryRequest::drop_parts(std::mem::replace(place, request));
                    spare
                }
                None => Rc::new(request),
            },
            None => Rc::new(request),
        };
        self.requests.borrow_mut().insert(kept)
    }

    /// Takes a request out of the table.
    #[unsafe(link_section = ".text.hot")]
    pub(crate) fn remove_request(&self, index: u32) {
        let Some(gone) = self.requests.borrow_mut().remove(index) else {
            return;
        };
        let mut spare = self.spare_requests.borrow_mut();
        if spare.len() < MOST_SPARE {
            spare.push(gone);
        }
    }
}
