//! Skeletons of applications: what one iteration of a program sends and how long it computes, put together from other motifs.
//!
//! The patterns are those that the sources of each say; sizes follow from the cells of a rank, so that more ranks are weak scaling. Times
//! come from operations per cell and a sustained rate: 10 Gflop/s stand for a node of two six-core processors of 2010 whose memory
//! (64 GB/s) bounds stencils. Numbers that no source gives are ours and stand in the constants of each; `docs/models/applications.md` tells
//! which. What is left out: start and end, input and output, load imbalance, and communication that hides behind computing.

mod amg;
mod comd;
mod ffvc;
mod hpcg;
mod milc;
mod minife;
mod mvmc;
mod ntchem;
mod qball;
mod swfft;

pub(super) use amg::Amg;
pub(super) use comd::Comd;
pub(super) use ffvc::Ffvc;
pub(super) use hpcg::Hpcg;
pub(super) use milc::Milc;
pub(super) use minife::Minife;
pub(super) use mvmc::Mvmc;
pub(super) use ntchem::Ntchem;
pub(super) use qball::Qball;
pub(super) use swfft::Swfft;

use super::keys::{CELLS, flop_rate};
use super::{
    AllreduceLoop, AllreduceLoopParameters, CellBlocks, CollectiveLoop, CollectiveLoopParameters, Compute, Cycle,
    Halo3d, Halo3d26, Keys, Misfit, Neighbours, Order, product,
};
use crate::mpi::{CollectiveKind, Communicator, Program};
use std::sync::Arc;
use study::{Default, Entry, Parameter, SECOND, key, time};

/// An application.
pub(super) trait Application {
    /// What a study says of it.
    const ENTRY: Entry;

    /// Tells what it does in an iteration.
    fn iteration(builder: &mut Builder) -> Result<(), Misfit>;
}

/// The keys of an application: cells by default as in the words of a list, and what they are.
const fn application(cells: &'static str, doc: &'static str) -> [Parameter; 3] {
    [
        key("grid", CELLS, Default::From(cells), doc),
        flop_rate(Default::Text("1e10"), "Operations of a rank per second."),
        key(
            "compute",
            time(1_000 * SECOND),
            Default::From("operations per cell and `flop_rate` say how long"),
            "Computing of a rank in an iteration, all of its parts together.",
        ),
    ]
}

/// What cells are, mostly.
const A_RANK: &str = "Cells of a rank along x, y, z.";

/// The program of an application.
pub(super) fn program<A: Application>(keys: &Keys) -> Result<Cycle, Misfit> {
    let usual = keys.values.default_integers("grid");
    let cells = keys.values.integers_or_default("grid");
    if cells.len() != usual.len() {
        let reason = format!("has {} numbers, not {}", cells.len(), usual.len());
        let hint = format!("give {} such as {usual:?}", usual.len());
        return Err(Misfit::new("grid", reason, hint));
    }
    product("grid", &cells)?;
    let told = |rate| {
        let mut builder = Builder {
            ranks: keys.ranks,
            cells: cells.clone(),
            rate,
            order: keys.order,
            flops: 0.0,
            parts: Vec::new(),
        };
        A::iteration(&mut builder).map(|()| builder)
    };
    // A time that is given stands in place of that from operations and their rate.
    let told = match keys.values.quantity("compute") {
        None => told(keys.values.number_or_default("flop_rate"))?,
        Some(0) => told(f64::INFINITY)?,
        Some(time) => {
            let flops = told(f64::INFINITY)?.flops;
            told(flops / (time as f64 * 1e-12))?
        }
    };
    Cycle::new(told.parts)
}

/// Puts an iteration together.
pub(crate) struct Builder {
    ranks: u32,
    cells: Vec<u64>,
    rate: f64,
    order: Order,
    /// Operations of a rank so far.
    flops: f64,
    parts: Vec<(Arc<dyn Program>, u32)>,
}

impl Builder {
    fn cells<const N: usize>(&self) -> [u64; N] {
        std::array::from_fn(|d| self.cells[d])
    }

    fn n_cells(&self) -> f64 {
        self.cells.iter().map(|&side| side as f64).product()
    }

    /// Computing of so many operations.
    fn compute(&mut self, flops: f64) -> Result<Compute, Misfit> {
        self.flops += flops;
        let time = flops / self.rate * 1e12;
        match time < 1e18 {
            true => Ok(Compute::Time(time.round() as u64)),
            false => {
                let reason = format!("{flops} operations at {} flop/s take no sensible time", self.rate);
                let hint = "a rate is positive, and an iteration is shorter than a million seconds";
                Err(Misfit::new("flop_rate", reason, hint))
            }
        }
    }

    /// One of `times` equal computations of so many operations each.
    fn compute_each(&mut self, flops: f64, times: u32) -> Result<Compute, Misfit> {
        self.flops += flops * f64::from(times.saturating_sub(1));
        self.compute(flops)
    }

    fn put(&mut self, program: impl Program + 'static, times: u32) {
        self.parts.push((Arc::new(program), times));
    }

    /// Faces, edges and corners of a block with a value of 8 bytes per cell, after some operations per cell.
    fn halo_26(&mut self, cells: [u64; 3], per_cell: f64) -> Result<(), Misfit> {
        let flops = per_cell * cells.iter().map(|&side| side as f64).product::<f64>();
        let block = CellBlocks {
            compute: self.compute(flops)?,
            order: self.order,
            ..CellBlocks::new(self.ranks, cells)
        };
        let motif = Halo3d26::new(&block, Neighbours::TwentySix)?;
        self.put(motif, 1);
        Ok(())
    }

    /// Faces, dimension by dimension, with so many bytes per cell of a face.
    fn faces(&self, value: u64, periodic: bool, compute: Compute) -> Result<Halo3d, Misfit> {
        let block = CellBlocks {
            value,
            compute,
            order: self.order,
            ..CellBlocks::new(self.ranks, self.cells())
        };
        Ok(Halo3d::new(&block)?.periodic(periodic))
    }

    /// Allreduces of all ranks.
    fn allreduces(&self, sizes: &[u64]) -> Result<AllreduceLoop, Misfit> {
        AllreduceLoop::new(&AllreduceLoopParameters {
            ranks: self.ranks,
            sizes: sizes.to_vec(),
            compute: Compute::Time(0),
            lengths: false,
            touch_fs: 0,
        })
    }

    /// A collective of groups, or of all ranks.
    fn collective(
        &self,
        kind: CollectiveKind,
        bytes: u64,
        groups: Option<Communicator>,
        compute: Compute,
    ) -> Result<CollectiveLoop, Misfit> {
        CollectiveLoop::new(&CollectiveLoopParameters {
            ranks: self.ranks,
            kind,
            bytes,
            root: 0,
            groups,
            compute,
        })
    }
}
