//! Who is in which communicator, and whether communicators are what the header of a trace may say.

use super::findings::{About, TraceFindings};
use crate::header::{Members, TraceHeader};

/// Answers who is in a communicator, in O(log members).
#[derive(Debug, Default)]
pub(crate) struct KnownCommunicators {
    of: Vec<KnownMembers>,
}

#[derive(Debug)]
enum KnownMembers {
    /// The header's members answer by themselves: a range, or a list that rises.
    Plain,
    /// The members of a list in rising order.
    Sorted(Vec<u32>),
    /// It is not what a communicator may be; this was told.
    Broken,
}

impl KnownCommunicators {
    /// Looks at those of a header, and tells what is wrong with them.
    pub fn of(header: &TraceHeader, findings: &mut TraceFindings) -> KnownCommunicators {
        let known = |(number, members): (usize, &Members)| match know(header, members) {
            Ok(known) => known,
            Err((reason, hint)) => {
                findings.tell(header, About::Communicators, || {
                    (format!("communicator {number} {reason}"), hint)
                });
                KnownMembers::Broken
            }
        };
        let of: Vec<KnownMembers> = header.communicators.iter().enumerate().map(known).collect();
        if header
            .communicators
            .first()
            .is_none_or(|first| first.len() != header.ranks)
        {
            findings.tell(header, About::Communicators, || {
                let reason = "communicator 0 does not have all ranks".to_owned();
                (
                    reason,
                    format!("it has the ranks 0..={}", header.ranks.saturating_sub(1)),
                )
            });
        }
        KnownCommunicators { of }
    }

    /// Whether a communicator is there and is sound.
    pub fn is_sound(&self, communicator: u32) -> bool {
        let known = self.of.get(communicator as usize);
        known.is_some_and(|known| !matches!(known, KnownMembers::Broken))
    }

    /// Whether a rank is in a sound communicator.
    pub fn has(&self, header: &TraceHeader, communicator: u32, rank: u32) -> bool {
        match (
            &self.of[communicator as usize],
            &header.communicators[communicator as usize],
        ) {
            (KnownMembers::Sorted(sorted), _) => sorted.binary_search(&rank).is_ok(),
            (_, Members::List(rising)) => rising.binary_search(&rank).is_ok(),
            (_, range) => range.number(rank).is_some(),
        }
    }
}

/// How members are looked up, or what is wrong with them.
fn know(header: &TraceHeader, members: &Members) -> Result<KnownMembers, (String, String)> {
    let beyond = |rank: u64| {
        let hint = format!("ranks are 0..={}", header.ranks.saturating_sub(1));
        (format!("has rank {rank}, which is not there"), hint)
    };
    let twice = |rank: u32| (format!("has rank {rank} twice"), "every rank once".to_owned());
    match members {
        Members::Range { count: 0, .. } => Ok(KnownMembers::Plain),
        Members::Range { first, count, stride } => {
            if *stride == 0 && *count > 1 {
                return Err(twice(*first));
            }
            let last = u64::from(*first) + u64::from(*count - 1) * u64::from(*stride);
            match last < header.ranks.into() {
                true => Ok(KnownMembers::Plain),
                false => Err(beyond(last)),
            }
        }
        Members::List(ranks) => {
            if let Some(rank) = ranks.iter().find(|rank| **rank >= header.ranks) {
                return Err(beyond((*rank).into()));
            }
            if ranks.is_sorted_by(|a, b| a < b) {
                return Ok(KnownMembers::Plain);
            }
            let mut sorted = ranks.clone();
            sorted.sort_unstable();
            match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                Some(pair) => Err(twice(pair[0])),
                None => Ok(KnownMembers::Sorted(sorted)),
            }
        }
    }
}
