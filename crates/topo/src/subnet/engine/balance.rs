//! The choice of a port among those that an engine allows: the one that serves the fewest destinations so far.

use super::super::Tables;
use super::fabric::PreparedSubnet;

/// Fills all tables. `candidates(s, t, out)` lists the channels that switch `s` may send on towards switch `t`, in port order.
///
/// Hosts are taken switch by switch, those with the most hosts first, in port order. Of several addresses of a host each prefers
/// ports to switches that the others do not use yet. Only what a switch itself sends counts; addresses of switches do not.
/// Time: switches x addresses x candidates, on all threads.
pub(super) fn balance(fabric: &PreparedSubnet, candidates: impl Fn(u32, u32, &mut Vec<u32>) + Sync) -> Tables {
    let (channels, subnet) = (&fabric.channels, fabric.subnet);
    let by_load = fabric.by_load();
    let mut tables = fabric.tables();
    let width = tables.n_addresses as usize;
    fabric.by_rows(&mut tables.ports, width, |s, row| {
        let s = s as u32;
        let mut served = vec![0u32; channels.of_switch(s).len()];
        let (mut allowed, mut used) = (Vec::new(), Vec::new());
        let first = channels.first[s as usize];
        for &t in &by_load {
            if t == s || fabric.hosts_of(t).is_empty() {
                continue;
            }
            allowed.clear();
            candidates(s, t, &mut allowed);
            if allowed.is_empty() {
                continue;
            }
            for &host in fabric.hosts_of(t) {
                used.clear();
                for path in 0..subnet.paths() {
                    let load = |c: &&u32| {
                        (
                            used.contains(&channels.to[**c as usize]),
                            served[(**c - first) as usize],
                        )
                    };
                    let Some(&best) = allowed.iter().min_by_key(load) else {
                        continue;
                    };
                    served[(best - first) as usize] += 1;
                    used.push(channels.to[best as usize]);
                    row[((host << subnet.lmc) + path) as usize] = channels.port[best as usize];
                }
            }
        }
    });
    tables
}
