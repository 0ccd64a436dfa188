//! Lines of `valgrind --tool=lackey --trace-mem=yes`: a letter, an address in hexadecimal, a comma and a size in bytes.
//!
//! ```text
//! I  0401ab73,5      an instruction of 5 bytes is fetched
//!  S 1fff000748,8    8 bytes are written
//!  L 04a46de0,8      8 bytes are read
//!  M 1ffefff8e0,4    4 bytes are read and then written
//! ```
//!
//! Lines of valgrind itself begin with `==`, `--` or `**`.

use super::format::{AccessKind, Note, TraceFormat, TracedAccess};

/// Most bytes of an access: no instruction has more, not even those that save all registers.
pub const MOST_BYTES: u64 = 16_384;

/// `valgrind --tool=lackey`.
#[derive(Debug)]
pub struct Lackey;

impl TraceFormat for Lackey {
    const NAME: &'static str = "lackey";
    const ENDING: &'static str = ".lackey";
    const HOW: &'static str = "make a trace with `valgrind --tool=lackey --trace-mem=yes --log-file=FILE PROGRAM`; --log-file keeps out what the program writes";
    const LAST_WORDS: &'static str = "valgrind's last words are missing (Exit code)";

    #[inline(always)]
    fn access(text: &[u8]) -> Option<(TracedAccess, usize)> {
        access(text)
    }

    fn note(line: &[u8]) -> Option<Note> {
        note(line)
    }
}

/// The access at the start of `text` and the bytes of its line; `None` if no whole line of an access stands there.
#[inline(always)]
pub fn access(text: &[u8]) -> Option<(TracedAccess, usize)> {
    let kind = match text.get(..3)? {
        b"I  " => AccessKind::Fetch,
        b" L " => AccessKind::Load,
        b" S " => AccessKind::Store,
        b" M " => AccessKind::Modify,
        _ => return None,
    };
    let (mut at, mut address) = (3, 0u64);
    loop {
        let digit = match *text.get(at)? {
            digit @ b'0'..=b'9' => digit - b'0',
            digit @ b'a'..=b'f' => digit - b'a' + 10,
            b',' => break,
            _ => return None,
        };
        (at, address) = (at + 1, address << 4 | u64::from(digit));
    }
    if !(4..=19).contains(&at) {
        return None;
    }
    let (begin, mut bytes) = (at + 1, 0u64);
    loop {
        at += 1;
        match *text.get(at)? {
            digit @ b'0'..=b'9' if bytes <= MOST_BYTES => bytes = bytes * 10 + u64::from(digit - b'0'),
            b'\n' if at > begin => break,
            _ => return None,
        }
    }
    if bytes == 0 || bytes > MOST_BYTES {
        return None;
    }
    let last = address.checked_add(bytes - 1)?;
    Some((TracedAccess { kind, address, last }, at + 1))
}

/// What valgrind says in a line; `None` if it is not valgrind's.
pub fn note(line: &[u8]) -> Option<Note> {
    let has = |words: &[u8]| line.windows(words.len()).any(|part| part == words);
    if ![&b"=="[..], b"--", b"**"].iter().any(|start| line.starts_with(start)) {
        return None;
    }
    Some(match () {
        () if has(b"= Lackey, an example Valgrind tool") => Note::Begin,
        () if has(b"= Exit code: ") => Note::End,
        () => Note::Other,
    })
}
