//! Traces of applications, played on a simulated network.
//!
//! A trace has communicators, tags and requests as its program had them; ranks have short names for them ([`names`]).

pub mod names;
