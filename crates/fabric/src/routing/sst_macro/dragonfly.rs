//! `macro-minimal`, `macro-valiant`, `macro-ugal` and `macro-par` on a dragonfly with groups of one row.
//!
//! **Minimal**: over the router's own links to the group in turn, else over the routers of its group that have some, in turn. **A detour** leads by way of
//! another router of the group, in turn over all links from others to the third group: there by any own link to that group in turn, to the router at the far
//! end of the link that was aimed at, and from there minimally. To a group that only the packet's own router is linked to it leads by way of a further group,
//! in turn over all others, and a router there ([`FurtherGroup`]). Inside a group: over a router that is neither end. **The test** is 3 hops against 5, inside
//! a group 1 against 2: at the source router (`macro-ugal`), or at every router until a detour is taken, in the destination's group too (`macro-par`).

use super::draw::ClockDraws;
use super::further::FurtherGroup;
use super::queue::{PacketQueue, SeenQueues};
use crate::routing::group_links::GroupLinks;
use crate::routing::prelude::*;
use crate::routing::turns::{MOST_COUNTERS, turn};
use des::Event;
use topo::{Came, GlobalLink, Step};

/// Which packets go round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupRule {
    /// None.
    Minimal,
    /// All.
    Valiant,
    /// Those that meet a queue at their source's router.
    Ugal,
    /// Those that meet a queue.
    Par,
}

/// One of them, ready to run. Counters, by group: see [`GroupTurn`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupTurns {
    rule: GroupRule,
    queue: PacketQueue,
    links: GroupLinks,
    /// What ways round are drawn by in place of hashes.
    clock: Option<ClockDraws>,
    /// How packets remember ways to a group that only their own router is linked to, if they can.
    further: Option<FurtherGroup>,
}

/// Counters of a router by group. Of minimal links it is the turn that the first two say together; of ways round, that the last two do.
#[derive(Clone, Copy)]
enum GroupTurn {
    /// Packets on their way, without a test.
    OnTheWay,
    /// Packets that were tested and go minimally: both turns move on.
    Tested,
    /// Packets that go round.
    Round,
}

/// Kinds of counters.
const TURNS: u32 = 3;

/// Phases: minimal; round a router of the group; minimal behind a detour; and on the way to a link, by its place among those of its router,
/// or by that among all global links of the router where the group was drawn by the clock. Behind these: those of [`FurtherGroup`].
const MINIMAL: u8 = 0;
const INSIDE: u8 = 1;
const BEHIND: u8 = 2;
const TO_LINK: u8 = 3;
/// Links of a router, or of those to one group, that a phase can tell apart.
const MOST_TOLD: u32 = 13;

/// Third groups drawn, of which a router may have the only link itself.
const TRIES: u64 = 16;

/// A packet on its way.
struct TurnsPacket<'a> {
    here: Here<'a>,
    turns: &'a GroupTurns,
    came: Came,
    from: u32,
    to: u32,
}

/// A port, the counter of which it is a turn, and the phase behind it.
#[derive(Clone, Copy)]
struct TurnChoice {
    port: u32,
    counter: Option<u32>,
    phase: u8,
}

impl GroupTurns {
    pub(super) fn new(
        (rule, clock): (GroupRule, Option<ClockDraws>),
        terms: &RoutingTerms<'_>,
        topology: &Topology,
    ) -> Result<GroupTurns, BuildError> {
        let Some(links) = GroupLinks::numbers(topology.spec()) else {
            return refuse(
                "it needs a dragonfly with groups of one row, in which all routers are neighbours",
                "give routers_per_group one number, or take \"ugal\" or \"par\"",
            );
        };
        if links.links.div_ceil(links.routers) >= MOST_TOLD - 1 || TURNS * links.groups > MOST_COUNTERS {
            return refuse(
                "a packet can tell 11 links of a router to one group apart, and a router 21,845 groups",
                "take \"ugal\" or \"par\", or fewer links per pair",
            );
        }
        if clock.is_some() && (links.links > 1 || links.most_own() > MOST_TOLD) {
            let reason = "a packet remembers the group that it drew by its only link, one of 13 of a router";
            let hint = "take links_per_pair = 1 and fewer groups or more routers, or leave routing.draw away";
            return Err(BuildError::field("routing.draw", reason, Some(hint)));
        }
        let first = TO_LINK + if clock.is_some() { links.most_own() as u8 } else { 1 };
        Ok(GroupTurns {
            rule,
            queue: PacketQueue::of(terms),
            links,
            clock,
            further: FurtherGroup::new(&links, first, clock.is_some()),
        })
    }

    /// Whether packets between groups may go round, or those inside one.
    fn goes_round(&self) -> bool {
        self.rule != GroupRule::Minimal
    }
}

/// The links between two groups, in the order of their numbers.
fn between<'t>(
    links: &GroupLinks,
    topology: &'t Topology,
    from: u32,
    to: u32,
) -> impl Iterator<Item = GlobalLink> + Clone + 't {
    (0..links.links).filter_map(move |number| topology.global_link(from, to, number))
}

impl ReadyRouting for GroupTurns {
    fn draws_by_time(&self) -> bool {
        self.clock.is_some()
    }

    fn vcs(&self, topology: &Topology) -> u8 {
        let groups = topology.n_groups().unwrap_or(1);
        match self.rule {
            GroupRule::Minimal => 1 + u8::from(groups > 1),
            _ if groups < 2 => 2,
            // A detour in the destination's group makes one hop more.
            _ if groups < 3 => 4,
            GroupRule::Par => 7,
            GroupRule::Valiant | GroupRule::Ugal => 6,
        }
    }

    fn rule<'t>(&self, topology: &'t Topology, vcs: u8) -> Box<dyn RoutingRule + 't> {
        Box::new(TurnSteps {
            rule: self.rule,
            // A smaller network of the kind may stand for the run's.
            links: GroupLinks::numbers(topology.spec()).unwrap_or(self.links),
            further: self.further.is_some(),
            topology,
            vcs,
        })
    }

    fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
        let (topology, packet) = (&here.net.topology, here.packet);
        let going = TurnsPacket {
            here,
            turns: self,
            came: came(here.site, packet),
            from: topology.router_of(packet.source()),
            to: topology.router_of(packet.destination()),
        };
        let TurnChoice { port, counter, phase } = going.choice(&mut self.queue.seen(&here, &mut wait));
        let way = Way::new(port, going.channel(), phase);
        counter.map_or(way, |counter| way.in_turn(counter))
    }

    fn sense(&self) -> Option<Sense> {
        matches!(self.rule, GroupRule::Ugal | GroupRule::Par).then(|| self.queue.sense())
    }

    fn counters(&self) -> u32 {
        TURNS * self.links.groups
    }

    fn asks_for_cables(&self) -> bool {
        true
    }
}

impl TurnsPacket<'_> {
    fn links(&self) -> &GroupLinks {
        &self.turns.links
    }

    fn topology(&self) -> &Topology {
        &self.here.net.topology
    }

    fn at(&self) -> u32 {
        self.here.site.router
    }

    fn own_group(&self) -> u32 {
        self.links().group(self.at())
    }

    /// Global hops so far for minimal routing, hops for the others.
    fn channel(&self) -> u8 {
        let Here { routing, packet, .. } = self.here;
        match self.turns.rule {
            GroupRule::Minimal => u8::from(self.own_group() != self.links().group(self.from)).min(routing.last_vc),
            _ => routing.channel_of_hops(packet),
        }
    }

    /// When it is routed (ps).
    fn now(&self) -> u64 {
        self.here.packet.time().0
    }

    /// What is drawn for the packet at a router.
    fn word(&self, router: u32) -> u64 {
        let Here { routing, packet, .. } = self.here;
        mix(routing.seed ^ routing.identity(packet) ^ mix(router.into()))
    }

    /// The router that it came from.
    fn before(&self) -> u32 {
        self.topology().wiring().peer(self.at(), self.came.port).0
    }

    fn local(&self, router: u32) -> u32 {
        let port = self.links().local(self.topology(), self.at(), router);
        port + self.links().local_number(self.here.packet)
    }

    fn choice(&self, seen: &mut SeenQueues<'_>) -> TurnChoice {
        let (own, target) = (self.own_group(), self.links().group(self.to));
        let phase = self.here.packet.phase();
        if let Some(further) = self.turns.further.filter(|further| further.is_under_way(phase)) {
            return self.by_further(&further, target, seen);
        }
        if let Some(told) = phase.checked_sub(TO_LINK) {
            return self.by_link(told, target, seen);
        }
        let first = self.came.port == Came::NONE;
        let tests = phase == MINIMAL && self.turns.goes_round() && (first || self.turns.rule == GroupRule::Par);
        let turn = if tests { GroupTurn::Tested } else { GroupTurn::OnTheWay };
        let minimal = match own == target {
            true => TurnChoice {
                port: self.local(self.to),
                counter: None,
                phase,
            },
            false => self.in_turn_to(target, (turn, phase), seen),
        };
        let round = if tests {
            self.round(own == target, target, seen)
        } else {
            None
        };
        let Some(round) = round else {
            return minimal;
        };
        let (hops, hops_round) = if own == target { (1, 2) } else { (3, 5) };
        let always = self.turns.rule == GroupRule::Valiant;
        match always || seen.at(round.port) * hops_round < seen.at(minimal.port) * hops {
            true => round,
            false => minimal,
        }
    }

    /// The number of a counter.
    fn counter(&self, turn: GroupTurn, group: u32) -> u32 {
        turn as u32 * self.links().groups + group
    }

    /// Packets that two counters have counted.
    fn counted(&self, turns: [GroupTurn; 2], group: u32, seen: &mut SeenQueues<'_>) -> u64 {
        turns.map(|turn| seen.count(self.counter(turn, group))).iter().sum()
    }

    /// To another group by an own link, or to a router that has some, in turn.
    fn in_turn_to(&self, group: u32, (as_what, phase): (GroupTurn, u8), seen: &mut SeenQueues<'_>) -> TurnChoice {
        let at = self.at();
        let all = between(self.links(), self.topology(), self.own_group(), group);
        let own = all.clone().filter(|link| link.router == at);
        let (many, owned) = match own.clone().count() as u32 {
            0 => (self.links().links, false),
            many => (many, true),
        };
        let count = self.counted([GroupTurn::OnTheWay, GroupTurn::Tested], group, seen);
        let place = turn(at, count, many) as usize;
        let port = match owned {
            true => own.clone().nth(place).map(|link| u32::from(link.port)),
            false => all.clone().nth(place).map(|link| self.local(link.router)),
        };
        TurnChoice {
            // Two groups have a link.
            port: port.unwrap_or(0),
            counter: Some(self.counter(as_what, group)),
            phase,
        }
    }

    /// The third group that it draws at a router of its group: one that another router has a link to, unless packets remember ways to others.
    fn third(&self, router: u32, target: u32) -> Option<u32> {
        let (links, own) = (self.links(), self.links().group(router));
        if let Some(clock) = self.turns.clock {
            return clock.first(self.now(), links.groups, |group| group != own && group != target);
        }
        (0..TRIES).find_map(|attempt| {
            let third = links.third(mix(self.word(router) ^ attempt), own, target)?;
            if self.turns.further.is_some() {
                return Some(third);
            }
            let mut all = between(links, self.topology(), own, third);
            all.any(|link| link.router != router).then_some(third)
        })
    }

    /// The detour that it would take from here.
    fn round(&self, inside: bool, target: u32, seen: &mut SeenQueues<'_>) -> Option<TurnChoice> {
        let (at, own, links) = (self.at(), self.own_group(), self.links());
        let word = self.word(at);
        if inside {
            let first = own * links.routers;
            let is_other = |router: u32| router != at && router != self.to;
            let mut others = (first..first + links.routers).filter(|&router| is_other(router));
            let many = links.routers.checked_sub(2).filter(|&many| many > 0)?;
            let over = match self.turns.clock {
                Some(clock) => first + clock.first(self.now(), links.routers, |place| is_other(first + place))?,
                None => others.nth(below(word, many.into()) as usize)?,
            };
            return Some(TurnChoice {
                port: self.local(over),
                counter: None,
                phase: INSIDE,
            });
        }
        let third = self.third(at, target)?;
        let all = between(links, self.topology(), own, third);
        let others = all.clone().filter(|link| link.router != at);
        let many = others.clone().count() as u32;
        let count = self.counted([GroupTurn::Tested, GroupTurn::Round], third, seen);
        if many == 0 {
            return self.over_further(third, count);
        }
        let place = turn(at, count, many) as usize;
        let aim = others.clone().nth(place)?;
        let before = all
            .clone()
            .take_while(|link| link.port != aim.port || link.router != aim.router);
        let of_router = before.filter(|link| link.router == aim.router).count() as u8;
        let of_all = self.number_of(aim.port);
        let told = if self.turns.clock.is_some() { of_all } else { of_router };
        Some(TurnChoice {
            port: self.local(aim.router),
            counter: Some(self.counter(GroupTurn::Round, third)),
            phase: TO_LINK + told,
        })
    }

    /// On its way over the third group, aimed at the link of a place among those of its router.
    fn by_link(&self, told: u8, target: u32, seen: &mut SeenQueues<'_>) -> TurnChoice {
        let links = self.links();
        let before = self.before();
        let by_group = self.turns.clock.is_some();
        if !links.is_global(self.came.port) {
            // At the router that was aimed at, from the one that drew.
            let third = if by_group {
                Some(self.group_of(self.at(), told))
            } else {
                self.third(before, target)
            };
            return self.in_turn_to(third.unwrap_or(target), (GroupTurn::OnTheWay, TO_LINK + told), seen);
        }
        let place = if by_group { 0 } else { told };
        let mut of_router =
            between(links, self.topology(), links.group(before), self.own_group()).filter(|link| link.router == before);
        match of_router.nth(place.into()).map(|link| link.peer) {
            Some(far) if far != self.at() => TurnChoice {
                port: self.local(far),
                counter: None,
                phase: BEHIND,
            },
            _ => self.in_turn_to(target, (GroupTurn::OnTheWay, BEHIND), seen),
        }
    }
}

/// Ways to a third group that only the router that draws is linked to.
impl TurnsPacket<'_> {
    /// The number of a global port among those of a router.
    fn number_of(&self, port: u16) -> u8 {
        (u32::from(port) - self.links().first_global()) as u8
    }

    /// The group behind a global link of a router, by its number.
    fn group_of(&self, router: u32, number: u8) -> u32 {
        let port = self.links().first_global() + u32::from(number);
        self.links().group(self.topology().wiring().peer(router, port as u16).0)
    }

    /// By way of a further group, in turn over all others; `count` packets have gone.
    fn over_further(&self, third: u32, count: u64) -> Option<TurnChoice> {
        let (at, own, links) = (self.at(), self.own_group(), self.links());
        let further = self.turns.further?;
        let group = GroupLinks::but(turn(at, count, links.groups - 2), own, third);
        let link = self.topology().global_link(own, group, 0)?;
        let mine = self.topology().global_link(own, third, 0)?;
        let drawn = self.number_of(mine.port);
        let number = self.number_of(link.port);
        let (port, phase) = match link.router == at {
            true => (link.port.into(), further.over(drawn, self.here.packet.hops() > 0)),
            false => (self.local(link.router), further.to(number, drawn)),
        };
        Some(TurnChoice {
            port,
            counter: Some(self.counter(GroupTurn::Round, third)),
            phase,
        })
    }

    /// On its way over a further group: by the link that was chosen, and there to the router; from it minimally.
    fn by_further(&self, further: &FurtherGroup, target: u32, seen: &mut SeenQueues<'_>) -> TurnChoice {
        let (links, phase) = (self.links(), self.here.packet.phase());
        if let Some((number, drawn)) = further.aimed_at(phase) {
            // At the router with the link: one hop behind that which drew, which is the source's or one hop behind that.
            return TurnChoice {
                port: links.first_global() + u32::from(number),
                counter: None,
                phase: further.over(drawn, self.here.packet.hops() > 1),
            };
        }
        let (drawn, second) = further.drawn(phase);
        let source = links.group(self.from);
        // Who drew behind the source has the only link to the target.
        let on_the_way = self.topology().global_link(source, target, 0).filter(|_| second);
        let drew = on_the_way.map_or(self.from, |link| link.router);
        let third = match self.turns.clock {
            Some(_) => Some(self.group_of(drew, drawn)),
            None => self.third(drew, target),
        };
        let end = third.and_then(|third| self.topology().global_link(self.own_group(), third, 0));
        let to = end.map_or(self.at(), |end| links.shifted(end.router, drew));
        let is_there = to == self.at();
        if is_there && self.own_group() != target {
            return self.in_turn_to(target, (GroupTurn::OnTheWay, BEHIND), seen);
        }
        TurnChoice {
            port: self.local(if is_there { self.to } else { to }),
            counter: None,
            phase: BEHIND,
        }
    }
}

/// All steps, for the proof, and some that no packet takes: in a third group over any router. State: as the phase, with the third group.
struct TurnSteps<'t> {
    rule: GroupRule,
    links: GroupLinks,
    /// Packets may go over a further group.
    further: bool,
    topology: &'t Topology,
    vcs: u8,
}

/// State of a packet that has come to a third group, or to a further one. On its way to a link there: the group on top of [`TO_LINK`].
const LANDED: u32 = u32::MAX;

impl TurnSteps<'_> {
    fn push(&self, ports: std::ops::Range<u32>, (vc, state): (u8, u32), out: &mut Vec<Step>) {
        out.extend(ports.map(|port| Step {
            port: port as u16,
            vc: vc.min(self.vcs - 1),
            state,
        }));
    }

    fn local(&self, at: u32, to: u32, as_what: (u8, u32), out: &mut Vec<Step>) {
        if at != to {
            let port = self.links.local(self.topology, at, to);
            self.push(port..port + self.links.local, as_what, out);
        }
    }

    /// Own links to a group, else to the routers that have some.
    fn exits(&self, at: u32, group: u32, as_what: (u8, u32), out: &mut Vec<Step>) {
        let all = between(&self.links, self.topology, self.links.group(at), group);
        let own = all.clone().any(|link| link.router == at);
        for link in all {
            match own {
                true if link.router == at => self.push(link.port.into()..u32::from(link.port) + 1, as_what, out),
                true => {}
                false => self.local(at, link.router, as_what, out),
            }
        }
    }

    fn routers(&self, at: u32) -> std::ops::Range<u32> {
        let first = self.links.group(at) * self.links.routers;
        first..first + self.links.routers
    }

    /// Where a packet is on its minimal way, and may go round if `tests`.
    fn minimal(&self, at: u32, to: u32, vc: u8, tests: bool, out: &mut Vec<Step>) {
        let (own, target) = (self.links.group(at), self.links.group(to));
        if own == target {
            self.local(at, to, (vc, u32::from(MINIMAL)), out);
            if tests {
                let over = self.routers(at).filter(|&router| router != at && router != to);
                over.for_each(|router| self.local(at, router, (vc, INSIDE.into()), out));
            }
            return;
        }
        self.exits(at, target, (vc, MINIMAL.into()), out);
        if !tests {
            return;
        }
        for third in (0..self.links.groups).filter(|&group| group != own && group != target) {
            let others = between(&self.links, self.topology, own, third).filter(|link| link.router != at);
            others.for_each(|link| self.local(at, link.router, (vc, u32::from(TO_LINK) + third), out));
        }
        if self.further {
            self.over_further(at, vc, out);
        }
    }

    /// From the only router with a link to a third group: over any group but that, which may be the target's.
    fn over_further(&self, at: u32, vc: u8, out: &mut Vec<Step>) {
        let own = self.links.group(at);
        let others = || (0..self.links.groups).filter(|&group| group != own);
        let link = |group| between(&self.links, self.topology, own, group).next();
        if !others().filter_map(link).any(|link| link.router == at) {
            return;
        }
        for link in others().filter_map(link) {
            match link.router == at {
                true => self.push(link.port.into()..u32::from(link.port) + 1, (vc, LANDED), out),
                false => {
                    let group = self.links.group(link.peer);
                    self.local(at, link.router, (vc, u32::from(TO_LINK) + group), out);
                }
            }
        }
    }
}

impl RoutingRule for TurnSteps<'_> {
    fn vcs(&self) -> usize {
        usize::from(self.vcs)
    }

    fn start(&self, at: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at != to {
            self.minimal(at, to, 0, self.rule != GroupRule::Minimal, out);
        }
    }

    fn next(&self, at: u32, port: u16, vc: u8, state: u32, dst: u32, out: &mut Vec<Step>) {
        let to = self.topology.router_of(dst);
        if at == to {
            return;
        }
        let (own, target) = (self.links.group(at), self.links.group(to));
        let next = match self.rule {
            GroupRule::Minimal => vc.max(u8::from(self.links.is_global(port))),
            _ => vc + 1,
        };
        let behind = (next, u32::from(BEHIND));
        match state {
            LANDED => {
                match own == target {
                    true => self.local(at, to, behind, out),
                    false => self.exits(at, target, behind, out),
                }
                self.routers(at).for_each(|router| self.local(at, router, behind, out));
            }
            state if state >= TO_LINK.into() => self.exits(at, state - u32::from(TO_LINK), (next, LANDED), out),
            state if state == u32::from(MINIMAL) => {
                self.minimal(at, to, next, self.rule == GroupRule::Par, out);
            }
            _ if own == target => self.local(at, to, (next, state), out),
            _ => self.exits(at, target, behind, out),
        }
    }

    fn hop_bound(&self, _: u32, _: u32) -> Option<u32> {
        Some(match self.rule {
            GroupRule::Minimal => 3,
            GroupRule::Valiant | GroupRule::Ugal => 6,
            GroupRule::Par => 7,
        })
    }

    fn same_for_all_nodes_of_a_router(&self) -> bool {
        true
    }
}
