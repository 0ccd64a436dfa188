//! What a run says of itself in words.

use super::Concluded;
use super::loads::{accepted_load, offered_load};
use super::losses::words;
use super::state::{Judgement, LoadState};

/// All that there is to say.
pub(super) fn notes(run: &Concluded<'_>) -> Vec<String> {
    let mut notes = Vec::from_iter(
        run.net
            .idle_channels(run.spec.router.vcs)
            .map(|words| format!("router.vcs: {words}")),
    );
    if !run.judgement.because.is_empty() {
        notes.push(said(&run.judgement, offered_load(run), accepted_load(run)));
    }
    let lost = run.harvest.stats.lost();
    if let Some(first) = lost.first {
        notes.push(format!(
            "{} packets of {} bytes in all were lost{}, and {} messages with them; the first: {}",
            lost.packets,
            lost.bytes,
            match lost.again {
                0 => String::new(),
                again => format!(", {again} of them sent again"),
            },
            lost.messages,
            words(run.net, &first)
        ));
    }
    let repeated = &run.harvest.stats.repeated;
    if repeated.tries > 0 {
        notes.push(format!(
            "links sent again what came with errors: {} failed tries of packets, which took {} us of the links' time",
            repeated.tries,
            repeated.lost as f64 / 1e6
        ));
    }
    notes.extend(super::estimated::words(run));
    let (measured, arrived) = (run.sample.messages, run.sample.latencies.count);
    if measured == 0 {
        notes.push("no message was measured: there are no latencies".into());
    } else if arrived < measured {
        notes.push(format!(
            "{} of {measured} measured messages ({:.2} %) had not arrived when the run ended",
            measured - arrived,
            100.0 * (measured - arrived) as f64 / measured as f64
        ));
    }
    notes
}

/// What a network that has not been seen to keep up says of itself.
fn said(judgement: &Judgement, offered: Option<f64>, accepted: f64) -> String {
    let word = match judgement.state {
        LoadState::Ok => "ok",
        LoadState::Unsettled => "unsettled",
        LoadState::Saturated => "saturated",
    };
    let loads = offered.map_or(String::new(), |offered| {
        format!(" ({accepted:.3} of the injection bandwidth was accepted where {offered:.3} was offered)")
    });
    format!("{word}: {}{loads}", judgement.because)
}
