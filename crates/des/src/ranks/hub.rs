//! Where the workers of all ranks meet: once at the barrier of their rank, then the first worker of each rank exchanges with the others
//! what is for other ranks, while the workers beside it wait at the next barrier.
//!
//! Within a rank events change hands by [`crate::mail`], in two steps of it a meeting: what workers have sent, and what has come from
//! other ranks. Bytes between ranks are a [`MeetingHead`], then events, 32 bytes each, of every kind of mail; ranks without events for each other send
//! none.

use super::shares::Shares;
use super::{Broken, MeetingWords, Transport};
use crate::barrier::{Barrier, Entered};
use crate::engine::Carried;
use crate::mail::{Mail, NEVER};
use crate::pool::Pool;
use crate::report::{Posted, WorkerReport};
use crate::ring::{EventRing, WindowGrid};
use crate::world::Event;
use std::ops::Range;
use std::time::{Duration, Instant};

/// What stands in front of the events of a message: their numbers by kind of mail, as long as an event, so that events stay aligned.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct MeetingHead {
    events: [u64; 2],
    spare: [u64; 2],
}

/// The other ranks, in the hands of the first worker.
pub(super) struct Abroad<'a> {
    pub(super) transport: &'a mut dyn Transport,
    pub(super) shares: &'a Shares,
    /// Why the connection is broken.
    pub(super) failure: Option<Broken>,
    /// Time between meetings, and at them.
    pub(super) busy: Duration,
    pub(super) wait: Duration,
    /// Messages with events and their bytes, from any rank to any other.
    pub(super) carried: Carried,
    since: Instant,
}

impl<'a> Abroad<'a> {
    pub(super) fn new(transport: &'a mut dyn Transport, shares: &'a Shares) -> Self {
        Abroad {
            transport,
            shares,
            failure: None,
            busy: Duration::ZERO,
            wait: Duration::ZERO,
            carried: Carried::default(),
            since: Instant::now(),
        }
    }

    /// Moves what `rings` hold for other ranks to `out`; returns the first window of it.
    fn collect<E: Event>(
        &self,
        grid: &WindowGrid,
        rings: &mut [EventRing<E>],
        out: &mut [Vec<E>],
        pool: &mut Pool<E>,
    ) -> u64 {
        let mut next = NEVER;
        for (rank, out) in out
            .iter_mut()
            .enumerate()
            .filter(|&(rank, _)| rank != self.transport.rank())
        {
            for ring in &mut rings[self.shares.blocks_of(rank)] {
                next = next.min(ring.next_window(grid).unwrap_or(NEVER));
                ring.drain_into(out, pool);
            }
        }
        next
    }

    /// Sends `out` to the other ranks, puts what comes from them into `rings`, and adds up the reports of all.
    fn exchange<E: Event, const K: usize>(
        &mut self,
        grid: &WindowGrid,
        (rings, pool): Stock<'_, '_, E, K>,
        report: WorkerReport,
        out: [Vec<Vec<E>>; K],
    ) -> Result<WorkerReport, Broken> {
        const {
            assert!(
                size_of::<E>() == 32 && size_of::<MeetingHead>() == 32,
                "events travel as 32 bytes"
            )
        };
        let message = |rank: usize| {
            let events: [&[E]; K] = std::array::from_fn(|kind| &out[kind][rank][..]);
            let n: usize = events.iter().map(|events| events.len()).sum();
            if n == 0 {
                return Vec::new();
            }
            let head = MeetingHead {
                events: std::array::from_fn(|kind| events.get(kind).map_or(0, |events| events.len() as u64)),
                spare: [0; 2],
            };
            let mut bytes =
                Vec::with_capacity(size_of::<MeetingHead>() + n * size_of::<E>() + size_of::<MeetingWords>());
            bytes.extend_from_slice(bytemuck::bytes_of(&head));
            events
                .iter()
                .for_each(|events| bytes.extend_from_slice(bytemuck::cast_slice(events)));
            bytes
        };
        let messages: Vec<Vec<u8>> = (0..self.transport.size()).map(message).collect();
        drop(out);
        let sent = Carried {
            messages: messages.iter().filter(|message| !message.is_empty()).count() as u64,
            bytes: messages.iter().map(|message| message.len() as u64).sum(),
        };
        let (least, [executed, rolled_back, kept, peak, broken]) = report.words();
        let mut words = MeetingWords {
            least,
            sums: [executed, rolled_back, kept, peak, broken, sent.messages, sent.bytes],
        };
        let came = self.transport.meet(&mut words, messages)?;
        let [executed, rolled_back, kept, peak, broken, messages, bytes] = words.sums;
        self.carried.add(Carried { messages, bytes });
        let own = self.shares.blocks_of(self.transport.rank());
        // Workers that run ahead have antis as a second kind of mail; to others nothing comes within a window that they have run.
        let earliest = grid.start + if K == 1 { grid.width } else { 0 };
        for message in &came {
            let (head, body) = message
                .split_at_checked(size_of::<MeetingHead>())
                .ok_or_else(|| Broken::torn("it is too short"))?;
            let head: MeetingHead = bytemuck::pod_read_unaligned(head);
            let (mut events, rest) = body.as_chunks::<32>();
            if !rest.is_empty() || head.events.iter().copied().fold(0, u64::saturating_add) != events.len() as u64 {
                return Err(Broken::torn("it holds part of an event"));
            }
            for (rings, n) in rings.iter_mut().zip(head.events) {
                let (these, others) = events.split_at(n as usize);
                events = others;
                for bytes in these {
                    let event: E = bytemuck::pod_read_unaligned(bytes);
                    let block = (event.lp() >> self.shares.layout.shift()) as usize;
                    if !own.contains(&block) || event.time().0 < earliest {
                        return Err(Broken::torn("it holds an event that does not belong here"));
                    }
                    rings[block].insert(grid, event, pool);
                }
            }
        }
        Ok(WorkerReport::of_words((
            words.least,
            [executed, rolled_back, kept, peak, broken],
        )))
    }
}

/// Barrier, mailboxes and reports of the workers of one rank, for `K` kinds of mail.
pub(super) struct Hub<E, const K: usize> {
    barrier: Barrier,
    mail: [Mail<E>; K],
    /// By worker; written before the first barrier of a meeting, read by the first worker after it.
    reports: Vec<Posted>,
    /// What all ranks together have reported; written before the second barrier, read after it.
    agreed: Posted,
    /// Steps at the barrier so far.
    pub(super) step: u64,
}

/// What is pending at a worker, by kind of mail, and its buffers.
pub(super) type Stock<'p, 'r, E, const K: usize> = (&'p mut [&'r mut [EventRing<E>]; K], &'p mut Pool<E>);

/// A worker's place at the meetings of a burst.
pub(super) struct Seat<'h, E, const K: usize> {
    hub: &'h Hub<E, K>,
    place: Entered<'h>,
    me: usize,
    step: u64,
}

impl<E: Event, const K: usize> Hub<E, K> {
    /// For `workers` of a rank, with the `n_blocks` blocks of all ranks.
    pub(super) fn new(workers: usize, n_blocks: usize) -> Self {
        Hub {
            barrier: Barrier::for_workers(workers),
            mail: std::array::from_fn(|_| Mail::new(workers, n_blocks)),
            reports: (0..workers).map(|_| Posted::default()).collect(),
            agreed: Posted::default(),
            step: 0,
        }
    }

    /// The seat of worker `me`, taken by the thread that works.
    pub(super) fn sit(&self, me: usize) -> Seat<'_, E, K> {
        Seat {
            place: self.barrier.enter(me),
            hub: self,
            me,
            step: self.step,
        }
    }
}

impl<E: Event, const K: usize> Seat<'_, E, K> {
    /// Hands over what the worker has sent, takes what is for its blocks `own` into `rings` (by kind of mail), and returns what all
    /// workers of all ranks have reported. The first worker of a rank has the way to the others. `None`: a worker has panicked, or the
    /// connection is broken.
    pub(super) fn meet(
        &mut self,
        own: &Range<usize>,
        grid: &WindowGrid,
        stock: Stock<'_, '_, E, K>,
        report: WorkerReport,
        abroad: Option<&mut Abroad<'_>>,
    ) -> Option<WorkerReport> {
        self.step += 2;
        match abroad {
            Some(abroad) => self.speak(own, grid, stock, report, abroad),
            None => self.listen(own, grid, stock, report),
        }
    }

    /// The step at the barrier before which workers leave what they have sent.
    fn sent(&self) -> u64 {
        self.step - 1
    }

    /// The step before which the first worker leaves what has come from other ranks.
    fn came(&self) -> u64 {
        self.step
    }

    /// The first worker's part of a meeting.
    fn speak(
        &mut self,
        own: &Range<usize>,
        grid: &WindowGrid,
        (rings, pool): Stock<'_, '_, E, K>,
        mut report: WorkerReport,
        abroad: &mut Abroad<'_>,
    ) -> Option<WorkerReport> {
        let begun = Instant::now();
        let hub = self.hub;
        let alone = hub.reports.len() == 1;
        let mut out: [Vec<Vec<E>>; K] =
            std::array::from_fn(|_| (0..abroad.transport.size()).map(|_| Vec::new()).collect());
        for (rings, out) in rings.iter_mut().zip(&mut out) {
            report.next = report.next.min(abroad.collect(grid, rings, out, pool));
        }
        if !alone {
            self.hand_over(own, grid, (rings, pool), report)?;
            report = WorkerReport::NOTHING;
            hub.reports.iter().for_each(|posted| report.add(posted.get()));
            let here = abroad.shares.blocks_of(abroad.transport.rank());
            for ((mail, rings), out) in hub.mail.iter().zip(&mut *rings).zip(&mut out) {
                // What the workers beside it have sent to other ranks.
                mail.take(self.me, self.sent(), &(0..here.start), rings, pool);
                mail.take(
                    self.me,
                    self.sent(),
                    &(here.end..abroad.shares.layout.n_blocks()),
                    rings,
                    pool,
                );
                abroad.collect(grid, rings, out, pool);
            }
        }
        let agreed = abroad.exchange(grid, (rings, pool), report, out);
        if !alone {
            for (mail, rings) in hub.mail.iter().zip(&mut *rings) {
                mail.leave(self.me, self.came(), own, grid, rings, pool);
            }
            hub.agreed.put(*agreed.as_ref().unwrap_or(&WorkerReport::NOTHING));
            self.place.finish(self.came());
            self.place.wait(self.came()).ok()?;
            for (mail, rings) in hub.mail.iter().zip(&mut *rings) {
                mail.take_back(self.me, self.came(), own, rings.len(), pool);
            }
        }
        let now = Instant::now();
        abroad.busy += begun - abroad.since;
        abroad.wait += now - begun;
        abroad.since = now;
        agreed.map_err(|broken| abroad.failure = Some(broken)).ok()
    }

    /// The part of a worker beside it.
    fn listen(
        &mut self,
        own: &Range<usize>,
        grid: &WindowGrid,
        (rings, pool): Stock<'_, '_, E, K>,
        report: WorkerReport,
    ) -> Option<WorkerReport> {
        self.hand_over(own, grid, (rings, pool), report)?;
        self.place.finish(self.came());
        self.place.wait(self.came()).ok()?;
        for (mail, rings) in self.hub.mail.iter().zip(&mut *rings) {
            mail.take_back(self.me, self.came(), own, rings.len(), pool);
            mail.take(self.me, self.came(), own, rings, pool);
        }
        Some(self.hub.agreed.get())
    }

    /// Leaves what the worker has sent to others of its rank and beyond, and takes what they have sent to it.
    fn hand_over(
        &self,
        own: &Range<usize>,
        grid: &WindowGrid,
        (rings, pool): Stock<'_, '_, E, K>,
        mut report: WorkerReport,
    ) -> Option<()> {
        for (mail, rings) in self.hub.mail.iter().zip(&mut *rings) {
            report.next = report
                .next
                .min(mail.leave(self.me, self.sent(), own, grid, rings, pool));
        }
        self.hub.reports[self.me].put(report);
        self.place.finish(self.sent());
        self.place.wait(self.sent()).ok()?;
        for (mail, rings) in self.hub.mail.iter().zip(rings) {
            mail.take_back(self.me, self.sent(), own, rings.len(), pool);
            mail.take(self.me, self.sent(), own, rings, pool);
        }
        Some(())
    }
}
