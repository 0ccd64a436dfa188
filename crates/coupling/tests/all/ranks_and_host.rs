//! Ranks tell and the host answers, in whatever order they come, through memory that each has mapped for itself.

use coupling::entry::{NO_PAYLOAD, flag, kind, news};
use coupling::layout::RING;
use coupling::{HostSide, MailboxPage, RankEntry, RankNews, RankSide, SharedArea, SharedTerms};
use std::collections::VecDeque;
use std::os::fd::AsFd;

const RANKS: u32 = 5;

static PAGES: [MailboxPage; 3] = [const { MailboxPage::new() }; 3];

fn terms(ranks: u32) -> SharedTerms {
    SharedTerms::plain(ranks, 1 << 20)
}

/// Sends `rounds` blocks without waiting between traps, and checks what it is told.
fn work(mut rank: RankSide, rounds: u64) {
    for round in 0..rounds {
        let block = rank.arena().say(&round.to_le_bytes()).expect("room");
        rank.append(RankEntry {
            kind: kind::ISEND,
            request: (round % 1000) as u32,
            bytes: round,
            payload: block,
            ..RankEntry::default()
        });
        if round % 700 == 699 || round + 1 == rounds {
            let mut told = Vec::new();
            let entry = RankEntry {
                kind: kind::POLL,
                payload: NO_PAYLOAD,
                ..RankEntry::default()
            };
            let clock = rank.trap(entry, |piece| told.push(piece));
            assert_eq!(clock, (round + 1) * 10 + u64::from(rank.rank()));
            let first = round + 1 - told.len() as u64;
            assert!(
                told.iter().zip(first..).all(|(piece, number)| piece.bytes == number),
                "all news, in order"
            );
            assert_eq!(told.len() as u64, if round % 700 == 699 { 700 } else { rounds % 700 });
        }
    }
}

#[test]
fn every_entry_comes_once_in_order_and_every_answer_reaches_its_rank() {
    const ROUNDS: u64 = 10_000;
    assert!(ROUNDS > 2 * u64::from(RING), "the ring is full at times");
    let (area, file) = SharedArea::create(terms(RANKS)).unwrap();
    let host = HostSide::new(area);
    std::thread::scope(|scope| {
        for rank in 0..RANKS {
            let area = SharedArea::attach(file.as_fd()).unwrap();
            let side = RankSide::new(area, rank);
            // Of some the mailbox lies in a page of their own; what they say goes where that of the others does.
            let side = match PAGES.get(rank as usize) {
                Some(page) => side.beside(file.as_fd(), page),
                None => side,
            };
            let lies_in = |page: &MailboxPage| {
                std::ptr::from_ref(page).addr() == std::ptr::from_ref(side.mailbox()).addr() / 4096 * 4096
            };
            assert_eq!(PAGES.iter().position(lies_in), (rank < 3).then_some(rank as usize));
            scope.spawn(move || work(side, ROUNDS));
        }
        for rank in 0..RANKS {
            let host = &host;
            scope.spawn(move || {
                let mut news: VecDeque<RankNews> = VecDeque::new();
                let mut sent = 0;
                while sent < ROUNDS || !news.is_empty() {
                    let entry = host.next(rank, &mut || true).unwrap();
                    if entry.kind == kind::ISEND {
                        assert_eq!(entry.bytes, sent);
                        let said = host.arena().copy(entry.payload);
                        assert_eq!(said, sent.to_le_bytes());
                        host.arena().free(entry.payload);
                        news.push_back(RankNews {
                            kind: news::COMPLETED,
                            bytes: sent,
                            ..RankNews::default()
                        });
                        sent += 1;
                    } else {
                        assert_eq!(entry.flags, flag::TRAP);
                        host.answer(rank, sent * 10 + u64::from(rank), &mut news);
                    }
                }
            });
        }
    });
    assert_eq!(host.arena().taken().0, 0);
}

#[test]
fn a_file_of_something_else_and_a_rank_that_has_gone_are_told() {
    let other = std::fs::File::open(env!("CARGO_MANIFEST_DIR").to_owned() + "/Cargo.toml").unwrap();
    assert!(SharedArea::attach(other.as_fd()).is_err());
    let (area, _file) = SharedArea::create(terms(1)).unwrap();
    let host = HostSide::new(area);
    let mut looks = 0;
    let gone = host.next(0, &mut || {
        looks += 1;
        looks < 3
    });
    assert!(gone.is_none() && looks == 3);
}
