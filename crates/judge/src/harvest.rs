//! What is asked of a run in the end: counts of its state, worst cases of its checks, loads of its links, digests of its past.
//!
//! Who holds a part of the state (one process all of it, a rank that of its routers) takes a harvest of that part. Harvests of ranks travel
//! as bytes and are merged on the first, so that no process needs the state of another. Everything here is a sum, the first by
//! router and port, or a list put into order by router: the parts that a run was in do not show.

use bytemuck::{Pod, Zeroable};
use des::checkpoint::{Pack, put, put_list, take, take_list};
use des::{Observe, Torn};
use fabric::memory::{self, MemoryRow};
use fabric::models::AnyFabric;
use fabric::mpi::{self, RankRow};
use fabric::network::{Network, Site};
use fabric::nic;
use fabric::observe::{Stats, Unsent, share_of_birth, share_of_size};
use fabric::packet::ends;
use fabric::state::{NONE, Parts, State};
use std::time::Duration;
use work::memory::state::Performed;
use work::workload::Message;

mod credits;
mod in_flight;
mod performed;
mod waits;

pub use credits::{ChannelCredit, CreditShare, CreditsApart};
pub use in_flight::InFlight;
pub use waits::Wait;

/// What is wanted besides what every run tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HarvestWanted {
    /// The load of every link.
    pub links: bool,
    /// The channels that wait for room.
    pub waits: bool,
    /// The messages born before this time (ps) that have not left their nodes.
    pub unsent: Option<u64>,
}

/// What a part of a run has come to.
#[derive(Clone, Debug, Default)]
pub struct Harvest {
    /// What was recorded.
    pub stats: Stats,
    /// Packets in pending events.
    pub in_flight: InFlight,
    /// Packets in queues, found by walking every queue.
    pub queued: InFlight,
    /// Packets in queues, as routers count them.
    pub counted: u64,
    /// Packets injected, as interfaces count them.
    pub sent: u64,
    /// The first router that has come to [`fault`](fabric::state::fault)s, and which.
    pub faults: Option<(u32, u32)>,
    /// Packets that left an output port.
    pub packet_hops: u64,
    /// The longest time for which a link was busy (ps), and the first such link.
    pub busiest: (u64, Option<NamedPort>),
    /// Output ports.
    pub ports: u64,
    /// The first output port that has carried more than its bandwidth allows.
    pub over: Option<NamedPort>,
    /// The first output port that has lost more than 1 % of its time to times that are whole picoseconds.
    pub rounded: Option<NamedPort>,
    /// The first channel whose credit is below zero or above the buffer's size.
    pub outside: Option<ChannelCredit>,
    /// The first channel that has not all of its credit.
    pub missing: Option<ChannelCredit>,
    /// Credit of channels whose other end is in another part, as this part knows of it, until [`Harvest::join_credits`].
    pub apart: CreditsApart,
    /// Routers with the digests of their events, in the order of the routers once the harvest is whole.
    pub pasts: Vec<(u32, u64)>,
    /// Loads of all links by router and port, if wanted.
    pub loads: Vec<Load>,
    /// Windows of links that were busy in them, by window, router and port, if wanted.
    pub windows: Vec<LinkWindow>,
    /// Channels that wait for room, if wanted.
    pub waits: Vec<Wait>,
    /// Messages that have not left their nodes, if wanted.
    pub unsent: Vec<Unsent>,
    /// MPI ranks by job and number.
    pub ranks: Vec<RankRow>,
    /// Memory nodes by number.
    pub memory: Vec<MemoryRow>,
    /// Accesses that they have performed, in no order, where values are checked.
    pub performed: Vec<Performed>,
    /// Bytes that came by each rail of the hosts, if they have several.
    pub rails: Vec<u64>,
    /// CPU time of the simulation, set-up excluded.
    pub cpu: Duration,
    /// Largest resident memory of a process so far in bytes, 0 where the system does not say.
    pub peak_memory: u64,
}

/// An output port with its name; the first by router and port is the least.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedPort {
    /// The router.
    pub router: u32,
    /// Its port; ejection ports follow the network ports.
    pub port: u32,
    /// `(0,1,0) x+`.
    pub name: String,
}

impl NamedPort {
    pub(crate) fn new(net: &Network, lp: u32, port: u32) -> NamedPort {
        NamedPort {
            router: net.sites[lp as usize].router,
            port,
            name: net.port_name(lp, port),
        }
    }
}

/// What a link has carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Load {
    /// Router that sends.
    pub router: u32,
    /// Its output port; ejection ports follow the network ports.
    pub port: u32,
    /// Router that receives; `u32::MAX` for a node.
    pub peer_router: u32,
    /// Link class.
    pub class: u32,
    /// As [`fabric::state::Port`] has them, ps.
    pub free: u64,
    /// Time (ps) it has been or will be busy.
    pub busy: u64,
    /// Packets sent.
    pub packets: u64,
    /// Bytes sent.
    pub bytes: u64,
}

/// Windows of a run at most: more than that no screen tells apart.
pub const MOST_WINDOWS: u64 = 1_024;

/// How long a link was busy in a window of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct LinkWindow {
    /// Which, from 0.
    pub window: u32,
    /// Router that sends.
    pub router: u32,
    /// Its output port; ejection ports follow the network ports.
    pub port: u32,
    /// Always 0.
    pub unused: u32,
    /// Time (ps) it was busy.
    pub busy: u64,
}

impl Load {
    /// The time (ps) for which it was busy until `end`. What a link has accepted may reach beyond; from there on it is busy without a gap.
    pub fn busy_until(&self, end: u64) -> u64 {
        self.busy - self.free.saturating_sub(end).min(self.busy)
    }
}

/// The lesser of two where there are two.
fn first<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl Harvest {
    /// The harvest of what `parts` hold; `digests` are those of their routers, in the order of the routers.
    pub fn reap(
        world: &AnyFabric,
        parts: &Parts<'_>,
        mut stats: Stats,
        in_flight: InFlight,
        digests: &[u64],
        wanted: HarvestWanted,
    ) -> Harvest {
        stats.settle();
        let net = world.net();
        let mut harvest = Harvest {
            stats,
            in_flight,
            apart: CreditsApart::of(parts),
            ..Harvest::default()
        };
        let mut routers = Vec::new();
        for state in parts.iter() {
            harvest.count(net, state);
            mpi::account::see(net, state, &mut harvest.ranks);
            memory::account::see(net, state, &mut harvest.memory);
            performed::see(net, state, &mut harvest.performed);
            for lp in state.routers.range() {
                let site = &net.sites[lp as usize];
                routers.push(site.router);
                harvest.see_messages(net, state, lp, site);
                let faults = state.routers.get(lp).faults;
                let found = (faults != 0).then_some((site.router, faults));
                harvest.faults = first(harvest.faults, found);
                harvest.see_ports(net, state, lp, site, wanted.links);
                harvest.see_credits(world, parts, state, lp);
                if wanted.waits {
                    waits::see(net, state, lp, &mut harvest.waits);
                }
                harvest.see_unsent(net, state, lp, site, wanted.unsent);
            }
        }
        routers.sort_unstable();
        harvest.pasts = routers.into_iter().zip(digests.iter().copied()).collect();
        harvest.put_in_order();
        harvest
    }

    /// What tells of the load of a run that goes on: the sums of its messages, those that wait at their sources, and how busy links were.
    pub fn of_load(net: &Network, parts: &Parts<'_>, sums: Stats) -> Harvest {
        let mut harvest = Harvest {
            stats: sums,
            ..Harvest::default()
        };
        for state in parts.iter() {
            for lp in state.routers.range() {
                let site = &net.sites[lp as usize];
                harvest.see_ports(net, state, lp, site, false);
                harvest.see_unsent(net, state, lp, site, None);
            }
        }
        harvest
    }

    fn count(&mut self, net: &Network, state: &State) {
        let heads = state.all_channels().map(|channel| channel.head);
        let lists = state.lists.as_slice().iter().chain(state.refused.as_slice());
        let lists = lists.map(|list| list.head);
        let inputs = state.inputs.as_slice().iter().map(|input| input.head);
        let channels = state.input_channels.as_slice().iter();
        let channels = channels.flat_map(|channel| [channel.first, channel.head]);
        let buffers = state.output_buffers.as_slice().iter();
        let channels = channels.chain(buffers.flat_map(|buffer| [buffer.first, buffer.head]));
        let sources = state.flit_sources.as_slice().iter().map(|source| source.head);
        for head in heads.chain(lists).chain(inputs).chain(channels).chain(sources) {
            let mut slot = head;
            while slot != NONE {
                self.queued.add(net, state.slots.get(slot));
                slot = state.links.get(slot).next;
            }
        }
        let routers = state.routers.as_slice().iter();
        self.counted += routers.map(|router| u64::from(router.queued)).sum::<u64>();
        self.sent += state.nics.as_slice().iter().map(|nic| nic.packets).sum::<u64>();
    }

    /// Counts the messages born by the end of the run that have not set out from the nodes of a router, and lists those born before `listed`.
    fn see_unsent(&mut self, net: &Network, state: &State, lp: u32, site: &Site, listed: Option<u64>) {
        let span = self.stats.span;
        let end = span.to.min(span.cut.saturating_add(1));
        for (place, node) in net.node_places(lp, site).zip(site.node..) {
            let mut next = 0;
            let mut see = |message: Message, count: u64| {
                let Message {
                    birth,
                    destination,
                    bytes,
                } = message;
                if birth < end {
                    self.stats.keep(node, birth, count);
                }
                if listed.is_some_and(|before| birth < before) {
                    for place in next..next + count {
                        self.unsent.push(Unsent {
                            source: node,
                            destination,
                            birth,
                            place,
                            bytes,
                        });
                    }
                    next += count;
                }
            };
            nic::waiting(state, place, |message| see(message, 1));
            net.workload
                .to_come(node, state.sources.get(place), (end, listed.is_some()), see);
        }
    }

    /// Messages of several packets that have set out and are not complete.
    fn see_messages(&mut self, net: &Network, state: &State, lp: u32, site: &Site) {
        nic::incomplete(net, state, lp, site, |node, message| {
            let (ends, label) = (ends(message.source, node), message.label);
            if message.birth != u64::MAX {
                self.queued.add_message(share_of_birth(ends, label, message.birth));
            }
            if message.sizeless == 0 {
                self.queued.add_message(share_of_size(ends, label, message.bytes));
            }
        });
    }

    /// The time a link has been busy is never more than the time until it is idle again, and its bytes fit that time.
    fn see_ports(&mut self, net: &Network, state: &State, lp: u32, site: &Site, links: bool) {
        let rails = net.workload.ranks().map_or(1, |plans| plans.rails);
        self.rails.resize(if rails > 1 { rails as usize } else { 0 }, 0);
        for local in 0..site.ports() {
            let port = state.link_of(site.port + local);
            let peer = &net.peers[(site.port + local) as usize];
            let bandwidth = net.classes[usize::from(peer.class())].bandwidth().0;
            // Late-admission routers hand chunks to their nodes without a link: class 0 has no time of its own there.
            let linked = peer.class() != 0 || net.model.nodes_have_links();
            let over = u128::from(port.bytes) * 8_000_000_000_000 > u128::from(port.free) * u128::from(bandwidth);
            if port.busy > port.free || (linked && over) {
                self.over = first(self.over.take(), Some(NamedPort::new(net, lp, local)));
            }
            // Time that was lost to whole picoseconds, against all the time until the link was idle.
            let exact = u128::from(port.bytes) * 8_000_000_000_000 / u128::from(bandwidth);
            let lost = u128::from(port.busy).saturating_sub(exact);
            let impaired = net.changes.as_ref().is_some_and(|changes| changes.impairs_links());
            let whole = net.classes[usize::from(peer.class())].is_in_bytes() && !net.model.sends_chunks() && !impaired;
            if whole && port.packets >= 100 && lost * 100 > u128::from(port.free) {
                self.rounded = first(self.rounded.take(), Some(NamedPort::new(net, lp, local)));
            }
            self.packet_hops += port.packets;
            // Of links that were busy for as long the first counts, in whatever order routers are looked at.
            let earlier = |at: &NamedPort| (site.router, local) < (at.router, at.port);
            let (most, at) = &self.busiest;
            if port.busy > *most || (port.busy == *most && at.as_ref().is_some_and(earlier)) {
                self.busiest = (port.busy, Some(NamedPort::new(net, lp, local)));
            }
            if rails > 1 && local >= u32::from(site.net) {
                self.rails[((local - u32::from(site.net)) % rails) as usize] += port.bytes;
            }
            self.ports += 1;
            if links {
                self.loads.push(Load {
                    router: site.router,
                    port: local,
                    peer_router: match local < u32::from(site.net) {
                        true => net.router_at(peer.lp()),
                        false => u32::MAX,
                    },
                    class: peer.class().into(),
                    free: port.free,
                    busy: port.busy,
                    packets: port.packets,
                    bytes: port.bytes,
                });
            }
        }
    }

    /// Adds the harvest of another part; [`Harvest::put_in_order`] is due after the last one.
    pub fn merge(&mut self, other: Harvest) {
        // Every field by name: a new one is missing here until it is merged as well.
        let Harvest {
            stats,
            in_flight,
            queued,
            counted,
            sent,
            faults,
            packet_hops,
            busiest,
            ports,
            over,
            rounded,
            outside,
            missing,
            // Judged in its own part.
            apart: _,
            pasts,
            loads,
            windows,
            waits,
            unsent,
            ranks,
            memory,
            performed,
            rails,
            cpu,
            peak_memory,
        } = other;
        self.stats.merge(stats);
        for (mine, theirs) in [(&mut self.in_flight, in_flight), (&mut self.queued, queued)] {
            mine.merge(theirs);
        }
        self.counted += counted;
        self.sent += sent;
        self.faults = first(self.faults, faults);
        self.packet_hops += packet_hops;
        if busiest.0 > self.busiest.0 || (busiest.0 == self.busiest.0 && busiest.1 < self.busiest.1) {
            self.busiest = busiest;
        }
        self.ports += ports;
        self.over = first(self.over.take(), over);
        self.rounded = first(self.rounded.take(), rounded);
        self.outside = first(self.outside.take(), outside);
        self.missing = first(self.missing.take(), missing);
        self.pasts.extend(pasts);
        self.loads.extend(loads);
        self.windows.extend(windows);
        self.waits.extend(waits);
        self.unsent.extend(unsent);
        self.ranks.extend(ranks);
        self.memory.extend(memory);
        self.performed.extend(performed);
        self.rails.resize(self.rails.len().max(rails.len()), 0);
        self.rails
            .iter_mut()
            .zip(rails)
            .for_each(|(mine, theirs)| *mine += theirs);
        self.cpu += cpu;
        self.peak_memory = self.peak_memory.max(peak_memory);
    }

    /// Takes the memory for what the parts of all ranks tell.
    pub fn make_room(&mut self, net: &Network) {
        let of_all = |have: usize, all: u32| match have {
            0 => 0,
            have => (all as usize).saturating_sub(have),
        };
        self.loads.reserve_exact(of_all(self.loads.len(), net.n_ports()));
        self.pasts.reserve_exact(of_all(self.pasts.len(), net.n_routers()));
    }

    /// Puts lists into the order of the routers.
    pub fn put_in_order(&mut self) {
        self.pasts.sort_unstable();
        self.loads.sort_unstable_by_key(|load| (load.router, load.port));
        self.windows
            .sort_unstable_by_key(|row| (row.window, row.router, row.port));
        self.ranks.sort_unstable();
        self.memory.sort_unstable_by_key(|row| row.node);
    }

    /// Packets and messages that have set out and not arrived.
    pub fn under_way(&self) -> InFlight {
        let mut under_way = self.queued;
        under_way.merge(self.in_flight);
        under_way
    }

    /// One digest of everything that happened.
    pub fn history(&self) -> u64 {
        let digests: Vec<u64> = self.pasts.iter().map(|&(_, digest)| digest).collect();
        des::engine::history(&digests)
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_list(out, text.as_bytes());
}

fn take_text(input: &mut &[u8]) -> Result<String, Torn> {
    String::from_utf8(take_list(input)?).map_err(|_| Torn("a name in it is no text"))
}

fn put_option<T: Pack>(out: &mut Vec<u8>, value: &Option<T>) {
    put(out, u64::from(value.is_some()));
    value.iter().for_each(|value| value.pack(out));
}

fn take_option<T: Pack>(input: &mut &[u8]) -> Result<Option<T>, Torn> {
    match take::<u64>(input)? {
        0 => Ok(None),
        _ => T::unpack(input).map(Some),
    }
}

impl Pack for NamedPort {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, [self.router, self.port]);
        put_text(out, &self.name);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let [router, port] = take(input)?;
        let name = take_text(input)?;
        Ok(NamedPort { router, port, name })
    }
}

impl Pack for ChannelCredit {
    fn pack(&self, out: &mut Vec<u8>) {
        self.place.pack(out);
        put(out, self.vc);
        put(out, self.bytes);
        put(out, self.full);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        Ok(ChannelCredit {
            place: NamedPort::unpack(input)?,
            vc: take(input)?,
            bytes: take(input)?,
            full: take(input)?,
        })
    }
}

impl Pack for Wait {
    fn pack(&self, out: &mut Vec<u8>) {
        self.place.pack(out);
        put(out, self.vc);
        put(out, self.to);
        put_list(out, &self.holds);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        Ok(Wait {
            place: NamedPort::unpack(input)?,
            vc: take(input)?,
            to: take(input)?,
            holds: take_list(input)?,
        })
    }
}

impl Pack for Harvest {
    fn pack(&self, out: &mut Vec<u8>) {
        self.stats.pack(out);
        for count in [self.in_flight, self.queued] {
            put(out, [count.packets, count.bytes, count.flow, count.message_flow]);
        }
        put(out, [self.counted, self.sent, self.packet_hops, self.ports]);
        let (router, faults) = self.faults.unwrap_or_default();
        put(out, [router, faults]);
        put(out, self.busiest.0);
        put_option(out, &self.busiest.1);
        put_option(out, &self.over);
        put_option(out, &self.rounded);
        put_option(out, &self.outside);
        put_option(out, &self.missing);
        put(out, self.pasts.len() as u64);
        for &(router, digest) in &self.pasts {
            put(out, router);
            put(out, digest);
        }
        put_list(out, &self.loads);
        put_list(out, &self.windows);
        put(out, self.waits.len() as u64);
        self.waits.iter().for_each(|wait| wait.pack(out));
        put_list(out, &self.unsent);
        put_list(out, &self.ranks);
        put_list(out, &self.memory);
        put_list(out, &self.performed);
        put_list(out, &self.rails);
        put(out, [self.cpu.as_nanos() as u64, self.peak_memory]);
    }

    fn unpack(input: &mut &[u8]) -> Result<Self, Torn> {
        let stats = Stats::unpack(input)?;
        let mut count = || {
            take::<[u64; 4]>(input).map(|[packets, bytes, flow, message_flow]| InFlight {
                packets,
                bytes,
                flow,
                message_flow,
            })
        };
        let (in_flight, queued) = (count()?, count()?);
        let [counted, sent, packet_hops, ports] = take(input)?;
        let [router, faults] = take(input)?;
        let faults = (faults != 0).then_some((router, faults));
        let busiest = (take(input)?, take_option(input)?);
        let (over, rounded) = (take_option(input)?, take_option(input)?);
        let (outside, missing) = (take_option(input)?, take_option(input)?);
        let mut pasts = Vec::new();
        for _ in 0..take::<u64>(input)? {
            pasts.push((take(input)?, take(input)?));
        }
        let (loads, windows) = (take_list(input)?, take_list(input)?);
        let mut waits = Vec::new();
        for _ in 0..take::<u64>(input)? {
            waits.push(Wait::unpack(input)?);
        }
        let unsent = take_list(input)?;
        let (ranks, memory) = (take_list(input)?, take_list(input)?);
        let (performed, rails) = (take_list(input)?, take_list(input)?);
        let [cpu, peak_memory] = take(input)?;
        Ok(Harvest {
            stats,
            in_flight,
            queued,
            counted,
            sent,
            faults,
            packet_hops,
            busiest,
            ports,
            over,
            rounded,
            outside,
            missing,
            apart: CreditsApart::default(),
            pasts,
            loads,
            windows,
            waits,
            unsent,
            ranks,
            memory,
            performed,
            rails,
            cpu: Duration::from_nanos(cpu),
            peak_memory,
        })
    }
}
