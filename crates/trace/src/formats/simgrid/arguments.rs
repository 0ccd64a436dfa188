//! The words of a line: actions and their arguments.

use crate::operation::{ANY_SOURCE, ANY_TAG};

/// Names of all actions, in small letters: older traces have others.
pub(super) const ACTIONS: [&str; 31] = [
    "init",
    "finalize",
    "comm_size",
    "comm_split",
    "comm_dup",
    "compute",
    "sleep",
    "location",
    "send",
    "isend",
    "recv",
    "irecv",
    "sendrecv",
    "wait",
    "test",
    "waitall",
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "alltoall",
    "alltoallv",
    "gather",
    "gatherv",
    "allgather",
    "allgatherv",
    "scatter",
    "scatterv",
    "reducescatter",
    "scan",
    "exscan",
];

/// Sizes of datatypes by number (bytes). Facts from SimGrid's `smpi_datatype.cpp`.
const SIZES: [u64; 60] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8, 8, 16, 16, 8, 8, 8,
    16, 16, 4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32, 0, 0, 1, 8, 8,
];
/// Any source, any tag and nobody, as SimGrid numbers them.
const SIMGRID_ANY_SOURCE: i64 = -555;
const SIMGRID_ANY_TAG: i64 = -444;
const SIMGRID_NOBODY: i64 = -666;
/// Numbers as large as this are no sizes.
const TOO_LARGE: f64 = 18_446_744_073_709_551_616.0;

/// Whether a word is an action.
pub(super) fn is_action(word: &str) -> bool {
    ACTIONS.iter().any(|action| action.eq_ignore_ascii_case(word))
}

/// The number of a rank; the oldest traces have a letter before it, as in `p0 send p1 1e6`.
pub(super) fn rank_of(word: &str) -> Option<u32> {
    word.strip_prefix('p').unwrap_or(word).parse().ok()
}

/// The arguments of an action, one after the other.
pub(super) struct Arguments<'a> {
    words: Vec<&'a str>,
    next: usize,
}

/// A partner of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Partner {
    /// This rank, or [`ANY_SOURCE`].
    Rank(u32),
    /// Nobody.
    Nobody,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(words: impl Iterator<Item = &'a str>) -> Arguments<'a> {
        Arguments {
            words: words.collect(),
            next: 0,
        }
    }

    /// How many are left.
    pub(super) fn left(&self) -> usize {
        self.words.len() - self.next
    }

    /// That there are no more.
    pub(super) fn end(&self) -> Result<(), String> {
        match self.words.get(self.next) {
            None => Ok(()),
            Some(word) => Err(format!("`{word}` is one argument too many")),
        }
    }

    /// Goes over all that are left.
    pub(super) fn skip(&mut self) {
        self.next = self.words.len();
    }

    fn word(&mut self, what: &str) -> Result<&'a str, String> {
        let word = self
            .words
            .get(self.next)
            .ok_or_else(|| format!("the {what} is missing"))?;
        self.next += 1;
        Ok(word)
    }

    /// A number that may be below 0.
    pub(super) fn float(&mut self, what: &str) -> Result<f64, String> {
        let word = self.word(what)?;
        let number = word
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite() && *number < TOO_LARGE);
        number.ok_or_else(|| format!("the {what} `{word}` is no number"))
    }

    /// A number that is not below 0.
    pub(super) fn amount(&mut self, what: &str) -> Result<f64, String> {
        let amount = self.float(what)?;
        match amount >= 0.0 {
            true => Ok(amount),
            false => Err(format!("the {what} {amount} is below 0")),
        }
    }

    fn integer(&mut self, what: &str) -> Result<i64, String> {
        let word = self.word(what)?;
        word.parse()
            .map_err(|_| format!("the {what} `{word}` is no whole number"))
    }

    /// The number of a rank, or one that stands for none.
    fn number_of_rank(&mut self, what: &str) -> Result<i64, String> {
        let word = self.words.get(self.next).copied().unwrap_or_default();
        match rank_of(word) {
            Some(rank) => {
                self.next += 1;
                Ok(rank.into())
            }
            None => self.integer(what),
        }
    }

    /// A rank below a number of ranks.
    pub(super) fn rank(&mut self, what: &str, ranks: u32) -> Result<u32, String> {
        let rank = self.number_of_rank(what)?;
        let known = u32::try_from(rank).ok().filter(|rank| *rank < ranks);
        known.ok_or_else(|| format!("the {what} {rank} is none of {ranks} ranks"))
    }

    /// A partner of a message; of a receive it may be anybody.
    pub(super) fn partner(&mut self, what: &str, ranks: u32, may_be_any: bool) -> Result<Partner, String> {
        let place = self.next;
        match self.number_of_rank(what)? {
            SIMGRID_NOBODY => Ok(Partner::Nobody),
            -1 | SIMGRID_ANY_SOURCE if may_be_any => Ok(Partner::Rank(ANY_SOURCE)),
            _ => {
                self.next = place;
                self.rank(what, ranks).map(Partner::Rank)
            }
        }
    }

    /// A tag; of a receive it may be any.
    pub(super) fn tag(&mut self, may_be_any: bool) -> Result<u32, String> {
        match self.integer("tag")? {
            -1 | SIMGRID_ANY_TAG if may_be_any => Ok(ANY_TAG),
            tag => u32::try_from(tag).map_err(|_| format!("the tag {tag} is none")),
        }
    }

    /// A root, 0 if it is not told.
    pub(super) fn root(&mut self, ranks: u32) -> Result<u32, String> {
        match self.left() {
            0 => Ok(0),
            _ => self.rank("root", ranks),
        }
    }

    /// The size of a datatype, if it is told.
    pub(super) fn datatype(&mut self, default: u64) -> Result<u64, String> {
        if self.left() == 0 {
            return Ok(default);
        }
        let word = self.word("datatype")?;
        let size = word.parse().ok().and_then(|number: usize| SIZES.get(number).copied());
        size.ok_or_else(|| format!("there is no datatype {word}"))
    }

    /// Whether the argument after so many others is a datatype.
    fn is_datatype(&self, after: usize) -> bool {
        let word = self.words.get(self.next + after);
        word.and_then(|word| word.parse().ok())
            .is_some_and(|number: usize| number < SIZES.len())
    }

    /// Numbers of elements, one for each rank.
    pub(super) fn list(&mut self, what: &str, ranks: u32) -> Result<Vec<f64>, String> {
        if self.left() < ranks as usize {
            return Err(format!("there are {} arguments left for {ranks} {what}", self.left()));
        }
        (0..ranks).map(|_| self.amount(what)).collect()
    }

    /// Two datatypes; among them may stand the places of parts in a buffer, one for each rank, which do not matter.
    pub(super) fn datatypes_and_places(&mut self, default: u64, ranks: u32) -> Result<[u64; 2], String> {
        let (left, n) = (self.left(), ranks as usize);
        match left {
            0..=2 => {}
            _ if left == n => {
                self.list("places", ranks)?;
            }
            _ if left == n + 1 => {
                let one = self.datatype(default)?;
                self.list("places", ranks)?;
                return Ok([one, one]);
            }
            // Older traces have the places first.
            _ if left == n + 2 && !(self.is_datatype(0) && self.is_datatype(1)) => {
                self.list("places", ranks)?;
            }
            _ => {
                let both = [self.datatype(default)?, self.datatype(default)?];
                self.list("places", ranks)?;
                return Ok(both);
            }
        }
        let first = self.datatype(default)?;
        Ok([first, self.datatype(first)?])
    }
}

/// Bytes of so many elements.
pub(super) fn bytes(count: f64, size: u64) -> u64 {
    // A conversion stops at the greatest number.
    (count * size as f64).round() as u64
}
