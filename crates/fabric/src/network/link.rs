//! What the links of a network take.

use crate::plant::{Class, serialisation};
use crate::spec::{BitsPerSec, LinkDelays, LinkSpec, RunSpec};

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
    /// The link classes of these names.
    pub fn new(spec: &RunSpec, names: &[String]) -> LinkTable {
        let (router, model) = (&spec.router, spec.router.named());
        let (unit, flit) = (model.unit(&spec.nic).0 as u32, model.flit(router));
        let class = |bandwidth: BitsPerSec, delays: LinkDelays| {
            Class::new(bandwidth, unit, delays, flit, model.wake(router, bandwidth))
        };
        let between_routers = |name: &String| {
            let link = spec.links.of(name);
            let serialisation = serialisation(unit.next_multiple_of(flit), link.bandwidth.0);
            class(link.bandwidth, model.link(router, link, serialisation))
        };
        let host: LinkSpec = names.first().map_or(spec.links.default, |name| *spec.links.of(name));
        let mut classes = vec![class(host.bandwidth, model.host_link(router, &spec.nic, &host))];
        classes.extend(names.iter().skip(1).map(between_routers));
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
