//! One table behind the test TDS server: answers the catalogue queries and reads from a script. Of predicates it knows
//! the bounds of a whole number called `id`; rows come in the order in which they were given.

#![expect(clippy::unwrap_used, reason = "a script that does not fit must fail the test")]
#![expect(
    clippy::struct_excessive_bools,
    clippy::unnecessary_wraps,
    reason = "a script is a list of switches and answers"
)]

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};
use tieout_testkit::tds::backend::{
    Backend, Cell, Collation, ColumnInfo, Login, Param, Reply, ResultSet, Session, SqlError, TdsType,
};

/// A column of the script.
#[derive(Clone)]
pub(crate) struct Col {
    pub(crate) name: &'static str,
    pub(crate) type_name: &'static str,
    pub(crate) kind: TdsType,
    /// Bytes, precision, scale.
    pub(crate) size: (i16, u8, u8),
    pub(crate) nullable: bool,
    pub(crate) masked: bool,
    pub(crate) collation: Option<Collation>,
}

/// A column that may hold NULL.
pub(crate) fn col(name: &'static str, type_name: &'static str, kind: TdsType) -> Col {
    let size = match &kind {
        TdsType::Decimal { precision, scale } | TdsType::Numeric { precision, scale } => (17, *precision, *scale),
        TdsType::Time(scale) | TdsType::DateTime2(scale) | TdsType::DateTimeOffset(scale) => (10, 0, *scale),
        TdsType::Char(length) | TdsType::VarChar(Some(length)) | TdsType::Binary(length) => {
            (i16::try_from(*length).unwrap(), 0, 0)
        }
        TdsType::NChar(length) | TdsType::NVarChar(Some(length)) => (i16::try_from(*length * 2).unwrap(), 0, 0),
        TdsType::NVarChar(None) | TdsType::VarChar(None) | TdsType::VarBinary(None) => (-1, 0, 0),
        _ => (8, 0, 0),
    };
    Col { name, type_name, kind, size, nullable: true, masked: false, collation: None }
}

/// The key column `id`.
pub(crate) fn id() -> Col {
    Col { nullable: false, ..col("id", "int", TdsType::Int) }
}

/// Text as the wire has it.
pub(crate) fn utf16(text: &str) -> Cell {
    Cell::Utf16(text.encode_utf16().collect())
}

/// A script. Cloned for each connection; what is counted is shared.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) columns: Vec<Col>,
    pub(crate) rows: Arc<Vec<Vec<Cell>>>,
    pub(crate) version: &'static str,
    /// Column of the clustered index, 1 first.
    pub(crate) key: Option<i64>,
    pub(crate) allows_snapshot: bool,
    pub(crate) read_only: bool,
    pub(crate) has_policy: bool,
    pub(crate) unmask: bool,
    pub(crate) synonym: Option<&'static str>,
    /// The version of change tracking; negative: none.
    pub(crate) tracking: Arc<AtomicI64>,
    /// By how much it moves each time that somebody asks.
    pub(crate) moves: i64,
    /// Whether transactions end at once.
    pub(crate) loses_transaction: bool,
    /// Whether nvarchar has other bytes than documented.
    pub(crate) other_bytes: bool,
    /// The order of the key's collation.
    pub(crate) collation: &'static str,
    in_snapshot: bool,
}

/// SQL Server 2022.
pub(crate) const MICROSOFT: &str = "Microsoft SQL Server 2022 (RTM) - 16.0.1000.6 (X64)";

impl Script {
    pub(crate) fn new(columns: Vec<Col>, rows: Vec<Vec<Cell>>) -> Self {
        Self {
            columns,
            rows: Arc::new(rows),
            version: MICROSOFT,
            key: Some(1),
            allows_snapshot: true,
            read_only: false,
            has_policy: false,
            unmask: false,
            synonym: None,
            tracking: Arc::new(AtomicI64::new(-1)),
            moves: 0,
            loses_transaction: false,
            other_bytes: false,
            collation: "SQL_Latin1_General_CP1_CI_AS",
            in_snapshot: false,
        }
    }

    fn is_genuine(&self) -> bool {
        self.version.starts_with("Microsoft")
    }

    fn flags(&self) -> Vec<Vec<Cell>> {
        let row = |(id, column): (i64, &Col)| {
            vec![Cell::Int(id), Cell::Bit(false), Cell::Int(0), Cell::Bit(column.masked), Cell::Bit(false), Cell::Null]
        };
        (1..).zip(&self.columns).map(row).collect()
    }

    fn described(&self) -> Vec<Vec<Cell>> {
        let row = |(id, column): (i64, &Col)| {
            let (length, precision, scale) = column.size;
            let text = column.type_name.contains("char") || column.type_name.contains("text");
            vec![
                Cell::Int(id),
                utf16(column.name),
                Cell::Int(type_number(column.type_name)),
                Cell::Int(type_number(column.type_name)),
                Cell::Int(length.into()),
                Cell::Int(precision.into()),
                Cell::Int(scale.into()),
                if text { utf16(self.collation) } else { Cell::Null },
                Cell::Bit(column.nullable),
                Cell::Bit(false),
            ]
        };
        (1..).zip(&self.columns).map(row).collect()
    }

    /// The rows of a read: the items of its select list, in the order of the script.
    fn read(&self, sql: &str) -> Vec<Reply> {
        let list = sql.split(" FROM ").next().unwrap().trim_start_matches("SELECT ");
        let list = list.strip_prefix("TOP (400000) ").unwrap_or(list);
        let places: Vec<(usize, Option<TdsType>)> = items(list)
            .into_iter()
            .map(|item| {
                let place =
                    self.columns.iter().position(|column| item.contains(&format!("[{}]", column.name))).unwrap();
                (place, converted(&item))
            })
            .collect();
        let columns = places
            .iter()
            .map(|(place, converted)| {
                let column = &self.columns[*place];
                let kind = converted.clone().unwrap_or_else(|| column.kind.clone());
                ColumnInfo { name: column.name.to_owned(), kind, nullable: true, collation: column.collation }
            })
            .collect();
        let rows = Arc::clone(&self.rows);
        let (lower, upper) = (bound(sql, "t.[id] >= "), bound(sql, "t.[id] < "));
        let inside = move |row: &Vec<Cell>| match row[0] {
            Cell::Int(key) => lower.is_none_or(|lower| key >= lower) && upper.is_none_or(|upper| key < upper),
            _ => true,
        };
        let chosen: Vec<usize> = (0..rows.len()).filter(|row| inside(&rows[*row])).collect();
        let cells = chosen.into_iter().map(move |row| {
            Ok(places
                .iter()
                .map(|(place, converted)| match (&rows[row][*place], converted) {
                    (Cell::Money(units), Some(_)) => Cell::Decimal { mantissa: (*units).into() },
                    (Cell::Utf16(units), Some(TdsType::VarBinary(_))) => {
                        Cell::Bytes(units.iter().flat_map(|unit| unit.to_le_bytes()).collect())
                    }
                    (cell, _) => cell.clone(),
                })
                .collect())
        });
        vec![Reply::Rows(ResultSet { columns, rows: Box::new(cells) })]
    }
}

/// The whole number after `before`, the bound of a range.
fn bound(sql: &str, before: &str) -> Option<i64> {
    let rest = sql.split_once(before)?.1;
    rest.split(|letter: char| letter != '-' && !letter.is_ascii_digit()).next()?.parse().ok()
}

/// Pieces of a select list between commas outside of parentheses.
fn items(list: &str) -> Vec<String> {
    let (mut depth, mut pieces) = (0, vec![String::new()]);
    for letter in list.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if letter == ',' && depth == 0 {
            pieces.push(String::new());
        } else {
            pieces.last_mut().unwrap().push(letter);
        }
    }
    pieces.iter().map(|piece| piece.trim().to_owned()).collect()
}

/// What an item of a select list is converted to.
fn converted(item: &str) -> Option<TdsType> {
    let kind = item.strip_prefix("CONVERT(")?;
    Some(match kind.split_once(',').unwrap().0 {
        "nvarchar(max)" => TdsType::NVarChar(None),
        "varchar(max)" => TdsType::VarChar(None),
        "varbinary(max)" => TdsType::VarBinary(None),
        _ => TdsType::Decimal { precision: 19, scale: 4 },
    })
}

const TYPES: &[&str] = &[
    "bit",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "decimal",
    "numeric",
    "money",
    "smallmoney",
    "real",
    "float",
    "date",
    "time",
    "datetime",
    "smalldatetime",
    "datetime2",
    "datetimeoffset",
    "char",
    "varchar",
    "nchar",
    "nvarchar",
    "binary",
    "varbinary",
    "timestamp",
    "uniqueidentifier",
    "xml",
    "sql_variant",
];

/// Numbers of types are not those of SQL Server: only names may count.
fn type_number(name: &str) -> i64 {
    let place = TYPES.iter().position(|known| *known == name).unwrap();
    i64::try_from(place).unwrap() + 7
}

fn number(count: usize) -> Cell {
    Cell::Int(i64::try_from(count).unwrap())
}

fn rows(kinds: &[TdsType], rows: Vec<Vec<Cell>>) -> Result<Vec<Reply>, SqlError> {
    let columns = kinds
        .iter()
        .map(|kind| ColumnInfo { name: "c".to_owned(), kind: kind.clone(), nullable: true, collation: None })
        .collect();
    Ok(vec![Reply::Rows(ResultSet { columns, rows: Box::new(rows.into_iter().map(Ok)) })])
}

fn error(number: i32, message: &str) -> Result<Vec<Reply>, SqlError> {
    Err(SqlError { number, state: 1, class: 16, message: message.to_owned(), line: 1 })
}

impl Backend for Script {
    fn login(&self, login: &Login) -> Result<Box<dyn Session>, SqlError> {
        let right = login.token.as_deref() == Some("a token") || login.user == "u" && login.password == "p@ss";
        if right {
            return Ok(Box::new(self.clone()));
        }
        Err(SqlError { number: 18456, state: 1, class: 14, message: "Login failed.".to_owned(), line: 1 })
    }
}

impl Session for Script {
    fn execute(&mut self, sql: &str, _: &[Param]) -> Result<Vec<Reply>, SqlError> {
        let text = || TdsType::NVarChar(Some(200));
        let int = || TdsType::BigInt;
        let sql = sql.trim();
        if sql.starts_with("SET TRANSACTION ISOLATION LEVEL SNAPSHOT") {
            self.in_snapshot = true;
            return Ok(vec![Reply::Done { affected: None }, Reply::Done { affected: None }]);
        }
        if sql.starts_with("SET ") {
            let unknown = !self.is_genuine() && sql.contains("NUMERIC_ROUNDABORT");
            return if unknown { error(33_557_097, "not supported") } else { Ok(vec![Reply::Done { affected: None }]) };
        }
        if sql == "SELECT @@VERSION" {
            return rows(&[text()], vec![vec![utf16(self.version)]]);
        }
        if sql.contains("sys.databases") {
            if !self.is_genuine() {
                return error(33_557_097, "relation \"databases\" does not exist");
            }
            let state = i64::from(self.allows_snapshot);
            let row = vec![utf16("Sales"), Cell::Bit(self.read_only), Cell::Null, Cell::Int(state)];
            return rows(&[text(), TdsType::Bit, TdsType::Int, TdsType::TinyInt], vec![row]);
        }
        if sql.contains("NCHAR(8364)") {
            let bytes = if self.other_bytes { vec![b'?', b'?'] } else { vec![0xac, 0x20, 0xc0, 0x03] };
            return rows(&[TdsType::VarBinary(Some(8))], vec![vec![Cell::Bytes(bytes)]]);
        }
        if sql.contains("OBJECT_ID(") {
            return self.object(sql);
        }
        if sql.contains("sys.synonyms") {
            return rows(&[text()], vec![vec![utf16(self.synonym.unwrap())]]);
        }
        if sql.starts_with("SELECT TOP (2000)") {
            return rows(&[text(), text()], vec![vec![utf16("dbo"), utf16("orders")]]);
        }
        if sql.contains("HAS_PERMS_BY_NAME") {
            let unmask = i64::from(self.unmask);
            let row = [Cell::Int(unmask), Cell::Int(1), Cell::Int(unmask), Cell::Int(1)];
            let count = sql.matches("HAS_PERMS_BY_NAME").count();
            return rows(&vec![TdsType::Int; count], vec![row[..count].to_vec()]);
        }
        if sql.contains("sys.masked_columns") {
            return rows(&[int()], vec![vec![number(self.columns.iter().filter(|c| c.masked).count())]]);
        }
        if sql.contains("sys.security_policies") {
            if !self.is_genuine() {
                return error(33_557_097, "relation \"security_policies\" does not exist");
            }
            return rows(&[text()], if self.has_policy { vec![vec![utf16("hide")]] } else { Vec::new() });
        }
        if sql.contains("FROM sys.types") {
            let row = |name: &&str| {
                let number = Cell::Int(type_number(name));
                vec![utf16(name), number.clone(), number, Cell::Bit(false), Cell::Bit(false)]
            };
            return rows(&[text(), int(), int(), TdsType::Bit, TdsType::Bit], TYPES.iter().map(row).collect());
        }
        if sql.contains("is_hidden") {
            let bit = || TdsType::Bit;
            return rows(&[int(), bit(), int(), bit(), bit(), int()], self.flags());
        }
        if sql.contains("FROM sys.columns") {
            let bit = || TdsType::Bit;
            let kinds = [int(), text(), int(), int(), int(), int(), int(), text(), bit(), bit()];
            return rows(&kinds, self.described());
        }
        self.rest(sql)
    }
}

impl Script {
    fn object(&self, sql: &str) -> Result<Vec<Reply>, SqlError> {
        let text = || TdsType::NVarChar(Some(200));
        let kinds = [TdsType::Int, text(), text(), TdsType::Char(2)];
        let found = |id: i64, name: &str, kind: &str| {
            vec![vec![Cell::Int(id), utf16("dbo"), utf16(name), Cell::Bytes(kind.as_bytes().to_vec())]]
        };
        if sql.contains("orders]") {
            return rows(&kinds, found(1234, "orders", "U "));
        }
        if sql.contains("alias]") && self.synonym.is_some() {
            return rows(&kinds, found(99, "alias", "SN"));
        }
        rows(&kinds, Vec::new())
    }

    fn rest(&mut self, sql: &str) -> Result<Vec<Reply>, SqlError> {
        let int = || TdsType::BigInt;
        if sql.contains("sys.indexes") {
            let bit = || TdsType::Bit;
            let kinds = [
                int(),
                TdsType::NVarChar(Some(200)),
                int(),
                bit(),
                bit(),
                bit(),
                bit(),
                int(),
                int(),
                int(),
                bit(),
                bit(),
            ];
            let off = || Cell::Bit(false);
            let one = || Cell::Int(1);
            let row = |column: i64| {
                let place = Cell::Int(column);
                let yes = || Cell::Bit(true);
                vec![one(), utf16("PK"), one(), yes(), yes(), off(), off(), place, one(), Cell::Int(0), off(), off()]
            };
            return rows(&kinds, self.key.map(row).into_iter().collect());
        }
        if sql.contains("sys.partitions") {
            return rows(&[int(), int()], vec![vec![Cell::Int(1), number(self.rows.len())]]);
        }
        if sql.contains("CHANGE_TRACKING") {
            let version = self.tracking.fetch_add(self.moves, Ordering::SeqCst);
            let cell = if version < 0 { Cell::Null } else { Cell::Int(version) };
            return rows(&[int(), int()], vec![vec![cell, if version < 0 { Cell::Null } else { Cell::Int(1) }]]);
        }
        if sql.contains("SYSUTCDATETIME") {
            // 2024-01-31 10:00:00
            let now = Cell::DateTime2 { days: 738_915, time: 360_000_000_000 };
            return rows(&[TdsType::DateTime2(7)], vec![vec![now]]);
        }
        if sql == "SELECT @@TRANCOUNT" {
            let count = i64::from(self.in_snapshot && !self.loses_transaction);
            return rows(&[TdsType::Int], vec![vec![Cell::Int(count)]]);
        }
        if self.in_snapshot && !self.allows_snapshot {
            return error(3952, "Snapshot isolation transaction failed accessing database 'Sales'.");
        }
        if sql.starts_with("SELECT TOP (1) 1") || sql.starts_with("SELECT TOP (0) 1") {
            return rows(&[TdsType::Int], Vec::new());
        }
        if sql.starts_with("SELECT TOP (0) *") {
            let list: Vec<String> = self.columns.iter().map(|column| format!("t.[{}]", column.name)).collect();
            let mut replies = self.read(&format!("SELECT {} FROM q", list.join(", ")));
            if let Some(Reply::Rows(set)) = replies.first_mut() {
                set.rows = Box::new(std::iter::empty());
            }
            return Ok(replies);
        }
        if sql.starts_with("SELECT ") && sql.contains("t.[") {
            return Ok(self.read(sql));
        }
        error(102, &format!("the script has no answer to: {sql}"))
    }
}
