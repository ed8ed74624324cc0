//! LOGIN7 ([MS-TDS] 2.2.6.4) and its feature extensions.

use super::backend::Login;
use super::wire::Reader;
use crate::Result;

/// The fixed part ends where `ibChangePassword` and `cbSSPILong` end.
const OFFSETS_AT: usize = 36;

/// `OptionFlags3`: the record has feature extensions.
const EXTENSION: u8 = 0x10;

/// `TypeFlags`: the application only reads.
const READ_ONLY_INTENT: u8 = 0x20;

/// `OptionFlags2`: integrated security.
const INTEGRATED: u8 = 0x80;

/// Features of a login that the server has to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// FEDAUTH with a security token, and the client's nonce if it sent one.
    Token(Option<[u8; 32]>),
    /// `UTF8_SUPPORT`.
    Utf8,
}

/// A login and how the connection is to go on.
#[derive(Clone, Debug)]
pub struct LoginRecord {
    /// What the backend gets.
    pub login: Login,
    /// The TDS version that the client speaks, such as `0x7400_0004`.
    pub tds_version: u32,
    /// The packet size it asks for; 0 leaves it to the server.
    pub packet_size: u32,
    /// It wants integrated security.
    pub integrated: bool,
    /// What FEATUREEXTACK answers.
    pub features: Vec<Feature>,
}

impl LoginRecord {
    /// Parses a LOGIN7 message.
    pub fn parse(data: &[u8]) -> Result<Self> {
        let mut fixed = Reader::new(data);
        let length = fixed.len32()?;
        if length != data.len() {
            return Err(format!("LOGIN7 says {length} bytes and has {}", data.len()).into());
        }
        let tds_version = fixed.u32()?;
        let packet_size = fixed.u32()?;
        fixed.take(12)?;
        let [_, flags2, type_flags, flags3] = fixed.array()?;
        // 3.2.5.1: the fields by their place in the OffsetLength part.
        let field = |index: usize| -> Result<(usize, usize)> {
            let mut at = Reader::at(data, OFFSETS_AT + index * 4);
            Ok((usize::from(at.u16()?), usize::from(at.u16()?)))
        };
        let text = |index: usize| -> Result<String> {
            let (offset, units) = field(index)?;
            Reader::at(data, offset).text(units)
        };
        let (offset, units) = field(2)?;
        let scrambled = Reader::at(data, offset).take(units * 2)?;
        let clear: Vec<u8> = scrambled.iter().map(|byte| (byte ^ 0xA5).rotate_left(4)).collect();
        let password = Reader::new(&clear).text(units)?;

        let mut features = Vec::new();
        let mut token = None;
        if flags3 & EXTENSION != 0 {
            let (offset, _) = field(5)?;
            let start = Reader::at(data, offset).len32()?;
            token = read_features(&mut Reader::at(data, start), &mut features)?;
        }
        let login = Login {
            user: text(1)?,
            password,
            database: text(8)?,
            host: text(0)?,
            application: text(3)?,
            server: text(4)?,
            read_only_intent: type_flags & READ_ONLY_INTENT != 0,
            token,
            raw: data.to_vec(),
        };
        Ok(Self { login, tds_version, packet_size, integrated: flags2 & INTEGRATED != 0, features })
    }
}

/// Reads the `FeatureExt` block; the token of FEDAUTH is the result.
fn read_features(reader: &mut Reader<'_>, features: &mut Vec<Feature>) -> Result<Option<String>> {
    let mut token = None;
    loop {
        let id = reader.u8()?;
        if id == 0xFF {
            return Ok(token);
        }
        let length = reader.len32()?;
        let mut data = Reader::new(reader.take(length)?);
        match id {
            0x02 => {
                // The upper seven bits name the library; 1 is the security token.
                let library = data.u8()? >> 1;
                if library != 1 {
                    return Err(format!("FEDAUTH by library {library} instead of a security token").into());
                }
                let bytes = data.len32()?;
                token = Some(data.text(bytes / 2)?);
                features.push(Feature::Token(if data.is_empty() { None } else { Some(data.array()?) }));
            }
            0x0A => features.push(Feature::Utf8),
            _ => {}
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failure here is the test's")]
mod tests {
    use super::*;

    /// A record with the texts given in the order of the offsets, and a FEDAUTH token.
    fn record(texts: [&str; 9], token: Option<&str>) -> Vec<u8> {
        let mut fixed = vec![0; 94];
        let mut variable: Vec<u8> = Vec::new();
        for (index, text) in texts.into_iter().enumerate() {
            let start = u16::try_from(94 + variable.len()).unwrap();
            let mut bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            if index == 2 {
                for byte in &mut bytes {
                    *byte = byte.rotate_left(4) ^ 0xA5;
                }
            }
            let at = 36 + index * 4;
            fixed[at..at + 2].copy_from_slice(&start.to_le_bytes());
            fixed[at + 2..at + 4].copy_from_slice(&u16::try_from(bytes.len() / 2).unwrap().to_le_bytes());
            variable.extend(bytes);
        }
        fixed[4..8].copy_from_slice(&0x7400_0004_u32.to_le_bytes());
        fixed[8..12].copy_from_slice(&4096_u32.to_le_bytes());
        fixed[26] = 0x20;
        if let Some(token) = token {
            fixed[27] = 0x10;
            let pointer = u16::try_from(94 + variable.len()).unwrap();
            fixed[56..58].copy_from_slice(&pointer.to_le_bytes());
            fixed[58..60].copy_from_slice(&4_u16.to_le_bytes());
            variable.extend((u32::from(pointer) + 4).to_le_bytes());
            let bytes: Vec<u8> = token.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let length = u32::try_from(bytes.len()).unwrap();
            variable.push(2);
            variable.extend((length + 5).to_le_bytes());
            variable.push(2);
            variable.extend(length.to_le_bytes());
            variable.extend(bytes);
            variable.push(0xFF);
        }
        fixed.extend(variable);
        let length = u32::try_from(fixed.len()).unwrap();
        fixed[..4].copy_from_slice(&length.to_le_bytes());
        fixed
    }

    #[test]
    fn reads_names_password_and_intent() {
        let data = record(["host", "user", "p\u{e4}ss", "app", "server", "", "lib", "", "base"], None);
        let read = LoginRecord::parse(&data).unwrap();
        assert_eq!((read.login.host.as_str(), read.login.user.as_str()), ("host", "user"));
        assert_eq!(read.login.password, "p\u{e4}ss");
        assert_eq!((read.login.application.as_str(), read.login.server.as_str()), ("app", "server"));
        assert_eq!(read.login.database, "base");
        assert!(read.login.read_only_intent);
        assert_eq!((read.tds_version, read.packet_size), (0x7400_0004, 4096));
        assert_eq!(read.login.token, None);
    }

    #[test]
    fn reads_a_token() {
        let read = LoginRecord::parse(&record(["", "", "", "", "", "", "", "", ""], Some("abc"))).unwrap();
        assert_eq!(read.login.token.as_deref(), Some("abc"));
        assert_eq!(read.features, [Feature::Token(None)]);
    }
}
