//! The directed cables between switches in flat arrays: what routing engines and checks count and walk on.

use super::{End, Exit, Subnet};

/// No channel: the path ends.
pub(crate) const NO_CHANNEL: u32 = u32::MAX;

/// Directed cables between switches, by switch and in port order; a cable from a switch to itself is left out, since no path takes it.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    /// Channels of switch `s` are `first[s]..first[s + 1]`.
    pub first: Vec<u32>,
    /// The sending switch.
    pub from: Vec<u32>,
    /// The switch at the far end.
    pub to: Vec<u32>,
    /// Output port.
    pub port: Vec<u16>,
    /// The channel of the same cable in the other direction.
    pub back: Vec<u32>,
    /// Channel of each port at `first_port[s] + port`, [`NO_CHANNEL`] for ports without a cable to a switch.
    of_port: Vec<u32>,
    first_port: Vec<u32>,
}

impl Channels {
    pub fn of(subnet: &Subnet) -> Self {
        let mut it = Self {
            first: vec![0],
            from: Vec::new(),
            to: Vec::new(),
            port: Vec::new(),
            back: Vec::new(),
            of_port: Vec::new(),
            first_port: vec![0],
        };
        let mut peers = Vec::new();
        for s in 0..subnet.n_switches() {
            for (p, end) in subnet.switches[s as usize].ports.iter().enumerate() {
                match *end {
                    Some(End::Switch { switch, port }) if switch != s => {
                        it.of_port.push(it.to.len() as u32);
                        it.from.push(s);
                        it.to.push(switch);
                        it.port.push(p as u16);
                        peers.push(port);
                    }
                    _ => it.of_port.push(NO_CHANNEL),
                }
            }
            it.first.push(it.to.len() as u32);
            it.first_port.push(it.of_port.len() as u32);
        }
        it.back = (it.to.iter().zip(&peers)).map(|(&s, &p)| it.at(s, p)).collect();
        it
    }

    /// The switch that a channel leaves, and the port.
    pub fn exit(&self, channel: u32) -> Exit {
        Exit {
            switch: self.from[channel as usize],
            port: self.port[channel as usize],
        }
    }

    pub fn n_switches(&self) -> usize {
        self.first.len() - 1
    }

    pub fn len(&self) -> usize {
        self.to.len()
    }

    /// Channels that leave a switch, in port order.
    #[inline]
    pub fn of_switch(&self, switch: u32) -> std::ops::Range<usize> {
        self.first[switch as usize] as usize..self.first[switch as usize + 1] as usize
    }

    /// The channel that a port sends on; [`NO_CHANNEL`] for ports of hosts, empty ones and those that do not exist.
    #[inline]
    pub fn at(&self, switch: u32, port: u16) -> u32 {
        let (first, end) = (self.first_port[switch as usize], self.first_port[switch as usize + 1]);
        let i = first + u32::from(port);
        if i < end { self.of_port[i as usize] } else { NO_CHANNEL }
    }
}
