//! SIGINT and SIGTERM: the first ends the run cleanly, the second at once.

use super::{Exit, printer::Printer};
use crate::model::{Error, ErrorKind, Result};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// Watches signals until it is dropped.
pub(super) struct Watch {
    interrupted: Arc<AtomicBool>,
    _task: AbortOnDropHandle<()>,
}

impl Watch {
    /// Whether a signal came. The token alone does not tell: the engine may cancel it when a part of the run breaks.
    pub(super) fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }
}

/// Starts to watch; the first signal cancels `cancel`.
///
/// # Errors
/// `Internal` if the process may not watch signals.
pub(super) fn watch(cancel: CancellationToken) -> Result<Watch> {
    let open =
        |kind| signal(kind).map_err(|error| Error::new(ErrorKind::Internal, "watching for signals").caused_by(error));
    let (mut interrupt, mut terminate) = (open(SignalKind::interrupt())?, open(SignalKind::terminate())?);
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    let task = tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
            Printer::new(false).note("interrupted: ending cleanly; interrupt again to stop at once");
            cancel.cancel();
        }
    });
    Ok(Watch { interrupted, _task: AbortOnDropHandle::new(task) })
}
