//! The only place that starts tasks: a task ends when its owner lets go of it.

use std::future::Future;
use tokio::{runtime::Handle, task::JoinHandle};

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
    Task(runtime.spawn(future))
}
