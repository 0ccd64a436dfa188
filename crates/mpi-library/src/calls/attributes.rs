//! Attributes of communicators and datatypes, and the keys for them.

use super::requests::own_code;
use crate::{
    arguments::{BufferAddress, ResultPlace},
    attributes::{AttributeKey, AttributeTable, KeyOf},
    communicators::Comm,
    datatypes::Datatype,
    faces::{Face, constants::Constants},
    fault::{Answer, ErrorClass, fault},
    library::{Library, calls},
};
use std::{cell::RefCell, ffi::c_int, rc::Rc};

/// Attributes of the standard among the constants: those that hold a number, in the order of the library's.
fn standard(constants: &Constants) -> [i64; 5] {
    let c = constants;
    [c.tag_ub, c.wtime_is_global, c.universe_size, c.appnum, c.lastusedcode]
}

/// Numbers of keys of ours: not negative, and none of the standard's.
const FIRST_KEY: c_int = 0x1000_0000;

/// The key with this number, that the program has not freed.
fn key(library: &Library, number: c_int, of: KeyOf) -> Answer<u32> {
    key_if(library, number, |_, key| key.of == of && !key.freed)
}

/// The key with this number: one that was freed is there for as long as a value hangs under it.
fn key_on(library: &Library, number: c_int, holder: &Holder) -> Answer<u32> {
    key_if(library, number, |index, key| {
        key.of == holder.key_of() && (!key.freed || holder.attributes().borrow().contains_key(&index))
    })
}

fn key_if(library: &Library, number: c_int, is_it: impl Fn(u32, AttributeKey) -> bool) -> Answer<u32> {
    let index = number
        .checked_sub(FIRST_KEY)
        .and_then(|index| u32::try_from(index).ok());
    let key = index.and_then(|index| Some((index, *library.keys.borrow().get(index)?)));
    match key {
        Some((index, key)) if is_it(index, key) => Ok(index),
        _ => fault(
            ErrorClass::Keyval,
            format!("{number:#x} is no key that the program has made for this"),
        ),
    }
}

/// What a value hangs on.
enum Holder {
    Comm(Rc<Comm>),
    Type(Rc<Datatype>, i64),
}

impl Holder {
    fn attributes(&self) -> &RefCell<AttributeTable> {
        match self {
            Self::Comm(comm) => &comm.attributes,
            Self::Type(of, _) => &of.attributes,
        }
    }

    fn handle<F: Face>(&self, library: &Library) -> F::Handle {
        match self {
            Self::Comm(comm) => F::handle(library.comm_number::<F>(comm.index.get())),
            Self::Type(_, number) => F::handle(*number),
        }
    }

    fn key_of(&self) -> KeyOf {
        match self {
            Self::Comm(_) => KeyOf::Communicator,
            Self::Type(..) => KeyOf::Datatype,
        }
    }

    /// Takes a value away, after the key's function for that.
    fn delete<F: Face>(&self, library: &Library, index: u32) -> Answer {
        let Some(value) = self.attributes().borrow().get(&index).copied() else {
            return Ok(());
        };
        let key = library.keys.borrow().get(index).copied();
        if let Some(key) = key.filter(|key| key.delete != 0) {
            let number = FIRST_KEY + index as c_int;
            // SAFETY: the program gave the address as that of a function of this type.
            let function: unsafe extern "C" fn(F::Handle, c_int, usize, usize) -> c_int =
                unsafe { std::mem::transmute(key.delete) };
            // SAFETY: the arguments are what the program wants to be handed.
            own_code::<F>(unsafe { function(self.handle::<F>(library), number, value, key.state) })?;
        }
        self.attributes().borrow_mut().remove(&index);
        Ok(())
    }

    /// Takes all values away.
    fn delete_all<F: Face>(&self, library: &Library) -> Answer {
        let keys: Vec<u32> = self.attributes().borrow().keys().rev().copied().collect();
        keys.into_iter().try_for_each(|index| self.delete::<F>(library, index))
    }

    /// What a duplicate holds.
    fn copies<F: Face>(&self, library: &Library) -> Answer<AttributeTable> {
        let all: Vec<(u32, usize)> = self
            .attributes()
            .borrow()
            .iter()
            .map(|(index, value)| (*index, *value))
            .collect();
        let mut copies = AttributeTable::new();
        for (index, value) in all {
            let Some(key) = library.keys.borrow().get(index).copied() else {
                continue;
            };
            match key.copy {
                0 => {}
                1 => {
                    copies.insert(index, value);
                }
                function => {
                    let (mut copy, mut flag) = (value, 0);
                    type Copy<H> = unsafe extern "C" fn(H, c_int, usize, usize, *mut usize, *mut c_int) -> c_int;
                    // SAFETY: the program gave the address as that of a function of this type.
                    let function: Copy<F::Handle> = unsafe { std::mem::transmute(function) };
                    let number = FIRST_KEY + index as c_int;
                    // SAFETY: the places for results are ours and outlive the call.
                    own_code::<F>(unsafe {
                        function(
                            self.handle::<F>(library),
                            number,
                            key.state,
                            value,
                            &mut copy,
                            &mut flag,
                        )
                    })?;
                    if flag != 0 {
                        copies.insert(index, copy);
                    }
                }
            }
        }
        Ok(copies)
    }
}

/// Takes all attributes of a communicator away.
pub(super) fn delete_all<F: Face>(library: &Library, comm: u32) -> Answer {
    let comm = library.comms.borrow().get(comm).cloned();
    comm.map_or(Ok(()), |comm| Holder::Comm(comm).delete_all::<F>(library))
}

/// What a duplicate of a communicator holds.
pub(super) fn copies_of_comm<F: Face>(library: &Library, comm: &Rc<Comm>) -> Answer<AttributeTable> {
    Holder::Comm(comm.clone()).copies::<F>(library)
}

/// What a duplicate of a datatype holds.
pub(super) fn copies_of_type<F: Face>(
    library: &Library,
    of: &Rc<Datatype>,
    handle: F::Handle,
) -> Answer<AttributeTable> {
    Holder::Type(of.clone(), F::number(handle)).copies::<F>(library)
}

/// Takes all attributes of a datatype away.
pub(super) fn delete_all_of_type<F: Face>(library: &Library, of: &Rc<Datatype>, handle: F::Handle) -> Answer {
    Holder::Type(of.clone(), F::number(handle)).delete_all::<F>(library)
}

/// Makes a key.
fn create<F: Face>(
    library: &Library,
    of: KeyOf,
    (copy, delete): (BufferAddress, BufferAddress),
    number: ResultPlace<c_int>,
    state: BufferAddress,
) -> Answer {
    // MPICH's function that copies the value itself is one that it exports; the standard ABI has the number 1 for it.
    let copy = if std::ptr::eq(copy.0, crate::calls::tools::dup_fn::<F> as *const _) {
        1
    } else {
        copy.0 as usize
    };
    let key = AttributeKey {
        of,
        copy,
        delete: delete.0 as usize,
        state: state.0 as usize,
        freed: false,
    };
    let index = library.keys.borrow_mut().insert(key);
    number.set(FIRST_KEY + index as c_int)
}

/// Frees a key: values under it stay where they are until what holds them goes.
fn free<F: Face>(library: &Library, of: KeyOf, number: ResultPlace<c_int>) -> Answer {
    let index = key(library, number.get()?, of)?;
    // Its number is not given again: something may hold a value under it.
    if let Some(key) = library.keys.borrow_mut().get_mut(index) {
        key.freed = true;
    }
    number.set(F::C.keyval_invalid as c_int)
}

fn set<F: Face>(library: &Library, holder: &Holder, number: c_int, value: BufferAddress) -> Answer {
    let index = key(library, number, holder.key_of())?;
    holder.delete::<F>(library, index)?;
    holder.attributes().borrow_mut().insert(index, value.0 as usize);
    Ok(())
}

fn get(library: &Library, holder: &Holder, number: c_int, value: BufferAddress, flag: ResultPlace<c_int>) -> Answer {
    let index = key_on(library, number, holder)?;
    let found = holder.attributes().borrow().get(&index).copied();
    flag.set(c_int::from(found.is_some()))?;
    found.map_or(Ok(()), |found| value.set(found as *mut _))
}

fn delete<F: Face>(library: &Library, holder: &Holder, number: c_int) -> Answer {
    let index = key_on(library, number, holder)?;
    holder.delete::<F>(library, index)
}

/// Attributes of a communicator, those of the standard among them.
fn comm_get<F: Face>(
    library: &Library,
    comm: F::Handle,
    number: c_int,
    value: BufferAddress,
    flag: ResultPlace<c_int>,
) -> Answer {
    let comm = library.comm::<F>(comm)?;
    if let Some(place) = standard(&F::C).iter().position(|known| *known == i64::from(number)) {
        if place == 4 {
            let last = F::C.err_lastcode as c_int;
            library.constants[4].set(last + library.own_errors.borrow().given);
        }
        flag.set(1)?;
        return value.set(library.constants[place].as_ptr().cast());
    }
    if [F::C.host, F::C.io].contains(&i64::from(number)) {
        // There is no host, and no file input and output.
        return flag.set(0);
    }
    get(library, &Holder::Comm(comm), number, value, flag)
}

fn of_type<F: Face>(library: &Library, handle: F::Handle) -> Answer<Holder> {
    Ok(Holder::Type(library.datatype::<F>(handle)?, F::number(handle)))
}

fn of_comm<F: Face>(library: &Library, handle: F::Handle) -> Answer<Holder> {
    Ok(Holder::Comm(library.comm::<F>(handle)?))
}

calls! {
    /// Makes a key for communicators.
    comm_create_keyval = "MPI_Comm_create_keyval"(copy: BufferAddress, delete: BufferAddress, key: ResultPlace<c_int>, state: BufferAddress) |library| {
        create::<F>(library, KeyOf::Communicator, (copy, delete), key, state)
    };

    /// Makes a key for datatypes.
    type_create_keyval = "MPI_Type_create_keyval"(copy: BufferAddress, delete: BufferAddress, key: ResultPlace<c_int>, state: BufferAddress) |library| {
        create::<F>(library, KeyOf::Datatype, (copy, delete), key, state)
    };

    /// Makes a key for windows, which there are none of.
    win_create_keyval = "MPI_Win_create_keyval"(copy: BufferAddress, delete: BufferAddress, key: ResultPlace<c_int>, state: BufferAddress) |library| {
        create::<F>(library, KeyOf::Window, (copy, delete), key, state)
    };

    /// Frees a key for communicators.
    comm_free_keyval = "MPI_Comm_free_keyval"(key: ResultPlace<c_int>) |library| free::<F>(library, KeyOf::Communicator, key);

    /// Frees a key for datatypes.
    type_free_keyval = "MPI_Type_free_keyval"(key: ResultPlace<c_int>) |library| free::<F>(library, KeyOf::Datatype, key);

    /// Frees a key for windows.
    win_free_keyval = "MPI_Win_free_keyval"(key: ResultPlace<c_int>) |library| free::<F>(library, KeyOf::Window, key);

    /// Hangs a value on a communicator.
    comm_set_attr = "MPI_Comm_set_attr"(comm: F::Handle, key: c_int, value: BufferAddress) |library| {
        set::<F>(library, &of_comm::<F>(library, comm)?, key, value)
    };

    /// The value on a communicator.
    comm_get_attr = "MPI_Comm_get_attr"(comm: F::Handle, key: c_int, value: BufferAddress, flag: ResultPlace<c_int>) |library| {
        comm_get::<F>(library, comm, key, value, flag)
    };

    /// Takes a value off a communicator.
    comm_delete_attr = "MPI_Comm_delete_attr"(comm: F::Handle, key: c_int) |library| {
        delete::<F>(library, &of_comm::<F>(library, comm)?, key)
    };

    /// Hangs a value on a datatype.
    type_set_attr = "MPI_Type_set_attr"(datatype: F::Handle, key: c_int, value: BufferAddress) |library| {
        set::<F>(library, &of_type::<F>(library, datatype)?, key, value)
    };

    /// The value on a datatype.
    type_get_attr = "MPI_Type_get_attr"(datatype: F::Handle, key: c_int, value: BufferAddress, flag: ResultPlace<c_int>) |library| {
        get(library, &of_type::<F>(library, datatype)?, key, value, flag)
    };

    /// Takes a value off a datatype.
    type_delete_attr = "MPI_Type_delete_attr"(datatype: F::Handle, key: c_int) |library| {
        delete::<F>(library, &of_type::<F>(library, datatype)?, key)
    };
}
