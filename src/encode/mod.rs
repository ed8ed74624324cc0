//! The canonical encoding: from typed calls to bytes, and back. `docs/encoding.md` is the specification.
//!
//! Each family is encoded in one place. Nothing here knows a store, does I/O or reads a clock.

mod batch;
mod decode;
mod fold;
mod text;
mod writer;

pub use batch::{EncodedBatch, Record};
pub use decode::{Fields, decode_field, decode_key, decode_row, fields};
pub use fold::fold_text;
pub use text::{parse, render};
pub use writer::{RowLayout, RowWriter, encode_key, encode_row};

/// Version of the encoding that this build writes.
pub const ENCODING_VERSION: u32 = 1;
