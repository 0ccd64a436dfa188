//! Traffic in figures, told before anything is simulated.

/// Periods of iterations that have to be run at least before the next ones can be known to repeat them.
pub const PERIODS_TO_REPEAT: u32 = 4;

/// What a job sends through the network; of listed messages all of them, whenever they are born. Of synthetic traffic and pairs, whose
/// lengths are known elsewhere: a message of one packet from every node that sends (data).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Messages; those of ranks with what they cost in control messages and parts.
    pub messages: f64,
    /// Packets of them.
    pub packets: f64,
    /// Most of these that are of one iteration: before it is over ranks do not begin the next, so that no more are under way at one time.
    pub at_once: f64,
    /// The part of the messages that is of periods beyond the first [`PERIODS_TO_REPEAT`] of their phase: what may be left out where they repeat.
    pub repeated: f64,
    /// Their bytes.
    pub bytes: f64,
    /// What was asked of source and destination, summed over packets.
    pub packet_hops: f64,
    /// Messages between ranks of one node.
    pub local: f64,
    /// How long a rank's processor works on its own and on messages (ps), mean over ranks.
    pub busy: f64,
    /// Processes decide as they go, so that the rest is of those of them that are known before.
    pub is_open: bool,
}
