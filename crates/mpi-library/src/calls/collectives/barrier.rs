//! The barrier.

use super::{CollectivePlan, CollectiveWay, ToldCollective, bring_nothing, three_ways};
use crate::{faces::Face, fault::Answer, library::Library};
use coupling::entry::collective;

fn barrier_plan<F: Face>(library: &Library, comm: F::Handle, way: CollectiveWay<F>) -> Answer {
    let comm = library.comm::<F>(comm)?;
    let told = ToldCollective::Operation(collective::BARRIER, 0, 0, None);
    let plan = CollectivePlan {
        comm,
        name: "MPI_Barrier",
        root: 0,
        told,
        bring: Box::new(bring_nothing),
        take: Box::new(|_, _| Ok(())),
    };
    plan.go(library, way)
}

three_ways! {
    /// Nobody goes on before everybody has come.
    barrier "MPI_Barrier", ibarrier "MPI_Ibarrier", barrier_init "MPI_Barrier_init" <>(comm: F::Handle)
        |library, way| barrier_plan::<F>(library, comm, way);
}
