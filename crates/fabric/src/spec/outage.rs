//! Outages: what fails at a time of the run, and comes back at another.

use des::Time;
use serde::{Deserialize, Serialize};
use topo::{FailSpec, Failed, FieldError, Topology};

/// All outages of a run; empty where nothing fails in time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OutagesSpec {
    /// One by one, in the order of the study.
    pub list: Vec<Outage>,
}

/// Cables, routers and nodes that are dead for a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outage {
    /// What fails.
    #[serde(flatten)]
    pub what: FailSpec,
    /// From this time on.
    pub at: Time,
    /// It works again from this time on; `None`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// When packets are led round it.
    #[serde(default, skip_serializing_if = "Reroute::is_at_once")]
    pub reroute: Reroute,
}

/// When routers lead packets by ways of what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reroute {
    /// So long after its begin and after its end.
    After(Time),
    /// Never: the routing knows nothing of it.
    Never,
}

impl Default for Reroute {
    fn default() -> Self {
        Reroute::After(Time::ZERO)
    }
}

impl Reroute {
    fn is_at_once(&self) -> bool {
        *self == Reroute::default()
    }
}

impl Outage {
    /// Whether it lasts for the whole of the run: what has failed in it has failed from the start.
    pub fn is_for_good(&self) -> bool {
        self.at == Time::ZERO && self.until.is_none() && self.reroute.is_at_once() && !self.what.impairs()
    }

    /// When it works again (ps), `u64::MAX` for never.
    pub fn end(&self) -> u64 {
        self.until.map_or(u64::MAX, |until| until.0)
    }

    /// From when until when (ps) packets are led round it, if they ever are; ways do not change for cables that live on.
    pub fn led_round(&self) -> Option<(u64, u64)> {
        match self.reroute {
            _ if self.what.impairs() => None,
            Reroute::After(delay) => Some((self.at.0.saturating_add(delay.0), self.end().saturating_add(delay.0))),
            Reroute::Never => None,
        }
    }
}

impl OutagesSpec {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Outages that begin or end while the run goes on.
    pub fn in_time(&self) -> impl Iterator<Item = (usize, &Outage)> {
        self.list.iter().enumerate().filter(|(_, outage)| !outage.is_for_good())
    }

    /// What has failed from the start: what `fail` says, and the outages that last for the whole of the run.
    pub(super) fn dead_at_the_start(&self, whole: &Topology, fail: &FailSpec) -> Result<Failed, Vec<FieldError>> {
        let of_fail = |mistake: FieldError| FieldError {
            field: format!("fail.{}", mistake.field),
            ..mistake
        };
        let mut failed = whole
            .failed(fail, None)
            .map_err(|mistakes| mistakes.into_iter().map(of_fail).collect::<Vec<_>>())?;
        for (number, outage) in self.list.iter().enumerate().filter(|(_, outage)| outage.is_for_good()) {
            let more = whole.failed(&outage.what, Some(&failed));
            failed.join(&more.map_err(|mistakes| in_outage(number, mistakes))?);
        }
        Ok(failed)
    }
}

/// Mistakes of an outage with its place.
pub fn in_outage(number: usize, mistakes: Vec<FieldError>) -> Vec<FieldError> {
    let placed = mistakes.into_iter().map(|mistake| FieldError {
        field: format!("outage[{number}].{}", mistake.field),
        ..mistake
    });
    placed.collect()
}
