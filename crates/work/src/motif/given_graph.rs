//! Small graphs as values of a run: what a program in Rust has made up, written so that it travels with its specification.
//!
//! A line for each operation: rank, lane, what it does, the operations that it waits for, and those whose start it waits for:
//! `0 0 compute 1000 | 3 4 | 2`, `0 0 send PEER BYTES TAG COMMUNICATOR | |`, `recv` alike with `any` where it is left open,
//! `0 255 allreduce BYTES ROOT COMMUNICATOR | |`. Before them a line for each communicator but that of all ranks: `group 0 2 4` has a group of it,
//! those of one communicator follow each other, a line `communicator` begins the next.

use super::Misfit;
use crate::mpi::graph::{Doing, GraphBuilder, GraphProgram};
use crate::mpi::op::{ANY_SIZE, ANY_SOURCE, ANY_TAG, Collective, CollectiveKind};
use crate::mpi::spec::{Motif, MotifValue};
use crate::mpi::{Communicator, Program};
use std::fmt::Write;
use std::sync::Arc;

/// The name of such work. No study can say it.
pub const KIND: &str = "given-graph";

/// An operation: its rank, lane, what it does, what it waits for to end and to start.
pub type GivenOperation = (u32, u16, Doing, Vec<u32>, Vec<u32>);

/// Operations as the work of so many ranks; communicators besides that of all ranks are told by their groups.
pub fn motif(ranks: u32, communicators: &[Vec<Vec<u32>>], operations: &[GivenOperation]) -> Motif {
    let mut text = String::new();
    let mut told = |line: std::fmt::Arguments<'_>| writeln!(text, "{line}").unwrap_or_default();
    let list = |ranks: &[u32]| ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    for groups in communicators {
        told(format_args!("communicator"));
        for group in groups {
            told(format_args!("group {}", list(group)));
        }
    }
    let open = |value: u64, is_open: bool| if is_open { "any".to_owned() } else { value.to_string() };
    for (rank, lane, doing, after, after_start) in operations {
        let what = match *doing {
            Doing::Compute(time) => format!("compute {time}"),
            Doing::Send {
                peer,
                bytes,
                tag,
                communicator,
            } => format!("send {peer} {bytes} {tag} {communicator}"),
            Doing::Recv {
                peer,
                bytes,
                tag,
                communicator,
            } => {
                let peer = open(peer.into(), peer == ANY_SOURCE);
                let (bytes, tag) = (open(bytes, bytes == ANY_SIZE), open(tag.into(), tag == ANY_TAG));
                format!("recv {peer} {bytes} {tag} {communicator}")
            }
            Doing::Collective(Collective {
                kind,
                communicator,
                bytes,
                root,
            }) => format!("{} {bytes} {root} {communicator}", kind.name()),
        };
        told(format_args!(
            "{rank} {lane} {what} | {} | {}",
            list(after),
            list(after_start)
        ));
    }
    let values = [
        ("ranks", MotifValue::Integer(ranks.into())),
        ("operations", MotifValue::Text(text)),
    ];
    Motif {
        kind: KIND.to_owned(),
        values: values.map(|(key, value)| (key.to_owned(), value)).into(),
    }
}

/// The work that such a value says.
pub(crate) fn read(motif: &Motif) -> Result<Arc<dyn Program>, Misfit> {
    let wrong = |reason: String| Misfit::new("operations", reason, "make it with work::graph::motif");
    let (Some(MotifValue::Integer(ranks)), Some(MotifValue::Text(text))) =
        (motif.values.get("ranks"), motif.values.get("operations"))
    else {
        return Err(wrong("there are no ranks or operations".to_owned()));
    };
    let ranks = u32::try_from(*ranks).map_err(|_| wrong(format!("{ranks} ranks are too many")))?;
    let mut families = vec![Communicator::World(ranks)];
    let mut groups: Vec<Vec<Vec<u32>>> = Vec::new();
    let numbers = |text: &str| -> Result<Vec<u32>, Misfit> {
        let numbers = text.split_whitespace().map(str::parse);
        numbers
            .collect::<Result<_, _>>()
            .map_err(|_| wrong(format!("{text:?} are no numbers")))
    };
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next_if(|line| line.starts_with(['c', 'g'])) {
        match line.strip_prefix("group") {
            None => groups.push(Vec::new()),
            Some(members) => {
                let members = numbers(members)?;
                groups
                    .last_mut()
                    .ok_or_else(|| wrong("a group of no communicator".to_owned()))?
                    .push(members);
            }
        }
    }
    for groups in groups {
        let mut of = vec![None; ranks as usize];
        for (group, members) in (0..).zip(&groups) {
            for (number, &rank) in (0..).zip(members) {
                let own = of.get_mut(rank as usize).filter(|own| own.is_none());
                *own.ok_or_else(|| wrong(format!("rank {rank} is in no or two groups")))? = Some((group, number));
            }
        }
        let of: Option<Vec<(u32, u32)>> = of.into_iter().collect();
        let of = of.ok_or_else(|| wrong("a rank is in no group".to_owned()))?;
        families.push(Communicator::Listed { of, groups });
    }
    let mut builder = GraphBuilder::new(families);
    for line in lines {
        let (rank, lane, doing, after, after_start) = operation(line).ok_or_else(|| wrong(format!("{line:?}")))?;
        let added = builder.add(rank, doing, lane, &after, &after_start);
        added.map_err(|mistake| wrong(mistake.to_string()))?;
    }
    let graph = builder.finish().map_err(|mistake| wrong(mistake.to_string()))?;
    Ok(Arc::new(GraphProgram::new(Arc::new(graph))))
}

/// The operation of a line.
fn operation(line: &str) -> Option<GivenOperation> {
    let mut parts = line.split('|');
    let mut words = parts.next()?.split_whitespace();
    let mut list = || -> Option<Vec<u32>> { parts.next()?.split_whitespace().map(|word| word.parse().ok()).collect() };
    let (after, after_start) = (list()?, list()?);
    let mut word = || words.next();
    let (rank, lane, what) = (word()?.parse().ok()?, word()?.parse().ok()?, word()?);
    let doing = match what {
        "compute" => Doing::Compute(word()?.parse().ok()?),
        "send" => Doing::Send {
            peer: word()?.parse().ok()?,
            bytes: word()?.parse().ok()?,
            tag: word()?.parse().ok()?,
            communicator: word()?.parse().ok()?,
        },
        "recv" => {
            let mut open = |any: u64| match word()? {
                "any" => Some(any),
                number => number.parse().ok(),
            };
            Doing::Recv {
                peer: open(ANY_SOURCE.into())? as u32,
                bytes: open(ANY_SIZE)?,
                tag: open(ANY_TAG.into())? as u16,
                communicator: open(u64::MAX)? as u16,
            }
        }
        kind => Doing::Collective(Collective {
            kind: CollectiveKind::from_name(kind)?,
            bytes: word()?.parse().ok()?,
            root: word()?.parse().ok()?,
            communicator: word()?.parse().ok()?,
        }),
    };
    Some((rank, lane, doing, after, after_start))
}
