//! What a program hears that is made up by a process as it goes.
//!
//! Nothing here changes what a rank does: the same operations from elsewhere have the same times.

use super::{Endpoint, number_of};
use des::Journal;
use work::graph::state::FIRST_OPERATION;
use work::mpi::op::{ANY_SIZE, BLOCK, UNNAMED};
use work::mpi::{HeardMessage, Program};
use work::ranks::Phase;
use work::ranks::state::{Item, item};

impl<J: Journal> Endpoint<'_, J> {
    /// The program that hears of messages of a context, with the number of its communicator, and of requests.
    fn listener(&self, context: u16) -> Option<(&dyn Program, u16)> {
        let number = number_of(context);
        let before = |phase: &&Phase| phase.first_context <= number;
        let phase = self.plan.phases.iter().rev().find(before)?;
        let communicator = number - phase.first_context;
        phase.program.is_live().then(|| (&*phase.program, communicator))
    }

    /// A message, or its announcement, as a program hears of it; nothing of what collectives do.
    fn heard(&self, message: &Item) -> Option<(&dyn Program, HeardMessage)> {
        if message.context & super::COLLECTIVE != 0 {
            return None;
        }
        let (program, communicator) = self.listener(message.context)?;
        let heard = HeardMessage {
            source: message.rank,
            communicator,
            tag: message.tag,
            bytes: match message.kind {
                item::EAGER => message.bytes,
                _ => ANY_SIZE,
            },
        };
        Some((program, heard))
    }

    /// Says that a receive has its message, or the announcement of it.
    #[cold]
    pub(super) fn tell_matched(&self, receive: &Item, message: &Item) {
        if receive.name < FIRST_OPERATION
            && let Some((program, heard)) = self.heard(message)
        {
            program.matched(self.number, receive.name as u16, &heard);
        }
    }

    /// Says that a message has come that no receive was posted for.
    #[cold]
    pub(super) fn tell_arrived(&self, message: &Item) {
        if let Some((program, heard)) = self.heard(message) {
            program.arrived(self.number, &heard, message.time);
        }
    }

    /// Says that a request of the part that the rank is in is complete.
    #[cold]
    pub(super) fn tell_completed(&self, name: u32, at: u64) {
        let of_program = name < FIRST_OPERATION && ![BLOCK, UNNAMED].contains(&(name as u16));
        let phase = self.plan.phases.get(self.rank().phase as usize);
        if let Some(phase) = phase.filter(|phase| of_program && phase.program.is_live()) {
            phase.program.completed(self.number, name as u16, at);
        }
    }
}
