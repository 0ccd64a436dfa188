//! Readers of a study's sections at one point: `topology`, `network`, `jobs` and `control` read the tables by the language's `reader`, which
//! takes types, defaults and conditions from the [registry](crate::registry).

mod accesses;
pub(crate) mod control;
pub(crate) mod cost;
pub(crate) mod fail;
pub(crate) mod jobs;
pub(crate) mod loggops;
mod memory;
mod messages;
pub(crate) mod network;
pub(crate) mod outages;
pub(crate) mod partition;
pub(crate) mod placement;
mod presets;
mod ranks;
mod shape;
pub(crate) mod topology;
mod trace;
