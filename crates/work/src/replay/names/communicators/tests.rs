use super::*;
use std::collections::BTreeSet;
use trace::TraceForm;

fn header(ranks: u32, communicators: &[Members]) -> TraceHeader {
    let mut header = TraceHeader::new("test", ranks, TraceForm::Program);
    header.communicators.extend_from_slice(communicators);
    header.files = vec!["a.trace".to_owned()];
    header
}

type Note = fn(&mut CommunicatorUses, u32) -> Result<(), Problem>;

/// Packs them with the same uses for all but that of all ranks.
fn packed(header: &TraceHeader, uses: &[Note]) -> PackedCommunicators {
    let mut all = CommunicatorUses::new(header);
    for communicator in 1..header.communicators.len() as u32 {
        uses.iter().for_each(|note| note(&mut all, communicator).unwrap());
    }
    all.pack(header).unwrap()
}

/// What holds of every packing: each family has every rank once, and the group of a communicator with collectives is that communicator.
fn check(header: &TraceHeader, packed: &PackedCommunicators) {
    for family in &packed.families {
        for rank in 0..header.ranks {
            assert_eq!(family.rank(rank, family.number(rank)), rank);
            let group: BTreeSet<u32> = (0..family.size(rank)).map(|n| family.rank(rank, n)).collect();
            assert_eq!(group.len() as u32, family.size(rank));
            assert!(
                group
                    .iter()
                    .all(|&other| family.rank(other, family.number(rank)) == rank)
            );
        }
    }
    for (communicator, members) in (0..).zip(&header.communicators) {
        let family = &packed.families[usize::from(packed.of_collectives(communicator))];
        for rank in 0..header.ranks {
            let inside = members.number(rank).is_some();
            assert_eq!(packed.has(header, communicator, rank), inside, "{communicator} {rank}");
            if inside {
                assert!((0..family.size(rank)).map(|n| family.rank(rank, n)).eq(members.iter()));
            }
        }
    }
}

const MEET: &[Note] = &[CommunicatorUses::collective];

fn range(first: u32, count: u32, stride: u32) -> Members {
    Members::Range { first, count, stride }
}

#[test]
fn rows_and_columns_of_a_grid_are_two_families_of_lines() {
    let rows = (0..16).map(|row| range(16 * row, 16, 1));
    let columns = (0..16).map(|column| range(column, 16, 16));
    let mixed: Vec<Members> = rows.zip(columns).flat_map(|(row, column)| [row, column]).collect();
    let header = header(256, &mixed);
    let packed = packed(&header, MEET);
    let lines = |stride| Communicator::Lines { size: 16, stride };
    assert_eq!(packed.families, [Communicator::World(256), lines(1), lines(16)]);
    check(&header, &packed);
}

#[test]
fn thousands_of_small_communicators_share_a_family() {
    // Pairs that are no lines, and ranks without any.
    let pairs: Vec<Members> = (0..4_096).map(|k| Members::List(vec![2 * k + 1, 2 * k])).collect();
    let header = header(8_200, &pairs);
    let packed = packed(&header, MEET);
    assert_eq!(packed.families.len(), 2);
    assert_eq!(packed.families[1].size(8_199), 8);
    assert_eq!(packed.families[1].rank(6, 0), 7);
}

#[test]
fn copies_of_a_communicator_share_its_group_and_another_order_does_not() {
    let twice = [
        Members::all(12),
        Members::List((0..12).collect()),
        Members::List((0..12).rev().collect()),
    ];
    let header = header(12, &twice);
    let packed = packed(&header, MEET);
    assert_eq!(packed.families.len(), 2);
    assert_eq!(
        [1, 2, 3].map(|communicator| packed.of_collectives(communicator)),
        [0, 0, 1]
    );
    check(&header, &packed);
}

#[test]
fn only_what_collectives_or_open_tags_need_is_a_family() {
    let overlapping: Vec<Members> = (0..1_000).map(|k| range(k, 3, 1)).collect();
    let header = header(1_002, &overlapping);
    let messages = packed(&header, &[CommunicatorUses::message]);
    assert_eq!(messages.families, [Communicator::World(1_002)]);
    assert_eq!(messages.of_messages(999), 0);
    // Three neighbours overlap: so many families do, whatever their number.
    assert_eq!(packed(&header, MEET).families.len(), 1 + 3);
    check(&header, &packed(&header, MEET));
}

#[test]
fn receives_with_any_tag_see_no_messages_of_other_communicators() {
    let header = header(8, &[Members::all(8), range(0, 4, 1), range(4, 4, 1), range(2, 4, 1)]);
    let mut uses = CommunicatorUses::new(&header);
    (0..5).for_each(|communicator| uses.message(communicator).unwrap());
    // All ranks, a copy of that, and two that share no rank.
    (0..4).for_each(|communicator| uses.any_tag(communicator).unwrap());
    (0..5).for_each(|communicator| uses.collective(communicator).unwrap());
    let packed = uses.pack(&header).unwrap();
    check(&header, &packed);
    let messages = [0, 1, 2, 3, 4].map(|communicator| packed.of_messages(communicator));
    for (a, b) in [(0, 1), (0, 2), (1, 2), (0, 4), (1, 4), (2, 4), (3, 4)] {
        assert_ne!(messages[a], messages[b], "{messages:?}");
    }
    assert_eq!(messages[2], messages[3]);
    // Collectives of the copy are those of all.
    assert_eq!(packed.of_collectives(0), packed.of_collectives(1));
    // Whether all ranks have an open tag or not, what has none is in a family of all ranks.
    assert_eq!(packed.families[usize::from(messages[4])], Communicator::World(8));
}

#[test]
fn random_communicators_are_themselves_in_their_family() {
    let mut random = des::rng::SplitMix(3);
    for _ in 0..50 {
        let ranks = 1 + (random.next_word() % 100) as u32;
        let some: Vec<Members> = (0..random.next_word() % 20)
            .map(|_| {
                let mut all: Vec<u32> = (0..ranks).collect();
                (1..ranks as usize).for_each(|i| all.swap(i, (random.next_word() % (i as u64 + 1)) as usize));
                all.truncate(1 + (random.next_word() % u64::from(ranks)) as usize);
                Members::List(all)
            })
            .collect();
        let header = header(ranks, &some);
        check(&header, &packed(&header, MEET));
    }
}

#[test]
fn what_cannot_be_packed_is_refused() {
    let reason = |header: &TraceHeader| {
        let mut uses = CommunicatorUses::new(header);
        (0..header.communicators.len() as u32).for_each(|communicator| uses.collective(communicator).unwrap());
        uses.pack(header).unwrap_err().to_string()
    };
    // All of them have rank 0: no two share a family.
    let stars: Vec<Members> = (1..1200).map(|k| Members::List(vec![0, k])).collect();
    let text = reason(&header(1200, &stars));
    assert!(text.starts_with("a.trace: its communicators overlap so much that they need more than 1024 families; "));
    let enough: Vec<Members> = stars[..MOST_PACKED - 1].to_vec();
    assert_eq!(packed(&header(1200, &enough), MEET).families.len(), MOST_PACKED);
    let text = reason(&header(4, &[Members::List(vec![0, 4])]));
    assert!(
        text.starts_with("a.trace: a communicator has rank 4, and the trace only 4 ranks; "),
        "{text}"
    );
    let text = reason(&header(4, &[range(1, u32::MAX, u32::MAX)]));
    assert!(text.contains("has rank 18446744060824649731, and"), "{text}");
    let text = reason(&header(4, &[Members::List(vec![0, 2, 0])]));
    assert!(text.starts_with("a.trace: a communicator has rank 0 twice; "), "{text}");
    let mut uses = CommunicatorUses::new(&header(4, &[]));
    let text = uses.message(1).unwrap_err().to_string();
    assert_eq!(text, "there is no communicator 1; the trace has 1");
}
