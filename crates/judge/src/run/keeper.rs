//! Checkpoints of a run: when they are due, and what the run keeps besides the engine's state.

use super::{LinkWindows, RunError, Supervisor};
use crate::checkpoint::{self, CheckpointError, Checkpoints, Every};
use crate::process::cpu_time;
use bytemuck::{Pod, Zeroable};
use des::engine::Engine;
use des::{Gathered, Time, Torn};
use fabric::models::AnyFabric;
use fabric::spec::RunSpec;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vocabulary::run_hash;

/// What stands behind the engine's bytes: the stall clock and the CPU time spent, of all ranks, and of how many engines they are: more than one where
/// jobs are run apart, with the length of each before this.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Trailer {
    progress_at: u64,
    moved: u64,
    cpu_ns: u64,
    engines: u64,
}

/// What a run goes on from.
#[derive(Clone, Debug, Default)]
pub(super) struct SavedRun {
    /// What an engine has saved of the whole.
    pub(super) whole: Vec<u8>,
    /// The parts into which the run was divided from there on, as far as each has come; the last is the one that was running.
    pub(super) parts: Vec<Vec<u8>>,
}

/// Writes and reads the checkpoints of one run. With ranks each has a keeper, that of rank 0 has the file.
pub(super) struct Keeper<'a> {
    checkpoints: &'a Checkpoints,
    run: String,
    /// Has the file.
    first: bool,
    /// When the next checkpoint is due, if they go by wall time.
    pub(super) save_at: Option<Instant>,
    /// Events of the engine at the latest checkpoint; `None` if that was of another.
    saved: Option<u64>,
    /// What is written before what an engine has saved, where jobs are run apart: the whole before that, and other parts.
    beside: Vec<Arc<Vec<u8>>>,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(spec: &RunSpec, checkpoints: &'a Checkpoints, first: bool) -> Self {
        let mut keeper = Keeper {
            checkpoints,
            run: run_hash(spec),
            first,
            save_at: None,
            saved: Some(0),
            beside: Vec::new(),
        };
        keeper.wind();
        keeper
    }

    /// What is to be written before what the engine has saved; an engine begins.
    pub(super) fn stand_beside(&mut self, saved: Vec<Arc<Vec<u8>>>) {
        (self.saved, self.beside) = (None, saved);
    }

    /// Sets the clock on the wall for the next checkpoint.
    fn wind(&mut self) {
        self.save_at = match self.checkpoints.every {
            Some(Every::Wall(every)) if self.first => Instant::now().checked_add(every),
            _ => None,
        };
    }

    /// The simulated time of the next checkpoint after `now`.
    pub(super) fn next(&self, now: Time) -> Time {
        match self.checkpoints.every {
            Some(Every::Simulated(every)) => Time((now.0 / every.0 + 1).saturating_mul(every.0)),
            _ => Time::MAX,
        }
    }

    /// `true` if a checkpoint is due at simulated time `now`.
    pub(super) fn is_due(&self, now: Time) -> bool {
        matches!(self.checkpoints.every, Some(Every::Simulated(every)) if now.0.is_multiple_of(every.0))
    }

    /// What the run's engine goes on from, if there is a checkpoint and it is wanted. Else one that is there is removed.
    pub(super) fn open(&mut self, supervisor: &mut Supervisor<'_, '_>) -> Result<Option<SavedRun>, CheckpointError> {
        let file = &self.checkpoints.file;
        if !self.first {
            return Ok(None);
        }
        if !self.checkpoints.resume {
            checkpoint::remove(file)?;
            return Ok(None);
        }
        let Some(mut body) = checkpoint::read(file, &self.run)? else {
            return Ok(None);
        };
        let Some((_, behind)) = body.split_last_chunk::<{ size_of::<Trailer>() }>() else {
            return Err(checkpoint::torn(file, "it ends too early"));
        };
        let behind: Trailer = bytemuck::pod_read_unaligned(behind);
        body.truncate(body.len() - size_of::<Trailer>());
        self.open_windows(&mut body, supervisor)?;
        if behind.engines == 1 {
            // Of parts they are those of the last one; all of them begin anew.
            supervisor.progress_at = Time(behind.progress_at);
            supervisor.moved = behind.moved;
        }
        supervisor.before = Duration::from_nanos(behind.cpu_ns);
        self.open_parts(body, behind.engines).map(Some)
    }

    /// Takes a body apart into what so many engines have saved.
    fn open_parts(&self, mut body: Vec<u8>, engines: u64) -> Result<SavedRun, CheckpointError> {
        let mut parts = Vec::new();
        if engines > 1 {
            let torn = || checkpoint::torn(&self.checkpoints.file, "its parts are not there");
            let table = engines
                .checked_mul(8)
                .and_then(|bytes| body.len().checked_sub(bytes as usize));
            let lengths = body.split_off(table.ok_or_else(torn)?);
            for length in lengths.chunks_exact(8).skip(1).rev() {
                let length = u64::from_le_bytes(length.try_into().expect("eight bytes")) as usize;
                let begin = body.len().checked_sub(length).ok_or_else(torn)?;
                parts.push(body.split_off(begin));
            }
            parts.reverse();
        }
        Ok(SavedRun { whole: body, parts })
    }

    /// Takes the windows of links from the end of a body; runs without them have none.
    fn open_windows(&self, body: &mut Vec<u8>, supervisor: &mut Supervisor<'_, '_>) -> Result<(), CheckpointError> {
        let Some(windows) = &mut supervisor.windows else {
            return Ok(());
        };
        let torn = |why| checkpoint::torn(&self.checkpoints.file, why);
        let Some((_, length)) = body.split_last_chunk::<8>() else {
            return Err(torn("it ends too early"));
        };
        let length = u64::from_le_bytes(*length) as usize;
        let Some(begin) = (body.len() - 8).checked_sub(length) else {
            return Err(torn("its windows of links are not there"));
        };
        let mut saved = &body[begin..body.len() - 8];
        *windows = LinkWindows::restore(supervisor.net, &mut saved).map_err(|Torn(why)| torn(why))?;
        body.truncate(begin);
        Ok(())
    }

    /// The error of a checkpoint that an engine cannot read.
    pub(super) fn refuse(keeper: &Option<Self>, torn: Torn) -> CheckpointError {
        let file = keeper.as_ref().map(|keeper| keeper.checkpoints.file.as_path());
        checkpoint::torn(file.unwrap_or("".as_ref()), torn.0)
    }

    /// Writes a checkpoint of what `engine` has reached, unless nothing has happened since the latest; called by all ranks alike.
    pub(super) fn save(
        &mut self,
        engine: &mut (dyn Engine<AnyFabric> + '_),
        supervisor: &Supervisor<'_, '_>,
    ) -> Result<(), RunError> {
        let events = engine.outcome().events;
        if self.saved != Some(events) {
            let cpu = cpu_time() - supervisor.begun + supervisor.before;
            let cpu = engine.total(cpu.as_nanos() as u64).map_err(RunError::Ranks)?;
            let body = match engine.gather().map_err(RunError::Ranks)? {
                Gathered::Here => Some(engine.save()),
                Gathered::Whole(saved) => Some(saved),
                Gathered::Elsewhere => None,
            };
            let written = body.map_or(Ok(()), |body| self.write(body, engine.reached(), cpu, supervisor));
            let failed = engine.agree(u64::from(written.is_err())).map_err(RunError::Ranks)?;
            written?;
            if failed != 0 {
                return Err(RunError::Elsewhere);
            }
            self.saved = Some(events);
        }
        self.wind();
        Ok(())
    }

    fn write(
        &self,
        mut body: Vec<u8>,
        reached: Time,
        cpu_ns: u64,
        supervisor: &Supervisor<'_, '_>,
    ) -> Result<(), CheckpointError> {
        let behind = Trailer {
            progress_at: supervisor.progress_at.0,
            moved: supervisor.moved,
            cpu_ns,
            engines: self.beside.len() as u64 + 1,
        };
        if !self.beside.is_empty() {
            let last = body.len();
            let mut all = Vec::new();
            self.beside.iter().for_each(|saved| all.extend_from_slice(saved));
            all.append(&mut body);
            let lengths = self.beside.iter().map(|saved| saved.len()).chain([last]);
            lengths.for_each(|length| all.extend_from_slice(&(length as u64).to_le_bytes()));
            body = all;
        }
        if let Some(windows) = &supervisor.windows {
            let begin = body.len();
            windows.save(supervisor.net, &mut body);
            let length = (body.len() - begin) as u64;
            body.extend_from_slice(&length.to_le_bytes());
        }
        body.extend_from_slice(bytemuck::bytes_of(&behind));
        checkpoint::write(&self.checkpoints.file, &self.run, reached.0, &body)
    }
}
