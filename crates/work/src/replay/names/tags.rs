//! Tags of 32 bits, each in a communicator of its own, as tags of 16 bits in one.
//!
//! The first [`SHARED`] pairs of communicator and tag that a trace has are the same for all ranks. A pair that comes later is named by
//! the rank that receives it, which is the only one that tells messages apart by it: every rank has [`OWN`] such names.

use crate::mpi::op::ANY_TAG;
use std::collections::HashMap;
use trace::Problem;

/// Pairs of communicator and tag that all ranks share.
pub const SHARED: u16 = 1 << 15;
/// Further pairs that a rank may receive.
pub const OWN: u16 = ANY_TAG - SHARED;
/// Most pairs of communicator and tag, those that receivers have of their own counted for each: about 0.5 GB.
pub const MOST: usize = 1 << 24;

/// The names of tags that were given so far.
#[derive(Debug, Default)]
pub struct TagNames {
    shared: HashMap<(u32, u32), u16>,
    /// By receiver, communicator and tag.
    own: HashMap<(u32, u32, u32), u16>,
    /// How many each receiver has of its own.
    given: HashMap<u32, u16>,
    /// What was asked for last: a loop asks for it again.
    last: Option<((u32, u32), u16)>,
}

impl TagNames {
    /// The tag of a message to `receiver`, or of a receive there; [`trace::operation::ANY_TAG`] is [`ANY_TAG`]. Sender and receiver
    /// get the same, whoever asks first.
    ///
    /// # Errors
    /// A trace with too many tags.
    pub fn name(&mut self, receiver: u32, communicator: u32, tag: u32) -> Result<u16, Problem> {
        if tag == trace::operation::ANY_TAG {
            return Ok(ANY_TAG);
        }
        let pair = (communicator, tag);
        if let Some((last, name)) = self.last
            && last == pair
        {
            return Ok(name);
        }
        if let Some(name) = self.shared.get(&pair) {
            self.last = Some((pair, *name));
            return Ok(*name);
        }
        if let Some(name) = self.own.get(&(receiver, communicator, tag)) {
            return Ok(*name);
        }
        let next = self.shared.len();
        if next < usize::from(SHARED) {
            self.shared.insert(pair, next as u16);
            return Ok(next as u16);
        }
        let given = self.given.entry(receiver).or_default();
        if *given == OWN || self.own.len() == MOST {
            let whose = match *given == OWN {
                true => format!("messages to rank {receiver} have"),
                false => "messages have".to_owned(),
            };
            let most = match *given == OWN {
                true => usize::from(SHARED) + usize::from(OWN),
                false => usize::from(SHARED) + MOST,
            };
            let reason = format!("{whose} more than {most} different tags, those of communicators counted apart");
            let hint = "ranks tell messages apart by 16 bits: cut the trace, or number its messages in fewer tags";
            return Err(Problem::new("", reason, hint));
        }
        let name = SHARED + *given;
        *given += 1;
        self.own.insert((receiver, communicator, tag), name);
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn equal_pairs_have_equal_names_and_others_others() {
        let mut names = TagNames::default();
        let mut seen = BTreeSet::new();
        for communicator in [0, 1, u32::MAX] {
            for tag in [0, 1, 65_534, 65_535, 65_536, u32::MAX - 1] {
                let name = names.name(3, communicator, tag).unwrap();
                assert!(seen.insert(name), "{communicator} {tag}");
                // The sender asks for the same, and any other receiver.
                assert_eq!(names.name(3, communicator, tag), Ok(name));
                assert_eq!(names.name(7, communicator, tag), Ok(name));
            }
        }
        assert_eq!(names.name(3, 1, trace::operation::ANY_TAG), Ok(ANY_TAG));
        assert!(!seen.contains(&ANY_TAG));
    }

    #[test]
    fn every_receiver_has_room_for_all_tags_and_no_more() {
        let mut names = TagNames::default();
        let mut of_nine = BTreeSet::new();
        for tag in 0..u32::from(ANY_TAG) {
            assert!(of_nine.insert(names.name(9, 0, tag).unwrap()), "{tag}");
        }
        assert_eq!(of_nine.last(), Some(&(ANY_TAG - 1)));
        let refused = names.name(9, 0, u32::from(ANY_TAG)).unwrap_err();
        assert!(refused.reason.contains("rank 9 have more than 65535"), "{refused}");
        assert!(!refused.hint.is_empty());
        // What has a name keeps it, and another receiver has names of its own for what was never shared.
        for tag in [0, 40_000, 65_534] {
            assert!(of_nine.contains(&names.name(9, 0, tag).unwrap()), "{tag}");
        }
        assert_eq!(names.name(8, 1, 5), Ok(SHARED));
        assert_eq!(names.name(8, 0, 5), Ok(5));
        assert_eq!(names.name(8, 2, 5), Ok(SHARED + 1));
        assert_eq!(names.name(8, 1, 5), Ok(SHARED));
    }
}
