//! The generated reference of study files, in Markdown.

use crate::units::Unit;
use crate::{Choice, Default, Entry, Family, Form, Parameter, Type, Vocabulary};
use std::fmt::Write;

/// The reference page of a vocabulary.
pub fn reference(vocabulary: &Vocabulary) -> String {
    let mut page = String::from(vocabulary.introduction);
    page += "\n## Top level\n\n| key | meaning |\n|---|---|\n";
    for top in vocabulary.top_level {
        row(&mut page, &[format!("`{}`", top.key), top.line.to_owned()]);
    }
    for top in vocabulary.top_level {
        if let Form::Chosen(chosen) = top.form {
            let _ = write!(page, "\n## `[{}]`\n\n{}\n", top.key, chosen.line);
            parameters(&mut page, chosen.common.iter());
            entries(&mut page, chosen.family, top.key);
        }
    }
    for section in vocabulary.sections {
        let _ = write!(page, "\n## `{}`\n\n{}\n", section.header, section.line);
        parameters(&mut page, section.parameters.iter());
        for (family, word) in section.families {
            entries(&mut page, family, word);
        }
    }
    page += vocabulary.conclusion;
    page
}

/// A table of short entries, or a chapter for each if they have parameters.
fn entries(page: &mut String, family: &Family, word: &str) {
    if family.entries().all(|entry| entry.parameters().next().is_none()) {
        let _ = write!(page, "\n| `{}` | meaning | source |\n|---|---|---|\n", family.key);
        for entry in family.entries() {
            row(
                page,
                &[
                    format!("`\"{}\"`", entry.name),
                    line_and_limits(entry),
                    entry.source.to_owned(),
                ],
            );
        }
        return;
    }
    for entry in family.entries() {
        let _ = write!(
            page,
            "\n### {word} `kind = \"{}\"`\n\n{}",
            entry.name,
            line_and_limits(entry)
        );
        if !entry.source.is_empty() {
            let _ = write!(page, " Source: {}.", entry.source);
        }
        page.push('\n');
        if entry.parameters().next().is_some() || !family.by_name {
            parameters(page, entry.parameters());
        }
    }
}

fn line_and_limits(entry: &Entry) -> String {
    if entry.limits.is_empty() {
        entry.line.to_owned()
    } else {
        format!("{} {}", entry.line, entry.limits)
    }
}

fn parameters(page: &mut String, parameters: impl Iterator<Item = &'static Parameter>) {
    *page += "\n| key | value | default | meaning |\n|---|---|---|---|\n";
    for parameter in parameters {
        let default = match parameter.default {
            Default::Required => "must be given".to_owned(),
            Default::Text(text) => match parameter.kind {
                Type::Flag | Type::Integer { .. } | Type::Number { .. } | Type::Integers { .. } => format!("`{text}`"),
                _ => format!("`\"{text}\"`"),
            },
            Default::From(words) => words.to_owned(),
        };
        let mut doc = parameter.doc.to_owned();
        for when in parameter.when {
            let values: Vec<String> = when.values.iter().map(|value| format!("\"{value}\"")).collect();
            let _ = write!(doc, " Only with `{} = {}`.", when.key, values.join(" or "));
        }
        if let Type::Choice(choices) | Type::ChoiceOrKey(choices, ..) = parameter.kind {
            for (name, line) in choices {
                let _ = write!(doc, " `\"{name}\"`: {line}");
            }
        }
        doc += &words_of(&parameter.kind);
        row(
            page,
            &[format!("`{}`", parameter.key), values(&parameter.kind), default, doc],
        );
    }
}

/// The words of a type with their meaning.
fn words_of(kind: &Type) -> String {
    match kind {
        Type::Or((word, meaning), other) => format!(" `\"{word}\"`: {meaning}.{}", words_of(other)),
        _ => String::new(),
    }
}

/// The values of a type, with their range.
fn values(kind: &Type) -> String {
    match kind {
        Type::Quantity { unit, min, max } => {
            let noun = unit.noun().trim_start_matches("a ");
            match (*min, *unit) {
                (0, _) => format!("{noun} up to {}", unit.print(*max)),
                (1, Unit::Time) => format!("{noun} above zero up to {}", unit.print(*max)),
                (min, _) => format!("{noun} from {} to {}", unit.print(min), unit.print(*max)),
            }
        }
        Type::Choice(choices) => quoted(choices),
        Type::ChoiceOrKey(choices, key, value) => {
            let only = match value {
                Type::Text => String::new(),
                value => format!(" with a {}", values(value)),
            };
            format!("{} or `{{ {key} = {} }}`{only}", quoted(choices), value.example())
        }
        Type::Of(family) => format!("a {}", family.name.replace('-', " ")),
        Type::Integers { min, max, single } => {
            let list = format!("list of whole numbers from {min} to {max}");
            if *single {
                format!("whole number or {list}")
            } else {
                list
            }
        }
        Type::Or((word, _), other) => format!("`\"{word}\"` or {}", values(other)),
        Type::Pairs => "list of pairs, `[[0, 1], [2, 3]]`".to_owned(),
        Type::Rows(rows) => format!("list of rows [{}], `{}`", rows.names(), rows.example),
        Type::TableOf(_) => "table with `kind`, see below".to_owned(),
        Type::Tables(tables) => format!(
            "list of tables with `kind` and the keys of that {}",
            (tables.family)().name
        ),
        Type::OfWith(family) => format!("a {} or a table with `kind`, see below", family.name),
        other => other.words().trim_start_matches("a ").to_owned(),
    }
}

fn quoted(choices: &[Choice]) -> String {
    let names: Vec<String> = choices.iter().map(|(name, _)| format!("`\"{name}\"`")).collect();
    names.join(", ")
}

fn row(page: &mut String, cells: &[String]) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(page, "| {} |", cells.join(" | "));
}
