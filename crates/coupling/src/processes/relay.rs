//! What ranks print, line by line, with the rank before it or into files.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, ChildStdout};
use std::thread::JoinHandle;

/// Where what ranks print goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Where that of this process goes, byte by byte.
    Pass,
    /// There, line by line with the rank before it.
    Prefix,
    /// A file for each rank and stream that something is printed to, in a folder: `3.out`, `3.err`. Those of before are removed.
    Folder(PathBuf),
}

/// A stream of a rank.
trait Stream: Read + AsRawFd + Send {}

impl<T: Read + AsRawFd + Send> Stream for T {}

struct Followed {
    stream: Box<dyn Stream>,
    rank: u32,
    is_error: bool,
    file: Option<RankFile>,
    /// What has come of a line that is not over.
    line: Vec<u8>,
}

/// Where a stream goes that has a file.
enum RankFile {
    /// Nothing has been printed yet.
    To(PathBuf),
    Open(File),
    /// It cannot be written.
    Gone,
}

/// What is to be passed on of what ranks print.
pub(super) struct Relay {
    output: Output,
    followed: Vec<Followed>,
}

/// Passes on what ranks print.
#[derive(Debug)]
pub(super) struct Relaying(JoinHandle<()>);

impl Relay {
    /// A relay, where one is needed.
    pub fn new(output: &Output, ranks: u32) -> io::Result<Option<Relay>> {
        if let Output::Folder(folder) = output {
            std::fs::create_dir_all(folder)?;
            remove_old(folder)?;
        }
        Ok((*output != Output::Pass).then(|| Relay {
            output: output.clone(),
            followed: Vec::with_capacity(2 * ranks as usize),
        }))
    }

    /// Also follows the streams of a rank.
    pub fn follow(&mut self, rank: u32, out: Option<ChildStdout>, err: Option<ChildStderr>) {
        let out = out.map(|out| (Box::new(out) as Box<dyn Stream>, false));
        let err = err.map(|err| (Box::new(err) as Box<dyn Stream>, true));
        for (stream, is_error) in out.into_iter().chain(err) {
            self.followed.push(Followed {
                stream,
                rank,
                is_error,
                file: None,
                line: Vec::new(),
            });
        }
    }

    /// Begins to pass on.
    pub fn begin(self) -> io::Result<Relaying> {
        let mut followed = self.followed;
        if let Output::Folder(folder) = &self.output {
            for stream in &mut followed {
                let name = format!("{}.{}", stream.rank, if stream.is_error { "err" } else { "out" });
                stream.file = Some(RankFile::To(folder.join(name)));
            }
        }
        let thread = std::thread::Builder::new()
            .name("output of ranks".into())
            .spawn(move || pass_all(followed))?;
        Ok(Relaying(thread))
    }
}

impl Relaying {
    /// Waits until all has been passed on.
    pub fn finish(self) {
        // A thread that has panicked has said so.
        let _ = self.0.join();
    }
}

/// Removes the files of an earlier program.
fn remove_old(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_of_rank = |stem: &str| !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_digit());
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let kind = path.extension().and_then(|kind| kind.to_str());
        if stem.is_some_and(is_of_rank) && matches!(kind, Some("out" | "err")) {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}

impl RankFile {
    /// Writes what a rank has printed. Where the disk is full the ranks go on, and one line says so.
    fn write(&mut self, text: &[u8]) {
        let opened = match self {
            RankFile::To(path) => File::create(path.as_path()).map(|file| *self = RankFile::Open(file)),
            RankFile::Open(_) | RankFile::Gone => Ok(()),
        };
        let written = opened.and_then(|()| match self {
            RankFile::Open(file) => file.write_all(text),
            RankFile::To(_) | RankFile::Gone => Ok(()),
        });
        if let Err(error) = written {
            eprintln!("fabricsim: what ranks print cannot be written: {error}");
            *self = RankFile::Gone;
        }
    }
}

fn pass_all(mut followed: Vec<Followed>) {
    let mut buffer = vec![0; 1 << 16];
    while !followed.is_empty() {
        let mut polled: Vec<libc::pollfd> = followed
            .iter()
            .map(|stream| libc::pollfd {
                fd: stream.stream.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            })
            .collect();
        // SAFETY: the list is ours and has as many.
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, -1) };
        let mut polled = polled.iter();
        followed.retain_mut(|stream| {
            let is_ready = polled.next().is_some_and(|polled| polled.revents != 0);
            !is_ready || stream.pass(&mut buffer)
        });
    }
}

impl Followed {
    /// Passes on what is there; `false` when the stream is over.
    fn pass(&mut self, buffer: &mut [u8]) -> bool {
        let count = match self.stream.read(buffer) {
            Ok(count) => count,
            Err(error) => return error.kind() == ErrorKind::Interrupted,
        };
        if let Some(file) = &mut self.file {
            if count > 0 {
                file.write(&buffer[..count]);
            }
            return count > 0;
        }
        self.line.extend_from_slice(&buffer[..count]);
        if count == 0 && !self.line.is_empty() {
            self.line.push(b'\n');
        }
        let whole = self
            .line
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |last| last + 1);
        let mut text = Vec::with_capacity(whole + 64);
        for line in self.line[..whole].split_inclusive(|&byte| byte == b'\n') {
            text.extend_from_slice(format!("{}| ", self.rank).as_bytes());
            text.extend_from_slice(line);
        }
        self.line.drain(..whole);
        // Whoever reads our output may have gone.
        let _ = match self.is_error {
            true => io::stderr().write_all(&text),
            false => {
                let mut out = io::stdout().lock();
                out.write_all(&text).and_then(|()| out.flush())
            }
        };
        count > 0
    }
}
