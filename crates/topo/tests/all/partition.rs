//! Partitions: every router once, even, few cables cut, always the same; against closed forms, numbering order and METIS.

use crate::common::*;
use topo::partition::Made;
use topo::{Arrangement, GraphFormat, GraphSpec, Method, Partition, PartitionError, Quality, Topology, TopologySpec};

const WORKERS: [u32; 4] = [2, 3, 4, 7];

fn built(spec: &TopologySpec) -> Topology {
    spec.build().unwrap_or_else(|e| panic!("{spec:?}: {e:?}"))
}

fn made(t: &Topology, method: &Method, workers: u32) -> Quality {
    Partition::new(t, method, workers, 1).unwrap().quality(t)
}

fn cut_of(quality: &Quality, class: &str) -> u64 {
    quality.classes.iter().filter(|c| c.class == class).map(|c| c.cut).sum()
}

/// What dealing routers out by their numbers cuts.
fn by_number(t: &Topology, workers: u32) -> Quality {
    let n = u64::from(t.n_routers());
    let part = |r: u64| (r * u64::from(workers) / n) as u32;
    made(t, &Method::Map((0..n).map(part).collect()), workers)
}

/// Two sizes of every family.
fn families() -> Vec<TopologySpec> {
    use Arrangement::*;
    vec![
        ring(50, 2, 1),
        ring(1000, 1, 3),
        mesh(&[9, 12], &[], 1),
        mesh(&[10, 8, 20], &[1, 2, 1], 2),
        torus(&[8, 8, 8], &[], 1),
        torus(&[16, 16, 16], &[], 2),
        hyperx(&[12, 9], &[], 3),
        hyperx(&[8, 8, 8], &[2, 1, 1], 8),
        dragonfly(33, &[8], 4, 1, 1, Absolute),
        dragonfly(12, &[6, 16], 4, 20, 1, Circulant),
        megafly(17, 4, 4, 4, 1, 1, Random),
        megafly(33, 8, 8, 8, 1, 1, Absolute),
        fat_tree(&[8, 8, 16], &[8, 8], &[]),
        fat_tree(&[8, 8, 4, 4], &[8, 4, 4], &[]),
    ]
}

#[test]
fn every_router_is_in_one_block_of_one_worker_and_blocks_are_even() {
    for spec in enrolled().into_iter().chain(families()) {
        let t = built(&spec);
        let weight = |r: u32| u64::from(t.wiring().radix(r)) + 2 * t.wiring().nodes_of(r).len() as u64;
        let heaviest = (0..t.n_routers()).map(weight).max().unwrap();
        for (method, workers, blocks) in [
            (Method::Blocks, 1, 8),
            (Method::Blocks, 3, 4),
            (Method::Blocks, 7, 1),
            (Method::Auto, 2, 5),
            (Method::Metis, 4, 3),
        ] {
            let p = Partition::new(&t, &method, workers, blocks).unwrap();
            assert_eq!((p.n_blocks(), p.blocks_per_worker()), (workers * blocks, blocks));
            let (mut routers, mut weights) = (vec![0u32; p.n_blocks() as usize], vec![0u64; p.n_blocks() as usize]);
            for r in 0..t.n_routers() {
                assert_eq!(p.worker(r), p.block(r) / blocks);
                routers[p.block(r) as usize] += 1;
                weights[p.block(r) as usize] += weight(r);
            }
            let quality = p.quality(&t);
            assert_eq!(quality.workers.iter().map(|w| w.routers).sum::<u32>(), t.n_routers());
            assert_eq!(quality.workers.iter().map(|w| w.nodes).sum::<u32>(), t.n_nodes());
            for (worker, share) in quality.workers.iter().enumerate() {
                let mine = worker * blocks as usize..(worker + 1) * blocks as usize;
                assert_eq!(routers[mine.clone()].iter().sum::<u32>(), share.routers);
                assert_eq!(weights[mine.clone()].iter().sum::<u64>(), share.weight);
                if t.n_routers() >= p.n_blocks() && method == Method::Blocks {
                    assert!(share.routers >= 1, "{spec:?}: worker {worker} of {workers} has none");
                }
                if share.routers >= blocks {
                    assert!(
                        mine.clone().all(|b| routers[b] > 0),
                        "{spec:?}: an empty block of worker {worker}"
                    );
                    // Each halving errs by less than a router on each side.
                    let levels = u64::from(blocks.next_power_of_two().trailing_zeros());
                    let most = share.weight / u64::from(blocks) + heaviest * levels.max(1);
                    assert!(
                        mine.clone().all(|b| weights[b] <= most),
                        "{spec:?} {method:?}: {:?}",
                        &weights[mine]
                    );
                }
            }
            assert_eq!(
                p,
                Partition::new(&t, &method, workers, blocks).unwrap(),
                "{spec:?} {method:?}"
            );
        }
    }
}

#[test]
fn workers_are_even_and_cut_no_more_than_numbering_order() {
    for spec in families() {
        let t = built(&spec);
        let grouped = matches!(spec, TopologySpec::Dragonfly(_) | TopologySpec::DragonflyPlus(_));
        let slack = if grouped { 0.10 } else { 0.05 };
        for workers in WORKERS {
            let quality = made(&t, &Method::Blocks, workers);
            let heaviest = (0..t.n_routers())
                .map(|r| t.wiring().radix(r) + 2 * t.wiring().nodes_of(r).len() as u32)
                .max();
            let total: u64 = quality.workers.iter().map(|w| w.weight).sum();
            // A router cannot be cut: one on top of the limit at most.
            let grain = f64::from(heaviest.unwrap() * workers) / total as f64;
            assert!(
                quality.imbalance <= 1.0 + slack + grain,
                "{spec:?} {workers}: {}",
                quality.imbalance
            );
            let plain = by_number(&t, workers);
            if plain.imbalance <= quality.imbalance {
                continue;
            }
            assert!(
                quality.cables_cut <= plain.cables_cut,
                "{spec:?} {workers}: {} {}",
                quality.cables_cut,
                plain.cables_cut
            );
        }
    }
}

#[test]
fn the_number_of_blocks_does_not_change_who_gets_which_router() {
    for spec in families() {
        let t = built(&spec);
        for method in [Method::Blocks, Method::Metis] {
            let workers = |blocks| {
                let p = Partition::new(&t, &method, 3, blocks).unwrap();
                (0..t.n_routers()).map(|r| p.worker(r)).collect::<Vec<_>>()
            };
            let expected = workers(1);
            assert!(
                [2, 5, 16].iter().all(|&blocks| workers(blocks) == expected),
                "{spec:?} {method:?}"
            );
        }
    }
}

#[test]
fn a_worker_s_blocks_are_pieces_of_the_network() {
    let t = built(&torus(&[16, 16, 16], &[], 1));
    let p = Partition::new(&t, &Method::Blocks, 2, 8).unwrap();
    let between = |r: u32| t.wiring().runs(r).filter(|run| p.block(run.peer) != p.block(r)).count();
    let cut = (0..t.n_routers()).map(between).sum::<usize>() / 2;
    // Sixteen slabs of one plane would cut all 4096 cables of a dimension; boxes of 8 x 8 x 4 cut 4 + 2 + 2 planes of 256.
    assert_eq!(cut, (4 + 2 + 2) * 256);
}

#[test]
fn a_ring_is_cut_once_per_worker() {
    for (routers, width) in [(24, 1), (1000, 3)] {
        let t = built(&ring(routers, width, 1));
        for workers in WORKERS {
            assert_eq!(
                made(&t, &Method::Blocks, workers).cables_cut,
                u64::from(workers * width)
            );
        }
    }
}

#[test]
fn a_torus_is_cut_by_planes_of_the_fewest_cables() {
    let t = built(&torus(&[16, 16, 16], &[], 1));
    let two = made(&t, &Method::Blocks, 2);
    assert_eq!((two.cables_cut, two.imbalance), (2 * 256, 1.0));
    assert_eq!(two.classes.iter().filter(|c| c.cut > 0).count(), 1);
    assert_eq!(made(&t, &Method::Blocks, 4).cables_cut, 4 * 256);
    // Two planes in each dimension give eight cubes.
    assert_eq!(made(&t, &Method::Blocks, 8).cables_cut, 3 * 2 * 256);
    // Of a long torus the long dimension is cut, where it has few cables; if these are many, another.
    let t = built(&torus(&[4, 6, 24], &[], 1));
    let quality = made(&t, &Method::Blocks, 4);
    assert_eq!(
        (quality.cables_cut, cut_of(&quality, "z"), quality.imbalance),
        (96, 96, 1.0)
    );
    let t = built(&torus(&[4, 6, 24], &[1, 1, 8], 1));
    let quality = made(&t, &Method::Blocks, 2);
    assert_eq!((quality.cables_cut, cut_of(&quality, "y")), (2 * 96, 2 * 96));
    // 16 planes for 3 or 7 workers: slabs may end in a plane, which costs at most a row of it on either side.
    let t = built(&torus(&[16, 16, 16], &[], 1));
    for workers in [3, 7] {
        let quality = made(&t, &Method::Blocks, workers);
        assert!(
            quality.cables_cut <= u64::from(workers) * (256 + 2 * 16),
            "{}",
            quality.cables_cut
        );
    }
}

#[test]
fn a_mesh_is_cut_between_planes() {
    for (shape, plane) in [([6, 5, 40], 30), ([12, 12, 48], 144)] {
        let t = built(&mesh(&shape, &[], 1));
        for workers in WORKERS {
            let quality = made(&t, &Method::Blocks, workers);
            // A slab that ends in a plane crosses a row of it more.
            let most = u64::from(workers - 1) * (plane + u64::from(shape[0]));
            assert!(
                quality.cables_cut <= most,
                "{shape:?} {workers}: {}",
                quality.cables_cut
            );
        }
        assert_eq!(made(&t, &Method::Blocks, 2).cables_cut, plane);
    }
}

#[test]
fn a_hyperx_is_cut_where_the_fewest_pairs_are_parted() {
    // Half of n coordinates are joined to the other half by n^2 / 4 cables per line.
    let t = built(&hyperx(&[8, 8, 8], &[], 8));
    assert_eq!(made(&t, &Method::Blocks, 2).cables_cut, 16 * 64);
    assert_eq!(made(&t, &Method::Blocks, 4).cables_cut, 2 * 16 * 64 - 16 * 32);
    // The short dimension has fewer: 4 per line, 16 lines.
    let quality = made(&built(&hyperx(&[4, 16], &[], 2)), &Method::Blocks, 2);
    assert_eq!((quality.cables_cut, cut_of(&quality, "x")), (64, 64));
    // Wide cables make it the dearer one.
    let quality = made(&built(&hyperx(&[4, 16], &[5, 1], 2)), &Method::Blocks, 2);
    assert_eq!((quality.cables_cut, cut_of(&quality, "y")), (256, 256));
}

/// Global cables between workers that have whole groups.
fn between_groups(quality: &Quality, per_group: u32, links_per_pair: u32) -> u64 {
    let groups: Vec<u64> = quality
        .workers
        .iter()
        .map(|w| u64::from(w.routers / per_group))
        .collect();
    let all: u64 = groups.iter().sum();
    let pairs = (all * all - groups.iter().map(|g| g * g).sum::<u64>()) / 2;
    pairs * u64::from(links_per_pair)
}

#[test]
fn dragonflies_are_cut_between_groups_where_that_is_even_enough() {
    use Arrangement::*;
    for arrangement in [Absolute, Relative, Circulant, Random] {
        for (spec, per_group, links) in [
            (dragonfly(33, &[8], 4, 1, 1, arrangement), 8, 1),
            (dragonfly(84, &[2, 3], 2, 2, 1, arrangement), 6, 2),
            (megafly(33, 8, 8, 8, 1, 1, arrangement), 16, 1),
            (megafly(84, 2, 3, 2, 2, 2, arrangement), 5, 2),
        ] {
            let t = built(&spec);
            for workers in WORKERS {
                let quality = made(&t, &Method::Blocks, workers);
                assert_eq!(cut_of(&quality, "local"), 0, "{spec:?} {workers}");
                assert!(quality.workers.iter().all(|w| w.routers % per_group == 0));
                assert_eq!(quality.cables_cut, between_groups(&quality, per_group, links));
            }
        }
    }
    // Twelve groups cannot be shared by seven within 10 %: some are cut, and the shares are even.
    let t = built(&dragonfly(12, &[6, 16], 4, 20, 1, Absolute));
    let quality = made(&t, &Method::Blocks, 7);
    assert!(cut_of(&quality, "local") > 0 && quality.imbalance <= 1.10);
    // Two workers in the one group of leaves and spines: half of the leaves with half of the spines keep half of the cables.
    let t = built(&megafly(1, 8, 8, 4, 0, 1, Absolute));
    assert_eq!(made(&t, &Method::Blocks, 2).cables_cut, 32);
}

#[test]
fn a_fat_tree_is_cut_above_whole_pods_with_a_fair_share_of_the_top() {
    for (down, up) in [([4, 4, 8], [4, 4]), ([16, 16, 32], [16, 16])] {
        let t = built(&fat_tree(&down, &up, &[]));
        let top = u64::from(down[2] * up[0] * up[1]);
        for workers in [2, 4, 8] {
            let quality = made(&t, &Method::Blocks, workers);
            assert_eq!(quality.cables_cut, top - top / u64::from(workers), "{down:?} {workers}");
            assert_eq!(quality.imbalance, 1.0);
        }
        for workers in [3, 7] {
            let (quality, plain) = (made(&t, &Method::Blocks, workers), by_number(&t, workers));
            assert!(
                4 * quality.cables_cut < 3 * plain.cables_cut,
                "{} {}",
                quality.cables_cut,
                plain.cables_cut
            );
        }
    }
    // Four levels, more workers than height-3 trees: cut below the level from which columns hang together, once.
    let t = built(&fat_tree(&[8, 8, 4, 4], &[8, 4, 4], &[]));
    let cables = 512;
    assert_eq!(made(&t, &Method::Blocks, 8).cables_cut, cables - cables / 8);
    assert_eq!(made(&t, &Method::Blocks, 16).cables_cut, cables - cables / 16);
}

/// Communities of routers with random cables, `inside` per router within and `outside` per community to others, numbers shuffled.
fn planted(name: &str, communities: u32, size: u32, inside: u32, outside: u32) -> (TopologySpec, u64) {
    let mut state = u64::from(communities * 1000 + size);
    let mut draw = |below: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(below)) as u32
    };
    let n = communities * size;
    let mut number: Vec<u32> = (0..n).collect();
    for i in (1..n).rev() {
        number.swap(i as usize, draw(i + 1) as usize);
    }
    let (mut text, mut between) = (String::new(), 0);
    let mut cable = |a: u32, b: u32| text += &format!("r{} r{}\n", number[a as usize], number[b as usize]);
    for c in 0..communities {
        for i in 0..size {
            cable(c * size + i, c * size + (i + 1) % size);
            for _ in 0..inside - 1 {
                let step = 2 + draw(size - 3);
                cable(c * size + i, c * size + (i + step) % size);
            }
        }
        for _ in 0..outside {
            let other = (c + 1 + draw(communities - 1)) % communities;
            cable(c * size + draw(size), other * size + draw(size));
            between += 1;
        }
    }
    let file = format!("{}/{name}.txt", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&file, text).unwrap();
    let spec = TopologySpec::Graph(GraphSpec {
        text: None,
        file,
        format: GraphFormat::EdgeList,
        nodes_per_router: 2,
    });
    (spec, between)
}

#[test]
fn metis_finds_planted_communities_and_is_never_worse_than_breadth_first() {
    for (communities, size) in [(2, 40), (3, 60), (4, 100), (7, 150)] {
        let (spec, between) = planted(&format!("planted-{communities}"), communities, size, 3, 6);
        let t = built(&spec);
        let found = made(&t, &Method::Auto, communities);
        assert_eq!(found.method, Made::Metis);
        assert!(
            found.cables_cut <= between,
            "{communities}: {} {between}",
            found.cables_cut
        );
        for workers in WORKERS {
            let (metis, blocks) = (made(&t, &Method::Metis, workers), made(&t, &Method::Blocks, workers));
            assert!(metis.cables_cut <= blocks.cables_cut);
            assert!(metis.imbalance <= blocks.imbalance.max(1.05), "{}", metis.imbalance);
        }
    }
}

#[test]
fn metis_gives_the_same_whatever_was_asked_before_and_beside() {
    let t = built(&torus(&[7, 9, 5], &[], 1));
    let other = built(&hyperx(&[5, 6], &[], 3));
    let first = Partition::by_metis_alone(&t, 4).unwrap();
    let all: Vec<Partition> = std::thread::scope(|scope| {
        let ask = || {
            (0..5).map(|_| {
                made(&other, &Method::Metis, 3);
                Partition::by_metis_alone(&t, 4).unwrap()
            })
        };
        let askers: Vec<_> = (0..3).map(|_| scope.spawn(move || ask().collect::<Vec<_>>())).collect();
        askers.into_iter().flat_map(|asker| asker.join().unwrap()).collect()
    });
    assert!(all.iter().all(|p| *p == first));
}

#[test]
fn what_metis_is_not_asked_for_is_said() {
    let t = built(&ring(10, 1, 1));
    let quality = made(&t, &Method::Metis, 7);
    assert_eq!(quality.method, Made::Blocks);
    assert!(quality.note.unwrap().contains("too few for METIS"));
    let t = built(&ring(2_000_001, 1, 1));
    let quality = made(&t, &Method::Metis, 2);
    assert_eq!((quality.method, quality.cables_cut), (Made::Blocks, 2));
    assert!(quality.note.unwrap().contains("too many for METIS"));
    assert_eq!(made(&t, &Method::Blocks, 2).note, None);
}

#[test]
fn maps_give_parts_to_workers_in_order() {
    let t = built(&ring(6, 1, 1));
    let map = Method::Map(vec![0, 0, 4, 3, 2, 1]);
    let p = Partition::new(&t, &map, 2, 1).unwrap();
    // Five parts: 0, 1 and 2 go to the first worker, 3 and 4 to the second.
    assert_eq!((0..6).map(|r| p.worker(r)).collect::<Vec<_>>(), [0, 0, 1, 1, 0, 0]);
    assert_eq!(p.quality(&t).method, Made::Map);
    let p = Partition::new(&t, &map, 5, 2).unwrap();
    assert_eq!((0..6).map(|r| p.worker(r)).collect::<Vec<_>>(), [0, 0, 4, 3, 2, 1]);
    assert_ne!(p.block(0), p.block(1));
}

#[test]
fn impossible_partitions_are_refused_with_a_hint() {
    let t = built(&ring(6, 1, 1));
    let refused = |method, workers, blocks| {
        let error = Partition::new(&t, &method, workers, blocks).unwrap_err();
        (error.to_string(), error.hint())
    };
    let (reason, hint) = refused(Method::Map(vec![0, 1, 0, 1, 0, 1]), 3, 1);
    assert_eq!(reason, "the map has parts for 2 workers only, not for 3");
    assert_eq!(hint, "take 2 workers or fewer, or a map with more parts");
    assert_eq!(
        refused(Method::Map(vec![0; 5]), 1, 1).0,
        "the map has 5 routers, the network 6"
    );
    assert!(matches!(
        Partition::new(&t, &Method::Auto, 0, 1),
        Err(PartitionError::Blocks { workers: 0, .. })
    ));
    assert!(
        refused(Method::Blocks, 65_536, 2)
            .0
            .contains("there must be 1 to 65536 blocks")
    );
}
