//! Tokens of a response ([MS-TDS] 2.2.7).

use super::backend::{Cell, Collation, ColumnInfo, SqlError};
use super::login::Feature;
use super::types::{Plp, put_type_info, put_value};
use super::wire::{put_b_varchar, put_sized, put_us_varchar};
use crate::Result;

const RETURN_STATUS: u8 = 0x79;
const COLUMN_METADATA: u8 = 0x81;
const ERROR: u8 = 0xAA;
const INFO: u8 = 0xAB;
const LOGIN_ACK: u8 = 0xAD;
const FEATURE_ACK: u8 = 0xAE;
const ROW: u8 = 0xD1;
const NBC_ROW: u8 = 0xD2;
const ENVIRONMENT: u8 = 0xE3;

/// The server's name in errors and messages.
const SERVER: &str = "testkit";

/// The three kinds of DONE ([MS-TDS] 2.2.7.6 to 2.2.7.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Of a statement of a batch.
    Batch = 0xFD,
    /// Of a call.
    Procedure = 0xFE,
    /// Of a statement inside a call.
    InProcedure = 0xFF,
}

/// The bits of DONE's status.
pub mod status {
    /// More results follow.
    pub const MORE: u16 = 0x01;
    /// The statement failed.
    pub const ERROR: u16 = 0x02;
    /// The count holds.
    pub const COUNT: u16 = 0x10;
    /// The answer to an attention.
    pub const ATTENTION: u16 = 0x20;
}

/// What ENVCHANGE tells ([MS-TDS] 2.2.7.9).
#[derive(Clone, Copy, Debug)]
pub enum Environment<'a> {
    /// The current database.
    Database(&'a str),
    /// The language.
    Language(&'a str),
    /// The packet size, new and old.
    PacketSize(u32, u32),
    /// The server's collation.
    Collation(Collation),
    /// The client is to go to another host and port, as Azure SQL sends its clients.
    Routing(&'a str, u16),
    /// A transaction has begun.
    Begin(u64),
    /// It is committed.
    Commit(u64),
    /// It is rolled back.
    Rollback(u64),
}

/// Appends ENVCHANGE.
pub fn put_environment(out: &mut Vec<u8>, change: Environment<'_>) -> Result<()> {
    put_sized(out, ENVIRONMENT, |out| {
        match change {
            Environment::Database(name) => {
                out.push(1);
                put_b_varchar(out, name)?;
                put_b_varchar(out, "master")?;
            }
            Environment::Language(name) => {
                out.push(2);
                put_b_varchar(out, name)?;
                out.push(0);
            }
            Environment::PacketSize(new, old) => {
                out.push(4);
                put_b_varchar(out, &new.to_string())?;
                put_b_varchar(out, &old.to_string())?;
            }
            Environment::Collation(collation) => {
                out.extend([7, 5]);
                out.extend(collation.bytes);
                out.push(0);
            }
            Environment::Routing(host, port) => {
                let length = u16::try_from(5 + host.encode_utf16().count() * 2)?;
                out.push(20);
                out.extend(length.to_le_bytes());
                out.push(0);
                out.extend(port.to_le_bytes());
                put_us_varchar(out, host)?;
                out.extend([0, 0]);
            }
            Environment::Begin(id) => {
                out.extend([8, 8]);
                out.extend(id.to_le_bytes());
                out.push(0);
            }
            Environment::Commit(id) => {
                out.extend([9, 0, 8]);
                out.extend(id.to_le_bytes());
            }
            Environment::Rollback(id) => {
                out.extend([10, 0, 8]);
                out.extend(id.to_le_bytes());
            }
        }
        Ok(())
    })
}

/// Appends ERROR.
pub fn put_error(out: &mut Vec<u8>, error: &SqlError) -> Result<()> {
    put_message(out, ERROR, error)
}

/// Appends INFO: a message of class 10 or below.
pub fn put_info(out: &mut Vec<u8>, number: i32, message: &str) -> Result<()> {
    put_message(out, INFO, &SqlError { number, state: 1, class: 0, message: message.to_owned(), line: 1 })
}

fn put_message(out: &mut Vec<u8>, token: u8, error: &SqlError) -> Result<()> {
    put_sized(out, token, |out| {
        out.extend(error.number.to_le_bytes());
        out.extend([error.state, error.class]);
        put_us_varchar(out, &error.message)?;
        put_b_varchar(out, SERVER)?;
        put_b_varchar(out, "")?;
        out.extend(error.line.to_le_bytes());
        Ok(())
    })
}

/// Appends LOGINACK for a TDS version and a server version.
pub fn put_login_ack(out: &mut Vec<u8>, tds_version: u32, version: [u8; 4]) -> Result<()> {
    put_sized(out, LOGIN_ACK, |out| {
        out.push(1);
        out.extend(tds_version.to_be_bytes());
        put_b_varchar(out, "Microsoft SQL Server")?;
        out.extend(version);
        Ok(())
    })
}

/// Appends FEATUREEXTACK, if the client asked for anything.
pub fn put_feature_ack(out: &mut Vec<u8>, features: &[Feature]) {
    if features.is_empty() {
        return;
    }
    out.push(FEATURE_ACK);
    for feature in features {
        match feature {
            Feature::Token(None) => out.extend([2, 0, 0, 0, 0]),
            Feature::Token(Some(nonce)) => {
                out.extend([2, 32, 0, 0, 0]);
                out.extend(nonce);
            }
            Feature::Utf8 => out.extend([0x0A, 1, 0, 0, 0, 1]),
        }
    }
    out.push(0xFF);
}

/// Appends COLMETADATA.
pub fn put_columns(out: &mut Vec<u8>, columns: &[ColumnInfo], default: Collation) -> Result<()> {
    out.push(COLUMN_METADATA);
    out.extend(u16::try_from(columns.len())?.to_le_bytes());
    for column in columns {
        out.extend([0; 4]);
        // Nullable, and whether it can be updated is not known.
        out.extend((u16::from(column.nullable) | 0x08).to_le_bytes());
        put_type_info(out, column, default)?;
        put_b_varchar(out, &column.name)?;
    }
    Ok(())
}

/// Appends a row: ROW, or NBCROW with its bitmap of NULLs.
pub fn put_row(out: &mut Vec<u8>, columns: &[ColumnInfo], cells: &[Cell], compressed: bool, plp: Plp) -> Result<()> {
    if cells.len() != columns.len() {
        return Err(format!("a row has {} values for {} columns", cells.len(), columns.len()).into());
    }
    if compressed {
        out.push(NBC_ROW);
        out.extend(cells.chunks(8).map(|byte| {
            byte.iter().enumerate().fold(0, |bits, (index, cell)| bits | u8::from(*cell == Cell::Null) << index)
        }));
    } else {
        out.push(ROW);
    }
    for (column, cell) in columns.iter().zip(cells) {
        if !(compressed && *cell == Cell::Null) {
            put_value(out, column, cell, plp).map_err(|error| format!("column {:?}: {error}", column.name))?;
        }
    }
    Ok(())
}

/// Appends a kind of DONE; the count is told only when there is one.
pub fn put_done(out: &mut Vec<u8>, done: Done, status: u16, count: Option<u64>) {
    /// `CurCmd` of SELECT.
    const SELECT: u16 = 0xC1;
    let status = if count.is_some() { status | status::COUNT } else { status };
    out.push(done as u8);
    out.extend(status.to_le_bytes());
    out.extend((if count.is_some() { SELECT } else { 0 }).to_le_bytes());
    out.extend(count.unwrap_or_default().to_le_bytes());
}

/// Appends RETURNSTATUS of a call.
pub fn put_return_status(out: &mut Vec<u8>, value: i32) {
    out.push(RETURN_STATUS);
    out.extend(value.to_le_bytes());
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failure here is the test's")]
mod tests {
    use super::super::backend::TdsType;
    use super::super::wire::LATIN1_CI_AS;
    use super::*;

    fn column(name: &str) -> ColumnInfo {
        ColumnInfo { name: name.into(), kind: TdsType::TinyInt, nullable: true, collation: None }
    }

    #[test]
    fn columns_and_both_kinds_of_row() {
        let columns = [column("a"), column("b")];
        let mut out = Vec::new();
        put_columns(&mut out, &columns[..1], LATIN1_CI_AS).unwrap();
        assert_eq!(out, [0x81, 1, 0, 0, 0, 0, 0, 9, 0, 0x26, 1, 1, b'a', 0]);
        let cells = [Cell::Null, Cell::Int(5)];
        out.clear();
        put_row(&mut out, &columns, &cells, false, Plp::default()).unwrap();
        assert_eq!(out, [0xD1, 0, 1, 5]);
        out.clear();
        put_row(&mut out, &columns, &cells, true, Plp::default()).unwrap();
        assert_eq!(out, [0xD2, 0b01, 1, 5]);
        assert!(put_row(&mut out, &columns, &cells[..1], true, Plp::default()).is_err());
    }

    #[test]
    fn done_has_its_count_only_when_told() {
        let mut out = Vec::new();
        put_done(&mut out, Done::Batch, status::MORE, Some(3));
        assert_eq!(out, [0xFD, 0x11, 0, 0xC1, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
        out.clear();
        put_done(&mut out, Done::Procedure, status::ERROR, None);
        assert_eq!(out, [0xFE, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn an_error_has_number_class_and_line() {
        let mut out = Vec::new();
        let error = SqlError { number: 208, state: 1, class: 16, message: "m".into(), line: 2 };
        put_error(&mut out, &error).unwrap();
        assert_eq!(out[..11], [0xAA, 30, 0, 208, 0, 0, 0, 1, 16, 1, 0]);
        assert_eq!(out[28..], [0, 2, 0, 0, 0]);
    }
}
