//! Programs one after the other, each some number of times, over and over: what an application does in one of its iterations.

use super::Misfit;
use crate::mpi::{Collective, Communicator, Op, Program};
use std::sync::Arc;

/// A program of programs. Each has communicators of its own, so that messages of one never meet receives of another.
#[derive(Clone, Debug)]
pub struct Cycle {
    parts: Vec<CyclePart>,
    communicators: Vec<Communicator>,
    rounds: u32,
}

#[derive(Clone, Debug)]
struct CyclePart {
    program: Arc<dyn Program>,
    /// Rounds of one turn of it.
    times: u32,
    /// Rounds of an iteration before it.
    start: u32,
    /// Its first communicator.
    first: u16,
}

impl Cycle {
    /// Programs for the same ranks, each with the number of its iterations in one of the whole; at least one.
    pub fn new(parts: Vec<(Arc<dyn Program>, u32)>) -> Result<Cycle, Misfit> {
        let mut cycle = Cycle {
            parts: Vec::new(),
            communicators: Vec::new(),
            rounds: 0,
        };
        for (program, times) in parts {
            let rounds = times.checked_mul(program.rounds());
            let end = rounds.and_then(|rounds| cycle.rounds.checked_add(rounds));
            let (Some(times), Some(end)) = (rounds, end) else {
                return Err(Misfit::new(
                    "iterations",
                    "an iteration has more than 2^32 - 1 parts",
                    "take less",
                ));
            };
            let first = cycle.communicators.len() as u16;
            cycle.communicators.extend_from_slice(program.communicators());
            cycle.parts.push(CyclePart {
                program,
                times,
                start: cycle.rounds,
                first,
            });
            cycle.rounds = end;
        }
        Ok(cycle)
    }
}

impl Program for Cycle {
    fn repeats_after(&self) -> Option<u32> {
        let alike = self.parts.iter().all(|part| part.program.repeats_after() == Some(1));
        alike.then_some(self.rounds)
    }

    fn ranks(&self) -> u32 {
        self.parts[0].program.ranks()
    }

    fn op(&self, rank: u32, iteration: u32, index: u32) -> Option<Op> {
        let (turn, round) = (iteration / self.rounds, iteration % self.rounds);
        let part = &self.parts[self.parts.partition_point(|part| part.start <= round) - 1];
        let own = turn.wrapping_mul(part.times).wrapping_add(round - part.start);
        let mut op = part.program.op(rank, own, index)?;
        match &mut op {
            Op::Isend(transfer) | Op::Send(transfer) | Op::Irecv(transfer) | Op::Recv(transfer) => {
                transfer.communicator += part.first;
            }
            Op::SendRecv { send, recv } => {
                send.communicator += part.first;
                recv.communicator += part.first;
            }
            Op::Collective(collective) | Op::Icollective { collective, .. } => collective.communicator += part.first,
            Op::Compute { .. } | Op::Wait { .. } | Op::WaitAll | Op::WaitAny | Op::WaitNews | Op::Test { .. } => {}
        }
        Some(op)
    }

    fn rounds(&self) -> u32 {
        self.rounds
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn pair_bytes(&self, collective: &Collective, from: u32, to: u32) -> u64 {
        let after = self.parts.partition_point(|part| part.first <= collective.communicator);
        let part = &self.parts[after - 1];
        let own = Collective {
            communicator: collective.communicator - part.first,
            ..*collective
        };
        part.program.pair_bytes(&own, from, to)
    }

    fn peers(&self) -> u32 {
        self.parts.iter().map(|part| part.program.peers()).max().unwrap_or(0)
    }
}
