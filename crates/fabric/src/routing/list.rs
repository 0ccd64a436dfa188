//! What is made of the list of routings, and what can be asked of a [`RoutingSpec`].

use super::algorithm::{NamedRouting, NoKeys};
use super::{Equal, Tie, Via};
use super::{EqualSpec, RoutingSpec, TieSpec, ViaSpec};
use std::path::Path;
use study::diagnostic::Findings;
use study::owned::OwnValues;
use study::reader::Values;
use topo::TopologySpec;

/// Of a list: the entries of the registry, what is known of each by its name, [`RoutingSpec`] and [`Kind`] with a variant for each, and what
/// goes from a variant to the routing's own answer.
///
/// It is no [`study::kinds!`]: see there.
macro_rules! routings {
    ($($name:literal = $module:ident::$Routing:ident,)+) => {
        /// Entries of the registry.
        pub const ENTRIES: &[Entry] = &[$(entry::<$module::$Routing>($name)),+];

        const LISTED: usize = [$($name),+].len();
        const OWNERS: &[EntryKeys; LISTED] = &[$(EntryKeys { name: $name, keys: $module::$Routing::KEYS }),+];

        /// A routing by its name in the registry, with its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum RoutingSpec {
            $(
                #[doc = concat!("`", $name, "`.")]
                #[serde(rename = $name)]
                $Routing(<$module::$Routing as NamedRouting>::Parameters),
            )+
        }

        impl RoutingSpec {
            /// Reads a routing by its name and its keys; `None` after errors.
            pub fn read(
                values: &Values,
                topology: Option<&TopologySpec>,
                base: &Path,
                findings: &mut Findings,
            ) -> Option<RoutingSpec> {
                match values.text("kind")? {
                    $($name => {
                        let parameters = list::read::<$module::$Routing>($name, values, topology, base, findings);
                        parameters.map(RoutingSpec::$Routing)
                    })+
                    _ => None,
                }
            }

            /// Prepares the routing for a run on one virtual network.
            fn ready(&self, terms: &RoutingTerms<'_>, topology: &Topology) -> Result<Kind, BuildError> {
                Ok(match self {
                    $(RoutingSpec::$Routing(parameters) => {
                        Kind::$Routing($module::$Routing::ready(parameters, terms, topology)?)
                    })+
                })
            }

            /// The way that it wants half-way round a ring.
            pub fn tie(&self) -> Tie {
                match self {
                    $(RoutingSpec::$Routing(parameters) => $module::$Routing::tie(parameters),)+
                }
            }

            /// Name and parameters of a routing by forwarding tables.
            pub fn tables(&self) -> Option<(&'static str, &TablesSpec)> {
                let tables = match self {
                    $(RoutingSpec::$Routing(parameters) => $module::$Routing::tables(parameters),)+
                };
                Some((self.name(), tables?))
            }

            /// Whether it lays its ways by what jobs send.
            pub fn asks_for_demands(&self) -> bool {
                let source = self.tables().map(|(_, tables)| &tables.source);
                let Some(TableSource::Engine { demands: Some(demands), .. }) = source else {
                    return false;
                };
                demands.from == DemandsFrom::Jobs
            }

            /// The routing by forwarding tables of this name.
            pub fn by_tables(name: &str, tables: TablesSpec) -> Option<RoutingSpec> {
                match name {
                    $($name => $module::$Routing::by_tables(tables).map(RoutingSpec::$Routing),)+
                    _ => None,
                }
            }

            /// Its name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(RoutingSpec::$Routing(_) => $name,)+
                }
            }

            /// Which packets leave minimal ways.
            pub fn detours(&self) -> Detours {
                match self {
                    $(RoutingSpec::$Routing(_) => $module::$Routing::DETOURS,)+
                }
            }

            /// Whether it chooses by what waits in routers.
            pub fn is_adaptive(&self) -> bool {
                match self {
                    $(RoutingSpec::$Routing(_) => $module::$Routing::ADAPTIVE,)+
                }
            }

            /// What it does where something has failed.
            pub fn with_failures(&self) -> WithFailures {
                match self {
                    $(RoutingSpec::$Routing(_) => $module::$Routing::WITH_FAILURES,)+
                }
            }

            /// What becomes of its packets when what has failed changes.
            pub fn in_time(&self) -> InTime {
                match self {
                    $(RoutingSpec::$Routing(parameters) => $module::$Routing::in_time(parameters),)+
                }
            }

            /// Whether a way may lead over a third group of a dragonfly.
            pub fn leads_over_a_third_group(&self) -> bool {
                match self {
                    $(RoutingSpec::$Routing(_) => $module::$Routing::OVER_A_THIRD_GROUP,)+
                }
            }
        }

        /// Whether the routing of this name is for a topology.
        pub fn fits(name: &str, topology: &TopologySpec) -> bool {
            match name {
                $($name => $module::$Routing::FITS.fits(topology),)+
                _ => false,
            }
        }

        /// What a routing is in a run.
        #[derive(Clone, Debug, PartialEq, Eq)]
        enum Kind {
            $($Routing(<$module::$Routing as NamedRouting>::Ready),)+
            /// Any of them on virtual networks of their own for classes of messages.
            Classes(Box<Classes>),
        }

        impl Kind {
            /// The next output of a packet, see [`ReadyRouting::next`].
            #[inline(always)]
            fn next(&self, here: Here<'_>, mut wait: impl FnMut(u32, u8) -> u64) -> Way {
                match self {
                    $(Kind::$Routing(ready) => ready.next(here, wait),)+
                    Kind::Classes(classes) => classes.by_what_waits(here, &mut wait),
                }
            }

            /// All ways that a packet may ask for, see [`ReadyRouting::offers`].
            fn offers(&self, here: Here<'_>, out: &mut Vec<Offer>) {
                match self {
                    $(Kind::$Routing(ready) => ready.offers(here, out),)+
                    Kind::Classes(classes) => classes.offers(here, out),
                }
            }

            /// Answers what is not asked for every packet; for virtual networks as for one of them.
            fn ready(&self) -> &dyn ReadyRouting {
                match self {
                    $(Kind::$Routing(ready) => ready,)+
                    Kind::Classes(classes) => classes.inner.kind.ready(),
                }
            }
        }
    };
}

/// The parameters of a routing, if it fits the topology.
pub(super) fn read<A: NamedRouting>(
    name: &str,
    values: &Values,
    topology: Option<&TopologySpec>,
    base: &Path,
    findings: &mut Findings,
) -> Option<A::Parameters> {
    if let Some(reason) = topology.and_then(|topology| A::FITS.misfit(name, topology)) {
        let hint = "use \"minimal\", \"min-random\" or \"valiant\", which every topology has";
        findings.error(values.place("kind"), "routing.kind", reason, hint);
        return None;
    }
    A::read(&OwnValues::new(values, A::KEYS, base), findings)
}

impl RoutingSpec {
    /// The topology's own minimal routing.
    pub const MINIMAL: RoutingSpec = RoutingSpec::Minimal(NoKeys {});
    /// Dimension order with ties to the positive direction.
    pub const DOR: RoutingSpec = RoutingSpec::Dor(TieSpec { tie: Tie::Positive });
    /// Randomised dynamic routing with ties to the positive direction.
    pub const RDR: RoutingSpec = RoutingSpec::Rdr(TieSpec { tie: Tie::Positive });
    /// A random minimal neighbour.
    pub const MIN_RANDOM: RoutingSpec = RoutingSpec::MinRandom(NoKeys {});
    /// Minimal adaptive, random among ports before which less than a packet more waits than at the least.
    pub const MIN_A: RoutingSpec = RoutingSpec::MinA(EqualSpec {
        equal: Equal::WithinAPacket,
    });
    /// Valiant over the routers of random nodes.
    pub const VALIANT: RoutingSpec = RoutingSpec::Valiant(ViaSpec { via: Via::Node });
    /// The digits of the destination up a fat-tree.
    pub const D_MOD_K: RoutingSpec = RoutingSpec::DModK(NoKeys {});
    /// A random way up a fat-tree.
    pub const SCATTER: RoutingSpec = RoutingSpec::Scatter(NoKeys {});
}
