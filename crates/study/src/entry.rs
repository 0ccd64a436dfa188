//! The shape of what a study may say: families of things with a name, tables, and their keys with types, defaults and conditions.
//!
//! A language is tied to its content by values of these types: they are written as constants, and refer to each other.

use crate::units::Unit;
use std::fmt;

/// Things of which a study chooses one by name, such as all networks.
pub struct Family {
    /// Its name in lists (`router-model`).
    pub name: &'static str,
    /// The key that chooses, as the reference writes it.
    pub key: &'static str,
    /// Whether an entry without keys is written as its name alone.
    pub by_name: bool,
    /// What there is to choose from, in the order of the documentation, in groups that families share.
    pub groups: &'static [&'static [Entry]],
}

impl Family {
    /// All entries in order.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry> + Clone + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    /// The names of all entries in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        self.entries().map(|entry| entry.name)
    }

    /// The entry of this name.
    pub fn find(&self, name: &str) -> Option<&'static Entry> {
        self.entries().find(|entry| entry.name == name)
    }
}

impl fmt::Debug for Family {
    /// Its name alone: entries lead on to other families.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Family({})", self.name)
    }
}

/// One thing that a user can choose by name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
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
    /// One with a name and a line that says what it does; the rest is said behind it.
    pub const fn new(name: &'static str, line: &'static str) -> Entry {
        Entry {
            name,
            line,
            groups: &[],
            source: "",
            limits: "",
        }
    }

    /// The same with keys.
    pub const fn keys(self, groups: &'static [&'static [Parameter]]) -> Entry {
        Entry { groups, ..self }
    }

    /// The same with the paper or program that it follows.
    pub const fn source(self, source: &'static str) -> Entry {
        Entry { source, ..self }
    }

    /// The same with what it does not model or where it does not apply.
    pub const fn limits(self, limits: &'static str) -> Entry {
        Entry { limits, ..self }
    }

    /// All parameters in order.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> + Clone + use<> {
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
    /// The families that its keys choose from, each with the word before `kind` in its headings, in the order of the documentation.
    pub families: &'static [(&'static Family, &'static str)],
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

/// A table that chooses an entry of a family and gives its keys.
#[derive(Debug)]
pub struct TableOf {
    /// What is chosen from.
    pub family: &'static Family,
    /// The entry that holds without `kind`.
    pub default: &'static str,
    /// A list of tables of this family may stand there instead.
    pub parts: &'static Family,
    /// A table as it could be written.
    pub example: &'static str,
}

/// A list of tables, each of which chooses an entry of a family and gives its keys.
#[derive(Debug)]
pub struct TablesOf {
    /// What is chosen from; a function, because the key may be one of an entry of that family.
    pub family: fn() -> &'static Family,
    /// The entry of the family that no table of the list may choose: the one whose list it is.
    pub but: &'static str,
    /// Keys that each table has beside those of its entry.
    pub own: &'static [Parameter],
    /// Keys of entries that stand beside the list, and in none of its tables.
    pub outside: &'static [Parameter],
    /// A list as it could be written.
    pub example: &'static str,
}

impl TablesOf {
    /// What a table may choose.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry> + Clone + use<> {
        let but = self.but;
        (self.family)().entries().filter(move |entry| entry.name != but)
    }

    /// The keys of a table that chooses `entry`.
    pub fn parameters(&'static self, entry: &'static Entry) -> impl Iterator<Item = &'static Parameter> + Clone {
        let stands_outside = |key: &Parameter| self.outside.iter().any(|other| other.key == key.key);
        let of_entry = entry.parameters().filter(move |key| !stands_outside(key));
        of_entry.chain(self.own)
    }
}

/// What values a parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// Any text.
    Text,
    /// Any text, or a list of them.
    Texts,
    /// A program and its arguments, a list: texts in which line ends and tabs may be, all but the first may be empty.
    Arguments,
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
    /// The name of an entry of a family.
    Of(&'static Family),
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
    /// A list of rows, lists themselves, with a value of each column.
    Rows(&'static RowsOf),
    /// A list of sizes, or one.
    Sizes {
        /// Largest size.
        max: u64,
    },
    /// A table with `kind`, whose other keys are those of the entry.
    TableOf(&'static TableOf),
    /// A list of tables with `kind`.
    Tables(&'static TablesOf),
    /// The name of an entry of a family, or a table with `kind` and the keys of the entry.
    OfWith(&'static Family),
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
            Type::Arguments => "a program, or a list of it and its arguments".to_owned(),
            Type::Lines => "a text of several lines".to_owned(),
            Type::Name => "a name of letters, digits, `_` and `-`".to_owned(),
            Type::Flag => "true or false".to_owned(),
            Type::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Type::Number { above, max } => format!("a number above {above} and at most {max}"),
            Type::Quantity { unit, .. } => format!("{} such as {}", unit.noun(), unit.example()),
            Type::Choice(choices) => one_of(choices.iter().map(|(name, _)| *name)),
            Type::Of(family) => one_of(family.names()),
            Type::OfWith(family) => format!("{} or a table with kind and its keys", Type::Of(family).words()),
            Type::Integers { single: false, .. } => "a list of whole numbers".to_owned(),
            Type::Integers { single: true, .. } => "a whole number or a list of them".to_owned(),
            Type::Sizes { .. } => "a size such as \"2 KiB\" or a list of them".to_owned(),
            Type::Pairs => "a list of pairs such as [[0, 1], [2, 3]]".to_owned(),
            Type::Rows(rows) => format!("a list of rows [{}] such as {}", rows.names(), rows.example),
            Type::TableOf(table) => format!("a table such as {}", table.example),
            Type::Tables(tables) => format!("a list of tables such as {}", tables.example),
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
    pub fn example(&self) -> String {
        match self {
            Type::Text | Type::Texts | Type::Lines | Type::Name => "\"...\"".to_owned(),
            Type::Arguments => "[\"./program\", \"argument\"]".to_owned(),
            Type::Flag => "true".to_owned(),
            Type::Integer { min, .. } => min.max(&4).to_string(),
            Type::Number { max, .. } => max.min(0.5).to_string(),
            Type::Quantity { unit, .. } => unit.example().split(" or ").next().unwrap_or("").to_owned(),
            Type::Choice(choices) | Type::ChoiceOrKey(choices, ..) => {
                format!("\"{}\"", choices.first().map_or("", |choice| choice.0))
            }
            Type::Of(family) | Type::OfWith(family) => format!("\"{}\"", family.names().next().unwrap_or("")),
            Type::Integers { .. } => "[4, 4]".to_owned(),
            Type::Sizes { .. } => "\"2 KiB\"".to_owned(),
            Type::Pairs => "[[0, 1]]".to_owned(),
            Type::Rows(rows) => rows.example.to_owned(),
            Type::TableOf(table) => format!("{{ kind = \"{}\" }}", table.default),
            Type::Tables(tables) => tables.example.to_owned(),
            Type::Or((word, _), _) => format!("\"{word}\""),
        }
    }
}

/// A table that is written row by row.
#[derive(Debug)]
pub struct RowsOf {
    /// What stands in each column: its name and its type.
    pub columns: &'static [(&'static str, Type)],
    /// A list of such rows as it could be written.
    pub example: &'static str,
}

impl RowsOf {
    /// The names of the columns.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }
}

fn one_of(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    format!("one of {}", names.join(", "))
}

/// What random draws begin with.
pub const SEED: Type = Type::Integer {
    min: 0,
    max: i64::MAX as u64,
};

/// A parameter that always applies.
pub const fn key(key: &'static str, kind: Type, default: Default, doc: &'static str) -> Parameter {
    Parameter {
        key,
        kind,
        default,
        doc,
        when: &[],
    }
}

impl Parameter {
    /// The same parameter with another default, as it would be written.
    pub const fn or(self, default: &'static str) -> Parameter {
        Parameter {
            default: Default::Text(default),
            ..self
        }
    }

    /// The same parameter under a condition.
    pub const fn when(self, when: &'static [When]) -> Parameter {
        Parameter { when, ..self }
    }
}

/// A time of at most `max_ps`.
pub const fn time(max_ps: u64) -> Type {
    Type::Quantity {
        unit: Unit::Time,
        min: 0,
        max: max_ps,
    }
}

/// A time above zero and of at most `max_ps`.
pub const fn span(max_ps: u64) -> Type {
    Type::Quantity {
        unit: Unit::Time,
        min: 1,
        max: max_ps,
    }
}

/// A size from 1 byte to `max`.
pub const fn size(max: u64) -> Type {
    Type::Quantity {
        unit: Unit::Size,
        min: 1,
        max,
    }
}

/// A size from nothing to `max`.
pub const fn size_or_none(max: u64) -> Type {
    Type::Quantity {
        unit: Unit::Size,
        min: 0,
        max,
    }
}

/// A bandwidth from 1 Mbit/s to 100 Tbit/s.
pub const BANDWIDTH: Type = Type::Quantity {
    unit: Unit::Bandwidth,
    min: 1_000_000,
    max: 100_000_000_000_000,
};

/// One second in picoseconds: the longest delay of a component.
pub const SECOND: u64 = 1_000_000_000_000;

/// Largest buffer: 1 TiB.
pub const TIB: u64 = 1 << 40;
