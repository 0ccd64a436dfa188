//! The allocator under the tests themselves: what a program does with blocks of all sizes, from several threads, across a copy of the process.

#![cfg(target_os = "linux")]

use pages::LargePages;
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout};
use std::fs;
use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

#[global_allocator]
static MEMORY: LargePages = LargePages;

/// Some look at the memory of the whole process, so each runs alone.
static ALONE: Mutex<()> = Mutex::new(());

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Sizes around every border of the allocator's, small and large pages among them.
fn any_size() -> impl Strategy<Value = usize> {
    let borders = [16, 4 * KIB, 64 * KIB, 2 * MIB, 4 * MIB, 32 * MIB];
    prop_oneof![
        1..64 * KIB,
        1..3 * MIB,
        1..40 * MIB,
        (prop::sample::select(borders.to_vec()), 0..65_usize).prop_map(|(border, more)| border - 8 + more),
    ]
}

#[derive(Clone, Debug)]
enum Deed {
    Take { size: usize, align: u32, zeroed: bool },
    Resize { which: usize, size: usize },
    Free { which: usize },
}

fn any_deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => (any_size(), 0..13_u32, any::<bool>()).prop_map(|(size, align, zeroed)| Deed::Take { size, align, zeroed }),
        3 => (any::<usize>(), any_size()).prop_map(|(which, size)| Deed::Resize { which, size }),
        2 => any::<usize>().prop_map(|which| Deed::Free { which }),
    ]
}

/// A block, with a pattern of its own at places all over it.
struct Patterned {
    start: *mut u8,
    layout: Layout,
    seed: u8,
}

impl Patterned {
    /// A new block; fails if it does not lie where it was asked for, or has something else than the zeros that were asked for.
    fn take(size: usize, align: usize, zeroed: bool, seed: u8) -> Patterned {
        let layout = Layout::from_size_align(size, align).unwrap();
        // SAFETY: the size is not zero.
        let start = unsafe {
            if zeroed {
                MEMORY.alloc_zeroed(layout)
            } else {
                MEMORY.alloc(layout)
            }
        };
        let block = Patterned { start, layout, seed };
        block.lies_well();
        // SAFETY: the block has so many bytes, and has been zeroed.
        let zeros = !zeroed
            || unsafe { std::slice::from_raw_parts(start, size) }
                .iter()
                .all(|&byte| byte == 0);
        assert!(zeros, "{layout:?}");
        block.fill();
        block
    }

    /// Another size; fails if what both sizes have in common has not stayed.
    fn resize(&mut self, size: usize) {
        let old = self.layout;
        // SAFETY: the block is this one's; the size is not zero.
        self.start = unsafe { MEMORY.realloc(self.start, old, size) };
        self.layout = Layout::from_size_align(size, old.align()).unwrap();
        self.lies_well();
        self.holds(old.size(), old.size().min(size));
        self.fill();
    }

    fn lies_well(&self) {
        assert!(
            !self.start.is_null() && self.start.addr().is_multiple_of(self.layout.align()),
            "{:?} at {:?}",
            self.layout,
            self.start
        );
    }

    /// The first and the last bytes, and one of every page between.
    fn places(size: usize) -> impl Iterator<Item = usize> {
        (0..size.min(40))
            .chain((0..size).step_by(4093))
            .chain(size.saturating_sub(40)..size)
    }

    fn byte(&self, at: usize) -> u8 {
        (at as u8).wrapping_mul(31) ^ self.seed
    }

    fn fill(&self) {
        for at in Patterned::places(self.layout.size()) {
            // SAFETY: within the block.
            unsafe { self.start.add(at).write(self.byte(at)) };
        }
    }

    /// Fails if what was written for a block of a size is not there any more, as far as `kept` bytes.
    fn holds(&self, size: usize, kept: usize) {
        for at in Patterned::places(size).filter(|&at| at < kept) {
            // SAFETY: within the block.
            let byte = unsafe { self.start.add(at).read() };
            assert_eq!(byte, self.byte(at), "at {at} of {size} bytes, now {:?}", self.layout);
        }
    }
}

impl Drop for Patterned {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.holds(self.layout.size(), self.layout.size());
        }
        // SAFETY: the block is this one's.
        unsafe { MEMORY.dealloc(self.start, self.layout) };
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Blocks are where they were asked for, zeros are zeros also where something was before, and no block writes into another.
    #[test]
    fn blocks_keep_what_is_in_them(deeds in prop::collection::vec(any_deed(), 1..60)) {
        let _alone = ALONE.lock();
        let mut blocks: Vec<Patterned> = Vec::new();
        for (seed, deed) in deeds.into_iter().enumerate() {
            match deed {
                Deed::Take { size, align, zeroed } => blocks.push(Patterned::take(size, 1 << align, zeroed, seed as u8)),
                Deed::Resize { which, size } if !blocks.is_empty() => {
                    let which = which % blocks.len();
                    blocks[which].resize(size);
                }
                Deed::Free { which } if !blocks.is_empty() => {
                    blocks.swap_remove(which % blocks.len());
                }
                Deed::Resize { .. } | Deed::Free { .. } => {}
            }
        }
    }
}

/// Bytes of this process that a line of the system's tells.
fn told(line: &str) -> usize {
    let lines = fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let line = lines.lines().find_map(|l| l.strip_prefix(line)).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * KIB
}

#[test]
fn what_is_freed_goes_back_to_the_system() {
    let _alone = ALONE.lock();
    for size in [5 * MIB, 20 * MIB, 50 * MIB] {
        let count = 200 * MIB / size;
        let blocks: Vec<Vec<u8>> = (0..count).map(|_| vec![1; size]).collect();
        let held = told("Rss:");
        drop(black_box(blocks));
        let given_back = held.saturating_sub(told("Rss:"));
        // Less the large pages at both ends of each, of which it covers a part.
        let least = count * (size - 4 * MIB);
        assert!(
            given_back >= least,
            "{count} of {} MiB: {} MiB, at least {}",
            size / MIB,
            given_back / MIB,
            least / MIB
        );
    }
}

#[test]
fn zeros_take_memory_where_they_are_used() {
    let _alone = ALONE.lock();
    // Memory that was used before, which has to be made zeros.
    let used: Vec<Vec<u8>> = (0..10).map(|_| vec![1; 16 * MIB]).collect();
    drop(black_box(used));
    let before = told("Rss:");
    let mut blocks: Vec<Vec<u8>> = (0..10).map(|_| vec![0; 16 * MIB]).collect();
    let taken = told("Rss:").saturating_sub(before);
    assert!(taken < 50 * MIB, "{} MiB", taken / MIB);
    for block in &mut blocks {
        block[8 * MIB] = 1;
        assert_eq!(block.iter().map(|&byte| u64::from(byte)).sum::<u64>(), 1);
    }
}

#[test]
fn blocks_lie_in_large_pages_where_the_system_has_them() {
    let setting = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if setting.is_empty() || setting.contains("[never]") {
        eprintln!("skipped: the system has no large pages");
        return;
    }
    let _alone = ALONE.lock();
    let before = told("AnonHugePages:");
    let columns: Vec<Vec<u8>> = (0..1_000).map(|_| vec![1; 100 * KIB]).collect();
    let large = told("AnonHugePages:").saturating_sub(before);
    drop(black_box(columns));
    assert!(large > 80 * MIB, "{} of 98 MiB", large / MIB);
}

#[test]
fn threads_free_what_others_took_and_a_copy_of_the_process_goes_on() {
    let _alone = ALONE.lock();
    pages::survive_forks();
    pages::survive_forks();
    let over = AtomicBool::new(false);
    let passed: Mutex<Vec<Vec<u64>>> = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for thread in 0..3_u64 {
            let (over, passed) = (&over, &passed);
            scope.spawn(move || {
                let mut turn = thread;
                while !over.load(Ordering::Relaxed) {
                    turn = turn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let mut column: Vec<u64> = Vec::new();
                    column.resize(512 + (turn >> 50) as usize, turn);
                    column.extend(std::iter::repeat_n(turn, 3_000));
                    let mut passed = passed.lock().unwrap();
                    passed.push(column);
                    let other = if passed.len() > 20 {
                        passed.swap_remove((turn >> 40) as usize % 20)
                    } else {
                        Vec::new()
                    };
                    drop(passed);
                    assert!(other.iter().all(|&word| word == other[0]));
                }
            });
        }
        for _ in 0..200 {
            // SAFETY: the copy does nothing but allocate, and ends without what would run at an end.
            let status = unsafe {
                match libc::fork() {
                    0 => {
                        libc::alarm(20);
                        let layout = Layout::from_size_align_unchecked(64 * KIB, 8);
                        let block = MEMORY.alloc_zeroed(layout);
                        let last = if block.is_null() {
                            1
                        } else {
                            block.add(64 * KIB - 1).read()
                        };
                        MEMORY.dealloc(block, layout);
                        libc::_exit(i32::from(last));
                    }
                    child => {
                        let mut status = -1;
                        assert!(child > 0 && libc::waitpid(child, &raw mut status, 0) == child);
                        status
                    }
                }
            };
            if status != 0 {
                over.store(true, Ordering::Relaxed);
            }
            assert_eq!(status, 0, "the copy of the process");
        }
        over.store(true, Ordering::Relaxed);
    });
}
