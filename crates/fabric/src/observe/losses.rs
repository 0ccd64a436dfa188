//! What was lost: counted, and the first of it by name.

use crate::packet::Label;
use bytemuck::{Pod, Zeroable};

/// A lost packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Loss {
    /// When (ps).
    pub time: u64,
    /// Source node.
    pub source: u32,
    /// Destination node.
    pub destination: u32,
    /// The [name](crate::packet::Packet::name) of its message.
    pub number: Label,
    /// The router that it was at.
    pub router: u32,
    /// The output port of that into the link on which it was lost, ports to nodes behind those to routers (also on the way from a node);
    /// [`Loss::NO_WAY`] where it was lost for want of a way.
    pub port: u32,
    /// Its size.
    pub bytes: u32,
}

/// Something that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// A packet.
    Packet {
        /// Which, where and when.
        loss: Loss,
        /// Birth (ps) of its message, if it is all of it, and not sent again.
        whole: Option<u64>,
        /// Its source sends it again.
        again: bool,
        /// Its [share](crate::packet::Packet::share).
        share: u64,
    },
    /// A message: all of it has come or is lost, and some of it is lost.
    Message {
        /// Source node.
        source: u32,
        /// Its [name](crate::packet::Packet::name).
        number: Label,
        /// When it was handed to the interface (ps).
        birth: u64,
        /// Its [share](crate::observe::share_of_message).
        share: u64,
    },
}

impl Loss {
    /// In place of a port: there was no way.
    pub const NO_WAY: u32 = u32::MAX;
}

/// What links have sent again for errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Repeated {
    /// Packets that came with errors, once or several times.
    pub packets: u64,
    /// Times that one did.
    pub tries: u64,
    /// Time (ps) that links have lost with them.
    pub lost: u64,
}

impl Repeated {
    pub(super) fn add(&mut self, is_in_time: bool, tries: u32, lost: u64) {
        if is_in_time {
            self.packets += 1;
            self.tries += u64::from(tries);
            self.lost += lost;
        }
    }

    pub(super) fn merge(&mut self, other: &Repeated) {
        self.packets += other.packets;
        self.tries += other.tries;
        self.lost += other.lost;
    }
}

/// What a job has lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Packets, each time that one was lost.
    pub packets: u64,
    /// Of these, those whose sources send them again.
    pub again: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages of which some packet was lost, and of which the rest has come or is lost.
    pub messages: u64,
    /// The first packet.
    pub first: Option<Loss>,
}

impl Losses {
    pub(super) fn add(&mut self, loss: Loss, again: bool) {
        self.packets += 1;
        self.again += u64::from(again);
        self.bytes += u64::from(loss.bytes);
        self.first = Some(self.first.map_or(loss, |first| first.min(loss)));
    }

    /// Adds what another job has lost, or another observer has seen of it.
    pub fn merge(&mut self, other: &Losses) {
        self.packets += other.packets;
        self.again += other.again;
        self.bytes += other.bytes;
        self.messages += other.messages;
        self.first = match (self.first, other.first) {
            (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
    }
}
