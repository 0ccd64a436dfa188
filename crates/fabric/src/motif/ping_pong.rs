//! Ping-pong between rank 0 and another one, size by size (as osu_latency of the OSU micro-benchmarks does it).

use super::{Misfit, Ops, at_least, sized};
use crate::mpi::{Communicator, Op, Program};

/// Parameters of [`PingPong`].
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// Number of ranks; those that are no partners have nothing to do.
    pub ranks: u32,
    /// The rank that answers.
    pub partner: u32,
    /// Sizes of messages, in order.
    pub sizes: Vec<u64>,
    /// Round trips of each size.
    pub repeat: u32,
}

/// The motif.
#[derive(Clone, Debug)]
pub struct PingPong {
    partner: u32,
    sizes: Vec<u64>,
    repeat: u32,
    communicators: [Communicator; 1],
}

impl PingPong {
    /// Name of the motif.
    pub const NAME: &str = "ping-pong";

    /// Fits the motif to its ranks.
    pub fn new(parameters: &Parameters) -> Result<PingPong, Misfit> {
        let Parameters {
            ranks, partner, repeat, ..
        } = *parameters;
        at_least(ranks, 2)?;
        if partner == 0 || partner >= ranks {
            let reason = format!("rank {partner} cannot answer rank 0 in a job of {ranks}");
            return Err(Misfit::new("partner", reason, format!("take one of 1..={}", ranks - 1)));
        }
        if parameters.sizes.len() as u64 * u64::from(repeat) > 1 << 30 {
            let reason = format!("{} sizes {repeat} times are too many", parameters.sizes.len());
            return Err(Misfit::new("repeat", reason, "take more iterations instead"));
        }
        Ok(PingPong {
            partner,
            sizes: parameters
                .sizes
                .iter()
                .map(|&bytes| sized("sizes", bytes))
                .collect::<Result<_, _>>()?,
            repeat,
            communicators: [Communicator::World(ranks)],
        })
    }
}

impl Program for PingPong {
    fn op(&self, rank: u32, _iteration: u32, index: u32) -> Option<Op> {
        let mut ops = Ops::new(index);
        if rank == 0 || rank == self.partner {
            ops.rounds(self.sizes.len() as u32 * self.repeat, 2, |ops, round| {
                let bytes = self.sizes[(round / self.repeat) as usize];
                if rank == 0 {
                    ops.send(self.partner, bytes);
                    ops.recv(self.partner, bytes);
                } else {
                    ops.recv(0, bytes);
                    ops.send(0, bytes);
                }
            });
        }
        ops.found()
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn peers(&self) -> u32 {
        1
    }
}
