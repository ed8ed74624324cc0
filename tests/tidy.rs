//! The layering of ARCHITECTURE.md as data: a wrong `use` fails, and so does a file that breaks the house rules.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Module, and the modules of this crate that it may use besides itself.
const MAY_USE: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("encode", &["model"]),
    ("sort", &["model", "encode"]),
    ("plan", &["model", "encode"]),
    ("merge", &["model", "encode", "sort"]),
    ("connector", &["model", "encode"]),
    ("output", &["model", "encode"]),
    ("config", &["model"]),
    ("engine", &["model", "encode", "sort", "plan", "merge", "connector", "output", "config"]),
    ("cli", &["model", "config", "output", "engine"]),
];

/// Lines of a source file without its tests, at most: past this a file wants to be two.
const LINES_MAX: usize = 600;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn all_sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    sources(&root, &mut found);
    found.sort();
    found
        .into_iter()
        .map(|path| (path.strip_prefix(&root).unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect()
}

fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let mut wrong = Vec::new();
    for (path, text) in all_sources() {
        let module = path.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs").to_owned();
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == module) else { continue };
        let is_test = path.to_str().unwrap().contains("tests");
        for other in MAY_USE.iter().map(|(name, _)| *name).filter(|other| *other != module && !allowed.contains(other))
        {
            let direct = format!("crate::{other}::");
            let grouped = format!("\n    {other}::");
            let code = without_tests(&text);
            if !is_test && (code.contains(&direct) || (code.contains("use crate::{") && code.contains(&grouped))) {
                wrong.push(format!("{} uses {other}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "wrong arrows:\n{}", wrong.join("\n"));
}

#[test]
fn files_are_small_documented_and_ascii() {
    let mut wrong = Vec::new();
    for (path, text) in all_sources() {
        if !text.starts_with("//!") {
            wrong.push(format!("{} does not open with its doc", path.display()));
        }
        if without_tests(&text).lines().count() > LINES_MAX {
            wrong.push(format!("{} is longer than {LINES_MAX} lines", path.display()));
        }
        if let Some(line) = text.lines().position(|line| !line.is_ascii()) {
            wrong.push(format!("{}: line {} is not ASCII", path.display(), line + 1));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pure_modules_know_no_runtime_and_no_clock() {
    let mut wrong = Vec::new();
    for (path, text) in all_sources() {
        let module = path.iter().next().unwrap().to_str().unwrap().to_owned();
        if ["model", "plan", "encode", "merge"].contains(&module.as_str()) && !path.to_str().unwrap().contains("tests")
        {
            for word in ["tokio::", "Instant::now", "SystemTime::now", "std::fs", "std::net"] {
                if without_tests(&text).contains(word) {
                    wrong.push(format!("{} names {word}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
