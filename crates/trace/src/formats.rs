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

use crate::format::ListedFormat;

/// Every format: a line each.
pub(crate) const LIST: &[ListedFormat] = &[
    ListedFormat::of::<work::WorkFormat>(),
    ListedFormat::of::<otf2::Otf2>(),
    ListedFormat::of::<dumpi::Dumpi>(),
    ListedFormat::of::<goal::GoalText>(),
    ListedFormat::of::<goal::GoalBinary>(),
    ListedFormat::of::<chakra::Chakra>(),
    ListedFormat::of::<simgrid::SimGrid>(),
    ListedFormat::of::<liballprof::Liballprof>(),
    ListedFormat::of::<htsim::Htsim>(),
    ListedFormat::of::<msccl::Msccl>(),
    ListedFormat::of::<flows::Flows>(),
    ListedFormat::of::<ops::OpsTables>(),
];
