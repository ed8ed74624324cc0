//! Stand-in for the engine: the same signatures, and a clear refusal.

use crate::model::{ComparisonRequest, Error, ErrorKind, PlanFacts, Progress, Result, RunFacts};
use std::{path::PathBuf, sync::Arc};
use tokio_util::sync::CancellationToken;

/// The engine of one run.
#[derive(Debug)]
pub struct Engine;

/// What a run gives back.
#[derive(Debug)]
pub struct RunResult {
    /// What is known at the end.
    pub facts: RunFacts,
    /// Folder of the run.
    pub folder: PathBuf,
    /// Content of `run.json`.
    pub document: serde_json::Value,
    /// Text for people.
    pub summary: String,
}

/// What a plan gives back.
#[derive(Debug)]
pub struct PlanResult {
    /// What is known before rows are read.
    pub facts: PlanFacts,
    /// The plan as one document.
    pub document: serde_json::Value,
    /// Text for people.
    pub text: String,
}

/// How a run is watched and stopped.
#[derive(Clone, Debug)]
pub struct Control {
    /// Counters.
    pub progress: Arc<Progress>,
    /// Stops the run.
    pub cancel: CancellationToken,
    /// Whether texts may be coloured.
    pub colour: bool,
}

/// Compares.
///
/// # Errors
/// Always, for now.
#[expect(clippy::unused_async, reason = "the signature is the engine's")]
pub async fn compare(request: ComparisonRequest, control: Control) -> Result<RunResult> {
    let _ = (request, control);
    Err(Error::new(ErrorKind::Unsupported, "the engine is not part of this build"))
}

/// Plans.
///
/// # Errors
/// Always, for now.
#[expect(clippy::unused_async, reason = "the signature is the engine's")]
pub async fn plan(request: ComparisonRequest, control: Control) -> Result<PlanResult> {
    let _ = (request, control);
    Err(Error::new(ErrorKind::Unsupported, "the engine is not part of this build"))
}
