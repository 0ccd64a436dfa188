//! What changes in a network while a run goes on: when links are dark, and the ways of packets at each stage between two changes.
//!
//! Both are worked out before the run, so that what becomes of a packet is known when it starts on a link, on every engine alike: no event
//! tells of a failure. A stage has a routing of its own on what is left in it; ports of the network are brought into its numbers and back.

use super::wired::Laying;
use crate::plant::{Class, Plant, Site};
use crate::routing::{Proof, Routing};
use crate::spec::{InTime, RouterSpec, RoutingTerms, RunSpec, first_mistake, in_outage};
use des::rng::{Philox2, SplitMix, unit};
use std::sync::Arc;
use topo::deadlock::check_within;
use topo::subnet::engine::JobDemand;
use topo::{ChangingRule, Failed, Renumbered, Topology, Verdict, channels_used};
use work::build_error::BuildError;

/// Steps that the proof over all stages may take: some seconds.
const MOST_STEPS: u64 = 100_000_000;

/// A link in one direction, by the place of the output port that leads into it, and a time (ps) for which it is dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Dark {
    port: u32,
    from: u64,
    to: u64,
}

/// A link in one direction, likewise, and a time for which it is impaired: the share of its bandwidth that it has then, and of wrong bits.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Impaired {
    port: u32,
    from: u64,
    to: u64,
    share: f64,
    error_rate: f64,
}

/// The changes of a run.
#[derive(Debug)]
pub struct TimedChanges {
    /// By port, then time.
    impaired: Vec<Impaired>,
    /// By port, then time; no two of a port overlap.
    dark: Vec<Dark>,
    /// When (ps) the ways of which stage begin to hold; rising from 0. Empty where packets are never led round.
    begin: Vec<(u64, usize)>,
    /// Different stages.
    stages: Vec<StageWays>,
    /// Freedom from deadlock over all of them, where buffers are bounded.
    proof: Option<Proof>,
}

/// The ways of packets where this and that has failed.
#[derive(Debug)]
struct StageWays {
    plant: Plant,
    routing: Routing,
    ports: Renumbered,
}

/// A router and a packet at it as a stage has them.
pub struct InStage<'a> {
    /// The routing of the stage.
    pub routing: &'a Routing,
    /// The network of the stage.
    pub plant: &'a Plant,
    /// The router in it.
    pub site: &'a Site,
    ports: &'a Renumbered,
}

impl InStage<'_> {
    /// The local port in the network of one of the stage.
    #[inline]
    pub fn in_network(&self, port: u32) -> u32 {
        u32::from(self.ports.in_network(self.site.router, port as u16))
    }
}

/// What fails for a time: when (ps) its links are dark or impaired, and when packets are led round it, if they are.
struct Lasting {
    failed: Failed,
    span: (u64, u64),
    /// The share of their bandwidth that impaired cables keep, and of wrong bits.
    impaired: (f64, f64),
    led_round: Option<(u64, u64)>,
}

/// TimedChanges without their routings, for which it must be known how many channels there are.
pub struct Planned {
    whole: Topology,
    /// What jobs send, for routings that ask for it.
    demands: Vec<JobDemand>,
    outages: Vec<Lasting>,
    begin: Vec<(u64, usize)>,
    stages: Vec<(Topology, Renumbered)>,
}

impl Planned {
    /// What a run says of outages; `None` where nothing changes. `common` is the network of which stages are parts.
    pub fn new(spec: &RunSpec, common: &Topology, demands: &[JobDemand]) -> Result<Option<Planned>, BuildError> {
        if spec.outages.in_time().next().is_none() && spec.fail.error_rate.is_none() {
            return Ok(None);
        }
        check(spec)?;
        let (whole, start) = spec.whole()?;
        let nothing = || whole.failed(&topo::FailSpec::default(), None).map_err(first_mistake);
        let start = match start {
            Some(start) => start,
            None => nothing()?,
        };
        let mut outages = Vec::new();
        if let Some(error_rate) = spec.fail.error_rate {
            // The share of their bandwidth is that of their class.
            outages.push(Lasting {
                failed: whole.failed(&spec.fail, None).map_err(first_mistake)?,
                span: (0, u64::MAX),
                impaired: (1.0, error_rate),
                led_round: None,
            });
        }
        for (number, outage) in spec.outages.in_time() {
            let failed = whole.failed(&outage.what, Some(&start));
            let failed = failed.map_err(|mistakes| first_mistake(in_outage(number, mistakes)))?;
            outages.push(Lasting {
                failed,
                span: (outage.at.0, outage.end()),
                impaired: (outage.what.keeps.unwrap_or(1.0), outage.what.error_rate.unwrap_or(0.0)),
                led_round: outage.led_round(),
            });
        }
        let mut planned = Planned {
            begin: Vec::new(),
            stages: Vec::new(),
            outages,
            whole,
            demands: demands.to_vec(),
        };
        planned.make_stages(&start, common)?;
        Ok(Some(planned))
    }

    /// What packets are led round between each two changes, if they ever are; the same state twice is one stage.
    fn make_stages(&mut self, start: &Failed, common: &Topology) -> Result<(), BuildError> {
        let edges = self.outages.iter().filter_map(|outage| outage.led_round);
        let mut times: Vec<u64> = edges.flat_map(|(from, to)| [from, to]).collect();
        if times.is_empty() {
            return Ok(());
        }
        times.push(0);
        times.retain(|&time| time != u64::MAX);
        times.sort_unstable();
        times.dedup();
        let mut known: Vec<Failed> = Vec::new();
        for time in times {
            let mut failed = start.clone();
            for outage in &self.outages {
                if outage.led_round.is_some_and(|(from, to)| (from..to).contains(&time)) {
                    failed.join(&outage.failed);
                }
            }
            let stage = match known.iter().position(|other| *other == failed) {
                Some(stage) => stage,
                None => {
                    let left = self
                        .whole
                        .clone()
                        .left_of(failed.clone(), true)
                        .map_err(first_mistake)?;
                    self.stages.push((left.clone(), Renumbered::new(common, &left)));
                    known.push(failed);
                    known.len() - 1
                }
            };
            if self.begin.last().is_none_or(|&(_, last)| last != stage) {
                self.begin.push((time, stage));
            }
        }
        Ok(())
    }

    /// Stages in the order in which they hold.
    fn in_order(&self) -> impl Iterator<Item = &(Topology, Renumbered)> {
        self.begin.iter().map(|&(_, stage)| &self.stages[stage])
    }

    /// The rule of packets over all stages, on so many channels.
    fn rule<'a>(
        &'a self,
        spec: &RunSpec,
        topologies: &'a [Topology],
        routers: &RouterSpec,
    ) -> Result<ChangingRule<'a>, BuildError> {
        let mut stages = Vec::new();
        for &(_, stage) in &self.begin {
            let terms = RoutingTerms {
                router: routers,
                demands: &self.demands,
                ..spec.routing_terms()
            };
            let topology = &topologies[stage];
            let routing = Routing::new(&spec.routing, &terms, topology)?;
            let rule = routing.rule_in_time(topology).ok_or_else(too_many_classes)?;
            stages.push((topology, rule, &self.stages[stage].1));
        }
        ChangingRule::new(stages).ok_or_else(|| too_many(self.begin.len()))
    }

    /// Virtual channels that keep packets free of deadlock over all stages, where the study leaves their number open.
    pub fn channels(&self, spec: &RunSpec, common: &Topology) -> Result<Option<u8>, BuildError> {
        if self.begin.is_empty() || spec.router.vcs.is_some() {
            return Ok(None);
        }
        let own = self.in_order().map(|(topology, _)| own_channels(spec, topology));
        let mut least = 1;
        for channels in own {
            least = least.max(channels?);
        }
        if !spec.router.has_bounded_buffers() {
            return Ok(Some(least));
        }
        // Each leg has as many as it takes on any of them.
        let legs = spec.routing.in_time().legs();
        let (least, most) = (least.div_ceil(legs), MOST_CHANNELS / legs);
        let mut tried = least.saturating_mul(2).saturating_add(2).min(most);
        loop {
            let routers = with_channels(spec, legs * tried);
            let topologies = self.topologies(tried);
            let rule = self.rule(spec, &topologies, &routers)?;
            // Where no packet takes a hop none are used at all.
            let below_the_last = usize::from((legs - 1) * tried);
            let used = channels_used(common, &rule, MOST_STEPS).map(|used| used.saturating_sub(below_the_last));
            match used {
                Ok(used) if used < usize::from(tried) => return Ok(Some(legs * least.max(used as u8))),
                Ok(_) if tried < most => tried = tried.saturating_mul(2).min(most),
                Ok(_) => {
                    let reason = format!(
                        "freedom from deadlock over {} stages of the network takes more than {} virtual channels",
                        self.begin.len(),
                        MOST_CHANNELS - 1
                    );
                    let hint = "take fewer outages, or outage.reroute = \"never\"";
                    return Err(BuildError::field("outage", reason, Some(hint)));
                }
                Err(verdict) => return Err(not_proved(&verdict, common)),
            }
        }
    }

    /// The networks of the stages, with so many channels for each leg.
    fn topologies(&self, channels: u8) -> Vec<Topology> {
        let all = self.stages.iter();
        all.map(|(topology, _)| topology.clone().with_channels(channels))
            .collect()
    }

    /// The changes of the run, on routers with so many channels.
    pub fn ready(self, spec: &RunSpec, routers: &RouterSpec, plant: &Plant) -> Result<TimedChanges, BuildError> {
        let (dark, impaired) = (self.dark(plant), self.impaired(plant));
        if self.begin.is_empty() {
            return Ok(TimedChanges {
                dark,
                impaired,
                begin: Vec::new(),
                stages: Vec::new(),
                proof: None,
            });
        }
        let legs = spec.routing.in_time().legs();
        let topologies = self.topologies((routers.vcs.unwrap_or(1) / legs).max(1));
        let proof = match spec.router.has_bounded_buffers() {
            false => None,
            true => {
                let rule = self.rule(spec, &topologies, routers)?;
                let verdict = check_within(&plant.topology, &rule, MOST_STEPS);
                let over = format!(
                    "over {} stages of the network and all ways from one into another{}",
                    self.begin.len(),
                    if legs > 1 { ", leg by leg" } else { "" }
                );
                Some(Proof::over(&verdict, &plant.topology, &over))
            }
        };
        let common = Arc::new(plant.topology.clone());
        let mut stages = Vec::new();
        for (topology, (_, ports)) in topologies.into_iter().zip(self.stages) {
            let terms = RoutingTerms {
                router: routers,
                demands: &self.demands,
                ..spec.routing_terms()
            };
            let routing = Routing::new(&spec.routing, &terms, &topology)?;
            let classes: Vec<Class> = plant.classes.to_vec();
            let Laying { plant, .. } = Laying::new(topology, None, classes)?;
            stages.push(StageWays {
                plant: Plant {
                    common: Some(Arc::clone(&common)),
                    ..plant
                },
                routing,
                ports,
            });
        }
        Ok(TimedChanges {
            dark,
            impaired,
            begin: self.begin,
            stages,
            proof,
        })
    }

    /// When the links of the network are dark, those to and from nodes among them.
    fn dark(&self, plant: &Plant) -> Vec<Dark> {
        let mut all = Vec::new();
        let (whole, common) = (self.whole.wiring(), &plant.topology);
        for Lasting {
            failed,
            span: (from, to),
            ..
        } in self.outages.iter().filter(|outage| !outage.failed.impairs())
        {
            let (from, to) = (*from, *to);
            for router in 0..self.whole.n_routers() {
                let site = plant.site_of(router);
                for before in (0..whole.radix(router) as u16).filter(|&p| failed.ports()[whole.port_index(router, p)]) {
                    if let Some(port) = common.port_now(router, before) {
                        let port = site.port + u32::from(port);
                        all.push(Dark { port, from, to });
                    }
                }
                for node in site.node_numbers().filter(|&node| failed.nodes()[node as usize]) {
                    let port = site.port + u32::from(site.net) + (node - site.node);
                    all.push(Dark { port, from, to });
                }
            }
        }
        all.sort_unstable();
        let mut joined: Vec<Dark> = Vec::new();
        for dark in all {
            match joined.last_mut() {
                Some(last) if last.port == dark.port && dark.from <= last.to => last.to = last.to.max(dark.to),
                _ => joined.push(dark),
            }
        }
        joined
    }

    /// When links of the network are impaired.
    fn impaired(&self, plant: &Plant) -> Vec<Impaired> {
        let mut all = Vec::new();
        let (whole, common) = (self.whole.wiring(), &plant.topology);
        for outage in &self.outages {
            let ((from, to), (share, error_rate)) = (outage.span, outage.impaired);
            for router in 0..self.whole.n_routers() {
                let is_impaired = |port: &u16| outage.failed.impaired()[whole.port_index(router, *port)];
                for before in (0..whole.radix(router) as u16).filter(is_impaired) {
                    if let Some(port) = common.port_now(router, before) {
                        all.push(Impaired {
                            port: plant.site_of(router).port + u32::from(port),
                            from,
                            to,
                            share,
                            error_rate,
                        });
                    }
                }
            }
        }
        all.sort_by_key(|impaired| (impaired.port, impaired.from, impaired.to));
        all
    }
}

/// Stream of the errors of links.
const ERRORS: u64 = 6;
/// Of the largest packets this share comes through at least, or the run would be one of errors alone.
const LEAST_THROUGH: f64 = 0.01;

/// The probability of one or the other, which have nothing to do with each other.
fn either(one: f64, other: f64) -> f64 {
    one + other - one * other
}

/// The probability that something of probability `each` happens in one of `times` cases at least; as exact where it is tiny.
fn some_of(each: f64, times: u64) -> f64 {
    let (mut all, mut power, mut left) = (0.0, each, times);
    while left > 0 {
        if left & 1 == 1 {
            all = either(all, power);
        }
        power = either(power, power);
        left >>= 1;
    }
    all
}

/// One more than there may be: what reaches the last is too many.
const MOST_CHANNELS: u8 = 63;

/// The routers of a run with so many channels.
pub fn with_channels(spec: &RunSpec, channels: u8) -> RouterSpec {
    RouterSpec {
        vcs: Some(channels),
        ..spec.router.clone()
    }
}

/// What the routing takes on one stage alone.
fn own_channels(spec: &RunSpec, topology: &Topology) -> Result<u8, BuildError> {
    Routing::needed_on(&spec.routing, &spec.routing_terms(), topology)
}

/// Refuses what cannot lose packets, or whose ways cannot change.
fn check(spec: &RunSpec) -> Result<(), BuildError> {
    if !spec.router.named().loses_packets() {
        let (field, what, hint) = match spec.outages.in_time().next() {
            Some(_) => (
                "outage",
                "outages",
                "take one of them, or let things fail from the start in [fail]",
            ),
            None => (
                "fail.error_rate",
                "links that make errors",
                "take one of them, or say what bandwidth is left by fail.keeps",
            ),
        };
        let reason = format!(
            "{what} are for `sculpin` routers and `credit` routers of the architectures `voq` and `output-buffered`"
        );
        return Err(BuildError::field(field, reason, Some(hint)));
    }
    check_errors(spec)?;
    let (name, in_time) = (spec.routing.name(), spec.routing.in_time());
    if spec.nic.retransmit.is_some() && in_time != InTime::GoOn {
        let reason = format!("packets of \"{name}\" cannot carry how often they were sent");
        let hint = "take \"minimal\" or \"min-random\", or leave nic.retransmit out";
        return Err(BuildError::field("nic.retransmit", reason, Some(hint)));
    }
    let leads_round = spec.outages.in_time().any(|(_, outage)| outage.led_round().is_some());
    if leads_round && in_time == InTime::KeepTheirWays {
        let reason = format!("\"{name}\" does not lead round what fails while the run goes on");
        let hint = "take \"minimal\", \"min-random\", \"min-a\", \"valiant\", \"ugal\" or \"par\" (scope = \"local\"), \"adaptive-local\", \"d-mod-k\", \"scatter\", \"adaptive-up\" or tables of an engine such as \"updn\", or outage.reroute = \"never\"";
        return Err(BuildError::field("routing.kind", reason, Some(hint)));
    }
    Ok(())
}

/// Refuses links over which hardly a packet comes.
fn check_errors(spec: &RunSpec) -> Result<(), BuildError> {
    let of_outages = spec.outages.in_time().map(|(number, outage)| {
        let field = format!("outage[{number}].error_rate");
        (field, outage.what.error_rate)
    });
    let mut all = of_outages.chain([("fail.error_rate".to_owned(), spec.fail.error_rate)]);
    let bits = 8 * spec.nic.packet.0;
    let hopeless = all.find(|(_, rate)| rate.is_some_and(|rate| some_of(rate, bits) > 1.0 - LEAST_THROUGH));
    hopeless.map_or(Ok(()), |(field, _)| {
        let reason = format!(
            "of packets of {} bytes less than one in {} comes without an error",
            spec.nic.packet.0,
            (1.0 / LEAST_THROUGH) as u32
        );
        let hint = "take a lower rate, smaller packets (nic.packet), or let the cables die";
        Err(BuildError::field(&field, reason, Some(hint)))
    })
}

fn too_many_classes() -> BuildError {
    let reason = "the ways of this network are of too many kinds to be proved over its changes";
    BuildError::field("outage", reason, Some("take outage.reroute = \"never\""))
}

fn too_many(stages: usize) -> BuildError {
    let reason = format!("{stages} stages between failures and repairs are too many to be proved");
    BuildError::field("outage", reason, Some("take fewer outages"))
}

fn not_proved(verdict: &Verdict, topology: &Topology) -> BuildError {
    let reason = format!(
        "freedom from deadlock over all changes is {}",
        verdict.describe(topology)
    );
    let hint = "take a smaller network, fewer outages, or outage.reroute = \"never\"";
    BuildError::field("outage", reason, Some(hint))
}

impl TimedChanges {
    /// When (ps) something that is on a link from `from` to `to` is lost, if it is: the link, by the place of the output port into it, is dark at
    /// some time of that.
    pub fn lost_on(&self, port: u32, from: u64, to: u64) -> Option<u64> {
        let first = self.dark.partition_point(|dark| (dark.port, dark.to) <= (port, from));
        let dark = self
            .dark
            .get(first)
            .filter(|dark| dark.port == port && dark.from < to)?;
        Some(dark.from.max(from))
    }

    /// How a link is impaired at a time (ps), by the place of the output port into it.
    fn impairing(&self, port: u32, time: u64) -> impl Iterator<Item = &Impaired> {
        let first = self.impaired.partition_point(|impaired| impaired.port < port);
        let own = self.impaired[first..]
            .iter()
            .take_while(move |impaired| impaired.port == port);
        own.filter(move |impaired| (impaired.from..impaired.to).contains(&time))
    }

    /// Time (ps) that a packet of `size` bytes occupies a link of `class` on which it starts at `start`, by the place of the output port into it.
    pub fn ser(&self, port: u32, class: &Class, size: u32, start: u64) -> u64 {
        let share = self
            .impairing(port, start)
            .map(|impaired| impaired.share)
            .fold(1.0, f64::min);
        match share < 1.0 {
            true => class.ser_at(size, share),
            false => class.ser(size),
        }
    }

    /// How often a packet of `size` bytes that starts on a link at `start` comes with errors before it comes without, by the place of the output
    /// port into it; another draw of `seed` for every link and time.
    pub fn failed_tries(&self, seed: u64, site: &Site, port: u32, size: u32, start: u64) -> u32 {
        let wrong = self.impairing(port, start).fold(0.0, |wrong, impaired| {
            either(wrong, some_of(impaired.error_rate, 8 * u64::from(size)))
        });
        if wrong == 0.0 {
            return 0;
        }
        let link = u64::from(site.router) << 32 | u64::from(port - site.port);
        let mut draws = SplitMix(Philox2::new(seed, ERRORS).draw(link, start)[0]);
        let mut tries = 0;
        while unit(draws.next_word()) < wrong {
            tries += 1;
        }
        tries
    }

    /// Whether links are slow or make errors at some time.
    pub fn impairs_links(&self) -> bool {
        !self.impaired.is_empty()
    }

    /// Whether links make errors at some time.
    pub fn makes_errors(&self) -> bool {
        self.impaired.iter().any(|impaired| impaired.error_rate > 0.0)
    }

    /// Whether packets may be lost.
    pub fn loses(&self) -> bool {
        !self.dark.is_empty() || self.leads_round()
    }

    /// Whether packets are led round what has failed.
    pub fn leads_round(&self) -> bool {
        !self.begin.is_empty()
    }

    /// A router at a time (ps), with the ways that packets take then; `None` where they are always the same.
    #[inline]
    pub fn stage(&self, router: u32, now: u64) -> Option<InStage<'_>> {
        let at = self.begin.partition_point(|&(from, _)| from <= now).checked_sub(1)?;
        let stage = &self.stages[self.begin[at].1];
        Some(InStage {
            routing: &stage.routing,
            plant: &stage.plant,
            site: stage.plant.site_of(router),
            ports: &stage.ports,
        })
    }

    /// What is known of deadlock over all changes; `None` where nothing waits for room, or ways do not change.
    pub fn proof(&self) -> Option<&Proof> {
        self.proof.as_ref()
    }
}

impl InStage<'_> {
    /// The input port in the stage of a packet that came by a port of the network, where network ports are `net`; `None` where its cable is not
    /// there.
    #[inline]
    pub fn input(&self, net: u16, port: u16) -> Option<u16> {
        match port.checked_sub(net) {
            Some(node) => Some(self.site.net + node),
            None => self.ports.in_part(self.site.router, port),
        }
    }
}
