//! `[[outage]]`: what fails while a run goes on, looked up in the network.

use super::fail::{NetworkSite, OF_CABLES, add_racks, drawn, impair, named};
use super::network::parameters;
use super::topology::{Networks, field_place};
use des::Time;
use fabric::spec::{Outage, OutagesSpec, Reroute};
use study::diagnostic::Findings;
use study::document::{Node, Table, Value};
use study::reader::{self, Checked, Source, Values};
use topo::{FailKind, FailSpec, FieldError};

/// Most outages of a run.
const MOST: usize = 1_000;

/// Reads all outages, those of a network of which `fail` has failed from the start; none after errors.
pub(crate) fn read(
    root: &Table,
    (site, fail): (Option<NetworkSite<'_>>, &FailSpec),
    networks: &mut Networks,
    findings: &mut Findings,
) -> OutagesSpec {
    let Some(item) = root.get("outage") else {
        return OutagesSpec::default();
    };
    let elements = match &item.node.value {
        Value::List(elements) if elements.len() <= MOST => elements,
        Value::List(elements) => {
            let reason = format!("{} outages are more than {MOST}", elements.len());
            findings.error(item.node.place, "outage", reason, "take fewer");
            return OutagesSpec::default();
        }
        other => {
            let reason = format!("must be a list of tables, not {}", other.type_words());
            findings.error(item.node.place, "outage", reason, "write [[outage]] with two brackets");
            return OutagesSpec::default();
        }
    };
    let before = findings.n_errors();
    let mut list = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        list.extend(outage(element, index, (site, fail), networks, findings));
    }
    match findings.n_errors() > before {
        true => OutagesSpec::default(),
        false => OutagesSpec { list },
    }
}

/// Reads one; `None` after errors.
fn outage(
    element: &Node,
    index: usize,
    (site, fail): (Option<NetworkSite<'_>>, &FailSpec),
    networks: &mut Networks,
    findings: &mut Findings,
) -> Option<Outage> {
    let path = format!("outage[{index}]");
    let Value::Table(table) = &element.value else {
        let reason = format!("must be a table, not {}", element.value.type_words());
        findings.error(element.place, &path, reason, "write [[outage]] and its keys below");
        return None;
    };
    let source = Source {
        table,
        place: element.place,
        path: &path,
    };
    let before = findings.n_errors();
    let values = reader::read(source, &parameters("outage"), &[], &[], findings);
    let drawn = drawn(&values, findings);
    if findings.n_errors() > before {
        return None;
    }
    let mut what = named(&values, drawn);
    add_racks(&mut what, &values, site, networks, findings);
    if findings.n_errors() > before {
        return None;
    }
    let is_empty = what.is_empty();
    impair(&mut what, &values);
    if !check_impairs(&values, &what, findings) {
        return None;
    }
    if is_empty {
        let hint = "name cables, routers, nodes, groups or racks, or draw some with count = 1";
        findings.error(element.place, &path, "nothing fails in it", hint);
        return None;
    }
    let (at, until) = span(&values, findings)?;
    if let Some(network) = site.and_then(|site| networks.looked_up.of(site.topology)) {
        let start = network.failed(fail, None).ok();
        for FieldError { field, reason, hint } in network.failed(&what, start.as_ref()).err().into_iter().flatten() {
            let place = field_place(source, &field);
            findings.error(place, &format!("{path}.{field}"), reason, hint.unwrap_or_default());
        }
    }
    let reroute = match values.get("reroute") {
        Some(Checked::Word(_)) => Reroute::Never,
        _ => Reroute::After(Time(values.quantity("reroute").unwrap_or(0))),
    };
    (findings.n_errors() == before).then_some(Outage {
        what,
        at,
        until,
        reroute,
    })
}

/// Cables alone live on, and ways do not change for it.
fn check_impairs(values: &Values, what: &FailSpec, findings: &mut Findings) -> bool {
    let Some(said) = OF_CABLES
        .into_iter()
        .find(|key| values.given(key))
        .filter(|_| what.impairs())
    else {
        return true;
    };
    let others = ["routers", "nodes", "groups", "racks"]
        .into_iter()
        .find(|key| values.given(key));
    let drawn = what
        .drawn
        .as_ref()
        .filter(|drawn| drawn.of != FailKind::Cables)
        .map(|_| "of");
    let Some(key) = others.or(drawn).or(values.given("reroute").then_some("reroute")) else {
        return true;
    };
    let path = format!("{}.{key}", values.path);
    let reason = "has no meaning where cables live on";
    let hint = format!("remove it, or `{said}`, or make two outages of it");
    findings.error(values.place(key), &path, reason, hint);
    false
}

/// When it begins and ends.
fn span(values: &Values, findings: &mut Findings) -> Option<(Time, Option<Time>)> {
    let at = Time(values.quantity("at")?);
    let until = values.quantity("until").map(Time);
    if until.is_some_and(|until| until <= at) {
        let path = format!("{}.until", values.path);
        let hint = "give a later time, or leave it out where it never ends";
        findings.error(values.place("until"), &path, format!("is not behind `at` ({at})"), hint);
        return None;
    }
    Some((at, until))
}
