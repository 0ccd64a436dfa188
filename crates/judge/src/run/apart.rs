//! Jobs that do not meet are run one after the other, each as far as the run goes, and what comes of them is put together.
//!
//! The run begins as one. Where a job is seen to repeat and the whole is not, what that job has met is taken out ([`des::apart`]), run by itself, and
//! so what is left. If something was touched in two of these runs, they were not apart after all: all of them are given up, and the run goes on as
//! one from where it was divided, for as long at least as it took them to meet.

use super::divide::RunHalves;
use super::repeat::{Repeating, RunGone, RunOf};
use super::supervisor::{OtherParts, Supervisor, advance};
use super::{Keeper, RunError};
use crate::results::SkippedPeriods;
use des::apart::{RunPart, unite};
use des::{Stop, Time, Torn};
use fabric::engines::NetworkEngine;
use std::sync::Arc;

/// How often a run is divided anew after parts of it have met.
const TRIES: u32 = 3;

/// How runs that a run was divided into have gone.
enum PartsGone<'w> {
    /// One was stopped.
    Stopped(NetworkEngine<'w>, Stop),
    /// To the end: what an engine would have saved of all of them.
    United(Vec<u8>),
    /// Two of them met, not long before this time, or one broke down: what becomes of the whole is not known.
    Met(Time),
}

fn torn(Torn(reason): Torn) -> RunError {
    RunError::Engine(reason)
}

impl<'w> Repeating<'_, 'w> {
    /// Runs everything but for what repeats; `parts` are those into which the run was divided when it was saved, if it was. Returns the engine, why it
    /// stopped, and what was left out.
    pub(super) fn shorten(
        &self,
        engine: NetworkEngine<'w>,
        parts: Vec<Vec<u8>>,
        supervisor: &mut Supervisor<'_, '_>,
        keeper: &mut Option<Keeper<'_>>,
    ) -> Result<(NetworkEngine<'w>, Stop, SkippedPeriods), RunError> {
        let mut left_out = SkippedPeriods::default();
        let mut whole_run = RunOf {
            here: &[],
            elsewhere: &[],
            divides_from: Time::ZERO,
        };
        let (mut engine, mut parts) = (engine, parts);
        for tries in 1.. {
            let whole = if parts.is_empty() {
                match self.run(engine, whole_run, supervisor, keeper, &mut left_out)? {
                    RunGone::Ended(engine, stop) => return Ok((engine, stop, left_out)),
                    RunGone::Divided(RunHalves { whole, one, others }) => {
                        parts = vec![others, one];
                        whole
                    }
                    RunGone::Met(_) => unreachable!("there is no other part"),
                }
            } else {
                engine.save()
            };
            let whole = Arc::new(whole);
            let mut left_out_apart = left_out;
            match self.apart(
                &whole,
                std::mem::take(&mut parts),
                supervisor,
                keeper,
                &mut left_out_apart,
            )? {
                PartsGone::Stopped(engine, stop) => return Ok((engine, stop, left_out_apart)),
                PartsGone::United(saved) => {
                    let mut engine = self.as_one(&saved, supervisor, keeper)?;
                    let stop = advance(&mut *engine, self.until, supervisor, keeper)?;
                    return Ok((engine, stop, left_out_apart));
                }
                PartsGone::Met(at) => {
                    left_out.met = true;
                    whole_run.divides_from = if tries < TRIES { at } else { Time::MAX };
                    engine = self.as_one(&whole, supervisor, keeper)?;
                }
            }
        }
        unreachable!("the last try is run as one")
    }

    /// The engine of the run as one.
    fn as_one(
        &self,
        saved: &[u8],
        supervisor: &mut Supervisor<'_, '_>,
        keeper: &mut Option<Keeper<'_>>,
    ) -> Result<NetworkEngine<'w>, RunError> {
        let engine = (self.restore)(saved, false)?;
        supervisor.begin(engine.reached(), OtherParts::default());
        keeper.iter_mut().for_each(|keeper| keeper.stand_beside(Vec::new()));
        Ok(engine)
    }

    /// Runs parts of a run one after the other, the last one first.
    fn apart(
        &self,
        whole: &Arc<Vec<u8>>,
        parts: Vec<Vec<u8>>,
        supervisor: &mut Supervisor<'_, '_>,
        keeper: &mut Option<Keeper<'_>>,
        left_out: &mut SkippedPeriods,
    ) -> Result<PartsGone<'w>, RunError> {
        let part = |saved| RunPart::new(self.world, saved).map_err(torn);
        let mut waiting = parts.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
        let mut done: Vec<RunPart> = Vec::new();
        while let Some(next) = waiting.pop() {
            let others = || waiting.iter().chain(&done);
            if others().any(|other| other.meets(&next)) {
                return Ok(PartsGone::Met(Time::MAX));
            }
            if let Some(keeper) = keeper {
                let saved = others().map(|part| part.saved.clone());
                keeper.stand_beside([whole.clone()].into_iter().chain(saved).collect());
            }
            let engine = (self.restore)(&next.saved, false)?;
            supervisor.begin(engine.reached(), OtherParts::new(others(), done.len()));
            let mut elsewhere = vec![false; next.touched.len()];
            for other in others() {
                elsewhere
                    .iter_mut()
                    .zip(&other.touched)
                    .for_each(|(is, &there)| *is |= there);
            }
            let of = RunOf {
                here: &next.touched,
                elsewhere: &elsewhere,
                divides_from: Time::ZERO,
            };
            match self.run(engine, of, supervisor, keeper, left_out)? {
                RunGone::Ended(engine, Stop::Idle | Stop::Until) => {
                    let part = part(engine.save())?;
                    if others().any(|other| other.meets(&part)) {
                        return Ok(PartsGone::Met(Time::MAX));
                    }
                    done.push(part);
                }
                RunGone::Ended(engine, stop) if stop == Stop::Interrupted && !supervisor.stalled => {
                    return Ok(PartsGone::Stopped(engine, stop));
                }
                RunGone::Ended(..) => return Ok(PartsGone::Met(Time::MAX)),
                RunGone::Met(at) => return Ok(PartsGone::Met(at)),
                RunGone::Divided(RunHalves { one, others, .. }) => {
                    waiting.push(part(others)?);
                    waiting.push(part(one)?);
                }
            }
        }
        let united = unite(self.world, &done).map_err(torn)?;
        left_out.apart = done.len();
        Ok(united.map_or(PartsGone::Met(Time::MAX), PartsGone::United))
    }
}
