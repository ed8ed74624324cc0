//! Streams of rows: a COPY, batch by batch.

use super::{
    copy::{CopyParser, ROW_BYTES_MAX},
    decode::put,
    decode_nested::value,
    failure::failure,
    position::{Lease, Pool},
    predicate::Guard,
    types::Wire,
};
use crate::{
    connector::{NativeBatch, RowStream},
    encode::{RowWriter, render},
    model::{CanonicalType, Error, ErrorKind, Result},
};
use futures::{StreamExt, stream};
use std::{pin::Pin, sync::Arc};
use tokio_postgres::CopyOutStream;

const DOING: &str = "reading rows";

/// A column of a read, as it comes over the wire.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) wire: Wire,
    /// The canonical type of a composed value that is rendered; the writer renders others itself.
    pub(super) nested: Option<CanonicalType>,
}

/// Whole rows in the binary format.
pub(super) struct CopyBatch {
    data: Vec<u8>,
    rows: usize,
    fields: Arc<[Field]>,
}

impl NativeBatch for CopyBatch {
    fn bytes(&self) -> usize {
        self.data.capacity()
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn encode(&self, writer: &mut RowWriter<'_>) -> Result<()> {
        let mut rest = self.data.as_slice();
        for _ in 0..self.rows {
            // The parser has checked the number of fields.
            rest = rest.get(2..).ok_or_else(cut)?;
            writer.begin_row();
            for field in &*self.fields {
                let (length, tail) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
                let length = i32::from_be_bytes(*length);
                if length == -1 {
                    rest = tail;
                    writer.put_null().map_err(|error| error.in_column(field.name.as_str()))?;
                    continue;
                }
                let length = usize::try_from(length).map_err(|_| cut())?;
                let (value, tail) = tail.split_at_checked(length).ok_or_else(cut)?;
                rest = tail;
                let written = match &field.nested {
                    None => put(writer, &field.wire, value),
                    Some(canonical) => rendered(writer, &field.wire, canonical, value),
                };
                written.map_err(|error| error.in_column(field.name.as_str()))?;
            }
            writer.end_row()?;
        }
        if rest.is_empty() { Ok(()) } else { Err(cut()) }
    }
}

/// Writes the canonical text of a composed value.
fn rendered(writer: &mut RowWriter<'_>, wire: &Wire, canonical: &CanonicalType, bytes: &[u8]) -> Result<()> {
    let text = render(canonical, &value(wire, bytes)?);
    writer.put_text(&text.ok_or_else(|| Error::internal("a composed value has no text"))?)
}

fn cut() -> Error {
    Error::internal("a batch of copy data does not hold whole rows")
}

/// What a stream is doing.
enum State {
    Start { pool: Arc<Pool>, sql: String, guards: Vec<Guard> },
    Reading(Box<Reading>),
    Done,
}

/// A query that has started.
struct Reading {
    lease: Lease,
    copy: Pin<Box<CopyOutStream>>,
    parser: CopyParser,
}

/// Starts nothing yet: the guards are asked and the query is sent when the stream is first polled.
pub(super) fn rows(
    pool: Arc<Pool>,
    sql: String,
    guards: Vec<Guard>,
    fields: Arc<[Field]>,
    batch_bytes_max: usize,
) -> RowStream {
    let state = State::Start { pool, sql, guards };
    stream::try_unfold(state, move |state| {
        let fields = Arc::clone(&fields);
        async move {
            let reading = match state {
                State::Done => return Ok(None),
                State::Reading(reading) => reading,
                State::Start { pool, sql, guards } => {
                    let lease = pool.lease().await?;
                    for guard in &guards {
                        ask(&lease, guard).await?;
                    }
                    let copy =
                        lease.connection()?.client.copy_out(&sql).await.map_err(|error| failure(DOING, &error))?;
                    let parser = CopyParser::new(fields.len(), ROW_BYTES_MAX);
                    Box::new(Reading { lease, copy: Box::pin(copy), parser })
                }
            };
            next(reading, fields, batch_bytes_max).await
        }
    })
    .boxed()
}

/// Refuses a column that holds NULL although the catalog says NOT NULL.
async fn ask(lease: &Lease, guard: &Guard) -> Result<()> {
    let failed = |error| failure(DOING, &error);
    let row = lease.connection()?.client.query_opt(&guard.sql, &[]).await.map_err(failed)?;
    let Some(row) = row else { return Ok(()) };
    match row.try_get::<_, Option<String>>(0).map_err(failed)? {
        Some(_) => Ok(()),
        None => Err(Error::new(
            ErrorKind::Schema,
            "reading a range: the key column is NOT NULL in the catalog, but holds NULL, so that ranges would lose rows",
        )
        .in_column(guard.column.as_str())
        .hint("repair the table, or read this side once with --sort local")),
    }
}

async fn next(
    mut reading: Box<Reading>,
    fields: Arc<[Field]>,
    batch_bytes_max: usize,
) -> Result<Option<(Box<dyn NativeBatch>, State)>> {
    while let Some(chunk) = reading.copy.next().await {
        reading.parser.push(&chunk.map_err(|error| failure(DOING, &error))?)?;
        if reading.parser.complete_bytes() < batch_bytes_max {
            continue;
        }
        if let Some((data, rows)) = reading.parser.take() {
            let batch: Box<dyn NativeBatch> = Box::new(CopyBatch { data, rows, fields });
            return Ok(Some((batch, State::Reading(reading))));
        }
    }
    reading.parser.finish()?;
    command_complete(&mut reading.copy).await?;
    let Reading { lease, copy, mut parser } = *reading;
    drop(copy);
    lease.finish();
    let Some((data, rows)) = parser.take() else { return Ok(None) };
    let batch: Box<dyn NativeBatch> = Box::new(CopyBatch { data, rows, fields });
    Ok(Some((batch, State::Done)))
}

/// Waits for the server's word that the command is complete.
///
/// The driver ends the stream at the end of the data already. Polled once more, it reads the next message: an error of
/// the server or of the socket, or the completion, which it calls unexpected since it is no data.
async fn command_complete(copy: &mut Pin<Box<CopyOutStream>>) -> Result<()> {
    match copy.next().await {
        Some(Err(error)) if error.to_string() == "unexpected message from server" => Ok(()),
        Some(Err(error)) => Err(failure(DOING, &error)),
        Some(Ok(_)) | None => Err(Error::new(ErrorKind::Read, "reading rows: expected the end of the copy command")),
    }
}
