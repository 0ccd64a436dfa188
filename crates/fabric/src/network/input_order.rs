//! In which order a router takes the packets that come to it at one time by [`Ties::Links`](crate::spec::Ties::Links): that of SST/macro's events.
//!
//! There links are numbered when the network is built: for each router, by number, its links to others in the order of their ports; behind all of them those of
//! the nodes. Routers with nodes have lower numbers than others. Events of one time are taken by the number of the link that they come over. So what counts at
//! a router is the place of an input among its inputs, by who sends and by the sender's port.
//!
//! A packet on its way to a router has this place for a port, so that its order is told by itself; when it is taken it gets the port back.

use crate::blocks::NO_ROUTER;
use crate::packet::{Address, Packet};
use crate::plant::{Peer, Plant, Site};
use des::Event;

/// Inputs of all routers, in the port columns.
#[derive(Debug)]
pub struct InputOrder {
    /// Place of each input among those of its router.
    places: Vec<u16>,
    /// The input at each place.
    ports: Vec<u16>,
}

impl InputOrder {
    pub(super) fn new(plant: &Plant) -> InputOrder {
        let (mut places, mut ports) = (Vec::new(), Vec::new());
        for site in &plant.sites {
            let mut inputs: Vec<u16> = (0..site.ports() as u16).collect();
            if site.router != NO_ROUTER {
                inputs.sort_by_key(|&port| number(plant, site, port));
            }
            let first = places.len();
            places.resize(first + inputs.len(), 0);
            for (place, &port) in (0..).zip(&inputs) {
                places[first + usize::from(port)] = place;
            }
            ports.extend(inputs);
        }
        InputOrder { places, ports }
    }

    /// Where a packet goes that comes to the input at the end of a link.
    #[inline]
    pub(crate) fn address(&self, plant: &Plant, end: &Peer) -> Address {
        let input = plant.sites[end.lp() as usize].port + u32::from(end.port());
        Address::new(end.lp(), self.places[input as usize])
    }

    /// A packet that is taken, at the port where it has come.
    #[inline]
    pub(crate) fn taken(&self, site: &Site, packet: &Packet) -> Packet {
        let place = site.port + u32::from(packet.port());
        packet.at(packet.time(), packet.lp(), self.ports[place as usize])
    }
}

/// What inputs are ordered by: those of nodes come last; of others first those from routers with nodes, then the number of the router, then its port.
fn number(plant: &Plant, site: &Site, port: u16) -> (bool, bool, u32, u16) {
    if port >= site.net {
        return (true, false, 0, port);
    }
    let wiring = plant.topology.wiring();
    let (router, sender) = wiring.peer(site.router, port);
    let has_nodes = !wiring.nodes_of(router).is_empty();
    (false, !has_nodes, router, sender)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Network;
    use crate::spec::{RouterKind, Ties, plain};
    use topo::{Arrangement, DragonflyPlusSpec, DragonflySpec, TopologySpec};

    /// Groups of four routers with two nodes.
    fn dragonfly(groups: u32) -> TopologySpec {
        TopologySpec::Dragonfly(DragonflySpec {
            groups,
            routers_per_group: vec![4],
            nodes_per_router: 2,
            links_per_pair: 1,
            local_width: 1,
            arrangement: Arrangement::Circulant,
            arrangement_seed: 1,
        })
    }

    /// The network with `sculpin` routers that take packets by their links.
    fn by_links(topology: TopologySpec) -> Network {
        let mut spec = plain(topology);
        spec.router.model = RouterKind::SCULPIN;
        spec.router.buffer = None;
        spec.router.ties = Ties::Links;
        Network::build(&spec).unwrap()
    }

    /// Who sends to the inputs of a router, in their order; nodes as `n` with their number.
    fn senders(topology: TopologySpec, router: u32) -> Vec<String> {
        let net = by_links(topology);
        let (inputs, site) = (net.inputs.as_ref().unwrap(), net.site_of(router));
        let at = |place: u32| inputs.ports[(site.port + place) as usize];
        let name = |port: u16| match port.checked_sub(site.net) {
            Some(local) => format!("n{}", site.node + u32::from(local)),
            None => net.topology.wiring().peer(router, port).0.to_string(),
        };
        (0..site.ports()).map(|place| name(at(place))).collect()
    }

    #[test]
    fn links_of_a_dragonfly_come_by_the_router_that_sends() {
        // Router 1 of group 4 of 9 is router 17; its links lead to groups two ahead and two behind, to their routers 1.
        let topology = dragonfly(9);
        assert_eq!(senders(topology, 17), ["9", "16", "18", "19", "25", "n34", "n35"]);
    }

    #[test]
    fn leaves_of_a_dragonfly_plus_come_before_spines_of_lower_number() {
        // Groups of two leaves and two spines: spine 6 is the first of group 1, and has links to the first spines of groups 0 and 2, which are 2 and 10.
        let topology = TopologySpec::DragonflyPlus(DragonflyPlusSpec {
            groups: 3,
            leaves: 2,
            spines: 2,
            nodes_per_leaf: 2,
            links_per_pair: 2,
            local_width: 1,
            arrangement: Arrangement::Absolute,
            arrangement_seed: 1,
        });
        assert_eq!(senders(topology.clone(), 6), ["4", "5", "2", "10"]);
        assert_eq!(senders(topology, 4), ["6", "7", "n4", "n5"]);
    }

    #[test]
    fn routers_that_take_packets_by_a_hash_are_not_asked_for_the_order_of_links() {
        let ring = TopologySpec::Torus(topo::Lattice {
            shape: vec![4],
            width: vec![1],
            nodes_per_router: 1,
        });
        let mut spec = plain(ring);
        spec.router.ties = Ties::Links;
        let refused = Network::build(&spec).unwrap_err();
        assert!(refused.to_string().contains("router.ties"), "{refused}");
        spec.router.architecture = crate::spec::Architecture::OUTPUT_BUFFERED;
        assert!(Network::build(&spec).unwrap().inputs.is_some());
    }

    #[test]
    fn a_packet_that_is_taken_is_at_the_port_where_it_has_come() {
        let net = by_links(dragonfly(5));
        let inputs = net.inputs.as_ref().unwrap();
        for site in &net.sites {
            for port in site.port..site.port + u32::from(site.net) {
                let end = net.peers[port as usize];
                let sent = Packet::part(0, 1, 0, 64, 0).to(des::Time(7), inputs.address(&net, &end));
                let taken = inputs.taken(&net.sites[end.lp() as usize], &sent);
                assert_eq!((taken.lp(), taken.port()), (end.lp(), end.port()));
            }
        }
    }
}
