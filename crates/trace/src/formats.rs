//! A room for each format.

pub mod chakra;
pub mod dumpi;
pub mod flow_graph;
pub mod flows;
pub mod goal;
pub mod htsim;
pub mod liballprof;
pub mod msccl;
pub mod ops;
pub mod otf2;
pub mod simgrid;
pub mod work;

use crate::format::ListedReader;

/// Every format: a line each.
pub(crate) const LIST: &[ListedReader] = &[
    ListedReader::of::<work::WorkFormat>(),
    ListedReader::of::<otf2::Otf2>(),
    ListedReader::of::<dumpi::Dumpi>(),
    ListedReader::of::<goal::GoalText>(),
    ListedReader::of::<goal::GoalBinary>(),
    ListedReader::of::<chakra::Chakra>(),
    ListedReader::of::<simgrid::SimGrid>(),
    ListedReader::of::<liballprof::Liballprof>(),
    ListedReader::of::<htsim::Htsim>(),
    ListedReader::of::<msccl::Msccl>(),
    ListedReader::of::<flows::Flows>(),
    ListedReader::of::<ops::OpsTables>(),
];
