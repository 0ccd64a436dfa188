//! Parts of arrays: subarrays, and what a process holds of an array that is dealt out in blocks or cyclically.

use super::{
    Datatype, Recipe,
    construct::{GrowingLayout, plus, times},
    layout::{LayoutPart, push, repeated},
};
use crate::fault::{Answer, ErrorClass, fault};
use std::rc::Rc;

/// Which index runs fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayOrder {
    /// The last.
    C,
    /// The first.
    Fortran,
}

/// How a dimension is dealt out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Not at all.
    None,
    /// A block each; `None` for blocks as even as can be.
    Block(Option<i64>),
    /// Blocks of this length in turn; `None` for 1.
    Cyclic(Option<i64>),
}

/// An array that is dealt out to a grid of processes.
#[derive(Clone, Debug)]
pub struct DistributedArray<'a> {
    /// Processes of the grid.
    pub processes: i64,
    /// Which of them it is for, counted with the last dimension fastest.
    pub rank: i64,
    /// Elements by dimension.
    pub sizes: &'a [i64],
    /// How each is dealt out.
    pub distributions: &'a [Distribution],
    /// Processes by dimension.
    pub grid: &'a [i64],
    /// Which index runs fastest.
    pub order: ArrayOrder,
}

/// What is taken of a dimension: `count` blocks of `length` elements, `step` elements apart, the first at `start`.
#[derive(Clone, Copy, Debug)]
struct TakenDimensions {
    start: i64,
    length: i64,
    count: i64,
    step: i64,
}

/// The part of an array that takes these blocks of each dimension, the fastest first.
fn taken(old: &Datatype, dimensions: &[(i64, Vec<TakenDimensions>)], recipe: Recipe) -> Answer<Datatype> {
    let mut new = GrowingLayout::new();
    let (mut parts, mut stride, mut total): (Rc<[LayoutPart]>, i64, i64) = (old.parts.clone(), old.extent(), 1);
    for (size, blocks) in dimensions {
        let mut wider = Vec::new();
        let mut here = 0;
        for block in blocks.iter().filter(|block| block.length > 0 && block.count > 0) {
            let row: Rc<[LayoutPart]> = repeated(&parts, 0, block.length, stride).into();
            for part in repeated(
                &row,
                times(block.start, stride)?,
                block.count,
                times(block.step, stride)?,
            ) {
                push(&mut wider, part);
            }
            here += block.length * block.count;
        }
        total = times(total, here)?;
        stride = times(stride, *size)?;
        parts = wider.into();
    }
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    super::layout::walk(&parts, 0, &mut |offset, length| {
        (first, last) = (first.min(offset), last.max(offset + length));
        true
    });
    let (first, last) = if first > last { (0, 0) } else { (first, last) };
    new.parts(parts.to_vec(), [old.lower, plus(old.lower, stride)?, first, last]);
    new.count(old, total)?;
    Ok(new.done(recipe))
}

impl Datatype {
    /// A block of an array: `sizes`, `subsizes` and `starts` by dimension.
    pub fn subarray(
        old: &Self,
        sizes: &[i64],
        (subsizes, starts): (&[i64], &[i64]),
        order: ArrayOrder,
        recipe: Recipe,
    ) -> Answer<Self> {
        let mut dimensions = Vec::new();
        for (dimension, ((size, length), start)) in sizes.iter().zip(subsizes).zip(starts).enumerate() {
            if *size < 1 || *length < 1 || *length > *size || *start < 0 || *start > size - length {
                let text = format!("dimension {dimension}: {length} elements from {start} on do not lie in {size}");
                return fault(ErrorClass::Arg, text);
            }
            dimensions.push((
                *size,
                vec![TakenDimensions {
                    start: *start,
                    length: *length,
                    count: 1,
                    step: 0,
                }],
            ));
        }
        if dimensions.is_empty() {
            return fault(ErrorClass::Arg, "an array has at least one dimension");
        }
        if order == ArrayOrder::C {
            dimensions.reverse();
        }
        taken(old, &dimensions, recipe)
    }

    /// What one process holds of an array.
    pub fn distributed(old: &Self, array: &DistributedArray, recipe: Recipe) -> Answer<Self> {
        let grid: i64 = array.grid.iter().product();
        if array.processes < 1 || array.rank < 0 || array.rank >= array.processes || array.sizes.is_empty() {
            return fault(
                ErrorClass::Arg,
                format!("rank {} is none of {} processes", array.rank, array.processes),
            );
        }
        if grid != array.processes || array.grid.iter().any(|processes| *processes < 1) {
            return fault(
                ErrorClass::Arg,
                format!("a grid of {:?} has not {} processes", array.grid, array.processes),
            );
        }
        let mut coordinates = vec![0; array.grid.len()];
        let mut rest = array.rank;
        for (coordinate, processes) in coordinates.iter_mut().zip(array.grid).rev() {
            *coordinate = rest % processes;
            rest /= processes;
        }
        let mut dimensions = Vec::new();
        for (dimension, size) in array.sizes.iter().enumerate() {
            let (processes, at) = (array.grid[dimension], coordinates[dimension]);
            dimensions.push((*size, share(*size, array.distributions[dimension], processes, at)?));
        }
        if array.order == ArrayOrder::C {
            dimensions.reverse();
        }
        taken(old, &dimensions, recipe)
    }
}

/// The blocks of a dimension of `size` elements that the process at this coordinate holds.
fn share(size: i64, distribution: Distribution, processes: i64, at: i64) -> Answer<Vec<TakenDimensions>> {
    if size < 1 {
        return fault(ErrorClass::Arg, format!("{size} elements are too few for a dimension"));
    }
    let wrong = |length: i64| {
        fault(
            ErrorClass::Arg,
            format!("blocks of {length} elements do not deal {size} out to {processes} processes"),
        )
    };
    match distribution {
        Distribution::None if processes != 1 => {
            fault(ErrorClass::Arg, "a dimension that is not dealt out has one process")
        }
        Distribution::None => Ok(vec![TakenDimensions {
            start: 0,
            length: size,
            count: 1,
            step: 0,
        }]),
        Distribution::Block(length) => {
            let length = length.unwrap_or((size + processes - 1) / processes);
            if length < 1 || length.checked_mul(processes).is_some_and(|all| all < size) {
                return wrong(length);
            }
            let start = times(at, length)?;
            Ok(vec![TakenDimensions {
                start,
                length: (size - start).clamp(0, length),
                count: 1,
                step: 0,
            }])
        }
        Distribution::Cyclic(length) => {
            let length = length.unwrap_or(1);
            if length < 1 {
                return wrong(length);
            }
            let (start, step) = (times(at, length)?, times(processes, length)?);
            let whole = if size - start < length {
                0
            } else {
                (size - start - length) / step + 1
            };
            let next = plus(start, times(whole, step)?)?;
            let rest = (size - next).clamp(0, length);
            Ok(vec![
                TakenDimensions {
                    start,
                    length,
                    count: whole,
                    step,
                },
                TakenDimensions {
                    start: next,
                    length: rest,
                    count: 1,
                    step: 0,
                },
            ])
        }
    }
}
