//! Key ranges: half-open intervals of canonical key bytes.

use super::{Error, ErrorKind, Result};

/// `[lower, upper)` in canonical key order; `None` is open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeyRange {
    /// Smallest key bytes that belong to the range.
    pub lower: Option<Vec<u8>>,
    /// First key bytes after the range.
    pub upper: Option<Vec<u8>>,
}

impl KeyRange {
    /// The whole key space.
    #[must_use]
    pub const fn all() -> Self {
        Self { lower: None, upper: None }
    }

    /// Whether `key` lies in the range.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        self.lower.as_ref().is_none_or(|lower| key >= lower.as_slice()) && self.is_below_upper(key)
    }

    /// Whether `key` lies below the upper bound.
    #[must_use]
    pub fn is_below_upper(&self, key: &[u8]) -> bool {
        self.upper.as_ref().is_none_or(|upper| key < upper.as_slice())
    }
}

/// Ranges that tile the whole key space: no gap, no overlap, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRanges(Vec<KeyRange>);

impl PlannedRanges {
    /// Tiles the key space by `cuts` (key bytes, any order, repeats are dropped).
    #[must_use]
    pub fn from_cuts(mut cuts: Vec<Vec<u8>>) -> Self {
        cuts.sort_unstable();
        cuts.dedup();
        let mut ranges = Vec::with_capacity(cuts.len() + 1);
        let mut lower = None;
        for cut in cuts {
            ranges.push(KeyRange { lower: lower.take(), upper: Some(cut.clone()) });
            lower = Some(cut);
        }
        ranges.push(KeyRange { lower, upper: None });
        Self(ranges)
    }

    /// Takes ranges that were planned before.
    ///
    /// # Errors
    /// `Config` if they do not tile the key space in ascending order.
    pub fn from_ranges(ranges: Vec<KeyRange>) -> Result<Self> {
        let ascending = ranges.iter().all(|range| match (&range.lower, &range.upper) {
            (Some(lower), Some(upper)) => lower < upper,
            _ => true,
        });
        let adjacent = ranges.windows(2).all(|pair| pair[0].upper.is_some() && pair[0].upper == pair[1].lower);
        let open = ranges.first().is_some_and(|range| range.lower.is_none())
            && ranges.last().is_some_and(|range| range.upper.is_none());
        if ascending && adjacent && open {
            Ok(Self(ranges))
        } else {
            Err(Error::new(ErrorKind::Config, "reading ranges: they leave a gap or overlap in the key space"))
        }
    }

    /// The ranges, ascending.
    #[must_use]
    pub fn as_slice(&self) -> &[KeyRange] {
        &self.0
    }
}
