//! Streams of rows: a query, batch by batch.
//!
//! The driver's stream borrows its connection, so a task owns both, and stops the query on the server when nobody
//! listens any more.

use super::{
    decode::{Field, bytes_of, put},
    failure::failure,
    position::{Lease, Pool, READS},
};
use crate::{
    connector::{NativeBatch, RowStream},
    encode::RowWriter,
    model::{Error, ErrorKind, Result},
};
use futures::{StreamExt, TryStreamExt, stream};
use std::sync::Arc;
use tiberius::{ColumnData, QueryItem};
use tokio::sync::mpsc::{self, Receiver, Sender};

const DOING: &str = "reading rows";
/// Largest row that is held, in bytes; a value of the server ends at 2 GiB.
const ROW_BYTES_MAX: usize = 1 << 30;
/// Batches that wait between the task and the reader: one is filled while another is taken.
const WAITING_BATCHES: usize = 1;

/// Whole rows, cell after cell.
pub(super) struct RowBatch {
    cells: Vec<ColumnData<'static>>,
    rows: usize,
    bytes: usize,
    fields: Arc<[Field]>,
}

impl RowBatch {
    fn new(fields: &Arc<[Field]>) -> Self {
        Self { cells: Vec::new(), rows: 0, bytes: 0, fields: Arc::clone(fields) }
    }

    /// Adds a row.
    fn push(&mut self, row: impl Iterator<Item = ColumnData<'static>>) -> Result<()> {
        let (cells, bytes) = (self.cells.len(), self.bytes);
        for cell in row {
            self.bytes = self.bytes.saturating_add(bytes_of(&cell));
            self.cells.push(cell);
        }
        // Where no column is wanted, each row has one that counts.
        if self.cells.len() - cells != self.fields.len().max(1) {
            return Err(Error::new(
                ErrorKind::Read,
                "reading rows: a row has another number of columns than was asked for",
            ));
        }
        if self.bytes - bytes > ROW_BYTES_MAX {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("reading rows: a row is larger than {} MiB", ROW_BYTES_MAX / (1024 * 1024)),
            )
            .hint("leave the large column out with --exclude"));
        }
        self.rows += 1;
        Ok(())
    }
}

impl NativeBatch for RowBatch {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn encode(&self, writer: &mut RowWriter<'_>) -> Result<()> {
        for row in self.cells.chunks_exact(self.fields.len().max(1)) {
            writer.begin_row();
            for (field, cell) in self.fields.iter().zip(row) {
                put(writer, field, cell).map_err(|error| error.in_column(field.name.as_str()))?;
            }
            writer.end_row()?;
        }
        Ok(())
    }
}

/// What a stream is doing.
enum State {
    Start { pool: Arc<Pool>, sql: String, fields: Arc<[Field]>, batch_bytes_max: usize },
    Reading(Receiver<Result<RowBatch>>),
}

/// Starts nothing yet: the query is sent when the stream is first polled.
pub(super) fn rows(pool: Arc<Pool>, sql: String, fields: Arc<[Field]>, batch_bytes_max: usize) -> RowStream {
    let state = State::Start { pool, sql, fields, batch_bytes_max };
    stream::try_unfold(state, |state| async move {
        let mut receiver = match state {
            State::Reading(receiver) => receiver,
            State::Start { pool, sql, fields, batch_bytes_max } => {
                let (sender, receiver) = mpsc::channel(WAITING_BATCHES);
                READS.spawn(produce(pool, sql, fields, batch_bytes_max, sender));
                receiver
            }
        };
        match receiver.recv().await {
            None => Ok(None),
            Some(batch) => {
                let batch: Box<dyn NativeBatch> = Box::new(batch?);
                Ok(Some((batch, State::Reading(receiver))))
            }
        }
    })
    .boxed()
}

/// How a read ended.
enum End {
    /// The server said that it is complete.
    Complete,
    /// Nobody listens any more.
    GivenUp,
    Failed(Error),
}

async fn produce(
    pool: Arc<Pool>,
    sql: String,
    fields: Arc<[Field]>,
    batch_bytes_max: usize,
    sender: Sender<Result<RowBatch>>,
) {
    let lease = tokio::select! {
        biased;
        () = sender.closed() => return,
        lease = pool.lease() => lease,
    };
    let mut lease = match lease {
        Ok(lease) => lease,
        Err(error) => return drop(sender.send(Err(error)).await),
    };
    let end = tokio::select! {
        biased;
        () = sender.closed() => End::GivenUp,
        end = read(&mut lease, sql, &fields, batch_bytes_max, &sender) => end,
    };
    match end {
        // The connection is free before the reader hears of the end, so that its next read finds it.
        End::Complete => lease.finish(),
        End::GivenUp => lease.cancel().await,
        End::Failed(error) => {
            // Whatever is left of the answer is not read.
            drop(lease);
            drop(sender.send(Err(error)).await);
        }
    }
}

async fn read(
    lease: &mut Lease,
    sql: String,
    fields: &Arc<[Field]>,
    batch_bytes_max: usize,
    sender: &Sender<Result<RowBatch>>,
) -> End {
    let mut stream = match lease.connection.client.simple_query(sql).await {
        Ok(stream) => stream,
        Err(error) => return End::Failed(failure(DOING, &error)),
    };
    let mut batch = RowBatch::new(fields);
    loop {
        let item = match stream.try_next().await {
            Ok(Some(item)) => item,
            Ok(None) => break,
            Err(error) => return End::Failed(failure(DOING, &error)),
        };
        let QueryItem::Row(row) = item else { continue };
        if row.result_index() != 0 {
            let error = Error::new(ErrorKind::Read, "reading rows: the server gave more than one result");
            return End::Failed(error.hint("check the filter and the query of this side"));
        }
        if let Err(error) = batch.push(row.into_iter()) {
            return End::Failed(error);
        }
        if batch.bytes >= batch_bytes_max {
            let full = std::mem::replace(&mut batch, RowBatch::new(fields));
            if sender.send(Ok(full)).await.is_err() {
                return End::GivenUp;
            }
        }
    }
    if batch.rows > 0 && sender.send(Ok(batch)).await.is_err() {
        return End::GivenUp;
    }
    End::Complete
}
