//! What collectives and one-sided calls become.
//!
//! Where one side of a collective may leave its arguments out (`MPI_IN_PLACE`, which a file does not tell), sizes are those of the other
//! side, which MPI wants to be the same.

use super::functions as f;
use super::rank::Teller;
use super::record::CallRecord;
use crate::operation::{Kind, Operation, UNKNOWN_SIZE};
use crate::problem::ReadStop;

/// A sum of sizes, unknown if one is.
fn sum(sizes: &[u64]) -> u64 {
    let all = sizes.iter().try_fold(0u64, |all, &size| match size {
        UNKNOWN_SIZE => None,
        size => Some(all.saturating_add(size)),
    });
    all.unwrap_or(UNKNOWN_SIZE)
}

/// A collective before it is told.
struct CollectiveCall {
    kind: Kind,
    /// Numbers of the communicator and, if it has one, the root.
    comm: i64,
    root: Option<i64>,
    bytes: u64,
    received: u64,
    /// Bytes for or from each rank, if they differ.
    sizes: Option<Vec<u64>>,
}

impl CollectiveCall {
    fn new(kind: Kind, comm: i64, bytes: u64) -> CollectiveCall {
        CollectiveCall {
            kind,
            comm,
            root: None,
            bytes,
            received: 0,
            sizes: None,
        }
    }

    fn rooted(kind: Kind, comm: i64, root: i64, bytes: u64) -> CollectiveCall {
        CollectiveCall {
            root: Some(root),
            ..CollectiveCall::new(kind, comm, bytes)
        }
    }
}

impl Teller<'_, '_> {
    /// A collective call.
    pub(super) fn collective(&mut self, record: &CallRecord) -> Result<(), ReadStop> {
        let v = |i: usize| record.value(i);
        let collective = match record.function {
            f::BARRIER => CollectiveCall::new(Kind::Barrier, v(0), 0),
            f::COMM_FREE | f::COMM_DISCONNECT => CollectiveCall::new(Kind::CommFree, v(0), 0),
            f::BCAST => CollectiveCall::rooted(Kind::Bcast, v(3), v(2), self.bytes(v(0), v(1))),
            f::REDUCE => CollectiveCall::rooted(Kind::Reduce, v(4), v(3), self.bytes(v(0), v(1))),
            f::ALLREDUCE => CollectiveCall::new(Kind::Allreduce, v(3), self.bytes(v(0), v(1))),
            f::SCAN => CollectiveCall::new(Kind::Scan, v(3), self.bytes(v(0), v(1))),
            f::EXSCAN => CollectiveCall::new(Kind::Exscan, v(3), self.bytes(v(0), v(1))),
            f::ALLGATHER => CollectiveCall::new(Kind::Allgather, v(4), self.bytes(v(2), v(3))),
            f::ALLTOALL => CollectiveCall::new(Kind::Alltoall, v(4), self.bytes(v(2), v(3))),
            f::GATHER => {
                let (count, datatype) = if v(0) == v(3) { (v(5), v(6)) } else { (v(1), v(2)) };
                CollectiveCall::rooted(Kind::Gather, v(4), v(3), self.bytes(count, datatype))
            }
            f::SCATTER => {
                let (count, datatype) = if v(0) == v(3) { (v(5), v(6)) } else { (v(1), v(2)) };
                CollectiveCall::rooted(Kind::Scatter, v(4), v(3), self.bytes(count, datatype))
            }
            _ => self.uneven(record),
        };
        self.tell_collective(record, collective)
    }

    /// A collective in which sizes differ between ranks.
    fn uneven(&mut self, record: &CallRecord) -> CollectiveCall {
        let v = |i: usize| record.value(i);
        let own = |sizes: &[u64], number: i64| usize::try_from(number).ok().and_then(|i| sizes.get(i).copied());
        match record.function {
            f::GATHERV => {
                let root = v(0) == v(4);
                let sizes = root.then(|| self.sizes(record.list(0), v(6)));
                let bytes = match &sizes {
                    Some(sizes) => own(sizes, v(0)).unwrap_or_default(),
                    None => self.bytes(v(2), v(3)),
                };
                CollectiveCall {
                    sizes,
                    ..CollectiveCall::rooted(Kind::Gatherv, v(5), v(4), bytes)
                }
            }
            f::SCATTERV => {
                let root = v(0) == v(5);
                let sizes = root.then(|| self.sizes(record.list(0), v(2)));
                let received = match &sizes {
                    Some(sizes) => own(sizes, v(0)).unwrap_or_default(),
                    None => self.bytes(v(3), v(4)),
                };
                CollectiveCall {
                    sizes,
                    received,
                    ..CollectiveCall::rooted(Kind::Scatterv, v(6), v(5), 0)
                }
            }
            f::ALLGATHERV => {
                let sizes = self.sizes(record.list(0), v(3));
                let number = self.own_number(v(4));
                CollectiveCall {
                    bytes: own(&sizes, number).unwrap_or_default(),
                    sizes: Some(sizes),
                    ..CollectiveCall::new(Kind::Allgatherv, v(4), 0)
                }
            }
            f::REDUCE_SCATTER => {
                let sizes = self.sizes(record.list(0), v(1));
                let number = self.own_number(v(3));
                CollectiveCall {
                    received: own(&sizes, number).unwrap_or_default(),
                    sizes: Some(sizes),
                    ..CollectiveCall::new(Kind::ReduceScatter, v(3), 0)
                }
            }
            _ => {
                let (comm, sent, received) = match record.function {
                    f::ALLTOALLV => (v(3), self.sizes(record.list(0), v(1)), self.sizes(record.list(2), v(2))),
                    _ => (
                        v(1),
                        self.sizes_of_types(record.list(0), record.list(2)),
                        self.sizes_of_types(record.list(3), record.list(5)),
                    ),
                };
                CollectiveCall {
                    bytes: sum(&sent),
                    received: sum(&received),
                    sizes: Some(sent),
                    ..CollectiveCall::new(Kind::Alltoallv, comm, 0)
                }
            }
        }
    }

    fn sizes(&mut self, counts: &[i32], datatype: i64) -> Vec<u64> {
        counts.iter().map(|&count| self.bytes(count.into(), datatype)).collect()
    }

    fn sizes_of_types(&mut self, counts: &[i32], types: &[i32]) -> Vec<u64> {
        let pairs = counts.iter().zip(types);
        pairs
            .map(|(&count, &datatype)| self.bytes(count.into(), datatype.into()))
            .collect()
    }

    /// The rank's own number in a communicator.
    fn own_number(&self, comm: i64) -> i64 {
        self.comms.get(&comm).map_or(0, |mine| mine.number.into())
    }

    fn tell_collective(&mut self, record: &CallRecord, collective: CollectiveCall) -> Result<(), ReadStop> {
        let Some(comm) = self.comm(collective.comm) else {
            return Ok(());
        };
        // With nobody else there is nothing to do.
        let Some((communicator, members)) = self.known(comm) else {
            return Ok(());
        };
        let mut operation = Operation {
            received: collective.received,
            ..Operation::collective(collective.kind, communicator, collective.bytes)
        };
        if let Some(root) = collective.root {
            match u32::try_from(root) {
                Ok(root) if root < members => operation.peer = root,
                _ => {
                    self.problem(
                        format!("the root {root} is no rank of the communicator"),
                        "the call is left out",
                    );
                    return Ok(());
                }
            }
        }
        let mut sizes = collective.sizes.unwrap_or_default();
        if !sizes.is_empty() && sizes.len() != members as usize {
            let reason = format!(
                "{} sizes are told, and the communicator has {members} ranks",
                sizes.len()
            );
            self.problem(reason, "those that are not told are taken as 0");
            sizes.resize(members as usize, 0);
        }
        self.tell(record, operation, &sizes)
    }

    /// A window is made, its accesses end, or it is given up: all ranks meet.
    pub(super) fn window(&mut self, record: &CallRecord) -> Result<(), ReadStop> {
        let v = |i: usize| record.value(i);
        let mine = match record.function {
            f::WIN_CREATE => {
                let mine = self.comm(v(3));
                match mine {
                    Some(mine) => self.windows.insert(v(4), mine),
                    None => self.windows.remove(&v(4)),
                };
                mine
            }
            f::WIN_FREE => self.windows.remove(&v(0)),
            _ => self.windows.get(&v(1)).copied(),
        };
        match mine.and_then(|mine| self.known(mine)) {
            Some((communicator, _)) => self.tell(record, Operation::collective(Kind::Barrier, communicator, 0), &[]),
            None => Ok(()),
        }
    }

    /// Reads or writes the memory of another rank.
    pub(super) fn one_sided(&mut self, record: &CallRecord) -> Result<(), ReadStop> {
        let v = |i: usize| record.value(i);
        let window = if record.function == f::ACCUMULATE { v(7) } else { v(6) };
        let kind = if record.function == f::GET {
            Kind::Get
        } else {
            Kind::Put
        };
        let Some(&mine) = self.windows.get(&window) else {
            let reason = format!("who shares the window {window} is not known");
            self.problem_once(("window", window), reason, "what goes through it is left out");
            return Ok(());
        };
        if v(2) < 0 {
            return Ok(());
        }
        let Some(peer) = self.peer(mine, v(2)) else {
            return Ok(());
        };
        let operation = Operation {
            communicator: Self::number(mine),
            ..Operation::message(kind, peer, self.bytes(v(0), v(1)), 0)
        };
        self.tell(record, operation, &[])
    }
}
