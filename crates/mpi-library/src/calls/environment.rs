//! Starting and ending, versions, names, clocks.

use crate::{
    arguments::{BufferAddress, Count, In, ResultPlace, TextOut},
    communicators::Comm,
    faces::Face,
    fault::{Answer, ErrorClass, fault},
    groups::ProcessGroup,
    library::{FATAL, Library, PROCESS, Stage, calls, enter, know_machine, thread_number},
    link::{AloneLink, NetworkLink},
};
use coupling::{
    CallName, RankEntry, RankSide,
    entry::{LARGEST_TAG, MOST_COMMUNICATORS, NO_PAYLOAD, kind},
};
use std::{cell::Cell, ffi::c_int, rc::Rc, sync::atomic::Ordering};

/// What the library calls itself.
const VERSION: &str = concat!("fabricsim ", env!("CARGO_PKG_VERSION"), ": MPI on a simulated network");

/// Finds the network and makes the communicators of the standard.
fn start(library: &Library, level: i64) -> Answer {
    match library.stage.get() {
        Stage::Before => {}
        Stage::Running => return fault(ErrorClass::Other, "MPI_Init has been called before"),
        Stage::Finalized => {
            return fault(
                ErrorClass::Other,
                "MPI_Finalize has been called: MPI cannot start again",
            );
        }
    }
    let launched = match RankSide::of_process(Some(&PROCESS.mailbox)) {
        Ok(launched) => launched,
        Err(error) => return fault(ErrorClass::Other, format!("{error}")),
    };
    let mut link = match launched {
        Some(side) => {
            side.settle();
            NetworkLink::Simulated(side)
        }
        None => match AloneLink::new() {
            Ok(alone) => NetworkLink::Alone(alone),
            Err(error) => return fault(ErrorClass::Other, format!("memory for messages: {error}")),
        },
    };
    let (rank, ranks) = (link.rank(), link.area().terms().ranks);
    link.enter(&CallName::of("MPI_Init"), PROCESS.place.load(Ordering::Relaxed));
    let virtual_clock = link.area().terms().virtual_clock != 0;
    *library.link.borrow_mut() = Some(link);
    library.stage.set(Stage::Running);
    library.thread_level.set(level);
    know_machine();
    library.main_thread.set(thread_number());
    let nearby = PROCESS.nearby.open();
    library.make_room();
    let world = Comm::new(0, Rc::new(ProcessGroup::new((0..ranks).collect())), rank, FATAL);
    "MPI_COMM_WORLD".clone_into(&mut world.name.borrow_mut());
    library.keep_comm(world);
    drop(nearby);
    let own = Comm::new(
        library.take_number(2)?,
        Rc::new(ProcessGroup::new(vec![rank])),
        0,
        FATAL,
    );
    "MPI_COMM_SELF".clone_into(&mut own.name.borrow_mut());
    library.keep_comm(own);
    // The attributes of the standard, as programs read them: through pointers.
    for (place, value) in library
        .constants
        .iter()
        .zip([i32::from(LARGEST_TAG), 1, ranks as i32, 0, 0])
    {
        place.set(value);
    }
    library.ask(RankEntry {
        kind: kind::INIT,
        payload: NO_PAYLOAD,
        ..RankEntry::default()
    });
    crate::host_time::show_simulated(virtual_clock);
    Ok(())
}

/// Numbers from here on are those of duplicates that are started without waiting ([`Library::number_duplicate`]).
const FIRST_OF_DUPLICATES: u32 = 20_000;

impl Library {
    /// The number of a new communicator, whose members can have nothing below `first` in common: what each of them has told as its
    /// [`next_comm`](Library::next_comm), the greatest. Every communicator has a second number, for what collective operations send.
    pub fn take_number(&self, first: u32) -> Answer<u32> {
        if first >= FIRST_OF_DUPLICATES {
            return fault(
                ErrorClass::Other,
                format!(
                    "a process has been in {} communicators, and there is no room for more",
                    FIRST_OF_DUPLICATES / 2
                ),
            );
        }
        self.next_comm.set(first + 2);
        Ok(first)
    }

    /// The number of a duplicate that this process starts as the first member. No other process gives it, so that it need not be agreed on.
    pub fn number_duplicate(&self) -> Answer<u32> {
        let (rank, ranks) = match self.link.borrow().as_ref() {
            Some(link) => (link.rank(), link.area().terms().ranks),
            None => return fault(ErrorClass::Other, "MPI is not running"),
        };
        let place = u64::from(self.started_duplicates.get()) * u64::from(ranks) + u64::from(rank);
        let number = u64::from(FIRST_OF_DUPLICATES) + 2 * place;
        if number + 1 >= MOST_COMMUNICATORS.into() {
            return fault(
                ErrorClass::Other,
                "there is no room for more duplicates that are started and not waited for",
            );
        }
        self.started_duplicates.set(self.started_duplicates.get() + 1);
        Ok(number as u32)
    }
}

calls! {
    /// Starts MPI.
    init = "MPI_Init"(_arguments: BufferAddress, _list: BufferAddress) |library| start(library, F::C.thread_single);

    /// Starts MPI and says what threads may do.
    init_thread = "MPI_Init_thread"(_arguments: BufferAddress, _list: BufferAddress, required: c_int, provided: ResultPlace<c_int>) |library| {
        let level = i64::from(required).clamp(F::C.thread_single, F::C.thread_serialized);
        start(library, level)?;
        provided.set(level as c_int)
    };

    /// Ends MPI.
    finalize = "MPI_Finalize"() |library| {
        library.running()?;
        super::attributes::delete_all::<F>(library, crate::library::SELF)?;
        crate::host_time::show_simulated(false);
        library.ask(RankEntry { kind: kind::FINALIZE, payload: NO_PAYLOAD, ..RankEntry::default() });
        library.stage.set(Stage::Finalized);
        Ok(())
    };

    /// Whether `MPI_Init` has been called.
    initialized = "MPI_Initialized"(flag: ResultPlace<c_int>) |library| flag.set(c_int::from(library.stage.get() != Stage::Before));

    /// Whether `MPI_Finalize` has been called.
    finalized = "MPI_Finalized"(flag: ResultPlace<c_int>) |library| flag.set(c_int::from(library.stage.get() == Stage::Finalized));

    /// Ends all processes.
    abort = "MPI_Abort"(_comm: F::Handle, code: c_int) |library| {
        eprintln!("fabricsim: {}MPI_Abort with code {code}", library.who());
        library.end_all(code)
    };

    /// What threads may do.
    query_thread = "MPI_Query_thread"(provided: ResultPlace<c_int>) |library| {
        library.running()?;
        provided.set(library.thread_level.get() as c_int)
    };

    /// Whether this thread called `MPI_Init`.
    is_thread_main = "MPI_Is_thread_main"(flag: ResultPlace<c_int>) |library| {
        library.running()?;
        flag.set(c_int::from(library.main_thread.get() == thread_number()))
    };

    /// The version of the standard.
    get_version = "MPI_Get_version"(version: ResultPlace<c_int>, subversion: ResultPlace<c_int>) |_library| {
        version.set(F::C.version as c_int)?;
        subversion.set(F::C.subversion as c_int)
    };

    /// The version of the library.
    get_library_version = "MPI_Get_library_version"(text: TextOut, length: ResultPlace<c_int>) |_library| {
        length.set(text.set(VERSION, F::C.max_library_version_string)?)
    };

    /// The version of the binary interface: that of the standard, or none.
    abi_get_version = "MPI_Abi_get_version"(major: ResultPlace<c_int>, minor: ResultPlace<c_int>) |_library| {
        let numbers = if F::IS_STANDARD { [1, 0] } else { [-1, -1] };
        major.set(numbers[0])?;
        minor.set(numbers[1])
    };

    /// What the binary interface leaves open: sizes of its integers.
    abi_get_info = "MPI_Abi_get_info"(info: ResultPlace<F::Handle>) |library| {
        let sizes = ["mpi_aint_size", "mpi_count_size", "mpi_offset_size"].map(|key| (key.to_owned(), "8".to_owned()));
        info.set(library.keep_hints::<F>(sizes.into_iter().collect()))
    };

    /// A name of the simulated machine that the process is on.
    get_processor_name = "MPI_Get_processor_name"(name: TextOut, length: ResultPlace<c_int>) |library| {
        library.running()?;
        let rank = library.link.borrow().as_ref().map_or(0, |link| link.rank());
        length.set(name.set(&format!("fabricsim-{rank}"), F::C.max_processor_name)?)
    };

    /// What the hardware is: nothing that is known.
    get_hw_resource_info = "MPI_Get_hw_resource_info"(info: ResultPlace<F::Handle>) |library| {
        info.set(library.keep_hints::<F>(crate::communicators::Hints::new()))
    };

    /// The address of something, as a number.
    get_address = "MPI_Get_address"(location: BufferAddress, address: ResultPlace<i64>) |_library| address.set(location.number());

    /// Profiling: a level of 1 with a name begins a region, 0 ends it. Other levels say nothing to this library.
    pcontrol = "MPI_Pcontrol"(level: c_int, name: In<u8>) |library| super::tools::region(library, level, name);

    /// Memory.
    alloc_mem = "MPI_Alloc_mem"(size: i64, _info: F::Handle, base: BufferAddress) |_library| {
        let Ok(size) = usize::try_from(size) else {
            return fault(ErrorClass::Arg, format!("{size} bytes of memory"));
        };
        // SAFETY: a plain allocation; `free_mem` gives it back.
        let memory = unsafe { libc::calloc(size.max(1), 1) };
        if memory.is_null() {
            return fault(ErrorClass::NoMem, format!("there is no memory for {size} bytes"));
        }
        base.set(memory)
    };

    /// Gives memory back.
    free_mem = "MPI_Free_mem"(base: BufferAddress) |_library| {
        // SAFETY: the program promises that the memory is from `alloc_mem` and given back once.
        unsafe { libc::free(base.0) };
        Ok(())
    };
}

/// The simulated time (s).
///
/// # Safety
/// Nothing is asked of the caller.
pub unsafe extern "C" fn wtime<F: Face>() -> f64 {
    let time = Cell::new(0.0);
    enter::<F>(const { &CallName::of("MPI_Wtime") }, |library| {
        library.running()?;
        library.ask(RankEntry {
            kind: kind::CLOCK,
            payload: NO_PAYLOAD,
            ..RankEntry::default()
        });
        time.set(library.clock.get() as f64 / 1e12);
        Ok(())
    });
    time.get()
}

/// The steps of that time (s).
///
/// # Safety
/// Nothing is asked of the caller.
pub unsafe extern "C" fn wtick<F: Face>() -> f64 {
    let _ = F::NAME;
    1e-12
}

/// An address and a displacement.
///
/// # Safety
/// Nothing is asked of the caller.
pub unsafe extern "C" fn aint_add<F: Face>(base: i64, displacement: i64) -> i64 {
    let _ = F::NAME;
    base.wrapping_add(displacement)
}

/// From one address to another.
///
/// # Safety
/// Nothing is asked of the caller.
pub unsafe extern "C" fn aint_diff<F: Face>(to: i64, from: i64) -> i64 {
    let _ = F::NAME;
    to.wrapping_sub(from)
}

/// The integer of a handle.
///
/// # Safety
/// Nothing is asked of the caller.
pub unsafe extern "C" fn to_integer<F: Face>(handle: F::Handle) -> c_int {
    F::number(handle) as c_int
}

/// The handle of an integer.
///
/// # Safety
/// Nothing is asked of the caller.
pub unsafe extern "C" fn from_integer<F: Face>(number: c_int) -> F::Handle {
    F::handle(i64::from(number))
}

/// A count as the function of MPI has it, if it fits.
pub(super) fn fitting<N: Count>(value: i64) -> Answer<N> {
    N::fit(value).map_or_else(
        || {
            fault(
                ErrorClass::ValueTooLarge,
                format!("{value} does not fit: use the form with large counts"),
            )
        },
        Ok,
    )
}
