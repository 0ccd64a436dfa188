//! Grids and graphs of processes.

use super::{communicators, count, rank_in};
use crate::{
    arguments::{In, ResultPlace},
    communicators::Comm,
    faces::Face,
    fault::{Answer, ErrorClass, fault},
    groups::ProcessGroup,
    library::{
        Destination, Library, calls,
        progress::WantedTrap,
        requests::{MessagePartner, RequestPlace},
    },
    topologies::{CommTopology, ProcessGrid, fill_dimensions},
};
use std::{ffi::c_int, rc::Rc};

/// The grid of a communicator.
fn grid(comm: &Comm) -> Answer<&ProcessGrid> {
    match &comm.topology {
        Some(CommTopology::Grid(grid)) => Ok(grid),
        _ => fault(ErrorClass::Topology, "the communicator has no grid"),
    }
}

/// The graph of a communicator that every process knows whole.
fn graph(comm: &Comm) -> Answer<(&[i32], &[i32])> {
    match &comm.topology {
        Some(CommTopology::Graph { ends, edges }) => Ok((ends, edges)),
        _ => fault(ErrorClass::Topology, "the communicator has no graph"),
    }
}

/// The neighbours of a rank in a graph.
fn neighbours_in_graph(comm: &Comm, rank: c_int) -> Answer<Vec<i32>> {
    let (ends, edges) = graph(comm)?;
    let rank = rank_in(comm, rank, ErrorClass::Rank)? as usize;
    let start = if rank == 0 { 0 } else { ends[rank - 1] as usize };
    Ok(edges[start..ends[rank] as usize].to_vec())
}

/// Writes a list, at most so many of it.
fn list(to: ResultPlace<c_int>, most: c_int, values: impl IntoIterator<Item = c_int>) -> Answer {
    values
        .into_iter()
        .take(most.max(0) as usize)
        .enumerate()
        .try_for_each(|(place, value)| to.set_at(place, value))
}

/// The first processes of a communicator with a topology; the others are in none.
fn first<F: Face>(library: &Library, old: &Rc<Comm>, processes: u32, topology: CommTopology) -> Answer<F::Handle> {
    let group = Rc::new(ProcessGroup::new(old.group.members[..processes as usize].to_vec()));
    let inside = (old.rank < processes).then_some(group);
    communicators::create::<F>(library, old, inside, Some(topology))
}

/// A grid with these sizes, if the communicator has as many processes.
fn new_grid(comm: &Comm, number: c_int, sizes: In<c_int>, closed: In<c_int>) -> Answer<(ProcessGrid, u32)> {
    if number < 0 {
        return fault(ErrorClass::Dims, format!("{number} dimensions"));
    }
    let sizes = sizes.list(number.into())?;
    let closed = closed
        .list(number.into())?
        .into_iter()
        .map(|closed| closed != 0)
        .collect();
    match ProcessGrid::processes(&sizes) {
        _ if sizes.iter().any(|size| *size < 1) => fault(ErrorClass::Dims, format!("a grid of {sizes:?}")),
        Some(processes) if processes as u32 <= comm.size() => Ok((ProcessGrid { sizes, closed }, processes as u32)),
        _ => fault(
            ErrorClass::Arg,
            format!(
                "a grid of {sizes:?} has more processes than the communicator, which has {}",
                comm.size()
            ),
        ),
    }
}

/// A graph, if it fits.
fn new_graph(comm: &Comm, nodes: c_int, ends: In<c_int>, edges: In<c_int>) -> Answer<(Vec<i32>, Vec<i32>)> {
    if nodes < 0 || nodes as u32 > comm.size() {
        return fault(
            ErrorClass::Arg,
            format!("a graph of {nodes} nodes on {} processes", comm.size()),
        );
    }
    let ends = ends.list(nodes.into())?;
    if ends.first().is_some_and(|end| *end < 0) || ends.windows(2).any(|two| two[0] > two[1]) {
        return fault(ErrorClass::Arg, "the ends of the lists of neighbours go back");
    }
    let edges = edges.list(ends.last().copied().unwrap_or(0).into())?;
    match edges.iter().find(|edge| !(0..nodes).contains(*edge)) {
        Some(edge) => fault(ErrorClass::Arg, format!("neighbour {edge} is none of {nodes} nodes")),
        None => Ok((ends, edges)),
    }
}

/// Coordinates of a grid.
fn coordinates(grid: &ProcessGrid, coordinates: In<c_int>) -> Answer<u32> {
    let coordinates = coordinates.list(grid.sizes.len() as i64)?;
    let rank = grid.rank(&coordinates);
    rank.map_or_else(
        || {
            fault(
                ErrorClass::Arg,
                format!("{coordinates:?} is outside of a grid of {:?}", grid.sizes),
            )
        },
        Ok,
    )
}

/// Part of a grid: the processes that agree in the dimensions that do not remain.
fn part_of_grid<F: Face>(library: &Library, comm: &Rc<Comm>, remain: In<c_int>, to: ResultPlace<F::Handle>) -> Answer {
    let grid = grid(comm)?;
    let remain: Vec<bool> = remain
        .list(grid.sizes.len() as i64)?
        .into_iter()
        .map(|remains| remains != 0)
        .collect();
    let here = grid.coordinates(comm.rank);
    let mut colour = 0;
    for dimension in (0..remain.len()).filter(|dimension| !remain[*dimension]) {
        colour = colour * grid.sizes[dimension] + here[dimension];
    }
    let group = communicators::split(library, comm, Some(colour as u32), comm.rank as c_int)?;
    let kept = || (0..remain.len()).filter(|dimension| remain[*dimension]);
    let sizes = kept().map(|dimension| grid.sizes[dimension]).collect();
    let closed = kept().map(|dimension| grid.closed[dimension]).collect();
    to.set(communicators::create::<F>(
        library,
        comm,
        group,
        Some(CommTopology::Grid(ProcessGrid { sizes, closed })),
    )?)
}

/// Weights of edges, if there are any.
fn weights<F: Face>(weights: In<c_int>, number: usize) -> Answer<Option<Vec<i32>>> {
    if is_unweighted::<F>(weights) {
        return Ok(None);
    }
    let empty = weights.0 as usize == crate::calls::tools::WEIGHTS_EMPTY;
    Ok(Some(if empty {
        Vec::new()
    } else {
        weights.list(number as i64)?
    }))
}

fn is_unweighted<F: Face>(weights: In<c_int>) -> bool {
    let _ = F::NAME;
    weights.0 as usize == crate::calls::tools::UNWEIGHTED
}

/// A graph of which each process names its own edges.
fn adjacent<F: Face>(
    library: &Library,
    comm: &Rc<Comm>,
    edges: [(c_int, In<c_int>, In<c_int>); 2],
    to: ResultPlace<F::Handle>,
) -> Answer {
    let side = |(number, ranks, weight): (c_int, In<c_int>, In<c_int>)| {
        let ranks = ranks.list(count(number.into())?)?;
        for rank in &ranks {
            rank_in(comm, *rank, ErrorClass::Rank)?;
        }
        let weights = weights::<F>(weight, ranks.len())?;
        Ok((ranks, weights))
    };
    let ((sources, in_weights), (destinations, out_weights)) = (side(edges[0])?, side(edges[1])?);
    let weights = in_weights.zip(out_weights);
    let topology = CommTopology::Neighbours {
        sources,
        destinations,
        weights,
    };
    to.set(communicators::create::<F>(
        library,
        comm,
        Some(comm.group.clone()),
        Some(topology),
    )?)
}

/// An edge of a graph that any process may name: from, to, weight.
type Edge = [i32; 3];

/// A graph of which each process names some edges: they go to those whose edges they are.
fn distributed<F: Face>(
    library: &Library,
    comm: &Rc<Comm>,
    edges: &[Edge],
    weighted: bool,
    to: ResultPlace<F::Handle>,
) -> Answer {
    let inner = comm.inner();
    let tag = (comm.next_collective() % 60_000) as u16;
    let mut parts = Vec::new();
    let mut outgoing: Vec<Vec<Edge>> = vec![Vec::new(); comm.size() as usize];
    for edge in edges {
        outgoing[edge[0] as usize].push(*edge);
        outgoing[edge[1] as usize].push(*edge);
    }
    let mut own = Vec::new();
    for (rank, list) in outgoing.iter_mut().enumerate() {
        let place = RequestPlace {
            address: list.as_mut_ptr().cast(),
            count: list.len() as i64 * 12,
            of: library.byte(),
        };
        parts.push(library.post_send(inner, &place, (Destination::Rank(rank as u32), tag), false)?);
    }
    for rank in 0..comm.size() {
        own.extend(edges_from(library, comm, rank, tag)?);
    }
    library.wait_for(&parts)?;
    parts
        .into_iter()
        .try_for_each(|part| library.let_go(part).map(|_| ()))?;
    let me = comm.rank as i32;
    // An edge from a process to itself came twice, once for each of its ends.
    let half = |end: usize| {
        let mut seen: Vec<Edge> = Vec::new();
        let mut loops = 0;
        for edge in own.iter().filter(|edge| edge[end] == me) {
            loops += i32::from(edge[0] == edge[1]);
            if edge[0] != edge[1] || loops % 2 == 1 {
                seen.push(*edge);
            }
        }
        seen
    };
    let (incoming, outgoing) = (half(1), half(0));
    let all = |edges: &[Edge], field: usize| edges.iter().map(|edge| edge[field]).collect::<Vec<_>>();
    let weights = weighted.then(|| (all(&incoming, 2), all(&outgoing, 2)));
    let topology = CommTopology::Neighbours {
        sources: all(&incoming, 0),
        destinations: all(&outgoing, 1),
        weights,
    };
    to.set(communicators::create::<F>(
        library,
        comm,
        Some(comm.group.clone()),
        Some(topology),
    )?)
}

/// The edges that a process named and that are this one's.
fn edges_from(library: &Library, comm: &Rc<Comm>, rank: u32, tag: u16) -> Answer<Vec<Edge>> {
    let wanted = WantedTrap {
        source: MessagePartner::Rank(rank),
        tag: Some(tag),
    };
    let index = library.post_receive(comm.inner(), None, wanted)?;
    library.wait_for(&[index])?;
    let request = library.request(index)?;
    let ended = library.ended(&request)?;
    let bytes = ended.map_or(0, |ended| ended.bytes);
    let mut edges: Vec<Edge> = vec![[0; 3]; bytes as usize / 12];
    let place = RequestPlace {
        address: edges.as_mut_ptr().cast(),
        count: bytes as i64,
        of: library.byte(),
    };
    super::probes::claim(&request, library, place);
    library.let_go(index)?;
    Ok(edges)
}

/// The edges that a call names: of each node how many, to whom, and with which weight.
fn named_edges<F: Face>(
    comm: &Comm,
    nodes: (c_int, In<c_int>, In<c_int>),
    ends: In<c_int>,
    weight: In<c_int>,
) -> Answer<Vec<Edge>> {
    let sources = nodes.1.list(count(nodes.0.into())?)?;
    let degrees = nodes.2.list(nodes.0.into())?;
    let total = degrees
        .iter()
        .try_fold(0, |all, degree| Ok(all + count(i64::from(*degree))?))?;
    let destinations = ends.list(total)?;
    let weights = weights::<F>(weight, destinations.len())?.unwrap_or_else(|| vec![1; destinations.len()]);
    for rank in sources.iter().chain(&destinations) {
        rank_in(comm, *rank, ErrorClass::Rank)?;
    }
    let owners = sources
        .iter()
        .zip(degrees)
        .flat_map(|(source, degree)| std::iter::repeat_n(*source, degree as usize));
    Ok(owners
        .zip(destinations)
        .zip(weights)
        .map(|((from, to), weight)| [from, to, weight])
        .collect())
}

calls! {
    /// Sizes of a grid that are as even as can be.
    dims_create = "MPI_Dims_create"(nodes: c_int, number: c_int, sizes: ResultPlace<c_int>) |_library| {
        let mut all = crate::arguments::In(sizes.0.cast_const()).list(count(number.into())?)?;
        fill_dimensions(nodes, &mut all)?;
        list(sizes, number, all)
    };

    /// A communicator with a grid.
    cart_create = "MPI_Cart_create"(
        comm: F::Handle, number: c_int, sizes: In<c_int>, closed: In<c_int>, _reorder: c_int, new: ResultPlace<F::Handle>,
    ) |library| {
        let comm = library.comm::<F>(comm)?;
        let (grid, processes) = new_grid(&comm, number, sizes, closed)?;
        new.set(first::<F>(library, &comm, processes, CommTopology::Grid(grid))?)
    };

    /// How many dimensions.
    cartdim_get = "MPI_Cartdim_get"(comm: F::Handle, number: ResultPlace<c_int>) |library| {
        number.set(grid(&*library.comm::<F>(comm)?)?.sizes.len() as c_int)
    };

    /// The grid, and where this process is.
    cart_get = "MPI_Cart_get"(comm: F::Handle, most: c_int, sizes: ResultPlace<c_int>, closed: ResultPlace<c_int>, here: ResultPlace<c_int>) |library| {
        let comm = library.comm::<F>(comm)?;
        let grid = grid(&comm)?;
        list(sizes, most, grid.sizes.iter().copied())?;
        list(closed, most, grid.closed.iter().map(|closed| c_int::from(*closed)))?;
        list(here, most, grid.coordinates(comm.rank))
    };

    /// The rank at coordinates.
    cart_rank = "MPI_Cart_rank"(comm: F::Handle, at: In<c_int>, rank: ResultPlace<c_int>) |library| {
        let comm = library.comm::<F>(comm)?;
        rank.set(coordinates(grid(&comm)?, at)? as c_int)
    };

    /// The coordinates of a rank.
    cart_coords = "MPI_Cart_coords"(comm: F::Handle, rank: c_int, most: c_int, at: ResultPlace<c_int>) |library| {
        let comm = library.comm::<F>(comm)?;
        let rank = rank_in(&comm, rank, ErrorClass::Rank)?;
        list(at, most, grid(&comm)?.coordinates(rank))
    };

    /// Who is some steps before and behind this process.
    cart_shift = "MPI_Cart_shift"(comm: F::Handle, dimension: c_int, by: c_int, before: ResultPlace<c_int>, behind: ResultPlace<c_int>) |library| {
        let comm = library.comm::<F>(comm)?;
        let grid = grid(&comm)?;
        if !(0..grid.sizes.len() as c_int).contains(&dimension) {
            return fault(ErrorClass::Arg, format!("dimension {dimension} of a grid of {:?}", grid.sizes));
        }
        let (source, to) = grid.shifted(comm.rank, dimension as usize, by);
        let rank = |rank: Option<u32>| rank.map_or(F::C.proc_null as c_int, |rank| rank as c_int);
        before.set(rank(source))?;
        behind.set(rank(to))
    };

    /// A communicator of each part of a grid.
    cart_sub = "MPI_Cart_sub"(comm: F::Handle, remain: In<c_int>, new: ResultPlace<F::Handle>) |library| {
        let comm = library.comm::<F>(comm)?;
        part_of_grid::<F>(library, &comm, remain, new)
    };

    /// Where a process would be in a grid.
    cart_map = "MPI_Cart_map"(comm: F::Handle, number: c_int, sizes: In<c_int>, closed: In<c_int>, rank: ResultPlace<c_int>) |library| {
        let comm = library.comm::<F>(comm)?;
        let (_, processes) = new_grid(&comm, number, sizes, closed)?;
        rank.set(if comm.rank < processes { comm.rank as c_int } else { F::C.undefined as c_int })
    };

    /// A communicator with a graph.
    graph_create = "MPI_Graph_create"(
        comm: F::Handle, nodes: c_int, ends: In<c_int>, edges: In<c_int>, _reorder: c_int, new: ResultPlace<F::Handle>,
    ) |library| {
        let comm = library.comm::<F>(comm)?;
        let (ends, edges) = new_graph(&comm, nodes, ends, edges)?;
        new.set(first::<F>(library, &comm, nodes as u32, CommTopology::Graph { ends, edges })?)
    };

    /// Where a process would be in a graph.
    graph_map = "MPI_Graph_map"(comm: F::Handle, nodes: c_int, ends: In<c_int>, edges: In<c_int>, rank: ResultPlace<c_int>) |library| {
        let comm = library.comm::<F>(comm)?;
        new_graph(&comm, nodes, ends, edges)?;
        rank.set(if (comm.rank as c_int) < nodes { comm.rank as c_int } else { F::C.undefined as c_int })
    };

    /// How large a graph is.
    graphdims_get = "MPI_Graphdims_get"(comm: F::Handle, nodes: ResultPlace<c_int>, edges: ResultPlace<c_int>) |library| {
        let comm = library.comm::<F>(comm)?;
        let (ends, all) = graph(&comm)?;
        nodes.set(ends.len() as c_int)?;
        edges.set(all.len() as c_int)
    };

    /// A graph.
    graph_get = "MPI_Graph_get"(comm: F::Handle, most_ends: c_int, most_edges: c_int, ends: ResultPlace<c_int>, edges: ResultPlace<c_int>) |library| {
        let comm = library.comm::<F>(comm)?;
        let (all_ends, all_edges) = graph(&comm)?;
        list(ends, most_ends, all_ends.iter().copied())?;
        list(edges, most_edges, all_edges.iter().copied())
    };

    /// How many neighbours a rank has.
    graph_neighbors_count = "MPI_Graph_neighbors_count"(comm: F::Handle, rank: c_int, number: ResultPlace<c_int>) |library| {
        let comm = library.comm::<F>(comm)?;
        number.set(neighbours_in_graph(&comm, rank)?.len() as c_int)
    };

    /// The neighbours of a rank.
    graph_neighbors = "MPI_Graph_neighbors"(comm: F::Handle, rank: c_int, most: c_int, neighbours: ResultPlace<c_int>) |library| {
        let comm = library.comm::<F>(comm)?;
        list(neighbours, most, neighbours_in_graph(&comm, rank)?)
    };

    /// A communicator with a graph, each process naming its own edges.
    dist_graph_create_adjacent = "MPI_Dist_graph_create_adjacent"(
        comm: F::Handle, in_degree: c_int, sources: In<c_int>, in_weights: In<c_int>,
        out_degree: c_int, destinations: In<c_int>, out_weights: In<c_int>, _info: F::Handle, _reorder: c_int, new: ResultPlace<F::Handle>,
    ) |library| {
        let comm = library.comm::<F>(comm)?;
        let edges = [(in_degree, sources, in_weights), (out_degree, destinations, out_weights)];
        adjacent::<F>(library, &comm, edges, new)
    };

    /// A communicator with a graph, each process naming any edges.
    dist_graph_create = "MPI_Dist_graph_create"(
        comm: F::Handle, number: c_int, sources: In<c_int>, degrees: In<c_int>, destinations: In<c_int>, weights: In<c_int>,
        _info: F::Handle, _reorder: c_int, new: ResultPlace<F::Handle>,
    ) |library| {
        let comm = library.comm::<F>(comm)?;
        let edges = named_edges::<F>(&comm, (number, sources, degrees), destinations, weights)?;
        distributed::<F>(library, &comm, &edges, !is_unweighted::<F>(weights), new)
    };

    /// How many edges of a graph this process knows.
    dist_graph_neighbors_count = "MPI_Dist_graph_neighbors_count"(
        comm: F::Handle, in_degree: ResultPlace<c_int>, out_degree: ResultPlace<c_int>, weighted: ResultPlace<c_int>,
    ) |library| {
        let comm = library.comm::<F>(comm)?;
        let Some(CommTopology::Neighbours { sources, destinations, weights }) = &comm.topology else {
            return fault(ErrorClass::Topology, "the communicator has no graph of that kind");
        };
        in_degree.set(sources.len() as c_int)?;
        out_degree.set(destinations.len() as c_int)?;
        weighted.set(c_int::from(weights.is_some()))
    };

    /// The edges of a graph that this process knows.
    dist_graph_neighbors = "MPI_Dist_graph_neighbors"(
        comm: F::Handle, most_in: c_int, in_ranks: ResultPlace<c_int>, in_weights: ResultPlace<c_int>,
        most_out: c_int, out_ranks: ResultPlace<c_int>, out_weights: ResultPlace<c_int>,
    ) |library| {
        let comm = library.comm::<F>(comm)?;
        let Some(CommTopology::Neighbours { sources, destinations, weights }) = &comm.topology else {
            return fault(ErrorClass::Topology, "the communicator has no graph of that kind");
        };
        list(in_ranks, most_in, sources.iter().copied())?;
        list(out_ranks, most_out, destinations.iter().copied())?;
        let Some((incoming, outgoing)) = weights else { return Ok(()) };
        if !is_unweighted::<F>(In(in_weights.0)) {
            list(in_weights, most_in, incoming.iter().copied())?;
        }
        if !is_unweighted::<F>(In(out_weights.0)) {
            list(out_weights, most_out, outgoing.iter().copied())?;
        }
        Ok(())
    };

    /// Which topology a communicator has.
    topo_test = "MPI_Topo_test"(comm: F::Handle, kind: ResultPlace<c_int>) |library| {
        let comm = library.comm::<F>(comm)?;
        kind.set((match &comm.topology {
            None => F::C.undefined,
            Some(CommTopology::Grid(_)) => F::C.cart,
            Some(CommTopology::Graph { .. }) => F::C.graph,
            Some(CommTopology::Neighbours { .. }) => F::C.dist_graph,
        }) as c_int)
    };
}
