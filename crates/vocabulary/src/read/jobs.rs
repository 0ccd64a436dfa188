//! `[[job]]`: what the nodes do, and whether the network has the nodes for it.

use super::memory;
use super::messages;
use super::network::parameters;
use super::placement::{self, Files};
use super::presets;
use super::ranks::{self, Told};
use super::trace::Traces;
use crate::registry;
use des::Time;
use fabric::spec::{Bytes, JobSpec, MpiSpec, Synthetic, Work};
use std::collections::BTreeMap;
use std::path::Path;
use study::Parameter;
use study::diagnostic::Findings;
use study::document::{Node, Table, Value};
use study::reader::{self, Checked, Source, Values};
use work::workload::patterns::{Pattern, PatternKeys};
use work::workload::spec::REPLY;
use work::workload::{Pairs, Process};

/// Reads all jobs; `None` after errors.
pub(crate) fn read(root: &Table, mut files: Files<'_>, findings: &mut Findings) -> Option<Vec<JobSpec>> {
    let before = findings.n_errors();
    let mpi = ranks::read_mpi(root, files.n_nodes, findings);
    let rails = mpi.as_ref().map_or(1, |mpi| mpi.rails.count);
    // From here on a node is one of a job: a host with all its rails.
    files.n_nodes = files.n_nodes.map(|n| n / u64::from(rails));
    let n_nodes = files.n_nodes;
    let default = Node {
        value: Value::Table(Table::default()),
        place: Default::default(),
    };
    let elements = elements(root, &default, findings)?;
    let mut jobs = Vec::new();
    let mut names = BTreeMap::new();
    let mut taken = 0u64;
    let alone = elements.len() == 1;
    for (index, element) in elements.into_iter().enumerate() {
        let path = format!("job[{index}]");
        let Value::Table(table) = &element.value else {
            let reason = format!("must be a table, not {}", element.value.type_words());
            findings.error(element.place, &path, reason, "write [[job]] and its keys below");
            continue;
        };
        let source = Source {
            table,
            place: element.place,
            path: &path,
        };
        let values = reader::read(source, &parameters("job"), &[], &["placement", "work"], findings);
        let name = values.text("name").map_or_else(|| format!("job{index}"), str::to_owned);
        if let Some(other) = names.insert(name.clone(), index) {
            let reason = format!("{name:?} is the name of job[{other}] as well");
            findings.error(
                values.place("name"),
                &format!("{path}.name"),
                reason,
                "give every job its own name",
            );
        }
        let nodes = values.integer_u32("nodes");
        taken = taken.saturating_add(nodes.map_or(0, u64::from));
        check_nodes(&values, alone, taken, n_nodes, findings);
        let own_nodes = nodes.map(u64::from).or(n_nodes).filter(|_| !values.failed("nodes"));
        let several = values.integer("ranks_per_node").is_some_and(|ranks| ranks > 1);
        // A program of one process is none that talks to nobody: it computes, and sends to itself.
        let kind_may = |table: &Table| matches!(table.get("kind").map(|item| &item.node.value), Some(Value::Text(kind)) if ["idle", "program"].contains(&kind.as_str()));
        let may_be_one =
            matches!(table.get("work").map(|item| &item.node.value), Some(Value::Table(work)) if kind_may(work));
        if own_nodes.is_some_and(|own| own < 2) && !several && !may_be_one {
            let reason = "1 node has nobody to talk to";
            findings.error(
                values.place("nodes"),
                &format!("{path}.nodes"),
                reason,
                "a job needs at least 2 nodes",
            );
        }
        let work = read_work(
            source,
            &values,
            mpi.as_ref(),
            (own_nodes, files.base),
            files.traces,
            findings,
        );
        if rails > 1 && work.as_ref().is_some_and(|work| !matches!(work, Work::Ranks(_))) {
            let reason = format!("has no MPI ranks, but hosts have {rails} rails (mpi.rails)");
            let hint = "take a motif (`fabricsim list motif`), or mpi.rails = 1";
            findings.error(element.place, &format!("{path}.work"), reason, hint);
        }
        let placement = placement::read(source, own_nodes, &mut files, findings);
        jobs.extend(work.zip(placement).map(|(work, placement)| JobSpec {
            name,
            work,
            nodes,
            placement,
        }));
    }
    (findings.n_errors() == before).then_some(jobs)
}

/// The jobs as they stand in the file: `default` alone where there is none.
fn elements<'a>(root: &'a Table, default: &'a Node, findings: &mut Findings) -> Option<Vec<&'a Node>> {
    Some(match root.get("job") {
        None => vec![default],
        Some(item) => match &item.node.value {
            Value::List(elements) if !elements.is_empty() => elements.iter().collect(),
            Value::List(_) => {
                findings.error(
                    item.node.place,
                    "job",
                    "there is no job",
                    "add a [[job]], or leave the key out",
                );
                return None;
            }
            other => {
                let reason = format!("must be a list of tables, not {}", other.type_words());
                findings.error(item.node.place, "job", reason, "write [[job]] with two brackets");
                return None;
            }
        },
    })
}

/// Whether the network has the nodes of a job: with those before it there are `taken` of `available`.
fn check_nodes(values: &Values, alone: bool, taken: u64, available: Option<u64>, findings: &mut Findings) {
    let path = format!("{}.nodes", values.path);
    if values.integer_u32("nodes").is_none() && !alone && !values.failed("nodes") {
        let hint = "give every job its number of nodes";
        let reason = "takes all nodes, but there are other jobs";
        findings.error(values.place("nodes"), &path, reason, hint);
    }
    if let Some(available) = available.filter(|available| taken > *available) {
        let reason = match alone {
            true => format!("needs {taken} nodes, the network has {available}"),
            false => format!("the jobs up to this one need {taken} nodes, the network has {available}"),
        };
        findings.error(
            values.place("nodes"),
            &path,
            reason,
            "use fewer nodes or a larger network",
        );
    }
}

fn read_work(
    job: Source<'_>,
    keys: &Values,
    mpi: Option<&MpiSpec>,
    (n_nodes, base): (Option<u64>, &Path),
    traces: &mut Traces,
    findings: &mut Findings,
) -> Option<Work> {
    let path = format!("{}.work", job.path);
    let empty = Table::default();
    let (table, place) = match job.table.get("work") {
        None => (&empty, job.place),
        Some(item) => match &item.node.value {
            Value::Table(table) => (table, item.node.place),
            Value::List(elements) if !elements.is_empty() => {
                let told = ranks::parts(elements, &path, findings)?;
                return ranks::read(keys, &told, mpi, (n_nodes, base), findings).map(Work::Ranks);
            }
            other => {
                let reason = format!("must be a table, not {}", other.type_words());
                findings.error(
                    item.node.place,
                    &path,
                    reason,
                    "write work = { kind = \"uniform\", load = 0.5 }",
                );
                return None;
            }
        },
    };
    let before = findings.n_errors();
    let kind = match table.get("kind") {
        None => "uniform".to_owned(),
        Some(item) => match reader::check(
            &study::Type::Of(&registry::WORK),
            &item.node,
            &format!("{path}.kind"),
            findings,
        )? {
            Checked::Text(kind) => kind,
            _ => return None,
        },
    };
    if ranks::is_motif(&kind) {
        let told = [Told { table, place, path }];
        return ranks::read(keys, &told, mpi, (n_nodes, base), findings).map(Work::Ranks);
    }
    // What was a job of ranks may be made idle without touching its other keys.
    for key in ["ranks_per_node", "mapping", "start", "prelude"]
        .into_iter()
        .filter(|_| kind != "idle")
    {
        if keys.given(key) {
            let reason = format!("has no meaning with work.kind = \"{kind}\", which has no MPI ranks");
            let hint = "remove the key, or take a motif (`fabricsim list motif`)";
            findings.error(keys.place(key), &format!("{}.{key}", job.path), reason, hint);
        }
    }
    // Keys of what the job did before may stay.
    if kind == "idle" {
        return Some(Work::Idle);
    }
    let entry = registry::find(&registry::WORK, &kind)?;
    let source = Source {
        table,
        place,
        path: &path,
    };
    let parameters: Vec<&'static Parameter> = entry.parameters().collect();
    let work = if kind == "pairs" {
        // `pairs` decides what `matching` is when it is left out, before conditions are looked at.
        let preset: &[(&str, &str)] = if table.get("pairs").is_some() {
            &[("matching", "listed")]
        } else {
            &[("matching", "mutual")]
        };
        let values = reader::read(source, &parameters, preset, &["kind"], findings);
        Work::Pairs(Pairs::read(&values, n_nodes, findings)?)
    } else if kind == "memory" {
        let values = reader::read(source, &parameters, presets::of_memory(table), &["kind"], findings);
        Work::Memory(memory::read(&values, (n_nodes, base, traces), findings)?)
    } else if kind == "messages" {
        let values = reader::read(source, &parameters, &[], &["kind"], findings);
        Work::Messages(messages::read(&values, n_nodes, base, findings)?)
    } else {
        let values = reader::read(source, &parameters, &[], &["kind"], findings);
        Work::Synthetic(read_synthetic(&kind, &values, (n_nodes, base), findings)?)
    };
    (findings.n_errors() == before).then_some(work)
}

fn read_synthetic(
    kind: &str,
    values: &Values,
    (n_nodes, base): (Option<u64>, &Path),
    findings: &mut Findings,
) -> Option<Synthetic> {
    let count = values.integer("count");
    let window = values.integer_u32("window");
    let load = match (values.number("load"), count, window) {
        (load, None, None) => load.or(Some(0.5)),
        (load, ..) => load,
    };
    let key = |key: &str| format!("{}.{key}", values.path);
    let mut refuse = |name: &str, reason: &str, hint: &str| {
        findings.error(values.place(name), &key(name), reason.to_owned(), hint);
    };
    if load.is_some() && window.is_some() {
        refuse(
            "window",
            "has no meaning with load: nodes of a closed loop send when they are answered",
            "remove one of them",
        );
    } else if load.is_none() && values.given("process") {
        let reason = match window {
            Some(_) => "has no meaning with window: nodes of a closed loop send when they are answered",
            None => "has no meaning without load: all messages are handed over at the start",
        };
        refuse("process", reason, "add load, or remove process");
    }
    if window.is_none() && values.given("reply") {
        refuse(
            "reply",
            "has no meaning without window: nothing is answered",
            "add window = 1, or remove reply",
        );
    }
    let process: Process = values.choice("process")?;
    if let (Some(load), Process::Bernoulli, None) = (load, process, values.quantity("slot"))
        && load > 1.0
    {
        let reason = "is more than a message in each slot, which is as long as a message takes";
        refuse("load", reason, "give load = 1 at most, or a shorter slot");
    }
    let (burst, peak) = (values.number("burst"), values.number("peak"));
    if burst.is_some_and(|burst| burst < 1.0) {
        refuse("burst", "is less than one message", "give 1 or more");
    }
    if let (Some(load), Some(peak)) = (load, peak)
        && load > peak
    {
        refuse("peak", "is less than the mean load", "give at least load");
    }
    let told = PatternKeys {
        values,
        n_nodes,
        base,
        findings,
    };
    let pattern = Pattern::read(kind, told)?;
    Some(Synthetic {
        message: Bytes(values.quantity("message")?),
        load,
        count,
        process,
        slot: values.quantity("slot").map(Time),
        to_itself: values.flag("self"),
        burst,
        peak,
        window,
        reply: window.map(|_| values.quantity("reply").map_or(REPLY, Bytes)),
        pattern,
    })
}

/// Whether a source of the job never ends by itself.
pub(crate) fn is_endless(job: &JobSpec) -> bool {
    matches!(&job.work, Work::Synthetic(Synthetic { count: None, .. }))
}
