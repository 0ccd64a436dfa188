//! Who waits for whom: the channels without room at the other end.

use super::NamedPort;
use fabric::models::late_admission;
use fabric::network::Network;
use fabric::state::pipeline::{OutputChannel, stage};
use fabric::state::{NONE, State};

/// A channel between routers whose first packet waits for room at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Its output port.
    pub place: NamedPort,
    /// The virtual channel.
    pub vc: u32,
    /// Router and input port at the other end.
    pub to: [u32; 2],
    /// Input ports and channels of its own router whose room the packets that wait in it hold.
    pub holds: Vec<[u32; 2]>,
}

/// Appends the channels of the router at place `lp` that wait.
///
/// A channel waits for the buffer at the other end; the packets in that buffer wait in queues of that router. With late admission the first
/// of the chunks that wait beside a queue waits for it, and holds room of the queue it came from.
pub(super) fn see(net: &Network, state: &State, lp: u32, found: &mut Vec<Wait>) {
    let site = &net.sites[lp as usize];
    if state.ports.is_empty() {
        // Nothing waits where there are no queues.
        return;
    }
    for local in 0..u32::from(site.net) {
        let port = site.port + local;
        for vc in 0..net.vcs {
            let channel = state.channel_of(port, vc, net.vcs);
            let (queues, waits) = match (state.lists.is_empty(), state.refused.is_empty()) {
                (false, _) => {
                    let queues = late_admission::waiting(state, port);
                    (queues, queues != [NONE; 2])
                }
                (true, _) if !state.input_channels.is_empty() => ([NONE; 2], is_short(net, state, port, vc)),
                (true, false) => {
                    let beside = state.refused.get(port * net.vcs + vc).head;
                    ([beside, NONE], beside != NONE)
                }
                (true, true) => {
                    let first = |head| i64::from(state.slots.get(head).size());
                    let waits = channel.head != NONE && channel.credit < first(channel.head);
                    ([channel.head, NONE], waits)
                }
            };
            if !waits {
                continue;
            }
            let mut holds = match (state.inputs.is_empty(), state.input_channels.is_empty()) {
                (true, true) => held(state, queues),
                (true, false) => held_channels(net, state, lp, local, vc),
                (false, _) => held_inputs(net, state, lp, port, vc),
            };
            holds.sort_unstable();
            holds.dedup();
            let peer = &net.peers[port as usize];
            found.push(Wait {
                place: NamedPort::new(net, lp, local),
                vc,
                to: [net.router_at(peer.lp()), peer.port().into()],
                holds,
            });
        }
    }
}

/// Input ports and channels that the packets of lists have come by.
fn held(state: &State, lists: [u32; 2]) -> Vec<[u32; 2]> {
    let mut found = Vec::new();
    for mut slot in lists {
        while slot != NONE {
            let packet = state.slots.get(slot);
            found.push([packet.port().into(), packet.vc().into()]);
            slot = state.links.get(slot).next;
        }
    }
    found
}

/// The input queues of a router whose first packet waits for room before the output `port` and channel.
fn held_inputs(net: &Network, state: &State, lp: u32, port: u32, vc: u32) -> Vec<[u32; 2]> {
    let site = &net.sites[lp as usize];
    let queues = (0..u32::from(site.net)).flat_map(|port| (0..net.vcs).map(move |vc| [port, vc]));
    queues
        .filter(|&[from, channel]| {
            let input = state.inputs.get((site.port + from) * net.vcs + channel);
            input.head != NONE && (input.output, u32::from(input.vc)) == (port, vc)
        })
        .collect()
}

/// Records of channels of a vc-router from port to port.
fn stride(net: &Network) -> u32 {
    net.vcs.next_power_of_two()
}

/// Whether a channel of a vc-router has a packet that may have flits to send and no room for one.
fn is_short(net: &Network, state: &State, port: u32, vc: u32) -> bool {
    let record = port * stride(net) + vc;
    let has_packet = match state.output_buffers.is_empty() {
        true => state.output_channels.get(record).owner != OutputChannel::FREE,
        false => state.output_buffers.get(record).held > 0,
    };
    has_packet && state.channel_of(port, vc, net.vcs).credit <= 0
}

/// The input channels of a vc-router whose first packet has, or waits for, the channel `vc` of its local port `output`.
fn held_channels(net: &Network, state: &State, lp: u32, output: u32, vc: u32) -> Vec<[u32; 2]> {
    let site = &net.sites[lp as usize];
    let inputs = (0..u32::from(site.net)).flat_map(|port| (0..net.vcs).map(move |vc| [port, vc]));
    let waits = |[from, channel]: &[u32; 2]| {
        let input = state.input_channels.get((site.port + from) * stride(net) + channel);
        let lowest = u32::from(input.lowest);
        let has = match input.stage & 7 {
            stage::ACTIVE => u32::from(input.vc) == vc,
            stage::ALLOCATION => (lowest..lowest + u32::from(input.choices)).contains(&vc),
            _ => false,
        };
        has && u32::from(input.output) == output
    };
    inputs.filter(waits).collect()
}
