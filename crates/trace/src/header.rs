//! What is known of a trace before its operations.

use serde::{Deserialize, Serialize};

/// Whether the operations of a rank follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceForm {
    /// Each comes after the one before it.
    #[default]
    Program,
    /// Each comes after those that it lists.
    Graph,
}

/// What the work of computations is told in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkUnit {
    /// Time (ps).
    #[default]
    Picoseconds,
    /// Instructions or floating-point operations, which take time at a rate that the recording does not tell.
    Instructions,
}

/// The ranks of a communicator, in the order of their numbers in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Members {
    /// `count` ranks from `first` on, `stride` apart.
    Range {
        /// The first.
        first: u32,
        /// How many.
        count: u32,
        /// Their distance.
        stride: u32,
    },
    /// CollectedOperation.
    List(Vec<u32>),
}

impl Members {
    /// All of so many ranks.
    pub fn all(ranks: u32) -> Members {
        Members::Range {
            first: 0,
            count: ranks,
            stride: 1,
        }
    }

    /// These ranks, told shortly where they are at equal distances.
    pub fn of(ranks: Vec<u32>) -> Members {
        let stride = match ranks[..] {
            [first, second, ..] if second > first => second - first,
            [_] => 1,
            _ => return Members::List(ranks),
        };
        let even = ranks
            .windows(2)
            .all(|pair| pair[1].checked_sub(pair[0]) == Some(stride));
        match even {
            true => Members::Range {
                first: ranks[0],
                count: ranks.len() as u32,
                stride,
            },
            false => Members::List(ranks),
        }
    }

    /// How many they are.
    pub fn len(&self) -> u32 {
        match self {
            Members::Range { count, .. } => *count,
            Members::List(ranks) => ranks.len() as u32,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rank with a number in the communicator.
    pub fn rank(&self, number: u32) -> Option<u32> {
        match self {
            Members::Range { first, count, stride } => (number < *count).then(|| first + number * stride),
            Members::List(ranks) => ranks.get(number as usize).copied(),
        }
    }

    /// The number of a rank in the communicator; O(members) for a list.
    pub fn number(&self, rank: u32) -> Option<u32> {
        match self {
            Members::Range { first, count, stride } => {
                let distance = rank.checked_sub(*first)?;
                let number = distance / (*stride).max(1);
                (distance % (*stride).max(1) == 0 && number < *count).then_some(number)
            }
            Members::List(ranks) => ranks.iter().position(|member| *member == rank).map(|i| i as u32),
        }
    }

    /// The ranks in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len()).filter_map(|number| self.rank(number))
    }
}

/// How many things a recording defines that no operation names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherDefinitions {
    /// Communicators: of each rank by itself, between two groups, of another system than MPI.
    pub communicators: usize,
    /// Regions that are not the program's: calls of MPI and of libraries.
    pub regions: usize,
}

/// What is known of a trace before its operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceHeader {
    /// Name of the format that it was recorded in.
    pub format: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Whether the operations of a rank follow each other.
    pub form: TraceForm,
    /// What computations are told in.
    pub unit: WorkUnit,
    /// The communicators by number; the first has all ranks.
    pub communicators: Vec<Members>,
    /// What the recording defines besides.
    pub others: OtherDefinitions,
    /// The file of each rank, or one for all; as messages name them.
    pub files: Vec<String>,
    /// Why it ends before the run that it is of would have, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

impl TraceHeader {
    /// A trace of a format with one communicator and no file.
    pub fn new(format: &str, ranks: u32, form: TraceForm) -> TraceHeader {
        TraceHeader {
            format: format.to_owned(),
            ranks,
            form,
            unit: WorkUnit::Picoseconds,
            communicators: vec![Members::all(ranks)],
            others: OtherDefinitions::default(),
            files: Vec::new(),
            incomplete: None,
        }
    }

    /// The file that a rank's operations are from.
    pub fn file(&self, rank: u32) -> &str {
        let file = self.files.get(rank as usize).or(self.files.first());
        file.map_or("", String::as_str)
    }
}
