//! Several processes: each rank runs its own blocks window by window, then all exchange what they have sent to each other.
//!
//! A rank keeps the state and the events of its own LPs only, and shares them out to workers on threads. How bytes travel between ranks is
//! the transport's business (MPI in practice). The loop is that of [`crate::window`] with one exchange of bytes a window.
//!
//! - `shares`: which blocks the workers of each rank run.
//! - `hub`: how the workers of all ranks meet.
//! - `windows`, `ahead`: conservative workers, and workers that run ahead; `team`: those of one rank.
//! - `engine`: the engine of one rank.
//! - [`local`]: ranks on threads of one process.

mod ahead;
mod engine;
mod hub;
pub mod local;
mod shares;
mod team;
mod windows;

use crate::pack::Torn;
pub use engine::{RankEngine, RankPlan};

/// The connection of a rank to all others is broken: the run cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

impl Broken {
    /// A message between ranks is not what was sent.
    fn torn(reason: &str) -> Broken {
        Broken(format!("a message between ranks is torn: {reason}"))
    }
}

/// Why ranks cannot go on from a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeError {
    /// It is not of this run.
    Torn(Torn),
    /// The connection is broken.
    Broken(Broken),
}

/// Carries bytes between the ranks of a run.
pub trait Transport {
    /// Number of this rank.
    fn rank(&self) -> usize;
    /// Number of ranks.
    fn size(&self) -> usize;
    /// Sends `out[r]` to every rank `r` and returns what each of them has sent here; called by all ranks alike. What is for the own
    /// rank comes back as it is.
    fn exchange(&mut self, out: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Broken>;

    /// A meeting at the end of a window: makes of `words` the least and the sums of those of all ranks, sends `out[r]` to every rank `r` for which it is not
    /// empty, and returns what has come, in any order; called by all ranks alike.
    ///
    /// By itself a message to each other rank with the words behind it, which is soonest among few. Among many, transports that can add up by a
    /// tree send less.
    fn meet(&mut self, words: &mut MeetingWords, out: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Broken> {
        meet_by_pairs(self, words, out)
    }
}

/// What all ranks are to know at a meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct MeetingWords {
    /// Of which the least of all ranks counts.
    pub least: [u64; 2],
    /// Which are added up, modulo 2^64.
    pub sums: [u64; 7],
}

impl MeetingWords {
    /// Makes them those of both.
    pub fn add(&mut self, other: &MeetingWords) {
        self.least
            .iter_mut()
            .zip(other.least)
            .for_each(|(least, word)| *least = (*least).min(word));
        self.sums
            .iter_mut()
            .zip(other.sums)
            .for_each(|(sum, word)| *sum = sum.wrapping_add(word));
    }
}

/// [`Transport::meet`] by one [`Transport::exchange`].
///
/// # Errors
/// The connection is broken.
pub fn meet_by_pairs<T: Transport + ?Sized>(
    transport: &mut T,
    words: &mut MeetingWords,
    out: Vec<Vec<u8>>,
) -> Result<Vec<Vec<u8>>, Broken> {
    const WORDS: usize = size_of::<MeetingWords>();
    let with_words = |mut body: Vec<u8>| {
        body.extend_from_slice(bytemuck::bytes_of(words));
        body
    };
    let came = transport.exchange(out.into_iter().map(with_words).collect())?;
    let mut bodies = Vec::new();
    for (rank, mut message) in came.into_iter().enumerate() {
        let events = message.len().checked_sub(WORDS);
        let events = events.ok_or_else(|| Broken::torn("it is too short"))?;
        if rank != transport.rank() {
            words.add(&bytemuck::pod_read_unaligned(&message[events..]));
        }
        message.truncate(events);
        if !message.is_empty() {
            bodies.push(message);
        }
    }
    Ok(bodies)
}

/// Says `words` to all ranks and returns what each of them says; called by all ranks alike.
///
/// # Errors
/// The connection is broken.
pub fn say<const N: usize>(transport: &mut dyn Transport, words: [u64; N]) -> Result<Vec<[u64; N]>, Broken> {
    let message = bytemuck::cast_slice::<u64, u8>(&words).to_vec();
    let came = transport.exchange(vec![message; transport.size()])?;
    let read = |message: &Vec<u8>| {
        let mut said = [0; N];
        let bytes = bytemuck::cast_slice_mut::<u64, u8>(&mut said);
        if message.len() != bytes.len() {
            return Err(Broken::torn("it has another length"));
        }
        bytes.copy_from_slice(message);
        Ok(said)
    };
    came.iter().map(read).collect()
}

/// The bits that any rank has set in its `word`; called by all ranks alike.
///
/// # Errors
/// The connection is broken.
pub fn agree(transport: &mut dyn Transport, word: u64) -> Result<u64, Broken> {
    Ok(say(transport, [word])?.iter().fold(0, |all, [word]| all | word))
}

/// Brings the bytes of all ranks to the first, which gets them by rank; the others get no bytes. Called by all ranks alike.
///
/// # Errors
/// The connection is broken.
pub fn bring(transport: &mut dyn Transport, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, Broken> {
    let mut out = vec![Vec::new(); transport.size()];
    out[0] = bytes;
    transport.exchange(out)
}

/// The same for what may be much: the first rank gets it in order of the ranks, of as many at a time as have `most` bytes together, or of one.
///
/// # Errors
/// The connection is broken.
pub fn bring_in_turn(
    transport: &mut dyn Transport,
    mut bytes: Vec<u8>,
    most: u64,
    mut take: impl FnMut(Vec<u8>),
) -> Result<(), Broken> {
    let lengths = say(transport, [bytes.len() as u64])?;
    let me = transport.rank();
    let mut next = 1;
    while next < lengths.len() {
        let from = next;
        let mut sum = 0;
        while let Some([length]) = lengths
            .get(next)
            .filter(|[length]| next == from || sum + length <= most)
        {
            sum += length;
            next += 1;
        }
        let mut out = vec![Vec::new(); lengths.len()];
        if (from..next).contains(&me) {
            out[0] = std::mem::take(&mut bytes);
        }
        let mut came = transport.exchange(out)?;
        if me == 0 {
            came.drain(from..next).for_each(&mut take);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
