//! What nodes say to each other about a line.

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Say {
    /// To the home: I want to read.
    Read = 0,
    /// To the home: I want to write.
    Write = 1,
    /// To the home: I have a copy and want to write it.
    Upgrade = 2,
    /// To the home: I give up a line that I read.
    PutShared = 3,
    /// To the home: I give up a line of mine that I have not written.
    PutExclusive = 4,
    /// To the home, with the line: I give up a line of mine.
    PutModified = 5,
    /// From the home: send the line to a reader.
    ForwardRead = 6,
    /// From the home: send the line to a writer.
    ForwardWrite = 7,
    /// From the home: drop the line for a writer.
    Invalidate = 8,
    /// From home or owner, with the line: read it.
    Shared = 9,
    /// From the home, with the line: read it, nobody else has it.
    Exclusive = 10,
    /// From home or owner, with the line: write it when so many have acknowledged.
    Owned = 11,
    /// From the home: write what you have when so many have acknowledged.
    Leave = 12,
    /// To a writer: I have dropped the line.
    Acknowledge = 13,
    /// To the home: the reader has it from me, I have not written.
    Clean = 14,
    /// To the home, with the line: the reader has it from me.
    CopyBack = 15,
    /// To the home: the writer has it from me.
    Transfer = 16,
    /// From the home: I know that you have given up the line.
    Released = 17,
}

/// All of them, by number.
pub const ALL: [Say; 18] = [
    Say::Read,
    Say::Write,
    Say::Upgrade,
    Say::PutShared,
    Say::PutExclusive,
    Say::PutModified,
    Say::ForwardRead,
    Say::ForwardWrite,
    Say::Invalidate,
    Say::Shared,
    Say::Exclusive,
    Say::Owned,
    Say::Leave,
    Say::Acknowledge,
    Say::Clean,
    Say::CopyBack,
    Say::Transfer,
    Say::Released,
];

/// Messages of a class never wait for those of an earlier one: requests may cause forwards and responses, forwards cause responses,
/// and responses are taken whenever they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageClass {
    /// To a home, which may have to ask others.
    Request = 0,
    /// From a home to those who have the line.
    Forward = 1,
    /// Answers.
    Response = 2,
}

/// How many classes there are.
pub const CLASSES: u8 = 3;

impl Say {
    /// The class it travels in.
    pub const fn class(self) -> MessageClass {
        match self {
            Say::Read | Say::Write | Say::Upgrade | Say::PutShared | Say::PutExclusive | Say::PutModified => {
                MessageClass::Request
            }
            Say::ForwardRead | Say::ForwardWrite | Say::Invalidate => MessageClass::Forward,
            _ => MessageClass::Response,
        }
    }

    /// Whether it has a line with it.
    pub const fn has_line(self) -> bool {
        matches!(
            self,
            Say::PutModified | Say::Shared | Say::Exclusive | Say::Owned | Say::CopyBack
        )
    }

    /// Whether a home is told, and not a node that has or wants a copy.
    pub const fn is_for_home(self) -> bool {
        matches!(self.class(), MessageClass::Request) || matches!(self, Say::Clean | Say::CopyBack | Say::Transfer)
    }
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoherenceMessage {
    /// What it says.
    pub say: Say,
    /// The line, by its number in the whole address space.
    pub line: u64,
    /// The node that sends it.
    pub from: u32,
    /// The node that it is for.
    pub to: u32,
    /// Of a forward or an invalidation: the node that reads or writes.
    pub third: u32,
    /// Of [`Say::Owned`] and [`Say::Leave`]: acknowledgements to wait for.
    pub acknowledgements: u32,
    /// How often the line has been written, of a message with the line.
    pub version: u32,
}
