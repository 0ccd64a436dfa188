//! The constructors: blocks of an old type at displacements.

use super::{
    Combiner, Datatype, ElementCount, Recipe,
    layout::{LayoutPart, push, repeated},
};
use crate::fault::{Answer, ErrorClass, fault};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// A number that an `i64` could not hold.
fn too_large<T>() -> Answer<T> {
    fault(ErrorClass::Arg, "the datatype is larger than 2^63 bytes")
}

/// A product that must fit.
pub(super) fn times(a: i64, b: i64) -> Answer<i64> {
    a.checked_mul(b).map_or_else(too_large, Ok)
}

/// A sum that must fit.
pub(super) fn plus(a: i64, b: i64) -> Answer<i64> {
    a.checked_add(b).map_or_else(too_large, Ok)
}

/// A datatype that grows by blocks.
pub(super) struct GrowingLayout {
    parts: Vec<LayoutPart>,
    runs: Vec<ElementCount>,
    size: i64,
    elements: i64,
    alignment: i64,
    bounds: Option<[i64; 4]>,
}

impl GrowingLayout {
    pub(super) fn new() -> Self {
        Self {
            parts: vec![],
            runs: vec![],
            size: 0,
            elements: 0,
            alignment: 1,
            bounds: None,
        }
    }

    /// Adds `count` elements of a type, the first at `displacement` bytes.
    pub(super) fn block(&mut self, of: &Datatype, count: i64, displacement: i64) -> Answer {
        if count == 0 {
            return Ok(());
        }
        self.stretch(of, count, displacement)?;
        for part in repeated(&of.parts, displacement, count, of.extent()) {
            push(&mut self.parts, part);
        }
        self.count(of, count)
    }

    /// Adds `turns` times `count` elements of a type, `stride` bytes from turn to turn, the first at `displacement`.
    pub(super) fn blocks(
        &mut self,
        of: &Datatype,
        (turns, count): (i64, i64),
        stride: i64,
        displacement: i64,
    ) -> Answer {
        if count == 0 || turns == 0 {
            return Ok(());
        }
        self.stretch(of, count, displacement)?;
        self.stretch(of, count, plus(displacement, times(turns - 1, stride)?)?)?;
        let block: Rc<[LayoutPart]> = repeated(&of.parts, 0, count, of.extent()).into();
        for part in repeated(&block, displacement, turns, stride) {
            push(&mut self.parts, part);
        }
        self.count(of, times(turns, count)?)
    }

    /// Moves the bounds apart for a block.
    fn stretch(&mut self, of: &Datatype, count: i64, displacement: i64) -> Answer {
        let far = times(count - 1, of.extent())?;
        let (down, up) = (plus(displacement, far.min(0))?, plus(displacement, far.max(0))?);
        let new = [
            plus(down, of.lower)?,
            plus(up, of.upper)?,
            plus(down, of.true_lower)?,
            plus(up, of.true_upper)?,
        ];
        self.bounds = Some(match self.bounds {
            None => new,
            Some(old) => [
                old[0].min(new[0]),
                old[1].max(new[1]),
                old[2].min(new[2]),
                old[3].max(new[3]),
            ],
        });
        Ok(())
    }

    /// Counts elements.
    pub(super) fn count(&mut self, of: &Datatype, count: i64) -> Answer {
        self.alignment = self.alignment.max(of.alignment);
        self.size = plus(self.size, times(count, of.size)?)?;
        self.elements = plus(self.elements, times(count, of.elements)?)?;
        match (&of.runs[..], self.runs.last_mut()) {
            (
                [ElementCount::Run { size, count: each }],
                Some(ElementCount::Run {
                    size: last,
                    count: so_far,
                }),
            ) if size == last => {
                *so_far += each * count;
            }
            ([ElementCount::Run { size, count: each }], _) => self.runs.push(ElementCount::Run {
                size: *size,
                count: each * count,
            }),
            _ => self.runs.push(ElementCount::Repeat {
                count,
                size: of.size,
                elements: of.elements,
                runs: of.runs.clone(),
            }),
        }
        Ok(())
    }

    /// Adds parts as they are, with the bounds of the whole.
    pub(super) fn parts(&mut self, parts: Vec<LayoutPart>, bounds: [i64; 4]) {
        self.parts = parts;
        self.bounds = Some(bounds);
    }

    /// Rounds the extent up to the alignment, as a struct of C is.
    fn round_up(&mut self) {
        if let Some(bounds) = &mut self.bounds {
            let over = (bounds[1] - bounds[0]).rem_euclid(self.alignment);
            if over > 0 {
                bounds[1] += self.alignment - over;
            }
        }
    }

    /// The datatype.
    pub(super) fn done(self, recipe: Recipe) -> Datatype {
        let [lower, upper, true_lower, true_upper] = self.bounds.unwrap_or_default();
        Datatype {
            parts: self.parts.into(),
            size: self.size,
            lower,
            upper,
            true_lower,
            true_upper,
            alignment: self.alignment,
            runs: self.runs.into(),
            elements: self.elements,
            named: None,
            recipe,
            committed: Cell::new(false),
            name: RefCell::default(),
            attributes: RefCell::default(),
        }
    }
}

/// Refuses negative counts.
fn not_negative(counts: &[i64], what: &str) -> Answer {
    match counts.iter().find(|count| **count < 0) {
        Some(count) => fault(ErrorClass::Arg, format!("{what} {count} is negative")),
        None => Ok(()),
    }
}

impl Datatype {
    /// `count` elements next to each other.
    pub fn contiguous(old: &Self, count: i64, recipe: Recipe) -> Answer<Self> {
        not_negative(&[count], "count")?;
        let mut new = GrowingLayout::new();
        new.block(old, count, 0)?;
        Ok(new.done(recipe))
    }

    /// `count` blocks of `length` elements, `stride` bytes apart.
    pub fn vector(old: &Self, (count, length): (i64, i64), stride: i64, recipe: Recipe) -> Answer<Self> {
        not_negative(&[count], "count")?;
        not_negative(&[length], "block length")?;
        let mut new = GrowingLayout::new();
        new.blocks(old, (count, length), stride, 0)?;
        Ok(new.done(recipe))
    }

    /// Blocks of these lengths at these displacements in bytes.
    pub fn indexed(old: &Self, blocks: impl Iterator<Item = (i64, Answer<i64>)>, recipe: Recipe) -> Answer<Self> {
        let mut new = GrowingLayout::new();
        for (length, displacement) in blocks {
            not_negative(&[length], "block length")?;
            new.block(old, length, displacement?)?;
        }
        Ok(new.done(recipe))
    }

    /// Blocks of these lengths at these displacements in bytes, of a type each; its extent is rounded up as C does.
    pub fn structure(blocks: &[(i64, i64, Rc<Self>)], recipe: Recipe) -> Answer<Self> {
        let mut new = GrowingLayout::new();
        let mut resized = false;
        for (length, displacement, of) in blocks {
            not_negative(&[*length], "block length")?;
            new.block(of, *length, *displacement)?;
            resized |= of.recipe.combiner == Combiner::Resized && *length > 0;
        }
        if !resized {
            new.round_up();
        }
        Ok(new.done(recipe))
    }

    /// The same data between other bounds.
    pub fn resized(old: &Self, lower: i64, extent: i64, recipe: Recipe) -> Answer<Self> {
        let mut new = old.copy(recipe);
        (new.lower, new.upper, new.named) = (lower, plus(lower, extent)?, None);
        Ok(new)
    }

    /// The same type again, under another recipe; whether it is committed stays.
    pub fn copy(&self, recipe: Recipe) -> Self {
        Self {
            parts: self.parts.clone(),
            runs: self.runs.clone(),
            named: self.named,
            committed: Cell::new(recipe.combiner == Combiner::Dup && self.committed.get()),
            recipe,
            name: RefCell::default(),
            attributes: RefCell::default(),
            ..*self
        }
    }
}
