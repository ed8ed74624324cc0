//! How many ranges a comparison is cut into. Where the cuts lie is data, and comes from the source: from a sample of its
//! keys, or, where no sample can be had, from its rows as they arrive ([`CutRule`]).

use crate::model::{ComparisonRequest, TableSchema};

/// Most ranges that are planned unless the user asks for more. Bounds, digests and counters of every range stay in
/// memory and in the record.
pub const RANGES_MAX: usize = 4096;

/// Fewest ranges of a table with a key, so that digests and progress say something on any number of workers.
const RANGES_MIN: u64 = 16;

/// Rows that a range should hold, at most.
const RANGE_ROWS: u64 = 1_000_000;

/// Bytes that a range should hold, at most.
const RANGE_BYTES: u64 = 64 << 20;

/// The number of ranges to aim for: what was asked for, else one for each million rows or 64 MiB of the source,
/// at least 16 and at most [`RANGES_MAX`].
///
/// Depends on the request and on the estimates of the source alone, never on the workers. A table without a key has
/// one range; whether it has one is known only with the mapping, so the caller passes the source's `schema` and
/// `keyless` as the plan found it.
#[must_use]
pub fn range_count(request: &ComparisonRequest, schema: &TableSchema, keyless: bool) -> usize {
    if keyless {
        return 1;
    }
    if request.ranges > 0 {
        return request.ranges;
    }
    let by_rows = schema.rows_estimate.unwrap_or(0).div_ceil(RANGE_ROWS);
    let by_bytes = schema.bytes_estimate.unwrap_or(0).div_ceil(RANGE_BYTES);
    let wanted = by_rows.max(by_bytes).max(RANGES_MIN);
    usize::try_from(wanted).map_or(RANGES_MAX, |wanted| wanted.min(RANGES_MAX))
}

/// Rows of the first ranges of a source of unknown size.
const CUT_ROWS_MIN: u64 = 128;

/// How long ranges are that are cut as the rows of the source arrive in key order.
///
/// A pure rule: the cuts follow from the rows of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutRule {
    parts: u64,
    asked: bool,
}

impl CutRule {
    /// The rule for about `parts` ranges of a table with a key; `None` where there is nothing to cut.
    #[must_use]
    pub fn new(request: &ComparisonRequest, parts: usize) -> Option<Self> {
        (parts > 1).then_some(Self { parts: parts as u64, asked: request.ranges > 0 })
    }

    /// Rows of the source after which the next range ends with the key, when `seen` rows lie before it.
    ///
    /// With a known `total` they are even. Without one each range is the part of what was seen that was asked for: a
    /// table of unknown size ends up in at least so many ranges, and no range is larger than its share.
    #[must_use]
    pub fn rows_of_next(&self, seen: u64, total: Option<u64>) -> u64 {
        let share = total.map_or((seen / self.parts).max(CUT_ROWS_MIN), |total| total.div_ceil(self.parts));
        let share = if self.asked { share } else { share.min(RANGE_ROWS) };
        share.max(seen / RANGES_MAX as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::CutRule;

    fn ranges(rule: CutRule, rows: u64, total: Option<u64>) -> (u64, u64) {
        let (mut seen, mut count, mut longest) = (0, 0, 0);
        while seen < rows {
            let next = rule.rows_of_next(seen, total).min(rows - seen);
            longest = longest.max(next);
            (seen, count) = (seen + next, count + 1);
        }
        (count, longest)
    }

    #[test]
    fn a_known_size_gives_even_ranges() {
        assert_eq!(ranges(CutRule { parts: 12, asked: true }, 3000, Some(3000)), (12, 250));
        assert_eq!(ranges(CutRule { parts: 16, asked: false }, 64_000_000, Some(64_000_000)), (64, 1_000_000));
        assert_eq!(ranges(CutRule { parts: 16, asked: true }, 5, Some(5)), (5, 1));
    }

    #[test]
    fn an_unknown_size_gives_at_least_the_ranges_asked_for() {
        let (count, longest) = ranges(CutRule { parts: 12, asked: true }, 3000, None);
        assert!((12..=24).contains(&count) && longest <= 250, "{count} ranges of at most {longest} rows");
        let (count, longest) = ranges(CutRule { parts: 16, asked: false }, 10_000_000_000, None);
        assert!((4096..=30_000).contains(&count) && longest <= 2_500_000, "{count} ranges of at most {longest} rows");
    }
}
