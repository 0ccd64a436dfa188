//! Values as bytes and back: what a model needs to write its state ([`Pack`]), and what stands in the way ([`Torn`]).
//!
//! Numbers are in the byte order of the machine.

use bytemuck::Pod;

/// Bytes that are not what was written: the text says what does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn(pub &'static str);

impl std::fmt::Display for Torn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Torn {}

/// What can be written to bytes and read back equal.
pub trait Pack: Sized {
    /// Appends the value.
    fn pack(&self, out: &mut Vec<u8>);
    /// Takes a value from the front.
    fn unpack(input: &mut &[u8]) -> Result<Self, Torn>;
}

/// Appends a plain value.
pub fn put<T: Pod>(out: &mut Vec<u8>, value: T) {
    out.extend_from_slice(bytemuck::bytes_of(&value));
}

/// Appends plain values, not their number.
pub fn put_all<T: Pod>(out: &mut Vec<u8>, values: &[T]) {
    out.extend_from_slice(bytemuck::cast_slice(values));
}

/// Appends plain values after their number.
pub fn put_list<T: Pod>(out: &mut Vec<u8>, values: &[T]) {
    put(out, values.len() as u64);
    put_all(out, values);
}

/// Takes `n` bytes from the front.
pub(crate) fn take_bytes<'a>(input: &mut &'a [u8], n: usize) -> Result<&'a [u8], Torn> {
    let (bytes, rest) = input.split_at_checked(n).ok_or(Torn("it ends too early"))?;
    *input = rest;
    Ok(bytes)
}

/// Takes a plain value from the front.
pub fn take<T: Pod>(input: &mut &[u8]) -> Result<T, Torn> {
    Ok(bytemuck::pod_read_unaligned(take_bytes(input, size_of::<T>())?))
}

/// Takes as many plain values from the front as `values` has.
pub fn take_into<T: Pod>(input: &mut &[u8], values: &mut [T]) -> Result<(), Torn> {
    let bytes = bytemuck::cast_slice_mut::<T, u8>(values);
    bytes.copy_from_slice(take_bytes(input, bytes.len())?);
    Ok(())
}

/// Takes plain values from the front that stand after their number.
pub fn take_list<T: Pod>(input: &mut &[u8]) -> Result<Vec<T>, Torn> {
    let n = take::<u64>(input)?;
    take_exactly(input, n)
}

/// Takes `n` plain values from the front.
pub(crate) fn take_exactly<T: Pod>(input: &mut &[u8], n: u64) -> Result<Vec<T>, Torn> {
    let n = usize::try_from(n)
        .ok()
        .filter(|&n| n <= input.len() / size_of::<T>().max(1));
    let mut values = vec![T::zeroed(); n.ok_or(Torn("it ends too early"))?];
    take_into(input, &mut values)?;
    Ok(values)
}
