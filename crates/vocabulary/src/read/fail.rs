//! `[fail]`: what is dead, looked up in the network.

use super::cost::default_cost;
use super::network::parameters;
use super::topology::{Networks, field_place};
use study::diagnostic::Findings;
use study::document::Table;
use study::reader::{self, Source, Values};
use topo::bill::{Floor, LayoutSpec};
use topo::{DrawnFailures, FailKind, FailSpec, FieldError, HowMany, Topology, TopologySpec};

/// Keys that say something of what is drawn.
const OF_DRAWS: [&str; 3] = ["of", "class", "seed"];
/// Keys that say what cables are like that live on.
pub(super) const OF_CABLES: [&str; 2] = ["keeps", "error_rate"];

/// A network, and how it stands in racks, if the study says.
#[derive(Clone, Copy)]
pub(crate) struct NetworkSite<'s> {
    pub(crate) topology: &'s TopologySpec,
    pub(crate) layout: Option<LayoutSpec>,
}

/// The network that names were last looked up in: a sweep over failures asks for the same one again and again.
#[derive(Default)]
pub(crate) struct LookedUp(Option<(TopologySpec, Topology)>);

impl LookedUp {
    pub(super) fn of(&mut self, spec: &TopologySpec) -> Option<&Topology> {
        if self.0.as_ref().is_none_or(|(known, _)| known != spec) {
            self.0 = Some((spec.clone(), spec.build().ok()?));
        }
        self.0.as_ref().map(|(_, topology)| topology)
    }
}

/// Reads `[fail]`; nothing fails without it, and after errors.
pub(crate) fn read(
    root: &Table,
    site: Option<NetworkSite<'_>>,
    networks: &mut Networks,
    findings: &mut Findings,
) -> FailSpec {
    let empty = Table::default();
    if root.get("fail").is_none() {
        return FailSpec::default();
    }
    let before = findings.n_errors();
    let source = Source::section(root, "fail", &empty, findings);
    let values = reader::read(source, &parameters("fail"), &[], &[], findings);
    let drawn = drawn(&values, findings);
    if findings.n_errors() > before {
        return FailSpec::default();
    }
    let cables_fail = values.given("cables") || drawn.as_ref().is_some_and(|drawn| drawn.of == FailKind::Cables);
    let of_no_cable = OF_CABLES.into_iter().find(|key| values.given(key));
    if let Some(key) = of_no_cable.filter(|_| !cables_fail && !values.given("count")) {
        let hint = "name cables, or draw some with count = 1";
        let reason = "says what failed cables are like, and none fails";
        findings.error(values.place(key), &format!("fail.{key}"), reason, hint);
        return FailSpec::default();
    }
    let mut fail = named(&values, drawn);
    add_racks(&mut fail, &values, site, networks, findings);
    if cables_fail {
        impair(&mut fail, &values);
    }
    if fail.is_empty() {
        return fail;
    }
    if let Some(Err(mistakes)) = site
        .and_then(|site| networks.looked_up.of(site.topology))
        .map(|network| network.find_failures(&fail))
    {
        for FieldError { field, reason, hint } in mistakes {
            let path = format!("fail.{field}");
            findings.error(field_place(source, &field), &path, reason, hint.unwrap_or_default());
        }
    }
    fail
}

/// What cables are like that live on.
pub(super) fn impair(fail: &mut FailSpec, values: &Values) {
    fail.keeps = values.number("keeps").filter(|&share| share < 1.0);
    fail.error_rate = values.number("error_rate");
}

/// What is named, beside what is drawn.
pub(super) fn named(values: &Values, drawn: Option<DrawnFailures>) -> FailSpec {
    FailSpec {
        keeps: None,
        error_rate: None,
        cables: values.texts("cables").to_vec(),
        routers: values.texts("routers").to_vec(),
        nodes: values.integers_u32("nodes"),
        groups: values.integers_u32("groups"),
        drawn,
    }
}

/// Adds the routers of the racks that are named, and the nodes that are in them without their router.
pub(super) fn add_racks(
    fail: &mut FailSpec,
    values: &Values,
    site: Option<NetworkSite<'_>>,
    networks: &mut Networks,
    findings: &mut Findings,
) {
    let racks = values.integers_u32("racks");
    let Some(site) = site.filter(|_| !racks.is_empty()) else {
        return;
    };
    let Some(network) = networks.looked_up.of(site.topology) else {
        return;
    };
    let layout = site.layout.unwrap_or_else(|| default_cost().layout);
    let floor = Floor::new(network, &layout);
    if let Some(rack) = racks.iter().find(|&&rack| rack >= floor.racks()) {
        let path = format!("{}.racks", values.path);
        let hint = format!(
            "racks are 0 to {}; [cost.layout] says how much is in one",
            floor.racks() - 1
        );
        findings.error(values.place("racks"), &path, format!("there is no rack {rack}"), hint);
        return;
    }
    let (routers, nodes) = floor.contents(network, &racks);
    fail.routers
        .extend(routers.into_iter().map(|router| network.router_name(router)));
    fail.nodes.extend(nodes);
}

/// What is drawn; nothing where a study asks for none.
pub(super) fn drawn(values: &Values, findings: &mut Findings) -> Option<DrawnFailures> {
    let many = match (values.integer("count"), values.number("share")) {
        (Some(_), Some(_)) => {
            let hint = "give one of the two";
            findings.error(
                values.place("share"),
                &format!("{}.share", values.path),
                "is another number beside `count`",
                hint,
            );
            return None;
        }
        (Some(count), None) => HowMany::Count(u32::try_from(count).unwrap_or(u32::MAX)),
        (None, Some(share)) => HowMany::Share(share),
        (None, None) => {
            for key in OF_DRAWS.into_iter().filter(|key| values.given(key)) {
                let hint = "add count = 1 or share = 0.01, or remove the key";
                findings.error(
                    values.place(key),
                    &format!("{}.{key}", values.path),
                    "says how to draw, and nothing is drawn",
                    hint,
                );
            }
            return None;
        }
    };
    let of: FailKind = values.choice("of")?;
    let class = values.text("class").map(str::to_owned);
    if class.is_some() && of != FailKind::Cables {
        let hint = "remove it, or take of = \"cables\"";
        let path = format!("{}.class", values.path);
        findings.error(values.place("class"), &path, "only cables have classes", hint);
        return None;
    }
    (many != HowMany::Count(0)).then(|| DrawnFailures {
        of,
        many,
        class,
        seed: values.integer_or_default("seed"),
    })
}
