//! `[link]`, `[router]`, `[routing]` and `[nic]`: the network's parts besides its shape.

use super::loggops;
use super::presets::{ChosenPreset, Preset};
use super::shape::Facts;
use crate::registry;
use des::Time;
use fabric::routing::RoutingSpec;
use fabric::spec::{
    Architecture, BitsPerSec, Bytes, ControlOrder, Crossing, LinkSpec, Links, Matcher, NamedModel, NicSpec,
    OutputsSpec, PipelineSpec, RetransmitSpec, RouterKind, RouterSpec,
};
use std::collections::BTreeMap;
use std::path::Path;
use study::Parameter;
use study::diagnostic::{Findings, Place, did_you_mean};
use study::document::{Table, Value};
use study::reader::{self, Source, Values};
use topo::TopologySpec;

/// The parameters of a section of the registry.
pub(crate) fn parameters(section: &str) -> Vec<&'static Parameter> {
    registry::section(section)
        .map(|section| section.parameters.iter().collect())
        .unwrap_or_default()
}

/// Everything that `[link]`, `[router]`, `[routing]` and `[nic]` say.
pub(crate) struct NetworkSections {
    pub links: Links,
    pub router: RouterSpec,
    pub routing: RoutingSpec,
    pub nic: NicSpec,
}

/// Reads the four sections; `None` after errors. `topology` is `None` after errors there.
pub(crate) fn read(
    root: &Table,
    topology: Option<(&TopologySpec, &Facts)>,
    base: &Path,
    findings: &mut Findings,
) -> Option<NetworkSections> {
    let before = findings.n_errors();
    let empty = Table::default();
    let chosen_preset = ChosenPreset::of(root, findings);
    let chosen = chosen_preset.preset;
    let link_preset = chosen_preset.section("link");
    let links = read_links(root, &link_preset, topology.map(|(_, facts)| facts), &empty, findings);
    let mut section = |name: &'static str| {
        let source = Source::section(root, name, &empty, findings);
        reader::read(source, &parameters(name), &chosen_preset.section(name), &[], findings)
    };
    let (router, nic) = (section("router"), section("nic"));
    check_preset_model(&router, chosen, findings);
    if router.text("preset").is_none() {
        loggops::refuse(&router, findings);
    }
    if router.text("model") == Some("sculpin") && nic.given("buffer") {
        let hint = "remove the key, or set router.model = \"credit\"";
        findings.error(
            nic.place("buffer"),
            "nic.buffer",
            "has no meaning with router.model = \"sculpin\"",
            hint,
        );
    }

    check_late_admission(&router, &nic, findings);
    check_late_admission_vcs(&router, findings);
    check_output_buffered(&router, findings);
    check_vc_router(&router, &nic, findings);

    let source = Source::section(root, "routing", &empty, findings);
    let routing_preset = chosen_preset.section("routing");
    let routing = reader::read(source, &parameters("routing"), &routing_preset, &[], findings);
    let routing = RoutingSpec::read(&routing, topology.map(|(spec, _)| spec), base, findings);
    if findings.n_errors() > before {
        return None;
    }
    let links = links?;
    let router_spec = build_router(&router, chosen, &links)?;
    let model = router_spec.named();
    let mut nic_spec = build_nic(&nic, model, findings)?;
    if !model.sends_chunks() {
        // A preset's chunks mean nothing to another architecture.
        nic_spec.chunk = None;
    }
    check_sizes(&router, &router_spec, &nic, &nic_spec, &links, findings);
    (findings.n_errors() == before).then_some(NetworkSections {
        links,
        router: router_spec,
        routing: routing?,
        nic: nic_spec,
    })
}

/// A late-admission router has one virtual channel, passes whole chunks on and knows no host port; only it knows chunks.
fn check_late_admission(router: &Values, nic: &Values, findings: &mut Findings) {
    let late = router.text("architecture") == Some("late-admission");
    if !late {
        if nic.given("chunk") {
            findings.error(
                nic.place("chunk"),
                "nic.chunk",
                "has a meaning with router.architecture = \"late-admission\" only",
                "remove the key: packets travel as a whole",
            );
        }
        return;
    }
    let sections = [
        (router, &["switching", "delivery", "arbitration"][..]),
        (nic, &["bandwidth", "buffer"]),
    ];
    for (values, keys) in sections {
        for key in keys.iter().filter(|key| values.given(key)) {
            findings.error(
                values.place(key),
                &format!("{}.{key}", values.path),
                "has no meaning with router.architecture = \"late-admission\"",
                "remove the key, or take another architecture",
            );
        }
    }
    if router.integer("vcs").is_some_and(|vcs| vcs > 1) {
        findings.error(
            router.place("vcs"),
            "router.vcs",
            "a late-admission router has one virtual channel",
            "remove the key",
        );
    }
    if let (Some(chunk), Some(packet)) = (nic.quantity("chunk"), nic.quantity("packet"))
        && chunk > packet
    {
        let reason = format!("a chunk is a part of a packet, which has {packet} B");
        findings.error(nic.place("chunk"), "nic.chunk", reason, "give a smaller chunk");
    }
}

/// A late-admission router with channels passes whole packets on; what it takes delays them, not its links.
fn check_late_admission_vcs(router: &Values, findings: &mut Findings) {
    if router.text("architecture") != Some("late-admission-vcs") {
        return;
    }
    let keys = ["switching", "delivery", "traversal_occupies_link"];
    for key in keys.into_iter().filter(|key| router.given(key)) {
        findings.error(
            router.place(key),
            &format!("router.{key}"),
            "has no meaning with router.architecture = \"late-admission-vcs\"",
            "remove the key, or take another architecture",
        );
    }
}

/// Packets are in one line for a link, whatever their channels.
fn check_output_buffered(router: &Values, findings: &mut Findings) {
    if router.text("architecture") == Some("output-buffered") && router.given("arbitration") {
        findings.error(
            router.place("arbitration"),
            "router.arbitration",
            "has no meaning with router.architecture = \"output-buffered\": the first that is put in line is the first to go",
            "remove the key, or take another architecture",
        );
    }
}

/// What a vc-router takes from nobody: its stages are its traversal, and interfaces have the room that they need.
fn check_vc_router(router: &Values, nic: &Values, findings: &mut Findings) {
    if router.text("architecture") != Some("vc-router") {
        return;
    }
    let sections = [
        (
            router,
            &["traversal", "switching", "delivery", "arbitration", "credit_uses_link"][..],
        ),
        (nic, &["buffer"]),
    ];
    for (values, keys) in sections {
        for key in keys.iter().filter(|key| values.given(key)) {
            findings.error(
                values.place(key),
                &format!("{}.{key}", values.path),
                "has no meaning with router.architecture = \"vc-router\"",
                "remove the key, or take another architecture",
            );
        }
    }
    for key in ["vc_stage", "switch_stage"] {
        if router.integer(key) == Some(0) {
            findings.error(
                router.place(key),
                &format!("router.{key}"),
                "an allocation takes a cycle at least",
                "take 1",
            );
        }
    }
    let is_staged = router.choice_or_default::<Crossing>("crossbar") == Crossing::Staged;
    if is_staged && router.integer_or_default("bubble") > 0 {
        findings.error(
            router.place("bubble"),
            "router.bubble",
            "routers whose packets pass in stages have no bubble rule",
            "take router.crossbar = \"per-channel\"",
        );
    }
    if router.quantity("clock") == Some(0) {
        findings.error(
            router.place("clock"),
            "router.clock",
            "a clock has a period",
            "take \"1 ns\"",
        );
    }
}

fn check_preset_model(router: &Values, chosen: Option<&Preset>, findings: &mut Findings) {
    let (Some(preset), Some(model)) = (chosen, router.text("model")) else {
        return;
    };
    let wanted = preset.router.first().map_or("", |(_, model)| model);
    if model != wanted {
        let reason = format!("the preset \"{}\" is a {wanted} router", preset.name);
        findings.error(router.place("model"), "router.model", reason, "remove model or preset");
    }
}

fn read_links(
    root: &Table,
    preset: &[(&str, &str)],
    facts: Option<&Facts>,
    empty: &Table,
    findings: &mut Findings,
) -> Option<Links> {
    let source = Source::section(root, "link", empty, findings);
    let own = parameters("link");
    let is_class = |item: &&study::document::KeyValue| matches!(item.node.value, Value::Table(_));
    let class_names: Vec<&str> = source
        .table
        .entries
        .iter()
        .filter(is_class)
        .map(|item| item.key.as_str())
        .collect();
    let default = reader::read(source, &own, preset, &class_names, findings);
    let mut by_class = BTreeMap::new();
    for item in source.table.entries.iter().filter(is_class) {
        let path = format!("link.{}", item.key);
        let Value::Table(table) = &item.node.value else {
            continue;
        };
        if own.iter().any(|parameter| parameter.key == item.key) {
            findings.error(
                item.node.place,
                &path,
                "must be a text with a unit, not a table",
                "write link.latency = \"100 ns\"",
            );
            continue;
        }
        if let Some(classes) = facts.and_then(|facts| facts.classes.as_ref())
            && !classes.contains(&item.key)
        {
            let names = classes.iter().map(String::as_str);
            let hint = did_you_mean(&item.key, names.chain(own.iter().map(|parameter| parameter.key)))
                .unwrap_or_else(|| format!("its classes are {}", classes.join(", ")));
            findings.error(item.place, &path, "is not a link class of this topology", hint);
            continue;
        }
        let values = reader::read(
            Source {
                table,
                place: item.node.place,
                path: &path,
            },
            &own,
            &[],
            &[],
            findings,
        );
        let pick = |key: &str| {
            if values.given(key) {
                values.quantity(key)
            } else {
                default.quantity(key)
            }
        };
        if let (Some(bandwidth), Some(latency)) = (pick("bandwidth"), pick("latency")) {
            by_class.insert(
                item.key.clone(),
                LinkSpec {
                    bandwidth: BitsPerSec(bandwidth),
                    latency: Time(latency),
                },
            );
        }
    }
    let default = LinkSpec {
        bandwidth: BitsPerSec(default.quantity("bandwidth")?),
        latency: Time(default.quantity("latency")?),
    };
    Some(Links { default, by_class })
}

/// All links that the study describes.
fn all_links(links: &Links) -> impl Iterator<Item = &LinkSpec> {
    std::iter::once(&links.default).chain(links.by_class.values())
}

/// Time of `bytes` on a link, rounded up.
fn serialization(bytes: u64, bandwidth: BitsPerSec) -> Time {
    let ps = (u128::from(bytes) * 8_000_000_000_000).div_ceil(u128::from(bandwidth.0.max(1)));
    Time(u64::try_from(ps).unwrap_or(u64::MAX))
}

fn build_router(values: &Values, chosen: Option<&Preset>, links: &Links) -> Option<RouterSpec> {
    let model = RouterKind::of_name(values.text("model")?)?;
    let architecture = values.choice_or_default("architecture");
    let queued = model == RouterKind::CREDIT && architecture == Architecture::INPUT_QUEUED;
    let traversal = Time(values.quantity("traversal")?);
    let fastest = all_links(links).map(|link| link.bandwidth.0).max()?;
    let slowest = all_links(links).map(|link| link.bandwidth).min()?;
    let is_vc_router = model == RouterKind::CREDIT && architecture == Architecture::VC_ROUTER;
    let pipeline = is_vc_router.then(|| read_pipeline(values, fastest));
    let traversal = match &pipeline {
        Some(pipeline) => Time(pipeline.cycles().saturating_mul(pipeline.clock.0)),
        None => traversal,
    };
    let credit_delay = match chosen.and_then(|preset| preset.credit) {
        Some((bytes, extra)) if !values.given("credit_delay") => serialization(bytes, slowest).saturating_add(extra),
        _ => Time(values.quantity_or_default("credit_delay")),
    };
    Some(RouterSpec {
        model,
        preset: chosen.map(|preset| preset.name.to_owned()),
        architecture,
        traversal,
        traversal_occupies_link: values.flag("traversal_occupies_link"),
        vcs: values.integer("vcs").and_then(|vcs| u8::try_from(vcs).ok()),
        buffer: values.quantity("buffer").map(Bytes),
        output_buffer: values.quantity("output_buffer").map(Bytes),
        shares_buffers: values.flag("share_buffers"),
        crossbar_bandwidth: queued
            .then(|| BitsPerSec(values.quantity("crossbar_bandwidth").unwrap_or(fastest + fastest / 2))),
        flit: Bytes(values.quantity_or_default("flit")),
        output_latency: match values.quantity("output_latency") {
            Some(latency) => Time(latency),
            None if queued => Time(traversal.0 / 2),
            None => Time::ZERO,
        },
        credits_traverse: values.flag("credits_traverse"),
        node_credit_delay: Time(values.quantity_or_default("node_credit_delay")),
        wake_delay: values.quantity("wake_delay").map(Time),
        arbitration: values.choice_or_default("arbitration"),
        switching: values.choice("switching")?,
        delivery: values.choice("delivery")?,
        ties: values.choice_or_default("ties"),
        credit_delay,
        credit_uses_link: values.flag_or_default("credit_uses_link"),
        bubble: values.integer_or_default("bubble").try_into().ok()?,
        local_latency: Time(values.quantity_or_default("local_latency")),
        completion: values.choice_or_default("completion"),
        pipeline,
        allow_deadlock: values.flag("allow_deadlock"),
    })
}

/// The inside of a vc-router, on a network whose fastest link has so many bits per second.
fn read_pipeline(values: &Values, fastest: u64) -> PipelineSpec {
    let flit = || serialization(values.quantity_or_default("flit"), BitsPerSec(fastest));
    let small = |key: &str| u8::try_from(values.integer_or_default(key)).unwrap_or(u8::MAX);
    let crossing: Crossing = values.choice_or_default("crossbar");
    let count = |key: &str| u32::try_from(values.integer_or_default(key)).unwrap_or(u32::MAX);
    let outputs = OutputsSpec {
        buffer: Bytes(values.quantity_or_default("output_channel_buffer")),
        head_room: values.quantity("head_room").map(Bytes),
        request: values.choice_or_default("request"),
        label_weight: count("label_weight"),
        extra_congestion: count("extra_congestion"),
    };
    let is_staged = crossing == Crossing::Staged;
    PipelineSpec {
        clock: values.quantity("clock").map_or_else(flit, Time),
        stages: match is_staged {
            true => ["route_stage", "vc_stage", "switch_stage", "crossbar_stage"].map(small),
            false => [0; 4],
        },
        vc: Matcher {
            rule: values.choice_or_default("vc_allocator"),
            rounds: small("vc_rounds"),
        },
        switch: Matcher {
            rule: values.choice_or_default("switch_allocator"),
            rounds: small("switch_rounds"),
        },
        internal_speedup: small("internal_speedup"),
        input_speedup: small("input_speedup"),
        output_speedup: small("output_speedup"),
        output_queue: values.quantity("output_queue").map(Bytes),
        wait_for_tail_credit: values.flag("wait_for_tail_credit"),
        outputs: (!is_staged).then_some(outputs),
    }
}

fn build_nic(values: &Values, model: &dyn NamedModel, findings: &mut Findings) -> Option<NicSpec> {
    let in_order = !model.takes_control_first();
    let control = match values.choice("control") {
        Some(ControlOrder::First | ControlOrder::ReadsFirst) if in_order => {
            let reason = "interfaces of routers that admit late take messages one after the other";
            findings.error(values.place("control"), "nic.control", reason, "take \"in-order\"");
            return None;
        }
        Some(control) => control,
        None if in_order => ControlOrder::InOrder,
        None => ControlOrder::First,
    };
    if values.given("retransmit_after") && values.integer("retransmit").is_none() {
        let reason = "says when what is lost is sent again, and nothing is";
        let hint = "give nic.retransmit how often, or remove the key";
        findings.error(values.place("retransmit_after"), "nic.retransmit_after", reason, hint);
        return None;
    }
    Some(NicSpec {
        control,
        reads_behind: values.integer_or_default("reads_behind").try_into().ok()?,
        retransmit: values.integer("retransmit").map(|retries| RetransmitSpec {
            retries: retries as u8,
            after: Time(values.quantity_or_default("retransmit_after")),
        }),
        packet: Bytes(values.quantity("packet")?),
        chunk: values.quantity("chunk").map(Bytes),
        message_overhead: Time(values.quantity("overhead")?),
        packet_overhead: Time(values.quantity("packet_overhead")?),
        gap: Time(values.quantity("gap")?),
        idle_delay_per_byte: Time(values.quantity("idle_delay_per_byte")?),
        bandwidth: values.quantity("bandwidth").map(BitsPerSec),
        buffer: values.quantity("buffer").map(Bytes),
    })
}

/// Buffers must hold a packet, or nothing ever moves.
fn check_sizes(
    router_values: &Values,
    router: &RouterSpec,
    nic_values: &Values,
    nic: &NicSpec,
    links: &Links,
    findings: &mut Findings,
) {
    let model = router.named();
    let packet = model.unit_in_buffers(router, nic).0;
    let packet_words = study::units::Unit::Size.print(packet);
    let (slots, flit) = (model.least_units(router), u64::from(model.flit(router)));
    let holds = |buffer: Bytes| buffer.0 / slots / flit >= packet.div_ceil(flit);
    if model.gives_credits() {
        let mut check = |buffer: Option<Bytes>, place: Place, key: &str| {
            if let Some(buffer) = buffer.filter(|buffer| !holds(*buffer)) {
                let part = if nic.chunk.is_some() { "chunk" } else { "packet" };
                let what = if slots > 1 {
                    format!("{slots} {part}s")
                } else {
                    format!("a {part}")
                };
                let size = study::units::Unit::Size.print(buffer.0);
                let reason = format!("{size} cannot hold {what} of {packet_words}: nothing would ever move");
                findings.error(place, key, reason, "give a larger buffer or a smaller nic.packet");
            }
        };
        check(router.buffer, router_values.place("buffer"), "router.buffer");
        check(
            router.output_buffer,
            router_values.place("output_buffer"),
            "router.output_buffer",
        );
        check(nic.buffer, nic_values.place("buffer"), "nic.buffer");
    }
    if router.output_latency > router.traversal {
        let print = |time: Time| study::units::Unit::Time.print(time.0);
        let (part, all) = (print(router.output_latency), print(router.traversal));
        let reason = format!("{part} is more than the whole traversal of {all}, of which it is a part");
        let hint = "give a shorter output_latency or a longer router.traversal";
        findings.error(
            router_values.place("output_latency"),
            "router.output_latency",
            reason,
            hint,
        );
    }
    let fastest = all_links(links).map(|link| link.bandwidth).max();
    if let (Some(crossbar), Some(fastest)) = (router.crossbar_bandwidth, fastest)
        && crossbar < fastest
    {
        let reason = "the crossbar is slower than the fastest link, which can never be filled";
        let hint = format!("give at least \"{}\"", study::units::Unit::Bandwidth.print(fastest.0));
        findings.warning(
            router_values.place("crossbar_bandwidth"),
            "router.crossbar_bandwidth",
            reason,
            hint,
        );
    }
}

/// What a lone packet takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LonePacketTimes {
    /// On its way out of an interface: what `run.perturb_spread` is by default.
    pub packet: Time,
    /// At most between two signs of progress: what `run.stall_after` must exceed.
    pub step: Time,
}

impl LonePacketTimes {
    pub(crate) fn new(network: &NetworkSections) -> LonePacketTimes {
        let links = &network.links;
        let host = links.by_class.get("host").unwrap_or(&links.default).bandwidth;
        let bandwidth = network.nic.bandwidth.map_or(host, |own| own.min(host));
        LonePacketTimes {
            packet: serialization(network.nic.packet.0, bandwidth),
            step: longest_step(network),
        }
    }
}

fn longest_step(network: &NetworkSections) -> Time {
    let NicSpec {
        packet,
        message_overhead,
        packet_overhead,
        gap,
        idle_delay_per_byte,
        bandwidth,
        ..
    } = network.nic;
    // Sequencer, packetizer and both ends of the link.
    let local = Time(network.router.local_latency.0.saturating_mul(6));
    let host = all_links(&network.links).map(|link| {
        let step = serialization(packet.0, link.bandwidth).saturating_add(link.latency);
        step.saturating_add(network.router.traversal)
            .saturating_add(network.router.credit_delay)
            .saturating_add(network.router.node_credit_delay)
            .saturating_add(network.router.wake_delay.unwrap_or(Time::ZERO))
    });
    let idle = Time(idle_delay_per_byte.0.saturating_mul(packet.0));
    let injection = bandwidth.map_or(Time::ZERO, |bandwidth| serialization(packet.0, bandwidth));
    let endpoint = message_overhead
        .saturating_add(local)
        .saturating_add(packet_overhead)
        .saturating_add(gap)
        .saturating_add(idle)
        .saturating_add(injection);
    host.max().unwrap_or(Time::ZERO).saturating_add(endpoint)
}
