//! What a table looks like, from the catalogue.

use super::{
    connection::{Connection, flag, number, some_number, some_text, text},
    failure::{failure, is_missing, is_refusal},
    locator::Settings,
    name::{self, TableName},
    relation::{ALIAS, Abilities, ColumnFacts, Index, IndexKey, Relation, RowSource},
    sql,
    types::{self, Size, TypeRow, Wire},
};
use crate::model::{Column, Error, ErrorKind, KeyCandidate, LogicalType, NameCase, Result, SideRequest, TableSchema};
use tiberius::ColumnData;

const DOING: &str = "describing the table";
/// Near names that an unresolved name is answered with, at most.
const NEAR_NAMES: usize = 5;
/// Kinds of indexes that are in key order: clustered and nonclustered trees.
const CLUSTERED: i64 = 1;
const NONCLUSTERED: i64 = 2;

/// A table that was found.
pub(super) struct Target {
    pub(super) display: String,
    pub(super) quoted: String,
    pub(super) object: i64,
    is_view: bool,
}

/// Whether what is seen is all there is.
#[derive(Clone, Debug, Default)]
pub(super) struct Sight {
    /// Whether masked columns show their values to this login.
    pub(super) unmasked: bool,
    /// Remarks for the position.
    pub(super) notes: Vec<String>,
}

/// What the server can do.
pub(super) async fn abilities(control: &mut Connection, genuine: bool) -> Result<Abilities> {
    let utf16_bytes = match control.try_rows(sql::PROBE_UTF16).await {
        Ok(rows) => matches!(
            rows.first().and_then(|row| row.first()),
            Some(ColumnData::Binary(Some(bytes))) if bytes.as_ref() == sql::UTF16_BYTES
        ),
        Err(error) if is_refusal(&error) => false,
        Err(error) => return Err(failure(DOING, &error)),
    };
    let utf8 = match control.try_rows(sql::PROBE_UTF8).await {
        Ok(rows) => rows.first().map(|row| some_number(row, 0)).transpose()?.unwrap_or(0) > 0,
        Err(error) if is_refusal(&error) => false,
        Err(error) => return Err(failure(DOING, &error)),
    };
    Ok(Abilities { genuine, utf16_bytes, utf8 })
}

/// Finds the table that the locator names, through a synonym if it is one.
pub(super) async fn find(control: &mut Connection, settings: &Settings, database: &str) -> Result<Target> {
    let Some(name) = &settings.table else {
        return Err(Error::new(ErrorKind::Config, "reading the locator: it names no table")
            .hint("append #schema.table to the locator"));
    };
    let found = object(control, &name.quoted()).await?;
    let Some((object_id, schema, table, kind)) = found else { return Err(not_found(control, name).await?) };
    let display = format!("{schema}.{table}");
    if kind != "SN" {
        return target(object_id, &schema, &table, &kind, display);
    }
    let rows = control.rows(DOING, &sql::synonym(object_id)).await?;
    let base = rows.first().map(|row| some_text(row, 0)).transpose()?.unwrap_or_default();
    let elsewhere = |what: &str| {
        Error::new(
            ErrorKind::Unsupported,
            format!("{DOING}: the synonym {display} stands for a table of another {what}"),
        )
        .hint("name that server, database and table in the locator")
    };
    let mut parts = name::parts(&base).unwrap_or_default();
    if parts.len() > 3 && !parts[0].is_empty() {
        return Err(elsewhere("server"));
    }
    while parts.len() > 3 {
        parts.remove(0);
    }
    if parts.len() == 3 {
        let named = parts.remove(0);
        if !named.is_empty() && !named.eq_ignore_ascii_case(database) {
            return Err(elsewhere("database"));
        }
    }
    let table = parts.pop().unwrap_or_default();
    let base = TableName { schema: parts.pop().filter(|schema| !schema.is_empty()), table };
    let Some((object_id, schema, table, kind)) = object(control, &base.quoted()).await? else {
        return Err(Error::new(
            ErrorKind::Schema,
            format!("{DOING}: what the synonym {display} stands for does not exist"),
        ));
    };
    target(object_id, &schema, &table, &kind, display)
}

fn target(object: i64, schema: &str, table: &str, kind: &str, display: String) -> Result<Target> {
    match kind {
        // S are tables of the system, which hold still as little as views do.
        "U" | "V" | "S" => Ok(Target { display, quoted: sql::quoted(schema, table), object, is_view: kind == "V" }),
        _ => Err(Error::new(ErrorKind::Schema, format!("{DOING}: {display} is neither a table nor a view"))),
    }
}

/// Id, schema, name and kind of an object.
async fn object(control: &mut Connection, quoted: &str) -> Result<Option<(i64, String, String, String)>> {
    let rows = control.rows(DOING, &sql::object(quoted)).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let kind = some_text(row, 3)?.trim_end().to_owned();
    Ok(Some((some_number(row, 0)?, some_text(row, 1)?, some_text(row, 2)?, kind)))
}

async fn not_found(control: &mut Connection, name: &TableName) -> Result<Error> {
    let rows = control.rows(DOING, sql::NAMES).await?;
    let wanted = name.table.to_lowercase();
    let mut near = Vec::new();
    for row in &rows {
        let (schema, table) = (some_text(row, 0)?, some_text(row, 1)?);
        let lower = table.to_lowercase();
        let inside = lower.contains(&wanted) || wanted.contains(&lower);
        let start = lower.chars().zip(wanted.chars()).take_while(|(one, other)| one == other).count();
        let apart = lower.len().abs_diff(wanted.len());
        near.push((lower != wanted, !inside, usize::MAX - start, apart, format!("{schema}.{table}")));
    }
    near.sort();
    let near: Vec<String> = near.into_iter().take(NEAR_NAMES).map(|entry| entry.4).collect();
    let schema = name.schema.as_ref().map(|schema| format!("{schema}.")).unwrap_or_default();
    let error = Error::new(ErrorKind::Schema, format!("looking for the table: {schema}{} does not exist", name.table));
    Ok(if near.is_empty() {
        error.hint("this login sees no table at all in this database")
    } else {
        error.hint(format!("near names: {}", near.join(", ")))
    })
}

/// Looks whether masks or row security policies hide something from this login.
pub(super) async fn sight(control: &mut Connection, settings: &Settings, target: Option<&Target>) -> Result<Sight> {
    const LOOKING: &str = "looking at permissions";
    let quoted = target.map(|target| target.quoted.as_str());
    let permissions = optional(control, LOOKING, &sql::permissions(quoted)).await?.unwrap_or_default();
    let has = |place: usize| -> Result<bool> {
        permissions.first().filter(|row| row.len() > place).map_or(Ok(false), |row| flag(row, place))
    };
    let mut sight = Sight { unmasked: has(0)? || has(2)?, notes: Vec::new() };
    let plain = target.filter(|target| !target.is_view);
    if plain.is_none() && !sight.unmasked {
        // Which columns a view or a query reads is not told.
        let masked = optional(control, LOOKING, sql::MASKED).await?.unwrap_or_default();
        if masked.first().map(|row| some_number(row, 0)).transpose()?.unwrap_or(0) > 0 {
            return Err(Error::new(
                ErrorKind::Permission,
                "looking at permissions: columns of this database are masked, and this login sees masks instead of values",
            )
            .hint("grant UNMASK to this login, or compare the tables themselves"));
        }
    }
    let policies = optional(control, LOOKING, &sql::row_security(plain.map(|target| target.object))).await?;
    let hidden = policies.as_ref().is_some_and(|rows| !rows.is_empty());
    if hidden && !settings.filtered_rows {
        return Err(Error::new(
            ErrorKind::Permission,
            "looking at permissions: a row security policy may hide rows from this login, which would count as missing",
        )
        .hint("turn the policy off, or compare what this login sees with row-security=filtered in the locator"));
    }
    if hidden {
        sight.notes.push("row-security=filtered: only rows that the policy shows to this login".to_owned());
    } else if policies.is_some() && !has(1)? {
        sight.notes.push("policies were not looked for: the login lacks VIEW DEFINITION on the database".to_owned());
    }
    Ok(sight)
}

/// The rows of a query on a part of the catalogue that a server may lack.
async fn optional(control: &mut Connection, doing: &str, text: &str) -> Result<Option<Vec<Vec<ColumnData<'static>>>>> {
    match control.try_rows(text).await {
        Ok(rows) => Ok(Some(rows)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(failure(doing, &error)),
    }
}

/// Describes a table or view.
pub(super) async fn describe_table(
    control: &mut Connection,
    target: &Target,
    sight: &Sight,
    abilities: Abilities,
    request: &SideRequest,
) -> Result<Relation> {
    let types = type_rows(control).await?;
    let mut columns = Vec::new();
    let mut facts = Vec::new();
    for row in control.rows(DOING, &sql::columns(target.object)).await? {
        let small = |place: usize| Ok::<u8, Error>(u8::try_from(number(&row, place)?.unwrap_or(0)).unwrap_or(0));
        let size = Size { max_length: some_number(&row, 4)?, precision: small(5)?, scale: small(6)? };
        let (declared, base) = types::resolve(&types, some_number(&row, 3)?, some_number(&row, 2)?);
        let wire = match (base, declared) {
            (Some(base), _) => Wire::new(&base.name, size),
            (None, declared) => Wire::new(declared.map_or("of an unknown number", |row| &row.name), size),
        };
        let native = declared.map_or_else(String::new, |row| types::native(&row.name, size));
        let collation = text(&row, 7)?;
        let driver_reads = types::driver_reads(collation.as_deref());
        let code_points = abilities.genuine && collation.as_ref().is_some_and(|name| name.contains("_BIN2"));
        columns.push(Column {
            name: some_text(&row, 1)?,
            native,
            logical: wire.logical(),
            // What a view's catalogue says of NULL is that of the time of its making.
            nullable: target.is_view || flag(&row, 8)?,
            hidden: false,
            collation,
        });
        facts.push(ColumnFacts { wire, id: some_number(&row, 0)?, code_points, driver_reads });
    }
    if columns.is_empty() {
        return Err(Error::new(ErrorKind::Permission, format!("{DOING}: this login sees no column of it"))
            .hint("grant SELECT on the table to this login"));
    }
    mark(control, target, sight, &mut columns, &mut facts).await?;
    let mut schema = TableSchema {
        display: target.display.clone(),
        name_case: name_case(&columns),
        columns,
        keys: Vec::new(),
        rows_estimate: estimate(control, target).await?,
        bytes_estimate: None,
    };
    let indexes = indexes(control, target, &facts, &mut schema).await?;
    Ok(Relation {
        schema,
        source: RowSource {
            from: format!("{} AS {ALIAS}", target.quoted),
            filter: request.filter.clone(),
            can_sample: !target.is_view,
        },
        columns: facts,
        indexes,
        abilities,
    })
}

async fn type_rows(control: &mut Connection) -> Result<Vec<TypeRow>> {
    let rows = control.rows(DOING, sql::TYPES).await?;
    rows.iter()
        .map(|row| {
            Ok(TypeRow {
                name: some_text(row, 0)?,
                system_id: some_number(row, 1)?,
                user_id: some_number(row, 2)?,
                user_defined: flag(row, 3)?,
                assembly: flag(row, 4)?,
            })
        })
        .collect()
}

/// Marks hidden columns, and those whose values this login does not get.
async fn mark(
    control: &mut Connection,
    target: &Target,
    sight: &Sight,
    columns: &mut [Column],
    facts: &mut [ColumnFacts],
) -> Result<()> {
    let Some(rows) = optional(control, DOING, &sql::column_flags(target.object)).await? else { return Ok(()) };
    for row in &rows {
        let id = some_number(row, 0)?;
        let Some(place) = facts.iter().position(|facts| facts.id == id) else { continue };
        // A set of sparse columns shows their values a second time.
        columns[place].hidden = flag(row, 1)? || flag(row, 4)?;
        let obstacle = if flag(row, 3)? && !sight.unmasked {
            "its values are masked for this login: grant UNMASK to it, or leave the column out"
        } else if number(row, 5)?.is_some() {
            "its values are encrypted by the client (Always Encrypted), and cannot be compared as they are stored"
        } else {
            continue;
        };
        columns[place].logical = LogicalType::Unsupported(obstacle.to_owned());
        facts[place].wire = Wire::Unsupported(obstacle.to_owned());
    }
    Ok(())
}

/// Two names that differ in case alone exist only where names are told apart by it.
fn name_case(columns: &[Column]) -> NameCase {
    let mut lower: Vec<String> = columns.iter().map(|column| column.name.to_lowercase()).collect();
    lower.sort_unstable();
    if lower.windows(2).any(|pair| pair[0] == pair[1]) { NameCase::Sensitive } else { NameCase::Insensitive }
}

/// The number of rows as last counted; of a view, nobody counts.
async fn estimate(control: &mut Connection, target: &Target) -> Result<Option<u64>> {
    if target.is_view {
        return Ok(None);
    }
    let rows = control.rows(DOING, &sql::rows(target.object)).await?;
    let mut counted: Vec<(i64, u64)> = Vec::new();
    for row in &rows {
        let partition = u64::try_from(number(row, 1)?.unwrap_or(0)).unwrap_or(0);
        counted.push((some_number(row, 0)?, partition));
    }
    // Every index counts all rows; the first one is enough.
    let first = counted.iter().map(|(index, _)| *index).min();
    Ok(first.map(|first| {
        counted.iter().filter(|(index, _)| *index == first).fold(0_u64, |sum, (_, rows)| sum.saturating_add(*rows))
    }))
}

/// An index under construction.
struct Gathered {
    id: i64,
    index: Index,
    sorted: bool,
    primary: bool,
    unique: bool,
}

/// The indexes that may serve an order. Adds the unique ones to the keys of the schema.
async fn indexes(
    control: &mut Connection,
    target: &Target,
    facts: &[ColumnFacts],
    schema: &mut TableSchema,
) -> Result<Vec<Index>> {
    let mut list: Vec<Gathered> = Vec::new();
    for row in control.rows(DOING, &sql::indexes(target.object)).await? {
        // One that is disabled is not kept, one with a condition does not hold every row.
        if flag(&row, 5)? || flag(&row, 6)? {
            continue;
        }
        let id = some_number(&row, 0)?;
        if list.last().is_none_or(|last| last.id != id) {
            let kind = some_number(&row, 2)?;
            list.push(Gathered {
                id,
                index: Index {
                    name: text(&row, 1)?.unwrap_or_default(),
                    clustered: kind == CLUSTERED,
                    keys: Vec::new(),
                    included: Vec::new(),
                    partitioned_by: None,
                },
                sorted: kind == CLUSTERED || kind == NONCLUSTERED,
                primary: flag(&row, 3)?,
                unique: flag(&row, 4)?,
            });
        }
        let Some(gathered) = list.last_mut() else { continue };
        let column = some_number(&row, 7)?;
        if number(&row, 9)?.unwrap_or(0) > 0 {
            gathered.index.partitioned_by = Some(column);
        }
        if flag(&row, 11)? {
            gathered.index.included.push(column);
        } else if number(&row, 8)?.unwrap_or(0) > 0 {
            gathered.index.keys.push(IndexKey { column, descending: flag(&row, 10)? });
        }
    }
    list.sort_by_key(|gathered| (!gathered.primary, gathered.index.keys.len()));
    for gathered in list.iter().filter(|gathered| gathered.unique && !gathered.index.keys.is_empty()) {
        let named: Option<Vec<&Column>> = gathered
            .index
            .keys
            .iter()
            .map(|key| schema.columns.get(facts.iter().position(|facts| facts.id == key.column)?))
            .collect();
        let Some(named) = named.filter(|named| named.iter().all(|column| !column.nullable)) else { continue };
        let columns = named.iter().map(|column| column.name.clone()).collect();
        let origin = if gathered.primary { "primary key".to_owned() } else { gathered.index.name.clone() };
        schema.keys.push(KeyCandidate { origin, columns });
    }
    Ok(list.into_iter().filter(|gathered| gathered.sorted).map(|gathered| gathered.index).collect())
}

/// Describes a query by the columns of its result.
pub(super) async fn describe_query(
    control: &mut Connection,
    query: &str,
    abilities: Abilities,
    request: &SideRequest,
) -> Result<Relation> {
    const DESCRIBING: &str = "describing the query";
    let from = format!("({query}\n) AS {ALIAS}");
    let mut columns: Vec<Column> = Vec::new();
    let mut facts = Vec::new();
    for (name, column) in control.columns(DESCRIBING, &sql::probe_query(&from)).await? {
        if name.is_empty() || columns.iter().any(|other| other.name == name) {
            return Err(Error::new(
                ErrorKind::Schema,
                format!("{DESCRIBING}: expected columns with names of their own, found `{name}`"),
            )
            .hint("name the columns apart with AS"));
        }
        let wire = Wire::of_result(column);
        columns.push(Column {
            name,
            native: types::native_of_result(column),
            logical: wire.logical(),
            nullable: true,
            hidden: false,
            collation: None,
        });
        // The protocol tells the collation of a result, but the driver does not.
        facts.push(ColumnFacts { wire, id: 0, code_points: false, driver_reads: false });
    }
    Ok(Relation {
        schema: TableSchema {
            display: "query".to_owned(),
            name_case: name_case(&columns),
            columns,
            keys: Vec::new(),
            rows_estimate: None,
            bytes_estimate: None,
        },
        source: RowSource { from, filter: request.filter.clone(), can_sample: false },
        columns: facts,
        indexes: Vec::new(),
        abilities,
    })
}
