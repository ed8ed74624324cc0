//! Locators of SQL Server: URL first, then the environment, then defaults.

use super::name::{TableName, parse_table};
use crate::model::{Error, ErrorKind, Result};
use percent_encoding::percent_decode_str;
use std::{fmt, path::PathBuf, time::Duration};
use tiberius::{AuthMethod, Config, EncryptionLevel};

/// Port of the default instance.
const PORT_DEFAULT: u16 = 1433;
/// How long connecting may take, from the first packet to the login.
const CONNECT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(15);
/// Size of a network packet that is asked for: the largest that TLS lets pass without splitting.
const PACKET_BYTES: u32 = 16_384;

/// How much of the connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encrypt {
    /// TLS from the first byte (TDS 8.0).
    Strict,
    /// Everything, and an error if the server cannot.
    Yes,
    /// The login alone.
    Login,
    /// Nothing.
    No,
}

/// How a table is held still while it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isolation {
    /// By a transaction at SNAPSHOT isolation, or by a database that nobody can write.
    Snapshot,
    /// Not at all.
    ReadCommitted,
    /// By a database that nobody can write: a database snapshot, or a database that is read-only.
    DatabaseSnapshot,
}

/// Who logs in.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Login {
    /// A login of the server.
    Sql { user: String, password: String },
    /// An access token of Entra.
    Token(String),
    /// Whoever runs the process, by Kerberos.
    Integrated,
}

/// Everything needed to connect. Holds a secret, so it cannot be shown.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) host: String,
    /// `None`: the default port, or the one that the browser service names for the instance.
    pub(super) port: Option<u16>,
    pub(super) instance: Option<String>,
    pub(super) database: Option<String>,
    pub(super) login: Login,
    pub(super) encrypt: Encrypt,
    pub(super) trust_certificate: bool,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) host_in_certificate: Option<String>,
    pub(super) read_only_intent: bool,
    pub(super) isolation: Isolation,
    /// Whether a table under a row security policy is compared as far as this login sees it.
    pub(super) filtered_rows: bool,
    pub(super) connect_timeout: Duration,
    pub(super) table: Option<TableName>,
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.instance, self.port) {
            (Some(instance), None) => write!(f, "{}\\{instance}", self.host),
            (_, port) => write!(f, "{}:{}", self.host, port.unwrap_or(PORT_DEFAULT)),
        }
    }
}

impl Settings {
    /// The port to connect to where no browser service is asked.
    pub(super) fn port_or_default(&self) -> u16 {
        self.port.unwrap_or(PORT_DEFAULT)
    }

    /// The driver's settings. Undecodable text always is an error, and a slow answer is none.
    pub(super) fn driver_config(&self) -> Result<Config> {
        let mut config = Config::new();
        config.host(&self.host);
        if let Some(port) = self.port {
            config.port(port);
        }
        if let Some(instance) = &self.instance {
            config.instance_name(instance);
        }
        if let Some(database) = &self.database {
            config.database(database);
        }
        config.application_name("tieout");
        config.packet_size(PACKET_BYTES);
        config.readonly(self.read_only_intent);
        config.handshake_timeout(Some(self.connect_timeout));
        config.command_timeout(None);
        config.lossy_utf16_decoding(false);
        config.encryption(match self.encrypt {
            Encrypt::Strict => EncryptionLevel::Strict,
            Encrypt::Yes => EncryptionLevel::Required,
            Encrypt::Login => EncryptionLevel::Off,
            Encrypt::No => EncryptionLevel::NotSupported,
        });
        if self.trust_certificate {
            config.trust_cert();
        } else if let Some(path) = &self.ca_file {
            let bytes = std::fs::read(path).map_err(|error| {
                Error::new(ErrorKind::Config, format!("reading the certificate file {}: {error}", path.display()))
            })?;
            config.trust_cert_ca_bundle(bytes);
        }
        if let Some(name) = &self.host_in_certificate {
            config.hostname_in_certificate(name);
        }
        config.authentication(match &self.login {
            Login::Sql { user, password } => AuthMethod::sql_server(user, password),
            Login::Token(token) => AuthMethod::aad_token(token),
            Login::Integrated => integrated()?,
        });
        Ok(config)
    }
}

#[cfg(all(unix, feature = "sqlserver-integrated"))]
#[expect(clippy::unnecessary_wraps, reason = "without the feature it refuses")]
fn integrated() -> Result<AuthMethod> {
    Ok(AuthMethod::Integrated)
}

#[cfg(not(all(unix, feature = "sqlserver-integrated")))]
fn integrated() -> Result<AuthMethod> {
    Err(Error::new(ErrorKind::Unsupported, "connecting: this build has no integrated authentication").hint(
        "build with the feature `sqlserver-integrated`, which needs the GSSAPI library, or use a login or a token",
    ))
}

fn bad(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Config, message).hint("write mssql://user@host:port/database#schema.table")
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

/// Host, port and instance of a locator.
struct Address {
    host: String,
    port: Option<u16>,
    instance: Option<String>,
}

fn parse_address(text: &str) -> Result<Address> {
    let port = |text: &str| -> Result<u16> {
        text.parse().ok().filter(|port| *port > 0).ok_or_else(|| {
            bad("reading the locator: expected a port from 1 to 65535 after the host")
                .hint("percent-encode the characters : / ? # @ % of a user name or password")
        })
    };
    if let Some((address, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let port = match rest.strip_prefix(':') {
            Some(text) => Some(port(text)?),
            None if rest.is_empty() => None,
            None => return Err(bad("reading the locator: expected a port")),
        };
        return Ok(Address { host: decoded(address)?, port, instance: None });
    }
    let (rest, number) = match text.rsplit_once(':') {
        Some((host, number)) => (host, Some(port(number)?)),
        None => (text, None),
    };
    let whole = decoded(rest)?;
    let (host, instance) = match whole.split_once('\\') {
        Some((_, "")) => return Err(bad("reading the locator: expected an instance after the backslash")),
        Some((host, instance)) => (host.to_owned(), Some(instance.to_owned())),
        None => (whole, None),
    };
    Ok(Address { host, port: number, instance })
}

/// Values of parameters that a locator may carry.
#[derive(Default)]
struct Parameters {
    encrypt: Option<Encrypt>,
    trust_certificate: bool,
    ca_file: Option<PathBuf>,
    host_in_certificate: Option<String>,
    read_only_intent: bool,
    isolation: Option<Isolation>,
    filtered_rows: bool,
    connect_timeout: Option<Duration>,
    authentication: Option<String>,
}

impl Parameters {
    fn parse(query: &str) -> Result<Self> {
        let mut list = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair
                .split_once('=')
                .ok_or_else(|| bad("reading the locator: expected name=value after the question mark"))?;
            list.set(&decoded(name)?, &decoded(value)?)?;
        }
        Ok(list)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let unknown = |expected: &str| {
            Error::new(ErrorKind::Config, format!("reading {name} of the locator: expected {expected}"))
        };
        let yes_no = || match value {
            "yes" | "true" => Ok(true),
            "no" | "false" => Ok(false),
            _ => Err(unknown("yes or no")),
        };
        match name {
            "encrypt" => {
                self.encrypt = Some(match value {
                    "strict" => Encrypt::Strict,
                    "yes" | "true" | "mandatory" => Encrypt::Yes,
                    "login" => Encrypt::Login,
                    "no" | "false" => Encrypt::No,
                    _ => return Err(unknown("strict, yes, login or no")),
                });
            }
            "trust-server-certificate" => self.trust_certificate = yes_no()?,
            "ca-file" => self.ca_file = Some(value.into()),
            "host-name-in-certificate" => self.host_in_certificate = Some(value.to_owned()),
            "application-intent" => {
                self.read_only_intent = match value {
                    "readonly" => true,
                    "readwrite" => false,
                    _ => return Err(unknown("readonly or readwrite")),
                };
            }
            "isolation" => {
                self.isolation = Some(match value {
                    "snapshot" => Isolation::Snapshot,
                    "read-committed" => Isolation::ReadCommitted,
                    "database-snapshot" => Isolation::DatabaseSnapshot,
                    _ => return Err(unknown("snapshot, read-committed or database-snapshot")),
                });
            }
            "row-security" => {
                self.filtered_rows = match value {
                    "refuse" => false,
                    "filtered" => true,
                    _ => return Err(unknown("refuse or filtered")),
                };
            }
            "connect-timeout" => {
                let seconds = value.parse().ok().filter(|seconds| *seconds > 0).ok_or_else(|| unknown("seconds"))?;
                self.connect_timeout = Some(Duration::from_secs(seconds));
            }
            "authentication" => self.authentication = Some(value.to_owned()),
            _ => return Err(bad(format!("reading the locator: the parameter `{name}` is not supported"))),
        }
        Ok(())
    }
}

/// User and password before the host, and the rest.
fn split_login(authority: &str) -> Result<(Option<String>, Option<String>, &str)> {
    let Some((login, hosts)) = authority.rsplit_once('@') else { return Ok((None, None, authority)) };
    let (user, password) = login.split_once(':').map_or((login, None), |(user, password)| (user, Some(password)));
    let user = (!user.is_empty()).then(|| decoded(user)).transpose()?;
    Ok((user, password.map(decoded).transpose()?, hosts))
}

/// Reads a locator and what the environment adds to it.
pub(super) fn resolve(locator: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Settings> {
    let rest = locator
        .strip_prefix("mssql://")
        .or_else(|| locator.strip_prefix("sqlserver://"))
        .ok_or_else(|| bad("reading the locator: expected mssql:// or sqlserver://"))?;
    let (rest, fragment) = rest.split_once('#').map_or((rest, None), |(rest, fragment)| (rest, Some(fragment)));
    let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, query)| (rest, query));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    // A character of a password that was not encoded ends the authority early; what is left must not pass for a host.
    if !authority.contains('@') && [database, query, fragment.unwrap_or("")].iter().any(|text| text.contains('@')) {
        return Err(bad("reading the locator: found `@` after the host")
            .hint("percent-encode the characters : / ? # @ % of a user name, password, database or table"));
    }
    let from_env = |name: &str| env(name).filter(|value| !value.is_empty());
    let table = fragment.map(|fragment| parse_table(&decoded(fragment)?)).transpose()?;
    let parameters = Parameters::parse(query)?;
    let (user, password, hosts) = split_login(authority)?;
    let hosts = if hosts.is_empty() { from_env("SQLCMDSERVER").unwrap_or_default() } else { hosts.to_owned() };
    let Address { host, port, instance } = parse_address(&hosts)?;
    if host.is_empty() {
        return Err(bad("reading the locator: it names no host, nor does SQLCMDSERVER"));
    }
    let database = if database.is_empty() { from_env("SQLCMDDBNAME") } else { Some(decoded(database)?) };
    let encrypt = parameters.encrypt.unwrap_or(Encrypt::Yes);
    if parameters.trust_certificate && parameters.ca_file.is_some() {
        return Err(bad("reading the locator: trust-server-certificate and ca-file exclude each other"));
    }
    if encrypt == Encrypt::Strict && parameters.trust_certificate {
        return Err(bad("reading the locator: encrypt=strict always checks the certificate")
            .hint("name the authority with ca-file, and the host with host-name-in-certificate"));
    }
    Ok(Settings {
        login: login(parameters.authentication.as_deref(), user, password, &from_env)?,
        host,
        port,
        instance,
        database,
        encrypt,
        trust_certificate: parameters.trust_certificate,
        ca_file: parameters.ca_file,
        host_in_certificate: parameters.host_in_certificate,
        read_only_intent: parameters.read_only_intent,
        isolation: parameters.isolation.unwrap_or(Isolation::Snapshot),
        filtered_rows: parameters.filtered_rows,
        connect_timeout: parameters.connect_timeout.unwrap_or(CONNECT_TIMEOUT_DEFAULT),
        table,
    })
}

fn login(
    authentication: Option<&str>,
    user: Option<String>,
    password: Option<String>,
    from_env: &dyn Fn(&str) -> Option<String>,
) -> Result<Login> {
    let token = || from_env("TIEOUT_MSSQL_TOKEN").or_else(|| from_env("AZURE_SQL_ACCESS_TOKEN"));
    match authentication {
        Some("sql") => {}
        None if user.is_some() => {}
        Some("token") => {
            return token().map(Login::Token).ok_or_else(|| {
                Error::new(ErrorKind::Config, "connecting: authentication=token, but there is no token")
                    .hint("put an access token for https://database.windows.net/ in TIEOUT_MSSQL_TOKEN")
            });
        }
        Some("integrated") => return Ok(Login::Integrated),
        Some(_) => {
            return Err(Error::new(
                ErrorKind::Config,
                "reading authentication of the locator: expected sql, token or integrated",
            ));
        }
        None => {
            if let Some(token) = token() {
                return Ok(Login::Token(token));
            }
        }
    }
    let user = user
        .or_else(|| from_env("SQLCMDUSER"))
        .ok_or_else(|| bad("reading the locator: it names no user, nor does SQLCMDUSER"))?;
    let password = password.or_else(|| from_env("SQLCMDPASSWORD")).unwrap_or_default();
    Ok(Login::Sql { user, password })
}

#[cfg(test)]
#[path = "locator_tests.rs"]
mod tests;
