//! A clock for tests that say how long something may take: they run beside each other, on machines that do other things too.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// CPU time of this thread.
pub fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
