//! What a database holds. A commit makes a new state and leaves the old one as it is, so that a snapshot is a state kept.

use super::collation;
use super::failure::{Answer, error, no_column, unknown};
use super::types::{self, Label, Ty};
use crate::tds::backend::{Cell, TdsType};
use sqlparser::ast::Query;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A row, as many cells as its table has columns.
pub(super) type Row = Arc<[Cell]>;

/// The first object number.
const FIRST_OBJECT: i64 = 1_000_101;

/// A column.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the catalogue has one column for each")]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The plain name of its type, such as `timestamp`.
    pub(super) declared: String,
    pub(super) ty: Ty,
    /// Whether it may hold NULL.
    pub nullable: bool,
    /// Whether the catalogue calls it computed.
    pub computed: bool,
    /// Whether `SELECT *` leaves it out (period columns).
    pub hidden: bool,
    /// Whether logins without UNMASK read a mask.
    pub masked: bool,
    /// The kind of encryption by the client, if any.
    pub encryption: Option<i64>,
    /// The alias type it was declared with (`CREATE TYPE ... FROM ...`).
    pub alias: Option<String>,
    /// Numbers itself in INSERT.
    pub(super) identity: bool,
}

impl Column {
    /// A column of a type as it is written, such as `nvarchar(20)`.
    ///
    /// # Errors
    /// When there is no such type or collation.
    pub fn new(name: &str, kind: &str, collation: Option<&str>, nullable: bool) -> Answer<Self> {
        let (declared, kind) = types::parse(kind)?;
        let collation = collation.map_or(Ok(collation::DEFAULT), collation::find)?;
        let ty = Ty { kind, collation, label: Label::Implicit };
        Ok(Self {
            name: name.to_owned(),
            declared,
            ty,
            nullable,
            computed: false,
            hidden: false,
            masked: false,
            encryption: None,
            alias: None,
            identity: false,
        })
    }

    /// Whether the server fills it.
    pub(super) fn fills_itself(&self) -> bool {
        self.identity || self.declared == "timestamp"
    }
}

/// An index.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the catalogue has one column for each")]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Whether it holds the rows.
    pub clustered: bool,
    /// Whether it is the primary key.
    pub primary: bool,
    /// Whether its keys are unique.
    pub unique: bool,
    /// Whether it is not kept.
    pub disabled: bool,
    /// Whether it has a condition.
    pub filtered: bool,
    /// Places of key columns, and whether they descend.
    pub keys: Vec<(usize, bool)>,
    /// Places of columns that it carries.
    pub included: Vec<usize>,
    /// The place of the column by which it is partitioned.
    pub partitioned_by: Option<usize>,
}

/// Makes the row of a place.
type Make = dyn Fn(u64) -> Vec<Cell> + Send + Sync;

/// Rows of a table.
#[derive(Clone)]
pub(super) enum Rows {
    Stored(Arc<Vec<Row>>),
    /// Made each time they are read, in ascending order of one column.
    Made {
        count: u64,
        make: Arc<Make>,
        ascends: usize,
    },
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows", self.len())
    }
}

impl Rows {
    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Stored(rows) => rows.len() as u64,
            Self::Made { count, .. } => *count,
        }
    }

    /// All rows, in their order.
    pub(super) fn iter(&self) -> Box<dyn Iterator<Item = Row> + Send> {
        match self {
            Self::Stored(rows) => {
                let rows = Arc::clone(rows);
                Box::new((0..rows.len()).map(move |place| Arc::clone(&rows[place])))
            }
            Self::Made { count, make, .. } => {
                let make = Arc::clone(make);
                Box::new((0..*count).map(move |place| make(place).into()))
            }
        }
    }
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    pub(super) id: i64,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its indexes, the clustered one first.
    pub indexes: Vec<Index>,
    pub(super) rows: Rows,
    /// The commit that last changed what it looks like.
    pub(super) shaped: u64,
    /// The commit from which on its changes are tracked.
    pub tracked_since: Option<u64>,
    /// A row security policy: its name, and the condition of rows that are seen.
    pub policy: Option<(String, String)>,
}

impl Table {
    pub(super) fn place(&self, name: &str) -> Answer<usize> {
        self.columns.iter().position(|column| same(&column.name, name)).ok_or_else(|| no_column(name))
    }
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Object {
    Table(Arc<Table>),
    View { id: i64, query: Arc<Query> },
    Synonym { id: i64, base: String },
}

impl Object {
    pub(super) fn id(&self) -> i64 {
        match self {
            Self::Table(table) => table.id,
            Self::View { id, .. } | Self::Synonym { id, .. } => *id,
        }
    }

    /// Its kind in sys.objects.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Table(_) => "U",
            Self::View { .. } => "V",
            Self::Synonym { .. } => "SN",
        }
    }
}

/// A database at one commit.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the catalogue has one column for each")]
pub struct Database {
    /// Its name.
    pub name: String,
    /// Whether `ALLOW_SNAPSHOT_ISOLATION` is on.
    pub allows_snapshot: bool,
    /// Whether it is read-only.
    pub read_only: bool,
    /// Whether it is a database snapshot.
    pub is_snapshot: bool,
    /// Whether change tracking is on.
    pub tracks_changes: bool,
    /// Whether logins see through masks.
    pub unmask: bool,
    /// Whether logins may see definitions.
    pub view_definition: bool,
    /// Alias types: name and what they stand for.
    pub aliases: BTreeMap<String, String>,
    /// By schema and name.
    pub(super) objects: BTreeMap<(String, String), Object>,
    /// How many times it was written.
    pub(super) commits: u64,
    pub(super) next_object: i64,
    /// What the next rowversion holds.
    pub(super) next_version: u64,
}

impl Default for Database {
    fn default() -> Self {
        Self {
            name: "test".to_owned(),
            allows_snapshot: true,
            read_only: false,
            is_snapshot: false,
            tracks_changes: false,
            unmask: true,
            view_definition: true,
            aliases: BTreeMap::new(),
            objects: BTreeMap::new(),
            commits: 0,
            next_object: FIRST_OBJECT,
            next_version: 2001,
        }
    }
}

/// Whether two names are one, in the collation of the database.
pub(super) fn same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

impl Database {
    /// An object by its schema (`dbo` without one) and name.
    pub(super) fn find(&self, schema: Option<&str>, name: &str) -> Option<(&(String, String), &Object)> {
        let schema = schema.unwrap_or("dbo");
        self.objects.iter().find(|((one, other), _)| same(one, schema) && same(other, name))
    }

    pub(super) fn by_id(&self, id: i64) -> Option<(&(String, String), &Object)> {
        self.objects.iter().find(|(_, object)| object.id() == id)
    }

    /// A table to be changed.
    ///
    /// # Errors
    /// When there is none of that name in `dbo`.
    pub fn table_mut(&mut self, name: &str) -> Answer<&mut Table> {
        self.any_table_mut(None, name)
    }

    pub(super) fn any_table_mut(&mut self, schema: Option<&str>, name: &str) -> Answer<&mut Table> {
        let key = self.find(schema, name).map(|(key, _)| key.clone());
        match key.and_then(|key| self.objects.get_mut(&key)) {
            Some(Object::Table(table)) => Ok(Arc::make_mut(table)),
            _ => Err(super::failure::no_object(name)),
        }
    }

    pub(super) fn add(&mut self, schema: Option<&str>, name: &str, object: impl FnOnce(i64) -> Object) -> Answer<()> {
        if self.find(schema, name).is_some() {
            return Err(error(2714, format!("There is already an object named '{name}' in the database.")));
        }
        let id = self.next_object;
        self.next_object += 16;
        self.objects.insert((schema.unwrap_or("dbo").to_owned(), name.to_owned()), object(id));
        Ok(())
    }

    /// A table whose rows are made as they are read; its one clustered primary key is the column at `key`, which ascends.
    ///
    /// # Errors
    /// When there is an object of that name.
    pub fn add_made(
        &mut self,
        name: &str,
        columns: Vec<Column>,
        key: usize,
        count: u64,
        make: impl Fn(u64) -> Vec<Cell> + Send + Sync + 'static,
    ) -> Answer<()> {
        let index = Index {
            name: format!("PK_{name}"),
            clustered: true,
            primary: true,
            unique: true,
            disabled: false,
            filtered: false,
            keys: vec![(key, false)],
            included: Vec::new(),
            partitioned_by: None,
        };
        let shaped = self.commits;
        let rows = Rows::Made { count, make: Arc::new(make), ascends: key };
        self.add(None, name, |id| {
            let indexes = vec![index];
            Object::Table(Arc::new(Table { id, columns, indexes, rows, shaped, tracked_since: None, policy: None }))
        })
    }

    /// Replaces the rows of a table with exactly these cells, whatever they are: also what no INSERT could give.
    ///
    /// # Errors
    /// When there is no such table, or a row has another number of cells than it has columns.
    pub fn set_rows(&mut self, name: &str, rows: Vec<Vec<Cell>>) -> Answer<()> {
        let table = self.table_mut(name)?;
        if rows.iter().any(|row| row.len() != table.columns.len()) {
            return Err(unknown("a row of another width"));
        }
        table.rows = Rows::Stored(Arc::new(rows.into_iter().map(Into::into).collect()));
        Ok(())
    }
}

/// What a login without UNMASK reads.
pub(super) fn mask(cell: &Cell, kind: &TdsType) -> Cell {
    match (cell, kind) {
        (Cell::Null, _) => Cell::Null,
        (Cell::Utf16(_), _) => Cell::Utf16("xxxx".encode_utf16().collect()),
        (Cell::Bytes(_), TdsType::Char(_) | TdsType::VarChar(_)) => Cell::Bytes(b"xxxx".to_vec()),
        (Cell::Int(_), _) => Cell::Int(0),
        (Cell::Decimal { .. }, _) => Cell::Decimal { mantissa: 0 },
        (other, _) => other.clone(),
    }
}

/// The parts of a name with dots, brackets and quotes.
pub(super) fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let closing = match c {
            '[' => ']',
            '"' => '"',
            '.' => {
                parts.push(String::new());
                continue;
            }
            _ => {
                if let Some(part) = parts.last_mut() {
                    part.push(c);
                }
                continue;
            }
        };
        while let Some(inner) = chars.next() {
            if inner == closing && chars.next_if_eq(&closing).is_none() {
                break;
            }
            if let Some(part) = parts.last_mut() {
                part.push(inner);
            }
        }
    }
    parts
}
