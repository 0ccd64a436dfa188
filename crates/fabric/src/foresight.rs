//! What events will touch, asked for before they are handled.
//!
//! A router is asked for in steps ([`Hint`]), while the routers before it are handled: what says where its records are, its records, the packets that wait at the
//! heads of its queues, and what these will touch when they leave. Where all records of a router are asked for, it is in parts, one with each event before it:
//! memory takes only so many questions at a time.
//!
//! Where messages have records, what an event reads is all over the memory, one read telling where the next is. A number of events are walked
//! through together: memory answers their questions side by side, where their handlers would wait for each.

use crate::bits::{each_bit, few_at_a_time};
use crate::incoming::{self, Sought};
use crate::mpi;
use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, RouterParts, Site};
use crate::nic::ask_for_endpoint;
use crate::packet::{Kind, Packet};
use crate::state::{NONE, Nic, State};
use des::{Ahead, Event, FORESEEN, Hint, split_at};
use std::ops::Range;

/// Whether events tell which ports they will touch: where a router has few of them. Else all of its ports are asked for, part by part, which is
/// dear where most are not needed, and cheap where they are.
#[inline(always)]
fn tells_ports(net: &Network, each: usize) -> bool {
    each < net.few() && looks_ahead(net) && !net.routing.is_beyond_telling()
}

/// [`Network::few`] of routers so wide that events are worth a look for their ports alone.
const WIDE: usize = 16;

/// Whether events are looked at before they are handled: where messages have records, and where routers are wide.
#[inline(always)]
fn looks_ahead(net: &Network) -> bool {
    net.messages.keeps_records || net.few() >= WIDE
}

/// The same for as much as there is to be gained.
pub(crate) fn foresees(net: &Network) -> bool {
    looks_ahead(net) && (net.messages.keeps_records || net.is_large())
}

/// Asks the processor for what these events, of routers of one block with `each` of them on average, will touch.
pub(crate) fn foresee<M: RouterModel>(net: &Network, st: &State, events: &[Packet], each: usize) {
    let ports = match (net.is_large(), tells_ports(net, each)) {
        (false, _) => Ports::None,
        (true, false) => Ports::OfNodes,
        (true, true) => Ports::All,
    };
    if !net.messages.keeps_records {
        if ports == Ports::All {
            for event in events {
                match event.kind() {
                    Kind::Arrival => _ = foresee_arrival::<M>(net, st, event, ports),
                    Kind::Credit => foresee_credit::<M>(net, st, event),
                    _ => {}
                }
            }
        }
        return;
    }
    let with_ranks = net.workload.ranks().is_some();
    let mut sought = Sought::new();
    for (place, event) in events.iter().enumerate() {
        // What it is is asked once: one branch that nobody can tell before.
        match event.kind() {
            Kind::Arrival => {
                if foresee_arrival::<M>(net, st, event, ports) && !event.single() {
                    let key = (event.source(), event.destination(), event.label());
                    sought.ask(net, st, event.lp(), key, place);
                }
            }
            Kind::Credit if ports == Ports::None => {}
            Kind::Credit => foresee_credit::<M>(net, st, event),
            Kind::HostCredit => {}
            Kind::Notice => {
                let lp = event.lp();
                let free = st.routers.get(lp).free_incoming;
                if free != NONE {
                    st.incoming.prefetch_one(free);
                }
                let node = net.sites[lp as usize].node + u32::from(event.port());
                sought.ask(net, st, lp, (event.noticed_source(), node, event.noticed()), place);
            }
            Kind::Delivered => {
                let node = foresee_endpoint(net, st, event);
                sought.ask(net, st, event.lp(), (event.source(), node, event.label()), place);
            }
            // A word from another router has no kind of its own.
            Kind::Rank if !M::PLAIN && event.is_news() => {}
            Kind::Start | Kind::Rank => _ = foresee_endpoint(net, st, event),
        }
    }
    if M::SHUTS_PORTS && ports != Ports::None {
        each_opened::<M>(net, st, events, |_, port, head| {
            ask_for_port::<M>(net, st, port);
            ask_for_slot(st, head);
        });
    }
    let mut handed = [(0, 0); FORESEEN];
    let mut n = 0;
    sought.follow(st, |event, record| {
        handed[n] = (event, record);
        let event = &events[event];
        // What a last packet completes may be handed over before anyone asks for it again. Most last ones are smaller than others, whose records are not
        // worth a look: they have just been asked for.
        let soon = match event.is_arrival() {
            true => net.messages.hands_over_at_once && event.size() != net.packet,
            false => event.kind() == Kind::Delivered,
        };
        n += usize::from(with_ranks & soon);
    });
    if M::SHUTS_PORTS && ports != Ports::None {
        each_opened::<M>(net, st, events, |lp, _, head| {
            ask_for_giver::<M>(net, st, lp, &net.sites[lp as usize], st.slots.get(head));
        });
    }
    if n > 0 {
        mpi::foresee(net, st, events, &handed[..n]);
    }
}

/// Shows the shut ports with packets that wait for the channel to which one of these events gives room, each with its router and the first of the packets.
#[inline(always)]
fn each_opened<M: RouterModel>(net: &Network, st: &State, events: &[Packet], mut see: impl FnMut(u32, u32, u32)) {
    for event in events.iter().filter(|event| event.kind() == Kind::Credit) {
        let (lp, local) = (event.lp(), u32::from(event.port()));
        if *st.shut.get(lp * net.words + local / 64) >> (local % 64) & 1 == 0 {
            continue;
        }
        let port = net.sites[lp as usize].port + local;
        let vc = if M::PLAIN { 0 } else { u32::from(event.vc()) };
        let head = st.channel::<M>(port * net.vcs + vc).head;
        if head != NONE {
            see(lp, port, head);
        }
    }
}

/// Which output ports events are asked about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ports {
    /// None: they are in the caches.
    None,
    /// Those to nodes, and of credits, which need no routing: a router with many events has asked for all of its ports, so long before that the first-level
    /// cache has lost some.
    OfNodes,
    /// All.
    All,
}

/// Asks for the output port that a packet will touch; returns whether it leads to its node.
#[inline(always)]
fn foresee_arrival<M: RouterModel>(net: &Network, st: &State, event: &Packet, ports: Ports) -> bool {
    let site = &net.sites[event.lp() as usize];
    let local = event.destination().wrapping_sub(site.node);
    let is_here = local < u32::from(site.nodes);
    if ports == Ports::None || ports == Ports::OfNodes && !is_here {
        return is_here;
    }
    ask_for_giver::<M>(net, st, event.lp(), site, event);
    let (port, vc) = if is_here {
        (u32::from(site.net) + local, 0)
    } else if M::PLAIN {
        (net.routing.next_minimal(net, site, event), 0)
    } else if net.routing.is_asked_first() {
        let (first, ports) = net.routing.first_look(&net.topology, site, event);
        for port in site.port + first..site.port + first + ports {
            if M::QUEUES && !M::ONE_CHANNEL {
                st.channels.prefetch(port * net.vcs, (port + 1) * net.vcs);
            }
            ask_for_port::<M>(net, st, port);
        }
        return false;
    } else {
        let way = net.route(site, event);
        (way.port(), way.vc())
    };
    let port = site.port + port;
    if M::QUEUES && !M::ONE_CHANNEL {
        st.channels.prefetch_one(port * net.vcs + u32::from(vc));
    }
    ask_for_port::<M>(net, st, port);
    is_here
}

/// Asks for the output port that a credit is for.
#[inline(always)]
fn foresee_credit<M: RouterModel>(net: &Network, st: &State, event: &Packet) {
    let port = net.sites[event.lp() as usize].port + u32::from(event.port());
    if M::QUEUES && !M::ONE_CHANNEL {
        st.channels.prefetch_one(port * net.vcs + u32::from(event.vc()));
    }
    // Where ports are shut most credits touch none but for their channel.
    if !M::SHUTS_PORTS || M::ONE_CHANNEL {
        ask_for_port::<M>(net, st, port);
    }
}

/// Asks for an output port and where it leads to.
#[inline(always)]
fn ask_for_port<M: RouterModel>(net: &Network, st: &State, port: u32) {
    match M::QUEUES {
        true => st.ports.prefetch_one(port),
        false => st.out_links.prefetch_one(port),
    }
    net.peers.prefetch_one(port as usize);
}

/// Asks for what an event of a node leads to beside the records of messages; returns the node.
#[inline(always)]
fn foresee_endpoint(net: &Network, st: &State, event: &Packet) -> u32 {
    let site = &net.sites[event.lp() as usize];
    let local = u32::from(event.port());
    let place = net.node_places(event.lp(), site).start + local;
    ask_for_endpoint(net, st, event.lp(), place);
    mpi::foresee_rank(net, st, place, event);
    site.node + local
}

/// Shows the output ports (places in the columns) of a router that packets may wait for which may start.
#[inline(always)]
pub(crate) fn each_open<M: RouterModel>(net: &Network, st: &State, lp: u32, mut see: impl FnMut(u32)) {
    let first = net.sites[lp as usize].port;
    for word in 0..net.words {
        let index = lp * net.words + word;
        let mut bits = *st.waiting.get(index);
        if M::SHUTS_PORTS {
            bits &= !*st.shut.get(index);
        }
        each_bit(bits, |port| see(first + word * 64 + port));
    }
}

/// Shows the places of the interfaces of a router that act before `end`.
#[inline(always)]
fn each_acting(net: &Network, st: &State, lp: u32, end: u64, mut see: impl FnMut(u32)) {
    for places in few_at_a_time(net.node_places(lp, &net.sites[lp as usize])) {
        let (acting, _) = split_at(st.due.part(places.clone()), end);
        each_bit(acting, |node| see(places.start + node));
    }
}

/// The place of the node that sends to an input port of a router, which is one of a node.
#[inline(always)]
fn node_of_input(net: &Network, lp: u32, site: &Site, input: u16) -> u32 {
    net.node_places(lp, site).start + u32::from(input - site.net)
}

/// Asks for what room is given back to when a packet leaves a router: the interface that it has come from, or what is noted of its channel.
#[inline(always)]
fn ask_for_giver<M: RouterModel>(net: &Network, st: &State, lp: u32, site: &Site, packet: &Packet) {
    if M::HOST_CREDITS && packet.port() >= site.net {
        ask_for_interface(net, st, node_of_input(net, lp, site, packet.port()));
    } else if M::INLETS {
        let channel = if M::PLAIN { 0 } else { u32::from(packet.vc()) };
        st.inlets
            .prefetch_one((site.port + u32::from(packet.port())) * net.vcs + channel);
    }
}

/// Asks for what an interface has, and what comes back to it.
#[inline(always)]
fn ask_for_interface(net: &Network, st: &State, place: u32) {
    st.nics.prefetch_one(place);
    if net.messages.keeps_records {
        st.returns.prefetch_one(place);
    }
}

/// Asks for a slot of packets that wait, and for its place in its list.
#[inline(always)]
fn ask_for_slot(st: &State, slot: u32) {
    st.links.prefetch_one(slot);
    st.slots.prefetch_one(slot);
}

impl<M: RouterModel> Fabric<M> {
    /// Asks for what `hint` is about, of a router and its nodes.
    ///
    /// Where many events come to a router, its records fill the first-level cache: they are asked for later, all of them.
    #[inline(always)]
    pub(crate) fn ask_for(&self, st: &State, lp: u32, hint: Hint, ahead: Ahead) {
        let net = &self.net;
        if !net.messages.keeps_records {
            match hint {
                // Else in parts.
                Hint::Heads if tells_ports(net, ahead.each) => self.ask_for_nodes(st, lp),
                Hint::Followers => self.ask_for_lists(st, lp),
                _ => {}
            }
        } else if tells_ports(net, ahead.each) {
            match hint {
                Hint::Entries => {
                    let nodes = net.node_places(lp, &net.sites[lp as usize]);
                    st.routers.prefetch_one(lp);
                    st.waiting.prefetch_one(lp * net.words);
                    if M::SHUTS_PORTS {
                        st.shut.prefetch_one(lp * net.words);
                    }
                    st.due.prefetch(nodes.start, nodes.end);
                }
                Hint::Records => self.ask_for_few_records(st, lp, ahead.end.0),
                Hint::Lists => self.ask_for_lists(st, lp),
                Hint::Heads => self.ask_for_ends_of_heads(st, lp),
                Hint::Followers => self.ask_for_messages_of_heads(st, lp, 0),
                Hint::Last => {
                    self.ask_for_messages_of_heads(st, lp, 1);
                    ask_for_posts(net, st, lp, ahead.end.0);
                }
            }
        } else {
            match hint {
                // In parts.
                Hint::Entries | Hint::Records | Hint::Lists => {}
                Hint::Heads => self.ask_for_lists(st, lp),
                Hint::Followers => self.ask_for_ends_of_heads(st, lp),
                Hint::Last => {
                    self.ask_for_messages_of_heads(st, lp, 0);
                    ask_for_posts(net, st, lp, ahead.end.0);
                }
            }
        }
    }

    /// Into how many parts the records of a router are cut, and in place of which hint they are asked for, if all of them are.
    #[inline(always)]
    pub(crate) fn parts_to_ask_for(&self, each: usize) -> (Hint, u32) {
        let hint = match self.net.messages.keeps_records {
            true => Hint::Lists,
            false => Hint::Heads,
        };
        match tells_ports(&self.net, each) {
            true => (hint, 0),
            false => (hint, self.net.parts.count),
        }
    }

    /// Asks for a part of the records of a router: some of its ports and nodes.
    #[inline(always)]
    pub(crate) fn ask_for_part(&self, st: &State, lp: u32, part: u32) {
        let net = &self.net;
        let site = &net.sites[lp as usize];
        let first = part * RouterParts::PORTS;
        let ports = first..site.ports().min(first + RouterParts::PORTS);
        if !ports.is_empty() {
            let ports = site.port + ports.start..site.port + ports.end;
            net.peers.prefetch(ports.start as usize, ports.end as usize);
            match M::QUEUES {
                false => st.out_links.prefetch(ports.start, ports.end),
                true => {
                    st.ports.prefetch(ports.start, ports.end);
                    if !M::ONE_CHANNEL {
                        st.channels.prefetch(ports.start * net.vcs, ports.end * net.vcs);
                    }
                    if M::INLETS && !st.inlets.is_empty() {
                        st.inlets.prefetch(ports.start * net.vcs, ports.end * net.vcs);
                    }
                }
            }
        }
        let nodes = net.node_places(lp, site);
        let first = nodes.start + part * net.parts.nodes;
        if first < nodes.end {
            self.ask_for_some_nodes(st, first..nodes.end.min(first + net.parts.nodes));
        }
    }

    /// Asks for the records of a router's nodes.
    #[inline(always)]
    fn ask_for_nodes(&self, st: &State, lp: u32) {
        self.ask_for_some_nodes(st, self.net.node_places(lp, &self.net.sites[lp as usize]));
    }

    /// Asks for the records of the nodes at these places.
    #[inline(always)]
    fn ask_for_some_nodes(&self, st: &State, nodes: Range<u32>) {
        let net = &self.net;
        st.nics.prefetch(nodes.start, nodes.end);
        if net.workload.has_sources() {
            st.sources.prefetch(nodes.start, nodes.end);
            if net.messages.are_numbered() {
                st.ledgers.prefetch(nodes.start, nodes.end);
            }
        }
        if net.interface.control_first {
            st.controls.prefetch(nodes.start, nodes.end);
        }
    }

    /// Asks for the packets at the heads of a router's queues, and for the slot of the next that waits.
    #[inline(always)]
    fn ask_for_lists(&self, st: &State, lp: u32) {
        let free = st.routers.get(lp).free_slot;
        if M::QUEUES && free != NONE {
            ask_for_slot(st, free);
        }
        self.model.heads(&self.net, st, lp, |_, head| ask_for_slot(st, head));
    }

    /// [`Hint::Records`] of a router that few events come to, which tell what they will touch: the rest is what waits, and interfaces that act.
    #[inline(always)]
    fn ask_for_few_records(&self, st: &State, lp: u32, end: u64) {
        let net = &self.net;
        each_open::<M>(net, st, lp, |port| {
            ask_for_port::<M>(net, st, port);
            if !M::QUEUES || M::ONE_CHANNEL {
                return;
            }
            if net.vcs == 1 {
                st.channels.prefetch_one(port);
            } else {
                st.channels.prefetch(port * net.vcs, (port + 1) * net.vcs);
            }
        });
        let has_sources = net.workload.has_sources();
        each_acting(net, st, lp, end, |place| {
            st.nics.prefetch_one(place);
            if has_sources {
                st.sources.prefetch_one(place);
                if net.messages.are_numbered() {
                    st.ledgers.prefetch_one(place);
                }
            }
        });
    }

    /// Asks for where records of messages begin to be looked up for the packets at heads of queues to nodes, and for the interfaces that those from
    /// nodes give room back to.
    #[inline(always)]
    fn ask_for_ends_of_heads(&self, st: &State, lp: u32) {
        let net = &self.net;
        let site = &net.sites[lp as usize];
        self.model.heads(net, st, lp, |port, head| {
            if head == NONE {
                return;
            }
            let packet = st.slots.get(head);
            ask_for_giver::<M>(net, st, lp, site, packet);
            if port - site.port >= u32::from(site.net) && !packet.single() {
                incoming::ask_for_root(net, st, lp, packet);
            }
        });
    }

    /// Asks for what the lookup of the records of messages comes to behind so many branches, for the packets at heads of queues to nodes.
    #[inline(always)]
    fn ask_for_messages_of_heads(&self, st: &State, lp: u32, branches: usize) {
        let net = &self.net;
        let site = &net.sites[lp as usize];
        self.model.heads(net, st, lp, |port, head| {
            if head == NONE || port - site.port < u32::from(site.net) {
                return;
            }
            let packet = st.slots.get(head);
            if !packet.single() {
                incoming::ask_behind(net, st, lp, packet, branches);
            }
        });
    }
}

/// Asks for what the interfaces of a router that act before `end`, and are in the caches, will look up: room that comes back, messages that begin or end.
#[inline(always)]
fn ask_for_posts(net: &Network, st: &State, lp: u32, end: u64) {
    each_acting(net, st, lp, end, |place| {
        let nic = st.nics.get(place);
        if nic.is(Nic::BLOCKED) {
            st.returns.prefetch_one(place);
        }
        if nic.is(Nic::CONTROL) {
            st.controls.prefetch_one(place);
        }
        let begins_or_ends = nic.birth == u64::MAX || nic.part == 0 || nic.left <= net.packet.into();
        if begins_or_ends && nic.post_head != NONE {
            st.posts.prefetch_one(nic.post_head);
            st.ledgers.prefetch_one(place);
        }
    });
}
