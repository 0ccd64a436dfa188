//! What is wrong with a trace, and why reading ends early.

use std::{fmt, io};

/// Something wrong with a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Problem {
    /// The file, as the user knows it.
    pub file: String,
    /// The rank, if it is about one.
    pub rank: Option<u32>,
    /// The record of the file from 0, the line of a text from 1.
    pub record: Option<u64>,
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub hint: String,
}

impl Problem {
    /// A problem of a file.
    pub fn new(file: impl Into<String>, reason: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem {
            file: file.into(),
            rank: None,
            record: None,
            reason: reason.into(),
            hint: hint.into(),
        }
    }

    /// A file that cannot be read.
    pub fn unreadable(file: impl Into<String>, error: &io::Error) -> Problem {
        Problem::new(file, format!("it cannot be read: {error}"), hint_of(error))
    }

    /// The same, of a rank.
    pub fn of_rank(self, rank: u32) -> Problem {
        Problem {
            rank: Some(rank),
            ..self
        }
    }

    /// The same, at a record or line.
    pub fn at(self, record: u64) -> Problem {
        Problem {
            record: Some(record),
            ..self
        }
    }
}

/// What to do about a file that the system, or what unpacks it, cannot read.
pub(crate) fn hint_of(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "give the path of a file that is there; files of one trace stay beside each other, under their own names"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::IsADirectory => "give a file that may be read",
        _ => "was it cut or damaged? copy it again",
    }
}

impl fmt::Display for Problem {
    /// `a.goal, rank 3, record 17: reason; hint`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = [
            (!self.file.is_empty()).then(|| self.file.clone()),
            self.rank.map(|rank| format!("rank {rank}")),
            self.record.map(|record| format!("record {record}")),
        ];
        let places: Vec<String> = places.into_iter().flatten().collect();
        if !places.is_empty() {
            write!(f, "{}: ", places.join(", "))?;
        }
        write!(f, "{}", self.reason)?;
        match self.hint.is_empty() {
            true => Ok(()),
            false => write!(f, "; {}", self.hint),
        }
    }
}

/// Why reading ends before the end of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadStop {
    /// The user wants it.
    Interrupted,
    /// The file cannot be read on.
    Broken(Problem),
    /// Who takes the operations cannot take more.
    Refused(String),
}

impl From<Problem> for ReadStop {
    fn from(problem: Problem) -> ReadStop {
        ReadStop::Broken(problem)
    }
}
