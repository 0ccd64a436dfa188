//! Routing engines of subnet managers: forwarding tables and virtual lanes of a [`Subnet`].
//!
//! The rules are those of InfiniBand's open subnet manager, re-made from descriptions of what it does; ties are broken as it breaks
//! them, so that tables agree entry by entry (`docs/models/static-tables.md` says which and how far). Everything is a function of
//! subnet and options: the number of threads changes nothing.

mod balance;
mod dfsssp;
mod dimension_order;
mod down_up;
mod fabric;
mod fat_tree;
mod lash;
mod layers;
mod min_hop;
mod nue;
mod parx;
mod sssp;
mod torus_2qos;
mod trees;
mod up_down;

pub use parx::{Quadrants, choice, quadrant};

use super::torus::{Recognition, TorusConf};
use super::{Subnet, Tables};
use crate::random::split_mix;
use fabric::PreparedSubnet;
use thiserror::Error;

/// A rule that fills forwarding tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoutingEngine {
    /// Least hops, ports balanced by destinations at each switch alone.
    MinHop,
    /// Least hops, always to the neighbour of the first port that has them.
    Dor,
    /// Up*/down*: first towards the roots, then away from them.
    UpDown,
    /// The same with ranks that count from the switches with hosts.
    DownUp,
    /// Fat-trees: shifts without contention.
    Ftree,
    /// Single-source shortest paths, weighted by the paths laid so far.
    Sssp,
    /// [`RoutingEngine::Sssp`] with paths spread over lanes until none has a cycle of dependencies.
    Dfsssp,
    /// One way per pair of switches, pairs in lanes without cycles.
    Lash,
    /// Least hops where that closes no cycle on a given number of lanes, over a spanning tree where nothing else does.
    Nue,
    /// Four addresses per host, each avoiding one half of a two-dimensional HyperX.
    Parx,
    /// Dimension order on a torus with datelines, round broken rings and a dead switch.
    Torus2Qos,
}

impl RoutingEngine {
    /// All engines, simple ones first.
    pub const ALL: [RoutingEngine; 11] = [
        RoutingEngine::MinHop,
        RoutingEngine::Dor,
        RoutingEngine::UpDown,
        RoutingEngine::DownUp,
        RoutingEngine::Ftree,
        RoutingEngine::Sssp,
        RoutingEngine::Dfsssp,
        RoutingEngine::Lash,
        RoutingEngine::Nue,
        RoutingEngine::Parx,
        RoutingEngine::Torus2Qos,
    ];

    /// The name in files and on command lines.
    pub fn name(self) -> &'static str {
        match self {
            RoutingEngine::MinHop => "minhop",
            RoutingEngine::Dor => "dor",
            RoutingEngine::UpDown => "updn",
            RoutingEngine::DownUp => "dnup",
            RoutingEngine::Ftree => "ftree",
            RoutingEngine::Sssp => "sssp",
            RoutingEngine::Dfsssp => "dfsssp",
            RoutingEngine::Lash => "lash",
            RoutingEngine::Nue => "nue",
            RoutingEngine::Parx => "parx",
            RoutingEngine::Torus2Qos => "torus-2qos",
        }
    }

    /// The engine of a [`RoutingEngine::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// What it does, in a line.
    pub fn description(self) -> &'static str {
        match self {
            RoutingEngine::MinHop => "least hops; each switch balances its ports by the destinations that they serve",
            RoutingEngine::Dor => {
                "least hops in the order of ports: dimension order where ports are numbered by dimension"
            }
            RoutingEngine::UpDown => {
                "least hops without a turn from down to up, seen from the roots: no deadlock on one lane"
            }
            RoutingEngine::DownUp => {
                "least hops without a turn from towards hosts to away from them: hosts may hang at any level"
            }
            RoutingEngine::Ftree => {
                "fat-trees: up the least used port, down the same way; shifts meet little contention"
            }
            RoutingEngine::Sssp => "least hops, each path over the links that carry the fewest paths so far",
            RoutingEngine::Dfsssp => "the ways of sssp, on as many lanes as freedom from deadlock needs",
            RoutingEngine::Lash => {
                "one way of least hops per pair of switches, on as many lanes as freedom from deadlock needs"
            }
            RoutingEngine::Nue => {
                "few hops on the lanes that there are, any number: no deadlock, detours where they are few"
            }
            RoutingEngine::Parx => {
                "HyperX of two dimensions: four addresses per host, two of them with detours in compact jobs"
            }
            RoutingEngine::Torus2Qos => {
                "tori of up to three dimensions: dimension order on two lanes, round broken rings and a dead switch on four"
            }
        }
    }

    /// Whether its tables are free of deadlock by construction, on the lanes that it fills.
    pub fn deadlock_free(self) -> bool {
        matches!(
            self,
            RoutingEngine::UpDown
                | RoutingEngine::Ftree
                | RoutingEngine::Dfsssp
                | RoutingEngine::Lash
                | RoutingEngine::Nue
                | RoutingEngine::Parx
                | RoutingEngine::Torus2Qos
        )
    }

    /// Whether every path has the least number of hops.
    pub fn minimal(self) -> bool {
        !matches!(
            self,
            RoutingEngine::UpDown
                | RoutingEngine::DownUp
                | RoutingEngine::Ftree
                | RoutingEngine::Nue
                | RoutingEngine::Parx
                | RoutingEngine::Torus2Qos
        )
    }
}

/// What the hosts of a job send each other, for engines that weigh paths by it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobDemand {
    /// Its hosts in the order of their ranks.
    pub hosts: Vec<u32>,
    /// From whom, to whom (both counted among these hosts) and how much, not negative; a pair comes once.
    pub pairs: Vec<(u32, u32, f64)>,
}

/// Traffic that [`RoutingEngine::Parx`] weighs paths by.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PathDemands {
    /// None: its rules are off.
    None,
    /// Its rules are on; all paths count alike.
    #[default]
    Even,
    /// That of jobs. None that sends anything: its rules are off.
    Jobs(Vec<JobDemand>),
}

/// How demands of the hosts of a switch add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DemandSums {
    /// In eight bits: 255 and 1 are 0.
    #[default]
    Modulo256,
    /// As numbers do.
    Exact,
}

/// What an engine is told besides the subnet.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Roots of [`RoutingEngine::UpDown`] and [`RoutingEngine::Ftree`]; empty: found by their rules.
    pub roots: Vec<u32>,
    /// All switches in the order in which the manager goes through them; empty: by identifier, its bytes swapped.
    pub order: Vec<u32>,
    /// Lanes that may be used, 1 to 15.
    pub lanes: u8,
    /// Of the random numbers that balance the lanes of [`RoutingEngine::Lash`].
    pub seed: u64,
    /// Switches along each dimension, two of [`RoutingEngine::Parx`] and at most three of [`RoutingEngine::Torus2Qos`]; switch `x + dims[0] * y` has
    /// coordinates (x, y).
    pub dims: Vec<u32>,
    /// What [`RoutingEngine::Torus2Qos`] is told of its torus, by which switches have coordinates in place of their numbers. With neither it is found by the cables.
    pub torus: Option<TorusConf>,
    /// Traffic that [`RoutingEngine::Parx`] weighs paths by.
    pub demands: PathDemands,
    /// How that of the hosts of a switch adds up.
    pub demand_sums: DemandSums,
    /// Whether switches and hosts that no cables join may have no way to each other; otherwise such a subnet is refused.
    pub parted: bool,
    /// Threads; 0: as many as the machine has. Tables do not depend on it.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            roots: Vec::new(),
            order: Vec::new(),
            lanes: 8,
            seed: 1,
            dims: Vec::new(),
            torus: None,
            demands: PathDemands::default(),
            demand_sums: DemandSums::default(),
            parted: false,
            threads: 0,
        }
    }
}

/// Why an engine gives no tables, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}: {reason}\nhint: {hint}", engine.name())]
pub struct RouteError {
    /// The engine.
    pub engine: RoutingEngine,
    /// The reason, with the names of switches and hosts.
    pub reason: String,
    /// What would help.
    pub hint: String,
}

/// What an engine tells besides its tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Lanes that freedom from deadlock needs, before paths are spread over those that are left; 1 where an engine uses no lanes.
    pub lanes_needed: u8,
    /// Pairs in each of these lanes: of addresses, switches' own among them ([`RoutingEngine::Dfsssp`], [`RoutingEngine::Parx`]), or of switches
    /// ([`RoutingEngine::Lash`]); of [`RoutingEngine::Nue`] the pairs on each lane, addresses of switches as sources only.
    pub before: Vec<u64>,
    /// Pairs in each lane after balancing; for [`RoutingEngine::Dfsssp`] the pairs of a class stay together and are counted in its first.
    pub after: Vec<u64>,
    /// For each lane class the lanes that it was given, as (first, number): [`RoutingEngine::Dfsssp`] and [`RoutingEngine::Parx`].
    pub classes: Vec<(u8, u8)>,
    /// Roots that were given or found.
    pub roots: Vec<u32>,
    /// The torus of [`RoutingEngine::Torus2Qos`].
    pub torus: Option<Recognition>,
}

impl Report {
    /// Draws a lane of its class for each (source switch, address), in place of the first one, by the seed: what a manager does
    /// when it is asked for a path. Every class is free of cycles, so is every part of it.
    pub fn spread(&self, tables: &mut Tables, seed: u64) {
        if self.classes.iter().all(|&(_, n)| n == 1) {
            return;
        }
        if tables.lanes.is_empty() {
            tables.lanes = vec![0; tables.ports.len()];
        }
        let mut state = seed;
        for lane in &mut tables.lanes {
            let draw = split_mix(&mut state);
            if let Some(&(first, n)) = self.classes.iter().find(|&&(first, _)| first == *lane) {
                *lane = first + (draw % u64::from(n)) as u8;
            }
        }
        tables.n_lanes = tables.lanes.iter().max().map_or(1, |&last| last + 1);
    }
}

/// Fills the forwarding tables of a subnet.
///
/// # Errors
/// A subnet that the engine cannot route, options that do not fit it, too few lanes: reason and hint.
pub fn route(engine: RoutingEngine, subnet: &Subnet, options: &Options) -> Result<Tables, RouteError> {
    route_with_report(engine, subnet, options).map(|(tables, _)| tables)
}

/// [`route`], and what the engine found on its way.
///
/// # Errors
/// Those of [`route`].
pub fn route_with_report(
    engine: RoutingEngine,
    subnet: &Subnet,
    options: &Options,
) -> Result<(Tables, Report), RouteError> {
    let refuse = |reason: String, hint: &str| RouteError {
        engine,
        reason,
        hint: hint.to_string(),
    };
    subnet
        .verify()
        .map_err(|reason| refuse(reason, "mend the description of the subnet"))?;
    if subnet.switches.is_empty() {
        return Err(refuse(
            "the subnet has no switch".into(),
            "describe a subnet with at least one switch",
        ));
    }
    if !(1..=15).contains(&options.lanes) {
        return Err(refuse(
            format!("{} lanes", options.lanes),
            "a port has 1 to 15 lanes for data; 8 are usual",
        ));
    }
    let fabric =
        PreparedSubnet::new(subnet, options).map_err(|reason| refuse(reason, "list every switch once, or none"))?;
    if let Some(root) = options.roots.iter().find(|&&root| root >= subnet.n_switches()) {
        return Err(refuse(
            format!("root {root} is not a switch"),
            "number roots as the switches are",
        ));
    }
    let (tables, report) = match engine {
        RoutingEngine::MinHop => min_hop::route(&fabric),
        RoutingEngine::Dor => dimension_order::route(&fabric),
        RoutingEngine::UpDown => up_down::route(&fabric)?,
        RoutingEngine::DownUp => down_up::route(&fabric),
        RoutingEngine::Ftree => fat_tree::route(&fabric)?,
        RoutingEngine::Sssp => sssp::route(&fabric),
        RoutingEngine::Dfsssp => dfsssp::route(&fabric)?,
        RoutingEngine::Lash => lash::route(&fabric)?,
        RoutingEngine::Nue => nue::route(&fabric)?,
        RoutingEngine::Parx => parx::route(&fabric)?,
        RoutingEngine::Torus2Qos => torus_2qos::route(&fabric)?,
    };
    let unreached = match engine {
        // An address that a switch cannot reach by its own cables has no entry there.
        RoutingEngine::Parx => fabric.cut_off(&tables),
        _ => fabric.unreached(&tables),
    };
    match unreached {
        None => Ok((tables, report)),
        Some((switch, host)) => Err(refuse(
            format!(
                "no way from switch `{}` to `{}`",
                subnet.switches[switch as usize].name, subnet.hosts[host as usize].name
            ),
            "join the parts of the subnet by cables, or remove the hosts of one part",
        )),
    }
}
