//! Locators and libpq's settings: URL, then service, then environment, then defaults.

use super::{
    passfile,
    tls::{Roots, TlsMode, TlsSettings},
};
use crate::model::{Error, ErrorKind, Result};
use percent_encoding::percent_decode_str;
use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio_postgres::config::ChannelBinding;

/// Parameters that a locator or a service may set, with the environment variable of each.
const PARAMETERS: &[(&str, &str)] = &[
    ("host", "PGHOST"),
    ("hostaddr", "PGHOSTADDR"),
    ("port", "PGPORT"),
    ("user", "PGUSER"),
    ("password", "PGPASSWORD"),
    ("dbname", "PGDATABASE"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("sslcert", "PGSSLCERT"),
    ("sslkey", "PGSSLKEY"),
    ("service", "PGSERVICE"),
    ("servicefile", "PGSERVICEFILE"),
    ("passfile", "PGPASSFILE"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
    ("options", "PGOPTIONS"),
    ("application_name", "PGAPPNAME"),
    ("channel_binding", "PGCHANNELBINDING"),
    ("sslcrl", "PGSSLCRL"),
];

/// Folders in which servers put their sockets.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];
/// Folder of the system's service file where `PGSYSCONFDIR` does not say.
const SYSTEM_FOLDER: &str = "/etc/postgresql-common";

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

/// One server.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) address: Host,
    pub(super) port: u16,
}

/// Where a server listens.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Host {
    /// The folder of its socket.
    Unix(PathBuf),
    /// Its name, and the address to connect to if that is given apart.
    Tcp { name: String, address: Option<String> },
}

impl Endpoint {
    /// The name that its certificate must carry.
    pub(super) fn tls_name(&self) -> String {
        match &self.address {
            Host::Unix(_) => String::new(),
            Host::Tcp { name, .. } => name.clone(),
        }
    }

    /// What the password file calls it.
    fn passfile_name(&self) -> String {
        match &self.address {
            Host::Unix(folder) if SOCKET_FOLDERS.iter().any(|known| Path::new(known) == folder) => "localhost".into(),
            Host::Unix(folder) => folder.display().to_string(),
            Host::Tcp { name, .. } => name.clone(),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Host::Unix(folder) => write!(f, "{}:{}", folder.display(), self.port),
            Host::Tcp { name, .. } => write!(f, "{name}:{}", self.port),
        }
    }
}

/// A part of a table's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamePart {
    pub(super) text: String,
    /// Whether it stood in double quotes.
    pub(super) quoted: bool,
}

/// A table as the locator names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableName {
    pub(super) schema: Option<NamePart>,
    pub(super) table: NamePart,
}

/// Everything needed to connect. Holds a secret, so it cannot be shown.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) hosts: Vec<Endpoint>,
    user: String,
    passwords: Vec<Option<Vec<u8>>>,
    pub(super) database: String,
    pub(super) tls: TlsSettings,
    pub(super) connect_timeout: Option<Duration>,
    options: Option<String>,
    channel_binding: ChannelBinding,
    /// What was passed over and may explain a refusal.
    pub(super) notes: Vec<String>,
    pub(super) table: Option<TableName>,
}

impl Settings {
    /// The driver's settings for one host.
    pub(super) fn driver_config(&self, host: usize) -> tokio_postgres::Config {
        let mut config = tokio_postgres::Config::new();
        config.user(&self.user).dbname(&self.database).application_name("tieout").channel_binding(self.channel_binding);
        if let Some(Some(password)) = self.passwords.get(host) {
            config.password(password);
        }
        if let Some(options) = &self.options {
            config.options(options);
        }
        config
    }
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, message).hint("write postgres://user@host:port/database#schema.table")
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
        .strip_prefix("postgres://")
        .or_else(|| locator.strip_prefix("postgresql://"))
        .ok_or_else(|| bad("reading the locator: expected postgres:// or postgresql://"))?;
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
    let hosts = match authority.rsplit_once('@') {
        None => authority,
        Some((login, hosts)) => {
            let (user, password) =
                login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
            if !user.is_empty() {
                parameters.insert("user".to_owned(), decoded(user)?);
            }
            if let Some(password) = password {
                parameters.insert("password".to_owned(), decoded(password)?);
            }
            hosts
        }
    };
    if !hosts.is_empty() {
        let (names, ports) = parse_hosts(hosts)?;
        if names.iter().any(|name| !name.is_empty()) {
            parameters.insert("host".to_owned(), names.join(","));
        }
        if ports.iter().any(|port| !port.is_empty()) {
            parameters.insert("port".to_owned(), ports.join(","));
        }
    }
    if !database.is_empty() {
        parameters.insert("dbname".to_owned(), decoded(database)?);
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| bad("reading the locator: expected name=value after the question mark"))?;
        let (name, value) = match (decoded(name)?, decoded(value)?) {
            (name, value) if name == "ssl" && value == "true" => ("sslmode".to_owned(), "require".to_owned()),
            pair => pair,
        };
        known(&name)?;
        parameters.insert(name, value);
    }
    Ok((parameters, table))
}

fn known(name: &str) -> Result<()> {
    if PARAMETERS.iter().any(|(known, _)| *known == name) {
        return Ok(());
    }
    Err(bad(format!("reading the connection settings: the parameter `{name}` is not supported")))
}

fn parse_hosts(text: &str) -> Result<(Vec<String>, Vec<String>)> {
    let (mut names, mut ports) = (Vec::new(), Vec::new());
    for host in text.split(',') {
        let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, "")) => (address, ""),
            Some((address, rest)) => {
                (address, rest.strip_prefix(':').ok_or_else(|| bad("reading the locator: expected a port"))?)
            }
            None => host.rsplit_once(':').unwrap_or((host, "")),
        };
        if !port.is_empty() && port.parse::<u16>().is_err() {
            return Err(bad("reading the locator: expected a port from 1 to 65535 after the host")
                .hint("percent-encode the characters : / ? # @ % of a user name or password"));
        }
        names.push(decoded(name)?);
        ports.push(port.to_owned());
    }
    Ok((names, ports))
}

/// Reads `table`, `schema.table`, with either part in double quotes.
fn parse_table(text: &str) -> Result<TableName> {
    let wrong = || bad("reading the locator: expected #table or #schema.table, parts with dots in double quotes");
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        if let Some(mut quoted) = rest.strip_prefix('"') {
            let mut name = String::new();
            loop {
                let (head, tail) = quoted.split_once('"').ok_or_else(wrong)?;
                name.push_str(head);
                if let Some(more) = tail.strip_prefix('"') {
                    name.push('"');
                    quoted = more;
                } else {
                    rest = tail;
                    break;
                }
            }
            parts.push(NamePart { text: name, quoted: true });
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            parts.push(NamePart { text: rest[..end].to_owned(), quoted: false });
            rest = &rest[end..];
        }
        match rest.strip_prefix('.') {
            Some(more) => rest = more,
            None if rest.is_empty() => break,
            None => return Err(wrong()),
        }
    }
    if parts.iter().any(|part| part.text.is_empty()) {
        return Err(wrong());
    }
    match (parts.pop(), parts.pop(), parts.pop()) {
        (Some(table), schema, None) => Ok(TableName { schema, table }),
        _ => Err(wrong()),
    }
}

/// Reads a locator and whatever libpq would add to it.
pub(super) fn resolve(locator: &str, world: &World<'_>) -> Result<Settings> {
    let (mut parameters, table) = parse_url(locator)?;
    let from_env = |name: &str| (world.env)(name).filter(|value| !value.is_empty());
    let home = from_env("HOME").map(PathBuf::from);
    if let Some(service) = parameters.get("service").cloned().or_else(|| from_env("PGSERVICE")) {
        let named = parameters.get("servicefile").cloned().or_else(|| from_env("PGSERVICEFILE")).map(PathBuf::from);
        let own = named.or_else(|| home.as_ref().map(|home| home.join(".pg_service.conf")));
        let system = PathBuf::from(from_env("PGSYSCONFDIR").unwrap_or_else(|| SYSTEM_FOLDER.to_owned()));
        let files = own.into_iter().chain([system.join("pg_service.conf")]);
        let entries = files
            .filter_map(|path| (world.file)(&path))
            .find_map(|file| passfile::service(&file.text, &service))
            .ok_or_else(|| bad(format!("reading service files: the service `{service}` is in none of them")))??;
        for (name, value) in entries {
            known(&name)?;
            parameters.entry(name).or_insert(value);
        }
    }
    for (name, variable) in PARAMETERS {
        if let Some(value) = from_env(variable) {
            parameters.entry((*name).to_owned()).or_insert(value);
        }
    }
    build(&parameters, table, world, home.as_deref())
}

fn build(
    parameters: &BTreeMap<String, String>,
    table: Option<TableName>,
    world: &World<'_>,
    home: Option<&Path>,
) -> Result<Settings> {
    let get = |name: &str| parameters.get(name).filter(|value| !value.is_empty());
    if get("sslcrl").is_some() {
        return Err(bad("reading the connection settings: sslcrl is not supported")
            .hint("unset PGSSLCRL; revocation lists are not checked"));
    }
    let hosts = endpoints(get("host"), get("hostaddr"), get("port"))?;
    let user = get("user")
        .cloned()
        .or_else(|| (world.env)("USER").or_else(|| (world.env)("LOGNAME")).filter(|user| !user.is_empty()))
        .ok_or_else(|| bad("reading the locator: it names no user, nor does PGUSER"))?;
    let database = get("dbname").cloned().unwrap_or_else(|| user.clone());
    let mut notes = Vec::new();
    let passwords = if let Some(password) = get("password") {
        vec![Some(password.clone().into_bytes()); hosts.len()]
    } else {
        let path = get("passfile").map(PathBuf::from).or_else(|| home.map(|home| home.join(".pgpass")));
        let text = path.and_then(|path| {
            let file = (world.file)(&path)?;
            if file.mode & 0o077 != 0 {
                notes.push(format!(
                    "the password file {} was passed over, since others may read it: chmod 0600 it",
                    path.display()
                ));
                return None;
            }
            Some(file.text)
        });
        hosts
            .iter()
            .map(|host| {
                passfile::password(text.as_deref()?, &host.passfile_name(), host.port, &database, &user)
                    .map(String::into_bytes)
            })
            .collect()
    };
    let connect_timeout = match get("connect_timeout").map(|text| text.trim().parse::<i64>()) {
        None => None,
        Some(Ok(seconds)) => u64::try_from(seconds).ok().filter(|seconds| *seconds > 0).map(Duration::from_secs),
        Some(Err(_)) => return Err(bad("reading connect_timeout: expected whole seconds")),
    };
    let channel_binding = match get("channel_binding").map(String::as_str) {
        None | Some("prefer") => ChannelBinding::Prefer,
        Some("disable") => ChannelBinding::Disable,
        Some("require") => ChannelBinding::Require,
        Some(_) => return Err(bad("reading channel_binding: expected disable, prefer or require")),
    };
    Ok(Settings {
        hosts,
        user,
        passwords,
        database,
        tls: tls_settings(parameters.get("sslmode"), &get, world, home)?,
        connect_timeout,
        options: get("options").cloned(),
        channel_binding,
        notes,
        table,
    })
}

/// An empty mode is an unknown one, not the default: what asks for something must not end in less.
fn tls_settings<'a>(
    mode: Option<&String>,
    get: &impl Fn(&str) -> Option<&'a String>,
    world: &World<'_>,
    home: Option<&Path>,
) -> Result<TlsSettings> {
    let own = |name: &str| home.map(|home| home.join(".postgresql").join(name));
    let present = |path: PathBuf| (world.file)(&path).is_some().then_some(path);
    let roots = match get("sslrootcert").map(String::as_str) {
        Some("system") => Some(Roots::System),
        Some(path) => Some(Roots::File(path.into())),
        None => own("root.crt").and_then(present).map(Roots::File),
    };
    let mode = match mode {
        Some(mode) => TlsMode::parse(mode)?,
        None if roots == Some(Roots::System) => TlsMode::VerifyFull,
        None => TlsMode::Prefer,
    };
    let certificate = get("sslcert").map(PathBuf::from).or_else(|| own("postgresql.crt").and_then(present));
    let key = get("sslkey").map(PathBuf::from).or_else(|| own("postgresql.key"));
    Ok(TlsSettings { mode, roots, client: certificate.zip(key) })
}

fn endpoints(hosts: Option<&String>, addresses: Option<&String>, ports: Option<&String>) -> Result<Vec<Endpoint>> {
    let split = |text: Option<&String>| -> Vec<String> {
        text.map(|text| text.split(',').map(str::to_owned).collect()).unwrap_or_default()
    };
    let (names, addresses, ports) = (split(hosts), split(addresses), split(ports));
    let count = names.len().max(addresses.len());
    if !addresses.is_empty() && !names.is_empty() && addresses.len() != names.len() {
        return Err(bad("reading hostaddr: expected as many addresses as hosts"));
    }
    if ports.len() > 1 && ports.len() != count {
        return Err(bad("reading the port: expected one, or as many as hosts"));
    }
    let port_of = |index: usize| -> Result<u16> {
        match ports.get(index).or(ports.first()).map(String::as_str) {
            None | Some("") => Ok(5432),
            Some(text) => text
                .trim()
                .parse()
                .ok()
                .filter(|port| *port > 0)
                .ok_or_else(|| bad("reading the port: expected a number from 1 to 65535")),
        }
    };
    let mut list = Vec::new();
    for index in 0..count.max(1) {
        let port = port_of(index)?;
        let name = names.get(index).filter(|name| !name.is_empty());
        let address = addresses.get(index).filter(|address| !address.is_empty()).cloned();
        match (name, address) {
            (Some(name), None) if name.starts_with('/') => {
                list.push(Endpoint { address: Host::Unix(name.into()), port });
            }
            (Some(name), address) => {
                list.push(Endpoint { address: Host::Tcp { name: name.clone(), address }, port });
            }
            (None, Some(address)) => {
                list.push(Endpoint { address: Host::Tcp { name: address.clone(), address: Some(address) }, port });
            }
            (None, None) => list.extend(
                SOCKET_FOLDERS.iter().map(|folder| Endpoint { address: Host::Unix(PathBuf::from(folder)), port }),
            ),
        }
    }
    Ok(list)
}

#[cfg(test)]
#[path = "locator_tests.rs"]
mod tests;
