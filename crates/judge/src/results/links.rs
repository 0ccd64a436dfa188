//! Loads of links.

use super::{Concluded, figures};
use crate::harvest::{Harvest, LinkWindow, Load};
use des::Time;
use fabric::network::Network;
use fabric::state::Parts;
use std::cmp::Reverse;
use std::collections::HashMap;

figures! {
    /// A link, and for which part of the time it was busy.
    pub struct BusyLink {
        name: String = Text, "busiest link", "Which, such as `(0,1,0) x+`.";
        busy: f64 = Share, "time the busiest link was busy", "Part of the run for which it was busy.";
    }
}

/// Load of one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRow {
    /// Router that sends.
    pub router: u32,
    /// Its output port; ejection ports follow the network ports.
    pub port: u32,
    /// Router that receives; `u32::MAX` for a node.
    pub peer_router: u32,
    /// Link class.
    pub class: u8,
    /// Part of the time that the link was busy.
    pub utilisation: f64,
    /// Packets sent.
    pub packets: u64,
    /// Bytes sent.
    pub bytes: u64,
}

/// Load of one link in one window of the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkWindowRow {
    /// Which window, from 0.
    pub window: u32,
    /// When it begins (ps).
    pub from: u64,
    /// When it ends (ps).
    pub to: u64,
    /// Router that sends.
    pub router: u32,
    /// Its output port; ejection ports follow the network ports.
    pub port: u32,
    /// Part of the window that the link was busy.
    pub utilisation: f64,
}

/// The link that was busy for the most time.
pub(super) fn busiest_link(run: &Concluded<'_>) -> Option<BusyLink> {
    run.busiest.clone()
}

/// The link that was busy for most of the time `span` (ps).
pub(super) fn busiest(harvest: &Harvest, span: u64) -> Option<BusyLink> {
    let (busy, place) = &harvest.busiest;
    let name = place.as_ref()?.name.clone();
    let busy = (*busy as f64 / span.max(1) as f64).min(1.0);
    Some(BusyLink { name, busy })
}

/// Loads of links over `sim_time_ns`.
pub(crate) fn link_rows(loads: Vec<Load>, sim_time_ns: f64) -> Vec<LinkRow> {
    let span = (sim_time_ns * 1e3).max(1.0);
    let row = |load: Load| LinkRow {
        router: load.router,
        port: load.port,
        peer_router: load.peer_router,
        class: load.class as u8,
        utilisation: load.busy_until(span as u64) as f64 / span,
        packets: load.packets,
        bytes: load.bytes,
    };
    loads.into_iter().map(row).collect()
}

/// Loads of links in windows of a length (ps), of which so many have ended, over `sim_time_ns`. What links have carried since then is in
/// their `loads`: a window of it ends when it is full or with the run.
pub(crate) fn link_window_rows(
    mut windows: Vec<LinkWindow>,
    loads: &[Load],
    (length, ended): (u64, u64),
    sim_time_ns: f64,
) -> Vec<LinkWindowRow> {
    let end = (sim_time_ns * 1e3).round() as u64;
    let mut told: HashMap<(u32, u32), u64> = HashMap::new();
    for one in &windows {
        *told.entry((one.router, one.port)).or_default() += one.busy;
    }
    for window in ended..end.div_ceil(length) {
        for load in loads {
            let before = told.entry((load.router, load.port)).or_default();
            let busy = load.busy_until(end.min((window + 1).saturating_mul(length)));
            if busy > *before {
                windows.push(LinkWindow {
                    window: window as u32,
                    router: load.router,
                    port: load.port,
                    unused: 0,
                    busy: busy - *before,
                });
                *before = busy;
            }
        }
    }
    // A run that is cut is over with what happened last: packets that move on to nowhere are no part of it.
    let row = |one: &LinkWindow| {
        let from = u64::from(one.window) * length;
        let to = from.saturating_add(length).min(end);
        (from < to).then(|| LinkWindowRow {
            window: one.window,
            from,
            to,
            router: one.router,
            port: one.port,
            utilisation: one.busy.min(to - from) as f64 / (to - from) as f64,
        })
    };
    windows.iter().filter_map(row).collect()
}

/// The busiest links and the part of the time they were busy.
pub(crate) fn hottest(net: &Network, state: &Parts<'_>, now: Time, n: usize) -> Vec<(String, f64)> {
    let mut best: Vec<(u64, u32)> = Vec::new();
    for (port, record) in state.numbered_links() {
        if best.len() < n || record.busy > best[n - 1].0 {
            let mine = (Reverse(record.busy), port);
            let place = best.partition_point(|&(busy, port)| (Reverse(busy), port) < mine);
            best.insert(place, (record.busy, port));
            best.truncate(n);
        }
    }
    let span = now.0.max(1) as f64;
    best.into_iter()
        .map(|(busy, port)| (net.name_of_port(port), (busy as f64 / span).min(1.0)))
        .collect()
}
