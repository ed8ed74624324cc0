//! The standard table in MySQL and MariaDB, by INSERTs of many rows.

use std::fmt::Write as _;

use mysql_async::prelude::Queryable;

use crate::Result;
use crate::table::{Row, Side, standard_rows};
use crate::write::{amount_text, day_text, moment_text};

/// Bytes of an INSERT: below the smallest packet that servers take by default, and few statements all the same.
const INSERT_BYTES: usize = 1 << 20;

/// Makes the table at a URL such as `mysql://root@127.0.0.1:3306/test` and loads it. Moments are `datetime(6)` in UTC,
/// since `timestamp` ends in 2038; UUIDs are `binary(16)`, which all servers have.
pub async fn load_mysql(url: &str, table: &str, seed: u64, rows: u64, side: Side) -> Result<()> {
    let mut connection = mysql_async::Conn::new(mysql_async::Opts::from_url(url)?).await?;
    connection.query_drop("SET NAMES utf8mb4, sql_mode = 'STRICT_ALL_TABLES'").await?;
    connection
        .query_drop(format!(
            "CREATE TABLE {table} (id bigint NOT NULL PRIMARY KEY, quantity int NOT NULL, name varchar(100) NOT NULL, \
             note varchar(100), amount decimal(12,2) NOT NULL, status int NOT NULL, score double NOT NULL, \
             created_at datetime(6) NOT NULL, day date NOT NULL, code varchar(20) NOT NULL, \
             reference binary(16) NOT NULL, active tinyint(1) NOT NULL) CHARACTER SET utf8mb4 ENGINE=InnoDB"
        ))
        .await?;
    connection.query_drop("BEGIN").await?;
    let mut insert = String::new();
    for row in standard_rows(seed, rows, side) {
        insert.push_str(if insert.is_empty() { "INSERT INTO " } else { "," });
        if insert.ends_with("INTO ") {
            write!(insert, "{table} VALUES ")?;
        }
        push_row(&mut insert, &row)?;
        if insert.len() >= INSERT_BYTES {
            connection.query_drop(std::mem::take(&mut insert)).await?;
        }
    }
    if !insert.is_empty() {
        connection.query_drop(insert).await?;
    }
    connection.query_drop("COMMIT").await?;
    connection.query_drop(format!("ANALYZE TABLE {table}")).await?;
    connection.disconnect().await?;
    Ok(())
}

fn push_row(out: &mut String, row: &Row) -> Result<()> {
    let moment = moment_text(row.created_at);
    write!(out, "({},{},", row.id, row.quantity)?;
    push_text(out, Some(&row.name))?;
    out.push(',');
    push_text(out, row.note.as_deref())?;
    write!(out, ",{},{},{:e},", amount_text(row.amount_cents), row.status, row.score)?;
    write!(out, "'{}','{}',", moment.trim_end_matches("+00"), day_text(i64::from(row.day)))?;
    push_text(out, Some(&row.code))?;
    write!(out, ",x'{:032x}',{})", u128::from_be_bytes(row.reference), u8::from(row.active))?;
    Ok(())
}

/// A literal that means the same under every setting.
fn push_text(out: &mut String, text: Option<&str>) -> Result<()> {
    let Some(text) = text else {
        out.push_str("NULL");
        return Ok(());
    };
    out.push_str("_utf8mb4 x'");
    for byte in text.bytes() {
        write!(out, "{byte:02x}")?;
    }
    out.push('\'');
    Ok(())
}
