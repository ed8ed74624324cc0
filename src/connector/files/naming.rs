//! What the names of files say: format, compression, side files, partitions, and tables that a log describes.

use crate::model::{Error, ErrorKind, Result};
use percent_encoding::percent_decode_str;

/// The folder name by which Hive, Spark and others mean NULL.
const NULL_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

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

/// The value of a partition; `None` is NULL.
pub(super) type PartitionValue = Option<std::sync::Arc<str>>;

fn extension(name: &str) -> Option<(&str, String)> {
    let last = name.rsplit_once('/').map_or(name, |(_, last)| last);
    last.rsplit_once('.').map(|(base, extension)| (base, extension.to_ascii_lowercase()))
}

/// How a file of this name is compressed.
pub(super) fn compression_of(name: &str) -> Compression {
    match extension(name).as_ref().map(|(_, extension)| extension.as_str()) {
        Some("gz") => Compression::Gzip,
        Some("zst") => Compression::Zstd,
        _ => Compression::Plain,
    }
}

/// The extension below that of a compression, in lower case.
pub(super) fn inner_extension(name: &str) -> Option<String> {
    let (base, outer) = extension(name)?;
    match compression_of(name) {
        Compression::Plain => Some(outer),
        _ => extension(base).map(|(_, inner)| inner),
    }
}

/// What a file of this name is; `None` if the name does not say.
///
/// # Errors
/// `Unsupported` for a name that says a format or a compression that is not read, whatever format was `forced`.
pub(super) fn format_of(name: &str, forced: Option<Format>) -> Result<Option<Format>> {
    let refuse = |what: &str, hint: &str| {
        Err(Error::new(ErrorKind::Unsupported, format!("reading {name}: {what} is not supported")).hint(hint))
    };
    let outer = extension(name).map(|(_, extension)| extension);
    if let Some(outer @ ("bz2" | "xz" | "lzma" | "lz4" | "sz" | "br" | "z" | "zip" | "7z" | "rar")) = outer.as_deref() {
        return refuse(&format!("compression .{outer}"), "unpack it, or pack it as .gz or .zst");
    }
    let inner = inner_extension(name);
    match (inner.as_deref(), compression_of(name)) {
        (Some("parquet" | "pq"), Compression::Gzip | Compression::Zstd) => {
            refuse("Parquet that is compressed as a whole", "unpack it: Parquet compresses its pages by itself")
        }
        _ if forced.is_some() => Ok(forced),
        (Some("parquet" | "pq"), Compression::Plain) => Ok(Some(Format::Parquet)),
        (Some("csv" | "tsv"), _) => Ok(Some(Format::Csv)),
        (Some("jsonl" | "ndjson" | "json"), _) => Ok(Some(Format::JsonLines)),
        (Some(other @ ("orc" | "avro" | "arrow" | "feather")), _) => {
            refuse(&format!("the format .{other}"), "write it as Parquet")
        }
        _ => Ok(None),
    }
}

/// Whether a file or folder of this name is by custom no data: `_SUCCESS`, `_temporary`, `.part-0.crc`. A partition
/// whose column begins with `_` is data.
fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || (name.starts_with('_') && !name.contains('='))
}

/// Whether the file at this path within a folder only accompanies data.
pub(super) fn is_side_file(relative: &str) -> bool {
    relative.split('/').any(is_hidden)
        || extension(relative).is_some_and(|(_, extension)| matches!(extension.as_str(), "crc" | "md5"))
}

/// Whether a side file at this path within a folder is named as data are, so that leaving it out could lose rows:
/// `_b.csv`, `.old/a.parquet`, all that an unfinished write left below `_temporary`, and, where the format is `forced`,
/// whatever lies in a hidden folder.
pub(super) fn is_data_set_aside(relative: &str, forced: Option<Format>) -> bool {
    let (folders, name) = relative.rsplit_once('/').unwrap_or(("", relative));
    // A name that says a format which is not read says data, too.
    let is_plain = !is_side_file(name);
    let is_unnamed_data = forced.is_some() && !folders.is_empty();
    format_of(name, None).map_or(true, |format| format.is_some())
        || (is_plain && (is_unnamed_data || is_unfinished(relative)))
}

/// Whether the path lies in a folder that Hadoop and Spark keep only while they write.
pub(super) fn is_unfinished(relative: &str) -> bool {
    relative.rsplit('/').skip(1).any(|part| part == "_temporary")
}

/// The name of the table format whose log lies at `relative`, a path within the folder of a table: then not every file
/// of the folder belongs to the table.
pub(super) fn table_log(relative: &str) -> Option<&'static str> {
    let mut parts = relative.rsplit('/');
    let (last, folder) = (parts.next().unwrap_or_default(), parts.next());
    if relative.split('/').any(|part| part == "_delta_log") {
        Some("a Delta")
    } else if relative.split('/').any(|part| part == ".hoodie") {
        Some("a Hudi")
    } else if relative.split('/').any(|part| part == "_spark_metadata") {
        Some("a Spark streaming")
    } else if folder == Some("metadata") && last.ends_with(".metadata.json") {
        Some("an Iceberg")
    } else {
        None
    }
}

/// The partitions `name=value` that the folders of a path say, outermost first.
///
/// # Errors
/// `Schema` if a name occurs twice or is not UTF-8.
pub(super) fn partitions_of(relative: &str) -> Result<Vec<(String, PartitionValue)>> {
    let mut found: Vec<(String, PartitionValue)> = Vec::new();
    let Some((folders, _)) = relative.rsplit_once('/') else { return Ok(found) };
    let decoded = |text: &str| {
        percent_decode_str(text).decode_utf8().map(std::borrow::Cow::into_owned).map_err(|error| {
            Error::new(ErrorKind::Schema, format!("reading {relative}: a folder's name is not UTF-8 once decoded"))
                .caused_by(error)
        })
    };
    for (name, value) in folders.split('/').filter_map(|part| part.split_once('=')) {
        if name.is_empty() {
            continue;
        }
        let name = decoded(name)?;
        if found.iter().any(|(known, _)| *known == name) {
            let message = format!("reading {relative}: two of its folders name the partition {name}");
            return Err(Error::new(ErrorKind::Schema, message));
        }
        let value = if value == NULL_PARTITION { None } else { Some(decoded(value)?.into()) };
        found.push((name, value));
    }
    Ok(found)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn names_say_format_or_that_it_is_not_supported() {
        for (name, expected) in [
            ("a.parquet", Some(Format::Parquet)),
            ("x.d/a.CSV.GZ", Some(Format::Csv)),
            ("a.json.zst", Some(Format::JsonLines)),
            ("a.txt", None),
            ("x.csv/a", None),
            ("a.gz", None),
        ] {
            assert_eq!(format_of(name, None).unwrap(), expected, "{name}");
        }
        assert_eq!(format_of("a.gz", Some(Format::Csv)).unwrap(), Some(Format::Csv));
        for name in ["a.csv.bz2", "a.csv.xz", "a.orc", "a.parquet.gz"] {
            assert_eq!(format_of(name, None).unwrap_err().kind(), ErrorKind::Unsupported, "{name}");
        }
        for name in ["a.csv.bz2", "a.parquet.gz"] {
            assert_eq!(format_of(name, Some(Format::Csv)).unwrap_err().kind(), ErrorKind::Unsupported, "{name}");
        }
    }

    #[test]
    fn side_files_are_few() {
        for name in ["_SUCCESS", ".a.parquet.crc", "a.parquet.crc", "a.csv.md5", "_temporary/0/a.parquet"] {
            assert!(is_side_file(name), "{name}");
        }
        for name in ["README.md", "a.csv.bz2", "part-00000", "_day=1/a.parquet", "a_b.csv"] {
            assert!(!is_side_file(name), "{name}");
        }
    }

    #[test]
    fn side_files_that_are_named_like_data_are_told_apart() {
        for name in ["_b.csv", ".b.json.gz", ".b.csv.bz2", "_old/a.parquet", "_temporary/0/part-00000"] {
            assert!(is_data_set_aside(name, None), "{name}");
        }
        for name in ["_SUCCESS", "_metadata", ".a.parquet.crc", "a.csv.md5", "_temporary/0/.part-0.crc", ".git/HEAD"] {
            assert!(!is_data_set_aside(name, None), "{name}");
        }
        assert!(is_data_set_aside("_old/part-00000", Some(Format::Csv)));
        for name in ["_SUCCESS", ".part-00000.crc", "_old/_SUCCESS"] {
            assert!(!is_data_set_aside(name, Some(Format::Csv)), "{name}");
        }
    }

    #[test]
    fn folders_name_partitions() {
        let found = partitions_of("y=2024/x/who=a%2Fb=c/z=__HIVE_DEFAULT_PARTITION__/k=v.csv").unwrap();
        let expected =
            [("y".to_owned(), Some("2024".into())), ("who".to_owned(), Some("a/b=c".into())), ("z".to_owned(), None)];
        assert_eq!(found, expected);
        assert_eq!(partitions_of("y=1/y=2/a.csv").unwrap_err().kind(), ErrorKind::Schema);
    }
}
