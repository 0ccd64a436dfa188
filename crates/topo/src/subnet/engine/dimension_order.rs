//! Dimension order as a subnet manager knows it: min-hop where all paths between two switches take the neighbour of the first port
//! that leads closer. Where ports are numbered by dimension, dimensions are finished in that order; elsewhere it is only min-hop
//! with little balance, and nothing is said about deadlock.

use super::super::Tables;
use super::fabric::{FAR, PreparedSubnet};
use super::{Report, balance::balance};

/// Time and memory as min-hop.
pub(super) fn route(fabric: &PreparedSubnet) -> (Tables, Report) {
    let (hops, channels, n) = (fabric.hops(), &fabric.channels, fabric.n_switches());
    let tables = balance(fabric, |s, t, out| {
        let row = &hops[t as usize * n..(t as usize + 1) * n];
        if row[s as usize] == FAR {
            return;
        }
        let mut closer = channels
            .of_switch(s)
            .filter(|&c| row[channels.to[c] as usize] + 1 == row[s as usize]);
        if let Some(first) = closer.next() {
            out.push(first as u32);
            let parallel = closer.filter(|&c| channels.to[c] == channels.to[first]);
            out.extend(parallel.map(|c| c as u32));
        }
    });
    let report = Report {
        lanes_needed: 1,
        ..Report::default()
    };
    (tables, report)
}
