//! What ranks did in the regions of a recorded application: hand-built traces of a few ranks whose times are known.

use judge::operations::{RankTimes, RegionTimes};
use judge::run::{RunResult, run};
use std::path::Path;
use trace::collected::CollectedOperation;
use trace::formats::work::WorkWriter;
use trace::operation::NONE;
use trace::{Collected, Kind, Operation, TraceForm, TraceHeader};
use vocabulary::{LoadOptions, load_study, render};

const US: u64 = 1_000_000;
/// Regions of the traces.
const MAIN: u32 = 0;
const SOLVER: u32 = 1;
const EMPTY: u32 = 2;

/// A rank as it is written: in the region that was entered last.
#[derive(Default)]
struct Rank {
    stack: Vec<u32>,
    operations: Vec<Operation>,
}

impl Rank {
    fn enter(mut self, region: u32) -> Rank {
        self.stack.push(region);
        self.does(Operation {
            region,
            ..Operation::new(Kind::Enter)
        })
    }

    fn leave(mut self) -> Rank {
        let region = self.stack.pop().expect("a region was entered");
        self.operations.push(Operation {
            region,
            ..Operation::new(Kind::Leave)
        });
        self
    }

    fn does(mut self, operation: Operation) -> Rank {
        let region = self.stack.last().copied().unwrap_or(NONE);
        self.operations.push(Operation { region, ..operation });
        self
    }

    fn computes(self, time: u64) -> Rank {
        self.does(Operation::compute(time))
    }

    /// A call that took a time when it was recorded.
    fn calls(self, kind: Kind, peer: u32, took: u64) -> Rank {
        let operation = Operation::message(kind, peer, 1_000, 5);
        self.does(Operation {
            time: took,
            ..operation
        })
    }
}

/// Writes a trace and plays it so many times.
fn play(ranks: Vec<Rank>, iterations: u32) -> RunResult {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.work");
    let listed = |rank: Rank| {
        let of = |(record, operation)| CollectedOperation {
            record,
            operation,
            ..CollectedOperation::default()
        };
        (0..).zip(rank.operations).map(of).collect()
    };
    let trace = Collected {
        header: TraceHeader::new("test", ranks.len() as u32, TraceForm::Program),
        ranks: ranks.into_iter().map(listed).collect(),
        names: ["main", "solver<double, 3>", "empty"].map(str::to_owned).to_vec(),
    };
    let mut writer = WorkWriter::create(&path).unwrap();
    trace.tell(&mut writer).unwrap();
    let text = format!(
        "topology = {{ kind = \"single-router\", nodes = {} }}\n[[job]]\n[job.work]\nkind = \"trace\"\nfile = \"{}\"\niterations = {iterations}\n\
         [observe]\noperations = true\n",
        trace.ranks.len(),
        path.display(),
    );
    go(&text)
}

fn go(text: &str) -> RunResult {
    let study = load_study(text.as_bytes(), "s.toml", Path::new("."), &LoadOptions::default());
    let study = study.unwrap_or_else(|findings| panic!("{}", render(&findings)));
    run(&study.runs[0], &mut |_| true).unwrap_or_else(|error| panic!("{error}"))
}

fn times(result: &RunResult) -> &RankTimes {
    result.rank_times.as_ref().expect("operations were asked for")
}

fn row(result: &RunResult, rank: u32, name: &str) -> RegionTimes {
    let table = &times(result).regions;
    let found = table
        .rows
        .iter()
        .find(|row| row.rank == rank && table.name(row) == name);
    *found.unwrap_or_else(|| panic!("rank {rank} was in {name:?}"))
}

/// Rank 0 computes 30 us in its solver and sends; rank 1 waits for that in its own.
fn pair() -> Vec<Rank> {
    let sender = Rank::default()
        .computes(2 * US)
        .enter(MAIN)
        .computes(US)
        .enter(SOLVER)
        .computes(30 * US)
        .calls(Kind::Send, 1, 4 * US)
        .leave()
        .enter(EMPTY)
        .leave()
        .computes(US)
        .leave();
    let receiver = Rank::default()
        .enter(MAIN)
        .enter(SOLVER)
        .calls(Kind::Recv, 0, 50 * US)
        .leave()
        .enter(SOLVER)
        .computes(5 * US)
        .leave()
        .leave();
    vec![sender, receiver]
}

#[test]
fn a_rank_waits_in_the_region_of_its_receive_and_computes_in_that_of_its_computation() {
    let result = play(pair(), 1);
    let [outside, main, solver, empty] = ["", "main", "solver<double, 3>", "empty"].map(|name| row(&result, 0, name));
    assert_eq!((outside.computing, outside.visits), (2 * US, Some(0)));
    assert_eq!(
        (main.computing, main.waiting, main.calling, main.visits),
        (2 * US, 0, 0, Some(1))
    );
    assert_eq!((solver.computing, solver.visits), (30 * US, Some(1)));
    assert_eq!(
        (empty.computing + empty.waiting + empty.calling, empty.visits),
        (0, Some(1))
    );
    let waits = row(&result, 1, "solver<double, 3>");
    assert_eq!((waits.computing, waits.visits), (5 * US, Some(2)));
    let [wait] = times(&result).waits[..] else {
        panic!("one message, one wait")
    };
    assert_eq!(waits.waiting, wait.end - wait.begin);
    // The sender computes 33 us before it sends.
    assert!(waits.waiting > 33 * US && waits.waiting < 35 * US, "{}", waits.waiting);
    // What was recorded: the calls with their waiting.
    let recorded = |row: RegionTimes| row.recorded.map(|times| (times.computing, times.calling));
    assert_eq!(recorded(solver), Some((Some(30 * US), Some(4 * US))));
    assert_eq!(recorded(waits), Some((Some(5 * US), Some(50 * US))));
    assert_eq!(recorded(outside), Some((Some(2 * US), Some(0))));
}

#[test]
fn a_trace_that_is_played_again_was_recorded_as_often() {
    let (once, again) = (play(pair(), 1), play(pair(), 3));
    for name in ["main", "solver<double, 3>"] {
        let (once, again) = (row(&once, 0, name), row(&again, 0, name));
        assert_eq!(again.computing, 3 * once.computing);
        assert_eq!(again.visits, once.visits.map(|visits| 3 * visits));
        let [before, after] = [once, again].map(|row| row.recorded.expect("the rank is done"));
        assert_eq!(after.computing, before.computing.map(|time| 3 * time));
        assert_eq!(after.calling, before.calling.map(|time| 3 * time));
    }
}

#[test]
fn the_regions_of_a_rank_have_all_of_its_time_once() {
    let ranks = 4;
    let ring = (0..ranks).map(|rank| {
        let [next, before] = [(rank + 1) % ranks, (rank + ranks - 1) % ranks];
        let mut it = Rank::default().computes(u64::from(rank) * US);
        for step in 0..3 {
            let exchange = Operation {
                source: before,
                source_tag: 5,
                ..Operation::message(Kind::Sendrecv, next, 9_000, 5)
            };
            it = it.enter(if step == 1 { MAIN } else { SOLVER }).computes(step * US);
            it = it
                .does(exchange)
                .does(Operation::collective(Kind::Allreduce, 0, 64))
                .leave();
        }
        it
    });
    let result = play(ring.collect(), 2);
    for rank in &result.ranks {
        let own = times(&result).regions.rows.iter().filter(|row| row.rank == rank.rank);
        let own: Vec<_> = own.collect();
        let sum = |of: fn(&RegionTimes) -> u64| own.iter().map(|row| of(row)).sum::<u64>();
        let [computing, waiting, calling] = [sum(|row| row.computing), sum(|row| row.waiting), sum(|row| row.calling)];
        assert_eq!([computing, waiting], [rank.computed, rank.waited]);
        assert_eq!(computing + waiting + calling, rank.finished - rank.begun);
    }
    assert!(result.ranks.iter().any(|rank| rank.waited > 0));
    // No call was told to have taken a time.
    let recorded = times(&result).regions.rows.iter().filter_map(|row| row.recorded);
    assert!(recorded.map(|times| times.calling).all(|calling| calling.is_none()));
}

#[test]
fn work_without_regions_and_recorded_times_has_no_row() {
    let plain = vec![
        Rank::default().computes(US).calls(Kind::Send, 1, 0),
        Rank::default().calls(Kind::Recv, 0, 0),
    ];
    assert!(times(&play(plain, 1)).regions.rows.is_empty());
    let motif = "topology = { kind = \"torus\", shape = [2, 2] }\n[[job]]\n[job.work]\nkind = \"ring\"\n[observe]\noperations = true\n";
    assert!(times(&go(motif)).regions.rows.is_empty());
}
