//! From handles to things, and back.

use super::{Library, SELF, WORLD, requests::LibraryRequest};
use crate::{
    communicators::{Comm, Hints},
    datatypes::{
        Datatype,
        named::{NAMED, named_index},
    },
    faces::{Face, HandleKind, constants::Constants},
    fault::{Answer, ErrorClass, fault},
    groups::ProcessGroup,
    reductions::ReduceOperation,
};
use std::{cell::RefCell, rc::Rc};

/// Operations of the standard among the constants, in the order of their index.
fn operations(constants: &Constants) -> [i64; 14] {
    let c = constants;
    [
        c.sum, c.min, c.max, c.prod, c.band, c.bor, c.bxor, c.land, c.lor, c.lxor, c.minloc, c.maxloc, c.replace,
        c.no_op,
    ]
}

/// Error handlers of the standard among the constants, in the order of their index.
fn handlers(constants: &Constants) -> [i64; 3] {
    [
        constants.errors_are_fatal,
        constants.errors_abort,
        constants.errors_return,
    ]
}

fn place(numbers: &[i64], number: i64) -> Option<u32> {
    numbers
        .iter()
        .position(|known| *known == number)
        .map(|place| place as u32)
}

/// The handle at this place of the known ones, or one of ours.
fn handle_of<F: Face>(kind: HandleKind, numbers: &[i64], index: u32) -> F::Handle {
    F::handle(
        numbers
            .get(index as usize)
            .copied()
            .unwrap_or_else(|| F::ours(kind, index)),
    )
}

impl Library {
    /// The index of a communicator.
    pub fn comm_index<F: Face>(&self, handle: F::Handle) -> Answer<u32> {
        let number = F::number(handle);
        if number == F::C.comm_world {
            return Ok(WORLD);
        }
        if number == F::C.comm_self {
            return Ok(SELF);
        }
        match F::index(HandleKind::Communicator, number) {
            Some(index) => Ok(index),
            None if number == F::C.comm_null => fault(ErrorClass::Comm, "the communicator is MPI_COMM_NULL"),
            None => fault(ErrorClass::Comm, format!("{number:#x} is no communicator")),
        }
    }

    /// A communicator: from here on faults are up to its error handler.
    #[unsafe(link_section = ".text.hot")]
    pub fn comm<F: Face>(&self, handle: F::Handle) -> Answer<Rc<Comm>> {
        self.running()?;
        let index = self.comm_index::<F>(handle)?;
        let comm = self.comms.borrow().get(index).cloned();
        match comm {
            Some(comm) => {
                *self.scope.borrow_mut() = Some(comm.clone());
                Ok(comm)
            }
            None => fault(ErrorClass::Comm, "the communicator has been freed"),
        }
    }

    /// The datatype with this index.
    pub fn type_at(&self, index: u32) -> Option<Rc<Datatype>> {
        let types = self.types.borrow();
        let there = types.get(index)?;
        let made = there.get_or_init(|| {
            let _nearby = super::PROCESS.nearby.open();
            Rc::new(Datatype::of_name(index))
        });
        Some(made.clone())
    }

    /// The index of the first datatype that is such a one, of those that somebody has asked for.
    pub fn find_type(&self, is_it: impl Fn(&Datatype) -> bool) -> Option<u32> {
        let types = self.types.borrow();
        let mut made = types.iter().filter_map(|(index, of)| Some((index, of.get()?)));
        made.find_map(|(index, of)| is_it(of).then_some(index))
    }

    /// Takes a datatype out of the table.
    pub fn remove_type(&self, index: u32) {
        self.types.borrow_mut().remove(index);
    }

    /// A datatype.
    #[unsafe(link_section = ".text.hot")]
    pub fn datatype<F: Face>(&self, handle: F::Handle) -> Answer<Rc<Datatype>> {
        let number = F::number(handle);
        if let Some((last, named)) = &*self.last_named.borrow()
            && *last == number
        {
            return Ok(named.clone());
        }
        let named = named_index::<F>(number);
        let index = match named.or_else(|| F::index(HandleKind::Datatype, number)) {
            Some(index) => index,
            None if number == F::C.datatype_null => {
                return fault(ErrorClass::Type, "the datatype is MPI_DATATYPE_NULL");
            }
            None => return fault(ErrorClass::Type, format!("{number:#x} is no datatype")),
        };
        let Some(datatype) = self.type_at(index) else {
            return fault(ErrorClass::Type, "the datatype has been freed");
        };
        // Those are never freed.
        if named.is_some() {
            *self.last_named.borrow_mut() = Some((number, datatype.clone()));
        }
        Ok(datatype)
    }

    /// A datatype that messages may use.
    #[unsafe(link_section = ".text.hot")]
    pub fn committed<F: Face>(&self, handle: F::Handle) -> Answer<Rc<Datatype>> {
        let datatype = self.datatype::<F>(handle)?;
        if !datatype.committed.get() {
            return fault(ErrorClass::Type, "the datatype has not been committed");
        }
        Ok(datatype)
    }

    /// The handle of a datatype's index.
    pub fn datatype_handle<F: Face>(&self, index: u32) -> F::Handle {
        match NAMED.get(index as usize) {
            Some(row) => F::handle(row.number::<F>()),
            None => F::handle(F::ours(HandleKind::Datatype, index)),
        }
    }

    /// Puts a datatype into the table; returns its handle.
    pub fn keep_datatype<F: Face>(&self, datatype: Rc<Datatype>) -> F::Handle {
        let index = self.types.borrow_mut().insert(datatype.into());
        self.datatype_handle::<F>(index)
    }

    /// A group.
    pub fn group<F: Face>(&self, handle: F::Handle) -> Answer<Rc<ProcessGroup>> {
        let number = F::number(handle);
        let index = match place(&[F::C.group_empty], number).or_else(|| F::index(HandleKind::Group, number)) {
            Some(index) => index,
            None if number == F::C.group_null => return fault(ErrorClass::Group, "the group is MPI_GROUP_NULL"),
            None => return fault(ErrorClass::Group, format!("{number:#x} is no group")),
        };
        let group = self.groups.borrow().get(index).cloned();
        group.map_or_else(|| fault(ErrorClass::Group, "the group has been freed"), Ok)
    }

    /// Puts a group into the table; returns its handle.
    pub fn keep_group<F: Face>(&self, group: Rc<ProcessGroup>) -> F::Handle {
        if group.members.is_empty() {
            return F::handle(F::C.group_empty);
        }
        let index = self.groups.borrow_mut().insert(group);
        handle_of::<F>(HandleKind::Group, &[F::C.group_empty], index)
    }

    /// The index of hints; `None` for none.
    pub fn hints_index<F: Face>(&self, handle: F::Handle) -> Answer<u32> {
        let number = F::number(handle);
        match place(&[F::C.info_env], number).or_else(|| F::index(HandleKind::Info, number)) {
            Some(index) => Ok(index),
            None if number == F::C.info_null => fault(ErrorClass::Info, "the info object is MPI_INFO_NULL"),
            None => fault(ErrorClass::Info, format!("{number:#x} is no info object")),
        }
    }

    /// Hints.
    pub fn hints<F: Face>(&self, handle: F::Handle) -> Answer<Rc<RefCell<Hints>>> {
        let index = self.hints_index::<F>(handle)?;
        let hints = self.hints.borrow().get(index).cloned();
        hints.map_or_else(|| fault(ErrorClass::Info, "the info object has been freed"), Ok)
    }

    /// Hints that may be absent.
    pub fn some_hints<F: Face>(&self, handle: F::Handle) -> Answer<Hints> {
        if F::number(handle) == F::C.info_null {
            return Ok(Hints::new());
        }
        let hints = self.hints::<F>(handle)?;
        let copy = hints.borrow().clone();
        Ok(copy)
    }

    /// Puts hints into the table; returns their handle.
    pub fn keep_hints<F: Face>(&self, hints: Hints) -> F::Handle {
        let index = self.hints.borrow_mut().insert(Rc::new(RefCell::new(hints)));
        handle_of::<F>(HandleKind::Info, &[F::C.info_env], index)
    }

    /// The index of an operation.
    pub fn operation_index<F: Face>(&self, handle: F::Handle) -> Answer<u32> {
        let number = F::number(handle);
        match F::index(HandleKind::Operation, number).or_else(|| place(&operations(&F::C), number)) {
            Some(index) => Ok(index),
            None if number == F::C.op_null => fault(ErrorClass::Op, "the operation is MPI_OP_NULL"),
            None => fault(ErrorClass::Op, format!("{number:#x} is no operation")),
        }
    }

    /// An operation.
    pub fn operation<F: Face>(&self, handle: F::Handle) -> Answer<ReduceOperation> {
        let index = self.operation_index::<F>(handle)?;
        let operation = self.operations.borrow().get(index).copied();
        operation.map_or_else(|| fault(ErrorClass::Op, "the operation has been freed"), Ok)
    }

    /// Puts an operation into the table; returns its handle.
    pub fn keep_operation<F: Face>(&self, operation: ReduceOperation) -> F::Handle {
        let index = self.operations.borrow_mut().insert(operation);
        handle_of::<F>(HandleKind::Operation, &operations(&F::C), index)
    }

    /// The index of an error handler.
    pub fn handler_index<F: Face>(&self, handle: F::Handle) -> Answer<u32> {
        let number = F::number(handle);
        let index = place(&handlers(&F::C), number).or_else(|| F::index(HandleKind::Handler, number));
        match index {
            Some(index) if self.handlers.borrow().get(index).is_some() => Ok(index),
            _ => fault(ErrorClass::Errhandler, format!("{number:#x} is no error handler")),
        }
    }

    /// The handle of an error handler's index.
    pub fn handler_handle<F: Face>(&self, index: u32) -> F::Handle {
        handle_of::<F>(HandleKind::Handler, &handlers(&F::C), index)
    }

    /// The index of a request; `None` for `MPI_REQUEST_NULL`.
    #[unsafe(link_section = ".text.hot")]
    pub fn request_index<F: Face>(&self, handle: F::Handle) -> Answer<Option<u32>> {
        let number = F::number(handle);
        if number == F::C.request_null {
            return Ok(None);
        }
        match F::index(HandleKind::Request, number) {
            Some(index) if self.requests.borrow().get(index).is_some() => Ok(Some(index)),
            _ => fault(ErrorClass::Request, format!("{number:#x} is no request")),
        }
    }

    /// The request with this index.
    #[unsafe(link_section = ".text.hot")]
    pub fn request(&self, index: u32) -> Answer<Rc<LibraryRequest>> {
        let request = self.requests.borrow().get(index).cloned();
        request.map_or_else(|| fault(ErrorClass::Request, "the request has been freed"), Ok)
    }

    /// The handle of a request's index.
    pub fn request_handle<F: Face>(&self, index: u32) -> F::Handle {
        F::handle(F::ours(HandleKind::Request, index))
    }
}
