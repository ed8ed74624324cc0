//! Rolling BLAKE2b-256 over the records of each side: hashed once while the sides are equal.
//!
//! Source: RFC 7693; `docs/encoding.md` section 8 gives the input.

use crate::model::{Digest, Side, Sides};
use blake2b_simd::{Params, State, many::update_many};

/// Size of a digest in bytes.
const DIGEST_BYTES: usize = 32;

/// The digests of both sides of a range.
///
/// One state serves both sides until the first record of one side alone. From then on records that both sides hold are
/// fed to the two states side by side, in the lanes of one vector unit.
#[derive(Debug)]
pub struct SideDigests {
    source: State,
    sink: Option<State>,
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
        Self { source: Params::new().hash_length(DIGEST_BYTES).to_state(), sink: None }
    }

    /// Feeds records that both sides hold.
    pub fn update_both(&mut self, records: &[u8]) {
        match &mut self.sink {
            None => {
                self.source.update(records);
            }
            Some(sink) => update_many([(&mut self.source, records), (sink, records)]),
        }
    }

    /// Feeds records of one side.
    pub fn update(&mut self, side: Side, records: &[u8]) {
        let sink = self.sink.get_or_insert_with(|| self.source.clone());
        match side {
            Side::Source => self.source.update(records),
            Side::Sink => sink.update(records),
        };
    }

    /// The digests.
    #[must_use]
    pub fn finish(self) -> Sides<Digest> {
        let source = digest(&self.source);
        let sink = self.sink.as_ref().map_or(source, digest);
        Sides { source, sink }
    }
}

fn digest(state: &State) -> Digest {
    let mut bytes = [0; DIGEST_BYTES];
    // The state was made for exactly this length.
    bytes.copy_from_slice(state.finalize().as_bytes());
    Digest(bytes)
}
