//! The LogGOPS model (Hoefler, Schneider, Lumsdaine 2010) as keys of `[router]`, and what they mean for the sections of a study.
//!
//! Each value is what a user would write there: `docs/how-to/loggops.md` says why.

use crate::registry::loggops::{KEYS, NAME};
use study::diagnostic::Findings;
use study::document::Table;
use study::reader::{self, Source, Values};

/// Tells of parameters that stand in a study without the preset.
pub(crate) fn refuse(router: &Values, findings: &mut Findings) {
    for key in KEYS.iter().map(|own| own.key).filter(|key| router.given(key)) {
        let hint = format!("remove the key, or set router.preset = \"{NAME}\"");
        let reason = format!("has a meaning with router.preset = \"{NAME}\" only");
        findings.error(router.place(key), &format!("router.{key}"), reason, hint);
    }
}

/// Section, key and value of all that follows from the parameters in `[router]`. What is wrong with one of them alone is told where the
/// section is read.
pub(crate) fn values(root: &Table, findings: &mut Findings) -> Vec<(&'static str, &'static str, String)> {
    let empty = Table::default();
    let source = Source::section(root, "router", &empty, &mut Findings::default());
    let entries = source.table.entries.iter().map(|item| item.key.as_str());
    let others: Vec<&str> = entries.filter(|key| KEYS.iter().all(|own| own.key != *key)).collect();
    let mut wrong = Findings::default();
    let found = reader::read(source, &KEYS, &[], &others, &mut wrong);
    let number = |key: &str| found.quantity(key);
    let (Some(latency), Some(overhead), Some(gap)) = (number("L"), number("o"), number("g")) else {
        return Vec::new();
    };
    let (Some(gap_of_byte), Some(overhead_of_byte), Some(eager)) = (number("G"), number("O"), number("S")) else {
        return Vec::new();
    };
    let before = findings.n_errors();
    for (key, value, least, of) in [
        ("L", latency, gap_of_byte, "G"),
        ("g", gap, gap_of_byte, "G"),
        ("o", overhead, overhead_of_byte, "O"),
    ] {
        if value < least {
            let reason = format!("is shorter than what one byte takes, {of}");
            let hint = format!("take {key} and {of} of one measurement: {key} is the time of a message of one byte");
            findings.error(found.place(key), &format!("router.{key}"), reason, hint);
        }
    }
    if findings.n_errors() > before {
        return Vec::new();
    }
    let bits = |per_byte: u64| 8_000_000_000_000_u64.div_ceil(per_byte);
    // A message of s bytes takes s G on a link, the model's (s - 1) G.
    let way = latency - gap_of_byte;
    let time = |time: u64| format!("{time} ps");
    let copy = match overhead_of_byte {
        0 => "free".to_owned(),
        per_byte => format!("{} bit/s", bits(per_byte)),
    };
    vec![
        ("router", "traversal", time(way % 2)),
        ("link", "latency", time(way / 2)),
        ("link", "bandwidth", format!("{} bit/s", bits(gap_of_byte))),
        ("nic", "packet", "64 KiB".to_owned()),
        ("nic", "gap", time(gap - gap_of_byte)),
        ("mpi", "send_overhead", time(overhead - overhead_of_byte)),
        ("mpi", "receive_overhead", time(overhead - overhead_of_byte)),
        ("mpi", "copy", copy),
        ("mpi", "eager", format!("{eager} B")),
    ]
}
