//! The network as a world of the event engine: a logical process is a router with its nodes.

use crate::endpoints;
use crate::foresight;
use crate::network::model::{Fabric, RouterModel};
use crate::network::{Network, Part};
use crate::observe::{Record, Stats};
use crate::packet::{BY_INPUT, Kind, Packet};
use crate::packing;
use crate::router::news;
use crate::state::lists::EMPTY;
use crate::state::{Channel, ControlQueue, NONE, Nic, OutLink, Port, Router, State};
use des::{Ahead, Hint, Journal, Layout, Sink, Time, Torn, World};
use std::ops::Range;
use work::workload::{Ledger, Source};

/// Makes the records of the output ports of the routers at neighbouring places.
fn start_ports<M: RouterModel>(net: &Network, lps: &Range<u32>, part: &Part, st: &mut State) {
    let ports = &part.ports;
    if !M::QUEUES {
        return st.out_links.fill(ports.start, vec![OutLink::default(); ports.len()]);
    }
    st.ports.fill(ports.start, vec![Port::default(); ports.len()]);
    let channel = Channel {
        head: NONE,
        tail: NONE,
        credit: net.buffer,
    };
    let pairs = ports.start * net.vcs..ports.end * net.vcs;
    let mut channels = vec![channel; pairs.len()];
    // Nodes take whatever comes, unless they give credits as routers do.
    let sites = &(*net.sites)[lps.start as usize..lps.end as usize];
    for site in sites.iter().filter(|_| !M::NODES_GIVE_CREDITS) {
        let from = (site.port + u32::from(site.net)) * net.vcs - pairs.start;
        let to = (site.port + site.ports()) * net.vcs - pairs.start;
        for ejection in &mut channels[from as usize..to as usize] {
            ejection.credit = i64::MAX / 4;
        }
    }
    if !M::ONE_CHANNEL {
        return st.channels.fill(pairs.start, channels);
    }
    for (port, channel) in st.ports.as_mut_slice().iter_mut().zip(channels) {
        *port.only_channel_mut() = channel;
    }
}

impl<M: RouterModel> World for Fabric<M> {
    type Event = Packet;
    type State = State;
    type Record = Record;
    type Observer = Stats;

    fn n_lps(&self) -> u32 {
        self.net.n_routers()
    }

    fn lookahead(&self) -> Time {
        self.net.lookahead
    }

    fn layout(&self, n_blocks: u32) -> Layout {
        let even = || Layout::even(self.net.n_routers(), n_blocks);
        self.net.layout.clone().unwrap_or_else(even)
    }

    fn name(&self, lp: u32) -> u32 {
        self.net.sites[lp as usize].router
    }

    fn named(&self, name: u32) -> u32 {
        self.net.places[name as usize]
    }

    fn lookahead_across(&self, owner: &dyn Fn(u32) -> usize) -> Time {
        self.net.lookahead_across(owner)
    }

    fn seed(&self) -> u64 {
        match self.net.inputs {
            Some(_) => BY_INPUT,
            None => self.net.seed.min(BY_INPUT - 1),
        }
    }

    fn start(&self, lps: Range<u32>) -> (State, Vec<Packet>) {
        let net = &self.net;
        let part = net.part(&lps);
        let mut st = State::default();
        let router = Router {
            queued: 0,
            free_slot: NONE,
            free_post: NONE,
            free_incoming: NONE,
            free_ways: NONE,
            free_returns: 0,
            faults: 0,
            unused: 0,
        };
        st.routers.fill(lps.start, vec![router; lps.len()]);
        let words = lps.start * net.words..lps.end * net.words;
        st.waiting.fill(words.start, vec![0; words.len()]);
        start_ports::<M>(net, &lps, &part, &mut st);
        st.lists.fill(
            part.ports.start * M::LISTS,
            vec![EMPTY; part.ports.len() * M::LISTS as usize],
        );
        let nic = Nic {
            free: 0,
            birth: u64::MAX,
            left: 0,
            ready: 0,
            packets: 0,
            target: 0,
            part: 0,
            credit: net.interface.buffer,
            post_head: NONE,
            post_tail: NONE,
            label: 0,
        };
        st.nics.fill(part.nodes.start, vec![nic; part.nodes.len()]);
        if self.keeps_returns() {
            st.returns
                .fill(part.nodes.start, bytemuck::zeroed_vec(part.nodes.len()));
        }
        if net.interface.control_first {
            st.controls
                .fill(part.nodes.start, vec![ControlQueue::EMPTY; part.nodes.len()]);
        }
        let mut first = Vec::new();
        let mut due = vec![u64::MAX; part.nodes.len()];
        let nodes = lps.clone().flat_map(|lp| {
            let site = net.sites[lp as usize];
            site.node_numbers().map(move |node| (lp, node, node - site.node))
        });
        for ((lp, node, local), due) in nodes.zip(&mut due) {
            if let Some(start) = net.workload.start(node) {
                first.push(Packet::new(Kind::Start, Time(start), lp, local as u16));
            } else if net.workload.generates(node) {
                *due = 0;
            }
        }
        st.due.fill(part.nodes.start, due);
        st.sources
            .fill(part.nodes.start, vec![Source::default(); part.nodes.len()]);
        st.ledgers
            .fill(part.nodes.start, vec![Ledger::default(); part.nodes.len()]);
        st.incoming_roots.fill(
            part.nodes.start << net.messages.bucket_bits,
            vec![NONE; part.nodes.len() << net.messages.bucket_bits],
        );
        if let Some(news) = net.routing.news() {
            let slots = news.slots();
            st.told.fill(lps.start * slots, vec![0; lps.len() * slots as usize]);
        }
        let counters = net.routing.counters();
        st.turns
            .fill(lps.start * counters, vec![0; lps.len() * counters as usize]);
        endpoints::start(net, &lps, &part, &mut st);
        self.model.start(net, &lps, &mut st);
        (st, first)
    }

    #[inline(always)]
    fn handle<J: Journal, S: Sink<Self>>(&self, st: &mut State, j: &mut J, lp: u32, event: &Packet, sink: &mut S) {
        if event.is_arrival() {
            return M::arrive(self.at(st, j, lp, sink), event);
        }
        if M::HOST_CREDITS && event.is_arrival_or_credit() {
            return M::credit(self.at(st, j, lp, sink), event);
        }
        if M::HOST_CREDITS && event.is_host_credit() {
            return self.credit_interface(st, j, lp, event, sink);
        }
        // Plain networks have none, and nothing to ask for it.
        if !M::PLAIN && event.is_news() {
            return news::hear(self, st, j, lp, event, sink);
        }
        match event.kind() {
            Kind::Arrival => {}
            Kind::Credit => M::credit(self.at(st, j, lp, sink), event),
            Kind::HostCredit => self.credit_interface(st, j, lp, event, sink),
            Kind::Notice => self.notice(st, j, lp, event, sink),
            Kind::Start if event.is_sent_again() => self.send_again(st, j, lp, event, sink),
            Kind::Delivered | Kind::Start | Kind::Rank => endpoints::react(self, st, j, lp, event, sink),
        }
    }

    #[inline(always)]
    fn close<J: Journal, S: Sink<Self>>(&self, st: &mut State, j: &mut J, lp: u32, end: Time, sink: &mut S) -> Time {
        if M::TICKS {
            let idle = self.idle_until(st, lp, end.0);
            let wake = idle.unwrap_or_else(|| self.close_interfaces(st, j, lp, end.0, sink));
            return Time(wake.min(M::close(self.at(st, j, lp, sink), end.0)));
        }
        // What leaves a router may wake its interfaces.
        let departs = M::close(self.at(st, j, lp, sink), end.0);
        Time(departs.min(self.close_interfaces(st, j, lp, end.0, sink)))
    }

    fn is_large(&self) -> bool {
        self.model.is_large(&self.net)
    }

    #[inline(always)]
    fn prefetch(&self, st: &State, lp: u32, hint: Hint, ahead: Ahead) {
        self.ask_for(st, lp, hint, ahead);
    }

    fn parts(&self, each: usize) -> (Hint, u32) {
        self.parts_to_ask_for(each)
    }

    #[inline(always)]
    fn prefetch_part(&self, st: &State, lp: u32, part: u32) {
        self.ask_for_part(st, lp, part);
    }

    fn foresees(&self) -> bool {
        foresight::foresees(&self.net)
    }

    fn foresee(&self, st: &State, events: &[Packet], each: usize) {
        foresight::foresee::<M>(&self.net, st, events, each);
    }

    fn first_wake(&self, st: &State, lp: u32) -> Time {
        let due = self
            .net
            .node_places(lp, &self.net.sites[lp as usize])
            .map(|place| *st.due.get(place))
            .min();
        Time(due.unwrap_or(u64::MAX))
    }

    fn pack(&self, st: &State, lp: u32, out: &mut Vec<u8>) {
        packing::pack(self, st, lp, out);
    }

    fn unpack(&self, st: &mut State, lp: u32, input: &mut &[u8]) -> Result<(), Torn> {
        packing::unpack(self, st, lp, input)
    }

    fn knows(&self, event: &Packet) -> bool {
        packing::knows::<M>(&self.net, event)
    }
}
