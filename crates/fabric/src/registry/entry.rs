//! The shape of a registry entry and of a parameter.

use crate::spec::units::Unit;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `topology.kind`.
    Topology,
    /// `routing.kind`.
    Routing,
    /// `router.model`.
    RouterModel,
    /// `router.preset`.
    RouterPreset,
    /// `work.kind` of synthetic traffic.
    Pattern,
    /// Every `work.kind`: the patterns and the others.
    Work,
    /// `work.kind` of MPI ranks.
    Motif,
    /// `job.placement`.
    Placement,
    /// `work.process`.
    Process,
    /// `run.engine`.
    Engine,
}

impl Kind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Kind; 10] = [
        Kind::Topology,
        Kind::RouterModel,
        Kind::RouterPreset,
        Kind::Routing,
        Kind::Work,
        Kind::Pattern,
        Kind::Motif,
        Kind::Process,
        Kind::Placement,
        Kind::Engine,
    ];

    /// The name of the kind as `fabricsim list` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Topology => "topology",
            Kind::Routing => "routing",
            Kind::RouterModel => "router-model",
            Kind::RouterPreset => "router-preset",
            Kind::Pattern => "pattern",
            Kind::Motif => "motif",
            Kind::Work => "work",
            Kind::Placement => "placement",
            Kind::Process => "process",
            Kind::Engine => "engine",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One thing that a user can choose by name.
#[derive(Debug)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// Its name in a study file.
    pub name: &'static str,
    /// One line that says what it does.
    pub line: &'static str,
    /// Its parameters, in groups that entries share.
    pub groups: &'static [&'static [Parameter]],
    /// The paper or program that it follows.
    pub source: &'static str,
    /// What it does not model or where it does not apply; empty if nothing is to be said.
    pub limits: &'static str,
}

impl Entry {
    /// All parameters in order.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }
}

/// A table of a study file with a fixed set of keys.
#[derive(Debug)]
pub struct Section {
    /// Its key (`router`, `job`).
    pub name: &'static str,
    /// How it is written (`[router]`, `[[job]]`).
    pub header: &'static str,
    /// What it is for.
    pub line: &'static str,
    /// Its keys.
    pub parameters: &'static [Parameter],
}

/// One key of a table.
#[derive(Debug)]
pub struct Parameter {
    /// The key.
    pub key: &'static str,
    /// What values it takes.
    pub kind: Type,
    /// What holds if the key is left out.
    pub default: Default,
    /// What it means, in one or two sentences.
    pub doc: &'static str,
    /// The key belongs to these choices only; given elsewhere it is an error.
    pub when: &'static [When],
}

/// A condition on another key of the same table.
#[derive(Clone, Copy, Debug)]
pub struct When {
    /// The other key.
    pub key: &'static str,
    /// Its values under which the parameter applies.
    pub values: &'static [&'static str],
}

/// What holds if a key is left out.
#[derive(Clone, Copy, Debug)]
pub enum Default {
    /// The key must be given.
    Required,
    /// The value as it would be written (texts without quotes).
    Text(&'static str),
    /// Found from other keys, in these words.
    From(&'static str),
}

/// One name of a small fixed set and what it means.
pub type Choice = (&'static str, &'static str);

/// What values a parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// Any text.
    Text,
    /// Any text, or a list of them.
    Texts,
    /// Any text, of several lines.
    Lines,
    /// Letters, digits, `_`, `-`: a name that a key path can hold.
    Name,
    /// `true` or `false`.
    Flag,
    /// A whole number in `min..=max`.
    Integer {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// A number above `above` and at most `max`.
    Number {
        /// Excluded lower end.
        above: f64,
        /// Included upper end.
        max: f64,
    },
    /// A text with a unit; `min..=max` in the base unit.
    Quantity {
        /// What it measures.
        unit: Unit,
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// One of a few names.
    Choice(&'static [Choice]),
    /// The name of a registry entry.
    Of(Kind),
    /// A list of whole numbers in `min..=max`; `single`: one number may stand for a list of one.
    Integers {
        /// Smallest element.
        min: u64,
        /// Largest element.
        max: u64,
        /// One number may stand for a list of one.
        single: bool,
    },
    /// A list of pairs of whole numbers.
    Pairs,
    /// A list of sizes, or one.
    Sizes {
        /// Largest size.
        max: u64,
    },
    /// A table with `kind`, whose other keys are those of the entry.
    Work,
    /// The name of a registry entry, or a table with `kind` and the keys of the entry.
    OfWith(Kind),
    /// One of a few names, or a table with one key and its value.
    ChoiceOrKey(&'static [Choice], &'static str, &'static Type),
    /// A word with its meaning, or a value of another type.
    Or(&'static Choice, &'static Type),
}

impl Type {
    /// The type in words, as errors and the reference use it: `a time such as "90 ns"`.
    pub fn words(&self) -> String {
        match self {
            Type::Text => "a text".to_owned(),
            Type::Texts => "a text or a list of them".to_owned(),
            Type::Lines => "a text of several lines".to_owned(),
            Type::Name => "a name of letters, digits, `_` and `-`".to_owned(),
            Type::Flag => "true or false".to_owned(),
            Type::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Type::Number { above, max } => format!("a number above {above} and at most {max}"),
            Type::Quantity { unit, .. } => format!("{} such as {}", unit.noun(), unit.example()),
            Type::Choice(choices) => one_of(choices.iter().map(|(name, _)| *name)),
            Type::Of(kind) => one_of(super::list(*kind).iter().map(|entry| entry.name)),
            Type::OfWith(kind) => format!("{} or a table with kind and its keys", Type::Of(*kind).words()),
            Type::Integers { single: false, .. } => "a list of whole numbers".to_owned(),
            Type::Integers { single: true, .. } => "a whole number or a list of them".to_owned(),
            Type::Sizes { .. } => "a size such as \"2 KiB\" or a list of them".to_owned(),
            Type::Pairs => "a list of pairs such as [[0, 1], [2, 3]]".to_owned(),
            Type::Work => "a table such as { kind = \"uniform\", load = 0.5 }".to_owned(),
            Type::ChoiceOrKey(choices, key, value) => {
                let names = one_of(choices.iter().map(|(name, _)| *name));
                format!("{names} or a table such as {{ {key} = {} }}", value.example())
            }
            Type::Or((word, _), other) => format!("\"{word}\" or {}", other.words()),
        }
    }
}

impl Type {
    /// A value of this type as it could be written.
    pub(crate) fn example(&self) -> String {
        match self {
            Type::Text | Type::Texts | Type::Lines | Type::Name => "\"...\"".to_owned(),
            Type::Flag => "true".to_owned(),
            Type::Integer { min, .. } => min.max(&4).to_string(),
            Type::Number { max, .. } => max.min(0.5).to_string(),
            Type::Quantity { unit, .. } => unit.example().split(" or ").next().unwrap_or("").to_owned(),
            Type::Choice(choices) | Type::ChoiceOrKey(choices, ..) => {
                format!("\"{}\"", choices.first().map_or("", |choice| choice.0))
            }
            Type::Of(kind) | Type::OfWith(kind) => {
                format!("\"{}\"", super::list(*kind).first().map_or("", |entry| entry.name))
            }
            Type::Integers { .. } => "[4, 4]".to_owned(),
            Type::Sizes { .. } => "\"2 KiB\"".to_owned(),
            Type::Pairs => "[[0, 1]]".to_owned(),
            Type::Work => "{ kind = \"uniform\" }".to_owned(),
            Type::Or((word, _), _) => format!("\"{word}\""),
        }
    }
}

fn one_of(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    format!("one of {}", names.join(", "))
}

/// A parameter that always applies.
pub(super) const fn key(key: &'static str, kind: Type, default: Default, doc: &'static str) -> Parameter {
    Parameter {
        key,
        kind,
        default,
        doc,
        when: &[],
    }
}

impl Parameter {
    /// The same parameter under a condition.
    pub(super) const fn when(self, when: &'static [When]) -> Parameter {
        Parameter { when, ..self }
    }
}

/// A time of at most `max_ps`.
pub(super) const fn time(max_ps: u64) -> Type {
    Type::Quantity {
        unit: Unit::Time,
        min: 0,
        max: max_ps,
    }
}

/// A time above zero and of at most `max_ps`.
pub(super) const fn span(max_ps: u64) -> Type {
    Type::Quantity {
        unit: Unit::Time,
        min: 1,
        max: max_ps,
    }
}

/// A size from 1 byte to `max`.
pub(super) const fn size(max: u64) -> Type {
    Type::Quantity {
        unit: Unit::Size,
        min: 1,
        max,
    }
}

/// A bandwidth from 1 Mbit/s to 100 Tbit/s.
pub(super) const BANDWIDTH: Type = Type::Quantity {
    unit: Unit::Bandwidth,
    min: 1_000_000,
    max: 100_000_000_000_000,
};

/// One second in picoseconds: the longest delay of a component.
pub(super) const SECOND: u64 = 1_000_000_000_000;

/// Largest buffer: 1 TiB.
pub(super) const TIB: u64 = 1 << 40;
