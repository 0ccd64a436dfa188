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
pub mod collective_loop;
pub mod cycle;
pub mod ebb;
pub mod fft3d;
pub mod given_graph;
mod grid;
pub mod halo3d;
pub mod halo3d_26;
pub mod hpl;
pub mod incast;
mod keys;
pub mod lent_program;
pub mod mpi_graph;
pub mod op_table;
mod order;
pub mod ping_pong;
#[cfg(target_os = "linux")]
mod program;
pub mod random_neighbours;
pub mod ring;
mod shuffle;
pub mod stencil;
pub mod suba2a;
pub mod sweep3d;
#[cfg(test)]
pub(crate) mod tests;
mod trace;

pub use all_ping_pong::{AllPingPong, AllPingPongParameters};
pub use allreduce_loop::{AllreduceLoop, AllreduceLoopParameters};
pub use bfs::{Bfs, BfsParameters};
pub use block::CellBlocks;
pub use collective_loop::{CollectiveLoop, CollectiveLoopParameters};
pub use cycle::Cycle;
pub use ebb::{Ebb, EbbParameters};
pub use fft3d::{Fft3d, Fft3dParameters};
pub use grid::Grid;
pub use halo3d::Halo3d;
pub use halo3d_26::{Halo3d26, Neighbours};
pub use hpl::{Hpl, HplParameters};
pub use incast::{Incast, IncastParameters};
pub(crate) use keys::Keys;
pub use lent_program::ProgramLoan;
pub use mpi_graph::{MpiGraph, MpiGraphParameters};
pub use op_table::OpTable;
pub use order::Order;
pub use ping_pong::{PingPong, PingPongParameters};
pub use random_neighbours::{RandomNeighbours, RandomNeighboursParameters, Receives};
pub use ring::{Ring, RingParameters};
pub use stencil::Stencil;
pub use suba2a::{Suba2a, Suba2aParameters};
pub use sweep3d::{Sweep3d, Sweep3dParameters};

use crate::mpi::op::Transfer;
use crate::mpi::spec::{Motif, MotifValue};
use crate::mpi::{LARGEST, Op, Program, nth::Nth, peers_of};
use applications::Application;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use study::diagnostic::Findings;
use study::reader::Values;
use study::{Entry, Family};

/// Every motif, in the order of the documentation: a line each.
const KINDS: &[ListedMotif] = &[
    ListedMotif::of::<Halo3d>(),
    ListedMotif::of::<Halo3d26>(),
    ListedMotif::of::<Sweep3d>(),
    ListedMotif::of::<Suba2a>(),
    ListedMotif::of::<Fft3d>(),
    ListedMotif::of::<Stencil<3>>(),
    ListedMotif::of::<Stencil<4>>(),
    ListedMotif::of::<AllPingPong>(),
    ListedMotif::of::<PingPong>(),
    ListedMotif::of::<Ring>(),
    ListedMotif::of::<Incast>(),
    ListedMotif::of::<AllreduceLoop>(),
    ListedMotif::of::<CollectiveLoop>(),
    ListedMotif::of::<RandomNeighbours>(),
    ListedMotif::of::<MpiGraph>(),
    ListedMotif::of::<Ebb>(),
    ListedMotif::of::<Hpl>(),
    ListedMotif::of::<Bfs>(),
    ListedMotif::of_application::<applications::Hpcg>(),
    ListedMotif::of_application::<applications::Amg>(),
    ListedMotif::of_application::<applications::Comd>(),
    ListedMotif::of_application::<applications::Minife>(),
    ListedMotif::of_application::<applications::Swfft>(),
    ListedMotif::of_application::<applications::Ffvc>(),
    ListedMotif::of_application::<applications::Mvmc>(),
    ListedMotif::of_application::<applications::Ntchem>(),
    ListedMotif::of_application::<applications::Milc>(),
    ListedMotif::of_application::<applications::Qball>(),
    ListedMotif::of::<OpTable>(),
    ListedMotif::of::<crate::replay::TraceProgram>(),
    #[cfg(target_os = "linux")]
    ListedMotif::of::<crate::live::LiveProgram>(),
];

/// The works of MPI ranks: `work.kind`.
pub static MOTIF: Family = Family {
    name: "motif",
    key: "work.kind",
    by_name: false,
    groups: &[&ENTRIES],
};

/// What studies may say of each.
pub const ENTRIES: [Entry; KINDS.len()] = {
    let mut entries = [KINDS[0].entry; KINDS.len()];
    let mut i = 1;
    while i < KINDS.len() {
        entries[i] = KINDS[i].entry;
        i += 1;
    }
    entries
};

/// A motif: what a study may say of it, and how it is made of what a study says.
pub(crate) trait MotifKind: Program + Sized + 'static {
    /// Its name, line, keys and source.
    const ENTRY: Entry;

    /// Its program for the ranks and the values of its keys. The field of a misfit is a key.
    fn read(keys: &Keys) -> Result<Self, Misfit>;

    /// Reads the files that its keys name, from `base`, into the values that runs hold; `None` after errors.
    fn read_files(
        _values: &Values,
        _base: &Path,
        _held: &mut BTreeMap<String, MotifValue>,
        _findings: &mut Findings,
    ) -> Option<()> {
        Some(())
    }
}

/// A motif of the list.
struct ListedMotif {
    entry: Entry,
    read: fn(&Keys) -> Result<Arc<dyn Program>, Misfit>,
    read_files: ReadFiles,
}

type ReadFiles = fn(&Values, &Path, &mut BTreeMap<String, MotifValue>, &mut Findings) -> Option<()>;

impl ListedMotif {
    const fn of<M: MotifKind>() -> ListedMotif {
        ListedMotif {
            entry: M::ENTRY,
            read: |keys| Ok(Arc::new(M::read(keys)?)),
            read_files: M::read_files,
        }
    }

    const fn of_application<A: Application>() -> ListedMotif {
        ListedMotif {
            entry: A::ENTRY,
            read: |keys| Ok(Arc::new(applications::program::<A>(keys)?)),
            read_files: |_, _, _, _| Some(()),
        }
    }

    /// The motif of this name.
    fn named(name: &str) -> Option<&'static ListedMotif> {
        KINDS.iter().find(|kind| kind.entry.name == name)
    }
}

/// The program of a motif for a job with room for `room` ranks, or why it cannot be; the field is the key in the study file. `order`
/// is that of ranks which have orders of their own: those of the motif if it says so, and all with `always`.
pub fn program(motif: &Motif, room: u32, order: (Order, bool)) -> Result<Arc<dyn Program>, Misfit> {
    let Some(kind) = ListedMotif::named(&motif.kind) else {
        let hint = "`fabricsim list motif` tells which there are";
        return Err(Misfit::new("kind", format!("there is no motif {:?}", motif.kind), hint));
    };
    (kind.read)(&Keys::new(&kind.entry, motif, room, order)?)
}

/// A motif as runs hold it, of the values of its keys; `None` after errors.
pub fn of_study(kind: &str, values: &Values, base: &Path, findings: &mut Findings) -> Option<Motif> {
    let mut held = keys::of_runs(values);
    (ListedMotif::named(kind)?.read_files)(values, base, &mut held, findings)?;
    Some(Motif {
        kind: kind.to_owned(),
        values: held,
    })
}

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
pub(crate) fn sized_for(field: &'static str, bytes: u64, ranks: u32) -> Result<u64, Misfit> {
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

/// Number of the bit set that has `n` others below it.
fn nth_bit(mut bits: u64, n: u32) -> u32 {
    for _ in 0..n {
        bits &= bits - 1;
    }
    bits.trailing_zeros()
}
