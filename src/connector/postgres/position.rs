//! The frozen position: one exported snapshot, and the connections that share it.

use super::{
    connection::{Canceller, Connection, PINS_HOLD},
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
    /// The quoted names of the relations that the plan of a query reads.
    Query(Vec<String>),
    /// Nothing that `LOCK TABLE` takes; for the reason given.
    None(&'static str),
    /// Rows of another server: no snapshot of this one covers them.
    Foreign,
}

/// An exported snapshot, and what tells it from those of other servers.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// What `SET TRANSACTION SNAPSHOT` takes.
    name: String,
    /// The transactions that it sees.
    visible: String,
    /// When the server was started: another server of the same data has another time.
    server: String,
}

/// An error unless the transaction has the settings that values depend on.
fn check_pins(doing: &str, hold: bool) -> Result<()> {
    if hold {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Connect,
        format!("{doing}: settings of the transaction do not hold (row_security, TimeZone, extra_float_digits)"),
    )
    .hint("connect to the server itself, or through a pooler that keeps a transaction on one server connection"))
}

/// Locks what a query reads. A table that is emptied or rewritten between snapshot and lock would look empty.
async fn lock_each(control: &Connection, names: &[String]) -> Result<&'static str> {
    const DOING: &str = "locking the tables of the query";
    let mut note = "tables of the query locked in ACCESS SHARE MODE first";
    for name in names {
        control.run(DOING, "SAVEPOINT before_lock").await?;
        match control.run(DOING, &format!("LOCK TABLE {name} IN ACCESS SHARE MODE")).await {
            Ok(()) => {}
            // A materialized view, or a right that reading does not need.
            Err(error) if matches!(error.kind(), ErrorKind::Permission | ErrorKind::Unsupported) => {
                control.run(DOING, "ROLLBACK TO SAVEPOINT before_lock").await?;
                note = "some tables of the query locked as of the snapshot only";
            }
            Err(error) => return Err(error),
        }
        control.run(DOING, "RELEASE SAVEPOINT before_lock").await?;
    }
    Ok(note)
}

/// Starts the control transaction and exports its snapshot.
pub(super) async fn freeze(control: &Connection, lock: &Lock) -> Result<(Snapshot, Position)> {
    const DOING: &str = "freezing the table";
    const LSN: &str = "CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END::text";
    let failed = |error| failure(DOING, &error);
    // Read before the transaction: within it, the first query would fix the snapshot before the lock is held.
    let row = control.client.query_one(&format!("SELECT {LSN}"), &[]).await.map_err(failed)?;
    let before: Option<String> = row.try_get(0).map_err(failed)?;
    control.begin(DOING).await?;
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
        Lock::Query(names) => lock_each(control, names).await?,
        Lock::None(reason) => reason,
        Lock::Foreign => {
            "foreign table, or one is read by it: its rows are those of another server, which the snapshot does not cover"
        }
    };
    let sql = format!(
        "SELECT txid_current_snapshot()::text, pg_export_snapshot(), pg_postmaster_start_time()::text, {PINS_HOLD}"
    );
    let row = control.client.query_one(&sql, &[]).await.map_err(failed)?;
    let snapshot = Snapshot {
        visible: row.try_get(0).map_err(failed)?,
        name: row.try_get(1).map_err(failed)?,
        server: row.try_get(2).map_err(failed)?,
    };
    check_pins(DOING, row.try_get(3).map_err(failed)?)?;
    let row = control.client.query_one(&format!("SELECT {LSN}"), &[]).await.map_err(failed)?;
    let after: Option<String> = row.try_get(0).map_err(failed)?;
    let obtained = format!("exported snapshot {}, transactions {}; {locked}", snapshot.name, snapshot.visible);
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
    snapshot: Snapshot,
    control: Connection,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
    runtime: Handle,
}

impl Pool {
    /// A pool around the control connection.
    pub(super) fn new(
        settings: Arc<Settings>,
        snapshot: Snapshot,
        control: Connection,
        workers: usize,
    ) -> Result<Self> {
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
        connection.begin(DOING).await?;
        let snapshot = self.snapshot.name.replace('\'', "''");
        let shared = connection.client.batch_execute(&format!("SET TRANSACTION SNAPSHOT '{snapshot}'")).await;
        match shared {
            Ok(()) => {}
            Err(error) if error.as_db_error().is_some() => return Err(self.lost().caused_by(failure(DOING, &error))),
            Err(error) => return Err(failure(DOING, &error)),
        }
        self.check(&connection).await?;
        Ok(connection)
    }

    /// Whether the connection reached the server of the control connection, sees what that sees, and has its settings.
    /// A list of hosts, or a name with several addresses, can lead to another server, where a snapshot of this name
    /// may exist as well.
    async fn check(&self, connection: &Connection) -> Result<()> {
        const DOING: &str = "sharing the snapshot";
        let failed = |error| failure(DOING, &error);
        let sql = format!("SELECT txid_current_snapshot()::text, pg_postmaster_start_time()::text, {PINS_HOLD}");
        let row = connection.client.query_one(&sql, &[]).await.map_err(failed)?;
        let visible: String = row.try_get(0).map_err(failed)?;
        let server: String = row.try_get(1).map_err(failed)?;
        if visible != self.snapshot.visible || server != self.snapshot.server {
            return Err(Error::new(
                ErrorKind::PositionLost,
                format!("sharing the snapshot {}: the connection reached another server", self.snapshot.name),
            )
            .hint("name one server in the locator, by its address"));
        }
        check_pins(DOING, row.try_get(2).map_err(failed)?)
    }

    fn lost(&self) -> Error {
        Error::new(
            ErrorKind::PositionLost,
            format!("sharing the snapshot {}: its transaction has ended on the server", self.snapshot.name),
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;
    use tieout_testkit::postgres::test_database;

    async fn text(connection: &Connection, sql: &str) -> String {
        connection.client.query_one(sql, &[]).await.unwrap().get(0)
    }

    #[tokio::test]
    async fn a_transaction_brings_its_own_settings() {
        let database = test_database().unwrap();
        let settings = Arc::new(super::super::settings(&format!("{}#t", database.url())).unwrap());
        let control = Connection::open(&settings).await.unwrap();
        let pooled = Connection::open(&settings).await.unwrap();
        // What a pooler does between two transactions, and what another client may have left.
        let spoil =
            "RESET ALL; SET timezone = 'Asia/Tokyo'; SET extra_float_digits = 0; SET intervalstyle = 'iso_8601'";
        control.run("spoiling the session", spoil).await.unwrap();
        let (snapshot, _) = freeze(&control, &Lock::None("nothing to lock")).await.unwrap();
        assert_eq!(text(&control, "SELECT current_setting('row_security')").await, "off");
        assert_eq!(
            text(&control, "SELECT ('2024-01-01 00:00:00+00'::timestamptz)::text").await,
            "2024-01-01 00:00:00+00"
        );
        assert_eq!(text(&control, "SELECT (interval '1 day')::text").await, "1 day");
        // The server looks after a machine that vanished.
        assert_eq!(text(&pooled, "SELECT current_setting('tcp_keepalives_idle')").await, "60");
        assert_eq!(text(&control, "SELECT (0.1::float8 + 0.2::float8)::text").await, "0.30000000000000004");
        let pool = Arc::new(Pool::new(settings, snapshot, control, 1).unwrap());
        let lease = pool.lease().await.unwrap();
        assert_eq!(text(lease.connection().unwrap(), "SELECT current_setting('row_security')").await, "off");
        assert!(check_pins("testing", false).is_err());
    }

    #[tokio::test]
    async fn another_server_is_noticed() {
        let database = test_database().unwrap();
        let settings = Arc::new(super::super::settings(&format!("{}#t", database.url())).unwrap());
        for spoil in [
            |snapshot: &mut Snapshot| snapshot.server = "2001-01-01 00:00:00+00".to_owned(),
            |snapshot: &mut Snapshot| snapshot.visible = "3:3:".to_owned(),
        ] {
            let control = Connection::open(&settings).await.unwrap();
            let (mut snapshot, _) = freeze(&control, &Lock::None("nothing to lock")).await.unwrap();
            spoil(&mut snapshot);
            let pool = Arc::new(Pool::new(Arc::clone(&settings), snapshot, control, 1).unwrap());
            assert_eq!(pool.lease().await.err().unwrap().kind(), ErrorKind::PositionLost);
        }
    }
}
