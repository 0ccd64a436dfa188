//! PARX on the HyperX of TSUBAME2, by the rules of its program.

use crate::common::hyperx;
use crate::engines::{built, keeps_its_promises, tsubame, without};
use std::collections::HashMap;
use topo::subnet::engine::{DemandSums, JobDemand, PathDemands, choice, quadrant};
use topo::subnet::faults::{Removal, remove};
use topo::subnet::{Options, RoutingEngine, Subnet, Tables, route};

fn options(dims: [u32; 2], jobs: Vec<JobDemand>) -> Options {
    Options {
        dims: dims.to_vec(),
        demands: PathDemands::Jobs(jobs),
        ..Options::default()
    }
}

/// The machine: columns of 8 switches, nodes in order along them.
fn machine() -> (Subnet, [u32; 2]) {
    let dims = [8, 12];
    let mut subnet = Subnet::of(&built(hyperx(&dims, &[1, 1], 7)));
    subnet.lmc = 2;
    (subnet, dims)
}

/// Links from the switch of a host to a host's address.
fn way(subnet: &Subnet, tables: &Tables, from: u32, to: u32, address: u32) -> Vec<(u32, u16)> {
    let way = tables
        .walk(subnet, subnet.hosts[from as usize].switch, (to << subnet.lmc) + address)
        .unwrap();
    way[..way.len() - 1]
        .iter()
        .map(|exit| (exit.switch, exit.port))
        .collect()
}

/// A part of a flow and the links that it takes.
type Share = (f64, Vec<(u32, u16)>);

/// How many times longer each flow takes than by itself, with its share on each of its addresses.
fn slowdowns(
    subnet: &Subnet,
    tables: &Tables,
    flows: &[(u32, u32)],
    shares: impl Fn(u32, u32) -> [f64; 4],
) -> Vec<f64> {
    let mut load: HashMap<(u32, u16), f64> = HashMap::new();
    let all: Vec<Vec<Share>> = flows
        .iter()
        .map(|&(from, to)| {
            let shares = shares(from, to);
            (0..4)
                .filter(|&address| shares[address as usize] > 0.0)
                .map(|address| (shares[address as usize], way(subnet, tables, from, to, address)))
                .collect()
        })
        .collect();
    for (share, way) in all.iter().flatten() {
        way.iter().for_each(|link| *load.entry(*link).or_default() += share);
    }
    let of = |ways: &Vec<Share>| {
        ways.iter()
            .flat_map(|(_, way)| way)
            .map(|link| load[link])
            .fold(1.0, f64::max)
    };
    all.iter().map(of).collect()
}

#[test]
fn it_goes_round_a_half_and_is_minimal_elsewhere() {
    let (subnet, dims) = (tsubame(2), [12, 8]);
    let options = Options {
        dims: dims.to_vec(),
        ..Options::default()
    };
    let (tables, _) = keeps_its_promises(RoutingEngine::Parx, &subnet, &options);
    let at = |s: u32| (s % 12, s / 12);
    let (mut small, mut large, mut pairs) = (0, 0, 0);
    for from in (0..96).step_by(5) {
        for (h, host) in (0u32..).zip(&subnet.hosts) {
            let chosen = choice(quadrant(dims, from), quadrant(dims, host.switch));
            let ((x, y), (u, v)) = (at(from), at(host.switch));
            let least = usize::from(x != u) + usize::from(y != v);
            for address in 0..4 {
                let way = tables.walk(&subnet, from, 4 * h + address).unwrap();
                let (hops, address) = (way.len() - 1, address as usize);
                // Inside the half that the address leaves out: to the other half and back, in the dimension that tells them apart.
                let half = [u < 6 && x < 6, u >= 6 && x >= 6, v < 4 && y < 4, v >= 4 && y >= 4][address];
                let across = if address < 2 { y != v } else { x != u };
                let expected = if half && from != host.switch {
                    2 + usize::from(across)
                } else {
                    least
                };
                assert_eq!(hops, expected, "{:?} to {:?} by {address}", at(from), at(host.switch));
                assert!(!chosen.small[address] || hops == least);
                assert!(!chosen.large[address] || half || chosen.large == [true; 4]);
            }
            let first = |set: [bool; 4]| set.iter().position(|&take| take).unwrap() as u32;
            let hops = |address| tables.walk(&subnet, from, 4 * h + address).unwrap().len() - 1;
            small += hops(first(chosen.small));
            large += hops(first(chosen.large));
            pairs += 1;
        }
    }
    assert!(small < large && large < 3 * pairs);
}

/// Equal shares on the addresses of large messages, or on all four.
fn shares(set: [bool; 4]) -> [f64; 4] {
    let n = set.iter().filter(|&&takes| takes).count() as f64;
    set.map(|takes| if takes { 1.0 / n } else { 0.0 })
}

/// Every host to every other of a job, alike.
fn all_to_all(hosts: Vec<u32>) -> JobDemand {
    let n = hosts.len() as u32;
    let pairs = (0..n).flat_map(|from| (0..n).map(move |to| (from, to, 1e6)));
    JobDemand {
        hosts,
        pairs: pairs.filter(|(from, to, _)| from != to).collect(),
    }
}

/// mpiGraph in every rack of 28 hosts: the mean of what a flow gets.
fn in_racks(subnet: &Subnet, tables: &Tables, shares: impl Fn(u32, u32) -> [f64; 4]) -> f64 {
    let (mut sum, mut n) = (0.0, 0.0);
    for first in (0..672).step_by(28) {
        for shift in 1..28 {
            let flows: Vec<(u32, u32)> = (0..28).map(|k| (first + k, first + (k + shift) % 28)).collect();
            let slowed = slowdowns(subnet, tables, &flows, &shares);
            sum += slowed.iter().map(|slowdown| 1.0 / slowdown).sum::<f64>();
            n += 28.0;
        }
    }
    sum / n
}

/// Figures of an independent program with the same rules.
#[test]
fn hops_and_racks_of_the_machine_are_those_of_another_program() {
    let (subnet, dims) = machine();
    let even = Options {
        dims: dims.to_vec(),
        ..Options::default()
    };
    let (tables, report) = keeps_its_promises(RoutingEngine::Parx, &subnet, &even);
    // The machine had four, and its program went on with cycles.
    assert_eq!(report.lanes_needed, 7);
    for (address, expected) in (0..4).zip([2.073, 2.073, 2.094, 2.094]) {
        let hops = |from: u32, to: u32| way(&subnet, &tables, 7 * from, 7 * to, address).len();
        let sum: usize = (0..96).flat_map(|from| (0..96).map(move |to| hops(from, to))).sum();
        let mean = sum as f64 / 9_216.0;
        assert!((mean - expected).abs() < 0.000_5, "{address}: {mean}");
    }
    let of_switch = |host: u32| quadrant(dims, subnet.hosts[host as usize].switch);
    let fit = |from: u32, to: u32| choice(of_switch(from), of_switch(to));
    let small = in_racks(&subnet, &tables, |from, to| shares(fit(from, to).small));
    let large = in_racks(&subnet, &tables, |from, to| shares(fit(from, to).large));
    let all = in_racks(&subnet, &tables, |_, _| shares([true; 4]));
    for (found, expected) in [(small, 0.429), (large, 0.859), (all, 0.603)] {
        assert!((found - expected).abs() < 0.002_5, "{found}, {expected} there");
    }
    let whole = options(dims, vec![all_to_all((0..672).collect())]);
    let (tables, _) = keeps_its_promises(RoutingEngine::Parx, &subnet, &whole);
    let with_a_job = in_racks(&subnet, &tables, |from, to| shares(fit(from, to).large));
    println!("a job and its demands: {with_a_job}");
    // There it is a job that is not named.
    assert!((with_a_job - 0.874).abs() < 0.01, "{with_a_job}, 0.874 there");
}

/// Exchanges of 512 ranks as 16 x 32, by rows and then by columns: the slowest pair of a step and the mean of all pairs.
#[test]
fn exchanges_in_rows_and_columns_are_slowed_as_in_another_program() {
    let (subnet, dims) = machine();
    let group = |first: u32, stride: u32, n: u32| -> Vec<u32> { (0..n).map(|k| first + k * stride).collect() };
    let rows: Vec<Vec<u32>> = (0..16).map(|row| group(32 * row, 1, 32)).collect();
    let columns: Vec<Vec<u32>> = (0..32).map(|column| group(column, 32, 16)).collect();
    let mut pairs = Vec::new();
    for group in rows.iter().chain(&columns) {
        let each = 1e6 / group.len() as f64;
        let all = group
            .iter()
            .flat_map(|&from| group.iter().map(move |&to| (from, to, each)));
        pairs.extend(all.filter(|(from, to, _)| from != to));
    }
    let job = JobDemand {
        hosts: (0..512).collect(),
        pairs,
    };
    let even = Options {
        dims: dims.to_vec(),
        ..Options::default()
    };
    let shift = |group: &[u32], by: usize| -> Vec<(u32, u32)> {
        let n = group.len();
        (0..n).map(|k| (group[k], group[(k + by) % n])).collect()
    };
    let of_switch = |host: u32| quadrant(dims, subnet.hosts[host as usize].switch);
    let large = |from: u32, to: u32| shares(choice(of_switch(from), of_switch(to)).large);
    let all = |_: u32, _: u32| shares([true; 4]);
    type Shares<'s> = &'s dyn Fn(u32, u32) -> [f64; 4];
    type Case<'s> = (&'static str, RoutingEngine, Options, Shares<'s>, (f64, f64));
    // The order of equal paths is another there, which moves the slowest pair of a step.
    let cases: [Case; 5] = [
        ("dfsssp", RoutingEngine::Dfsssp, even.clone(), &all, (6.4, 4.4)),
        ("detours", RoutingEngine::Parx, even.clone(), &large, (7.5, 3.3)),
        (
            "detours, demands",
            RoutingEngine::Parx,
            options(dims, vec![job.clone()]),
            &large,
            (8.4, 3.5),
        ),
        ("quarters", RoutingEngine::Parx, even.clone(), &all, (5.9, 3.7)),
        (
            "quarters, demands",
            RoutingEngine::Parx,
            options(dims, vec![job]),
            &all,
            (5.9, 3.6),
        ),
    ];
    for (name, engine, options, shares, (slowest, mean)) in cases {
        let mut subnet = subnet.clone();
        subnet.lmc = if engine == RoutingEngine::Dfsssp { 0 } else { 2 };
        let tables = route(engine, &subnet, &options).unwrap();
        let (mut worst, mut steps, mut sum, mut flows) = (0.0, 0.0, 0.0, 0.0);
        for groups in [&rows, &columns] {
            for by in 1..groups[0].len() {
                let step: Vec<(u32, u32)> = groups.iter().flat_map(|group| shift(group, by)).collect();
                let first = |_: u32, _: u32| [1.0, 0.0, 0.0, 0.0];
                let slowed = match engine {
                    RoutingEngine::Dfsssp => slowdowns(&subnet, &tables, &step, first),
                    _ => slowdowns(&subnet, &tables, &step, shares),
                };
                worst += slowed.iter().copied().fold(1.0, f64::max);
                steps += 1.0;
                sum += slowed.iter().sum::<f64>();
                flows += slowed.len() as f64;
            }
        }
        let found = (worst / steps, sum / flows);
        println!("{name}: {found:?}, there {slowest} and {mean}");
        assert!(
            (found.0 - slowest).abs() < 0.7 && (found.1 - mean).abs() < 0.15,
            "{name}: {found:?}"
        );
    }
}

#[test]
fn without_demands_it_is_dfsssp_with_four_addresses() {
    let mut subnet = Subnet::of(&built(hyperx(&[4, 4], &[1, 1], 2)));
    subnet.lmc = 2;
    let plain = route(RoutingEngine::Dfsssp, &subnet, &Options::default()).unwrap();
    let nothing = JobDemand {
        hosts: vec![3, 4],
        pairs: Vec::new(),
    };
    for demands in [
        PathDemands::None,
        PathDemands::Jobs(Vec::new()),
        PathDemands::Jobs(vec![nothing]),
    ] {
        let options = Options {
            dims: vec![4, 4],
            demands,
            ..Options::default()
        };
        assert_eq!(route(RoutingEngine::Parx, &subnet, &options).unwrap(), plain);
    }
}

#[test]
fn demands_are_rounded_down_and_add_up_in_eight_bits() {
    let mut subnet = Subnet::of(&built(hyperx(&[4, 4], &[1, 1], 2)));
    subnet.lmc = 2;
    // Hosts 0 and 1 are at one switch, 20 and 21 at another, all others send a little to each other.
    let hosts: Vec<u32> = (0..32).collect();
    let others = || (0..32).map(|k| (k, (k * 7 + 5) % 32, f64::from(k % 3 + 1)));
    let with = |pairs: &[(u32, u32, f64)], sums| {
        let pairs = others().filter(|pair| pair.1 != 20).chain(pairs.iter().copied());
        let job = JobDemand {
            hosts: hosts.clone(),
            pairs: pairs.collect(),
        };
        let options = Options {
            demand_sums: sums,
            ..options([4, 4], vec![job])
        };
        route(RoutingEngine::Parx, &subnet, &options).unwrap()
    };
    let (eight_bits, exact) = (DemandSums::Modulo256, DemandSums::Exact);
    // 255 + 1 is nothing.
    assert_eq!(with(&[(0, 20, 255.0), (1, 20, 1.0)], eight_bits), with(&[], eight_bits));
    assert_ne!(with(&[(0, 20, 255.0), (1, 20, 1.0)], exact), with(&[], exact));
    assert_eq!(
        with(&[(0, 20, 200.0), (1, 20, 55.0)], exact),
        with(&[(0, 20, 255.0)], eight_bits)
    );
    // Of 510 at most 1 to 3 count as 1, 4 as 2.
    let scaled = |pairs: Vec<(u32, u32, f64)>| {
        let job = JobDemand {
            hosts: hosts.clone(),
            pairs,
        };
        route(RoutingEngine::Parx, &subnet, &options([4, 4], vec![job])).unwrap()
    };
    let large = vec![(0, 20, 510.0), (2, 20, 1.0), (4, 20, 3.0), (6, 20, 4.0), (8, 9, 0.0)];
    let small = vec![(0, 20, 255.0), (2, 20, 1.0), (4, 20, 1.0), (6, 20, 2.0)];
    assert_eq!(scaled(large), scaled(small));
}

#[test]
fn what_cannot_be_reached_by_the_cables_of_an_address_has_no_entry_there() {
    // The cable between the two left switches of a row is all that joins them.
    let whole = Subnet::of(&built(hyperx(&[4, 2], &[1, 1], 1)));
    let lonely = [0u32, 1, 4, 5];
    let mut k = 0;
    let mut cut = Vec::new();
    for s in 0..whole.n_switches() {
        for (p, to, q) in whole.cables(s) {
            if (s, p) < (to, q) {
                if lonely.contains(&s) != lonely.contains(&to) && (s, to) != (1, 2) {
                    cut.push(k);
                }
                k += 1;
            }
        }
    }
    let mut subnet = without(whole, |k| cut.contains(&k));
    subnet.lmc = 2;
    let even = Options {
        dims: vec![4, 2],
        ..Options::default()
    };
    let tables = route(RoutingEngine::Parx, &subnet, &even).unwrap();
    // Address 0 goes without the cables inside the left half, 1 without those inside the right one, 2 and 3 without the top and the bottom one; the one cable
    // between left and right lies in the top half.
    let parts: [&[&[u32]]; 4] = [
        &[&[1, 2, 3, 6, 7]],
        &[&[0, 1, 2, 4, 5]],
        &[&[0, 1, 4, 5], &[2, 3, 6, 7]],
        &[&[0, 1, 2, 3, 4, 5, 6, 7]],
    ];
    for (address, parts) in (0..4).zip(parts) {
        for (from, to) in (0..8)
            .flat_map(|from| (0..8).map(move |to| (from, to)))
            .filter(|(from, to)| from != to)
        {
            let joined = parts.iter().any(|part| part.contains(&from) && part.contains(&to));
            let entry = tables.port(from, 4 * to + address);
            assert_eq!(entry != Tables::NONE, joined, "{from} to {to} by {address}");
        }
    }
}

#[test]
fn it_keeps_busy_pairs_apart() {
    // Four hosts of one switch send to four of another one that is two hops away; nothing else is sent.
    let mut subnet = Subnet::of(&built(hyperx(&[4, 4], &[1, 1], 4)));
    subnet.lmc = 2;
    let (from, to) = (0u32, 10u32);
    let job = JobDemand {
        hosts: (4 * from..4 * from + 4).chain(4 * to..4 * to + 4).collect(),
        pairs: (0..4).map(|k| (k, k + 4, 1e9)).collect(),
    };
    let (tables, _) = keeps_its_promises(RoutingEngine::Parx, &subnet, &options([4, 4], vec![job]));
    // Two ways of two hops: each serves half of the sixteen addresses.
    let first: Vec<u16> = (16 * to..16 * to + 16)
        .map(|address| tables.port(from, address))
        .collect();
    let mut ports = first.clone();
    ports.sort_unstable();
    ports.dedup();
    assert!(ports.len() == 2, "{first:?}");
    assert_eq!(first.iter().filter(|&&port| port == ports[0]).count(), 8, "{first:?}");
}

/// The machine's DFSSSP took three lanes. A whole HyperX takes two; the third comes with some missing cables of 864.
#[test]
fn missing_cables_bring_the_third_lane_that_the_machine_took() {
    let (mut subnet, _) = machine();
    subnet.lmc = 0;
    let lanes = |missing: u32, seed: u64| {
        let left = remove(&subnet, &[Removal::Random(missing, seed)]).unwrap().subnet;
        let (_, report) = keeps_its_promises(RoutingEngine::Dfsssp, &left, &Options::default());
        report.lanes_needed
    };
    let three = |missing: u32| (1..=10).filter(|&seed| lanes(missing, seed) == 3).count();
    assert_eq!((lanes(0, 1), lanes(2, 1)), (2, 2));
    assert_eq!([5, 15, 20].map(three), [1, 8, 9]);
}
