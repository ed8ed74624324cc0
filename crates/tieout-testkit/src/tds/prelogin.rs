//! PRELOGIN ([MS-TDS] 2.2.6.5): what encryption, instance and login the two sides agree on.

use super::server::TlsMode;
use super::wire::Reader;
use crate::Result;

const VERSION: u8 = 0;
const ENCRYPTION: u8 = 1;
const INSTANCE: u8 = 2;
const THREAD: u8 = 3;
const MARS: u8 = 4;
const TOKEN_LOGIN: u8 = 6;
const END: u8 = 0xFF;

/// The values of the ENCRYPTION option.
pub mod encryption {
    /// Only the login is encrypted.
    pub const OFF: u8 = 0;
    /// Everything is encrypted.
    pub const ON: u8 = 1;
    /// Nothing is.
    pub const NOT_SUPPORTED: u8 = 2;
    /// Encryption of everything is required.
    pub const REQUIRED: u8 = 3;
}

/// What the client's PRELOGIN says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreLogin {
    /// Its ENCRYPTION option without the bit for client certificates.
    pub encryption: u8,
    /// The instance that it wants to reach; empty when it does not say.
    pub instance: String,
    /// It will log in with a token.
    pub token: bool,
}

/// What follows the server's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encrypted {
    /// No TLS, or TLS is there already.
    Nothing,
    /// A handshake, and the clear again after LOGIN7.
    Login,
    /// A handshake.
    Everything,
    /// The two do not agree; the connection ends after the answer.
    Refused,
}

impl PreLogin {
    /// Parses the options of a client.
    pub fn parse(data: &[u8]) -> Result<Self> {
        let mut this = Self { encryption: encryption::NOT_SUPPORTED, ..Self::default() };
        let mut options = Reader::new(data);
        loop {
            let option = options.u8()?;
            if option == END {
                return Ok(this);
            }
            let (offset, length) = (options.u16_be()?, options.u16_be()?);
            let value = Reader::at(data, usize::from(offset)).take(usize::from(length))?;
            match option {
                ENCRYPTION => this.encryption = value.first().ok_or("an empty ENCRYPTION option")? & 0x0F,
                INSTANCE => {
                    let name = value.split(|byte| *byte == 0).next().unwrap_or_default();
                    this.instance = String::from_utf8_lossy(name).into_owned();
                }
                TOKEN_LOGIN => this.token = value.first() == Some(&1),
                _ => {}
            }
        }
    }

    /// What the server answers to ENCRYPTION, and what follows, by the table of [MS-TDS] 2.2.6.5.
    #[must_use]
    pub fn agree(&self, mode: TlsMode) -> (u8, Encrypted) {
        let client = self.encryption;
        match mode {
            TlsMode::Off => match client {
                encryption::ON | encryption::REQUIRED => (encryption::NOT_SUPPORTED, Encrypted::Refused),
                _ => (encryption::NOT_SUPPORTED, Encrypted::Nothing),
            },
            TlsMode::Optional => match client {
                encryption::NOT_SUPPORTED => (encryption::NOT_SUPPORTED, Encrypted::Nothing),
                encryption::OFF => (encryption::OFF, Encrypted::Login),
                _ => (encryption::ON, Encrypted::Everything),
            },
            TlsMode::Required => match client {
                encryption::NOT_SUPPORTED => (encryption::REQUIRED, Encrypted::Refused),
                encryption::OFF => (encryption::REQUIRED, Encrypted::Everything),
                _ => (encryption::ON, Encrypted::Everything),
            },
            // TDS 8.0: the whole connection is inside TLS, the option says nothing.
            TlsMode::Strict => (encryption::ON, Encrypted::Nothing),
        }
    }

    /// The server's answer: its version, the encryption agreed on and whether the instance is the one asked for.
    #[must_use]
    pub fn answer(&self, version: [u8; 4], encryption: u8, instance: Option<&str>) -> Vec<u8> {
        let known = match instance {
            Some(name) => self.instance.is_empty() || self.instance.eq_ignore_ascii_case(name),
            None => true,
        };
        let [major, minor, build_high, build_low] = version;
        let mut options: Vec<(u8, Vec<u8>)> = vec![
            (VERSION, vec![major, minor, build_high, build_low, 0, 0]),
            (ENCRYPTION, vec![encryption]),
            (INSTANCE, vec![u8::from(!known)].into_iter().chain((!known).then_some(0)).collect()),
            (THREAD, Vec::new()),
            (MARS, vec![0]),
        ];
        if self.token {
            options.push((TOKEN_LOGIN, vec![1]));
        }
        let mut table = Vec::new();
        let mut values: Vec<u8> = Vec::new();
        let start = options.len() * 5 + 1;
        for (option, value) in options {
            table.push(option);
            table.extend(u16::try_from(start + values.len()).unwrap_or(u16::MAX).to_be_bytes());
            table.extend(u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes());
            values.extend(value);
        }
        table.push(END);
        table.extend(values);
        table
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failure here is the test's")]
mod tests {
    use super::*;

    #[test]
    fn reads_the_options_by_their_offsets() {
        let mut data = vec![1, 0, 16, 0, 1, 2, 0, 17, 0, 3, 6, 0, 20, 0, 1, 0xFF];
        data.extend([3, b'X', b'Y', 0, 1]);
        let read = PreLogin::parse(&data).unwrap();
        assert_eq!(read, PreLogin { encryption: 3, instance: "XY".into(), token: true });
        assert!(PreLogin::parse(&data[..18]).is_err());
    }

    #[test]
    fn encryption_is_agreed_as_the_table_says() {
        let client = |encryption| PreLogin { encryption, ..PreLogin::default() };
        assert_eq!(client(0).agree(TlsMode::Off), (2, Encrypted::Nothing));
        assert_eq!(client(1).agree(TlsMode::Off), (2, Encrypted::Refused));
        assert_eq!(client(0).agree(TlsMode::Optional), (0, Encrypted::Login));
        assert_eq!(client(1).agree(TlsMode::Optional), (1, Encrypted::Everything));
        assert_eq!(client(0).agree(TlsMode::Required), (3, Encrypted::Everything));
        assert_eq!(client(2).agree(TlsMode::Required), (3, Encrypted::Refused));
    }

    #[test]
    fn the_answer_has_its_values_where_its_table_says() {
        let answer = PreLogin::default().answer([16, 0, 0x0F, 0xA0], 1, None);
        assert_eq!(answer[..6], [0, 0, 26, 0, 6, 1]);
        assert_eq!(answer[26..], [16, 0, 0x0F, 0xA0, 0, 0, 1, 0, 0]);
    }
}
