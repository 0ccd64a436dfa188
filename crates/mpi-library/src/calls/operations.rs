//! Operations of reductions that programs define.

use crate::{
    arguments::{BufferAddress, ResultPlace},
    faces::{Face, HandleKind},
    fault::{Answer, ErrorClass, fault},
    library::{Library, calls},
    reductions::{BuiltIn, ReduceOperation},
};
use std::ffi::c_int;

fn create<F: Face>(
    library: &Library,
    function: BufferAddress,
    commutes: c_int,
    large: bool,
    to: ResultPlace<F::Handle>,
) -> Answer {
    library.running()?;
    if function.0.is_null() {
        return fault(ErrorClass::Arg, "the function is null");
    }
    let operation = ReduceOperation::Own {
        function: function.0 as usize,
        large,
        commutes: commutes != 0,
    };
    to.set(library.keep_operation::<F>(operation))
}

calls! {
    /// Makes an operation of a function.
    op_create = "MPI_Op_create"(function: BufferAddress, commutes: c_int, operation: ResultPlace<F::Handle>) |library| {
        create::<F>(library, function, commutes, false, operation)
    };

    /// Makes an operation of a function with large counts.
    op_create_c = "MPI_Op_create_c"(function: BufferAddress, commutes: c_int, operation: ResultPlace<F::Handle>) |library| {
        create::<F>(library, function, commutes, true, operation)
    };

    /// Frees an operation.
    op_free = "MPI_Op_free"(operation: ResultPlace<F::Handle>) |library| {
        library.running()?;
        let handle = operation.get()?;
        library.operation::<F>(handle)?;
        match F::index(HandleKind::Operation, F::number(handle)) {
            Some(index) => library.operations.borrow_mut().remove(index),
            None => return fault(ErrorClass::Op, "an operation of the standard cannot be freed"),
        };
        operation.set(F::handle(F::C.op_null))
    };

    /// Whether the order of operands does not matter.
    op_commutative = "MPI_Op_commutative"(operation: F::Handle, commutes: ResultPlace<c_int>) |library| {
        let commutes_itself = match library.operation::<F>(operation)? {
            ReduceOperation::BuiltIn(operation) => !matches!(operation, BuiltIn::Replace | BuiltIn::Nothing),
            ReduceOperation::Own { commutes, .. } => commutes,
        };
        commutes.set(c_int::from(commutes_itself))
    };
}
