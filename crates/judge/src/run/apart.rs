//! Jobs that do not meet are run one after the other, each as far as the run goes, and what comes of them is put together.
//!
//! The run begins as one. Where a job is seen to repeat and the whole is not, what that job has met is taken out ([`des::apart`]), run by itself, and
//! so what is left. If something was touched in two of these runs, they were not apart after all: all of them are given up, and the run goes on as
//! one from where it was divided.

use super::divide::RunHalves;
use super::repeat::{Repeating, RunGone};
use super::supervisor::{OtherParts, Supervisor, advance};
use super::{Keeper, RunError};
use crate::results::SkippedPeriods;
use des::apart::{RunPart, unite};
use des::{Stop, Torn};
use fabric::engines::NetworkEngine;
use std::sync::Arc;

/// How runs that a run was divided into have gone.
enum PartsGone<'w> {
    /// One was stopped.
    Stopped(NetworkEngine<'w>, Stop),
    /// To the end: what an engine would have saved of all of them.
    United(Vec<u8>),
    /// Two of them met, or one broke down: what becomes of the whole is not known.
    Met,
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
        let (whole, parts) = if parts.is_empty() {
            match self.run(engine, (&|_| true, true), supervisor, keeper, &mut left_out)? {
                RunGone::Ended(engine, stop) => return Ok((engine, stop, left_out)),
                RunGone::Divided(RunHalves { whole, one, others }) => (whole, vec![others, one]),
            }
        } else {
            (engine.save(), parts)
        };
        let whole = Arc::new(whole);
        let mut left_out_apart = left_out;
        match self.apart(&whole, parts, supervisor, keeper, &mut left_out_apart)? {
            PartsGone::Stopped(engine, stop) => Ok((engine, stop, left_out_apart)),
            PartsGone::United(saved) => {
                let mut engine = self.as_one(&saved, supervisor, keeper)?;
                let stop = advance(&mut *engine, self.until, supervisor, keeper)?;
                Ok((engine, stop, left_out_apart))
            }
            PartsGone::Met => {
                left_out.met = true;
                let engine = self.as_one(&whole, supervisor, keeper)?;
                match self.run(engine, (&|_| true, false), supervisor, keeper, &mut left_out)? {
                    RunGone::Ended(engine, stop) => Ok((engine, stop, left_out)),
                    RunGone::Divided(_) => unreachable!("it may not be divided"),
                }
            }
        }
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
                return Ok(PartsGone::Met);
            }
            if let Some(keeper) = keeper {
                let saved = others().map(|part| part.saved.clone());
                keeper.stand_beside([whole.clone()].into_iter().chain(saved).collect());
            }
            let engine = (self.restore)(&next.saved, false)?;
            supervisor.begin(engine.reached(), OtherParts::new(others(), done.len()));
            let here = |name: u32| next.touched[name as usize];
            match self.run(engine, (&here, true), supervisor, keeper, left_out)? {
                RunGone::Ended(engine, Stop::Idle | Stop::Until) => {
                    let part = part(engine.save())?;
                    if others().any(|other| other.meets(&part)) {
                        return Ok(PartsGone::Met);
                    }
                    done.push(part);
                }
                RunGone::Ended(engine, stop) if stop == Stop::Interrupted && !supervisor.stalled => {
                    return Ok(PartsGone::Stopped(engine, stop));
                }
                RunGone::Ended(..) => return Ok(PartsGone::Met),
                RunGone::Divided(RunHalves { one, others, .. }) => {
                    waiting.push(part(others)?);
                    waiting.push(part(one)?);
                }
            }
        }
        let united = unite(self.world, &done).map_err(torn)?;
        left_out.apart = done.len();
        Ok(united.map_or(PartsGone::Met, PartsGone::United))
    }
}
