//! Worked examples: things that a newcomer adds to fabricsim, as `docs/extending` shows them. A folder of `worked/` each, with the files
//! that it adds and an `add.toml` that says where they go and which lines others need.
//!
//! What studies name is a closed list in the crate that runs it, so that nothing is looked up while events are handled: no crate outside can
//! add to it. The examples are therefore applied to a copy of the tree, all of them together, and tested there ([`copy`],
//! `tests/tree.rs`). The pages show the text of these very files (`tests/pages.rs`).

use serde::Deserialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What one worked example adds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// Its folder below `worked/`.
    #[serde(skip)]
    pub folder: String,
    /// Name of its page in `docs/extending`.
    pub page: String,
    /// Files of its own.
    #[serde(default)]
    pub file: Vec<AddedFile>,
    /// Lines in files that are there.
    #[serde(default)]
    pub line: Vec<AddedLines>,
}

/// A file that an example adds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddedFile {
    /// Its name in the example's folder.
    pub name: String,
    /// Where it goes, from the root of the tree.
    pub to: String,
}

/// Lines that an example adds to a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddedLines {
    /// The file, from the root of the tree.
    pub to: String,
    /// The line that they follow, without the space around it; the first of them in the file.
    pub below: String,
    /// The lines, as they stand in the file.
    pub text: String,
}

/// How much of the product an example needs: its own files, and lines in files of others; tests and documents apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Files of its own.
    pub files: usize,
    /// Lines in files that were there.
    pub lines: usize,
    /// The files that those lines are in.
    pub places: usize,
}

/// The root of the tree that this crate is in.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of the worked examples.
pub fn worked() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("worked")
}

/// All worked examples, by name.
///
/// # Errors
/// A folder that cannot be read, or an `add.toml` that says something else than [`Example`].
pub fn examples() -> io::Result<Vec<Example>> {
    let mut folders: Vec<PathBuf> = fs::read_dir(worked())?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    folders.retain(|path| path.is_dir());
    folders.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path.join("add.toml"))?;
        let mut example: Example = toml::from_str(&text).map_err(|error| wrong(path, &error.to_string()))?;
        example.folder = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(example)
    };
    folders.iter().map(read).collect()
}

fn wrong(path: &Path, reason: &str) -> io::Error {
    io::Error::other(format!("{}: {reason}", path.display()))
}

/// Whether a file is part of the product: neither test nor document.
fn is_product(path: &str) -> bool {
    !["tests", "docs", "changes"]
        .iter()
        .any(|folder| path.split('/').any(|part| part == *folder))
}

impl Example {
    /// The text of one of its files.
    ///
    /// # Errors
    /// There is no such file.
    pub fn text(&self, name: &str) -> io::Result<String> {
        let path = worked().join(&self.folder).join(name);
        fs::read_to_string(&path).map_err(|error| wrong(&path, &error.to_string()))
    }

    /// What it needs of the product.
    pub fn needs(&self) -> Needs {
        let mut places: Vec<&str> = self
            .line
            .iter()
            .map(|line| line.to.as_str())
            .filter(|to| is_product(to))
            .collect();
        let lines = self.line.iter().filter(|line| is_product(&line.to));
        let lines = lines.map(|line| line.text.lines().count()).sum();
        places.sort_unstable();
        places.dedup();
        Needs {
            files: self.file.iter().filter(|file| is_product(&file.to)).count(),
            lines,
            places: places.len(),
        }
    }

    /// Adds it to a tree.
    ///
    /// # Errors
    /// A file is there already, or the line that others follow is not.
    pub fn apply(&self, tree: &mut SourceTree) -> io::Result<()> {
        for file in &self.file {
            if tree.text(&file.to).is_ok() {
                return Err(wrong(Path::new(&file.to), "is there already"));
            }
            tree.put(&file.to, self.text(&file.name)?);
        }
        for AddedLines { to, below, text } in &self.line {
            let before = tree.text(to)?;
            let Some(at) = before.lines().position(|line| line.trim() == below) else {
                return Err(wrong(
                    Path::new(to),
                    &format!("has no line {below:?}, which {} follows", self.folder),
                ));
            };
            let mut lines: Vec<&str> = before.lines().collect();
            lines.splice(at + 1..at + 1, text.lines());
            tree.put(to, lines.join("\n") + "\n");
        }
        Ok(())
    }
}

/// A tree with changes that are not written yet.
#[derive(Debug)]
pub struct SourceTree {
    from: PathBuf,
    changed: Vec<(String, String)>,
}

impl SourceTree {
    /// The tree below a folder.
    pub fn of(from: PathBuf) -> SourceTree {
        SourceTree { from, changed: vec![] }
    }

    /// The text of a file.
    ///
    /// # Errors
    /// There is no such file.
    pub fn text(&self, path: &str) -> io::Result<String> {
        match self.changed.iter().find(|(changed, _)| changed == path) {
            Some((_, text)) => Ok(text.clone()),
            None => {
                fs::read_to_string(self.from.join(path)).map_err(|error| wrong(Path::new(path), &error.to_string()))
            }
        }
    }

    /// Gives a file this text.
    pub fn put(&mut self, path: &str, text: String) {
        self.changed.retain(|(changed, _)| changed != path);
        self.changed.push((path.to_owned(), text));
    }

    /// Writes the tree to another folder: these files and folders of it, with all changes. A file that is there with the same content is
    /// left alone, so that what was built of it stays; what belongs to no file of the tree is removed.
    ///
    /// # Errors
    /// Something cannot be read or written.
    pub fn write(&self, to: &Path, parts: &[&str]) -> io::Result<()> {
        let mut files = Vec::new();
        for part in parts {
            list(&self.from, Path::new(part), &mut files)?;
        }
        let mut wanted = Vec::new();
        for path in files {
            let bytes = match self.changed.iter().find(|(changed, _)| Path::new(changed) == path) {
                Some(_) => continue,
                None => fs::read(self.from.join(&path))?,
            };
            wanted.push((path, bytes));
        }
        wanted.extend(
            self.changed
                .iter()
                .map(|(path, text)| (path.into(), text.clone().into_bytes())),
        );
        let mut there = Vec::new();
        if to.exists() {
            for part in parts.iter().filter(|part| to.join(part).exists()) {
                list(to, Path::new(part), &mut there)?;
            }
        }
        for path in there
            .iter()
            .filter(|path| !wanted.iter().any(|(wanted, _)| wanted == *path))
        {
            fs::remove_file(to.join(path))?;
        }
        for (path, bytes) in wanted {
            let target = to.join(&path);
            if fs::read(&target).ok().as_ref() != Some(&bytes) {
                fs::create_dir_all(target.parent().unwrap_or(to))?;
                fs::write(&target, bytes)?;
            }
        }
        Ok(())
    }
}

/// Lists the files below a folder, or the file itself; what a build leaves is none of them.
fn list(root: &Path, path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let full = root.join(path);
    if full.is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(&full).map_err(|error| wrong(&full, &error.to_string()))? {
        let name = entry?.file_name();
        if name != "target" && name != "__pycache__" {
            list(root, &path.join(name), files)?;
        }
    }
    Ok(())
}
