//! The pages of `docs/extending` show the files of the worked examples as they are, and say how much of the product each needs.
//!
//! A block of code follows a comment that says what it shows: `<!-- file: NAME -->`, `<!-- lines: PATH -->`, and `<!-- needs -->` before a
//! sentence. `FABRICSIM_BLESS=1 cargo test -p fabricsim-extending --test pages` writes them anew.

use extending::{Example, Needs, examples, root};
use std::fs;

/// What a comment asks for.
fn shown(example: &Example, wish: &str) -> String {
    let block = |name: &str, text: &str| {
        let kind = match name.rsplit('.').next() {
            Some("rs") => "rust",
            Some("py") => "python",
            Some(other) => other,
            None => "",
        };
        format!("```{kind}\n{}\n```\n", text.trim_end())
    };
    match wish.split_once(": ") {
        Some(("file", name)) => block(name, &example.text(name).unwrap()),
        Some(("lines", path)) => {
            let mark = if path.ends_with(".py") { "#" } else { "//" };
            let lines = example.line.iter().filter(|line| line.to == path);
            let texts: Vec<String> = lines
                .map(|line| format!("{mark} Below `{}`:\n{}", line.below, line.text.trim_end()))
                .collect();
            assert!(!texts.is_empty(), "{} adds nothing to {path}", example.folder);
            block(path, &texts.join("\n\n"))
        }
        None if wish == "needs" => format!("{}\n", needs(example.needs())),
        _ => panic!("{}: nobody knows what to show for {wish:?}", example.page),
    }
}

/// In words.
fn needs(Needs { files, lines, places }: Needs) -> String {
    let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    format!(
        "Of the product it needs {} and {} in {}.",
        count(files, "new file"),
        count(lines, "line"),
        count(places, "file that is there").replace("file that is theres", "files that are there")
    )
}

/// The page with everything as it shall be shown.
fn as_it_should_be(page: &str, example: &Example) -> String {
    let mut out = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        out += line;
        out.push('\n');
        let comment = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->"));
        if let Some(wish) = comment {
            // What stands there is passed over: a sentence, or a block with its end.
            let is_block = lines.next().is_some_and(|line| line.starts_with("```"));
            while is_block && lines.next().is_some_and(|line| line != "```") {}
            out += &shown(example, wish);
        }
    }
    out
}

#[test]
fn pages_show_the_files_of_the_worked_examples() {
    let bless = std::env::var("FABRICSIM_BLESS").is_ok_and(|value| value == "1");
    for example in examples().unwrap() {
        let path = root().join("docs/extending").join(&example.page);
        let page = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let right = as_it_should_be(&page, &example);
        if bless {
            fs::write(&path, right).unwrap();
            continue;
        }
        assert!(
            page == right,
            "{}: FABRICSIM_BLESS=1 cargo test -p fabricsim-extending --test pages writes it anew",
            example.page
        );
        let files = example.file.iter().map(|file| format!("<!-- file: {} -->", file.name));
        let lines = example.line.iter().map(|line| format!("<!-- lines: {} -->", line.to));
        for comment in files.chain(lines).chain(["<!-- needs -->".to_owned()]) {
            assert!(page.contains(&comment), "{} does not show {comment}", example.page);
        }
    }
}

#[test]
fn code_on_a_page_comes_from_a_file() {
    for entry in fs::read_dir(root().join("docs/extending")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let page = fs::read_to_string(&path).unwrap();
        let mut before = "";
        for line in page.lines() {
            let is_code = line.trim_start().starts_with("```rust") || line.trim_start().starts_with("```python");
            assert!(
                !is_code || before.starts_with("<!-- "),
                "{name}: code by hand below {before:?}"
            );
            before = line;
        }
    }
}
