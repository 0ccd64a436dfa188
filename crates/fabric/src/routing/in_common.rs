//! What runs of one network need alike and what takes long to find: forwarding tables, and proofs over them.
//!
//! A process keeps the tables that it has made last. Processes that run one campaign have a folder in common as well: the first that asks for something makes it
//! and puts it there, the others wait for that and map its file, so that tables are made once and are in memory once. What lies there is named by a
//! hash of all that it is made of: nothing of it shows in a result, and where the folder cannot be used everybody makes their own.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::RwLock;

static FOLDER: RwLock<Option<PathBuf>> = RwLock::new(None);

/// From now on this process shares tables with all that share them in the same folder; `None`: with none.
///
/// The folder must be for these processes alone, be of this build alone, and nothing may be changed in it by others.
pub fn share_tables_in(folder: Option<PathBuf>) {
    if let Ok(mut shared) = FOLDER.write() {
        *shared = folder;
    }
}

/// What lies in the folder in common under `name`. The first that asks makes it and puts it there.
pub(super) fn shared<T, E>(
    name: &str,
    take: impl Fn(&Path) -> Option<T>,
    make: impl FnOnce() -> Result<T, E>,
    put: impl FnOnce(&T, &Path) -> io::Result<()>,
) -> Result<T, E> {
    match FOLDER.read().ok().and_then(|folder| folder.clone()) {
        Some(folder) => shared_in(&folder, name, take, make, put),
        None => make(),
    }
}

fn shared_in<T, E>(
    folder: &Path,
    name: &str,
    take: impl Fn(&Path) -> Option<T>,
    make: impl FnOnce() -> Result<T, E>,
    put: impl FnOnce(&T, &Path) -> io::Result<()>,
) -> Result<T, E> {
    let path = folder.join(name);
    if let Some(there) = take(&path) {
        return Ok(there);
    }
    let turn = File::create(folder.join(format!("{name}.turn")));
    let Ok(_turn) = turn.and_then(|turn| turn.lock().map(|()| turn)) else {
        return make();
    };
    // Another may have had its turn before.
    if let Some(there) = take(&path) {
        return Ok(there);
    }
    let made = make()?;
    let draft = folder.join(format!("{name}.draft"));
    match put(&made, &draft).and_then(|()| fs::rename(&draft, &path)) {
        Ok(()) => Ok(take(&path).unwrap_or(made)),
        Err(_) => {
            // The disk may be full: nobody else has what this process has made.
            let _ = fs::remove_file(&draft);
            Ok(made)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn take(path: &Path) -> Option<String> {
        fs::read_to_string(path).ok()
    }

    fn put(made: &String, path: &Path) -> io::Result<()> {
        fs::write(path, made)
    }

    #[test]
    fn what_many_ask_for_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let made = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for name in ["one", "another"] {
                        let make = || {
                            std::thread::sleep(std::time::Duration::from_millis(20));
                            made.fetch_add(1, Ordering::Relaxed);
                            Ok::<_, ()>(format!("what {name} is"))
                        };
                        let got = shared_in(folder.path(), name, take, make, put);
                        assert_eq!(got.unwrap(), format!("what {name} is"));
                    }
                });
            }
        });
        assert_eq!(made.into_inner(), 2);
    }

    #[test]
    fn a_folder_that_cannot_be_used_costs_nothing_but_time() {
        let folder = tempfile::tempdir().unwrap();
        let make = || Ok::<_, ()>("made".to_owned());
        // No such folder, a disk that is full, a maker that fails.
        assert_eq!(
            shared_in(&folder.path().join("gone"), "a", take, make, put).unwrap(),
            "made"
        );
        let full = |_: &String, path: &Path| {
            fs::write(path, "ma")?;
            Err(io::ErrorKind::StorageFull.into())
        };
        assert_eq!(shared_in(folder.path(), "a", take, make, full).unwrap(), "made");
        assert!(!folder.path().join("a").exists() && !folder.path().join("a.draft").exists());
        assert_eq!(shared_in(folder.path(), "a", take, || Err(7), put), Err(7));
        // After all that it is made and kept.
        assert_eq!(shared_in(folder.path(), "a", take, make, put).unwrap(), "made");
        assert_eq!(shared_in(folder.path(), "a", take, || Err(7), put).unwrap(), "made");
    }
}
