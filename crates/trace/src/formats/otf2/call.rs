//! What calls of MPI mean by their names, where their records do not tell.

use crate::operation::Mode;

/// What the end of requests within a call means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestsEnd {
    /// It waits for those that end in it; if none ends, it has looked at those that are told.
    #[default]
    Some,
    /// It waits for all of them.
    All,
    /// It waits for one of those that it looks at.
    Any,
}

/// A function of MPI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MpiFunction {
    /// What the end of requests in it means.
    pub ends: RequestsEnd,
    /// The mode of what it sends.
    pub mode: Mode,
    /// A send and a receive in it are one operation.
    pub is_sendrecv: bool,
    /// It starts MPI or ends it: how long that took tells of launchers and drivers, not of the network.
    pub is_startup: bool,
}

impl MpiFunction {
    /// The function of a name, in C or Fortran, as recorders write it.
    pub fn named(name: &str) -> MpiFunction {
        let name = name
            .trim()
            .trim_end_matches("()")
            .trim_end_matches('_')
            .to_ascii_lowercase();
        let name = name.strip_prefix('p').unwrap_or(&name);
        let name = name.strip_prefix("mpi_").unwrap_or(name);
        let mode = match name {
            "ssend" | "issend" => Mode::Synchronous,
            "bsend" | "ibsend" => Mode::Buffered,
            "rsend" | "irsend" => Mode::Ready,
            _ => Mode::Standard,
        };
        MpiFunction {
            ends: match name {
                "waitall" => RequestsEnd::All,
                "waitany" => RequestsEnd::Any,
                _ => RequestsEnd::Some,
            },
            mode,
            is_sendrecv: matches!(name, "sendrecv" | "sendrecv_replace"),
            is_startup: matches!(
                name,
                "init" | "init_thread" | "finalize" | "session_init" | "session_finalize"
            ),
        }
    }
}

/// Whether a region is a call of MPI by its name alone.
pub fn is_mpi_name(name: &str) -> bool {
    name.starts_with("MPI_") || name.starts_with("PMPI_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_c_fortran_and_tau_are_the_same_function() {
        for name in ["MPI_Issend", "PMPI_Issend", "mpi_issend_", "MPI_Issend()", "MPI_ISSEND"] {
            assert_eq!(MpiFunction::named(name).mode, Mode::Synchronous, "{name}");
        }
        assert_eq!(MpiFunction::named("MPI_Waitany").ends, RequestsEnd::Any);
        assert_eq!(MpiFunction::named("mpi_waitall__").ends, RequestsEnd::All);
        assert_eq!(MpiFunction::named("MPI_Waitsome").ends, RequestsEnd::Some);
        assert!(MpiFunction::named("MPI_Sendrecv_replace").is_sendrecv);
        for (name, is_startup) in [
            ("mpi_init_thread_", true),
            ("PMPI_Finalize", true),
            ("MPI_Initialized", false),
        ] {
            assert_eq!(MpiFunction::named(name).is_startup, is_startup, "{name}");
        }
        assert_eq!(MpiFunction::named("MPI_Send"), MpiFunction::default());
    }
}
