//! What happens when a call cannot do what it was asked to: error handlers, and the codes that programs make.

use super::{ABORT, FATAL, Library, SELF, Stage};
use crate::{
    communicators::Comm,
    faces::{Face, HandleKind},
    fault::{CallFault, ErrorClass, ErrorCode},
};
use coupling::{RankEntry, entry::kind};
use std::{collections::BTreeMap, ffi::c_int, rc::Rc};

/// An error handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    /// All processes end.
    Fatal,
    /// Those of the communicator end.
    Abort,
    /// The code goes to the program.
    Return,
    /// A function of the program, by its address.
    Own(usize),
    /// One for windows, files or sessions, which there are none of.
    ForOthers,
}

/// Codes and classes that the program has made.
#[derive(Debug, Default)]
pub struct OwnErrors {
    /// Made so far: whether a class, the class it belongs to, its text.
    pub made: BTreeMap<c_int, OwnError>,
    /// How many numbers have been given.
    pub given: c_int,
}

/// A code or class of the program.
#[derive(Clone, Debug)]
pub struct OwnError {
    /// The class it belongs to: itself for a class.
    pub class: c_int,
    /// Its text.
    pub text: String,
}

impl Library {
    /// What a code says.
    pub fn words_of<F: Face>(&self, code: c_int) -> Option<String> {
        match ErrorClass::of::<F>(code) {
            Some(class) => Some(class.words().to_owned()),
            None => self.own_errors.borrow().made.get(&code).map(|own| own.text.clone()),
        }
    }

    /// Hands a fault to the error handler that it is up to; returns the code for the program if that goes on.
    pub fn raise<F: Face>(&self, fault: CallFault) -> c_int {
        let code = fault.code.number::<F>();
        let scope = self.scope.borrow().clone();
        let comm = scope.or_else(|| self.comms.borrow().get(SELF).cloned());
        if fault.quiet {
            return code;
        }
        self.handle::<F>(comm, code, &fault.text)
    }

    /// Lets the error handler of a communicator handle a code.
    pub fn handle<F: Face>(&self, comm: Option<Rc<Comm>>, code: c_int, text: &str) -> c_int {
        let index = comm.as_ref().map_or(FATAL, |comm| comm.handler.get());
        let handler = self.handlers.borrow().get(index).copied();
        match handler {
            Some(Handler::Return) if self.stage.get() == Stage::Running => code,
            Some(Handler::Own(function)) => {
                let index = comm.map_or(SELF, |comm| comm.index.get());
                let mut handle = F::handle(self.comm_number::<F>(index));
                let mut code_for_it = code;
                // SAFETY: the program gave the address as that of a function of this type when it made the handler.
                let function: unsafe extern "C" fn(*mut F::Handle, *mut c_int, ...) =
                    unsafe { std::mem::transmute(function) };
                // SAFETY: both pointers are to values of our own that outlive the call.
                unsafe { function(&mut handle, &mut code_for_it) };
                code
            }
            handler => {
                let words = self.words_of::<F>(code).unwrap_or_else(|| format!("error {code}"));
                let why = if text.is_empty() {
                    words
                } else {
                    format!("{text} ({words})")
                };
                eprintln!("fabricsim: {}{}: {why}", self.who(), self.call.get());
                let _ = handler == Some(Handler::Abort) || index == ABORT;
                self.end_all(1)
            }
        }
    }

    /// Who speaks in messages.
    pub fn who(&self) -> String {
        match self.link.borrow().as_ref() {
            Some(link) => format!("rank {}: ", link.rank()),
            None => String::new(),
        }
    }

    /// Ends the program on all ranks.
    pub fn end_all(&self, code: c_int) -> ! {
        if let Ok(mut link) = self.link.try_borrow_mut()
            && let Some(link) = link.as_mut()
        {
            self.tell_counts(link);
            link.append(RankEntry {
                kind: kind::ABORT,
                peer: code as u32,
                ..RankEntry::default()
            });
            link.flush();
        }
        // SAFETY: streams of C are written out, as `exit` would; no handlers of the program run, which might call MPI.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(if code & 0xff == 0 && code != 0 { 1 } else { code })
        }
    }

    /// The number of a communicator's handle.
    pub fn comm_number<F: Face>(&self, index: u32) -> i64 {
        match index {
            super::WORLD => F::C.comm_world,
            SELF => F::C.comm_self,
            _ => F::ours(HandleKind::Communicator, index),
        }
    }

    /// The code of a fault as a class, for statuses.
    pub fn code_of(fault: &CallFault) -> ErrorCode {
        fault.code
    }
}
