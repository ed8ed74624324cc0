//! The result on stdout, everything else on stderr.

use crate::model::{Error, ErrorKind, Result};
use std::{
    error::Error as StdError,
    fmt::Write as _,
    io::{self, Write as _},
};

/// Most causes shown of an error: a chain that long is a loop.
const CAUSES_MAX: usize = 16;

/// Writes what the user sees.
#[derive(Debug)]
pub(super) struct Printer {
    /// Whether texts are coloured.
    pub(super) colour: bool,
}

impl Printer {
    pub(super) const fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// Writes a result to stdout. A reader that went away ends the output quietly.
    ///
    /// # Errors
    /// `Output` if stdout cannot take it for another reason, such as a full disk.
    #[expect(clippy::unused_self, reason = "all output goes through the one printer")]
    pub(super) fn result(&self, text: &str) -> Result<()> {
        write_result(&mut io::stdout().lock(), text)
    }

    /// Writes a document to stdout.
    ///
    /// # Errors
    /// As of [`Self::result`].
    pub(super) fn document(&self, document: &serde_json::Value) -> Result<()> {
        let text = serde_json::to_string_pretty(document)
            .map_err(|error| Error::internal("writing the result as JSON").caused_by(error))?;
        self.result(&text)
    }

    /// Writes a line to stderr.
    #[expect(clippy::unused_self, reason = "all output goes through the one printer")]
    pub(super) fn note(&self, text: &str) {
        // Nobody is left to be told that stderr is gone.
        let _ = writeln!(io::stderr().lock(), "{text}");
    }

    /// Writes an error with its causes and its hint to stderr.
    pub(super) fn error(&self, error: &Error) {
        let text = error_text(error);
        match text.strip_prefix("error:").filter(|_| self.colour) {
            Some(rest) => self.note(&format!("\u{1b}[1;31merror:\u{1b}[0m{rest}")),
            None => self.note(&text),
        }
    }
}

fn write_result(out: &mut impl io::Write, text: &str) -> Result<()> {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written =
        out.write_all(text.as_bytes()).and_then(|()| out.write_all(end.as_bytes())).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Output, "writing the result to stdout").caused_by(error))
        }
        _ => Ok(()),
    }
}

/// The error, its causes as far as they say something new, and the innermost hint.
fn error_text(error: &Error) -> String {
    let mut said = error.to_string();
    let mut text = format!("error: {said}");
    let mut hint = error.hint_text();
    let mut cause = error.source();
    for _ in 0..CAUSES_MAX {
        let Some(current) = cause else { break };
        let words = current.to_string();
        if !said.contains(words.trim()) {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n  caused by: {}", words.trim());
            said = words;
        }
        hint = hint.or_else(|| current.downcast_ref::<Error>().and_then(Error::hint_text));
        cause = current.source();
    }
    if let Some(hint) = hint {
        let _ = write!(text, "\n  hint: {hint}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(io::ErrorKind);

    impl io::Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn causes_do_not_repeat() {
        let inner = Error::new(ErrorKind::Read, "the server hung up").hint("try again");
        let middle = Error::new(ErrorKind::Read, "reading rows: the server hung up").caused_by(inner);
        let outer = Error::new(ErrorKind::Read, "comparing").caused_by(middle);
        let expected = "error: comparing\n  caused by: reading rows: the server hung up\n  hint: try again";
        assert_eq!(error_text(&outer), expected);
    }

    #[test]
    fn a_closed_stdout_is_no_error_and_a_full_one_is() {
        assert!(write_result(&mut Broken(io::ErrorKind::BrokenPipe), "x").is_ok());
        assert!(write_result(&mut Broken(io::ErrorKind::StorageFull), "x").is_err());
        let mut out = Vec::new();
        assert!(write_result(&mut out, "x").is_ok());
        assert_eq!(out, b"x\n");
    }
}
