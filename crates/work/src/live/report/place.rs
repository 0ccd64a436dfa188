//! Places in programs: from an address of a process to a function and a line.

use std::process::{Command, Stdio};
use std::sync::Arc;

/// The files of a process that its code is in, and where.
#[derive(Debug, Default)]
pub struct ProcessModules(Vec<CodeRange>);

#[derive(Debug)]
struct CodeRange {
    start: u64,
    end: u64,
    /// Where the file begins, of a program at a place of the loader's choice.
    begin: u64,
    file: Arc<str>,
}

impl ProcessModules {
    /// Those of a process as it is now; none of one that has gone.
    pub fn of(process: u32) -> ProcessModules {
        let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
        ProcessModules::read(&maps)
    }

    fn read(maps: &str) -> ProcessModules {
        let (mut all, mut first) = (Vec::new(), None::<(Arc<str>, u64)>);
        for line in maps.lines() {
            let mut fields = line.split_whitespace();
            let (Some(range), Some(rights), Some(file)) = (fields.next(), fields.next(), fields.nth(3)) else {
                continue;
            };
            let ends = range
                .split_once('-')
                .map(|(start, end)| (hexadecimal(start), hexadecimal(end)));
            let (Some((Some(start), Some(end))), true) = (ends, file.starts_with('/')) else {
                continue;
            };
            let (file, begin) = match first.take() {
                Some((known, begin)) if *known == *file => (known, begin),
                _ => (file.into(), start),
            };
            first = Some((file.clone(), begin));
            if rights.contains('x') {
                all.push(CodeRange {
                    start,
                    end,
                    begin,
                    file,
                });
            }
        }
        ProcessModules(all)
    }

    /// The file that an address is in, and the address that the file itself has for the call before it.
    pub fn find(&self, address: u64) -> Option<(&str, u64)> {
        let range = self
            .0
            .iter()
            .find(|range| (range.start..range.end).contains(&address))?;
        // A program at a place of its own choice has its addresses in its file.
        let begin = if range.begin < 0x1000_0000 { 0 } else { range.begin };
        Some((&range.file, address.saturating_sub(begin + 1)))
    }

    /// The function, and the line where it is known, or the file and the offset in it.
    pub fn place(&self, address: u64) -> Option<String> {
        let (file, offset) = self.find(address)?;
        Some(named(file, offset).unwrap_or_else(|| {
            let name = file.rsplit('/').next().unwrap_or(file);
            format!("{name}+{offset:#x}")
        }))
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

/// The function at an address of a file, and the line where it is known; `None` where the file does not say.
pub fn named(file: &str, address: u64) -> Option<String> {
    let asked = Command::new("addr2line")
        .args(["-f", "-C", "-s", "-e", file, &format!("{address:#x}")])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let text = asked
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    let mut lines = text.lines();
    match (lines.next(), lines.next()) {
        (Some(function), Some(line)) if function != "??" => Some(match line.starts_with("??") {
            true => function.to_owned(),
            false => format!("{function} ({line})"),
        }),
        _ => None,
    }
}

/// The file that an address of a process is in, and the address that the file itself has for it.
pub fn module(process: u32, address: u64) -> Option<(String, u64)> {
    let modules = ProcessModules::of(process);
    let (file, offset) = modules.find(address)?;
    Some((file.to_owned(), offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_the_file_wherever_the_loader_has_put_it() {
        let modules = ProcessModules::read(
            "00400000-00401000 r--p 00000000 08:01 1 /bin/fixed\n\
             00401000-00402000 r-xp 00001000 08:01 1 /bin/fixed\n\
             7f0000000000-7f0000001000 r--p 00000000 08:01 2 /lib/moved.so\n\
             7f0000001000-7f0000003000 r-xp 00001000 08:01 2 /lib/moved.so\n\
             7f0000010000-7f0000011000 rw-p 00000000 00:00 0 \n\
             7ffe00000000-7ffe00001000 r-xp 00000000 00:00 0 [vdso]\n",
        );
        assert_eq!(modules.find(0x40_1020), Some(("/bin/fixed", 0x40_101f)));
        assert_eq!(modules.find(0x7f00_0000_2040), Some(("/lib/moved.so", 0x203f)));
        assert_eq!(modules.find(0x7f00_0000_0040), None, "what is no code");
        assert_eq!(modules.find(0x7ffe_0000_0010), None);
        assert_eq!(modules.place(0x7f00_0000_2040).as_deref(), Some("moved.so+0x203f"));
    }
}
