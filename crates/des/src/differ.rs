//! Orders and multisets of events: what comes to an LP's inputs, what is taken out of them, and how what was sent differs.

use crate::sort::by_lp;
use crate::world::Event;
use std::cmp::Ordering;

/// What changes for others when LPs run again.
#[derive(Debug)]
pub(crate) struct Changes<E> {
    /// Events that they send now.
    pub(crate) sent: Vec<E>,
    /// Events that they sent before and do not send any more.
    pub(crate) taken_back: Vec<E>,
}

/// Takes the events of `lp` off the front of `events`, which are ordered by LP and hold none of an LP before it.
pub(crate) fn of_lp<'e, E: Event>(events: &mut &'e [E], lp: u32) -> &'e [E] {
    let n = events.iter().take_while(|event| event.lp() == lp).count();
    let (first, rest) = events.split_at(n);
    *events = rest;
    first
}

/// Appends two orders of one LP's events to `into`, as one order.
pub(crate) fn merge<E: Event>(into: &mut Vec<E>, a: &[E], b: &[E], seed: u64) {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(first), Some(second)) = (a.peek(), b.peek()) {
        let next = if second.order(first, seed) == Ordering::Less {
            &mut b
        } else {
            &mut a
        };
        into.extend(next.next());
    }
    into.extend(a.chain(b));
}

/// Takes for each of `antis` an equal event out of `events`; both are ordered by LP, time and tie.
pub(crate) fn annihilate<E: Event>(events: &mut Vec<E>, antis: &[E], seed: u64) {
    if antis.is_empty() {
        return;
    }
    let mut gone: Vec<usize> = Vec::with_capacity(antis.len());
    for anti in antis {
        let first = events.partition_point(|event| by_lp(event, anti, seed) == Ordering::Less);
        let is_gone = |at: &usize| {
            gone.iter()
                .rev()
                .take_while(|&&other| other >= first)
                .any(|other| other == at)
        };
        let at = (first..events.len())
            .take_while(|&at| by_lp(&events[at], anti, seed) == Ordering::Equal)
            .find(|at| bytemuck::bytes_of(&events[*at]) == bytemuck::bytes_of(anti) && !is_gone(at));
        gone.push(at.expect("an event that is taken back was sent before"));
    }
    gone.sort_unstable();
    let mut gone = gone.into_iter().peekable();
    let mut at = 0;
    events.retain(|_| {
        let stays = gone.next_if_eq(&at).is_none();
        at += 1;
        stays
    });
}

/// Notes how two multisets of events differ.
pub(crate) fn differ<E: Event>(old: &[E], new: &[E], changes: &mut Changes<E>) {
    let bytes = |events| bytemuck::cast_slice::<E, u8>(events);
    if bytes(old) == bytes(new) {
        return;
    }
    let sorted = |events: &[E]| {
        let mut events = events.to_vec();
        events.sort_unstable_by(|a, b| bytemuck::bytes_of(a).cmp(bytemuck::bytes_of(b)));
        events
    };
    let (old, new) = (sorted(old), sorted(new));
    let (mut old, mut new) = (&old[..], &new[..]);
    while let (Some((a, olds)), Some((b, news))) = (old.split_first(), new.split_first()) {
        match bytemuck::bytes_of(a).cmp(bytemuck::bytes_of(b)) {
            Ordering::Equal => (old, new) = (olds, news),
            Ordering::Less => {
                changes.taken_back.push(*a);
                old = olds;
            }
            Ordering::Greater => {
                changes.sent.push(*b);
                new = news;
            }
        }
    }
    changes.taken_back.extend_from_slice(old);
    changes.sent.extend_from_slice(new);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phold::Ball;
    use crate::time::Time;

    fn ball(time: u64, lp: u32, sequence: u64) -> Ball {
        Ball::new(Time(time), lp, 9, sequence)
    }

    #[test]
    fn as_many_events_are_taken_out_as_are_taken_back_however_often_they_occur() {
        let same = ball(5, 1, 7);
        let mut events = vec![ball(3, 1, 1), same, same, same, ball(6, 1, 2), ball(1, 2, 3)];
        annihilate(&mut events, &[same, same, ball(1, 2, 3)], 4);
        assert_eq!(events, [ball(3, 1, 1), same, ball(6, 1, 2)]);
    }

    #[test]
    #[should_panic(expected = "was sent before")]
    fn an_event_that_was_never_sent_cannot_be_taken_back() {
        annihilate(&mut vec![ball(5, 1, 7)], &[ball(5, 1, 7), ball(5, 1, 7)], 4);
    }

    #[test]
    fn merging_keeps_the_order_and_all_that_is_equal() {
        let (a, b) = (
            [ball(1, 0, 1), ball(4, 0, 2)],
            [ball(1, 0, 1), ball(3, 0, 5), ball(9, 0, 1)],
        );
        let mut all = vec![ball(0, 0, 0)];
        merge(&mut all, &a, &b, 3);
        let times: Vec<u64> = all.iter().map(|event| event.time().0).collect();
        assert_eq!(times, [0, 1, 1, 3, 4, 9]);
    }

    #[test]
    fn differences_are_those_of_multisets_not_of_orders() {
        let [a, b, c] = [ball(1, 0, 1), ball(2, 0, 2), ball(3, 0, 3)];
        let mut changes = Changes {
            sent: Vec::new(),
            taken_back: Vec::new(),
        };
        differ(&[a, b, b], &[b, a, b], &mut changes);
        assert!(changes.sent.is_empty() && changes.taken_back.is_empty());
        differ(&[a, b, b], &[c, b, a, c], &mut changes);
        assert_eq!((&changes.sent[..], &changes.taken_back[..]), (&[c, c][..], &[b][..]));
    }

    #[test]
    fn events_of_one_lp_are_split_off_the_front() {
        let events = [ball(1, 2, 1), ball(2, 2, 1), ball(0, 5, 1)];
        let mut rest = &events[..];
        assert!(of_lp(&mut rest, 1).is_empty());
        assert_eq!(of_lp(&mut rest, 2), &events[..2]);
        assert_eq!(rest, &events[2..]);
    }
}
