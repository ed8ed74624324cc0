//! What came out of a range and of a run.

use super::Sides;
use std::fmt;

/// 32 bytes of BLAKE2b.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Numbers of rows by what was found of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pairs of equal rows.
    pub matched: u64,
    /// Rows of the source without a partner.
    pub missing: u64,
    /// Rows of the sink without a partner.
    pub extra: u64,
    /// Pairs of rows of one key with other values.
    pub changed: u64,
    /// Pairs that are equal only because of a declared option; they are in `matched` too.
    pub excused: u64,
}

impl Counts {
    /// Number of differences, in rows.
    #[must_use]
    pub const fn differences(&self) -> u64 {
        self.missing + self.extra + self.changed
    }

    /// Adds the numbers of another range.
    pub const fn add(&mut self, other: &Self) {
        self.matched += other.matched;
        self.missing += other.missing;
        self.extra += other.extra;
        self.changed += other.changed;
        self.excused += other.excused;
    }
}

/// What was read of one side of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SideTally {
    /// Rows read.
    pub rows: u64,
    /// Keys that occur more than once.
    pub duplicate_keys: u64,
    /// Rows beyond the first of each such key.
    pub surplus_rows: u64,
    /// Rows whose key holds a NULL.
    pub null_key_rows: u64,
    /// Rolling digest of the side's records.
    pub digest: Digest,
}

/// What came out of one range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeOutcome {
    /// Number of the range in the plan.
    pub range: usize,
    /// What was read.
    pub sides: Sides<SideTally>,
    /// What was found.
    pub counts: Counts,
    /// Changed pairs per column of the plan's row.
    pub changed_by_column: Vec<u64>,
    /// Values per column that are equal only because of a declared option.
    pub excused_by_column: Vec<u64>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every row was compared and no difference found.
    Equal,
    /// Differences were found.
    Different,
    /// No difference was found, but not everything was compared; says why.
    Incomplete(String),
}

impl Verdict {
    /// The word that stands in outputs.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Different => "different",
            Self::Incomplete(_) => "incomplete",
        }
    }
}
