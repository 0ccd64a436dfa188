//! The router models, and a network with whichever of them its run has: the world that engines run.
//!
//! All that is to be known of one model, before a run and in it, is in the file of its name; the list below has a line for each. Handlers are
//! generic over the model, engines are not: which model a run has is asked once per block and window ([`World::perform`]), and
//! everything but the handlers is compiled once.

use crate::equipment::{Architecture, RouterKind, RouterSpec};
use crate::network::Network;
use crate::network::model::{Fabric, ModelRecords, RouterModel};
use crate::observe::{Record, Stats};
use crate::packet::Packet;
use crate::spec::RunSpec;
use crate::state::State;
use des::{Journal, Layout, Sink, Time, Torn, World, WorldTask};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::ops::Range;
use study::{Choice, Entry, Named};

mod credit;
mod input_queued;
pub mod late_admission;
mod late_admission_vcs;
mod output_buffered;
#[cfg(test)]
mod played;
mod sculpin;
mod vc_router;

pub use credit::Credit;
pub use sculpin::Sculpin;

/// Makes the list of router models. First those of a `router.model`: its value, the variant of [`AnyFabric`], the type, and the variant for
/// networks that are [as many are](RouterModel::PLAIN), if the model has one. Then the insides of `credit` but its first, which is that of
/// `credit` itself, with the values of `router.architecture`.
macro_rules! router_models {
    (
        models { $($kind:ident = $name:ident($type:ty) $(, $plain:ident($plain_type:ty))?;)+ }
        architectures { $first:ident; $($inside:ident = $inside_name:ident($inside_type:ty);)+ }
    ) => {
        const KINDS: &[RouterKind] = &[$(RouterKind::$kind),+];

        impl RouterKind {
            /// What studies may say in `router.model`, in the order of the documentation.
            pub const ENTRIES: &'static [Entry] = &[$(RouterKind::$kind.entry),+];
        }

        impl Named for Architecture {
            const WORDS: &'static [Choice] = &[Architecture::$first.choice, $(Architecture::$inside.choice),+];
            const ALL: &'static [Architecture] = &[Architecture::$first, $(Architecture::$inside),+];
        }

        /// A network with one of the router models that there are.
        #[derive(Debug)]
        pub enum AnyFabric {
            $(
                #[doc = concat!("With [`", stringify!($type), "`].")]
                $name(Fabric<$type>),
                $(
                    #[doc = concat!("With [`", stringify!($plain_type), "`].")]
                    $plain(Fabric<$plain_type>),
                )?
            )+
            $(
                #[doc = concat!("With [`", stringify!($inside_type), "`].")]
                $inside_name(Fabric<$inside_type>),
            )+
        }

        impl AnyFabric {
            /// The network of a specification with the router model of it.
            pub fn new(spec: &RunSpec, net: Network) -> Self {
                let RouterSpec { model, architecture, .. } = spec.router;
                $(if is_inside(&spec.router, Architecture::$inside) {
                    return AnyFabric::$inside_name(Fabric::new(spec, net));
                })+
                $(if model == RouterKind::$kind {
                    $(if net.is_plain() && <$plain_type>::is_plain(&spec.router) {
                        return AnyFabric::$plain(Fabric::new(spec, net));
                    })?
                    return AnyFabric::$name(Fabric::new(spec, net));
                })+
                unreachable!("{model:?} with {architecture:?} is not in the list of router models")
            }
        }

        /// What the records of a router's model take in memory.
        pub fn records(router: &RouterSpec) -> ModelRecords {
            $(if is_inside(router, Architecture::$inside) {
                return ModelRecords::of::<$inside_type>();
            })+
            $(if router.model == RouterKind::$kind {
                return ModelRecords::of::<$type>();
            })+
            unreachable!("{:?} is not in the list of router models", router.model)
        }

        /// Does something with the network of whichever type it is.
        macro_rules! whichever {
            ($any:expr, $fabric:ident => $what:expr) => {
                match $any {
                    $(AnyFabric::$name($fabric) => $what,)+
                    $($(AnyFabric::$plain($fabric) => $what,)?)+
                    $(AnyFabric::$inside_name($fabric) => $what,)+
                }
            };
        }
    };
}

router_models! {
    models {
        SCULPIN = Sculpin(sculpin::Sculpin), PlainSculpin(sculpin::Sculpin<true>);
        CREDIT = Credit(credit::Credit), PlainCredit(credit::Credit<true>);
    }
    architectures {
        VOQ;
        INPUT_QUEUED = InputQueued(input_queued::InputQueued);
        LATE_ADMISSION = LateAdmission(late_admission::LateAdmission);
        LATE_ADMISSION_VCS = LateAdmissionVcs(late_admission_vcs::LateAdmissionVcs);
        OUTPUT_BUFFERED = OutputBuffered(output_buffered::OutputBuffered);
        VC_ROUTER = VcRouter(vc_router::VcRouter);
    }
}

/// Whether a router is a `credit` router with this inside.
fn is_inside(router: &RouterSpec, architecture: Architecture) -> bool {
    router.model == RouterKind::CREDIT && router.architecture == architecture
}

impl RouterKind {
    /// The model of this name; `None` if there is none.
    pub fn of_name(name: &str) -> Option<RouterKind> {
        KINDS.iter().find(|kind| kind.entry.name == name).copied()
    }
}

impl<'de> Deserialize<'de> for RouterKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RouterKind, D::Error> {
        let name = String::deserialize(deserializer)?;
        RouterKind::of_name(&name).ok_or_else(|| D::Error::custom(format!("there is no router model `{name}`")))
    }
}

impl<'de> Deserialize<'de> for Architecture {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Architecture, D::Error> {
        let word = String::deserialize(deserializer)?;
        Architecture::named(&word).ok_or_else(|| D::Error::custom(format!("there is no architecture `{word}`")))
    }
}

impl AnyFabric {
    /// The network.
    #[inline]
    pub fn net(&self) -> &Network {
        whichever!(self, fabric => &fabric.net)
    }

    /// [`RouterModel::tells_late`].
    pub fn tells_late(&self) -> bool {
        whichever!(self, fabric => fabric.model.tells_late())
    }

    /// [`RouterModel::owed`].
    pub fn owed(&self, st: &State, port: u32, vc: u32) -> u64 {
        whichever!(self, fabric => fabric.model.owed(&fabric.net, st, port, vc))
    }

    /// [`RouterModel::clock`].
    pub fn clock(&self) -> u64 {
        whichever!(self, fabric => fabric.model.clock())
    }
}

impl World for AnyFabric {
    type Event = Packet;
    type State = State;
    type Record = Record;
    type Observer = Stats;

    fn n_lps(&self) -> u32 {
        whichever!(self, fabric => fabric.n_lps())
    }

    fn lookahead(&self) -> Time {
        whichever!(self, fabric => fabric.lookahead())
    }

    fn layout(&self, n_blocks: u32) -> Layout {
        whichever!(self, fabric => fabric.layout(n_blocks))
    }

    fn name(&self, lp: u32) -> u32 {
        whichever!(self, fabric => fabric.name(lp))
    }

    fn named(&self, name: u32) -> u32 {
        whichever!(self, fabric => fabric.named(name))
    }

    fn lookahead_across(&self, owner: &dyn Fn(u32) -> usize) -> Time {
        whichever!(self, fabric => fabric.lookahead_across(owner))
    }

    fn seed(&self) -> u64 {
        whichever!(self, fabric => fabric.seed())
    }

    fn start(&self, lps: Range<u32>) -> (State, Vec<Packet>) {
        whichever!(self, fabric => fabric.start(lps))
    }

    fn handle<J: Journal, S: Sink<Self>>(&self, st: &mut State, j: &mut J, lp: u32, event: &Packet, sink: &mut S) {
        whichever!(self, fabric => fabric.handle(st, j, lp, event, sink));
    }

    fn close<J: Journal, S: Sink<Self>>(&self, st: &mut State, j: &mut J, lp: u32, end: Time, sink: &mut S) -> Time {
        whichever!(self, fabric => fabric.close(st, j, lp, end, sink))
    }

    #[inline(always)]
    fn perform<T: WorldTask<Packet, State, Record>>(&self, task: T) -> T::Output {
        whichever!(self, fabric => task.with(fabric))
    }

    fn first_wake(&self, st: &State, lp: u32) -> Time {
        whichever!(self, fabric => fabric.first_wake(st, lp))
    }

    fn pack(&self, st: &State, lp: u32, out: &mut Vec<u8>) {
        whichever!(self, fabric => fabric.pack(st, lp, out));
    }

    fn unpack(&self, st: &mut State, lp: u32, input: &mut &[u8]) -> Result<(), Torn> {
        whichever!(self, fabric => fabric.unpack(st, lp, input))
    }

    fn knows(&self, event: &Packet) -> bool {
        whichever!(self, fabric => fabric.knows(event))
    }
}
