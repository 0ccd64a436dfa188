//! When a rank that plays a graph had nothing to do, and for which message.
//!
//! It is idle where none of its operations has its lane, but for collectives that wait within. What ends that is a message: the last one that came
//! to the rank, or left it, until it went on.

use super::{OperationTimes, WaitTimes, finished};
use fabric::mpi::RankRow;
use fabric::network::Network;
use fabric::observe::{Cause, WaitRow};

/// A message that has come to an operation, or left.
type GraphArrival<'a> = (&'a WaitRow, WaitTimes);

/// The waits of ranks in parts of jobs that are graphs; `operations` are in order.
pub(super) fn waits(
    net: &Network,
    operations: &[OperationTimes],
    mut arrivals: Vec<GraphArrival<'_>>,
    ranks: &[RankRow],
) -> Vec<WaitTimes> {
    arrivals.sort_unstable_by_key(|(row, wait)| (wait.job, wait.rank, wait.end, row.operation, row.begin));
    let mut waits = Vec::new();
    for of_rank in operations.chunk_by(|a, b| (a.job, a.rank) == (b.job, b.rank)) {
        let (job, rank) = (of_rank[0].job, of_rank[0].rank);
        let Some(plan) = net.workload.plan_of(job as usize).filter(|plan| plan.has_graphs) else {
            continue;
        };
        let first = arrivals.partition_point(|(_, wait)| (wait.job, wait.rank) < (job, rank));
        let end = arrivals.partition_point(|(_, wait)| (wait.job, wait.rank) <= (job, rank));
        let own = &arrivals[first..end];
        let place = ranks.binary_search_by_key(&(job, rank), |row| (row.job, row.rank));
        let begun = place.map_or(0, |place| ranks[place].begun);
        let parts: Vec<_> = of_rank.chunk_by(|a, b| a.at[0] == b.at[0]).collect();
        for (number, part) in parts.iter().enumerate() {
            if !plan
                .phases
                .get(part[0].at[0] as usize)
                .is_some_and(|phase| phase.is_graph)
            {
                continue;
            }
            let from = match number {
                0 => begun,
                _ => parts[number - 1]
                    .iter()
                    .map(|operation| operation.end)
                    .max()
                    .unwrap_or(begun),
            };
            let to = match parts.get(number + 1) {
                Some(next) => next[0].begin,
                None => {
                    finished(ranks, job, rank).unwrap_or_else(|| part.iter().map(|it| it.end).max().unwrap_or(from))
                }
            };
            gaps(&busy(part, own), (from, to), |gap| waits.extend(wait_for(own, gap)));
        }
    }
    waits
}

/// When operations had their lanes, without what collectives waited within, by begin.
fn busy(part: &[OperationTimes], arrivals: &[GraphArrival<'_>]) -> Vec<(u64, u64)> {
    let mut busy = Vec::with_capacity(part.len());
    for operation in part {
        let mut since = operation.begin;
        if operation.word != "compute" {
            let within = arrivals.partition_point(|(_, wait)| wait.end <= operation.begin);
            let within = arrivals[within..]
                .iter()
                .take_while(|(_, wait)| wait.end <= operation.end);
            for (row, _) in within.filter(|(row, _)| row.operation == operation.at[2] && row.begin < row.end) {
                busy.push((since, row.begin.max(since)));
                since = row.end;
            }
        }
        busy.push((since, operation.end.max(since)));
    }
    busy.sort_unstable();
    busy
}

/// Tells the times between `from` and `to` that no interval, which are in the order of their begins, covers.
fn gaps(busy: &[(u64, u64)], (from, to): (u64, u64), mut tell: impl FnMut((u64, u64))) {
    let mut since = from;
    for &(begin, end) in busy {
        if begin > since {
            tell((since, begin.min(to)));
        }
        since = since.max(end);
    }
    if to > since {
        tell((since, to));
    }
}

/// The wait that a gap is: for the message that came last in it.
fn wait_for(arrivals: &[GraphArrival<'_>], (begin, end): (u64, u64)) -> Option<WaitTimes> {
    let place = arrivals.partition_point(|(_, wait)| wait.end <= end);
    let (_, last) = arrivals[..place].last()?;
    // What came before the gap does not end it.
    let since = if last.end > begin { last.since } else { begin };
    let cause = if last.end > begin { last.cause } else { Cause::Answered };
    Some(WaitTimes {
        begin,
        end,
        since,
        cause,
        ..*last
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_interval_covers_is_a_gap() {
        let of = |busy: &[(u64, u64)], span| {
            let mut found = Vec::new();
            gaps(busy, span, |gap| found.push(gap));
            found
        };
        assert_eq!(of(&[], (3, 9)), [(3, 9)]);
        assert_eq!(of(&[(3, 5), (4, 4), (5, 9)], (3, 9)), []);
        assert_eq!(of(&[(4, 6), (4, 8), (5, 7)], (0, 9)), [(0, 4), (8, 9)]);
        assert_eq!(of(&[(0, 2), (7, 9)], (0, 9)), [(2, 7)]);
    }
}
