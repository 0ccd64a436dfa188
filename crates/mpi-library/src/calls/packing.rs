//! Packing by hand.

use super::{count, environment::fitting, place};
use crate::{
    arguments::{BufferAddress, Count, ResultPlace, TextIn},
    datatypes::{ElementCount, named::NAMED},
    faces::Face,
    fault::{Answer, ErrorClass, fault},
    library::{Library, calls, requests::RequestPlace},
};
use std::rc::Rc;

/// Where packed data stand: a buffer, its size, and the place in it.
struct Packed<N: Count> {
    buffer: BufferAddress,
    size: i64,
    position: ResultPlace<N>,
}

impl<N: Count> Packed<N> {
    /// The address for so many bytes, and moves the place behind them.
    fn advance(&self, bytes: i64) -> Answer<*mut u8> {
        let position = self.position.get()?.get();
        let end = position
            .checked_add(bytes)
            .filter(|end| position >= 0 && *end <= self.size);
        let Some(end) = end else {
            let text = format!(
                "{bytes} bytes from {position} on do not lie in a buffer of {}",
                self.size
            );
            return fault(ErrorClass::Truncate, text);
        };
        if self.buffer.0.is_null() && bytes > 0 {
            return fault(ErrorClass::Buffer, "the buffer is null");
        }
        self.position.set(fitting::<N>(end)?)?;
        Ok(self.buffer.bytes().wrapping_offset(position as isize))
    }
}

fn pack<N: Count>(from: &RequestPlace, to: &Packed<N>) -> Answer<(*mut u8, i64)> {
    let bytes = from.bytes() as i64;
    let address = to.advance(bytes)?;
    // SAFETY: the program promised the data and the buffer, and the place has room for them.
    unsafe { from.cursor().pack(address) };
    Ok((address, bytes))
}

fn unpack<N: Count>(from: &Packed<N>, to: &RequestPlace) -> Answer {
    let bytes = to.bytes() as i64;
    let address = from.advance(bytes)?;
    // SAFETY: the program promised the data and the places, and the buffer holds that many bytes from there.
    unsafe { to.cursor().unpack(address, bytes) };
    Ok(())
}

/// Turns the bytes of packed elements around: the external representation has the most significant one first.
fn swap_all(of: &RequestPlace, address: *mut u8) {
    let mut at = 0;
    for _ in 0..of.count {
        swap_runs(&of.of.runs, address, &mut at);
    }
}

fn swap_runs(runs: &Rc<[ElementCount]>, address: *mut u8, at: &mut usize) {
    for run in runs.iter() {
        match run {
            ElementCount::Run { size, count } => {
                for _ in 0..*count {
                    // SAFETY: the elements are as many bytes as were packed at this address.
                    unsafe { std::slice::from_raw_parts_mut(address.add(*at), *size as usize) }.reverse();
                    *at += *size as usize;
                }
            }
            ElementCount::Repeat { count, runs, .. } => (0..*count).for_each(|_| swap_runs(runs, address, at)),
        }
    }
}

/// The only representation that there is.
fn external(name: TextIn) -> Answer {
    let name = name.get()?;
    if name != "external32" {
        return fault(
            ErrorClass::UnsupportedDatarep,
            format!("there is no representation {name:?}, only external32"),
        );
    }
    Ok(())
}

/// External data of types whose elements are not single numbers of a size that the representation shares are not there.
fn has_external(of: &RequestPlace) -> Answer {
    let known = |named: u32| {
        let name = NAMED[named as usize].name;
        !name.contains("COMPLEX") && !name.contains("WCHAR") && (!name.contains("LONG") || name.contains("LONG_LONG"))
    };
    fn all(of: &crate::datatypes::Datatype, known: &impl Fn(u32) -> bool) -> bool {
        of.named
            .map_or_else(|| of.recipe.types.iter().all(|old| all(old, known)), known)
    }
    if !all(&of.of, &known) {
        return fault(
            ErrorClass::UnsupportedOperation,
            "external32 of complex numbers, long integers and long doubles is not there",
        );
    }
    Ok(())
}

fn size<F: Face>(library: &Library, elements: i64, datatype: F::Handle) -> Answer<i64> {
    let of = library.committed::<F>(datatype)?;
    let bytes = count(elements)?.checked_mul(of.size);
    bytes.map_or_else(|| fault(ErrorClass::Count, "more bytes than there is memory"), Ok)
}

calls! {
    /// Packs data.
    pack_data<N> = "MPI_Pack"(
        buffer: BufferAddress, count: N, datatype: F::Handle, packed: BufferAddress, size: N, position: ResultPlace<N>, comm: F::Handle,
    ) |library| {
        library.comm::<F>(comm)?;
        let from = place::<F>(library, buffer, count.get(), datatype)?;
        pack(&from, &Packed { buffer: packed, size: size.get(), position }).map(|_| ())
    };

    /// Unpacks data.
    unpack_data<N> = "MPI_Unpack"(
        packed: BufferAddress, size: N, position: ResultPlace<N>, buffer: BufferAddress, count: N, datatype: F::Handle, comm: F::Handle,
    ) |library| {
        library.comm::<F>(comm)?;
        let to = place::<F>(library, buffer, count.get(), datatype)?;
        unpack(&Packed { buffer: packed, size: size.get(), position }, &to)
    };

    /// How much room packed data take.
    pack_size<N> = "MPI_Pack_size"(count: N, datatype: F::Handle, comm: F::Handle, bytes: ResultPlace<N>) |library| {
        library.comm::<F>(comm)?;
        bytes.set(fitting::<N>(size::<F>(library, count.get(), datatype)?)?)
    };

    /// Packs data for other machines.
    pack_external<N> = "MPI_Pack_external"(
        name: TextIn, buffer: BufferAddress, count: N, datatype: F::Handle, packed: BufferAddress, size: i64, position: ResultPlace<i64>,
    ) |library| {
        external(name)?;
        let from = place::<F>(library, buffer, count.get(), datatype)?;
        has_external(&from)?;
        let (address, _) = pack(&from, &Packed { buffer: packed, size, position })?;
        swap_all(&from, address);
        Ok(())
    };

    /// Unpacks data of other machines.
    unpack_external<N> = "MPI_Unpack_external"(
        name: TextIn, packed: BufferAddress, size: i64, position: ResultPlace<i64>, buffer: BufferAddress, count: N, datatype: F::Handle,
    ) |library| {
        external(name)?;
        let to = place::<F>(library, buffer, count.get(), datatype)?;
        has_external(&to)?;
        let bytes = to.bytes() as i64;
        let from = (Packed { buffer: packed, size, position }).advance(bytes)?;
        let mut turned = vec![0; bytes as usize];
        // SAFETY: the program promised the packed data, which are that many bytes from there.
        unsafe { std::ptr::copy_nonoverlapping(from, turned.as_mut_ptr(), turned.len()) };
        swap_all(&to, turned.as_mut_ptr());
        // SAFETY: the program promised the places.
        unsafe { to.cursor().unpack(turned.as_ptr(), bytes) };
        Ok(())
    };

    /// How much room data for other machines take.
    pack_external_size<N> = "MPI_Pack_external_size"(name: TextIn, count: N, datatype: F::Handle, bytes: ResultPlace<i64>) |library| {
        external(name)?;
        bytes.set(size::<F>(library, count.get(), datatype)?)
    };
}
