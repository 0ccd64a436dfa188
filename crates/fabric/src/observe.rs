//! What a run records: sums, a latency histogram, load over time, and on demand every message and every sender.
//!
//! Everything here is a sum, a minimum, a maximum or sorted at the end, so that the order in which committed records of different
//! routers come in does not matter.

use crate::packet::{Label, MAX_HOPS, MAX_PACKET, by_label, is_ack, weight};
use bytemuck::{Pod, Zeroable};
use des::{Observe, Tally};
use std::collections::HashMap;
use std::sync::Arc;

mod latencies;
mod losses;
mod messages;
mod operations;
mod pack;
mod repeat;
mod track;

use latencies::count_at;
pub use latencies::{Histogram, Latencies};
pub use track::{Bin, Sample, Track, Waits};

pub use losses::{Loss, Losses, Lost, Repeated};
pub use messages::{MessageTimes, Unsent};
pub use repeat::Shown;

pub use operations::{Cause, NO_MESSAGE, OperationRow, StayRow, UNTIL_NEXT, WaitRow};

/// A fact that a handler shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// Packets have left their nodes.
    Departed(Departed),
    /// The first packet of a message has left its node; shown where messages are followed.
    SetOut {
        /// Source node.
        source: u32,
        /// Destination node.
        destination: u32,
        /// Its [name](crate::packet::Packet::name).
        number: Label,
        /// Its size.
        bytes: u64,
        /// When it was handed to the interface (ps).
        birth: u64,
        /// When the packet left (ps).
        time: u64,
    },
    /// A message of several packets, or a rank's, has set out and its destination is told.
    Announced {
        /// Its [share](crate::observe::share_of_message).
        share: u64,
    },
    /// A packet has been handed to its node.
    Packet {
        /// Its size.
        bytes: u32,
        /// Router-to-router links it took.
        hops: u32,
        /// When (ps).
        time: u64,
        /// Its [share](crate::packet::Packet::share).
        share: u64,
    },
    /// A message is complete at its node.
    Message {
        /// Source node.
        source: u32,
        /// Destination node.
        destination: u32,
        /// Its size.
        bytes: u64,
        /// When it was handed to the interface (ps).
        birth: u64,
        /// When it was complete (ps).
        time: u64,
        /// Most router-to-router links of its packets.
        hops: u32,
        /// Its [name](crate::packet::Packet::name), which tells what acknowledges data.
        number: Label,
        /// It came sooner than the zero-load bound: a broken model.
        early: bool,
        /// It is a packet as well, which has no record of its own.
        single: bool,
        /// Its share, as a packet or as a message.
        share: u64,
    },
    /// A packet is lost, or a message with one.
    Lost(Lost),
    /// A packet came with errors over a link, which has sent it again.
    Repeated {
        /// How often.
        tries: u32,
        /// Time (ps) that the link has lost with it.
        lost: u64,
        /// When the packet started the first time (ps).
        start: u64,
    },
    /// A rank has begun or ended an operation; shown where operations are followed.
    Operation(OperationRow),
    /// A rank has waited; shown where operations are followed.
    Waited(WaitRow),
    /// A packet of a rank's message goes on from a link; shown where operations are followed.
    Stayed(StayRow),
    /// A node of a job of pairs has the acknowledgement of its batch.
    Acknowledged {
        /// The node.
        node: u32,
        /// When it posted the batch (ps).
        batch: u64,
        /// When the acknowledgement was complete (ps).
        time: u64,
    },
}

/// Packets that have left nodes of one router, and the messages of one job that have set out with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departed {
    /// Packets, or parts of them that travel by themselves.
    pub packets: u32,
    /// A node of the messages' job.
    source: u32,
    /// Bytes of the packets.
    pub bytes: u64,
    /// Sum of their [shares](crate::packet::Packet::share).
    pub share: u64,
    /// The messages, acknowledgements excepted, born in a slice of simulated time with an even number, and with an odd one.
    born: [BirthSlices; 2],
}

impl Departed {
    const NONE: Departed = Departed {
        packets: 0,
        source: 0,
        bytes: 0,
        share: 0,
        born: [BirthSlices {
            since: 0,
            waits: Waits {
                sum: 0,
                count: 0,
                max: 0,
            },
        }; 2],
    };
}

/// Messages that were born in one slice of simulated time and are all measured or all not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BirthSlices {
    /// None was born earlier (ps).
    since: u64,
    /// How long they waited until they set out.
    waits: Waits,
}

/// Tells of departures together: telling of each would cost as much as sending it.
#[derive(Debug)]
pub struct Departures {
    departed: Departed,
    /// Births lie within so many ps of the earliest that there may be.
    within: [u64; 2],
    /// Slices are `1 << shift` ps long.
    shift: u32,
}

impl Departures {
    /// None yet, in a run of which these messages are measured.
    #[inline(always)]
    pub fn new(span: &Span) -> Departures {
        Departures {
            departed: Departed::NONE,
            within: [0; 2],
            shift: span.shift(),
        }
    }

    /// Counts a packet in so many parts.
    #[inline(always)]
    pub fn count(&mut self, bytes: u32, parts: u32, share: u64) {
        let departed = &mut self.departed;
        departed.packets += parts;
        departed.bytes += u64::from(bytes);
        departed.share = departed.share.wrapping_add(share);
    }

    /// Counts a message of `node` that sets out `wait` ps after its birth; what is not to be told with it is told before.
    #[inline(always)]
    pub fn begins(&mut self, span: &Span, node: u32, birth: u64, wait: u64, tell: impl FnOnce(Record)) {
        let half = (birth >> self.shift & 1) as usize;
        if birth.wrapping_sub(self.departed.born[half].since) >= self.within[half] {
            if self.within[half] != 0 {
                self.tell(tell);
            }
            (self.departed.born[half].since, self.within[half]) = alike(birth, self.shift, [span.from, span.to]);
            self.departed.source = node;
        }
        self.departed.born[half].waits.add(wait);
    }

    /// Tells what has departed, if anything has, and begins anew.
    #[inline(always)]
    pub fn tell(&mut self, tell: impl FnOnce(Record)) {
        if self.departed.packets > 0 {
            tell(Record::Departed(self.departed));
            self.departed = Departed::NONE;
            self.within = [0; 2];
        }
    }
}

/// A message of one packet that has arrived and is yet to be counted.
#[derive(Clone, Copy, Debug)]
struct Fresh {
    /// `u64::MAX` for an acknowledgement.
    birth: u64,
    time: u64,
    source: u32,
    /// Bytes minus one in the lowest 16 bits, hops above.
    about: u32,
}

/// So many are counted together: a loop of its own has the registers that a handler has not.
const FRESH: usize = 512;

impl Fresh {
    const NONE: Fresh = Fresh {
        birth: 0,
        time: 0,
        source: 0,
        about: 0,
    };

    #[inline(always)]
    fn new(birth: u64, time: u64, source: u32, bytes: u64, hops: u32, number: Label) -> Fresh {
        Fresh {
            birth: if is_ack(number) { u64::MAX } else { birth },
            time,
            source,
            about: (bytes as u32 - 1) | hops << 16,
        }
    }

    #[inline(always)]
    fn bytes(&self) -> u64 {
        u64::from(self.about & 0xFFFF) + 1
    }

    #[inline(always)]
    fn hops(&self) -> u32 {
        self.about >> 16
    }
}

const _: () = assert!(
    MAX_PACKET == 1 << 16 && MAX_HOPS == (1 << 12) - 1,
    "what is said about a fresh arrival fits"
);

/// A message whose first packet has left its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetOut {
    /// Source node.
    pub source: u32,
    /// When the packet left (ps).
    pub time: u64,
    /// When the message was handed to the interface (ps).
    pub birth: u64,
    /// Destination node.
    pub destination: u32,
    /// The message's [name](crate::packet::Packet::name).
    pub number: Label,
    /// Its size.
    pub bytes: u64,
}

/// What a message of several packets, or a rank's, adds to the sums that are to agree in the end; `ends` are its source and
/// destination as in [`Packet::ends`](crate::packet::Packet::ends). Made of two parts, as it is announced in two.
pub fn share_of_message(ends: u64, label: Label, birth: u64, bytes: u64) -> u64 {
    share_of_birth(ends, label, birth).wrapping_add(share_of_size(ends, label, bytes))
}

/// The first part of [`share_of_message`].
pub fn share_of_birth(ends: u64, label: Label, birth: u64) -> u64 {
    weight(ends, by_label(label)).wrapping_mul(birth.wrapping_add(1))
}

/// The second part of [`share_of_message`].
pub fn share_of_size(ends: u64, label: Label, bytes: u64) -> u64 {
    weight(ends, !by_label(label)).wrapping_mul(bytes)
}

/// A complete message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageRow {
    /// When it was handed to the interface (ps).
    pub birth: u64,
    /// Source node.
    pub source: u32,
    /// Destination node.
    pub destination: u32,
    /// When it was complete (ps).
    pub time: u64,
    /// Its size.
    pub bytes: u64,
    /// Most hops of its packets.
    pub hops: u32,
    /// Its [name](crate::packet::Packet::name).
    pub number: Label,
}

/// A sender of a job of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct SenderRow {
    /// First birth of a data message (ps), `u64::MAX` if none.
    pub first: u64,
    /// Last arrival of its data, or of the acknowledgement if there are any (ps).
    pub last: u64,
    /// Data bytes delivered.
    pub bytes: u64,
    /// Data messages delivered.
    pub trips: u64,
    /// Sum of their one-way times (ps).
    pub sum: u64,
    /// Longest (ps).
    pub longest: u64,
    /// Acknowledgements received.
    pub acks: u64,
    /// Sum of the times from a batch's birth to its acknowledgement (ps).
    pub round_trips: u64,
    /// The longest of them (ps).
    pub longest_round_trip: u64,
}

impl SenderRow {
    /// Adds what another observer has seen of the same sender.
    fn merge(&mut self, other: &SenderRow) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.bytes += other.bytes;
        self.trips += other.trips;
        self.sum += other.sum;
        self.longest = self.longest.max(other.longest);
        self.acks += other.acks;
        self.round_trips += other.round_trips;
        self.longest_round_trip = self.longest_round_trip.max(other.longest_round_trip);
    }

    /// The acknowledgement of a batch is complete.
    fn acknowledged(&mut self, batch: u64, time: u64) {
        let trip = time - batch;
        self.last = self.last.max(time);
        self.acks += 1;
        self.round_trips += trip;
        self.longest_round_trip = self.longest_round_trip.max(trip);
    }

    /// Mean time from a batch's birth to its acknowledgement in ps, 0 without acknowledgements.
    pub fn mean_round_trip(&self) -> f64 {
        if self.acks == 0 {
            0.0
        } else {
            self.round_trips as f64 / self.acks as f64
        }
    }
}

const MAX_BINS: usize = 128;

/// Which messages of a run are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Those born at this time (ps) or later,
    pub from: u64,
    /// and before this time: `u64::MAX` for a run that ends with its work.
    pub to: u64,
    /// The run ends at this time: what is known to arrive later is still in flight.
    pub cut: u64,
}

impl Default for Span {
    /// All messages of a run that ends with its work.
    fn default() -> Self {
        Span {
            from: 0,
            to: u64::MAX,
            cut: u64::MAX,
        }
    }
}

impl Span {
    /// The run has sources without end.
    pub fn is_open(&self) -> bool {
        self.to != u64::MAX
    }

    /// Slices of simulated time are `1 << shift` ps long at first: the longest of which the span takes 64 at least, but half a
    /// microsecond.
    fn shift(&self) -> u32 {
        match self.is_open() {
            true => (self.to >> 6).max(1 << 19).ilog2(),
            false => 20,
        }
    }

    /// The last time of the measured span.
    fn last(&self) -> u64 {
        self.to.saturating_sub(1)
    }
}

/// From where on (ps) and for how long times are in one slice with this one and on the same side of each of some edges.
fn alike<const N: usize>(time: u64, shift: u32, edges: [u64; N]) -> (u64, u64) {
    let (mut since, mut length) = (time >> shift << shift, 1 << shift);
    for edge in edges {
        if time < edge {
            length = length.min(edge - since);
        } else if since < edge {
            length -= edge - since;
            since = edge;
        }
    }
    (since, length)
}

/// What of a run was estimated from what was run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EstimatedPart {
    /// Its time (ps).
    pub time: u64,
    /// Iterations of the job that had most of them.
    pub iterations: u64,
    /// The sum of the squares of half the widths of the 95 % intervals of its times (ps^2).
    pub squares: f64,
}

impl EstimatedPart {
    /// Adds another part, the error of which has nothing to do with that of this one.
    pub fn add(&mut self, other: &EstimatedPart) {
        self.time += other.time;
        self.iterations += other.iterations;
        self.squares += other.squares;
    }
}

/// The observer of network runs; counters that change together are no neighbours, as in [`crate::state::Port`].
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Stats {
    /// Packets that left their node.
    pub injected: u64,
    /// Latest delivery (ps).
    pub latest: u64,
    /// Sum of the shares of all packets that left their node, less those of all that came to one.
    pub flow: u64,
    /// Their bytes.
    pub injected_bytes: u64,
    /// Which messages are measured.
    pub span: Span,
    /// Packets handed to their node.
    pub packets: u64,
    /// Their bytes.
    pub packet_bytes: u64,
    /// Messages complete.
    pub messages: u64,
    /// Length of a slice.
    pub shift: u32,
    /// Sum of the shares of all messages of several packets that set out, less those of all that are complete.
    pub message_flow: u64,
    /// Slices keep no distributions of latencies, and what is measured is kept for itself; else all messages are measured, and slices keep all
    /// that is known of them.
    pub light_bins: bool,
    /// Messages that beat the zero-load bound.
    pub early: u64,
    /// What was lost, by job.
    pub losses: Vec<Losses>,
    /// What links have sent again for errors.
    pub repeated: Repeated,
    /// Packets by router-to-router links taken.
    pub hops: Vec<u64>,
    /// Packets on their ejection link when the run ends.
    pub landing: u64,
    /// Bytes handed to nodes in each slice.
    pub delivered: Vec<u64>,
    /// What is known of each job's messages in slices of simulated time, `1 << shift` ps each.
    pub tracks: Vec<Track>,
    /// The job of every node; empty if there is one job.
    pub job_of: Arc<[u16]>,
    /// Their bytes.
    pub landing_bytes: u64,
    /// Bytes of every source's messages that were complete in the paced time: the measured span if that begins behind the start of the run,
    /// else the later half of the run; empty without sources that never stop.
    pub paces: Vec<u64>,
    /// Start of the paced time (ps).
    pub paced_from: u64,
    /// Its length (ps).
    pub paced_for: u64,
    /// Some messages are followed one by one.
    pub in_detail: bool,
    /// Arrivals to be counted with the next.
    fresh: Vec<Fresh>,
    n_fresh: usize,
    /// Senders of pairs by node; empty if there are none.
    pub senders: Vec<SenderRow>,
    /// Messages born before the end of the measured span that have arrived one by one, if asked for.
    pub rows: Option<Vec<MessageRow>>,
    /// Messages that have set out one by one, if asked for.
    pub set_out: Vec<SetOut>,
    /// Operations of ranks, if asked for.
    pub operations: Vec<OperationRow>,
    /// Times for which ranks waited, if asked for.
    pub rank_waits: Vec<WaitRow>,
    /// The longest stay of a packet of each of their messages, by source, destination and label, where operations are followed.
    pub stays: HashMap<[u32; 3], StayRow>,
    /// What was estimated and not run.
    pub estimated: EstimatedPart,
    /// All that was shown, while that is wanted.
    shown: Option<Box<Shown>>,
}

impl Stats {
    /// An observer of a run; `senders` nodes are followed one by one, `full` keeps every message. `job_of` tells the job of every node
    /// where there are several, `jobs` of them.
    pub fn new(span: Span, senders: u32, full: bool, job_of: Arc<[u16]>, (jobs, nodes): (usize, u32)) -> Stats {
        let paced = match (span.is_open(), span.from) {
            (false, _) => 0..0,
            (true, 0) => span.to / 2..span.to,
            (true, from) => from..span.to,
        };
        Stats {
            span,
            shift: span.shift(),
            senders: vec![
                SenderRow {
                    first: u64::MAX,
                    ..SenderRow::default()
                };
                senders as usize
            ],
            rows: full.then(Vec::new),
            in_detail: full || senders > 0,
            tracks: vec![Track::default(); jobs.max(1)],
            losses: vec![Losses::default(); jobs.max(1)],
            job_of,
            paces: vec![0; if span.is_open() { nodes as usize } else { 0 }],
            paced_from: paced.start,
            paced_for: paced.end.saturating_sub(paced.start),
            ..Stats::default()
        }
    }

    /// The sums so far, without what is kept message by message.
    pub fn sums(&self) -> Stats {
        let mut sums = Stats {
            in_detail: false,
            senders: Vec::new(),
            rows: None,
            set_out: Vec::new(),
            operations: Vec::new(),
            rank_waits: Vec::new(),
            stays: HashMap::new(),
            delivered: self.delivered.clone(),
            hops: self.hops.clone(),
            losses: self.losses.clone(),
            tracks: self.tracks.clone(),
            job_of: self.job_of.clone(),
            paces: self.paces.clone(),
            fresh: self.fresh.clone(),
            shown: None,
            ..*self
        };
        sums.settle();
        sums
    }

    /// All jobs together.
    pub fn whole(&self) -> Track {
        let mut all = Track::default();
        self.tracks.iter().for_each(|track| all.merge(track));
        all
    }

    /// Counts a packet that has been handed to its node.
    #[inline(always)]
    fn landed(&mut self, bytes: u64, hops: u32, time: u64, at: usize) {
        self.packets += 1;
        self.packet_bytes += bytes;
        count_at(&mut self.hops, hops as usize);
        if time < self.span.to {
            if at >= self.delivered.len() {
                self.delivered.resize(at + 1, 0);
            }
            self.delivered[at] += bytes;
        }
    }

    /// The slice that a time is in, the last one if it is behind the measured span.
    #[inline(always)]
    fn slice_of(&mut self, time: u64) -> usize {
        self.slice(time.min(self.span.last()))
    }

    /// The slice that a time is in, before the end of the measured span; slices are made longer if there would be too many.
    #[inline(always)]
    fn slice(&mut self, time: u64) -> usize {
        let index = (time >> self.shift) as usize;
        if index < MAX_BINS {
            return index;
        }
        self.lengthen(time)
    }

    #[cold]
    fn lengthen(&mut self, time: u64) -> usize {
        while time >> self.shift >= MAX_BINS as u64 {
            self.double();
        }
        (time >> self.shift) as usize
    }

    /// Makes slices twice as long.
    fn double(&mut self) {
        self.shift += 1;
        self.tracks.iter_mut().for_each(Track::double);
        self.delivered = self.delivered.chunks(2).map(|pair| pair.iter().sum()).collect();
    }

    /// The number of the job that a node is in.
    fn job(&self, node: u32) -> usize {
        self.job_of.get(node as usize).map_or(0, |&job| job.into())
    }

    /// What all jobs have lost.
    pub fn lost(&self) -> Losses {
        let mut all = Losses::default();
        self.losses.iter().for_each(|losses| all.merge(losses));
        all
    }

    /// Something is lost.
    #[cold]
    fn lose(&mut self, lost: Lost) {
        match lost {
            Lost::Packet {
                loss,
                whole,
                again,
                share,
            } => {
                self.flow = self.flow.wrapping_sub(share);
                if loss.time > self.span.cut {
                    self.landing += 1;
                    self.landing_bytes += u64::from(loss.bytes);
                    return;
                }
                let job = self.job(loss.source);
                self.losses[job].add(loss, again);
                if let Some(birth) = whole {
                    self.lose_message(loss.source, loss.number, birth);
                }
            }
            Lost::Message {
                source,
                number,
                birth,
                share,
            } => {
                self.message_flow = self.message_flow.wrapping_sub(share);
                self.lose_message(source, number, birth);
            }
        }
    }

    /// A message is lost.
    #[cold]
    fn lose_message(&mut self, source: u32, number: Label, birth: u64) {
        let job = self.job(source);
        self.losses[job].messages += 1;
        if birth < self.span.to && !is_ack(number) {
            let (index, measured) = (self.slice(birth), birth >= self.span.from);
            let track = self.track(source);
            track.bin(index).lost += 1;
            track.lost += u64::from(measured);
        }
    }

    /// The messages of the job that a node is in.
    #[inline(always)]
    fn track(&mut self, node: u32) -> &mut Track {
        match self.job_of.get(node as usize) {
            Some(&job) => &mut self.tracks[usize::from(job)],
            None => &mut self.tracks[0],
        }
    }

    /// Messages have set out.
    #[inline(always)]
    fn begin(&mut self, source: u32, BirthSlices { since, waits }: &BirthSlices) {
        let span = self.span;
        if waits.count == 0 || *since >= span.to {
            return;
        }
        let (index, light) = (self.slice(*since), self.light_bins);
        let track = self.track(source);
        track.bin(index).begun.merge(waits);
        if light && *since >= span.from {
            track.waits.merge(waits);
        }
    }

    /// Counts the messages of one packet that have arrived since the last time. Nothing of them shows before.
    pub fn settle(&mut self) {
        drop(self.count_all());
    }

    /// [Settles](Stats::settle), and returns the list.
    fn count_all(&mut self) -> Vec<Fresh> {
        let (n, mut fresh) = (std::mem::take(&mut self.n_fresh), std::mem::take(&mut self.fresh));
        let cut = self.span.cut;
        let latest = fresh[..n].iter().fold(0, |latest, fresh| fresh.time.max(latest));
        if latest <= cut {
            self.count_landed(&fresh[..n], latest);
            return fresh;
        }
        fresh.truncate(n);
        for late in fresh.extract_if(.., |fresh| fresh.time > cut) {
            self.landing += 1;
            self.landing_bytes += late.bytes();
        }
        let latest = fresh.iter().fold(0, |latest, fresh| fresh.time.max(latest));
        self.count_landed(&fresh, latest);
        fresh
    }

    /// Counts messages of one packet, the last of which was at its node at `latest`.
    fn count_landed(&mut self, list: &[Fresh], latest: u64) {
        if list.is_empty() {
            return;
        }
        self.packets += list.len() as u64;
        self.messages += list.len() as u64;
        self.latest = self.latest.max(latest);
        // All room is made first: what follows need not look for it.
        let slices = self.slice_of(latest) + 1;
        self.delivered.resize(self.delivered.len().max(slices), 0);
        for track in &mut self.tracks {
            track.bin(slices - 1);
        }
        let mut rest = list;
        while let Some(first) = rest.first() {
            let n = match (self.job_of.is_empty(), self.light_bins) {
                (true, false) => self.count_alike::<true, false>(first.time, rest),
                (true, true) => self.count_alike::<true, true>(first.time, rest),
                (false, false) => self.count_alike::<false, false>(first.time, rest),
                (false, true) => self.count_alike::<false, true>(first.time, rest),
            };
            rest = &rest[n..];
        }
    }

    /// Counts messages up to one that did not arrive in the same slice as the first, which did at `time`; says how many there were. `ONE`: there
    /// is one job. `LIGHT`: slices are light.
    fn count_alike<const ONE: bool, const LIGHT: bool>(&mut self, time: u64, list: &[Fresh]) -> usize {
        let Span { from, to, .. } = self.span;
        let shift = self.shift;
        let paced = self.paced_from..self.paced_from + self.paced_for;
        let (since, length) = alike(time, shift, [to, paced.start, paced.end]);
        let is_paced = paced.contains(&time);
        let at = (time.min(self.span.last()) >> shift) as usize;
        let (job_of, hops, paces) = (&self.job_of[..], &mut self.hops, &mut self.paces[..]);
        let (first, others) = self.tracks.split_first_mut().expect("there is a job");
        let (mut count, mut all_bytes, mut edges) = (0, 0, first.edges(at));
        for fresh in list {
            if fresh.time.wrapping_sub(since) >= length {
                break;
            }
            count += 1;
            let bytes = fresh.bytes();
            all_bytes += bytes;
            count_at(hops, fresh.hops() as usize);
            if fresh.birth >= to {
                continue;
            }
            if is_paced {
                paces[fresh.source as usize] += bytes;
            }
            let track = match ONE || job_of[fresh.source as usize] == 0 {
                true => &mut *first,
                false => &mut others[usize::from(job_of[fresh.source as usize]) - 1],
            };
            if !ONE {
                edges = track.edges(at);
            }
            let times = (fresh.birth, fresh.time);
            track.arrives::<LIGHT>(bytes, times, (fresh.birth >> shift) as usize, from, &mut edges);
            if !ONE {
                track.set_edges(at, edges);
            }
        }
        if ONE {
            first.set_edges(at, edges);
        }
        self.packet_bytes += all_bytes;
        if time < to {
            self.delivered[at] += all_bytes;
        }
        count
    }

    /// A message of one packet has arrived. Nothing follows, so that no register is kept over what is called rarely.
    #[inline(always)]
    fn take(&mut self, fresh: Fresh) {
        match self.fresh.get_mut(self.n_fresh) {
            Some(place) => {
                (place.birth, place.time) = (fresh.birth, fresh.time);
                (place.source, place.about) = (fresh.source, fresh.about);
                self.n_fresh += 1;
            }
            None => self.make_room(fresh.birth, fresh.time, (fresh.source, fresh.about)),
        }
    }

    #[cold]
    #[inline(never)]
    fn take_in_detail(&mut self, row: &MessageRow) {
        let &MessageRow {
            birth, time, source, ..
        } = row;
        self.detail(row);
        self.take(Fresh::new(birth, time, source, row.bytes, row.hops, row.number));
    }

    /// The list of fresh arrivals is full, or there is none yet. In parts: a whole one would be written to memory for this, whether there is room or not.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, birth: u64, time: u64, (source, about): (u32, u32)) {
        self.fresh = self.count_all();
        self.fresh.resize(FRESH, Fresh::NONE);
        self.fresh[0] = Fresh {
            birth,
            time,
            source,
            about,
        };
        self.n_fresh = 1;
    }

    /// A message of several packets that was born before the end of the measured span has arrived.
    fn arrives(&mut self, source: u32, bytes: u64, birth: u64, time: u64) {
        if time.wrapping_sub(self.paced_from) < self.paced_for {
            self.paces[source as usize] += bytes;
        }
        let at = self.slice_of(time);
        let (index, from, light) = ((birth >> self.shift) as usize, self.span.from, self.light_bins);
        let track = self.track(source);
        track.bin(at);
        let mut edges = track.edges(at);
        match light {
            false => track.arrives::<false>(bytes, (birth, time), index, from, &mut edges),
            true => track.arrives::<true>(bytes, (birth, time), index, from, &mut edges),
        }
        track.set_edges(at, edges);
    }

    /// `count` messages of a node that were born at the same time, before the end of the measured span, had not set out when the run ended.
    pub fn keep(&mut self, node: u32, birth: u64, count: u64) {
        let span = self.span;
        if birth >= span.to || count == 0 {
            return;
        }
        let index = self.slice(birth);
        let last = if span.is_open() { self.slice(span.last()) } else { index };
        let track = self.track(node);
        track.bin(index).kept += count;
        let end = track.bin(last);
        end.oldest = end.oldest.min(birth);
        if birth >= span.from {
            track.kept += count;
        }
    }

    /// Puts together what is known of the messages of a run that has ended, as a whole; called once.
    pub fn look_back(&mut self) {
        self.settle();
        let light = self.light_bins;
        self.tracks.iter_mut().for_each(|track| track.sum_up(light));
        if !self.span.is_open() {
            return;
        }
        let last = self.slice(self.span.last());
        self.tracks
            .iter_mut()
            .for_each(|track| track.look_back(last, self.shift));
    }

    /// A message has set out, where messages are followed.
    #[cold]
    fn sets_out(&mut self, row: SetOut) {
        if let Some(shown) = &mut self.shown {
            shown.begun(row.source, row.birth, row.time - row.birth);
        }
        if row.time <= self.span.cut && row.birth < self.span.to && self.rows.is_some() {
            self.set_out.push(row);
        }
    }

    /// Keeps the longest stay of a message, of equal ones the one at the lowest router and port.
    #[cold]
    fn stays(&mut self, row: StayRow) {
        let order = |row: &StayRow| (row.time, std::cmp::Reverse((row.router, row.port)));
        let key = [row.source, row.destination, row.label];
        let longest = self.stays.entry(key).or_insert(row);
        if order(&row) > order(longest) {
            *longest = row;
        }
    }

    #[cold]
    fn detail(&mut self, row: &MessageRow) {
        if row.time > self.span.cut || is_ack(row.number) {
            return;
        }
        if let Some(sender) = self.senders.get_mut(row.source as usize) {
            let trip = row.time - row.birth;
            sender.first = sender.first.min(row.birth);
            sender.last = sender.last.max(row.time);
            sender.bytes += row.bytes;
            sender.trips += 1;
            sender.sum += trip;
            sender.longest = sender.longest.max(trip);
        }
        if let Some(rows) = self.rows.as_mut().filter(|_| row.birth < self.span.to) {
            rows.push(*row);
        }
    }
}

impl Observe<Record> for Stats {
    #[inline(always)]
    fn see(&mut self, record: Record) {
        match record {
            Record::Departed(departed) => {
                self.injected += u64::from(departed.packets);
                self.injected_bytes += departed.bytes;
                self.flow = self.flow.wrapping_add(departed.share);
                self.begin(departed.source, &departed.born[0]);
                self.begin(departed.source, &departed.born[1]);
            }
            Record::Announced { share } => self.message_flow = self.message_flow.wrapping_add(share),
            Record::Packet {
                bytes,
                hops,
                time,
                share,
            } => {
                self.flow = self.flow.wrapping_sub(share);
                if time > self.span.cut {
                    self.landing += 1;
                    self.landing_bytes += u64::from(bytes);
                    return;
                }
                let at = self.slice_of(time);
                self.landed(u64::from(bytes), hops, time, at);
                if let Some(shown) = &mut self.shown {
                    shown.landed(time, bytes, hops);
                }
            }
            Record::Message {
                source,
                destination,
                bytes,
                birth,
                time,
                hops,
                number,
                early,
                single,
                share,
            } => {
                self.early += u64::from(early);
                let row = || MessageRow {
                    birth,
                    source,
                    destination,
                    time,
                    bytes,
                    hops,
                    number,
                };
                if single {
                    self.flow = self.flow.wrapping_sub(share);
                    if self.in_detail {
                        return self.take_in_detail(&row());
                    }
                    return self.take(Fresh::new(birth, time, source, bytes, hops, number));
                }
                self.message_flow = self.message_flow.wrapping_sub(share);
                if time > self.span.cut {
                    return;
                }
                self.messages += 1;
                self.latest = self.latest.max(time);
                if birth < self.span.to && !is_ack(number) {
                    self.arrives(source, bytes, birth, time);
                }
                if let Some(shown) = &mut self.shown {
                    shown.complete(&row(), early);
                }
                if self.in_detail {
                    self.detail(&row());
                }
            }
            Record::SetOut {
                source,
                destination,
                number,
                bytes,
                birth,
                time,
            } => {
                let row = SetOut {
                    source,
                    time,
                    birth,
                    destination,
                    number,
                    bytes,
                };
                self.sets_out(row);
            }
            Record::Lost(lost) => self.lose(lost),
            Record::Repeated { tries, lost, start } => self.repeated.add(start <= self.span.cut, tries, lost),
            Record::Operation(row) => self.operations.push(row),
            Record::Waited(row) => self.rank_waits.push(row),
            Record::Stayed(row) => self.stays(row),
            Record::Acknowledged { node, batch, time } => self.senders[node as usize].acknowledged(batch, time),
        }
    }

    /// Packets injected, packets handed over or lost, messages complete; messages born before the end of the measured span that have set out, and
    /// that have arrived or are lost.
    fn tally(&self) -> Tally {
        let due = |of: fn(&Bin) -> u64| self.tracks.iter().flat_map(|track| &track.bins).map(of).sum::<u64>();
        let fresh = self.fresh[..self.n_fresh]
            .iter()
            .filter(|fresh| fresh.time <= self.span.cut);
        let n_fresh = fresh.clone().count() as u64;
        let due_fresh = fresh.filter(|fresh| fresh.birth < self.span.to).count() as u64;
        [
            self.injected,
            self.packets + n_fresh + self.losses.iter().map(|losses| losses.packets).sum::<u64>(),
            self.messages + n_fresh,
            due(|bin| bin.begun.count),
            due(|bin| bin.born.count + bin.lost) + due_fresh,
        ]
    }

    fn merge(&mut self, mut other: Stats) {
        self.settle();
        other.settle();
        self.injected += other.injected;
        self.injected_bytes += other.injected_bytes;
        self.estimated.add(&other.estimated);
        self.flow = self.flow.wrapping_add(other.flow);
        self.message_flow = self.message_flow.wrapping_add(other.message_flow);
        self.packets += other.packets;
        self.packet_bytes += other.packet_bytes;
        self.latest = self.latest.max(other.latest);
        self.messages += other.messages;
        self.early += other.early;
        self.landing += other.landing;
        self.landing_bytes += other.landing_bytes;
        if self.hops.len() < other.hops.len() {
            self.hops.resize(other.hops.len(), 0);
        }
        for (mine, theirs) in self.hops.iter_mut().zip(&other.hops) {
            *mine += theirs;
        }
        while self.shift < other.shift {
            self.double();
        }
        while other.shift < self.shift {
            other.double();
        }
        if self.delivered.len() < other.delivered.len() {
            self.delivered.resize(other.delivered.len(), 0);
        }
        for (mine, theirs) in self.delivered.iter_mut().zip(&other.delivered) {
            *mine += theirs;
        }
        for (mine, theirs) in self.tracks.iter_mut().zip(&other.tracks) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.losses.iter_mut().zip(&other.losses) {
            mine.merge(theirs);
        }
        self.repeated.merge(&other.repeated);
        for (mine, theirs) in self.paces.iter_mut().zip(&other.paces) {
            *mine += theirs;
        }
        for (mine, theirs) in self.senders.iter_mut().zip(&other.senders) {
            mine.merge(theirs);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.rows, other.rows) {
            mine.extend(theirs);
        }
        self.set_out.extend(other.set_out);
        self.operations.append(&mut other.operations);
        self.rank_waits.append(&mut other.rank_waits);
        other.stays.into_values().for_each(|row| self.stays(row));
        if let (Some(mine), Some(theirs)) = (&mut self.shown, other.shown) {
            mine.merge(&theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_grow_longer_without_losing_anything() {
        let span = Span {
            from: 0,
            to: u64::MAX,
            ..Span::default()
        };
        let mut stats = Stats::new(span, 0, false, Arc::default(), (1, 0));
        for i in 0..1_000u64 {
            let birth = i << 22;
            let message = Record::Message {
                source: 0,
                destination: 1,
                bytes: 10,
                birth,
                time: birth + 5,
                hops: 1,
                number: 0,
                early: false,
                single: false,
                share: 0,
            };
            stats.see(message);
        }
        let bins = &stats.tracks[0].bins;
        assert!(bins.len() <= MAX_BINS);
        assert_eq!(bins.iter().map(|bin| bin.born.count).sum::<u64>(), 1_000);
    }
}
