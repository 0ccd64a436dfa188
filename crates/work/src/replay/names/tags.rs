//! Tags of 32 bits, each in a communicator of its own, as tags of 16 bits in one.
//!
//! The first [`SHARED`] pairs of communicator and tag that a trace has are the same for all ranks; a tag that fits is its own name if no
//! other communicator's has it, so that small traces keep theirs. A pair that comes later is named by
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
#[derive(Debug)]
pub struct TagNames {
    shared: HashMap<(u32, u32), u16>,
    /// Names below [`SHARED`] that are given.
    taken: Vec<bool>,
    /// Names from here on to [`SHARED`] are given.
    below: u16,
    /// By receiver, communicator and tag.
    own: HashMap<(u32, u32, u32), u16>,
    /// How many each receiver has of its own.
    given: HashMap<u32, u16>,
    /// What was asked for last: a loop asks for it again.
    last: Option<((u32, u32), u16)>,
}

impl Default for TagNames {
    fn default() -> TagNames {
        TagNames {
            shared: HashMap::new(),
            taken: vec![false; usize::from(SHARED)],
            below: SHARED,
            own: HashMap::new(),
            given: HashMap::new(),
            last: None,
        }
    }
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
        if let Some(name) = self.free(tag) {
            self.taken[usize::from(name)] = true;
            self.shared.insert(pair, name);
            return Ok(name);
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

impl TagNames {
    /// A name that all ranks may share: the tag itself, or the highest that is free.
    fn free(&mut self, tag: u32) -> Option<u16> {
        if let Some(false) = self.taken.get(tag as usize) {
            return Some(tag as u16);
        }
        while self.below > 0 && self.taken[usize::from(self.below) - 1] {
            self.below -= 1;
        }
        self.below.checked_sub(1)
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
    fn small_tags_of_one_communicator_stay_as_they_are() {
        let mut names = TagNames::default();
        for tag in [7, 0, 1_024, 32_767, 1] {
            assert_eq!(names.name(0, 0, tag), Ok(tag as u16));
        }
        assert_eq!(names.name(0, 0, 70_000), Ok(32_766));
        assert_eq!(names.name(0, 1, 7), Ok(32_765));
        assert_eq!(names.name(0, 1, 8), Ok(8));
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
