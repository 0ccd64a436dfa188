//! Skeletons of applications: what one iteration of a program sends and how long it computes, put together from other motifs.
//!
//! The patterns are those that the sources of each say; sizes follow from the cells of a rank, so that more ranks are weak scaling. Times
//! come from operations per cell and a sustained rate: 10 Gflop/s stand for a node of two six-core processors of 2010 whose memory
//! (64 GB/s) bounds stencils. Numbers that no source gives are ours and stand in the constants below; `docs/models/applications.md` tells
//! which. What is left out: start and end, input and output, load imbalance, and communication that hides behind computing.

use super::{
    AllreduceLoop, Block, CollectiveLoop, Compute, Cycle, Grid, Halo3d, Halo3d26, Misfit, MpiGraph, Neighbours, Order,
    Stencil, Suba2a, allreduce_loop, collective_loop, mpi_graph, product, suba2a,
};
use crate::mpi::{CollectiveKind, Communicator, Program};
use std::sync::Arc;

/// Operations of a rank per second unless said otherwise.
pub const RATE: f64 = 1e10;

/// An application.
#[derive(Clone, Copy)]
pub struct Application {
    /// Its name in a study file.
    pub name: &'static str,
    /// Cells of a rank unless said otherwise.
    pub cells: &'static [u64],
    /// What it does in an iteration.
    build: fn(&mut Builder) -> Result<(), Misfit>,
}

/// Every application.
pub const APPLICATIONS: [Application; 10] = [
    Application {
        name: "hpcg",
        cells: &[104, 104, 104],
        build: hpcg,
    },
    Application {
        name: "amg",
        cells: &[64, 64, 64],
        build: amg,
    },
    Application {
        name: "comd",
        cells: &[20, 20, 20],
        build: comd,
    },
    Application {
        name: "minife",
        cells: &[100, 100, 100],
        build: minife,
    },
    Application {
        name: "swfft",
        cells: &[64, 64, 64],
        build: swfft,
    },
    Application {
        name: "ffvc",
        cells: &[128, 128, 128],
        build: ffvc,
    },
    Application {
        name: "mvmc",
        cells: &[1024],
        build: mvmc,
    },
    Application {
        name: "ntchem",
        cells: &[32, 32, 8],
        build: ntchem,
    },
    Application {
        name: "milc",
        cells: &[16, 16, 16, 16],
        build: milc,
    },
    Application {
        name: "qball",
        cells: &[96, 96, 96],
        build: qball,
    },
];

/// How an application is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Number of ranks.
    pub ranks: u32,
    /// Cells of a rank, as many numbers as [`Application::cells`] has.
    pub cells: Option<Vec<u64>>,
    /// Time that a rank computes in an iteration (ps), in place of that from operations and `rate`.
    pub time: Option<u64>,
    /// Operations of a rank per second.
    pub rate: f64,
    /// In which order a rank turns to its neighbours.
    pub order: Order,
}

impl Application {
    /// The application with a name.
    pub fn named(name: &str) -> Option<Application> {
        APPLICATIONS.into_iter().find(|application| application.name == name)
    }

    /// Its program.
    pub fn program(&self, parameters: &Parameters) -> Result<Cycle, Misfit> {
        let cells = parameters.cells.clone().unwrap_or_else(|| self.cells.to_vec());
        if cells.len() != self.cells.len() {
            let reason = format!("has {} numbers, not {}", cells.len(), self.cells.len());
            let hint = format!("give {} such as {:?}", self.cells.len(), self.cells);
            return Err(Misfit::new("cells", reason, hint));
        }
        product("cells", &cells)?;
        let told = |rate| {
            let mut builder = Builder {
                ranks: parameters.ranks,
                cells: cells.clone(),
                rate,
                order: parameters.order,
                flops: 0.0,
                parts: Vec::new(),
            };
            (self.build)(&mut builder).map(|()| builder)
        };
        let told = match parameters.time {
            None => told(parameters.rate)?,
            Some(0) => told(f64::INFINITY)?,
            Some(time) => {
                let flops = told(f64::INFINITY)?.flops;
                told(flops / (time as f64 * 1e-12))?
            }
        };
        Cycle::new(told.parts)
    }
}

/// Puts an iteration together.
struct Builder {
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
        let block = Block {
            ranks: self.ranks,
            cells,
            compute: self.compute(flops)?,
            order: self.order,
            ..Block::default()
        };
        let motif = Halo3d26::new(&block, Neighbours::TwentySix)?;
        self.put(motif, 1);
        Ok(())
    }

    /// Faces, dimension by dimension, with so many bytes per cell of a face.
    fn faces(&self, value: u64, periodic: bool, compute: Compute) -> Result<Halo3d, Misfit> {
        let block = Block {
            ranks: self.ranks,
            cells: self.cells(),
            value,
            compute,
            order: self.order,
            ..Block::default()
        };
        Ok(Halo3d::new(&block)?.periodic(periodic))
    }

    /// Allreduces of all ranks.
    fn allreduces(&self, sizes: &[u64]) -> Result<AllreduceLoop, Misfit> {
        AllreduceLoop::new(&allreduce_loop::Parameters {
            ranks: self.ranks,
            sizes: sizes.to_vec(),
            compute: Compute::Time(0),
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
        CollectiveLoop::new(&collective_loop::Parameters {
            ranks: self.ranks,
            kind,
            bytes,
            root: 0,
            groups,
            compute,
        })
    }
}

/// A multigrid-preconditioned conjugate gradient on a 27-point stencil (Heroux, Dongarra, Luszczek 2013, HPCG technical specification).
///
/// Four grids, each of half the sides of the one before. Down: a symmetric Gauss-Seidel sweep and a residual on each but the coarsest;
/// there a sweep; up: a sweep. Then a scalar product, a product with the matrix, and two scalar products. A sweep or product begins with
/// an exchange of halos; a product takes 54 operations per cell, a symmetric sweep 108.
fn hpcg(b: &mut Builder) -> Result<(), Misfit> {
    let fine = b.cells();
    let level = |l: u32| fine.map(|side: u64| side.div_ceil(1 << l));
    for l in 0..3 {
        b.halo_26(level(l), 108.0)?;
        b.halo_26(level(l), 54.0)?;
    }
    for l in (0..=3).rev() {
        b.halo_26(level(l), 108.0)?;
    }
    b.put(b.allreduces(&[8])?, 1);
    b.halo_26(fine, 54.0 + 12.0)?;
    b.put(b.allreduces(&[8, 8])?, 1);
    Ok(())
}

/// A conjugate gradient preconditioned by algebraic multigrid (proxy application AMG of the Exascale Computing Project; hypre's BoomerAMG,
/// Henson and Yang 2002), on a 27-point stencil.
///
/// One V(1,1) cycle: on each level a relaxation, a residual and a relaxation, each after an exchange with up to 26 neighbours; levels
/// shrink by 2 along each side, as geometric coarsening would, down to 2; the coarsest system is gathered by everybody, 8 bytes per rank.
/// Then a product with the matrix and two scalar products.
fn amg(b: &mut Builder) -> Result<(), Misfit> {
    let fine: [u64; 3] = b.cells();
    let levels = fine.iter().min().map_or(0, |side| side.max(&1).ilog2());
    let level = |l: u32| fine.map(|side| side.div_ceil(1 << l));
    for l in 0..levels {
        b.halo_26(level(l), 54.0)?;
        b.halo_26(level(l), 54.0)?;
    }
    b.put(b.collective(CollectiveKind::Allgather, 8, None, Compute::Time(0))?, 1);
    for l in (0..levels).rev() {
        b.halo_26(level(l), 54.0)?;
    }
    b.halo_26(fine, 54.0 + 12.0)?;
    b.put(b.allreduces(&[8, 8])?, 1);
    Ok(())
}

/// Molecular dynamics with embedded-atom potential (proxy application CoMD 1.1 of ExMatEx; weak scaling of copper, 4 atoms per cell).
///
/// Ten time steps. Each sends atoms within the cutoff of a face, dimension by dimension around a periodic box: a shell 1.44 unit cells
/// thick, 5.76 atoms of 56 bytes per cell of a face; computes the forces; and sends 8 bytes per atom of the shell for the embedding
/// term. After ten steps energy and number of atoms are summed. 86 neighbours of an atom with 120 operations each are ours.
fn comd(b: &mut Builder) -> Result<(), Misfit> {
    const STEPS: u32 = 10;
    let step = b.compute_each(b.n_cells() * 4.0 * 86.0 * 120.0, STEPS)?;
    let atoms = Arc::new(b.faces(323, true, Compute::Time(0))?);
    let embedding = Arc::new(b.faces(46, true, step)?);
    b.put(Cycle::new(vec![(atoms, 1), (embedding, 1)])?, STEPS);
    b.put(b.allreduces(&[16, 8])?, 1);
    Ok(())
}

/// An unpreconditioned conjugate gradient of finite elements (proxy application miniFE; Heroux et al. 2009, SAND2009-5574).
///
/// A product with the matrix of 27 values per row after an exchange of the faces, edges and corners of the nodes, and two scalar products.
fn minife(b: &mut Builder) -> Result<(), Misfit> {
    let nodes = b.cells::<3>().map(|side| side + 1);
    b.halo_26(nodes, 54.0 + 10.0)?;
    b.put(b.allreduces(&[8, 8])?, 1);
    Ok(())
}

/// A Fourier transform and its inverse on pencils (proxy application SWFFT, from HACC; Habib et al. 2016).
///
/// Blocks are made pencils along a dimension and blocks again, for z, y and x in turn: two all-to-alls on the lines of that dimension,
/// each carrying all complex values of 16 bytes of a rank. 5 log2 N operations per cell and transform of N cells.
fn swfft(b: &mut Builder) -> Result<(), Misfit> {
    let sides = Grid::<3>::near_cubic(b.ranks)?.sides();
    let own = product("cells", &[product("cells", &b.cells)?, 16])?;
    let all = b.n_cells() * f64::from(b.ranks);
    for _ in 0..2 {
        for d in [2, 1, 0] {
            let compute = b.compute(b.n_cells() * 5.0 * all.log2() / 3.0)?;
            for compute in [Compute::Time(0), compute] {
                let mut bytes = [0; 3];
                bytes[d] = own / u64::from(sides[d]);
                let motif = Suba2a::new(&suba2a::Parameters {
                    ranks: b.ranks,
                    grid: None,
                    bytes,
                    compute,
                })?;
                b.put(motif, 1);
            }
        }
    }
    Ok(())
}

/// An unsteady incompressible flow by fractional steps (FFV-C of RIKEN's Fiber mini-applications).
///
/// A time step: two layers of three velocities to 6 neighbours, 4 bytes each, 500 operations per cell; then 20 sweeps of red-black
/// over-relaxation for the pressure, each of two exchanges of half a layer and a sum of 8 bytes, 14 operations per cell. The number of
/// sweeps and of operations are ours.
fn ffvc(b: &mut Builder) -> Result<(), Misfit> {
    const SWEEPS: u32 = 20;
    let velocities = b.compute(b.n_cells() * 500.0)?;
    b.put(b.faces(2 * 3 * 4, false, velocities)?, 1);
    let half = b.compute_each(b.n_cells() * 7.0, 2 * SWEEPS)?;
    let colour = Arc::new(b.faces(2, false, half)?);
    let residual = Arc::new(b.allreduces(&[8])?);
    b.put(Cycle::new(vec![(colour, 2), (residual, 1)])?, SWEEPS);
    Ok(())
}

/// Variational Monte Carlo with stochastic reconfiguration (mVMC of RIKEN's Fiber mini-applications; Misawa et al. 2019).
///
/// A step: sampling, which needs no messages; sums of the n derivatives and of the n x n matrix of their products, 8 bytes each; the
/// solution, broadcast. 200 operations per element of the matrix are ours: most of them are the samples' outer products.
fn mvmc(b: &mut Builder) -> Result<(), Misfit> {
    let n = b.cells[0];
    let compute = b.compute(200.0 * n as f64 * n as f64)?;
    let matrix = product("cells", &[n, n, 8])?;
    b.put(b.collective(CollectiveKind::Allreduce, matrix, None, compute)?, 1);
    b.put(b.allreduces(&[8 * n, 8])?, 1);
    b.put(b.collective(CollectiveKind::Bcast, 8 * n, None, Compute::Time(0))?, 1);
    Ok(())
}

/// Second-order perturbation energies from blocks of three-centre integrals (NTChem-MINI, RI-MP2, of RIKEN's Fiber mini-applications).
///
/// Every rank multiplies its block with that of every other one: a block of 8-byte values from the rank d before, d = 1, 2, ..., and a
/// product of matrices; at the end a sum of 8 bytes. 2 x 256 operations per value of a block are ours.
fn ntchem(b: &mut Builder) -> Result<(), Misfit> {
    let block = product("cells", &[product("cells", &b.cells)?, 8])?;
    let exchanges = b.ranks.saturating_sub(1);
    let each = b.compute_each(b.n_cells() * 512.0, exchanges)?;
    if exchanges > 0 {
        let motif = MpiGraph::new(&mpi_graph::Parameters {
            ranks: b.ranks,
            bytes: block,
            window: 1,
            barrier: false,
            compute: each,
        })?;
        b.put(motif, 1);
    }
    b.put(b.allreduces(&[8])?, 1);
    Ok(())
}

/// A conjugate gradient of staggered fermions on a four-dimensional lattice (MILC, su3_rmd; Bauer, Gottlieb, Hoefler 2012).
///
/// Two products with the improved matrix, each with nearest neighbours and with third ones: half of the sites of a face have a vector of
/// 48 bytes, one layer and three layers deep, to 8 neighbours; two sums of 8 bytes. 1,187 operations per site and iteration.
fn milc(b: &mut Builder) -> Result<(), Misfit> {
    let compute = b.compute_each(b.n_cells() * 1187.0 / 2.0, 2)?;
    let layers = |value, compute| {
        Stencil::<4>::new(&Block {
            ranks: b.ranks,
            cells: b.cells(),
            value,
            compute,
            order: b.order,
            ..Block::default()
        })
    };
    let near: Arc<dyn Program> = Arc::new(layers(24, Compute::Time(0))?);
    let third: Arc<dyn Program> = Arc::new(layers(72, compute)?);
    b.put(Cycle::new(vec![(near, 1), (third, 1)])?, 2);
    b.put(b.allreduces(&[8, 8])?, 1);
    Ok(())
}

/// Plane-wave density functional theory on a grid of ranks (qb@ll; Gygi 2008, "Architecture of Qbox").
///
/// Columns of ranks share 8 electronic states each. Every state is transformed there and back, an all-to-all within the column each
/// time; the density, 8 bytes per cell of the column's part, is summed along the rows; orthogonalisation sums the matrix of overlaps
/// within columns and broadcasts a block of states along rows. Cells are those of the whole transform.
fn qball(b: &mut Builder) -> Result<(), Misfit> {
    const STATES: u64 = 8;
    let grid = Grid::<2>::near_cubic(b.ranks)?;
    let [rows, columns] = grid.sides();
    let line = |d| Some(grid.lines(d));
    let cells = product("cells", &b.cells)?;
    let part = cells.div_ceil(rows.into());
    let transforms = 2 * STATES as u32;
    let flops = 5.0 * b.n_cells() * b.n_cells().log2() / f64::from(rows);
    let each = b.compute_each(flops, transforms)?;
    let transpose = b.collective(
        CollectiveKind::Alltoall,
        product("cells", &[part, 16])?.div_ceil(rows.into()),
        line(0),
        each,
    )?;
    b.put(transpose, transforms);
    let density = product("cells", &[part, 8])?;
    b.put(
        b.collective(CollectiveKind::Allreduce, density, line(1), Compute::Time(0))?,
        1,
    );
    let states = STATES * u64::from(columns);
    let overlaps = b.compute(2.0 * STATES as f64 * states as f64 * part as f64)?;
    let matrix = product("cells", &[states, states, 8])?;
    b.put(b.collective(CollectiveKind::Allreduce, matrix, line(0), overlaps)?, 1);
    let block = product("cells", &[STATES, part, 16])?;
    b.put(
        b.collective(CollectiveKind::Bcast, block, line(1), Compute::Time(0))?,
        1,
    );
    Ok(())
}
