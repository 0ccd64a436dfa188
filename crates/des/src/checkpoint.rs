//! A run between two windows as bytes, and what engines need to go on from there.
//!
//! Everything strictly before the time reached has happened, nothing at or after it. What is written depends on the run alone, not on
//! the engine's blocks and workers, on the numbers of the LPs in them or on the places of pooled records: each LP's state is written by
//! [`World::pack`], and LPs are known by their names ([`World::name`]), in events as well. Numbers are in the byte order of the machine; who keeps the bytes guards them by a checksum.
//!
//! | part | content |
//! |---|---|
//! | head | time reached (ps), events handled, windows, number of LPs, number of pending events: u64 each |
//! | observer | all workers' records, [`Pack`] |
//! | LPs | of each, by name, wake time (ps), digest of its past, bytes of its state: u64 each |
//! | states | one after the other, by name |
//! | events | as in memory but for the name in place of the LP, by name, then in their total order |

use crate::engine::{Engine, Outcome, merged};
pub use crate::pack::{Pack, Torn, put, put_all, put_list, take, take_into, take_list};
use crate::pack::{take_bytes, take_exactly};
use crate::time::Time;
use crate::world::{Event, World};
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct CheckpointHead {
    time: u64,
    events: u64,
    windows: u64,
    lps: u64,
    pending: u64,
}

/// What is kept of an LP besides its state.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Kept {
    wake: u64,
    digest: u64,
    bytes: u64,
}

/// Neighbouring LPs that are written.
pub(crate) struct SavedBlock<'a, W: World> {
    pub(crate) lps: Range<u32>,
    pub(crate) state: &'a W::State,
    /// When they want to be closed next (ps).
    pub(crate) wakes: &'a [u64],
    pub(crate) digests: &'a [u64],
}

/// Writes what an engine has reached; parts need not hold all LPs (see [`join`]).
pub(crate) fn write<'a, W: World + 'a>(
    world: &W,
    engine: &dyn Engine<W>,
    parts: impl Iterator<Item = SavedBlock<'a, W>>,
) -> Vec<u8> {
    let mut events = Vec::new();
    engine.pending(&mut |event| events.push(*event));
    let observer = merged(engine.view().observers.into_iter().cloned());
    put_together(world, (engine.reached(), engine.outcome()), &observer, parts, events)
}

/// Writes a run at a time, with what has come of it so far, what was recorded, its LPs, and its pending events.
fn put_together<'a, W: World + 'a>(
    world: &W,
    (time, outcome): (Time, Outcome),
    observer: &W::Observer,
    parts: impl Iterator<Item = SavedBlock<'a, W>>,
    mut events: Vec<W::Event>,
) -> Vec<u8> {
    for event in &mut events {
        *event = event.with_lp(world.name(event.lp()));
    }
    sort(world, &mut events);
    let n_lps = world.n_lps() as usize;
    let head = CheckpointHead {
        time: time.0,
        events: outcome.events,
        windows: outcome.windows,
        lps: n_lps as u64,
        pending: events.len() as u64,
    };
    let mut out = Vec::new();
    put(&mut out, head);
    observer.pack(&mut out);
    let table = out.len();
    out.resize(table + n_lps * size_of::<Kept>(), 0);
    let parts: Vec<SavedBlock<'a, W>> = parts.collect();
    let mut order: Vec<(u32, u32, &SavedBlock<'a, W>)> = Vec::new();
    for part in &parts {
        let named = part.lps.clone().map(|lp| (world.name(lp), lp, part));
        // Numbers that are not in use have no name.
        order.extend(named.filter(|&(name, ..)| (name as usize) < n_lps));
    }
    order.sort_unstable_by_key(|&(name, _, _)| name);
    for (name, lp, part) in order {
        let before = out.len();
        world.pack(part.state, lp, &mut out);
        let in_part = (lp - part.lps.start) as usize;
        let kept = Kept {
            wake: part.wakes[in_part],
            digest: part.digests[in_part],
            bytes: (out.len() - before) as u64,
        };
        let place = table + name as usize * size_of::<Kept>();
        out[place..place + size_of::<Kept>()].copy_from_slice(bytemuck::bytes_of(&kept));
    }
    put_all(&mut out, &events);
    out
}

/// Puts events into the order of a checkpoint.
fn sort<W: World>(world: &W, events: &mut [W::Event]) {
    let seed = world.seed();
    events.sort_unstable_by(|a, b| a.lp().cmp(&b.lp()).then_with(|| a.order(b, seed)));
}

/// Makes one run of the parts of several engines, each of which has saved the LPs numbered in the range beside it, of its layout, and nothing
/// of the others. The parts hold all of them.
pub(crate) fn join<W: World>(world: &W, parts: &[(Range<u32>, &[u8])]) -> Result<Vec<u8>, Torn> {
    let opened = parts.iter().map(|(_, saved)| OpenedCheckpoint::<W>::read(world, saved));
    let opened = opened.collect::<Result<Vec<_>, _>>()?;
    let first = opened.first().ok_or(Torn("it has no parts"))?;
    let named = |event: &W::Event| event.with_lp(world.name(event.lp()));
    let mut events: Vec<W::Event> = opened.iter().flat_map(|part| part.events.iter().map(named)).collect();
    sort(world, &mut events);
    let head = CheckpointHead {
        time: first.time.0,
        events: first.outcome.events,
        windows: first.outcome.windows,
        lps: u64::from(world.n_lps()),
        pending: events.len() as u64,
    };
    let mut out = Vec::new();
    put(&mut out, head);
    merged(opened.iter().map(|part| part.observer.clone())).pack(&mut out);
    let holders = (0..world.n_lps()).map(|name| {
        let lp = world.named(name);
        let holder = parts.iter().position(|(lps, _)| lps.contains(&lp));
        holder.ok_or(Torn("a logical process is in none of the parts"))
    });
    let holders = holders.collect::<Result<Vec<usize>, _>>()?;
    for (name, &holder) in holders.iter().enumerate() {
        put(&mut out, opened[holder].lps[name]);
    }
    for (name, &holder) in holders.iter().enumerate() {
        put_all(&mut out, opened[holder].state(name));
    }
    put_all(&mut out, &events);
    Ok(out)
}

/// The inverse of [`join`]: parts of what an engine has saved for the LPs numbered `of`. They are read as a whole run is, but only the LPs
/// that a part is for may be taken from it. What was recorded goes with the first, the others get `unseen`.
pub(crate) fn split<W: World>(
    world: &W,
    unseen: &W::Observer,
    saved: &[u8],
    of: &[Range<u32>],
) -> Result<Vec<Vec<u8>>, Torn> {
    let opened = OpenedCheckpoint::<W>::read(world, saved)?;
    let part = |(number, lps): (usize, &Range<u32>)| {
        let named = |event: &W::Event| event.with_lp(world.name(event.lp()));
        let mut events: Vec<W::Event> = opened.pending(lps).iter().map(named).collect();
        sort(world, &mut events);
        let mut out = Vec::new();
        put(
            &mut out,
            CheckpointHead {
                time: opened.time.0,
                events: opened.outcome.events,
                windows: opened.outcome.windows,
                lps: opened.lps.len() as u64,
                pending: events.len() as u64,
            },
        );
        match number {
            0 => opened.observer.pack(&mut out),
            _ => unseen.pack(&mut out),
        }
        let nothing = Kept {
            wake: 0,
            digest: 0,
            bytes: 0,
        };
        let here = |name: usize| lps.contains(&world.named(name as u32));
        for (name, kept) in opened.lps.iter().enumerate() {
            put(&mut out, if here(name) { *kept } else { nothing });
        }
        for name in (0..opened.lps.len()).filter(|&name| here(name)) {
            put_all(&mut out, opened.state(name));
        }
        put_all(&mut out, &events);
        out
    };
    Ok(of.iter().enumerate().map(part).collect())
}

/// A checkpoint that has been read, for engines to take their LPs from.
pub(crate) struct OpenedCheckpoint<'a, W: World> {
    pub(crate) time: Time,
    pub(crate) outcome: Outcome,
    pub(crate) observer: W::Observer,
    /// By LP, with the numbers of the world's layout.
    events: Vec<W::Event>,
    /// By name.
    lps: Vec<Kept>,
    /// Where each LP's state begins.
    places: Vec<usize>,
    states: &'a [u8],
}

/// Neighbouring LPs taken from a checkpoint.
pub(crate) struct Taken<W: World> {
    pub(crate) state: W::State,
    pub(crate) wakes: Vec<u64>,
    pub(crate) digests: Vec<u64>,
    pub(crate) events: Vec<W::Event>,
}

/// All LPs as if they were one block.
pub(crate) fn all_lps<W: World>(world: &W) -> Range<u32> {
    0..world.layout(1).end()
}

impl<W: World> Taken<W> {
    /// Writes a run at a time, of which these are [all LPs](all_lps), with what has come of it so far and what was recorded.
    pub(crate) fn save(self, world: &W, at: (Time, Outcome), observer: &W::Observer) -> Vec<u8> {
        let block = SavedBlock {
            lps: all_lps(world),
            state: &self.state,
            wakes: &self.wakes,
            digests: &self.digests,
        };
        put_together(world, at, observer, [block].into_iter(), self.events)
    }
}

impl<'a, W: World> OpenedCheckpoint<'a, W> {
    /// Reads what [`Engine::save`] has written for this world.
    pub(crate) fn read(world: &W, mut input: &'a [u8]) -> Result<Self, Torn> {
        let head: CheckpointHead = take(&mut input)?;
        let observer = W::Observer::unpack(&mut input)?;
        if head.lps != u64::from(world.n_lps()) {
            return Err(Torn("it has another number of logical processes"));
        }
        let lps: Vec<Kept> = take_exactly(&mut input, head.lps)?;
        let mut places = Vec::with_capacity(lps.len());
        let mut end = 0usize;
        for kept in &lps {
            places.push(end);
            end = end
                .checked_add(kept.bytes as usize)
                .ok_or(Torn("a length in it is too large"))?;
        }
        let states = take_bytes(&mut input, end)?;
        let mut events: Vec<W::Event> = take_exactly(&mut input, head.pending)?;
        if !input.is_empty() {
            return Err(Torn("there is more behind its end"));
        }
        let sorted = events.is_sorted_by_key(|event| event.lp());
        let known = |event: &mut W::Event| {
            if u64::from(event.lp()) >= head.lps {
                return false;
            }
            *event = event.with_lp(world.named(event.lp()));
            event.time() >= Time(head.time) && world.knows(event)
        };
        if !events.iter_mut().all(known) || !sorted {
            return Err(Torn("it holds an event that this run cannot have"));
        }
        events.sort_by_key(|event| event.lp());
        Ok(OpenedCheckpoint {
            time: Time(head.time),
            outcome: Outcome {
                events: head.events,
                windows: head.windows,
            },
            observer,
            events,
            lps,
            places,
            states,
        })
    }

    /// The digests of the pasts of all LPs, by name.
    pub(crate) fn digests(&self) -> Vec<u64> {
        self.lps.iter().map(|kept| kept.digest).collect()
    }

    /// By name, when each LP wants to be closed next (ps), and the digest of its past.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.lps.iter().map(|kept| (kept.wake, kept.digest))
    }

    /// All pending events.
    pub(crate) fn events(&self) -> &[W::Event] {
        &self.events
    }

    /// The packed state of the LP of a name.
    pub(crate) fn state(&self, name: usize) -> &'a [u8] {
        let place = self.places[name];
        &self.states[place..place + self.lps[name].bytes as usize]
    }

    /// The LPs `lps`, of one block, with what is pending for them. Numbers that are not in use may be among them.
    pub(crate) fn take(&self, world: &W, lps: Range<u32>) -> Result<Taken<W>, Torn> {
        self.take_some(world, lps, &|_| true)
    }

    /// The same of the LPs of these names; the others are as they are before the first event, and have nothing to do.
    fn take_some(&self, world: &W, lps: Range<u32>, of: &dyn Fn(u32) -> bool) -> Result<Taken<W>, Torn> {
        let (mut state, _) = world.start(lps.clone());
        let (mut wakes, mut digests) = (Vec::with_capacity(lps.len()), Vec::with_capacity(lps.len()));
        for lp in lps.clone() {
            let name = world.name(lp);
            let (wake, digest) = match (name as usize) < self.lps.len() && of(name) {
                true => self.put_into(world, &mut state, lp)?,
                false => (u64::MAX, 0),
            };
            wakes.push(wake);
            digests.push(digest);
        }
        let events = self.pending(&lps).iter().copied();
        let events = events.filter(|event| of(world.name(event.lp()))).collect();
        Ok(Taken {
            state,
            wakes,
            digests,
            events,
        })
    }

    /// Sets an LP, which is as it is before the first event, to what was saved of it; its wake time (ps) and the digest of its past.
    pub(crate) fn put_into(&self, world: &W, state: &mut W::State, lp: u32) -> Result<(u64, u64), Torn> {
        let name = world.name(lp) as usize;
        let mut input = self.state(name);
        world.unpack(state, lp, &mut input)?;
        match input.is_empty() {
            true => Ok((self.lps[name].wake, self.lps[name].digest)),
            false => Err(Torn("the state of a logical process is too long")),
        }
    }

    /// All LPs as if they were one block.
    pub(crate) fn take_all(&self, world: &W) -> Result<Taken<W>, Torn> {
        self.take_of(world, &|_| true)
    }

    /// All LPs as if they were one block, those of other names than these as they are before the first event.
    pub(crate) fn take_of(&self, world: &W, of: &dyn Fn(u32) -> bool) -> Result<Taken<W>, Torn> {
        self.take_some(world, all_lps(world), of)
    }

    /// The pending events of the LPs with numbers `lps`.
    fn pending(&self, lps: &Range<u32>) -> &[W::Event] {
        let from = self.events.partition_point(|event| event.lp() < lps.start);
        let to = self.events.partition_point(|event| event.lp() < lps.end);
        &self.events[from..to]
    }
}
