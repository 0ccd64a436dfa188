//! A text line by line, in pieces: for texts that are longer than memory.

use crate::problem::{Problem, ReadStop, hint_of};
use crate::sink::TraceReader;
use std::io::Read;
use std::path::Path;

/// Bytes that are read at a time.
const PIECE: usize = 1 << 18;
/// Most bytes of a line, unless a format has longer ones; what has is no text that anybody wrote.
const LONGEST: usize = 1 << 20;

/// The lines of a file, which may be packed.
pub(crate) struct LinesInPieces {
    file: String,
    source: Box<dyn Read>,
    buffer: Vec<u8>,
    /// What is in the buffer and has not been given: from here to there.
    begin: usize,
    end: usize,
    over: bool,
    /// Most bytes of a line.
    longest: usize,
    /// Lines that have been given.
    line: u64,
    /// Bytes that have been given, unpacked.
    done: u64,
}

impl LinesInPieces {
    /// The lines of a file, and the bytes of all of them, 0 where the file is packed.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub(crate) fn open(path: &Path) -> Result<(LinesInPieces, u64), Problem> {
        let file = path.display().to_string();
        let cannot = |error: std::io::Error| Problem::unreadable(&file, &error);
        let (source, packing) = crate::packed::open(path).map_err(cannot)?;
        let all = match packing {
            "plain" => std::fs::metadata(path).map_err(cannot)?.len(),
            _ => 0,
        };
        Ok((LinesInPieces::of(file, source), all))
    }

    /// The lines of a text whose file is called so.
    pub(crate) fn of(file: String, source: Box<dyn Read>) -> LinesInPieces {
        LinesInPieces {
            file,
            source,
            buffer: vec![0; PIECE],
            begin: 0,
            end: 0,
            over: false,
            longest: LONGEST,
            line: 0,
            done: 0,
        }
    }

    /// The same, with lines of up to so many bytes.
    pub(crate) fn with_longest(self, longest: usize) -> LinesInPieces {
        LinesInPieces { longest, ..self }
    }

    /// How the file is called.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The number of the line that was given last, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.line
    }

    /// Bytes that have been given, unpacked.
    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    /// The next line without its end, `None` after the last. A mark of the byte order at the begin of a file is left out.
    ///
    /// # Errors
    /// A file that cannot be read on, and a line of more than a mebibyte, or of more than it was made for.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Problem> {
        let mut looked = self.begin;
        let end = loop {
            if let Some(at) = self.buffer[looked..self.end].iter().position(|&byte| byte == b'\n') {
                break looked + at;
            }
            looked = self.end;
            if self.over {
                break self.end;
            }
            looked -= self.more()?;
        };
        if end == self.end && self.over && self.begin == end {
            return Ok(None);
        }
        let next = (end + 1).min(self.end);
        let mut line = self.begin..end;
        self.done += (next - self.begin) as u64;
        self.line += 1;
        self.begin = next;
        if self.line == 1 && self.buffer[line.clone()].starts_with(b"\xEF\xBB\xBF") {
            line.start += 3;
        }
        if self.buffer[line.clone()].ends_with(b"\r") {
            line.end -= 1;
        }
        Ok(Some(&self.buffer[line]))
    }

    /// Reads a piece more; by how much that which is in the buffer has moved to its begin.
    fn more(&mut self) -> Result<usize, Problem> {
        let moved = self.begin;
        self.buffer.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - moved);
        if self.end > self.longest {
            let reason = format!("the line has more than {} bytes", self.longest);
            return Err(Problem::new(&self.file, reason, "this is no text of this format").at(self.line + 1));
        }
        if self.end + PIECE / 2 > self.buffer.len() {
            self.buffer.resize(self.buffer.len() + PIECE, 0);
        }
        let n = loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                result => break result,
            }
        };
        let n = n.map_err(|error| {
            let reason = format!("it cannot be read on: {error}");
            Problem::new(&self.file, reason, hint_of(&error)).at(self.line + 1)
        })?;
        self.over = n == 0;
        self.end += n;
        Ok(moved)
    }
}

/// Longest line of a recording of calls (bytes): a collective may list sizes for millions of ranks.
const LONGEST_OF_CALLS: usize = 1 << 27;
/// Lines between two looks at whether the user wants to go on.
const LINES_BETWEEN_TICKS: u64 = 4096;

/// Hands over each line of a recording of calls that is not empty, blanks around it left out, with its number. Progress goes on from where it is by
/// the size of the file.
///
/// # Errors
/// A file that cannot be read on, what `take` says, and that the user wants it to end.
pub(crate) fn each_line(
    file: &Path,
    reader: &mut TraceReader<'_>,
    mut take: impl FnMut(&mut TraceReader<'_>, u64, &str) -> Result<(), ReadStop>,
) -> Result<(), ReadStop> {
    let before = reader.progress.done;
    let (lines, _) = LinesInPieces::open(file)?;
    let mut lines = lines.with_longest(LONGEST_OF_CALLS);
    loop {
        let number = lines.number() + 1;
        let Some(line) = lines.next()? else {
            break;
        };
        // What is no text is told with the words that it cannot be.
        let line = String::from_utf8_lossy(line.trim_ascii());
        if !line.is_empty() {
            take(reader, number, &line)?;
        }
        if number.is_multiple_of(LINES_BETWEEN_TICKS) {
            // Of packed files it is not known how far they are.
            reader.progress.done = (before + lines.done()).min(reader.progress.all);
            reader.tick()?;
        }
    }
    let size = std::fs::metadata(file).map_or(0, |about| about.len());
    reader.progress.done = (before + size).min(reader.progress.all);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes in pieces of so many.
    struct Drops(Vec<u8>, usize, usize);

    impl Read for Drops {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let n = self.1.min(out.len()).min(self.0.len() - self.2);
            out[..n].copy_from_slice(&self.0[self.2..self.2 + n]);
            self.2 += n;
            Ok(n)
        }
    }

    fn lines(text: &[u8], piece: usize) -> Result<Vec<String>, Problem> {
        let mut lines = LinesInPieces::of("x".into(), Box::new(Drops(text.to_vec(), piece, 0)));
        let mut all = Vec::new();
        while let Some(line) = lines.next()? {
            all.push(String::from_utf8_lossy(line).into_owned());
        }
        assert_eq!((lines.number(), lines.done()), (all.len() as u64, text.len() as u64));
        Ok(all)
    }

    #[test]
    fn lines_are_the_same_in_pieces_of_any_size() {
        for piece in [1, 2, 3, 5, 100] {
            assert_eq!(lines(b"", piece).unwrap(), [""; 0]);
            assert_eq!(lines(b"\n\na\r\n", piece).unwrap(), ["", "", "a"]);
            assert_eq!(
                lines(b"\xEF\xBB\xBFone\ntwo\r\n\nthree", piece).unwrap(),
                ["one", "two", "", "three"]
            );
        }
        let long = "y".repeat(3 * PIECE + 7);
        let text = format!("a\n{long}\nb\n");
        assert_eq!(lines(text.as_bytes(), PIECE).unwrap(), ["a", &long, "b"]);
        assert_eq!(lines(text.as_bytes(), 10_007).unwrap(), ["a", &long, "b"]);
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let text = [&b"a\n"[..], &vec![0; LONGEST + 2 * PIECE]].concat();
        let problem = lines(&text, PIECE).unwrap_err();
        assert_eq!(problem.record, Some(2));
        assert!(problem.reason.contains("more than"), "{problem}");
        let mut lines =
            LinesInPieces::of("x".into(), Box::new(Drops(text.clone(), PIECE, 0))).with_longest(2 * text.len());
        assert!(
            lines.next().is_ok()
                && lines
                    .next()
                    .is_ok_and(|line| line.is_some_and(|line| line.len() == text.len() - 2))
        );
    }
}
