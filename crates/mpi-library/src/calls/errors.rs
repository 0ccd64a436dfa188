//! Error handlers, codes and their texts.

use crate::{
    arguments::{BufferAddress, ResultPlace, TextIn, TextOut},
    faces::Face,
    fault::{Answer, ErrorClass, fault},
    library::{Handler, Library, OwnError, calls},
};
use std::ffi::c_int;

fn create<F: Face>(library: &Library, handler: Handler, to: ResultPlace<F::Handle>) -> Answer {
    let index = library.handlers.borrow_mut().insert(handler);
    to.set(library.handler_handle::<F>(index))
}

/// The class of a code.
fn class<F: Face>(library: &Library, code: c_int) -> Answer<c_int> {
    if ErrorClass::of::<F>(code).is_some() {
        return Ok(code);
    }
    match library.own_errors.borrow().made.get(&code) {
        Some(own) => Ok(own.class),
        None => fault(ErrorClass::Arg, format!("{code} is no error code")),
    }
}

/// A new number for a code or class of the program.
fn number<F: Face>(library: &Library) -> c_int {
    let mut own = library.own_errors.borrow_mut();
    own.given += 1;
    F::C.err_lastcode as c_int + own.given
}

/// Makes a code of a class; of none, a class.
fn make<F: Face>(library: &Library, class: Option<c_int>, to: ResultPlace<c_int>) -> Answer {
    let number = number::<F>(library);
    let own = OwnError {
        class: class.unwrap_or(number),
        text: String::new(),
    };
    library.own_errors.borrow_mut().made.insert(number, own);
    to.set(number)
}

/// Takes a code or class of the program away.
fn remove(library: &Library, code: c_int, is_class: bool) -> Answer {
    let mut own = library.own_errors.borrow_mut();
    let is_used = |made: &OwnError| {
        !made.text.is_empty() || is_class && own.made.values().filter(|other| other.class == code).count() > 1
    };
    match own.made.get(&code) {
        Some(made) if (made.class == code) != is_class => fault(ErrorClass::Arg, format!("{code} is not of that kind")),
        Some(made) if is_used(made) => fault(ErrorClass::Arg, format!("{code} has a text, or codes of its class")),
        Some(_) => {
            own.made.remove(&code);
            Ok(())
        }
        None => fault(ErrorClass::Arg, format!("{code} is none that the program has made")),
    }
}

calls! {
    /// Makes an error handler for communicators.
    comm_create_errhandler = "MPI_Comm_create_errhandler"(function: BufferAddress, handler: ResultPlace<F::Handle>) |library| {
        if function.0.is_null() {
            return fault(ErrorClass::Arg, "the function is null");
        }
        create::<F>(library, Handler::Own(function.0 as usize), handler)
    };

    /// Makes an error handler for files, windows or sessions, which there are none of.
    other_create_errhandler = "MPI_Win_create_errhandler"(_function: BufferAddress, handler: ResultPlace<F::Handle>) |library| {
        create::<F>(library, Handler::ForOthers, handler)
    };

    /// Sets the error handler of a communicator.
    comm_set_errhandler = "MPI_Comm_set_errhandler"(comm: F::Handle, handler: F::Handle) |library| {
        let comm = library.comm::<F>(comm)?;
        let index = library.handler_index::<F>(handler)?;
        if library.handlers.borrow().get(index) == Some(&Handler::ForOthers) {
            return fault(ErrorClass::Errhandler, "the error handler is not for communicators");
        }
        comm.handler.set(index);
        Ok(())
    };

    /// The error handler of a communicator.
    comm_get_errhandler = "MPI_Comm_get_errhandler"(comm: F::Handle, handler: ResultPlace<F::Handle>) |library| {
        let index = library.comm::<F>(comm)?.handler.get();
        handler.set(library.handler_handle::<F>(index))
    };

    /// Lets the error handler of a communicator handle a code.
    comm_call_errhandler = "MPI_Comm_call_errhandler"(comm: F::Handle, code: c_int) |library| {
        let comm = library.comm::<F>(comm)?;
        library.handle::<F>(Some(comm), code, "");
        Ok(())
    };

    /// Frees an error handler: communicators that have it keep it.
    errhandler_free = "MPI_Errhandler_free"(handler: ResultPlace<F::Handle>) |library| {
        library.handler_index::<F>(handler.get()?)?;
        // Its place stays: a communicator may have it.
        handler.set(F::handle(F::C.errhandler_null))
    };

    /// The class of a code.
    error_class = "MPI_Error_class"(code: c_int, of: ResultPlace<c_int>) |library| of.set(class::<F>(library, code)?);

    /// The text of a code.
    error_string = "MPI_Error_string"(code: c_int, text: TextOut, length: ResultPlace<c_int>) |library| {
        match library.words_of::<F>(code) {
            Some(words) => length.set(text.set(&words, F::C.max_error_string)?),
            None => fault(ErrorClass::Arg, format!("{code} is no error code")),
        }
    };

    /// Makes a class.
    add_error_class = "MPI_Add_error_class"(class: ResultPlace<c_int>) |library| make::<F>(library, None, class);

    /// Makes a code of a class.
    add_error_code = "MPI_Add_error_code"(of: c_int, code: ResultPlace<c_int>) |library| {
        let of = class::<F>(library, of)?;
        make::<F>(library, Some(of), code)
    };

    /// Gives a code of the program a text.
    add_error_string = "MPI_Add_error_string"(code: c_int, text: TextIn) |library| {
        let text = text.get()?;
        match library.own_errors.borrow_mut().made.get_mut(&code) {
            Some(own) => {
                own.text = text;
                Ok(())
            }
            None => fault(ErrorClass::Arg, format!("{code} is none that the program has made")),
        }
    };

    /// Takes a class of the program away.
    remove_error_class = "MPI_Remove_error_class"(class: c_int) |library| remove(library, class, true);

    /// Takes a code of the program away.
    remove_error_code = "MPI_Remove_error_code"(code: c_int) |library| remove(library, code, false);

    /// Takes the text of a code of the program away.
    remove_error_string = "MPI_Remove_error_string"(code: c_int) |library| {
        match library.own_errors.borrow_mut().made.get_mut(&code) {
            Some(own) => {
                own.text.clear();
                Ok(())
            }
            None => fault(ErrorClass::Arg, format!("{code} is none that the program has made")),
        }
    };
}
