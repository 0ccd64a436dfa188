//! Long work beside the interpreter: Ctrl-C is answered while it goes on.

use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often signals are looked for.
const BETWEEN: Duration = Duration::from_millis(50);
/// That of a main thread, which the work would have had otherwise; pages are taken when they are touched.
const STACK: usize = 8 << 20;

/// Does `work` on a thread of its own without the interpreter lock. When a signal's handler raises, its exception is returned at
/// once and what the work was to give is dropped whenever it comes: it is for work that changes nothing outside itself.
pub fn away<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (send, mut receive) = channel();
    let thread = thread::Builder::new()
        .name("fabricsim-work".into())
        .stack_size(STACK)
        .spawn(move || {
            // Nobody listens any more after an interruption.
            drop(send.send(work()));
        })?;
    let mut thread = Some(thread);
    loop {
        let (back, come) = py.allow_threads(move || {
            let come = receive.recv_timeout(BETWEEN);
            (receive, come)
        });
        receive = back;
        match come {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            // The work panicked: here, where PyO3 makes an exception of it.
            Err(RecvTimeoutError::Disconnected) => {
                if let Some(Err(panic)) = thread.take().map(thread::JoinHandle::join) {
                    resume_unwind(panic);
                }
            }
        }
    }
}
