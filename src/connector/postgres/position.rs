//! The frozen position: one exported snapshot, and the connections that share it.

use super::{
    connection::{Canceller, Connection},
    failure::failure,
    locator::Settings,
};
use crate::model::{Error, ErrorKind, Exactness, Position, Result};
use std::{
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::task::TaskTracker;

/// Connections beyond one a worker: for the sample that finds splits, and for one read that ends while another starts.
const SPARE_CONNECTIONS: usize = 2;

/// How long a process that ends may wait for its cancel requests. One takes a round trip or two.
const SETTLE_MAX: Duration = Duration::from_secs(3);

/// Cancel requests under way. A runtime that ends drops its tasks, and the server would go on with the queries.
static CANCELLING: LazyLock<TaskTracker> = LazyLock::new(TaskTracker::new);

/// Waits until the queries that were given up have been cancelled, for three seconds at most.
pub(super) async fn settle() {
    CANCELLING.close();
    if tokio::time::timeout(SETTLE_MAX, CANCELLING.wait()).await.is_err() {
        tracing::debug!("cancelling queries took too long");
    }
}

/// Cancels what a connection is doing when it is dropped, unless [`Self::defuse`] comes first.
pub(super) struct CancelOnDrop {
    canceller: Option<Canceller>,
    runtime: Handle,
}

impl CancelOnDrop {
    /// A guard of what `connection` does next.
    pub(super) fn new(connection: &Connection) -> Result<Self> {
        Ok(Self { canceller: Some(connection.canceller()), runtime: runtime()? })
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

/// What is to be locked before the snapshot is taken.
pub(super) enum Lock {
    /// A table, by its quoted name.
    Table(String),
    /// A view: its underlying tables, if the server lets us.
    View(String),
    /// Nothing that `LOCK TABLE` takes; for the reason given.
    None(&'static str),
    /// Rows of another server: no snapshot of this one covers them.
    Foreign,
}

/// Starts the control transaction and exports its snapshot.
pub(super) async fn freeze(control: &Connection, lock: &Lock) -> Result<(String, Position)> {
    const DOING: &str = "freezing the table";
    const LSN: &str = "CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END::text";
    let failed = |error| failure(DOING, &error);
    // Read before the transaction: within it, the first query would fix the snapshot before the lock is held.
    let row = control.client.query_one(&format!("SELECT {LSN}"), &[]).await.map_err(failed)?;
    let before: Option<String> = row.try_get(0).map_err(failed)?;
    control.run(DOING, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let locked = match lock {
        Lock::Table(name) => {
            control.run("locking the table", &format!("LOCK TABLE {name} IN ACCESS SHARE MODE")).await?;
            "table locked in ACCESS SHARE MODE first"
        }
        Lock::View(name) => {
            control.run(DOING, "SAVEPOINT before_lock").await?;
            let locked = control.run("locking the view", &format!("LOCK TABLE {name} IN ACCESS SHARE MODE")).await;
            let note = match locked {
                Ok(()) => "view and its tables locked in ACCESS SHARE MODE first",
                Err(error) if matches!(error.kind(), ErrorKind::Permission | ErrorKind::Unsupported) => {
                    control.run(DOING, "ROLLBACK TO SAVEPOINT before_lock").await?;
                    "view not locked: the server does not permit it"
                }
                Err(error) => return Err(error),
            };
            // A snapshot cannot be exported from within a savepoint.
            control.run(DOING, "RELEASE SAVEPOINT before_lock").await?;
            note
        }
        Lock::None(reason) => reason,
        Lock::Foreign => "foreign table: its rows are those of another server, which the snapshot does not cover",
    };
    let row = control
        .client
        .query_one("SELECT txid_current_snapshot()::text, pg_export_snapshot()", &[])
        .await
        .map_err(failed)?;
    let visible: String = row.try_get(0).map_err(failed)?;
    let snapshot: String = row.try_get(1).map_err(failed)?;
    let row = control.client.query_one(&format!("SELECT {LSN}"), &[]).await.map_err(failed)?;
    let after: Option<String> = row.try_get(0).map_err(failed)?;
    let obtained = format!("exported snapshot {snapshot}, transactions {visible}; {locked}");
    let (value, exactness) = match (before, after) {
        _ if matches!(lock, Lock::Foreign) => ("unknown".to_owned(), Exactness::Unknown),
        (Some(before), Some(after)) if before == after => (before, Exactness::Bracketed),
        (Some(before), Some(after)) => (format!("{before}..{after}"), Exactness::Bracketed),
        _ => ("unknown".to_owned(), Exactness::Unknown),
    };
    Ok((snapshot, Position { kind: "pg-lsn".to_owned(), value, exactness, obtained }))
}

/// Connections that see the snapshot. Holds the control transaction, which keeps the snapshot alive.
pub(super) struct Pool {
    settings: Arc<Settings>,
    snapshot: String,
    control: Connection,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
    runtime: Handle,
}

impl Pool {
    /// A pool around the control connection.
    pub(super) fn new(settings: Arc<Settings>, snapshot: String, control: Connection, workers: usize) -> Result<Self> {
        let permits = workers.max(1).saturating_add(SPARE_CONNECTIONS).min(Semaphore::MAX_PERMITS);
        let runtime = runtime()?;
        Ok(Self {
            settings,
            snapshot,
            control,
            idle: Mutex::new(Vec::new()),
            permits: Arc::new(Semaphore::new(permits)),
            runtime,
        })
    }

    /// Takes a connection, opening one if none is idle; waits while all are out.
    pub(super) async fn lease(self: &Arc<Self>) -> Result<Lease> {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(|_| Error::internal("the connections of a frozen table are gone"))?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) if !connection.client.is_closed() => connection,
            _ => self.open().await?,
        };
        Ok(Lease { connection: Some(connection), permit: Some(permit), pool: Arc::clone(self) })
    }

    async fn open(&self) -> Result<Connection> {
        const DOING: &str = "sharing the snapshot";
        if self.control.client.is_closed() {
            return Err(self.lost());
        }
        let connection = Connection::open(&self.settings).await?;
        connection.run(DOING, "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        let snapshot = self.snapshot.replace('\'', "''");
        let shared = connection.client.batch_execute(&format!("SET TRANSACTION SNAPSHOT '{snapshot}'")).await;
        match shared {
            Ok(()) => Ok(connection),
            Err(error) if error.as_db_error().is_some() => Err(self.lost().caused_by(failure(DOING, &error))),
            Err(error) => Err(failure(DOING, &error)),
        }
    }

    fn lost(&self) -> Error {
        Error::new(
            ErrorKind::PositionLost,
            format!("sharing the snapshot {}: its transaction has ended on the server", self.snapshot),
        )
        .hint("run the comparison again; look for who ends idle transactions or connections on the server")
    }
}

/// A connection out of the pool. One that is dropped before [`Self::finish`] is cancelled and closed.
pub(super) struct Lease {
    connection: Option<Connection>,
    permit: Option<OwnedSemaphorePermit>,
    pool: Arc<Pool>,
}

impl Lease {
    /// The connection.
    pub(super) fn connection(&self) -> Result<&Connection> {
        self.connection.as_ref().ok_or_else(|| Error::internal("a connection was used after it was returned"))
    }

    /// Returns the connection for the next read.
    pub(super) fn finish(mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        let permit = self.permit.take();
        let canceller = connection.canceller();
        let work = async move {
            canceller.cancel().await;
            drop(connection);
            drop(permit);
        };
        CANCELLING.spawn_on(work, &self.pool.runtime);
    }
}
