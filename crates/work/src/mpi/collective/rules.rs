//! Whose rules choose the algorithms that a study leaves open.

use super::algorithm::{Algorithm, ChosenAlgorithm};
use super::openmpi;
use crate::mpi::op::CollectiveKind;
use study::choice;

choice! {
    /// Whose rules choose algorithms by number of ranks and size.
    #[derive(Default)]
    pub enum CollectiveRules {
        #[default]
        Mpich = "mpich", "The switch points that were published for MPICH (Thakur, Rabenseifner, Gropp 2005).";
        OpenMpi110 = "openmpi-1.10", "The fixed choices of Open MPI 1.10 (coll/tuned), with its segments.";
    }
}

impl CollectiveRules {
    /// What they take for `bytes` among `size` ranks; `bytes` as in [`Collective`](crate::mpi::Collective).
    pub fn choose(self, kind: CollectiveKind, size: u32, bytes: u64) -> ChosenAlgorithm {
        match self {
            CollectiveRules::Mpich => Algorithm::choose(kind, size, bytes).chosen(kind),
            CollectiveRules::OpenMpi110 => openmpi::choose(kind, size, bytes),
        }
    }

    /// Whether they are those that are taken if nobody says.
    pub fn is_default(&self) -> bool {
        *self == CollectiveRules::default()
    }
}
