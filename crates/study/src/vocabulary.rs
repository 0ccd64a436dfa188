//! What ties the language to its content: the keys at the top of a study file, the tables with a fixed set of keys, and examples.

use crate::{Family, Parameter, Section};

/// All that a study may say.
#[derive(Debug)]
pub struct Vocabulary {
    /// Keys at the top of a study file, in the order of the documentation.
    pub top_level: &'static [TopLevel],
    /// The tables with a fixed set of keys, in the order of the documentation.
    pub sections: &'static [Section],
    /// What hints show.
    pub examples: Examples,
    /// What the generated reference says first.
    pub introduction: &'static str,
    /// What the generated reference says last, of sweeps and all else that no table holds.
    pub conclusion: &'static str,
}

/// A key at the top of a study file.
#[derive(Debug)]
pub struct TopLevel {
    /// The key.
    pub key: &'static str,
    /// What it is for.
    pub line: &'static str,
    /// What stands there.
    pub form: Form,
}

/// What stands at a key at the top of a study file.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// A text.
    Text,
    /// A table that chooses an entry of a family, and must be there.
    Chosen(&'static Chosen),
    /// The table of the section with the key's name.
    Table,
    /// The table of the section with the key's name, and in it tables of the sections that are called `KEY.PART`.
    Parts,
    /// A list of such tables.
    Tables,
    /// Such a table, with tables of the same keys for classes of what it is about.
    Classes,
    /// Lists of values by key path.
    Sweep,
    /// Ranges by key path, and the keys of [`SAMPLE`](crate::SAMPLE).
    Sample,
    /// Experiments by name.
    Experiments,
    /// Variants by name.
    Variants,
    /// A list of tables with an `id`, for the tools that check results.
    Claims,
    /// A table with any keys, for the tools that plot results.
    Anything,
}

/// A table that chooses an entry by `kind` and gives its keys, or names a ready-made whole by `preset`.
#[derive(Debug)]
pub struct Chosen {
    /// What is chosen from.
    pub family: &'static Family,
    /// Keys that do not depend on the entry, `kind` and `preset` among them.
    pub common: &'static [Parameter],
    /// What the table is for.
    pub line: &'static str,
}

/// What hints show: keys and values that studies have.
#[derive(Debug)]
pub struct Examples {
    /// A key path.
    pub key: &'static str,
    /// A value of it.
    pub value: &'static str,
    /// A key path with values to sweep over.
    pub sweep: &'static str,
    /// A key path with a range to sample.
    pub range: &'static str,
}

impl Vocabulary {
    /// The section with this name; `None` for what has no fixed set of keys.
    pub fn section(&self, name: &str) -> Option<&'static Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The keys of a section; none if there is no such section.
    pub fn parameters(&self, name: &str) -> &'static [Parameter] {
        self.section(name).map_or(&[], |section| section.parameters)
    }

    /// The sections of the tables that stand in the table `key`, each with its name there.
    pub fn parts(&self, key: &str) -> impl Iterator<Item = (&'static str, &'static Section)> {
        self.sections.iter().filter_map(move |section| {
            let (of, part) = section.name.split_once('.')?;
            (of == key).then_some((part, section))
        })
    }

    /// What stands at a key at the top.
    pub fn form(&self, key: &str) -> Option<Form> {
        let found = self.top_level.iter().find(|top| top.key == key);
        found.map(|top| top.form)
    }

    /// The keys at the top whose own keys can be set and swept.
    pub fn settable(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        let settable = |form| {
            matches!(
                form,
                Form::Chosen(_) | Form::Table | Form::Parts | Form::Tables | Form::Classes
            )
        };
        let top_level = self.top_level.iter();
        top_level.filter(move |top| settable(top.form)).map(|top| top.key)
    }
}
