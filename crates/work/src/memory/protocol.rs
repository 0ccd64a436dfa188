//! The coherence protocol as two tables: what a node does with its copy of a line, and what a line's home does.
//!
//! MESI with a full map at the home, which knows nodes, not cores: caches of one node see each other over its bus, and a node answers as
//! one. Messages may overtake each other however they like. A home does one thing at a time with a line only while it waits for the
//! answer of an owner; everything else is over for it when it has sent its messages, so that a read of memory is a request and its data,
//! and nothing more. What that leaves open the nodes settle:
//!
//! - a line is a node's own only when all others have acknowledged that they have dropped it, which they tell the new owner;
//! - a node that is asked for a line which it has yet to get answers when it has it ([`Do::Hold`]);
//! - a node that is told to drop a line for which it waits cannot know whether an old copy is meant or the one that is on its way. It
//!   acknowledges, gives what comes to those loads alone that it had been asked for before ([`Do::Mark`]), and keeps nothing;
//! - a node that gives up a line of its own keeps it until the home has said that it knows, and answers for it until then.
//!
//! After Sorin, Hill and Wood, A Primer on Memory Consistency and Cache Coherence (2011), chapters 6 to 8; the tables are ours.

/// What a node knows of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Held {
    /// Nothing.
    Invalid = 0,
    /// It may read.
    Shared = 1,
    /// It alone has the line, as memory has it.
    Exclusive = 2,
    /// It alone has the line, and memory does not.
    Modified = 3,
    /// It has asked to read.
    Reading = 4,
    /// The same, and has been told since to drop the line.
    ReadingOnce = 5,
    /// It has asked to write, without a copy.
    Writing = 6,
    /// The same; the line is here, acknowledgements are missing.
    WritingHere = 7,
    /// It has asked to write and has a copy to read.
    Upgrading = 8,
    /// The same; leave is here, acknowledgements are missing.
    UpgradingHere = 9,
    /// It gives up a shared line, and waits until the home knows.
    LeavingShared = 10,
    /// It gives up an exclusive line.
    LeavingExclusive = 11,
    /// It gives up a modified line.
    LeavingModified = 12,
    /// It wanted to give up a line that it was made to hand over.
    Left = 13,
}

/// What happens to a node's copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CopyEvent {
    /// A core reads, and has not found the line in its own cache.
    Load = 0,
    /// A core writes, and has not found the line in its own cache to write.
    Store = 1,
    /// The line makes room for another; a shared one without a word, if clean lines leave silently.
    Forget = 2,
    /// The line makes room for another, and the home is told.
    Evict = 3,
    /// The home asks for a reader.
    ForwardRead = 4,
    /// The home asks for a writer.
    ForwardWrite = 5,
    /// The home wants the line dropped, for a writer.
    Invalidate = 6,
    /// The line, to read.
    Shared = 7,
    /// The line, to read, for this node alone.
    Exclusive = 8,
    /// The line, to write; all acknowledgements are here.
    Owned = 9,
    /// The line, to write when all acknowledgements are here.
    OwnedLater = 10,
    /// Leave to write; all acknowledgements are here.
    Leave = 11,
    /// Leave to write when all acknowledgements are here.
    LeaveLater = 12,
    /// An acknowledgement, others are missing.
    Acknowledged = 13,
    /// The last acknowledgement.
    AllAcknowledged = 14,
    /// The home knows that the line is given up.
    Released = 15,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Do {
    /// The access is performed on the node's caches.
    Hit,
    /// The access waits.
    Wait,
    /// Asks the home to read.
    AskRead,
    /// Asks the home to write.
    AskWrite,
    /// Asks the home for leave to write what it has.
    AskLeave,
    /// Tells the home that it gives up a shared line.
    PutShared,
    /// Tells the home that it gives up an exclusive line.
    PutExclusive,
    /// Sends the home a line that it gives up.
    PutModified,
    /// Answers the forward when the line is here.
    Hold,
    /// Sends the reader the line.
    SendShared,
    /// Sends the writer the line.
    SendOwned,
    /// Tells the home that a reader has it, and memory is as good.
    TellClean,
    /// Sends the home what has been written.
    CopyBack,
    /// Tells the home that the writer has it.
    TellTransfer,
    /// The owner's copy is for reading only from now on.
    Demote,
    /// Drops the copy.
    Drop,
    /// Acknowledges to the writer.
    Acknowledge,
    /// Loads that wait so far may have what comes.
    Mark,
    /// Keeps the line until acknowledgements are here.
    Keep,
    /// Puts the line into the cache and performs the accesses that wait.
    Fill,
    /// Performs the accesses that wait on the copy that the cache has.
    Serve,
    /// Gives the line to the loads marked and drops it; the other accesses begin again.
    ServeOnce,
    /// Accesses that wait begin again.
    Release,
}

/// All states of a copy.
pub const COPIES: [Held; 14] = [
    Held::Invalid,
    Held::Shared,
    Held::Exclusive,
    Held::Modified,
    Held::Reading,
    Held::ReadingOnce,
    Held::Writing,
    Held::WritingHere,
    Held::Upgrading,
    Held::UpgradingHere,
    Held::LeavingShared,
    Held::LeavingExclusive,
    Held::LeavingModified,
    Held::Left,
];

/// All that can happen to a copy.
pub const COPY_EVENTS: [CopyEvent; 16] = [
    CopyEvent::Load,
    CopyEvent::Store,
    CopyEvent::Forget,
    CopyEvent::Evict,
    CopyEvent::ForwardRead,
    CopyEvent::ForwardWrite,
    CopyEvent::Invalidate,
    CopyEvent::Shared,
    CopyEvent::Exclusive,
    CopyEvent::Owned,
    CopyEvent::OwnedLater,
    CopyEvent::Leave,
    CopyEvent::LeaveLater,
    CopyEvent::Acknowledged,
    CopyEvent::AllAcknowledged,
    CopyEvent::Released,
];

/// A cell of a table: what is done, and what the state is then.
type Cell<D, S> = Option<(&'static [D], S)>;

/// What a node does with its copy of a line when something happens to it; `None`: that cannot happen.
pub const fn copy(state: Held, event: CopyEvent) -> Cell<Do, Held> {
    use CopyEvent as E;
    use Do::*;
    use Held as C;
    let cell: (&[Do], Held) = match (state, event) {
        // Accesses of the node's own cores.
        (C::Shared | C::Exclusive | C::Modified | C::Upgrading | C::UpgradingHere, E::Load) => (&[Hit], state),
        (C::Exclusive | C::Modified, E::Store) => (&[Hit], C::Modified),
        (C::Invalid, E::Load) => (&[AskRead, Wait], C::Reading),
        (C::Invalid, E::Store) => (&[AskWrite, Wait], C::Writing),
        (C::Shared, E::Store) => (&[AskLeave, Wait], C::Upgrading),
        (_, E::Load | E::Store) => (&[Wait], state),

        // Room for another line.
        (C::Shared, E::Forget) => (&[Drop], C::Invalid),
        (C::Shared, E::Evict) => (&[PutShared, Drop], C::LeavingShared),
        (C::Exclusive, E::Evict) => (&[PutExclusive, Drop], C::LeavingExclusive),
        (C::Modified, E::Evict) => (&[PutModified, Drop], C::LeavingModified),

        // The home, for another node that reads.
        (C::Exclusive, E::ForwardRead) => (&[Demote, SendShared, TellClean], C::Shared),
        (C::Modified, E::ForwardRead) => (&[Demote, SendShared, CopyBack], C::Shared),
        (C::LeavingExclusive, E::ForwardRead) => (&[SendShared, TellClean], C::LeavingShared),
        (C::LeavingModified, E::ForwardRead) => (&[SendShared, CopyBack], C::LeavingShared),
        // For one that writes.
        (C::Exclusive | C::Modified, E::ForwardWrite) => (&[Drop, SendOwned, TellTransfer], C::Invalid),
        (C::LeavingExclusive | C::LeavingModified, E::ForwardWrite) => (&[SendOwned, TellTransfer], C::Left),
        // Before the line is here.
        (
            C::Reading | C::ReadingOnce | C::Writing | C::WritingHere | C::Upgrading | C::UpgradingHere,
            E::ForwardRead | E::ForwardWrite,
        ) => (&[Hold], state),
        // For one that writes what several read.
        (C::Invalid | C::Writing, E::Invalidate) => (&[Acknowledge], state),
        (C::Shared, E::Invalidate) => (&[Drop, Acknowledge], C::Invalid),
        (C::Reading | C::ReadingOnce, E::Invalidate) => (&[Mark, Acknowledge], C::ReadingOnce),
        (C::Upgrading, E::Invalidate) => (&[Drop, Acknowledge], C::Writing),
        (C::LeavingShared, E::Invalidate) => (&[Acknowledge], C::Left),

        // Answers.
        (C::Reading, E::Shared) => (&[Fill], C::Shared),
        (C::ReadingOnce, E::Shared) => (&[ServeOnce], C::Invalid),
        // Owners are asked, not told to drop: an older copy was meant.
        (C::Reading | C::ReadingOnce, E::Exclusive) => (&[Fill], C::Exclusive),
        (C::Writing, E::Owned) => (&[Fill], C::Modified),
        (C::Writing, E::OwnedLater) => (&[Keep], C::WritingHere),
        (C::Upgrading, E::Leave) => (&[Serve], C::Modified),
        (C::Upgrading, E::LeaveLater) => (&[], C::UpgradingHere),
        (C::Writing | C::WritingHere | C::Upgrading | C::UpgradingHere, E::Acknowledged) => (&[], state),
        (C::WritingHere, E::AllAcknowledged) => (&[Fill], C::Modified),
        (C::UpgradingHere, E::AllAcknowledged) => (&[Serve], C::Modified),
        (C::LeavingShared | C::LeavingExclusive | C::LeavingModified | C::Left, E::Released) => {
            (&[Release], C::Invalid)
        }
        _ => return None,
    };
    Some(cell)
}

/// What a home knows of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Home {
    /// No node has it.
    Uncached = 0,
    /// Nodes read it, memory is as good.
    Shared = 1,
    /// One node has it, and may have written.
    Owned = 2,
    /// The owner has been asked for a reader.
    AskedRead = 3,
    /// The owner has been asked for a writer.
    AskedWrite = 4,
}

/// What happens at a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum HomeEvent {
    /// A node asks to read.
    Read = 0,
    /// A node asks to write.
    Write = 1,
    /// A node that reads asks for leave to write.
    Upgrade = 2,
    /// The owner gives up a line that it has not written.
    PutClean = 3,
    /// The owner gives up a line, and sends it.
    PutDirty = 4,
    /// One of several readers gives up.
    PutReader = 5,
    /// The last reader gives up.
    PutLastReader = 6,
    /// A node gives up what the home knows it has no longer.
    PutStranger = 7,
    /// The owner has sent the reader the line, and has not written.
    Clean = 8,
    /// The owner has sent the reader the line, and what it has written.
    CopyBack = 9,
    /// The owner has sent the writer the line.
    Transfer = 10,
}

/// What a home does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Sends the line, to read.
    SendShared,
    /// Sends the line, to read, to this node alone.
    SendExclusive,
    /// Sends the line, to write.
    SendOwned,
    /// Gives leave to write.
    SendLeave,
    /// Tells all other readers to drop the line.
    Invalidate,
    /// Asks the owner for a reader.
    ForwardRead,
    /// Asks the owner for a writer.
    ForwardWrite,
    /// The node reads from now on.
    AddReader,
    /// The node reads no longer.
    RemoveReader,
    /// The node is the owner from now on, of nobody else.
    SetOwner,
    /// The owner and the node that it was asked for are readers.
    ShareWithOwner,
    /// The node that the owner was asked for is the owner.
    PassOn,
    /// Writes what has come to memory.
    WriteMemory,
    /// Tells the node that its line is given up.
    Release,
    /// The message waits until the owner has answered.
    Queue,
}

/// All states of a home.
pub const HOMES: [Home; 5] = [
    Home::Uncached,
    Home::Shared,
    Home::Owned,
    Home::AskedRead,
    Home::AskedWrite,
];

/// All that can happen at a home.
pub const HOME_EVENTS: [HomeEvent; 11] = [
    HomeEvent::Read,
    HomeEvent::Write,
    HomeEvent::Upgrade,
    HomeEvent::PutClean,
    HomeEvent::PutDirty,
    HomeEvent::PutReader,
    HomeEvent::PutLastReader,
    HomeEvent::PutStranger,
    HomeEvent::Clean,
    HomeEvent::CopyBack,
    HomeEvent::Transfer,
];

/// What a home does with a line when something happens; `None`: that cannot happen.
pub const fn home(state: Home, event: HomeEvent) -> Cell<Act, Home> {
    use Act::*;
    use Home as H;
    use HomeEvent as E;
    let cell: (&[Act], Home) = match (state, event) {
        (H::Uncached, E::Read) => (&[SendExclusive, SetOwner], H::Owned),
        (H::Uncached, E::Write) => (&[SendOwned, SetOwner], H::Owned),
        (H::Shared, E::Read) => (&[SendShared, AddReader], H::Shared),
        (H::Shared, E::Write) => (&[Invalidate, SendOwned, SetOwner], H::Owned),
        (H::Shared, E::Upgrade) => (&[Invalidate, SendLeave, SetOwner], H::Owned),
        (H::Owned, E::Read) => (&[ForwardRead], H::AskedRead),
        (H::Owned, E::Write) => (&[ForwardWrite], H::AskedWrite),

        (H::Shared, E::PutReader) => (&[RemoveReader, Release], H::Shared),
        (H::Shared, E::PutLastReader) => (&[RemoveReader, Release], H::Uncached),
        (H::Owned, E::PutClean) => (&[Release], H::Uncached),
        (H::Owned, E::PutDirty) => (&[WriteMemory, Release], H::Uncached),
        (H::Uncached | H::Shared | H::Owned, E::PutStranger) => (&[Release], state),

        (H::AskedRead, E::Clean) => (&[ShareWithOwner], H::Shared),
        (H::AskedRead, E::CopyBack) => (&[WriteMemory, ShareWithOwner], H::Shared),
        (H::AskedWrite, E::Transfer) => (&[PassOn], H::Owned),
        // While the owner has not answered it is still the owner.
        (H::AskedRead | H::AskedWrite, E::Read | E::Write | E::PutClean | E::PutDirty | E::PutStranger) => {
            (&[Queue], state)
        }
        _ => return None,
    };
    Some(cell)
}
