//! Operations that move data: from one to all, from all to one, from all to all.

use super::{CollectivePlan, CollectiveWay, ToldCollective, bring, bring_many, bring_nothing, put, three_ways};
use crate::{
    arguments::{BufferAddress, Count, In},
    calls::{followed, part_of_buffer, place, rank_in},
    communicators::Comm,
    faces::Face,
    fault::{Answer, ErrorClass},
    library::{Library, requests::RequestPlace},
};
use coupling::entry::collective;
use std::{ffi::c_int, rc::Rc};

/// The same buffer again and again: a part for each member.
#[derive(Clone, Copy)]
pub(in crate::calls) struct Even<F: Face> {
    pub buffer: BufferAddress,
    pub count: i64,
    pub datatype: F::Handle,
}

/// Parts of a buffer by counts and displacements in extents.
#[derive(Clone, Copy)]
pub(in crate::calls) struct Uneven<F: Face, N: Count> {
    pub buffer: BufferAddress,
    pub counts: In<N>,
    pub displacements: In<N>,
    pub datatype: F::Handle,
}

/// Parts of a buffer by counts, displacements in bytes, and datatypes.
#[derive(Clone, Copy)]
pub(in crate::calls) struct Mixed<F: Face, N: Count, D: Count> {
    pub buffer: BufferAddress,
    pub counts: In<N>,
    pub displacements: In<D>,
    pub datatypes: In<F::Handle>,
}

/// A buffer of which each member has its part.
pub(in crate::calls) trait BlockParts<F: Face> {
    /// Whether the data are in the place of the results.
    fn in_place(&self) -> bool;
    /// The parts.
    fn parts(&self, library: &Library, members: u32) -> Answer<Vec<RequestPlace>>;
    /// The name of the operation, by the form of its arguments.
    fn name(&self, names: [&'static str; 3]) -> &'static str;
}

impl<F: Face> Even<F> {
    /// The part of one.
    pub fn one(&self, library: &Library) -> Answer<RequestPlace> {
        place::<F>(library, self.buffer, self.count, self.datatype)
    }
}

impl<F: Face> BlockParts<F> for Even<F> {
    fn in_place(&self) -> bool {
        self.buffer.is_in_place::<F>()
    }

    fn parts(&self, library: &Library, members: u32) -> Answer<Vec<RequestPlace>> {
        let first = self.one(library)?;
        let step = first.count * first.of.extent();
        Ok((0..i64::from(members))
            .map(|member| first.part(member.wrapping_mul(step), first.count))
            .collect())
    }

    fn name(&self, names: [&'static str; 3]) -> &'static str {
        names[0]
    }
}

impl<F: Face, N: Count> BlockParts<F> for Uneven<F, N> {
    fn in_place(&self) -> bool {
        self.buffer.is_in_place::<F>()
    }

    fn parts(&self, library: &Library, members: u32) -> Answer<Vec<RequestPlace>> {
        let counts = self.counts.wide(members.into())?;
        let displacements = self.displacements.wide(members.into())?;
        let part = |(count, displacement): (i64, i64)| {
            let whole = part_of_buffer::<F>(library, self.buffer, count, self.datatype)?;
            let part = whole.part(displacement.wrapping_mul(whole.of.extent()), count);
            followed(&part).map(|()| part)
        };
        counts.into_iter().zip(displacements).map(part).collect()
    }

    fn name(&self, names: [&'static str; 3]) -> &'static str {
        names[1]
    }
}

impl<F: Face, N: Count, D: Count> BlockParts<F> for Mixed<F, N, D> {
    fn in_place(&self) -> bool {
        self.buffer.is_in_place::<F>()
    }

    fn parts(&self, library: &Library, members: u32) -> Answer<Vec<RequestPlace>> {
        let counts = self.counts.wide(members.into())?;
        let displacements = self.displacements.wide(members.into())?;
        let datatypes = self.datatypes.list(members.into())?;
        let part = |((count, displacement), datatype): ((i64, i64), F::Handle)| {
            // Of a part that is empty the datatype says nothing.
            let datatype = if count == 0 { F::handle(F::C.byte) } else { datatype };
            let part = part_of_buffer::<F>(library, self.buffer, count, datatype)?.part(displacement, count);
            followed(&part).map(|()| part)
        };
        counts.into_iter().zip(displacements).zip(datatypes).map(part).collect()
    }

    fn name(&self, names: [&'static str; 3]) -> &'static str {
        names[2]
    }
}

/// Bytes of a part, on average.
fn average(parts: &[RequestPlace]) -> u64 {
    parts
        .iter()
        .map(RequestPlace::bytes)
        .sum::<u64>()
        .div_ceil(parts.len().max(1) as u64)
}

fn bcast_plan<F: Face>(
    library: &Library,
    data: Even<F>,
    (root, comm): (c_int, F::Handle),
    way: CollectiveWay<F>,
) -> Answer {
    let comm = library.comm::<F>(comm)?;
    let root = rank_in(&comm, root, ErrorClass::Root)?;
    let place = data.one(library)?;
    let (is_root, bytes, sent) = (comm.rank == root, place.bytes(), place.clone());
    let plan = CollectivePlan {
        comm,
        name: "MPI_Bcast",
        root,
        told: ToldCollective::Operation(collective::BCAST, root, bytes, None),
        bring: if is_root {
            Box::new(move |library| bring(library, &sent))
        } else {
            Box::new(bring_nothing)
        },
        take: Box::new(move |library, meeting| {
            if is_root {
                Ok(())
            } else {
                put(&place, meeting.data(library, root)?)
            }
        }),
    };
    plan.go(library, way)
}

/// From all to one.
fn gather_plan<F: Face>(
    library: &Library,
    sent: Even<F>,
    got: &impl BlockParts<F>,
    on: (c_int, F::Handle),
    way: CollectiveWay<F>,
) -> Answer {
    let comm = library.comm::<F>(on.1)?;
    let root = rank_in(&comm, on.0, ErrorClass::Root)?;
    let (is_root, rank) = (comm.rank == root, comm.rank);
    let places = if is_root {
        got.parts(library, comm.size())?
    } else {
        Vec::new()
    };
    let in_place = is_root && sent.in_place();
    let own = if in_place { None } else { Some(sent.one(library)?) };
    let bytes = own
        .as_ref()
        .map_or_else(|| places[rank as usize].bytes(), RequestPlace::bytes);
    let plan = CollectivePlan {
        comm,
        name: got.name(["MPI_Gather", "MPI_Gatherv", ""]),
        root,
        told: ToldCollective::Operation(collective::GATHER, root, bytes, None),
        bring: Box::new(move |library| own.as_ref().map_or(bring_nothing(library), |own| bring(library, own))),
        take: Box::new(move |library, meeting| {
            let others = places
                .iter()
                .zip(0..)
                .filter(|(_, member)| !(in_place && *member == rank));
            others
                .into_iter()
                .try_for_each(|(place, member)| put(place, meeting.data(library, member)?))
        }),
    };
    plan.go(library, way)
}

/// From one to all.
fn scatter_plan<F: Face>(
    library: &Library,
    sent: &impl BlockParts<F>,
    got: Even<F>,
    on: (c_int, F::Handle),
    way: CollectiveWay<F>,
) -> Answer {
    let comm = library.comm::<F>(on.1)?;
    let root = rank_in(&comm, on.0, ErrorClass::Root)?;
    let is_root = comm.rank == root;
    let parts = if is_root {
        sent.parts(library, comm.size())?
    } else {
        Vec::new()
    };
    let own = if is_root && got.in_place() {
        None
    } else {
        Some(got.one(library)?)
    };
    let bytes = if is_root {
        average(&parts)
    } else {
        own.as_ref().map_or(0, RequestPlace::bytes)
    };
    let plan = CollectivePlan {
        comm,
        name: sent.name(["MPI_Scatter", "MPI_Scatterv", ""]),
        root,
        told: ToldCollective::Operation(collective::SCATTER, root, bytes, None),
        bring: if is_root {
            Box::new(move |library| bring_many(library, &parts))
        } else {
            Box::new(bring_nothing)
        },
        take: Box::new(move |library, meeting| {
            own.as_ref()
                .map_or(Ok(()), |own| put(own, meeting.part(library, root)?))
        }),
    };
    plan.go(library, way)
}

/// From all to all the same.
fn allgather_plan<F: Face>(
    library: &Library,
    sent: Even<F>,
    got: &impl BlockParts<F>,
    comm: F::Handle,
    way: CollectiveWay<F>,
) -> Answer {
    let comm = library.comm::<F>(comm)?;
    let places = got.parts(library, comm.size())?;
    let (rank, in_place) = (comm.rank, sent.in_place());
    let own = if in_place {
        places[rank as usize].clone()
    } else {
        sent.one(library)?
    };
    let plan = CollectivePlan {
        comm,
        name: got.name(["MPI_Allgather", "MPI_Allgatherv", ""]),
        root: 0,
        told: ToldCollective::Operation(collective::ALLGATHER, 0, average(&places), None),
        bring: Box::new(move |library| bring(library, &own)),
        take: Box::new(move |library, meeting| {
            let mut others = places
                .iter()
                .zip(0..)
                .filter(|(_, member)| !(in_place && *member == rank));
            others.try_for_each(|(place, member)| put(place, meeting.data(library, member)?))
        }),
    };
    plan.go(library, way)
}

/// From each to each its own.
fn alltoall_plan<F: Face>(
    library: &Library,
    sent: &impl BlockParts<F>,
    got: &impl BlockParts<F>,
    comm: F::Handle,
    way: CollectiveWay<F>,
) -> Answer {
    let comm: Rc<Comm> = library.comm::<F>(comm)?;
    let places = got.parts(library, comm.size())?;
    let parts = if sent.in_place() {
        places.clone()
    } else {
        sent.parts(library, comm.size())?
    };
    let names = ["MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw"];
    let name = got.name(names);
    let told = if name == names[0] {
        ToldCollective::Operation(collective::ALLTOALL, 0, average(&parts), None)
    } else {
        let sizes: Vec<u64> = parts.iter().map(RequestPlace::bytes).collect();
        ToldCollective::Operation(collective::ALLTOALLV, 0, average(&parts), Some(sizes))
    };
    let plan = CollectivePlan {
        comm,
        name,
        root: 0,
        told,
        bring: Box::new(move |library| bring_many(library, &parts)),
        take: Box::new(move |library, meeting| {
            places
                .iter()
                .zip(0..)
                .try_for_each(|(place, member)| put(place, meeting.part(library, member)?))
        }),
    };
    plan.go(library, way)
}

macro_rules! even {
    ($buffer:ident $count:ident $datatype:ident) => {
        Even::<F> {
            buffer: $buffer,
            count: $count.get(),
            datatype: $datatype,
        }
    };
}

macro_rules! uneven {
    ($buffer:ident $counts:ident $displacements:ident $datatype:ident) => {
        Uneven::<F, N> {
            buffer: $buffer,
            counts: $counts,
            displacements: $displacements,
            datatype: $datatype,
        }
    };
}

macro_rules! mixed {
    ($buffer:ident $counts:ident $displacements:ident $datatypes:ident) => {
        Mixed::<F, N, _> {
            buffer: $buffer,
            counts: $counts,
            displacements: $displacements,
            datatypes: $datatypes,
        }
    };
}

pub(in crate::calls) use {even, mixed, uneven};

three_ways! {
    /// From the root to all.
    bcast "MPI_Bcast", ibcast "MPI_Ibcast", bcast_init "MPI_Bcast_init" <N>(
        buffer: BufferAddress, count: N, datatype: F::Handle, root: c_int, comm: F::Handle,
    ) |library, way| bcast_plan::<F>(library, even!(buffer count datatype), (root, comm), way);

    /// From all to the root.
    gather "MPI_Gather", igather "MPI_Igather", gather_init "MPI_Gather_init" <N>(
        sent: BufferAddress, sent_count: N, sent_type: F::Handle, got: BufferAddress, got_count: N, got_type: F::Handle, root: c_int, comm: F::Handle,
    ) |library, way| {
        gather_plan::<F>(library, even!(sent sent_count sent_type), &even!(got got_count got_type), (root, comm), way)
    };

    /// From all to the root, parts of any size.
    gatherv "MPI_Gatherv", igatherv "MPI_Igatherv", gatherv_init "MPI_Gatherv_init" <N>(
        sent: BufferAddress, sent_count: N, sent_type: F::Handle,
        got: BufferAddress, counts: In<N>, displacements: In<N>, got_type: F::Handle, root: c_int, comm: F::Handle,
    ) |library, way| {
        let got = uneven!(got counts displacements got_type);
        gather_plan::<F>(library, even!(sent sent_count sent_type), &got, (root, comm), way)
    };

    /// From the root to all a part each.
    scatter "MPI_Scatter", iscatter "MPI_Iscatter", scatter_init "MPI_Scatter_init" <N>(
        sent: BufferAddress, sent_count: N, sent_type: F::Handle, got: BufferAddress, got_count: N, got_type: F::Handle, root: c_int, comm: F::Handle,
    ) |library, way| {
        scatter_plan::<F>(library, &even!(sent sent_count sent_type), even!(got got_count got_type), (root, comm), way)
    };

    /// From the root to all a part each, of any size.
    scatterv "MPI_Scatterv", iscatterv "MPI_Iscatterv", scatterv_init "MPI_Scatterv_init" <N>(
        sent: BufferAddress, counts: In<N>, displacements: In<N>, sent_type: F::Handle,
        got: BufferAddress, got_count: N, got_type: F::Handle, root: c_int, comm: F::Handle,
    ) |library, way| {
        let sent = uneven!(sent counts displacements sent_type);
        scatter_plan::<F>(library, &sent, even!(got got_count got_type), (root, comm), way)
    };

    /// From all to all.
    allgather "MPI_Allgather", iallgather "MPI_Iallgather", allgather_init "MPI_Allgather_init" <N>(
        sent: BufferAddress, sent_count: N, sent_type: F::Handle, got: BufferAddress, got_count: N, got_type: F::Handle, comm: F::Handle,
    ) |library, way| {
        allgather_plan::<F>(library, even!(sent sent_count sent_type), &even!(got got_count got_type), comm, way)
    };

    /// From all to all, parts of any size.
    allgatherv "MPI_Allgatherv", iallgatherv "MPI_Iallgatherv", allgatherv_init "MPI_Allgatherv_init" <N>(
        sent: BufferAddress, sent_count: N, sent_type: F::Handle,
        got: BufferAddress, counts: In<N>, displacements: In<N>, got_type: F::Handle, comm: F::Handle,
    ) |library, way| {
        let got = uneven!(got counts displacements got_type);
        allgather_plan::<F>(library, even!(sent sent_count sent_type), &got, comm, way)
    };

    /// From each to each.
    alltoall "MPI_Alltoall", ialltoall "MPI_Ialltoall", alltoall_init "MPI_Alltoall_init" <N>(
        sent: BufferAddress, sent_count: N, sent_type: F::Handle, got: BufferAddress, got_count: N, got_type: F::Handle, comm: F::Handle,
    ) |library, way| {
        alltoall_plan::<F>(library, &even!(sent sent_count sent_type), &even!(got got_count got_type), comm, way)
    };

    /// From each to each, parts of any size.
    alltoallv "MPI_Alltoallv", ialltoallv "MPI_Ialltoallv", alltoallv_init "MPI_Alltoallv_init" <N>(
        sent: BufferAddress, sent_counts: In<N>, sent_at: In<N>, sent_type: F::Handle,
        got: BufferAddress, got_counts: In<N>, got_at: In<N>, got_type: F::Handle, comm: F::Handle,
    ) |library, way| {
        let got = uneven!(got got_counts got_at got_type);
        alltoall_plan::<F>(library, &uneven!(sent sent_counts sent_at sent_type), &got, comm, way)
    };

    /// From each to each, parts of any size and datatype.
    alltoallw "MPI_Alltoallw", ialltoallw "MPI_Ialltoallw", alltoallw_init "MPI_Alltoallw_init" <N>(
        sent: BufferAddress, sent_counts: In<N>, sent_at: In<N>, sent_types: In<F::Handle>,
        got: BufferAddress, got_counts: In<N>, got_at: In<N>, got_types: In<F::Handle>, comm: F::Handle,
    ) |library, way| {
        let got = mixed!(got got_counts got_at got_types);
        alltoall_plan::<F>(library, &mixed!(sent sent_counts sent_at sent_types), &got, comm, way)
    };
}
