//! Types of columns, resolved through domains, enums, composites, arrays and ranges.

use super::{
    connection::Connection,
    failure::failure,
    schema::get,
    types::{TextKind, Wire, built_in},
};
use crate::model::{LogicalType, Result};
use std::collections::{BTreeSet, HashMap};

const DOING: &str = "describing the types";
/// Types within types within types: deeper ones are not supported.
const DEPTH_MAX: usize = 32;
/// Oid of the collation that stands for the database's own.
const DEFAULT_COLLATION: u32 = 100;

/// A column while it is being described.
#[derive(Clone, Debug)]
pub(super) struct Described {
    pub(super) name: String,
    pub(super) attnum: i16,
    pub(super) nullable: bool,
    pub(super) collation: u32,
    pub(super) collation_name: Option<String>,
    pub(super) is_c: bool,
    pub(super) native: String,
    pub(super) wire: Wire,
    oid: u32,
    modifier: i32,
}

impl Described {
    /// A column of which only name and type are known.
    pub(super) fn new(name: &str, oid: u32, modifier: i32) -> Self {
        Self {
            name: name.to_owned(),
            attnum: 0,
            nullable: true,
            collation: 0,
            collation_name: None,
            is_c: false,
            native: String::new(),
            wire: Wire::Unsupported(String::new()),
            oid,
            modifier,
        }
    }
}

/// The store-neutral type of a column, with the reason where a part of it cannot be read.
pub(super) fn logical(column: &Described) -> LogicalType {
    match column.wire.obstacle() {
        Some(reason) => {
            LogicalType::Unsupported(format!("{reason}; `--cast {}=text` would compare it as text", column.name))
        }
        None => column.wire.logical(),
    }
}

struct TypeRow {
    name: String,
    class: u8,
    base: u32,
    base_modifier: i32,
    element: u32,
    is_array: bool,
    bound: u32,
    /// Range type of a multirange, or subtype of a range.
    range: u32,
    extension: bool,
    fields: Vec<(String, u32, i32)>,
}

/// The catalog rows of all types that columns are made of.
pub(super) struct TypeCatalog {
    types: HashMap<u32, TypeRow>,
    money_scale: i32,
}

impl TypeCatalog {
    /// Loads the types of `columns` and whatever they are made of.
    pub(super) async fn load(control: &Connection, columns: &[Described]) -> Result<Self> {
        let mut catalog = Self { types: HashMap::new(), money_scale: 0 };
        let mut wanted: BTreeSet<u32> = columns.iter().map(|column| column.oid).collect();
        while !wanted.is_empty() {
            let oids: Vec<u32> = std::mem::take(&mut wanted).into_iter().collect();
            for (oid, row) in load_types(control, &oids).await? {
                let parts = [row.base, row.element, row.bound, row.range].into_iter();
                wanted.extend(parts.chain(row.fields.iter().map(|field| field.1)).filter(|oid| *oid != 0));
                catalog.types.insert(oid, row);
            }
            wanted.retain(|oid| !catalog.types.contains_key(oid));
            // A type that is gone from the catalog is asked for once.
            wanted.retain(|oid| !oids.contains(oid));
        }
        if catalog.types.contains_key(&790) {
            catalog.money_scale = money_scale(control).await?;
        }
        Ok(catalog)
    }

    /// Fills in native names, wire types and collations.
    pub(super) async fn complete(&self, control: &Connection, columns: &mut [Described]) -> Result<()> {
        let oids: Vec<u32> = columns.iter().map(|column| column.oid).collect();
        let modifiers: Vec<i32> = columns.iter().map(|column| column.modifier).collect();
        let rows = control
            .client
            .query(
                "SELECT format_type(oid, modifier) FROM unnest($1::oid[], $2::int4[]) WITH ORDINALITY \
                 AS t(oid, modifier, place) ORDER BY place",
                &[&oids, &modifiers],
            )
            .await
            .map_err(|error| failure(DOING, &error))?;
        for (column, row) in columns.iter_mut().zip(&rows) {
            column.native = get(row, 0)?;
            column.wire = self.wire(column.oid, column.modifier, 0);
        }
        // PostgreSQL 15 and later may sort by a provider that the column does not say otherwise.
        let rows = control
            .client
            .query(
                "SELECT c.oid, c.collname::text, CASE WHEN c.oid = $1 THEN \
                 CASE coalesce(to_jsonb(d)->>'datlocprovider', 'c') WHEN 'c' THEN d.datcollate IN ('C', 'POSIX') \
                 WHEN 'b' THEN to_jsonb(d)->>'datlocale' IN ('C', 'C.UTF-8') ELSE false END \
                 ELSE c.collname IN ('C', 'POSIX') AND c.collnamespace = 'pg_catalog'::regnamespace END \
                 FROM pg_collation c, pg_database d WHERE d.datname = current_database() AND c.oid = ANY($2)",
                &[&DEFAULT_COLLATION, &columns.iter().map(|column| column.collation).collect::<Vec<u32>>()],
            )
            .await
            .map_err(|error| failure(DOING, &error))?;
        for row in &rows {
            let oid: u32 = get(row, 0)?;
            for column in columns.iter_mut().filter(|column| column.collation == oid) {
                column.collation_name = Some(get(row, 1)?);
                column.is_c = get::<Option<bool>>(row, 2)?.unwrap_or(false);
            }
        }
        Ok(())
    }

    fn wire(&self, oid: u32, modifier: i32, depth: usize) -> Wire {
        if let Some(wire) = built_in(oid, modifier, self.money_scale) {
            return wire;
        }
        let Some(row) = self.types.get(&oid) else {
            return Wire::Unsupported(format!("the type with oid {oid} is not in the catalog"));
        };
        if depth > DEPTH_MAX {
            return Wire::Unsupported(format!("the type {} is nested too deeply", row.name));
        }
        let part = |oid| Box::new(self.wire(oid, -1, depth + 1));
        match row.class {
            b'd' => self.wire(row.base, row.base_modifier, depth + 1),
            b'e' => Wire::Enum,
            b'c' => Wire::Composite(
                row.fields
                    .iter()
                    .map(|(name, oid, modifier)| (name.clone(), *oid, self.wire(*oid, *modifier, depth + 1)))
                    .collect(),
            ),
            b'r' => Wire::Range(part(row.bound)),
            // The wire holds ranges; their bounds are of the range's subtype.
            b'm' => match self.types.get(&row.range) {
                Some(range) => Wire::Multirange(part(range.bound)),
                None => Wire::Unsupported(format!("the type {} is not supported", row.name)),
            },
            b'b' if row.is_array => Wire::Array(row.element, Box::new(self.wire(row.element, modifier, depth + 1))),
            b'b' if row.extension && row.name == "hstore" => Wire::Hstore,
            b'b' if row.extension && row.name == "citext" => Wire::Text(TextKind::Folded),
            _ => Wire::Unsupported(format!("the type {} is not supported", row.name)),
        }
    }
}

async fn load_types(control: &Connection, oids: &[u32]) -> Result<Vec<(u32, TypeRow)>> {
    // Multiranges came with PostgreSQL 14: read as JSON, their column may be absent.
    let rows = control
        .client
        .query(
            "SELECT t.oid, t.typname::text, t.typtype, t.typbasetype, t.typtypmod, t.typelem, \
             t.typlen = -1 AND t.typcategory = 'A' AND t.typelem <> 0, \
             coalesce((SELECT r.rngsubtype FROM pg_range r WHERE r.rngtypid = t.oid), 0::oid), \
             coalesce((SELECT r.rngtypid FROM pg_range r WHERE to_jsonb(r)->>'rngmultitypid' = t.oid::text), 0::oid), \
             EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid \
             AND d.deptype = 'e'), t.typrelid \
             FROM pg_type t WHERE t.oid = ANY($1)",
            &[&oids],
        )
        .await
        .map_err(|error| failure(DOING, &error))?;
    let mut types = Vec::with_capacity(rows.len());
    for row in &rows {
        let relation: u32 = get(row, 10)?;
        let class = u8::try_from(get::<i8>(row, 2)?).unwrap_or(0);
        let is_array: bool = get(row, 6)?;
        types.push((
            get(row, 0)?,
            TypeRow {
                name: get(row, 1)?,
                class,
                base: get(row, 3)?,
                base_modifier: get(row, 4)?,
                element: if is_array { get(row, 5)? } else { 0 },
                is_array,
                bound: get(row, 7)?,
                range: get(row, 8)?,
                extension: get(row, 9)?,
                fields: if class == b'c' { fields(control, relation).await? } else { Vec::new() },
            },
        ));
    }
    Ok(types)
}

async fn fields(control: &Connection, relation: u32) -> Result<Vec<(String, u32, i32)>> {
    let rows = control
        .client
        .query(
            "SELECT attname::text, atttypid, atttypmod FROM pg_attribute \
             WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            &[&relation],
        )
        .await
        .map_err(|error| failure(DOING, &error))?;
    rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?, get(row, 2)?))).collect()
}

/// Digits after the point of the server's money: one unit is 10^digits on the wire.
async fn money_scale(control: &Connection) -> Result<i32> {
    let rows =
        control.client.query("SELECT cash_send(1::int4::money)", &[]).await.map_err(|error| failure(DOING, &error))?;
    let bytes: Vec<u8> = rows.first().map_or(Ok(Vec::new()), |row| get(row, 0))?;
    let unit = <[u8; 8]>::try_from(bytes).map_or(0, i64::from_be_bytes);
    (0..=18_i32)
        .find(|digits| 10_i64.checked_pow(digits.unsigned_abs()) == Some(unit))
        .ok_or_else(|| crate::model::Error::internal("one unit of money is no power of ten"))
}
