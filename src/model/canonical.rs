//! The canonical types: what a pair of columns is compared as.

use std::fmt;

/// The type that decides how a value is encoded. `docs/encoding.md` gives the bytes of each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CanonicalType {
    /// false and true.
    Boolean,
    /// Integers and decimals of any width, with NaN and infinities.
    Number,
    /// IEEE 754 binary64, -0.0 folded to 0.0, one NaN.
    Float,
    /// Characters, compared by their UTF-8 bytes.
    Text,
    /// Bytes.
    Binary,
    /// Bit strings, by bits and length.
    Bits,
    /// Calendar days.
    Date,
    /// Time of day, in nanoseconds.
    Time,
    /// Time of day with its offset.
    TimeTz,
    /// Calendar time without a zone.
    Timestamp,
    /// A moment.
    Instant,
    /// A moment and the offset it was written with.
    OffsetInstant,
    /// (months, days, microseconds) as stored.
    Interval,
    /// 16 bytes.
    Uuid,
    /// A JSON document.
    Json,
    /// A network address with its prefix length.
    Inet,
    /// A hardware address of 6 bytes.
    Mac,
    /// A hardware address of 8 bytes.
    Mac8,
    /// A figure of the plane.
    Geometric(GeometricKind),
    /// A list (any number of dimensions).
    List(Box<Self>),
    /// Named fields, sorted by the UTF-8 bytes of their names.
    Struct(Vec<StructField>),
    /// Unordered entries of distinct keys.
    Map(Box<Self>, Box<Self>),
    /// A range over an ordered type.
    Range(Box<Self>),
    /// A set of ranges.
    Multirange(Box<Self>),
}

/// A field of [`CanonicalType::Struct`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructField {
    /// The name, exactly as the store has it.
    pub name: String,
    /// The type of the field.
    pub canonical: CanonicalType,
}

/// Which figure a [`CanonicalType::Geometric`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GeometricKind {
    /// x, y
    Point,
    /// A, B, C
    Line,
    /// x1, y1, x2, y2
    Segment,
    /// upper right x, y, lower left x, y
    Box,
    /// closed or open, points
    Path,
    /// points
    Polygon,
    /// x, y, radius
    Circle,
}

impl fmt::Display for CanonicalType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::Float => "float",
            Self::Text => "text",
            Self::Binary => "binary",
            Self::Bits => "bits",
            Self::Date => "date",
            Self::Time => "time",
            Self::TimeTz => "time with zone",
            Self::Timestamp => "timestamp",
            Self::Instant => "instant",
            Self::OffsetInstant => "offset instant",
            Self::Interval => "interval",
            Self::Uuid => "uuid",
            Self::Json => "json",
            Self::Inet => "inet",
            Self::Mac => "mac address",
            Self::Mac8 => "mac address (8 bytes)",
            Self::Geometric(kind) => match kind {
                GeometricKind::Point => "point",
                GeometricKind::Line => "line",
                GeometricKind::Segment => "lseg",
                GeometricKind::Box => "box",
                GeometricKind::Path => "path",
                GeometricKind::Polygon => "polygon",
                GeometricKind::Circle => "circle",
            },
            Self::List(element) => return write!(f, "list<{element}>"),
            Self::Struct(fields) => {
                f.write_str("struct<")?;
                for (index, field) in fields.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{}: {}", field.name, field.canonical)?;
                }
                return f.write_str(">");
            }
            Self::Map(key, value) => return write!(f, "map<{key}, {value}>"),
            Self::Range(bound) => return write!(f, "range<{bound}>"),
            Self::Multirange(bound) => return write!(f, "multirange<{bound}>"),
        };
        f.write_str(name)
    }
}
