//! One connection: socket, login, session settings, and small queries.

use super::{
    failure::{failure, is_refusal},
    locator::{Encrypt, Login, Settings},
    sql,
};
use crate::model::{Error, ErrorKind, Result};
use socket2::{SockRef, TcpKeepalive};
use std::{io, sync::Arc, time::Duration};
use tiberius::{Client, ColumnData, ColumnType, QueryItem, SqlBrowser, error::Error as Driver};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

/// Idle time after which the system asks whether the server still is there.
const KEEPALIVE_IDLE: Duration = Duration::from_mins(1);
/// Time between its questions.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// Times that a login may be sent elsewhere.
const ROUTES_MAX: usize = 3;
/// How long a query that is given up may take to end on the server.
const CANCEL_MAX: Duration = Duration::from_secs(2);
/// Most bytes of a small query's result: the catalogue of a table of 30,000 columns and more.
const SMALL_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A row of a small query.
pub(super) type Cells = Vec<ColumnData<'static>>;

/// An open connection. Dropping it closes it, which ends its transaction.
pub(super) struct Connection {
    pub(super) client: Client<Compat<TcpStream>>,
}

/// The server's words about itself.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// Whether it is SQL Server itself.
    pub(super) genuine: bool,
}

impl Connection {
    /// Connects, logs in and pins the session.
    pub(super) async fn open(settings: &Arc<Settings>) -> Result<(Self, Server)> {
        let doing = format!("connecting to {settings}");
        // A token is the login itself: whoever sees it has it.
        if matches!(settings.login, Login::Token(_)) && matches!(settings.encrypt, Encrypt::No | Encrypt::Login) {
            return Err(Error::new(
                ErrorKind::Config,
                format!("{doing}: a token is sent over encrypted connections only"),
            )
            .hint("use encrypt=yes or encrypt=strict"));
        }
        let limit = settings.connect_timeout;
        let client = tokio::time::timeout(limit, log_in(settings, &doing)).await.map_err(|_| {
            Error::new(ErrorKind::Connect, format!("{doing}: no answer within {} s", limit.as_secs()))
                .hint("check host and port, or raise connect-timeout")
        })??;
        let mut connection = Self { client };
        let server = connection.pin().await?;
        Ok((connection, server))
    }

    /// Pins the session. Another server than SQL Server may lack settings; SQL Server itself must take all of them.
    async fn pin(&mut self) -> Result<Server> {
        const DOING: &str = "preparing the session";
        let failed = |error: Driver| failure(DOING, &error);
        let all = self.try_rows(&sql::pins()).await;
        let version = self.try_rows(sql::SERVER).await.map_err(failed)?;
        let version = version.first().map(|row| text(row, 0)).transpose()?.flatten().unwrap_or_default();
        let genuine = version.starts_with("Microsoft SQL") || version.starts_with("Microsoft Azure SQL");
        let server = Server { genuine };
        let Err(error) = all else { return Ok(server) };
        if genuine || !is_refusal(&error) {
            return Err(failure(DOING, &error));
        }
        for pin in sql::PINS {
            match self.try_rows(pin).await {
                Ok(_) => {}
                Err(error) if is_refusal(&error) => tracing::debug!(pin, "the server does not know this setting"),
                Err(error) => return Err(failure(DOING, &error)),
            }
        }
        Ok(server)
    }

    /// The rows of a small query, or the driver's error.
    pub(super) async fn try_rows(&mut self, text: &str) -> Result<Vec<Cells>, Driver> {
        let mut stream = self.client.simple_query(text).await?;
        let (mut rows, mut bytes) = (Vec::new(), 0_usize);
        while let Some(item) = futures::TryStreamExt::try_next(&mut stream).await? {
            let QueryItem::Row(row) = item else { continue };
            let cells: Cells = row.into_iter().collect();
            bytes = bytes.saturating_add(cells.iter().map(super::decode::bytes_of).sum());
            if bytes > SMALL_BYTES_MAX {
                return Err(Driver::Protocol("the catalogue's answer is too large".into()));
            }
            rows.push(cells);
        }
        Ok(rows)
    }

    /// The rows of a small query.
    pub(super) async fn rows(&mut self, doing: &str, text: &str) -> Result<Vec<Cells>> {
        self.try_rows(text).await.map_err(|error| failure(doing, &error))
    }

    /// Runs statements without a result.
    pub(super) async fn run(&mut self, doing: &str, text: &str) -> Result<()> {
        self.rows(doing, text).await.map(drop)
    }

    /// The result columns of a query that gives no rows.
    pub(super) async fn columns(&mut self, doing: &str, text: &str) -> Result<Vec<(String, ColumnType)>> {
        let failed = |error: Driver| failure(doing, &error);
        let mut stream = self.client.simple_query(text).await.map_err(failed)?;
        let columns = stream.columns().await.map_err(failed)?.unwrap_or_default();
        let list = columns.iter().map(|column| (column.name().to_owned(), column.column_type())).collect();
        while futures::TryStreamExt::try_next(&mut stream).await.map_err(failed)?.is_some() {}
        Ok(list)
    }

    /// Stops what the server is doing for this connection, and closes it.
    pub(super) async fn cancel(mut self) {
        let cancelled = tokio::time::timeout(CANCEL_MAX, self.client.cancel_query()).await;
        if !matches!(cancelled, Ok(Ok(()))) {
            // The server ends the query when it finds the connection closed.
            tracing::debug!("a query was not cancelled; its connection is closed");
        }
    }
}

/// Connects and logs in, and follows the server where it sends its clients elsewhere.
async fn log_in(settings: &Settings, doing: &str) -> Result<Client<Compat<TcpStream>>> {
    let mut settings = settings.clone();
    for _ in 0..ROUTES_MAX {
        let config = settings.driver_config()?;
        let socket = if settings.instance.is_some() && settings.port.is_none() {
            TcpStream::connect_named(&config).await.map_err(|error| {
                failure(doing, &error)
                    .hint("check host and instance, and that the SQL Server Browser service answers on UDP port 1434")
            })?
        } else {
            TcpStream::connect((settings.host.as_str(), settings.port_or_default()))
                .await
                .map_err(|error| unreachable(doing, &error))?
        };
        prepare(&socket).map_err(|error| unreachable(doing, &error))?;
        // The driver's state of the handshake is large.
        match Box::pin(Client::connect(config, socket.compat_write())).await {
            Ok(client) => return Ok(client),
            // Azure SQL and listeners with a routing list name the replica to read from.
            Err(Driver::Routing { host, port }) => {
                settings.host = host;
                settings.port = Some(port);
                settings.instance = None;
            }
            Err(error) => return Err(failure(doing, &error)),
        }
    }
    Err(Error::new(ErrorKind::Connect, format!("{doing}: the server sends clients on and on"))
        .hint("name the host that holds the database in the locator"))
}

fn unreachable(doing: &str, error: &io::Error) -> Error {
    Error::new(ErrorKind::Connect, format!("{doing}: {error}")).hint("check host and port, and that the server runs")
}

/// Without keepalive, a server that vanished would leave the read waiting for ever.
fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_IDLE).with_interval(KEEPALIVE_INTERVAL);
    SockRef::from(socket).set_tcp_keepalive(&keepalive)
}

fn odd(place: usize) -> Error {
    Error::new(
        ErrorKind::Read,
        format!("reading the catalogue: column {} of its answer has an unexpected type", place + 1),
    )
}

/// A text of a small query.
pub(super) fn text(row: &Cells, place: usize) -> Result<Option<String>> {
    match row.get(place) {
        Some(ColumnData::String(value)) => Ok(value.as_ref().map(ToString::to_string)),
        _ => Err(odd(place)),
    }
}

/// A whole number of a small query, of whatever width; a bit counts.
pub(super) fn number(row: &Cells, place: usize) -> Result<Option<i64>> {
    match row.get(place) {
        Some(ColumnData::U8(value)) => Ok(value.map(i64::from)),
        Some(ColumnData::I16(value)) => Ok(value.map(i64::from)),
        Some(ColumnData::I32(value)) => Ok(value.map(i64::from)),
        Some(ColumnData::I64(value)) => Ok(*value),
        Some(ColumnData::Bit(value)) => Ok(value.map(i64::from)),
        Some(ColumnData::Numeric(value)) => value
            .filter(|value| value.scale() == 0)
            .map(|value| i64::try_from(value.value()).map_err(|_| odd(place)))
            .transpose(),
        _ => Err(odd(place)),
    }
}

/// A text that is there.
pub(super) fn some_text(row: &Cells, place: usize) -> Result<String> {
    text(row, place)?.ok_or_else(|| odd(place))
}

/// A number that is there.
pub(super) fn some_number(row: &Cells, place: usize) -> Result<i64> {
    number(row, place)?.ok_or_else(|| odd(place))
}

/// A flag; NULL is no.
pub(super) fn flag(row: &Cells, place: usize) -> Result<bool> {
    Ok(number(row, place)?.is_some_and(|value| value != 0))
}
