//! `[mpi]`, and the work of MPI ranks: a motif, or several one after the other.

use super::network::parameters;
use super::presets::ChosenPreset;
use crate::registry::{self, StartWord};
use des::Time;
use fabric::spec::{BitsPerSec, Bytes, MpiSpec, Part, Ranks, Start};
use std::path::Path;
use study::Type;
use study::diagnostic::{Findings, Place};
use study::document::{Node, Table, Value};
use study::reader::{self, Checked, Source, Values};
use work::motif::{self, Order};
use work::mpi::CollectiveKind;
use work::mpi::collective::Algorithm;
use work::mpi::spec::{
    Beside, CallCosts, CostPiece, Handling, HandlingWord, ONE_ROUTER, Pinning, Rails, Rendezvous, Wakes,
};

/// Reads `[mpi]` for a network of so many nodes, if known; `None` after errors.
pub(crate) fn read_mpi(root: &Table, n_nodes: Option<u64>, findings: &mut Findings) -> Option<MpiSpec> {
    let empty = Table::default();
    let source = Source::section(root, "mpi", &empty, findings);
    let before = findings.n_errors();
    let preset = ChosenPreset::of(root, findings);
    let values = reader::read(source, &parameters("mpi"), &preset.section("mpi"), &[], findings);
    if findings.n_errors() > before {
        return None;
    }
    let rails = rails(&values)?;
    if let Some(n) = n_nodes.filter(|n| !n.is_multiple_of(rails.count.into())) {
        let reason = format!(
            "{n} nodes of the network are no whole number of hosts with {} rails",
            rails.count
        );
        findings.error(values.place("rails"), "mpi.rails", reason, ONE_ROUTER);
        return None;
    }
    let time = |key| values.quantity(key).map(Time);
    let bytes = |key| values.quantity(key).map(Bytes);
    let rate = |key| values.quantity(key).map(BitsPerSec);
    let given = CollectiveKind::ALL.into_iter().filter_map(|kind| {
        let name = values.text(&kind.name().replace('-', "_"))?;
        let algorithm = Algorithm::from_name(name);
        Some((
            kind,
            algorithm.unwrap_or_else(|| unreachable!("algorithm {name:?} is in the registry and not read")),
        ))
    });
    Some(MpiSpec {
        send_overhead: time("send_overhead")?,
        receive_overhead: time("receive_overhead")?,
        eager: bytes("eager")?,
        costs: costs(&values, findings)?,
        rendezvous: values.choice("rendezvous")?,
        header: bytes("header")?,
        control: bytes("control")?,
        copy: rate("copy"),
        combine: rate("combine"),
        local_latency: time("local_latency")?,
        local_bandwidth: rate("local_bandwidth"),
        algorithms: given.collect(),
        collectives: values.choice("collectives")?,
        rails,
        progress: progress(&values, &rails, findings)?,
        fetch_above: bytes("fetch_above"),
        beside: beside(&values, findings)?,
        preset: values.text("preset").map(str::to_owned),
    })
}

/// What messages take at both ends, piece by piece of their size.
fn costs(values: &Values, findings: &mut Findings) -> Option<Vec<CostPiece>> {
    let rows = values.rows("costs");
    if rows.is_empty() {
        return Some(Vec::new());
    }
    let before = findings.n_errors();
    let mut refuse = |key: &str, reason: &str, hint: &str| {
        findings.error(values.place(key), &format!("mpi.{key}"), reason, hint);
    };
    for key in ["send_overhead", "receive_overhead"] {
        if values.given(key) {
            refuse(
                key,
                "has no meaning with mpi.costs, whose rows have the overheads",
                "remove one of them",
            );
        }
    }
    if values.choice("progress") == Some(HandlingWord::InCalls) {
        refuse(
            "costs",
            "is for ranks with progress = \"always\": the others pay by call",
            "remove one of them",
        );
    }
    if values.quantity("stripe_above").is_some() && values.integer("rails") != Some(1) {
        refuse(
            "costs",
            "is for messages that are not cut up",
            "leave out mpi.stripe_above",
        );
    }
    let pieces: Vec<CostPiece> = rows.iter().map(Vec::as_slice).filter_map(piece).collect();
    if let Some(pair) = pieces.windows(2).find(|pair| pair[0].upto >= pair[1].upto) {
        let (first, second) = (pair[0].upto.0, pair[1].upto.0);
        let reason = format!("its rows are in the order of their sizes, and {second} B come after {first} B");
        refuse("costs", &reason, "sort the rows, a size once");
    }
    (findings.n_errors() == before).then_some(pieces)
}

/// A row of `mpi.costs`.
fn piece(row: &[Checked]) -> Option<CostPiece> {
    match row {
        [
            Checked::Quantity(upto),
            Checked::Quantity(overhead),
            Checked::Quantity(per_byte_fs),
        ] => Some(CostPiece {
            upto: Bytes(*upto),
            overhead: Time(*overhead),
            per_byte_fs: *per_byte_fs,
        }),
        _ => None,
    }
}

/// What has a meaning with messages beside the network only.
const BESIDE_KEYS: [&str; 5] = [
    "beside_latency",
    "beside_hop",
    "beside_trees",
    "beside_groups",
    "beside_order",
];

/// Messages that go beside the network, if some do; `None` after an error.
fn beside(values: &Values, findings: &mut Findings) -> Option<Option<Beside>> {
    let Some(most) = values.quantity("beside") else {
        let given = BESIDE_KEYS.into_iter().find(|key| values.given(key));
        let Some(key) = given else {
            return Some(None);
        };
        let reason = "has a meaning with mpi.beside only";
        findings.error(
            values.place(key),
            &format!("mpi.{key}"),
            reason,
            "remove the key, or set mpi.beside",
        );
        return None;
    };
    Some(Some(Beside {
        most: Bytes(most),
        latency: Time(values.quantity("beside_latency")?),
        hop: Time(values.quantity("beside_hop")?),
        trees: values.choice("beside_trees")?,
        groups: values.choice("beside_groups")?,
        order: values.choice("beside_order")?,
    }))
}

/// When messages are handled, with what only those pay who handle them in their calls.
fn progress(values: &Values, rails: &Rails, findings: &mut Findings) -> Option<Handling> {
    if values.choice::<HandlingWord>("progress")? == HandlingWord::Always {
        return Some(Handling::Always);
    }
    if rails.count > 1 {
        let reason = "is for hosts with one interface";
        findings.error(
            values.place("progress"),
            "mpi.progress",
            reason,
            "take \"always\", or rails = 1",
        );
        return None;
    }
    let time = |key| values.quantity(key).map(Time);
    Some(Handling::InCalls(CallCosts {
        enter: time("enter")?,
        leave: time("leave")?,
        match_cost: time("match_cost")?,
        pin: Pinning {
            base: time("pin_base")?,
            page: time("pin_page")?,
            page_bytes: values.quantity("pin_page_bytes").map(Bytes)?,
        },
        host_delay: time("host_delay")?,
        match_delay: time("match_delay")?,
        read_delay: time("read_delay")?,
        wakes: wakes(values, findings)?,
    }))
}

/// What a busy rank remembers; who is woken once needs an acknowledgement of its own to wake it for what is left.
fn wakes(values: &Values, findings: &mut Findings) -> Option<Wakes> {
    let wakes = values.choice("wakes")?;
    if wakes == Wakes::Once && values.choice::<Rendezvous>("rendezvous")? != Rendezvous::Get {
        let reason = "\"once\" is for rendezvous = \"get\": what is left is looked at when the acknowledgement of what was read has gone";
        findings.error(
            values.place("wakes"),
            "mpi.wakes",
            reason,
            "take \"each\", or rendezvous = \"get\"",
        );
        return None;
    }
    Some(wakes)
}

/// One rail has one policy, whatever is written: its runs are those without any.
fn rails(values: &Values) -> Option<Rails> {
    let rails = Rails {
        count: values.integer_u32("rails")?,
        policy: values.choice("rail_policy")?,
        stripe_above: values.quantity("stripe_above").map(Bytes),
    };
    Some(if rails.count == 1 { Rails::default() } else { rails })
}

/// A part of the work: its table and where it is.
pub(crate) struct Told<'a> {
    pub table: &'a Table,
    pub place: Place,
    pub path: String,
}

/// Whether a kind of work is a motif.
pub(crate) fn is_motif(kind: &str) -> bool {
    registry::find(&registry::MOTIF, kind).is_some()
}

/// The parts of work that is written as a list.
pub(crate) fn parts<'a>(elements: &'a [Node], path: &str, findings: &mut Findings) -> Option<Vec<Told<'a>>> {
    let mut told = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        let path = format!("{path}[{index}]");
        match &element.value {
            Value::Table(table) => told.push(Told {
                table,
                place: element.place,
                path,
            }),
            other => {
                let reason = format!("must be a table, not {}", other.type_words());
                findings.error(element.place, &path, reason, "write { kind = \"halo3d\" }");
            }
        }
    }
    (told.len() == elements.len() && !told.is_empty()).then_some(told)
}

/// Reads the work of MPI ranks; `None` after errors. `nodes` is the number of nodes of the job, if known.
pub(crate) fn read(
    job: &Values,
    told: &[Told<'_>],
    mpi: Option<&MpiSpec>,
    (nodes, base): (Option<u64>, &Path),
    findings: &mut Findings,
) -> Option<Ranks> {
    let per_node = job.integer_u32("ranks_per_node")?;
    let mapping = job.choice("mapping")?;
    let room = nodes.map(|nodes| nodes.saturating_mul(per_node.into()).min(1 << 28) as u32);
    let mut parts = Vec::new();
    for part in told {
        parts.extend(read_part(part, room, base, findings));
    }
    let prelude = job.integer_u32("prelude")?;
    if prelude as usize >= told.len().max(1) {
        let reason = format!("nothing of the {} parts of the work is left to be timed", told.len());
        findings.error(
            job.place("prelude"),
            &format!("{}.prelude", job.path),
            reason,
            "take fewer, or give the work more parts",
        );
        return None;
    }
    let work = Ranks {
        parts,
        per_node,
        mapping,
        start: start(job)?,
        prelude,
        mpi: mpi?.clone(),
    };
    (work.parts.len() == told.len()).then_some(work)
}

/// When the ranks start: a spread of nothing is no spread.
fn start(job: &Values) -> Option<Start> {
    Some(match job.get("start")? {
        Checked::Keyed(spread) => match **spread {
            Checked::Quantity(0) => Start::InPhase,
            Checked::Quantity(spread) => Start::Spread(Time(spread)),
            _ => return None,
        },
        _ => match job.choice("start")? {
            StartWord::InPhase => Start::InPhase,
            StartWord::AfterBarrier => Start::AfterBarrier,
        },
    })
}

fn read_part(told: &Told<'_>, room: Option<u32>, base: &Path, findings: &mut Findings) -> Option<Part> {
    let before = findings.n_errors();
    let path = format!("{}.kind", told.path);
    let Some(item) = told.table.get("kind") else {
        findings.error(told.place, &path, "is missing", "write { kind = \"halo3d\" }");
        return None;
    };
    let Checked::Text(kind) = reader::check(&Type::Of(&registry::MOTIF), &item.node, &path, findings)? else {
        return None;
    };
    let entry = registry::find(&registry::MOTIF, &kind)?;
    let source = Source {
        table: told.table,
        place: told.place,
        path: &told.path,
    };
    let parameters: Vec<_> = entry.parameters().collect();
    let values = reader::read(source, &parameters, &[], &["kind"], findings);
    if findings.n_errors() > before {
        return None;
    }
    let iterations = values.integer_u32("iterations")?;
    let motif = motif::of_study(&kind, &values, base, findings)?;
    // Without the number of nodes the network says it when it is built.
    let ranks = values.integer_u32("ranks");
    let place = |field: &str| match field {
        "ranks" | "kind" => values.place,
        field => values.place(field),
    };
    if let (Some(ranks), Some(room)) = (ranks, room)
        && ranks > room
    {
        let reason = format!("{ranks} ranks do not fit, the nodes of the job have room for {room}");
        let hint = "take fewer ranks, more nodes, or a larger ranks_per_node";
        findings.error(values.place("ranks"), &format!("{}.ranks", told.path), reason, hint);
        return None;
    }
    if let Some(room) = ranks.or(room)
        && let Err(misfit) = motif::program(&motif, room, (Order::Common, false))
    {
        let path = format!("{}.{}", told.path, misfit.field);
        findings.error(place(misfit.field), &path, misfit.reason, misfit.hint);
        return None;
    }
    Some(Part { motif, iterations })
}
