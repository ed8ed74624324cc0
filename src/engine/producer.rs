//! One task a side and read: takes batches from a store as fast as the byte budget allows.
//!
//! The task awaits permits for a batch's bytes before it asks for room, then sends without blocking. Each read owns its
//! budget, so a side that waits can never starve the other one.

use super::tasks::{self, Task};
use crate::{
    connector::{NativeBatch, RowStream},
    encode::{EncodedBatch, RowLayout, RowWriter},
    merge::{Feed, NativeRows},
    model::{Error, ErrorKind, Progress, Result, Side},
};
use crossbeam_channel::{Receiver, Sender};
use futures::StreamExt;
use std::sync::Arc;
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::sync::CancellationToken;

/// Bytes that one permit stands for, so that a budget of any size fits the semaphore's 32 bits.
const PERMIT_BYTES: u64 = 4096;

enum Message {
    Batch(Box<dyn NativeBatch>, OwnedSemaphorePermit),
    Failed(Error),
    End,
}

/// The rows of one read, encoded as they are asked for.
pub(super) struct StreamFeed {
    receiver: Receiver<Message>,
    layout: Arc<RowLayout>,
    progress: Arc<Progress>,
    side: Side,
    ended: bool,
    _task: Task<()>,
}

impl StreamFeed {
    /// Starts reading `stream` on `runtime` with at most `queue_bytes` waiting.
    pub(super) fn start(
        runtime: &Handle,
        stream: RowStream,
        side: Side,
        layout: Arc<RowLayout>,
        queue_bytes: u64,
        progress: Arc<Progress>,
        cancel: CancellationToken,
    ) -> Self {
        // Unbounded in messages, bounded by the permits that travel with each batch.
        let (sender, receiver) = crossbeam_channel::unbounded();
        let permits = u32::try_from((queue_bytes / PERMIT_BYTES).max(1)).unwrap_or(u32::MAX >> 4);
        let task = tasks::start(runtime, produce(stream, sender, permits, cancel));
        Self { receiver, layout, progress, side, ended: false, _task: task }
    }
}

async fn produce(mut stream: RowStream, sender: Sender<Message>, permits_max: u32, cancel: CancellationToken) {
    let permits = Arc::new(Semaphore::new(permits_max as usize));
    let work = async {
        while let Some(batch) = stream.next().await {
            let batch = match batch {
                Ok(batch) => batch,
                Err(error) => return Message::Failed(error),
            };
            // A batch larger than the budget takes all of it: it travels alone.
            let wanted = (batch.bytes() as u64).div_ceil(PERMIT_BYTES).clamp(1, u64::from(permits_max));
            let wanted = u32::try_from(wanted).unwrap_or(permits_max);
            let Ok(permit) = Arc::clone(&permits).acquire_many_owned(wanted).await else {
                return Message::Failed(Error::internal("reading: the byte budget is gone"));
            };
            if sender.send(Message::Batch(batch, permit)).is_err() {
                return Message::End;
            }
        }
        Message::End
    };
    let last = tokio::select! {
        biased;
        () = cancel.cancelled() => Message::Failed(cancelled()),
        last = work => last,
    };
    // A receiver that is gone wants nothing more.
    drop(sender.send(last));
}

/// The error of a run that was asked to stop.
pub(super) fn cancelled() -> Error {
    Error::new(ErrorKind::Cancelled, "interrupted before everything was compared")
}

impl Feed for StreamFeed {
    fn next(&mut self, into: &mut EncodedBatch) -> Result<bool> {
        let Some(rows) = self.pull()? else { return Ok(false) };
        rows.batch.encode(&mut RowWriter::new(&self.layout, into)).map_err(|error| error.on(self.side))?;
        Ok(true)
    }

    fn layout(&self) -> Option<&Arc<RowLayout>> {
        Some(&self.layout)
    }

    fn pull(&mut self) -> Result<Option<NativeRows>> {
        while !self.ended {
            match self.receiver.recv() {
                Ok(Message::Batch(batch, _)) if batch.rows() == 0 => {}
                Ok(Message::Batch(batch, permit)) => {
                    let counter = match self.side {
                        Side::Source => &self.progress.source_rows,
                        Side::Sink => &self.progress.sink_rows,
                    };
                    Progress::add(counter, batch.rows() as u64);
                    return Ok(Some(NativeRows { batch, guard: Box::new(permit) }));
                }
                Ok(Message::Failed(error)) => return Err(error.on(self.side)),
                Ok(Message::End) => self.ended = true,
                Err(_) => {
                    return Err(Error::internal("reading: the stream stopped without an end or an error").on(self.side));
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
#[expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking; numbers are small"
)]
mod tests {
    use super::*;
    use crate::model::Projection;
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::{Duration, Instant},
    };

    struct Rows;

    impl NativeBatch for Rows {
        fn bytes(&self) -> usize {
            PERMIT_BYTES as usize
        }

        fn rows(&self) -> usize {
            1
        }

        fn encode(&self, _: &mut RowWriter<'_>) -> Result<()> {
            Ok(())
        }
    }

    /// Waits for `made` to become `count`, and a while longer, in which it may not grow.
    fn settles_at(made: &AtomicUsize, count: usize) {
        let started = Instant::now();
        while made.load(Ordering::SeqCst) < count && started.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(made.load(Ordering::SeqCst), count);
    }

    #[test]
    fn rows_in_hand_are_of_the_budget_until_they_are_gone() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let made = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&made);
        let stream = futures::stream::repeat_with(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            Ok(Box::new(Rows) as Box<dyn NativeBatch>)
        });
        let nothing = Projection { side: Side::Sink, key: Vec::new(), row: Vec::new() };
        let mut feed = StreamFeed::start(
            runtime.handle(),
            stream.boxed(),
            Side::Sink,
            Arc::new(RowLayout::new(&nothing).unwrap()),
            2 * PERMIT_BYTES,
            Arc::default(),
            CancellationToken::new(),
        );
        // Two are within the budget, one waits for it.
        settles_at(&made, 3);
        let first = feed.pull().unwrap().unwrap();
        settles_at(&made, 3);
        drop(first);
        settles_at(&made, 4);
        drop(feed.pull().unwrap().unwrap());
        settles_at(&made, 5);
    }
}
