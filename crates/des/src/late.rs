//! Own-LP events that fall into the open window, and before which event of a pass there is something to see to.

use crate::column::Mark;
use crate::world::Event;
use std::cmp::Ordering;

/// What is said of an LP that sent itself an event within the window when it was closed.
pub(crate) const LEFT_BEHIND: &str = "closing a logical process sent it an event within the window";

/// Events that an LP has sent itself within the open window, latest first.
#[derive(Debug)]
pub(crate) struct LateEvents<E> {
    events: Vec<E>,
    /// An event of the pass that lies here or behind is not handled before it has been seen to whether one of these comes first, or the pass
    /// [wants](Self::look_from) to look ahead: an address, so that one comparison for each event tells both.
    from: usize,
    /// The same without late events.
    wanted: usize,
}

impl<E> Default for LateEvents<E> {
    fn default() -> Self {
        LateEvents {
            events: Vec::new(),
            from: usize::MAX,
            wanted: usize::MAX,
        }
    }
}

impl<E: Event> LateEvents<E> {
    /// The pass wants to look ahead before it handles an event that lies here or behind.
    #[inline(always)]
    pub(crate) fn look_from(&mut self, event: *const E) {
        self.wanted = event.addr();
        self.see_from();
    }

    /// Whether there is something to see to before an event of the pass is handled.
    #[inline(always)]
    pub(crate) fn see_to(&self, event: *const E) -> bool {
        event.addr() >= self.from
    }

    /// Whether the pass wants to look ahead before it handles an event.
    pub(crate) fn looks(&self, event: *const E) -> bool {
        event.addr() >= self.wanted
    }

    /// Whether there are none.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Adds one.
    pub(crate) fn insert(&mut self, event: E, seed: u64) {
        let later = |other: &E| other.order(&event, seed) == Ordering::Greater;
        self.events.insert(self.events.partition_point(later), event);
        self.see_from();
    }

    /// Takes the earliest if there is one and it comes before `event`, if that is given.
    pub(crate) fn take(&mut self, event: Option<&E>, seed: u64) -> Option<E> {
        let is_before = |first: &mut E| event.is_none_or(|event| first.order(event, seed) == Ordering::Less);
        let taken = self.events.pop_if(is_before);
        self.see_from();
        taken
    }

    /// Drops all of an LP that is left; returns whether there were any.
    #[inline(always)]
    pub(crate) fn leave_behind(&mut self) -> bool {
        let are_left = !self.events.is_empty();
        if are_left {
            self.events.clear();
            self.see_from();
        }
        are_left
    }

    #[inline(always)]
    fn see_from(&mut self) {
        self.from = if self.events.is_empty() { self.wanted } else { 0 };
    }
}

/// What an LP is like before it runs through a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    /// When it wanted to be closed.
    pub(crate) wake: u64,
    /// The digest of its past.
    pub(crate) digest: u64,
    /// What the journal holds.
    pub(crate) mark: Mark,
    /// Events of the pass not yet handled.
    pub(crate) left: usize,
}

/// Access to the own-LP events that fall into the open window.
pub(crate) trait Late<E: Event> {
    /// Names the LP that runs.
    fn enter(&mut self, lp: u32, before: Before);
    /// The late events.
    fn late(&mut self) -> &mut LateEvents<E>;
    /// Takes the earliest late event if there is one and it comes before `event`, if that is given.
    fn late_before(&mut self, event: Option<&E>, seed: u64) -> Option<E> {
        self.late().take(event, seed)
    }
    /// Checks that the LP left nothing behind; the journal holds `mark` now, and `left` events of the pass are not yet handled.
    fn leave(&mut self, mark: Mark, left: usize);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;
    use crate::phold::Ball;

    #[test]
    fn an_event_is_seen_to_where_a_late_one_may_come_first_or_the_pass_looks_ahead() {
        let ball = |time| Ball::new(Time(time), 0, 0, time);
        let order = [ball(10), ball(20), ball(30)];
        let mut late = LateEvents::default();
        let seen = |late: &LateEvents<Ball>| order.each_ref().map(|event| late.see_to(event));
        assert_eq!(seen(&late), [false; 3], "a pass that has said nothing looks nowhere");
        late.look_from(&order[2]);
        assert_eq!(seen(&late), [false, false, true]);
        late.insert(ball(15), 0);
        late.insert(ball(12), 0);
        assert_eq!((seen(&late), late.looks(&order[0])), ([true; 3], false));
        // What the pass wants is noted while there are late events, too.
        late.look_from(&order[1]);
        assert_eq!(seen(&late), [true; 3]);
        assert!(late.take(Some(&order[0]), 0).is_none());
        assert_eq!(late.take(Some(&order[1]), 0).map(|event| event.time()), Some(Time(12)));
        assert_eq!(seen(&late), [true; 3]);
        assert_eq!(late.take(None, 0).map(|event| event.time()), Some(Time(15)));
        assert_eq!(seen(&late), [false, true, true]);
        late.insert(ball(40), 0);
        assert!(late.leave_behind() && late.is_empty() && !late.leave_behind());
        assert_eq!(seen(&late), [false, true, true]);
    }
}
