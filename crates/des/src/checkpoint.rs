//! A run between two windows as bytes, and what engines need to go on from there.
//!
//! Everything strictly before the time reached has happened, nothing at or after it. What is written depends on the run alone, not on
//! the engine's blocks and workers or on the places of pooled records: each LP's state is written by [`World::pack`], pending events
//! stand in the order of their LPs. Numbers are in the byte order of the machine; who keeps the bytes guards them by a checksum.
//!
//! | part | content |
//! |---|---|
//! | head | time reached (ps), events handled, windows, number of LPs, number of pending events: u64 each |
//! | observer | all workers' records, [`Pack`] |
//! | LPs | of each wake time (ps), digest of its past, bytes of its state: u64 each |
//! | states | one after the other |
//! | events | as in memory, by LP, then in their total order |

use crate::engine::{Engine, Outcome};
use crate::time::Time;
use crate::world::{Event, Observe, World};
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// Bytes that are not what was written: the text says what does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Torn(pub &'static str);

impl std::fmt::Display for Torn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Torn {}

/// What can be written to bytes and read back equal.
pub trait Pack: Sized {
    /// Appends the value.
    fn pack(&self, out: &mut Vec<u8>);
    /// Takes a value from the front.
    fn unpack(input: &mut &[u8]) -> Result<Self, Torn>;
}

/// Appends a plain value.
pub fn put<T: Pod>(out: &mut Vec<u8>, value: T) {
    out.extend_from_slice(bytemuck::bytes_of(&value));
}

/// Appends plain values, not their number.
pub fn put_all<T: Pod>(out: &mut Vec<u8>, values: &[T]) {
    out.extend_from_slice(bytemuck::cast_slice(values));
}

/// Appends plain values after their number.
pub fn put_list<T: Pod>(out: &mut Vec<u8>, values: &[T]) {
    put(out, values.len() as u64);
    put_all(out, values);
}

/// Takes `n` bytes from the front.
fn take_bytes<'a>(input: &mut &'a [u8], n: usize) -> Result<&'a [u8], Torn> {
    let (bytes, rest) = input.split_at_checked(n).ok_or(Torn("it ends too early"))?;
    *input = rest;
    Ok(bytes)
}

/// Takes a plain value from the front.
pub fn take<T: Pod>(input: &mut &[u8]) -> Result<T, Torn> {
    Ok(bytemuck::pod_read_unaligned(take_bytes(input, size_of::<T>())?))
}

/// Takes as many plain values from the front as `values` has.
pub fn take_into<T: Pod>(input: &mut &[u8], values: &mut [T]) -> Result<(), Torn> {
    let bytes = bytemuck::cast_slice_mut::<T, u8>(values);
    bytes.copy_from_slice(take_bytes(input, bytes.len())?);
    Ok(())
}

/// Takes plain values from the front that stand after their number.
pub fn take_list<T: Pod>(input: &mut &[u8]) -> Result<Vec<T>, Torn> {
    let n = take::<u64>(input)?;
    take_exactly(input, n)
}

/// Takes `n` plain values from the front.
fn take_exactly<T: Pod>(input: &mut &[u8], n: u64) -> Result<Vec<T>, Torn> {
    let n = usize::try_from(n)
        .ok()
        .filter(|&n| n <= input.len() / size_of::<T>().max(1));
    let mut values = vec![T::zeroed(); n.ok_or(Torn("it ends too early"))?];
    take_into(input, &mut values)?;
    Ok(values)
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Head {
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

/// Neighbouring LPs of an engine.
pub(crate) struct Part<'a, W: World> {
    pub(crate) lps: Range<u32>,
    pub(crate) state: &'a W::State,
    pub(crate) wakes: Vec<u64>,
    pub(crate) digests: &'a [u64],
}

/// Writes what an engine has reached; `parts` in the order of their LPs.
pub(crate) fn write<'a, W: World + 'a>(
    world: &W,
    engine: &dyn Engine<W>,
    parts: impl Iterator<Item = Part<'a, W>>,
) -> Vec<u8> {
    let mut events = Vec::new();
    engine.pending(&mut |event| events.push(*event));
    let seed = world.seed();
    events.sort_unstable_by(|a, b| a.lp().cmp(&b.lp()).then_with(|| a.order(b, seed)));
    let outcome = engine.outcome();
    let n_lps = world.n_lps() as usize;
    let head = Head {
        time: engine.reached().0,
        events: outcome.events,
        windows: outcome.windows,
        lps: n_lps as u64,
        pending: events.len() as u64,
    };
    let mut out = Vec::new();
    put(&mut out, head);
    let view = engine.view();
    if let Some((first, rest)) = view.observers.split_first() {
        let mut all = (*first).clone();
        rest.iter().for_each(|&observer| all.merge(observer.clone()));
        all.pack(&mut out);
    }
    let table = out.len();
    out.resize(table + n_lps * size_of::<Kept>(), 0);
    for part in parts {
        for ((lp, wake), &digest) in part.lps.zip(part.wakes).zip(part.digests) {
            let before = out.len();
            world.pack(part.state, lp, &mut out);
            let bytes = (out.len() - before) as u64;
            let place = table + lp as usize * size_of::<Kept>();
            let kept = Kept { wake, digest, bytes };
            out[place..place + size_of::<Kept>()].copy_from_slice(bytemuck::bytes_of(&kept));
        }
    }
    put_all(&mut out, &events);
    out
}

/// Makes one run of the parts of several engines, each of which has saved the LPs named beside it and nothing of the others. Parts come in
/// the order of their LPs and hold all of them.
pub(crate) fn join<W: World>(world: &W, parts: &[(Range<u32>, &[u8])]) -> Result<Vec<u8>, Torn> {
    let opened = parts.iter().map(|(_, saved)| Opened::<W>::read(world, saved));
    let opened = opened.collect::<Result<Vec<_>, _>>()?;
    let first = opened.first().ok_or(Torn("it has no parts"))?;
    let events: Vec<W::Event> = opened.iter().flat_map(|part| part.events.iter().copied()).collect();
    let head = Head {
        time: first.time.0,
        events: first.outcome.events,
        windows: first.outcome.windows,
        lps: u64::from(world.n_lps()),
        pending: events.len() as u64,
    };
    let mut out = Vec::new();
    put(&mut out, head);
    let mut observer = first.observer.clone();
    opened[1..]
        .iter()
        .for_each(|part| observer.merge(part.observer.clone()));
    observer.pack(&mut out);
    for ((lps, _), part) in parts.iter().zip(&opened) {
        put_all(&mut out, &part.lps[lps.start as usize..lps.end as usize]);
    }
    for part in &opened {
        put_all(&mut out, part.states);
    }
    put_all(&mut out, &events);
    Ok(out)
}

/// The inverse of [`join`]: parts of what an engine has saved for the LPs `of`. They are read as a whole run is, but only the LPs that a
/// part is for may be taken from it. What was recorded goes with the first, the others get `unseen`.
pub(crate) fn split<W: World>(
    world: &W,
    unseen: &W::Observer,
    saved: &[u8],
    of: &[Range<u32>],
) -> Result<Vec<Vec<u8>>, Torn> {
    let opened = Opened::<W>::read(world, saved)?;
    let part = |(number, lps): (usize, &Range<u32>)| {
        let events = opened.pending(lps);
        let mut out = Vec::new();
        put(
            &mut out,
            Head {
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
        let table = out.len();
        out.resize(table + opened.lps.len() * size_of::<Kept>(), 0);
        let kept = &opened.lps[lps.start as usize..lps.end as usize];
        let place = table + lps.start as usize * size_of::<Kept>();
        out[place..place + size_of_val(kept)].copy_from_slice(bytemuck::cast_slice(kept));
        for lp in lps.clone() {
            out.extend_from_slice(opened.state(lp));
        }
        put_all(&mut out, events);
        out
    };
    Ok(of.iter().enumerate().map(part).collect())
}

/// A checkpoint that has been read, for engines to take their LPs from.
pub(crate) struct Opened<'a, W: World> {
    pub(crate) time: Time,
    pub(crate) outcome: Outcome,
    pub(crate) observer: W::Observer,
    events: Vec<W::Event>,
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

impl<'a, W: World> Opened<'a, W> {
    /// Reads what [`Engine::save`] has written for this world.
    pub(crate) fn read(world: &W, mut input: &'a [u8]) -> Result<Self, Torn> {
        let head: Head = take(&mut input)?;
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
        let events: Vec<W::Event> = take_exactly(&mut input, head.pending)?;
        if !input.is_empty() {
            return Err(Torn("there is more behind its end"));
        }
        let known = |event: &W::Event| {
            u64::from(event.lp()) < head.lps && event.time() >= Time(head.time) && world.knows(event)
        };
        if !events.iter().all(known) || !events.is_sorted_by_key(|event| event.lp()) {
            return Err(Torn("it holds an event that this run cannot have"));
        }
        Ok(Opened {
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

    /// The LPs `lps` with what is pending for them.
    pub(crate) fn take(&self, world: &W, lps: Range<u32>) -> Result<Taken<W>, Torn> {
        let (mut state, _) = world.start(lps.clone());
        for lp in lps.clone() {
            let mut input = self.state(lp);
            world.unpack(&mut state, lp, &mut input)?;
            if !input.is_empty() {
                return Err(Torn("the state of a logical process is too long"));
            }
        }
        let kept = &self.lps[lps.start as usize..lps.end as usize];
        Ok(Taken {
            state,
            wakes: kept.iter().map(|kept| kept.wake).collect(),
            digests: kept.iter().map(|kept| kept.digest).collect(),
            events: self.pending(&lps).to_vec(),
        })
    }

    /// The bytes of an LP's state.
    fn state(&self, lp: u32) -> &'a [u8] {
        let place = self.places[lp as usize];
        &self.states[place..place + self.lps[lp as usize].bytes as usize]
    }

    /// The pending events of the LPs `lps`.
    fn pending(&self, lps: &Range<u32>) -> &[W::Event] {
        let from = self.events.partition_point(|event| event.lp() < lps.start);
        let to = self.events.partition_point(|event| event.lp() < lps.end);
        &self.events[from..to]
    }
}
