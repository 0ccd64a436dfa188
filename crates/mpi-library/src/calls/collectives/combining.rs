//! Combining what members brought, in the order of their ranks: the same result on every network and with every algorithm.

use super::CollectiveMeeting;
use crate::{
    arguments::BufferAddress,
    faces::Face,
    fault::{Answer, ErrorClass, fault},
    library::{Library, requests::RequestPlace},
    reductions::{ReduceOperation, built_in},
};
use std::{ffi::c_int, ops::Range, rc::Rc};

/// Sets `count` elements at the second address to the first `op` the second.
pub(in crate::calls) type OperandCombiner = Rc<dyn Fn(*const u8, *mut u8, i64) -> Answer>;

/// What combines elements of a datatype.
pub(in crate::calls) fn combiner<F: Face>(
    library: &Library,
    operation: F::Handle,
    datatype: F::Handle,
) -> Answer<OperandCombiner> {
    let of = library.committed::<F>(datatype)?;
    match library.operation::<F>(operation)? {
        ReduceOperation::BuiltIn(operation) => {
            let Some(combine) = of.named.and_then(|named| built_in(operation, named)) else {
                let name = of.name.borrow();
                let name = if name.is_empty() {
                    "a datatype of the program"
                } else {
                    &name
                };
                return fault(
                    ErrorClass::Op,
                    format!("the operation is not defined for {name}, or not there on this machine"),
                );
            };
            Ok(Rc::new(move |left, right, count| {
                // SAFETY: both operands hold `count` elements of the named datatype, in memory of their own.
                unsafe { combine(left, right, count as usize) };
                Ok(())
            }))
        }
        ReduceOperation::Own { function, large, .. } => Ok(Rc::new(move |left, right, count| {
            let mut datatype = datatype;
            if large {
                // SAFETY: the program gave the address as that of a function of this type.
                let function: unsafe extern "C" fn(*const u8, *mut u8, *mut i64, *mut F::Handle) =
                    unsafe { std::mem::transmute(function) };
                let mut count = count;
                // SAFETY: both operands hold `count` elements of the datatype, in memory of their own.
                unsafe { function(left, right, &mut count, &mut datatype) };
                return Ok(());
            }
            // SAFETY: the program gave the address as that of a function of this type.
            let function: unsafe extern "C" fn(*const u8, *mut u8, *mut c_int, *mut F::Handle) =
                unsafe { std::mem::transmute(function) };
            let Ok(mut count) = c_int::try_from(count) else {
                return fault(
                    ErrorClass::Count,
                    format!("{count} elements are too many for a function with counts of type int"),
                );
            };
            // SAFETY: both operands hold `count` elements of the datatype, in memory of their own.
            unsafe { function(left, right, &mut count, &mut datatype) };
            Ok(())
        })),
    }
}

/// Elements in memory of our own, laid out as those of the program are.
pub(super) struct Operand {
    _memory: Vec<u128>,
    pub place: RequestPlace,
}

impl Operand {
    /// Room for the elements of a place.
    pub fn like(place: &RequestPlace) -> Self {
        let of = &place.of;
        let far = (place.count - 1).max(0) * of.extent();
        let (low, high) = (of.true_lower + far.min(0), of.true_upper + far.max(0));
        // The address that displacements count from is as aligned as memory of the program would be.
        let shift = low.rem_euclid(16);
        let mut memory = vec![0_u128; ((high - low + shift) as usize).div_ceil(16).max(1)];
        let address = memory.as_mut_ptr().cast::<u8>().wrapping_offset((shift - low) as isize);
        Self {
            _memory: memory,
            place: RequestPlace {
                address,
                ..place.clone()
            },
        }
    }

    /// Takes packed data.
    fn fill(&self, data: &[u8]) {
        // SAFETY: the room is laid out for the elements, and no more than the data are read.
        unsafe { self.place.cursor().unpack(data.as_ptr(), data.len() as i64) };
    }

    /// Its elements, packed.
    pub fn packed(&self, library: &Library) -> Answer<u64> {
        // SAFETY: all elements are in memory of our own, and the block has room for them.
        library.block(self.place.bytes(), |to| unsafe { self.place.cursor().pack(to) })
    }
}

/// Combines what these members brought; nothing where data are not said or there are none.
pub(super) fn combined(
    library: &Library,
    meeting: &CollectiveMeeting,
    members: Range<u32>,
    like: &RequestPlace,
    combine: &OperandCombiner,
) -> Answer<Option<Operand>> {
    let first = members.start;
    if members.is_empty() || like.bytes() == 0 || meeting.data(library, first)?.is_empty() {
        return Ok(None);
    }
    let (mut left, mut right) = (Operand::like(like), Operand::like(like));
    left.fill(matching(meeting.data(library, first)?, like, first)?);
    for member in members.skip(1) {
        right.fill(matching(meeting.data(library, member)?, like, member)?);
        combine(left.place.address, right.place.address, like.count)?;
        std::mem::swap(&mut left, &mut right);
    }
    Ok(Some(left))
}

/// The data of a member, which must be as many as this process'.
fn matching<'a>(data: &'a [u8], like: &RequestPlace, member: u32) -> Answer<&'a [u8]> {
    if data.len() as u64 != like.bytes() {
        let text = format!(
            "rank {member} brings {} bytes to a reduction, and this process {}",
            data.len(),
            like.bytes()
        );
        return fault(ErrorClass::Count, text);
    }
    Ok(data)
}

/// Combines two places of the program: the second is the result.
pub(in crate::calls) fn combine_places<F: Face>(
    library: &Library,
    buffers: (BufferAddress, BufferAddress),
    count: i64,
    (datatype, operation): (F::Handle, F::Handle),
) -> Answer {
    let combine = combiner::<F>(library, operation, datatype)?;
    let left = crate::calls::place::<F>(library, buffers.0, count, datatype)?;
    let right = crate::calls::place::<F>(library, buffers.1, count, datatype)?;
    if count == 0 {
        return Ok(());
    }
    combine(left.address, right.address, count)
}
