//! A run as two that do not meet, and runs that did not meet as one.
//!
//! An LP is changed by its own events only. So as long as no event goes from one set of LPs to another, what happens to each is what would happen
//! without the other, and each can be run by itself, as far and as fast as it likes. Whether none goes is not foreseen but found: each run has all
//! LPs, those of the others as they are before the first event and with nothing to do, and runs are made one only where no LP was touched in two of them.

use crate::checkpoint::{OpenedCheckpoint, Taken, all_lps};
use crate::engine::{Outcome, merged};
use crate::pack::Torn;
use crate::time::Time;
use crate::world::{Event, Observe, Tally, World};
use std::sync::Arc;

/// One of the runs that a run was divided into, as an engine has saved it.
#[derive(Clone, Debug)]
pub struct RunPart {
    /// What an engine goes on from.
    pub saved: Arc<Vec<u8>>,
    /// By name, the LPs to which something has happened or will.
    pub touched: Vec<bool>,
    /// [`Observe::tally`] of what was recorded in it.
    pub tally: Tally,
    /// Events that were handled in it.
    pub events: u64,
}

impl RunPart {
    /// Looks at what an engine has saved.
    ///
    /// # Errors
    /// It is not of a run of this world.
    pub fn new<W: World>(world: &W, saved: Vec<u8>) -> Result<RunPart, Torn> {
        let opened = OpenedCheckpoint::read(world, &saved)?;
        let (start, _) = world.start(all_lps(world));
        let mut packed = Vec::new();
        let mut touched: Vec<bool> = opened
            .kept()
            .zip(0..)
            .map(|((wake, digest), name)| {
                packed.clear();
                world.pack(&start, world.named(name), &mut packed);
                wake != u64::MAX || digest != 0 || opened.state(name as usize) != packed
            })
            .collect();
        for event in opened.events() {
            touched[world.name(event.lp()) as usize] = true;
        }
        let (tally, events) = (opened.observer.tally(), opened.outcome.events);
        Ok(RunPart {
            saved: Arc::new(saved),
            touched,
            tally,
            events,
        })
    }

    /// Whether an LP was touched in both.
    pub fn meets(&self, other: &RunPart) -> bool {
        self.touched.iter().zip(&other.touched).any(|(&one, &two)| one && two)
    }
}

/// Divides what an engine has saved: those LPs that are `held`, by name, with what is pending for them, and all others. `share` says what each of the two
/// has recorded: it gets what the whole has, and state and pending events of the LPs that are held; nothing comes of it if it says nothing.
///
/// # Errors
/// It is not of a run of this world.
pub fn divide<W: World>(
    world: &W,
    saved: &[u8],
    held: &[bool],
    share: impl FnOnce(W::Observer, &W::State, &[W::Event]) -> Option<[W::Observer; 2]>,
) -> Result<Option<[Vec<u8>; 2]>, Torn> {
    let opened = OpenedCheckpoint::read(world, saved)?;
    let one = opened.take_of(world, &|name| held[name as usize])?;
    let others = opened.take_of(world, &|name| !held[name as usize])?;
    let (time, outcome) = (opened.time, opened.outcome);
    let Some([first, second]) = share(opened.observer, &one.state, &one.events) else {
        return Ok(None);
    };
    // What has come of the run so far goes with the second.
    Ok(Some([
        one.save(world, (time, Outcome::default()), &first),
        others.save(world, (time, outcome), &second),
    ]))
}

/// Makes one run of runs that it was divided into; nothing if two of them met.
///
/// # Errors
/// One is not of a run of this world.
pub fn unite<W: World>(world: &W, parts: &[RunPart]) -> Result<Option<Vec<u8>>, Torn> {
    let opened = parts.iter().map(|part| OpenedCheckpoint::read(world, &part.saved));
    let opened: Vec<OpenedCheckpoint<'_, W>> = opened.collect::<Result<_, _>>()?;
    let (mut state, _) = world.start(all_lps(world));
    let (mut wakes, mut digests) = (Vec::new(), Vec::new());
    for lp in all_lps(world) {
        let name = world.name(lp) as usize;
        let mut holders = parts.iter().zip(&opened);
        let mut next = || holders.find(|(part, _)| part.touched.get(name) == Some(&true));
        let Some((_, holder)) = next() else {
            wakes.push(u64::MAX);
            digests.push(0);
            continue;
        };
        if next().is_some() {
            return Ok(None);
        }
        let (wake, digest) = holder.put_into(world, &mut state, lp)?;
        wakes.push(wake);
        digests.push(digest);
    }
    let events = opened.iter().flat_map(OpenedCheckpoint::events).copied().collect();
    let outcome = opened.iter().fold(Outcome::default(), |sum, part| Outcome {
        events: sum.events + part.outcome.events,
        windows: sum.windows + part.outcome.windows,
    });
    let time = opened.iter().map(|part| part.time).max().unwrap_or(Time::ZERO);
    let observer = merged(opened.into_iter().map(|part| part.observer));
    let united = Taken {
        state,
        wakes,
        digests,
        events,
    };
    Ok(Some(united.save(world, (time, outcome), &observer)))
}
