//! How many ranges a comparison is cut into. Where the cuts lie is data, and comes from the source.

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
