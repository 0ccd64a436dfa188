//! One block's history by hand: going back, running again, panics, buffers.

use super::*;
use crate::checkpoint::Torn;
use crate::column::Journal;
use crate::phold::{Ball, Nobody, Phold};
use crate::world::Sink;

const WIDTH: u64 = 1_000;

fn phold() -> Phold {
    Phold {
        n_lps: 10,
        events_per_lp: 1,
        mean: Time(3 * WIDTH),
        lookahead: Time(WIDTH),
        remote: 0.0,
        seed: 3,
    }
}

fn open(index: u64) -> Open {
    Open {
        index,
        start: index * WIDTH,
        end: (index + 1) * WIDTH,
    }
}

/// One event for every LP, in the middle of a window.
fn events(window: u64) -> Vec<Ball> {
    let event = |lp| Ball::new(Time(window * WIDTH + WIDTH / 2), lp, lp, window);
    (0..10).map(event).collect()
}

#[test]
fn an_lp_goes_back_alone_and_comes_to_the_same_state_again() {
    let world = phold();
    let (mut block, _) = Block::new(&world, 0..10);
    let mut history = History::new(10);
    let begin = block.wakes.clone();
    let mut sent = Vec::new();
    for window in 0..4 {
        history.fill(window, &events(window), &mut [], 3);
        sent.push(history.run(&world, &mut block, open(window)).to_vec());
    }
    let (ahead, kept) = (block.wakes.clone(), history.kept);
    history.roll_back(&mut block, 4, 1);
    assert_eq!(history.counts.rolled_back, 3);
    let other = |lp: usize| block.wakes.digests()[lp] == ahead.digests()[lp];
    assert!(other(3) && !other(4) && other(5), "nobody else goes back");
    history.roll_back(&mut block, 4, 0);
    assert_eq!(block.wakes.digests()[4], begin.digests()[4]);
    // A straggler that is taken back again at once: all windows are run again and nothing changes for others.
    let mut changes = Changes {
        sent: Vec::new(),
        taken_back: Vec::new(),
    };
    let mut straggler = [Ball::new(Time(7), 4, 9, 9)];
    history.patch(
        &world,
        &mut block,
        open(0),
        (&mut straggler.clone(), &mut straggler),
        &mut changes,
    );
    for window in 1..4 {
        history.patch(&world, &mut block, open(window), (&mut [], &mut []), &mut changes);
    }
    history.caught_up();
    assert!(changes.sent.is_empty() && changes.taken_back.is_empty(), "{changes:?}");
    assert_eq!(block.wakes, ahead);
    assert!(history.kept >= kept, "what was replaced is garbage until it is dropped");
    // One that stays changes what is sent from its window on.
    history.patch(
        &world,
        &mut block,
        open(1),
        (&mut [Ball::new(Time(WIDTH + 7), 4, 9, 9)], &mut []),
        &mut changes,
    );
    assert!(changes.sent.len() == 2 && changes.taken_back.len() == 1, "{changes:?}");
    assert!(sent[1].contains(&changes.taken_back[0]));
    for window in 2..4 {
        history.patch(&world, &mut block, open(window), (&mut [], &mut []), &mut changes);
    }
    history.caught_up();
    assert_eq!(history.commit(4, &mut Nobody), None);
    assert_eq!((history.counts.committed, history.kept), (41, 0));
    assert_eq!(history.counts.executed, 41 + history.counts.rolled_back);
}

#[test]
fn buffers_are_given_back_when_fewer_windows_are_run_ahead() {
    let world = phold();
    let (mut block, _) = Block::new(&world, 0..10);
    let mut history = History::new(10);
    let mut run = |history: &mut History<Phold>, window| {
        history.fill(window, &events(window), &mut [], 3);
        history.run(&world, &mut block, open(window));
    };
    for window in 0..8 {
        run(&mut history, window);
    }
    history.commit(8, &mut Nobody);
    assert_eq!(history.buffers(), 8);
    run(&mut history, 8);
    history.commit(9, &mut Nobody);
    assert_eq!(history.buffers(), 1);
}

crate::columns! {
    struct Alarms {
        due: u64,
    }
}

/// LPs that sleep five windows after an event, or panic over it.
struct Sleepers;

impl World for Sleepers {
    type Event = Ball;
    type State = Alarms;
    type Record = ();
    type Observer = Nobody;

    fn n_lps(&self) -> u32 {
        10
    }
    // These worlds are not saved.
    fn pack(&self, _: &Alarms, _: u32, _: &mut Vec<u8>) {}
    fn unpack(&self, _: &mut Alarms, _: u32, _: &mut &[u8]) -> Result<(), Torn> {
        Err(Torn("not saved"))
    }
    fn knows(&self, _: &Ball) -> bool {
        true
    }
    fn lookahead(&self) -> Time {
        Time(WIDTH)
    }
    fn seed(&self) -> u64 {
        3
    }
    fn start(&self, lps: std::ops::Range<u32>) -> (Alarms, Vec<Ball>) {
        let mut alarms = Alarms::default();
        alarms.due.fill(lps.start, vec![u64::MAX; lps.len()]);
        (alarms, Vec::new())
    }
    fn handle<J: Journal, S: Sink<Self>>(&self, s: &mut Alarms, j: &mut J, lp: u32, event: &Ball, sink: &mut S) {
        s.due.set(j, lp, event.time().0 + 5 * WIDTH);
        sink.send(Ball::new(event.time() + Time(WIDTH), lp, lp, 0));
        sink.record(());
        assert!(!event.is(13), "on purpose");
    }
    fn close<J: Journal, S: Sink<Self>>(&self, s: &mut Alarms, _: &mut J, lp: u32, _: Time, _: &mut S) -> Time {
        Time(*s.due.get(lp))
    }
    fn first_wake(&self, _: &Alarms, _: u32) -> Time {
        Time::MAX
    }
}

#[test]
fn a_panic_takes_nothing_from_the_lps_before_and_behind_it() {
    let (mut block, _) = Block::new(&Sleepers, 0..10);
    let mut history = History::new(10);
    let event = |lp, what| Ball::new(Time(10 + u64::from(lp)), lp, lp, what);
    let order = [
        event(2, 0),
        event(5, 0),
        event(5, 13),
        event(5, 0),
        event(7, 0),
        event(8, 13),
        event(9, 0),
    ];
    history.fill(0, &order, &mut [], 3);
    let sent = history.run(&Sleepers, &mut block, open(0)).to_vec();
    assert_eq!(sent.iter().map(Ball::lp).collect::<Vec<_>>(), [2, 7, 9]);
    assert_eq!(block.wakes.earliest(), 12 + 5 * WIDTH, "they sleep, and will be woken");
    assert_eq!((block.state.due.as_slice()[5], block.wakes.digests()[8]), (u64::MAX, 0));
    assert_eq!(history.counts.executed, 3);
    // What they panicked over is taken back.
    let mut antis = [event(5, 13), event(8, 13)];
    let mut changes = Changes {
        sent: Vec::new(),
        taken_back: Vec::new(),
    };
    history.patch(&Sleepers, &mut block, open(0), (&mut [], &mut antis), &mut changes);
    assert_eq!(changes.sent.iter().map(Ball::lp).collect::<Vec<_>>(), [5, 5]);
    history.caught_up();
    assert_eq!(history.commit(1, &mut Nobody), None);
    assert_eq!(history.counts.committed, 5);
    // What nobody takes back is told.
    history.fill(1, &[Ball::new(Time(WIDTH), 1, 1, 13)], &mut [], 3);
    history.run(&Sleepers, &mut block, open(1));
    assert!(
        history
            .commit(2, &mut Nobody)
            .is_some_and(|reason| reason.contains("panicked"))
    );
}
