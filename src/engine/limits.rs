//! Every bound of a run, with its reason, and the peak of memory that follows from them.

use crate::{
    model::{Error, ErrorKind, MemoryShare, ReadOrder, Result, Sides},
    output::WRITER_BYTES,
};

/// Default of `--memory`, in bytes: what a run may use on a machine that has other things to do.
pub const MEMORY_BYTES_DEFAULT: u64 = 256 * 1024 * 1024;

/// Target size of a native batch in bytes: large enough that its hand-over costs nothing, small enough for the caches.
pub const BATCH_BYTES_MAX: usize = 256 * 1024;

/// Least budget of a side's queue in bytes: two batches, one in hand and one that is read meanwhile. A batch in hand is
/// within the budget for as long as its rows are kept, encoded or not.
const QUEUE_BYTES_MIN: u64 = 2 * BATCH_BYTES_MAX as u64;

/// Most budget of a side's queue in bytes: more than this no longer hides anything.
const QUEUE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Encoded batches that a side of a running range holds at once (in hand, held back, in a sort of a group), each up to
/// twice its native size.
const ENCODED_BATCHES: u64 = 4 * 2;

/// Bytes that a side of a running range may hold for the rows of one key before they are sorted on disk.
pub const GROUP_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Budget of the sorter of one large group, in bytes.
pub const GROUP_SORT_BYTES: u64 = 8 * 1024 * 1024;

/// Least budget of a side's sort in bytes: below this a sort makes too many runs.
const SORT_BYTES_MIN: u64 = 16 * 1024 * 1024;

/// The program, its threads, the runtime and the allocator's slack, in bytes. Measured; see `tests`.
const BASE_BYTES: u64 = 28 * 1024 * 1024;

/// How a run spends its memory.
#[derive(Clone, Debug)]
pub struct MemoryPlan {
    /// Ranges compared at once.
    pub workers: usize,
    /// Bytes of native batches that wait for the merge or are in its hands, for each side of a running range.
    pub queue_bytes: u64,
    /// Budget of the sort of each side that is sorted here.
    pub sort_bytes: u64,
    /// The peak, share by share.
    pub shares: Vec<MemoryShare>,
}

impl MemoryPlan {
    /// Spends `memory_bytes`: as many of `workers` as fit, then queues and sorts.
    ///
    /// # Errors
    /// `Limit` if not even one worker fits.
    pub fn new(memory_bytes: u64, workers: usize, order: Sides<ReadOrder>, read_bytes: Sides<u64>) -> Result<Self> {
        let sorted = [order.source, order.sink].iter().filter(|order| **order == ReadOrder::Local).count() as u64;
        let reads = read_bytes.source + read_bytes.sink;
        let sides = 2 * (ENCODED_BATCHES * BATCH_BYTES_MAX as u64 + GROUP_BYTES_MAX + QUEUE_BYTES_MIN);
        let each = sides + WRITER_BYTES + reads;
        let fixed = BASE_BYTES + GROUP_SORT_BYTES + sorted * SORT_BYTES_MIN;
        let Some(free) = memory_bytes.checked_sub(fixed).filter(|free| *free >= each) else {
            return Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "planning memory: one worker needs {} MiB, --memory allows {} MiB",
                    (fixed + each).div_ceil(1024 * 1024),
                    memory_bytes / (1024 * 1024)
                ),
            )
            .hint("give more with --memory"));
        };
        let workers = workers.min(usize::try_from(free / each).unwrap_or(usize::MAX)).max(1);
        let count = workers as u64;
        let spare = free - count * each;
        let queue_spare = if sorted > 0 { 0 } else { spare / (2 * count) };
        let queue_bytes = (QUEUE_BYTES_MIN + queue_spare).min(QUEUE_BYTES_MAX);
        let sort_bytes = spare.checked_div(sorted).map_or(0, |spared| SORT_BYTES_MIN + spared);
        let named = |name: &str, bytes: u64| MemoryShare { name: name.to_owned(), bytes };
        let mut shares = vec![
            named("program and runtime", BASE_BYTES),
            named("queues between reading and encoding", count * 2 * queue_bytes),
            named("encoded batches", count * 2 * (ENCODED_BATCHES * BATCH_BYTES_MAX as u64 + GROUP_BYTES_MAX)),
            named("reads in the connectors", count * reads),
            named("differences being written", count * WRITER_BYTES),
            named("sort of one large key", GROUP_SORT_BYTES),
        ];
        if sorted > 0 {
            shares.push(named("local sort", sorted * sort_bytes));
        }
        Ok(Self { workers, queue_bytes, sort_bytes, shares })
    }
}
