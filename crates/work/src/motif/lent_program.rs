//! Programs in Rust as values of a run: lent by whoever has them, known by a number that means something in this process only.

use super::Misfit;
use crate::mpi::Program;
use crate::mpi::spec::{Motif, MotifValue};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The name of such work. No study can say it.
pub const KIND: &str = "lent-program";

/// What is lent.
static LENT: Mutex<BTreeMap<u64, Arc<dyn Program>>> = Mutex::new(BTreeMap::new());
/// The number of the next.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A program that runs may have while this lives.
#[derive(Debug)]
pub struct ProgramLoan {
    number: u64,
    ranks: u32,
}

impl ProgramLoan {
    /// Lends a program.
    pub fn new(program: Arc<dyn Program>) -> ProgramLoan {
        let ranks = program.ranks();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut lent = LENT.lock().unwrap_or_else(PoisonError::into_inner);
        lent.insert(number, program);
        ProgramLoan { number, ranks }
    }

    /// The program as the work of a job.
    pub fn motif(&self) -> Motif {
        let values = [
            ("ranks", MotifValue::Integer(self.ranks.into())),
            ("number", MotifValue::Integer(self.number)),
        ];
        Motif {
            kind: KIND.to_owned(),
            values: values.map(|(key, value)| (key.to_owned(), value)).into(),
        }
    }
}

impl Drop for ProgramLoan {
    fn drop(&mut self) {
        let mut lent = LENT.lock().unwrap_or_else(PoisonError::into_inner);
        lent.remove(&self.number);
    }
}

/// The program that such a value names.
pub(crate) fn read(motif: &Motif) -> Result<Arc<dyn Program>, Misfit> {
    let lent = LENT.lock().unwrap_or_else(PoisonError::into_inner);
    let program = match motif.values.get("number") {
        Some(MotifValue::Integer(number)) => lent.get(number).cloned(),
        _ => None,
    };
    let reason = "the program is not lent any more, or was by another process";
    program.ok_or_else(|| Misfit::new("number", reason, "make the work with ProgramLoan::motif"))
}
