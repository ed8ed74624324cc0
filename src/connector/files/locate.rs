//! From a locator to the list of files it names, in path order.

use super::{
    glob,
    glob::Dots,
    naming,
    naming::{Format, PartitionValue, format_of, inner_extension, is_side_file},
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

/// Names of files that an error lists.
const NAMED_MAX: usize = 3;

/// The files of a table.
#[derive(Clone, Debug)]
pub(super) struct FileSet {
    /// The locator without fragment and secrets.
    pub(super) display: String,
    /// What all of them are.
    pub(super) format: Format,
    /// The files, sorted by path; never empty.
    pub(super) files: Vec<FileRef>,
    /// Names of the columns that folders `name=value` make; each file has their values.
    pub(super) partitions: Vec<String>,
    /// Side files beside them, such as `_SUCCESS`, which were not read; none of them is named like data.
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

struct Found {
    relative: String,
    place: Place,
    stamp: Option<Stamp>,
}

/// How files came to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// The locator names the file.
    Name,
    /// They lie in the folder that the locator names.
    Folder,
    /// The locator is a pattern.
    Glob,
}

/// Files, and how they came to be found.
struct Listing {
    by: By,
    found: Vec<Found>,
    ignored: usize,
}

impl Listing {
    /// The file that the locator names.
    fn named(file: Found) -> Self {
        Self { by: By::Name, found: vec![file], ignored: 0 }
    }

    /// Everything below a folder; side files are set apart.
    ///
    /// # Errors
    /// `Unsupported` if a log decides which of the files belong to the table, `Schema` if a side file could be data.
    fn of_folder(display: &str, mut found: Vec<Found>, forced: Option<Format>) -> Result<Self> {
        if let Some(kind) = found.iter().find_map(|file| naming::table_log(&file.relative)) {
            let message = format!("reading {display}: this is {kind} table: its log decides which files belong to it");
            return Err(Error::new(ErrorKind::Unsupported, message)
                .hint("compare an export of it, or name the files that belong to it by a glob"));
        }
        let all = found.len();
        let mut data = None;
        found.retain(|file| {
            let is_side = is_side_file(&file.relative);
            if is_side && data.is_none() && naming::is_data_set_aside(&file.relative, forced) {
                data = Some(file.relative.clone());
            }
            !is_side
        });
        if let Some(name) = data {
            return Err(left_out(display, &name));
        }
        Ok(Self { by: By::Folder, ignored: all - found.len(), found })
    }

    /// What a pattern matches of everything below its folder.
    ///
    /// # Errors
    /// `Schema` if it matches a folder whose files it does not match, or if its wildcards leave out, for a leading dot, a
    /// file that could be data.
    fn of_glob(display: &str, pattern: &str, mut found: Vec<Found>, forced: Option<Format>) -> Result<Self> {
        let (mut folder, mut data, mut ignored) = (None, None, 0);
        found.retain(|file| {
            let relative = &file.relative;
            let matched = glob::matches(pattern, relative, Dots::Spelt);
            if !matched && glob::matches(pattern, relative, Dots::Any) {
                ignored += 1;
                if data.is_none() && naming::is_data_set_aside(relative, forced) {
                    data = Some(relative.clone());
                }
            } else if !matched && folder.is_none() {
                let cuts = relative.match_indices('/').map(|(at, _)| &relative[..at]);
                folder = cuts.into_iter().find(|cut| glob::matches(pattern, cut, Dots::Spelt)).map(str::to_owned);
            }
            matched
        });
        if let Some(name) = data {
            return Err(left_out(display, &name));
        }
        if let Some(folder) = folder {
            let message = format!("reading {display}: expected files alone, found the folder {folder}");
            return Err(Error::new(ErrorKind::Schema, message)
                .hint("a glob names files: end it with /* for those within folders, or /** for those at any depth"));
        }
        Ok(Self { by: By::Glob, found, ignored })
    }
}

/// A file that custom would leave out although it is named like data.
fn left_out(display: &str, name: &str) -> Error {
    if naming::is_unfinished(name) {
        let message = format!("reading {display}: found {name}, which a write left that has not finished");
        return Error::new(ErrorKind::Schema, message).hint(
            "wait until it has finished, remove what it left, or name the files by a glob, such as folder/*.csv",
        );
    }
    let message = format!(
        "reading {display}: found {name}, which would be left out because a name in its path begins with . or _, but \
         is named like data"
    );
    Error::new(ErrorKind::Schema, message).hint(
        "move it away or rename it; a glob takes names that begin with _, and those with . where the pattern spells \
         the dot",
    )
}

/// Resolves `locator`. Blocks.
///
/// # Errors
/// `Schema` if nothing is there, kinds are mixed or a name says no format, `Unsupported` for formats that are not read,
/// `Config` for a locator that cannot be read, `Limit` for too many files, and the errors of the store.
pub(super) fn locate(locator: &str, injected: Option<Arc<dyn ObjectStore>>, runtime: &Handle) -> Result<FileSet> {
    let (base, forced) = split_fragment(locator);
    let (display, listing) = match base.split_once("://") {
        Some(("file", rest)) => {
            let path =
                percent_decode_str(rest.strip_prefix("localhost").unwrap_or(rest)).decode_utf8().map_err(|error| {
                    Error::new(ErrorKind::Config, "reading a file URL: it is not UTF-8").caused_by(error)
                })?;
            (path.to_string(), local(&path, forced)?)
        }
        Some((scheme, rest)) => remote((base, scheme, rest), forced, injected, runtime)?,
        None => (base.to_owned(), local(base, forced)?),
    };
    let mut chosen = choose(&display, listing.by, listing.found, forced)?;
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
    let partitioned = listing.by != By::Name;
    let (mut partitions, mut files) = (Vec::new(), Vec::with_capacity(chosen.len()));
    for (at, (_, file)) in chosen.into_iter().enumerate() {
        let found = if partitioned { naming::partitions_of(&file.relative)? } else { Vec::new() };
        let (names, values): (Vec<String>, Vec<PartitionValue>) = found.into_iter().unzip();
        if at == 0 {
            partitions = names;
        } else if names != partitions {
            let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let message = format!(
                "reading {display}: expected the same partitions for all files, found {} and, of {}, {}",
                list(&partitions),
                file.relative,
                list(&names)
            );
            return Err(Error::new(ErrorKind::Schema, message)
                .hint("folders called name=value make columns; name the files of one layout by a glob"));
        }
        files.push(freeze(file, values)?);
    }
    Ok(FileSet { display, format, files, partitions, ignored: listing.ignored, tabs: tabs != 0 })
}

/// Gives each file its format. Nothing is passed over: a file that is not read would count as one that is not there.
fn choose(display: &str, by: By, found: Vec<Found>, forced: Option<Format>) -> Result<Vec<(Format, Found)>> {
    let (mut chosen, mut unknown) = (Vec::with_capacity(found.len()), Vec::new());
    for file in found {
        match format_of(&file.relative, forced)? {
            Some(format) => chosen.push((format, file)),
            None => unknown.push(file.relative),
        }
    }
    if unknown.is_empty() {
        return Ok(chosen);
    }
    if by == By::Name {
        return Err(Error::new(ErrorKind::Schema, format!("reading {display}: its name does not say its format"))
            .hint("append #csv, #parquet or #jsonl to the path"));
    }
    unknown.sort_unstable();
    let more = unknown.len().saturating_sub(NAMED_MAX);
    unknown.truncate(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message =
        format!("reading {display}: expected names that say their format, found {}{more}", unknown.join(", "));
    Err(Error::new(ErrorKind::Schema, message).hint(
        "name the files by a glob, such as folder/*.csv, or append #csv, #parquet or #jsonl if all of them are that",
    ))
}

fn freeze(file: Found, partitions: Vec<PartitionValue>) -> Result<FileRef> {
    let name = match &file.place {
        Place::Local(path) => path.display().to_string(),
        Place::Object(_, path) => path.to_string(),
    };
    let stamp = file.stamp.map_or_else(|| file.place.stamp(&name), Ok)?;
    Ok(FileRef { name, place: file.place, stamp, partitions: partitions.into() })
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

/// Files at a local path, folder or glob.
fn local(base: &str, forced: Option<Format>) -> Result<Listing> {
    let path = Path::new(base);
    match std::fs::metadata(path) {
        Ok(facts) if facts.is_dir() => {
            let mut found = Vec::new();
            walk(path, "", base, 0, &mut found)?;
            return Listing::of_folder(base, found, forced);
        }
        Ok(_) => {
            let relative = base.to_owned();
            return Ok(Listing::named(Found { relative, place: Place::Local(path.to_owned()), stamp: None }));
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
    Listing::of_glob(base, pattern, found, forced)
}

/// Lists everything below `folder`, in hidden folders too: whoever leaves out files must know them.
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
    (base, scheme, rest): (&str, &str, &str),
    forced: Option<Format>,
    injected: Option<Arc<dyn ObjectStore>>,
    runtime: &Handle,
) -> Result<(String, Listing)> {
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
                return Ok((display, Listing::named(Found { relative, place, stamp: Some(stamp) })));
            }
            Err(error) if error.kind() == ErrorKind::Schema && !web => {}
            Err(error) => return Err(error),
        }
    }
    let found = list(&remote, &path, &display)?;
    let listing = match pattern {
        Some(pattern) => Listing::of_glob(&display, pattern, found, forced)?,
        None => Listing::of_folder(&display, found, forced)?,
    };
    Ok((display, listing))
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
            // Some tools mark a folder by an object without bytes.
            if facts.size == 0 && (relative.is_empty() || relative.ends_with("_$folder$")) {
                continue;
            }
            let place = Place::Object(remote.clone(), facts.location.clone());
            found.push(Found { relative, place, stamp: Some(Stamp::of_object(&facts)) });
        }
        Ok(found)
    })
}
