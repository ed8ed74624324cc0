//! Streams of rows: a prepared statement, batch by batch.

use super::{
    decode::put,
    failure::failure,
    position::{Lease, Pool},
    types::Wire,
};
use crate::{
    connector::{NativeBatch, RowStream},
    encode::RowWriter,
    model::{Error, ErrorKind, Result},
};
use futures::{StreamExt, stream};
use mysql_async::{BinaryProtocol, Conn, QueryResult, Statement, Value, prelude::Queryable};
use std::sync::Arc;

const DOING: &str = "reading rows";
/// U+FFFD in UTF-8.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// A column of a read, as it comes over the wire.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) wire: Wire,
    /// Whether the server was asked for its text.
    pub(super) server_text: bool,
    /// Place of the field behind the columns that says whether the conversion lost nothing.
    pub(super) check: Option<usize>,
}

/// Whole rows as the driver gives them.
pub(super) struct RowBatch {
    values: Vec<Value>,
    /// Fields of a row, the checks included.
    width: usize,
    bytes: usize,
    fields: Arc<[Field]>,
}

impl NativeBatch for RowBatch {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn rows(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    fn encode(&self, writer: &mut RowWriter<'_>) -> Result<()> {
        for row in self.values.chunks_exact(self.width.max(1)) {
            writer.begin_row();
            for (field, value) in self.fields.iter().zip(row) {
                let written = match lost(field, row, value) {
                    None => put(writer, &field.wire, field.server_text, value),
                    Some(error) => Err(error),
                };
                written.map_err(|error| error.in_column(field.name.as_str()))?;
            }
            writer.end_row()?;
        }
        Ok(())
    }
}

/// The error for text in which the server put question marks, or U+FFFD, for what it could not convert. Two characters of
/// a set may stand for one of Unicode, so a conversion that does not come back is no loss by itself; one that does come
/// back is none only where U+FFFD is no character of the set.
fn lost(field: &Field, row: &[Value], value: &Value) -> Option<Error> {
    let check = row.get(field.check?)?;
    let Value::Bytes(bytes) = value else { return None };
    let replaced = bytes.windows(REPLACEMENT.len()).any(|window| window == REPLACEMENT);
    let marked = *check != Value::Int(1) && bytes.contains(&b'?');
    if !marked && (!replaced || field.wire.holds_replacements()) {
        return None;
    }
    Some(
        Error::new(
            ErrorKind::Value,
            "reading text: the character set of the column holds a character that Unicode lacks",
        )
        .hint("mend the text in the store, or compare a query that casts the column to binary"),
    )
}

/// What a stream is doing.
enum State {
    Start { pool: Arc<Pool>, sql: String },
    Reading(Box<Reading>),
    Done,
}

/// A query that has started.
struct Reading {
    lease: Lease,
    statement: Statement,
    width: usize,
}

/// Starts nothing yet: the query is sent when the stream is first polled.
pub(super) fn rows(pool: Arc<Pool>, sql: String, fields: Arc<[Field]>, batch_bytes_max: usize) -> RowStream {
    let state = State::Start { pool, sql };
    stream::try_unfold(state, move |state| {
        let fields = Arc::clone(&fields);
        async move {
            let reading = match state {
                State::Done => return Ok(None),
                State::Reading(reading) => reading,
                State::Start { pool, sql } => Box::new(start(&pool, &sql, &fields).await?),
            };
            next(reading, fields, batch_bytes_max).await
        }
    })
    .boxed()
}

async fn start(pool: &Arc<Pool>, sql: &str, fields: &[Field]) -> Result<Reading> {
    let mut lease = pool.lease().await?;
    let conn = lease.conn()?;
    let statement = conn.prep(sql).await.map_err(|error| failure(DOING, &error))?;
    let width = fields.len() + fields.iter().filter(|field| field.check.is_some()).count();
    if statement.columns().len() != width {
        return Err(Error::internal("a read has another number of columns than its projection"));
    }
    // The result stays pending on the connection, and is read from there batch by batch.
    let pending = conn.exec_iter(&statement, ()).await.map_err(|error| failure(DOING, &error))?;
    drop(pending);
    Ok(Reading { lease, statement, width })
}

/// Reads rows until the batch is large enough. Returns it, and whether the server said that there are no more.
async fn fill(conn: &mut Conn, width: usize, batch_bytes_max: usize) -> Result<(Vec<Value>, usize, bool)> {
    let mut values: Vec<Value> = Vec::new();
    let mut heap = 0_usize;
    let mut result: QueryResult<'_, '_, BinaryProtocol> = QueryResult::new(conn);
    loop {
        // `None` comes with the terminator of the result alone: a connection that ends before it is an error.
        let Some(row) = result.next().await.map_err(|error| failure(DOING, &error))? else {
            return Ok((values, heap, true));
        };
        if row.len() != width {
            return Err(Error::internal("a row has another number of fields than its statement"));
        }
        for value in row.unwrap() {
            if let Value::Bytes(bytes) = &value {
                heap = heap.saturating_add(bytes.capacity());
            }
            values.push(value);
        }
        if heap.saturating_add(values.len() * size_of::<Value>()) >= batch_bytes_max {
            return Ok((values, heap, false));
        }
    }
}

async fn next(
    mut reading: Box<Reading>,
    fields: Arc<[Field]>,
    batch_bytes_max: usize,
) -> Result<Option<(Box<dyn NativeBatch>, State)>> {
    let width = reading.width;
    let (values, heap, last) = fill(reading.lease.conn()?, width, batch_bytes_max).await?;
    let bytes = heap.saturating_add(values.capacity() * size_of::<Value>());
    let empty = values.is_empty();
    let batch: Box<dyn NativeBatch> = Box::new(RowBatch { values, width, bytes, fields });
    if !last {
        return Ok(Some((batch, State::Reading(reading))));
    }
    let Reading { mut lease, statement, .. } = *reading;
    lease.conn()?.close(statement).await.map_err(|error| failure(DOING, &error))?;
    lease.finish();
    Ok((!empty).then_some((batch, State::Done)))
}
