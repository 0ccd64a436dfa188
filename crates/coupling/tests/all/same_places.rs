//! Ranks have what they have at the same addresses, in every run.

use coupling::processes::{LaunchWish, Output, Processes};
use coupling::{SharedArea, SharedTerms};
use std::collections::BTreeSet;

const RANKS: u32 = 3;

/// Asks for nothing but how this thread is.
fn personality() -> libc::c_int {
    // SAFETY: plain call that changes nothing.
    unsafe { libc::personality(0xffff_ffff) }
}

/// Where each rank has its stack, of ranks that print it.
fn stacks() -> Vec<String> {
    let (_area, file) = SharedArea::create(SharedTerms::plain(RANKS, 1 << 16)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let wish = LaunchWish {
        command: ["cat", "/proc/self/maps"].map(Into::into).to_vec(),
        ranks: RANKS,
        environment: Vec::new(),
        folder: None,
        output: Output::Folder(folder.path().to_owned()),
        instead: None,
        waits: None,
        takes_input: false,
    };
    let processes = Processes::start(&wish, &file).unwrap();
    processes.wait(&mut || true).unwrap();
    processes.finish();
    let stack = |rank: u32| {
        let printed = std::fs::read_to_string(folder.path().join(format!("{rank}.out"))).unwrap();
        printed
            .lines()
            .find(|line| line.ends_with("[stack]"))
            .unwrap()
            .to_owned()
    };
    (0..RANKS).map(stack).collect()
}

#[test]
fn all_ranks_have_their_stack_at_one_place_where_the_system_allows_it_and_the_launcher_stays_as_it_was() {
    let before = personality();
    // SAFETY: plain calls that speak of this thread alone.
    let is_allowed = unsafe { libc::personality((before | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong) } >= 0;
    // SAFETY: as above.
    unsafe { libc::personality(before as libc::c_ulong) };
    let places: BTreeSet<String> = (0..4).flat_map(|_| stacks()).collect();
    assert_eq!(places.len() == 1, is_allowed, "{places:?}");
    assert_eq!(personality(), before);
}
