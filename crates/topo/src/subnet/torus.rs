//! Tori and meshes in subnets: which switch has which coordinates, from its cables alone or by the file that OpenSM's torus-2QoS is told them by.
//!
//! 1. [`cables`]: parallel cables are one; rings of four cables, whose opposite sides point in the same direction.
//! 2. [`directions`]: from these the direction of cables. Each is forced by others; none is guessed.
//! 3. [`lattice`]: coordinates by walking, radices by what closes round the ends, and places for switches that have lost cables.
//! 4. Which dimension is x, where it begins and which way it points: [`axes`] by the ports of the first switch, [`seed`] by a [`TorusConf`].
//!
//! A torus or mesh is a product of rings and lines, and a network is one such product only, but for rings of four, which are products of two lines of two. So
//! a whole one is found for certain; of one that has lost switches and cables what is left tells most, and for the rest the smallest counts that has them all.
//! What can be several is refused: with the names of switches, a reason and a hint.

mod axes;
mod cables;
mod conf;
mod directions;
mod lattice;
mod places;
mod seed;

pub use conf::{ConfiguredAxis, SeedLink, TorusConf, TorusSeed};
pub(super) use places::RingSide;
pub use places::{Recognition, TorusPlaces};

use super::{LevelMap, Options, Subnet};
use cables::SwitchCables;
use directions::Directions;
use lattice::WalkedCables;
use seed::FoundSeed;

/// Why a subnet's switches have no coordinates, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TorusMisfit {
    /// The reason, with the names of switches.
    pub reason: String,
    /// What would help.
    pub hint: String,
}

impl TorusMisfit {
    fn new(reason: impl Into<String>, hint: &str) -> TorusMisfit {
        TorusMisfit {
            reason: reason.into(),
            hint: hint.into(),
        }
    }
}

/// Most dimensions of a torus: levels have bits for these.
const MOST_DIMENSIONS: usize = LevelMap::DIMENSIONS as usize;
/// Most dimensions of what its cables are a product of: a ring of four is a product of two lines.
const MOST_FACTORS: usize = 2 * MOST_DIMENSIONS;

const GIVE_FILE: &str = "if it is a torus all the same, give its torus-2QoS.conf";
const OTHER_ENGINE: &str = "mend the cables, or take an engine for any network: `nue`, `dfsssp` or `lash`";

/// The coordinates of a subnet's switches: by the file if one is given, else by the cables alone. Time and memory: linear in the switches.
///
/// # Errors
/// Networks that are no torus or mesh of up to three dimensions, or more than one; files that do not fit.
pub fn recognise(subnet: &Subnet, conf: Option<&TorusConf>) -> Result<Recognition, TorusMisfit> {
    if subnet.switches.len() == 1 && conf.is_none() {
        return Ok(Recognition::of(TorusPlaces::numbered(vec![1]), Some(0)));
    }
    let cables = SwitchCables::of(subnet)?;
    let Some(conf) = conf else {
        let directions = Directions::of(&cables, &[], subnet)?;
        return axes::by_ports(&WalkedCables::new(subnet, &cables, &directions, GIVE_FILE), subnet);
    };
    conf.check(subnet)?;
    let seed = FoundSeed::of(conf, subnet)?;
    let directions = Directions::of(&cables, &seed.told(&conf.axes, &cables), subnet)?;
    seed.axes(conf, &WalkedCables::new(subnet, &cables, &directions, OTHER_ENGINE))
}

/// As [`recognise`], but by numbers where [`Options::dims`] are given and no file is.
///
/// # Errors
/// Those of [`recognise`]; dimensions that do not fit the number of switches or the cables.
pub(super) fn places(subnet: &Subnet, options: &Options) -> Result<Recognition, TorusMisfit> {
    if options.torus.is_some() || options.dims.is_empty() {
        return recognise(subnet, options.torus.as_ref());
    }
    places::by_numbers(subnet, &options.dims)
}
