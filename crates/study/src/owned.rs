//! Keys of a table of which each belongs to some of the entries that the table chooses from: written down once each, with what follows from the
//! entries' own lists of keys: which entries a key belongs to, and which of them have another default.
//!
//! An entry lists its keys, with [`Parameter::or`] where its default differs. Keys that entries share stand in one list in the order of
//! the documentation, the one that chooses first; keys of one entry alone stand behind them. All of it is done when the program is compiled:
//! [`count`], then [`uses`], [`conditions`] and [`parameters`], each made of the one before.

use crate::diagnostic::{Findings, Place};
use crate::document::Table;
use crate::reader::{Checked, Source, Values, default_value, read};
use crate::words::{Words, same};
use crate::{Default, Named, Parameter, Type, When, key};
use std::path::Path;

/// An entry and its keys.
#[derive(Debug)]
pub struct EntryKeys {
    /// The entry's name.
    pub name: &'static str,
    /// Its keys.
    pub keys: &'static [Parameter],
}

/// What follows for a key from the lists of all entries, of which there are `E`.
#[derive(Clone, Copy, Debug)]
pub struct Uses<const E: usize> {
    names: [&'static str; E],
    count: usize,
    /// The default in words, that of most entries first.
    default: Words,
    /// Entries with another default.
    others: usize,
}

impl<const E: usize> Uses<E> {
    const fn of(key: &Parameter, owners: &'static [EntryKeys; E]) -> Uses<E> {
        let mut uses = Uses {
            names: [""; E],
            count: 0,
            default: told(Words::NONE, key),
            others: 0,
        };
        let mut e = 0;
        while e < E {
            let EntryKeys { name, keys } = &owners[e];
            if let Some(own) = find(keys, key.key) {
                uses.names[uses.count] = name;
                uses.count += 1;
                if let (Default::Text(default), Default::Text(other)) = (key.default, own.default)
                    && !same(default, other)
                {
                    uses.default = told(uses.default.and("; ").and(name).and(": "), own);
                    uses.others += 1;
                }
            }
            e += 1;
        }
        uses
    }
}

/// Number of keys, shared ones and others, at most 100.
pub const fn count<const E: usize>(shared: &'static [Parameter], owners: &'static [EntryKeys; E]) -> usize {
    joined::<100, E>(shared, owners).1
}

/// What follows for each of `N` keys.
pub const fn uses<const N: usize, const E: usize>(
    shared: &'static [Parameter],
    owners: &'static [EntryKeys; E],
) -> [Uses<E>; N] {
    let keys = joined::<N, E>(shared, owners).0;
    let mut uses = [Uses::of(&keys[0], owners); N];
    let mut k = 1;
    while k < N {
        uses[k] = Uses::of(&keys[k], owners);
        k += 1;
    }
    uses
}

/// The conditions of the keys on the one that chooses, which is the first.
pub const fn conditions<const N: usize, const E: usize>(
    shared: &'static [Parameter],
    uses: &'static [Uses<E>; N],
) -> [When; N] {
    let mut conditions = [When {
        key: shared[0].key,
        values: &[],
    }; N];
    let mut k = 1;
    while k < N {
        conditions[k].values = uses[k].names.split_at(uses[k].count).0;
        k += 1;
    }
    conditions
}

/// All keys with their conditions.
pub const fn parameters<const N: usize, const E: usize>(
    shared: &'static [Parameter],
    owners: &'static [EntryKeys; E],
    uses: &'static [Uses<E>; N],
    conditions: &'static [When; N],
) -> [Parameter; N] {
    let mut all = joined::<N, E>(shared, owners).0;
    let mut k = 1;
    while k < N {
        if uses[k].others > 0 {
            all[k].default = Default::From(uses[k].default.text());
        }
        all[k].when = std::slice::from_ref(&conditions[k]);
        k += 1;
    }
    all
}

/// The default of a key behind other words.
const fn told(words: Words, key: &Parameter) -> Words {
    match (key.default, key.kind) {
        (Default::Text(text), Type::Choice(_)) => words.and("`").and(text).and("`"),
        (Default::Text(text) | Default::From(text), _) => words.and(text),
        (Default::Required, _) => words,
    }
}

/// The shared keys, then those of one entry alone in the order of entries, without conditions; and how many there are.
const fn joined<const MOST: usize, const E: usize>(
    shared: &'static [Parameter],
    owners: &'static [EntryKeys; E],
) -> ([Parameter; MOST], usize) {
    const NONE: Parameter = key("", Type::Flag, Default::Required, "");
    let mut all = [NONE; MOST];
    let mut n = 0;
    while n < shared.len() {
        all[n] = copy(&shared[n]);
        n += 1;
    }
    let mut e = 0;
    while e < E {
        let mut i = 0;
        while i < owners[e].keys.len() {
            if find(&all, owners[e].keys[i].key).is_none() {
                all[n] = copy(&owners[e].keys[i]);
                n += 1;
            }
            i += 1;
        }
        e += 1;
    }
    (all, n)
}

const fn find<'k>(keys: &'k [Parameter], key: &str) -> Option<&'k Parameter> {
    let mut i = 0;
    while i < keys.len() {
        if same(keys[i].key, key) {
            return Some(&keys[i]);
        }
        i += 1;
    }
    None
}

const fn copy(key: &Parameter) -> Parameter {
    Parameter {
        key: key.key,
        kind: key.kind,
        default: key.default,
        doc: key.doc,
        when: key.when,
    }
}

/// What a study says of an entry: the values of its keys, or the entry's own defaults.
#[derive(Debug)]
pub struct OwnValues<'a> {
    /// The values of the table.
    pub values: &'a Values,
    keys: &'static [Parameter],
    /// The study's folder.
    pub base: &'a Path,
}

impl<'a> OwnValues<'a> {
    /// Of an entry with these keys, from the values of its table.
    pub fn new(values: &'a Values, keys: &'static [Parameter], base: &'a Path) -> OwnValues<'a> {
        OwnValues { values, keys, base }
    }

    /// Whether the entry has a key.
    pub fn has(&self, key: &str) -> bool {
        find(self.keys, key).is_some()
    }

    /// The value of a key, or the entry's default; `None` without either.
    ///
    /// # Panics
    /// For a key that the entry does not have: that is a mistake of its reader, not of the study.
    fn value(&self, key: &str) -> Option<Checked> {
        let own = find(self.keys, key).unwrap_or_else(|| panic!("{key} is read and not among the entry's keys"));
        match (self.values.get(key), own.default) {
            (Some(value), _) => Some(value.clone()),
            (None, Default::Text(text)) => default_value(&own.kind, text),
            (None, _) => None,
        }
    }

    /// A choice among words.
    pub fn choice<T: Named>(&self, key: &str) -> T {
        match self.value(key) {
            Some(Checked::Text(word)) => T::named(&word),
            _ => None,
        }
        .unwrap_or_else(|| panic!("{key} is read by other words than its own"))
    }

    /// Yes or no.
    pub fn flag(&self, key: &str) -> bool {
        matches!(self.value(key), Some(Checked::Flag(true)))
    }

    /// A number.
    pub fn number(&self, key: &str) -> f64 {
        match self.value(key) {
            Some(Checked::Number(number)) => number,
            other => panic!("{key} is read as a number and is {other:?}"),
        }
    }

    /// A whole number whose type bounds it to 8 bits.
    pub fn small(&self, key: &str) -> u8 {
        u8::try_from(self.integer(key)).unwrap_or(u8::MAX)
    }

    /// A whole number.
    pub fn integer(&self, key: &str) -> u64 {
        match self.value(key) {
            Some(Checked::Integer(integer)) => integer,
            other => panic!("{key} is read as a whole number and is {other:?}"),
        }
    }

    /// A whole number that has no default where nobody gives it, and whose type bounds it to 8 bits.
    pub fn small_if_given(&self, key: &str) -> Option<u8> {
        match self.value(key) {
            Some(Checked::Integer(integer)) => Some(u8::try_from(integer).unwrap_or(u8::MAX)),
            _ => None,
        }
    }

    /// A quantity in its base unit that has a default.
    pub fn quantity(&self, key: &str) -> u64 {
        self.quantity_if_given(key)
            .unwrap_or_else(|| panic!("{key} is read as a quantity with a default"))
    }

    /// A quantity in its base unit that has no default where nobody gives it.
    pub fn quantity_if_given(&self, key: &str) -> Option<u64> {
        match self.value(key) {
            Some(Checked::Quantity(bytes)) => Some(bytes),
            _ => None,
        }
    }
}

/// Reads an entry of which a study says nothing, by its reader.
///
/// # Panics
/// If the reader refuses the defaults.
pub fn defaults<P>(keys: &'static [Parameter], reader: impl FnOnce(&OwnValues, &mut Findings) -> Option<P>) -> P {
    let (table, mut findings) = (Table::default(), Findings::default());
    let source = Source {
        table: &table,
        place: Place::default(),
        path: "",
    };
    let values = read(source, &[], &[], &[], &mut findings);
    reader(&OwnValues::new(&values, keys, Path::new("")), &mut findings).expect("the defaults of an entry are in order")
}
