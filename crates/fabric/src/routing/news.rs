//! What the routers of a group tell each other: until when their global links have work (`scope = "group"`).
//!
//! UGAL-G (Kim, Dally, Scott & Abts 2008) knows the queues of all global links of the source group as they are. Here a router tells the others
//! of its group, and they know it when the word has come over the links between them, as with the broadcasts and the piggybacking
//! of Jiang, Kim & Dally (2009). What is told is a time: until then the link has work. It needs no second word when the work is done.
//!
//! Here is who tells whom; what a router does when it tells, and when it is told, is in `router/news.rs`.

use topo::Topology;
use work::build_error::BuildError;

/// Local ports from here on stand for what has been told of ports of the group, by [`News::slot`].
pub(crate) const TOLD: u32 = 1 << 31;

/// Who tells whom, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct News {
    /// Routers of a group.
    routers: u32,
    /// Network ports of a router, of the one that has most.
    ports: u32,
    /// Work that came or went and is not worth a word (bytes).
    pub step: u64,
}

impl News {
    /// Checks that the network has groups of a size for which events have room.
    pub(super) fn new(topology: &Topology, step: u64) -> Result<News, BuildError> {
        let refuse = |reason: String| {
            let hint = "take \"local\", or routing.kind = \"par\", which decides again where the global links are";
            Err(BuildError::field("routing.scope", reason, Some(hint)))
        };
        let Some(routers) = topology.group_size() else {
            return refuse("routers tell each other what waits within groups: of a dragonfly or dragonfly+".into());
        };
        let wiring = topology.wiring();
        let ports = (0..topology.n_routers()).map(|router| wiring.radix(router));
        let ports = ports.max().unwrap_or(0);
        if u64::from(routers) * u64::from(ports) > 1 << 16 {
            return refuse(format!(
                "{routers} routers of {ports} ports are more than 65,536 ports in a group"
            ));
        }
        Ok(News { routers, ports, step })
    }

    /// Ports of a group.
    pub fn slots(&self) -> u32 {
        self.routers * self.ports
    }

    /// The number of a router's port among those of its group.
    pub fn slot(&self, router: u32, port: u32) -> u32 {
        router % self.routers * self.ports + port
    }

    /// The routers of the group of one.
    pub fn group(&self, router: u32) -> std::ops::Range<u32> {
        let first = router / self.routers * self.routers;
        first..first + self.routers
    }
}
