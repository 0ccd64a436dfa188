//! The dependencies of a layer, with the order in which they came up.

use super::super::fabric::PreparedSubnet;
use super::ABSENT;

/// A dependency: a channel and the next one.
pub type Dependency = (u32, u32);

/// The dependencies of a layer.
pub struct Graph {
    /// First entry of each channel's row; a row has an entry for each channel of the switch that the channel leads to.
    row: Vec<u64>,
    /// Pairs of addresses of each dependency.
    pub pairs: Vec<u64>,
    /// Next channels in the order in which they came up, as places in the row.
    next: Vec<u16>,
    n_next: Vec<u16>,
    /// Number at which each channel came up, [`ABSENT`] before.
    pub came: Vec<u32>,
    /// Channels in the order in which they came up.
    pub order: Vec<u32>,
}

impl Graph {
    pub fn new(fabric: &PreparedSubnet) -> Self {
        let channels = &fabric.channels;
        let (mut row, mut n) = (Vec::with_capacity(channels.len()), 0);
        for &to in &channels.to {
            row.push(n);
            n += channels.of_switch(to).len() as u64;
        }
        Self {
            row,
            pairs: vec![0; n as usize],
            next: vec![0; n as usize],
            n_next: vec![0; channels.len()],
            came: vec![ABSENT; channels.len()],
            order: Vec::new(),
        }
    }

    pub fn meet(&mut self, channel: u32) {
        if self.came[channel as usize] == ABSENT {
            self.came[channel as usize] = self.order.len() as u32;
            self.order.push(channel);
        }
    }

    fn place(&self, fabric: &PreparedSubnet, (held, wanted): Dependency) -> usize {
        (wanted - fabric.channels.first[fabric.channels.to[held as usize] as usize]) as usize
    }

    pub fn entry(&self, fabric: &PreparedSubnet, dependency: Dependency) -> usize {
        self.row[dependency.0 as usize] as usize + self.place(fabric, dependency)
    }

    /// Adds pairs to a dependency, whose channels have been met.
    pub fn add(&mut self, fabric: &PreparedSubnet, dependency: Dependency, pairs: u64) {
        let (row, place) = (self.row[dependency.0 as usize] as usize, self.place(fabric, dependency));
        if self.pairs[row + place] == 0 {
            let n = &mut self.n_next[dependency.0 as usize];
            self.next[row + usize::from(*n)] = place as u16;
            *n += 1;
        }
        self.pairs[row + place] += pairs;
    }

    /// The next channels of a channel as places, in the order in which they came up.
    pub fn next_of(&self, channel: u32) -> &[u16] {
        let row = self.row[channel as usize] as usize;
        &self.next[row..row + usize::from(self.n_next[channel as usize])]
    }

    /// Takes a dependency away.
    pub fn remove(&mut self, fabric: &PreparedSubnet, dependency: Dependency) {
        let place = self.place(fabric, dependency);
        let row = self.row[dependency.0 as usize] as usize;
        let n = usize::from(self.n_next[dependency.0 as usize]);
        if let Some(k) = self.next[row..row + n]
            .iter()
            .position(|&next| usize::from(next) == place)
        {
            self.next.copy_within(row + k + 1..row + n, row + k);
            self.n_next[dependency.0 as usize] -= 1;
        }
    }
}
