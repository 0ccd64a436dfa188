//! The generated reference of study files, in Markdown.

use super::entry::{Choice, Default, Entry, Kind, Parameter, Type};
use super::{TOPOLOGY_COMMON, list, sections, top_level};
use crate::spec::units::Unit;
use std::fmt::Write;

/// The reference page `docs/reference/study.md`.
pub fn reference() -> String {
    let mut page = String::from(INTRODUCTION);
    page += "\n## Top level\n\n| key | meaning |\n|---|---|\n";
    for (key, line) in top_level() {
        row(&mut page, &[format!("`{key}`"), (*line).to_owned()]);
    }
    page += "\n## `[topology]`\n\nThe network. The other keys depend on `kind`.\n";
    parameters(&mut page, TOPOLOGY_COMMON.iter());
    entries(&mut page, Kind::Topology, "topology");
    for section in sections() {
        let _ = write!(page, "\n## `{}`\n\n{}\n", section.header, section.line);
        parameters(&mut page, section.parameters.iter());
        for kind in kinds_of(section.name) {
            let name = if *kind == Kind::Placement {
                "placement"
            } else {
                section.name
            };
            entries(&mut page, *kind, name);
        }
        if section.name == "job" {
            entries(&mut page, Kind::Work, "work");
        }
    }
    page += SWEEPS;
    page
}

const INTRODUCTION: &str = "<!-- Generated from the registry; regenerate with `FABRICSIM_BLESS=1 cargo test -p fabricsim-fabric reference`. -->
# Study files

A study is a TOML file that says what to simulate. Every key has a default except `[topology]`. A key that is unknown, or that has
no meaning with the others, is an error. Errors name the line, the key, the reason and what to do, all of them at once.

Quantities are texts with a unit and are exact: `\"200 Gbit/s\"`, `\"25 GB/s\"`, `\"16 KiB\"`, `\"90 ns\"`. Gbit and GB are decimal,
GiB is binary. A bare number is an error.
";

const SWEEPS: &str = r#"
## Sweeps, experiments and variants

`[sweep]` holds lists of values by key path. All combinations are run, in written order with the last key fastest and the seeds of
`run.seeds` innermost; a study has at most 100,000 runs. Elements of lists are reached by position or, for jobs, by
name; `job.*.placement` means every job.
A value may be a table, which then replaces the whole table; so keys of one table are swept together. Keys of different tables are
swept together with a comma between them: each point is then a list with a value per key. All of them stand in the results.

```toml
[sweep]
"link.bandwidth" = ["25 GB/s", "50 GB/s"]
"job.0.work.load" = [0.1, 0.5, 0.9]
router = [{ model = "sculpin" }, { model = "credit", buffer = "16 KiB" }]
"topology.preset, routing.kind" = [["ecp-8k-hyperx", "dor"], ["ecp-8k-dragonfly", "ugal"]]
```

### Samples

`[sample]` holds ranges by key path; all ranges together give `points` points. Every point is run with every combination of the sweep
and every seed. A key cannot be swept and sampled. The runs of one point have its values in their results, as those of a sweep.

```toml
[sample]
method = "sobol"
points = 64
"link.bandwidth" = { from = "1 GB/s", to = "64 GB/s", scale = "log" }
"router.buffer" = { from = "8 KiB", to = "256 KiB", step = "2 KiB" }
"job.0.work.load" = { from = 0.1, to = 0.9 }
"routing.kind" = { values = ["dor", "valiant"] }
```

`from` and `to` belong to the range. Whole numbers have equal shares; `step` (1 for whole numbers) allows `from` plus multiples of it. On
a log scale the nearest step is taken, and zero is refused. Values without a step are rounded to a round number below a 100,000th of the
range. `values` are equally likely, and may be lists for several keys: `"topology.preset, routing.kind" = { values = [["a", "b"], ...] }`.

A point is a function of method, seed, its number and the order of the keys, on every machine. More points of `sobol` keep the earlier
ones, those of `latin-hypercube` do not. A variant has its own `sample` (its keys replace those of `[sample]`), `--set sample.points=16`
(and `method`, `seed`) works as for other keys. A key that a variant or `--set` fixes is no longer sampled; the others stay as they are.

A study may hold several experiments; its runs are those of all of them. Each has `set` (values that replace those of the file),
`sweep` (added to the sweep of the file; a list replaces those of the same keys) and `description`. In `set`, dotted keys change single
keys and a value in braces replaces a whole table.

```toml
[experiment.saturation]
set = { "routing.kind" = "valiant" }
sweep = { "job.0.work.load" = [0.2, 0.4, 0.6, 0.8, 1.0] }
```

A variant is another form of the study, such as a quick one: `set`, `experiments` (those to keep), `sweep` (lists for every
experiment, or tables of lists for single ones, which replace those of the same key), `sample` and `description`.

```toml
[variant.quick]
set = { "run.end" = "10 us" }
experiments = ["saturation"]
[variant.quick.sweep.saturation]
"job.0.work.load" = [0.2, 0.8]
```

Later ones win: the file, the experiment's `set`, its sweep, the variant's `set`, `--set key=value`. A key that a variant or `--set`
fixes is no longer swept.

`[[claim]]` (each with an `id` of its own) and `[reproduce]` hold any keys; they are handed on to the tools that check and plot.
"#;

/// Kinds of entries that the keys of a section choose from.
fn kinds_of(section: &str) -> &'static [Kind] {
    match section {
        "router" => &[Kind::RouterModel, Kind::RouterPreset],
        "routing" => &[Kind::Routing],
        "job" => &[Kind::Placement],
        "run" => &[Kind::Engine],
        _ => &[],
    }
}

fn key_of(kind: Kind) -> &'static str {
    match kind {
        Kind::RouterModel => "router.model",
        Kind::RouterPreset => "router.preset",
        Kind::Routing => "routing.kind",
        Kind::Placement => "placement",
        Kind::Engine => "run.engine",
        Kind::Process => "process",
        Kind::Topology => "topology.kind",
        Kind::Work | Kind::Pattern | Kind::Motif => "work.kind",
    }
}

/// A table of short entries, or a chapter for each if they have parameters.
fn entries(page: &mut String, kind: Kind, section: &str) {
    let list = list(kind);
    if list.iter().all(|entry| entry.parameters().next().is_none()) {
        let _ = write!(page, "\n| `{}` | meaning | source |\n|---|---|---|\n", key_of(kind));
        for entry in list {
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
    for entry in list {
        let _ = write!(
            page,
            "\n### {section} `kind = \"{}\"`\n\n{}",
            entry.name,
            line_and_limits(entry)
        );
        if !entry.source.is_empty() {
            let _ = write!(page, " Source: {}.", entry.source);
        }
        page.push('\n');
        if entry.parameters().next().is_some() || kind != Kind::Placement {
            parameters(page, entry.parameters());
        }
    }
    if kind == Kind::Work {
        entries(page, Kind::Process, "work");
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
        Type::Of(kind) => format!("a {}", kind.name().replace('-', " ")),
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
        Type::Work => "table with `kind`, see below".to_owned(),
        Type::OfWith(kind) => format!("a {} or a table with `kind`, see below", kind.name()),
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn the_generated_reference_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/study.md");
        let page = super::reference();
        if std::env::var_os("FABRICSIM_BLESS").is_some() {
            std::fs::write(&path, &page).expect("the reference page can be written");
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == page,
            "docs/reference/study.md is out of date; run this test with FABRICSIM_BLESS=1"
        );
    }
}
