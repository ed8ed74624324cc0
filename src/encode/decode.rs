//! From canonical bytes back to values.

use crate::model::{CanonicalType, Error, Result, Value};

/// The fields of a row, without decoding them.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

/// The fields of `row`, in order; `None` is NULL. Ends early where the bytes are not a row.
#[must_use]
pub fn fields(row: &[u8]) -> Fields<'_> {
    Fields { rest: row }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let (presence, mut rest) = self.rest.split_first()?;
        if *presence == 0 {
            self.rest = rest;
            return Some(None);
        }
        let mut length = 0_usize;
        for shift in (0..35).step_by(7) {
            let (byte, tail) = rest.split_first()?;
            rest = tail;
            length |= usize::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let (value, tail) = rest.split_at_checked(length)?;
        self.rest = tail;
        Some(Some(value))
    }
}

/// Decodes the value form of one field.
///
/// # Errors
/// `Internal` if the bytes are not of that type.
pub fn decode_field(_canonical: &CanonicalType, _bytes: Option<&[u8]>) -> Result<Value> {
    Err(Error::internal("not built yet"))
}

/// Decodes a row.
///
/// # Errors
/// `Internal` if the bytes are not of those types.
pub fn decode_row(_types: &[CanonicalType], _row: &[u8]) -> Result<Vec<Value>> {
    Err(Error::internal("not built yet"))
}

/// Decodes a key.
///
/// # Errors
/// `Internal` if the bytes are not of those types.
pub fn decode_key(_types: &[CanonicalType], _key: &[u8]) -> Result<Vec<Value>> {
    Err(Error::internal("not built yet"))
}
