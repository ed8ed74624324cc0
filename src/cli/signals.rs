//! SIGINT and SIGTERM: the first ends the run cleanly, the second at once.

use super::{Exit, printer::Printer};
use crate::model::{Error, ErrorKind, Result};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// Watches signals until it is dropped; the first cancels `cancel`.
///
/// # Errors
/// `Internal` if the process may not watch signals.
pub(super) fn watch(cancel: CancellationToken) -> Result<AbortOnDropHandle<()>> {
    let open =
        |kind| signal(kind).map_err(|error| Error::new(ErrorKind::Internal, "watching for signals").caused_by(error));
    let (mut interrupt, mut terminate) = (open(SignalKind::interrupt())?, open(SignalKind::terminate())?);
    Ok(AbortOnDropHandle::new(tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if cancel.is_cancelled() {
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
            Printer::new(false).note("interrupted: ending cleanly; interrupt again to stop at once");
            cancel.cancel();
        }
    })))
}
