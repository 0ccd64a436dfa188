//! Lines of `pinatrace`, a sample tool of Intel Pin: the place of an instruction, what it does, and an address.
//!
//! ```text
//! 0x4004d6: R 0x7ffc3f4b8e50     what is there is read
//! 0x4004da: W 0x7ffc3f4b8e58     it is written
//! #eof                           the program has ended
//! ```
//!
//! Sizes are not told: an access is of the line that its address is in. Instructions without an access are not told either.

use super::format::{AccessKind, Note, TraceFormat, TracedAccess};

/// `pinatrace` of Intel Pin.
#[derive(Debug)]
pub struct Pinatrace;

impl TraceFormat for Pinatrace {
    const NAME: &'static str = "pinatrace";
    const ENDING: &'static str = "pinatrace.out";
    const HOW: &'static str = "make a trace with `pin -t pinatrace.so -- PROGRAM`";
    const LAST_WORDS: &'static str = "the last line (#eof) is missing";

    #[inline(always)]
    fn access(text: &[u8]) -> Option<(TracedAccess, usize)> {
        let end = text.iter().position(|&byte| byte == b'\n')?;
        let line = std::str::from_utf8(&text[..end]).ok()?;
        let (_, access) = line.split_once(": ")?;
        let (kind, address) = access.split_once(" 0x")?;
        let kind = match kind {
            "R" => AccessKind::Load,
            "W" => AccessKind::Store,
            _ => return None,
        };
        let address = u64::from_str_radix(address.trim_end(), 16).ok()?;
        let access = TracedAccess {
            kind,
            address,
            last: address,
        };
        Some((access, end + 1))
    }

    fn note(line: &[u8]) -> Option<Note> {
        (line == b"#eof").then_some(Note::End)
    }
}
