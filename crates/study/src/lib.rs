//! The language of study files: TOML read with places, tables checked by a vocabulary, experiments, sweeps, samples and variants, errors that
//! name place, reason and hint, the JSON schema and the reference page.
//!
//! It knows the shape of what a study may say, and never what there is to say: no network, router, routing, work or engine has a name here.
//! Those are a [`Vocabulary`], a value that another crate writes down, and that crate makes its runs of the [points](open::Point).
//!
//! The way of a study: `document` reads TOML into a tree with places; `experiments` and `sample` find the points (experiments, variants,
//! sweeps, `--set`); at each point `open` hands on the tree, whose tables `reader` checks: types, ranges, defaults and conditions.

mod axes;
mod choice;
pub mod diagnostic;
pub mod document;
mod entry;
mod experiments;
mod kinds;
pub mod open;
pub mod owned;
mod plain;
mod quantities;
pub mod reader;
mod reference;
pub mod rows;
mod sample;
mod schema;
pub mod units;
pub mod user_file;
mod vocabulary;
pub mod words;

pub use choice::Named;
pub use entry::{
    BANDWIDTH, Choice, Default, Entry, Family, Parameter, RowsOf, SECOND, SEED, Section, TIB, TableOf, TablesOf, Type,
    When, key, size, size_or_none, span, time,
};
pub use kinds::Described;
pub use plain::PlainValue;
pub use quantities::{BitsPerSec, Bytes};
pub use reference::reference;
pub use sample::{Method, SAMPLE};
pub use schema::schema;
pub use vocabulary::{Chosen, Examples, Form, TopLevel, Vocabulary};
