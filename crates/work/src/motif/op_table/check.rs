//! What can be wrong with a table as a whole.

use super::{Mistake, ReadRow};
use crate::mpi::op::{ANY_SOURCE, ANY_TAG, UNNAMED};
use crate::mpi::{Collective, Communicator, MAX_CONTEXTS, Op, Transfer};
use std::collections::{BTreeMap, BTreeSet};

/// Whether each communicator is made of disjoint groups that cover the job.
pub(super) fn communicators(ranks: u32, communicators: &[Communicator]) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let mut refuse = |reason: String, hint: &str| {
        mistakes.push(Mistake {
            line: None,
            reason,
            hint: hint.into(),
        });
    };
    if ranks == 0 {
        refuse("a job has at least one rank".into(), "give the number of ranks");
    }
    if communicators.len() > MAX_CONTEXTS {
        let reason = format!("{} communicators are too many", communicators.len());
        refuse(reason, &format!("there may be {MAX_CONTEXTS}, with that of all ranks"));
    }
    for (i, communicator) in communicators.iter().enumerate() {
        match communicator {
            Communicator::World(n) if *n != ranks => refuse(
                format!("communicator {i} has {n} ranks, the job has {ranks}"),
                "a communicator of all has all",
            ),
            Communicator::Lines { size, stride } => {
                let block = u64::from(*size) * u64::from(*stride);
                if block == 0 || !u64::from(ranks).is_multiple_of(block) {
                    let reason =
                        format!("communicator {i}: lines of {size} with stride {stride} do not cover {ranks} ranks");
                    refuse(reason, "size times stride divides the number of ranks");
                }
            }
            Communicator::Listed { of, groups } => {
                let sizes: usize = groups.iter().map(Vec::len).sum();
                let fits = |(rank, (group, number)): (usize, &(u32, u32))| {
                    let group = groups.get(*group as usize);
                    group.and_then(|group| group.get(*number as usize)) == Some(&(rank as u32))
                };
                let complete = of.len() == ranks as usize && sizes == of.len();
                if !complete || !of.iter().enumerate().all(fits) {
                    refuse(
                        format!("communicator {i}: its groups do not have every rank once"),
                        "list every rank in exactly one group",
                    );
                }
            }
            Communicator::Growing(_) => refuse(
                format!("communicator {i} is not known beforehand"),
                "list every rank in exactly one group",
            ),
            Communicator::World(_) => {}
        }
    }
    mistakes
}

/// Waits for names that no earlier row of the rank has made, and names that are made again while they are pending.
pub(super) fn requests(told: &[ReadRow]) -> Vec<Mistake> {
    // Names that the rank has made, and the line of those that are surely pending.
    let mut made: BTreeMap<u16, Option<u32>> = BTreeMap::new();
    let mut mistakes = Vec::new();
    let mut current = None;
    for (rank, line, op) in told {
        if current.replace(*rank) != Some(*rank) {
            made.clear();
        }
        match op {
            Op::Isend(Transfer { request, .. })
            | Op::Irecv(Transfer { request, .. })
            | Op::Icollective { request, .. } => {
                let pending = made.insert(*request, Some(*line)).flatten();
                if let Some(earlier) = pending.filter(|_| *request != UNNAMED) {
                    let name = request;
                    let reason =
                        format!("rank {rank} makes request {name} again, which is pending since line {earlier}");
                    let hint = "wait for it before, or take another number";
                    mistakes.push(Mistake::at(*line, reason, hint));
                }
            }
            Op::Wait { request } | Op::Test { request } => match made.get_mut(request) {
                // What a test finds shows in the run.
                Some(pending) => *pending = None,
                None => {
                    let reason = format!("rank {rank} has made no request {request} before");
                    mistakes.push(Mistake::at(*line, reason, "name it in an isend or irecv above"));
                }
            },
            Op::WaitAll | Op::WaitAny | Op::WaitNews => made.values_mut().for_each(|pending| *pending = None),
            _ => {}
        }
    }
    mistakes
}

/// What the ranks of a group come to.
struct Group {
    /// The first rank that was seen, and its (line, collective)s: what the others are to do too.
    pattern: u32,
    sequence: Vec<(u32, (bool, Collective))>,
    /// How many each rank has come to.
    counts: BTreeMap<u32, usize>,
}

/// Collectives that the ranks of a group do not come to in the same order.
pub(super) fn collectives(told: &[ReadRow], communicators: &[Communicator]) -> Vec<Mistake> {
    // By communicator and first rank.
    let mut groups: BTreeMap<(u16, u32), Group> = BTreeMap::new();
    let mut mistakes = Vec::new();
    for (rank, line, op) in told {
        let (begun, collective) = match op {
            Op::Collective(collective) => (false, collective),
            Op::Icollective { collective, .. } => (true, collective),
            _ => continue,
        };
        let first = communicators[usize::from(collective.communicator)].rank(*rank, 0);
        let group = groups.entry((collective.communicator, first)).or_insert_with(|| Group {
            pattern: *rank,
            sequence: Vec::new(),
            counts: BTreeMap::new(),
        });
        let Group {
            pattern,
            sequence,
            counts,
        } = group;
        let count = counts.entry(*rank).or_default();
        if rank == pattern {
            sequence.push((*line, (begun, *collective)));
        } else if let Some((other_line, other)) = sequence.get(*count)
            && *other != (begun, *collective)
        {
            let reason = format!(
                "{} of rank {rank} meets {} of rank {pattern} in line {other_line}",
                describe((begun, *collective)),
                describe(*other)
            );
            let hint =
                "all ranks of a communicator come to its collectives in the same order, with the same size and root";
            mistakes.push(Mistake::at(*line, reason, hint));
        }
        *count += 1;
    }
    for ((communicator, first), group) in groups {
        let Group {
            pattern,
            sequence,
            counts,
        } = group;
        let own = &communicators[usize::from(communicator)];
        for number in 0..own.size(first) {
            let rank = own.rank(first, number);
            let count = counts.get(&rank).copied().unwrap_or(0);
            if count != sequence.len() {
                let reason = format!(
                    "rank {rank} comes to {count} collectives of communicator {communicator}, rank {pattern} to {}",
                    sequence.len()
                );
                let line = sequence[count.min(sequence.len() - 1)].0;
                mistakes.push(Mistake::at(
                    line,
                    reason,
                    "every rank of a communicator takes part in all of them",
                ));
            }
        }
    }
    mistakes
}

fn describe((begun, collective): (bool, Collective)) -> String {
    let name = match begun {
        true => collective.kind.begun_name(),
        false => collective.kind.name(),
    };
    format!("{name} of {} B, root {},", collective.bytes, collective.root)
}

/// Messages without a receive, and the other way round, and receives that are too small for their message.
pub(super) fn messages(told: &[ReadRow]) -> Vec<Mistake> {
    // Lines and bytes of sends and receives by (receiver, communicator, sender, tag); receives that leave something open separately.
    type Lines = (Vec<(u32, u64)>, Vec<(u32, u64)>);
    let mut pairs: BTreeMap<(u32, u16, u32, u16), Lines> = BTreeMap::new();
    let mut open: BTreeMap<(u32, u16), Vec<u32>> = BTreeMap::new();
    for (rank, line, op) in told {
        let (send, recv) = match op {
            Op::Isend(transfer) | Op::Send(transfer) => (Some(transfer), None),
            Op::Irecv(transfer) | Op::Recv(transfer) => (None, Some(transfer)),
            Op::SendRecv { send, recv } => (Some(send), Some(recv)),
            _ => (None, None),
        };
        if let Some(send) = send {
            let key = (send.peer, send.communicator, *rank, send.tag);
            pairs.entry(key).or_default().0.push((*line, send.bytes));
        }
        match recv {
            Some(recv) if recv.peer == ANY_SOURCE || recv.tag == ANY_TAG => {
                open.entry((*rank, recv.communicator)).or_default().push(*line);
            }
            Some(recv) => {
                let key = (*rank, recv.communicator, recv.peer, recv.tag);
                pairs.entry(key).or_default().1.push((*line, recv.bytes));
            }
            None => {}
        }
    }
    let mut mistakes = Vec::new();
    let mut spare: BTreeMap<(u32, u16), Vec<u32>> = BTreeMap::new();
    for ((to, communicator, from, tag), (sends, receives)) in pairs {
        // Where a receive leaves it open whose message it takes, the run shows which it is.
        let sure = !open.contains_key(&(to, communicator));
        for ((sent_at, bytes), (line, room)) in sends.iter().zip(&receives).filter(|_| sure) {
            if bytes > room {
                let reason = format!("rank {to} receives {room} B of a message of {bytes} B, sent in line {sent_at}");
                let hint = "give the receive at least as many bytes, or leave its bytes empty";
                mistakes.push(Mistake::at(*line, reason, hint));
            }
        }
        if let Some((line, _)) = receives.get(sends.len()) {
            let reason = format!("rank {to} receives from rank {from} (tag {tag}) what is never sent");
            mistakes.push(Mistake::at(*line, reason, "add the send, or take the receive out"));
        }
        if sends.len() > receives.len() {
            let key = (to, communicator);
            let left = sends[receives.len()..].iter().map(|(line, _)| *line);
            spare.entry(key).or_default().extend(left);
        }
    }
    let keys: BTreeSet<_> = spare.keys().chain(open.keys()).copied().collect();
    for key in keys {
        let sends = spare.get(&key).map_or(&[][..], Vec::as_slice);
        let receives = open.get(&key).map_or(&[][..], Vec::as_slice);
        let rank = key.0;
        if let Some(line) = sends.get(receives.len()) {
            let reason = format!("rank {rank} never receives this message");
            mistakes.push(Mistake::at(
                *line,
                reason,
                "add the receive, with the same tag and communicator",
            ));
        } else if let Some(line) = receives.get(sends.len()) {
            let reason = format!("nothing is left for rank {rank} to receive here");
            mistakes.push(Mistake::at(*line, reason, "add the send, or take the receive out"));
        }
    }
    mistakes
}
