//! Programs that run as processes while their network is simulated: what a rank does comes from its process when it is its turn.
//!
//! A process waits in its MPI library until the simulated time has come at which its call is over; nothing else makes it wait. Whoever plays
//! the operations that were asked for again, from [`LiveProgram::write_log`]'s file, gets the same run: the endpoint asks both in the same way.
//!
//! * `launch.rs` starts the processes, when a run begins;
//! * `rank.rs` turns what a process tells into operations, and what the endpoint tells into its answers;
//! * `messages.rs` keeps what messages say on the way from sender to receiver;
//! * `computing.rs` says how long what they compute between two calls takes;
//! * `families.rs` numbers the communicators that a program makes;
//! * `log.rs` writes what was done as a trace;
//! * `report.rs` says how it ended, and who waits for whom where it did not.

mod computing;
mod families;
mod launch;
mod log;
mod messages;
mod rank;
mod report;

pub use computing::{
    CallPlace, ComputingNoise, ComputingWish, CountedThreads, ProgramTimes, RecordedStretches, StretchTable,
};
pub use coupling::processes::{Dialect, Output};
pub use launch::{GoesOn, LaunchManner, LibraryChoice, ProgramWish, set_manner};
pub use report::{LiveEnd, LiveReport, take_reports};

use crate::mpi::op::{ANY_SIZE, BLOCK};
use crate::mpi::{Collective, Communicator, HeardMessage, MOST_MADE, Op, Program};
use coupling::entry::{NO_PAYLOAD, RankNews, news};
use coupling::{HostSide, RankEntry};
use families::Families;
use launch::Running;
use messages::InTransit;
use rank::{LiveRank, RankTurn};
use report::Failure;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A program of processes.
#[derive(Debug)]
pub struct LiveProgram {
    wish: ProgramWish,
    /// How it is started, by the run that has begun it.
    manner: OnceLock<LaunchManner>,
    running: OnceLock<Result<Running, Failure>>,
    ranks: Vec<Mutex<LiveRank>>,
    /// What messages say that are on their way, by receiver.
    transit: Vec<Mutex<InTransit>>,
    families: Families,
    /// Whether something has gone wrong, and what.
    failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
    /// What there was to say at its end.
    end: OnceLock<Option<(bool, String)>>,
}

impl LiveProgram {
    /// The program that is wished for. It is started when a run begins that it is in.
    pub fn new(wish: ProgramWish) -> LiveProgram {
        let ranks = wish.ranks;
        LiveProgram {
            manner: OnceLock::new(),
            running: OnceLock::new(),
            ranks: (0..ranks).map(|_| Mutex::new(LiveRank::new(&wish))).collect(),
            transit: (0..ranks).map(|_| Mutex::default()).collect(),
            families: Families::new(ranks),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
            end: OnceLock::new(),
            wish,
        }
    }

    /// A program whose ranks somebody else has started, on the memory of `host`.
    pub fn on_host(wish: ProgramWish, host: HostSide) -> LiveProgram {
        let program = LiveProgram::new(wish);
        program.running.get_or_init(|| Ok(Running::without_processes(host)));
        program
    }

    fn running(&self) -> Option<&Running> {
        let running = self.running.get_or_init(|| Running::start(&self.wish, self.manner()));
        match running {
            Ok(running) => Some(running),
            Err(failure) => {
                self.fail(failure.clone());
                None
            }
        }
    }

    fn manner(&self) -> &LaunchManner {
        self.manner.get_or_init(|| LaunchManner::of_program(0))
    }

    fn rank(&self, rank: u32) -> MutexGuard<'_, LiveRank> {
        let mutex = &self.ranks[rank as usize];
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the processor for what is known of a rank that is about to go on, and for its mailbox. With many ranks neither is at hand, and whoever
    /// takes the lock first waits for one line after the other.
    fn foresee(&self, rank: u32) {
        des::prefetch(&self.ranks[rank as usize]);
        if let Some(Ok(running)) = self.running.get() {
            des::prefetch(running.host.area().mailbox(rank));
        }
    }

    fn transit(&self, rank: u32) -> MutexGuard<'_, InTransit> {
        let mutex = &self.transit[rank as usize];
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what has gone wrong first. No rank does anything any longer.
    fn fail(&self, failure: Failure) {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
        self.failed.store(true, Ordering::Release);
    }

    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// The next operation of a rank, from its process.
    fn pull(&self, running: &Running, number: u32, rank: &mut LiveRank) -> Option<Op> {
        loop {
            if self.has_failed() || rank.is_over() {
                return None;
            }
            match rank.turn() {
                RankTurn::Do(record) => {
                    self.post(number, rank, &record);
                    return Some(rank.op(&record));
                }
                RankTurn::Answer => {
                    running.host.answer(number, rank.clock, &mut rank.news);
                    rank.answered();
                }
                RankTurn::Ask => {
                    let entry = self.wait_for(running, number, rank)?;
                    if !rank.has_begun() {
                        running.has_come(number);
                    }
                    if let Err(failure) = rank.take(number, entry, &running.host, &self.families) {
                        self.fail(failure);
                    }
                }
            }
        }
    }

    /// Puts what a send says on its way.
    fn post(&self, number: u32, rank: &mut LiveRank, record: &crate::replay::OperationRecord) {
        if let Some((receiver, address, message)) = rank.sent(number, record) {
            self.transit(receiver).post(address, message);
        }
    }

    fn wait_for(&self, running: &Running, number: u32, rank: &LiveRank) -> Option<RankEntry> {
        let mut patience = running.patience();
        running.host.next(number, &mut || {
            if self.has_failed() {
                return false;
            }
            if !self.manner().goes_on() {
                self.fail(Failure::Interrupted);
                return false;
            }
            match running.look(number, rank, &mut patience, &|other| self.is_over(other)) {
                Some(failure) => {
                    self.fail(failure);
                    false
                }
                None => true,
            }
        })
    }

    /// Whether a rank does nothing any more and may end; of one that is being served right now it is not known.
    fn is_over(&self, rank: u32) -> bool {
        let mutex = &self.ranks[rank as usize];
        mutex.try_lock().map_or(true, |rank| rank.is_over())
    }
}

impl Program for LiveProgram {
    fn ranks(&self) -> u32 {
        self.wish.ranks
    }

    fn op(&self, rank: u32, iteration: u32, index: u32) -> Option<Op> {
        if iteration > 0 {
            return None;
        }
        let number = rank;
        let mut rank = self.rank(number);
        rank.foresee();
        match rank.done(index) {
            Some(op) => Some(op),
            None => self.pull(self.running()?, number, &mut rank),
        }
    }

    fn is_live(&self) -> bool {
        true
    }

    fn begin(&self, number: u32) {
        let manner = self.manner.get_or_init(|| LaunchManner::of_program(number));
        let is_kept = manner.table.is_some() && self.wish.computing.measures_cpu();
        (0..self.wish.ranks).for_each(|rank| self.rank(rank).computing.is_kept = is_kept);
        // Processes are told when the thread ends that has started them.
        self.running();
    }

    fn conclude(&self) -> Option<(bool, String)> {
        self.end.get_or_init(|| self.finish()).clone()
    }

    fn give_up(&self) {
        self.fail(Failure::Interrupted);
        self.conclude();
    }

    fn again(&self, rank: u32, iteration: u32, index: u32) -> Option<Op> {
        (iteration == 0).then(|| self.rank(rank).done(index))?
    }

    fn told(&self, rank: u32, clock: u64) {
        self.rank(rank).clock = clock;
    }

    fn matched(&self, rank: u32, request: u16, message: &HeardMessage) {
        let address = (message.source, u32::from(message.communicator), message.tag);
        self.foresee(rank);
        let said = self.transit(rank).matched(address);
        let (bytes, payload, had_arrived) = said.map_or((message.bytes, NO_PAYLOAD, false), |(said, had_arrived)| {
            (said.bytes, said.payload, had_arrived)
        });
        let piece = RankNews {
            kind: news::COMPLETED,
            had_arrived: had_arrived.into(),
            tag: message.tag,
            communicator: message.communicator.into(),
            source: message.source,
            request: request.into(),
            bytes: if bytes == ANY_SIZE { 0 } else { bytes },
            payload,
            ..RankNews::default()
        };
        let mut rank = self.rank(rank);
        match request {
            // Nobody looks before the wait is over, and then it is complete.
            BLOCK => rank.news.push_back(piece),
            _ => rank.keep(piece),
        }
    }

    fn arrived(&self, rank: u32, message: &HeardMessage, _at: u64) {
        let address = (message.source, u32::from(message.communicator), message.tag);
        let said = self.transit(rank).arrived(address);
        let piece = RankNews {
            kind: news::ARRIVED,
            tag: message.tag,
            communicator: message.communicator.into(),
            source: message.source,
            bytes: said.map_or(message.bytes, |said| said.bytes),
            payload: NO_PAYLOAD,
            ..RankNews::default()
        };
        self.rank(rank).news.push_back(piece);
    }

    fn completed(&self, rank: u32, request: u16, _at: u64) {
        self.foresee(rank);
        self.rank(rank).complete(request);
    }

    fn communicators(&self) -> &[Communicator] {
        self.families.first()
    }

    fn communicator(&self, number: u16) -> &Communicator {
        self.families.get(number)
    }

    fn n_communicators(&self) -> usize {
        self.families.len()
    }

    fn n_contexts(&self) -> usize {
        MOST_MADE
    }

    /// Of what a rank sends itself; what it receives is for the record only.
    fn pair_bytes(&self, collective: &Collective, from: u32, to: u32) -> u64 {
        let communicator = self.communicator(collective.communicator);
        let number = communicator.number(to);
        self.rank(from).listed(collective.root, number)
    }

    fn peers(&self) -> u32 {
        26.min(self.wish.ranks.saturating_sub(1)).max(1)
    }
}
