//! Rolling BLAKE2b-256 over the records of each side: hashed once while the sides are equal.
//!
//! Source: RFC 7693; `docs/encoding.md` section 8 gives the input.

use crate::model::{Digest, Side, Sides};
use blake2::{Blake2b, Digest as _, digest::consts::U32};

type Hasher = Blake2b<U32>;

/// The digests of both sides of a range.
///
/// One state serves both sides up to the first difference.
#[derive(Debug)]
pub struct SideDigests {
    source: Hasher,
    sink: Option<Hasher>,
}

impl Default for SideDigests {
    fn default() -> Self {
        Self::new()
    }
}

impl SideDigests {
    /// Digests of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self { source: Hasher::new(), sink: None }
    }

    /// Feeds records that both sides hold.
    pub fn update_both(&mut self, records: &[u8]) {
        self.source.update(records);
        if let Some(sink) = &mut self.sink {
            sink.update(records);
        }
    }

    /// Feeds records of one side.
    pub fn update(&mut self, side: Side, records: &[u8]) {
        let sink = self.sink.get_or_insert_with(|| self.source.clone());
        match side {
            Side::Source => self.source.update(records),
            Side::Sink => sink.update(records),
        }
    }

    /// The digests.
    #[must_use]
    pub fn finish(self) -> Sides<Digest> {
        let source = Digest(self.source.finalize().into());
        let sink = self.sink.map_or(source, |sink| Digest(sink.finalize().into()));
        Sides { source, sink }
    }
}
