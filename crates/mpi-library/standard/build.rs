//! Gives the shared library its name for the loader, and lets it show the names of MPI only, and those of sleeping and clocks that it stands before.

use std::{env, fs, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder for what a build script writes"));
    let script = folder.join("mpi.map");
    let names = "MPI_*; PMPI_*; MPIX_*; PMPIX_*";
    let time = "sleep; usleep; nanosleep; clock_nanosleep; poll; select; clock_gettime; gettimeofday; time";
    fs::write(&script, format!("{{ global: {names}; {time}; local: *; }};\n")).expect("the folder can be written to");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmpi_abi.so.1");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--version-script={}", script.display());
    // What the loader needs is kept. Cargo calls every optimised profile "release".
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,--strip-all");
    }
}
