//! A network with whichever router model its run has: the world that engines run.
//!
//! Handlers are generic over the model, engines are not: which model a run has is asked once per block and window ([`World::perform`]), and
//! everything but the handlers is compiled once.

use crate::equipment::{Architecture, RouterModel as Model, RouterSpec};
use crate::network::Network;
use crate::network::model::{Fabric, ModelRecords, RouterModel};
use crate::observe::{Record, Stats};
use crate::packet::Packet;
use crate::router::{Credit, InputQueued, LateAdmission, LateAdmissionVcs, OutputBuffered, Sculpin, VcRouter};
use crate::spec::RunSpec;
use crate::state::State;
use des::{Journal, Layout, Sink, Time, Torn, World, WorldTask};
use std::ops::Range;

/// Makes the list of types of router models: of which model and architecture of a study each is, the variant of [`AnyFabric`], and the type. The
/// first that fits is taken. `plain` holds for networks that are [as many are](RouterModel::PLAIN).
macro_rules! model_types {
    ($plain:ident; $($model:pat $(if $condition:expr)? => $kind:ident($type:ty),)+) => {
        /// A network with one of the router models that there are.
        #[derive(Debug)]
        pub enum AnyFabric {
            $(
                #[doc = concat!("With [`", stringify!($type), "`].")]
                $kind(Fabric<$type>),
            )+
        }

        impl AnyFabric {
            /// The network of a specification with the router model of it.
            pub fn new(spec: &RunSpec, net: Network) -> Self {
                let $plain = net.is_plain();
                match (spec.router.model, spec.router.architecture) {
                    $($model $(if $condition)? => AnyFabric::$kind(Fabric::new(spec, net)),)+
                }
            }
        }

        /// What the records of a router's model take in memory besides those of all models.
        pub fn records(router: &RouterSpec) -> ModelRecords {
            let $plain = false;
            match (router.model, router.architecture) {
                $($model $(if $condition)? => <$type>::RECORDS,)+
            }
        }

        /// Does something with the network of whichever type it is.
        macro_rules! whichever {
            ($any:expr, $fabric:ident => $what:expr) => {
                match $any {
                    $(AnyFabric::$kind($fabric) => $what,)+
                }
            };
        }
    };
}

model_types! {
    plain;
    (Model::Sculpin, _) if plain => PlainSculpin(Sculpin<true>),
    (Model::Sculpin, _) => Sculpin(Sculpin),
    (Model::Credit, Architecture::Voq) if plain => PlainCredit(Credit<true>),
    (Model::Credit, Architecture::Voq) => Credit(Credit),
    (Model::Credit, Architecture::InputQueued) => InputQueued(InputQueued),
    (Model::Credit, Architecture::LateAdmission) => LateAdmission(LateAdmission),
    (Model::Credit, Architecture::LateAdmissionVcs) => LateAdmissionVcs(LateAdmissionVcs),
    (Model::Credit, Architecture::OutputBuffered) => OutputBuffered(OutputBuffered),
    (Model::Credit, Architecture::VcRouter) => VcRouter(VcRouter),
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
        whichever!(self, fabric => fabric.model.owed(st, port, vc))
    }

    /// [`RouterModel::clock`].
    pub(crate) fn clock(&self) -> u64 {
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
