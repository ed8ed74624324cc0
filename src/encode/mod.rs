//! The canonical encoding: from typed calls to bytes, and back. `docs/encoding.md` is the specification.
//!
//! Each family is encoded in one place. Nothing here knows a store, does I/O or reads a clock.

mod batch;
mod cell;
mod cursor;
mod decode;
mod float;
mod fold;
mod json;
mod layout;
mod native;
mod number;
mod temporal;
mod text;
mod text_array;
mod text_figure;
mod text_nested;
mod text_temporal;
mod value;
mod writer;

pub use batch::{EncodedBatch, Record};
pub use cell::Cell;
pub use decode::{FieldForm, Fields, decode_field, decode_form, decode_key, decode_row, fields, key_holds_null};
pub use fold::fold_text;
pub use layout::RowLayout;
pub use native::{NativeBatch, NativeColumns};
pub(crate) use temporal::{civil_from_days, date_from_days, days_from_civil};
pub use text::{parse, render};
pub use writer::{RowWriter, encode_key, encode_row};

/// Version of the encoding that this build writes.
pub const ENCODING_VERSION: u32 = 1;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod vectors;
