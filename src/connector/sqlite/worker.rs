//! The thread that owns the connection. Statements of all streams are open at once in one transaction, and are stepped a
//! batch at a time as they are asked for, in the order of asking: no stream waits for another one to end.

use super::{
    connection,
    failure::failure,
    locator::Target,
    position,
    predicate::Guard,
    relation::{Relation, TextForm},
    schema,
    stream::CellBatch,
};
use crate::model::{Error, ErrorKind, Position, Result, SideRequest};
use crossbeam_channel::{Receiver, Sender};
use rusqlite::{Connection, Statement, types::Value as SqlValue};
use std::{
    collections::BTreeMap,
    ffi::c_int,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::sync::oneshot;

const DOING: &str = "reading rows";
/// Instructions of the library after which it is asked whether anybody still waits: some milliseconds.
const INSTRUCTIONS: c_int = 100_000;

/// A read.
#[derive(Clone, Debug)]
pub(super) struct Query {
    pub(super) sql: String,
    pub(super) params: Vec<SqlValue>,
    pub(super) guard: Option<Guard>,
    /// Names of the columns that the rows are made of.
    pub(super) columns: Arc<[String]>,
    pub(super) text: TextForm,
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sql)?;
        for (index, value) in self.params.iter().enumerate() {
            let before = if index == 0 { " -- " } else { ", " };
            write!(f, "{before}?{} = ", index + 1)?;
            match value {
                SqlValue::Null => f.write_str("NULL")?,
                SqlValue::Integer(value) => write!(f, "{value}")?,
                SqlValue::Real(value) => write!(f, "{value:e}")?,
                SqlValue::Text(value) => write!(f, "'{}'", value.escape_debug())?,
                SqlValue::Blob(bytes) => {
                    f.write_str("x'")?;
                    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                    f.write_str("'")?;
                }
            }
        }
        Ok(())
    }
}

type Reply = oneshot::Sender<Result<Option<CellBatch>>>;

enum Command {
    /// Steps a statement, which `query` begins.
    Step { ticket: u64, query: Option<Box<Query>>, batch_bytes_max: usize, reply: Reply },
    /// Ends a statement.
    Close(u64),
}

/// The connection's thread, as the streams see it. The thread ends with the last of them.
pub(super) struct Worker {
    /// Unbounded, but each stream has at most one step and one end in it.
    sender: Sender<Command>,
    tickets: AtomicU64,
}

type Started = (Relation, Position);
type Ready = oneshot::Sender<Result<Started>>;

/// Who waits for what the connection is doing.
enum Waiting {
    Nobody,
    ForStart(Ready),
    ForStep(Reply),
}

/// The one who waits; shared with the library, which gives up a statement that nobody waits for, and no other one.
#[derive(Clone)]
struct Waiter(Arc<Mutex<Waiting>>);

impl Waiter {
    /// Puts `next` in the place of who waited.
    fn replace(&self, next: Waiting) -> Waiting {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), next)
    }

    fn is_gone(&self) -> bool {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Waiting::Nobody => false,
            Waiting::ForStart(ready) => ready.is_closed(),
            Waiting::ForStep(reply) => reply.is_closed(),
        }
    }
}

impl Worker {
    /// Opens and freezes the database on a thread of its own, and describes the table.
    ///
    /// # Errors
    /// As of opening, freezing and describing.
    pub(super) async fn start(target: Target, request: SideRequest) -> Result<(Self, Relation, Position)> {
        let (sender, commands) = crossbeam_channel::unbounded();
        let (ready, started) = oneshot::channel();
        std::thread::Builder::new()
            .name("tieout-sqlite".to_owned())
            .spawn(move || run(&target, &request, ready, &commands))
            .map_err(|error| {
                Error::new(ErrorKind::Limit, "opening the database: no thread can be started").caused_by(error)
            })?;
        let (relation, position) = started.await.map_err(|_| gone())??;
        Ok((Self { sender, tickets: AtomicU64::new(0) }, relation, position))
    }

    /// A number for a new stream.
    pub(super) fn ticket(&self) -> u64 {
        self.tickets.fetch_add(1, Ordering::Relaxed)
    }

    /// The next batch of a stream; `None` at its end.
    ///
    /// # Errors
    /// As of reading.
    pub(super) async fn step(
        &self,
        ticket: u64,
        query: Option<Box<Query>>,
        batch_bytes_max: usize,
    ) -> Result<Option<CellBatch>> {
        let (reply, answer) = oneshot::channel();
        self.sender.send(Command::Step { ticket, query, batch_bytes_max, reply }).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Ends a stream, whether it has begun or not.
    pub(super) fn close(&self, ticket: u64) {
        // A thread that is gone has ended it.
        let _ended = self.sender.send(Command::Close(ticket));
    }
}

fn gone() -> Error {
    Error::internal("reading: the thread of the database stopped without a word")
}

fn run(target: &Target, request: &SideRequest, ready: Ready, commands: &Receiver<Command>) {
    let waiter = Waiter(Arc::new(Mutex::new(Waiting::ForStart(ready))));
    let opened = connection::open(target).and_then(|connection| {
        let asked = waiter.clone();
        connection.progress_handler(INSTRUCTIONS, Some(move || asked.is_gone()));
        let position = position::freeze(&connection, target)?;
        let relation = schema::describe(&connection, target, request)?;
        Ok((connection, relation, position))
    });
    let Waiting::ForStart(ready) = waiter.replace(Waiting::Nobody) else { return };
    match opened {
        Ok((connection, relation, position)) => {
            if ready.send(Ok((relation, position))).is_ok() {
                serve(&connection, &waiter, commands);
            }
        }
        // Whoever does not wait any more does not want to know.
        Err(error) => drop(ready.send(Err(error))),
    }
}

fn serve(connection: &Connection, waiter: &Waiter, commands: &Receiver<Command>) {
    let mut open: BTreeMap<u64, Reading<'_>> = BTreeMap::new();
    for command in commands {
        match command {
            Command::Close(ticket) => drop(open.remove(&ticket)),
            Command::Step { ticket, query, batch_bytes_max, reply } => {
                if reply.is_closed() {
                    open.remove(&ticket);
                    continue;
                }
                waiter.replace(Waiting::ForStep(reply));
                let batch = match query {
                    Some(query) => Reading::begin(connection, &query).map(|reading| {
                        open.insert(ticket, reading);
                    }),
                    None => Ok(()),
                }
                .and_then(|()| open.get_mut(&ticket).ok_or_else(gone)?.next(batch_bytes_max));
                let goes_on = matches!(batch, Ok(Some(_)));
                let Waiting::ForStep(reply) = waiter.replace(Waiting::Nobody) else { return };
                if reply.send(batch).is_err() || !goes_on {
                    open.remove(&ticket);
                }
            }
        }
    }
}

/// A statement that is being stepped.
struct Reading<'connection> {
    statement: Statement<'connection>,
    columns: Arc<[String]>,
    text: TextForm,
    /// A row that was read, but did not fit the last batch.
    carried: Vec<u8>,
    ended: bool,
}

impl<'connection> Reading<'connection> {
    fn begin(connection: &'connection Connection, query: &Query) -> Result<Self> {
        if let Some(guard) = &query.guard {
            ask(connection, guard)?;
        }
        let failed = |error: rusqlite::Error| failure(DOING, &error);
        let mut statement = connection.prepare(&query.sql).map_err(failed)?;
        for (index, value) in query.params.iter().take(statement.parameter_count()).enumerate() {
            statement.raw_bind_parameter(index + 1, value).map_err(failed)?;
        }
        let columns = Arc::clone(&query.columns);
        Ok(Self { statement, columns, text: query.text, carried: Vec::new(), ended: false })
    }

    /// The next rows: at most `batch_bytes_max` bytes, but one row at least; `None` at the end.
    fn next(&mut self, batch_bytes_max: usize) -> Result<Option<CellBatch>> {
        let mut batch = CellBatch::new(Arc::clone(&self.columns), self.text, std::mem::take(&mut self.carried));
        // The statement goes on where it stands: it is stepped, not begun anew, by each set of rows.
        let mut rows = self.statement.raw_query();
        while !self.ended && batch.len() < batch_bytes_max {
            match rows.next() {
                Ok(Some(row)) => {
                    let at = batch.len();
                    batch.push(row)?;
                    if at > 0 && batch.len() > batch_bytes_max {
                        self.carried = batch.pop_from(at);
                        break;
                    }
                }
                Ok(None) => self.ended = true,
                Err(error) => return Err(failure(DOING, &error)),
            }
        }
        if !self.ended {
            // Dropping a set of rows would reset the statement; what it holds are references alone.
            std::mem::forget(rows);
        }
        Ok((!batch.is_empty()).then(|| batch.finish()))
    }
}

/// Refuses a column that holds NULL although the schema says NOT NULL.
fn ask(connection: &Connection, guard: &Guard) -> Result<()> {
    let failed = |error: rusqlite::Error| failure(DOING, &error);
    let mut statement = connection.prepare(&guard.sql).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    let Some(row) = rows.next().map_err(failed)? else { return Ok(()) };
    if row.get::<_, String>(0).map_err(failed)? != "null" {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Schema,
        "reading a range: the key column is NOT NULL in the schema, but holds NULL, so that ranges would lose rows",
    )
    .in_column(guard.column.as_str())
    .hint("repair the table, or read this side once with --sort local"))
}
