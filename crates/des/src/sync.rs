//! What workers share memory with: the types of the standard library, or those of loom when its tests explore all interleavings.
//!
//! Ordinary builds see names of the standard library only. Under `--cfg loom` the tests of [`crate::interleavings`] see the same names
//! with every access tracked; see `docs/concurrency.md`.

#[cfg(not(all(loom, test)))]
mod real {
    pub(crate) use std::hint::spin_loop;
    pub(crate) use std::sync::Mutex;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64};
    pub(crate) use std::thread::{Thread, current, panicking, park, yield_now};

    /// A cell whose user vouches for who touches it when.
    #[derive(Debug, Default)]
    pub(crate) struct SharedCell<T>(std::cell::UnsafeCell<T>);

    impl<T> SharedCell<T> {
        pub(crate) fn new(value: T) -> Self {
            SharedCell(std::cell::UnsafeCell::new(value))
        }

        /// Shows the address of the value for changing; nobody else may touch the cell meanwhile.
        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
            change(self.0.get())
        }
    }
}

#[cfg(all(loom, test))]
mod real {
    pub(crate) use loom::cell::UnsafeCell as SharedCell;
    pub(crate) use loom::hint::spin_loop;
    pub(crate) use loom::sync::Mutex;
    pub(crate) use loom::thread::{Thread, current, yield_now};
    use std::cell::Cell;
    use std::sync::atomic::Ordering::SeqCst;

    loom::thread_local! {
        static PANICKING: Cell<bool> = Cell::new(false);
    }
    std::thread_local! {
        /// Sleeps of all workers since the last look: loom's threads take turns on one thread of the system.
        static SLEEPS: Cell<u64> = const { Cell::new(0) };
    }

    /// The calling thread counts as unwinding from now on. A real panic would count for all of loom's threads.
    pub(crate) fn pretend_to_panic() {
        PANICKING.with(|panicking| panicking.set(true));
    }

    pub(crate) fn panicking() -> bool {
        PANICKING.with(Cell::get)
    }

    pub(crate) fn park() {
        SLEEPS.set(SLEEPS.get() + 1);
        loom::thread::park();
    }

    /// How often workers slept since the last look.
    pub(crate) fn sleeps() -> u64 {
        SLEEPS.take()
    }

    /// One of loom's atomics whose first value is a sequentially consistent store as well: loom lets a sequentially consistent load pass
    /// over such stores only, and would show it the first value for ever.
    macro_rules! atomic {
        ($name:ident, $value:ty) => {
            #[derive(Debug)]
            pub(crate) struct $name(loom::sync::atomic::$name);

            impl $name {
                pub(crate) fn new(value: $value) -> Self {
                    let atomic = loom::sync::atomic::$name::new(value);
                    atomic.store(value, SeqCst);
                    $name(atomic)
                }
            }

            impl Default for $name {
                fn default() -> Self {
                    Self::new(<$value>::default())
                }
            }

            impl std::ops::Deref for $name {
                type Target = loom::sync::atomic::$name;
                fn deref(&self) -> &Self::Target {
                    &self.0
                }
            }
        };
    }
    atomic!(AtomicBool, bool);
    atomic!(AtomicU64, u64);
}

pub(crate) use real::*;
