//! Events beyond a ring of windows, in spans of time: what is drawn near is not looked for among all of them.

use crate::chunks::{Chunked, Chunks};
use crate::world::Event;
use std::collections::{BTreeMap, VecDeque};

/// Events are kept in spans of 2^24 ps, about 17 us.
const SPAN_BITS: u32 = 24;
/// Spans that lie side by side, about 17 ms: routers that book their links ahead send most of a congested run that far.
const SIDE_BY_SIDE: usize = 1 << 10;

/// Events by spans of time.
#[derive(Debug)]
pub(crate) struct FarEvents<E> {
    /// Of span number `first` and those that follow it.
    spans: VecDeque<Chunked>,
    first: u64,
    /// Of all others, by number; none of them is empty.
    others: BTreeMap<u64, Chunked>,
    /// What is in the spans.
    chunks: Chunks<E>,
    /// The earliest time of an event (ps), `u64::MAX` if there is none.
    min: u64,
}

impl<E> Default for FarEvents<E> {
    fn default() -> Self {
        FarEvents {
            spans: VecDeque::new(),
            first: 0,
            others: BTreeMap::new(),
            chunks: Chunks::default(),
            min: u64::MAX,
        }
    }
}

impl<E: Event> FarEvents<E> {
    /// The earliest time of an event (ps), `u64::MAX` if there is none.
    #[inline]
    pub(crate) fn min(&self) -> u64 {
        self.min
    }

    /// Adds an event.
    pub(crate) fn push(&mut self, event: E) {
        self.min = self.min.min(event.time().0);
        let number = event.time().0 >> SPAN_BITS;
        if self.spans.is_empty() {
            self.first = number;
        }
        let place = number.wrapping_sub(self.first);
        if place >= SIDE_BY_SIDE as u64 {
            self.chunks.push(self.others.entry(number).or_default(), event);
            return;
        }
        let place = place as usize;
        if place >= self.spans.len() {
            self.spans.resize_with(place + 1, Chunked::default);
        }
        self.chunks.push(&mut self.spans[place], event);
    }

    /// Gives all events before `limit` (ps) to `take`.
    pub(crate) fn draw(&mut self, limit: u64, mut take: impl FnMut(E)) {
        let mut min = u64::MAX;
        while let Some((number, mut span)) = self.take_first() {
            // A span that begins beyond the limit stays whole.
            if number << SPAN_BITS < limit {
                self.chunks
                    .extract(&mut span, |event| event.time().0 < limit, &mut take);
            }
            if !span.is_empty() {
                min = self
                    .chunks
                    .events(&span)
                    .map(|event| event.time().0)
                    .min()
                    .unwrap_or(u64::MAX);
                self.put_back(number, span);
                break;
            }
        }
        self.min = min;
    }

    /// Takes the earliest span with its number.
    fn take_first(&mut self) -> Option<(u64, Chunked)> {
        while self.spans.front().is_some_and(Chunked::is_empty) {
            self.spans.pop_front();
            self.first += 1;
        }
        let beside = (!self.spans.is_empty()).then_some(self.first);
        let other = self.others.first_key_value().map(|(&number, _)| number);
        let number = beside.into_iter().chain(other).min()?;
        let mut span = Chunked::default();
        if beside == Some(number) {
            span = self.spans.pop_front().unwrap_or_default();
            self.first += 1;
        }
        // Where the spans begin has moved since: some of this one may be among the others.
        if other == Some(number)
            && let Some((_, others)) = self.others.pop_first()
        {
            match span.is_empty() {
                true => span = others,
                false => {
                    let mut moved = Vec::new();
                    self.chunks.drain_into(others, &mut moved);
                    moved.into_iter().for_each(|event| self.chunks.push(&mut span, event));
                }
            }
        }
        Some((number, span))
    }

    /// Puts a span back that [`Self::take_first`] has given last.
    fn put_back(&mut self, number: u64, span: Chunked) {
        if self.spans.is_empty() || number + 1 == self.first {
            self.spans.push_front(span);
            self.first = number;
        } else {
            self.others.insert(number, span);
        }
    }

    /// Moves all events to the end of `out`.
    pub(crate) fn drain_into(&mut self, out: &mut Vec<E>) {
        for span in self
            .spans
            .drain(..)
            .chain(std::mem::take(&mut self.others).into_values())
        {
            self.chunks.drain_into(span, out);
        }
        self.min = u64::MAX;
    }

    /// All events.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &E> {
        let spans = self.spans.iter().chain(self.others.values());
        spans.flat_map(|span| self.chunks.events(span))
    }

    /// Number of events.
    pub(crate) fn len(&self) -> usize {
        self.spans.iter().chain(self.others.values()).map(Chunked::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phold::Ball;
    use crate::rng::mix;
    use crate::time::Time;

    /// Events at random times, drawn up to limits that rise now by a little, now by a lot, beside a sorted list of the same.
    #[test]
    fn events_are_drawn_up_to_any_limit_wherever_the_spans_begin() {
        for seed in 0..20 {
            let mut far = FarEvents::default();
            let mut plain: Vec<u64> = Vec::new();
            let (mut now, mut words) = (0u64, (0..).map(|i| mix(seed << 32 | i)));
            for _ in 0..if cfg!(miri) { 30 } else { 400 } {
                for _ in 0..words.next().unwrap() % 20 {
                    // Next to now, a few spans ahead, beyond all that lie side by side.
                    let ahead = words.next().unwrap() % (1 << (10 + words.next().unwrap() % 28));
                    let time = now + ahead;
                    far.push(Ball::new(Time(time), 0, 0, 1));
                    plain.push(time);
                }
                assert_eq!(far.min(), plain.iter().copied().min().unwrap_or(u64::MAX));
                now += words.next().unwrap() % (1 << (12 + words.next().unwrap() % 26));
                let mut drawn = Vec::new();
                far.draw(now, |ball| drawn.push(ball.time().0));
                let mut due: Vec<u64> = plain.extract_if(.., |time| *time < now).collect();
                drawn.sort_unstable();
                due.sort_unstable();
                assert_eq!(drawn, due);
                assert_eq!((far.len(), far.iter().count()), (plain.len(), plain.len()));
            }
            let mut rest = Vec::new();
            far.drain_into(&mut rest);
            assert_eq!((rest.len(), far.len(), far.min()), (plain.len(), 0, u64::MAX));
        }
    }
}
