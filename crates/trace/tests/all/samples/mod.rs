//! Small traces of our own making, one or more for each format, written into folders by the tests that read them.

#![allow(dead_code, reason = "each test takes what it needs")]

pub mod chakra;
pub mod dumpi;
pub mod flows;
pub mod goal;
pub mod htsim;
pub mod liballprof;
pub mod msccl;
pub mod ops;
pub mod otf2;
pub mod simgrid;
pub mod work;

use std::path::{Path, PathBuf};

/// A trace as the files of a folder.
pub struct Sample {
    /// Name of its format.
    pub format: &'static str,
    /// What it shows.
    pub name: &'static str,
    /// Its files by name; a name may have folders.
    pub files: Vec<(String, Vec<u8>)>,
    /// The file that a user points at.
    pub open: &'static str,
}

impl Sample {
    /// Writes it into a folder; the path that a user points at.
    pub fn write(&self, folder: &Path) -> PathBuf {
        for (name, bytes) in &self.files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("the folder can be made");
            std::fs::write(path, bytes).expect("the file can be written");
        }
        folder.join(self.open)
    }
}

/// All samples: a line for each format.
pub fn all() -> Vec<Sample> {
    let lists = [
        chakra::all(),
        dumpi::all(),
        flows::all(),
        goal::all(),
        htsim::all(),
        liballprof::all(),
        msccl::all(),
        ops::all(),
        otf2::all(),
        simgrid::all(),
        work::all(),
    ];
    lists.into_iter().flatten().collect()
}
