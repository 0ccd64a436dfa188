//! Datatypes: which bytes of a buffer belong to a message, in which order, and how the type was made.
//!
//! All lengths and displacements are bytes in 64 bits; what would not fit is an error of the constructor.

mod arrays;
mod construct;
pub mod layout;
pub mod named;
mod transfer;

pub use arrays::{ArrayOrder, DistributedArray, Distribution};
pub use transfer::LayoutCursor;

use crate::attributes::AttributeTable;
use layout::LayoutPart;
use named::{Content, NAMED};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// How a datatype was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Combiner {
    Named,
    Dup,
    Contiguous,
    Vector,
    Hvector,
    Indexed,
    Hindexed,
    IndexedBlock,
    HindexedBlock,
    Struct,
    Subarray,
    Darray,
    Resized,
    F90Real,
    F90Complex,
    F90Integer,
}

/// The arguments of the constructor, as `MPI_Type_get_contents` gives them back.
#[derive(Debug)]
pub struct Recipe {
    /// Which constructor it was.
    pub combiner: Combiner,
    /// Its arguments of type `int`.
    pub integers: Vec<i64>,
    /// Its arguments that are addresses.
    pub addresses: Vec<i64>,
    /// Its arguments that are large counts.
    pub counts: Vec<i64>,
    /// Its datatypes.
    pub types: Vec<Rc<Datatype>>,
}

/// Runs of basic elements, in the order of the type map.
#[derive(Clone, Debug)]
pub enum ElementCount {
    /// Elements of the same size.
    Run {
        /// Bytes of one.
        size: i64,
        /// How many.
        count: i64,
    },
    /// Runs again and again.
    Repeat {
        /// How often.
        count: i64,
        /// Bytes of one turn.
        size: i64,
        /// Elements of one turn.
        elements: i64,
        /// One turn.
        runs: Rc<[ElementCount]>,
    },
}

/// A datatype.
#[derive(Debug)]
pub struct Datatype {
    /// Where its bytes lie.
    pub parts: Rc<[LayoutPart]>,
    /// Bytes of data.
    pub size: i64,
    /// Lower bound.
    pub lower: i64,
    /// Upper bound.
    pub upper: i64,
    /// First byte of data.
    pub true_lower: i64,
    /// Behind the last byte of data.
    pub true_upper: i64,
    /// Largest alignment of its elements.
    pub alignment: i64,
    /// Its elements.
    pub runs: Rc<[ElementCount]>,
    /// How many.
    pub elements: i64,
    /// The named type that it is, or is a duplicate of: what reductions compute with.
    pub named: Option<u32>,
    /// How it was made.
    pub recipe: Recipe,
    /// Whether messages may use it.
    pub committed: Cell<bool>,
    /// Its name.
    pub name: RefCell<String>,
    /// Its attributes.
    pub attributes: RefCell<AttributeTable>,
}

impl Datatype {
    /// The named datatype at this place of the table.
    pub fn of_name(index: u32) -> Self {
        let row = &NAMED[index as usize];
        let size = i64::from(row.size);
        let mut parts = vec![LayoutPart::Bytes {
            offset: 0,
            length: size,
        }];
        if let Content::Pair { value, index, .. } = row.content
            && value != index
        {
            parts = vec![
                LayoutPart::Bytes {
                    offset: 0,
                    length: i64::from(value),
                },
                LayoutPart::Bytes {
                    offset: i64::from(index),
                    length: size - i64::from(value),
                },
            ];
        }
        let true_upper = match parts.last() {
            Some(LayoutPart::Bytes { offset, length }) => offset + length,
            _ => size,
        };
        let (sizes, elements) = row.elements();
        Self {
            parts: parts.into(),
            size,
            lower: 0,
            upper: row.extent(),
            true_lower: 0,
            true_upper,
            alignment: row.alignment(),
            runs: sizes[..elements]
                .iter()
                .map(|size| ElementCount::Run { size: *size, count: 1 })
                .collect(),
            elements: elements as i64,
            named: Some(index),
            recipe: Recipe {
                combiner: Combiner::Named,
                integers: vec![],
                addresses: vec![],
                counts: vec![],
                types: vec![],
            },
            committed: Cell::new(true),
            name: RefCell::new(row.name.to_owned()),
            attributes: RefCell::default(),
        }
    }

    /// From one to the next.
    pub fn extent(&self) -> i64 {
        self.upper - self.lower
    }

    /// Whether it is one of the standard.
    pub fn is_named(&self) -> bool {
        self.recipe.combiner == Combiner::Named
    }

    /// Whether any number of them is one block that starts at the buffer's address.
    pub fn is_dense(&self) -> bool {
        match &self.parts[..] {
            [] => true,
            [LayoutPart::Bytes { offset: 0, length }] => *length == self.extent(),
            _ => false,
        }
    }

    /// How many basic elements the first `bytes` bytes of a message of this type hold; `None` if they end within one.
    pub fn elements_in(&self, bytes: i64) -> Option<i64> {
        if self.size == 0 {
            return (bytes == 0).then_some(0);
        }
        let (whole, mut rest) = (bytes / self.size, bytes % self.size);
        let mut elements = whole.checked_mul(self.elements)?;
        let mut runs = &self.runs;
        'deeper: while rest > 0 {
            for run in runs.iter() {
                let (size, of_one, count) = match run {
                    ElementCount::Run { size, count } => (*size, 1, *count),
                    ElementCount::Repeat {
                        count, size, elements, ..
                    } => (*size, *elements, *count),
                };
                let turns = if size == 0 { count } else { (rest / size).min(count) };
                elements += turns * of_one;
                rest -= turns * size;
                if turns == count {
                    continue;
                }
                if rest == 0 {
                    break 'deeper;
                }
                match run {
                    ElementCount::Run { .. } => return None,
                    ElementCount::Repeat { runs: inner, .. } => {
                        runs = inner;
                        continue 'deeper;
                    }
                }
            }
            break;
        }
        (rest == 0).then_some(elements)
    }
}
