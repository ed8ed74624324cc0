//! Files where they lie: what they are at freeze time, whether they still are, and reads of ranges and streams.
//!
//! Everything here blocks, and is called on blocking threads alone. Objects are fetched on the runtime whose handle was
//! taken at freeze time.

use crate::model::{Error, ErrorKind, Result};
use bytes::{Buf, Bytes};
use object_store::{ObjectStore, ObjectStoreExt, path::Path as ObjectPath};
use parquet::{
    errors::{ParquetError, Result as ParquetResult},
    file::reader::{ChunkReader, Length},
};
use std::{
    fs::File,
    io::{self, BufReader, Read},
    ops::Range,
    os::unix::fs::{FileExt, MetadataExt},
    path::PathBuf,
    sync::Arc,
};
use tokio::runtime::Handle;

/// Bytes of an object that one sequential request fetches: large enough that latency is paid rarely, small enough that
/// a stream stays small beside a batch.
pub(super) const OBJECT_READ_BYTES: usize = 1 << 20;

/// Bytes of a local file that are read for the header of a Parquet page, which is rarely longer: each page is read by
/// its length after its header, so what is read beyond the header is read twice.
const PAGE_HEADER_BYTES: usize = 256;

/// The time of last modification where the store has none.
const UNKNOWN_TIME: &str = "unknown";

/// An object store and the runtime on which it is asked.
#[derive(Clone, Debug)]
pub(super) struct Remote {
    /// The store.
    pub(super) store: Arc<dyn ObjectStore>,
    /// The runtime.
    pub(super) runtime: Handle,
}

/// Where a file lies.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In the file system.
    Local(PathBuf),
    /// In an object store.
    Object(Remote, ObjectPath),
}

/// What identifies the content of a file as far as its store tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Bytes.
    pub(super) size: u64,
    /// Last modification, as precise as the store has it, printable.
    pub(super) modified: String,
    /// Entity tag of an object; device and inode of a local file.
    pub(super) tag: Option<String>,
}

/// A file at the moment of the freeze.
#[derive(Clone, Debug)]
pub(super) struct FileRef {
    /// The path as a person would write it; no secrets.
    pub(super) name: String,
    /// Where it lies.
    pub(super) place: Place,
    /// What it was when it was frozen.
    pub(super) stamp: Stamp,
    /// The values of its partition columns.
    pub(super) partitions: Arc<[super::naming::PartitionValue]>,
}

/// The error of an object store as ours.
pub(super) fn object_error(name: &str, error: object_store::Error) -> Error {
    use object_store::Error as E;
    let (kind, what) = match &error {
        E::NotFound { .. } => (ErrorKind::Schema, "there is no such file"),
        E::PermissionDenied { .. } | E::Unauthenticated { .. } => (ErrorKind::Permission, "access was refused"),
        E::NotSupported { .. } | E::NotImplemented { .. } => (ErrorKind::Unsupported, "the store cannot do this"),
        _ => (ErrorKind::Connect, "the store did not answer as expected"),
    };
    Error::new(kind, format!("reading {name}: {what}")).caused_by(error)
}

/// An input/output error as ours.
pub(super) fn io_error(name: &str, error: io::Error) -> Error {
    let (kind, what) = match error.kind() {
        io::ErrorKind::NotFound => (ErrorKind::Schema, "there is no such file"),
        io::ErrorKind::PermissionDenied => (ErrorKind::Permission, "access was refused"),
        _ => (ErrorKind::Read, "it could not be read"),
    };
    Error::new(kind, format!("reading {name}: {what}")).caused_by(error)
}

impl Place {
    /// Asks for the present stamp.
    pub(super) fn stamp(&self, name: &str) -> Result<Stamp> {
        match self {
            Self::Local(path) => {
                let facts = std::fs::metadata(path).map_err(|error| io_error(name, error))?;
                if facts.is_dir() {
                    return Err(Error::new(
                        ErrorKind::Schema,
                        format!("reading {name}: expected a file, found a folder"),
                    ));
                }
                Ok(Stamp {
                    size: facts.len(),
                    modified: format!("{}.{:09}", facts.mtime(), facts.mtime_nsec()),
                    tag: Some(format!("{:x}-{:x}", facts.dev(), facts.ino())),
                })
            }
            Self::Object(remote, path) => {
                let facts =
                    remote.runtime.block_on(remote.store.head(path)).map_err(|error| object_error(name, error))?;
                Ok(Stamp::of_object(&facts))
            }
        }
    }
}

impl Stamp {
    /// The stamp in a store's listing.
    pub(super) fn of_object(facts: &object_store::ObjectMeta) -> Self {
        // The epoch is what the client puts where a web server names no time.
        let modified = if facts.last_modified.timestamp_millis() == 0 {
            UNKNOWN_TIME.to_owned()
        } else {
            facts.last_modified.to_rfc3339()
        };
        Self { size: facts.size, modified, tag: facts.e_tag.clone() }
    }

    /// Whether nothing but the size could tell that the content changed.
    pub(super) fn is_blind(&self) -> bool {
        self.tag.is_none() && self.modified == UNKNOWN_TIME
    }
}

impl FileRef {
    /// Checks that the file still is what it was at the freeze.
    ///
    /// # Errors
    /// `PositionLost` if it changed or vanished.
    pub(super) fn check(&self) -> Result<()> {
        let lost = |what: &str| {
            Error::new(ErrorKind::PositionLost, format!("reading {}: {what} since the comparison began", self.name))
                .hint("compare files that nobody writes to, or a copy of them")
        };
        match self.place.stamp(&self.name) {
            Ok(stamp) if stamp == self.stamp => Ok(()),
            Ok(_) => Err(lost("the file changed")),
            Err(error) if error.kind() == ErrorKind::Schema => Err(lost("the file vanished")),
            Err(error) => Err(error),
        }
    }

    /// Opens the file for reads of ranges.
    pub(super) fn ranges(&self) -> Result<RangeReader> {
        let data = match &self.place {
            Place::Local(path) => Data::Local(Arc::new(File::open(path).map_err(|error| io_error(&self.name, error))?)),
            Place::Object(remote, path) => Data::Object(remote.clone(), path.clone()),
        };
        Ok(RangeReader { data, size: self.stamp.size, held: Arc::from(Vec::new()) })
    }

    /// Opens the file for one read from its start.
    pub(super) fn sequential(&self) -> Result<Box<dyn Read + Send>> {
        Ok(Box::new(BufReader::with_capacity(OBJECT_READ_BYTES, self.ranges()?.at(0))))
    }

    /// Whether the file lies in an object store.
    pub(super) fn is_object(&self) -> bool {
        matches!(self.place, Place::Object(..))
    }
}

#[derive(Clone, Debug)]
enum Data {
    Local(Arc<File>),
    Object(Remote, ObjectPath),
}

/// Reads ranges of one file. Ranges that were fetched ahead are served from memory.
#[derive(Clone, Debug)]
pub(super) struct RangeReader {
    data: Data,
    size: u64,
    held: Arc<[(u64, Bytes)]>,
}

impl RangeReader {
    /// A reader that holds `ranges` in memory, if the file is an object; local files are read as needed.
    pub(super) fn holding(&self, name: &str, ranges: &[Range<u64>]) -> Result<Self> {
        let Data::Object(remote, path) = &self.data else { return Ok(self.clone()) };
        let fetched = remote
            .runtime
            .block_on(remote.store.get_ranges(path, ranges))
            .map_err(|error| object_error(name, error))?;
        let held: Vec<_> = ranges.iter().map(|range| range.start).zip(fetched).collect();
        Ok(Self { held: Arc::from(held), ..self.clone() })
    }

    fn is_local(&self) -> bool {
        matches!(self.data, Data::Local(_))
    }

    fn at(&self, position: u64) -> At {
        At { reader: self.clone(), position }
    }

    fn find(&self, start: u64) -> Option<Bytes> {
        self.held.iter().find_map(|(from, bytes)| {
            let skip = usize::try_from(start.checked_sub(*from)?).ok()?;
            (skip < bytes.len()).then(|| bytes.slice(skip..))
        })
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size.saturating_sub(position)).unwrap_or(usize::MAX).min(buffer.len());
        if left == 0 {
            return Ok(0);
        }
        match &self.data {
            Data::Local(file) => file.read_at(&mut buffer[..left], position),
            Data::Object(..) => {
                let bytes = self.fetch(position, left).map_err(io::Error::other)?;
                let count = bytes.len().min(left);
                buffer[..count].copy_from_slice(&bytes[..count]);
                Ok(count)
            }
        }
    }

    fn fetch(&self, start: u64, length: usize) -> object_store::Result<Bytes> {
        match &self.data {
            Data::Object(remote, path) => {
                remote.runtime.block_on(remote.store.get_range(path, start..start + length as u64))
            }
            Data::Local(_) => Ok(Bytes::new()),
        }
    }
}

impl Length for RangeReader {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for RangeReader {
    type T = RangeRead;

    fn get_read(&self, start: u64) -> ParquetResult<RangeRead> {
        Ok(match self.find(start) {
            Some(bytes) => RangeRead::Held(bytes.reader()),
            None if self.is_local() => RangeRead::Buffered(BufReader::with_capacity(PAGE_HEADER_BYTES, self.at(start))),
            None => RangeRead::Buffered(BufReader::new(self.at(start))),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        if let Some(bytes) = self.find(start)
            && bytes.len() >= length
        {
            return Ok(bytes.slice(..length));
        }
        let bytes = match &self.data {
            Data::Local(file) => {
                if start.checked_add(length as u64).is_none_or(|end| end > self.size) {
                    return Err(ParquetError::EOF("a range beyond the end of the file".into()));
                }
                let mut buffer = vec![0; length];
                file.read_exact_at(&mut buffer, start)?;
                Bytes::from(buffer)
            }
            Data::Object(..) => self.fetch(start, length).map_err(|error| ParquetError::External(Box::new(error)))?,
        };
        if bytes.len() == length {
            Ok(bytes)
        } else {
            Err(ParquetError::EOF(format!("expected {length} bytes, found {}", bytes.len())))
        }
    }
}

/// A read from one place of a file onwards.
#[derive(Debug)]
pub(super) enum RangeRead {
    Held(bytes::buf::Reader<Bytes>),
    Buffered(BufReader<At>),
}

impl Read for RangeRead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Held(reader) => reader.read(buffer),
            Self::Buffered(reader) => reader.read(buffer),
        }
    }
}

/// A cursor without a buffer.
#[derive(Debug)]
pub(super) struct At {
    reader: RangeReader,
    position: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read_at(self.position, buffer)?;
        self.position += count as u64;
        Ok(count)
    }
}
