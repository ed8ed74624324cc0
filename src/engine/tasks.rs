//! The only place that starts tasks: a task ends when its owner lets go of it.

use crate::connector::registry;
use std::{future::Future, sync::LazyLock};
use tokio::{runtime::Handle, task::JoinHandle};
use tokio_util::task::TaskTracker;

/// Tasks that have not ended yet, aborted ones included.
static RUNNING: LazyLock<TaskTracker> = LazyLock::new(TaskTracker::new);

/// A running task; dropping it aborts it.
#[derive(Debug)]
pub struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts `future` on `runtime`.
pub fn start<T: Send + 'static>(runtime: &Handle, future: impl Future<Output = T> + Send + 'static) -> Task<T> {
    Task(RUNNING.spawn_on(future, runtime))
}

/// Waits until the tasks of runs that are over have let go of their streams, and the stores have heard of it.
///
/// To be called before the runtime ends: it drops what is left of its tasks, and a server would go on with its queries.
/// Only tasks without an owner may be left: one that is still wanted is waited for.
pub async fn settle() {
    RUNNING.close();
    RUNNING.wait().await;
    registry::settle().await;
}
