//! `[cost]`: prices, powers and racks.

use super::network::parameters;
use crate::registry;
use study::diagnostic::{Findings, did_you_mean};
use study::document::{KeyValue, Table, Value};
use study::reader::{self, Source, Values};
use topo::bill::{CableSpec, CostSpec, LayoutSpec};

/// Reads `[cost]`; `None` without it, or after errors.
pub(crate) fn read(root: &Table, findings: &mut Findings) -> Option<CostSpec> {
    root.get("cost")?;
    read_table(root, findings)
}

/// What holds where a study says nothing.
pub fn default_cost() -> CostSpec {
    let nothing = read_table(&Table::default(), &mut Findings::default());
    nothing.expect("an empty table has no mistakes")
}

fn read_table(root: &Table, findings: &mut Findings) -> Option<CostSpec> {
    let empty = Table::default();
    let before = findings.n_errors();
    let parts: Vec<&str> = registry::VOCABULARY.parts("cost").map(|(part, _)| part).collect();
    let source = Source::section(root, "cost", &empty, findings);
    // A table that is none of the parts is told of them, too.
    let unknown = |item: &&KeyValue| matches!(item.node.value, Value::Table(_)) && !parts.contains(&item.key.as_str());
    let mut aside = parts.clone();
    for item in source.table.entries.iter().filter(unknown) {
        if parameters("cost").iter().any(|parameter| parameter.key == item.key) {
            continue;
        }
        let hint = did_you_mean(&item.key, parts.iter().copied())
            .unwrap_or_else(|| format!("the tables in [cost] are {}", parts.join(", ")));
        findings.error(item.place, &format!("cost.{}", item.key), "unknown table", hint);
        aside.push(&item.key);
    }
    let own = reader::read(source, &parameters("cost"), &[], &aside, findings);
    let mut part = |name: &'static str| {
        let part = Source::section(source.table, name, &empty, findings);
        reader::read(part, &parameters(name), &[], &[], findings)
    };
    let (electrical, optical, layout) = (part("cost.electrical"), part("cost.optical"), part("cost.layout"));
    if findings.n_errors() > before {
        return None;
    }
    Some(CostSpec {
        router_price: own.quantity("router_price")?,
        router_rebate: own.quantity("router_rebate")?,
        port_price: own.quantity("port_price")?,
        interface_price: own.quantity("interface_price")?,
        router_power: own.quantity("router_power")?,
        port_power: own.quantity("port_power")?,
        port_send_power: own.quantity("port_send_power")?,
        interface_power: own.quantity("interface_power")?,
        interface_send_power: own.quantity("interface_send_power")?,
        reach: electrical.quantity("reach")?,
        electrical: cable(&electrical)?,
        optical: cable(&optical)?,
        layout: LayoutSpec {
            nodes_per_rack: layout.integer_u32("nodes_per_rack")?,
            routers_per_rack: layout.integer_u32("routers_per_rack")?,
            rows: layout.integer_u32("rows"),
            rack_pitch: layout.quantity("rack_pitch")?,
            row_pitch: layout.quantity("row_pitch")?,
            in_rack: layout.quantity("in_rack")?,
            slack: layout.quantity("slack")?,
        },
    })
}

fn cable(values: &Values) -> Option<CableSpec> {
    Some(CableSpec {
        price: values.quantity("price")?,
        price_per_metre: values.quantity("price_per_metre")?,
        per: values.choice("per")?,
        power: values.quantity("power")?,
    })
}
