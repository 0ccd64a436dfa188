//! An operation of a rank: what every format is read into.

use serde::{Deserialize, Serialize};

/// No rank, request or region.
pub const NONE: u32 = u32::MAX;
/// Any source, in a receive.
pub const ANY_SOURCE: u32 = u32::MAX - 1;
/// Any tag, in a receive.
pub const ANY_TAG: u32 = u32::MAX;
/// A size that the recording does not tell.
pub const UNKNOWN_SIZE: u64 = u64::MAX;
/// The communicator of all ranks.
pub const WORLD: u32 = 0;

macro_rules! operations {
    ($($kind:ident $name:literal $line:literal;)*) => {
        /// What an operation does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[repr(u8)]
        pub enum Kind {
            $(#[doc = $line] $kind,)*
        }

        impl Kind {
            /// All kinds, in the order of their numbers.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind,)*];

            /// Its name in tables and figures.
            pub fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)*
                }
            }

            /// What it is, in a line.
            pub fn line(self) -> &'static str {
                match self {
                    $(Kind::$kind => $line,)*
                }
            }
        }

        impl std::default::Default for Operation {
            fn default() -> Operation {
                Operation::new(Kind::ALL[0])
            }
        }
    };
}

operations! {
    Compute "compute" "Works without the network for `time`.";
    Send "send" "Sends to `peer` and waits until the buffer may be used again.";
    Isend "isend" "Sends to `peer`; `request` names it.";
    Recv "recv" "Receives from `peer` and waits.";
    Irecv "irecv" "Receives from `peer`; `request` names it.";
    Sendrecv "sendrecv" "Sends to `peer` and receives from `source`, and waits for both.";
    Wait "wait" "Waits for `request`.";
    Waitall "waitall" "Waits for the requests that are listed, for all without a list.";
    Waitany "waitany" "Waits for one of the requests that are listed; the recorded one is `request`, if it is known.";
    Test "test" "Looks whether `request`, or one that is listed, is complete, and goes on either way.";
    Probe "probe" "Waits until a message from `peer` is there, and leaves it.";
    Barrier "barrier" "Nobody goes on before everybody has come.";
    Bcast "bcast" "`bytes` from the root to all.";
    Reduce "reduce" "`bytes` from everybody, combined at the root.";
    Allreduce "allreduce" "`bytes` from everybody, combined everywhere.";
    Gather "gather" "`bytes` from everybody to the root.";
    Gatherv "gatherv" "`bytes` from this rank to the root, which lists what it receives from each.";
    Scatter "scatter" "`bytes` for everybody from the root.";
    Scatterv "scatterv" "`received` for this rank from the root, which lists what it sends to each.";
    Allgather "allgather" "`bytes` from everybody to everybody.";
    Allgatherv "allgatherv" "`bytes` from this rank to everybody; the list has what comes from each.";
    Alltoall "alltoall" "`bytes` from each to each.";
    Alltoallv "alltoallv" "The list has the bytes to each; `bytes` are all that this rank sends, `received` all that it receives.";
    ReduceScatter "reduce_scatter" "A vector combined and cut: the list has the bytes for each rank, `received` those for this one.";
    ReduceScatterBlock "reduce_scatter_block" "A vector combined and cut into blocks of `bytes`, one for each rank.";
    Scan "scan" "`bytes` from everybody, combined up to each rank.";
    Exscan "exscan" "`bytes` from everybody, combined up to the rank before each.";
    CommCreate "comm_create" "All ranks of a communicator make another one: they meet, no data moves.";
    CommFree "comm_free" "All ranks of a communicator give it up.";
    Put "put" "Writes `bytes` into the memory of `peer`.";
    Get "get" "Reads `bytes` from the memory of `peer`.";
    Enter "enter" "A region of the program begins.";
    Leave "leave" "A region of the program ends.";
    Sleep "sleep" "Does nothing for `time` (ps), in whatever computations are told.";
    Waitnews "waitnews" "Waits until a request is complete, or a message has come that no receive was posted for, since the last wait was over.";
}

impl Kind {
    /// Whether all ranks of a communicator take part.
    pub fn is_collective(self) -> bool {
        (Kind::Barrier..=Kind::CommFree).contains(&self)
    }

    /// Whether it has a root: `peer`, a number in the communicator.
    pub fn has_root(self) -> bool {
        use Kind as K;
        matches!(
            self,
            K::Bcast | K::Reduce | K::Gather | K::Gatherv | K::Scatter | K::Scatterv
        )
    }

    /// Whether it sends a message to `peer`.
    pub fn sends(self) -> bool {
        matches!(self, Kind::Send | Kind::Isend | Kind::Sendrecv)
    }

    /// Whether it receives a message: from `peer`, or in a [`Kind::Sendrecv`] from `source`.
    pub fn receives(self) -> bool {
        matches!(self, Kind::Recv | Kind::Irecv | Kind::Sendrecv)
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// When a send is complete, and how a receive is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Mode {
    /// As MPI likes.
    #[default]
    Standard,
    /// When its receive has begun.
    Synchronous,
    /// At once.
    Buffered,
    /// Its receive is there.
    Ready,
}

/// An operation. Ranks are those of the whole trace, but for roots, which are numbers in the communicator. Fields that a kind does not
/// need are as in [`Operation::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Operation {
    /// What it does.
    pub kind: Kind,
    /// Which mode a send has.
    pub mode: Mode,
    /// Processor, thread or stream of the rank that it takes while it is worked on: one operation at a time. 0 is the rank's own.
    pub lane: u8,
    /// Interface of the rank that a message takes.
    pub nic: u8,
    /// The communicator: 0 has all ranks.
    pub communicator: u32,
    /// The other rank, [`ANY_SOURCE`] in a receive from any; the root of a collective.
    pub peer: u32,
    /// Tag of a message; [`ANY_TAG`] in a receive of any.
    pub tag: u32,
    /// From whom a [`Kind::Sendrecv`] receives. Of a receive or [`Kind::Probe`] of any source or tag: from whom it received when it was
    /// recorded, or [`NONE`].
    pub source: u32,
    /// Tag of what it receives, or, where `source` is told, of what it received.
    pub source_tag: u32,
    /// Name of a request within the rank, or [`NONE`]. A name may be used again when its request is over. A collective with a request does
    /// not wait.
    pub request: u32,
    /// Innermost region of the program that it is in, by number of its name; or [`NONE`].
    pub region: u32,
    /// Bytes of a message or collective, as its kind says; of a receive the most that it takes.
    pub bytes: u64,
    /// Bytes that a [`Kind::Sendrecv`] or a collective receives, where they differ or are told apart.
    pub received: u64,
    /// How long it took when it was recorded (ps); of a [`Kind::Sleep`] how long it is; of a [`Kind::Compute`] its work, in the
    /// [unit](crate::WorkUnit) of the trace.
    pub time: u64,
    /// When it began when it was recorded (ps from the begin of the trace), 0 where that is not told.
    pub start: u64,
}

const _: () = assert!(size_of::<Operation>() == 64);

impl Operation {
    /// An operation in the communicator of all ranks, without anything else.
    pub const fn new(kind: Kind) -> Operation {
        Operation {
            kind,
            mode: Mode::Standard,
            lane: 0,
            nic: 0,
            communicator: WORLD,
            peer: NONE,
            tag: 0,
            source: NONE,
            source_tag: 0,
            request: NONE,
            region: NONE,
            bytes: 0,
            received: 0,
            time: 0,
            start: 0,
        }
    }

    /// A computation.
    pub const fn compute(time: u64) -> Operation {
        Operation {
            time,
            ..Operation::new(Kind::Compute)
        }
    }

    /// A message to or from another rank.
    pub const fn message(kind: Kind, peer: u32, bytes: u64, tag: u32) -> Operation {
        Operation {
            peer,
            bytes,
            tag,
            ..Operation::new(kind)
        }
    }

    /// What a [`Kind::Sendrecv`] sends, as an operation of its own.
    pub const fn sending_half(self) -> Operation {
        Operation {
            kind: Kind::Send,
            source: NONE,
            source_tag: 0,
            received: 0,
            ..self
        }
    }

    /// What a [`Kind::Sendrecv`] receives, as an operation of its own: any size where its size is not told.
    pub const fn receiving_half(self) -> Operation {
        Operation {
            kind: Kind::Recv,
            peer: self.source,
            tag: self.source_tag,
            source: NONE,
            source_tag: 0,
            bytes: match self.received {
                0 => UNKNOWN_SIZE,
                received => received,
            },
            received: 0,
            ..self
        }
    }

    /// A collective of a communicator.
    pub const fn collective(kind: Kind, communicator: u32, bytes: u64) -> Operation {
        Operation {
            communicator,
            bytes,
            ..Operation::new(kind)
        }
    }
}

/// What an operation has any number of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lists<'a> {
    /// Of a [`TraceForm::Graph`](crate::TraceForm::Graph): operations of the same rank, by their number there, that have to have ended before this one starts.
    /// They may come later in the file.
    pub after: &'a [u32],
    /// Operations of the same rank that have to have started.
    pub after_start: &'a [u32],
    /// Requests of a [`Kind::Waitall`], [`Kind::Waitany`] or [`Kind::Test`]; bytes for or from each rank of the communicator in a collective whose sizes
    /// differ.
    pub values: &'a [u64],
}
