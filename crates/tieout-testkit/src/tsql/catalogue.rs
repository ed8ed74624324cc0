//! The catalogue: views of `sys` with the columns that are asked for here, and no others.

use super::Flavour;
use super::collation;
use super::failure::Answer;
use super::scalar::Named;
use super::table::{Column, Database, Object, Row, same};
use super::types::{OTHER_TYPES, SYSTEM_TYPES, Ty, size};
use crate::tds::backend::{Cell, TdsType};
use sqlparser::ast::Query;
use std::collections::BTreeMap;

/// Columns and rows of a view.
type Shown = (Vec<Named>, Vec<Row>);

/// Describes the columns of a view's query.
pub(super) type Describe<'a> = dyn Fn(&Query) -> Answer<Vec<Named>> + 'a;

fn name(text: &str) -> Cell {
    Cell::Utf16(text.encode_utf16().collect())
}

fn code(text: &str) -> Cell {
    Cell::Bytes(format!("{text:<2}").into_bytes())
}

fn optional(value: Option<i64>) -> Cell {
    value.map_or(Cell::Null, Cell::Int)
}

fn number(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

/// Columns of a view: their names, by the types of the catalogue.
fn columns(spec: &str) -> Vec<Named> {
    spec.split_whitespace()
        .map(|word| {
            let (name, kind) = word.split_once(':').unwrap_or((word, "int"));
            let kind = match kind {
                "bit" => TdsType::Bit,
                "tinyint" => TdsType::TinyInt,
                "smallint" => TdsType::SmallInt,
                "bigint" => TdsType::BigInt,
                "char2" => TdsType::Char(2),
                "name" => TdsType::NVarChar(Some(128)),
                "text" => TdsType::NVarChar(Some(1035)),
                _ => TdsType::Int,
            };
            Named { of: None, name: name.to_owned(), ty: Ty::of(kind), nullable: true, hidden: false }
        })
        .collect()
}

/// A view or function of `sys`; `None` where the server has none of that name.
pub(super) fn view(
    now: &Database,
    flavour: Flavour,
    wanted: &str,
    is_function: bool,
    describe: &Describe<'_>,
) -> Answer<Option<Shown>> {
    let genuine = flavour == Flavour::SqlServer;
    let wanted = wanted.to_ascii_lowercase();
    if is_function {
        let shown = (wanted == "fn_helpcollations").then(|| collations(genuine));
        return Ok(shown);
    }
    Ok(match wanted.as_str() {
        "columns" => Some(all_columns(now, genuine, describe)?),
        "types" => Some(types(now, genuine)),
        "indexes" => Some(indexes(now, genuine)),
        "index_columns" => Some(index_columns(now, genuine)),
        "objects" => Some(objects(now)),
        "schemas" => Some((
            columns("schema_id name:name"),
            schemas(now).iter().map(|(schema, id)| row([Cell::Int(*id), name(schema)])).collect(),
        )),
        "partitions" => Some(partitions(now, genuine)),
        "synonyms" => Some(synonyms(now)),
        "databases" => Some(databases(now)),
        "masked_columns" if genuine => Some(masked(now)),
        "security_policies" if genuine => Some(policies(now)),
        "security_predicates" if genuine => Some(predicates(now)),
        _ => None,
    })
}

fn row<const N: usize>(cells: [Cell; N]) -> Row {
    cells.into()
}

fn tables(now: &Database) -> impl Iterator<Item = (&(String, String), &super::table::Table)> {
    now.objects.iter().filter_map(|(key, object)| match object {
        Object::Table(table) => Some((key, table.as_ref())),
        _ => None,
    })
}

/// Schemas by name, `dbo` first.
fn schemas(now: &Database) -> BTreeMap<String, i64> {
    let mut all = BTreeMap::from([("dbo".to_owned(), 1)]);
    for (schema, _) in now.objects.keys() {
        let next = number(all.len()) + 4;
        if !all.keys().any(|known| same(known, schema)) {
            all.insert(schema.clone(), next);
        }
    }
    all
}

/// The number of a type, as this server counts: over `PostgreSQL`, other ones.
fn type_number(genuine: bool, id: i64) -> i64 {
    if genuine { id } else { id + 7 }
}

fn system_type(declared: &str) -> (i64, i64) {
    let other = OTHER_TYPES.iter().find(|other| other.0 == declared).map(|other| (other.1, other.2));
    let own = || SYSTEM_TYPES.iter().find(|own| own.0 == declared).map(|own| (own.1, own.1));
    other.or_else(own).unwrap_or((0, 0))
}

fn types(now: &Database, genuine: bool) -> Shown {
    let spec = "name:name system_type_id:tinyint user_type_id is_user_defined:bit is_assembly_type:bit";
    let line = |text: &str, system: i64, user: i64, defined: bool, assembly: bool| {
        let numbers = [type_number(genuine, system), type_number(genuine, user)];
        row([name(text), Cell::Int(numbers[0]), Cell::Int(numbers[1]), Cell::Bit(defined), Cell::Bit(assembly)])
    };
    let mut rows: Vec<Row> = SYSTEM_TYPES.iter().map(|(text, id)| line(text, *id, *id, false, false)).collect();
    rows.extend(OTHER_TYPES.iter().map(|(text, system, user, assembly)| line(text, *system, *user, false, *assembly)));
    for (place, (alias, base)) in now.aliases.iter().enumerate() {
        rows.push(line(alias, system_type(base).0, 257 + number(place), true, false));
    }
    (columns(spec), rows)
}

fn all_columns(now: &Database, genuine: bool, describe: &Describe<'_>) -> Answer<Shown> {
    let mut spec = "object_id column_id name:name system_type_id:tinyint user_type_id max_length:smallint \
                    precision:tinyint scale:tinyint collation_name:name is_nullable:bit is_computed:bit"
        .to_owned();
    if genuine {
        spec += " is_hidden:bit generated_always_type:tinyint is_masked:bit is_column_set:bit encryption_type";
    }
    let mut rows: Vec<Row> = Vec::new();
    for object in now.objects.values() {
        let columns: Vec<Column> = match object {
            Object::Table(table) => table.columns.clone(),
            Object::View { query, .. } => describe(query)?.into_iter().map(viewed).collect(),
            Object::Synonym { .. } => continue,
        };
        for (place, column) in columns.iter().enumerate() {
            let (system, plain) = system_type(&column.declared);
            let user = column.alias.as_ref().and_then(|alias| now.aliases.keys().position(|known| known == alias));
            let user = user.map_or(plain, |place| 257 + number(place));
            let (length, precision, scale) = size(&column.ty.kind);
            let text = column.ty.is_wide() && column.ty.kind != TdsType::Xml || column.ty.is_narrow();
            let mut cells = vec![
                Cell::Int(object.id()),
                Cell::Int(number(place) + 1),
                name(&column.name),
                Cell::Int(type_number(genuine, system)),
                Cell::Int(type_number(genuine, user)),
                Cell::Int(length),
                Cell::Int(precision),
                Cell::Int(scale),
                if text { name(&collation_name(column, genuine)) } else { Cell::Null },
                Cell::Bit(column.nullable),
                Cell::Bit(column.computed),
            ];
            if genuine {
                cells.extend([
                    Cell::Bit(column.hidden),
                    Cell::Int(i64::from(column.hidden)),
                    Cell::Bit(column.masked),
                    Cell::Bit(false),
                    optional(column.encryption),
                ]);
            }
            rows.push(cells.into());
        }
    }
    Ok((columns(&spec), rows))
}

/// Over `PostgreSQL`, collations show under names of their own.
fn collation_name(column: &Column, genuine: bool) -> String {
    if genuine { column.ty.collation.name.to_owned() } else { column.ty.collation.name.to_lowercase() }
}

/// A column of a view, as far as its type tells.
fn viewed(named: Named) -> Column {
    let declared = match &named.ty.kind {
        TdsType::Bit => "bit",
        TdsType::TinyInt => "tinyint",
        TdsType::SmallInt => "smallint",
        TdsType::Int => "int",
        TdsType::BigInt => "bigint",
        TdsType::Real => "real",
        TdsType::Float => "float",
        TdsType::Money => "money",
        TdsType::SmallMoney => "smallmoney",
        TdsType::Decimal { .. } => "decimal",
        TdsType::Numeric { .. } => "numeric",
        TdsType::Date => "date",
        TdsType::Time(_) => "time",
        TdsType::DateTime => "datetime",
        TdsType::SmallDateTime => "smalldatetime",
        TdsType::DateTime2(_) => "datetime2",
        TdsType::DateTimeOffset(_) => "datetimeoffset",
        TdsType::Char(_) => "char",
        TdsType::VarChar(_) => "varchar",
        TdsType::NChar(_) => "nchar",
        TdsType::NVarChar(_) => "nvarchar",
        TdsType::Text => "text",
        TdsType::NText => "ntext",
        TdsType::Image => "image",
        TdsType::Binary(_) => "binary",
        TdsType::VarBinary(_) => "varbinary",
        TdsType::UniqueIdentifier => "uniqueidentifier",
        TdsType::Xml => "xml",
        TdsType::Udt { type_name } => type_name,
        TdsType::Variant => "sql_variant",
    };
    Column {
        declared: declared.to_owned(),
        name: named.name,
        ty: named.ty,
        nullable: named.nullable,
        computed: false,
        hidden: false,
        masked: false,
        encryption: None,
        alias: None,
        identity: false,
    }
}

/// The number of an index: the clustered one is 1; over `PostgreSQL` none is clustered.
fn index_id(place: usize, table: &super::table::Table, genuine: bool) -> i64 {
    let clustered = genuine && table.indexes.first().is_some_and(|index| index.clustered);
    number(place) + if clustered { 1 } else { 2 }
}

fn indexes(now: &Database, genuine: bool) -> Shown {
    let spec =
        "object_id index_id name:name type:tinyint is_primary_key:bit is_unique:bit is_disabled:bit has_filter:bit";
    let mut rows = Vec::new();
    for (_, table) in tables(now) {
        if index_id(0, table, genuine) != 1 {
            let no = Cell::Bit(false);
            let heap =
                [Cell::Int(table.id), Cell::Int(0), Cell::Null, Cell::Int(0), no.clone(), no.clone(), no.clone(), no];
            rows.push(row(heap));
        }
        for (place, index) in table.indexes.iter().enumerate() {
            let shown = if genuine { index.name.clone() } else { format!("{}0a1b2c", index.name.to_lowercase()) };
            rows.push(row([
                Cell::Int(table.id),
                Cell::Int(index_id(place, table, genuine)),
                name(&shown),
                Cell::Int(if genuine && index.clustered { 1 } else { 2 }),
                Cell::Bit(index.primary),
                Cell::Bit(index.unique),
                Cell::Bit(index.disabled),
                Cell::Bit(index.filtered),
            ]));
        }
    }
    (columns(spec), rows)
}

fn index_columns(now: &Database, genuine: bool) -> Shown {
    let spec = "object_id index_id index_column_id column_id key_ordinal:tinyint partition_ordinal:tinyint \
                is_descending_key:bit is_included_column:bit";
    let mut rows = Vec::new();
    for (_, table) in tables(now) {
        for (place, index) in table.indexes.iter().enumerate() {
            let keys = index.keys.iter().map(|(column, descends)| (*column, *descends, false));
            let all: Vec<_> = keys.chain(index.included.iter().map(|column| (*column, false, true))).collect();
            for (at, (column, descends, included)) in all.iter().enumerate() {
                let partition = i64::from(index.partitioned_by == Some(*column));
                rows.push(row([
                    Cell::Int(table.id),
                    Cell::Int(index_id(place, table, genuine)),
                    Cell::Int(number(at) + 1),
                    Cell::Int(number(*column) + 1),
                    Cell::Int(if *included { 0 } else { number(at) + 1 }),
                    Cell::Int(partition),
                    Cell::Bit(*descends),
                    Cell::Bit(*included),
                ]));
            }
        }
    }
    (columns(spec), rows)
}

fn objects(now: &Database) -> Shown {
    let schemas = schemas(now);
    let rows = now.objects.iter().map(|((schema, object), what)| {
        let schema = schemas.iter().find(|(known, _)| same(known, schema)).map_or(1, |(_, id)| *id);
        row([Cell::Int(what.id()), name(object), Cell::Int(schema), code(what.kind())])
    });
    (columns("object_id name:name schema_id type:char2"), rows.collect())
}

fn partitions(now: &Database, genuine: bool) -> Shown {
    let mut rows = Vec::new();
    for (_, table) in tables(now) {
        // Over PostgreSQL, nothing has been counted yet.
        let count = if genuine { i64::try_from(table.rows.len()).unwrap_or(i64::MAX) } else { 0 };
        let heap = (index_id(0, table, genuine) != 1).then_some(0);
        let ids = heap.into_iter().chain((0..table.indexes.len()).map(|place| index_id(place, table, genuine)));
        rows.extend(ids.map(|id| row([Cell::Int(table.id), Cell::Int(id), Cell::Int(count)])));
    }
    (columns("object_id index_id rows:bigint"), rows)
}

fn synonyms(now: &Database) -> Shown {
    let rows = now.objects.iter().filter_map(|((_, own), object)| match object {
        Object::Synonym { id, base } => Some(row([Cell::Int(*id), name(own), name(base)])),
        _ => None,
    });
    (columns("object_id name:name base_object_name:text"), rows.collect())
}

fn databases(now: &Database) -> Shown {
    let spec = "name:name database_id is_read_only:bit source_database_id snapshot_isolation_state:tinyint";
    let cells = [
        name(&now.name),
        Cell::Int(5),
        Cell::Bit(now.read_only || now.is_snapshot),
        optional(now.is_snapshot.then_some(6)),
        Cell::Int(i64::from(now.allows_snapshot)),
    ];
    (columns(spec), vec![row(cells)])
}

fn masked(now: &Database) -> Shown {
    let mut rows = Vec::new();
    for (_, table) in tables(now) {
        for column in table.columns.iter().filter(|column| column.masked) {
            rows.push(row([Cell::Int(table.id), name(&column.name)]));
        }
    }
    (columns("object_id name:name"), rows)
}

/// A policy's own number.
fn policy_id(table: i64) -> i64 {
    table + 1
}

fn policies(now: &Database) -> Shown {
    let rows = tables(now).filter_map(|(_, table)| {
        let (policy, _) = table.policy.as_ref()?;
        now.view_definition.then(|| row([Cell::Int(policy_id(table.id)), name(policy), Cell::Bit(true)]))
    });
    (columns("object_id name:name is_enabled:bit"), rows.collect())
}

fn predicates(now: &Database) -> Shown {
    let rows = tables(now).filter(|(_, table)| table.policy.is_some() && now.view_definition);
    let rows = rows.map(|(_, table)| row([Cell::Int(policy_id(table.id)), Cell::Int(0), Cell::Int(table.id)]));
    (columns("object_id predicate_type target_object_id"), rows.collect())
}

fn collations(genuine: bool) -> Shown {
    let known = collation::ALL.iter().filter(|known| genuine || !known.name.ends_with("UTF8"));
    let rows = known.map(|known| row([name(known.name), name("a collation")]));
    (columns("name:name description:text"), rows.collect())
}
