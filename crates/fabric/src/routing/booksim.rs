//! Routings of BookSim2 where fabricsim's own differ from them: which way packets draw, and which part of the channels they may take.
//!
//! A half or quarter of the channels of a port is a class here, as `vc-router`s have them: packets take any channel of it. What BookSim2 calls
//! used credits is what was sent and is not credited yet, over all channels of a port.

mod anca;
mod dim_order;
mod dragonfly;
mod minimal;
mod romm;
mod ugal;
mod valiant;
mod xy_yx;

pub(super) use anca::BooksimAnca;
pub(super) use dim_order::BooksimDimOrder;
pub(super) use minimal::BooksimMinimal;
pub(super) use romm::BooksimRomm;
pub(super) use ugal::BooksimUgal;
pub(super) use valiant::BooksimValiant;
pub(super) use xy_yx::BooksimXyYx;

pub use dim_order::BalanceSpec;
pub use xy_yx::OrderSpec;
