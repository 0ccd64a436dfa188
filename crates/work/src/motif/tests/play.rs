//! Ranks that do the operations of a program; sends wait for their receives, so that what ends here ends on any network.

use crate::mpi::op::{ANY_SIZE, ANY_SOURCE, ANY_TAG, Transfer, UNNAMED};
use crate::mpi::{Collective, CollectiveKind, Op, Program};
use std::collections::BTreeMap;

/// A message or a receive that has met nothing yet.
#[derive(Clone, Copy, Debug)]
struct Open {
    from: u32,
    to: u32,
    transfer: Transfer,
    /// Number of the request of its owner.
    request: usize,
}

#[derive(Default)]
struct Rank {
    iteration: u32,
    index: u32,
    /// Whether the requests are complete.
    requests: Vec<bool>,
    names: Vec<u16>,
    /// Requests that the rank waits for before it goes on; none: it runs.
    waits: Option<Vec<usize>>,
    /// Collectives that it has come to, by communicator.
    came: BTreeMap<u16, u32>,
    done: bool,
}

/// A collective, and (rank, request) of those who wait in it.
type Meeting = (Collective, Vec<(u32, usize)>);

/// What a program did.
#[derive(Default, Debug)]
pub(crate) struct Played {
    /// (from, to, bytes) of all point-to-point messages, in order of meeting.
    pub(crate) messages: Vec<(u32, u32, u64)>,
    /// Bytes sent by each rank, in collectives too.
    pub(crate) sent: Vec<u64>,
    /// Collectives that each rank took part in.
    pub(crate) collectives: Vec<Vec<Collective>>,
    /// Time that each rank computed.
    pub(crate) computed: Vec<u64>,
}

/// Plays some iterations; text of what went wrong otherwise. A send completes when its receive is there.
pub(crate) fn play(program: &dyn Program, iterations: u32) -> Result<Played, String> {
    let n = program.ranks();
    let mut ranks: Vec<Rank> = (0..n).map(|_| Rank::default()).collect();
    let mut played = Played {
        sent: vec![0; n as usize],
        collectives: vec![Vec::new(); n as usize],
        computed: vec![0; n as usize],
        ..Played::default()
    };
    let (mut sends, mut receives): (Vec<Open>, Vec<Open>) = (Vec::new(), Vec::new());
    // By communicator, first rank of the group and number: the collective, and those who wait in it.
    let mut meetings: BTreeMap<(u16, u32, u32), Meeting> = BTreeMap::new();
    loop {
        let mut moved = false;
        for me in 0..n {
            let rank = &mut ranks[me as usize];
            if rank.done
                || rank
                    .waits
                    .as_ref()
                    .is_some_and(|waits| waits.iter().any(|&i| !rank.requests[i]))
            {
                continue;
            }
            rank.waits = None;
            moved = true;
            if rank.iteration == iterations {
                rank.done = true;
                continue;
            }
            let Some(op) = program.op(me, rank.iteration, rank.index) else {
                if program.op(me, rank.iteration, rank.index + 1).is_some() {
                    return Err(format!("rank {me} has an operation after its last one"));
                }
                (rank.iteration, rank.index) = (rank.iteration + 1, 0);
                continue;
            };
            rank.index += 1;
            let mut start = |transfer: Transfer, is_send: bool| {
                if !is_send && transfer.peer == ANY_SOURCE || transfer.peer < n && transfer.peer != me {
                    rank.requests.push(false);
                    rank.names.push(transfer.request);
                    let request = rank.requests.len() - 1;
                    let (from, to) = if is_send {
                        (me, transfer.peer)
                    } else {
                        (transfer.peer, me)
                    };
                    let open = Open {
                        from,
                        to,
                        transfer,
                        request,
                    };
                    if is_send { &mut sends } else { &mut receives }.push(open);
                    Ok(request)
                } else {
                    Err(format!("rank {me} talks to rank {}", transfer.peer))
                }
            };
            match op {
                Op::Compute { time } => played.computed[me as usize] += time,
                Op::Isend(transfer) => drop(start(transfer, true)?),
                Op::Irecv(transfer) => drop(start(transfer, false)?),
                Op::Send(transfer) => rank.waits = Some(vec![start(transfer, true)?]),
                Op::Recv(transfer) => rank.waits = Some(vec![start(transfer, false)?]),
                Op::SendRecv { send, recv } => rank.waits = Some(vec![start(recv, false)?, start(send, true)?]),
                Op::WaitAll => rank.waits = Some((0..rank.requests.len()).collect()),
                Op::Wait { request } => {
                    let named = (0..rank.names.len()).filter(|&i| rank.names[i] == request);
                    rank.waits = Some(named.collect());
                }
                Op::WaitAny | Op::WaitNews | Op::Test { .. } => {}
                Op::Collective(collective) | Op::Icollective { collective, .. } => {
                    let communicator = &program.communicators()[collective.communicator as usize];
                    let size = communicator.size(me);
                    let came = rank.came.entry(collective.communicator).or_default();
                    let key = (collective.communicator, communicator.rank(me, 0), *came);
                    *came += 1;
                    rank.requests.push(false);
                    let request = rank.requests.len() - 1;
                    match op {
                        Op::Icollective { request, .. } => rank.names.push(request),
                        _ => {
                            rank.names.push(UNNAMED);
                            rank.waits = Some(vec![request]);
                        }
                    }
                    let (first, waiting) = meetings.entry(key).or_insert((collective, Vec::new()));
                    if *first != collective {
                        return Err(format!("{first:?} and {collective:?} of rank {me} meet"));
                    }
                    waiting.push((me, request));
                    played.collectives[me as usize].push(collective);
                    played.sent[me as usize] += match collective.kind {
                        CollectiveKind::Alltoall => u64::from(size - 1) * collective.bytes,
                        CollectiveKind::Alltoallv => {
                            let others = (0..size).map(|i| communicator.rank(me, i)).filter(|&other| other != me);
                            let bytes = others.map(|to| program.pair_bytes(&collective, me, to));
                            bytes.sum()
                        }
                        _ => 0,
                    };
                    if waiting.len() as u32 == size {
                        for (rank, request) in waiting {
                            ranks[*rank as usize].requests[*request] = true;
                        }
                    }
                }
            }
            // The first receive that asks for it gets the first message of its sender.
            let mut i = 0;
            while i < sends.len() {
                let send = sends[i];
                let fits = |receive: &Open| {
                    receive.to == send.to
                        && (receive.from == send.from || receive.from == ANY_SOURCE)
                        && (receive.transfer.tag == send.transfer.tag || receive.transfer.tag == ANY_TAG)
                        && receive.transfer.communicator == send.transfer.communicator
                };
                let Some(at) = receives.iter().position(fits) else {
                    i += 1;
                    continue;
                };
                let receive = receives.remove(at);
                sends.remove(i);
                if ![send.transfer.bytes, ANY_SIZE].contains(&receive.transfer.bytes) {
                    return Err(format!("{send:?} meets {receive:?}"));
                }
                ranks[send.from as usize].requests[send.request] = true;
                ranks[send.to as usize].requests[receive.request] = true;
                played.sent[send.from as usize] += send.transfer.bytes;
                played.messages.push((send.from, send.to, send.transfer.bytes));
            }
        }
        if !moved {
            break;
        }
    }
    let stuck: Vec<_> = (0..n).filter(|&me| !ranks[me as usize].done).collect();
    match stuck.is_empty() && sends.is_empty() && receives.is_empty() {
        true => Ok(played),
        false => Err(format!("ranks {stuck:?} wait; left {sends:?} {receives:?}")),
    }
}
