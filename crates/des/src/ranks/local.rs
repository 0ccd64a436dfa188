//! Ranks on threads of one process, joined by channels: for tests and for measuring the loop without a network.

use super::{Broken, Transport};
use std::sync::mpsc::{Receiver, Sender, channel};

/// One end.
#[derive(Debug)]
pub struct Local {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
}

/// The transports of `n` ranks.
pub fn connect(n: usize) -> Vec<Local> {
    let mut to: Vec<Vec<Sender<Vec<u8>>>> = (0..n).map(|_| Vec::new()).collect();
    let mut from: Vec<Vec<Receiver<Vec<u8>>>> = (0..n).map(|_| Vec::new()).collect();
    for source in &mut to {
        for target in &mut from {
            let (sender, receiver) = channel();
            source.push(sender);
            target.push(receiver);
        }
    }
    let ends = to.into_iter().zip(from).enumerate();
    ends.map(|(rank, (to, from))| Local { rank, to, from }).collect()
}

impl Transport for Local {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn exchange(&mut self, out: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Broken> {
        let gone = |rank: usize| Broken(format!("rank {rank} is gone"));
        for (rank, (to, bytes)) in self.to.iter().zip(out).enumerate() {
            to.send(bytes).map_err(|_| gone(rank))?;
        }
        let receive = |(rank, from): (usize, &Receiver<Vec<u8>>)| from.recv().map_err(|_| gone(rank));
        self.from.iter().enumerate().map(receive).collect()
    }
}
