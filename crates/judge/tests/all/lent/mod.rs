//! Work that is lent to runs: programs in threads, whose operations are made up as they go, and lists of operations.
#![allow(dead_code, reason = "not every test needs all of it")]

use fabric::spec::*;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use work::motif::ProgramLoan;
use work::mpi::op::{ANY_SIZE, ANY_SOURCE, ANY_TAG, UNNAMED};
use work::mpi::{Collective, CollectiveKind, Communicator, HeardMessage, Op, Program, Transfer};

/// What a process hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The clock of its rank.
    Clock(u64),
    /// A receive met a message.
    Matched(u16, HeardMessage),
    /// A message has come that no receive was posted for.
    Arrived(HeardMessage, u64),
    /// A request is complete.
    Completed(u16, u64),
}

/// A process at its end of the wire.
pub struct Process {
    /// Its rank.
    pub rank: u32,
    heard: Receiver<Vec<Heard>>,
    calls: Sender<Op>,
    /// Clock of the rank at the last call (ps).
    pub clock: u64,
    /// Messages without a receive that were seen and not taken.
    pub unexpected: Vec<HeardMessage>,
    /// When requests were complete (ps).
    pub complete: BTreeMap<u16, u64>,
    /// What receives have taken.
    pub taken: Vec<(u16, HeardMessage)>,
}

impl Process {
    /// Waits until all that it has called before is over.
    pub fn look(&mut self) {
        for heard in self.heard.recv().expect("the simulator asks") {
            match heard {
                Heard::Clock(clock) => self.clock = clock,
                Heard::Arrived(message, at) => {
                    assert!(at <= self.clock.max(at));
                    self.unexpected.push(message);
                }
                Heard::Matched(request, message) => {
                    let is_it = |other: &HeardMessage| (other.source, other.tag) == (message.source, message.tag);
                    if let Some(place) = self.unexpected.iter().position(is_it) {
                        self.unexpected.remove(place);
                    }
                    self.taken.push((request, message));
                }
                Heard::Completed(request, at) => {
                    self.complete.insert(request, at);
                }
            }
        }
        assert!(
            self.complete.values().all(|at| *at <= self.clock),
            "{} {:?}",
            self.clock,
            self.complete
        );
    }

    /// Does an operation, and waits until it is over.
    pub fn call(&mut self, op: Op) {
        self.calls.send(op).expect("the simulator listens");
        self.look();
    }
}

/// A rank's wire.
#[derive(Debug)]
struct Wire {
    heard: Vec<Heard>,
    news: Sender<Vec<Heard>>,
    calls: Receiver<Op>,
    /// All operations so far.
    log: Vec<Op>,
    /// How often the process was asked.
    asked: usize,
}

/// A program with a thread for each rank.
#[derive(Debug)]
pub struct LiveThreads {
    wires: Vec<Mutex<Wire>>,
    communicators: Vec<Communicator>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl LiveThreads {
    /// Starts so many ranks, which all do `main`.
    pub fn start(ranks: u32, main: impl Fn(&mut Process) + Send + Sync + 'static) -> Arc<LiveThreads> {
        let main = Arc::new(main);
        let (mut wires, mut threads) = (Vec::new(), Vec::new());
        for rank in 0..ranks {
            let (news, heard) = channel();
            let (send, calls) = channel();
            wires.push(Mutex::new(Wire {
                heard: Vec::new(),
                news,
                calls,
                log: Vec::new(),
                asked: 0,
            }));
            let main = main.clone();
            threads.push(std::thread::spawn(move || {
                let mut process = Process {
                    rank,
                    heard,
                    calls: send,
                    clock: 0,
                    unexpected: Vec::new(),
                    complete: BTreeMap::new(),
                    taken: Vec::new(),
                };
                process.look();
                main(&mut process);
            }));
        }
        Arc::new(LiveThreads {
            wires,
            communicators: vec![Communicator::World(ranks)],
            threads: Mutex::new(threads),
        })
    }

    /// Ends the threads; all operations of each rank.
    pub fn finish(&self) -> Vec<Vec<Op>> {
        for thread in self.threads.lock().unwrap().drain(..) {
            thread.join().expect("a process came to its end");
        }
        self.wires.iter().map(|wire| wire.lock().unwrap().log.clone()).collect()
    }

    fn hear(&self, rank: u32, heard: Heard) {
        self.wires[rank as usize].lock().unwrap().heard.push(heard);
    }
}

impl Program for LiveThreads {
    fn is_live(&self) -> bool {
        true
    }

    fn op(&self, rank: u32, iteration: u32, index: u32) -> Option<Op> {
        assert_eq!(iteration, 0);
        let mut wire = self.wires[rank as usize].lock().unwrap();
        let index = index as usize;
        if let Some(op) = wire.log.get(index) {
            return Some(*op);
        }
        assert_eq!(index, wire.asked, "operations are asked for one after the other");
        wire.asked += 1;
        let heard = std::mem::take(&mut wire.heard);
        // Its last look may be its last word.
        let _ = wire.news.send(heard);
        let op = wire.calls.recv().ok()?;
        wire.log.push(op);
        Some(op)
    }

    fn again(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        self.wires[rank as usize]
            .lock()
            .unwrap()
            .log
            .get(index as usize)
            .copied()
    }

    fn told(&self, rank: u32, clock: u64) {
        self.hear(rank, Heard::Clock(clock));
    }

    fn matched(&self, rank: u32, request: u16, message: &HeardMessage) {
        self.hear(rank, Heard::Matched(request, *message));
    }

    fn arrived(&self, rank: u32, message: &HeardMessage, at: u64) {
        self.hear(rank, Heard::Arrived(*message, at));
    }

    fn completed(&self, rank: u32, request: u16, at: u64) {
        self.hear(rank, Heard::Completed(request, at));
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        26
    }
}

/// Operations of ranks as they are listed, which nobody hears of.
#[derive(Debug)]
pub struct ListedOps {
    ops: Vec<Vec<Op>>,
    communicators: Vec<Communicator>,
}

impl ListedOps {
    /// Of these ranks.
    pub fn new(ops: Vec<Vec<Op>>) -> ListedOps {
        let communicators = vec![Communicator::World(ops.len() as u32)];
        ListedOps { ops, communicators }
    }

    /// Operations of all kinds, in rounds: receives, sends of all modes and collectives that are begun, of several communicators, in an order of each
    /// rank's own, then waits of all kinds, then collectives that wait. Every round comes to its end on any network. `ranks` is a multiple of 4.
    pub fn random(seed: u64, ranks: u32, rounds: u32) -> ListedOps {
        let mut random = des::rng::SplitMix(seed);
        let mut draw = move |n: u64| random.next_word() % n;
        let communicators = vec![
            Communicator::World(ranks),
            Communicator::Lines { size: 4, stride: 1 },
            Communicator::Lines {
                size: ranks / 4,
                stride: 4,
            },
        ];
        let mut ops = vec![Vec::new(); ranks as usize];
        for _ in 0..rounds {
            // Of each rank, messages in any order; each communicator's collectives in one.
            let mut posted: Vec<Vec<Op>> = vec![Vec::new(); ranks as usize];
            for _ in 0..2 * ranks {
                let communicator = draw(3) as u16;
                let family = &communicators[usize::from(communicator)];
                let from = draw(ranks.into()) as u32;
                let size = family.size(from);
                let to = family.rank(
                    from,
                    (family.number(from) + 1 + draw(u64::from(size) - 1) as u32) % size,
                );
                let tag = draw(3) as u16;
                let send = Transfer {
                    tag,
                    communicator,
                    synchronous: draw(3) == 0,
                    ..Transfer::new(to, [0, 8, 500, 5_000, 20_000][draw(5) as usize])
                };
                // Who takes a message from anybody, or of any tag, takes all of that communicator so.
                let open = des::mix(seed ^ u64::from(to) << 8 ^ u64::from(communicator)) % 6;
                let receive = Transfer {
                    tag: if open % 3 == 1 { ANY_TAG } else { tag },
                    communicator,
                    ..Transfer::new(if open < 2 { ANY_SOURCE } else { from }, ANY_SIZE)
                };
                posted[from as usize].push(Op::Isend(send));
                posted[to as usize].push(Op::Irecv(receive));
            }
            let mut begun = Vec::new();
            let mut waiting = Vec::new();
            for all in [&mut begun, &mut waiting] {
                for _ in 0..draw(4) {
                    let communicator = draw(3) as u16;
                    let size = communicators[usize::from(communicator)].size(0);
                    let kind = CollectiveKind::ALL[draw(CollectiveKind::ALL.len() as u64) as usize];
                    all.push(Collective {
                        kind,
                        communicator,
                        bytes: draw(6_000),
                        root: draw(size.into()) as u32,
                    });
                }
            }
            for (rank, own) in ops.iter_mut().enumerate() {
                let mut all = std::mem::take(&mut posted[rank]);
                (1..all.len()).for_each(|i| all.swap(i, draw(i as u64 + 1) as usize));
                let mut request = 0;
                let mut name = |named: bool| {
                    request += u16::from(named);
                    if named { request - 1 } else { UNNAMED }
                };
                for op in &mut all {
                    if let Op::Isend(transfer) | Op::Irecv(transfer) = op {
                        transfer.request = name(draw(4) > 0);
                    }
                }
                let mut place = 0;
                for collective in &begun {
                    place += draw((all.len() - place) as u64 + 1) as usize;
                    let request = name(draw(4) > 0);
                    let collective = *collective;
                    all.insert(place, Op::Icollective { collective, request });
                    place += 1;
                }
                for _ in 0..draw(3) {
                    let time = draw(1_500_000);
                    all.insert(draw(all.len() as u64 + 1) as usize, Op::Compute { time });
                }
                let names = request;
                let posts = all.iter().any(|op| !matches!(op, Op::Compute { .. }));
                own.extend(all);
                if posts && draw(2) == 0 {
                    own.push(Op::WaitNews);
                }
                let mut waited = Vec::new();
                for _ in 0..draw(4) {
                    let request = draw(u64::from(names) + 1) as u16;
                    let time = draw(300_000);
                    own.push(match draw(4) {
                        0 if request < names && !waited.contains(&request) => {
                            waited.push(request);
                            Op::Wait { request }
                        }
                        1 if request < names => Op::Test { request },
                        2 => Op::WaitAny,
                        _ => Op::Compute { time },
                    });
                }
                own.extend(waiting.iter().map(|collective| Op::Collective(*collective)));
                own.push(Op::WaitAll);
            }
        }
        ListedOps { ops, communicators }
    }

    /// The same with one size for each pair of ranks, all that a record of a run has.
    pub fn without_pairs(mut self) -> ListedOps {
        for op in self.ops.iter_mut().flatten() {
            if let Op::Collective(it) | Op::Icollective { collective: it, .. } = op
                && it.kind == CollectiveKind::Alltoallv
            {
                it.kind = CollectiveKind::Alltoall;
            }
        }
        self
    }

    /// Operations of a name.
    pub fn count(&self, word: &str) -> usize {
        self.ops.iter().flatten().filter(|op| op.word() == word).count()
    }
}

impl Program for ListedOps {
    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        self.ops[rank as usize].get(index as usize).copied()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn pair_bytes(&self, collective: &Collective, from: u32, to: u32) -> u64 {
        des::mix(u64::from(from) << 32 | u64::from(to) ^ collective.bytes) % 4_000
    }

    fn told(&self, rank: u32, _clock: u64) {
        panic!("rank {rank} plays what is listed, and nobody listens");
    }

    fn matched(&self, rank: u32, _request: u16, _message: &HeardMessage) {
        panic!("rank {rank} plays what is listed, and nobody listens");
    }

    fn arrived(&self, rank: u32, _message: &HeardMessage, _at: u64) {
        panic!("rank {rank} plays what is listed, and nobody listens");
    }

    fn completed(&self, rank: u32, _request: u16, _at: u64) {
        panic!("rank {rank} plays what is listed, and nobody listens");
    }

    fn peers(&self) -> u32 {
        26
    }
}

/// A job of what is lent.
pub fn work(loan: &ProgramLoan, per_node: u32, mpi: MpiSpec) -> Work {
    Work::Ranks(Ranks {
        parts: vec![Part {
            motif: loan.motif(),
            iterations: 1,
        }],
        per_node,
        mapping: Mapping::Block,
        start: Start::InPhase,
        prelude: 0,
        mpi,
    })
}
