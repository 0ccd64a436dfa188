//! What channels know of the buffers at their other ends, with what those have yet to tell.
//!
//! Where the two ends of a link are in different parts of a run, each part keeps its share, and what is owed to channels of another part is handed
//! to that part, which judges the sums.

use super::{Harvest, NamedPort};
use bytemuck::{Pod, Zeroable, cast_slice, pod_collect_to_vec};
use des::Torn;
use fabric::models::AnyFabric;
use fabric::network::{Network, Site};
use fabric::state::{Parts, State, returns};
use std::ops::Range;

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
    pub port: u16,
    /// The virtual channel.
    pub vc: u16,
    /// Free bytes of the buffer as the sender counts them; at the other end those of which it has yet to tell.
    pub bytes: i64,
}

impl CreditShare {
    /// The channel that it is of.
    fn channel(&self) -> (u32, u16, u16) {
        (self.lp, self.port, self.vc)
    }
}

/// What channels know whose other end is in another part, as far as it is not what holds of an empty network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreditsApart {
    /// The places of the routers of this part, with those between them.
    pub places: Range<u32>,
    /// Of channels of this part that have not all of their credit.
    known: Vec<CreditShare>,
    /// Of channels of other parts that are to be told of something.
    owed: Vec<CreditShare>,
}

impl CreditsApart {
    /// Nothing yet, of the routers in these parts.
    pub(super) fn of(parts: &Parts<'_>) -> CreditsApart {
        let ranges = || {
            parts
                .iter()
                .map(|state| state.routers.range())
                .filter(|range| !range.is_empty())
        };
        let start = ranges().map(|range| range.start).min().unwrap_or(0);
        CreditsApart {
            places: start..ranges().map(|range| range.end).max().unwrap_or(start),
            ..CreditsApart::default()
        }
    }

    /// What is owed to channels of each part, which has the routers at these places; parts are in the order of the places.
    pub fn for_others(&mut self, parts: &[Range<u32>]) -> Vec<Vec<u8>> {
        let mut owed = std::mem::take(&mut self.owed);
        owed.sort_unstable_by_key(CreditShare::channel);
        let of_part = |part: &Range<u32>| {
            let from = |lp: u32| owed.partition_point(|share| share.lp < lp);
            cast_slice(&owed[from(part.start)..from(part.end)]).to_vec()
        };
        parts.iter().map(of_part).collect()
    }
}

/// Free bytes of a buffer. A sender that has sent too much has done so, whatever comes back.
fn free(known: i64, owed: i64) -> i64 {
    match known {
        ..0 => known,
        known => known + owed,
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
        if state.ports.is_empty() {
            return;
        }
        let net = world.net();
        let site = &net.sites[lp as usize];
        for (port, vc) in channels(net, state, site) {
            let place = site.port + port;
            let known = state.channel_of(place, vc, net.vcs).credit;
            let mut owed = 0;
            if world.tells_late() {
                let peer = net.peers[place as usize];
                let far = net.sites[peer.lp() as usize].port + u32::from(peer.port());
                let Some(other) = parts.of_port(far) else {
                    let share = |lp: u32, port: u16, bytes: i64| CreditShare {
                        lp,
                        port,
                        vc: vc as u16,
                        bytes,
                    };
                    if known != net.buffer {
                        self.apart.known.push(share(lp, port as u16, known));
                    }
                    let told_late = world.owed(state, place, vc) as i64;
                    if told_late != 0 {
                        self.apart.owed.push(share(peer.lp(), peer.port(), told_late));
                    }
                    continue;
                };
                owed = world.owed(other, far, vc) as i64;
            }
            self.judge_credit(net, (lp, port, vc), free(known, owed));
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
            let port = u32::from(site.net) + (node - site.node);
            self.judge((site.router, port, 0), (bytes, full), place_of_node);
        }
    }

    /// Adds up what channels of this part know and what the other parts have told of them (see [`CreditsApart::for_others`]).
    ///
    /// # Errors
    /// What has come is not that.
    pub fn join_credits(&mut self, net: &Network, told: &[Vec<u8>]) -> Result<(), Torn> {
        let mut known = std::mem::take(&mut self.apart).known;
        known.sort_unstable_by_key(CreditShare::channel);
        let mut known = known.into_iter().peekable();
        let mut owed = Vec::new();
        for part in told {
            if !part.len().is_multiple_of(size_of::<CreditShare>()) {
                return Err(Torn("what is owed to channels has another length"));
            }
            owed.extend(pod_collect_to_vec::<u8, CreditShare>(part));
        }
        owed.sort_unstable_by_key(CreditShare::channel);
        let mut judge = |share: &CreditShare, bytes: i64| {
            let channel = (share.lp, share.port.into(), share.vc.into());
            self.judge_credit(net, channel, bytes);
        };
        for share in &owed {
            while let Some(alone) = known.next_if(|known| known.channel() < share.channel()) {
                judge(&alone, free(alone.bytes, 0));
            }
            let mine = known.next_if(|known| known.channel() == share.channel());
            judge(share, free(mine.map_or(net.buffer, |mine| mine.bytes), share.bytes));
        }
        known.for_each(|alone| judge(&alone, free(alone.bytes, 0)));
        Ok(())
    }

    fn judge_credit(&mut self, net: &Network, (lp, port, vc): (u32, u32, u32), bytes: i64) {
        let router = net.sites[lp as usize].router;
        self.judge((router, port, vc), (bytes, net.buffer), || {
            NamedPort::new(net, lp, port)
        });
    }

    /// Keeps the first place of those that lack credit, and of those whose credit cannot be.
    fn judge(&mut self, (router, port, vc): (u32, u32, u32), (bytes, full): (i64, i64), place: impl Fn() -> NamedPort) {
        if bytes == full {
            return;
        }
        // A name is made where it may be kept: there may be very many that are not all back.
        let before = |found: &Option<ChannelCredit>| {
            let place = |found: &ChannelCredit| (found.place.router, found.place.port, found.vc);
            found.as_ref().is_some_and(|found| place(found) <= (router, port, vc))
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::spec::plain;
    use topo::{Lattice, TopologySpec};

    /// Shares of any parts are judged as their sums are where all is in one.
    #[test]
    fn what_is_owed_elsewhere_comes_to_the_channel() {
        let net = Network::build(&plain(TopologySpec::Torus(Lattice {
            shape: vec![4, 4],
            width: vec![],
            nodes_per_router: 1,
        })))
        .unwrap();
        let full = net.buffer;
        let share = |lp, port, bytes| CreditShare { lp, port, vc: 0, bytes };
        // What the channel knows less what is full, and what it is owed: whether that is missing, and outside.
        let cases = [
            (0, 0, false, false),
            (-100, 100, false, false),
            (-100, 0, true, false),
            (0, 1, true, true),
            (-100, 101, true, true),
            (-100, 40, true, false),
            (-full - 1, full + 1, true, true),
        ];
        for (less, owed, missing, outside) in cases {
            for lp in [3, 7] {
                let (mut here, mut there) = (Harvest::default(), Harvest::default());
                // Channels that stand well on both sides of it.
                here.apart
                    .known
                    .extend([share(lp, 2, full - 5), share(lp, 0, full - 7)]);
                there.apart.owed.extend([share(lp, 2, 5), share(lp, 0, 7)]);
                if less != 0 {
                    here.apart.known.push(share(lp, 1, full + less));
                }
                if owed != 0 {
                    there.apart.owed.push(share(lp, 1, owed));
                }
                let told = there.apart.for_others(&[0..4, 4..8, 8..16]);
                assert!(told[2].is_empty() && told[usize::from(lp == 3)].is_empty());
                here.join_credits(&net, &told[usize::from(lp == 7)..][..1]).unwrap();
                let at =
                    |found: &Option<ChannelCredit>| found.as_ref().map(|found| (found.place.router, found.place.port));
                let is = |it: bool| it.then_some((lp, 1));
                assert_eq!(
                    (at(&here.missing), at(&here.outside)),
                    (is(missing), is(outside)),
                    "{less} {owed}"
                );
            }
        }
        let torn = Harvest::default().join_credits(&net, &[vec![0; 17]]);
        assert!(torn.is_err());
    }

    /// The first by router, port and channel is told of, in whatever order they are looked at.
    #[test]
    fn the_order_of_looking_does_not_show() {
        let place = |(router, port): (u32, u32)| NamedPort {
            router,
            port,
            name: format!("{router} {port}"),
        };
        let places = [(5, 1, 1), (5, 1, 0), (5, 0, 1), (4, 3, 0), (4, 2, 2)];
        for turned in 0..places.len() {
            let mut harvest = Harvest::default();
            for at in 0..places.len() {
                let (router, port, vc) = places[(at + turned) % places.len()];
                harvest.judge((router, port, vc), (-1, 10), || place((router, port)));
            }
            for found in [harvest.missing.unwrap(), harvest.outside.unwrap()] {
                assert_eq!((found.place, found.vc), (place((4, 2)), 2));
            }
        }
    }
}
