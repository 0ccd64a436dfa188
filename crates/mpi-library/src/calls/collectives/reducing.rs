//! Operations that combine data.

use super::{
    CollectiveMeeting, CollectivePlan, CollectiveWay, Even, OperandCombiner, ToldCollective, bring, combine_places,
    combiner, combining::combined, put, three_ways,
};
use crate::{
    arguments::{BufferAddress, In},
    calls::rank_in,
    faces::Face,
    fault::{Answer, ErrorClass, fault},
    library::{Library, calls, requests::RequestPlace},
};
use coupling::entry::{NO_PAYLOAD, collective};
use std::ffi::c_int;

/// The arguments that reductions have in common.
#[derive(Clone, Copy)]
struct Reduced<F: Face> {
    sent: BufferAddress,
    got: BufferAddress,
    count: i64,
    datatype: F::Handle,
    operation: F::Handle,
}

impl<F: Face> Reduced<F> {
    /// What this process brings: what lies in the place of the result, if it says so.
    fn own(&self, library: &Library) -> Answer<RequestPlace> {
        let buffer = if self.sent.is_in_place::<F>() {
            self.got
        } else {
            self.sent
        };
        Even::<F> {
            buffer,
            count: self.count,
            datatype: self.datatype,
        }
        .one(library)
    }

    /// Where the result goes.
    fn result(&self, library: &Library) -> Answer<RequestPlace> {
        Even::<F> {
            buffer: self.got,
            count: self.count,
            datatype: self.datatype,
        }
        .one(library)
    }

    fn combiner(&self, library: &Library) -> Answer<OperandCombiner> {
        combiner::<F>(library, self.operation, self.datatype)
    }
}

/// Puts what these members brought, combined, into a place.
fn take_combined(
    library: &Library,
    meeting: &CollectiveMeeting,
    members: std::ops::Range<u32>,
    to: &RequestPlace,
    combine: &OperandCombiner,
) -> Answer {
    match combined(library, meeting, members, to, combine)? {
        Some(result) => super::copy(&result.place, to),
        None => Ok(()),
    }
}

/// What all members brought, combined once for all of them.
fn shared<'a>(
    library: &Library,
    meeting: &'a CollectiveMeeting,
    members: u32,
    like: &RequestPlace,
    combine: &OperandCombiner,
) -> Answer<&'a [u8]> {
    meeting.result(library, || {
        match combined(library, meeting, 0..members, like, combine)? {
            Some(result) => result.packed(library),
            None => Ok(NO_PAYLOAD),
        }
    })
}

fn reduce_plan<F: Face>(
    library: &Library,
    data: Reduced<F>,
    (root, comm): (c_int, F::Handle),
    way: CollectiveWay<F>,
) -> Answer {
    let comm = library.comm::<F>(comm)?;
    let root = rank_in(&comm, root, ErrorClass::Root)?;
    let combine = data.combiner(library)?;
    if comm.rank != root && data.sent.is_in_place::<F>() {
        return fault(ErrorClass::Buffer, "MPI_IN_PLACE is for the root alone");
    }
    let own = data.own(library)?;
    let to = if comm.rank == root {
        Some(data.result(library)?)
    } else {
        None
    };
    let (bytes, members) = (own.bytes(), comm.size());
    let plan = CollectivePlan {
        comm,
        name: "MPI_Reduce",
        root,
        told: ToldCollective::Operation(collective::REDUCE, root, bytes, None),
        bring: Box::new(move |library| bring(library, &own)),
        take: Box::new(move |library, meeting| {
            to.as_ref()
                .map_or(Ok(()), |to| take_combined(library, meeting, 0..members, to, &combine))
        }),
    };
    plan.go(library, way)
}

fn allreduce_plan<F: Face>(library: &Library, data: Reduced<F>, comm: F::Handle, way: CollectiveWay<F>) -> Answer {
    let comm = library.comm::<F>(comm)?;
    let combine = data.combiner(library)?;
    let (own, to) = (data.own(library)?, data.result(library)?);
    let (bytes, members) = (own.bytes(), comm.size());
    let plan = CollectivePlan {
        comm,
        name: "MPI_Allreduce",
        root: 0,
        told: ToldCollective::Operation(collective::ALLREDUCE, 0, bytes, None),
        bring: Box::new(move |library| bring(library, &own)),
        take: Box::new(move |library, meeting| put(&to, shared(library, meeting, members, &to, &combine)?)),
    };
    plan.go(library, way)
}

/// Of the combined data each member gets a part: the counts of all of them.
fn scattered_plan<F: Face>(
    library: &Library,
    data: Reduced<F>,
    counts: Vec<i64>,
    (comm, name): (F::Handle, &'static str),
    way: CollectiveWay<F>,
) -> Answer {
    let comm = library.comm::<F>(comm)?;
    for count in &counts {
        crate::calls::count(*count)?;
    }
    let combine = data.combiner(library)?;
    let all = counts.iter().sum();
    let own = Reduced { count: all, ..data }.own(library)?;
    let rank = comm.rank as usize;
    let to = Reduced {
        count: counts[rank],
        ..data
    }
    .result(library)?;
    let (size, members) = (own.of.size, comm.size());
    let start = (counts[..rank].iter().sum::<i64>() * size) as usize;
    let end = start + to.bytes() as usize;
    let like = own.clone();
    let plan = CollectivePlan {
        comm,
        name,
        root: 0,
        told: ToldCollective::Operation(
            collective::REDUCE_SCATTER,
            0,
            own.bytes().div_ceil(members.into()),
            None,
        ),
        bring: Box::new(move |library| bring(library, &own)),
        take: Box::new(move |library, meeting| {
            let all = shared(library, meeting, members, &like, &combine)?;
            if all.is_empty() {
                Ok(())
            } else {
                put(&to, &all[start..end])
            }
        }),
    };
    plan.go(library, way)
}

/// Each member gets what those up to it brought, combined; with or without itself.
fn scan_plan<F: Face>(
    library: &Library,
    data: Reduced<F>,
    comm: F::Handle,
    with_itself: bool,
    way: CollectiveWay<F>,
) -> Answer {
    let comm = library.comm::<F>(comm)?;
    let combine = data.combiner(library)?;
    let own = data.own(library)?;
    let members = 0..comm.rank + u32::from(with_itself);
    // The first gets nothing where itself does not count.
    let to = if members.is_empty() {
        None
    } else {
        Some(data.result(library)?)
    };
    let bytes = own.bytes();
    let plan = CollectivePlan {
        comm,
        name: if with_itself { "MPI_Scan" } else { "MPI_Exscan" },
        root: 0,
        told: ToldCollective::Rounds(bytes),
        bring: Box::new(move |library| bring(library, &own)),
        take: Box::new(move |library, meeting| {
            to.as_ref().map_or(Ok(()), |to| {
                take_combined(library, meeting, members.clone(), to, &combine)
            })
        }),
    };
    plan.go(library, way)
}

macro_rules! reduced {
    ($sent:ident $got:ident $count:expr, $datatype:ident $operation:ident) => {
        Reduced::<F> {
            sent: $sent,
            got: $got,
            count: $count,
            datatype: $datatype,
            operation: $operation,
        }
    };
}

three_ways! {
    /// Combines what all have, at the root.
    reduce "MPI_Reduce", ireduce "MPI_Ireduce", reduce_init "MPI_Reduce_init" <N>(
        sent: BufferAddress, got: BufferAddress, count: N, datatype: F::Handle, operation: F::Handle, root: c_int, comm: F::Handle,
    ) |library, way| reduce_plan::<F>(library, reduced!(sent got count.get(), datatype operation), (root, comm), way);

    /// Combines what all have, everywhere.
    allreduce "MPI_Allreduce", iallreduce "MPI_Iallreduce", allreduce_init "MPI_Allreduce_init" <N>(
        sent: BufferAddress, got: BufferAddress, count: N, datatype: F::Handle, operation: F::Handle, comm: F::Handle,
    ) |library, way| allreduce_plan::<F>(library, reduced!(sent got count.get(), datatype operation), comm, way);

    /// Combines what all have; each gets a part.
    reduce_scatter "MPI_Reduce_scatter", ireduce_scatter "MPI_Ireduce_scatter", reduce_scatter_init "MPI_Reduce_scatter_init" <N>(
        sent: BufferAddress, got: BufferAddress, counts: In<N>, datatype: F::Handle, operation: F::Handle, comm: F::Handle,
    ) |library: &Library, way| {
        let counts = counts.wide(library.comm::<F>(comm)?.size().into())?;
        scattered_plan::<F>(library, reduced!(sent got 0, datatype operation), counts, (comm, "MPI_Reduce_scatter"), way)
    };

    /// Combines what all have; each gets a part of the same size.
    reduce_scatter_block "MPI_Reduce_scatter_block", ireduce_scatter_block "MPI_Ireduce_scatter_block",
    reduce_scatter_block_init "MPI_Reduce_scatter_block_init" <N>(
        sent: BufferAddress, got: BufferAddress, count: N, datatype: F::Handle, operation: F::Handle, comm: F::Handle,
    ) |library: &Library, way| {
        let counts = vec![count.get(); library.comm::<F>(comm)?.size() as usize];
        scattered_plan::<F>(library, reduced!(sent got 0, datatype operation), counts, (comm, "MPI_Reduce_scatter_block"), way)
    };

    /// Combines what those up to this process have.
    scan "MPI_Scan", iscan "MPI_Iscan", scan_init "MPI_Scan_init" <N>(
        sent: BufferAddress, got: BufferAddress, count: N, datatype: F::Handle, operation: F::Handle, comm: F::Handle,
    ) |library, way| scan_plan::<F>(library, reduced!(sent got count.get(), datatype operation), comm, true, way);

    /// Combines what those before this process have.
    exscan "MPI_Exscan", iexscan "MPI_Iexscan", exscan_init "MPI_Exscan_init" <N>(
        sent: BufferAddress, got: BufferAddress, count: N, datatype: F::Handle, operation: F::Handle, comm: F::Handle,
    ) |library, way| scan_plan::<F>(library, reduced!(sent got count.get(), datatype operation), comm, false, way);
}

calls! {
    /// Combines two buffers of this process: the second is the result.
    reduce_local<N> = "MPI_Reduce_local"(left: BufferAddress, right: BufferAddress, count: N, datatype: F::Handle, operation: F::Handle) |library| {
        library.running()?;
        combine_places::<F>(library, (left, right), count.get(), (datatype, operation))
    };
}
