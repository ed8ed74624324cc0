//! Differences: findings, in canonical bytes.

/// What kind of difference a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DifferenceKind {
    /// In the source, not in the sink.
    Missing,
    /// In the sink, not in the source.
    Extra,
    /// Same key, other values.
    Changed,
}

impl DifferenceKind {
    /// The word that stands in outputs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Extra => "extra",
            Self::Changed => "changed",
        }
    }
}

/// One difference; the bytes are borrowed from the batches that are being merged.
#[derive(Clone, Copy, Debug)]
pub struct Difference<'a> {
    /// What kind it is.
    pub kind: DifferenceKind,
    /// Key bytes.
    pub key: &'a [u8],
    /// Row bytes of the source (not for extra rows).
    pub source: Option<&'a [u8]>,
    /// Row bytes of the sink (not for missing rows).
    pub sink: Option<&'a [u8]>,
    /// Indices of the changed columns in the plan's row (changed rows alone), ascending.
    pub changed: &'a [u32],
    /// How many equal rows of this key it stands for; at least 1.
    pub occurrences: u64,
}
