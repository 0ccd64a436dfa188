//! Random tables of operations, written as formats have them that nobody else writes here: what is read is what was written.

use crate::reading::{self, of, received, rooted, with_request};
use crate::samples::dumpi::Arg::{B, H, I, Is, S};
use crate::samples::{dumpi, liballprof};
use proptest::prelude::*;
use std::ops::Range;
use trace::operation::{ANY_SOURCE, ANY_TAG, NONE};
use trace::{Collected, Kind, Mode, Operation};

/// Datatypes: size, the number of DUMPI's, that of liballprof's.
const DATATYPES: [(u64, u16, u32); 5] = [(1, 5, 20), (2, 7, 3), (4, 9, 1), (8, 14, 11), (16, 15, 13)];

/// So many elements of a datatype.
#[derive(Clone, Copy, Debug)]
struct Elements {
    count: u32,
    datatype: usize,
}

impl Elements {
    fn bytes(self) -> u64 {
        u64::from(self.count) * DATATYPES[self.datatype].0
    }

    fn of_dumpi(self) -> [dumpi::Arg; 2] {
        [I(self.count as i32), H(DATATYPES[self.datatype].1)]
    }

    fn of_liballprof(self) -> String {
        let (size, _, number) = DATATYPES[self.datatype];
        format!("{}:{number},{size},{size}", self.count)
    }
}

/// A message at one of its ends.
#[derive(Clone, Copy, Debug)]
struct End {
    peer: u32,
    tag: u32,
    what: Elements,
    /// Of a send: it is synchronous. Of a receive: it may be from anybody with any tag.
    special: bool,
}

/// What a rank does.
#[derive(Clone, Debug)]
enum Does {
    /// Sends, with a request if it does not wait.
    Send(End, Option<u32>),
    /// Receives, in the same way.
    Recv(End, Option<u32>),
    /// Does both at once.
    Sendrecv(End, End),
    /// Waits for a request.
    Wait(u32),
    /// Waits for neighbouring requests.
    Waitall(Range<u32>),
    /// With all ranks.
    Collective(Kind, u32, Elements),
}

/// A row: how long the rank has computed before, how long the call takes (ns), and what it is.
type Row = (u64, u64, Does);

/// Requests of a rank: what receives that are under way get, by the number of the request.
type OpenRequests = Vec<Option<Option<End>>>;

/// Takes the lowest number that is free, which is how programs use their places.
fn open(requests: &mut OpenRequests, receives: Option<End>) -> u32 {
    let free = requests.iter().position(Option::is_none);
    let slot = free.unwrap_or_else(|| {
        requests.push(None);
        requests.len() - 1
    });
    requests[slot] = Some(receives);
    slot as u32
}

/// The first requests that are neighbours and open, at most so many.
fn neighbours(requests: &OpenRequests, most: usize) -> Option<Range<u32>> {
    let first = requests.iter().position(Option::is_some)?;
    let n = requests[first..]
        .iter()
        .take(most)
        .take_while(|open| open.is_some())
        .count();
    Some(first as u32..(first + n) as u32)
}

const COLLECTIVES: [Kind; 9] = [
    Kind::Barrier,
    Kind::Bcast,
    Kind::Reduce,
    Kind::Allreduce,
    Kind::Scan,
    Kind::Gather,
    Kind::Scatter,
    Kind::Allgather,
    Kind::Alltoall,
];

/// Random programs of ranks whose messages match and whose requests all end.
fn tables() -> impl Strategy<Value = Vec<Vec<Row>>> {
    let words = proptest::collection::vec((any::<u64>(), any::<u64>()), 1..40);
    (2u32..6, words).prop_map(|(ranks, words)| {
        let mut table: Vec<Vec<Row>> = vec![Vec::new(); ranks as usize];
        let mut requests: Vec<OpenRequests> = vec![Vec::new(); ranks as usize];
        for (one, two) in words {
            let pick = |shift: u32, n: u64| (two >> shift) % n;
            let mut put = |rank: u32, does| {
                let word = one.rotate_left(7 * rank) ^ two;
                // Some calls follow each other at once.
                let gap = if word & 7 == 0 { 0 } else { (word >> 3) % 2_000_000 };
                table[rank as usize].push((gap, 1 + (word >> 27) % 3_000_000, does));
            };
            let from = pick(0, ranks.into()) as u32;
            let to = (from + 1 + pick(8, u64::from(ranks) - 1) as u32) % ranks;
            let what = Elements {
                count: pick(16, 5_000) as u32,
                datatype: pick(30, 5) as usize,
            };
            let end = |peer, special| End {
                peer,
                tag: pick(36, 32_000) as u32,
                what,
                special,
            };
            match one % 8 {
                0..=3 => {
                    let (sends, receives) = (end(to, one & 16 != 0), end(from, one & 32 != 0));
                    let request = (one & 64 != 0).then(|| open(&mut requests[from as usize], None));
                    put(from, Does::Send(sends, request));
                    let request = (one & 128 != 0).then(|| open(&mut requests[to as usize], Some(receives)));
                    put(to, Does::Recv(receives, request));
                }
                4 => {
                    put(from, Does::Sendrecv(end(to, false), end(to, false)));
                    put(to, Does::Sendrecv(end(from, false), end(from, false)));
                }
                5 | 6 => {
                    let own = &mut requests[from as usize];
                    let Some(ends) = neighbours(own, 1 + (one >> 8) as usize % 4) else {
                        continue;
                    };
                    own[ends.start as usize..ends.end as usize].fill(None);
                    put(
                        from,
                        if ends.len() == 1 {
                            Does::Wait(ends.start)
                        } else {
                            Does::Waitall(ends)
                        },
                    );
                }
                _ => {
                    let kind = COLLECTIVES[(one >> 8) as usize % COLLECTIVES.len()];
                    (0..ranks).for_each(|rank| put(rank, Does::Collective(kind, to, what)));
                }
            }
        }
        for (rank, requests) in table.iter_mut().zip(&mut requests) {
            while let Some(ends) = neighbours(requests, usize::MAX) {
                requests[ends.start as usize..ends.end as usize].fill(None);
                rank.push((5, 7, Does::Waitall(ends)));
            }
        }
        table
    })
}

/// How long it is from the last call to the end (ns).
const LAST: u64 = 4_321;

/// What a table is in a trace: times in ps from the `begin`, requests as the format names them; `told` is whether it tells from whom a
/// receive of any was.
fn expected(rows: &[Row], (begin, first): (u64, u32), told: bool) -> Vec<(Operation, Vec<u64>)> {
    let mut now = 1000 * begin;
    let mut all = Vec::new();
    let compute = |start: u64, gap: u64| {
        let computed = Operation {
            start,
            ..Operation::compute(1000 * gap)
        };
        (gap > 0).then_some((computed, Vec::new()))
    };
    for (gap, took, does) in rows {
        all.extend(compute(now, *gap));
        now += 1000 * gap;
        let (operation, list) = does.expected(first, told);
        all.push((
            Operation {
                start: now,
                time: 1000 * took,
                ..operation
            },
            list,
        ));
        now += 1000 * took;
    }
    all.extend(compute(now, LAST));
    all
}

impl Does {
    fn expected(&self, first: u32, told: bool) -> (Operation, Vec<u64>) {
        let named = |operation, request: &Option<u32>| match request {
            Some(request) => with_request(operation, first + request),
            None => operation,
        };
        let plain = |operation| (operation, Vec::new());
        match self {
            Does::Send(end, request) => {
                let kind = if request.is_some() { Kind::Isend } else { Kind::Send };
                let mode = if end.special { Mode::Synchronous } else { Mode::Standard };
                let operation = Operation::message(kind, end.peer, end.what.bytes(), end.tag);
                plain(named(Operation { mode, ..operation }, request))
            }
            Does::Recv(end, request) => {
                let kind = if request.is_some() { Kind::Irecv } else { Kind::Recv };
                let (mut peer, mut tag, mut came) = (end.peer, end.tag, (NONE, 0));
                if end.special {
                    if told {
                        came = (peer, tag);
                    }
                    (peer, tag) = (ANY_SOURCE, ANY_TAG);
                }
                let operation = Operation::message(kind, peer, end.what.bytes(), tag);
                plain(named(
                    Operation {
                        source: came.0,
                        source_tag: came.1,
                        ..operation
                    },
                    request,
                ))
            }
            Does::Sendrecv(to, from) => {
                let sends = Operation::message(Kind::Sendrecv, to.peer, to.what.bytes(), to.tag);
                plain(Operation {
                    source: from.peer,
                    source_tag: from.tag,
                    ..received(from.what.bytes(), sends)
                })
            }
            Does::Wait(request) => plain(with_request(Operation::new(Kind::Wait), first + request)),
            Does::Waitall(ends) => {
                let list = ends.clone().map(|request| u64::from(first + request)).collect();
                (Operation::new(Kind::Waitall), list)
            }
            Does::Collective(kind, root, what) => plain(match kind {
                Kind::Barrier => of(*kind, 0),
                Kind::Bcast | Kind::Reduce | Kind::Gather | Kind::Scatter => rooted(*kind, what.bytes(), *root),
                _ => of(*kind, what.bytes()),
            }),
        }
    }
}

/// Requests of DUMPI are numbers from here on.
const FIRST_REQUEST: u32 = 2;

/// The calls of DUMPI that a rank makes.
fn of_dumpi(rank: u32, rows: &[Row]) -> Vec<dumpi::TimedCall> {
    // What a status says of each request.
    let mut statuses = vec![(0, 0, 0); rows.len()];
    let mut calls = vec![(0, dumpi::CALL, (124, vec![I(0)]))];
    let name = |request: u32| (FIRST_REQUEST + request) as i32;
    let filled = |end: &End| (end.what.bytes() as i32, end.peer as i32, end.tag as i32);
    let world = || H(2);
    for (gap, took, does) in rows {
        let call = match does {
            Does::Send(end, request) => {
                let function = match (end.special, request) {
                    (false, None) => 0,
                    (true, None) => 4,
                    (false, Some(_)) => 8,
                    (true, Some(_)) => 10,
                };
                let mut arguments = end.what.of_dumpi().to_vec();
                arguments.extend([I(end.peer as i32), I(end.tag as i32), world()]);
                if let Some(request) = request {
                    statuses[*request as usize] = (0, 0, 0);
                    arguments.push(I(name(*request)));
                }
                (function, arguments)
            }
            Does::Recv(end, request) => {
                let mut arguments = end.what.of_dumpi().to_vec();
                let any = |value: u32| I(if end.special { -1 } else { value as i32 });
                arguments.extend([any(end.peer), any(end.tag), world()]);
                let Some(request) = request else {
                    arguments.push(S(vec![filled(end)]));
                    calls.push((*gap, *took, (1, arguments)));
                    continue;
                };
                statuses[*request as usize] = filled(end);
                arguments.push(I(name(*request)));
                (12, arguments)
            }
            Does::Sendrecv(to, from) => {
                let mut arguments = to.what.of_dumpi().to_vec();
                arguments.extend([I(to.peer as i32), I(to.tag as i32)]);
                arguments.extend(from.what.of_dumpi());
                arguments.extend([I(from.peer as i32), I(from.tag as i32), world(), S(vec![filled(from)])]);
                (33, arguments)
            }
            Does::Wait(request) => (13, vec![I(name(*request)), S(vec![statuses[*request as usize]])]),
            Does::Waitall(ends) => {
                let names: Vec<i32> = ends.clone().map(name).collect();
                let filled = statuses[ends.start as usize..ends.end as usize].to_vec();
                (18, vec![I(names.len() as i32), Is(names), S(filled)])
            }
            Does::Collective(kind, root, what) => collective_of_dumpi(rank, *kind, *root, *what),
        };
        calls.push((*gap, *took, call));
    }
    calls.push((LAST, dumpi::CALL, (125, vec![])));
    calls
}

fn collective_of_dumpi(rank: u32, kind: Kind, root: u32, what: Elements) -> dumpi::Call {
    let ([count, datatype], world, sum) = (what.of_dumpi(), H(2), B(3));
    let root = I(root as i32);
    let twice = || what.of_dumpi().into_iter().chain(what.of_dumpi());
    match kind {
        Kind::Barrier => (52, vec![world]),
        Kind::Bcast => (53, vec![count, datatype, root, world]),
        Kind::Reduce => (62, vec![count, datatype, sum, root, world]),
        Kind::Allreduce => (65, vec![count, datatype, sum, world]),
        Kind::Scan => (67, vec![count, datatype, sum, world]),
        Kind::Allgather => (58, twice().chain([world]).collect()),
        Kind::Alltoall => (60, twice().chain([world]).collect()),
        // Of the root alone the other half of the sizes is told.
        Kind::Gather | Kind::Scatter => {
            let function = if kind == Kind::Gather { 54 } else { 56 };
            let is_root = matches!(root, I(number) if number == rank as i32);
            let mut arguments = vec![I(rank as i32), count, datatype, root, world];
            if is_root {
                arguments.extend(what.of_dumpi());
            }
            (function, arguments)
        }
        other => unreachable!("{other:?} is not among the collectives here"),
    }
}

/// Places of requests are 8 B apart from here on.
const PLACES: u32 = 6_166_720;

/// The calls of liballprof that a rank of so many makes.
fn of_liballprof(rank: u32, ranks: usize, rows: &[Row]) -> Vec<liballprof::TimedCall> {
    let world = format!("0,{rank},{ranks}");
    let place = |request: u32| PLACES + 8 * request;
    let line = |does: &Does| match does {
        Does::Send(
            End {
                peer,
                tag,
                what,
                special,
            },
            request,
        ) => {
            let mode = if *special { "s" } else { "" };
            let what = what.of_liballprof();
            match request {
                Some(request) => format!("MPI_I{mode}send:140:{what}:{peer}:{tag}:{world}:{}", place(*request)),
                None => format!(
                    "MPI_{}:140:{what}:{peer}:{tag}:{world}",
                    if *special { "Ssend" } else { "Send" }
                ),
            }
        }
        Does::Recv(
            End {
                peer,
                tag,
                what,
                special,
            },
            request,
        ) => {
            let who = if *special {
                "-1:-1".to_owned()
            } else {
                format!("{peer}:{tag}")
            };
            let what = what.of_liballprof();
            match request {
                Some(request) => format!("MPI_Irecv:140:{what}:{who}:{world}:{}", place(*request)),
                None => format!("MPI_Recv:140:{what}:{who}:{world}:8192"),
            }
        }
        Does::Sendrecv(to, from) => format!(
            "MPI_Sendrecv:140:{}:{}:{}:280:{}:{}:{}:{world}:8192",
            to.what.of_liballprof(),
            to.peer,
            to.tag,
            from.what.of_liballprof(),
            from.peer,
            from.tag
        ),
        Does::Wait(request) => format!("MPI_Wait:{}:0", place(*request)),
        Does::Waitall(ends) => format!("MPI_Waitall:{}:{}:5839040", ends.len(), place(ends.start)),
        Does::Collective(kind, root, what) => collective_of_liballprof(*kind, *root, *what, &world),
    };
    rows.iter().map(|(gap, took, does)| (*gap, *took, line(does))).collect()
}

fn collective_of_liballprof(kind: Kind, root: u32, what: Elements, world: &str) -> String {
    let what = what.of_liballprof();
    match kind {
        Kind::Barrier => format!("MPI_Barrier:{world}"),
        Kind::Bcast => format!("MPI_Bcast:140:{what}:{root}:{world}"),
        Kind::Reduce => format!("MPI_Reduce:140:280:{what}:3:{root}:{world}"),
        Kind::Allreduce => format!("MPI_Allreduce:140:280:{what}:3:{world}"),
        Kind::Scan => format!("MPI_Scan:140:280:{what}:3:{world}"),
        Kind::Gather => format!("MPI_Gather:140:{what}:280:{what}:{root}:{world}"),
        Kind::Scatter => format!("MPI_Scatter:140:{what}:280:{what}:{root}:{world}"),
        Kind::Allgather => format!("MPI_Allgather:140:{what}:280:{what}:{world}"),
        Kind::Alltoall => format!("MPI_Alltoall:140:{what}:280:{what}:{world}"),
        other => unreachable!("{other:?} is not among the collectives here"),
    }
}

fn read(files: &[(String, Vec<u8>)]) -> Collected {
    let (trace, words) = reading::read_files(files, &files[0].0).expect("it can be read");
    assert_eq!(words, [""; 0]);
    trace
}

/// What was read of a rank.
fn said(trace: &Collected, rank: usize) -> Vec<(Operation, Vec<u64>)> {
    let listed = trace.ranks[rank].iter();
    listed.map(|listed| (listed.operation, listed.values.clone())).collect()
}

/// Requests named by the operation that begins them, whatever the trace calls them.
fn named_by_begin(mut all: Vec<(Operation, Vec<u64>)>) -> Vec<(Operation, Vec<u64>)> {
    let mut begun = std::collections::BTreeMap::new();
    for (number, (operation, list)) in (0..).zip(&mut all) {
        if matches!(operation.kind, Kind::Isend | Kind::Irecv) {
            begun.insert(operation.request, number);
        }
        if operation.request != NONE {
            operation.request = begun[&operation.request];
        }
        list.iter_mut()
            .for_each(|request| *request = begun[&(*request as u32)].into());
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn tables_written_as_dumpi_are_read_back(table in tables()) {
        let calls = (0..).zip(&table).map(|(rank, rows)| of_dumpi(rank, rows));
        let files = calls.map(|calls| dumpi::Writer::default().timed_file(&calls)).collect();
        let trace = read(&dumpi::Writer::beside(files));
        prop_assert_eq!(trace.ranks.len(), table.len());
        for (rank, rows) in table.iter().enumerate() {
            prop_assert_eq!(said(&trace, rank), expected(rows, (dumpi::CALL, FIRST_REQUEST), true), "rank {}", rank);
        }
    }

    #[test]
    fn tables_written_as_liballprof_are_read_back(table in tables()) {
        let texts = (0..).zip(&table).map(|(rank, rows)| {
            liballprof::timed_text(rank, &of_liballprof(rank, table.len(), rows), LAST)
        });
        let trace = read(&liballprof::named(texts.collect()));
        prop_assert_eq!(trace.ranks.len(), table.len());
        for (rank, rows) in table.iter().enumerate() {
            let (read, written) = (said(&trace, rank), expected(rows, (0, 0), false));
            prop_assert_eq!(named_by_begin(read), named_by_begin(written), "rank {}", rank);
        }
    }
}
