//! Work that is lent to runs: programs in threads, whose operations are made up as they go, and lists of operations.

use fabric::spec::*;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use work::motif::ProgramLoan;
use work::mpi::{Communicator, HeardMessage, Op, Program};

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
}

impl Program for ListedOps {
    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        self.ops[rank as usize].get(index as usize).copied()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
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
        mpi,
    })
}
