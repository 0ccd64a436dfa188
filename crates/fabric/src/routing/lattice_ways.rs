//! Ways over meshes and tori by dimension order: directly, over another router, in either order of the dimensions. For `romm`, `o1turn` and routings
//! of BookSim2.

use super::prelude::*;
use std::cmp::Ordering;
use topo::{Came, Step};

/// Bit of the routing phase: the packet is on its second leg.
const SECOND: u8 = 1;
/// The packet is in the upper half of the channels of its ring.
const UPPER: u8 = 2;
/// The packet takes the last dimension first.
const REVERSED: u8 = 4;

/// What a packet draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketDraws {
    /// Nothing but the way half-way round a ring.
    Nothing,
    /// A half of the ring's channels too, where its ring does not force one.
    Halves,
    /// Over the router of any node.
    Anywhere,
    /// Over a router in the box of coordinates between source and destination, which on a ring may be the long way round.
    Between,
    /// Over a router on a minimal way; half-way round a ring that is any coordinate.
    OnTheWay,
    /// The order of the dimensions.
    Order,
    /// The same, by what waits before the two first ports.
    OrderByCredits,
}

/// The ways of a routing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatticeWays {
    drawn: PacketDraws,
    /// Routers along each dimension.
    shape: Vec<u32>,
    /// Its lines are rings.
    wraps: bool,
}

/// A draw of a packet: the same wherever it is asked for.
#[derive(Clone, Copy)]
struct Draw(u64);

impl Draw {
    /// Of so many, for a purpose of its own.
    fn of(self, purpose: u64, n: u32) -> u32 {
        below(mix(self.0 ^ purpose.wrapping_mul(0x9E37_79B9_7F4A_7C15)), u64::from(n)) as u32
    }
}

/// Where a packet is on its way.
#[derive(Clone, Copy)]
struct OnTheWay {
    at: u32,
    to: u32,
    /// The dimension that it came by, if it has not just begun a leg.
    dim: Option<u8>,
    phase: u8,
}

impl LatticeWays {
    pub(super) fn new(drawn: PacketDraws, topology: &Topology) -> Result<LatticeWays, BuildError> {
        let wraps = match topology.spec() {
            TopologySpec::Torus(_) | TopologySpec::Ring(_) => true,
            TopologySpec::Mesh(_) => false,
            _ => return refuse("it goes by the dimensions of a mesh or torus", "take another routing"),
        };
        Ok(LatticeWays {
            drawn,
            shape: topology.lattice_shape().unwrap_or_default(),
            wraps,
        })
    }

    fn coordinate(&self, router: u32, dim: u8) -> u32 {
        let stride: u32 = self.shape[..usize::from(dim)].iter().product();
        router / stride % self.shape[usize::from(dim)]
    }

    /// The router that a packet goes over; `None` for one leg alone.
    fn over(&self, topology: &Topology, from: u32, to: u32, draw: Draw) -> Option<u32> {
        match self.drawn {
            PacketDraws::Nothing | PacketDraws::Halves | PacketDraws::Order | PacketDraws::OrderByCredits => None,
            PacketDraws::Anywhere => Some(topology.router_of(draw.of(1, topology.n_nodes()))),
            PacketDraws::Between | PacketDraws::OnTheWay => {
                let (mut over, mut stride) = (0, 1);
                for (dim, &size) in (0..).zip(&self.shape) {
                    let (a, b) = (self.coordinate(from, dim), self.coordinate(to, dim));
                    let (first, hops) = self.between((a, b), size);
                    over += stride * ((first + draw.of(2 + u64::from(dim), hops + 1)) % size);
                    stride *= size;
                }
                Some(over)
            }
        }
    }

    /// The coordinates between two, both included: the first of them, and how many come behind it in rising order round the ring.
    fn between(&self, (a, b): (u32, u32), size: u32) -> (u32, u32) {
        if !self.wraps || self.drawn == PacketDraws::Between {
            return (a.min(b), a.abs_diff(b));
        }
        let ahead = (b + size - a) % size;
        match (2 * ahead).cmp(&size) {
            Ordering::Less => (a, ahead),
            Ordering::Greater => (b, size - ahead),
            Ordering::Equal => (0, size - 1),
        }
    }

    /// Classes of channels.
    fn classes(&self) -> u8 {
        let rings = if self.wraps { 2 } else { 1 };
        let legs = match self.drawn {
            PacketDraws::Nothing | PacketDraws::Halves => 1,
            PacketDraws::Anywhere
            | PacketDraws::Between
            | PacketDraws::OnTheWay
            | PacketDraws::Order
            | PacketDraws::OrderByCredits => 2,
        };
        rings * legs
    }

    /// The class of a phase.
    fn class(&self, phase: u8) -> u8 {
        let part = match self.drawn {
            PacketDraws::Nothing | PacketDraws::Halves => 0,
            PacketDraws::Anywhere | PacketDraws::Between | PacketDraws::OnTheWay => u8::from(phase & SECOND != 0),
            PacketDraws::Order | PacketDraws::OrderByCredits => u8::from(phase & REVERSED != 0),
        };
        match (self.wraps, self.classes()) {
            (false, _) => part,
            (true, 2) => u8::from(phase & UPPER != 0),
            (true, _) => 2 * u8::from(phase & UPPER != 0) + part,
        }
    }

    /// The step from `at` to `to`: port, cables, phase. `coins` are for the way half-way round a ring and for a half of the channels.
    fn step(&self, topology: &Topology, place: OnTheWay, coins: (bool, bool)) -> (u16, u16, u8) {
        let OnTheWay { at, to, dim, phase } = place;
        let last = |n: u32| if phase & REVERSED != 0 { n - 1 } else { 0 };
        let hop = topology.minimal_along(at, to, Came::INJECTED, last);
        if !self.wraps || dim == Some(hop.dim) {
            return (hop.port, hop.links, phase);
        }
        let size = self.shape[usize::from(hop.dim)];
        let (from, target) = (self.coordinate(at, hop.dim), self.coordinate(to, hop.dim));
        let ahead = (target + size - from) % size;
        let mut port = hop.port;
        let mut forward = 2 * ahead <= size;
        if 2 * ahead == size {
            // The topology's own way is the positive one, whose cables come first.
            forward = coins.0;
            port = hop.port + if forward { 0 } else { hop.links };
        }
        let middle = (size - 1) / 2;
        let upper = match (self.drawn == PacketDraws::Halves, forward) {
            (false, _) => from > target,
            (true, true) if from > target => true,
            (true, false) if from < target => true,
            (true, true) if from <= middle && target > middle => false,
            (true, false) if from > middle && target <= middle => false,
            (true, _) => coins.1,
        };
        (port, hop.links, phase & !UPPER | if upper { UPPER } else { 0 })
    }

    /// The same of a packet with its draws; the second leg begins at the router that it goes over.
    fn lead(&self, topology: &Topology, mut place: OnTheWay, over: Option<u32>, coins: (bool, bool)) -> (u16, u16, u8) {
        match over {
            None => place.phase |= SECOND,
            Some(over) if place.phase & SECOND == 0 => {
                if over == place.at {
                    place.phase = place.phase & !UPPER | SECOND;
                    place.dim = None;
                } else {
                    place.to = over;
                }
            }
            Some(_) => {}
        }
        self.step(topology, place, coins)
    }
}

impl ReadyRouting for LatticeWays {
    fn vcs(&self, _: &Topology) -> u8 {
        self.classes()
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        // Also asked of a smaller lattice.
        let shape = topology.lattice_shape().unwrap_or_default();
        let ways = LatticeWays { shape, ..self.clone() };
        Box::new(AllLatticeWays { topology, ways, vcs })
    }

    fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let Here {
            routing,
            net,
            site,
            packet,
        } = here;
        let topology = &net.topology;
        let draw = Draw(mix(routing.seed ^ routing.identity(packet)));
        let (at, to) = (site.router, topology.router_of(packet.destination()));
        let came = packet.port();
        let is_new = came >= site.net;
        let dim = (!is_new).then(|| net.peers[(site.port + u32::from(came)) as usize].class() - 1);
        let mut place = OnTheWay {
            at,
            to,
            dim,
            phase: packet.phase(),
        };
        if is_new && matches!(self.drawn, PacketDraws::Order | PacketDraws::OrderByCredits) {
            let reversed = match self.drawn {
                PacketDraws::OrderByCredits => self.fewer_used(topology, place, &mut wait, draw.of(9, 2) == 1),
                _ => draw.of(9, 2) == 1,
            };
            place.phase = if reversed { REVERSED } else { 0 };
        }
        let over = match self.drawn {
            PacketDraws::Anywhere | PacketDraws::Between | PacketDraws::OnTheWay => {
                self.over(topology, topology.router_of(packet.source()), to, draw)
            }
            PacketDraws::Nothing | PacketDraws::Halves | PacketDraws::Order | PacketDraws::OrderByCredits => None,
        };
        // A coin for each dimension and leg.
        let purpose = 16 + 2 * u64::from(at);
        let coins = (draw.of(purpose, 2) == 1, draw.of(purpose + 1, 2) == 1);
        let (port, links, phase) = self.lead(topology, place, over, coins);
        let cable = routing.one_of(site, port.into(), links.into(), packet);
        Way::new(cable, self.class(phase).min(routing.last_vc), phase)
    }

    fn asks_for_cables(&self) -> bool {
        false
    }
}

impl LatticeWays {
    /// Whether the last dimension first has the first port with fewer used credits.
    fn fewer_used(
        &self,
        topology: &Topology,
        place: OnTheWay,
        wait: &mut impl FnMut(u32, u8) -> u64,
        tie: bool,
    ) -> bool {
        let mut used = |phase: u8| {
            let (port, ..) = self.step(topology, OnTheWay { phase, ..place }, (false, false));
            wait(port.into(), 0)
        };
        let (in_order, reversed) = (used(0), used(REVERSED));
        reversed < in_order || (reversed == in_order && tie)
    }
}

/// All ways: the state is the router that a packet goes over plus one, or zero, times eight, and the phase.
struct AllLatticeWays<'t> {
    topology: &'t Topology,
    ways: LatticeWays,
    vcs: u8,
}

impl AllLatticeWays<'_> {
    fn push(&self, place: OnTheWay, over: Option<u32>, out: &mut Vec<Step>) {
        let coins = [(false, false), (false, true), (true, false), (true, true)];
        let first = out.len();
        for coins in coins {
            let (port, links, phase) = self.ways.lead(self.topology, place, over, coins);
            let steps = (0..links).map(|cable| Step {
                port: port + cable,
                vc: self.ways.class(phase).min(self.vcs - 1),
                state: over.map_or(0, |over| over + 1) << 3 | u32::from(phase),
            });
            for step in steps {
                if !out[first..].contains(&step) {
                    out.push(step);
                }
            }
        }
    }
}

impl RoutingRule for AllLatticeWays<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at == to {
            return;
        }
        let place = |phase| OnTheWay {
            at,
            to,
            dim: None,
            phase,
        };
        let ways = &self.ways;
        match ways.drawn {
            PacketDraws::Nothing | PacketDraws::Halves => self.push(place(0), None, out),
            PacketDraws::Order | PacketDraws::OrderByCredits => {
                [0, REVERSED]
                    .into_iter()
                    .for_each(|phase| self.push(place(phase), None, out));
            }
            PacketDraws::Anywhere | PacketDraws::Between | PacketDraws::OnTheWay => {
                let lies_between = |over: &u32| {
                    (0..).zip(&ways.shape).all(|(dim, &size)| {
                        let (a, b) = (ways.coordinate(at, dim), ways.coordinate(to, dim));
                        let (first, hops) = ways.between((a, b), size);
                        (ways.coordinate(*over, dim) + size - first) % size <= hops
                    })
                };
                (0..self.topology.n_routers())
                    .filter(|over| ways.drawn == PacketDraws::Anywhere || lies_between(over))
                    .for_each(|over| self.push(place(0), Some(over), out));
            }
        }
    }

    fn next(&self, at: u32, came_port: u16, _: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at == to {
            return;
        }
        let wiring = self.topology.wiring();
        let port = wiring.port_offset[at as usize] + u32::from(came_port);
        let place = OnTheWay {
            at,
            to,
            dim: Some(wiring.class[port as usize] - 1),
            phase: (state & 7) as u8,
        };
        self.push(place, (state >> 3).checked_sub(1), out);
    }

    fn is_minimal(&self) -> bool {
        match self.ways.drawn {
            PacketDraws::Anywhere => false,
            PacketDraws::Between => !self.ways.wraps,
            PacketDraws::Nothing
            | PacketDraws::Halves
            | PacketDraws::OnTheWay
            | PacketDraws::Order
            | PacketDraws::OrderByCredits => true,
        }
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}

/// What all of these routings have in common in the registry.
pub(super) const FITS_LATTICES: Fits = Fits::only(&[TopologyKind::Ring, TopologyKind::Mesh, TopologyKind::Torus]);

#[cfg(test)]
mod tests {
    use super::*;
    use topo::load::{TrafficPattern, channel_load};
    use topo::{Lattice, RingSpec, Verdict, check, verify_routes};

    fn lattice(shape: &[u32], width: &[u32]) -> Lattice {
        Lattice {
            shape: shape.to_vec(),
            width: width.to_vec(),
            nodes_per_router: 1,
        }
    }

    fn networks() -> Vec<Topology> {
        let ring = RingSpec {
            routers: 6,
            width: 1,
            nodes_per_router: 1,
        };
        [
            TopologySpec::Ring(ring),
            TopologySpec::Mesh(lattice(&[5, 4], &[1, 2])),
            TopologySpec::Mesh(lattice(&[3, 2, 4], &[])),
            TopologySpec::Torus(lattice(&[4, 5], &[2, 1])),
            TopologySpec::Torus(lattice(&[3, 2, 4], &[])),
        ]
        .iter()
        .map(|spec| spec.build().unwrap())
        .collect()
    }

    #[test]
    fn romm_and_o1turn_are_minimal_and_free_of_deadlock_on_their_channels() {
        for topology in networks() {
            for drawn in [PacketDraws::OnTheWay, PacketDraws::Order] {
                let ways = LatticeWays::new(drawn, &topology).unwrap();
                let rule = ways.rule(&topology, ways.vcs(&topology));
                let report = verify_routes(&topology, &*rule, u64::MAX).unwrap_or_else(|fault| panic!("{fault}"));
                assert!(report.all_pairs && rule.is_minimal());
                assert_eq!(report.longest, topology.diameter());
                assert!(matches!(check(&topology, &*rule), Verdict::Free { .. }), "{drawn:?}");
            }
        }
    }

    #[test]
    fn on_one_channel_a_mesh_can_deadlock() {
        let topology = TopologySpec::Mesh(lattice(&[4, 4], &[])).build().unwrap();
        for drawn in [PacketDraws::OnTheWay, PacketDraws::Order] {
            let ways = LatticeWays::new(drawn, &topology).unwrap();
            let rule = ways.rule(&topology, ways.vcs(&topology) - 1);
            assert!(matches!(check(&topology, &*rule), Verdict::Cycle(_)), "{drawn:?}");
        }
    }

    /// Every router between two has the same chance, so that packets over each of them are as many.
    #[test]
    fn romm_draws_all_routers_between_alike() {
        for spec in [
            TopologySpec::Mesh(lattice(&[6, 5], &[])),
            TopologySpec::Torus(lattice(&[8, 7], &[])),
        ] {
            let topology = spec.build().unwrap();
            let ways = LatticeWays::new(PacketDraws::OnTheWay, &topology).unwrap();
            let n = topology.n_routers();
            for (from, to) in [(0, n - 1), (8, 20), (1, 2), (n - 4, 5)] {
                let mut drawn = vec![0u32; n as usize];
                for packet in 0..20_000 {
                    let over = ways.over(&topology, from, to, Draw(mix(packet))).unwrap();
                    drawn[over as usize] += 1;
                }
                let distance = |a, b| topology.distance(a, b);
                let between: Vec<u32> = (0..n)
                    .filter(|&over| distance(from, over) + distance(over, to) == distance(from, to))
                    .collect();
                let mean = 20_000.0 / between.len() as f64;
                for over in 0..n {
                    let count = f64::from(drawn[over as usize]);
                    match between.contains(&over) {
                        // Five standard deviations.
                        true => assert!(
                            (count - mean).abs() < 5.0 * mean.sqrt(),
                            "{from} {to} {over}: {count}, {mean}"
                        ),
                        false => assert_eq!(count, 0.0),
                    }
                }
            }
        }
    }

    /// Most that the given loads of pairs can add up to if every node sends one unit and gets one (Kuhn 1955, with potentials).
    fn worst_permutation(cost: &[Vec<f64>]) -> f64 {
        let n = cost.len();
        let (mut u, mut v, mut matched) = (vec![0.0; n + 1], vec![0.0; n + 1], vec![0; n + 1]);
        for row in 1..=n {
            let (mut least, mut before, mut seen) = (vec![f64::MAX; n + 1], vec![0; n + 1], vec![false; n + 1]);
            matched[0] = row;
            let mut column = 0;
            while matched[column] != 0 {
                seen[column] = true;
                let at = matched[column];
                let (mut delta, mut next) = (f64::MAX, 0);
                for j in (1..=n).filter(|&j| !seen[j]) {
                    let left = -cost[at - 1][j - 1] - u[at] - v[j];
                    if left < least[j] {
                        (least[j], before[j]) = (left, column);
                    }
                    if least[j] < delta {
                        (delta, next) = (least[j], j);
                    }
                }
                for j in 0..=n {
                    match seen[j] {
                        true => {
                            u[matched[j]] += delta;
                            v[j] -= delta;
                        }
                        false => least[j] -= delta,
                    }
                }
                column = next;
            }
            while column != 0 {
                matched[column] = matched[before[column]];
                column = before[column];
            }
        }
        (1..=n).map(|j| cost[matched[j] - 1][j - 1]).sum()
    }

    /// Load of the busiest channel by the worst permutation for each, on a mesh of k x k (Towles and Dally 2002).
    fn worst_case(drawn: PacketDraws, k: u32) -> f64 {
        let topology = TopologySpec::Mesh(lattice(&[k, k], &[])).build().unwrap();
        let ways = LatticeWays::new(drawn, &topology).unwrap();
        let rule = ways.rule(&topology, ways.vcs(&topology));
        let n = topology.n_nodes() as usize;
        let ports = topology.wiring().n_ports() as usize;
        let mut of_pairs = vec![vec![vec![0.0; n]; n]; ports];
        for (from, to) in (0..n * n)
            .map(|pair| (pair / n, pair % n))
            .filter(|(from, to)| from != to)
        {
            let one = TrafficPattern::Matrix(vec![(from as u32, to as u32, 1.0)]);
            for (port, load) in channel_load(&topology, &*rule, &one).unwrap().into_iter().enumerate() {
                of_pairs[port][from][to] = load;
            }
        }
        of_pairs.iter().map(|cost| worst_permutation(cost)).fold(0.0, f64::max)
    }

    /// Seo et al. 2005: O1TURN is worst-case optimal on meshes of even radix: half of the capacity, which is 4 / k units per node where a
    /// channel carries one. Dimension order takes k - 1 units on the busiest channel.
    #[test]
    fn o1turn_takes_half_of_the_capacity_of_a_mesh_in_the_worst_case() {
        let k = 8;
        let capacity = 4.0 / f64::from(k);
        let throughput = |drawn| 1.0 / worst_case(drawn, k);
        let o1turn = throughput(PacketDraws::Order);
        assert!((o1turn - capacity / 2.0).abs() < 1e-9, "{o1turn}");
        let dimension_order = throughput(PacketDraws::Nothing);
        assert!((dimension_order - 1.0 / 7.0).abs() < 1e-9, "{dimension_order}");
        let romm = throughput(PacketDraws::OnTheWay);
        assert!((romm - 0.133_85).abs() < 1e-5, "{romm}");
    }

    #[test]
    fn a_transpose_loads_channels_half_as_much_by_both_orders_as_by_one() {
        let topology = TopologySpec::Mesh(lattice(&[8, 8], &[])).build().unwrap();
        let transpose = TrafficPattern::Permutation((0..64).map(|node| node % 8 * 8 + node / 8).collect());
        let busiest = |drawn| {
            let ways = LatticeWays::new(drawn, &topology).unwrap();
            let load = channel_load(&topology, &*ways.rule(&topology, 2), &transpose).unwrap();
            load.into_iter().fold(0.0, f64::max)
        };
        assert_eq!(busiest(PacketDraws::Nothing), 7.0);
        assert_eq!(busiest(PacketDraws::Order), 3.5);
    }
}
