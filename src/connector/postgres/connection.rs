//! Connections: opening them, pinning their session, cancelling their work.

use super::{
    failure::failure,
    locator::{Host, Settings},
    tls::{self, TlsMode},
};
use crate::model::{Error, ErrorKind, Result};
use socket2::{SockRef, TcpKeepalive};
use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, BufReader, ReadBuf},
    net::{TcpStream, UnixStream},
    task::AbortHandle,
};
use tokio_postgres::{
    CancelToken, Client, NoTls,
    config::SslMode,
    tls::{MakeTlsConnect, TlsConnect},
};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Bytes read from the socket at once: the driver asks for 8 KiB, and system calls were a third of the cost of a read.
pub(super) const SOCKET_BUFFER_BYTES: usize = 256 * 1024;
/// How long a lock may be waited for; a table that is being rewritten for longer is an error, not a hang.
/// A shorter one that is configured is kept.
const LOCK_TIMEOUT_MS: u32 = 30_000;
/// How long a connection may be silent before the server is asked whether it is there, and how often.
const KEEPALIVE_IDLE: Duration = Duration::from_mins(1);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// How long a server may take to answer where nothing is configured.
const CONNECT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);

/// What each session is set to, so that values do not depend on roles, databases or the environment.
/// `lc_monetary` is left alone: it decides how stored money is read.
const PINNED: &str = "\
SET timezone = 'UTC'; SET datestyle = 'ISO, YMD'; SET intervalstyle = 'postgres'; SET extra_float_digits = 3; \
SET client_encoding = 'UTF8'; SET bytea_output = 'hex'; SET row_security = off; SET statement_timeout = 0; \
SET idle_in_transaction_session_timeout = 0; SET default_transaction_read_only = on; \
SET standard_conforming_strings = on; SET xmloption = 'content'; SET application_name = 'tieout'; ";
/// The same again within a transaction: behind a pooler that hands out server connections by the transaction, what one
/// transaction has set on a session another one need not find. None of it takes a snapshot.
const BEGIN: &str = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; \
SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO, YMD'; SET LOCAL intervalstyle = 'postgres'; \
SET LOCAL extra_float_digits = 3; SET LOCAL client_encoding = 'UTF8'; SET LOCAL bytea_output = 'hex'; \
SET LOCAL row_security = off; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; \
SET LOCAL standard_conforming_strings = on; SET LOCAL xmloption = 'content'";
/// An expression: whether the settings that decide over rows and values hold.
pub(super) const PINS_HOLD: &str = "current_setting('row_security') = 'off' AND current_setting('TimeZone') = 'UTC' \
AND current_setting('extra_float_digits') = '3' AND current_setting('transaction_isolation') = 'repeatable read' \
AND current_setting('client_encoding') = 'UTF8'";
/// Settings that only newer servers have: timeouts off, and a look at the connection during long queries, so that those
/// of a process that was killed end. Only Linux surely knows how to look, and other systems refuse the setting.
/// The server asks a silent peer whether it is there as we ask the server, so that a machine that vanishes holds no
/// snapshot for longer than two minutes. There is no `tcp_user_timeout`: it would also end a read that merely waits.
const PINNED_WHERE_KNOWN: &str = "SELECT set_config(name, '0', false) FROM pg_settings \
WHERE name IN ('idle_session_timeout', 'transaction_timeout'); \
SELECT set_config(name, '2s', false) FROM pg_settings \
WHERE name = 'client_connection_check_interval' AND setting = '0' AND version() LIKE '%linux%'; \
SELECT set_config(known.name, wanted.value, false) FROM pg_settings AS known JOIN (VALUES ('tcp_keepalives_idle', '60'), \
('tcp_keepalives_interval', '15'), ('tcp_keepalives_count', '4')) AS wanted (name, value) ON wanted.name = known.name \
WHERE version() LIKE '%linux%'";

/// A socket of either kind.
pub(super) enum Transport {
    Tcp(TcpStream),
    Unix(UnixStream),
}

macro_rules! either {
    ($self:ident, $stream:ident => $call:expr) => {
        match $self.get_mut() {
            Transport::Tcp($stream) => $call,
            Transport::Unix($stream) => $call,
        }
    };
}

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_read(cx, buf))
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        either!(self, stream => Pin::new(stream).poll_write(cx, buf))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => Pin::new(stream).poll_shutdown(cx))
    }
}

type Socket = BufReader<Transport>;

/// An open connection. Dropping it closes it.
pub(super) struct Connection {
    pub(super) client: Client,
    driver: AbortHandle,
    host: usize,
    encrypted: bool,
    settings: Arc<Settings>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Connection {
    /// Connects to the first host that answers, and pins the session.
    pub(super) async fn open(settings: &Arc<Settings>) -> Result<Self> {
        let mut last = Error::new(ErrorKind::Config, "connecting: the locator names no host");
        for host in 0..settings.hosts.len() {
            match Self::open_host(settings, host).await {
                Ok(connection) => {
                    connection.pin().await?;
                    return Ok(connection);
                }
                // A host that cannot be reached gives way to the next; one that refuses does not.
                Err(error) if error.kind() == ErrorKind::Connect => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    async fn open_host(settings: &Arc<Settings>, host: usize) -> Result<Self> {
        let local = matches!(settings.hosts[host].address, Host::Unix(_));
        match settings.tls.mode {
            _ if local => Self::attempt(settings, host, SslMode::Disable).await,
            TlsMode::Disable => Self::attempt(settings, host, SslMode::Disable).await,
            TlsMode::Allow => match Self::attempt(settings, host, SslMode::Disable).await {
                // Refused, maybe for want of TLS.
                Err(error) if matches!(error.kind(), ErrorKind::Connect | ErrorKind::Config) => {
                    Self::attempt(settings, host, SslMode::Require).await.map_err(|second| second.caused_by(error))
                }
                other => other,
            },
            TlsMode::Prefer => Self::attempt(settings, host, SslMode::Prefer).await,
            TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull => {
                Self::attempt(settings, host, SslMode::Require).await
            }
        }
    }

    async fn attempt(settings: &Arc<Settings>, host: usize, mode: SslMode) -> Result<Self> {
        let timeout = settings.connect_timeout.unwrap_or(CONNECT_TIMEOUT_DEFAULT);
        let work = async {
            let socket = open_socket(settings, host).await?;
            let mut config = settings.driver_config(host);
            config.ssl_mode(mode);
            if mode == SslMode::Disable {
                return establish(settings, host, &config, socket, NoTls, false).await;
            }
            establish(settings, host, &config, socket, connector(settings, host)?, true).await
        };
        match tokio::time::timeout(timeout, work).await {
            Ok(result) => result,
            Err(_) => Err(Error::new(
                ErrorKind::Connect,
                format!("connecting to {}: no answer within {} s", settings.hosts[host], timeout.as_secs()),
            )
            .hint("check host and port, or raise connect_timeout")),
        }
    }

    async fn pin(&self) -> Result<()> {
        let lock = format!(
            "SELECT set_config(name, '{LOCK_TIMEOUT_MS}', false) FROM pg_settings \
             WHERE name = 'lock_timeout' AND setting::int NOT BETWEEN 1 AND {LOCK_TIMEOUT_MS}"
        );
        self.run("preparing the session", &format!("{PINNED}{PINNED_WHERE_KNOWN}; {lock}")).await
    }

    /// Begins a transaction that reads, with its own settings; takes no snapshot.
    pub(super) async fn begin(&self, doing: &str) -> Result<()> {
        self.run(doing, BEGIN).await
    }

    /// Runs statements without a result.
    pub(super) async fn run(&self, doing: &str, sql: &str) -> Result<()> {
        self.client.batch_execute(sql).await.map_err(|error| failure(doing, &error))
    }

    /// What cancels the running statement of this connection.
    pub(super) fn canceller(&self) -> Canceller {
        Canceller {
            token: self.client.cancel_token(),
            host: self.host,
            encrypted: self.encrypted,
            settings: Arc::clone(&self.settings),
        }
    }
}

/// Cancels the statement of one connection over a connection of its own.
pub(super) struct Canceller {
    token: CancelToken,
    host: usize,
    encrypted: bool,
    settings: Arc<Settings>,
}

impl Canceller {
    /// Asks the server to cancel. Nobody waits for it, so a failure is only logged.
    pub(super) async fn cancel(self) {
        let work = async {
            let socket = open_socket(&self.settings, self.host).await?;
            let outcome = if self.encrypted {
                self.token.cancel_query_raw(socket, connector(&self.settings, self.host)?).await
            } else {
                self.token.cancel_query_raw(socket, NoTls).await
            };
            outcome.map_err(|error| failure("cancelling a query", &error))
        };
        match tokio::time::timeout(CONNECT_TIMEOUT_DEFAULT, work).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "a query could not be cancelled"),
            Err(_) => tracing::debug!("cancelling a query took too long"),
        }
    }
}

async fn establish<T>(
    settings: &Arc<Settings>,
    host: usize,
    config: &tokio_postgres::Config,
    socket: Socket,
    tls: T,
    encrypted: bool,
) -> Result<Connection>
where
    T: TlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let doing = format!("connecting to {}", settings.hosts[host]);
    let (client, connection) = config.connect_raw(socket, tls).await.map_err(|error| {
        let error = failure(&doing, &error);
        match settings.notes.first() {
            Some(note) => error.hint(note.clone()),
            None => error,
        }
    })?;
    let driver = tokio::spawn(async move {
        if let Err(error) = connection.await {
            // Whoever uses the client gets an error of their own.
            tracing::debug!(error = %failure("serving a connection", &error), "a connection ended");
        }
    })
    .abort_handle();
    Ok(Connection { client, driver, host, encrypted, settings: Arc::clone(settings) })
}

type Encrypted = <MakeRustlsConnect as MakeTlsConnect<Socket>>::TlsConnect;

fn connector(settings: &Settings, host: usize) -> Result<Encrypted> {
    let endpoint = &settings.hosts[host];
    let config = tls::client_config(&settings.tls)?;
    let mut maker = MakeRustlsConnect::new(config);
    MakeTlsConnect::<Socket>::make_tls_connect(&mut maker, &endpoint.tls_name()).map_err(|_| {
        Error::new(ErrorKind::Config, format!("connecting to {endpoint}: the host is no name that TLS can check"))
    })
}

async fn open_socket(settings: &Settings, host: usize) -> Result<Socket> {
    let endpoint = &settings.hosts[host];
    let failed = |error: io::Error| {
        Error::new(ErrorKind::Connect, format!("connecting to {endpoint}: {error}"))
            .hint("check host and port, and that the server runs")
    };
    let transport = match &endpoint.address {
        Host::Unix(directory) => Transport::Unix(
            UnixStream::connect(directory.join(format!(".s.PGSQL.{}", endpoint.port))).await.map_err(failed)?,
        ),
        Host::Tcp { name, address } => {
            let target = address.as_deref().unwrap_or(name);
            let stream = TcpStream::connect((target, endpoint.port)).await.map_err(failed)?;
            stream.set_nodelay(true).map_err(failed)?;
            // Without it, a server that vanished would leave the read waiting for ever.
            let keepalive = TcpKeepalive::new().with_time(KEEPALIVE_IDLE).with_interval(KEEPALIVE_INTERVAL);
            SockRef::from(&stream).set_tcp_keepalive(&keepalive).map_err(failed)?;
            Transport::Tcp(stream)
        }
    };
    Ok(BufReader::with_capacity(SOCKET_BUFFER_BYTES, transport))
}
