//! Connections: opening them, pinning their session, asking, and ending their work.

use super::{
    failure::failure,
    locator::{Endpoint, Settings},
    sql,
    tls::{TlsMode, other_name},
};
use crate::model::{Error, ErrorKind, Result};
use mysql_async::{Conn, DriverError, OptsBuilder, Row, prelude::Queryable};
use std::{sync::Arc, time::Duration};

/// The largest packet that is read: the protocol's own limit of a value, 1 GiB.
const PACKET_BYTES_MAX: usize = 1 << 30;
/// How long a connection may be silent before the server is asked whether it is there.
const KEEPALIVE: Duration = Duration::from_mins(1);
/// How long a request to end a query may take.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// What each session is set to, so that rows and values depend neither on the server's settings nor on the user's:
/// name, value as it is set, value as it is read back (empty: the same).
///
/// - `sql_mode` empty: backslashes escape, double quotes hold text, CHAR comes without its pad, zero dates may be
///   written as literals;
/// - `max_sort_length`: the default of 1024 bytes would sort longer keys wrongly;
/// - timeouts: a slow reader is no reason to cut a stream; a lock is waited for but not for ever;
/// - `sql_select_limit`, `max_join_size` and the like would cut or refuse reads.
const PINNED: &[(&str, &str, &str)] = &[
    ("time_zone", "'+00:00'", "+00:00"),
    ("sql_mode", "''", ""),
    ("max_sort_length", "8388608", "8388608"),
    ("net_write_timeout", "31536000", "31536000"),
    ("net_read_timeout", "31536000", "31536000"),
    ("wait_timeout", "31536000", "31536000"),
    ("lock_wait_timeout", "30", "30"),
    ("max_statement_time", "0", "0.000000"),
    ("max_execution_time", "0", "0"),
    ("idle_transaction_timeout", "0", "0"),
    ("idle_readonly_transaction_timeout", "0", "0"),
    ("idle_write_transaction_timeout", "0", "0"),
    ("tx_isolation", "'REPEATABLE-READ'", "REPEATABLE-READ"),
    ("transaction_isolation", "'REPEATABLE-READ'", "REPEATABLE-READ"),
    ("autocommit", "1", "ON"),
    ("completion_type", "0", "NO_CHAIN"),
    ("sql_select_limit", "18446744073709551615", "18446744073709551615"),
    ("sql_big_selects", "1", "ON"),
    ("max_join_size", "18446744073709551615", "18446744073709551615"),
    ("sql_auto_is_null", "0", "OFF"),
    ("div_precision_increment", "4", "4"),
    ("group_concat_max_len", "1073741824", "1073741824"),
    ("default_week_format", "0", "0"),
    ("lc_time_names", "'en_US'", "en_US"),
    ("system_versioning_asof", "DEFAULT", "DEFAULT"),
    ("query_cache_type", "OFF", "OFF"),
    ("character_set_client", "utf8mb4", "utf8mb4"),
    ("character_set_connection", "utf8mb4", "utf8mb4"),
    ("character_set_results", "utf8mb4", "utf8mb4"),
];
/// Those without which values or rows would be others: a server that lacks one of them is not read.
const NEEDED: &[&str] = &["time_zone", "sql_mode", "max_sort_length", "character_set_results", "sql_select_limit"];
/// Set by `SET NAMES`, and only looked at afterwards.
const BY_NAMES: &str = "character_set_";

/// An open connection with a pinned session. Dropping it closes it.
pub(super) struct Session {
    pub(super) conn: Conn,
    /// The server's number of the connection.
    id: u64,
    settings: Arc<Settings>,
}

impl Session {
    /// Connects and pins the session.
    pub(super) async fn open(settings: &Arc<Settings>) -> Result<Self> {
        let mut session = Self { conn: connect(settings).await?, id: 0, settings: Arc::clone(settings) };
        session.pin().await?;
        Ok(session)
    }

    async fn pin(&mut self) -> Result<()> {
        const DOING: &str = "preparing the session";
        self.run(DOING, "SET NAMES utf8mb4, SESSION sql_select_limit = 18446744073709551615").await?;
        let names: Vec<String> = PINNED.iter().map(|(name, ..)| format!("'{name}'")).collect();
        let show = format!("SHOW SESSION VARIABLES WHERE Variable_name IN ({})", names.join(", "));
        let known = self.rows(DOING, &show).await?;
        let has =
            |name: &str| known.iter().any(|row| row.text(0).is_some_and(|known| known.eq_ignore_ascii_case(name)));
        if let Some(missing) = NEEDED.iter().find(|name| !has(name)) {
            return Err(Error::new(ErrorKind::Unsupported, format!("{DOING}: the server has no variable {missing}")));
        }
        let assignments: Vec<String> = PINNED
            .iter()
            .filter(|(name, ..)| has(name) && !name.starts_with(BY_NAMES))
            // MySQL's old name of a variable that has both.
            .filter(|(name, ..)| *name != "tx_isolation" || !has("transaction_isolation"))
            .map(|(name, value, _)| format!("SESSION {name} = {value}"))
            .collect();
        self.run(DOING, &format!("SET {}", assignments.join(", "))).await?;
        let now = self.rows(DOING, &show).await?;
        for row in &now {
            let (Some(name), Some(value)) = (row.text(0), row.text(1)) else { continue };
            let pinned = PINNED.iter().find(|(pinned, ..)| pinned.eq_ignore_ascii_case(name));
            if let Some((_, _, wanted)) = pinned
                && !value.eq_ignore_ascii_case(wanted)
            {
                return Err(Error::new(
                    ErrorKind::Connect,
                    format!("{DOING}: expected {name} to be `{wanted}`, found `{value}`"),
                )
                .hint("connect to the server itself; a proxy or init_connect changes the session"));
            }
        }
        let id = self.rows(DOING, "SELECT CONNECTION_ID()").await?;
        self.id = id.first().and_then(|row| row.number(0)).unwrap_or(0);
        Ok(())
    }

    /// Runs a statement without a result.
    pub(super) async fn run(&mut self, doing: &str, sql: &str) -> Result<()> {
        self.conn.query_drop(sql).await.map_err(|error| failure(doing, &error))
    }

    /// Runs a query for a few rows of text.
    pub(super) async fn rows(&mut self, doing: &str, sql: &str) -> Result<Vec<TextRow>> {
        let rows: Vec<Row> = self.conn.query(sql).await.map_err(|error| failure(doing, &error))?;
        rows.into_iter().map(|row| TextRow::new(row.unwrap())).collect()
    }

    /// The first field of the first row.
    pub(super) async fn text(&mut self, doing: &str, sql: &str) -> Result<Option<String>> {
        Ok(self.rows(doing, sql).await?.first().and_then(|row| row.text(0)).map(str::to_owned))
    }

    /// What ends this connection and whatever it is doing.
    pub(super) fn canceller(&self) -> Canceller {
        Canceller { settings: Arc::clone(&self.settings), id: self.id }
    }
}

/// A row of the text protocol.
pub(super) struct TextRow(Vec<Option<String>>);

impl TextRow {
    fn new(values: Vec<mysql_async::Value>) -> Result<Self> {
        let fields = values.into_iter().map(|value| match value {
            mysql_async::Value::NULL => Ok(None),
            mysql_async::Value::Bytes(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(Error::new(ErrorKind::Read, "reading the catalog: expected UTF-8")),
            },
            _ => Err(Error::internal("a row of the text protocol holds something else than text")),
        });
        Ok(Self(fields.collect::<Result<_>>()?))
    }

    /// The field as text; `None` for NULL.
    pub(super) fn text(&self, at: usize) -> Option<&str> {
        self.0.get(at)?.as_deref()
    }

    /// The field as text; empty for NULL.
    pub(super) fn owned(&self, at: usize) -> String {
        self.text(at).unwrap_or_default().to_owned()
    }

    /// The field as a whole number.
    pub(super) fn number(&self, at: usize) -> Option<u64> {
        self.text(at)?.parse().ok()
    }
}

/// Ends a connection over a connection of its own.
pub(super) struct Canceller {
    settings: Arc<Settings>,
    id: u64,
}

impl Canceller {
    /// Asks the server to end the connection: its query stops, and a write that waits for a reader wakes up. Nobody
    /// waits for it, so a failure is only logged.
    pub(super) async fn cancel(self) {
        if self.id == 0 {
            return;
        }
        let work = async {
            let mut conn = connect(&self.settings).await?;
            let killed = conn.query_drop(format!("KILL {}", self.id)).await;
            drop(conn.disconnect().await);
            match killed {
                // It is gone already.
                Err(mysql_async::Error::Server(error)) if error.code == 1094 => Ok(()),
                Err(error) => Err(failure("ending a query", &error)),
                Ok(()) => Ok(()),
            }
        };
        match tokio::time::timeout(CANCEL_TIMEOUT, work).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "a query could not be ended"),
            Err(_) => tracing::debug!("ending a query took too long"),
        }
    }
}

fn builder(settings: &Settings) -> OptsBuilder {
    let mut options = OptsBuilder::default()
        .user(settings.user.clone())
        .pass(settings.password.clone())
        .db_name(settings.database.clone())
        // The socket that a server names may be that of another one, behind a tunnel or in a container.
        .prefer_socket(false)
        .stmt_cache_size(0)
        .tcp_keepalive(Some(KEEPALIVE))
        .tcp_nodelay(true)
        .max_allowed_packet(Some(PACKET_BYTES_MAX))
        // Asks nothing of the server before the session is pinned.
        .wait_timeout(Some(28_800))
        .connect_attribute("program_name", "tieout");
    match &settings.endpoint {
        Endpoint::Tcp(host, port) => options = options.ip_or_hostname(host.clone()).tcp_port(*port),
        Endpoint::Unix(path) => {
            options = options.ip_or_hostname("localhost").socket(Some(path.display().to_string()));
        }
    }
    options
}

async fn connect(settings: &Settings) -> Result<Conn> {
    let work = async {
        let plain = || Conn::new(builder(settings));
        let doing = format!("connecting to {}", settings.endpoint);
        let failed = |error: mysql_async::Error| failure(&doing, &error);
        if settings.tls.mode() == TlsMode::Disabled {
            return plain().await.map_err(failed);
        }
        let secure = |name: Option<&str>| {
            let options = settings.tls.driver_options(name);
            options.map(|options| Conn::new(builder(settings).ssl_opts(options)))
        };
        match secure(None)?.await {
            Ok(conn) => Ok(conn),
            // The server has no TLS at all; nothing has been sent yet.
            Err(mysql_async::Error::Driver(DriverError::NoClientSslFlagFromServer))
                if settings.tls.mode() == TlsMode::Preferred =>
            {
                plain().await.map_err(failed)
            }
            Err(error) => match other_name(&error).filter(|_| settings.tls.mode() == TlsMode::VerifyCa) {
                Some(name) => secure(Some(&name))?.await.map_err(failed),
                None => Err(failed(error)),
            },
        }
    };
    match tokio::time::timeout(settings.connect_timeout, work).await {
        Ok(result) => result,
        Err(_) => Err(Error::new(
            ErrorKind::Connect,
            format!("connecting to {}: no answer within {} s", settings.endpoint, settings.connect_timeout.as_secs()),
        )
        .hint("check host and port, or raise connect-timeout")),
    }
}

/// A condition that a column of the catalog equals `value`, byte for byte.
pub(super) fn is_exactly(column: &str, value: &str) -> String {
    format!("CAST({column} AS BINARY) = {}", sql::bytes(value.as_bytes()))
}
