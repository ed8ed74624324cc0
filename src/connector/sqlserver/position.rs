//! The frozen position: how rows are held still, and the connections that see the same state.

use super::{
    connection::{Connection, flag, number, some_number, some_text},
    failure::{failure, is_missing, is_refusal},
    locator::{Isolation, Settings},
    sql,
};
use crate::model::{Error, ErrorKind, Exactness, Position, Result};
use std::{
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Duration,
};
use tiberius::ColumnData;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

const DOING: &str = "freezing the table";
/// Connections beyond one a worker: for a read that ends while another starts.
const SPARE_CONNECTIONS: usize = 1;
/// Tries to catch the table while nobody writes: each takes a login a worker.
const TRACKING_TRIES: usize = 3;
/// How long a process that ends may wait for queries to be cancelled. One takes a round trip.
const SETTLE_MAX: Duration = Duration::from_secs(3);

/// Reads under way; those that were given up cancel their queries before they end.
pub(super) static READS: LazyLock<TaskTracker> = LazyLock::new(TaskTracker::new);

/// Waits until the queries that were given up have been cancelled, for three seconds at most.
pub(super) async fn settle() {
    READS.close();
    if tokio::time::timeout(SETTLE_MAX, READS.wait()).await.is_err() {
        tracing::debug!("cancelling queries took too long");
    }
}

/// What the catalogue says of the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Database {
    pub(super) name: String,
    pub(super) read_only: bool,
    /// Whether it is a database snapshot.
    pub(super) snapshot: bool,
    /// Whether transactions at SNAPSHOT isolation are allowed, where that is known.
    pub(super) allows_snapshot: Option<bool>,
}

impl Database {
    /// Asks the catalogue. Another server may lack it: then nothing is assumed.
    pub(super) async fn ask(control: &mut Connection, genuine: bool) -> Result<Self> {
        let rows = match control.try_rows(sql::DATABASE).await {
            Ok(rows) => rows,
            Err(error) if !genuine && is_refusal(&error) => Vec::new(),
            Err(error) => return Err(failure("looking at the database", &error)),
        };
        let Some(row) = rows.first() else { return Ok(Self::default()) };
        Ok(Self {
            name: some_text(row, 0)?,
            read_only: flag(row, 1)?,
            snapshot: number(row, 2)?.is_some(),
            allows_snapshot: number(row, 3)?.map(|state| state == 1),
        })
    }

    /// Whether nobody can write it.
    fn is_still(&self) -> bool {
        self.read_only || self.snapshot
    }
}

/// What is frozen.
pub(super) struct Subject<'a> {
    /// The FROM item.
    pub(super) from: &'a str,
    /// The id of the table, if it is one.
    pub(super) table: Option<i64>,
    /// Remarks that belong to the position.
    pub(super) notes: &'a [String],
}

/// Version of change tracking, and the oldest that is valid for the table.
type Version = (i64, i64);

/// The version of change tracking; `None` where the table is not tracked, or the login may not see it.
async fn version(control: &mut Connection, table: Option<i64>) -> Result<Option<Version>> {
    let Some(table) = table else { return Ok(None) };
    let rows = match control.try_rows(&sql::change_version(table)).await {
        Ok(rows) => rows,
        Err(error) if is_refusal(&error) => return Ok(None),
        Err(error) => return Err(failure(DOING, &error)),
    };
    let Some(row) = rows.first() else { return Ok(None) };
    Ok(number(row, 0)?.zip(number(row, 1)?))
}

/// The server's clock as text, if it tells.
async fn clock(control: &mut Connection) -> Result<Option<String>> {
    let rows = match control.try_rows(sql::CLOCK).await {
        Ok(rows) => rows,
        Err(error) if is_refusal(&error) => return Ok(None),
        Err(error) => return Err(failure(DOING, &error)),
    };
    let Some(ColumnData::DateTime2(Some(now))) = rows.first().and_then(|row| row.first()) else { return Ok(None) };
    let (year, month, day) = super::time::civil(i64::from(now.date().days()) + super::time::YEAR_ONE);
    let unit = 10_u64.pow(u32::from(now.time().scale().min(9)));
    let seconds = now.time().increments() / unit;
    let millis = now.time().increments() % unit * 1000 / unit;
    let clock = format!("{:02}:{:02}:{:02}.{millis:03}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    Ok(Some(format!("{year:04}-{month:02}-{day:02}T{clock}Z")))
}

/// Opens a connection whose transaction sees the table as it is now.
async fn snapshot_reader(settings: &Arc<Settings>, database: &Database, from: &str) -> Result<Connection> {
    let (mut connection, _) = Connection::open(settings).await?;
    let begun = match connection.try_rows(sql::BEGIN_SNAPSHOT).await {
        // The transaction is fixed by its first read, not by its start.
        Ok(_) => connection.try_rows(&sql::first_read(from)).await,
        Err(error) => Err(error),
    };
    match begun {
        Ok(_) => Ok(connection),
        Err(error) if !is_missing(&error) && database.allows_snapshot == Some(false) => Err(snapshot_off(database)),
        Err(error) if error.code() == Some(3952) => Err(snapshot_off(database)),
        Err(error) => Err(failure(DOING, &error)),
    }
}

fn snapshot_off(database: &Database) -> Error {
    let name = super::name::bracketed(&database.name);
    Error::new(ErrorKind::Unsupported, "freezing the table: the database does not allow SNAPSHOT isolation").hint(format!(
        "allow it with ALTER DATABASE {name} SET ALLOW_SNAPSHOT_ISOLATION ON, name a database snapshot in the locator, \
         or read without a frozen state with isolation=read-committed"
    ))
}

/// How connections come to see the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Each sees the same anyway, or nothing is promised: opened as they are wanted.
    Free,
    /// Each holds a transaction of the same state: there are only those that were opened for the freeze.
    Transactions,
}

/// Connections that see the frozen state.
pub(super) struct Pool {
    settings: Arc<Settings>,
    mode: Mode,
    isolation: Option<&'static str>,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
    /// Why one connection alone reads, if so.
    pub(super) one_reader: Option<String>,
}

impl Pool {
    fn new(settings: &Arc<Settings>, mode: Mode, idle: Vec<Connection>, permits: usize) -> Self {
        Self {
            settings: Arc::clone(settings),
            mode,
            isolation: (mode == Mode::Free).then_some(sql::READ_COMMITTED),
            idle: Mutex::new(idle),
            permits: Arc::new(Semaphore::new(permits)),
            one_reader: None,
        }
    }

    /// Takes a connection; waits while all are out.
    pub(super) async fn lease(self: &Arc<Self>) -> Result<Lease> {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(|_| Error::internal("the connections of a frozen table are gone"))?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None if self.mode == Mode::Free => self.open().await?,
            None => return Err(lost()),
        };
        if self.mode == Mode::Transactions {
            // Without its transaction, the connection would read another state, and say nothing.
            let rows = connection.rows("reading within the snapshot", sql::TRANSACTION).await?;
            if rows.first().map(|row| some_number(row, 0)).transpose()? != Some(1) {
                return Err(lost());
            }
        }
        Ok(Lease { connection, permit, pool: Arc::clone(self) })
    }

    async fn open(&self) -> Result<Connection> {
        let (mut connection, _) = Connection::open(&self.settings).await?;
        if let Some(isolation) = self.isolation {
            connection.run("preparing the session", isolation).await?;
        }
        Ok(connection)
    }
}

fn lost() -> Error {
    Error::new(ErrorKind::PositionLost, "reading within the snapshot: its transaction has ended")
        .hint("run the comparison again; look for who ends transactions or connections on the server")
}

/// A connection out of the pool. One that is not given back is closed.
pub(super) struct Lease {
    pub(super) connection: Connection,
    permit: OwnedSemaphorePermit,
    pool: Arc<Pool>,
}

impl Lease {
    /// Returns the connection for the next read.
    pub(super) fn finish(self) {
        self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(self.connection);
        drop(self.permit);
    }

    /// Gives up what the connection is doing. Its transaction ends with it.
    pub(super) async fn cancel(self) {
        self.connection.cancel().await;
        drop(self.permit);
    }
}

/// Freezes a table. `control` stays outside of every transaction.
pub(super) async fn freeze(
    settings: &Arc<Settings>,
    mut control: Connection,
    database: &Database,
    subject: &Subject<'_>,
    workers: usize,
) -> Result<(Pool, Position)> {
    // Fewer than workers would let two of them wait for each other: each reads from both sides.
    let wanted = workers.max(1).saturating_add(SPARE_CONNECTIONS).min(Semaphore::MAX_PERMITS);
    let position = |kind: &str, value: String, exactness, obtained: String| {
        let notes = subject.notes.iter().fold(String::new(), |notes, note| format!("{notes}; {note}"));
        Position { kind: kind.to_owned(), value, exactness, obtained: format!("{obtained}{notes}") }
    };
    if settings.isolation == Isolation::ReadCommitted {
        let value = clock(&mut control).await?.unwrap_or_else(|| "unknown".to_owned());
        let obtained = "isolation=read-committed: not frozen, rows were read while others could write".to_owned();
        let pool = Pool::new(settings, Mode::Free, Vec::new(), wanted);
        return Ok((pool, position("mssql-read-committed", value, Exactness::Unknown, obtained)));
    }
    if database.is_still() {
        let (kind, what) = if database.snapshot {
            ("mssql-database-snapshot", "a database snapshot")
        } else {
            ("mssql-read-only-database", "a read-only database")
        };
        let obtained = format!("{what}: nobody can write it");
        let pool = Pool::new(settings, Mode::Free, Vec::new(), wanted);
        return Ok((pool, position(kind, database.name.clone(), Exactness::Exact, obtained)));
    }
    if settings.isolation == Isolation::DatabaseSnapshot {
        return Err(Error::new(
            ErrorKind::Config,
            "freezing the table: isolation=database-snapshot, but the database is neither a snapshot nor read-only",
        )
        .hint("name the snapshot in the locator: CREATE DATABASE name ON (...) AS SNAPSHOT OF source makes one"));
    }
    if workers > 1 {
        for _ in 0..TRACKING_TRIES {
            let Some(before) = version(&mut control, subject.table).await? else { break };
            let open = (0..wanted).map(|_| snapshot_reader(settings, database, subject.from));
            let readers = futures::future::try_join_all(open).await?;
            // Every transaction is fixed by now: if no tracked change was committed meanwhile, all see the same rows.
            if version(&mut control, subject.table).await? == Some(before) {
                let obtained = format!(
                    "{} SNAPSHOT transactions, opened while change tracking stayed at its version",
                    readers.len()
                );
                let pool = Pool::new(settings, Mode::Transactions, readers, wanted);
                return Ok((
                    pool,
                    position("mssql-change-version", before.0.to_string(), Exactness::Bracketed, obtained),
                ));
            }
        }
    }
    single(settings, control, database, subject, workers, position).await
}

/// One connection whose transaction all reads share, in turn.
async fn single(
    settings: &Arc<Settings>,
    mut control: Connection,
    database: &Database,
    subject: &Subject<'_>,
    workers: usize,
    position: impl Fn(&str, String, Exactness, String) -> Position,
) -> Result<(Pool, Position)> {
    let tracked = version(&mut control, subject.table).await?;
    let before = clock(&mut control).await?;
    let reader = snapshot_reader(settings, database, subject.from).await?;
    let after = clock(&mut control).await?;
    let later = version(&mut control, subject.table).await?;
    let mut pool = Pool::new(settings, Mode::Transactions, vec![reader], 1);
    let obtained = "one SNAPSHOT transaction, fixed at its first read".to_owned();
    let bracket = |from: String, to: String| if from == to { from } else { format!("{from}..{to}") };
    // A single worker reads one range after the other anyway.
    if workers > 1 {
        pool.one_reader = Some(if tracked.is_some() {
            "the table was changed each time that connections were opened".to_owned()
        } else {
            "snapshots of several connections cannot be proven equal without change tracking on the table".to_owned()
        });
    }
    Ok(match (tracked, later, before, after) {
        (Some(from), Some(to), ..) => {
            let value = bracket(from.0.to_string(), to.0.to_string());
            (pool, position("mssql-change-version", value, Exactness::Bracketed, obtained))
        }
        (_, _, Some(from), Some(to)) => {
            let obtained = format!("{obtained}, between these times of the server");
            (pool, position("mssql-snapshot", bracket(from, to), Exactness::Bracketed, obtained))
        }
        _ => (pool, position("mssql-snapshot", "unknown".to_owned(), Exactness::Unknown, obtained)),
    })
}
