//! Ranks on threads of one process, joined by channels: for tests and for measuring the loop without a network.

use super::{Broken, MeetingWords, Transport, meet_by_pairs};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex, PoisonError};

/// One end.
#[derive(Debug)]
pub struct Local {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
    board: Option<Arc<Board>>,
}

/// Where ranks add up what all say at a meeting, and leave messages for those that get one.
#[derive(Debug)]
struct Board {
    turn: Barrier,
    words: Mutex<Option<MeetingWords>>,
    boxes: Vec<Mutex<Vec<Vec<u8>>>>,
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
    ends.map(|(rank, (to, from))| Local {
        rank,
        to,
        from,
        board: None,
    })
    .collect()
}

/// The same with meetings as among many ranks: what all say is added up, and messages go to those that get one. A rank must not leave before the others.
pub fn connect_adding_up(n: usize) -> Vec<Local> {
    let board = Arc::new(Board {
        turn: Barrier::new(n),
        words: Mutex::new(None),
        boxes: (0..n).map(|_| Mutex::new(Vec::new())).collect(),
    });
    let mut ends = connect(n);
    ends.iter_mut().for_each(|end| end.board = Some(Arc::clone(&board)));
    ends
}

impl Board {
    fn meet(&self, me: usize, words: &mut MeetingWords, out: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
            mutex.lock().unwrap_or_else(PoisonError::into_inner)
        }
        {
            let mut all = held(&self.words);
            all.get_or_insert(MeetingWords {
                least: [u64::MAX; 2],
                sums: [0; 7],
            })
            .add(words);
        }
        for (to, message) in out.into_iter().enumerate().filter(|(_, message)| !message.is_empty()) {
            held(&self.boxes[to]).push(message);
        }
        self.turn.wait();
        *words = held(&self.words).unwrap_or(*words);
        let came = std::mem::take(&mut *held(&self.boxes[me]));
        if self.turn.wait().is_leader() {
            *held(&self.words) = None;
        }
        self.turn.wait();
        came
    }
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

    fn meet(&mut self, words: &mut MeetingWords, out: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Broken> {
        match &self.board {
            Some(board) => Ok(board.meet(self.rank, words, out)),
            None => meet_by_pairs(self, words, out),
        }
    }
}
