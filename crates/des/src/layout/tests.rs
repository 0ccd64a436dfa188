//! One history in every layout: worlds whose LPs lie anywhere, with workers that meet every window or more seldom.

use super::Layout;
use crate::checkpoint::Torn;
use crate::column::Journal;
use crate::engine::{Engine, Stop, history};
use crate::optimistic::{OptimisticEngine, Speculation};
use crate::phold::{Ball, Nobody, Phold, Players};
use crate::rng::mix;
use crate::time::Time;
use crate::world::{Event, Sink, World};
use crate::{ReferenceEngine, RollbackCheck, WindowEngine};
use std::ops::Range;

#[test]
fn even_blocks_hold_every_number_once_without_a_gap() {
    for (n_lps, n_blocks) in [
        (1, 8),
        (7, 3),
        (64, 8),
        (65, 8),
        (1_000, 64),
        (1_000, 1),
        (1_000_000, 900),
    ] {
        let layout = Layout::even(n_lps, n_blocks);
        assert!(layout.n_blocks() <= super::MAX_BLOCKS);
        assert!(layout.all().eq(0..n_lps), "{n_lps} in {n_blocks}");
        assert!(
            layout
                .all()
                .all(|lp| layout.lps((lp >> layout.shift()) as usize).contains(&lp))
        );
        assert_eq!(layout.end(), n_lps);
    }
    assert_eq!(Layout::even(0, 4).all().count(), 0);
}

#[test]
fn blocks_of_any_size_are_found_by_a_shift() {
    let layout = Layout::grouped(vec![5, 0, 9, 1], vec![1; 4], 2);
    assert_eq!(layout.shift(), 4);
    let all: Vec<u32> = layout.all().collect();
    assert_eq!(all.len(), 15);
    assert_eq!((all[4], all[5], all[14]), (4, 32, 48));
    assert_eq!(layout.lps(1), 16..16);
    assert_eq!(layout.end(), 49);
}

#[test]
fn workers_get_neighbouring_blocks_of_even_weight() {
    let even = Layout::even(1 << 16, 16);
    for n in [1, 2, 3, 4, 16] {
        let owners = even.owners(n);
        assert!(owners.is_sorted() && owners[0] == 0 && owners[15] == n - 1);
        let most = (0..n).map(|worker| owners.iter().filter(|&&owner| owner == worker).count());
        assert!(most.max() <= Some(16usize.div_ceil(n)), "{owners:?}");
    }
    let heavy = Layout::grouped(vec![1; 4], vec![6, 2, 2, 2], 4);
    assert_eq!(heavy.owners(2), [0, 1, 1, 1]);
    assert_eq!(heavy.owners(4), [0, 1, 2, 3], "as many as it was made for");
}

/// PHOLD between two camps, the even and the odd names; an event from one to the other takes `extra` longer.
struct Camps {
    phold: Phold,
    extra: Time,
    /// What the world says that an event from one camp to the other takes longer.
    said: Time,
    layout: Option<Layout>,
    /// By name.
    lps: Vec<u32>,
    /// By number, those not in use included.
    names: Vec<u32>,
}

impl Camps {
    /// LPs numbered by name.
    fn plain(n_lps: u32, remote: f64) -> Camps {
        let phold = Phold {
            n_lps,
            events_per_lp: 2,
            mean: Time(1_310_720),
            lookahead: Time(131_072),
            remote,
            seed: 11,
        };
        let extra = Time(131_072 * 5 / 2);
        Camps {
            phold,
            extra,
            said: extra,
            layout: None,
            lps: (0..n_lps).collect(),
            names: (0..n_lps).collect(),
        }
    }

    /// LPs dealt out to `groups` of blocks by `block`, which gets their names.
    fn dealt(n_lps: u32, remote: f64, n_blocks: usize, groups: usize, block: impl Fn(u32) -> usize) -> Camps {
        let plain = Camps::plain(n_lps, remote);
        let mut blocks = vec![Vec::new(); n_blocks];
        // From the last to the first, so that numbers do not rise with names.
        (0..n_lps).rev().for_each(|name| blocks[block(name)].push(name));
        let sizes: Vec<u32> = blocks.iter().map(|names| names.len() as u32).collect();
        let weights = sizes.iter().map(|&size| u64::from(size)).collect();
        let layout = Layout::grouped(sizes, weights, groups);
        let mut names = vec![u32::MAX; layout.end() as usize];
        let mut lps = vec![0; n_lps as usize];
        for (lp, &name) in layout.all().zip(blocks.iter().flatten()) {
            names[lp as usize] = name;
            lps[name as usize] = lp;
        }
        Camps {
            layout: Some(layout),
            lps,
            names,
            ..plain
        }
    }

    /// An event of PHOLD, which knows names only, as one of this world.
    fn own(&self, from: u32, event: Ball) -> Ball {
        let late = if (from ^ event.lp()) & 1 == 1 {
            self.extra
        } else {
            Time::ZERO
        };
        event.delayed(late).with_lp(self.lps[event.lp() as usize])
    }
}

impl World for Camps {
    type Event = Ball;
    type State = Players;
    type Record = ();
    type Observer = Nobody;

    fn n_lps(&self) -> u32 {
        self.phold.n_lps
    }

    fn lookahead(&self) -> Time {
        self.phold.lookahead
    }

    fn layout(&self, n_blocks: u32) -> Layout {
        let even = || Layout::even(self.phold.n_lps, n_blocks);
        self.layout.clone().unwrap_or_else(even)
    }

    fn name(&self, lp: u32) -> u32 {
        self.names[lp as usize]
    }

    fn named(&self, name: u32) -> u32 {
        self.lps[name as usize]
    }

    fn lookahead_across(&self, owner: &dyn Fn(u32) -> usize) -> Time {
        let owners = |camp: usize| self.lps[camp..].iter().step_by(2).map(|&lp| owner(lp));
        let whole = |camp| owners(camp).all(|other| Some(other) == owners(camp).next());
        match whole(0) && whole(1) {
            true => self.phold.lookahead + self.said,
            false => self.phold.lookahead,
        }
    }

    fn seed(&self) -> u64 {
        self.phold.seed
    }

    fn start(&self, lps: Range<u32>) -> (Players, Vec<Ball>) {
        let mut players = Players::default();
        players.players.fill(lps.start, vec![self.phold.first(); lps.len()]);
        let first = lps.flat_map(|lp| {
            let name = self.name(lp);
            self.phold
                .start(name..name + 1)
                .1
                .into_iter()
                .map(move |event| self.own(name, event))
        });
        (players, first.collect())
    }

    fn handle<J: Journal, S: Sink<Self>>(&self, st: &mut Players, j: &mut J, lp: u32, event: &Ball, sink: &mut S) {
        let name = self.name(lp);
        let next = self.phold.react(st.players.edit(j, lp), name, event.time());
        sink.send(self.own(name, next));
    }

    fn close<J: Journal, S: Sink<Self>>(&self, _: &mut Players, _: &mut J, _: u32, _: Time, _: &mut S) -> Time {
        Time::MAX
    }

    fn first_wake(&self, _: &Players, _: u32) -> Time {
        Time::MAX
    }

    fn pack(&self, state: &Players, lp: u32, out: &mut Vec<u8>) {
        self.phold.pack(state, lp, out);
    }

    fn unpack(&self, state: &mut Players, lp: u32, input: &mut &[u8]) -> Result<(), Torn> {
        self.phold.unpack(state, lp, input)
    }

    fn knows(&self, event: &Ball) -> bool {
        self.phold.knows(event)
    }
}

const END: Time = Time(12_000_000);

fn finish(mut engine: Box<dyn Engine<Camps> + '_>) -> (u64, u64) {
    for until in [Time(END.0 / 7), Time(END.0 / 7 + 1), Time(END.0 / 2), END] {
        assert_eq!(engine.run(until, &mut |_, _| true), Stop::Until);
    }
    (history(&engine.digests()), engine.outcome().events)
}

/// The same world in layouts of three kinds, camps in whole groups first.
fn layouts(n_lps: u32, remote: f64) -> Vec<Camps> {
    let random = |n: usize| move |name: u32| (mix(u64::from(name)) >> 33) as usize % n;
    vec![
        Camps::dealt(n_lps, remote, 8, 2, move |name| {
            (name & 1) as usize * 4 + random(4)(name)
        }),
        Camps::dealt(n_lps, remote, 6, 3, random(6)),
        Camps::dealt(n_lps, remote, 2, 2, |name| usize::from(name > 20)),
        Camps::plain(n_lps, remote),
    ]
}

#[test]
fn the_history_is_the_same_in_every_layout_on_every_engine() {
    for (n_lps, remote) in [(301, 0.3), (64, 1.0)] {
        let plain = Camps::plain(n_lps, remote);
        let expected = finish(Box::new(ReferenceEngine::new(&plain, Nobody)));
        assert!(expected.1 > 500, "{} events", expected.1);
        for world in &layouts(n_lps, remote) {
            assert_eq!(finish(Box::new(ReferenceEngine::new(world, Nobody))), expected);
            assert_eq!(finish(Box::new(RollbackCheck::new(world, Nobody))), expected);
            for workers in [1, 2, 3, 4] {
                let engine = WindowEngine::with_workers(world, Nobody, 8, workers);
                assert_eq!(
                    finish(Box::new(engine)),
                    expected,
                    "{workers} workers, {:?}",
                    world.layout
                );
                let engine = OptimisticEngine::new(world, Nobody, 8, workers, Speculation::fixed(3));
                assert_eq!(
                    finish(Box::new(engine)),
                    expected,
                    "{workers} that speculate, {:?}",
                    world.layout
                );
            }
        }
    }
}

#[test]
fn what_one_layout_has_saved_goes_on_in_another() {
    let worlds = layouts(301, 0.3);
    let expected = finish(Box::new(ReferenceEngine::new(&worlds[3], Nobody)));
    let saved: Vec<Vec<u8>> = worlds
        .iter()
        .map(|world| {
            let mut engine = WindowEngine::with_workers(world, Nobody, 8, 2);
            assert_eq!(engine.run(Time(END.0 / 3), &mut |_, _| true), Stop::Until);
            engine.save()
        })
        .collect();
    for (from, saved) in saved.iter().enumerate() {
        for (to, world) in worlds.iter().enumerate() {
            let mut engine = WindowEngine::restore(world, Nobody, saved, 8, 2).unwrap();
            assert_eq!(engine.run(END, &mut |_, _| true), Stop::Until);
            let reached = (history(&engine.digests()), engine.outcome().events);
            assert_eq!(reached, expected, "from layout {from} to {to}");
        }
    }
}

#[test]
fn workers_that_cannot_reach_each_other_soon_meet_seldom() {
    let meetings = |world: &Camps| {
        let mut engine = WindowEngine::with_workers(world, Nobody, 8, 2);
        assert_eq!(engine.run(END, &mut |_, _| true), Stop::Until);
        let teamwork = engine.teamwork().unwrap();
        (teamwork.together, teamwork.windows_shared)
    };
    let worlds = layouts(301, 0.3);
    // From camp to camp it takes three and a half windows.
    let (together, seldom) = meetings(&worlds[0]);
    assert_eq!(together, 3);
    let (together, often) = meetings(&worlds[2]);
    assert_eq!(together, 1);
    assert!(seldom * 5 / 2 < often, "{seldom} meetings, {often} in every window");
}

#[test]
fn a_world_that_promises_too_much_between_workers_is_stopped() {
    let mut world = layouts(301, 0.9).swap_remove(0);
    world.said = Time(world.extra.0 * 10);
    let mut engine = WindowEngine::with_workers(&world, Nobody, 8, 2);
    let stop = engine.run(END, &mut |_, _| true);
    assert!(
        matches!(stop, Stop::Broken(reason) if reason.contains("another worker")),
        "{stop:?}"
    );
}
