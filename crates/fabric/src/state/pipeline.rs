//! Records of `vc-router`s.

use super::NONE;
use bytemuck::{Pod, Zeroable};

/// What the first packet of an input channel waits for.
pub mod stage {
    /// There is none.
    pub const IDLE: u8 = 0;
    /// To be routed.
    pub const ROUTING: u8 = 1;
    /// An output channel.
    pub const ALLOCATION: u8 = 2;
    /// The switch, flit by flit.
    pub const ACTIVE: u8 = 3;
}

/// An input channel: its first packet, those behind it in the same buffer, and what is known of its room where flits come from.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct InputChannel {
    /// Slot of the first packet as long as its head is here, or, on its way to a node, its tail; else [`NONE`].
    pub first: u32,
    /// Slot of the packet behind it, `NONE` if none. Flits of it that are here stand in its link.
    pub head: u32,
    /// Slot of the last packet behind it.
    pub tail: u32,
    /// The step from which on it may act, in the lowest 32 bits.
    pub ready: u32,
    /// Flits of the first packet that are here.
    pub present: u16,
    /// Flits of it that have yet to leave.
    pub left: u16,
    /// Its output, a local port.
    pub output: u16,
    /// Where the search among the grants of the channel's allocator begins.
    pub accept: u16,
    /// Bytes of its last flit, minus one.
    pub last: u16,
    /// Free flits as its source knows them; of a port to a router, where credits may wait, what that one will know of beyond what it needs.
    pub room: u16,
    /// Its output channel, once it has one.
    pub vc: u8,
    /// The first output channel that it may have.
    pub lowest: u8,
    /// How many there are from there on.
    pub choices: u8,
    /// Its [`stage`], and [`InputChannel::HEAD`].
    pub stage: u8,
}

impl InputChannel {
    /// Its head is still here.
    pub const HEAD: u8 = 8;

    /// An idle one; the source has `room` flits.
    pub fn idle(room: u16) -> InputChannel {
        InputChannel {
            first: NONE,
            head: NONE,
            tail: NONE,
            ready: 0,
            present: 0,
            left: 0,
            output: 0,
            accept: 0,
            last: 0,
            room,
            vc: 0,
            lowest: 0,
            choices: 0,
            stage: stage::IDLE,
        }
    }
}

/// An output channel.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct OutputChannel {
    /// The input channel whose packet has it: its number in the router, `u16::MAX` if none; [`OutputChannel::ENDED`] once the tail is gone.
    pub owner: u16,
    /// Where the search among requests begins.
    pub grant: u16,
}

impl OutputChannel {
    /// Nobody has it.
    pub const FREE: u16 = u16::MAX;
    /// Its packet's tail has left, the buffer behind it is not known to be empty.
    pub const ENDED: u16 = u16::MAX - 1;
}

/// The buffer of an output channel: its first packet and those behind it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct OutputBuffer {
    /// Slot of the first packet as long as its head is here, or, on its way to a node, its tail; else [`NONE`].
    pub first: u32,
    /// Slot of the packet behind it, `NONE` if none. Flits of it that are here stand in its link.
    pub head: u32,
    /// Slot of the last packet behind it.
    pub tail: u32,
    /// Flits in the buffer.
    pub held: u16,
    /// Flits of the first packet that are here.
    pub present: u16,
    /// Flits of it that have yet to leave.
    pub left: u16,
    /// Bytes of its last flit, minus one.
    pub last: u16,
    /// [`InputChannel::HEAD`] as long as its head is here.
    pub stage: u16,
    /// Unused.
    pub spare: u16,
}

impl OutputBuffer {
    /// An empty one.
    pub const EMPTY: OutputBuffer = OutputBuffer {
        first: NONE,
        head: NONE,
        tail: NONE,
        held: 0,
        present: 0,
        left: 0,
        last: 0,
        stage: 0,
        spare: 0,
    };
}

/// A port of the switch, as an input and as an output.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct SwitchPort {
    /// As an output: where the search among requests begins.
    pub grant: u16,
    /// As an input: where the search among grants begins.
    pub accept: u16,
    /// As an input: where the search among its channels begins.
    pub turn: u16,
    /// Unused.
    pub spare: u16,
}

/// Where a node's packets become flits.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct FlitSource {
    /// No flit before this time (ps).
    pub free: u64,
    /// First waiting packet's slot.
    pub head: u32,
    /// Last waiting packet's slot.
    pub tail: u32,
    /// Flits of the packet under way that have yet to leave.
    pub left: u16,
    /// Flits of that packet.
    pub flits: u16,
    /// The channel of the packet under way, or of the last.
    pub vc: u16,
    /// Where the first of [`FlitSource::returns`] stands.
    pub first_return: u8,
    /// How many there are.
    pub n_returns: u8,
    /// Room that comes back, in a ring: time (ps) and channel.
    pub returns: [u64; FlitSource::MOST_RETURNS],
}

impl FlitSource {
    /// Most of its flits whose departure from the buffer is on its way to it, where it keeps them.
    pub const MOST_RETURNS: usize = 8;
    /// Bits of the channel.
    const CHANNEL: u32 = 6;

    /// Room of a channel comes back at a time (ps); there is a place.
    #[inline(always)]
    pub fn keep_return(&mut self, time: u64, vc: u8) {
        let place = usize::from(self.first_return + self.n_returns) % Self::MOST_RETURNS;
        self.returns[place] = time << Self::CHANNEL | u64::from(vc);
        self.n_returns += 1;
    }

    /// Whether what it keeps, read from outside, fits into it and is of these channels.
    pub fn is_sound(&self, vcs: u32) -> bool {
        let channel = |kept: &u64| *kept as u32 & ((1 << Self::CHANNEL) - 1);
        let most = Self::MOST_RETURNS as u8;
        self.first_return < most && self.n_returns <= most && self.returns.iter().all(|kept| channel(kept) < vcs)
    }

    /// The channel of the first that has come back at `now`.
    #[inline(always)]
    pub fn take_return(&mut self, now: u64) -> Option<u32> {
        let first = self.returns[usize::from(self.first_return) % Self::MOST_RETURNS];
        if self.n_returns == 0 || first >> Self::CHANNEL > now {
            return None;
        }
        self.first_return = (self.first_return + 1) % Self::MOST_RETURNS as u8;
        self.n_returns -= 1;
        Some(first as u32 & ((1 << Self::CHANNEL) - 1))
    }
}

/// A router's clock.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct RouterClock {
    /// Its next tick (ps), `u64::MAX` if nothing can happen before the next event.
    pub due: u64,
    /// Where the channel allocator's next wavefront begins.
    pub vc_diagonal: u32,
    /// Where the switch allocator's does.
    pub switch_diagonal: u32,
}
