//! What a trace says is what ranks do.

mod operations;
mod refusals;

use super::*;
use crate::mpi::graph::Doing;
use crate::mpi::op::{ANY_SIZE, BLOCK, UNNAMED};
use crate::mpi::{Collective, CollectiveKind, Op, Program, Transfer};
use std::sync::Arc;
use trace::collected::CollectedOperation;
use trace::operation::{ANY_SOURCE, ANY_TAG, NONE, UNKNOWN_SIZE};
use trace::{Collected, Kind, Members, Mode, Operation, ReadStop, TraceForm, TraceHeader, TraceSink, WorkUnit};

const PLAIN: ComputeTimes = ComputeTimes {
    each: 1.0,
    regions: Vec::new(),
};

/// A trace of what each rank does.
fn collected(ranks: Vec<Vec<Operation>>) -> Collected {
    let lists = ranks
        .into_iter()
        .map(|operations| operations.into_iter().map(|operation| (operation, vec![])).collect());
    with_lists(lists.collect())
}

/// The same with lists of requests or sizes.
fn with_lists(ranks: Vec<Vec<(Operation, Vec<u64>)>>) -> Collected {
    let listed = |operations: Vec<(Operation, Vec<u64>)>| {
        let listed = (0..)
            .zip(operations)
            .map(|(record, (operation, values))| CollectedOperation {
                record,
                operation,
                values,
                ..CollectedOperation::default()
            });
        listed.collect()
    };
    Collected {
        header: TraceHeader {
            files: vec!["a.trace".to_owned()],
            ..TraceHeader::new("test", ranks.len() as u32, TraceForm::Program)
        },
        ranks: ranks.into_iter().map(listed).collect(),
        names: vec!["main".to_owned(), "solver".to_owned(), "output".to_owned()],
    }
}

fn record(trace: &Collected) -> Result<CallRecording, ReadStop> {
    let mut recorder = CallRecorder::new(AnySource::Recorded, Repairing::None, 1 << 20);
    trace.tell(&mut recorder)?;
    recorder.finish()
}

fn program(trace: &Collected) -> TraceProgram {
    let recording = record(trace).unwrap_or_else(|stop| panic!("{stop:?}"));
    TraceProgram::new(Arc::new(recording), PLAIN, 1.0)
}

fn ops(program: &TraceProgram, rank: u32) -> Vec<Op> {
    let mut ops: Vec<Op> = Vec::new();
    while let Some(op) = program.op(rank, 0, ops.len() as u32) {
        assert_eq!(
            program.op(rank, 7, ops.len() as u32),
            Some(op),
            "iterations are all the same"
        );
        ops.push(op);
    }
    ops
}

fn message(kind: Kind, peer: u32, bytes: u64) -> Operation {
    Operation::message(kind, peer, bytes, 5)
}

fn named(kind: Kind, peer: u32, bytes: u64, request: u32) -> Operation {
    Operation {
        request,
        ..message(kind, peer, bytes)
    }
}

fn on(request: u32, kind: Kind) -> Operation {
    Operation {
        request,
        ..Operation::new(kind)
    }
}

fn transfer(peer: u32, bytes: u64, request: u16) -> Transfer {
    Transfer {
        tag: 5,
        request,
        ..Transfer::new(peer, bytes)
    }
}
