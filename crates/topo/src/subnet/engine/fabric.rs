//! A subnet as engines read it: channels in flat arrays, switches in the manager's order, addresses by number.

use super::super::channels::Channels;
use super::super::{End, Subnet, Tables};
use super::{Options, RouteError, RoutingEngine};

/// A subnet ready to be routed.
pub(super) struct PreparedSubnet<'a> {
    pub subnet: &'a Subnet,
    pub options: &'a Options,
    pub channels: Channels,
    /// All switches in the manager's order.
    pub order: Vec<u32>,
    /// Place of each switch in `order`.
    pub rank: Vec<u32>,
    /// Hosts of switch `s` in port order: `hosts[first_host[s]..first_host[s + 1]]`.
    hosts: Vec<u32>,
    first_host: Vec<u32>,
}

impl<'a> PreparedSubnet<'a> {
    /// `Err` says what is wrong with [`Options::order`].
    pub fn new(subnet: &'a Subnet, options: &'a Options) -> Result<Self, String> {
        let n = subnet.n_switches();
        let mut order = options.order.clone();
        if order.is_empty() {
            order = (0..n).collect();
            order.sort_by_key(|&s| (map_key(subnet.switches[s as usize].guid), s));
        }
        let mut rank = vec![u32::MAX; n as usize];
        for (place, &s) in order.iter().enumerate() {
            match rank.get_mut(s as usize) {
                Some(place_of) if *place_of == u32::MAX => *place_of = place as u32,
                Some(_) => {
                    return Err(format!(
                        "the order of switches names `{}` twice",
                        subnet.switches[s as usize].name
                    ));
                }
                None => return Err(format!("the order of switches names switch {s} of {n}")),
            }
        }
        if order.len() != n as usize {
            return Err(format!("the order of switches names {} of {n}", order.len()));
        }
        let (mut hosts, mut first_host) = (Vec::with_capacity(subnet.hosts.len()), vec![0]);
        for switch in &subnet.switches {
            hosts.extend(switch.ports.iter().filter_map(|end| match end {
                Some(End::Host(host)) => Some(*host),
                _ => None,
            }));
            first_host.push(hosts.len() as u32);
        }
        Ok(Self {
            subnet,
            options,
            channels: Channels::of(subnet),
            order,
            rank,
            hosts,
            first_host,
        })
    }

    pub fn n_switches(&self) -> usize {
        self.order.len()
    }

    /// Hosts of a switch in port order.
    pub fn hosts_of(&self, switch: u32) -> &[u32] {
        &self.hosts[self.first_host[switch as usize] as usize..self.first_host[switch as usize + 1] as usize]
    }

    /// Addresses on a switch: those of its hosts, and its own.
    pub fn lids_of(&self, switch: u32) -> u64 {
        ((self.hosts_of(switch).len() as u64) << self.subnet.lmc) + 1
    }

    /// Switches by addresses, most first; equal ones in the manager's order.
    pub fn by_load(&self) -> Vec<u32> {
        let mut switches = self.order.clone();
        switches.sort_by_key(|&s| std::cmp::Reverse(self.hosts_of(s).len()));
        switches
    }

    /// Hosts in the order in which they are routed: switch by switch as in [`Self::by_load`], in port order.
    pub fn host_order(&self) -> Vec<u32> {
        self.by_load().iter().flat_map(|&s| self.hosts_of(s)).copied().collect()
    }

    /// Threads to work with.
    pub fn threads(&self) -> usize {
        match self.options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    /// Numbers of cables between all pairs of switches: to switch `t` from `s` at `t * n + s`; [`FAR`] where there is no way.
    pub fn hops(&self) -> Vec<u16> {
        let n = self.n_switches();
        let mut hops = vec![FAR; n * n];
        self.by_rows(&mut hops, n, |target, row| {
            let mut queue = vec![target as u32];
            row[target] = 0;
            let mut next = 0;
            while let Some(&at) = queue.get(next) {
                next += 1;
                for c in self.channels.of_switch(at) {
                    let to = self.channels.to[c] as usize;
                    if row[to] == FAR {
                        row[to] = row[at as usize] + 1;
                        queue.push(to as u32);
                    }
                }
            }
        });
        hops
    }

    /// Calls `fill(i, row)` for every row of `width` entries, on all threads; rows must not depend on each other.
    pub fn by_rows<T: Send>(&self, rows: &mut [T], width: usize, fill: impl Fn(usize, &mut [T]) + Sync) {
        if width == 0 || rows.is_empty() {
            return;
        }
        let n = rows.len() / width;
        let share = n.div_ceil(self.threads().min(n));
        if share == n {
            rows.chunks_mut(width).enumerate().for_each(|(i, row)| fill(i, row));
            return;
        }
        std::thread::scope(|scope| {
            for (part, rows) in rows.chunks_mut(share * width).enumerate() {
                let fill = &fill;
                scope.spawn(move || {
                    for (i, row) in rows.chunks_mut(width).enumerate() {
                        fill(part * share + i, row);
                    }
                });
            }
        });
    }

    /// Empty tables but for the ports of hosts at their own switches.
    pub fn tables(&self) -> Tables {
        let mut tables = Tables::empty(self.subnet);
        for (h, host) in self.subnet.hosts.iter().enumerate() {
            let paths = self.subnet.paths() as usize;
            let i = host.switch as usize * tables.n_addresses as usize + h * paths;
            tables.ports[i..i + paths].fill(host.port);
        }
        tables
    }

    /// A switch with hosts and a host that it cannot reach by the tables.
    pub fn unreached(&self, tables: &Tables) -> Option<(u32, u32)> {
        let paths = self.subnet.paths();
        self.without(|s, host| (0..paths).any(|path| tables.port(s, host * paths + path) == Tables::NONE))
    }

    /// A switch with hosts and a host that it reaches at none of its addresses.
    pub fn cut_off(&self, tables: &Tables) -> Option<(u32, u32)> {
        let paths = self.subnet.paths();
        self.without(|s, host| (0..paths).all(|path| tables.port(s, host * paths + path) == Tables::NONE))
    }

    /// The first switch with hosts and host of which `is_without` is true; of those that must have ways to each other.
    fn without(&self, is_without: impl Fn(u32, u32) -> bool) -> Option<(u32, u32)> {
        let mut pieces = vec![0; self.n_switches()];
        if self.options.parted {
            for (number, members) in self.subnet.pieces(|_, _| true).iter().enumerate() {
                members.iter().for_each(|&s| pieces[s as usize] = number);
            }
        }
        let piece = |s: u32| pieces[s as usize];
        let pairs = (0..self.n_switches() as u32)
            .filter(|&s| !self.hosts_of(s).is_empty())
            .flat_map(|s| (0..self.subnet.n_hosts()).map(move |host| (s, host)));
        let mut joined = pairs.filter(|&(s, host)| piece(s) == piece(self.subnet.hosts[host as usize].switch));
        joined.find(|&(s, host)| is_without(s, host))
    }

    pub fn name(&self, switch: u32) -> &str {
        &self.subnet.switches[switch as usize].name
    }

    pub fn refuse(&self, engine: RoutingEngine, reason: String, hint: &str) -> RouteError {
        RouteError {
            engine,
            reason,
            hint: hint.to_string(),
        }
    }
}

/// No way between two switches.
pub(super) const FAR: u16 = u16::MAX;

/// The number by which the manager's maps are ordered: the identifier's big-endian bytes read on a little-endian machine.
pub(super) fn map_key(guid: u64) -> u64 {
    guid.swap_bytes()
}
