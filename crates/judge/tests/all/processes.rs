//! Programs that speak through shared memory: what they do at random is the same run on every engine that they may be on, their log is that
//! run on all engines, and every message says what its sender wrote.

use coupling::entry::{ANY_SOURCE, BLOCKING, NO_PAYLOAD, collective, flag, kind, news};
use coupling::layout::SharedTerms;
use coupling::{HostSide, RankEntry, RankNews, RankSide, SharedArea};
use des::Time;
use des::ranks::local;
use fabric::spec::*;
use judge::checkpoint::{Checkpoints, Every};
use judge::run::{Means, RunOrder, RunResult, run, run_by, run_with};
use std::collections::{BTreeMap, VecDeque};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use topo::{Lattice, TopologySpec};
use work::live::{LiveProgram, ProgramWish};
use work::motif::ProgramLoan;
use work::mpi::spec::{Motif, MotifValue};

const BLANK: RankEntry = RankEntry {
    kind: 0,
    flags: 0,
    tag: 0,
    communicator: 0,
    peer: 0,
    request: BLOCKING,
    bytes: 0,
    payload: NO_PAYLOAD,
    compute: 0,
    place: 0,
};

/// What the bytes of a message are made of.
fn mark(source: u32, tag: u16, bytes: u64, round: u64) -> u64 {
    des::mix(u64::from(source) << 40 ^ u64::from(tag) << 20 ^ bytes ^ round << 48)
}

/// A rank of a program that all ranks draw alike.
struct Drawing {
    rank: RankSide,
    seed: u64,
    me: u32,
    ranks: u32,
    round: u64,
    /// Communicators that it is in, the first with all ranks: whether it has spoken of each, its ranks, and its own number.
    groups: Vec<(bool, Vec<u32>, u32)>,
    complete: BTreeMap<u32, RankNews>,
    arrived: VecDeque<RankNews>,
    clock: u64,
}

impl Drawing {
    fn draw(&mut self, below: u64) -> u64 {
        self.seed = des::mix(self.seed.wrapping_add(0x9e37));
        self.seed % below
    }

    /// A size: none, small, around the border of eager messages, large.
    fn bytes(&mut self) -> u64 {
        let most = [1, 64, 6_000, 60_000][self.draw(4) as usize];
        self.draw(most)
    }

    fn put(&mut self, entry: RankEntry) {
        self.rank.append(entry);
    }

    fn trap(&mut self, entry: RankEntry) {
        let (complete, arrived) = (&mut self.complete, &mut self.arrived);
        let clock = self.rank.trap(entry, |piece| match piece.kind {
            news::COMPLETED => {
                assert!(
                    complete.insert(piece.request, piece).is_none(),
                    "a request completes once"
                );
            }
            _ => arrived.push_back(piece),
        });
        assert!(clock >= self.clock);
        self.clock = clock;
    }

    fn message(&mut self, kind: u8, peer: u32, tag: u16, bytes: u64, request: u32) -> RankEntry {
        let mut said = vec![0; bytes.max(8) as usize];
        said[..8].copy_from_slice(&mark(self.me, tag, bytes, self.round).to_le_bytes());
        let block = self.rank.arena().say(&said).expect("room");
        RankEntry {
            kind,
            peer,
            tag,
            bytes,
            request,
            payload: block,
            ..BLANK
        }
    }

    /// Looks at what came of a receive.
    fn check(&mut self, request: u32, source: Option<u32>, tag: u16) -> u32 {
        let piece = self.complete.remove(&request).expect("it is complete");
        assert!(source.is_none_or(|source| source == piece.source) && piece.tag == tag);
        let said = self.rank.arena().copy(piece.payload);
        assert_eq!(
            said[..8],
            mark(piece.source, tag, piece.bytes, self.round).to_le_bytes()
        );
        self.rank.arena().free(piece.payload);
        if piece.had_arrived != 0 {
            let is_it = |other: &RankNews| {
                (other.source, other.tag, other.communicator) == (piece.source, tag, piece.communicator)
            };
            let first = self.arrived.iter().position(is_it).expect("it was told");
            assert_eq!(self.arrived.remove(first).unwrap().bytes, piece.bytes);
        }
        piece.source
    }

    /// All ranks make communicators of the same number, which share no rank.
    fn make(&mut self) {
        let (parts, turn) = (1 + self.draw(3) as u32, self.draw(3) as u32);
        let mut members: Vec<u32> = (0..self.ranks).filter(|rank| rank % parts == self.me % parts).collect();
        if turn > 0 {
            let by = turn as usize % members.len();
            members.rotate_left(by);
        }
        let own = members.iter().position(|&rank| rank == self.me).unwrap();
        self.groups.push((false, members, own as u32));
    }

    /// One of the communicators, which the rank has spoken of when it uses it: its number, its ranks, and its own number in it.
    fn group(&mut self) -> (u32, Vec<u32>, u32) {
        let which = self.draw(self.groups.len() as u64) as usize;
        let (told, members, own) = &mut self.groups[which];
        let (number, group) = (3 * which as u32, (members.clone(), *own));
        if !std::mem::replace(told, true) {
            let said: Vec<u8> = members.iter().flat_map(|rank| rank.to_le_bytes()).collect();
            let block = self.rank.arena().say(&said).expect("room");
            self.trap(RankEntry {
                kind: kind::COMMUNICATOR,
                communicator: number,
                bytes: said.len() as u64,
                payload: block,
                ..BLANK
            });
            self.rank.arena().free(block);
        }
        (number, group.0, group.1)
    }

    fn shift(&mut self) {
        let (communicator, members, own) = self.group();
        let size = members.len() as u32;
        if size < 2 {
            return;
        }
        let by = 1 + self.draw(u64::from(size) - 1) as u32;
        let [to, from] = [own + by, own + size - by].map(|number| members[(number % size) as usize]);
        let (tag, sizes) = (self.draw(50) as u16, [self.bytes(), self.bytes()]);
        let bytes = sizes[(self.me % 2) as usize];
        let (how, late) = (self.draw(6), self.draw(2) == 1);
        let receive = |kind, request| RankEntry {
            kind,
            peer: from,
            tag,
            bytes: 1 << 20,
            request,
            communicator,
            ..BLANK
        };
        if how == 0 {
            let send = self.message(kind::SENDRECV, to, tag, bytes, BLOCKING);
            self.put(RankEntry { communicator, ..send });
            self.trap(receive(kind::RECV, BLOCKING));
            self.check(BLOCKING, Some(from), tag);
            return;
        }
        if !late {
            self.put(receive(kind::IRECV, 3));
        }
        let mut send = self.message(kind::ISEND, to, tag, bytes, 4);
        send.communicator = communicator;
        if how == 1 {
            send.flags = flag::SYNCHRONOUS;
        }
        self.put(send);
        if late && how == 2 {
            // A probe: its message is not taken by looking.
            while !self
                .arrived
                .iter()
                .any(|piece| (piece.source, piece.tag, piece.communicator) == (from, tag, communicator))
            {
                self.trap(RankEntry {
                    kind: kind::WAIT_NEWS,
                    ..BLANK
                });
            }
        }
        if late {
            self.put(receive(kind::IRECV, 3));
        }
        match how {
            3 => {
                while !self.complete.contains_key(&3) {
                    self.trap(RankEntry {
                        kind: kind::POLL,
                        place: 77,
                        ..BLANK
                    });
                }
                self.trap(RankEntry {
                    kind: kind::WAIT_ALL,
                    ..BLANK
                });
            }
            4 => self.trap(RankEntry {
                kind: kind::WAIT_ALL,
                ..BLANK
            }),
            _ => {
                self.put(RankEntry {
                    kind: kind::WAIT,
                    request: 4,
                    ..BLANK
                });
                self.trap(RankEntry {
                    kind: kind::WAIT,
                    request: 3,
                    ..BLANK
                });
            }
        }
        self.check(3, Some(from), tag);
        self.complete.remove(&4).expect("the send is over");
    }

    fn incast(&mut self) {
        // Whoever is late must not be taken for one of another round.
        let (root, tag) = (self.draw(u64::from(self.ranks)) as u32, 60 + self.round as u16);
        if self.me != root {
            let bytes = 17 * u64::from(self.me) * self.round % 9_000;
            let send = self.message(kind::SEND, root, tag, bytes, BLOCKING);
            return self.trap(send);
        }
        let mut seen = vec![false; self.ranks as usize];
        for _ in 1..self.ranks {
            self.trap(RankEntry {
                kind: kind::RECV,
                peer: ANY_SOURCE,
                tag,
                bytes: 1 << 20,
                ..BLANK
            });
            let source = self.check(BLOCKING, None, tag);
            assert!(!std::mem::replace(&mut seen[source as usize], true));
        }
    }

    /// Whoever is not in a collective that has begun does this, too.
    fn meanwhile(&mut self) {
        let common = self.seed;
        self.shift();
        self.seed = des::mix(common);
    }

    fn collective(&mut self) {
        let (communicator, members, _) = self.group();
        let size = members.len() as u32;
        let (which, begins) = (self.draw(10) as u16, self.draw(2) == 1);
        let (root, bytes) = (self.draw(u64::from(size)) as u32, self.draw(3_000));
        if size < 2 {
            if begins {
                self.meanwhile();
            }
            return;
        }
        let mut entry = RankEntry {
            kind: if begins { kind::ICOLLECTIVE } else { kind::COLLECTIVE },
            request: if begins { 9 } else { BLOCKING },
            communicator,
            tag: which,
            peer: root,
            bytes,
            ..BLANK
        };
        if which == collective::ALLTOALLV {
            let sizes = (0..size).map(|to| u64::from(self.me * 31 + to * 17) % 900);
            let said: Vec<u8> = sizes.flat_map(u64::to_le_bytes).collect();
            let block = self.rank.arena().say(&said).expect("room");
            (entry.payload, entry.bytes) = (block, 0);
        }
        if begins {
            self.put(entry);
            self.meanwhile();
            if !self.complete.contains_key(&9) {
                self.trap(RankEntry {
                    kind: kind::WAIT,
                    request: 9,
                    ..BLANK
                });
            }
            assert_eq!(self.complete.remove(&9).map(|piece| piece.payload), Some(NO_PAYLOAD));
        } else {
            self.trap(entry);
        }
        if entry.payload != NO_PAYLOAD {
            self.rank.arena().free(entry.payload);
        }
    }

    fn work(mut self, rounds: u64) {
        self.trap(RankEntry {
            kind: kind::INIT,
            ..BLANK
        });
        for round in 0..rounds {
            self.round = round;
            let common = self.seed;
            let own = des::mix(common ^ u64::from(self.me));
            let compute = if own.is_multiple_of(3) { own % 3_000_000 } else { 0 };
            self.put(RankEntry {
                kind: kind::COMPUTE,
                bytes: compute,
                ..BLANK
            });
            match self.draw(9) {
                0 => self.collective(),
                1 => self.incast(),
                2 => self.make(),
                _ => self.shift(),
            }
            // All draw alike from here on, whatever the round was.
            self.seed = des::mix(common ^ round);
        }
        self.trap(RankEntry {
            kind: kind::CLOCK,
            ..BLANK
        });
        self.trap(RankEntry {
            kind: kind::FINALIZE,
            ..BLANK
        });
    }
}

fn wish(ranks: u32) -> ProgramWish {
    ProgramWish {
        command: Vec::new(),
        ranks,
        folder: None,
        computing: Arc::default(),
        poll: 100_000,
        arena: 1 << 26,
        virtual_clock: false,
    }
}

fn work(loan: &ProgramLoan, per_node: u32, mpi: MpiSpec) -> Work {
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

fn spec(work: Work, model: RouterKind) -> RunSpec {
    let mut spec = plain(TopologySpec::Torus(Lattice {
        shape: vec![3, 2],
        width: vec![1, 1],
        nodes_per_router: 1,
    }));
    spec.jobs = vec![JobSpec {
        name: "job0".into(),
        work,
        nodes: None,
        placement: Placement::Linear,
    }];
    spec.router.model = model;
    spec.control.end = None;
    spec
}

/// What must be the same.
fn told(spec: &RunSpec, engine: Engine, workers: u16) -> (String, u64, Vec<fabric::mpi::RankRow>) {
    let mut spec = spec.clone();
    (spec.control.engine, spec.control.workers) = (engine, workers);
    let result = run(&spec, &mut |_| true).unwrap_or_else(|error| panic!("{engine:?}, {workers} workers: {error}"));
    told_of(result)
}

/// What must be the same, of a result.
fn told_of(result: RunResult) -> (String, u64, Vec<fabric::mpi::RankRow>) {
    (result.summary.digest.to_string(), result.summary.events, result.ranks)
}

/// The same of a run that is saved at a time, and taken up again from there.
fn taken_up(
    spec: &RunSpec,
    engine: Engine,
    workers: u16,
    (file, at): (PathBuf, u64),
) -> (String, u64, Vec<fabric::mpi::RankRow>) {
    let mut spec = spec.clone();
    (spec.control.engine, spec.control.workers) = (engine, workers);
    let checkpoints = |every, resume| Checkpoints {
        file: file.clone(),
        every,
        resume,
    };
    let first = checkpoints(Some(Every::Simulated(Time(at.max(1)))), false);
    run_with(&spec, Some(&first), &mut |_| RunOrder::GoOn).unwrap();
    assert!(file.is_file(), "a checkpoint was written");
    told_of(run_with(&spec, Some(&checkpoints(None, true)), &mut |_| RunOrder::GoOn).unwrap())
}

/// The same of a run that ranks of the simulator share.
fn shared(spec: &RunSpec, ranks: usize) -> (String, u64, Vec<fabric::mpi::RankRow>) {
    let mut spec = spec.clone();
    (spec.control.engine, spec.control.workers) = (Engine::Conservative, 0);
    let mut ends = local::connect(ranks);
    let results: Vec<_> = std::thread::scope(|scope| {
        let runs = ends.iter_mut().map(|end| {
            let spec = &spec;
            scope.spawn(move || {
                let means = Means {
                    ranks: Some(end),
                    ..Means::default()
                };
                run_by(spec, means, &mut |_| RunOrder::GoOn).unwrap()
            })
        });
        let runs: Vec<_> = runs.collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let mut results = results.into_iter().flatten();
    told_of(results.next().expect("one of them has the result"))
}

/// Plays a program of so many ranks once; what came of it, and its log.
fn live(
    seed: u64,
    ranks: u32,
    rounds: u64,
    how: (RouterKind, &MpiSpec, Engine, u16),
    log: &std::path::Path,
) -> (String, u64, Vec<fabric::mpi::RankRow>) {
    let (model, mpi, engine, workers) = how;
    let terms = SharedTerms::plain(ranks, wish(ranks).arena);
    let (area, file) = SharedArea::create(terms).unwrap();
    let program = Arc::new(LiveProgram::on_host(wish(ranks), HostSide::new(area)));
    let threads: Vec<_> = (0..ranks)
        .map(|me| {
            let rank = RankSide::new(SharedArea::attach(file.as_fd()).unwrap(), me);
            let drawing = Drawing {
                rank,
                seed,
                me,
                ranks,
                round: 0,
                groups: vec![(true, (0..ranks).collect(), me)],
                complete: BTreeMap::new(),
                arrived: VecDeque::new(),
                clock: 0,
            };
            std::thread::spawn(move || drawing.work(rounds))
        })
        .collect();
    let loan = ProgramLoan::new(program.clone());
    let result = told(&spec(work(&loan, 2, mpi.clone()), model), engine, workers);
    for thread in threads {
        thread.join().expect("a rank came to its end");
    }
    let taken = HostSide::new(SharedArea::attach(file.as_fd()).unwrap())
        .arena()
        .taken()
        .0;
    assert_eq!(taken, 0, "every block has been given back");
    program.write_log(log, None).unwrap();
    result
}

#[test]
fn random_programs_are_one_run_on_every_engine_live_and_from_their_logs() {
    let folder = tempfile::tempdir().unwrap();
    let programs = std::env::var("FABRICSIM_PROGRAMS").map_or(12, |count| count.parse().unwrap());
    for seed in 0..programs {
        let ranks = 2 + (des::mix(seed) % 9) as u32;
        let model = [RouterKind::CREDIT, RouterKind::SCULPIN][(seed % 2) as usize];
        let mpi = MpiSpec {
            eager: Bytes([0, 2_000, 100_000][(seed % 3) as usize]),
            rendezvous: [Rendezvous::Put, Rendezvous::Get][(seed % 2) as usize],
            ..MpiSpec::default()
        };
        let log = |number: u32| folder.path().join(format!("{seed}-{number}.work"));
        let first = live(seed, ranks, 40, (model, &mpi, Engine::Sequential, 1), &log(0));
        for (number, engine, workers) in [
            (1, Engine::Conservative, 2),
            (2, Engine::Reference, 1),
            (3, Engine::Conservative, 4),
        ] {
            let again = live(seed, ranks, 40, (model, &mpi, engine, workers), &log(number));
            assert_eq!(again, first, "program {seed}, {engine:?}, {workers} workers");
            assert_eq!(
                std::fs::read(log(number)).unwrap(),
                std::fs::read(log(0)).unwrap(),
                "logs are the same"
            );
        }
        let loan = ProgramLoan::new(Arc::new(LiveProgram::new(wish(ranks))));
        let mut played = spec(work(&loan, 2, mpi), model);
        let Work::Ranks(of_ranks) = &mut played.jobs[0].work else {
            panic!("work of ranks")
        };
        of_ranks.parts[0].motif = Motif {
            kind: "trace".to_owned(),
            values: BTreeMap::from([
                ("file".to_owned(), MotifValue::Text(log(0).to_str().unwrap().to_owned())),
                ("ranks".to_owned(), MotifValue::Integer(ranks.into())),
            ]),
        };
        for (engine, workers) in [
            (Engine::Sequential, 1),
            (Engine::Reference, 1),
            (Engine::RollbackCheck, 1),
            (Engine::Conservative, 2),
            (Engine::Conservative, 4),
            (Engine::Optimistic, 2),
        ] {
            assert_eq!(
                told(&played, engine, workers),
                first,
                "the log of program {seed}, {engine:?}, {workers} workers"
            );
        }
        // To the end of the last rank, so that the time of a checkpoint is known to lie before it.
        let end = first.2.iter().map(|row| row.finished).max().unwrap();
        for (engine, workers) in [
            (Engine::Sequential, 1),
            (Engine::Conservative, 2),
            (Engine::Optimistic, 2),
        ] {
            let file = folder.path().join(format!("{seed}-{engine:?}.checkpoint"));
            assert_eq!(
                taken_up(&played, engine, workers, (file, end / 2)),
                first,
                "program {seed}, {engine:?}"
            );
        }
        for ranks in [2, 3] {
            assert_eq!(
                shared(&played, ranks),
                first,
                "program {seed}, {ranks} ranks of the simulator"
            );
        }
    }
}
