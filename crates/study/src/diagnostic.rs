//! Errors and warnings about a study, each with a place, a reason and a hint, all of them at once.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The study cannot be run.
    Error,
    /// The study can be run, but probably not as meant.
    Warning,
}

/// One thing that is wrong with a study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The file, or `--set` for a key given beside it.
    pub file: String,
    /// Line from 1.
    pub line: u32,
    /// Column from 1, in characters.
    pub column: u32,
    /// Number of characters that are meant, at least 1.
    pub width: u32,
    /// The source line, without its end.
    pub source_line: String,
    /// The key path, such as `router.vcs`; empty if no key is meant.
    pub key: String,
    /// What is wrong.
    pub reason: String,
    /// What to do about it; empty if there is nothing to say.
    pub hint: String,
    /// Error or warning.
    pub severity: Severity,
}

impl fmt::Display for Diagnostic {
    /// Renders like a compiler, without colours: the message, the place, the source line with a caret, the hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let colon = if self.key.is_empty() { "" } else { ": " };
        writeln!(f, "{severity}: {}{colon}{}", clean(&self.key), clean(&self.reason))?;
        let gutter = self.line.to_string().len();
        writeln!(
            f,
            "{:gutter$}--> {}:{}:{}",
            "",
            clean(&self.file),
            self.line,
            self.column
        )?;
        // Long lines are cut around the place, tabs take one column so that the caret stands below its character.
        let before = self.column.saturating_sub(1) as usize;
        let skip = before.saturating_sub(80);
        let shown: String = self.source_line.chars().skip(skip).take(140).map(printable).collect();
        let width = (self.width as usize).min(140 - (before - skip).min(139)).max(1);
        writeln!(f, "{:gutter$} |", "")?;
        writeln!(f, "{} | {}", self.line, shown.trim_end())?;
        writeln!(
            f,
            "{:gutter$} | {:before$}{}",
            "",
            "",
            "^".repeat(width),
            before = before - skip
        )?;
        if !self.hint.is_empty() {
            writeln!(f, "{:gutter$} = hint: {}", "", clean(&self.hint))?;
        }
        Ok(())
    }
}

/// A text on one line without control characters.
fn clean(text: &str) -> String {
    text.chars().map(printable).collect()
}

/// Control characters of a study must not reach a terminal.
fn printable(character: char) -> char {
    match character {
        '\t' => ' ',
        control if control.is_control() => '\u{fffd}',
        other => other,
    }
}

/// All diagnostics as one text, with a count at the end.
pub fn render(diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        text += &diagnostic.to_string();
        text.push('\n');
    }
    let count = |severity| {
        diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == severity)
            .count()
    };
    let parts: Vec<String> = [(count(Severity::Error), "error"), (count(Severity::Warning), "warning")]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| counted(n as u64, word, ""))
        .collect();
    if !parts.is_empty() {
        text += &parts.join(", ");
        text.push('\n');
    }
    text
}

/// So many of something, with its noun in the singular or with an s, and words that follow: `1 receive from anybody`, `2 receives from anybody`.
pub fn counted(n: u64, noun: &str, more: &str) -> String {
    format!("{n} {noun}{}{more}", if n == 1 { "" } else { "s" })
}

/// A range of bytes in one of the texts a study is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// 0 is the study file, the others are `--set` texts in order.
    pub source: u32,
    /// First byte.
    pub start: u32,
    /// Byte behind the last one.
    pub end: u32,
}

impl Place {
    /// A range of bytes of a text, by its number.
    pub fn new(source: u32, span: std::ops::Range<usize>) -> Place {
        let clip = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Place {
            source,
            start: clip(span.start),
            end: clip(span.end),
        }
    }
}

/// The texts a study is made of, by [`Place::source`].
#[derive(Debug, Default)]
pub struct Sources(Vec<(String, String)>);

impl Sources {
    /// Adds a text and returns its number.
    pub fn add(&mut self, name: &str, text: &str) -> u32 {
        self.0.push((name.to_owned(), text.to_owned()));
        (self.0.len() - 1) as u32
    }

    /// The text at a place.
    pub fn text(&self, place: Place) -> &str {
        let text = self.0.get(place.source as usize).map_or("", |(_, text)| text.as_str());
        text.get(place.start as usize..place.end as usize).unwrap_or("")
    }

    fn diagnostic(&self, finding: Finding) -> Diagnostic {
        let (file, text) = self
            .0
            .get(finding.place.source as usize)
            .map_or(("", ""), |(name, text)| (name.as_str(), text.as_str()));
        let floor = |offset: u32| {
            let mut offset = (offset as usize).min(text.len());
            while !text.is_char_boundary(offset) {
                offset -= 1;
            }
            offset
        };
        let (start, end) = (floor(finding.place.start), floor(finding.place.end));
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let source_line = text[line_start..line_end].trim_end_matches('\r');
        let count = |part: &str| u32::try_from(part.chars().count()).unwrap_or(u32::MAX);
        Diagnostic {
            file: file.to_owned(),
            line: u32::try_from(text[..start].matches('\n').count())
                .unwrap_or(u32::MAX)
                .saturating_add(1),
            column: count(&text[line_start..start]).saturating_add(1),
            width: count(&text[start..end.clamp(start, line_end)]).max(1),
            source_line: source_line.to_owned(),
            key: finding.key,
            reason: finding.reason,
            hint: finding.hint,
            severity: finding.severity,
        }
    }
}

/// A diagnostic before its place is looked up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    place: Place,
    key: String,
    /// Which it is of several in an order of their own.
    number: usize,
    reason: String,
    hint: String,
    severity: Severity,
    /// Description of the sweep point at which it was first seen.
    point: String,
    /// Number of points at which it was seen, and the last of them.
    seen_at: (usize, usize),
}

/// More findings than this are not collected: nobody reads them, and a sweep could repeat them without end.
const MOST: usize = 200;

/// Collects findings, each once.
#[derive(Debug, Default)]
pub struct Findings {
    /// Positions in `list`.
    known: BTreeMap<(Place, String, String), usize>,
    list: Vec<Finding>,
    n_errors: usize,
    /// Description and number (from 1) of the sweep point being checked; 0 outside.
    point: String,
    n_points: usize,
    inside: bool,
}

impl Findings {
    /// Adds an error.
    pub fn error(&mut self, place: Place, key: &str, reason: impl Into<String>, hint: impl Into<String>) {
        self.add(place, key, 0, (reason.into(), hint.into()), Severity::Error);
    }

    /// Adds errors about one value, reason and hint of each, which stay in their order.
    pub fn errors(&mut self, place: Place, key: &str, errors: impl IntoIterator<Item = (String, String)>) {
        for (number, error) in errors.into_iter().enumerate() {
            self.add(place, key, number, error, Severity::Error);
        }
    }

    /// Adds a warning.
    pub fn warning(&mut self, place: Place, key: &str, reason: impl Into<String>, hint: impl Into<String>) {
        self.add(place, key, 0, (reason.into(), hint.into()), Severity::Warning);
    }

    /// What follows is found at a point of a sweep. A finding that does not come up at all points names its first one.
    pub fn begin_point(&mut self, description: String) {
        self.point = description;
        self.n_points += 1;
        self.inside = true;
    }

    /// What follows is not found at a point of a sweep.
    pub fn end_points(&mut self) {
        self.inside = false;
    }

    fn add(&mut self, place: Place, key: &str, number: usize, (reason, hint): (String, String), severity: Severity) {
        self.n_errors += usize::from(severity == Severity::Error);
        let point = if self.inside { self.n_points } else { 0 };
        let id = (place, key.to_owned(), reason);
        if let Some(position) = self.known.get(&id) {
            let seen_at = &mut self.list[*position].seen_at;
            if seen_at.1 != point {
                *seen_at = (seen_at.0 + 1, point);
            }
        } else if self.list.len() < MOST {
            self.known.insert(id.clone(), self.list.len());
            let (place, key, reason) = id;
            let description = if self.inside { self.point.clone() } else { String::new() };
            self.list.push(Finding {
                place,
                key,
                number,
                reason,
                hint,
                severity,
                point: description,
                seen_at: (1, point),
            });
        }
    }

    /// Number of errors added so far, repeated ones included.
    pub fn n_errors(&self) -> usize {
        self.n_errors
    }

    /// No more findings are taken.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    /// All findings in order of their places.
    pub fn into_diagnostics(self, sources: &Sources) -> Vec<Diagnostic> {
        let mut list = self.list;
        list.sort();
        let n_points = self.n_points;
        list.into_iter()
            .map(|mut finding| {
                if !finding.point.is_empty() && finding.seen_at.0 < n_points {
                    finding.reason += &format!(" (with {})", finding.point);
                }
                sources.diagnostic(finding)
            })
            .collect()
    }
}

/// `did you mean ...?` for the candidate nearest to `word`, if one is near enough.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// The candidate nearest to `word`, if one is near enough. Small and capital letters are the same, and so are `_` and `-`.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase().replace(['_', ' '], "-");
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let likeness = strsim::jaro_winkler(&folded, &candidate.to_lowercase().replace('_', "-"));
        if likeness > best.map_or(0.8, |(likeness, _)| likeness) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str, span: std::ops::Range<usize>) -> Diagnostic {
        let mut sources = Sources::default();
        sources.add("a.toml", text);
        let mut findings = Findings::default();
        findings.error(Place::new(0, span), "router.vcs", "wrong", "better");
        findings.into_diagnostics(&sources).remove(0)
    }

    #[test]
    fn several_errors_of_one_value_stay_in_their_order() {
        let mut sources = Sources::default();
        sources.add("a.toml", "file = \"a\"\n");
        let mut findings = Findings::default();
        let told = ["rank 2", "rank 10", "and 3 more"];
        findings.errors(
            Place::new(0, 7..10),
            "file",
            told.map(|reason| (reason.to_owned(), String::new())),
        );
        let reasons: Vec<String> = findings
            .into_diagnostics(&sources)
            .into_iter()
            .map(|one| one.reason)
            .collect();
        assert_eq!(reasons, told);
    }

    #[test]
    fn shows_the_line_with_a_caret_below_the_value() {
        let diagnostic = one("a = 1\nvcs = \"x\"\n", 12..15);
        let expected =
            "error: router.vcs: wrong\n --> a.toml:2:7\n  |\n2 | vcs = \"x\"\n  |       ^^^\n  = hint: better\n";
        assert_eq!(diagnostic.to_string(), expected);
    }

    #[test]
    fn columns_count_characters_and_ranges_stay_in_the_text() {
        assert_eq!(one("µµ = 1", 4..5).column, 3);
        assert_eq!(one("µ", 1..1).column, 1);
        let beyond = one("a\nb", 50..60);
        assert_eq!((beyond.line, beyond.column, beyond.width), (2, 2, 1));
        assert_eq!(one("", 0..0).line, 1);
        assert_eq!(one("a = [\n1]", 4..8).width, 1);
    }

    #[test]
    fn a_very_long_line_is_cut_around_the_place() {
        let text = one(&"x".repeat(100_000), 50_000..99_000).to_string();
        assert!(text.len() < 600, "{}", text.len());
        assert!(text.contains('^'));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert!(!one("\u{1b}[31m", 0..1).to_string().contains('\u{1b}'));
    }

    #[test]
    fn suggests_the_nearest_name_only() {
        let names = ["bandwidth", "latency"];
        assert_eq!(
            did_you_mean("bandwith", names),
            Some("did you mean `bandwidth`?".to_owned())
        );
        assert_eq!(did_you_mean("zebra", names), None);
    }

    #[test]
    fn equal_findings_are_reported_once() {
        let mut findings = Findings::default();
        for _ in 0..3 {
            findings.error(Place::default(), "a", "b", "c");
        }
        assert_eq!(findings.n_errors(), 3);
        assert_eq!(findings.into_diagnostics(&Sources::default()).len(), 1);
    }
}
