//! Describing a table, view or query: columns, keys, indexes.

use super::{
    failure::failure,
    locator::Target,
    relation::{ColumnFacts, Index, IndexColumn, Relation, TextForm},
    sql,
    types::{affinity, logical},
};
use crate::model::{Column, Error, ErrorKind, KeyCandidate, NameCase, Result, SideRequest, TableSchema};
use rusqlite::{Connection, OptionalExtension};

const DOING: &str = "describing the table";
/// What a query is called in the statements around it.
const QUERY_NAME: &str = "tieout_query";
/// Tables that an error lists.
const LISTED_MAX: usize = 8;
/// Rows that are counted, which takes some milliseconds; of larger tables the number is estimated.
const COUNTED_MAX: u64 = 100_000;
/// Bytes that a row takes at least, for the estimate: a few of its own and those of its place.
const ROW_BYTES_MIN: u64 = 16;
/// Names by which the number of a row can be asked for, unless a column has the name.
const ROWID_NAMES: [&str; 3] = ["rowid", "_rowid_", "oid"];

fn failed(error: &rusqlite::Error) -> Error {
    failure(DOING, error)
}

/// Describes what `target` and `request` name.
///
/// # Errors
/// `Schema` if there is no such table, or the filter or the query does not fit it.
pub(super) fn describe(connection: &Connection, target: &Target, request: &SideRequest) -> Result<Relation> {
    let mut relation = match (&request.query, &target.table) {
        (Some(query), _) => describe_query(connection, target, query)?,
        (None, Some(table)) => describe_table(connection, target, table)?,
        (None, None) => return Err(Error::internal("describing a table: there is neither a table nor a query")),
    };
    if let Some(filter) = &request.filter {
        connection
            .prepare(&format!("SELECT 1 FROM {} WHERE ({filter}\n)", relation.from))
            .map_err(|error| failure("reading the filter", &error))?;
    }
    relation.filter.clone_from(&request.filter);
    check_views(connection, target, request)?;
    Ok(relation)
}

fn text_form(connection: &Connection) -> Result<TextForm> {
    let name: String = connection.query_row("PRAGMA encoding", [], |row| row.get(0)).map_err(|error| failed(&error))?;
    match name.as_str() {
        "UTF-8" => Ok(TextForm::Utf8),
        "UTF-16le" => Ok(TextForm::Utf16Le),
        "UTF-16be" => Ok(TextForm::Utf16Be),
        _ => Err(Error::new(ErrorKind::Unsupported, format!("{DOING}: the encoding {name} is not known"))),
    }
}

fn describe_query(connection: &Connection, target: &Target, query: &str) -> Result<Relation> {
    let qualifier = sql::name(QUERY_NAME);
    let from = format!("({query}\n) AS {qualifier}");
    let statement =
        connection.prepare(&format!("SELECT * FROM {from}")).map_err(|error| failure("reading the query", &error))?;
    let (mut columns, mut facts) = (Vec::new(), Vec::new());
    for found in statement.columns() {
        let declared = found.decl_type().unwrap_or_default();
        columns.push(column(found.name().to_owned(), declared, false, true, false));
        facts.push(ColumnFacts { affinity: affinity(declared, false), is_rowid: false });
    }
    Ok(Relation {
        schema: schema(target.display(), columns),
        from,
        qualifier,
        filter: None,
        columns: facts,
        indexes: Vec::new(),
        rowid: None,
        rowids: None,
        rows: None,
        text: text_form(connection)?,
    })
}

/// Checks that no view that is read answers each read anew (a clock, chance), whatever views it reads itself.
fn check_views(connection: &Connection, target: &Target, request: &SideRequest) -> Result<()> {
    let mut statement = connection
        .prepare("SELECT name, sql FROM main.sqlite_schema WHERE type = 'view'")
        .map_err(|error| failed(&error))?;
    let views: Vec<(String, String)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .and_then(Iterator::collect)
        .map_err(|error| failed(&error))?;
    let named = target.table.iter().chain(&request.filter).chain(&request.query);
    let mut texts: Vec<String> = named.cloned().collect();
    let mut seen = vec![false; views.len()];
    while let Some(text) = texts.pop() {
        for ((name, definition), seen) in views.iter().zip(&mut seen) {
            if !*seen && sql::mentions(&text, name) {
                *seen = true;
                sql::check_fragment(&format!("view {name}"), definition)?;
                texts.push(definition.clone());
            }
        }
    }
    Ok(())
}

fn schema(display: String, columns: Vec<Column>) -> TableSchema {
    TableSchema {
        display,
        columns,
        keys: Vec::new(),
        name_case: NameCase::Insensitive,
        rows_estimate: None,
        bytes_estimate: None,
    }
}

fn column(name: String, declared: &str, strict: bool, nullable: bool, hidden: bool) -> Column {
    let native = if declared.is_empty() { "no declared type".to_owned() } else { declared.to_owned() };
    Column { name, native, logical: logical(declared, strict), nullable, hidden, collation: None }
}

/// A table as the schema lists it.
struct Listed {
    name: String,
    kind: String,
    without_rowid: bool,
    strict: bool,
}

fn find(connection: &Connection, table: &str) -> Result<Listed> {
    let found = connection
        .query_row(
            "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main' AND name = ?1 COLLATE NOCASE",
            [table],
            |row| Ok(Listed { name: row.get(0)?, kind: row.get(1)?, without_rowid: row.get(2)?, strict: row.get(3)? }),
        )
        .optional()
        .map_err(|error| failed(&error))?;
    if let Some(found) = found {
        return Ok(found);
    }
    let mut statement = connection
        .prepare(
            "SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite@_%' ESCAPE '@' \
             ORDER BY name",
        )
        .map_err(|error| failed(&error))?;
    let names: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .and_then(|rows| rows.take(LISTED_MAX + 1).collect())
        .map_err(|error| failed(&error))?;
    let error = Error::new(ErrorKind::Schema, format!("{DOING}: there is no table or view {table} in the database"));
    Err(match names.as_slice() {
        [] => error.hint("the database holds no tables"),
        names if names.len() > LISTED_MAX => {
            error.hint(format!("it holds {} and others", names[..LISTED_MAX].join(", ")))
        }
        names => error.hint(format!("it holds {}", names.join(", "))),
    })
}

/// A column as the schema lists it.
struct ListedColumn {
    name: String,
    declared: String,
    not_null: bool,
    /// Place in the primary key, from 1; 0 outside of it.
    key_place: usize,
    /// 1 hidden, 2 and 3 generated.
    hidden: i64,
}

fn list_columns(connection: &Connection, table: &str) -> Result<Vec<ListedColumn>> {
    let mut statement = connection
        .prepare("SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?1, 'main') ORDER BY cid")
        .map_err(|error| failed(&error))?;
    statement
        .query_map([table], |row| {
            Ok(ListedColumn {
                name: row.get(0)?,
                declared: row.get(1)?,
                not_null: row.get(2)?,
                key_place: row.get(3)?,
                hidden: row.get(4)?,
            })
        })
        .and_then(Iterator::collect)
        .map_err(|error| failed(&error))
}

/// An index as the schema lists it.
struct ListedIndex {
    name: String,
    unique: bool,
    primary: bool,
    columns: Vec<IndexColumn>,
}

/// The indexes over all rows.
fn list_indexes(connection: &Connection, table: &str) -> Result<Vec<ListedIndex>> {
    let mut statement = connection
        .prepare(
            "SELECT name, \"unique\", origin FROM pragma_index_list(?1, 'main') WHERE NOT partial ORDER BY seq DESC",
        )
        .map_err(|error| failed(&error))?;
    let mut indexes: Vec<ListedIndex> = statement
        .query_map([table], |row| {
            let primary = row.get::<_, String>(2)? == "pk";
            Ok(ListedIndex { name: row.get(0)?, unique: row.get(1)?, primary, columns: Vec::new() })
        })
        .and_then(Iterator::collect)
        .map_err(|error| failed(&error))?;
    let mut statement = connection
        .prepare("SELECT cid, name, \"desc\", coll FROM pragma_index_xinfo(?1, 'main') WHERE \"key\" ORDER BY seqno")
        .map_err(|error| failed(&error))?;
    for index in &mut indexes {
        index.columns = statement
            .query_map([&index.name], |row| {
                let is_column = row.get::<_, i64>(0)? >= 0;
                let name: Option<String> = row.get(1)?;
                let collation: Option<String> = row.get(3)?;
                Ok(IndexColumn {
                    name: name.filter(|_| is_column),
                    descending: row.get(2)?,
                    binary: collation.is_some_and(|collation| collation.eq_ignore_ascii_case("BINARY")),
                })
            })
            .and_then(Iterator::collect)
            .map_err(|error| failed(&error))?;
    }
    Ok(indexes)
}

fn describe_table(connection: &Connection, target: &Target, table: &str) -> Result<Relation> {
    let listed = find(connection, table)?;
    let listed_columns = list_columns(connection, &listed.name)?;
    if listed_columns.is_empty() {
        return Err(Error::new(ErrorKind::Schema, format!("{DOING}: {} has no columns", listed.name)));
    }
    let indexes = list_indexes(connection, &listed.name)?;
    let is_table = listed.kind == "table" || listed.kind == "shadow";
    let qualifier = sql::name(&listed.name);
    let from = format!("main.{qualifier}");
    let primary = primary_key(&listed_columns);
    // The primary key is the number of the row itself where it is one column and has no index of its own.
    let alias = match primary.as_slice() {
        [one] if is_table && !listed.without_rowid && !indexes.iter().any(|index| index.primary) => Some(*one),
        _ => None,
    };
    let mut without_null: Vec<bool> = listed_columns
        .iter()
        .enumerate()
        .map(|(at, column)| is_table && column.not_null || alias == Some(at))
        .collect();
    // A primary key of a table with row numbers may hold NULL; whether it does is asked once, in the frozen state.
    if is_table
        && !primary.iter().all(|at| without_null[*at])
        && lacks_null(connection, &from, &listed_columns, &primary)?
    {
        for at in &primary {
            without_null[*at] = true;
        }
    }
    let (mut columns, mut facts) = (Vec::new(), Vec::new());
    for (at, found) in listed_columns.iter().enumerate() {
        columns.push(column(found.name.clone(), &found.declared, listed.strict, !without_null[at], found.hidden == 1));
        facts.push(ColumnFacts { affinity: affinity(&found.declared, listed.strict), is_rowid: alias == Some(at) });
    }
    let mut schema = schema(target.display(), columns);
    schema.keys = keys(&schema.columns, &primary, &indexes);
    let is_taken = |name: &str| listed_columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    let rowid = ROWID_NAMES.into_iter().find(|name| !is_taken(name)).map(str::to_owned);
    // A column that is the number of the row has its values under any name.
    let rowid = rowid.filter(|_| is_table && !listed.without_rowid);
    let rowids = match &rowid {
        Some(rowid) => rowid_span(connection, &from, rowid)?,
        None => None,
    };
    let rows = if is_table { small_count(connection, &from)? } else { None };
    schema.rows_estimate = match rows {
        Some(rows) => Some(rows),
        None => rows_estimate(connection, &listed.name, rowids)?,
    };
    schema.bytes_estimate = bytes_estimate(connection, is_table)?;
    let indexes = indexes.into_iter().map(|index| Index { name: index.name, columns: index.columns }).collect();
    Ok(Relation {
        schema,
        from,
        qualifier,
        filter: None,
        columns: facts,
        indexes: if is_table { indexes } else { Vec::new() },
        rowid,
        rowids,
        rows,
        text: text_form(connection)?,
    })
}

/// Places of the primary key's columns, in the order of the key.
fn primary_key(columns: &[ListedColumn]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..columns.len()).filter(|at| columns[*at].key_place > 0).collect();
    places.sort_by_key(|at| columns[*at].key_place);
    places
}

/// Whether no row holds NULL in one of these columns.
fn lacks_null(connection: &Connection, from: &str, columns: &[ListedColumn], places: &[usize]) -> Result<bool> {
    for place in places {
        let column = sql::name(&columns[*place].name);
        let found: bool = connection
            .query_row(&format!("SELECT EXISTS (SELECT 1 FROM {from} WHERE {column} IS NULL)"), [], |row| row.get(0))
            .map_err(|error| failed(&error))?;
        if found {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What is unique and holds no NULL: the primary key, then unique indexes on plain columns.
fn keys(columns: &[Column], primary: &[usize], indexes: &[ListedIndex]) -> Vec<KeyCandidate> {
    let mut keys = Vec::new();
    let holds_null = |name: &str| columns.iter().any(|column| column.name == name && column.nullable);
    let mut add = |origin: String, names: Vec<String>| {
        if !names.is_empty() && !names.iter().any(|name| holds_null(name)) {
            keys.push(KeyCandidate { origin, columns: names });
        }
    };
    add("primary key".to_owned(), primary.iter().map(|at| columns[*at].name.clone()).collect());
    for index in indexes.iter().filter(|index| index.unique && !index.primary) {
        let names: Option<Vec<String>> = index.columns.iter().map(|column| column.name.clone()).collect();
        if let Some(names) = names {
            add(format!("unique index {}", index.name), names);
        }
    }
    keys
}

fn rowid_span(connection: &Connection, from: &str, rowid: &str) -> Result<Option<(i64, i64)>> {
    // Two descents; one query for both would read the table.
    connection
        .query_row(&format!("SELECT (SELECT min({rowid}) FROM {from}), (SELECT max({rowid}) FROM {from})"), [], |row| {
            Ok(row.get::<_, Option<i64>>(0)?.zip(row.get::<_, Option<i64>>(1)?))
        })
        .map_err(|error| failed(&error))
}

/// The number of rows, if it is small.
fn small_count(connection: &Connection, from: &str) -> Result<Option<u64>> {
    let sql = format!("SELECT count(*) FROM (SELECT 1 FROM {from} LIMIT {})", COUNTED_MAX + 1);
    let rows: u64 = connection.query_row(&sql, [], |row| row.get(0)).map_err(|error| failed(&error))?;
    Ok((rows <= COUNTED_MAX).then_some(rows))
}

/// Rows as ANALYZE last counted them, else as many as there are numbers between the first and the last one, but no more
/// than the file has room for.
fn rows_estimate(connection: &Connection, table: &str, rowids: Option<(i64, i64)>) -> Result<Option<u64>> {
    let analysed: bool = connection
        .query_row("SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE name = 'sqlite_stat1')", [], |row| row.get(0))
        .map_err(|error| failed(&error))?;
    if analysed {
        let mut statement = connection
            .prepare("SELECT CAST(stat AS TEXT) FROM main.sqlite_stat1 WHERE tbl = ?1 AND stat IS NOT NULL")
            .map_err(|error| failed(&error))?;
        let stats: Vec<String> = statement
            .query_map([table], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(|error| failed(&error))?;
        // A partial index counts its own rows: the largest number is that of the table.
        let counted = stats.iter().filter_map(|stat| stat.split(' ').next()?.parse::<u64>().ok()).max();
        if counted.is_some() {
            return Ok(counted);
        }
    }
    let room = file_bytes(connection)?.div_ceil(ROW_BYTES_MIN);
    Ok(rowids.map(|(low, high)| high.abs_diff(low).saturating_add(1).min(room)))
}

fn file_bytes(connection: &Connection) -> Result<u64> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, u64>(0)).map_err(|error| failed(&error));
    Ok(number("PRAGMA page_count")?.saturating_mul(number("PRAGMA page_size")?))
}

/// The size of the database, if the table is all that it holds.
fn bytes_estimate(connection: &Connection, is_table: bool) -> Result<Option<u64>> {
    let tables: u64 = connection
        .query_row(
            "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@'",
            [],
            |row| row.get(0),
        )
        .map_err(|error| failed(&error))?;
    if is_table && tables == 1 { file_bytes(connection).map(Some) } else { Ok(None) }
}
