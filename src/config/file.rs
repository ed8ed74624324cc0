//! The TOML file of a comparison.

use super::{OptionSetting, PartialRequest, PartialSide, parse_bytes, parse_duration};
use crate::model::{Error, ErrorKind, Result, Sides, SortChoice};
use serde::Deserialize;
use std::{collections::BTreeMap, ops::Range, path::PathBuf};
use toml::Spanned;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileRequest {
    source: FileSide,
    sink: FileSide,
    key: Vec<String>,
    columns: Vec<String>,
    exclude: Vec<String>,
    map: BTreeMap<String, String>,
    cast: BTreeMap<String, String>,
    option: BTreeMap<String, BTreeMap<String, Spanned<toml::Value>>>,
    sort: Option<SortName>,
    output: Option<PathBuf>,
    workers: Option<usize>,
    memory: Option<Spanned<toml::Value>>,
    ranges: Option<usize>,
    ranges_from: Option<PathBuf>,
    max_snapshot_age: Option<Spanned<String>>,
    csv: FileCsv,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileSide {
    locator: Option<Spanned<String>>,
    r#where: Option<String>,
    query: Option<String>,
    csv: FileCsv,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FileCsv {
    header: Option<bool>,
    delimiter: Option<Spanned<String>>,
    null: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SortName {
    Auto,
    Server,
    Local,
}

/// Reads a config file's text. `environment` looks up the variables that locators name as `${NAME}`.
///
/// # Errors
/// `Config`, with line and key, for what is not TOML, a key that is not known, a value that does not fit, or a
/// variable that is not set. Values do not appear in the message: they may be secrets.
pub fn parse(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<PartialRequest> {
    let file: FileRequest = toml::from_str(text).map_err(|error| {
        let message = without_value(error.message());
        at_place(text, error.span(), &message)
    })?;
    let mut options = Vec::new();
    for (column, settings) in file.option {
        for (name, value) in settings {
            let span = value.span();
            let setting = option_text(value.into_inner())
                .and_then(|value| OptionSetting::new(column.as_str(), name.as_str(), value))
                .map_err(|error| at_place(text, Some(span), "the option does not fit").caused_by(error))?;
            options.push(setting);
        }
    }
    let memory_bytes = match file.memory {
        None => None,
        Some(value) => {
            let span = value.span();
            let bytes = option_text(value.into_inner())
                .and_then(|size| parse_bytes(&size))
                .map_err(|error| at_place(text, Some(span), "the size does not fit").caused_by(error))?;
            Some(bytes)
        }
    };
    let snapshot_age_max = match file.max_snapshot_age {
        None => None,
        Some(value) => {
            let span = value.span();
            let age = parse_duration(value.get_ref())
                .map_err(|error| at_place(text, Some(span), "the duration does not fit").caused_by(error))?;
            Some(age)
        }
    };
    let sides =
        Sides::new(side(text, file.source, &file.csv, environment)?, side(text, file.sink, &file.csv, environment)?);
    Ok(PartialRequest {
        sides,
        key: file.key,
        columns: file.columns,
        exclude: file.exclude,
        map: file.map.into_iter().collect(),
        casts: file.cast.into_iter().collect(),
        options,
        sort: file.sort.map(|sort| match sort {
            SortName::Auto => SortChoice::Auto,
            SortName::Server => SortChoice::Server,
            SortName::Local => SortChoice::Local,
        }),
        ranges_from: file.ranges_from,
        output: file.output,
        workers: file.workers,
        memory_bytes,
        ranges: file.ranges,
        snapshot_age_max,
    })
}

fn side(
    text: &str,
    side: FileSide,
    shared: &FileCsv,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<PartialSide> {
    let locator = match side.locator {
        None => None,
        Some(locator) => {
            let span = locator.span();
            let expanded =
                expand(locator.get_ref(), environment).map_err(|message| at_place(text, Some(span), &message))?;
            Some(expanded)
        }
    };
    let delimiter = match side.csv.delimiter.as_ref().or(shared.delimiter.as_ref()) {
        None => None,
        Some(delimiter) => match delimiter.get_ref().as_bytes() {
            [byte] if byte.is_ascii() => Some(*byte),
            _ => {
                let message = "delimiter: expected one ASCII character";
                return Err(at_place(text, Some(delimiter.span()), message));
            }
        },
    };
    Ok(PartialSide {
        locator,
        filter: side.r#where,
        query: side.query,
        header: side.csv.header.or(shared.header),
        delimiter,
        null: side.csv.null.or_else(|| shared.null.clone()),
    })
}

/// Options are text; whole numbers may stand bare. Floats may not: they would have passed through a double.
fn option_text(value: toml::Value) -> Result<String> {
    match value {
        toml::Value::String(text) => Ok(text),
        toml::Value::Integer(number) => Ok(number.to_string()),
        other => Err(Error::new(
            ErrorKind::Config,
            format!("expected a string or a whole number, found a {}", other.type_str()),
        )
        .hint("put the value in quotes")),
    }
}

/// Puts the values of variables in the place of `${NAME}`.
fn expand(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((name, tail)) = after.split_once('}') else {
            return Err("locator: `${` without its `}`".to_owned());
        };
        let fits = !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        if !fits {
            return Err("locator: expected the name of an environment variable between `${` and `}`".to_owned());
        }
        let value = environment(name).ok_or_else(|| format!("locator: environment variable {name} is not set"))?;
        out.push_str(&value);
        rest = tail;
    }
    out.push_str(rest);
    Ok(out)
}

/// An error that names the line, and the key on it. The line itself is not shown: it may hold a secret.
fn at_place(text: &str, span: Option<Range<usize>>, message: &str) -> Error {
    let Some(start) = span.map(|span| span.start.min(text.len())) else {
        return Error::new(ErrorKind::Config, format!("config file: {message}"));
    };
    let before = text.get(..start).unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let line = text.lines().nth(number - 1).unwrap_or_default();
    let key = match line.split_once('=') {
        Some((key, _)) if !key.contains(['"', '\'', '#', ':', '/']) => key.trim(),
        _ => "",
    };
    let place = if key.is_empty() { String::new() } else { format!(", key {key}") };
    Error::new(ErrorKind::Config, format!("config file line {number}{place}: {message}"))
}

/// Takes the offending value out of a parser's message.
fn without_value(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    if first.starts_with("invalid type") || first.starts_with("invalid value") {
        return match first.rsplit_once(", expected ") {
            Some((_, expected)) => format!("the value does not fit: expected {expected}"),
            None => "the value does not fit".to_owned(),
        };
    }
    first.to_owned()
}
