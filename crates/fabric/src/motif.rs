//! Motifs: communication patterns of MPI ranks, as programs that are computed and never stored.
//!
//! Every motif is a [`Program`](crate::mpi::Program): operation `index` of a rank in an iteration is a pure function of the motif's
//! parameters, in a time that does not grow with the number of ranks. Grids of ranks are numbered x fastest. Where several ranks are
//! involved, the order of operations is that of the program that the motif is named after. Sizes are in bytes, times in ps.

pub mod all_ping_pong;
pub mod allreduce_loop;
pub mod applications;
pub mod bfs;
mod block;
mod build;
pub mod collective_loop;
pub mod cycle;
pub mod ebb;
pub mod fft3d;
mod grid;
pub mod halo3d;
pub mod halo3d_26;
pub mod hpl;
pub mod incast;
pub mod mpi_graph;
pub mod op_table;
mod order;
pub mod ping_pong;
pub mod random_neighbours;
pub mod ring;
mod shuffle;
pub mod stencil;
pub mod suba2a;
pub mod sweep3d;
#[cfg(test)]
mod tests;

pub use all_ping_pong::AllPingPong;
pub use allreduce_loop::AllreduceLoop;
pub use applications::Application;
pub use bfs::Bfs;
pub use block::Block;
pub use build::program;
pub use collective_loop::CollectiveLoop;
pub use cycle::Cycle;
pub use ebb::Ebb;
pub use fft3d::Fft3d;
pub use grid::Grid;
pub use halo3d::Halo3d;
pub use halo3d_26::{Halo3d26, Neighbours};
pub use hpl::Hpl;
pub use incast::Incast;
pub use mpi_graph::MpiGraph;
pub use op_table::OpTable;
pub use order::Order;
pub(crate) use order::OrderWord;
pub use ping_pong::PingPong;
pub use random_neighbours::{RandomNeighbours, Receives};
pub use ring::Ring;
pub use stencil::Stencil;
pub use suba2a::Suba2a;
pub use sweep3d::Sweep3d;

use crate::mpi::op::Transfer;
use crate::mpi::{CollectiveKind, LARGEST, Op, nth::Nth};

/// Why a motif cannot be as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The parameter.
    pub field: &'static str,
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub hint: String,
}

impl Misfit {
    pub(crate) fn new(field: &'static str, reason: impl Into<String>, hint: impl Into<String>) -> Misfit {
        Misfit {
            field,
            reason: reason.into(),
            hint: hint.into(),
        }
    }
}

/// How long a rank computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compute {
    /// So many ps.
    Time(u64),
    /// As long as the work takes.
    Flops {
        /// Operations per cell.
        per_cell: f64,
        /// Operations per second.
        rate: f64,
    },
}

impl Compute {
    /// Time for a number of cells (ps), rounded to the nearest.
    fn time(self, cells: u64) -> Result<u64, Misfit> {
        match self {
            Compute::Time(time) => Ok(time),
            Compute::Flops { per_cell, rate } => {
                let time = cells as f64 * per_cell / rate * 1e12;
                if !(per_cell >= 0.0 && rate > 0.0 && time < 1e18) {
                    let reason =
                        format!("{per_cell} flop for each of {cells} cells at {rate} flop/s take no sensible time");
                    let hint = "a rate is positive, and an iteration is shorter than a million seconds";
                    return Err(Misfit::new("compute", reason, hint));
                }
                Ok(time.round() as u64)
            }
        }
    }
}

/// The operations of a rank in an iteration, told in order.
type Ops = Nth<Op>;

impl Ops {
    /// Tells a computation, if it takes time.
    fn compute(&mut self, time: u64) {
        if time > 0 {
            self.put(Op::Compute { time });
        }
    }

    fn send(&mut self, peer: u32, bytes: u64) {
        self.put(Op::Send(Transfer::new(peer, bytes)));
    }

    fn recv(&mut self, peer: u32, bytes: u64) {
        self.put(Op::Recv(Transfer::new(peer, bytes)));
    }

    fn isend(&mut self, peer: u32, bytes: u64) {
        self.put(Op::Isend(Transfer::new(peer, bytes)));
    }

    fn irecv(&mut self, peer: u32, bytes: u64) {
        self.put(Op::Irecv(Transfer::new(peer, bytes)));
    }
}

/// Refuses a job of fewer ranks than a motif can do with.
fn at_least(ranks: u32, least: u32) -> Result<(), Misfit> {
    match ranks < least {
        true => Err(Misfit::new(
            "ranks",
            format!("{ranks} are too few, this motif takes at least {least}"),
            "give the job more ranks",
        )),
        false => Ok(()),
    }
}

/// About how many ranks a rank meets in a collective of `size`.
fn peers_of(kind: CollectiveKind, size: u32) -> u32 {
    match kind {
        CollectiveKind::Alltoall | CollectiveKind::Alltoallv | CollectiveKind::ReduceScatter => size.saturating_sub(1),
        _ => 2 * size.next_power_of_two().trailing_zeros(),
    }
}

/// A size, refused beyond [`LARGEST`].
fn sized(field: &'static str, bytes: u64) -> Result<u64, Misfit> {
    match bytes > LARGEST {
        true => Err(Misfit::new(
            field,
            format!("a message of {bytes} bytes is too large"),
            format!("take at most {LARGEST} bytes"),
        )),
        false => Ok(bytes),
    }
}

/// The size of a collective with a block for every rank, refused where all blocks are more than 2^62 bytes.
fn sized_for(field: &'static str, bytes: u64, ranks: u32) -> Result<u64, Misfit> {
    match sized(field, bytes)? > (1 << 62) / u64::from(ranks) {
        true => {
            let reason = format!("{bytes} bytes for each of {ranks} ranks are too many");
            Err(Misfit::new(field, reason, "take smaller blocks"))
        }
        false => Ok(bytes),
    }
}

/// A product of cells, values and bytes, refused beyond [`LARGEST`].
fn product(field: &'static str, factors: &[u64]) -> Result<u64, Misfit> {
    let all = factors.iter().try_fold(1_u64, |all, &factor| all.checked_mul(factor));
    all.filter(|&all| all <= LARGEST).ok_or_else(|| {
        Misfit::new(
            field,
            format!("a message or a block would have more than {LARGEST} bytes or cells"),
            "take less",
        )
    })
}
