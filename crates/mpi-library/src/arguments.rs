//! Arguments as C passes them.
//!
//! Who calls a function of MPI promises what its page says of each pointer: null, or as many things as the other arguments tell, alive for
//! the call. These types are made by such calls alone, and take that promise over: here are the only places that follow a pointer of the
//! program except for the buffers of messages.

use crate::{
    faces::Face,
    fault::{Answer, ErrorClass, fault},
};
use std::ffi::{CStr, c_char, c_int, c_void};

/// Where results go.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct ResultPlace<T>(pub *mut T);

/// What is read.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct In<T>(pub *const T);

/// A text.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct TextIn(*const c_char);

/// Where a text goes.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct TextOut(*mut c_char);

/// A buffer of a message, or another address that is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct BufferAddress(pub *mut c_void);

impl<T: Copy> ResultPlace<T> {
    /// Whether there is no place.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Writes the first.
    pub fn set(self, value: T) -> Answer {
        self.set_at(0, value)
    }

    /// Writes one of many.
    pub fn set_at(self, place: usize, value: T) -> Answer {
        if self.is_null() {
            return fault(ErrorClass::Arg, "a pointer for a result is null");
        }
        // SAFETY: not null, so the caller promises as many places as the call writes.
        unsafe { self.0.add(place).write_unaligned(value) };
        Ok(())
    }

    /// Reads the first, which goes in and out.
    pub fn get(self) -> Answer<T> {
        self.get_at(0)
    }

    /// Reads one of many, which go in and out.
    pub fn get_at(self, place: usize) -> Answer<T> {
        if self.is_null() {
            return fault(ErrorClass::Arg, "a pointer is null");
        }
        // SAFETY: not null, so the caller promises as many values as the call reads.
        Ok(unsafe { self.0.add(place).read_unaligned() })
    }

    /// The place of one of many.
    pub fn at(self, place: usize) -> Self {
        Self(self.0.wrapping_add(place))
    }
}

impl<T: Copy> In<T> {
    /// Reads `count` values.
    pub fn list(self, count: i64) -> Answer<Vec<T>> {
        if count <= 0 {
            return Ok(Vec::new());
        }
        if self.0.is_null() {
            return fault(ErrorClass::Arg, "an array is null");
        }
        // SAFETY: not null, so the caller promises as many values as the other arguments tell.
        Ok((0..count as usize)
            .map(|place| unsafe { self.0.add(place).read_unaligned() })
            .collect())
    }

    /// Reads the first.
    pub fn get(self) -> Answer<T> {
        ResultPlace(self.0.cast_mut()).get()
    }
}

impl TextIn {
    /// The text; bytes that are no UTF-8 are replaced.
    pub fn get(self) -> Answer<String> {
        if self.0.is_null() {
            return fault(ErrorClass::Arg, "a text is null");
        }
        // SAFETY: not null, so the caller promises a text that ends with a zero.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

impl TextOut {
    /// Writes a text and a zero, at most `most` bytes of both; returns the length without the zero.
    pub fn set(self, text: &str, most: i64) -> Answer<c_int> {
        if self.0.is_null() {
            return fault(ErrorClass::Arg, "a pointer for a text is null");
        }
        let mut length = text.len().min((most - 1).max(0) as usize);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        // SAFETY: not null, so the caller promises `most` bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), self.0.cast(), length);
            self.0.add(length).write(0);
        }
        Ok(length as c_int)
    }
}

impl BufferAddress {
    /// As a number.
    pub fn number(self) -> i64 {
        self.0 as i64
    }

    /// As a pointer to bytes.
    pub fn bytes(self) -> *mut u8 {
        self.0.cast()
    }

    /// Whether it says that the data are in the place of the results.
    pub fn is_in_place<F: Face>(self) -> bool {
        self.number() == F::C.in_place
    }

    /// Writes an address to where this one points.
    pub fn set(self, value: *mut c_void) -> Answer {
        ResultPlace(self.0.cast::<*mut c_void>()).set(value)
    }
}

/// Counts and displacements: `int` in most functions, 64 bits in those whose name ends in `_c`.
pub trait Count: Copy + 'static {
    /// Whether it is the large one.
    const LARGE: bool;
    /// As 64 bits.
    fn get(self) -> i64;
    /// From 64 bits, if they fit.
    fn fit(value: i64) -> Option<Self>;
}

impl Count for c_int {
    const LARGE: bool = false;

    fn get(self) -> i64 {
        i64::from(self)
    }

    fn fit(value: i64) -> Option<Self> {
        value.try_into().ok()
    }
}

impl Count for i64 {
    const LARGE: bool = true;

    fn get(self) -> i64 {
        self
    }

    fn fit(value: i64) -> Option<Self> {
        Some(value)
    }
}

impl<N: Count> In<N> {
    /// Reads `count` values as 64 bits.
    pub fn wide(self, count: i64) -> Answer<Vec<i64>> {
        Ok(self.list(count)?.into_iter().map(N::get).collect())
    }
}
