//! Runs of ranks that repeat themselves: which fields of all records are times, numbers of messages or counters, and which ones handlers ask for.
//!
//! Every record is taken apart by all of its fields, so that a new one does not compile until it is said what it is. What is not known to repeat
//! is refused by [`may_repeat`] before the run, or differs.

use crate::envelope::{Envelope, Notice, Purpose, SENT, left_message, notice_later, read, with_left};
use crate::incoming;
use crate::models::AnyFabric;
use crate::mpi::account::ranks_at;
use crate::mpi::{items, peer_places};
use crate::network::Network;
use crate::nic::returns::is_ample;
use crate::packet::{Kind, Label, NUMBERS, Packet};
use crate::state::crossbar::{Arbiter, Crossing, Input};
use crate::state::lists::List;
use crate::state::returns;
use crate::state::{Channel, ControlQueue, Incoming, Link, NONE, Nic, OutLink, Port, Post, Router, State};
use des::recurrence::{Differs, Leap, Recurring};
use des::{Event, NoJournal, Time};
use std::collections::HashMap;
use work::ranks::Plan;
use work::ranks::state::{Item, PeerGroup, PeerRank, Rank, item};
use work::workload::{Ledger, Source};

/// Numbers of messages that are one block: what events fold to is a sum as long as numbers stay within.
const BLOCK: u32 = 26;
const _: () = assert!(NUMBERS.is_power_of_two() && NUMBERS.ilog2() > BLOCK);
/// Periods that no message of a run which repeats itself is under way for.
const OLDEST: u32 = 64;

/// Why runs of a network do not repeat themselves, or are not known to; `None` if they may.
pub fn may_repeat(net: &Network) -> Option<&'static str> {
    match cycle_of_draws(net) {
        None => Some("the routing draws ways at random, or by the time"),
        Some(cycle) => net.is_unlike(cycle),
    }
}

/// Messages of a node after which the routing does the same; `None` if that is never so.
fn cycle_of_draws(net: &Network) -> Option<u32> {
    match net.routing.draws(&net.topology) {
        _ if net.routing.news().is_some() => None,
        false => Some(1),
        true => net.routing.draw_cycle(),
    }
}

/// Where a rank is, for whoever looks for the length of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankLap {
    /// Its job.
    pub job: usize,
    /// Name of the router that it is at.
    pub home: u32,
    /// Part of the job's work.
    pub phase: u32,
    /// Iteration of it.
    pub iteration: u32,
    /// Iterations after which it is the same again, if it ever is.
    pub each: Option<u32>,
    /// Iterations that are left, this one included.
    pub left: u32,
    /// When its iteration began (ps).
    pub turned: u64,
}

/// Where the first rank of each job is that has work to do.
pub fn laps(net: &Network, states: &[&State]) -> Vec<RankLap> {
    let Some(plans) = net.workload.ranks() else {
        return Vec::new();
    };
    let cycle = cycle_of_draws(net).unwrap_or(1);
    let first_of = |(job, plan): (usize, &Plan)| {
        let (node, local) = plan.locate(0);
        let lp = net.place_of_node(node);
        let slot = plans.first_slot(net.node_place(lp, node)) + u32::from(local);
        let holds = |state: &&&State| state.mpi.ranks.range().contains(&slot);
        let rank = *states.iter().find(holds)?.mpi.ranks.get(slot);
        let phase = plan.phases.get(rank.phase as usize)?;
        Some(RankLap {
            job,
            home: net.sites[lp as usize].router,
            phase: rank.phase,
            iteration: rank.iteration,
            // Whatever it sends in one: after so many iterations it has sent a whole number of cycles.
            each: phase.program.repeats_after().map(|each| each.saturating_mul(cycle)),
            left: phase.iterations.saturating_sub(rank.iteration),
            turned: rank.turned,
        })
    };
    let jobs = plans.jobs.iter().enumerate();
    let jobs = jobs.filter_map(|(job, plan)| Some((job, plan.as_ref()?)));
    jobs.filter_map(first_of).collect()
}

/// Two ranks of a pair: node and number there of the one that sends, and of the one that it sends to.
type PairOfRanks = [(u32, u8); 2];

/// How numbers grow from period to period.
#[derive(Debug)]
pub struct Strides {
    /// Messages of each node, by place.
    numbers: Vec<u32>,
    /// Messages from rank to rank, whose numbers have 16 bits.
    pairs: HashMap<PairOfRanks, u16>,
    /// Most periods for which all goes on so.
    most: u64,
}

impl Strides {
    /// The stride of a number of a message between the ranks of a pair, if the message is one like it a period later.
    fn check(&self, pair: PairOfRanks, first: u16, second: u16) -> Result<u16, Differs> {
        let stride = second.wrapping_sub(first);
        match self.pairs.get(&pair) {
            Some(&known) if known == stride => Ok(stride),
            _ => Err(Differs("the number of a message of a rank")),
        }
    }
}

/// The numbers of records and events between two moments.
struct LaterNumbers<'a> {
    net: &'a Network,
    strides: &'a Strides,
    leap: &'a Leap,
}

impl LaterNumbers<'_> {
    /// A number of 16 bits that grows by `stride` in a period, at the wanted moment.
    fn sequence(&self, second: u16, stride: u16) -> u16 {
        second.wrapping_add(stride.wrapping_mul(self.leap.times as u16))
    }

    /// The label of a message of a node, at the wanted moment.
    fn label(&self, source: u32, first: Label, second: Label) -> Result<Label, Differs> {
        let place = self.net.node_place(self.net.place_of_node(source), source);
        let stride = self.strides.numbers[place as usize];
        let on = |label: Label, by: u32| label & !(NUMBERS - 1) | label.wrapping_add(by) & (NUMBERS - 1);
        match on(first, stride) == second {
            true => Ok(on(second, stride.wrapping_mul(self.leap.times as u32))),
            false => Err(Differs("the number of a message")),
        }
    }

    /// The word of an envelope of a message between two nodes.
    fn envelope(&self, [source, node]: [u32; 2], first: (u64, u8), second: (u64, u8)) -> Result<u64, Differs> {
        use crate::packet::EnvelopeWords;
        let open = |(word, rest)| Envelope::from_words(EnvelopeWords { word, rest });
        let (Some(was), Some(is)) = (open(first), open(second)) else {
            // None, or half of one.
            return self.leap.same(first, second).map(|(word, _)| word);
        };
        let there = [(source, is.from), (node, is.to)];
        let pair = match is.purpose {
            // They answer a message of the other one.
            Purpose::Clear | Purpose::Done => [there[1], there[0]],
            Purpose::Eager
            | Purpose::Request
            | Purpose::Data
            | Purpose::Empty
            | Purpose::EmptyData
            | Purpose::Offer => there,
        };
        let stride = self.strides.check(pair, was.sequence, is.sequence)?;
        self.leap
            .same(Envelope { sequence: 0, ..was }, Envelope { sequence: 0, ..is })?;
        let later = Envelope {
            sequence: self.sequence(is.sequence, stride),
            ..is
        };
        Ok(later.words().word)
    }
}

impl Recurring for AnyFabric {
    type Strides = Strides;

    fn strides(&self, first: &State, second: &State) -> Result<Strides, Differs> {
        let net = self.net();
        let ledgers = first.ledgers.as_slice().iter().zip(second.ledgers.as_slice());
        let numbers = ledgers.map(|(first, second)| second.number.wrapping_sub(first.number));
        let mut strides = Strides {
            numbers: numbers.collect(),
            pairs: HashMap::new(),
            most: u64::MAX,
        };
        for (stride, ledger) in strides.numbers.iter().zip(second.ledgers.as_slice()) {
            strides.most = strides
                .most
                .min(room_of_numbers(ledger.number & (NUMBERS - 1), *stride));
        }
        // Where draws begin again after so many messages, they are as before only at the same place of that cycle.
        let cycle = cycle_of_draws(net).unwrap_or(1);
        if !strides.numbers.iter().all(|stride| stride.is_multiple_of(cycle)) {
            return Err(Differs("where nodes are in the cycle of draws"));
        }
        let Some(plans) = net.workload.ranks() else {
            return Ok(strides);
        };
        let mut expected = HashMap::new();
        for lp in 0..net.sites.len() as u32 {
            for (slot, plan, number) in ranks_at(net, lp) {
                let (was, is) = (first.mpi.ranks.get(slot), second.mpi.ranks.get(slot));
                strides.most = strides.most.min(room_of_iterations(plan, was, is)?);
                let here = plan.locate(number);
                let peers = peer_places(plans, first, slot).zip(peer_places(plans, second, slot));
                for (old, new) in peers {
                    let (old, new) = (first.mpi.peer(old), second.mpi.peer(new));
                    let there = plan.locate(new.rank);
                    strides.pairs.insert([here, there], new.sent.wrapping_sub(old.sent));
                    expected.insert([there, here], new.expected.wrapping_sub(old.expected));
                }
            }
        }
        // What is sent is expected.
        let agree = |(pair, stride): (&PairOfRanks, &u16)| strides.pairs.get(pair).is_none_or(|sent| sent == stride);
        match expected.iter().all(agree) {
            true => Ok(strides),
            false => Err(Differs("how many messages are expected")),
        }
    }

    fn most(&self, strides: &Strides) -> u64 {
        strides.most
    }

    fn recur(&self, first: &State, second: &mut State, strides: &Strides, leap: &Leap) -> Result<(), Differs> {
        let net = self.net();
        let numbers = LaterNumbers { net, strides, leap };
        own_columns(first, second, matches!(self, AnyFabric::OutputBuffered(_)))?;
        leap.keeps_to(self.clock())?;
        pairs(&first.routers, &mut second.routers, |a, b| router(leap, a, b))?;
        pairs(&first.waiting, &mut second.waiting, |a, b| leap.same(*a, *b))?;
        pairs(&first.turns, &mut second.turns, |a, b| leap.same(*a, *b))?;
        crossbars(net, first, second, leap)?;
        queues(net, first, second, leap)?;
        beside_buffers(first, second, leap)?;
        pairs(&first.ports, &mut second.ports, |a, b| port(leap, a, b))?;
        pairs(&first.out_links, &mut second.out_links, |a, b| out_link(leap, a, b))?;
        pairs(&first.channels, &mut second.channels, |a, b| channel(leap, a, b))?;
        pairs(&first.slots, &mut second.slots, |a, b| packet(&numbers, a, b))?;
        pairs(&first.due, &mut second.due, |a, b| leap.time(*a, *b))?;
        pairs(&first.sources, &mut second.sources, |a, b| source(leap, a, b))?;
        pairs(&first.ledgers, &mut second.ledgers, |a, b| ledger(leap, a, b))?;
        for lp in 0..net.sites.len() as u32 {
            let site = net.sites[lp as usize];
            for (place, node) in net.node_places(lp, &site).zip(site.node_numbers()) {
                posts(&numbers, (place, node), first, second)?;
                nic(&numbers, (lp, place, node), first, second)?;
                arriving(&numbers, (lp, place, node), first, second)?;
            }
        }
        ranks(&numbers, first, second)
    }

    fn recur_event(&self, first: &Packet, second: &Packet, strides: &Strides, leap: &Leap) -> Result<Packet, Differs> {
        let net = self.net();
        event(&LaterNumbers { net, strides, leap }, first, second)
    }
}

/// So many periods a number may grow until it leaves its block, or a message that is under way has been in another.
fn room_of_numbers(number: u32, stride: u32) -> u64 {
    let place = number & ((1 << BLOCK) - 1);
    let back = stride.saturating_mul(OLDEST);
    if stride == 0 {
        return u64::MAX;
    }
    match number >> BLOCK != 0 && place < back {
        true => 0,
        false => u64::from(((1 << BLOCK) - 1 - place) / stride),
    }
}

/// So many periods a rank can go on as it does before it is done with its part of the work.
fn room_of_iterations(plan: &Plan, first: &Rank, second: &Rank) -> Result<u64, Differs> {
    let stride = second.iteration.wrapping_sub(first.iteration);
    if first.phase != second.phase || stride == 0 {
        return Ok(u64::MAX);
    }
    let phase = &plan.phases[second.phase as usize];
    let each = phase.program.repeats_after();
    if each.is_none_or(|each| !stride.is_multiple_of(each)) {
        return Err(Differs("work that is another in every iteration"));
    }
    let left = phase.iterations.saturating_sub(second.iteration + 1);
    Ok(u64::from(left / stride))
}

/// Replaces each record of a column by what it is later.
pub(crate) fn pairs<T: bytemuck::Pod>(
    first: &des::Column<T>,
    second: &mut des::Column<T>,
    later: impl Fn(&T, &T) -> Result<T, Differs>,
) -> Result<(), Differs> {
    if first.len() != second.len() {
        return Err(Differs("how much is kept"));
    }
    for (first, second) in first.as_slice().iter().zip(second.as_mut_slice()) {
        *second = later(first, second)?;
    }
    Ok(())
}

/// Whether all there is are the columns that this knows: those of other router models with their own, of graphs and of memory nodes are empty.
/// What waits beside output buffers, and what these hold, is known of routers that have such.
pub(crate) fn own_columns(first: &State, second: &State, has_output_buffers: bool) -> Result<(), Differs> {
    let State {
        routers: _,
        waiting: _,
        // Follows from the rest.
        shut: _,
        ports: _,
        out_links: _,
        channels: _,
        inlets,
        slots: _,
        links: _,
        nics: _,
        returns: _,
        due: _,
        sources: _,
        ledgers: _,
        posts: _,
        controls: _,
        incoming_roots: _,
        incoming_ways: _,
        incoming: _,
        lists,
        refused,
        held,
        inputs: _,
        crossings: _,
        arriving: _,
        arbiters: _,
        input_channels,
        output_channels,
        output_buffers,
        channel_sets,
        switch_ports,
        flit_sources,
        clocks,
        told,
        turns: _,
        mpi,
        memory: _,
    } = second;
    let of_buffers = if has_output_buffers {
        0
    } else {
        refused.len() + held.len()
    };
    let others = [
        inlets.len(),
        lists.len(),
        of_buffers,
        input_channels.len(),
        output_channels.len(),
        output_buffers.len(),
        channel_sets.len(),
        switch_ports.len(),
        flit_sources.len(),
        clocks.len(),
        told.len(),
        mpi.begun.len(),
        mpi.graph.progress.len(),
        first.mpi.begun.len(),
    ];
    match others.iter().all(|&len| len == 0) {
        true => Ok(()),
        false => Err(Differs(
            "a router model, or a collective that goes on by itself: it is not known how they repeat",
        )),
    }
}

fn router(leap: &Leap, first: &Router, second: &Router) -> Result<Router, Differs> {
    // Free records are as they were made.
    let Router {
        queued,
        free_slot,
        free_post,
        free_incoming,
        free_ways,
        free_returns,
        faults,
        unused,
    } = *second;
    Ok(Router {
        queued: leap.same(first.queued, queued)?,
        free_slot,
        free_post,
        free_incoming,
        free_ways,
        free_returns,
        faults: leap.same(first.faults, faults)?,
        unused,
    })
}

fn port(leap: &Leap, first: &Port, second: &Port) -> Result<Port, Differs> {
    let OutLink {
        free,
        busy,
        packets,
        bytes,
    } = out_link(leap, &first.link(), &second.link())?;
    Ok(Port {
        free,
        busy,
        channels: leap.same(first.channels, second.channels)?,
        packets,
        mark: leap.same(first.mark, second.mark)?,
        bytes,
        sequence: leap.count(first.sequence, second.sequence)?,
        served: leap.same(first.served, second.served)?,
        waiting: leap.same(first.waiting, second.waiting)?,
        extra: leap.same(first.extra, second.extra)?,
    })
}

fn out_link(leap: &Leap, first: &OutLink, second: &OutLink) -> Result<OutLink, Differs> {
    Ok(OutLink {
        free: leap.until(first.free, second.free)?,
        busy: leap.sum(first.busy, second.busy)?,
        packets: leap.sum(first.packets, second.packets)?,
        bytes: leap.sum(first.bytes, second.bytes)?,
    })
}

fn channel(leap: &Leap, first: &Channel, second: &Channel) -> Result<Channel, Differs> {
    Ok(Channel {
        head: leap.same(first.head, second.head)?,
        tail: leap.same(first.tail, second.tail)?,
        credit: leap.same(first.credit, second.credit)?,
    })
}

/// What input-queued routers are at. Stamps of queues are asked for their order alone, which new ones continue.
fn crossbars(net: &Network, first: &State, second: &mut State, leap: &Leap) -> Result<(), Differs> {
    if first.inputs.is_empty() {
        return Ok(());
    }
    for site in net.sites.iter() {
        let own = site.port * net.vcs..(site.port + site.ports()) * net.vcs;
        let order = |state: &State| {
            let mut order: Vec<u32> = own.clone().collect();
            order.sort_by_key(|&index| state.inputs.get(index).stamp);
            order
        };
        leap.same(order(first), order(second))?;
    }
    for index in 0..first.inputs.len() as u32 {
        waiting_packets(first.inputs.get(index).head, first, second, leap)?;
    }
    pairs(&first.inputs, &mut second.inputs, |a, b| input(leap, a, b))?;
    pairs(&first.crossings, &mut second.crossings, |a, b| {
        Ok(Crossing {
            input_free: leap.until(a.input_free, b.input_free)?,
            output_free: leap.until(a.output_free, b.output_free)?,
            turn: leap.until(a.turn, b.turn)?,
            heads: leap.same(a.heads, b.heads)?,
        })
    })?;
    pairs(&first.arriving, &mut second.arriving, |a, b| leap.same(*a, *b))?;
    pairs(&first.arbiters, &mut second.arbiters, |a, b| {
        Ok(Arbiter {
            due: leap.until(a.due, b.due)?,
            turn: leap.until(a.turn, b.turn)?,
            grants: b.grants,
        })
    })
}

/// What output buffers hold, and the packets that wait for room in them, whose numbers in their lists are not asked for.
fn beside_buffers(first: &State, second: &mut State, leap: &Leap) -> Result<(), Differs> {
    pairs(&first.held, &mut second.held, |a, b| leap.same(*a, *b))?;
    for list in first.refused.as_slice() {
        waiting_packets(list.head, first, second, leap)?;
    }
    pairs(&first.refused, &mut second.refused, |a, b| {
        Ok(List {
            head: leap.same(a.head, b.head)?,
            tail: leap.same(a.tail, b.tail)?,
        })
    })
}

/// The packets of an input queue wait in the same places.
fn waiting_packets(mut slot: u32, first: &State, second: &State, leap: &Leap) -> Result<(), Differs> {
    while slot != NONE {
        if slot as usize >= first.links.len() || slot as usize >= second.links.len() {
            return Err(Differs("how much waits"));
        }
        slot = leap.same(first.links.get(slot).next, second.links.get(slot).next)?;
    }
    Ok(())
}

fn input(leap: &Leap, first: &Input, second: &Input) -> Result<Input, Differs> {
    let empty = first.head == NONE && second.head == NONE;
    let held = leap.same(first.held, second.held)?;
    let head = leap.same(first.head, second.head)?;
    if empty {
        // What the last packet wanted is asked for no longer.
        return Ok(Input { held, ..*second });
    }
    Ok(Input {
        stamp: second.stamp,
        held,
        ready: leap.until(first.ready, second.ready)?,
        head,
        tail: leap.same(first.tail, second.tail)?,
        output: leap.same(first.output, second.output)?,
        room: leap.same(first.room, second.room)?,
        vc: leap.same(first.vc, second.vc)?,
        phase: leap.same(first.phase, second.phase)?,
        spare: second.spare,
    })
}

/// The numbers of packets that wait in queues, which grow as those of their port do; before the ports are changed.
fn queues(net: &Network, first: &State, second: &mut State, leap: &Leap) -> Result<(), Differs> {
    let alike = first.links.len() == second.links.len() && first.ports.len() == second.ports.len();
    if !alike {
        return Err(Differs("how much waits"));
    }
    for port in first.ports.range() {
        let stride = second
            .ports
            .get(port)
            .sequence
            .wrapping_sub(first.ports.get(port).sequence);
        for vc in 0..net.vcs {
            let mut slot = first.channel_of(port, vc, net.vcs).head;
            while slot != NONE {
                let (was, is) = (*first.links.get(slot), *second.links.get(slot));
                if is.sequence.wrapping_sub(was.sequence) != stride {
                    return Err(Differs("the order of what waits"));
                }
                let later = Link {
                    next: leap.same(was.next, is.next)?,
                    sequence: leap.count(was.sequence, is.sequence)?,
                };
                second.links.set(&mut NoJournal, slot, later);
                slot = was.next;
            }
        }
    }
    Ok(())
}

fn source(leap: &Leap, first: &Source, second: &Source) -> Result<Source, Differs> {
    Ok(Source::new(
        leap.sum(first.made, second.made)?,
        leap.until(first.clock, second.clock)?,
    ))
}

fn ledger(leap: &Leap, first: &Ledger, second: &Ledger) -> Result<Ledger, Differs> {
    Ok(Ledger {
        taken: leap.same(first.taken, second.taken)?,
        received: leap.same(first.received, second.received)?,
        number: leap.number(first.number, second.number),
    })
}

/// The posted messages of a node.
fn posts(
    numbers: &LaterNumbers<'_>,
    (place, node): (u32, u32),
    first: &State,
    second: &mut State,
) -> Result<(), Differs> {
    let leap = numbers.leap;
    let mut list = |mut head: u32| {
        while head != NONE {
            if head as usize >= first.posts.len() || head as usize >= second.posts.len() {
                return Err(Differs("how much is posted"));
            }
            let (was, is) = (*first.posts.get(head), *second.posts.get(head));
            let ends = [node, is.destination];
            let later = Post {
                birth: leap.time(was.birth, is.birth)?,
                bytes: leap.same(was.bytes, is.bytes)?,
                destination: leap.same(was.destination, is.destination)?,
                next: leap.same(was.next, is.next)?,
                mark: leap.same(was.mark, is.mark)?,
                rest: leap.same(was.rest, is.rest)?,
                word: numbers.envelope(ends, (was.word, was.rest as u8), (is.word, is.rest as u8))?,
            };
            second.posts.set(&mut NoJournal, head, later);
            head = was.next;
        }
        Ok(())
    };
    list(first.nics.get(place).post_head)?;
    match first.controls.is_empty() {
        true => Ok(()),
        false => list(first.controls.get(place).head),
    }
}

/// What a node's interface is at.
fn nic(
    numbers: &LaterNumbers<'_>,
    (lp, place, node): (u32, u32, u32),
    first: &State,
    second: &mut State,
) -> Result<(), Differs> {
    let leap = numbers.leap;
    let credit = room(numbers, (lp, place), first, second)?;
    let (was, is) = (first.nics.get(place), *second.nics.get(place));
    let idle = is.birth == u64::MAX;
    let later = Nic {
        free: leap.until(was.free, is.free)?,
        birth: leap.time(was.birth, is.birth)?,
        left: if idle { is.left } else { leap.same(was.left, is.left)? },
        ready: leap.until(was.ready, is.ready)?,
        packets: leap.sum(was.packets, is.packets)?,
        target: leap.same(was.target, is.target)?,
        part: leap.same(was.part, is.part)?,
        credit,
        post_head: leap.same(was.post_head, is.post_head)?,
        post_tail: leap.same(was.post_tail, is.post_tail)?,
        label: if idle {
            is.label
        } else {
            numbers.label(node, was.label, is.label)?
        },
    };
    second.nics.set(&mut NoJournal, place, later);
    if first.controls.is_empty() {
        return Ok(());
    }
    let (was, is) = (first.controls.get(place), *second.controls.get(place));
    let later = ControlQueue {
        left: leap.same(was.left, is.left)?,
        head: leap.same(was.head, is.head)?,
        tail: leap.same(was.tail, is.tail)?,
        part: leap.same(was.part, is.part)?,
        label: if is.part == 0 {
            is.label
        } else {
            numbers.label(node, was.label, is.label)?
        },
    };
    second.controls.set(&mut NoJournal, place, later);
    Ok(())
}

/// The room that a node has, with what is on its way to it: the same at both moments, or so much that what has been counted before it came, which depends
/// on the engine's windows, is nothing that can be told.
fn room(
    numbers: &LaterNumbers<'_>,
    (lp, place): (u32, u32),
    first: &State,
    second: &mut State,
) -> Result<i32, Differs> {
    let LaterNumbers { net, leap, .. } = *numbers;
    if second.returns.is_empty() {
        return leap.same(first.nics.get(place).credit, second.nics.get(place).credit);
    }
    let (was, is) = (leap.from, leap.from + leap.period);
    let (before, were) = returns::settled(first, place, was);
    let (credit, are) = returns::settled(second, place, is);
    let moved = were.iter().map(|&(time, bytes)| (time + leap.period, bytes));
    if before != credit || !moved.eq(are.iter().copied()) {
        leap.same(returns::in_all(first, place), returns::in_all(second, place))?;
        let is_ample = |st: &State, coming: &[(u64, u32)], now: u64| {
            let last = coming.last().map_or(now, |&(time, _)| time);
            is_ample(&net.interface, (st.nics.get(place), *st.due.get(place)), now, last)
        };
        leap.same(true, is_ample(first, &were, was) && is_ample(second, &are, is))?;
    }
    let j = &mut NoJournal;
    returns::take(second, j, lp, place, u64::MAX);
    for (time, bytes) in are {
        returns::add(second, j, (lp, place), leap.later(time)?, bytes);
    }
    Ok(credit)
}

/// The messages on their way to a node, which are found by their labels: they get new places.
fn arriving(
    numbers: &LaterNumbers<'_>,
    (lp, place, node): (u32, u32, u32),
    first: &State,
    second: &mut State,
) -> Result<(), Differs> {
    let (net, leap) = (numbers.net, numbers.leap);
    let of = |state: &State| {
        let mut entries: Vec<Incoming> = Vec::new();
        for root in net.buckets(place) {
            incoming::behind(state, root, &mut |slot| entries.push(*state.incoming.get(slot)));
        }
        // By their age, which numbers that have gone round have as well.
        entries.sort_by_key(|entry| {
            let place = net.node_place(net.place_of_node(entry.source), entry.source);
            let age = state.ledgers.get(place).number.wrapping_sub(entry.label) & (NUMBERS - 1);
            (entry.source, entry.label & !(NUMBERS - 1), age)
        });
        entries
    };
    let (old, new) = (of(first), of(second));
    if old.len() != new.len() {
        return Err(Differs("how many messages are on their way"));
    }
    let mut later = Vec::with_capacity(new.len());
    for (was, is) in old.iter().zip(&new) {
        let zero = was.latest == 0 && is.latest == 0;
        later.push(Incoming {
            left: leap.same(was.left, is.left)?,
            bytes: leap.same(was.bytes, is.bytes)?,
            birth: leap.time(was.birth, is.birth)?,
            latest: if zero { 0 } else { leap.time(was.latest, is.latest)? },
            source: leap.same(was.source, is.source)?,
            next: NONE,
            label: numbers.label(is.source, was.label, is.label)?,
            hops: leap.same(was.hops, is.hops)?,
            about: numbers.envelope([is.source, node], (was.about, was.rest), (is.about, is.rest))?,
            parts: leap.same(was.parts, is.parts)?,
            delivered: leap.same(was.delivered, is.delivered)?,
            sizeless: leap.same(was.sizeless, is.sizeless)?,
            rest: leap.same(was.rest, is.rest)?,
            lost: leap.same(was.lost, is.lost)?,
        });
    }
    let j = &mut NoJournal;
    for root in net.buckets(place) {
        second.incoming_roots.set(j, root, NONE);
    }
    for entry in later {
        let slot = incoming::record(net, second, j, lp, (entry.source, node, entry.label));
        second.incoming.set(j, slot, entry);
    }
    Ok(())
}

/// All ranks with what they know of others.
fn ranks(numbers: &LaterNumbers<'_>, first: &State, second: &mut State) -> Result<(), Differs> {
    let (net, leap) = (numbers.net, numbers.leap);
    let Some(plans) = net.workload.ranks() else {
        return Ok(());
    };
    let alike = first.mpi.items.len() == second.mpi.items.len() && first.mpi.peers.len() == second.mpi.peers.len();
    if !alike {
        return Err(Differs("what ranks wait for"));
    }
    pairs(&first.mpi.peer_heads, &mut second.mpi.peer_heads, |a, b| {
        leap.same(*a, *b)
    })?;
    pairs(&first.mpi.peers, &mut second.mpi.peers, |a, b| {
        let next = leap.same(a.next, b.next)?;
        Ok(PeerGroup { next, ..*b })
    })?;
    for lp in 0..net.sites.len() as u32 {
        for (slot, plan, number) in ranks_at(net, lp) {
            let here = plan.locate(number);
            let (was, is) = (*first.mpi.ranks.get(slot), *second.mpi.ranks.get(slot));
            let grown = Grown {
                posted: is.posted.wrapping_sub(was.posted),
                arrived: is.arrived.wrapping_sub(was.arrived),
                messages: (is.messages as u32).wrapping_sub(was.messages as u32),
            };
            second.mpi.ranks.set(&mut NoJournal, slot, rank(leap, &was, &is)?);
            let mut list = |head: u32, pairs: [PairOfRanks; 2]| -> Result<(), Differs> {
                let places: Vec<u32> = items(first, head).map(|(place, _)| place).collect();
                for place in places {
                    let (was, is) = (*first.mpi.items.get(place), *second.mpi.items.get(place));
                    let later = waiting(numbers, &grown, pairs, &was, &is)?;
                    second.mpi.items.set(&mut NoJournal, place, later);
                }
                Ok(())
            };
            list(was.wild, [[here, here]; 2])?;
            let peers: Vec<u32> = peer_places(plans, first, slot).collect();
            for &place in &peers {
                let peer = first.mpi.peer(place);
                let there = plan.locate(peer.rank);
                for head in [peer.posted, peer.arrived, peer.pending] {
                    list(head, [[here, there], [there, here]])?;
                }
            }
            for place in peers {
                let (was, is) = (*first.mpi.peer(place), *second.mpi.peer(place));
                let later = PeerRank {
                    rank: leap.same(was.rank, is.rank)?,
                    posted: leap.same(was.posted, is.posted)?,
                    arrived: leap.same(was.arrived, is.arrived)?,
                    pending: leap.same(was.pending, is.pending)?,
                    sent: numbers.sequence(is.sent, is.sent.wrapping_sub(was.sent)),
                    expected: numbers.sequence(is.expected, is.expected.wrapping_sub(was.expected)),
                };
                *second.mpi.edit_peer(&mut NoJournal, place) = later;
            }
        }
    }
    Ok(())
}

fn rank(leap: &Leap, first: &Rank, second: &Rank) -> Result<Rank, Differs> {
    Ok(Rank {
        clock: leap.until(first.clock, second.clock)?,
        debt: leap.same(first.debt, second.debt)?,
        begun: leap.same(first.begun, second.begun)?,
        turned: leap.until(first.turned, second.turned)?,
        computed: leap.sum(first.computed, second.computed)?,
        waited: leap.sum(first.waited, second.waited)?,
        worked: leap.sum(first.worked, second.worked)?,
        finished: leap.same(first.finished, second.finished)?,
        messages: leap.sum(first.messages, second.messages)?,
        bytes: leap.sum(first.bytes, second.bytes)?,
        local_messages: leap.sum(first.local_messages, second.local_messages)?,
        local_bytes: leap.sum(first.local_bytes, second.local_bytes)?,
        local_free: leap.until(first.local_free, second.local_free)?,
        phase: leap.same(first.phase, second.phase)?,
        iteration: leap.count(first.iteration, second.iteration)?,
        index: leap.same(first.index, second.index)?,
        step: leap.same(first.step, second.step)?,
        waiting: leap.same(first.waiting, second.waiting)?,
        name: leap.same(first.name, second.name)?,
        open: leap.same(first.open, second.open)?,
        block: leap.same(first.block, second.block)?,
        fresh: leap.same(first.fresh, second.fresh)?,
        posted: leap.number(first.posted, second.posted),
        arrived: leap.number(first.arrived, second.arrived),
        wild: leap.same(first.wild, second.wild)?,
        news: leap.same(first.news, second.news)?,
        collectives: leap.same(first.collectives, second.collectives)?,
        stage: leap.same(first.stage, second.stage)?,
        inbox: leap.same(first.inbox, second.inbox)?,
        fault: leap.same(first.fault, second.fault)?,
    })
}

/// How a rank's own counters grow in a period.
struct Grown {
    posted: u32,
    arrived: u32,
    messages: u32,
}

/// A receive, a message or a rendezvous that waits at a rank: `pairs` are it with the other rank, and the other way round.
fn waiting(
    numbers: &LaterNumbers<'_>,
    grown: &Grown,
    [sent, come]: [PairOfRanks; 2],
    first: &Item,
    second: &Item,
) -> Result<Item, Differs> {
    let leap = numbers.leap;
    let stride = second.order.wrapping_sub(first.order);
    // A number among the messages of a pair, and what its order goes by.
    let (pair, order) = match second.kind {
        item::RECEIVE => (None, grown.posted),
        item::EAGER | item::ANNOUNCED => (Some(come), grown.arrived),
        item::EARLY_EAGER | item::EARLY_ANNOUNCED | item::MATCHED => (Some(come), 0),
        item::SEND | item::SENDING | item::OFFERED => (Some(sent), grown.messages),
        _ => return Err(Differs("something that waits at a rank")),
    };
    if stride != order {
        return Err(Differs("the order of what waits at a rank"));
    }
    let sequence = match pair {
        None => leap.same(first.sequence, second.sequence)?,
        Some(pair) => {
            let stride = numbers.strides.check(pair, first.sequence, second.sequence)?;
            numbers.sequence(second.sequence, stride)
        }
    };
    let zero = first.time == 0 && second.time == 0;
    Ok(Item {
        time: if zero { 0 } else { leap.time(first.time, second.time)? },
        bytes: leap.same(first.bytes, second.bytes)?,
        rank: leap.same(first.rank, second.rank)?,
        next: leap.same(first.next, second.next)?,
        order: leap.number(first.order, second.order),
        name: leap.same(first.name, second.name)?,
        tag: leap.same(first.tag, second.tag)?,
        sequence,
        context: leap.same(first.context, second.context)?,
        kind: leap.same(first.kind, second.kind)?,
        parts: leap.same(first.parts, second.parts)?,
    })
}

/// A packet of a message of parts: one that waits, or arrives.
fn packet(numbers: &LaterNumbers<'_>, first: &Packet, second: &Packet) -> Result<Packet, Differs> {
    let leap = numbers.leap;
    if first.single() || second.single() {
        return Err(Differs(
            "a message of one packet, of which it is not known how it repeats",
        ));
    }
    let label = numbers.label(second.source(), first.label(), second.label())?;
    let time = leap.time(first.time().0, second.time().0)?;
    let expected = first
        .at(second.time(), first.lp(), first.port())
        .with_label(second.label());
    leap.same(expected, *second)?;
    Ok(second.at(Time(time), second.lp(), second.port()).with_label(label))
}

/// A pending event.
fn event(numbers: &LaterNumbers<'_>, first: &Packet, second: &Packet) -> Result<Packet, Differs> {
    let leap = numbers.leap;
    if first.is_news() || second.is_news() {
        return Err(Differs("what routers tell each other"));
    }
    leap.same(first.kind(), second.kind())?;
    let time = Time(leap.time(first.time().0, second.time().0)?);
    let moved = |event: &Packet, to: Time| event.at(to, event.lp(), event.port());
    let (as_it_was, first) = (first, moved(first, second.time()));
    let later = moved(second, time);
    match second.kind() {
        Kind::Arrival => packet(numbers, as_it_was, second),
        Kind::Credit | Kind::HostCredit => leap.same(first, *second).map(|_| later),
        Kind::Delivered => {
            let label = numbers.label(second.source(), first.label(), second.label())?;
            leap.same(first.with_label(second.label()), *second)?;
            Ok(later.with_label(label))
        }
        Kind::Rank if second.vc() == SENT => {
            let ((was, _), (is, _)) = (left_message(first.value()), left_message(second.value()));
            let (from, to) = (second.value() as u8, (second.value() >> 8) as u8);
            let home = numbers.net.sites[second.lp() as usize].node + u32::from(second.port());
            let stride = numbers
                .strides
                .check([(home, from), (second.destination(), to)], was, is)?;
            leap.same(with_left(first, is), *second)?;
            Ok(with_left(later, numbers.sequence(is, stride)))
        }
        Kind::Rank => leap.same(first, *second).map(|_| later),
        Kind::Notice => notice(numbers, &first, second, later),
        Kind::Start => Err(Differs("a start")),
    }
}

/// A notice of a message.
fn notice(numbers: &LaterNumbers<'_>, first: &Packet, second: &Packet, later: Packet) -> Result<Packet, Differs> {
    let (net, leap) = (numbers.net, numbers.leap);
    let source = leap.same(first.noticed_source(), second.noticed_source())?;
    let label = numbers.label(source, first.noticed(), second.noticed())?;
    let node = net.sites[second.lp() as usize].node + u32::from(second.port());
    let (birth, sequence) = match (read(first), read(second)) {
        (Notice::Birth(was, half), Notice::Birth(is, other)) => {
            let (old, new) = (half as u16, other as u16);
            let stride = new.wrapping_sub(old);
            let from = (other >> 40) as u8;
            // The other notice has the other rank's number.
            let sender = (source, from);
            let known = (0..=u8::MAX).any(|to| {
                let pairs = [[sender, (node, to)], [(node, to), sender]];
                pairs
                    .iter()
                    .any(|pair| numbers.strides.pairs.get(pair) == Some(&stride))
            });
            if other != 0 && !known {
                return Err(Differs("the number of a message of a rank"));
            }
            (
                Some((was, is, leap.time(was, is)?)),
                Some((old, new, numbers.sequence(new, stride))),
            )
        }
        (Notice::Size(..), Notice::Size(..)) => (None, None),
        (Notice::Only(was, first), Notice::Only(is, second)) => {
            // It says how old it is: the first one is at the time of the second, as if born with it.
            leap.same(was, is)?;
            let later = numbers.envelope([source, node], (first.word, first.rest), (second.word, second.rest))?;
            (None, Some((first.word as u16, second.word as u16, later as u16)))
        }
        _ => return Err(Differs("a notice")),
    };
    let expected = notice_later(
        first,
        second.noticed(),
        birth.map(|(_, is, _)| is),
        sequence.map(|(_, new, _)| new),
    );
    leap.same(expected, *second)?;
    Ok(notice_later(
        &later,
        label,
        birth.map(|(.., later)| later),
        sequence.map(|(.., later)| later),
    ))
}
