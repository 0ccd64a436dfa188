//! What programs do not do of what they were recorded from.

/// What of a recording is not played. Nothing of a program that is no recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Sends whose message no rank receives, or whose receive is too small.
    pub sends: u64,
    /// Receives of messages that no rank sends, or that are larger.
    pub receives: u64,
    /// Operations of collectives that ranks do not agree on.
    pub collectives: u64,
    /// Waits for requests that are not there.
    pub waits: u64,
    /// Other operations: writing and reading of others' memory, and fields that name nothing.
    pub others: u64,
    /// Operations that the borders of a part cut in two.
    pub cut: u64,
    /// What readers could not read of the files.
    pub problems: u64,
}

impl LeftOut {
    /// Each count with its noun and the words that follow.
    pub fn counts(&self) -> [(u64, (&'static str, &'static str)); 7] {
        [
            (self.sends, ("send", " without a receive")),
            (self.receives, ("receive", " without a send")),
            (
                self.collectives,
                ("operation", " of collectives that ranks do not agree on"),
            ),
            (self.waits, ("wait", " for requests that are not there")),
            (self.others, ("other operation", "")),
            (self.cut, ("operation", " that the part cuts in two")),
            (self.problems, ("problem", " of its files")),
        ]
    }

    /// Whether all is played.
    pub fn is_nothing(&self) -> bool {
        *self == LeftOut::default()
    }

    /// The sum of two.
    pub fn and(self, other: LeftOut) -> LeftOut {
        LeftOut {
            sends: self.sends + other.sends,
            receives: self.receives + other.receives,
            collectives: self.collectives + other.collectives,
            waits: self.waits + other.waits,
            others: self.others + other.others,
            cut: self.cut + other.cut,
            problems: self.problems + other.problems,
        }
    }
}
