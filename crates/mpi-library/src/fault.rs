//! What may be wrong with a call: the classes of MPI, and a sentence.

use crate::faces::{Face, constants::Constants};
use std::ffi::c_int;

/// Declares the classes with the field of their number and a sentence.
macro_rules! classes {
    ($($class:ident $field:ident $words:literal;)+) => {
        /// Classes of errors.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ErrorClass {
            $(
                #[doc = $words]
                $class,
            )+
        }

        impl ErrorClass {
            /// All classes.
            pub const ALL: &'static [Self] = &[$(Self::$class,)+];

            /// The number of a class among these constants.
            pub fn number(self, constants: &Constants) -> c_int {
                (match self { $(Self::$class => constants.$field,)+ }) as c_int
            }

            /// What a class means, in words.
            pub fn words(self) -> &'static str {
                match self { $(Self::$class => $words,)+ }
            }
        }
    };
}

classes! {
    Success success "no error";
    Buffer err_buffer "a buffer's address is not allowed here";
    Count err_count "a count is negative or too large";
    Type err_type "a datatype is not valid here";
    Tag err_tag "a tag is outside 0 to MPI_TAG_UB";
    Comm err_comm "a communicator is not valid here";
    Rank err_rank "a rank is not in the communicator";
    Request err_request "a request is not valid here";
    Root err_root "a root is not in the communicator";
    Group err_group "a group is not valid here";
    Op err_op "an operation is not valid here";
    Topology err_topology "a communicator has not the topology that is asked for";
    Dims err_dims "dimensions do not fit";
    Arg err_arg "an argument is not allowed";
    Unknown err_unknown "an unknown error";
    Truncate err_truncate "a message was longer than the buffer that received it";
    Other err_other "another error";
    Intern err_intern "an error inside of the MPI library";
    Pending err_pending "a request is neither complete nor in error";
    InStatus err_in_status "the statuses hold the errors";
    Access err_access "access to a file is denied";
    Amode err_amode "an access mode is not allowed";
    Assert err_assert "an assertion is not allowed";
    BadFile err_bad_file "a file name is not valid";
    Base err_base "a base address is not valid";
    Conversion err_conversion "a data conversion failed";
    Disp err_disp "a displacement is not valid";
    DupDatarep err_dup_datarep "a data representation is already defined";
    FileExists err_file_exists "a file exists already";
    FileInUse err_file_in_use "a file is in use";
    File err_file "a file handle is not valid";
    InfoKey err_info_key "a key of an info object is empty or too long";
    InfoNokey err_info_nokey "an info object has no such key";
    InfoValue err_info_value "a value of an info object is too long";
    Info err_info "an info object is not valid";
    Io err_io "an input or output error";
    Keyval err_keyval "a key of attributes is not valid";
    Locktype err_locktype "a kind of lock is not valid";
    Name err_name "a service name is not published";
    NoMem err_no_mem "there is not enough memory";
    NotSame err_not_same "an argument of a collective call differs between processes";
    NoSpace err_no_space "there is not enough space for a file";
    NoSuchFile err_no_such_file "there is no such file";
    Port err_port "a port name is not valid";
    Quota err_quota "a quota is exceeded";
    ReadOnly err_read_only "a file or file system can only be read";
    RmaAttach err_rma_attach "memory cannot be attached to a window";
    RmaConflict err_rma_conflict "accesses to a window are in conflict";
    RmaRange err_rma_range "memory is not part of a window";
    RmaShared err_rma_shared "memory cannot be shared";
    RmaSync err_rma_sync "synchronisation of a window is wrong";
    Service err_service "a service name cannot be unpublished";
    Size err_size "a size is not valid";
    Spawn err_spawn "processes cannot be started";
    UnsupportedDatarep err_unsupported_datarep "a data representation is not supported";
    UnsupportedOperation err_unsupported_operation "an operation is not supported";
    Win err_win "a window is not valid";
    RmaFlavor err_rma_flavor "a window is of the wrong kind";
    ProcAborted err_proc_aborted "a process has ended";
    ValueTooLarge err_value_too_large "a value is too large to be stored";
    Session err_session "a session is not valid";
    Errhandler err_errhandler "an error handler is not valid";
    Abi err_abi "the interface for Fortran is already set";
}

impl ErrorClass {
    /// The class with this number in a binary interface.
    pub fn of<F: Face>(number: c_int) -> Option<Self> {
        Self::ALL.iter().copied().find(|class| class.number(&F::C) == number)
    }

    /// The number of a class in a binary interface.
    pub fn code<F: Face>(self) -> c_int {
        self.number(&F::C)
    }
}

/// The error code of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// That of a class.
    Class(ErrorClass),
    /// One that a program has made, or that a function of the program returned.
    Own(c_int),
}

impl ErrorCode {
    /// The number that a program sees.
    pub fn number<F: Face>(self) -> c_int {
        match self {
            Self::Class(class) => class.code::<F>(),
            Self::Own(number) => number,
        }
    }
}

/// Why a call did not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFault {
    /// The error code.
    pub code: ErrorCode,
    /// A sentence for who reads the message of a program that ends by it.
    pub text: String,
    /// Whether it goes to the program whatever its error handler says: the classes that only tell where to look.
    pub quiet: bool,
}

impl CallFault {
    /// A fault of a class.
    pub fn new(class: ErrorClass, text: impl Into<String>) -> Self {
        Self {
            code: ErrorCode::Class(class),
            text: text.into(),
            quiet: false,
        }
    }
}

/// A fault of a class as the error of a result.
pub fn fault<T>(class: ErrorClass, text: impl Into<String>) -> Answer<T> {
    Err(CallFault::new(class, text))
}

/// What a call comes to.
pub type Answer<T = ()> = Result<T, CallFault>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faces::{Mpich, Standard};

    #[test]
    fn every_class_has_a_number_of_its_own_in_both_faces() {
        for class in ErrorClass::ALL {
            assert_eq!(ErrorClass::of::<Standard>(class.code::<Standard>()), Some(*class));
            assert_eq!(ErrorClass::of::<Mpich>(class.code::<Mpich>()), Some(*class));
        }
        let numbers: Vec<c_int> = ErrorClass::ALL.iter().map(|class| class.code::<Standard>()).collect();
        assert_eq!(
            numbers,
            (0..=62).collect::<Vec<_>>(),
            "the standard ABI numbers them without a gap"
        );
    }
}
