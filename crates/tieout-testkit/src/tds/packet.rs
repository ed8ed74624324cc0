//! Packets ([MS-TDS] 2.2.3): an 8 byte header before every piece of a message.

use crate::Result;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The length of a packet's header.
pub const HEADER: usize = 8;

/// The longest message that a client may send: far beyond any SQL text of a test, well below memory.
const MESSAGE_LIMIT: usize = 64 << 20;

/// Status bit: the last packet of its message.
const END_OF_MESSAGE: u8 = 0x01;

/// Status bit: the client drops the message that it has begun to send.
const IGNORE: u8 = 0x02;

/// Packet types ([MS-TDS] 2.2.3.1.1).
pub mod kind {
    /// SQL batch.
    pub const BATCH: u8 = 1;
    /// Remote procedure call.
    pub const RPC: u8 = 3;
    /// Any response of the server.
    pub const REPLY: u8 = 4;
    /// Attention signal.
    pub const ATTENTION: u8 = 6;
    /// Transaction manager request.
    pub const TRANSACTION: u8 = 14;
    /// LOGIN7.
    pub const LOGIN7: u8 = 16;
    /// PRELOGIN, and the TLS handshake in it.
    pub const PRELOGIN: u8 = 18;
}

/// The types of a client's packets.
const KINDS: [u8; 6] = [kind::BATCH, kind::RPC, kind::ATTENTION, kind::TRANSACTION, kind::LOGIN7, kind::PRELOGIN];

/// A whole message of a client.
#[derive(Clone, Debug)]
pub struct Message {
    /// The packets' type, see [`kind`].
    pub kind: u8,
    /// The packets' data, joined.
    pub data: Vec<u8>,
}

/// Reads one message; `None` where the connection ends between two messages.
pub async fn read_message(input: &mut (impl AsyncRead + Unpin)) -> Result<Option<Message>> {
    let mut message: Option<Message> = None;
    loop {
        let mut header = [0; HEADER];
        let first = input.read(&mut header[..1]).await?;
        if first == 0 {
            return if message.is_none() { Ok(None) } else { Err("the connection ends inside a message".into()) };
        }
        input.read_exact(&mut header[1..]).await?;
        let [kind, status, high, low, ..] = header;
        if !KINDS.contains(&kind) {
            // A TLS record, for one: its length is somewhere else.
            return Err(format!("a packet of type {kind}, which no client sends").into());
        }
        let length = usize::from(u16::from_be_bytes([high, low]));
        let body = length.checked_sub(HEADER).ok_or_else(|| format!("a packet says that it has {length} bytes"))?;
        let message_so_far = message.get_or_insert_with(|| Message { kind, data: Vec::new() });
        if message_so_far.kind != kind {
            return Err(format!("a packet of type {kind} inside a message of type {}", message_so_far.kind).into());
        }
        let start = message_so_far.data.len();
        if start + body > MESSAGE_LIMIT {
            return Err("a message is longer than the limit of 64 MiB".into());
        }
        message_so_far.data.resize(start + body, 0);
        input.read_exact(&mut message_so_far.data[start..]).await?;
        if status & END_OF_MESSAGE != 0 {
            let done = message.take();
            if status & IGNORE == 0 {
                return Ok(done);
            }
        }
    }
}

/// Cuts one response into packets.
#[derive(Debug)]
pub struct Packets {
    /// The most data in one packet.
    limit: usize,
    next_id: u8,
    /// What is not in a packet yet.
    pub data: Vec<u8>,
    /// Whole packets, to be sent and then cleared.
    pub ready: Vec<u8>,
}

impl Packets {
    /// Packets of at most `limit` bytes of data each; 0 counts as 1.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let limit = limit.clamp(1, usize::from(u16::MAX) - HEADER);
        Self { limit, next_id: 1, data: Vec::new(), ready: Vec::new() }
    }

    /// Makes packets of what is there, but keeps the last: more data may follow it.
    pub fn cut(&mut self) {
        let mut at = 0;
        while self.data.len() - at > self.limit {
            packet(&mut self.ready, &mut self.next_id, &self.data[at..at + self.limit], 0);
            at += self.limit;
        }
        self.data.drain(..at);
    }

    /// Makes a packet of everything that is there although more follows.
    pub fn flush(&mut self) {
        self.cut();
        if !self.data.is_empty() {
            packet(&mut self.ready, &mut self.next_id, &self.data, 0);
            self.data.clear();
        }
    }

    /// Ends the message.
    pub fn finish(&mut self) {
        self.cut();
        packet(&mut self.ready, &mut self.next_id, &self.data, END_OF_MESSAGE);
        self.data.clear();
        self.next_id = 1;
    }
}

/// Appends one packet of the server.
fn packet(out: &mut Vec<u8>, id: &mut u8, data: &[u8], status: u8) {
    let length = u16::try_from(data.len() + HEADER).unwrap_or(u16::MAX).to_be_bytes();
    out.extend([kind::REPLY, status, length[0], length[1], 0, 0, *id, 0]);
    out.extend(data);
    *id = id.wrapping_add(1);
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failure here is the test's")]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_cut_and_only_its_last_packet_ends_it() {
        let mut packets = Packets::new(2);
        packets.data.extend([1, 2, 3, 4]);
        packets.finish();
        assert_eq!(packets.ready, [4, 0, 0, 10, 0, 0, 1, 0, 1, 2, 4, 1, 0, 10, 0, 0, 2, 0, 3, 4]);
    }

    #[tokio::test]
    async fn a_message_is_joined_from_its_packets() {
        let bytes = [1, 0, 0, 10, 0, 0, 1, 0, 7, 8, 1, 1, 0, 9, 0, 0, 2, 0, 9];
        let mut input = bytes.as_slice();
        let message = read_message(&mut input).await.unwrap().unwrap();
        assert_eq!((message.kind, message.data.as_slice()), (1, [7, 8, 9].as_slice()));
        assert!(read_message(&mut input).await.unwrap().is_none());
        assert!(read_message(&mut &bytes[..12]).await.is_err());
    }
}
