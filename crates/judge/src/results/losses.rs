//! What was lost on a network that fails while the run goes on.

use super::{Concluded, figures};
use fabric::network::Network;
use fabric::observe::{Loss, Losses};

figures! {
    /// What was lost.
    pub struct LossSummary {
        packets: u64 = Count, "lost packets", "Packets that were lost, each time that one was: on a link that was dark while they were on it, or for want of a way.", parts Sum;
        sent_again: u64 = Count, "packets sent again", "Of these, those whose sources sent them again (`nic.retransmit`), or are about to.", parts Sum;
        bytes: u64 = Bytes, "lost bytes", "Their bytes.", parts Sum;
        messages: u64 = Count, "lost messages", "Messages of which a packet was lost for good, and of which all the rest has come or is lost.", parts Sum;
        first: Option<String> = Text, "first loss", "The first packet that was lost: of which message, where and when; null where none was.";
    }
}

impl LossSummary {
    pub(super) fn new(net: &Network, losses: &Losses) -> LossSummary {
        LossSummary {
            packets: losses.packets,
            sent_again: losses.again,
            bytes: losses.bytes,
            messages: losses.messages,
            first: losses.first.map(|loss| words(net, &loss)),
        }
    }
}

/// Of all jobs; only where something may be lost.
pub(super) fn of(run: &Concluded<'_>) -> Option<LossSummary> {
    let may = run.net.changes.is_some();
    may.then(|| LossSummary::new(run.net, &run.harvest.stats.lost()))
}

/// A lost packet in words.
pub(crate) fn words(net: &Network, loss: &Loss) -> String {
    let lp = net.places[loss.router as usize];
    let place = match loss.port {
        Loss::NO_WAY => format!(
            "at router {}, which had no way for it",
            net.topology.router_name(loss.router)
        ),
        port => format!("on {}", net.port_name(lp, port)),
    };
    format!(
        "a packet of {} bytes from node {} to node {}, at {} ns {place}",
        loss.bytes,
        loss.source,
        loss.destination,
        loss.time as f64 / 1e3
    )
}
