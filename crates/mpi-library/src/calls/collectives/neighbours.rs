//! Operations between neighbours of a grid or a graph: messages, one along each edge.

use super::moving::{even, mixed, uneven};
use super::{BlockParts, CollectiveWay, Even, Mixed, Uneven, keep, three_ways};
use crate::{
    arguments::{BufferAddress, In},
    communicators::Comm,
    faces::Face,
    fault::{Answer, ErrorClass, fault},
    library::{
        Destination, Library,
        progress::{WantedTrap, fault_of},
        requests::{MessagePartner, RequestPlace, RequestStart},
    },
    topologies::CommTopology,
};
use std::rc::Rc;

/// Messages between neighbours never meet those of another operation: they have the number of theirs.
const NUMBERS: u32 = 60_000;

/// Ranks along edges; nobody where a grid ends.
type NeighbourLists = Vec<Option<u32>>;

/// Neighbours: whom this process receives from, and whom it sends to; nobody at the edge of a grid.
fn neighbours(comm: &Comm) -> Answer<(NeighbourLists, NeighbourLists)> {
    let all = |ranks: &[i32]| ranks.iter().map(|rank| Some(*rank as u32)).collect::<Vec<_>>();
    match &comm.topology {
        None => fault(ErrorClass::Topology, "the communicator has no topology"),
        Some(CommTopology::Grid(grid)) => {
            let around = grid.neighbours(comm.rank);
            Ok((around.clone(), around))
        }
        Some(CommTopology::Graph { ends, edges }) => {
            let rank = comm.rank as usize;
            let start = if rank == 0 { 0 } else { ends[rank - 1] as usize };
            let around = all(&edges[start..ends[rank] as usize]);
            Ok((around.clone(), around))
        }
        Some(CommTopology::Neighbours {
            sources, destinations, ..
        }) => Ok((all(sources), all(destinations))),
    }
}

/// A message along each edge.
struct NeighbourEdges {
    comm: Rc<Comm>,
    sends: Vec<(RequestPlace, Destination)>,
    receives: Vec<(RequestPlace, MessagePartner)>,
}

impl NeighbourEdges {
    /// The receives as their messages come. Where a rank is the neighbour on both sides of a closed dimension, what it sends down first comes
    /// from above, so each pair is the other way round.
    fn in_order(&self) -> impl Iterator<Item = &(RequestPlace, MessagePartner)> {
        let is_grid = matches!(self.comm.topology, Some(CommTopology::Grid(_)));
        (0..self.receives.len()).map(move |place| &self.receives[if is_grid { place ^ 1 } else { place }])
    }

    /// Starts all messages; returns the indices of their requests.
    fn start(&self, library: &Library) -> Answer<Vec<u32>> {
        let tag = (self.comm.next_collective() % NUMBERS) as u16;
        let inner = self.comm.inner();
        let mut parts = Vec::new();
        for (place, source) in self.in_order() {
            parts.push(library.post_receive(
                inner,
                Some(place.clone()),
                WantedTrap {
                    source: *source,
                    tag: Some(tag),
                },
            )?);
        }
        for (place, to) in &self.sends {
            parts.push(library.post_send(inner, place, (*to, tag), false)?);
        }
        Ok(parts)
    }

    fn go<F: Face>(self, library: &Library, way: CollectiveWay<F>) -> Answer {
        match way {
            CollectiveWay::Now => {
                let parts = self.start(library)?;
                library.wait_for(&parts)?;
                let mut wrong = Ok(());
                for part in parts {
                    let ended = library.ended(&*library.request(part)?)?;
                    wrong = wrong.and(ended.as_ref().map_or(Ok(()), fault_of));
                    library.let_go(part)?;
                }
                wrong
            }
            CollectiveWay::RequestStart(request) => {
                let parts = self.start(library)?;
                let index = library.keep_several(&self.comm, parts, None, None);
                request.set(library.request_handle::<F>(index))
            }
            CollectiveWay::Keep(request) => {
                let comm = self.comm.clone();
                let start: RequestStart = Box::new(move |library| {
                    let parts = self.start(library)?;
                    Ok(library.keep_several(&self.comm, parts, None, None))
                });
                keep::<F>(library, &comm, start, request)
            }
        }
    }
}

/// The same to all neighbours, or a part for each.
fn edges_plan<F: Face>(
    library: &Library,
    sent: (Option<&dyn BlockParts<F>>, Option<Even<F>>),
    got: &dyn BlockParts<F>,
    comm: F::Handle,
    way: CollectiveWay<F>,
) -> Answer {
    let comm = library.comm::<F>(comm)?;
    let (sources, destinations) = neighbours(&comm)?;
    let places = got.parts(library, sources.len() as u32)?;
    let parts = match sent {
        (Some(parts), _) => parts.parts(library, destinations.len() as u32)?,
        (None, Some(same)) => vec![same.one(library)?; destinations.len()],
        (None, None) => Vec::new(),
    };
    let to = |rank: &Option<u32>| rank.map_or(Destination::Nobody, Destination::Rank);
    let from = |rank: &Option<u32>| rank.map_or(MessagePartner::Nobody, MessagePartner::Rank);
    let sends = parts.into_iter().zip(destinations.iter().map(to)).collect();
    let receives = places.into_iter().zip(sources.iter().map(from)).collect();
    NeighbourEdges { comm, sends, receives }.go(library, way)
}

three_ways! {
    /// The same to all neighbours.
    neighbor_allgather "MPI_Neighbor_allgather", ineighbor_allgather "MPI_Ineighbor_allgather",
    neighbor_allgather_init "MPI_Neighbor_allgather_init" <N>(
        sent: BufferAddress, sent_count: N, sent_type: F::Handle, got: BufferAddress, got_count: N, got_type: F::Handle, comm: F::Handle,
    ) |library, way| {
        edges_plan::<F>(library, (None, Some(even!(sent sent_count sent_type))), &even!(got got_count got_type), comm, way)
    };

    /// The same to all neighbours, parts of any size.
    neighbor_allgatherv "MPI_Neighbor_allgatherv", ineighbor_allgatherv "MPI_Ineighbor_allgatherv",
    neighbor_allgatherv_init "MPI_Neighbor_allgatherv_init" <N>(
        sent: BufferAddress, sent_count: N, sent_type: F::Handle,
        got: BufferAddress, counts: In<N>, displacements: In<N>, got_type: F::Handle, comm: F::Handle,
    ) |library, way| {
        let got = uneven!(got counts displacements got_type);
        edges_plan::<F>(library, (None, Some(even!(sent sent_count sent_type))), &got, comm, way)
    };

    /// A part for each neighbour.
    neighbor_alltoall "MPI_Neighbor_alltoall", ineighbor_alltoall "MPI_Ineighbor_alltoall",
    neighbor_alltoall_init "MPI_Neighbor_alltoall_init" <N>(
        sent: BufferAddress, sent_count: N, sent_type: F::Handle, got: BufferAddress, got_count: N, got_type: F::Handle, comm: F::Handle,
    ) |library, way| {
        edges_plan::<F>(library, (Some(&even!(sent sent_count sent_type)), None), &even!(got got_count got_type), comm, way)
    };

    /// A part for each neighbour, of any size.
    neighbor_alltoallv "MPI_Neighbor_alltoallv", ineighbor_alltoallv "MPI_Ineighbor_alltoallv",
    neighbor_alltoallv_init "MPI_Neighbor_alltoallv_init" <N>(
        sent: BufferAddress, sent_counts: In<N>, sent_at: In<N>, sent_type: F::Handle,
        got: BufferAddress, got_counts: In<N>, got_at: In<N>, got_type: F::Handle, comm: F::Handle,
    ) |library, way| {
        let got = uneven!(got got_counts got_at got_type);
        edges_plan::<F>(library, (Some(&uneven!(sent sent_counts sent_at sent_type)), None), &got, comm, way)
    };

    /// A part for each neighbour, of any size and datatype.
    neighbor_alltoallw "MPI_Neighbor_alltoallw", ineighbor_alltoallw "MPI_Ineighbor_alltoallw",
    neighbor_alltoallw_init "MPI_Neighbor_alltoallw_init" <N>(
        sent: BufferAddress, sent_counts: In<N>, sent_at: In<i64>, sent_types: In<F::Handle>,
        got: BufferAddress, got_counts: In<N>, got_at: In<i64>, got_types: In<F::Handle>, comm: F::Handle,
    ) |library, way| {
        let got = mixed!(got got_counts got_at got_types);
        edges_plan::<F>(library, (Some(&mixed!(sent sent_counts sent_at sent_types)), None), &got, comm, way)
    };
}
