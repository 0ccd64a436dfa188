//! Min-hop: every path has the least number of hops; among the ports that allow it each switch takes the one that serves the fewest
//! destinations so far, the lowest of equal ones. What other switches do is not looked at.

use super::super::Tables;
use super::fabric::{FAR, PreparedSubnet};
use super::{Report, balance::balance};

/// Time: switches x (cables + addresses x ports). Memory: 2 bytes per pair of switches.
pub(super) fn route(fabric: &PreparedSubnet) -> (Tables, Report) {
    let (hops, channels, n) = (fabric.hops(), &fabric.channels, fabric.n_switches());
    let tables = balance(fabric, |s, t, out| {
        let row = &hops[t as usize * n..(t as usize + 1) * n];
        if row[s as usize] == FAR {
            return;
        }
        let closer = |&c: &usize| row[channels.to[c] as usize] + 1 == row[s as usize];
        out.extend(channels.of_switch(s).filter(closer).map(|c| c as u32));
    });
    let report = Report {
        lanes_needed: 1,
        ..Report::default()
    };
    (tables, report)
}
