//! What was lost on a network that fails while the run goes on, and what links have sent again for errors.

use super::{Concluded, figures};
use fabric::network::Network;
use fabric::observe::{Loss, Losses, Repeated};

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

figures! {
    /// What links have sent again.
    pub struct RepeatSummary {
        packets: u64 = Count, "packets with errors", "Packets that came over a link with an error, once or several times, each time that one came over such a link.", parts Sum;
        tries: u64 = Count, "failed tries", "Times that one came with an error.", parts Sum;
        lost_ns: f64 = Nanoseconds, "time lost on errors", "Time that links have lost with them, all together.", parts Sum;
    }
}

/// Of all jobs; only where something may be lost.
pub(super) fn of(run: &Concluded<'_>) -> Option<LossSummary> {
    may_lose(run.net).then(|| LossSummary::new(run.net, &run.harvest.stats.lost()))
}

/// Whether packets may be lost.
pub(super) fn may_lose(net: &Network) -> bool {
    net.changes.as_ref().is_some_and(|changes| changes.loses())
}

/// Only where links make errors.
pub(super) fn repeated(run: &Concluded<'_>) -> Option<RepeatSummary> {
    let Repeated { packets, tries, lost } = run.harvest.stats.repeated;
    let errors = run.net.changes.as_ref().is_some_and(|changes| changes.makes_errors());
    errors.then(|| RepeatSummary {
        packets,
        tries,
        lost_ns: lost as f64 / 1e3,
    })
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
