//! What the protocol half of the test TDS server asks of the half that answers SQL.
//!
//! The types follow [MS-TDS] 2.2.5.4 (data type definitions) and 2.2.5.5 (their values): a value is
//! exact, says what the wire will carry, and nothing here converts one type to another.

use std::fmt;

/// A column of a result as TDS describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// The name as the client sees it; may be empty.
    pub name: String,
    /// The type on the wire, with its bounds.
    pub kind: TdsType,
    /// Whether the flags of the column say that it may be NULL.
    pub nullable: bool,
    /// Of character columns; `None` there means the server's default collation.
    pub collation: Option<Collation>,
}

/// Column types on the wire ([MS-TDS] 2.2.5.4): with length, precision, scale where they matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TdsType {
    /// `bit`.
    Bit,
    /// `tinyint`, 0 to 255.
    TinyInt,
    /// `smallint`.
    SmallInt,
    /// `int`.
    Int,
    /// `bigint`.
    BigInt,
    /// `real`, 4 bytes.
    Real,
    /// `float`, 8 bytes.
    Float,
    /// `money`, 8 bytes.
    Money,
    /// `smallmoney`, 4 bytes.
    SmallMoney,
    /// `decimal(precision, scale)`.
    Decimal {
        /// 1 to 38.
        precision: u8,
        /// 0 to the precision.
        scale: u8,
    },
    /// `numeric(precision, scale)`.
    Numeric {
        /// 1 to 38.
        precision: u8,
        /// 0 to the precision.
        scale: u8,
    },
    /// `date`.
    Date,
    /// `time(scale)`, scale 0 to 7.
    Time(u8),
    /// `datetime`.
    DateTime,
    /// `smalldatetime`.
    SmallDateTime,
    /// `datetime2(scale)`, scale 0 to 7.
    DateTime2(u8),
    /// `datetimeoffset(scale)`, scale 0 to 7.
    DateTimeOffset(u8),
    /// `char(n)`, n in bytes.
    Char(u16),
    /// `varchar(n)`, n in bytes; `None` is `max`.
    VarChar(Option<u16>),
    /// `nchar(n)`, n in UTF-16 units.
    NChar(u16),
    /// `nvarchar(n)`, n in UTF-16 units; `None` is `max`.
    NVarChar(Option<u16>),
    /// `text`.
    Text,
    /// `ntext`.
    NText,
    /// `image`.
    Image,
    /// `binary(n)`.
    Binary(u16),
    /// `varbinary(n)`; `None` is `max`.
    VarBinary(Option<u16>),
    /// `uniqueidentifier`.
    UniqueIdentifier,
    /// `xml` without a schema collection.
    Xml,
    /// A type of the CLR: `geometry`, `geography`, `hierarchyid`.
    Udt {
        /// The type's name without its schema.
        type_name: String,
    },
    /// `sql_variant`; the base type of a value follows from its [`Cell`].
    Variant,
}

/// Collation as 5 bytes plus the code page it means (1252, 65001, ...).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Collation {
    /// LCID, flags, version and sort id as [MS-TDS] 2.2.5.1.2 lays them out.
    pub bytes: [u8; 5],
    /// The code page of `char`, `varchar` and `text` under this collation.
    pub code_page: u32,
}

/// A value, already exact.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// NULL of any type.
    Null,
    /// `bit`.
    Bit(bool),
    /// `tinyint`, `smallint`, `int`, `bigint`.
    Int(i64),
    /// `real`.
    F32(f32),
    /// `float`.
    F64(f64),
    /// `money` and `smallmoney`, in ten-thousandths.
    Money(i64),
    /// `decimal` and `numeric`.
    Decimal {
        /// The value times ten to the power of the column's scale.
        mantissa: i128,
    },
    /// `date`: days since 0001-01-01.
    Date(u32),
    /// `time`: ticks of the column's scale since midnight (of `10^-scale` seconds).
    Time(u64),
    /// `datetime`.
    DateTime {
        /// Days since 1900-01-01.
        days: i32,
        /// Since midnight, in 1/300 s.
        ticks: u32,
    },
    /// `smalldatetime`.
    SmallDateTime {
        /// Days since 1900-01-01.
        days: u16,
        /// Minutes since midnight.
        minutes: u16,
    },
    /// `datetime2`.
    DateTime2 {
        /// Days since 0001-01-01.
        days: u32,
        /// Ticks of the column's scale since midnight.
        time: u64,
    },
    /// `datetimeoffset`; day and time are of UTC.
    DateTimeOffset {
        /// Days since 0001-01-01.
        days: u32,
        /// Ticks of the column's scale since midnight.
        time: u64,
        /// Minutes east of UTC, -840 to 840.
        offset_minutes: i16,
    },
    /// `binary`, `varbinary`, `image`, a CLR type; and `char`, `varchar`, `text` in the column's code page.
    Bytes(Vec<u8>),
    /// `nchar`, `nvarchar`, `ntext`, `xml`, as UTF-16 units (lone surrogates included).
    Utf16(Vec<u16>),
    /// `uniqueidentifier` in RFC 4122 order, as its text reads; the wire is mixed-endian.
    Guid([u8; 16]),
}

/// The rows of one statement, made as they are sent.
pub struct ResultSet {
    /// The columns, in order.
    pub columns: Vec<ColumnInfo>,
    /// As many cells a row as there are columns; an error ends the result (and the batch) mid-stream.
    pub rows: Box<dyn Iterator<Item = Result<Vec<Cell>, SqlError>> + Send>,
}

impl fmt::Debug for ResultSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResultSet").field("columns", &self.columns).finish_non_exhaustive()
    }
}

/// What one statement of a batch gives.
#[derive(Debug)]
pub enum Reply {
    /// Rows, followed by their count.
    Rows(ResultSet),
    /// No rows.
    Done {
        /// Rows changed, when the statement counts them.
        affected: Option<u64>,
    },
}

/// An error as the ERROR token carries it ([MS-TDS] 2.2.7.10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlError {
    /// The server's number, such as 208 for an object that is not there.
    pub number: i32,
    /// The state.
    pub state: u8,
    /// The severity; 20 and above end the connection.
    pub class: u8,
    /// The message.
    pub message: String,
    /// The line in the batch, from 1.
    pub line: u32,
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error {} (class {}, state {}): {}", self.number, self.class, self.state, self.message)
    }
}

impl std::error::Error for SqlError {}

/// One connection's session. `params` are those of `sp_executesql` by name with value and type.
pub trait Session: Send {
    /// Runs a batch; the rows of a result are made only as they are sent.
    fn execute(&mut self, sql: &str, params: &[Param]) -> Result<Vec<Reply>, SqlError>;

    /// The client asked to stop; whatever rows were left have been dropped.
    fn attention(&mut self) {}
}

/// A parameter of `sp_executesql`.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// With its `@`.
    pub name: String,
    /// The type as the client sent it.
    pub kind: TdsType,
    /// The value.
    pub value: Cell,
}

/// The SQL half of the server, shared by all connections.
pub trait Backend: Send + Sync + 'static {
    /// Opens a session, or refuses the login (number 18456).
    fn login(&self, login: &Login) -> Result<Box<dyn Session>, SqlError>;
}

/// What LOGIN7 said ([MS-TDS] 2.2.6.4).
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The SQL login, empty under a token.
    pub user: String,
    /// The password in clear.
    pub password: String,
    /// The database asked for; empty means the login's default.
    pub database: String,
    /// The client's machine name.
    pub host: String,
    /// The application's name.
    pub application: String,
    /// The server name that the client used.
    pub server: String,
    /// `ApplicationIntent=ReadOnly`.
    pub read_only_intent: bool,
    /// The access token of the FEDAUTH feature.
    pub token: Option<String>,
    /// The whole record as received, for golden tests.
    pub raw: Vec<u8>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login")
            .field("user", &self.user)
            .field("database", &self.database)
            .field("host", &self.host)
            .field("application", &self.application)
            .field("server", &self.server)
            .field("read_only_intent", &self.read_only_intent)
            .finish_non_exhaustive()
    }
}
