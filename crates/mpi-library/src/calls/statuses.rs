//! Statuses: what they tell, and what programs write into them.

use super::environment::fitting;
use crate::{
    arguments::{Count, In, ResultPlace},
    faces::{Face, StatusFields},
    fault::{Answer, ErrorClass, fault},
    library::calls,
};
use std::ffi::c_int;

/// Reads a status.
fn read<F: Face>(status: In<F::Status>) -> Answer<StatusFields> {
    if status.0 as i64 == F::C.status_ignore {
        return fault(ErrorClass::Arg, "the status is MPI_STATUS_IGNORE");
    }
    Ok(F::read(&status.get()?))
}

/// Changes a status.
fn change<F: Face>(status: ResultPlace<F::Status>, change: impl FnOnce(&mut StatusFields)) -> Answer {
    if status.0 as i64 == F::C.status_ignore {
        return fault(ErrorClass::Arg, "the status is MPI_STATUS_IGNORE");
    }
    let mut whole = status.get()?;
    let mut fields = F::read(&whole);
    change(&mut fields);
    F::write(&mut whole, &fields, true);
    status.set(whole)
}

/// A count, or that there is none, as far as it fits.
fn count_or_undefined<F: Face, N: Count>(count: ResultPlace<N>, value: Option<i64>) -> Answer {
    let undefined = fitting::<N>(F::C.undefined)?;
    count.set(value.and_then(N::fit).unwrap_or(undefined))
}

calls! {
    /// How many elements were received.
    get_count<N> = "MPI_Get_count"(status: In<F::Status>, datatype: F::Handle, count: ResultPlace<N>) |library| {
        let of = library.datatype::<F>(datatype)?;
        let bytes = read::<F>(status)?.bytes as i64;
        let value = if of.size == 0 { (bytes == 0).then_some(0) } else { (bytes % of.size == 0).then_some(bytes / of.size) };
        count_or_undefined::<F, N>(count, value)
    };

    /// How many basic elements were received.
    get_elements<N> = "MPI_Get_elements"(status: In<F::Status>, datatype: F::Handle, count: ResultPlace<N>) |library| {
        let of = library.datatype::<F>(datatype)?;
        count_or_undefined::<F, N>(count, of.elements_in(read::<F>(status)?.bytes as i64))
    };

    /// Writes how many elements were received.
    status_set_elements<N> = "MPI_Status_set_elements"(status: ResultPlace<F::Status>, datatype: F::Handle, count: N) |library| {
        let of = library.datatype::<F>(datatype)?;
        let Some(bytes) = super::count(count.get())?.checked_mul(of.size) else {
            return fault(ErrorClass::Count, "more bytes than a status holds");
        };
        change::<F>(status, |fields| fields.bytes = bytes as u64)
    };

    /// Whether the operation was cancelled.
    test_cancelled = "MPI_Test_cancelled"(status: In<F::Status>, flag: ResultPlace<c_int>) |_library| {
        flag.set(c_int::from(read::<F>(status)?.cancelled))
    };

    /// Writes whether the operation was cancelled.
    status_set_cancelled = "MPI_Status_set_cancelled"(status: ResultPlace<F::Status>, flag: c_int) |_library| {
        change::<F>(status, |fields| fields.cancelled = flag != 0)
    };

    /// The error.
    status_get_error = "MPI_Status_get_error"(status: In<F::Status>, error: ResultPlace<c_int>) |_library| error.set(read::<F>(status)?.error);

    /// The sender.
    status_get_source = "MPI_Status_get_source"(status: In<F::Status>, source: ResultPlace<c_int>) |_library| source.set(read::<F>(status)?.source);

    /// The tag.
    status_get_tag = "MPI_Status_get_tag"(status: In<F::Status>, tag: ResultPlace<c_int>) |_library| tag.set(read::<F>(status)?.tag);

    /// Writes the error.
    status_set_error = "MPI_Status_set_error"(status: ResultPlace<F::Status>, error: c_int) |_library| {
        change::<F>(status, |fields| fields.error = error)
    };

    /// Writes the sender.
    status_set_source = "MPI_Status_set_source"(status: ResultPlace<F::Status>, source: c_int) |_library| {
        change::<F>(status, |fields| fields.source = source)
    };

    /// Writes the tag.
    status_set_tag = "MPI_Status_set_tag"(status: ResultPlace<F::Status>, tag: c_int) |_library| {
        change::<F>(status, |fields| fields.tag = tag)
    };

    /// A status as Fortran's integers.
    status_c2f = "MPI_Status_c2f"(status: In<F::Status>, integers: ResultPlace<F::Status>) |_library| integers.set(status.get()?);
}
