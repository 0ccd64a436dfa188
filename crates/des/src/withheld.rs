//! What handlers have sent and recorded, kept back until it is released: the outbox of the engines that are oracles. They share one journal
//! and one outbox, so that handlers are compiled once for all of them.

use crate::column::Mark;
use crate::late::{Before, Late, LateEvents};
use crate::time::Time;
use crate::world::{Event, Outbox, World, check_sent_at};

/// What has been sent and recorded.
pub(crate) struct Withheld<W: World> {
    pub(crate) events: Vec<W::Event>,
    pub(crate) records: Vec<W::Record>,
    late: LateEvents<W::Event>,
    lp: u32,
    end: Time,
    seed: u64,
    /// An LP did not handle an event of its own that was due in its window.
    pub(crate) left_behind: bool,
}

impl<W: World> Withheld<W> {
    /// Nothing. What an LP sends to itself before `end` it handles at once, of a pass through a window.
    pub(crate) fn new(end: Time, seed: u64) -> Self {
        Withheld {
            events: Vec::new(),
            records: Vec::new(),
            late: LateEvents::default(),
            lp: 0,
            end,
            seed,
            left_behind: false,
        }
    }

    /// Lets everything go to another outbox, in order.
    pub(crate) fn release(&mut self, outbox: &mut impl Outbox<W::Event, W::Record>) {
        for event in self.events.drain(..) {
            outbox.send(event);
        }
        for record in self.records.drain(..) {
            outbox.record(record);
        }
    }
}

impl<W: World> Outbox<W::Event, W::Record> for Withheld<W> {
    fn send_at(&mut self, time: Time, event: W::Event) {
        check_sent_at(&event, time);
        if event.lp() == self.lp && event.time() < self.end {
            self.late.insert(event, self.seed);
        } else {
            self.events.push(event);
        }
    }

    fn record(&mut self, record: W::Record) {
        self.records.push(record);
    }
}

impl<W: World> Late<W::Event> for Withheld<W> {
    fn enter(&mut self, lp: u32, _before: Before) {
        self.lp = lp;
    }

    fn late(&mut self) -> &mut LateEvents<W::Event> {
        &mut self.late
    }

    fn leave(&mut self, _mark: Mark, _left: usize) {
        self.left_behind |= self.late.leave_behind();
    }
}
