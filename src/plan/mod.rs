//! Planning: which columns are paired, what they are compared as, what identifies a row, how many ranges there are.
//!
//! Pure: no I/O, no clock, no store. Everything that is wrong with a request is found here, before a row is read, and is
//! reported in one error.

mod casts;
mod columns;
mod document;
mod hints;
mod key;
mod mapping;
mod names;
mod options;
mod problems;
mod ranges;
mod types;

pub use document::type_pairs_markdown;
pub use mapping::{Mapping, map_columns};
pub use ranges::{CutRule, RANGES_MAX, range_count};
pub use types::{Refusal, pair_types};

#[cfg(test)]
mod dynamic_tests;
#[cfg(test)]
mod tests;
