//! Responses: rows are made, encoded and sent a few packets at a time, so that a result is never held whole, an attention is seen
//! between two writes, and a client that has left ends the work.

use super::backend::{Cell, ColumnInfo, Reply, ResultSet, SqlError};
use super::connection::Incoming;
use super::packet::{Packets, kind};
use super::server::{FaultPlan, RowEncoding, Shared};
use super::tls::Transport;
use super::token::{self, Done, Environment, status};
use crate::Result;
use std::sync::atomic::Ordering;
use tokio::io::{AsyncWriteExt, WriteHalf};
use tokio::sync::mpsc::Receiver;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::watch;
use tokio::task::block_in_place;

/// Data gathered before it is sent: some packets, far less than a socket buffers.
const GATHERED: usize = 16 << 10;

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// To its end.
    Sent,
    /// The client asked to stop, which is not acknowledged yet.
    Attention,
    /// The client has left, or a fault ended the connection.
    Closed,
}

/// Why rows are gathered no further.
enum Gathered {
    /// There is enough to send.
    Enough,
    /// The result is at its end.
    All,
    /// The result has ended with an error.
    Failed(SqlError),
    /// A fault ends the connection.
    Cut,
    /// A fault sends no more.
    Stall,
}

/// The writing half of a connection, and what the reading half found.
pub(crate) struct Responder<'a> {
    output: WriteHalf<Transport>,
    incoming: Receiver<Incoming>,
    shared: &'a Shared,
    packets: Packets,
    /// Bytes of the current response on the wire.
    sent: u64,
    /// Changes when the response is to be cut.
    cut: watch::Receiver<u64>,
}

impl<'a> Responder<'a> {
    pub(crate) fn new(
        output: WriteHalf<Transport>,
        incoming: Receiver<Incoming>,
        shared: &'a Shared,
        payload: usize,
    ) -> Self {
        Self { output, incoming, shared, packets: Packets::new(payload), sent: 0, cut: shared.cut.subscribe() }
    }

    /// The next message of the client.
    pub(crate) async fn next(&mut self) -> Option<Incoming> {
        self.incoming.recv().await
    }

    /// Ends the connection; the client may be gone already.
    pub(crate) async fn close(&mut self) {
        if self.output.shutdown().await.is_err() {
            self.packets.ready.clear();
        }
    }

    /// Ends the current message with the DONE that answers an attention ([MS-TDS] 2.2.1.7).
    pub(crate) async fn acknowledge(&mut self) -> Result<()> {
        token::put_done(&mut self.packets.data, Done::Batch, status::ATTENTION, None);
        self.finish(&FaultPlan::default()).await?;
        Ok(())
    }

    /// Answers with an error alone.
    pub(crate) async fn refuse(&mut self, error: &SqlError) -> Result<End> {
        self.fail(error, Done::Batch, &FaultPlan::default()).await
    }

    /// Sends what a batch or a call gave.
    pub(crate) async fn respond(
        &mut self,
        replies: Vec<Reply>,
        changes: &[Environment<'static>],
        faults: &FaultPlan,
        call: bool,
    ) -> Result<End> {
        self.sent = 0;
        self.cut.mark_unchanged();
        for change in changes {
            token::put_environment(&mut self.packets.data, *change)?;
        }
        let done = if call { Done::InProcedure } else { Done::Batch };
        let last = if call { usize::MAX } else { replies.len().saturating_sub(1) };
        let empty = replies.is_empty();
        for (index, reply) in replies.into_iter().enumerate() {
            let more = if index == last { 0 } else { status::MORE };
            match reply {
                Reply::Done { affected } => token::put_done(&mut self.packets.data, done, more, affected),
                Reply::Rows(set) => {
                    let (end, failed) = self.rows(set, faults).await?;
                    if end != End::Sent {
                        return Ok(end);
                    }
                    match failed {
                        Ok(count) => token::put_done(&mut self.packets.data, done, more, Some(count)),
                        Err(error) => {
                            let done = if call { Done::Procedure } else { Done::Batch };
                            return self.fail(&error, done, faults).await;
                        }
                    }
                }
            }
        }
        if call {
            token::put_return_status(&mut self.packets.data, 0);
            token::put_done(&mut self.packets.data, Done::Procedure, 0, None);
        } else if empty {
            token::put_done(&mut self.packets.data, Done::Batch, 0, None);
        }
        self.finish(faults).await
    }

    /// Sends a result's columns and rows; how many, or the error that ended them.
    async fn rows(
        &mut self,
        mut set: ResultSet,
        faults: &FaultPlan,
    ) -> Result<(End, std::result::Result<u64, SqlError>)> {
        token::put_columns(&mut self.packets.data, &set.columns, self.shared.options.collation)?;
        let mut count = 0;
        loop {
            match block_in_place(|| self.gather(&mut set, &mut count, faults)) {
                Gathered::Enough => self.packets.cut(),
                Gathered::All => return Ok((End::Sent, Ok(count))),
                Gathered::Failed(error) => return Ok((End::Sent, Err(error))),
                Gathered::Cut => {
                    self.packets.flush();
                    self.write(faults).await?;
                    return Ok((End::Closed, Ok(count)));
                }
                Gathered::Stall => {
                    self.packets.flush();
                    let end = self.write(faults).await?;
                    return Ok((if end == End::Sent { self.stall().await? } else { end }, Ok(count)));
                }
            }
            let end = self.write(faults).await?;
            let end = if end == End::Sent { self.interrupted()? } else { end };
            if end != End::Sent {
                return Ok((end, Ok(count)));
            }
        }
    }

    /// Makes and encodes rows until there is enough to send; `count` goes on from batch to batch.
    fn gather(&mut self, set: &mut ResultSet, count: &mut u64, faults: &FaultPlan) -> Gathered {
        while self.packets.data.len() < GATHERED {
            if faults.cut_after_rows == Some(*count) {
                return Gathered::Cut;
            }
            if faults.stall == Some(*count) {
                return Gathered::Stall;
            }
            if let Some((after, error)) = &faults.error_after_rows
                && after == count
            {
                return Gathered::Failed(error.clone());
            }
            let Some(row) = set.rows.next() else { return Gathered::All };
            match row.and_then(|cells| self.row(&set.columns, &cells, *count)) {
                Ok(()) => *count += 1,
                Err(error) => return Gathered::Failed(error),
            }
        }
        Gathered::Enough
    }

    /// Encodes a row; one that does not fit its columns is the backend's mistake and becomes an error of the statement.
    fn row(&mut self, columns: &[ColumnInfo], cells: &[Cell], index: u64) -> std::result::Result<(), SqlError> {
        let compressed = match self.shared.options.row_encoding {
            RowEncoding::Row => false,
            RowEncoding::NbcRow => true,
            RowEncoding::Mixed => index % 2 == 1,
        };
        let start = self.packets.data.len();
        self.shared.rows.fetch_add(1, Ordering::SeqCst);
        token::put_row(&mut self.packets.data, columns, cells, compressed, self.shared.options.plp).map_err(|error| {
            self.packets.data.truncate(start);
            let message = format!("The test server was given a row that it cannot send: {error}");
            self.shared.note_failure(message.clone());
            SqlError { number: 50_000, state: 1, class: 16, message, line: 1 }
        })
    }

    /// Ends the message with an error, and the connection when it is fatal.
    async fn fail(&mut self, error: &SqlError, done: Done, faults: &FaultPlan) -> Result<End> {
        token::put_error(&mut self.packets.data, error)?;
        token::put_done(&mut self.packets.data, done, status::ERROR, None);
        let end = self.finish(faults).await?;
        Ok(if error.class >= 20 { End::Closed } else { end })
    }

    async fn finish(&mut self, faults: &FaultPlan) -> Result<End> {
        self.packets.finish();
        self.write(faults).await
    }

    /// Sends the packets that are ready, or what a fault lets through of them.
    async fn write(&mut self, faults: &FaultPlan) -> Result<End> {
        let ready = &mut self.packets.ready;
        let mut end = End::Sent;
        if let Some(limit) = faults.cut_after_bytes {
            let left = usize::try_from(limit.saturating_sub(self.sent))?;
            if ready.len() > left {
                ready.truncate(left);
                end = End::Closed;
            }
        }
        self.sent += u64::try_from(ready.len())?;
        let written = async {
            self.output.write_all(ready).await?;
            self.output.flush().await
        };
        // A client that has left needs no answer.
        if written.await.is_err() {
            end = End::Closed;
        }
        ready.clear();
        Ok(end)
    }

    /// Whether the client asked to stop or left meanwhile.
    fn interrupted(&mut self) -> Result<End> {
        if self.cut.has_changed()? {
            return Ok(End::Closed);
        }
        match self.incoming.try_recv() {
            Err(TryRecvError::Empty) => Ok(End::Sent),
            Err(TryRecvError::Disconnected) => Ok(End::Closed),
            Ok(incoming) => ended_by(&incoming),
        }
    }

    /// Waits until the client asks to stop or leaves, or its connection is ended.
    async fn stall(&mut self) -> Result<End> {
        tokio::select! {
            incoming = self.incoming.recv() => incoming.map_or(Ok(End::Closed), |incoming| ended_by(&incoming)),
            _ = self.cut.changed() => Ok(End::Closed),
        }
    }
}

/// What a message during a response means: only an attention may come.
fn ended_by(incoming: &Incoming) -> Result<End> {
    match incoming {
        Ok(message) if message.kind == kind::ATTENTION => Ok(End::Attention),
        Ok(message) => Err(format!("a message of type {} during a response", message.kind).into()),
        Err(_) => Ok(End::Closed),
    }
}
