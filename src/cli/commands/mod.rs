//! One module a command.

pub(super) mod completions;
pub(super) mod demo;
pub(super) mod diff;
pub(super) mod man;
pub(super) mod plan;

use super::{CompareArgs, printer::Printer, progress_bar::Display, signals};
use crate::{
    config::{self, PartialRequest},
    engine::{self, Control},
    model::{ComparisonRequest, Error, ErrorKind, Result},
};
use std::{env, fs, io::Read as _, path::Path, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Largest config file that is read: larger ones are some other file, named by mistake.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// The request of the arguments, laid over their config file.
fn request(args: &CompareArgs) -> Result<ComparisonRequest> {
    let below = match &args.config {
        None => PartialRequest::default(),
        Some(path) => config::parse(&read_config(path)?, &|name| env::var(name).ok())
            .map_err(|error| error.in_table(path.display().to_string()))?,
    };
    args.request().over(below).finish()
}

fn read_config(path: &Path) -> Result<String> {
    let refuse = |error: std::io::Error| {
        Error::new(ErrorKind::Config, format!("reading the config file {}", path.display())).caused_by(error)
    };
    let mut text = String::new();
    fs::File::open(path).map_err(refuse)?.take(CONFIG_BYTES_MAX + 1).read_to_string(&mut text).map_err(refuse)?;
    if u64::try_from(text.len()).is_ok_and(|bytes| bytes <= CONFIG_BYTES_MAX) {
        return Ok(text);
    }
    let message = format!("config file {}: expected at most {CONFIG_BYTES_MAX} bytes, found more", path.display());
    Err(Error::new(ErrorKind::Config, message))
}

/// Runs `work` under signals and a progress display; gives its result and whether the user interrupted.
async fn watched<T, F>(printer: &Printer, no_progress: bool, work: impl FnOnce(Control) -> F) -> Result<(T, bool)>
where
    F: Future<Output = Result<T>>,
{
    let control = Control { progress: Arc::default(), cancel: CancellationToken::new(), colour: printer.colour };
    let signals = signals::watch(control.cancel.clone())?;
    let display = Display::start(Arc::clone(&control.progress), no_progress);
    let outcome = Box::pin(work(control)).await;
    engine::settle().await;
    display.stop().await;
    let interrupted = signals.interrupted();
    match outcome {
        Ok(value) => Ok((value, interrupted)),
        // Whatever broke because of the interruption, the user asked for the end.
        Err(error) if interrupted && error.kind() != ErrorKind::Cancelled => {
            Err(Error::new(ErrorKind::Cancelled, "interrupted").caused_by(error))
        }
        // Nobody interrupted, so the run broke: it must not look as if the user had ended it.
        Err(error) if !interrupted && error.kind() == ErrorKind::Cancelled => {
            Err(Error::internal("the run ended itself without saying why").caused_by(error))
        }
        Err(error) => Err(error),
    }
}
