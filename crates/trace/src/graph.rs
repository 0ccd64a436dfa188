//! The operations of one rank of a graph while they are read: those that are waited for may be learnt in any order.

use crate::operation::{Lists, Operation};
use crate::problem::ReadStop;
use crate::sink::TraceReader;

/// The operations of a rank, and who waits for whom.
#[derive(Default)]
pub(crate) struct RankGraph {
    operations: Vec<(Operation, u64)>,
    ends: WaitLists,
    starts: WaitLists,
}

impl RankGraph {
    /// One more operation with its record; its number.
    ///
    /// # Errors
    /// More operations than have numbers.
    pub(crate) fn push(&mut self, operation: Operation, record: u64) -> Result<u32, ReadStop> {
        let number = self.len();
        if number == u32::MAX {
            return Err(ReadStop::Refused(format!("a rank has more than {number} operations")));
        }
        self.operations.push((operation, record));
        Ok(number)
    }

    /// How many operations there are.
    pub(crate) fn len(&self) -> u32 {
        self.operations.len() as u32
    }

    /// The record of an operation.
    pub(crate) fn record(&self, number: u32) -> u64 {
        self.operations[number as usize].1
    }

    /// An operation waits until another one has ended.
    pub(crate) fn after(&mut self, waiting: u32, other: u32) {
        self.ends.pairs.push((waiting, other));
    }

    /// An operation waits until another one has started.
    pub(crate) fn after_start(&mut self, waiting: u32, other: u32) {
        self.starts.pairs.push((waiting, other));
    }

    /// Tells all of it in order, and forgets it.
    ///
    /// # Errors
    /// The sink's.
    pub(crate) fn tell(&mut self, rank: u32, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let n = self.operations.len();
        self.ends.sort(n);
        self.starts.sort(n);
        for (number, (operation, record)) in self.operations.drain(..).enumerate() {
            let lists = Lists {
                after: self.ends.of(number),
                after_start: self.starts.of(number),
                values: &[],
            };
            reader.operation(rank, record, &operation, &lists)?;
        }
        Ok(())
    }
}

/// Pairs of who waits and for whom, sorted into lists by counting.
#[derive(Default)]
struct WaitLists {
    pairs: Vec<(u32, u32)>,
    /// Where the list of each operation begins, and the end.
    begins: Vec<usize>,
    lists: Vec<u32>,
}

impl WaitLists {
    /// Makes the lists of `n` operations, each in the order of its pairs, and forgets the pairs.
    fn sort(&mut self, n: usize) {
        self.begins.clear();
        self.lists.clear();
        if self.pairs.is_empty() {
            return;
        }
        self.begins.resize(n + 2, 0);
        for (waiting, _) in &self.pairs {
            self.begins[*waiting as usize + 2] += 1;
        }
        for i in 2..n + 2 {
            self.begins[i] += self.begins[i - 1];
        }
        self.lists.resize(self.pairs.len(), 0);
        // The begin of each list moves to its end, which is the begin of the next.
        for (waiting, other) in self.pairs.drain(..) {
            let place = &mut self.begins[waiting as usize + 1];
            self.lists[*place] = other;
            *place += 1;
        }
    }

    fn of(&self, number: usize) -> &[u32] {
        match self.begins.get(number..number + 2) {
            Some([begin, end]) => &self.lists[*begin..*end],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Collected;
    use crate::header::{TraceForm, TraceHeader};

    #[test]
    fn each_operation_gets_its_own_lists_in_the_order_in_which_they_were_told() {
        let (all, _) = Collected::of(|reader| {
            reader.begin(&TraceHeader::new("x", 2, TraceForm::Graph))?;
            let mut graph = RankGraph::default();
            for round in 0..2 {
                for i in 0..4 {
                    assert_eq!(graph.push(Operation::compute(i), 10 * i)?, i as u32);
                }
                graph.after(3, 2);
                graph.after(1, 3);
                graph.after(3, 0);
                if round == 0 {
                    graph.after_start(0, 3);
                }
                assert_eq!((graph.len(), graph.record(2)), (4, 20));
                graph.tell(round, reader)?;
            }
            reader.end(&[])
        })
        .unwrap();
        let lists = |rank: usize| -> Vec<(Vec<u32>, Vec<u32>)> {
            let told = all.ranks[rank].iter();
            told.map(|listed| (listed.after.clone(), listed.after_start.clone()))
                .collect()
        };
        let none = Vec::new;
        assert_eq!(
            lists(0),
            [
                (none(), vec![3]),
                (vec![3], none()),
                (none(), none()),
                (vec![2, 0], none())
            ]
        );
        assert_eq!(
            lists(1),
            [
                (none(), none()),
                (vec![3], none()),
                (none(), none()),
                (vec![2, 0], none())
            ]
        );
    }
}
