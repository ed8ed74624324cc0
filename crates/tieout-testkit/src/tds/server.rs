//! The server: its options, the faults it is told to have, and the handle that a test holds.

use super::backend::{Backend, Collation, Login, SqlError};
use super::connection;
use super::tls::Certificates;
use super::types::Plp;
use super::wire::LATIN1_CI_AS;
use crate::Result;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// How many query texts and logins the handle keeps; what comes after is only counted. A test reads far fewer.
const KEPT: usize = 10_000;

/// Threads of a server: one may be busy in the backend while another reads an attention.
const THREADS: usize = 2;

/// What the server offers of encryption ([MS-TDS] 2.2.6.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsMode {
    /// None.
    #[default]
    Off,
    /// What the client asks for: of nothing, of the login, of everything.
    Optional,
    /// Of everything, or no connection.
    Required,
    /// TDS 8.0: TLS comes first.
    Strict,
}

/// How rows are written ([MS-TDS] 2.2.7.17 and 2.2.7.19).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowEncoding {
    /// ROW: every value is there.
    #[default]
    Row,
    /// NBCROW: a bitmap names the NULLs.
    NbcRow,
    /// Both in turn.
    Mixed,
}

/// Faults, all counted from the start of a response; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// Only in responses to a query that contains this text.
    pub only: Option<String>,
    /// Only in so many responses; `None` is all.
    pub times: Option<u32>,
    /// Ends the connection after so many rows of a result, between two packets.
    pub cut_after_rows: Option<u64>,
    /// Ends the connection after so many bytes on the wire, TLS not counted.
    pub cut_after_bytes: Option<u64>,
    /// After so many rows sends nothing more until the client asks to stop or leaves.
    pub stall: Option<u64>,
    /// After so many rows ends the result with this error.
    pub error_after_rows: Option<(u64, SqlError)>,
}

/// How a server behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TdsOptions {
    /// Encryption.
    pub tls: TlsMode,
    /// The packet size agreed on; `None` is what the client asks for.
    pub packet_size: Option<u16>,
    /// ROW or NBCROW.
    pub row_encoding: RowEncoding,
    /// The most data in one packet whatever its agreed size, so that tokens and values straddle packets.
    pub split_every: Option<usize>,
    /// How values of unlimited length are cut.
    pub plp: Plp,
    /// Faults from the start; see [`TdsServer::set_faults`].
    pub faults: FaultPlan,
    /// The instance's name; `None` agrees to any.
    pub instance: Option<String>,
    /// Sends clients elsewhere after their login, as Azure SQL does.
    pub route: Option<(String, u16)>,
    /// The collation of the server, and of character columns that have none.
    pub collation: Collation,
    /// The version it tells: major, minor, build (network order).
    pub version: [u8; 4],
}

impl Default for TdsOptions {
    fn default() -> Self {
        Self {
            tls: TlsMode::Off,
            packet_size: None,
            row_encoding: RowEncoding::Row,
            split_every: None,
            plp: Plp::default(),
            faults: FaultPlan::default(),
            instance: None,
            route: None,
            collation: LATIN1_CI_AS,
            version: [16, 0, 0x10, 0x04],
        }
    }
}

/// What the connections of a server share.
pub(crate) struct Shared {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) options: TdsOptions,
    pub(crate) certificates: Option<Certificates>,
    pub(crate) transactions: AtomicU64,
    pub(crate) attentions: AtomicU64,
    pub(crate) rows: AtomicU64,
    connections: AtomicUsize,
    open: AtomicUsize,
    pub(crate) running: AtomicUsize,
    /// Each change ends the connections whose responses are under way.
    pub(crate) cut: watch::Sender<u64>,
    faults: Mutex<FaultPlan>,
    queries: Mutex<Vec<String>>,
    logins: Mutex<Vec<Login>>,
    failures: Mutex<Vec<String>>,
}

impl Shared {
    /// Remembers a query and says what faults its response has.
    pub(crate) fn note_query(&self, sql: &str) -> FaultPlan {
        keep(&self.queries, sql.to_owned());
        let mut plan = lock(&self.faults);
        if plan.only.as_ref().is_some_and(|part| !sql.contains(part.as_str())) || plan.times == Some(0) {
            return FaultPlan::default();
        }
        if let Some(times) = &mut plan.times {
            *times -= 1;
        }
        plan.clone()
    }

    pub(crate) fn note_login(&self, login: &Login) {
        keep(&self.logins, login.clone());
    }

    pub(crate) fn note_failure(&self, failure: String) {
        keep(&self.failures, failure);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn keep<T>(list: &Mutex<Vec<T>>, item: T) {
    let mut list = lock(list);
    if list.len() < KEPT {
        list.push(item);
    }
}

/// A running server on a port of 127.0.0.1; it stops when this is dropped.
pub struct TdsServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    runtime: Option<Runtime>,
}

impl TdsServer {
    /// Starts a server with threads of its own.
    pub fn start(backend: impl Backend, options: TdsOptions) -> Result<Self> {
        let certificates = if options.tls == TlsMode::Off { None } else { Some(Certificates::new()?) };
        let runtime = Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let listener = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener)?
        };
        let faults = Mutex::new(options.faults.clone());
        let shared = Arc::new(Shared {
            backend: Arc::new(backend),
            options,
            certificates,
            transactions: AtomicU64::new(1),
            attentions: AtomicU64::new(0),
            rows: AtomicU64::new(0),
            connections: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            running: AtomicUsize::new(0),
            cut: watch::Sender::new(0),
            faults,
            queries: Mutex::default(),
            logins: Mutex::default(),
            failures: Mutex::default(),
        });
        runtime.spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, runtime: Some(runtime) })
    }

    /// The port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The authority's certificate in PEM; `None` without TLS.
    #[must_use]
    pub fn authority(&self) -> Option<&str> {
        self.shared.certificates.as_ref().map(|certificates| certificates.authority.as_str())
    }

    /// Connections so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Connections open now.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }

    /// Requests that are being answered now.
    #[must_use]
    pub fn running(&self) -> usize {
        self.shared.running.load(Ordering::SeqCst)
    }

    /// Ends the connections whose responses are under way.
    pub fn cut_running(&self) {
        self.shared.cut.send_modify(|times| *times += 1);
    }

    /// The texts of the queries seen, in order of arrival.
    #[must_use]
    pub fn queries(&self) -> Vec<String> {
        lock(&self.shared.queries).clone()
    }

    /// The logins seen, refused ones too.
    #[must_use]
    pub fn logins(&self) -> Vec<Login> {
        lock(&self.shared.logins).clone()
    }

    /// Attentions seen.
    #[must_use]
    pub fn attentions(&self) -> u64 {
        self.shared.attentions.load(Ordering::SeqCst)
    }

    /// Rows made so far, of all results.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.shared.rows.load(Ordering::SeqCst)
    }

    /// What clients did against the protocol, and what the backend gave against its own columns.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        lock(&self.shared.failures).clone()
    }

    /// Faults of the responses from now on.
    pub fn set_faults(&self, faults: FaultPlan) {
        *lock(&self.shared.faults) = faults;
    }
}

impl Drop for TdsServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((tcp, _)) = listener.accept().await {
        shared.connections.fetch_add(1, Ordering::SeqCst);
        shared.open.fetch_add(1, Ordering::SeqCst);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            if let Err(error) = connection::serve(tcp, &shared).await {
                shared.note_failure(error.to_string());
            }
            shared.open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}
