//! Locators and the settings of MySQL's own clients: URL, then option file, then environment, then defaults.

use super::{
    options,
    tls::{TlsMode, TlsSettings},
};
use crate::model::{Error, ErrorKind, Result};
use percent_encoding::percent_decode_str;
use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

/// Parameters that a locator may set.
const PARAMETERS: &[&str] =
    &["socket", "ssl-mode", "ssl-ca", "ssl-cert", "ssl-key", "connect-timeout", "lock", "not-frozen"];
/// How long a server may take to answer where nothing is configured.
const CONNECT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
/// The port where nothing says another.
const PORT_DEFAULT: u16 = 3306;
/// Permission bit of a file that everybody may write: MySQL's clients ignore such an option file, and so do we.
const WORLD_WRITABLE: u32 = 0o002;

/// A file as the reader found it.
pub(super) struct FileText {
    pub(super) text: String,
    /// Permission bits.
    pub(super) mode: u32,
}

/// The outer world, as far as locators look at it.
pub(super) struct World<'a> {
    pub(super) env: &'a dyn Fn(&str) -> Option<String>,
    pub(super) file: &'a dyn Fn(&Path) -> Option<FileText>,
}

/// Where the server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// A host and a port.
    Tcp(String, u16),
    /// A socket file.
    Unix(PathBuf),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp(host, port) => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A table as the locator names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableName {
    pub(super) database: Option<String>,
    pub(super) table: String,
}

/// Everything needed to connect. Holds a secret, so it cannot be shown.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) endpoint: Endpoint,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: Option<String>,
    pub(super) tls: TlsSettings,
    pub(super) connect_timeout: Duration,
    /// Whether a brief `FLUSH TABLES WITH READ LOCK` is allowed, under which all workers take their snapshots.
    pub(super) lock: bool,
    /// Whether tables that no snapshot freezes may be read all the same.
    pub(super) not_frozen: bool,
    pub(super) table: Option<TableName>,
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, message).hint("write mysql://user@host:port/database#table")
}

fn decoded(text: &str) -> Result<String> {
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        if !rest.get(at + 1..at + 3).is_some_and(|pair| pair.iter().all(u8::is_ascii_hexdigit)) {
            return Err(bad("reading the locator: expected two hexadecimal digits after a percent sign"));
        }
        rest = &rest[at + 3..];
    }
    let text = percent_decode_str(text).decode_utf8().map_err(|_| bad("reading the locator: expected UTF-8"))?;
    if text.contains('\0') {
        return Err(bad("reading the locator: expected no zero byte"));
    }
    Ok(text.into_owned())
}

/// The parameters of a URL, and its fragment.
fn parse_url(locator: &str) -> Result<(BTreeMap<String, String>, Option<TableName>)> {
    let rest = locator
        .strip_prefix("mysql://")
        .or_else(|| locator.strip_prefix("mariadb://"))
        .ok_or_else(|| bad("reading the locator: expected mysql:// or mariadb://"))?;
    let (rest, fragment) = rest.split_once('#').map_or((rest, None), |(rest, fragment)| (rest, Some(fragment)));
    let table = fragment.map(|fragment| parse_table(&decoded(fragment)?)).transpose()?;
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, query)| (rest, query));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    // A character of a password that was not encoded ends the authority early; what is left must not pass for a host.
    if !authority.contains('@') && (database.contains('@') || fragment.is_some_and(|text| text.contains('@'))) {
        return Err(bad("reading the locator: found `@` after the host")
            .hint("percent-encode the characters : / ? # @ % of a user name, password, database or table"));
    }
    let mut parameters = BTreeMap::new();
    let host = match authority.rsplit_once('@') {
        None => authority,
        Some((login, host)) => {
            let (user, password) =
                login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
            if !user.is_empty() {
                parameters.insert("user".to_owned(), decoded(user)?);
            }
            if let Some(password) = password {
                parameters.insert("password".to_owned(), decoded(password)?);
            }
            host
        }
    };
    parse_host(host, &mut parameters)?;
    if !database.is_empty() {
        if database.contains('/') {
            return Err(bad("reading the locator: expected one database after the host, found another slash"));
        }
        parameters.insert("database".to_owned(), decoded(database)?);
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| bad("reading the locator: expected name=value after the question mark"))?;
        let name = match decoded(name)?.replace('_', "-") {
            name if name == "sslmode" => "ssl-mode".to_owned(),
            name => name,
        };
        if !PARAMETERS.contains(&name.as_str()) {
            return Err(bad(format!("reading the connection settings: the parameter `{name}` is not supported"))
                .hint(format!("the parameters are {}", PARAMETERS.join(", "))));
        }
        parameters.insert(name, decoded(value)?);
    }
    Ok((parameters, table))
}

fn parse_host(text: &str, parameters: &mut BTreeMap<String, String>) -> Result<()> {
    if text.contains(',') {
        return Err(bad("reading the locator: expected one host"));
    }
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, "")) => (address, ""),
        Some((address, rest)) => {
            (address, rest.strip_prefix(':').ok_or_else(|| bad("reading the locator: expected a port"))?)
        }
        None => text.rsplit_once(':').unwrap_or((text, "")),
    };
    if !port.is_empty() {
        port_of(port)
            .map_err(|error| error.hint("percent-encode the characters : / ? # @ % of a user name or password"))?;
        parameters.insert("port".to_owned(), port.to_owned());
    }
    if !host.is_empty() {
        parameters.insert("host".to_owned(), decoded(host)?);
    }
    Ok(())
}

fn port_of(text: &str) -> Result<u16> {
    text.parse()
        .ok()
        .filter(|port| *port > 0)
        .ok_or_else(|| bad("reading the locator: expected a port from 1 to 65535 after the host"))
}

/// Reads `table` or `database.table`, with either part in backticks or double quotes.
fn parse_table(text: &str) -> Result<TableName> {
    let wrong = || bad("reading the locator: expected #table or #database.table, parts with dots in backticks");
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let quote = rest.chars().next().filter(|sign| matches!(sign, '`' | '"'));
        if let Some(quote) = quote {
            let mut name = String::new();
            let mut quoted = &rest[1..];
            loop {
                let (head, tail) = quoted.split_once(quote).ok_or_else(wrong)?;
                name.push_str(head);
                if let Some(more) = tail.strip_prefix(quote) {
                    name.push(quote);
                    quoted = more;
                } else {
                    rest = tail;
                    break;
                }
            }
            parts.push(name);
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            parts.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        match rest.strip_prefix('.') {
            Some(more) => rest = more,
            None if rest.is_empty() => break,
            None => return Err(wrong()),
        }
    }
    if parts.iter().any(String::is_empty) {
        return Err(wrong());
    }
    match (parts.pop(), parts.pop(), parts.pop()) {
        (Some(table), database, None) => Ok(TableName { database, table }),
        _ => Err(wrong()),
    }
}

/// Reads a locator and whatever MySQL's own clients would add to it.
pub(super) fn resolve(locator: &str, world: &World<'_>) -> Result<Settings> {
    let (mut parameters, table) = parse_url(locator)?;
    let from_env = |name: &str| (world.env)(name).filter(|value| !value.is_empty());
    let file = from_env("HOME").map(|home| Path::new(&home).join(".my.cnf"));
    if let Some(file) = file.and_then(|path| (world.file)(&path)).filter(|file| file.mode & WORLD_WRITABLE == 0) {
        let read =
            |path: &Path| (world.file)(path).filter(|file| file.mode & WORLD_WRITABLE == 0).map(|file| file.text);
        let mut found = BTreeMap::new();
        options::apply(&mut found, options::parse(&file.text), &read, 0);
        take_file(&mut parameters, found);
    }
    for (variable, name) in [("MYSQL_PWD", "password"), ("MYSQL_HOST", "host"), ("MYSQL_TCP_PORT", "port")] {
        if let Some(value) = from_env(variable) {
            parameters.entry(name.to_owned()).or_insert(value);
        }
    }
    if !parameters.contains_key("host")
        && let Some(path) = from_env("MYSQL_UNIX_PORT")
    {
        parameters.entry("socket".to_owned()).or_insert(path);
    }
    if let Some(user) = from_env("USER").or_else(|| from_env("LOGNAME")) {
        parameters.entry("user".to_owned()).or_insert(user);
    }
    build(&parameters, table)
}

/// Adds what an option file says where the locator says nothing.
fn take_file(parameters: &mut BTreeMap<String, String>, found: BTreeMap<String, String>) {
    // A socket of the file is that of its server, not of the one that the locator names.
    let named = parameters.contains_key("host") || parameters.contains_key("socket");
    let off = |value: &str| matches!(value.to_lowercase().as_str(), "0" | "off" | "false");
    for (name, value) in found {
        let (name, value) = match name.as_str() {
            "socket" | "host" if named => continue,
            "user" | "password" | "host" | "port" | "socket" | "database" | "ssl-ca" | "ssl-cert" | "ssl-key"
            | "ssl-mode" | "connect-timeout" => (name.as_str(), value),
            // MariaDB's words for the mode. The strictest one of a file holds.
            "ssl-verify-server-cert" if !off(&value) => {
                parameters.entry("ssl-mode".to_owned()).or_insert_with(|| "verify-identity".to_owned());
                continue;
            }
            "ssl" if !off(&value) => ("ssl", "required".to_owned()),
            _ => continue,
        };
        parameters.entry(name.to_owned()).or_insert(value);
    }
    if let Some(mode) = parameters.remove("ssl") {
        parameters.entry("ssl-mode".to_owned()).or_insert(mode);
    }
}

fn build(parameters: &BTreeMap<String, String>, table: Option<TableName>) -> Result<Settings> {
    let get = |name: &str| parameters.get(name).filter(|value| !value.is_empty());
    let endpoint = match (get("socket"), get("host")) {
        (Some(path), _) => Endpoint::Unix(PathBuf::from(path)),
        (None, host) => {
            let port = get("port").map_or(Ok(PORT_DEFAULT), |port| port_of(port))?;
            Endpoint::Tcp(host.map_or_else(|| "127.0.0.1".to_owned(), Clone::clone), port)
        }
    };
    let mode = get("ssl-mode").map(|mode| TlsMode::parse(mode)).transpose()?;
    let authority = get("ssl-ca").map(PathBuf::from);
    let client = match (get("ssl-cert"), get("ssl-key")) {
        (Some(certificate), Some(key)) => Some((PathBuf::from(certificate), PathBuf::from(key))),
        (None, None) => None,
        _ => return Err(bad("reading the connection settings: ssl-cert and ssl-key are needed together")),
    };
    let tls = TlsSettings::new(mode, authority, client, matches!(endpoint, Endpoint::Unix(_)))?;
    let connect_timeout = match get("connect-timeout") {
        None => CONNECT_TIMEOUT_DEFAULT,
        Some(text) => text
            .parse()
            .ok()
            .filter(|seconds| *seconds > 0)
            .map(Duration::from_secs)
            .ok_or_else(|| bad("reading connect-timeout: expected a number of seconds"))?,
    };
    let lock = match get("lock").map(String::as_str) {
        None | Some("no") => false,
        Some("yes") => true,
        Some(_) => return Err(bad("reading lock: expected yes or no")),
    };
    let not_frozen = match get("not-frozen").map(String::as_str) {
        None | Some("refuse") => false,
        Some("allow") => true,
        Some(_) => return Err(bad("reading not-frozen: expected allow or refuse")),
    };
    Ok(Settings {
        endpoint,
        user: get("user").cloned(),
        password: parameters.get("password").cloned(),
        database: get("database").cloned(),
        tls,
        connect_timeout,
        lock,
        not_frozen,
        table,
    })
}

#[cfg(test)]
#[path = "locator_tests.rs"]
mod tests;
