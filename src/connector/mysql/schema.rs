//! Finding a table, and describing it: columns, keys, indexes and estimates from `information_schema`.

use super::{
    connection::{Session, is_exactly},
    failure::failure,
    locator::Settings,
    position::Server,
    relation::{Index, Relation, RowSource},
    sql,
    types::{Declared, TextColumn, TextKind, Wire, wire},
};
use crate::model::{Column, Error, ErrorKind, KeyCandidate, NameCase, Result, SideRequest, TableSchema};
use mysql_async::{
    consts::{ColumnFlags, ColumnType},
    prelude::Queryable,
};

/// Near names that a message lists at most.
const NEAR_NAMES: usize = 5;
/// Number of the character set `binary` in the protocol.
const BINARY_CHARSET: u16 = 63;
/// Name of a query of the user.
const QUERY: &str = "tieout_query";
/// Last seconds of `timestamp`: 2038-01-19 03:14:07 and, in MariaDB since 11.5, 2106-02-07 06:28:15.
const TIMESTAMP_MAX: i64 = 2_147_483_647;
const TIMESTAMP_MAX_LATER: i64 = 4_294_967_295;

const DOING: &str = "describing the table";

/// What is to be read, found but not yet frozen.
pub(super) struct Target {
    /// As a person would write it.
    pub(super) display: String,
    pub(super) kind: Kind,
}

/// What a target is.
pub(super) enum Kind {
    /// A table.
    Table { database: String, table: String, engine: String },
    /// A view.
    View { database: String, table: String },
    /// A query of the user.
    Query(String),
}

impl Target {
    /// The FROM item.
    pub(super) fn from(&self) -> String {
        match &self.kind {
            Kind::Table { database, table, .. } | Kind::View { database, table } => {
                format!("{}.{}", sql::name(database), sql::name(table))
            }
            Kind::Query(text) => format!("({text}\n) AS {QUERY}"),
        }
    }
}

/// Finds the table that the locator names, or takes the query of the request.
pub(super) async fn find(control: &mut Session, settings: &Settings, request: &SideRequest) -> Result<Target> {
    if let Some(text) = &request.query {
        return Ok(Target { display: "query".to_owned(), kind: Kind::Query(text.clone()) });
    }
    let Some(name) = &settings.table else {
        return Err(Error::new(ErrorKind::Config, "looking for the table: the locator names none")
            .hint("add #table or #database.table to the locator, or give a query"));
    };
    let Some(database) = name.database.as_ref().or(settings.database.as_ref()) else {
        return Err(Error::new(ErrorKind::Config, "looking for the table: the locator names no database")
            .hint("write mysql://user@host:port/database#table"));
    };
    let rows = control
        .rows(
            "looking for the table",
            &format!(
                "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, COALESCE(ENGINE, ''), @@lower_case_table_names \
                 FROM information_schema.TABLES WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {}",
                sql::text(database),
                sql::text(&name.table)
            ),
        )
        .await?;
    // The catalog compares without case; whether names do is up to the server.
    let exact = rows.iter().find(|row| row.text(1) == Some(name.table.as_str()) && row.text(0) == Some(database));
    let folded = rows.iter().find(|row| row.text(4) != Some("0"));
    let Some(row) = exact.or(folded) else { return Err(not_found(control, database, &name.table).await?) };
    let (database, table, engine) = (row.owned(0), row.owned(1), row.owned(3));
    let display = format!("{database}.{table}");
    let kind = match row.text(2).unwrap_or_default() {
        "VIEW" | "SYSTEM VIEW" => Kind::View { database, table },
        // A sequence changes outside of every transaction.
        "SEQUENCE" => Kind::Table { database, table, engine: "SEQUENCE".to_owned() },
        _ => Kind::Table { database, table, engine },
    };
    Ok(Target { display, kind })
}

async fn not_found(control: &mut Session, database: &str, table: &str) -> Result<Error> {
    let wanted = sql::text(&table.to_lowercase());
    let rows = control
        .rows(
            "looking for the table",
            &format!(
                "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = {} \
                 ORDER BY LOWER(TABLE_NAME) <> {wanted}, LOCATE({wanted}, LOWER(TABLE_NAME)) = 0 \
                 AND LOCATE(LOWER(TABLE_NAME), {wanted}) = 0, LEFT(LOWER(TABLE_NAME), 1) <> LEFT({wanted}, 1), \
                 ABS(CHAR_LENGTH(TABLE_NAME) - CHAR_LENGTH({wanted})), TABLE_NAME LIMIT {NEAR_NAMES}",
                sql::text(database),
            ),
        )
        .await?;
    let near: Vec<String> = rows.iter().map(|row| row.owned(0)).collect();
    let error = Error::new(ErrorKind::Schema, format!("looking for the table: {table} does not exist in {database}"));
    Ok(if near.is_empty() {
        error.hint("this user sees no table at all in this database")
    } else {
        error.hint(format!("near names: {}", near.join(", ")))
    })
}

/// A column as it was found.
struct Described {
    name: String,
    native: String,
    wire: Wire,
    nullable: bool,
    hidden: bool,
    collation: Option<String>,
}

/// Describes the target. Its table is held, so that nothing of it changes any more.
pub(super) async fn describe(
    control: &mut Session,
    server: &Server,
    target: &Target,
    request: &SideRequest,
) -> Result<Relation> {
    let filter = request.filter.clone();
    let (columns, qualifier) = match &target.kind {
        Kind::Query(text) => (query_columns(control, text).await?, QUERY.to_owned()),
        Kind::Table { database, table, .. } | Kind::View { database, table } => {
            (table_columns(control, database, table).await?, target.from())
        }
    };
    let is_table = matches!(target.kind, Kind::Table { .. });
    let mut schema = TableSchema {
        display: target.display.clone(),
        columns: columns
            .iter()
            .map(|column| Column {
                name: column.name.clone(),
                native: column.native.clone(),
                logical: column.wire.logical(),
                // What the catalog says of a view need not hold (outer joins).
                nullable: column.nullable || !is_table,
                hidden: column.hidden,
                collation: column.collation.clone(),
            })
            .collect(),
        keys: Vec::new(),
        name_case: NameCase::Insensitive,
        rows_estimate: None,
        bytes_estimate: None,
    };
    let mut indexes = Vec::new();
    if let Kind::Table { database, table, .. } = &target.kind {
        indexes = table_indexes(control, database, table, &mut schema).await?;
        estimates(control, database, table, &mut schema).await?;
    }
    let relation = Relation {
        schema,
        source: RowSource { from: target.from(), qualifier, filter, is_table },
        wires: columns.into_iter().map(|column| column.wire).collect(),
        indexes,
        single: None,
        timestamp_max: if server.mariadb && server.numbers() >= (11, 5) { TIMESTAMP_MAX_LATER } else { TIMESTAMP_MAX },
    };
    // Runs nothing over rows, but checks permissions and the filter.
    let probe = format!("SELECT 1 FROM {}{} LIMIT 0", relation.source.from, relation.condition(None));
    control.run("preparing to read the table", &probe).await?;
    Ok(relation)
}

fn at_table(database: &str, table: &str) -> String {
    format!(
        "TABLE_SCHEMA = {} AND TABLE_NAME = {} AND {} AND {}",
        sql::text(database),
        sql::text(table),
        is_exactly("TABLE_SCHEMA", database),
        is_exactly("TABLE_NAME", table)
    )
}

/// Columns that a check of their own demands to be JSON: what MariaDB makes of the type.
async fn json_columns(control: &mut Session, database: &str, table: &str) -> Result<Vec<String>> {
    let has = control
        .rows(
            DOING,
            "SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'information_schema' \
             AND TABLE_NAME = 'CHECK_CONSTRAINTS' AND COLUMN_NAME = 'LEVEL'",
        )
        .await?;
    if has.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE \
         CONSTRAINT_SCHEMA = {} AND TABLE_NAME = {} AND {} AND {} AND LEVEL = 'Column'",
        sql::text(database),
        sql::text(table),
        is_exactly("CONSTRAINT_SCHEMA", database),
        is_exactly("TABLE_NAME", table)
    );
    let rows = control.rows(DOING, &sql).await?;
    let checked = |row: &super::connection::TextRow| {
        let name = row.owned(0);
        let wanted = format!("json_valid({})", sql::name(&name));
        (row.owned(1).eq_ignore_ascii_case(&wanted)).then_some(name)
    };
    Ok(rows.iter().filter_map(checked).collect())
}

async fn table_columns(control: &mut Session, database: &str, table: &str) -> Result<Vec<Described>> {
    let json = json_columns(control, database, table).await?;
    let sql = format!(
        "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, CHARACTER_SET_NAME, COLLATION_NAME, \
         NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, EXTRA FROM information_schema.COLUMNS \
         WHERE {} ORDER BY ORDINAL_POSITION",
        at_table(database, table)
    );
    let rows = control.rows(DOING, &sql).await?;
    let mut columns = Vec::with_capacity(rows.len());
    for row in &rows {
        let name = row.owned(0);
        let declared = Declared {
            data_type: row.owned(1),
            column_type: row.owned(2),
            charset: row.text(4).map(str::to_owned),
            collation: row.text(5).map(str::to_owned),
            precision: row.number(6),
            scale: row.number(7),
            digits: row.number(8),
            json: json.contains(&name),
        };
        let wire = wire(&declared);
        let native = if declared.json { "json".to_owned() } else { declared.column_type.clone() };
        columns.push(Described {
            nullable: row.text(3) != Some("NO"),
            hidden: row.owned(9).to_uppercase().contains("INVISIBLE"),
            collation: declared.collation.clone(),
            name,
            native,
            wire,
        });
    }
    if columns.is_empty() {
        return Err(Error::new(ErrorKind::Permission, format!("{DOING}: this user sees no column of it"))
            .hint("grant SELECT on the table"));
    }
    Ok(columns)
}

/// The columns of a query, by what the protocol says of them; character sets by a question of their own.
async fn query_columns(control: &mut Session, text: &str) -> Result<Vec<Described>> {
    const DOING: &str = "describing the query";
    let failed = |error: mysql_async::Error| failure(DOING, &error);
    let from = format!("({text}\n) AS {QUERY}");
    let statement = control.conn.prep(format!("SELECT * FROM {from} LIMIT 0")).await.map_err(failed)?;
    let mut columns: Vec<Described> = Vec::new();
    for column in &*statement.columns() {
        let name = column.name_str().into_owned();
        if columns.iter().any(|other| other.name.eq_ignore_ascii_case(&name)) {
            return Err(Error::new(ErrorKind::Schema, format!("{DOING}: the column name `{name}` occurs twice"))
                .hint("name the columns apart with AS"));
        }
        let (native, wire) = protocol_type(column);
        columns.push(Described { name, native, wire, nullable: true, hidden: false, collation: None });
    }
    control.conn.close(statement).await.map_err(failed)?;
    for column in &mut columns {
        let Wire::Text(text) = &mut column.wire else { continue };
        // A query without a row, as a value: NULL, but of the column's character set.
        let value = format!("(SELECT {} FROM {from} LIMIT 0)", sql::name(&column.name));
        let rows = control.rows(DOING, &format!("SELECT CHARSET({value}), COLLATION({value})")).await?;
        if let Some(row) = rows.first() {
            text.charset = row.owned(0);
            text.collation = row.owned(1);
            column.collation = Some(text.collation.clone());
        }
    }
    Ok(columns)
}

/// What the protocol says of a column of a query. MariaDB's uuid and inet types are text there.
fn protocol_type(column: &mysql_async::Column) -> (String, Wire) {
    let flags = column.flags();
    let signed = !flags.contains(ColumnFlags::UNSIGNED_FLAG);
    let int =
        |name: &str, bits| (format!("{name}{}", if signed { "" } else { " unsigned" }), Wire::Int { bits, signed });
    let digits = if column.decimals() > 6 { 6 } else { column.decimals() };
    let binary = column.character_set() == BINARY_CHARSET;
    let text = |kind| Wire::Text(TextColumn { kind, charset: String::new(), collation: String::new() });
    let named = |name: &str, wire| (name.to_owned(), wire);
    match column.column_type() {
        ColumnType::MYSQL_TYPE_TINY => int("tinyint", 8),
        ColumnType::MYSQL_TYPE_SHORT => int("smallint", 16),
        ColumnType::MYSQL_TYPE_INT24 => int("mediumint", 24),
        ColumnType::MYSQL_TYPE_LONG => int("int", 32),
        ColumnType::MYSQL_TYPE_LONGLONG => int("bigint", 64),
        ColumnType::MYSQL_TYPE_YEAR => named("year", Wire::Year),
        ColumnType::MYSQL_TYPE_BIT => named("bit", Wire::Bit(column.column_length())),
        ColumnType::MYSQL_TYPE_NEWDECIMAL | ColumnType::MYSQL_TYPE_DECIMAL => {
            named("decimal", Wire::Decimal { precision: 65, scale: u32::from(column.decimals()) })
        }
        ColumnType::MYSQL_TYPE_FLOAT => named("float", Wire::Float),
        ColumnType::MYSQL_TYPE_DOUBLE => named("double", Wire::Double),
        ColumnType::MYSQL_TYPE_DATE | ColumnType::MYSQL_TYPE_NEWDATE => named("date", Wire::Date),
        ColumnType::MYSQL_TYPE_DATETIME | ColumnType::MYSQL_TYPE_DATETIME2 => named("datetime", Wire::DateTime(digits)),
        ColumnType::MYSQL_TYPE_TIMESTAMP | ColumnType::MYSQL_TYPE_TIMESTAMP2 => {
            named("timestamp", Wire::Timestamp(digits))
        }
        ColumnType::MYSQL_TYPE_TIME | ColumnType::MYSQL_TYPE_TIME2 => named("time", Wire::Time(digits)),
        ColumnType::MYSQL_TYPE_JSON => named("json", Wire::Json { charset: "utf8mb4".to_owned() }),
        ColumnType::MYSQL_TYPE_GEOMETRY => named("geometry", Wire::Geometry),
        _ if flags.contains(ColumnFlags::ENUM_FLAG) => named("enum", text(TextKind::Enum)),
        _ if flags.contains(ColumnFlags::SET_FLAG) => named("set", text(TextKind::Set)),
        ColumnType::MYSQL_TYPE_STRING if binary => named("binary", Wire::Binary { blob: false, labels: false }),
        ColumnType::MYSQL_TYPE_STRING => named("char", text(TextKind::Char)),
        ColumnType::MYSQL_TYPE_VARCHAR | ColumnType::MYSQL_TYPE_VAR_STRING if binary => {
            named("varbinary", Wire::Binary { blob: false, labels: false })
        }
        ColumnType::MYSQL_TYPE_VARCHAR | ColumnType::MYSQL_TYPE_VAR_STRING => named("varchar", text(TextKind::Varchar)),
        ColumnType::MYSQL_TYPE_TINY_BLOB
        | ColumnType::MYSQL_TYPE_BLOB
        | ColumnType::MYSQL_TYPE_MEDIUM_BLOB
        | ColumnType::MYSQL_TYPE_LONG_BLOB => {
            if binary {
                named("blob", Wire::Binary { blob: true, labels: false })
            } else {
                named("text", text(TextKind::Text))
            }
        }
        ColumnType::MYSQL_TYPE_NULL => named("null", text(TextKind::Varchar)),
        other => {
            let name = format!("{other:?}").trim_start_matches("MYSQL_TYPE_").to_lowercase();
            let reason = format!("the type {name} is not read");
            (name, Wire::Unsupported(reason))
        }
    }
}

/// The indexes that may serve an order. Adds the unique ones to the keys of the schema.
async fn table_indexes(
    control: &mut Session,
    database: &str,
    table: &str,
    schema: &mut TableSchema,
) -> Result<Vec<Index>> {
    // MariaDB says IGNORED, MySQL IS_VISIBLE, older servers neither.
    let columns = "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'information_schema' AND \
                   TABLE_NAME = 'STATISTICS' AND COLUMN_NAME IN ('IGNORED', 'IS_VISIBLE')";
    let usable = match control.text(DOING, columns).await?.as_deref() {
        Some("IGNORED") => "IGNORED <> 'YES'",
        Some("IS_VISIBLE") => "IS_VISIBLE = 'YES'",
        _ => "1",
    };
    let sql = format!(
        "SELECT INDEX_NAME, NON_UNIQUE, COALESCE(COLUMN_NAME, ''), COALESCE(SUB_PART, ''), COALESCE(COLLATION, ''), \
         INDEX_TYPE, {usable}, SEQ_IN_INDEX FROM information_schema.STATISTICS WHERE {} \
         ORDER BY INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX",
        at_table(database, table)
    );
    let rows = control.rows(DOING, &sql).await?;
    let mut list: Vec<Index> = Vec::new();
    let mut keys: Vec<KeyCandidate> = Vec::new();
    let mut names: Vec<String> = rows.iter().map(|row| row.owned(0)).collect();
    names.dedup();
    for name in names {
        let parts: Vec<_> = rows.iter().filter(|row| row.text(0) == Some(name.as_str())).collect();
        // A part of a column (a prefix), an expression or a descending column serves no order here; a prefix that is
        // unique makes the column no key either.
        let place = |row: &&super::connection::TextRow| {
            let column = row.text(2).filter(|column| !column.is_empty() && row.text(3) == Some(""))?;
            schema.columns.iter().position(|known| known.name.eq_ignore_ascii_case(column))
        };
        let Some(places) = parts.iter().map(place).collect::<Option<Vec<usize>>>() else { continue };
        let unique = parts.first().is_some_and(|row| row.text(1) == Some("0"));
        if unique && places.iter().all(|place| !schema.columns[*place].nullable && !schema.columns[*place].hidden) {
            let origin = if name == "PRIMARY" { "primary key".to_owned() } else { name.clone() };
            let columns = places.iter().map(|place| schema.columns[*place].name.clone()).collect();
            keys.push(KeyCandidate { origin, columns });
        }
        // One that the server ignores cannot be named; what is unique by it is unique all the same.
        let serves = |row: &&super::connection::TextRow| {
            row.text(4) == Some("A") && row.text(5) == Some("BTREE") && row.text(6) == Some("1")
        };
        let ordered = parts.iter().all(serves);
        if ordered {
            list.push(Index { name, columns: places });
        }
    }
    schema.keys = keys;
    Ok(list)
}

async fn estimates(control: &mut Session, database: &str, table: &str, schema: &mut TableSchema) -> Result<()> {
    let sql =
        format!("SELECT TABLE_ROWS, DATA_LENGTH FROM information_schema.TABLES WHERE {}", at_table(database, table));
    let rows = control.rows(DOING, &sql).await?;
    if let Some(row) = rows.first() {
        schema.rows_estimate = row.number(0);
        schema.bytes_estimate = row.number(1);
    }
    Ok(())
}
