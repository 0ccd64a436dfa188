//! Which MPI a program is built for: what its ELF file says that it needs.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The face of MPI that a program sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The standard's own (`libmpi_abi.so.1`).
    Standard,
    /// That of MPICH and its kin (`libmpi.so.12`).
    Mpich,
    /// The program itself names none: it is a script, or an interpreter that loads MPI later.
    Unsaid,
}

/// Why a program cannot be a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramRefused {
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub hint: &'static str,
}

const BUILD_AGAIN: &str = "build it with an MPICH, or with mpicc_abi of the mpich package";

/// The dialect of a program's file.
///
/// # Errors
/// It cannot be read, or cannot be a rank: it is linked statically, or built for an MPI that is not there.
pub fn dialect(program: &Path) -> Result<Dialect, ProgramRefused> {
    let refused = |reason: String, hint| Err(ProgramRefused { reason, hint });
    let needed = match needed_libraries(program) {
        Ok(Elf::Needs(needed)) => needed,
        Ok(Elf::None) => return Ok(Dialect::Unsaid),
        Ok(Elf::Static) => {
            return refused(
                format!("{} is linked statically: its MPI cannot be replaced", program.display()),
                "link it dynamically",
            );
        }
        Err(error) => {
            return refused(
                format!("{} cannot be read: {error}", program.display()),
                "give a program that is there, with its path or in PATH",
            );
        }
    };
    let needs = |names: &[&str]| needed.iter().any(|library| names.contains(&library.as_str()));
    if needs(&["libmpi_abi.so.1", "libmpi_abi.so.0"]) {
        return Ok(Dialect::Standard);
    }
    if needs(&["libmpi.so.12", "libmpich.so.12"]) {
        return Ok(Dialect::Mpich);
    }
    match needed.iter().find(|library| library.starts_with("libmpi")) {
        Some(library) if library.starts_with("libmpi.so.") || library.starts_with("libmpi_usempi") => refused(
            format!("{} is built for Open MPI ({library})", program.display()),
            BUILD_AGAIN,
        ),
        Some(library) if library.starts_with("libmpi") && library.contains("fort") => Ok(Dialect::Mpich),
        Some(library) => refused(
            format!(
                "{} is built for an MPI that is not known ({library})",
                program.display()
            ),
            BUILD_AGAIN,
        ),
        None => Ok(Dialect::Unsaid),
    }
}

/// What a file is.
enum Elf {
    /// No program of 64 bits in this machine's byte order.
    None,
    /// A program without a loader.
    Static,
    /// A program or library that is loaded with others.
    Needs(Vec<String>),
}

const EXECUTABLE: u64 = 2;
const LOAD: u64 = 1;
const DYNAMIC: u64 = 2;
const INTERPRETER: u64 = 3;
const NEEDED: u64 = 1;
const STRINGS: u64 = 5;
const STRINGS_BYTES: u64 = 10;
/// No sane table is larger.
const MOST: u64 = 1 << 24;

fn needed_libraries(program: &Path) -> std::io::Result<Elf> {
    let mut file = File::open(program)?;
    let mut head = [0; 64];
    let got = file.read(&mut head)?;
    if got < 64 || head[..4] != *b"\x7fELF" || head[4] != 2 || head[5] != 1 {
        return Ok(Elf::None);
    }
    let kind = number(&head, 16, 2);
    let (table, size, count) = (number(&head, 32, 8), number(&head, 54, 2), number(&head, 56, 2));
    let headers = read_at(&mut file, table, size * count)?;
    let headers: Vec<&[u8]> = headers.chunks_exact((size as usize).max(56)).collect();
    let of = |wanted: u64| headers.iter().filter(move |header| number(header, 0, 4) == wanted);
    let Some(dynamic) = of(DYNAMIC).next() else {
        return Ok(match kind == EXECUTABLE || of(INTERPRETER).next().is_none() {
            true => Elf::Static,
            false => Elf::None,
        });
    };
    let entries = read_at(&mut file, number(dynamic, 8, 8), number(dynamic, 32, 8))?;
    let entries: Vec<(u64, u64)> = entries
        .chunks_exact(16)
        .map(|entry| (number(entry, 0, 8), number(entry, 8, 8)))
        .take_while(|(tag, _)| *tag != 0)
        .collect();
    let value = |wanted: u64| entries.iter().find(|(tag, _)| *tag == wanted).map(|(_, value)| *value);
    if of(INTERPRETER).next().is_none() && value(NEEDED).is_none() {
        return Ok(Elf::Static);
    }
    let (Some(address), Some(bytes)) = (value(STRINGS), value(STRINGS_BYTES)) else {
        return Ok(Elf::Needs(Vec::new()));
    };
    let loaded = of(LOAD).find(|header| {
        let (start, bytes) = (number(header, 16, 8), number(header, 32, 8));
        (start..start.saturating_add(bytes)).contains(&address)
    });
    let offset = loaded.map_or(address, |header| address - number(header, 16, 8) + number(header, 8, 8));
    let strings = read_at(&mut file, offset, bytes)?;
    let names = entries.iter().filter(|(tag, _)| *tag == NEEDED).map(|(_, place)| {
        let rest = strings.get(*place as usize..).unwrap_or_default();
        let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
        String::from_utf8_lossy(&rest[..end]).into_owned()
    });
    Ok(Elf::Needs(names.collect()))
}

fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    let bytes = bytes.get(at..at + width).unwrap_or_default();
    bytes.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte))
}

fn read_at(file: &mut File, offset: u64, bytes: u64) -> std::io::Result<Vec<u8>> {
    let mut got = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.take(bytes.min(MOST)).read_to_end(&mut got)?;
    Ok(got)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_names_no_mpi_and_a_script_leave_the_dialect_open() {
        // The test itself is a program with a loader and without MPI.
        let this = std::env::current_exe().unwrap();
        assert_eq!(dialect(&this), Ok(Dialect::Unsaid));
        let Ok(Elf::Needs(needed)) = needed_libraries(&this) else {
            panic!("it needs libraries")
        };
        assert!(needed.iter().any(|library| library == "libc.so.6"), "{needed:?}");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        assert_eq!(dialect(Path::new(script)), Ok(Dialect::Unsaid));
        assert!(
            dialect(Path::new("/nowhere/at/all"))
                .unwrap_err()
                .reason
                .contains("cannot be read")
        );
    }
}
