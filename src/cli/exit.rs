//! Exit codes.

use crate::model::{Error, ErrorKind, RunFacts, Verdict};
use std::process::ExitCode;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: everything was compared and is equal (or the command did what it should).
    Equal,
    /// 1: differences were found.
    Different,
    /// 2: an error, or wrong usage.
    Error,
    /// 3: no difference was found, but not everything was compared.
    Incomplete,
    /// 130: interrupted.
    Interrupted,
}

impl Exit {
    /// The number.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Equal => 0,
            Self::Different => 1,
            Self::Error => 2,
            Self::Incomplete => 3,
            Self::Interrupted => 130,
        }
    }

    /// The exit of a run that broke.
    #[must_use]
    pub fn of_error(error: &Error) -> Self {
        if error.kind() == ErrorKind::Cancelled { Self::Interrupted } else { Self::Error }
    }

    /// The exit of a run that came to its end.
    #[must_use]
    pub fn of_run(facts: &RunFacts, interrupted: bool) -> Self {
        let differences =
            facts.outcomes.iter().map(|outcome| outcome.counts.differences()).fold(0, u64::saturating_add);
        let complete = facts.outcomes.len() == facts.plan.plan.ranges.as_slice().len();
        Self::decide(&facts.verdict, differences, complete, interrupted)
    }

    /// The verdict is taken at its word only where the numbers bear it out: a partial run never exits 0.
    const fn decide(verdict: &Verdict, differences: u64, complete: bool, interrupted: bool) -> Self {
        if interrupted {
            return Self::Interrupted;
        }
        match verdict {
            Verdict::Different => Self::Different,
            _ if differences > 0 => Self::Different,
            Verdict::Equal if complete => Self::Equal,
            Verdict::Equal | Verdict::Incomplete(_) => Self::Incomplete,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_the_precedence() {
        let incomplete = || Verdict::Incomplete("a range is open".into());
        for (verdict, differences, complete, interrupted, code) in [
            (Verdict::Equal, 0, true, false, 0),
            (Verdict::Equal, 0, false, false, 3),
            (Verdict::Equal, 1, true, false, 1),
            (Verdict::Different, 5, true, false, 1),
            (Verdict::Different, 5, false, false, 1),
            (incomplete(), 0, false, false, 3),
            (incomplete(), 0, true, false, 3),
            (incomplete(), 2, false, false, 1),
            (Verdict::Different, 5, true, true, 130),
            (Verdict::Equal, 0, true, true, 130),
        ] {
            assert_eq!(Exit::decide(&verdict, differences, complete, interrupted).code(), code, "{verdict:?}");
        }
    }

    #[test]
    fn errors_are_2_and_cancellation_is_130() {
        for (kind, code) in [
            (ErrorKind::Config, 2),
            (ErrorKind::Connect, 2),
            (ErrorKind::Order, 2),
            (ErrorKind::Internal, 2),
            (ErrorKind::Cancelled, 130),
        ] {
            assert_eq!(Exit::of_error(&Error::new(kind, "x")).code(), code);
        }
    }
}
