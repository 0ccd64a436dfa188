//! The generated reference of results, in Markdown.

use super::figure::{Figure, Figures, Measure, Together};
use super::files::FILES;
use super::summary::Summary;
use super::tables::TABLES;
use std::fmt::Write;

/// The reference page `docs/reference/results.md`.
pub fn reference() -> String {
    let mut page = String::from(INTRODUCTION);
    page += "\n## Numbers of a run\n\n";
    page += HEAD;
    let figures = Summary::figures();
    for figure in &figures {
        row(&mut page, "", figure);
    }
    for figure in figures.iter().filter(|figure| !figure.figures.is_empty()) {
        let (name, of_one) = match figure.measure {
            Measure::List => (format!("{}.0", figure.name), ", of each"),
            _ => (figure.name.to_owned(), ""),
        };
        let _ = write!(page, "\n### `{name}`{of_one}\n\n{}\n\n{HEAD}", figure.line);
        below(&mut page, &name, &figure.figures);
    }
    page += "\n## Recorded tables\n\nA campaign has one Parquet file per table, with a column `run_id` before these.\n";
    for table in TABLES {
        let _ = write!(
            page,
            "\n### `{}.parquet`\n\n{}\n\n| column | unit | in words | what it is |\n|---|---|---|---|\n",
            table.name, table.line
        );
        for column in table.columns {
            let _ = writeln!(
                page,
                "| `{}` | {} | {} | {} |",
                column.name,
                column.measure.unit(),
                column.word,
                column.line
            );
        }
    }
    page += FILES_OF_A_CAMPAIGN;
    for file in FILES {
        let _ = write!(
            page,
            "\n### `{}`\n\n{}\n\n| name | unit | what it is |\n|---|---|---|\n",
            file.name, file.line
        );
        for name in file.names {
            let _ = writeln!(page, "| `{}` | {} | {} |", name.name, name.measure.unit(), name.line);
        }
    }
    page
}

fn below(page: &mut String, name: &str, figures: &[Figure]) {
    for figure in figures {
        row(page, name, figure);
        let inner = match figure.measure {
            Measure::List => format!("{name}.{}.0", figure.name),
            _ => format!("{name}.{}", figure.name),
        };
        below(page, &inner, &figure.figures);
    }
}

fn row(page: &mut String, group: &str, figure: &Figure) {
    let key = match group {
        "" => figure.name.to_owned(),
        group => format!("{group}.{}", figure.name),
    };
    let words = |together: Together| match together {
        Together::Mean => "mean",
        Together::Sum => "sum",
        Together::Greatest => "greatest",
        Together::Least => "least",
        Together::Pooled => "pooled",
        Together::Apart => "",
    };
    let parts = match figure.measure {
        Measure::Text | Measure::Flag | Measure::Group | Measure::List => "",
        _ => words(figure.parts),
    };
    let _ = writeln!(
        page,
        "| `{key}` | {} | {} | {} | {parts} |",
        figure.unit,
        figure.line,
        words(figure.seeds)
    );
}

const HEAD: &str = "| key | unit | what it is | over seeds | over workers and ranks |\n|---|---|---|---|---|\n";

const INTRODUCTION: &str =
    "<!-- Generated from the figures; regenerate with `FABRICSIM_BLESS=1 cargo test -p fabricsim-judge reference`. -->
# Results

Every number that a run gives, by the key that it has in `summary.json`, in `run --json`, in claims, plots and reports. A dot leads into a
group, a number into a list: `latency_ns.p99`, `jobs.0.time_ns`. A number that cannot be given is null, never 0.

*Over seeds* says what several runs that differ in the seed have together where one number is shown for them; *over workers and ranks* how
what the parts of a run have seen becomes one number: *pooled* is as if all of it had been seen in one place.
";

const FILES_OF_A_CAMPAIGN: &str = "
## Files of a campaign

Columns and keys that are not those of numbers and tables above. A word in capitals stands for what differs, a number for any place in a
list. `fabricsim list result NAME` tells any name of this page.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generated_reference_of_results_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/results.md");
        if std::env::var_os("FABRICSIM_BLESS").is_some() {
            std::fs::write(path, reference()).unwrap();
        }
        assert!(
            std::fs::read_to_string(path).unwrap_or_default() == reference(),
            "docs/reference/results.md is out of date; run this test with FABRICSIM_BLESS=1"
        );
    }
}
