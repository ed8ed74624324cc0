//! The frozen position: consistent snapshots on all connections, proven to be one, and the pool of them.

use super::{
    connection::{Canceller, Session},
    locator::Settings,
};
use crate::model::{Error, ErrorKind, Exactness, Position, Result};
use futures::future::try_join_all;
use mysql_async::Conn;
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::task::TaskTracker;

/// Connections beyond one a worker: for one read that ends while another starts.
const SPARE_CONNECTIONS: usize = 1;
/// Tries to take all snapshots between two commits.
const SNAPSHOT_TRIES: usize = 40;
/// How long a process that ends may wait for its requests to end queries. One takes a few round trips.
const SETTLE_MAX: Duration = Duration::from_secs(3);

const DOING: &str = "freezing the table";
const START: &str = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY";

/// Requests to end queries, under way. A runtime that ends drops its tasks, and the server would go on with the queries.
static CANCELLING: LazyLock<TaskTracker> = LazyLock::new(TaskTracker::new);

/// Waits until the queries that were given up have been ended, for three seconds at most.
pub(super) async fn settle() {
    CANCELLING.close();
    if tokio::time::timeout(SETTLE_MAX, CANCELLING.wait()).await.is_err() {
        tracing::debug!("ending queries took too long");
    }
}

/// Ends what a connection is doing when it is dropped, unless [`Self::defuse`] comes first.
pub(super) struct CancelOnDrop {
    canceller: Option<Canceller>,
    runtime: Handle,
}

impl CancelOnDrop {
    /// A guard of what `session` does next.
    pub(super) fn new(session: &Session) -> Result<Self> {
        Ok(Self { canceller: Some(session.canceller()), runtime: runtime()? })
    }

    /// The work is done.
    pub(super) fn defuse(mut self) {
        self.canceller = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(canceller) = self.canceller.take() {
            CANCELLING.spawn_on(canceller.cancel(), &self.runtime);
        }
    }
}

fn runtime() -> Result<Handle> {
    Handle::try_current().map_err(|_| Error::internal("freezing outside of the runtime"))
}

/// What kind of server it is, as far as snapshots go.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// Whether it is MariaDB.
    pub(super) mariadb: bool,
    /// Its version, as it says.
    pub(super) version: String,
    /// What tells it from other servers.
    identity: String,
}

impl Server {
    /// Asks the server what it is.
    pub(super) async fn ask(session: &mut Session) -> Result<Self> {
        let version = session.text(DOING, "SELECT VERSION()").await?.unwrap_or_default();
        let identity = identity(session).await?;
        Ok(Self { mariadb: version.to_lowercase().contains("mariadb"), version, identity })
    }

    /// Major and minor version.
    pub(super) fn numbers(&self) -> (u32, u32) {
        let mut parts = self.version.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
    }
}

async fn identity(session: &mut Session) -> Result<String> {
    let sql = "SELECT CONCAT_WS('|', @@hostname, @@port, @@server_id, @@datadir)";
    Ok(session.text(DOING, sql).await?.unwrap_or_default())
}

/// Variables and status values by their lower-case names.
async fn named(session: &mut Session, sql: &str) -> Result<BTreeMap<String, String>> {
    let rows = session.rows(DOING, sql).await?;
    Ok(rows.iter().map(|row| (row.owned(0).to_lowercase(), row.owned(1))).collect())
}

/// Where MariaDB's snapshot stands in the binary log; `None` without one.
async fn binlog_position(session: &mut Session) -> Result<Option<String>> {
    let found = named(session, "SHOW STATUS LIKE 'binlog_snapshot%'").await?;
    let get = |name: &str| found.get(name).filter(|value| !value.is_empty());
    Ok(get("binlog_snapshot_file").zip(get("binlog_snapshot_position")).map(|(file, at)| format!("{file}:{at}")))
}

/// Why the position in the binary log says nothing of some commits; `None` if every commit moves it.
async fn unlogged(session: &mut Session) -> Result<Option<String>> {
    let found =
        named(session, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('log_bin', 'log_slave_updates', 'wsrep_on')")
            .await?;
    let on = |name: &str| found.get(name).is_some_and(|value| value.eq_ignore_ascii_case("on") || value == "1");
    if !on("log_bin") {
        return Ok(Some("the server keeps no binary log".to_owned()));
    }
    if !on("log_slave_updates") {
        let status = named(session, "SHOW GLOBAL STATUS LIKE 'slaves_running'").await?;
        if on("wsrep_on") || status.get("slaves_running").is_some_and(|running| running != "0") {
            return Ok(Some("the server does not log what it replicates (log_slave_updates)".to_owned()));
        }
    }
    match session.rows(DOING, "SHOW MASTER STATUS").await {
        Ok(rows) => {
            let filtered = rows.iter().any(|row| !row.owned(2).is_empty() || !row.owned(3).is_empty());
            Ok(filtered.then(|| "the server leaves databases out of its binary log".to_owned()))
        }
        Err(error) if error.kind() == ErrorKind::Permission => {
            Ok(Some("this user may not see what the binary log leaves out (grant BINLOG MONITOR)".to_owned()))
        }
        Err(error) => Err(error),
    }
}

/// The transactions that MySQL has executed, by their identifiers.
async fn gtid_executed(session: &mut Session) -> Result<Option<String>> {
    let found = named(session, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('gtid_executed', 'gtid_mode')").await?;
    let on = found.get("gtid_mode").is_some_and(|mode| mode.eq_ignore_ascii_case("on"));
    Ok(found.get("gtid_executed").filter(|_| on).map(|set| set.replace('\n', "")))
}

/// Snapshots of one state, and what is known of it.
pub(super) struct Frozen {
    /// The connection that describes the table.
    pub(super) control: Session,
    /// Connections that read; the control connection is not among them.
    readers: Vec<Session>,
    pub(super) position: Position,
    /// Why there is but one reader.
    pub(super) single: Option<String>,
}

/// Takes the snapshots, one for each reader. `probe` is a query without rows that names the tables: they are held before
/// the snapshots are taken, and until the end, so that none of them is altered, emptied or renamed in between.
pub(super) async fn freeze(
    settings: &Arc<Settings>,
    server: &Server,
    mut control: Session,
    probe: &str,
    workers: usize,
) -> Result<Frozen> {
    control.run(DOING, "START TRANSACTION READ ONLY").await?;
    control.run("preparing to read the table", probe).await?;
    let wanted = workers.max(1).saturating_add(SPARE_CONNECTIONS);
    // Commits of InnoDB pass this lock, so that with it nothing happens between the snapshots.
    let mut locker = if settings.lock { Some(lock(settings).await?) } else { None };
    let unlogged = if server.mariadb { unlogged(&mut control).await? } else { None };
    let mut single = match (&locker, server.mariadb) {
        (Some(_), _) => None,
        (None, true) => unlogged.clone(),
        (None, false) => Some("MySQL does not tell whether two snapshots are the same".to_owned()),
    }
    .map(|why| format!("{why}; `?lock=yes` in the locator lets readers share a position under a brief read lock"));
    let gtid_before = if server.mariadb { None } else { gtid_executed(&mut control).await? };
    let count = if single.is_some() { 1 } else { wanted };
    let mut readers = try_join_all((0..count).map(|_| Session::open(settings))).await?;
    for reader in &mut readers {
        if identity(reader).await? != server.identity {
            return Err(Error::new(ErrorKind::Connect, format!("{DOING}: two connections reached two servers"))
                .hint("name one server in the locator, by its address"));
        }
    }
    let mut agreed = take_snapshots(&mut readers).await?;
    if locker.is_none() && single.is_none() {
        let mut tries = 1;
        while agreed.is_none() && tries < SNAPSHOT_TRIES {
            agreed = take_snapshots(&mut readers).await?;
            tries += 1;
        }
        if agreed.is_none() {
            single = Some(format!(
                "the server commits too often to take {count} snapshots between two commits; `?lock=yes` in the \
                 locator lets readers share a position under a brief read lock"
            ));
        }
    }
    if single.is_some() {
        readers.truncate(1);
    }
    if let Some(locker) = &mut locker {
        locker.run(DOING, "UNLOCK TABLES").await?;
    }
    let position = match (&agreed, server.mariadb) {
        (_, true) => {
            let found = binlog_position(&mut readers[0]).await?;
            mariadb_position(found, unlogged.as_deref(), settings.lock, readers.len())
        }
        (_, false) => mysql_position(gtid_before, gtid_executed(&mut control).await?, settings.lock, readers.len()),
    };
    Ok(Frozen { control, readers, position, single })
}

async fn lock(settings: &Arc<Settings>) -> Result<Session> {
    let mut locker = Session::open(settings).await?;
    let guard = CancelOnDrop::new(&locker)?;
    locker.run("taking the read lock", "FLUSH TABLES WITH READ LOCK").await?;
    guard.defuse();
    Ok(locker)
}

/// Starts the transactions of all connections; the position in the binary log that all of them stand at, if they do.
async fn take_snapshots(readers: &mut [Session]) -> Result<Option<String>> {
    let found = try_join_all(readers.iter_mut().map(|session| async move {
        session.run(DOING, START).await?;
        binlog_position(session).await
    }))
    .await?;
    let first = found.first().cloned().flatten();
    Ok(first.filter(|first| found.iter().all(|other| other.as_ref() == Some(first))))
}

fn mariadb_position(found: Option<String>, unlogged: Option<&str>, locked: bool, readers: usize) -> Position {
    let how = if locked { ", taken under FLUSH TABLES WITH READ LOCK" } else { "" };
    let (value, exactness, by) = match (found, unlogged) {
        (Some(value), None) => (value, Exactness::Exact, "Binlog_snapshot_file and _position"),
        (_, Some(why)) => ("unknown".to_owned(), Exactness::Unknown, why),
        (None, None) => ("unknown".to_owned(), Exactness::Unknown, "the snapshot has no place in the binary log"),
    };
    let obtained = format!("consistent snapshots of {readers} connections{how}; {by}");
    Position { kind: "mysql-binlog".to_owned(), value, exactness, obtained }
}

fn mysql_position(before: Option<String>, after: Option<String>, locked: bool, readers: usize) -> Position {
    let how = if locked { ", taken under FLUSH TABLES WITH READ LOCK" } else { "" };
    let (value, exactness) = match (before, after) {
        (Some(before), Some(after)) if before == after => (after, Exactness::Bracketed),
        (Some(before), Some(after)) => (format!("{before}..{after}"), Exactness::Bracketed),
        _ => ("unknown".to_owned(), Exactness::Unknown),
    };
    let obtained = format!("consistent snapshots of {readers} connections{how}; gtid_executed before and after");
    Position { kind: "mysql-gtid".to_owned(), value, exactness, obtained }
}

impl Frozen {
    /// Leaves one reader, for the reason given.
    pub(super) fn keep_one(&mut self, why: &str) {
        self.readers.truncate(1);
        self.single.get_or_insert_with(|| why.to_owned());
    }

    /// The pool of the readers. Keeps the control connection, which holds the table.
    pub(super) fn into_pool(self) -> Result<Pool> {
        Ok(Pool {
            permits: Arc::new(Semaphore::new(self.readers.len())),
            idle: Mutex::new(self.readers),
            _control: self.control,
            runtime: runtime()?,
        })
    }
}

/// Connections that see the snapshot.
pub(super) struct Pool {
    _control: Session,
    idle: Mutex<Vec<Session>>,
    permits: Arc<Semaphore>,
    runtime: Handle,
}

impl Pool {
    /// Takes a connection; waits while all are out.
    ///
    /// # Errors
    /// `PositionLost` if they are all gone: a snapshot cannot be taken again.
    pub(super) async fn lease(self: &Arc<Self>) -> Result<Lease> {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(|_| Error::internal("the connections of a frozen table are gone"))?;
        let session = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match session {
            Some(session) => Ok(Lease { session: Some(session), permit: Some(permit), pool: Arc::clone(self) }),
            None => Err(Error::new(
                ErrorKind::PositionLost,
                "reading rows: the connections that hold the snapshot have ended",
            )
            .hint("run the comparison again")),
        }
    }
}

/// A connection out of the pool. One that is dropped before [`Self::finish`] is ended on the server.
pub(super) struct Lease {
    session: Option<Session>,
    permit: Option<OwnedSemaphorePermit>,
    pool: Arc<Pool>,
}

impl Lease {
    /// The connection.
    pub(super) fn conn(&mut self) -> Result<&mut Conn> {
        match &mut self.session {
            Some(session) => Ok(&mut session.conn),
            None => Err(Error::internal("a connection was used after it was returned")),
        }
    }

    /// Returns the connection for the next read.
    pub(super) fn finish(mut self) {
        if let Some(session) = self.session.take() {
            self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(session);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(session) = self.session.take() else { return };
        let permit = self.permit.take();
        let canceller = session.canceller();
        let work = async move {
            canceller.cancel().await;
            // Only now: the driver reads a result to its end before it lets a connection go.
            drop(session);
            drop(permit);
        };
        CANCELLING.spawn_on(work, &self.pool.runtime);
    }
}
