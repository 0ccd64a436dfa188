//! What has to be known of a kind of network for its name in a study: the questions of [`NamedTopology`].

use super::{GraphFile, NetworkFamily};
use crate::problems::FieldError;
use crate::wiring::Wiring;
use std::path::Path;
use study::diagnostic::Findings;
use study::reader::Values;
use study::{Entry, Parameter};

/// What is asked of a kind of network, in the file of its family.
pub(crate) trait NamedTopology {
    /// What a study says of it.
    type Parameters;
    /// What answers for it once it is built.
    type Family: NetworkFamily;

    /// One line that says what it is.
    const LINE: &'static str;
    /// Its keys, in groups that kinds share.
    const KEYS: &'static [&'static [Parameter]];
    /// The paper that it follows.
    const SOURCE: &'static str = "";
    /// What it does not model or where it does not apply.
    const LIMITS: &'static str = "";
    /// The key that says how many nodes a router has.
    const NODES: &'static str;

    /// Reads its own keys; `None` after errors.
    fn read(keys: &mut TopologyKeys<'_>) -> Option<Self::Parameters>;

    /// Checks all of a specification, then lays out its routers and cables. Limits are checked before memory is taken.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the words of its keys.
    fn build(spec: &Self::Parameters, file: &GraphFile<'_>) -> Result<(Self::Family, Wiring), Vec<FieldError>>;

    /// Makes a specification a small one with every kind of channel dependency of the large one (see
    /// [`crate::TopologySpec::reduced`]).
    fn reduce(spec: &mut Self::Parameters);
}

/// The entry of a kind in the registry.
pub(super) const fn entry<K: NamedTopology>(name: &'static str) -> Entry {
    Entry {
        name,
        line: K::LINE,
        groups: K::KEYS,
        source: K::SOURCE,
        limits: K::LIMITS,
    }
}

/// What a study says of a network.
pub struct TopologyKeys<'a> {
    /// Its keys.
    pub values: &'a Values,
    /// The study's folder.
    pub base: &'a Path,
    /// Where mistakes go.
    pub findings: &'a mut Findings,
}

impl TopologyKeys<'_> {
    /// A whole number; `None` without one.
    pub(super) fn number(&self, key: &str) -> Option<u32> {
        self.values.integer_u32(key)
    }

    /// A list of whole numbers, empty if there is none.
    pub(super) fn numbers(&self, key: &str) -> Vec<u32> {
        self.values.integers_u32(key)
    }

    /// The same where one number stands for all of `n`.
    pub(super) fn spread(&self, key: &str, n: usize) -> Vec<u32> {
        match self.numbers(key).as_slice() {
            [single] if n > 1 => vec![*single; n],
            numbers => numbers.to_vec(),
        }
    }

    /// A mistake in the value of a key.
    pub(super) fn error(&mut self, key: &str, reason: impl Into<String>, hint: &str) {
        let place = self.values.place(key);
        self.findings.error(place, &format!("topology.{key}"), reason, hint);
    }
}
