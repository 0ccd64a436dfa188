use super::super::Credit;
use super::super::tests::{CHANGES, each_network, lattice, network};
use super::{Inlet, Owing, owed};
use crate::models::played::{Played, play};
use crate::network::Network;
use crate::network::model::{Fabric, RouterModel};
use crate::spec::*;
use crate::state::Port;
use des::Time;
use topo::TopologySpec;

fn run<const PLAIN: bool>(spec: &RunSpec, change: impl FnOnce(&mut Owing)) -> Played {
    let net = Network::build(spec).unwrap();
    assert!(!PLAIN || net.is_plain());
    let mut world = Fabric::<Credit<PLAIN>>::new(spec, net);
    change(&mut world.model.owing);
    play(&world, Time::from_us(8))
}

/// What every port has sent, and what waits there.
fn sent(run: &Played) -> Vec<[u64; 4]> {
    let of = |port: &Port| [port.packets, port.bytes, port.busy, port.waiting.into()];
    run.ports.iter().map(of).collect()
}

/// Packets that every port has sent or is to send: which of them have been sent on ahead when a run is cut off depends on what room is known of then.
fn came(run: &Played) -> Vec<u64> {
    let of = |port: &Port| port.packets + u64::from(port.waiting);
    run.ports.iter().map(of).collect()
}

#[test]
fn nobody_can_tell_room_that_is_told_of_late() {
    let networks = [
        TopologySpec::HyperX(lattice(&[4, 3], 4)),
        TopologySpec::Torus(lattice(&[5, 4], 2)),
    ];
    let works = [(2_048, 0.15), (2_048, 0.8), (9_000, 0.5), (100, 0.3)];
    let (mut late_runs, mut fewest, mut compared_whole) = (0, 1.0f64, 0);
    each_network(
        &networks,
        CHANGES.iter(),
        &[24, 40, 64, 200],
        &works,
        |what, spec, net| {
            let model = Credit::<false>::new(spec, &net);
            let late = model.owing;
            let run = |change: fn(&mut Owing)| match net.is_plain() {
                true => run::<true>(spec, change),
                false => run::<false>(spec, change),
            };
            let (told, exact) = (run(|_| {}), run(|late| *late = Owing::default()));
            assert!(exact.rows.len() > 50, "{what}: {}", exact.rows.len());
            assert_eq!(told.rows, exact.rows, "{what}");
            assert_eq!(came(&told), came(&exact), "{what}");
            if model.ahead == 0 {
                assert_eq!(sent(&told), sent(&exact), "{what}");
                compared_whole += 1;
            }
            assert_eq!(told.events < exact.events, late.most != 0, "{what}");
            late_runs += u32::from(late.most != 0);
            fewest = fewest.min(told.events as f64 / exact.events as f64);
        },
    );
    assert!(compared_whole > 100, "{compared_whole}");
    assert!(late_runs > 100, "{late_runs}");
    assert!(fewest < 0.7, "{fewest}");
}

/// What may be told of late is not more than it could be for no reason: with the whole buffer senders stop that have room.
#[test]
fn what_is_told_of_too_late_is_seen() {
    let spec = network(TopologySpec::Torus(lattice(&[5, 4], 2)), 64 << 10, 2_048, 0.8);
    let exact = run::<false>(&spec, |late| *late = Owing::default());
    let beyond = run::<false>(&spec, |late| {
        assert!(late.most > 0);
        late.most = 64 << 10;
    });
    assert_ne!(beyond.rows, exact.rows);
}

#[test]
fn room_is_told_of_at_once_where_it_is_seen() {
    let most = |change: &dyn Fn(&mut RunSpec)| {
        let mut spec = network(TopologySpec::Torus(lattice(&[5, 4], 2)), 64 << 10, 2_048, 0.5);
        change(&mut spec);
        let net = Network::build(&spec).unwrap();
        Owing::new(&spec, &net, 0).most
    };
    // Of 65,536 B, less five packets and what 381.92 ns let pass at 25 GB/s, a half.
    assert_eq!(most(&|_| {}), 22_874);
    assert_eq!(most(&|spec| spec.router.buffer = None), 0);
    assert_eq!(most(&|spec| spec.router.buffer = Some(Bytes(5 << 30))), 0);
    assert_eq!(most(&|spec| spec.router.buffer = Some(Bytes(16 << 10))), 0);
    assert_eq!(most(&|spec| spec.links.default.latency = Time::from_us(10)), 0);
    assert_eq!(
        most(&|spec| {
            spec.router.bubble = 2;
            spec.router.vcs = Some(1);
        }),
        0
    );
}

#[test]
fn words_count_what_has_come_and_left_and_know_their_time() {
    let mut word = Inlet::owing(70_000, 0);
    assert_eq!((word.held(), word.gone(), word.tells()), (70_000, 0, false));
    word.0 += 65_536 << Inlet::BYTES;
    assert_eq!((word.held(), word.gone(), owed(word.0)), (70_000, 65_536, 65_536));
    for tick in [0, 1, Inlet::TICKS - 1, Inlet::TICKS, 12_345_678_901] {
        let mut word = Inlet::telling(Inlet::FULL - 1, tick);
        assert!(word.tells() && word.held() == Inlet::FULL - 1 && owed(word.0) == 0);
        for (later, told) in [
            (0, true),
            (1, true),
            (Inlet::TICKS / 2 - 1, true),
            (Inlet::TICKS / 2, false),
        ] {
            assert_eq!(word.has_told(tick + later), told, "{tick} {later}");
        }
        assert!(!word.has_told(tick.wrapping_sub(1)) && !word.has_told(tick.wrapping_sub(30)));
        // One that looks as if its time were yet to come begins anew before its counts are full.
        word.0 += 65_536;
        assert!(word.has_told(tick.wrapping_sub(30)));
        assert_eq!((word.held(), word.gone()), (Inlet::FULL + 65_535, 0));
    }
}
