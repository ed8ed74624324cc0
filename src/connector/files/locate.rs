//! From a locator to the list of files it names, in path order.

use super::{
    glob,
    source::{FileRef, Place, Remote, Stamp, io_error, object_error},
};
use crate::model::{Error, ErrorKind, Result};
use futures::StreamExt;
use object_store::{ObjectStore, path::Path as ObjectPath};
use percent_encoding::percent_decode_str;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::runtime::Handle;
use url::Url;

/// Files that one locator may name; beyond it the list itself would count in the memory of a run.
const FILES_MAX: usize = 100_000;

/// Folders within folders that are looked into.
const DEPTH_MAX: usize = 64;

/// What the bytes of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Apache Parquet.
    Parquet,
    /// Delimited text.
    Csv,
    /// One JSON object a line.
    JsonLines,
}

/// How a text file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    /// Not at all.
    Plain,
    /// gzip
    Gzip,
    /// Zstandard
    Zstd,
}

/// The files of a table.
#[derive(Clone, Debug)]
pub(super) struct FileSet {
    /// The locator without fragment and secrets.
    pub(super) display: String,
    /// What all of them are.
    pub(super) format: Format,
    /// The files, sorted by path; never empty.
    pub(super) files: Vec<FileRef>,
    /// Files beside them whose names say nothing known.
    pub(super) ignored: usize,
    /// Whether the names say that tabs delimit.
    pub(super) tabs: bool,
}

/// Whether the connector for files serves `locator`: everything that is not another store's URL.
pub(super) fn is_served(locator: &str) -> bool {
    locator.split_once("://").is_none_or(|(scheme, _)| {
        matches!(
            scheme,
            "file" | "s3" | "s3a" | "gs" | "az" | "azure" | "adl" | "abfs" | "abfss" | "http" | "https" | "memory"
        )
    })
}

/// How a file of this name is compressed.
pub(super) fn compression_of(name: &str) -> Compression {
    match name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).as_deref() {
        Some("gz") => Compression::Gzip,
        Some("zst") => Compression::Zstd,
        _ => Compression::Plain,
    }
}

fn inner_extension(name: &str) -> Option<String> {
    let base = match compression_of(name) {
        Compression::Plain => name,
        _ => name.rsplit_once('.')?.0,
    };
    base.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase())
}

/// What a file of this name is.
fn format_of(name: &str) -> Option<Format> {
    match inner_extension(name)?.as_str() {
        "parquet" | "pq" if compression_of(name) == Compression::Plain => Some(Format::Parquet),
        "csv" | "tsv" => Some(Format::Csv),
        "jsonl" | "ndjson" | "json" => Some(Format::JsonLines),
        _ => None,
    }
}

fn is_skipped(relative: &str) -> bool {
    relative.split('/').any(|part| part.starts_with('.') || part.starts_with('_'))
}

struct Found {
    relative: String,
    place: Place,
    stamp: Option<Stamp>,
}

/// Resolves `locator`. Blocks.
///
/// # Errors
/// `Schema` if nothing is there or kinds are mixed, `Config` for a locator that cannot be read, `Limit` for too many
/// files, and the errors of the store.
pub(super) fn locate(locator: &str, injected: Option<Arc<dyn ObjectStore>>, runtime: &Handle) -> Result<FileSet> {
    let (base, forced) = split_fragment(locator);
    let mut ignored = 0;
    let (display, found, listed) = match base.split_once("://") {
        Some(("file", rest)) => {
            let path =
                percent_decode_str(rest.strip_prefix("localhost").unwrap_or(rest)).decode_utf8().map_err(|error| {
                    Error::new(ErrorKind::Config, "reading a file URL: it is not UTF-8").caused_by(error)
                })?;
            let (found, listed) = local(&path)?;
            (path.to_string(), found, listed)
        }
        Some((scheme, rest)) => remote(base, scheme, rest, injected, runtime)?,
        None => {
            let (found, listed) = local(base)?;
            (base.to_owned(), found, listed)
        }
    };
    let mut chosen: Vec<(Format, Found)> = Vec::new();
    for file in found {
        if listed && is_skipped(&file.relative) {
            continue;
        }
        match forced.or_else(|| format_of(&file.relative)) {
            Some(format) => chosen.push((format, file)),
            None if listed => ignored += 1,
            None => {
                return Err(Error::new(
                    ErrorKind::Schema,
                    format!("reading {display}: its name does not say its format"),
                )
                .hint("append #csv, #parquet or #jsonl to the path"));
            }
        }
    }
    let Some(format) = chosen.first().map(|(format, _)| *format) else {
        return Err(Error::new(
            ErrorKind::Schema,
            format!("reading {display}: no Parquet, CSV or JSON lines file found"),
        )
        .hint("give a file, a folder or a glob; #csv, #parquet or #jsonl at the end names the format"));
    };
    if let Some((_, other)) = chosen.iter().find(|(other, _)| *other != format) {
        let first = &chosen[0].1.relative;
        let message = format!("reading {display}: expected files of one format, found {first} and {}", other.relative);
        return Err(Error::new(ErrorKind::Schema, message).hint("use a glob, such as folder/*.parquet"));
    }
    chosen.sort_by(|(_, one), (_, other)| one.relative.cmp(&other.relative));
    let tabs = chosen.iter().filter(|(_, file)| inner_extension(&file.relative).as_deref() == Some("tsv")).count();
    if tabs != 0 && tabs != chosen.len() {
        let message = format!("reading {display}: expected one delimiter, found .csv and .tsv files");
        return Err(Error::new(ErrorKind::Schema, message).hint("use a glob, such as folder/*.csv"));
    }
    let files = chosen.into_iter().map(|(_, file)| freeze(file)).collect::<Result<_>>()?;
    Ok(FileSet { display, format, files, ignored, tabs: tabs != 0 })
}

fn freeze(file: Found) -> Result<FileRef> {
    let name = match &file.place {
        Place::Local(path) => path.display().to_string(),
        Place::Object(_, path) => path.to_string(),
    };
    let stamp = file.stamp.map_or_else(|| file.place.stamp(&name), Ok)?;
    Ok(FileRef { name, place: file.place, stamp })
}

fn split_fragment(locator: &str) -> (&str, Option<Format>) {
    match locator.rsplit_once('#') {
        Some((base, "csv")) => (base, Some(Format::Csv)),
        Some((base, "parquet")) => (base, Some(Format::Parquet)),
        Some((base, "jsonl")) => (base, Some(Format::JsonLines)),
        _ => (locator, None),
    }
}

fn too_many(display: &str) -> Error {
    Error::new(ErrorKind::Limit, format!("listing {display}: expected at most {FILES_MAX} files, found more"))
}

/// Files at a local path, folder or glob, and whether they were listed (not named).
fn local(base: &str) -> Result<(Vec<Found>, bool)> {
    let path = Path::new(base);
    match std::fs::metadata(path) {
        Ok(facts) if facts.is_dir() => {
            let mut found = Vec::new();
            walk(path, "", base, 0, &mut found)?;
            return Ok((found, true));
        }
        Ok(_) => {
            let relative = base.to_owned();
            return Ok((vec![Found { relative, place: Place::Local(path.to_owned()), stamp: None }], false));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && glob::is_pattern(base) => {}
        Err(error) => return Err(io_error(base, error)),
    }
    let (folder, pattern) = glob::split(base);
    let root = if folder.is_empty() { Path::new(".") } else { Path::new(folder) };
    let mut found = Vec::new();
    match std::fs::metadata(root) {
        Ok(facts) if facts.is_dir() => walk(root, "", base, 0, &mut found)?,
        _ => {}
    }
    found.retain(|file| glob::matches(pattern, &file.relative));
    Ok((found, true))
}

fn walk(folder: &Path, prefix: &str, display: &str, depth: usize, found: &mut Vec<Found>) -> Result<()> {
    if depth > DEPTH_MAX {
        let message = format!("listing {display}: expected at most {DEPTH_MAX} folders within folders, found more");
        return Err(Error::new(ErrorKind::Limit, message));
    }
    let shown = folder.display().to_string();
    for entry in std::fs::read_dir(folder).map_err(|error| io_error(&shown, error))? {
        let entry = entry.map_err(|error| io_error(&shown, error))?;
        let name = entry
            .file_name()
            .into_string()
            .map_err(|_| Error::new(ErrorKind::Unsupported, format!("listing {shown}: a file name is not UTF-8")))?;
        if is_skipped(&name) {
            continue;
        }
        let relative = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
        let path: PathBuf = entry.path();
        let facts = std::fs::metadata(&path).map_err(|error| io_error(&path.display().to_string(), error))?;
        if facts.is_dir() {
            walk(&path, &relative, display, depth + 1, found)?;
        } else {
            if found.len() >= FILES_MAX {
                return Err(too_many(display));
            }
            found.push(Found { relative, place: Place::Local(path), stamp: None });
        }
    }
    Ok(())
}

fn remote(
    base: &str,
    scheme: &str,
    rest: &str,
    injected: Option<Arc<dyn ObjectStore>>,
    runtime: &Handle,
) -> Result<(String, Vec<Found>, bool)> {
    let web = matches!(scheme, "http" | "https");
    if web && rest.contains('?') {
        return Err(Error::new(ErrorKind::Unsupported, "reading a web address: queries in it are not supported")
            .hint("download the file, or address the object store itself (s3://, gs://, az://)"));
    }
    let display = match rest.split_once('@') {
        Some((user, host)) if user.contains(':') => format!("{scheme}://{host}"),
        _ => base.to_owned(),
    };
    let (folder, pattern) = if web || !glob::is_pattern(rest) {
        (base, None)
    } else {
        let (folder, pattern) = glob::split(base);
        (folder, Some(pattern))
    };
    let (store, path) = match (scheme, injected) {
        ("memory", Some(store)) => (store, ObjectPath::from(folder.trim_start_matches("memory://"))),
        ("memory", None) => {
            return Err(Error::new(ErrorKind::Config, "reading memory://: no store was handed over"));
        }
        _ => open_store(folder, &display)?,
    };
    let remote = Remote { store, runtime: runtime.clone() };
    if pattern.is_none() {
        let place = Place::Object(remote.clone(), path.clone());
        match place.stamp(&display) {
            Ok(stamp) => {
                let relative = path.to_string();
                return Ok((display, vec![Found { relative, place, stamp: Some(stamp) }], false));
            }
            Err(error) if error.kind() == ErrorKind::Schema && !web => {}
            Err(error) => return Err(error),
        }
    }
    let mut found = list(&remote, &path, &display)?;
    if let Some(pattern) = pattern {
        found.retain(|file| glob::matches(pattern, &file.relative));
    }
    Ok((display, found, true))
}

fn open_store(address: &str, display: &str) -> Result<(Arc<dyn ObjectStore>, ObjectPath)> {
    let url = Url::parse(address)
        .map_err(|error| Error::new(ErrorKind::Config, format!("reading {display}: not a URL")).caused_by(error))?;
    let settings = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?.to_ascii_lowercase();
        let known = ["aws_", "google_", "azure_"].iter().any(|prefix| name.starts_with(prefix));
        Some((name, value.into_string().ok()?)).filter(|_| known)
    });
    // Whoever writes http:// wants no TLS; the store's client refuses that unless told.
    let plain = (url.scheme() == "http").then(|| ("allow_http".to_owned(), "true".to_owned()));
    let settings = settings.chain(plain);
    let (store, path) = object_store::parse_url_opts(&url, settings).map_err(|error| object_error(display, error))?;
    Ok((Arc::from(store), path))
}

fn list(remote: &Remote, folder: &ObjectPath, display: &str) -> Result<Vec<Found>> {
    remote.runtime.block_on(async {
        let mut found = Vec::new();
        let mut listing = remote.store.list(Some(folder));
        while let Some(facts) = listing.next().await {
            let facts = facts.map_err(|error| object_error(display, error))?;
            if found.len() >= FILES_MAX {
                return Err(too_many(display));
            }
            let full = facts.location.to_string();
            let relative = full.strip_prefix(folder.as_ref()).unwrap_or(&full).trim_start_matches('/').to_owned();
            let place = Place::Object(remote.clone(), facts.location.clone());
            found.push(Found { relative, place, stamp: Some(Stamp::of_object(&facts)) });
        }
        Ok(found)
    })
}
