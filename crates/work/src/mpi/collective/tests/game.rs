//! Ranks that do the steps of a collective, with data in their hands and a clock.

use super::super::step::VectorSpan;
use super::super::{Algorithm as A, Call};
use crate::mpi::{Action, CollectiveKind as K};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// What a message takes with it: all that its sender holds of a span, and all ranks that the sender has heard of.
struct Message {
    arrival: u64,
    bytes: u64,
    span: VectorSpan,
    counts: Vec<u8>,
    slots: Vec<(u32, u32)>,
    heard: u128,
}

pub(super) struct Rank {
    k: u32,
    clock: u64,
    /// When the ports to and from the network are free again.
    out: u64,
    inn: u64,
    posted: Vec<(u32, VectorSpan)>,
    /// How often the contribution of each rank is in each byte of the vector.
    counts: Vec<u8>,
    /// Bruck's all-to-all: (origin, destination) of each block held.
    slots: Vec<(u32, u32)>,
    heard: u128,
    pub(super) sent: u64,
    pub(super) messages: u64,
    received: Vec<u32>,
    done: bool,
}

pub(super) struct Game<'a> {
    call: Call<'a>,
    alpha: u64,
    beta: u64,
    /// Bytes of the vector; 0 if no data are held.
    length: usize,
    pub(super) ranks: Vec<Rank>,
    network: HashMap<(u32, u32), VecDeque<Message>>,
}

impl<'a> Game<'a> {
    /// Ranks with data; a message takes as long as a round.
    pub(super) fn with_data(call: Call<'a>) -> Game<'a> {
        let blocks = match call.kind {
            K::Bcast | K::Reduce | K::Allreduce => 1,
            K::Gather | K::Scatter | K::Allgather | K::ReduceScatter => u64::from(call.size),
            K::Barrier | K::Alltoall | K::Alltoallv => 0,
        };
        Game::new(call, 1, 0, (call.bytes * blocks) as usize)
    }

    pub(super) fn new(call: Call<'a>, alpha: u64, beta: u64, length: usize) -> Game<'a> {
        let n = call.size as usize;
        let mut game = Game {
            call,
            alpha,
            beta,
            length,
            ranks: Vec::new(),
            network: HashMap::new(),
        };
        for me in 0..call.size {
            let mut counts = vec![0; length * n];
            for (byte, of) in counts.chunks_mut(n).enumerate() {
                let own_block = byte as u64 / call.bytes.max(1) == u64::from(me);
                of[me as usize] = u8::from(match call.kind {
                    K::Bcast | K::Scatter => me == call.root,
                    K::Gather | K::Allgather => own_block,
                    _ => true,
                });
            }
            game.ranks.push(Rank {
                k: 0,
                clock: 0,
                out: 0,
                inn: 0,
                posted: Vec::new(),
                counts,
                slots: (0..call.size).map(|j| (me, (me + j) % call.size)).collect(),
                heard: 1 << me,
                sent: 0,
                messages: 0,
                received: Vec::new(),
                done: false,
            });
        }
        game
    }

    fn step(&self, me: u32, k: u32) -> Option<(Action, VectorSpan)> {
        Call { me, ..self.call }.step(k)
    }

    /// The cells of a span: every byte has one for every rank.
    fn cells(&self, span: VectorSpan) -> Vec<usize> {
        let (n, length) = (self.call.size as usize, self.length);
        if length == 0 {
            return Vec::new();
        }
        let bytes = (0..span.bytes as usize).map(|i| (span.start as usize + i) % length);
        bytes.flat_map(|byte| byte * n..(byte + 1) * n).collect()
    }

    /// Whether this is Bruck's all-to-all.
    fn relays(&self) -> bool {
        (self.call.kind, self.call.algorithm) == (K::Alltoall, A::Bruck)
    }

    /// Whether block `j` goes in a round of Bruck's all-to-all.
    fn goes(span: VectorSpan, j: usize) -> bool {
        j >> span.start & 1 == 1
    }

    fn send(&mut self, me: u32, to: u32, bytes: u64, span: VectorSpan) {
        assert!(to < self.call.size && to != me, "rank {me} sends to {to}");
        let counts = self.cells(span).into_iter();
        let counts = counts.map(|cell| self.ranks[me as usize].counts[cell]).collect();
        let took = self.alpha + self.beta * bytes;
        let relays = self.relays();
        let rank = &mut self.ranks[me as usize];
        rank.out = rank.out.max(rank.clock) + took;
        rank.sent += bytes;
        rank.messages += 1;
        let slots = match relays {
            true => {
                let gone = rank.slots.iter().enumerate().filter(|(j, _)| Self::goes(span, *j));
                let gone: Vec<_> = gone.map(|(_, slot)| *slot).collect();
                assert_eq!(bytes, gone.len() as u64 * self.call.bytes, "blocks of {me} to {to}");
                gone
            }
            false => Vec::new(),
        };
        let message = Message {
            arrival: rank.out,
            bytes,
            span,
            counts,
            slots,
            heard: rank.heard,
        };
        self.network.entry((me, to)).or_default().push_back(message);
    }

    /// Whether what the rank waits for has been sent.
    fn may_go_on(&self, me: u32) -> bool {
        let posted = &self.ranks[me as usize].posted;
        posted.iter().all(|(from, _)| {
            let wanted = posted.iter().filter(|(other, _)| other == from).count();
            self.network
                .get(&(*from, me))
                .is_some_and(|queue| queue.len() >= wanted)
        })
    }

    fn wait(&mut self, me: u32) {
        let combined = match self.step(me, self.ranks[me as usize].k + 1) {
            Some((Action::Combine { bytes }, _)) => Some(bytes),
            _ => None,
        };
        let posted = std::mem::take(&mut self.ranks[me as usize].posted);
        let mut come = Vec::new();
        for (from, span) in posted {
            let message = self.network.get_mut(&(from, me)).unwrap().pop_front().unwrap();
            assert_eq!(message.bytes, span.bytes, "bytes from {from} to {me}");
            if self.length > 0 {
                assert_eq!(message.span, span, "what goes from {from} to {me}");
            }
            self.ranks[me as usize].received.push(from);
            come.push((message, self.cells(span)));
        }
        come.sort_by_key(|(message, _)| message.arrival);
        let relays = self.relays();
        let rank = &mut self.ranks[me as usize];
        rank.clock = rank.clock.max(rank.out);
        for (message, cells) in come {
            rank.inn = message.arrival.max(rank.inn + self.alpha + self.beta * message.bytes);
            rank.clock = rank.clock.max(rank.inn);
            rank.heard |= message.heard;
            assert!(
                combined.is_none_or(|bytes| bytes == message.bytes),
                "rank {me} combines what came"
            );
            for (cell, count) in cells.into_iter().zip(message.counts) {
                let own = if combined.is_some() { rank.counts[cell] } else { 0 };
                rank.counts[cell] = own + count;
            }
            if relays {
                let places = rank.slots.iter_mut().enumerate();
                let places = places.filter(|(j, _)| Self::goes(message.span, *j));
                places.zip(message.slots).for_each(|((_, place), slot)| *place = slot);
            }
        }
    }

    /// Plays to the end; the time at which the last rank is done.
    pub(super) fn play(&mut self) -> u64 {
        let mut ready: BinaryHeap<_> = (0..self.call.size).map(|me| Reverse((0, me))).collect();
        let mut waiting = vec![false; self.call.size as usize];
        while let Some(Reverse((_, me))) = ready.pop() {
            loop {
                let Some((action, span)) = self.step(me, self.ranks[me as usize].k) else {
                    self.ranks[me as usize].done = true;
                    break;
                };
                match action {
                    Action::Send { to, bytes } => {
                        self.send(me, to, bytes, span);
                        if std::mem::take(&mut waiting[to as usize]) {
                            ready.push(Reverse((self.ranks[to as usize].clock, to)));
                        }
                    }
                    Action::Recv { from, bytes } => {
                        assert!(from < self.call.size && from != me, "rank {me} receives from {from}");
                        assert_eq!(bytes, span.bytes);
                        self.ranks[me as usize].posted.push((from, span));
                    }
                    Action::Wait if !self.may_go_on(me) => {
                        waiting[me as usize] = true;
                        break;
                    }
                    Action::Wait => self.wait(me),
                    Action::Combine { .. } | Action::Copy { .. } | Action::Done => {}
                }
                self.ranks[me as usize].k += 1;
            }
        }
        let Call {
            kind, algorithm, size, ..
        } = self.call;
        let what = format!("{} by {} of {size}", kind.name(), algorithm.name());
        let stuck: Vec<_> = (0..size).filter(|&me| !self.ranks[me as usize].done).collect();
        assert!(stuck.is_empty(), "{what}: {stuck:?} wait for ever");
        assert!(
            self.network.values().all(VecDeque::is_empty),
            "{what}: a message is left"
        );
        assert!(
            self.ranks.iter().all(|rank| rank.posted.is_empty()),
            "{what}: ends without a wait"
        );
        self.ranks.iter().map(|rank| rank.clock).max().unwrap()
    }

    /// Everybody holds what the kind promises.
    pub(super) fn check(&self) {
        let Call {
            kind,
            algorithm,
            size,
            root,
            bytes,
            ..
        } = self.call;
        let n = size as usize;
        for (me, rank) in (0..).zip(&self.ranks) {
            let what = format!(
                "{} by {} of {size}, root {root}, {bytes} B, rank {me}",
                kind.name(),
                algorithm.name()
            );
            for (byte, of) in rank.counts.chunks(n).enumerate() {
                let block = (byte as u64 / bytes) as u32;
                let promised = match kind {
                    K::Reduce | K::Gather => me == root,
                    K::Scatter | K::ReduceScatter => block == me,
                    _ => true,
                };
                let once = |origin: u32| match kind {
                    K::Bcast | K::Scatter => origin == root,
                    K::Gather | K::Allgather => origin == block,
                    _ => true,
                };
                if promised {
                    for (origin, &count) in (0..).zip(of) {
                        assert_eq!(
                            count,
                            u8::from(once(origin)),
                            "{what}: byte {byte}, contribution of {origin}"
                        );
                    }
                }
            }
            match (kind, algorithm) {
                (K::Barrier, _) => assert_eq!(rank.heard.count_ones(), size, "{what}"),
                (K::Alltoall, A::Bruck) => {
                    for (j, slot) in (0..).zip(&rank.slots) {
                        assert_eq!(*slot, ((me + size - j) % size, me), "{what}: block {j}");
                    }
                }
                (K::Alltoall | K::Alltoallv, _) => {
                    let mut from = rank.received.clone();
                    from.sort_unstable();
                    let others: Vec<_> = (0..size).filter(|&other| other != me).collect();
                    assert_eq!(from, others, "{what}");
                }
                _ => {}
            }
        }
    }
}
