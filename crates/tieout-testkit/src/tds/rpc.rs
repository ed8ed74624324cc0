//! Requests after the login ([MS-TDS] 2.2.6.6 RPC, 2.2.6.7 SQL batch, 2.2.6.9 transaction manager) and their `ALL_HEADERS` (2.2.5.3).

use super::backend::{Cell, Param};
use super::packet::{Message, kind};
use super::params::read_typed;
use super::wire::Reader;
use crate::Result;

/// `ProcID` of `sp_executesql`.
const EXECUTE_SQL: u16 = 10;

/// Header type: the transaction that the request belongs to.
const TRANSACTION_HEADER: u16 = 2;

/// A request, parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The transaction descriptor that the client sent, 0 outside of one.
    pub transaction: u64,
    /// What to do.
    pub body: Body,
}

/// What a request asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A SQL batch.
    Batch(String),
    /// `sp_executesql`.
    Execute {
        /// The statement.
        sql: String,
        /// Its parameters.
        params: Vec<Param>,
    },
    /// Another procedure, which this server refuses.
    Procedure(String),
    /// A transaction manager request, as the statement that does the same.
    Transaction(&'static str),
}

impl Request {
    /// Parses a message of a logged-in client.
    pub fn parse(message: &Message) -> Result<Self> {
        let mut reader = Reader::new(&message.data);
        let transaction = read_headers(&mut reader)?;
        let body = match message.kind {
            kind::BATCH => {
                let mut units = Vec::new();
                while !reader.is_empty() {
                    units.push(reader.u16()?);
                }
                Body::Batch(String::from_utf16(&units)?)
            }
            kind::RPC => read_call(&mut reader)?,
            kind::TRANSACTION => match reader.u16()? {
                5 => Body::Transaction("BEGIN TRANSACTION"),
                7 => Body::Transaction("COMMIT TRANSACTION"),
                8 => Body::Transaction("ROLLBACK TRANSACTION"),
                other => return Err(format!("a transaction manager request of type {other}").into()),
            },
            other => return Err(format!("a message of type {other} after the login").into()),
        };
        Ok(Self { transaction, body })
    }
}

/// Reads `ALL_HEADERS`; the result is the transaction descriptor.
fn read_headers(reader: &mut Reader<'_>) -> Result<u64> {
    let total = reader.len32()?;
    let mut headers = Reader::new(reader.take(total.checked_sub(4).ok_or("ALL_HEADERS is shorter than its length")?)?);
    let mut transaction = None;
    while !headers.is_empty() {
        let length = headers.len32()?;
        let mut header =
            Reader::new(headers.take(length.checked_sub(4).ok_or("a header is shorter than its length")?)?);
        if header.u16()? == TRANSACTION_HEADER {
            transaction = Some(header.u64()?);
        }
    }
    transaction.ok_or_else(|| "a request has no transaction descriptor header".into())
}

/// Reads an RPC request of one call.
fn read_call(reader: &mut Reader<'_>) -> Result<Body> {
    let length = reader.u16()?;
    let (id, name) = if length == u16::MAX {
        let id = reader.u16()?;
        (id, format!("procedure {id}"))
    } else {
        (0, reader.text(usize::from(length))?)
    };
    if id != EXECUTE_SQL && !is_execute_sql(&name) {
        return Ok(Body::Procedure(name));
    }
    reader.u16()?;
    let mut values = Vec::new();
    while !reader.is_empty() {
        let name = reader.b_varchar()?;
        let status = reader.u8()?;
        if status & 0x01 != 0 {
            return Err("an output parameter, which this server does not have".into());
        }
        let (kind, value) = read_typed(reader)?;
        values.push(Param { name, kind, value });
    }
    let mut values = values.into_iter();
    let sql = statement(values.next(), "statement")?;
    let declared = values.next().map(|param| statement(Some(param), "declaration")).transpose()?.unwrap_or_default();
    let names = declared_names(&declared);
    let mut params: Vec<Param> = values.collect();
    for (param, declared) in params.iter_mut().zip(&names) {
        if param.name.is_empty() {
            param.name.clone_from(declared);
        }
    }
    for param in &mut params {
        if !param.name.starts_with('@') {
            param.name.insert(0, '@');
        }
    }
    if params.len() != names.len() {
        return Err(format!("{} parameters are declared and {} sent", names.len(), params.len()).into());
    }
    Ok(Body::Execute { sql, params })
}

/// Whether a procedure's name is `sp_executesql`, with its schema or without.
fn is_execute_sql(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    last.trim_matches(['[', ']']).eq_ignore_ascii_case("sp_executesql")
}

/// The text in one of the first two parameters.
fn statement(param: Option<Param>, what: &str) -> Result<String> {
    match param.map(|param| param.value) {
        Some(Cell::Utf16(units)) => Ok(String::from_utf16(&units)?),
        Some(Cell::Bytes(bytes)) => Ok(String::from_utf8(bytes)?),
        Some(Cell::Null) => Ok(String::new()),
        _ => Err(format!("sp_executesql without its {what}").into()),
    }
}

/// The names in `@a int, @b decimal(10, 2)`.
fn declared_names(declared: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = declared.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    let name = |part: &str| part.split_whitespace().next().map(ToOwned::to_owned);
    parts.filter_map(name).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failure here is the test's")]
mod tests {
    use super::super::backend::TdsType;
    use super::*;

    fn with_headers(body: &[u8]) -> Vec<u8> {
        let mut data = vec![22, 0, 0, 0, 18, 0, 0, 0, 2, 0];
        data.extend(5_u64.to_le_bytes());
        data.extend([1, 0, 0, 0]);
        data.extend(body);
        data
    }

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    fn nvarchar(text: &str) -> Vec<u8> {
        let mut bytes = vec![0xE7, 0x40, 0x1F, 9, 4, 0xD0, 0, 0x34];
        bytes.extend(u16::try_from(text.len() * 2).unwrap().to_le_bytes());
        bytes.extend(wide(text));
        bytes
    }

    #[test]
    fn a_batch_is_its_text() {
        let message = Message { kind: kind::BATCH, data: with_headers(&wide("SELECT 1")) };
        let request = Request::parse(&message).unwrap();
        assert_eq!(request, Request { transaction: 5, body: Body::Batch("SELECT 1".into()) });
    }

    #[test]
    fn a_call_has_its_statement_and_parameters() {
        let mut body = vec![0xFF, 0xFF, 10, 0, 0, 0, 0, 0];
        body.extend(nvarchar("SELECT @a"));
        body.extend([0, 0]);
        body.extend(nvarchar("@a decimal(3, 1), @b int"));
        body.extend([0, 0, 0x26, 4, 0, 1]);
        body.extend(wide("b"));
        body.extend([0, 0x26, 1, 1, 7]);
        let message = Message { kind: kind::RPC, data: with_headers(&body) };
        let Body::Execute { sql, params } = Request::parse(&message).unwrap().body else { unreachable!() };
        assert_eq!(sql, "SELECT @a");
        assert_eq!(
            params,
            [
                Param { name: "@a".into(), kind: TdsType::Int, value: Cell::Null },
                Param { name: "@b".into(), kind: TdsType::TinyInt, value: Cell::Int(7) },
            ]
        );
    }

    #[test]
    fn other_procedures_are_named() {
        let message = Message { kind: kind::RPC, data: with_headers(&[0xFF, 0xFF, 13, 0, 0, 0]) };
        assert_eq!(Request::parse(&message).unwrap().body, Body::Procedure("procedure 13".into()));
        assert!(is_execute_sql("sys.[sp_ExecuteSQL]"));
    }
}
