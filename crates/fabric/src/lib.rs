//! Networks: the study's specification, packets, router models, network interfaces, routing, workloads, checks and results.

pub mod registry;
pub mod spec;
