//! Loads of links over time: how long every link was busy in each window, read between the events.
//!
//! Whoever runs the network stops at the ends of windows and reads what its ports have counted anyway: events know nothing of it.
//! A window of a link is what it has accepted by then less what lies beyond, as [`Load::busy_until`](crate::harvest::Load::busy_until) has it.
//! There are at most [`MOST_WINDOWS`]: before one more begins neighbours are joined two by two, and windows are twice as long.

use crate::harvest::{LinkWindow, MOST_WINDOWS};
use bytemuck::{Pod, Zeroable};
use des::checkpoint::{put, put_list, take, take_list};
use des::{Time, Torn};
use fabric::network::Network;
use fabric::state::{OutLink, Parts};
use std::collections::HashMap;

/// How long every link was busy in the windows so far.
#[derive(Clone, Debug)]
pub(super) struct LinkWindows {
    /// Their length (ps).
    every: u64,
    /// How many have ended.
    ended: u64,
    /// By place of the port: how long it had been busy (ps) when the latest of them ended.
    before: Vec<u64>,
    /// Links that were busy, window by window, each in the order of the places.
    rows: Vec<BusyRow>,
}

/// A window of a link that was busy in it.
#[derive(Clone, Copy, Debug)]
struct BusyRow {
    window: u32,
    place: u32,
    busy: u64,
}

/// How long a link had been busy when the latest window ended.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct BeforeWindow {
    router: u32,
    port: u32,
    busy: u64,
}

/// The time (ps) that a link was busy until `end`.
fn busy_until(link: OutLink, end: u64) -> u64 {
    link.busy - link.free.saturating_sub(end).min(link.busy)
}

impl LinkWindows {
    pub(super) fn new(every: Time) -> Self {
        LinkWindows {
            every: every.0,
            ended: 0,
            before: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// When the window that has begun ends.
    pub(super) fn next(&self) -> Time {
        Time((self.ended + 1).saturating_mul(self.every))
    }

    /// Ends the window that has begun if it ends now.
    pub(super) fn look(&mut self, now: Time, parts: &Parts<'_>) {
        if now != self.next() {
            return;
        }
        self.count(now, parts);
        self.ended += 1;
        if self.ended == MOST_WINDOWS {
            self.join_neighbours();
        }
    }

    fn count(&mut self, end: Time, parts: &Parts<'_>) {
        for (place, link) in parts.numbered_links() {
            if self.before.len() <= place as usize {
                self.before.resize(place as usize + 1, 0);
            }
            let (busy, before) = (busy_until(link, end.0), &mut self.before[place as usize]);
            if busy > *before {
                let window = self.ended as u32;
                self.rows.push(BusyRow {
                    window,
                    place,
                    busy: busy - *before,
                });
                *before = busy;
            }
        }
    }

    fn join_neighbours(&mut self) {
        self.every = self.every.saturating_mul(2);
        self.ended /= 2;
        self.rows.iter_mut().for_each(|row| row.window /= 2);
        self.rows.sort_unstable_by_key(|row| (row.window, row.place));
        self.rows.dedup_by(|next, row| {
            let same = (next.window, next.place) == (row.window, row.place);
            row.busy += if same { next.busy } else { 0 };
            same
        });
    }

    /// Their length (ps), and how many have ended.
    pub(super) fn shape(&self) -> (u64, u64) {
        (self.every, self.ended)
    }

    /// All of them, by window, router and port: places are those of this process's routers.
    pub(super) fn told(&self, net: &Network) -> Vec<LinkWindow> {
        let ends = ends_of_ports(net);
        let row = |row: &BusyRow| {
            let [router, port] = ends[row.place as usize];
            LinkWindow {
                window: row.window,
                router,
                port,
                unused: 0,
                busy: row.busy,
            }
        };
        let mut told: Vec<LinkWindow> = self.rows.iter().map(row).collect();
        told.sort_unstable_by_key(|row| (row.window, row.router, row.port));
        told
    }

    /// Appends what a run that is saved has so far.
    pub(super) fn save(&self, net: &Network, out: &mut Vec<u8>) {
        let ends = ends_of_ports(net);
        put(out, [self.every, self.ended]);
        let before = self.before.iter().zip(&ends);
        let before: Vec<BeforeWindow> = before
            .map(|(&busy, &[router, port])| BeforeWindow { router, port, busy })
            .collect();
        put_list(out, &before);
        put_list(out, &self.told(net));
    }

    /// What [`LinkWindows::save`] has appended; routers may have other places now.
    pub(super) fn restore(net: &Network, input: &mut &[u8]) -> Result<Self, Torn> {
        let ends = (0..).zip(ends_of_ports(net)).map(|(place, ends)| (ends, place));
        let places: HashMap<[u32; 2], u32> = ends.collect();
        let place = |router, port| {
            let found = places.get(&[router, port]).copied();
            found.ok_or(Torn("a window in it is of a link that is not there"))
        };
        let [every, ended]: [u64; 2] = take(input)?;
        let mut before = vec![0; places.len()];
        for one in take_list::<BeforeWindow>(input)? {
            before[place(one.router, one.port)? as usize] = one.busy;
        }
        let mut rows = Vec::new();
        for one in take_list::<LinkWindow>(input)? {
            rows.push(BusyRow {
                window: one.window,
                place: place(one.router, one.port)?,
                busy: one.busy,
            });
        }
        if every == 0 || ended >= MOST_WINDOWS {
            return Err(Torn("its windows of links are none"));
        }
        Ok(LinkWindows {
            every,
            ended,
            before,
            rows,
        })
    }
}

/// By place: the router and its port that sends.
fn ends_of_ports(net: &Network) -> Vec<[u32; 2]> {
    let sites = net.sites.iter();
    sites
        .flat_map(|site| (0..site.ports()).map(move |port| [site.router, port]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(window: u32, place: u32, busy: u64) -> BusyRow {
        BusyRow { window, place, busy }
    }

    #[test]
    fn neighbours_are_joined_and_lose_nothing() {
        let mut windows = LinkWindows::new(Time(10));
        windows.ended = 4;
        windows.rows = vec![
            row(0, 0, 3),
            row(0, 2, 1),
            row(1, 0, 4),
            row(2, 1, 5),
            row(3, 1, 6),
            row(3, 2, 7),
        ];
        windows.join_neighbours();
        let found: Vec<_> = windows
            .rows
            .iter()
            .map(|row| (row.window, row.place, row.busy))
            .collect();
        assert_eq!(found, [(0, 0, 7), (0, 2, 1), (1, 1, 11), (1, 2, 7)]);
        assert_eq!((windows.every, windows.ended, windows.next()), (20, 2, Time(60)));
    }
}
