//! Info objects: hints by key.

use crate::{
    arguments::{BufferAddress, ResultPlace, TextIn, TextOut},
    communicators::Hints,
    faces::{Face, HandleKind},
    fault::{Answer, ErrorClass, fault},
    library::{Library, calls},
};
use std::ffi::c_int;

/// A key that is neither empty nor too long.
fn key<F: Face>(key: TextIn) -> Answer<String> {
    let key = key.get()?;
    if key.is_empty() || key.len() as i64 > F::C.max_info_key {
        return fault(ErrorClass::InfoKey, format!("a key of {} bytes", key.len()));
    }
    Ok(key)
}

/// The value under a key.
fn value<F: Face>(library: &Library, info: F::Handle, under: TextIn) -> Answer<Option<String>> {
    let under = key::<F>(under)?;
    Ok(library.hints::<F>(info)?.borrow().get(&under).cloned())
}

/// Changes an info object of the program.
fn own<F: Face>(library: &Library, info: F::Handle) -> Answer {
    if F::number(info) == F::C.info_env {
        return fault(ErrorClass::Info, "MPI_INFO_ENV cannot be changed");
    }
    library.hints_index::<F>(info).map(|_| ())
}

calls! {
    /// Makes an empty info object.
    info_create = "MPI_Info_create"(info: ResultPlace<F::Handle>) |library| info.set(library.keep_hints::<F>(Hints::new()));

    /// Makes an info object of what is known of how the program was started: nothing.
    info_create_env = "MPI_Info_create_env"(_count: c_int, _arguments: BufferAddress, info: ResultPlace<F::Handle>) |library| {
        info.set(library.keep_hints::<F>(Hints::new()))
    };

    /// Copies an info object.
    info_dup = "MPI_Info_dup"(info: F::Handle, copy: ResultPlace<F::Handle>) |library| {
        let hints = library.hints::<F>(info)?.borrow().clone();
        copy.set(library.keep_hints::<F>(hints))
    };

    /// Frees an info object.
    info_free = "MPI_Info_free"(info: ResultPlace<F::Handle>) |library| {
        let handle = info.get()?;
        own::<F>(library, handle)?;
        library.hints::<F>(handle)?;
        if let Some(index) = F::index(HandleKind::Info, F::number(handle)) {
            library.hints.borrow_mut().remove(index);
        }
        info.set(F::handle(F::C.info_null))
    };

    /// Sets the value under a key.
    info_set = "MPI_Info_set"(info: F::Handle, under: TextIn, value: TextIn) |library| {
        own::<F>(library, info)?;
        let (under, value) = (key::<F>(under)?, value.get()?);
        if value.is_empty() || value.len() as i64 > F::C.max_info_val {
            return fault(ErrorClass::InfoValue, format!("a value of {} bytes", value.len()));
        }
        library.hints::<F>(info)?.borrow_mut().insert(under, value);
        Ok(())
    };

    /// Takes a key away.
    info_delete = "MPI_Info_delete"(info: F::Handle, under: TextIn) |library| {
        own::<F>(library, info)?;
        let under = key::<F>(under)?;
        match library.hints::<F>(info)?.borrow_mut().remove(&under) {
            Some(_) => Ok(()),
            None => fault(ErrorClass::InfoNokey, format!("there is no key {under:?}")),
        }
    };

    /// The value under a key.
    info_get = "MPI_Info_get"(info: F::Handle, under: TextIn, length: c_int, text: TextOut, flag: ResultPlace<c_int>) |library| {
        let value = value::<F>(library, info, under)?;
        flag.set(c_int::from(value.is_some()))?;
        if length < 0 {
            return fault(ErrorClass::Arg, format!("room for {length} bytes"));
        }
        value.map_or(Ok(()), |value| text.set(&value, i64::from(length) + 1).map(|_| ()))
    };

    /// The value under a key, and how much room it takes.
    info_get_string = "MPI_Info_get_string"(info: F::Handle, under: TextIn, room: ResultPlace<c_int>, text: TextOut, flag: ResultPlace<c_int>) |library| {
        let value = value::<F>(library, info, under)?;
        flag.set(c_int::from(value.is_some()))?;
        let Some(value) = value else { return Ok(()) };
        let most = room.get()?;
        if most > 0 {
            text.set(&value, most.into())?;
        }
        room.set(value.len() as c_int + 1)
    };

    /// How long the value under a key is.
    info_get_valuelen = "MPI_Info_get_valuelen"(info: F::Handle, under: TextIn, length: ResultPlace<c_int>, flag: ResultPlace<c_int>) |library| {
        let value = value::<F>(library, info, under)?;
        flag.set(c_int::from(value.is_some()))?;
        value.map_or(Ok(()), |value| length.set(value.len() as c_int))
    };

    /// How many keys there are.
    info_get_nkeys = "MPI_Info_get_nkeys"(info: F::Handle, keys: ResultPlace<c_int>) |library| {
        keys.set(library.hints::<F>(info)?.borrow().len() as c_int)
    };

    /// The key with a number.
    info_get_nthkey = "MPI_Info_get_nthkey"(info: F::Handle, number: c_int, key: TextOut) |library| {
        let hints = library.hints::<F>(info)?;
        let found = usize::try_from(number).ok().and_then(|number| hints.borrow().keys().nth(number).cloned());
        match found {
            Some(found) => key.set(&found, F::C.max_info_key + 1).map(|_| ()),
            None => fault(ErrorClass::Arg, format!("there is no key number {number}")),
        }
    };
}
