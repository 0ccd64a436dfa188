//! Names that ranks have room for, in place of those of a trace.
//!
//! A trace has communicators by the thousand, tags of 32 bits and any number of requests. Ranks know at most [`MAX_CONTEXTS`] families of
//! groups, tags and names of requests of 16 bits. What is renamed here means the same: two messages that could not be taken for each
//! other in the trace cannot be in its replay, and the other way round.
//!
//! * [`communicators`]: communicators that share no rank share a family, and only those that have to be kept apart are in one.
//! * [`tags`]: a tag is named together with its communicator, so that messages of all communicators are in one context.
//! * [`kept_order`]: where communicators are one family of groups after the other, as all ranks make them together, families and tags stay what they are.
//! * [`requests`]: the lowest name that is free.
//!
//! Names are given in the order in which a trace is read, which is the same on every machine.
//!
//! [`MAX_CONTEXTS`]: crate::mpi::MAX_CONTEXTS

pub mod communicators;
pub mod kept_order;
pub mod requests;
pub mod tags;

pub use communicators::{CommunicatorUses, PackedCommunicators};
pub use kept_order::KeptFamilies;
pub use requests::RequestNames;
pub use tags::TagNames;
