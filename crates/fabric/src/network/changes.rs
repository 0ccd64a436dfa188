//! What changes in a network while a run goes on: when links are dark, and the ways of packets at each stage between two changes.
//!
//! Both are worked out before the run, so that what becomes of a packet is known when it starts on a link, on every engine alike: no event
//! tells of a failure. A stage has a routing of its own on what is left in it; ports of the network are brought into its numbers and back.

use super::wired::Laying;
use crate::plant::{Class, Plant, Site};
use crate::routing::{Proof, Routing};
use crate::spec::{RouterSpec, RoutingTerms, RunSpec, first_mistake, in_outage};
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

/// A link in one direction, likewise, a time for which it is slow, and the share of its bandwidth that it has then.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slow {
    port: u32,
    from: u64,
    to: u64,
    share: f64,
}

/// The changes of a run.
#[derive(Debug)]
pub struct TimedChanges {
    /// By port, then time.
    slow: Vec<Slow>,
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

/// An outage: what fails, when (ps) its links are dark or slow, and when packets are led round it, if they are.
struct Lasting {
    failed: Failed,
    span: (u64, u64),
    /// The share of their bandwidth that cables keep, which are not dark then.
    keeps: Option<f64>,
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
        if spec.outages.in_time().next().is_none() {
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
        for (number, outage) in spec.outages.in_time() {
            let failed = whole.failed(&outage.what, Some(&start));
            let failed = failed.map_err(|mistakes| first_mistake(in_outage(number, mistakes)))?;
            outages.push(Lasting {
                failed,
                span: (outage.at.0, outage.end()),
                keeps: outage.what.keeps,
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
            let rule = routing.rule_on(topology);
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
        let mut tried = least.saturating_mul(2).saturating_add(2).min(MOST_CHANNELS);
        loop {
            let routers = with_channels(spec, tried);
            let topologies = self.topologies(tried);
            let rule = self.rule(spec, &topologies, &routers)?;
            let used = channels_used(common, &rule, MOST_STEPS);
            match used {
                Ok(used) if used < usize::from(tried) => return Ok(Some(least.max(used as u8))),
                Ok(_) if tried < MOST_CHANNELS => tried = tried.saturating_mul(2).min(MOST_CHANNELS),
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

    fn topologies(&self, channels: u8) -> Vec<Topology> {
        let all = self.stages.iter();
        all.map(|(topology, _)| topology.clone().with_channels(channels))
            .collect()
    }

    /// The changes of the run, on routers with so many channels.
    pub fn ready(self, spec: &RunSpec, routers: &RouterSpec, plant: &Plant) -> Result<TimedChanges, BuildError> {
        let (dark, slow) = (self.dark(plant), self.slow(plant));
        if self.begin.is_empty() {
            return Ok(TimedChanges {
                dark,
                slow,
                begin: Vec::new(),
                stages: Vec::new(),
                proof: None,
            });
        }
        let topologies = self.topologies(routers.vcs.unwrap_or(1));
        let proof = match spec.router.has_bounded_buffers() {
            false => None,
            true => {
                let rule = self.rule(spec, &topologies, routers)?;
                let verdict = check_within(&plant.topology, &rule, MOST_STEPS);
                let over = format!(
                    "over {} stages of the network and all ways from one into another",
                    self.begin.len()
                );
                Some(Proof::over(&verdict, &plant.topology, &over))
            }
        };
        let mut stages = Vec::new();
        for (topology, (_, ports)) in topologies.into_iter().zip(self.stages) {
            let terms = RoutingTerms {
                router: routers,
                demands: &self.demands,
                ..spec.routing_terms()
            };
            let routing = Routing::new(&spec.routing, &terms, &topology)?;
            let classes: Vec<Class> = plant.classes.to_vec();
            let laying = Laying::new(topology, None, classes)?;
            stages.push(StageWays {
                plant: laying.plant,
                routing,
                ports,
            });
        }
        Ok(TimedChanges {
            dark,
            slow,
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
            failed, span, keeps, ..
        } in &self.outages
        {
            if keeps.is_some() {
                continue;
            }
            let (from, to) = *span;
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
}

impl Planned {
    /// When links of the network are slow.
    fn slow(&self, plant: &Plant) -> Vec<Slow> {
        let mut all = Vec::new();
        let (whole, common) = (self.whole.wiring(), &plant.topology);
        for Lasting {
            failed, span, keeps, ..
        } in &self.outages
        {
            let Some(share) = *keeps else { continue };
            for router in 0..self.whole.n_routers() {
                let slowed = |port: &u16| failed.slowed()[whole.port_index(router, *port)];
                for before in (0..whole.radix(router) as u16).filter(slowed) {
                    if let Some(port) = common.port_now(router, before) {
                        let port = plant.site_of(router).port + u32::from(port);
                        let (from, to) = *span;
                        all.push(Slow { port, from, to, share });
                    }
                }
            }
        }
        all.sort_by_key(|slow| (slow.port, slow.from, slow.to));
        all
    }
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
        let reason = "outages are for `sculpin` routers and `credit` routers of the architecture `voq`";
        let hint = "take one of them, or let things fail from the start in [fail]";
        return Err(BuildError::field("outage", reason, Some(hint)));
    }
    let name = spec.routing.name();
    if spec.nic.retransmit.is_some() && !spec.routing.goes_on_in_time() {
        let reason = format!("packets of \"{name}\" cannot carry how often they were sent");
        let hint = "take \"minimal\" or \"min-random\", or leave nic.retransmit out";
        return Err(BuildError::field("nic.retransmit", reason, Some(hint)));
    }
    let leads_round = spec.outages.in_time().any(|(_, outage)| outage.led_round().is_some());
    if leads_round && !spec.routing.goes_on_in_time() {
        let reason = format!("\"{name}\" does not lead round what fails while the run goes on");
        let hint = "take \"minimal\", \"min-random\", \"min-a\", \"d-mod-k\", \"scatter\" or \"adaptive-up\", or outage.reroute = \"never\"";
        return Err(BuildError::field("routing.kind", reason, Some(hint)));
    }
    Ok(())
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

    /// Time (ps) that a packet of `size` bytes occupies a link of `class` on which it starts at `start`, by the place of the output port into it.
    pub fn ser(&self, port: u32, class: &Class, size: u32, start: u64) -> u64 {
        let first = self.slow.partition_point(|slow| slow.port < port);
        let own = self.slow[first..].iter().take_while(|slow| slow.port == port);
        let shares = own
            .filter(|slow| (slow.from..slow.to).contains(&start))
            .map(|slow| slow.share);
        let least = shares.reduce(f64::min);
        least.map_or_else(|| class.ser(size), |share| class.ser_at(size, share))
    }

    /// Whether links are slow at some time.
    pub fn slows_links(&self) -> bool {
        !self.slow.is_empty()
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
