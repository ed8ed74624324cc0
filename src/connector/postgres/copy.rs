//! The framing of `COPY ... (FORMAT binary)`: whole rows out of any chunking.
//!
//! Format: the COPY reference page of the `PostgreSQL` manual, "Binary Format".

use crate::model::{Error, ErrorKind, Result};

/// First bytes of every binary COPY.
const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
/// Flag bits 16 to 31 are critical: a reader that does not know them must stop. (Bit 16 said "with OIDs", long gone.)
const CRITICAL_FLAGS: u32 = 0xFFFF_0000;
/// Longest header extension that is skipped; no server sends one, so a longer one means a broken stream.
const EXTENSION_BYTES_MAX: usize = 64 * 1024;
/// Largest row. The server itself cannot send a larger message.
pub(super) const ROW_BYTES_MAX: usize = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Header,
    Rows,
    Trailer,
}

/// Collects chunks and knows where the last whole row ends.
///
/// The buffer starts with whole rows (`complete` bytes of them) and may end in a part of one. A scan position is kept,
/// so that no byte is looked at twice whatever the chunks are.
#[derive(Debug)]
pub(super) struct CopyParser {
    buffer: Vec<u8>,
    state: State,
    columns: usize,
    complete: usize,
    rows: usize,
    cursor: usize,
    fields_left: Option<usize>,
    row_bytes_max: usize,
}

fn malformed(what: &str) -> Error {
    Error::new(ErrorKind::Read, format!("reading the binary copy stream: {what}"))
}

impl CopyParser {
    /// A parser of rows of `columns` fields.
    pub(super) fn new(columns: usize, row_bytes_max: usize) -> Self {
        Self {
            buffer: Vec::new(),
            state: State::Header,
            columns,
            complete: 0,
            rows: 0,
            cursor: 0,
            fields_left: None,
            row_bytes_max,
        }
    }

    /// Appends a chunk, and finds the rows that are whole now.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Result<()> {
        if self.state == State::Trailer && !chunk.is_empty() {
            return Err(malformed("expected its end after the trailer, found more bytes"));
        }
        self.buffer.extend_from_slice(chunk);
        if self.state == State::Header && !self.header()? {
            return Ok(());
        }
        self.scan()?;
        if self.buffer.len() - self.complete > self.row_bytes_max {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("reading rows: a row is larger than the limit of {} bytes", self.row_bytes_max),
            )
            .hint("leave the wide column out with --exclude"));
        }
        Ok(())
    }

    /// Bytes of whole rows that wait.
    pub(super) fn complete_bytes(&self) -> usize {
        self.complete
    }

    /// Takes the whole rows: their bytes and their number. `None` if there are none.
    pub(super) fn take(&mut self) -> Option<(Vec<u8>, usize)> {
        if self.rows == 0 {
            return None;
        }
        let tail = self.buffer.get(self.complete..).unwrap_or_default();
        let mut next = Vec::with_capacity(self.buffer.len().max(tail.len()));
        next.extend_from_slice(tail);
        let mut rows = std::mem::replace(&mut self.buffer, next);
        rows.truncate(self.complete);
        self.cursor -= self.complete;
        self.complete = 0;
        Some((rows, std::mem::take(&mut self.rows)))
    }

    /// Checks that the stream ended where it should: after its trailer.
    pub(super) fn finish(&self) -> Result<()> {
        if self.state == State::Trailer {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Connect, "reading rows: expected the trailer of the copy stream, found its end")
            .hint("the server or the network broke off the read; nothing is concluded from a part"))
    }

    /// Reads the header. Whether it is complete.
    fn header(&mut self) -> Result<bool> {
        let seen = self.buffer.len().min(SIGNATURE.len());
        if self.buffer[..seen] != SIGNATURE[..seen] {
            return Err(malformed("expected the signature of the binary format, found other bytes"));
        }
        let Some(flags) = read_u32(&self.buffer, 11) else { return Ok(false) };
        if flags & CRITICAL_FLAGS != 0 {
            return Err(malformed("expected no critical flags, found an unknown one"));
        }
        let Some(extension) = read_u32(&self.buffer, 15) else { return Ok(false) };
        let extension = extension as usize;
        if extension > EXTENSION_BYTES_MAX {
            return Err(malformed("expected a short header extension, found a long one"));
        }
        let end = 19 + extension;
        if self.buffer.len() < end {
            return Ok(false);
        }
        self.buffer.drain(..end);
        self.state = State::Rows;
        Ok(true)
    }

    fn scan(&mut self) -> Result<()> {
        loop {
            match self.fields_left {
                None => {
                    let Some(count) = read_i16(&self.buffer, self.cursor) else { return Ok(()) };
                    if count == -1 {
                        if self.buffer.len() != self.cursor + 2 {
                            return Err(malformed("expected its end after the trailer, found more bytes"));
                        }
                        self.buffer.truncate(self.cursor);
                        self.state = State::Trailer;
                        return Ok(());
                    }
                    if usize::try_from(count).ok() != Some(self.columns) {
                        return Err(malformed("expected as many fields as columns, found another number"));
                    }
                    self.cursor += 2;
                    self.fields_left = Some(self.columns);
                }
                Some(0) => {
                    self.fields_left = None;
                    self.complete = self.cursor;
                    self.rows += 1;
                }
                Some(left) => {
                    let Some(length) = read_u32(&self.buffer, self.cursor) else { return Ok(()) };
                    // -1 is NULL; any other negative length is no length at all.
                    let length = if length == u32::MAX { 0 } else { length as usize };
                    if length > self.row_bytes_max {
                        return Err(Error::new(
                            ErrorKind::Limit,
                            format!("reading rows: a value is larger than the limit of {} bytes", self.row_bytes_max),
                        ));
                    }
                    let end = self.cursor + 4 + length;
                    if self.buffer.len() < end {
                        return Ok(());
                    }
                    self.cursor = end;
                    self.fields_left = Some(left - 1);
                }
            }
        }
    }
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk::<4>()?))
}

fn read_i16(bytes: &[u8], at: usize) -> Option<i16> {
    Some(i16::from_be_bytes(*bytes.get(at..)?.first_chunk::<2>()?))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    /// Two rows of two fields: (1 byte, NULL), (0 bytes, 3 bytes).
    fn stream() -> Vec<u8> {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 2, 9, 9]);
        bytes.extend([0, 2, 0, 0, 0, 1, 7, 255, 255, 255, 255]);
        bytes.extend([0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]);
        bytes.extend([255, 255]);
        bytes
    }

    fn rows(chunks: &[&[u8]]) -> Result<(Vec<u8>, usize)> {
        let mut parser = CopyParser::new(2, 1000);
        let (mut bytes, mut rows) = (Vec::new(), 0);
        for chunk in chunks {
            parser.push(chunk)?;
            if let Some((more, count)) = parser.take() {
                bytes.extend(more);
                rows += count;
            }
        }
        parser.finish()?;
        Ok((bytes, rows))
    }

    #[test]
    fn every_cut_gives_the_same_rows() {
        let bytes = stream();
        let expected = (bytes[21..45].to_vec(), 2);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let chunks = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(rows(&chunks).unwrap(), expected, "{first} {second}");
            }
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(rows(&single).unwrap(), expected);
    }

    #[test]
    fn a_cut_stream_is_an_error() {
        let bytes = stream();
        for end in 0..bytes.len() {
            assert!(rows(&[&bytes[..end]]).is_err(), "{end}");
        }
    }

    #[test]
    fn malformed_streams_are_errors() {
        let mut more = stream();
        more.push(0);
        assert!(rows(&[&more]).is_err());
        let mut flag = stream();
        flag[12] = 1;
        assert!(rows(&[&flag]).is_err());
        let mut count = stream();
        count[22] = 3;
        assert!(rows(&[&count]).is_err());
        let mut length = stream();
        length[23..27].copy_from_slice(&[255, 255, 255, 254]);
        assert_eq!(rows(&[&length]).unwrap_err().kind(), ErrorKind::Limit);
        let mut signature = stream();
        signature[3] = 0;
        assert!(rows(&[&signature[..5]]).is_err());
    }
}
