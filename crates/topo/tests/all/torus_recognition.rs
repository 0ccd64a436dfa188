//! Tori found by their cables alone, or by a torus-2QoS.conf: whatever the order of switches and ports, and with some of them lost.

use proptest::prelude::*;
use topo::Subnet;
use topo::subnet::torus::{Recognition, TorusConf, TorusMisfit, TorusPlaces, recognise};
use topo::subnet::{
    End, Host, Lids, Options, RoutingEngine, Switch, Tables, find_cycle, ibnetdiscover, route_with_report,
};

/// Random numbers (splitmix64).
struct Stream(u64);

impl Stream {
    fn new(seed: u64) -> Stream {
        Stream(seed)
    }

    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(n)) as u32
    }
}

/// A torus or mesh whose lines close where they are told to, with cables `width` times and hosts at every switch.
#[derive(Clone, Debug)]
struct Built {
    shape: Vec<u32>,
    loops: Vec<bool>,
    width: u32,
    hosts: u32,
}

impl Built {
    fn of(shape: &[u32], loops: &[bool]) -> Built {
        Built {
            shape: shape.to_vec(),
            loops: loops.to_vec(),
            width: 1,
            hosts: 1,
        }
    }

    fn torus(shape: &[u32]) -> Built {
        Built::of(shape, &vec![true; shape.len()])
    }

    fn n(&self) -> u32 {
        self.shape.iter().product()
    }

    fn coordinates(&self, switch: u32) -> Vec<u32> {
        let mut rest = switch;
        let split = |&size: &u32| {
            let c = rest % size;
            rest /= size;
            c
        };
        self.shape.iter().map(split).collect()
    }

    fn at(&self, coordinates: &[u32]) -> u32 {
        let dims = self.shape.iter().zip(coordinates).rev();
        dims.fold(0, |place, (size, c)| place * size + c)
    }

    /// Pairs of neighbours; on a ring of two the pair comes twice.
    fn pairs(&self) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for from in 0..self.n() {
            for (dim, &size) in self.shape.iter().enumerate() {
                let mut to = self.coordinates(from);
                to[dim] += 1;
                if to[dim] == size && (!self.loops[dim] || size == 1) {
                    continue;
                }
                to[dim] %= size;
                found.push((from, self.at(&to)));
            }
        }
        found
    }

    /// Hops between two switches if nothing is broken.
    fn distance(&self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.coordinates(a), self.coordinates(b));
        let dims = (0..self.shape.len()).map(|dim| {
            let apart = a[dim].abs_diff(b[dim]);
            if self.loops[dim] {
                apart.min(self.shape[dim] - apart)
            } else {
                apart
            }
        });
        dims.sum()
    }

    /// Its subnet without these switches and pairs of neighbours, with switches and ports in random order; names tell the first numbers.
    fn subnet(&self, dead: &[u32], cut: &[(u32, u32)], seed: Option<u64>) -> Subnet {
        let mut random = Stream::new(seed.unwrap_or(0));
        let mut shuffle = |list: &mut Vec<u32>| {
            if seed.is_some() {
                for i in (1..list.len()).rev() {
                    list.swap(i, random.below(i as u32 + 1) as usize);
                }
            }
        };
        let mut order: Vec<u32> = (0..self.n()).filter(|s| !dead.contains(s)).collect();
        shuffle(&mut order);
        // Far ends by switch as a list, then in the order of its ports.
        let mut ends: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.n() as usize];
        let is_left = |&(a, b): &(u32, u32)| {
            !dead.contains(&a) && !dead.contains(&b) && !cut.contains(&(a, b)) && !cut.contains(&(b, a))
        };
        let mut cable = 0;
        for (a, b) in self.pairs().into_iter().filter(is_left) {
            for _ in 0..self.width {
                ends[a as usize].push((b, cable));
                ends[b as usize].push((a, cable));
                cable += 1;
            }
        }
        const HOST: u32 = u32::MAX;
        let mut ports: Vec<Vec<(u32, u32)>> = Vec::new();
        for &old in &order {
            let mut all = ends[old as usize].clone();
            all.splice(0..0, (0..self.hosts).map(|host| (HOST, host)));
            let mut places: Vec<u32> = (0..all.len() as u32).collect();
            shuffle(&mut places);
            ports.push(places.iter().map(|&i| all[i as usize]).collect());
        }
        let new_of = |old: u32| order.iter().position(|&o| o == old).unwrap();
        let mut subnet = Subnet::default();
        for (new, &old) in order.iter().enumerate() {
            let mut list = vec![None];
            for (port, &(to, number)) in (1..).zip(&ports[new]) {
                list.push(Some(if to == HOST {
                    subnet.hosts.push(Host {
                        name: format!("h{old}.{number}"),
                        guid: 0x10_0000 + u64::from(old * self.hosts + number),
                        switch: new as u32,
                        port,
                    });
                    End::Host(subnet.hosts.len() as u32 - 1)
                } else {
                    let there = new_of(to);
                    let is_back = |end: &(u32, u32)| *end == (old, number);
                    let back = ports[there].iter().position(is_back).unwrap();
                    End::Switch {
                        switch: there as u32,
                        port: back as u16 + 1,
                    }
                }));
            }
            subnet.switches.push(Switch {
                name: format!("s{old}"),
                guid: 0x1000 + u64::from(old),
                ports: list,
            });
        }
        subnet.verify().unwrap();
        subnet
    }

    /// Factors of two, and others: rings of four are two of two.
    fn factors(&self) -> (usize, usize) {
        let dims = || self.shape.iter().zip(&self.loops);
        let two = dims().filter(|(size, _)| **size == 2).count() + 2 * dims().filter(|d| d == &(&4, &true)).count();
        (
            two,
            dims()
                .filter(|(size, loops)| **size > 2 && (**size, **loops) != (4, true))
                .count(),
        )
    }

    fn is_certain(&self) -> bool {
        matches!(self.factors(), (0 | 1, _) | (2, 2))
    }
}

/// The number that a switch's name tells.
fn old_of(subnet: &Subnet, switch: u32) -> u32 {
    subnet.switches[switch as usize].name[1..].parse().unwrap()
}

/// Hops between two places if nothing is broken.
fn distance(places: &TorusPlaces, a: u32, b: u32) -> u32 {
    let built = Built::of(&places.dims, &places.loops);
    built.distance(a, b)
}

/// That what was found is the torus that was built, up to its symmetries: all switches are as far from each other.
fn check_places(built: &Built, subnet: &Subnet, found: &TorusPlaces) -> Result<(), TestCaseError> {
    for a in 0..subnet.n_switches() {
        for b in 0..a {
            let ends = found.place(a).zip(found.place(b));
            prop_assert!(ends.is_some(), "{built:?}: {a} or {b} has no place");
            let apart = ends.map(|(a, b)| distance(found, a, b));
            let expected = built.distance(old_of(subnet, a), old_of(subnet, b));
            prop_assert_eq!(
                apart,
                Some(expected),
                "{:?} as {:?} {:?}",
                built,
                &found.dims,
                &found.loops
            );
        }
    }
    Ok(())
}

/// The same subnet with switches numbered by their places, those that lack among them.
fn renumbered(subnet: &Subnet, places: &TorusPlaces) -> Subnet {
    let mut all = subnet.clone();
    all.switches = (0..places.len())
        .map(|place| match places.switch(place) {
            None => Switch {
                name: format!("none at {place}"),
                guid: 0x9999_0000 + u64::from(place),
                ports: vec![None],
            },
            Some(switch) => {
                let mut switch = subnet.switches[switch as usize].clone();
                for end in switch.ports.iter_mut().flatten() {
                    if let End::Switch { switch, .. } = end {
                        *switch = places.place_of[*switch as usize];
                    }
                }
                switch
            }
        })
        .collect();
    for host in &mut all.hosts {
        host.switch = places.place_of[host.switch as usize];
    }
    all.verify().unwrap();
    all
}

fn routed(subnet: &Subnet, options: &Options) -> Result<(Tables, Option<Recognition>), String> {
    let found = route_with_report(RoutingEngine::Torus2Qos, subnet, options);
    found
        .map(|(tables, report)| (tables, report.torus))
        .map_err(|error| error.to_string())
}

/// That tables are those of the torus whose numbers say the coordinates, that they serve all pairs and cannot deadlock.
fn check_tables(built: &Built, subnet: &Subnet, is_whole: bool) -> Result<(), TestCaseError> {
    let places = recognise(subnet, None).unwrap().places;
    let numbered = renumbered(subnet, &places);
    let by_numbers = Options {
        dims: places.dims.clone(),
        parted: true,
        threads: 1,
        ..Options::default()
    };
    let parted = Options {
        dims: vec![],
        ..by_numbers.clone()
    };
    let (tables, expected) = match (routed(subnet, &parted), routed(&numbered, &by_numbers)) {
        (Ok((tables, _)), Ok((expected, _))) => (tables, expected),
        (Err(found), Err(_)) => {
            // A line that both have broken has no other way round.
            prop_assert!(!is_whole, "{built:?}: {found}");
            return Ok(());
        }
        (found, expected) => return Err(TestCaseError::fail(format!("{built:?}: {found:?}, {expected:?}"))),
    };
    prop_assert_eq!(tables.n_lanes, expected.n_lanes);
    prop_assert_eq!(find_cycle(subnet, &tables), None);
    for from in 0..subnet.n_switches() {
        let at = places.place_of[from as usize];
        for host in 0..subnet.n_hosts() {
            prop_assert_eq!(tables.port(from, host), expected.port(at, host));
            prop_assert_eq!(tables.lane(from, host), expected.lane(at, host));
            let way = tables.walk(subnet, from, host);
            prop_assert!(way.is_ok(), "{built:?}: {from} to {host}: {way:?}");
            if is_whole {
                let home = old_of(subnet, subnet.hosts[host as usize].switch);
                prop_assert_eq!(
                    way.unwrap().len() as u32,
                    built.distance(old_of(subnet, from), home) + 1
                );
            }
        }
    }
    Ok(())
}

/// Read back from what `ibnetdiscover` would print.
fn through_text(subnet: &Subnet) -> Subnet {
    let mut text = Vec::new();
    let rates = ibnetdiscover::Rates::default();
    ibnetdiscover::write(subnet, &Lids::sequential(subnet), &rates, &mut text).unwrap();
    ibnetdiscover::read(text.as_slice()).unwrap().subnet
}

fn shapes() -> impl Strategy<Value = Built> {
    let dim = (2u32..8, prop::bool::weighted(0.7));
    (prop::collection::vec(dim, 1..=3), 1u32..3, 1u32..3).prop_map(|(dims, width, hosts)| Built {
        shape: dims.iter().map(|dim| dim.0).collect(),
        loops: dims.iter().map(|dim| dim.1).collect(),
        width,
        hosts,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn a_torus_is_found_in_any_order_of_switches_and_ports(built in shapes(), seed in any::<u64>()) {
        let subnet = through_text(&built.subnet(&[], &[], Some(seed)));
        match recognise(&subnet, None) {
            Ok(found) => {
                prop_assert!(built.is_certain(), "{built:?}");
                prop_assert_eq!(found.places.lacking(&subnet).next(), None);
                prop_assert_eq!(found.places.broken(&subnet).next(), None);
                check_places(&built, &subnet, &found.places)?;
                if built.n() < 150 {
                    check_tables(&built, &subnet, true)?;
                }
            }
            Err(misfit) => {
                prop_assert!(!built.is_certain(), "{built:?}: {misfit:?}");
                prop_assert!(misfit.reason.starts_with("rings of four switches, such as `s"), "{misfit:?}");
            }
        }
    }

    /// At most a cable of every ring, and a switch. Of a few switches so much would be another torus.
    #[test]
    fn a_torus_with_broken_rings_and_a_dead_switch_is_found(
        built in shapes(),
        seed in any::<u64>(),
        dead in prop::option::of(any::<prop::sample::Index>()),
        cut in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        prop_assume!(built.n() >= 16 && built.shape.len() > 1 && built.is_certain());
        let dead: Vec<u32> = dead.iter().map(|dead| dead.index(built.n() as usize) as u32).collect();
        let pairs = built.pairs();
        let mut cuts: Vec<(u32, u32)> = Vec::new();
        for index in &cut {
            let (a, b) = pairs[index.index(pairs.len())];
            let line = |(a, b): (u32, u32)| {
                let (from, to) = (built.coordinates(a), built.coordinates(b));
                let mut line = from.clone();
                let dim = (0..from.len()).find(|&dim| from[dim] != to[dim]).unwrap();
                line[dim] = u32::MAX;
                line
            };
            if cuts.iter().all(|&other| line(other) != line((a, b))) {
                cuts.push((a, b));
            }
        }
        let subnet = through_text(&built.subnet(&dead, &cuts, Some(seed)));
        let is_torn = subnet.pieces(|_, _| true).len() > 1;
        prop_assume!(!is_torn && built.n() as usize >= 16 * (dead.len() + cuts.len()));
        match recognise(&subnet, None) {
            Ok(found) => {
                check_places(&built, &subnet, &found.places)?;
                prop_assert_eq!(found.places.lacking(&subnet).count(), dead.len());
                if built.n() < 150 {
                    check_tables(&built, &subnet, dead.is_empty() && cuts.is_empty())?;
                }
            }
            Err(misfit) => {
                // At the rim of a mesh, on lines of two and where several have been lost, a switch may have lost all that told where it is.
                let has_rim = built.shape.iter().zip(&built.loops).any(|(&size, &loops)| size == 2 || !loops);
                let lost = dead.len() + cuts.len();
                prop_assert!(lost > 1 || has_rim && lost > 0, "{built:?} {dead:?} {cuts:?}: {misfit:?}");
            }
        }
    }

    /// With one whole torus and a file that names its switches, the coordinates are those of the file, whatever is lost.
    #[test]
    fn a_file_gives_coordinates_also_to_what_has_lost_cables(
        built in shapes(),
        seed in any::<u64>(),
        dead in prop::option::of(any::<prop::sample::Index>()),
    ) {
        prop_assume!(built.n() >= 12);
        // The seed and its neighbours must be there.
        let start = built.at(&built.shape.iter().map(|size| size / 2).collect::<Vec<_>>());
        let dead: Vec<u32> = dead.iter().map(|dead| dead.index(built.n() as usize) as u32)
            .filter(|&dead| built.distance(dead, start) > 1).collect();
        let subnet = built.subnet(&dead, &[], Some(seed));
        prop_assume!(subnet.pieces(|_, _| true).len() == 1);
        let conf = TorusConf::read(file_of(&built, start).as_bytes()).unwrap();
        let found = recognise(&subnet, Some(&conf));
        let found = match found {
            Ok(found) => found.places,
            Err(misfit) => {
                prop_assert!(!dead.is_empty() && misfit.reason.contains("do not tell"), "{built:?} {dead:?}: {misfit:?}");
                return Ok(());
            }
        };
        for switch in 0..subnet.n_switches() {
            let mut expected = built.coordinates(old_of(&subnet, switch));
            expected.resize(3, 0);
            let place = found.place_of[switch as usize];
            prop_assert_eq!(found.coordinates(place), expected, "{:?} {:?}", built, dead);
        }
    }
}

/// A `torus-2QoS.conf` whose seed is a switch, with the origin where the numbers have it.
fn file_of(built: &Built, start: u32) -> String {
    let at = built.coordinates(start);
    let word = |dim: usize| match (built.shape.get(dim), built.loops.get(dim)) {
        (Some(size), Some(true)) => format!("{size}t"),
        (Some(size), _) => format!("{size}m"),
        _ => "1".into(),
    };
    let mut text = format!("# by a test\nmesh {} {} {}\n", word(0), word(1), word(2));
    for (dim, axis) in (0..built.shape.len()).zip(["x", "y", "z"]) {
        for (side, by) in [("p", 1), ("m", built.shape[dim] - 1)] {
            let mut to = at.clone();
            to[dim] += by;
            if to[dim] % built.shape[dim] != to[dim] && !built.loops[dim] && side == "p"
                || at[dim] == 0 && !built.loops[dim] && side == "m"
            {
                continue;
            }
            to[dim] %= built.shape[dim];
            let guid = |switch: u32| 0x1000 + switch;
            text += &format!("{axis}{side}_link 0x{:x} 0x{:x}\n", guid(start), guid(built.at(&to)));
        }
        text += &format!("{axis}_dateline -{}\n", at[dim]);
    }
    text
}

fn conf(text: &str) -> TorusConf {
    TorusConf::read(text.as_bytes()).unwrap()
}

/// Service levels between switches that are named by their first coordinates, of a torus of 5 x 4.
fn levels(dead: &[u32], text: &str, pairs: &[([u32; 2], [u32; 2])]) -> Vec<u8> {
    let built = Built::torus(&[5, 4]);
    let subnet = built.subnet(dead, &[], Some(7));
    let options = Options {
        torus: Some(conf(text)),
        threads: 1,
        ..Options::default()
    };
    let (tables, _) = routed(&subnet, &options).unwrap();
    let switch = |at: &[u32; 2]| {
        (0..subnet.n_switches())
            .find(|&s| old_of(&subnet, s) == built.at(at))
            .unwrap()
    };
    let level = |(from, to): &([u32; 2], [u32; 2])| {
        let home = switch(to);
        let host = subnet.hosts.iter().position(|host| host.switch == home).unwrap();
        tables.lane(switch(from), host as u32)
    };
    pairs.iter().map(level).collect()
}

/// By torus-2QoS(8): a bit for every axis whose dateline a path crosses, that between the last coordinate and 0, each axis the shorter way.
#[test]
fn levels_are_by_the_datelines_of_the_file() {
    // Switch (x, y) has GUID 0x1000 + x + 5 y. The seed is (2, 1), by datelines at its own coordinates.
    let links = "xp_link 0x1007 0x1008\nyp_link 0x1007 0x100c\nym_link 0x1007 0x1002\n";
    let pairs = [
        ([4, 0], [1, 3]), // x: 3 straight, 2 over the end. y: 3, 1.
        ([0, 0], [2, 2]), // x: 2, 3. y: 2, 2: not over the end.
        ([3, 3], [0, 3]), // x: 3, 2.
        ([1, 0], [1, 3]), // y: 3, 1.
        ([1, 0], [2, 1]), // neighbours in both
    ];
    let at_zero = format!("torus 5 4 1\n{links}x_dateline -2\ny_dateline -1\n");
    assert_eq!(levels(&[], &at_zero, &pairs), [3, 0, 1, 2, 0]);
    // The origin is the seed: x has the order 2, 3, 4, 0, 1 and y the order 1, 2, 3, 0.
    let at_seed = format!("torus 5 4 1\n{links}");
    // 2 to 4: crosses not. 3 to 2, over 0: y straight 1. 3 to 0 of y: coordinates 3, 2: straight.
    // (4,0) -> (1,3): x from 2 to 4, y from 3 to 2. (0,0) -> (2,2): x from 3 to 0: 3, 2 over. y from 3 to 1: 2, 2.
    // (3,3) -> (0,3): x from 1 to 3. (1,0) -> (1,3): y from 3 to 2. (1,0) -> (2,1): x from 4 to 0, y from 3 to 0: both over.
    assert_eq!(levels(&[], &at_seed, &pairs), [0, 1, 0, 0, 3]);
    // x has one switch: the bits are those of y and z.
    let yz = links.replace("yp", "zp").replace("ym", "zm").replace("xp", "yp");
    let second = format!("torus 1 5 4\n{yz}y_dateline -2\nz_dateline -1\n");
    assert_eq!(levels(&[], &second, &pairs), [6, 0, 2, 4, 0]);
    // Another seed with its own datelines gives the same, also where a switch of the first lacks.
    let other = "next_seed\nxp_link 0x1000 0x1001\nyp_link 0x1000 0x1005\nym_link 0x1000 0x100f\n";
    assert_eq!(levels(&[8], &format!("{at_zero}{other}"), &pairs[..2]), [3, 0]);
}

#[test]
fn hosts_take_parallel_cables_in_the_order_of_the_file() {
    let built = Built {
        width: 2,
        hosts: 2,
        ..Built::torus(&[5, 3])
    };
    let subnet = built.subnet(&[], &[], None);
    let links = "torus 5 3 1\nxp_link 0x1000 0x1001\nyp_link 0x1000 0x1005\n";
    let cable_of_first_host = |more: &str| {
        let options = Options {
            torus: Some(conf(&format!("{links}{more}"))),
            ..Options::default()
        };
        let (tables, _) = routed(&subnet, &options).unwrap();
        let host = subnet.hosts_at(1).next().unwrap().1;
        (tables.port(0, host), tables.port(0, host + 1))
    };
    let (first, second) = cable_of_first_host("");
    assert!(first < second);
    assert_eq!(cable_of_first_host("port_order 2 1\n"), (second, first));
    // Ports 0 of switches and those of cables may be listed, too.
    assert_eq!(cable_of_first_host("port_order 0 5 2\n"), (second, first));
}

fn refusal(subnet: &Subnet, text: Option<&str>) -> TorusMisfit {
    recognise(subnet, text.map(conf).as_ref()).unwrap_err()
}

#[test]
fn what_is_no_torus_is_refused_by_the_names_of_its_switches() {
    let fat_tree = Subnet::of(&topo::preset("tsubame2-fat-tree").unwrap().build().unwrap());
    let dragonfly = Subnet::of(&topo::preset("ecp-8k-dragonfly").unwrap().build().unwrap());
    for subnet in [fat_tree, dragonfly] {
        let misfit = refusal(&subnet, None);
        assert!(
            misfit
                .reason
                .contains("other switches, on a torus of three dimensions it is 6 at most"),
            "{misfit:?}"
        );
    }
    let torus = Built::torus(&[5, 6]);
    // A 2-ary 3-tree has few neighbours, but no directions.
    let tree = topo::FatTreeSpec {
        down: vec![2, 2, 2],
        up: vec![2, 2],
        up_width: vec![],
    };
    let misfit = refusal(&Subnet::of(&topo::TopologySpec::FatTree(tree).build().unwrap()), None);
    assert!(misfit.reason.contains("do not tell where `L1.2` is"), "{misfit:?}");
    let mut two = torus.subnet(&[], &[], None);
    let n = two.n_switches();
    let mut other = two.clone();
    for switch in &mut other.switches {
        switch.ports.retain(|end| !matches!(end, Some(End::Host(_))));
        for end in switch.ports.iter_mut().flatten() {
            if let End::Switch { switch, port } = end {
                *switch += n;
                *port -= 1;
            }
        }
        switch.name = format!("other {}", switch.name);
    }
    two.switches.extend(other.switches);
    let misfit = refusal(&two, None);
    assert_eq!(misfit.reason, "no way from `s0` to `other s0`: these are two networks");
    // Two cables whose far ends are exchanged.
    for (seed, (one, other)) in [(1, (0, 17)), (2, (7, 29)), (3, (13, 25))] {
        let mut crossed = torus.subnet(&[], &[], Some(seed));
        let find = |old: u32| (0..n).find(|&s| old_of(&crossed, s) == old).unwrap();
        let (a, b) = (find(one), find(other));
        let (pa, ca, qa) = crossed.cables(a).next().unwrap();
        let far = |cable: &(u16, u32, u16)| cable.1 != a && cable.1 != ca;
        let (pb, cb, qb) = crossed.cables(b).find(far).unwrap();
        for (s, p, to, q) in [(a, pa, cb, qb), (b, pb, ca, qa)] {
            crossed.switches[s as usize].ports[usize::from(p)] = Some(End::Switch { switch: to, port: q });
            crossed.switches[to as usize].ports[usize::from(q)] = Some(End::Switch { switch: s, port: p });
        }
        crossed.verify().unwrap();
        let misfit = refusal(&crossed, None);
        assert!(
            misfit.reason.contains("fits no torus") || misfit.reason.contains("same place"),
            "{misfit:?}"
        );
    }
}

#[test]
fn rings_of_four_are_told_by_a_file_only() {
    let square = Built::torus(&[4, 4]).subnet(&[], &[], None);
    let misfit = refusal(&square, None);
    assert_eq!(
        misfit.reason,
        "rings of four switches, such as `s0`, `s1`, `s5`, `s4`: it may be a torus of 4 x 4 or of 4 x 2 x 2"
    );
    assert!(misfit.hint.contains("torus-2QoS.conf"), "{misfit:?}");
    let text =
        "torus 4 4 1\nxp_link 0x1000 0x1001\nxm_link 0x1000 0x1003\nyp_link 0x1000 0x1004\nym_link 0x1000 0x100c\n";
    let found = recognise(&square, Some(&conf(text))).unwrap().places;
    assert_eq!(found.place_of, (0..16).collect::<Vec<_>>());
    // Between two rings that are no fours there is one reading.
    assert!(recognise(&Built::torus(&[4, 5, 3]).subnet(&[], &[], Some(3)), None).is_ok());
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let subnet = Built::torus(&[5, 6]).subnet(&[], &[], Some(5));
    let links = "xp_link 0x1000 0x1001\nyp_link 0x1000 0x1005\n";
    for (text, expected) in [
        (
            format!("torus 5 5 1\n{links}"),
            "line 1: 5 x 5 x 1 are 25 switches, there are 30",
        ),
        (
            format!("torus 10 3 1\n{links}"),
            "line 1: x has 10 switches there, 5 by the cables",
        ),
        (
            format!("torus 5m 6 1\n{links}"),
            "line 1: x is an open line there, but cables join",
        ),
        (
            "torus 5 6 1\nxp_link 0x1000 0x2001\nyp_link 0x1000 0x1005\n".into(),
            "no switch has the GUID 0x2001",
        ),
        (
            "torus 5 6 1\nxp_link 0x1000 0x1002\nyp_link 0x1000 0x1005\n".into(),
            "line 2: `s0` and `s2` are no neighbours",
        ),
        (
            "torus 5 6 1\nxp_link 0x1000 0x1001\nyp_link 0x1000 0x1004\n".into(),
            "line 1: y has 6 switches there, 5 by the cables",
        ),
        (
            format!("torus 5 6 1\n{links}xm_link 0x1000 0x1001\n"),
            "xp_link and xm_link lead the same way",
        ),
        (format!("torus 5 6 1\n{links}portgroup_max_ports 1\n"), "`s"),
        (
            format!("torus 5 6 1\n{links}port_order 1 9\n"),
            "port_order has port 9, `s",
        ),
    ] {
        let misfit = refusal(&subnet, Some(&text));
        assert!(misfit.reason.contains(expected), "{text}: {misfit:?}");
    }
    // An open line begins at its first switch.
    let mesh = Built::of(&[5, 6], &[false, true]).subnet(&[], &[], Some(5));
    let from_second = "torus 5m 6 1\nxp_link 0x1001 0x1002\nyp_link 0x1001 0x1006\n";
    let misfit = refusal(&mesh, Some(from_second));
    assert!(
        misfit
            .reason
            .contains("x is an open line of 5 switches with the seed at 0"),
        "{misfit:?}"
    );
    assert!(recognise(&mesh, Some(&conf(&format!("{from_second}x_dateline -1\n")))).is_ok());
}

#[test]
fn mistakes_of_a_file_are_told_with_their_lines() {
    let told = |text: &str| TorusConf::read(text.as_bytes()).unwrap_err().to_string();
    for (text, expected) in [
        ("", "the file says no torus"),
        ("xp_link 0x1 0x2\n", "line 1: `xp_link` before `torus` or `mesh`"),
        ("torus 5 6\n", "line 1: z: a number lacks"),
        ("torus 5 6 0\n", "line 1: z: 0 is too few"),
        ("torus 5 6 1\ntorus 5 6 1\n", "line 2: the radices stand in line 1"),
        ("torus 5 6 1\nq_link 0x1 0x2\n", "line 2: no such keyword: `q_link`"),
        ("torus 5 6 1\nxq_link 0x1 0x2\n", "line 2: no such keyword: `xq_link`"),
        ("torus 5 6 1\nxp_link 0x1\n", "line 2: a number lacks"),
        ("torus 5 6 1\nxp_link 0x1 0xg\n", "line 2: `0xg` is no such number"),
        ("torus 5 6 1\nxp_link 010 0x2\n", "line 2: `010` is octal"),
        (
            "torus 5 6 1\nzp_link 0x1 0x2\n",
            "line 2: zp_link, but z has one switch",
        ),
        (
            "torus 5 6 1\nxp_link 0x1 0x2\nxp_link 0x1 0x2\n",
            "line 3: xp_link stands in line 2 already",
        ),
        (
            "torus 5 6 1\nxp_link 0x1 0x2\nyp_link 0x2 0x3\n",
            "line 3: yp_link begins at 0x2, line 2 at 0x1",
        ),
        (
            "torus 5 6 1\nx_dateline 5\n",
            "line 2: x_dateline 5 is not between -5 and 5",
        ),
        ("torus 5 6 1\n", "line 1: no xp_link or xm_link"),
        (
            "torus 5 6 1\nxp_link 0x1 0x2\n",
            "line 2: the seed from here on has no yp_link and no ym_link",
        ),
        (
            "torus 5 4 1\nxp_link 0x1 0x2\nyp_link 0x1 0x3\n",
            "since y is a ring of four",
        ),
        (
            "torus 5 4m 1\nxp_link 0x1 0x2\nyp_link 0x1 0x3\nnext_seed\n",
            "line 4: the seed from here on has no xp_link",
        ),
        ("torus 5 6 1\nport_order\n", "line 2: port_order without a port"),
    ] {
        let mistakes = told(text);
        assert!(mistakes.contains(expected), "{text:?}: {mistakes}");
    }
    let read = conf(
        "# a torus\nmesh 5t 6 1 of them\nnext_seed\nxp_link 0x1 2 # to the right\nyp_link 0x1 3\nport_order 3 1 3\nmax_changes 40\n\
         portgroup_max_ports 20\nportgroup_max_ports 18\n",
    );
    assert_eq!(
        read.axes.map(|axis| (axis.size, axis.loops)),
        [(5, true), (6, false), (1, false)]
    );
    assert_eq!(
        (read.seeds.len(), read.portgroup_max_ports, &read.port_order[..]),
        (1, 18, &[3, 1][..])
    );
    assert_eq!(read.notes.len(), 3, "{:?}", read.notes);
    assert!(read.notes[0].starts_with("line 2: `of`"), "{:?}", read.notes);
}

/// Time and memory go with the switches.
#[test]
fn a_torus_of_twenty_thousand_switches_is_found() {
    let shape = [28, 29, 27];
    let lattice = topo::Lattice {
        shape: shape.to_vec(),
        width: vec![],
        nodes_per_router: 1,
    };
    let subnet = Subnet::of(&topo::TopologySpec::Torus(lattice).build().unwrap());
    let found = recognise(&subnet, None).unwrap().places;
    assert_eq!((&found.dims[..], &found.loops[..]), (&shape[..], &[true; 3][..]));
    assert_eq!(found.place_of, (0..found.len()).collect::<Vec<_>>());
}
