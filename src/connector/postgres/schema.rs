//! What a table looks like, from the system catalogs as of the frozen snapshot.

use super::{
    connection::Connection,
    failure::failure,
    locator::{NamePart, Settings},
    position::Lock,
    relation::{ColumnFacts, Index, IndexColumn, Relation, RowSource},
    schema_types::{Described, TypeCatalog},
    sql,
};
use crate::model::{Column, Error, ErrorKind, KeyCandidate, NameCase, Result, SideRequest, TableSchema};
use std::collections::BTreeSet;
use tokio_postgres::{Row, SimpleQueryMessage, types::ToSql};

const DOING: &str = "describing the table";
/// Oldest server that is supported.
const VERSION_MIN: i32 = 120_000;
/// Near names that an unresolved name is answered with, at most.
const NEAR_NAMES: i64 = 5;
/// Bytes of a page; all packaged servers have this size, and it serves for estimates alone.
const PAGE_BYTES: u64 = 8192;

/// One row, if a foreign table is the relation, a partition or child of it, or is read by it as a view: such rows are
/// as little frozen as those of a foreign table. What a view calls stands in its plan alone, and what is pruned there
/// stands here alone.
const FOREIGN: &str = "WITH RECURSIVE part(oid) AS (SELECT $1::oid UNION SELECT below.oid FROM part, LATERAL (\
     SELECT inhrelid AS oid FROM pg_inherits WHERE inhparent = part.oid UNION ALL \
     SELECT d.refobjid FROM pg_rewrite r JOIN pg_class v ON v.oid = r.ev_class JOIN pg_depend d ON d.objid = r.oid \
     WHERE r.ev_class = part.oid AND v.relkind = 'v' AND d.classid = 'pg_rewrite'::regclass \
     AND d.refclassid = 'pg_class'::regclass) below) \
     SELECT FROM part JOIN pg_class c USING (oid) WHERE c.relkind = 'f' LIMIT 1";

/// A table that was found, or a query.
pub(super) struct Target {
    pub(super) display: String,
    pub(super) lock: Lock,
    table: Option<Table>,
}

struct Table {
    oid: u32,
    kind: u8,
    quoted: String,
    /// Whether some of its rows are on another server: read in one statement, since no snapshot covers them.
    foreign: bool,
}

async fn query(connection: &Connection, text: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
    connection.client.query(text, parameters).await.map_err(|error| failure(DOING, &error))
}

/// A column of a catalog row.
pub(super) fn get<'a, T: tokio_postgres::types::FromSql<'a>>(row: &'a Row, index: usize) -> Result<T> {
    row.try_get(index).map_err(|error| failure(DOING, &error))
}

/// Finds the table that the locator names; before the snapshot, so that it can be locked first.
pub(super) async fn find(control: &Connection, settings: &Settings, request: &SideRequest) -> Result<Target> {
    let version = query(control, "SELECT current_setting('server_version_num')::int", &[]).await?;
    let version: i32 = version.first().map_or(Ok(0), |row| get(row, 0))?;
    if version < VERSION_MIN {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!("connecting: expected PostgreSQL 12 or later, found version number {version}"),
        ));
    }
    if let Some(text) = &request.query {
        let lock = query_lock(control, text).await?;
        return Ok(Target { display: "query".to_owned(), lock, table: None });
    }
    let Some(name) = &settings.table else {
        return Err(Error::new(ErrorKind::Config, "reading the locator: it names no table")
            .hint("append #schema.table to the locator"));
    };
    // Names exactly as written come first; a name without quotes may also mean its lower-case form.
    let folded = |part: &NamePart| if part.quoted { part.text.clone() } else { part.text.to_lowercase() };
    let schemas = name.schema.as_ref().map_or_else(Vec::new, |part| vec![part.text.clone(), folded(part)]);
    let tables = [name.table.text.clone(), folded(&name.table)];
    let rows = query(
        control,
        "SELECT c.oid, n.nspname::text, c.relname::text, c.relkind FROM pg_class c \
         JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relname = ANY($1::text[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
         AND CASE WHEN cardinality($2::text[]) > 0 THEN n.nspname = ANY($2::text[]) ELSE pg_table_is_visible(c.oid) END \
         ORDER BY coalesce(n.nspname = ($2::text[])[1], true) DESC, c.relname = ($1::text[])[1] DESC LIMIT 1",
        &[&tables.as_slice(), &schemas],
    )
    .await?;
    let Some(row) = rows.first() else { return Err(not_found(control, settings).await?) };
    let (oid, schema, table): (u32, String, String) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
    let kind = u8::try_from(get::<i8>(row, 3)?).unwrap_or(0);
    let quoted = format!("{}.{}", sql::name(&schema), sql::name(&table));
    let foreign = query(control, FOREIGN, &[&oid]).await?;
    let lock = match kind {
        _ if !foreign.is_empty() => Lock::Foreign,
        b'r' | b'p' => Lock::Table(quoted.clone()),
        b'v' => match query_lock(control, &format!("SELECT * FROM {quoted}")).await? {
            Lock::Foreign => Lock::Foreign,
            _ => Lock::View(quoted.clone()),
        },
        b'm' => Lock::None("materialized view, locked as of the snapshot"),
        _ => Lock::Foreign,
    };
    let display = format!("{schema}.{table}");
    let foreign = matches!(lock, Lock::Foreign);
    Ok(Target { display, lock, table: Some(Table { oid, kind, quoted, foreign }) })
}

/// What a query reads, by its plan: runs nothing, and is over before the frozen transaction begins.
async fn query_lock(control: &Connection, text: &str) -> Result<Lock> {
    let failed = |error| failure("describing the query", &error);
    let explain = format!("EXPLAIN (VERBOSE, FORMAT JSON, COSTS OFF) SELECT * FROM ({text}\n) AS tieout_query");
    let messages = control.client.simple_query(&explain).await.map_err(failed)?;
    let mut plan = String::new();
    for message in &messages {
        if let SimpleQueryMessage::Row(row) = message {
            plan.push_str(row.try_get(0).map_err(failed)?.unwrap_or_default());
        }
    }
    let plan: serde_json::Value = serde_json::from_str(&plan)
        .map_err(|error| Error::new(ErrorKind::Read, "describing the query: its plan is no JSON").caused_by(error))?;
    let mut names = BTreeSet::new();
    // A scan of a foreign table, and one whose join or aggregate is done there, which names no relation.
    let foreign = walk(&plan, &mut names);
    Ok(if foreign { Lock::Foreign } else { Lock::Query(names.into_iter().collect()) })
}

/// Collects the relations of a plan; true, and no more of them, where some of its rows are those of another server.
fn walk(plan: &serde_json::Value, names: &mut BTreeSet<String>) -> bool {
    use serde_json::Value;
    match plan {
        Value::Array(list) => list.iter().any(|item| walk(item, names)),
        Value::Object(fields) => {
            let field = |name: &str| fields.get(name).and_then(Value::as_str);
            if let (Some(schema), Some(relation)) = (field("Schema"), field("Relation Name")) {
                names.insert(format!("{}.{}", sql::name(schema), sql::name(relation)));
            }
            field("Node Type") == Some("Foreign Scan") || fields.values().any(|value| walk(value, names))
        }
        _ => false,
    }
}

async fn not_found(control: &Connection, settings: &Settings) -> Result<Error> {
    let Some(name) = &settings.table else { return Err(Error::internal("a table without a name was looked for")) };
    let wanted = name.table.text.to_lowercase();
    let rows = query(
        control,
        "SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT LIKE 'pg\\_%' \
         AND n.nspname <> 'information_schema' \
         ORDER BY lower(c.relname) <> $1, strpos(lower(c.relname), $1) = 0 AND strpos($1, lower(c.relname)) = 0, \
         left(lower(c.relname), 1) <> left($1, 1), abs(length(c.relname) - length($1)), 1 LIMIT $2",
        &[&wanted, &NEAR_NAMES],
    )
    .await?;
    let near = rows.iter().map(|row| get::<String>(row, 0)).collect::<Result<Vec<_>>>()?;
    let schema = name.schema.as_ref().map(|part| format!("{}.", part.text)).unwrap_or_default();
    let error = Error::new(
        ErrorKind::Schema,
        format!("looking for the table: {schema}{} does not exist in {}", name.table.text, settings.database),
    );
    Ok(if near.is_empty() {
        error.hint("this user sees no table at all in this database")
    } else {
        error.hint(format!("near names: {}", near.join(", ")))
    })
}

/// Describes the target within the frozen transaction.
pub(super) async fn describe(control: &Connection, target: Target, request: &SideRequest) -> Result<Relation> {
    let utf8 = query(control, "SELECT current_setting('server_encoding') = 'UTF8'", &[]).await?;
    let utf8 = utf8.first().map_or(Ok(false), |row| get(row, 0))?;
    let Target { display, table, .. } = target;
    let filter = request.filter.clone();
    let mut relation = match (&table, &request.query) {
        (_, Some(text)) => describe_query(control, text, filter).await?,
        (Some(table), None) => describe_table(control, table, filter).await?,
        (None, None) => return Err(Error::internal("neither a table nor a query is to be described")),
    };
    relation.utf8 = utf8;
    relation.schema.display = display;
    // Runs nothing over rows, but takes the locks, checks permissions and policies, and parses the filter.
    let probe = format!("SELECT FROM {}{} LIMIT 0", relation.source.from, relation.condition(None));
    control.run("preparing to read the table", &probe).await?;
    Ok(relation)
}

fn schema_of(columns: &[Described]) -> TableSchema {
    TableSchema {
        display: String::new(),
        columns: columns
            .iter()
            .map(|column| Column {
                name: column.name.clone(),
                native: column.native.clone(),
                logical: super::schema_types::logical(column),
                nullable: column.nullable,
                hidden: false,
                collation: column.collation_name.clone(),
            })
            .collect(),
        keys: Vec::new(),
        name_case: NameCase::Sensitive,
        rows_estimate: None,
        bytes_estimate: None,
    }
}

fn facts_of(columns: Vec<Described>) -> Vec<ColumnFacts> {
    columns
        .into_iter()
        .map(|column| ColumnFacts {
            wire: column.wire,
            attnum: column.attnum,
            collation: column.collation,
            is_c: column.is_c,
        })
        .collect()
}

async fn describe_query(control: &Connection, text: &str, filter: Option<String>) -> Result<Relation> {
    let from = format!("({text}\n) AS tieout_query");
    let statement = control
        .client
        .prepare(&format!("SELECT * FROM {from} LIMIT 0"))
        .await
        .map_err(|error| failure("describing the query", &error))?;
    let mut columns = Vec::new();
    for (index, column) in statement.columns().iter().enumerate() {
        if statement.columns()[..index].iter().any(|other| other.name() == column.name()) {
            return Err(Error::new(
                ErrorKind::Schema,
                format!("describing the query: the column name `{}` occurs twice", column.name()),
            )
            .hint("name the columns apart with AS"));
        }
        columns.push(Described::new(column.name(), column.type_().oid(), column.type_modifier()));
    }
    TypeCatalog::load(control, &columns).await?.complete(control, &mut columns).await?;
    Ok(Relation {
        schema: schema_of(&columns),
        source: RowSource { from, qualifier: "tieout_query".to_owned(), filter, can_sample: false, pages: None },
        columns: facts_of(columns),
        indexes: Vec::new(),
        utf8: false,
    })
}

async fn describe_table(control: &Connection, table: &Table, filter: Option<String>) -> Result<Relation> {
    let rows = query(
        control,
        "SELECT oid FROM pg_class WHERE oid = $1 AND oid = $2::text::regclass",
        &[&table.oid, &table.quoted],
    )
    .await?;
    if rows.is_empty() {
        return Err(Error::new(ErrorKind::Schema, "describing the table: it was replaced while it was being locked")
            .hint("run the comparison again"));
    }
    let rows = query(
        control,
        "SELECT attnum, attname::text, atttypid, atttypmod, attnotnull AND NOT EXISTS (SELECT FROM pg_constraint c \
         WHERE c.conrelid = attrelid AND c.contype = 'n' AND NOT c.convalidated AND attnum = ANY (c.conkey)), \
         attcollation FROM pg_attribute WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
        &[&table.oid],
    )
    .await?;
    // A parent's indexes and constraints say nothing of the rows of tables that inherit from it, and nobody enforces
    // those of a foreign table.
    let parent = query(control, "SELECT FROM pg_inherits WHERE inhparent = $1 LIMIT 1", &[&table.oid]).await?;
    let inherited = table.kind == b'r' && !parent.is_empty();
    let enforced = !inherited && !table.foreign;
    let mut columns = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut column = Described::new(&get::<String>(row, 1)?, get(row, 2)?, get(row, 3)?);
        column.attnum = get(row, 0)?;
        column.nullable = !(enforced && get::<bool>(row, 4)?);
        column.collation = get(row, 5)?;
        columns.push(column);
    }
    TypeCatalog::load(control, &columns).await?.complete(control, &mut columns).await?;
    let mut schema = schema_of(&columns);
    let pages = estimates(control, table, &mut schema).await?;
    let indexes = if enforced { indexes(control, table, &columns, &mut schema).await? } else { Vec::new() };
    Ok(Relation {
        schema,
        source: RowSource {
            from: table.quoted.clone(),
            qualifier: table.quoted.clone(),
            filter,
            can_sample: matches!(table.kind, b'r' | b'p' | b'm'),
            pages,
        },
        columns: facts_of(columns),
        indexes,
        utf8: false,
    })
}

/// Fills in the estimates; the number of pages.
async fn estimates(control: &Connection, table: &Table, schema: &mut TableSchema) -> Result<Option<u64>> {
    let rows = query(
        control,
        "WITH RECURSIVE part(oid) AS (SELECT $1::oid UNION SELECT inhrelid FROM part JOIN pg_inherits ON inhparent = oid) \
         SELECT sum(reltuples)::float8, min(reltuples)::float8, sum(CASE WHEN relkind IN ('r', 'm', 't') \
         THEN pg_table_size(c.oid) ELSE 0 END)::bigint, sum(CASE WHEN relkind IN ('r', 'm') \
         THEN pg_relation_size(c.oid) ELSE 0 END)::bigint FROM part JOIN pg_class c USING (oid) \
         WHERE relkind <> 'p'",
        &[&table.oid],
    )
    .await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let (sum, least): (Option<f64>, Option<f64>) = (get(row, 0)?, get(row, 1)?);
    let bytes = get::<Option<i64>>(row, 2)?.and_then(|bytes| u64::try_from(bytes).ok());
    let main = get::<Option<i64>>(row, 3)?.and_then(|bytes| u64::try_from(bytes).ok());
    let pages = main.map(|bytes| bytes.div_ceil(PAGE_BYTES));
    if table.kind != b'v' && table.kind != b'f' {
        schema.bytes_estimate = bytes;
    }
    // -1 says that the table was never analysed; 0 of a table with pages said so before PostgreSQL 14.
    if let (Some(sum), Some(least)) = (sum, least) {
        let counted = least >= 0.0 && (sum > 0.0 || pages == Some(0));
        if counted && table.kind != b'v' && sum < 1e15 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
            let estimate = sum as u64;
            schema.rows_estimate = Some(estimate);
        }
    }
    Ok(pages)
}

/// The btree indexes that may serve an order. Adds the unique ones to the keys of the schema.
async fn indexes(
    control: &Connection,
    table: &Table,
    columns: &[Described],
    schema: &mut TableSchema,
) -> Result<Vec<Index>> {
    let rows = query(
        control,
        "SELECT i.relname::text, x.indisprimary, x.indisunique AND x.indimmediate, x.indkey::int2[], \
         x.indoption::int2[], x.indcollation::oid[], x.indnkeyatts::int4, a.amname = 'btree', \
         ARRAY(SELECT o.opcdefault FROM unnest(x.indclass::oid[]) WITH ORDINALITY AS u(oid, place) \
         JOIN pg_opclass o USING (oid) ORDER BY u.place) \
         FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_am a ON a.oid = i.relam \
         WHERE x.indrelid = $1 AND x.indisvalid AND x.indisready AND x.indislive AND x.indpred IS NULL \
         ORDER BY x.indisprimary DESC, x.indnkeyatts, i.relname",
        &[&table.oid],
    )
    .await?;
    let mut list = Vec::new();
    for row in &rows {
        let name: String = get(row, 0)?;
        let (primary, unique, btree): (bool, bool, bool) = (get(row, 1)?, get(row, 2)?, get(row, 7)?);
        let numbers: Vec<i16> = get(row, 3)?;
        let options: Vec<i16> = get(row, 4)?;
        let collations: Vec<u32> = get(row, 5)?;
        let defaults: Vec<bool> = get(row, 8)?;
        let count = usize::try_from(get::<i32>(row, 6)?).unwrap_or(0).min(numbers.len());
        let named: Option<Vec<&Described>> = numbers[..count]
            .iter()
            .map(|number| columns.iter().find(|column| column.attnum == *number && *number > 0))
            .collect();
        if let Some(named) = named
            && unique
            && named.iter().all(|column| !column.nullable)
        {
            let origin = if primary { "primary key".to_owned() } else { name.clone() };
            let columns = named.iter().map(|column| column.name.clone()).collect();
            schema.keys.push(KeyCandidate { origin, columns });
        }
        if btree {
            let columns = (0..count)
                .map(|at| {
                    let option = options.get(at).copied().unwrap_or(1);
                    IndexColumn {
                        attnum: numbers[at],
                        collation: collations.get(at).copied().unwrap_or(0),
                        descending: option & 1 != 0,
                        nulls_first: option & 2 != 0,
                        default_operators: defaults.get(at).copied().unwrap_or(false),
                    }
                })
                .collect();
            list.push(Index { name, columns });
        }
    }
    Ok(list)
}
