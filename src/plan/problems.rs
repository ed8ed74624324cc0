//! What is wrong with a request: collected, then reported together, so that it can be put right in one go.

use crate::model::{Error, ErrorKind};
use std::fmt::Write;

#[derive(Debug)]
struct Problem {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
}

/// The problems found so far, in the order in which they were found.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    /// Notes that the request is wrong.
    pub fn config(&mut self, message: impl Into<String>, hint: Option<String>) {
        self.0.push(Problem { kind: ErrorKind::Config, message: message.into(), hint });
    }

    /// Notes that the tables do not fit the request.
    pub fn schema(&mut self, message: impl Into<String>, hint: Option<String>) {
        self.0.push(Problem { kind: ErrorKind::Schema, message: message.into(), hint });
    }

    /// Succeeds if there are none.
    ///
    /// # Errors
    /// One error for all of them: `Config` if the request alone is at fault, else `Schema`. A single problem is the
    /// message itself, with its hint; several stand on a line each, with their hints in brackets.
    pub fn finish(mut self) -> Result<(), Error> {
        if self.0.len() < 2 {
            return match self.0.pop() {
                None => Ok(()),
                Some(problem) => {
                    let error = Error::new(problem.kind, format!("pairing columns: {}", problem.message));
                    Err(match problem.hint {
                        Some(hint) => error.hint(hint),
                        None => error,
                    })
                }
            };
        }
        let all_config = self.0.iter().all(|problem| problem.kind == ErrorKind::Config);
        let kind = if all_config { ErrorKind::Config } else { ErrorKind::Schema };
        let mut message = format!("pairing columns: {} problems", self.0.len());
        for problem in &self.0 {
            let _ = write!(message, "\n  - {}", problem.message);
            if let Some(hint) = &problem.hint {
                let _ = write!(message, " ({hint})");
            }
        }
        Err(Error::new(kind, message).hint("each line says what would settle it"))
    }
}
