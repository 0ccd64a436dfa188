//! What the links of a network take.

use crate::plant::{Class, serialisation};
use crate::spec::{BitsPerSec, LinkDelays, LinkSpec, Links, RunSpec};
use topo::Topology;

/// The links of a network.
pub(super) struct LinkTable {
    /// By class; class 0 is the host link.
    pub classes: Vec<Class>,
    /// The host link from nodes to their routers, which may be slower.
    pub injection: Class,
    /// They differ in speed.
    pub mixed_speeds: bool,
    /// From the start of a packet on the ejection link until its head is at the node (ps).
    pub ejection: u64,
}

impl LinkTable {
    /// The link classes of a network.
    pub fn new(spec: &RunSpec, topology: &Topology) -> LinkTable {
        let (router, model) = (&spec.router, spec.router.named());
        let (unit, flit) = (model.unit(&spec.nic).0 as u32, model.flit(router));
        let class = |bandwidth: BitsPerSec, delays: LinkDelays| {
            Class::new(bandwidth, unit, delays, flit, model.wake(router, bandwidth))
        };
        let between_routers = |number: usize| {
            let link = link_of_class(&spec.links, topology, number);
            let serialisation = serialisation(unit.next_multiple_of(flit), link.bandwidth.0);
            class(link.bandwidth, model.link(router, &link, serialisation))
        };
        let host = link_of_class(&spec.links, topology, 0);
        let mut classes = vec![class(host.bandwidth, model.host_link(router, &spec.nic, &host))];
        classes.extend((1..topology.class_names().len()).map(between_routers));
        let bandwidth = spec.nic.bandwidth.unwrap_or(host.bandwidth);
        let injection = class(bandwidth, model.injection(router, &spec.nic, &host));
        let mixed_speeds = classes
            .iter()
            .chain([&injection])
            .any(|class| class.bandwidth() != host.bandwidth);
        LinkTable {
            classes,
            injection,
            mixed_speeds,
            ejection: model.ejection(router, &spec.nic, &host),
        }
    }
}

/// Links of a class, those of cables that have lost lanes slower than their own class.
pub fn link_of_class(links: &Links, topology: &Topology, class: usize) -> LinkSpec {
    let (name, share) = topology.rate_of_class(class);
    let link = links.of(name);
    match share < 1.0 {
        true => LinkSpec {
            bandwidth: BitsPerSec(((link.bandwidth.0 as f64 * share) as u64).max(1)),
            ..*link
        },
        false => *link,
    }
}
