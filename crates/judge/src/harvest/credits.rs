//! What channels know of the buffers at their other ends, with what those have yet to tell.
//!
//! Where the two ends of a link are in different parts of a run, each part keeps its share, and the sums are judged when all parts are
//! together.

use super::{Harvest, NamedPort};
use bytemuck::{Pod, Zeroable};
use fabric::models::AnyFabric;
use fabric::network::{Network, Site};
use fabric::state::{Parts, State, returns};

/// What a channel holds of the buffer at its other end, or a node's interface of its router's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChannelCredit {
    /// The channel's output port, or the node.
    pub place: NamedPort,
    /// The virtual channel.
    pub vc: u32,
    /// Free bytes as it counts them, and those of which it has yet to be told.
    pub bytes: i64,
    /// Those of the empty buffer.
    pub full: i64,
}

/// What one end of a channel knows of its credit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct CreditShare {
    /// Place of the router that sends.
    pub lp: u32,
    /// Its output port.
    pub port: u32,
    /// The virtual channel.
    pub vc: u32,
    /// Always 0.
    pub unused: u32,
    /// Free bytes of the buffer as the sender counts them; 0 at the other end.
    pub known: i64,
    /// Bytes of which the other end has yet to tell; 0 at the sender.
    pub owed: i64,
}

impl CreditShare {
    /// The channel that it is of.
    fn channel(&self) -> [u32; 3] {
        [self.lp, self.port, self.vc]
    }

    /// Free bytes of the buffer. A sender that has sent too much has done so, whatever comes back.
    fn free(&self) -> i64 {
        match self.known {
            ..0 => self.known,
            known => known + self.owed,
        }
    }
}

/// Channels of a router's output ports that have credits, by local port and number.
fn channels(net: &Network, state: &State, site: &Site) -> impl Iterator<Item = (u32, u32)> + use<> {
    // Nodes of input-queued routers give credits too, for all channels of a port together; those of late-admission routers with
    // channels for each.
    let by_channel = !state.refused.is_empty() && state.held.is_empty();
    let of_host = match (state.crossings.is_empty(), by_channel) {
        (true, false) => 0,
        (false, _) => 1,
        (true, true) => net.vcs,
    };
    let (vcs, of_network, ports) = (net.vcs, u32::from(site.net), site.ports());
    let network = (0..of_network).flat_map(move |port| (0..vcs).map(move |vc| (port, vc)));
    network.chain((of_network..ports).flat_map(move |port| (0..of_host).map(move |vc| (port, vc))))
}

impl Harvest {
    /// Looks at the credit of a router's channels: both ends of each where room may be told of late, as far as they are in these parts.
    pub(super) fn see_credits(&mut self, world: &AnyFabric, parts: &Parts<'_>, state: &State, lp: u32) {
        let net = world.net();
        let site = &net.sites[lp as usize];
        for (port, vc) in channels(net, state, site) {
            let place = site.port + port;
            let mut mine = CreditShare {
                lp,
                port,
                vc,
                known: state.channels.get(place * net.vcs + vc).credit,
                ..CreditShare::default()
            };
            if world.tells_late() {
                let peer = net.peers[place as usize];
                let far = net.sites[peer.lp() as usize].port + u32::from(peer.port());
                let Some(other) = parts.of_port(far) else {
                    let theirs = CreditShare {
                        lp: peer.lp(),
                        port: peer.port().into(),
                        vc,
                        owed: world.owed(state, place, vc) as i64,
                        ..CreditShare::default()
                    };
                    self.apart.extend([mine, theirs]);
                    continue;
                };
                mine.owed = world.owed(other, far, vc) as i64;
            }
            self.judge_credit(net, &mine);
        }
        self.see_interfaces(net, state, lp);
    }

    /// Looks at the room that the interfaces of a router's nodes have there.
    fn see_interfaces(&mut self, net: &Network, state: &State, lp: u32) {
        let site = &net.sites[lp as usize];
        for (place, node) in net.node_places(lp, site).zip(site.node_numbers()) {
            let place_of_node = || NamedPort {
                router: site.router,
                port: u32::from(site.net) + (node - site.node),
                name: format!("node {node}"),
            };
            let (bytes, full) = (returns::in_all(state, place), net.interface.buffer.into());
            self.judge(site.router, (bytes, full), 0, place_of_node);
        }
    }

    /// Adds up what different parts know of a channel.
    pub(super) fn join_credits(&mut self, net: &Network) {
        let mut shares = std::mem::take(&mut self.apart);
        shares.sort_unstable_by_key(CreditShare::channel);
        for ends in shares.chunk_by(|one, other| one.channel() == other.channel()) {
            let sum = |of: fn(&CreditShare) -> i64| ends.iter().map(of).sum();
            let (known, owed) = (sum(|end| end.known), sum(|end| end.owed));
            self.judge_credit(net, &CreditShare { known, owed, ..ends[0] });
        }
    }

    fn judge_credit(&mut self, net: &Network, credit: &CreditShare) {
        let router = net.sites[credit.lp as usize].router;
        let place = || NamedPort::new(net, credit.lp, credit.port);
        self.judge(router, (credit.free(), net.buffer), credit.vc, place);
    }

    /// Keeps the first place of those that lack credit, and of those whose credit cannot be.
    fn judge(&mut self, router: u32, (bytes, full): (i64, i64), vc: u32, place: impl Fn() -> NamedPort) {
        if bytes == full {
            return;
        }
        // A name is made for the first of a router only: there may be very many that are not all back.
        let before = |found: &Option<ChannelCredit>| found.as_ref().is_some_and(|found| found.place.router <= router);
        let outside = bytes < 0 || bytes > full;
        if before(&self.missing) && (!outside || before(&self.outside)) {
            return;
        }
        let found = ChannelCredit {
            place: place(),
            vc,
            bytes,
            full,
        };
        if outside && !before(&self.outside) {
            self.outside = Some(found.clone());
        }
        if !before(&self.missing) {
            self.missing = Some(found);
        }
    }
}
