//! Reading and writing the basic data types of TDS ([MS-TDS] 2.2.5.1 to 2.2.5.3), bounds checked.

use super::backend::Collation;
use crate::Result;

/// A place in bytes that came from a client; every read says when the bytes end too early.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// At the start of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// At `offset` of `bytes`.
    #[must_use]
    pub fn at(bytes: &'a [u8], offset: usize) -> Self {
        Self { bytes, at: offset }
    }

    /// Whether every byte has been read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            return Err(format!("a message ends early: {count} bytes wanted at offset {}", self.at).into());
        };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.try_into()?)
    }

    /// BYTE.
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// USHORT.
    pub fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// USHORT in network order, as PRELOGIN has it.
    pub fn u16_be(&mut self) -> Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// ULONG.
    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// ULONGLONG.
    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A length in a ULONG.
    pub fn len32(&mut self) -> Result<usize> {
        Ok(usize::try_from(self.u32()?)?)
    }

    /// An unsigned number of `width` bytes, at most 8, little-endian.
    pub fn uint(&mut self, width: usize) -> Result<u64> {
        let mut whole = [0; 8];
        let part = self.take(width)?;
        whole.get_mut(..width).ok_or("a number of more than 8 bytes")?.copy_from_slice(part);
        Ok(u64::from_le_bytes(whole))
    }

    /// `count` UTF-16 units.
    pub fn units(&mut self, count: usize) -> Result<Vec<u16>> {
        Ok(units(self.take(count.checked_mul(2).ok_or("a length beyond the address space")?)?))
    }

    /// `count` UTF-16 units as text.
    pub fn text(&mut self, count: usize) -> Result<String> {
        Ok(String::from_utf16(&self.units(count)?)?)
    }

    /// `B_VARCHAR`: a BYTE of units, then the units.
    pub fn b_varchar(&mut self) -> Result<String> {
        let count = usize::from(self.u8()?);
        self.text(count)
    }

    /// `US_VARCHAR`: a USHORT of units, then the units.
    pub fn us_varchar(&mut self) -> Result<String> {
        let count = usize::from(self.u16()?);
        self.text(count)
    }
}

/// The UTF-16 units in little-endian bytes; an odd last byte is left out.
#[must_use]
pub fn units(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair)).collect()
}

/// Appends UTF-16 units in little-endian bytes.
pub fn put_units(out: &mut Vec<u8>, units: impl IntoIterator<Item = u16>) {
    for unit in units {
        out.extend(unit.to_le_bytes());
    }
}

/// Appends a `B_VARCHAR`; at most 255 units.
pub fn put_b_varchar(out: &mut Vec<u8>, text: &str) -> Result<()> {
    let units: Vec<u16> = text.encode_utf16().collect();
    out.push(u8::try_from(units.len()).map_err(|_| "a name has more than 255 units")?);
    put_units(out, units);
    Ok(())
}

/// Appends a `US_VARCHAR`; at most 65535 units.
pub fn put_us_varchar(out: &mut Vec<u8>, text: &str) -> Result<()> {
    let units: Vec<u16> = text.encode_utf16().collect();
    out.extend(u16::try_from(units.len()).map_err(|_| "a text has more than 65535 units")?.to_le_bytes());
    put_units(out, units);
    Ok(())
}

/// Appends a token whose length is a USHORT after its first byte: what `body` appends.
pub fn put_sized(out: &mut Vec<u8>, token: u8, body: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    out.push(token);
    let at = out.len();
    out.extend([0, 0]);
    body(out)?;
    let length = u16::try_from(out.len() - at - 2).map_err(|_| "a token has more than 65535 bytes")?;
    out[at..at + 2].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Swaps a GUID between RFC 4122 order and the wire's: its first three groups are little-endian ([MS-TDS] 2.2.5.5.1).
#[must_use]
pub fn swap_guid(guid: [u8; 16]) -> [u8; 16] {
    let mut swapped = guid;
    swapped[..4].reverse();
    swapped[4..6].reverse();
    swapped[6..8].reverse();
    swapped
}

/// `SQL_Latin1_General_CP1_CI_AS`, the default of a server set up in English: LCID 1033, ignore case, kana and width, sort id 52.
pub const LATIN1_CI_AS: Collation = Collation { bytes: [0x09, 0x04, 0xD0, 0x00, 0x34], code_page: 1252 };

/// `Latin1_General_100_BIN2_UTF8`: LCID 1033, version 2, the binary-2 and UTF-8 flags.
pub const LATIN1_UTF8_BIN2: Collation = Collation { bytes: [0x09, 0x04, 0x00, 0x26, 0x00], code_page: 65001 };

/// `Latin1_General_BIN2`: LCID 1033, the binary-2 flag.
pub const LATIN1_BIN2: Collation = Collation { bytes: [0x09, 0x04, 0x00, 0x02, 0x00], code_page: 1252 };

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failure here is the test's")]
mod tests {
    use super::*;

    #[test]
    fn a_guid_swaps_its_first_three_groups() {
        let text = [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF];
        let wire = [0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF];
        assert_eq!(swap_guid(text), wire);
        assert_eq!(swap_guid(wire), text);
    }

    #[test]
    fn reads_stop_at_the_end() {
        let mut reader = Reader::new(&[1, 0x41, 0]);
        assert_eq!(reader.b_varchar().unwrap(), "A");
        assert!(reader.is_empty());
        assert!(reader.u8().is_err());
        assert_eq!(Reader::new(&[1, 2, 3]).uint(3).unwrap(), 0x03_0201);
    }
}
