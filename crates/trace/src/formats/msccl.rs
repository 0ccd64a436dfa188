//! MSCCL's XML: an algorithm of a collective, written out as steps of the thread blocks of each GPU.
//!
//! A GPU is a rank and a thread block a lane, whose steps come one after the other. A step is one operation or several: what it
//! receives, a computation where it reduces or copies, and what it sends. Channels are tags.

mod steps;

use crate::format::FormatReader;
use crate::graph::RankGraph;
use crate::header::{TraceForm, TraceHeader};
use crate::operation::{Kind, Operation};
use crate::problem::{Problem, ReadStop};
use crate::sink::TraceReader;
use std::path::Path;
use steps::{BlockStep, Gpu, MscclAlgorithm, ThreadBlock};

/// Algorithms of MSCCL.
pub(crate) struct Msccl;

/// Bytes of a chunk, which the file does not tell: those of an all-reduce of 1 MiB in a ring of 8.
const CHUNK: u64 = 1 << 17;

impl FormatReader for Msccl {
    const NAME: &'static str = "msccl";
    const LINE: &'static str = "algorithms of collectives in MSCCL's XML";
    const FILES: &'static str = "the text (.xml), whose first element is algo; it may be packed";
    const LIMITS: &'static str = "the file does not tell the size of the collective: a chunk has 131072 B (128 KiB), a step as many \
        as its cnt says; reductions and copies take no time; where data lies (srcbuf, srcoff, dstbuf, dstoff), the protocol, and hasdep, which \
        follows from depid and deps, are left out; the algorithm runs once; at most 256 thread blocks of a GPU";
    const SOURCE: &'static str = "github.com/microsoft/msccl; Cowan and others, MSCCLang, 2023";

    fn is_it(_path: &Path, start: &[u8]) -> bool {
        let mut rest = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
        loop {
            rest = rest.trim_ascii_start();
            let end: &[u8] = match rest {
                [b'<', b'?', ..] => b"?>",
                [b'<', b'!', b'-', b'-', ..] => b"-->",
                _ => break,
            };
            match rest.windows(end.len()).position(|some| some == end) {
                Some(at) => rest = &rest[at + end.len()..],
                None => return false,
            }
        }
        let name = rest.strip_prefix(b"<algo");
        name.is_some_and(|behind| {
            behind
                .first()
                .is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'>')
        })
    }

    fn read(path: &Path, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
        let algorithm = MscclAlgorithm::read(path, reader)?;
        let ranks = algorithm.gpus.len() as u32;
        let mut header = TraceHeader::new("msccl", ranks, TraceForm::Graph);
        header.files.push(algorithm.file.clone());
        reader.begin(&header)?;
        let mut graph = RankGraph::default();
        for (rank, gpu) in (0..).zip(&algorithm.gpus) {
            tell(gpu, rank, &algorithm.file, &mut graph, reader)?;
            graph.tell(rank, reader)?;
            reader.tick()?;
        }
        reader.end(&[])
    }
}

/// Makes the operations of a GPU.
fn tell(gpu: &Gpu, rank: u32, file: &str, graph: &mut RankGraph, reader: &mut TraceReader<'_>) -> Result<(), ReadStop> {
    // The first and the last operation of each step.
    let mut ends: Vec<Vec<(u32, u32)>> = Vec::with_capacity(gpu.blocks.len());
    for (lane, block) in (0..=u8::MAX).zip(&gpu.blocks) {
        let mut of_block: Vec<(u32, u32)> = Vec::with_capacity(block.steps.len());
        for step in &block.steps {
            let mut operations = operations(block, step, lane).into_iter().flatten();
            let first = graph.len();
            let mut last = of_block.last().map(|before| before.1);
            operations.try_for_each(|operation| {
                let number = graph.push(operation, step.line)?;
                if let Some(last) = last.replace(number) {
                    graph.after(number, last);
                }
                Ok::<(), ReadStop>(())
            })?;
            of_block.push((first, graph.len() - 1));
        }
        ends.push(of_block);
    }
    for (block, of_block) in gpu.blocks.iter().zip(&ends) {
        for (step, (first, _)) in block.steps.iter().zip(of_block) {
            let Some((other, at)) = step.after else { continue };
            let found = gpu.blocks.iter().position(|block| block.id == other);
            let found = found.and_then(|block| ends[block].get(usize::try_from(at).ok()?));
            match found {
                Some((_, last)) => graph.after(*first, *last),
                None => {
                    let reason = format!("it waits for step {at} of thread block {other}, which is not there");
                    let problem = Problem::new(file, reason, "see depid and deps").of_rank(rank);
                    reader.problem(problem.at(step.line));
                }
            }
        }
    }
    reader.progress.records += u64::from(graph.len());
    Ok(())
}

/// The operations of a step in their order, at least one.
fn operations(block: &ThreadBlock, step: &BlockStep, lane: u8) -> [Option<Operation>; 3] {
    let message = |kind, peer: Option<u32>| Operation {
        lane,
        ..Operation::message(kind, peer.unwrap_or_default(), step.chunks * CHUNK, block.channel)
    };
    let works = Operation {
        lane,
        ..Operation::compute(0)
    };
    [
        step.kind.receives.then(|| message(Kind::Recv, block.receives_from)),
        step.kind.works.then_some(works),
        step.kind.sends.then(|| message(Kind::Send, block.sends_to)),
    ]
}
