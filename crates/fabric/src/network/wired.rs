//! Where routers, ports and nodes are in the columns, and what output ports are wired to.

use crate::blocks::{Blocks, Laid, NO_ROUTER, lay_out};
use crate::packet::MAX_NODES;
use crate::plant::{Class, Peer, Plant, Site, too_many_ports};
use des::Run;
use topo::{Coordinates, Topology};
use work::build_error::BuildError;

/// A network laid out.
pub(super) struct Laying {
    pub plant: Plant,
    /// Output ports of the router that has most.
    pub most_ports: u32,
    /// Link classes between routers of different workers, by the blocks that routers were placed in.
    pub crossed: Option<Vec<bool>>,
}

impl Laying {
    /// Routers in these blocks, or by number; `classes` are those of links.
    pub fn new(topology: Topology, blocks: Option<Blocks>, classes: Vec<Class>) -> Result<Laying, BuildError> {
        let laid = lay_out(blocks, &topology);
        if laid.routers.len() > MAX_NODES as usize {
            let reason = format!("{} places for routers are more than {MAX_NODES}", laid.routers.len());
            let hint = "take fewer blocks or a smaller network";
            return Err(BuildError::field("run.partition", reason, Some(hint)));
        }
        let (sites, first_places) = sites(&topology, &laid.routers)?;
        let (first_peer, peers) = peers(&topology, &laid, &sites);
        Ok(Laying {
            most_ports: sites.iter().map(Site::ports).max().unwrap_or(0),
            crossed: laid.crossed,
            plant: Plant {
                n_ports: sites.last().map_or(0, |site| site.port + site.ports()),
                n_nodes: topology.n_nodes(),
                sites: sites.into(),
                first_places: first_places.into(),
                places: laid.places.into(),
                layout: laid.layout,
                peers: Run::new(first_peer as usize, peers),
                classes: classes.into(),
                common: None,
                topology,
            },
        })
    }
}

/// The routers by place, and where the nodes of each begin in the node columns.
fn sites(topology: &Topology, routers: &[u32]) -> Result<(Vec<Site>, Vec<u32>), BuildError> {
    let (mut sites, mut first_places) = (Vec::with_capacity(routers.len()), Vec::with_capacity(routers.len()));
    let (mut port, mut nodes_before) = (0, 0);
    for &router in routers {
        let mut site = Site {
            port,
            node: 0,
            net: 0,
            nodes: 0,
            router,
            coordinates: Coordinates::default(),
        };
        if router != NO_ROUTER {
            if let Some((reason, hint)) = too_many_ports(topology, router) {
                return Err(BuildError::field("topology", reason, Some(hint)));
            }
            let nodes = topology.nodes_of(router);
            site.node = nodes.start;
            site.net = topology.radix(router) as u16;
            site.nodes = nodes.len() as u16;
            site.coordinates = topology.coordinates(router);
        }
        first_places.push(nodes_before);
        port += site.ports();
        nodes_before += u32::from(site.nodes);
        sites.push(site);
    }
    Ok((sites, first_places))
}

/// What the output ports of the routers that this process simulates are wired to, and the number of the first of them.
fn peers(topology: &Topology, laid: &Laid, sites: &[Site]) -> (u32, Vec<Peer>) {
    let held = &sites[laid.held.start as usize..laid.held.end as usize];
    let mut peers = Vec::with_capacity(held.iter().map(|site| site.ports() as usize).sum());
    for (place, site) in laid.held.clone().zip(held) {
        if site.router == NO_ROUTER {
            continue;
        }
        topology.see_cables(site.router, |router, input, class| {
            peers.push(Peer::new(laid.places[router as usize], input, class));
        });
        for local in 0..site.nodes {
            peers.push(Peer::new(place, site.net + local, 0));
        }
    }
    (held.first().map_or(0, |site| site.port), peers)
}
