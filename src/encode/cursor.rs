//! Strict reading of canonical bytes: every shortage or surplus is an `Internal` error, never a panic.

use super::{decode::FieldForm, value::STRAY};
use crate::model::{Error, Result};

/// The bytes that are still to be read.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(short)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or_else(short)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        let (first, rest) = self.rest.split_first().ok_or_else(short)?;
        self.rest = rest;
        Ok(*first)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32> {
        self.array().map(|bytes| i32::from_be_bytes(bytes) ^ i32::MIN)
    }

    pub(super) fn i64(&mut self) -> Result<i64> {
        self.array().map(|bytes| i64::from_be_bytes(bytes) ^ i64::MIN)
    }

    /// A varint in its shortest form, of at most 32 bits.
    pub(super) fn varint(&mut self) -> Result<usize> {
        let mut value = 0_u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                if byte == 0 && shift > 0 {
                    return Err(Error::internal("decoding a length: it is not in its shortest form"));
                }
                let value = u32::try_from(value).map_err(|_| Error::internal("decoding a length: it is too large"))?;
                return Ok(value as usize);
            }
        }
        Err(Error::internal("decoding a length: it is too large"))
    }

    /// A varint length and that many bytes.
    pub(super) fn counted(&mut self) -> Result<&'a [u8]> {
        let length = self.varint()?;
        self.take(length)
    }

    /// Presence, and the value form if there is one.
    pub(super) fn field(&mut self) -> Result<Option<&'a [u8]>> {
        if self.presence()? { self.counted().map(Some) } else { Ok(None) }
    }

    /// A field of a row.
    pub(super) fn form(&mut self) -> Result<FieldForm<'a>> {
        if self.rest.first() == Some(&STRAY) {
            self.byte()?;
            return self.counted().map(FieldForm::Stray);
        }
        Ok(self.field()?.map_or(FieldForm::Null, FieldForm::Value))
    }

    pub(super) fn presence(&mut self) -> Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Error::internal(format!("decoding a field: expected presence 0 or 1, found {other}"))),
        }
    }

    pub(super) fn finish(&self) -> Result<()> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(Error::internal(format!("decoding a value: {} bytes are left over", self.rest.len())))
    }
}

fn short() -> Error {
    Error::internal("decoding a value: the bytes end too early")
}

/// Appends a varint.
pub(super) fn write_varint(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push(value.to_be_bytes()[size_of::<usize>() - 1] | 0x80);
        value >>= 7;
    }
    out.push(value.to_be_bytes()[size_of::<usize>() - 1]);
}

/// Puts the varint of the length of `out[at..]` in front of it; `out[at - 1]` is the byte kept free for it.
#[inline]
pub(super) fn close_counted(out: &mut Vec<u8>, at: usize) {
    let length = out.len() - at;
    if let Ok(short) = u8::try_from(length)
        && short < 0x80
    {
        out[at - 1] = short;
        return;
    }
    let mut varint = Vec::with_capacity(10);
    write_varint(&mut varint, length);
    out.splice(at - 1..at, varint);
}

/// Escapes `out[at..]` in place and ends it: the key form of what has no length of its own.
#[inline]
pub(super) fn close_escaped(out: &mut Vec<u8>, at: usize) {
    if memchr::memchr(0, &out[at..]).is_some() {
        let plain = out.split_off(at);
        for byte in plain {
            out.push(byte);
            if byte == 0 {
                out.push(0xFF);
            }
        }
    }
    out.extend_from_slice(&[0, 0]);
}

/// Reads an escaped value and its end.
pub(super) fn read_escaped(cursor: &mut Cursor<'_>) -> Result<Vec<u8>> {
    let mut value = Vec::new();
    pass_escaped(cursor, |piece| value.extend_from_slice(piece))?;
    Ok(value)
}

/// Passes over an escaped value and its end, and shows its bytes, piece by piece.
#[inline]
pub(super) fn pass_escaped(cursor: &mut Cursor<'_>, mut show: impl FnMut(&[u8])) -> Result<()> {
    loop {
        let zero = memchr::memchr(0, cursor.rest()).ok_or_else(short)?;
        show(cursor.take(zero)?);
        match cursor.array::<2>()? {
            [0, 0xFF] => show(&[0]),
            [0, 0] => return Ok(()),
            _ => return Err(Error::internal("decoding a key: malformed escape")),
        }
    }
}
