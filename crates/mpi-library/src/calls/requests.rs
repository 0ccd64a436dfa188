//! Completing what has been started.

use super::{count, set_status, wants_status};
use crate::{
    arguments::{BufferAddress, ResultPlace},
    faces::{Face, StatusFields},
    fault::{Answer, CallFault, ErrorClass, ErrorCode, fault},
    library::{
        Library, TimeDependent, calls,
        progress::fault_of,
        requests::{EndedRequest, LibraryRequest, OwnFunctions, RequestKind},
    },
};
use std::{cell::Cell, ffi::c_int, ops::Deref, rc::Rc};

/// Where requests stand in the array of the program, and their indices. The room of the list is left to the next call.
struct ActiveList<'a> {
    list: Vec<(usize, u32)>,
    library: &'a Library,
}

impl Deref for ActiveList<'_> {
    type Target = [(usize, u32)];

    fn deref(&self) -> &[(usize, u32)] {
        &self.list
    }
}

impl Drop for ActiveList<'_> {
    fn drop(&mut self) {
        self.list.clear();
        self.library.spare_list.set(std::mem::take(&mut self.list));
    }
}

/// Those of several requests that are active.
#[unsafe(link_section = ".text.hot")]
fn active<F: Face>(library: &Library, requests: ResultPlace<F::Handle>, number: c_int) -> Answer<ActiveList<'_>> {
    library.running()?;
    let number = count(number.into())?;
    let mut found = ActiveList {
        list: library.spare_list.take(),
        library,
    };
    for place in 0..number as usize {
        if let Some(index) = library.request_index::<F>(requests.get_at(place)?)?
            && Library::is_active(&*library.request(index)?)
        {
            found.list.push((place, index));
        }
    }
    Ok(found)
}

/// Errors of a request are up to the handler of its communicator.
#[unsafe(link_section = ".text.hot")]
fn blame(library: &Library, request: &LibraryRequest) {
    if request.comm.is_some() {
        library.scope.borrow_mut().clone_from(&request.comm);
    }
}

/// Takes a request that has ended away from the program; returns how it ended.
#[unsafe(link_section = ".text.hot")]
fn collect<F: Face>(library: &Library, handle: ResultPlace<F::Handle>, index: u32) -> Answer<EndedRequest> {
    let request = library.request(index)?;
    let mut ended = library.ended(&request)?.unwrap_or(EndedRequest::EMPTY);
    blame(library, &request);
    if let RequestKind::Own(functions) = &request.kind {
        ended = query::<F>(functions, ended)?;
    }
    if library.let_go(index)? {
        handle.set(F::handle(F::C.request_null))?;
    }
    if let RequestKind::Own(functions) = &request.kind {
        free::<F>(functions)?;
    }
    Ok(ended)
}

/// Asks a generalized request for its status.
fn query<F: Face>(functions: &OwnFunctions, ended: EndedRequest) -> Answer<EndedRequest> {
    // SAFETY: a status is made of integers, for which all bits zero are a value.
    let mut status: F::Status = unsafe { std::mem::zeroed() };
    F::write(&mut status, &super::fields::<F>(&ended), true);
    if functions.query != 0 {
        // SAFETY: the program gave the address as that of a function of this type.
        let function: unsafe extern "C" fn(usize, *mut F::Status) -> c_int =
            unsafe { std::mem::transmute(functions.query) };
        // SAFETY: the status is ours and outlives the call.
        own_code::<F>(unsafe { function(functions.state, &mut status) })?;
    }
    Ok(ended_of::<F>(&F::read(&status)))
}

/// A status that the program wrote, as ours.
fn ended_of<F: Face>(fields: &StatusFields) -> EndedRequest {
    use crate::library::requests::MessagePartner;
    let source = match i64::from(fields.source) {
        number if number == F::C.proc_null => MessagePartner::Nobody,
        number if number == F::C.any_source => MessagePartner::Anybody,
        _ => MessagePartner::Rank(fields.source as u32),
    };
    let code = (fields.error != ErrorClass::Success.code::<F>()).then_some(ErrorCode::Own(fields.error));
    EndedRequest {
        source,
        tag: u16::try_from(fields.tag).ok(),
        bytes: fields.bytes,
        code,
        cancelled: fields.cancelled,
    }
}

/// Tells a generalized request that it goes.
fn free<F: Face>(functions: &OwnFunctions) -> Answer {
    if functions.free == 0 {
        return Ok(());
    }
    // SAFETY: the program gave the address as that of a function of this type.
    let function: unsafe extern "C" fn(usize) -> c_int = unsafe { std::mem::transmute(functions.free) };
    // SAFETY: the argument is what the program wants to be handed.
    own_code::<F>(unsafe { function(functions.state) })
}

/// The code that a function of the program returned.
pub(super) fn own_code<F: Face>(code: c_int) -> Answer {
    if code == ErrorClass::Success.code::<F>() {
        return Ok(());
    }
    Err(CallFault {
        code: ErrorCode::Own(code),
        text: "a function of the program failed".into(),
        quiet: false,
    })
}

/// Fills the statuses of requests that have ended together; the fault that some of them failed.
#[unsafe(link_section = ".text.hot")]
fn collect_all<F: Face>(
    library: &Library,
    requests: ResultPlace<F::Handle>,
    list: &[(usize, u32)],
    statuses: (ResultPlace<F::Status>, bool),
) -> Answer {
    let mut failed = None;
    let mut all = Vec::new();
    for (number, (place, index)) in list.iter().enumerate() {
        let ended = collect::<F>(library, requests.at(*place), *index)?;
        if ended.code.is_some() {
            failed.get_or_insert_with(|| (ended, library.scope.borrow().clone()));
        }
        if wants_status::<F>(statuses.0) {
            all.push((if statuses.1 { *place } else { number }, ended));
        }
    }
    for (place, ended) in all {
        set_status::<F>(statuses.0, place, &ended, failed.is_some())?;
    }
    let Some((ended, scope)) = failed else { return Ok(()) };
    *library.scope.borrow_mut() = scope;
    let why = fault_of(&ended).err().map_or(String::new(), |fault| fault.text);
    fault(ErrorClass::InStatus, why)
}

/// Statuses of what has nothing to say.
fn empty<F: Face>(statuses: ResultPlace<F::Status>, number: c_int) -> Answer {
    (0..number.max(0) as usize).try_for_each(|place| set_status::<F>(statuses, place, &EndedRequest::EMPTY, true))
}

/// Those of several requests that have ended.
fn over(library: &Library, list: &[(usize, u32)]) -> Answer<Vec<(usize, u32)>> {
    let mut over = Vec::new();
    for (place, index) in list {
        if library.ended(&*library.request(*index)?)?.is_some() {
            over.push((*place, *index));
        }
    }
    Ok(over)
}

/// Gives one request that has ended to the program: its place and status, and its error.
#[unsafe(link_section = ".text.hot")]
fn one<F: Face>(
    library: &Library,
    requests: ResultPlace<F::Handle>,
    (place, index): (usize, u32),
    status: ResultPlace<F::Status>,
) -> Answer {
    let ended = collect::<F>(library, requests.at(place), index)?;
    set_status::<F>(status, 0, &ended, false)?;
    fault_of(&ended)
}

calls! {
    /// Waits for a request.
    #[unsafe(link_section = ".text.hot")]
    wait = "MPI_Wait"(request: ResultPlace<F::Handle>, status: ResultPlace<F::Status>) |library| {
        let list = active::<F>(library, request, 1)?;
        let Some((_, index)) = list.first() else {
            return set_status::<F>(status, 0, &EndedRequest::EMPTY, true);
        };
        library.wait_for(&[*index])?;
        one::<F>(library, request, (0, *index), status)
    };

    /// Waits for all of several requests.
    #[unsafe(link_section = ".text.hot")]
    waitall = "MPI_Waitall"(number: c_int, requests: ResultPlace<F::Handle>, statuses: ResultPlace<F::Status>) |library| {
        let list = active::<F>(library, requests, number)?;
        library.wait_for_all(list.iter().map(|(_, index)| *index))?;
        if list.len() < number as usize {
            empty::<F>(statuses, number)?;
        }
        collect_all::<F>(library, requests, &list, (statuses, true))
    };

    /// Waits for one of several requests.
    waitany = "MPI_Waitany"(number: c_int, requests: ResultPlace<F::Handle>, which: ResultPlace<c_int>, status: ResultPlace<F::Status>) |library| {
        library.count(TimeDependent::Waitany);
        let list = active::<F>(library, requests, number)?;
        if list.is_empty() {
            which.set(F::C.undefined as c_int)?;
            return set_status::<F>(status, 0, &EndedRequest::EMPTY, true);
        }
        let (place, index) = library.wait_until(|| Ok(over(library, &list)?.first().copied()))?;
        library.waited_for(index)?;
        which.set(place as c_int)?;
        one::<F>(library, requests, (place, index), status)
    };

    /// Waits until some of several requests have ended.
    waitsome = "MPI_Waitsome"(
        number: c_int, requests: ResultPlace<F::Handle>, ended: ResultPlace<c_int>, which: ResultPlace<c_int>, statuses: ResultPlace<F::Status>,
    ) |library| {
        library.count(TimeDependent::Waitsome);
        let list = active::<F>(library, requests, number)?;
        if list.is_empty() {
            return ended.set(F::C.undefined as c_int);
        }
        let some = library.wait_until(|| {
            let over = over(library, &list)?;
            Ok((!over.is_empty()).then_some(over))
        })?;
        for (number, (place, index)) in some.iter().enumerate() {
            library.waited_for(*index)?;
            which.set_at(number, *place as c_int)?;
        }
        ended.set(some.len() as c_int)?;
        collect_all::<F>(library, requests, &some, (statuses, false))
    };

    /// Whether a request has ended.
    test = "MPI_Test"(request: ResultPlace<F::Handle>, flag: ResultPlace<c_int>, status: ResultPlace<F::Status>) |library| {
        library.count(TimeDependent::Test);
        let list = active::<F>(library, request, 1)?;
        let Some(first) = list.first() else {
            flag.set(1)?;
            return set_status::<F>(status, 0, &EndedRequest::EMPTY, true);
        };
        look(library, &list)?;
        let is_over = !over(library, &list)?.is_empty();
        flag.set(c_int::from(is_over))?;
        if is_over { one::<F>(library, request, *first, status) } else { Ok(()) }
    };

    /// Whether all of several requests have ended.
    testall = "MPI_Testall"(number: c_int, requests: ResultPlace<F::Handle>, flag: ResultPlace<c_int>, statuses: ResultPlace<F::Status>) |library| {
        library.count(TimeDependent::Test);
        let list = active::<F>(library, requests, number)?;
        if list.is_empty() {
            flag.set(1)?;
            return empty::<F>(statuses, number);
        }
        look(library, &list)?;
        let all = over(library, &list)?.len() == list.len();
        flag.set(c_int::from(all))?;
        if !all {
            return Ok(());
        }
        if list.len() < number as usize {
            empty::<F>(statuses, number)?;
        }
        collect_all::<F>(library, requests, &list, (statuses, true))
    };

    /// Whether one of several requests has ended, and which.
    testany = "MPI_Testany"(
        number: c_int, requests: ResultPlace<F::Handle>, which: ResultPlace<c_int>, flag: ResultPlace<c_int>, status: ResultPlace<F::Status>,
    ) |library| {
        library.count(TimeDependent::Test);
        let list = active::<F>(library, requests, number)?;
        if list.is_empty() {
            flag.set(1)?;
            which.set(F::C.undefined as c_int)?;
            return set_status::<F>(status, 0, &EndedRequest::EMPTY, true);
        }
        look_for_any(library, &list)?;
        let first = over(library, &list)?.first().copied();
        flag.set(c_int::from(first.is_some()))?;
        which.set(first.map_or(F::C.undefined as c_int, |(place, _)| place as c_int))?;
        first.map_or(Ok(()), |first| one::<F>(library, requests, first, status))
    };

    /// Which of several requests have ended.
    testsome = "MPI_Testsome"(
        number: c_int, requests: ResultPlace<F::Handle>, ended: ResultPlace<c_int>, which: ResultPlace<c_int>, statuses: ResultPlace<F::Status>,
    ) |library| {
        library.count(TimeDependent::Testsome);
        let list = active::<F>(library, requests, number)?;
        if list.is_empty() {
            return ended.set(F::C.undefined as c_int);
        }
        look_for_any(library, &list)?;
        let some = over(library, &list)?;
        for (number, (place, _)) in some.iter().enumerate() {
            which.set_at(number, *place as c_int)?;
        }
        ended.set(some.len() as c_int)?;
        collect_all::<F>(library, requests, &some, (statuses, false))
    };

    /// Whether a request has ended; it stays.
    request_get_status = "MPI_Request_get_status"(request: F::Handle, flag: ResultPlace<c_int>, status: ResultPlace<F::Status>) |library| {
        library.count(TimeDependent::GetStatus);
        let handles = [request];
        let list = active::<F>(library, ResultPlace(handles.as_ptr().cast_mut()), 1)?;
        let Some((_, index)) = list.first() else {
            flag.set(1)?;
            return set_status::<F>(status, 0, &EndedRequest::EMPTY, true);
        };
        look(library, &list)?;
        status_of::<F>(library, *index, flag, status)
    };

    /// Whether all of several requests have ended; they stay.
    request_get_status_all = "MPI_Request_get_status_all"(
        number: c_int, requests: ResultPlace<F::Handle>, flag: ResultPlace<c_int>, statuses: ResultPlace<F::Status>,
    ) |library| {
        library.count(TimeDependent::GetStatus);
        let list = active::<F>(library, requests, number)?;
        look(library, &list)?;
        let all = over(library, &list)?.len() == list.len();
        flag.set(c_int::from(all))?;
        if !all {
            return Ok(());
        }
        empty::<F>(statuses, number)?;
        list.iter().try_for_each(|(place, index)| keep_status::<F>(library, *index, statuses, *place))
    };

    /// Whether one of several requests has ended; it stays.
    request_get_status_any = "MPI_Request_get_status_any"(
        number: c_int, requests: ResultPlace<F::Handle>, which: ResultPlace<c_int>, flag: ResultPlace<c_int>, status: ResultPlace<F::Status>,
    ) |library| {
        library.count(TimeDependent::GetStatus);
        let list = active::<F>(library, requests, number)?;
        look_for_any(library, &list)?;
        let first = over(library, &list)?.first().copied();
        flag.set(c_int::from(first.is_some() || list.is_empty()))?;
        which.set(first.map_or(F::C.undefined as c_int, |(place, _)| place as c_int))?;
        match first {
            Some((_, index)) => keep_status::<F>(library, index, status, 0),
            None if list.is_empty() => set_status::<F>(status, 0, &EndedRequest::EMPTY, true),
            None => Ok(()),
        }
    };

    /// Which of several requests have ended; they stay.
    request_get_status_some = "MPI_Request_get_status_some"(
        number: c_int, requests: ResultPlace<F::Handle>, ended: ResultPlace<c_int>, which: ResultPlace<c_int>, statuses: ResultPlace<F::Status>,
    ) |library| {
        library.count(TimeDependent::GetStatus);
        let list = active::<F>(library, requests, number)?;
        if list.is_empty() {
            return ended.set(F::C.undefined as c_int);
        }
        look_for_any(library, &list)?;
        let some = over(library, &list)?;
        ended.set(some.len() as c_int)?;
        for (number, (place, index)) in some.iter().enumerate() {
            which.set_at(number, *place as c_int)?;
            keep_status::<F>(library, *index, statuses, number)?;
        }
        Ok(())
    };

    /// Gives a request up: it ends by itself.
    request_free = "MPI_Request_free"(request: ResultPlace<F::Handle>) |library| {
        library.running()?;
        let Some(index) = library.request_index::<F>(request.get()?)? else {
            return fault(ErrorClass::Request, "the request is MPI_REQUEST_NULL");
        };
        let about = library.request(index)?;
        blame(library, &about);
        match &about.kind {
            RequestKind::Own(functions) if about.ended.get().is_some() => {
                library.forget(index, &about);
                free::<F>(functions)?;
            }
            _ => library.give_up(index)?,
        }
        request.set(F::handle(F::C.request_null))
    };

    /// Cancels a request: receives that have no message yet, and generalized ones. A message that is on its way is not taken back.
    cancel = "MPI_Cancel"(request: ResultPlace<F::Handle>) |library| {
        library.running()?;
        let Some(index) = library.request_index::<F>(request.get()?)? else {
            return fault(ErrorClass::Request, "the request is MPI_REQUEST_NULL");
        };
        let about = library.request(index)?;
        blame(library, &about);
        if let RequestKind::Own(functions) = &about.kind {
            if functions.cancel == 0 {
                return Ok(());
            }
            // SAFETY: the program gave the address as that of a function of this type.
            let function: unsafe extern "C" fn(usize, c_int) -> c_int = unsafe { std::mem::transmute(functions.cancel) };
            // SAFETY: the arguments are what the program wants to be handed, and whether the request has ended.
            return own_code::<F>(unsafe { function(functions.state, c_int::from(about.ended.get().is_some())) });
        }
        take_back(library, &about)
    };

    /// Starts a generalized request.
    grequest_start = "MPI_Grequest_start"(query: BufferAddress, free: BufferAddress, cancel: BufferAddress, state: BufferAddress, request: ResultPlace<F::Handle>) |library| {
        library.running()?;
        let [query, free, cancel, state] = [query, free, cancel, state].map(|address| address.0 as usize);
        let functions = OwnFunctions { query, free, cancel, state };
        let index = library.keep_request(LibraryRequest::new(None, RequestKind::Own(functions)));
        request.set(library.request_handle::<F>(index))
    };

    /// Says that a generalized request has ended.
    grequest_complete = "MPI_Grequest_complete"(request: F::Handle) |library| {
        library.running()?;
        let Some(index) = library.request_index::<F>(request)? else {
            return fault(ErrorClass::Request, "the request is MPI_REQUEST_NULL");
        };
        let about = library.request(index)?;
        let RequestKind::Own(functions) = &about.kind else {
            return fault(ErrorClass::Request, "the request is no generalized one");
        };
        about.ended.set(Some(EndedRequest::EMPTY));
        if about.given_up.get() {
            library.forget(index, &about);
            free::<F>(functions)?;
        }
        Ok(())
    };
}

/// Looks for news unless all of these requests have ended.
fn look(library: &Library, list: &[(usize, u32)]) -> Answer {
    if over(library, list)?.len() < list.len() {
        library.poll();
    }
    Ok(())
}

/// Looks for news unless one of these requests has ended.
fn look_for_any(library: &Library, list: &[(usize, u32)]) -> Answer {
    if !list.is_empty() && over(library, list)?.is_empty() {
        library.poll();
    }
    Ok(())
}

/// The status of a request that stays.
fn keep_status<F: Face>(library: &Library, index: u32, status: ResultPlace<F::Status>, place: usize) -> Answer {
    let request: Rc<LibraryRequest> = library.request(index)?;
    let mut ended = library.ended(&request)?.unwrap_or(EndedRequest::EMPTY);
    if let RequestKind::Own(functions) = &request.kind {
        ended = query::<F>(functions, ended)?;
    }
    set_status::<F>(status, place, &ended, false)
}

fn status_of<F: Face>(
    library: &Library,
    index: u32,
    flag: ResultPlace<c_int>,
    status: ResultPlace<F::Status>,
) -> Answer {
    let is_over = Cell::new(library.ended(&*library.request(index)?)?.is_some());
    flag.set(c_int::from(is_over.get()))?;
    if is_over.get() {
        keep_status::<F>(library, index, status, 0)
    } else {
        Ok(())
    }
}

/// Takes a message or a receive back, where the network can.
fn take_back(library: &Library, request: &LibraryRequest) -> Answer {
    if let RequestKind::Persistent { active, .. } = &request.kind {
        return match active.get() {
            Some(inner) => take_back(library, &*library.request(inner)?),
            None => fault(ErrorClass::Request, "the request is not started"),
        };
    }
    let Some(name) = request.name.get() else { return Ok(()) };
    let taken = library.link.borrow_mut().as_mut().and_then(|link| link.cancel(name));
    let cancelled = EndedRequest {
        cancelled: true,
        ..EndedRequest::EMPTY
    };
    match taken {
        // It has its partner, or has ended: it stays as it is.
        Some(None) => Ok(()),
        Some(Some(entry)) => {
            library.taken_back(&entry)?;
            request.ended.set(Some(cancelled));
            Ok(())
        }
        None => match request.kind {
            // A message is on its way; the request ends as it would have, and its status says so.
            RequestKind::Send => Ok(()),
            RequestKind::Receive { .. } => {
                library.poll();
                if request.ended.get().is_none() {
                    library.give_back(request)?;
                    request.ended.set(Some(cancelled));
                }
                Ok(())
            }
            _ if request.ended.get().is_some() => Ok(()),
            _ => fault(ErrorClass::Request, "a collective operation cannot be cancelled"),
        },
    }
}
