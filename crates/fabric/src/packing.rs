//! A router with its nodes as bytes, for checkpoints: the records one after the other, every list as its elements in order.
//!
//! Places in pools are not written: a list is built anew from fresh places when it is read, and the lists of free places begin empty.

use crate::endpoints;
use crate::incoming;
use crate::network::Network;
use crate::network::model::{Fabric, RouterModel};
use crate::nic::cumulative::{self, FLOW};
use crate::packet::{Kind, Packet};
use crate::state::returns;
use crate::state::{ControlQueue, Incoming, Link, NONE, Nic, Post, State};
use des::checkpoint::{put, take};
use des::lists::{places, put_elements};
use des::{Event, NoJournal, Torn};
use std::ops::Range;
use work::workload::Source;

/// Appends a list of waiting packets of `lp`, which its router's number stands for.
pub(crate) fn put_packets(net: &Network, st: &State, lp: u32, head: u32, out: &mut Vec<u8>) {
    let places = places(head, |slot| st.links.get(slot).next);
    put_elements(out, places, |out, slot| {
        put(out, st.links.get(slot).sequence);
        put(out, st.slots.get(slot).with_lp(net.sites[lp as usize].router));
    });
}

/// Takes a list of waiting packets of `lp`: its first and last slot.
pub(crate) fn take_packets<M: RouterModel>(
    net: &Network,
    st: &mut State,
    lp: u32,
    input: &mut &[u8],
) -> Result<(u32, u32), Torn> {
    let j = &mut NoJournal;
    let (mut head, mut tail) = (NONE, NONE);
    for _ in 0..take::<u32>(input)? {
        let link = Link {
            next: NONE,
            sequence: take(input)?,
        };
        let packet: Packet = take(input)?;
        let router = packet.lp();
        let packet = packet.with_lp(lp);
        if router != net.sites[lp as usize].router || packet.kind() != Kind::Arrival || !knows::<M>(net, &packet) {
            return Err(Torn("a packet that waits in it is not of this network"));
        }
        st.links.push(j, link);
        let slot = st.slots.push(j, packet);
        match head {
            NONE => head = slot,
            _ => st.links.edit(j, tail).next = slot,
        }
        tail = slot;
    }
    Ok((head, tail))
}

/// Appends a list of posts.
fn put_posts(st: &State, head: u32, out: &mut Vec<u8>) {
    put_elements(out, places(head, |post| st.posts.get(post).next), |out, post| {
        let post = *st.posts.get(post);
        put(out, Post { next: NONE, ..post });
    });
}

/// Takes a list of posts: its first and last slot.
fn take_posts(net: &Network, st: &mut State, input: &mut &[u8]) -> Result<(u32, u32), Torn> {
    let j = &mut NoJournal;
    let (mut head, mut tail) = (NONE, NONE);
    for _ in 0..take::<u32>(input)? {
        let post: Post = take(input)?;
        nodes_exist(net, &[post.destination])?;
        let slot = st.posts.push(j, post);
        match head {
            NONE => head = slot,
            _ => st.posts.edit(j, tail).next = slot,
        }
        tail = slot;
    }
    Ok((head, tail))
}

/// Appends what comes back to the interface of a node.
fn put_returns(st: &State, node: u32, out: &mut Vec<u8>) {
    let mut coming: Vec<_> = returns::all(st, node).collect();
    coming.sort_unstable();
    put(out, coming.len() as u32);
    for (time, bytes) in coming {
        put(out, time);
        put(out, bytes);
    }
}

/// Takes it, for an interface whose record is there.
fn take_returns<M: RouterModel>(
    fabric: &Fabric<M>,
    st: &mut State,
    (lp, node): (u32, u32),
    input: &mut &[u8],
) -> Result<(), Torn> {
    let mut room = i64::from(st.nics.get(node).credit);
    for _ in 0..take::<u32>(input)? {
        let (time, bytes): (u64, u32) = (take(input)?, take(input)?);
        room += i64::from(bytes);
        if !fabric.keeps_returns() || bytes == 0 || room > fabric.net.interface.buffer.into() {
            return Err(Torn("an interface gets back more room than there is"));
        }
        returns::add(st, &mut NoJournal, (lp, node), time, bytes);
    }
    Ok(())
}

/// What a router has been told by those of its group.
fn told_of(net: &Network, lp: u32) -> Range<u32> {
    let slots = net.routing.news().map_or(0, |news| news.slots());
    lp * slots..(lp + 1) * slots
}

/// Its counters.
fn turns_of(net: &Network, lp: u32) -> Range<u32> {
    let counters = net.routing.counters();
    lp * counters..(lp + 1) * counters
}

/// Appends a router with its nodes.
pub(crate) fn pack<M: RouterModel>(fabric: &Fabric<M>, st: &State, lp: u32, out: &mut Vec<u8>) {
    let net = &fabric.net;
    let site = &net.sites[lp as usize];
    put(out, [st.routers.get(lp).queued, st.routers.get(lp).faults]);
    (lp * net.words..(lp + 1) * net.words).for_each(|word| put(out, *st.waiting.get(word)));
    told_of(net, lp).for_each(|slot| put(out, *st.told.get(slot)));
    turns_of(net, lp).for_each(|slot| put(out, *st.turns.get(slot)));
    for port in site.port..site.port + site.ports() {
        if !M::QUEUES {
            put(out, *st.out_links.get(port));
            continue;
        }
        let mut record = *st.ports.get(port);
        if M::ONE_CHANNEL {
            *record.only_channel_mut() = bytemuck::Zeroable::zeroed();
        }
        put(out, record);
        for channel in port * net.vcs..(port + 1) * net.vcs {
            let channel = st.channel::<M>(channel);
            put(out, channel.credit);
            put_packets(net, st, lp, channel.head, out);
        }
    }
    for node in net.node_places(lp, site) {
        let nic = *st.nics.get(node);
        let (post_head, post_tail) = (NONE, NONE);
        put(
            out,
            Nic {
                post_head,
                post_tail,
                ..nic
            },
        );
        put_posts(st, nic.post_head, out);
        if net.interface.control_first {
            let queue = *st.controls.get(node);
            put(out, queue.left);
            put(out, [queue.part, queue.label]);
            put_posts(st, queue.head, out);
        }
        put_returns(st, node, out);
        put(out, *st.due.get(node));
        let source = st.sources.get(node);
        put(out, [source.made, source.clock]);
        put(out, *st.ledgers.get(node));
        for bucket in net.buckets(node) {
            let mut slots = Vec::new();
            incoming::behind(st, bucket, &mut |slot| slots.push(slot));
            put_elements(out, slots.into_iter(), |out, slot| {
                let entry = *st.incoming.get(slot);
                put(out, Incoming { next: NONE, ..entry });
            });
        }
        endpoints::pack(net, st, node, out);
    }
    fabric.model.pack(net, st, lp, out);
}

/// Sets a router with its nodes, as they were before the first event, to what [`pack`] has written.
pub(crate) fn unpack<M: RouterModel>(
    fabric: &Fabric<M>,
    st: &mut State,
    lp: u32,
    input: &mut &[u8],
) -> Result<(), Torn> {
    let Fabric { net, model } = fabric;
    let j = &mut NoJournal;
    let site = net.sites[lp as usize];
    let router = st.routers.edit(j, lp);
    [router.queued, router.faults] = take(input)?;
    for word in lp * net.words..(lp + 1) * net.words {
        st.waiting.set(j, word, take(input)?);
    }
    for slot in told_of(net, lp) {
        st.told.set(j, slot, take(input)?);
    }
    for slot in turns_of(net, lp) {
        st.turns.set(j, slot, take(input)?);
    }
    for port in site.port..site.port + site.ports() {
        if !M::QUEUES {
            st.out_links.set(j, port, take(input)?);
            continue;
        }
        st.ports.set(j, port, take(input)?);
        for channel in port * net.vcs..(port + 1) * net.vcs {
            let credit = take(input)?;
            let (head, tail) = take_packets::<M>(net, st, lp, input)?;
            let channel = st.edit_channel::<M>(j, channel);
            (channel.credit, channel.head, channel.tail) = (credit, head, tail);
        }
    }
    for node in net.node_places(lp, &site) {
        let mut nic: Nic = take(input)?;
        (nic.post_head, nic.post_tail) = take_posts(net, st, input)?;
        nodes_exist(net, &[nic.destination()])?;
        if net.interface.control_first {
            let left = take(input)?;
            let [part, label] = take(input)?;
            let (head, tail) = take_posts(net, st, input)?;
            st.controls.set(
                j,
                node,
                ControlQueue {
                    left,
                    head,
                    tail,
                    part,
                    label,
                },
            );
            if nic.is(Nic::CONTROL) != (head != NONE) {
                return Err(Torn("an interface does not know of its control messages"));
            }
        }
        st.nics.set(j, node, nic);
        take_returns(fabric, st, (lp, node), input)?;
        st.due.set(j, node, take(input)?);
        let [made, clock] = take(input)?;
        st.sources.set(j, node, Source::new(made, clock));
        st.ledgers.set(j, node, take(input)?);
        let number = site.node + (node - net.node_places(lp, &site).start);
        for _ in net.buckets(node) {
            for _ in 0..take::<u32>(input)? {
                let entry: Incoming = take(input)?;
                nodes_exist(net, &[entry.source])?;
                let slot = incoming::record(net, st, j, lp, (entry.source, number, entry.label));
                // Messages of a flow may have come before it.
                let next = st.incoming.get(slot).next;
                st.incoming.set(j, slot, Incoming { next, ..entry });
                if model.completes_by_flow() && entry.label != FLOW {
                    let flow = incoming::record(net, st, j, lp, (entry.source, number, FLOW));
                    cumulative::join(st, j, flow, slot);
                }
            }
        }
        endpoints::unpack(net, st, (node, number), input)?;
    }
    model.unpack(net, st, lp, input)
}

fn nodes_exist(net: &Network, nodes: &[u32]) -> Result<(), Torn> {
    let there = nodes.iter().all(|&node| node < net.n_nodes());
    there.then_some(()).ok_or(Torn("it names a node that is not there"))
}

/// `true` if an event names nothing that the network does not have; its router exists.
pub(crate) fn knows<M: RouterModel>(net: &Network, event: &Packet) -> bool {
    let site = &net.sites[event.lp() as usize];
    let port = u32::from(event.port());
    let nodes = event.source() < net.n_nodes() && event.destination() < net.n_nodes();
    // Without buffers a virtual channel is a mere name.
    let vc = !M::HOST_CREDITS || u32::from(event.vc()) < net.vcs;
    if event.is_news() {
        return net.routing.news().is_some_and(|news| port < news.slots());
    }
    match event.kind() {
        Kind::Arrival | Kind::Credit => nodes && vc && port < site.ports(),
        Kind::Notice => event.noticed_source() < net.n_nodes() && port < u32::from(site.nodes),
        _ => nodes && port < u32::from(site.nodes),
    }
}
