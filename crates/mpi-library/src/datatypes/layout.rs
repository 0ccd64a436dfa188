//! Where the data of a datatype lie: blocks of bytes at offsets, repeated with strides, in the order of the type map.
//!
//! Offsets and strides are bytes relative to the buffer's address and may be negative. What lies next to each other is one block, so a
//! contiguous type of any size is a single one, and a plane of an array a few numbers.

use std::rc::Rc;

/// A part of a layout.
#[derive(Clone, Debug, PartialEq)]
pub enum LayoutPart {
    /// Bytes without a gap.
    Bytes {
        /// Where they start.
        offset: i64,
        /// How many.
        length: i64,
    },
    /// Parts again and again.
    Repeat {
        /// Where the first starts.
        offset: i64,
        /// How often.
        count: i64,
        /// From one to the next.
        stride: i64,
        /// What is repeated.
        parts: Rc<[LayoutPart]>,
    },
}

/// Adds a part, as a longer block where it continues the last one.
pub fn push(parts: &mut Vec<LayoutPart>, part: LayoutPart) {
    if let (
        Some(LayoutPart::Bytes {
            offset: last,
            length: so_far,
        }),
        LayoutPart::Bytes { offset, length },
    ) = (parts.last_mut(), &part)
        && *last + *so_far == *offset
    {
        *so_far += length;
        return;
    }
    parts.push(part);
}

/// `count` times these parts, the first at `offset`, as few parts as it takes.
pub fn repeated(parts: &Rc<[LayoutPart]>, offset: i64, count: i64, stride: i64) -> Vec<LayoutPart> {
    match &parts[..] {
        [] => Vec::new(),
        _ if count <= 0 => Vec::new(),
        [LayoutPart::Bytes { offset: first, length }] if count == 1 || *length == stride => {
            vec![LayoutPart::Bytes {
                offset: offset + first,
                length: length * count,
            }]
        }
        few if count == 1 && few.len() <= 4 => few.iter().map(|part| moved(part, offset)).collect(),
        _ => vec![LayoutPart::Repeat {
            offset,
            count,
            stride,
            parts: parts.clone(),
        }],
    }
}

/// A part at another place.
fn moved(part: &LayoutPart, by: i64) -> LayoutPart {
    match part {
        LayoutPart::Bytes { offset, length } => LayoutPart::Bytes {
            offset: offset + by,
            length: *length,
        },
        LayoutPart::Repeat {
            offset,
            count,
            stride,
            parts,
        } => LayoutPart::Repeat {
            offset: offset + by,
            count: *count,
            stride: *stride,
            parts: parts.clone(),
        },
    }
}

/// Calls `each` with offset and length of every block in order until it returns false; returns whether it went to the end.
pub fn walk(parts: &[LayoutPart], base: i64, each: &mut impl FnMut(i64, i64) -> bool) -> bool {
    parts.iter().all(|part| match part {
        LayoutPart::Bytes { offset, length } => each(base + offset, *length),
        LayoutPart::Repeat {
            offset,
            count,
            stride,
            parts,
        } => (0..*count).all(|turn| walk(parts, base + offset + turn * stride, &mut *each)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(parts: &[LayoutPart]) -> Vec<(i64, i64)> {
        let mut blocks = Vec::new();
        walk(parts, 0, &mut |offset, length| {
            blocks.push((offset, length));
            true
        });
        blocks
    }

    #[test]
    fn neighbours_become_one_block_and_strides_stay() {
        let four: Rc<[LayoutPart]> = vec![LayoutPart::Bytes { offset: 0, length: 4 }].into();
        assert_eq!(repeated(&four, 8, 10, 4), [LayoutPart::Bytes { offset: 8, length: 40 }]);
        let column: Rc<[LayoutPart]> = repeated(&four, 0, 3, 12).into();
        assert_eq!(blocks(&column), [(0, 4), (12, 4), (24, 4)]);
        assert_eq!(
            blocks(&repeated(&column, 100, 2, -4)),
            [(100, 4), (112, 4), (124, 4), (96, 4), (108, 4), (120, 4)]
        );
        assert_eq!(blocks(&repeated(&column, 100, 1, 0)), [(100, 4), (112, 4), (124, 4)]);
        assert_eq!(repeated(&column, 0, 0, 1), []);
        let mut parts = Vec::new();
        for offset in [0, 4, 8, 20] {
            push(&mut parts, LayoutPart::Bytes { offset, length: 4 });
        }
        assert_eq!(blocks(&parts), [(0, 12), (20, 4)]);
    }

    #[test]
    fn a_walk_can_be_left() {
        let four: Rc<[LayoutPart]> = vec![LayoutPart::Bytes { offset: 0, length: 4 }].into();
        let mut seen = 0;
        assert!(!walk(&repeated(&four, 0, 5, 8), 0, &mut |_, _| {
            seen += 1;
            seen < 3
        }));
        assert_eq!(seen, 3);
    }
}
