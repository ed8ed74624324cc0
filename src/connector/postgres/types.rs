//! `PostgreSQL` types: what the binary format of each holds, and its store-neutral form.

use crate::model::{CanonicalType, GeometricKind, LogicalType, StructField};

/// How a value looks on the wire, domains resolved to their base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wire {
    Bool,
    Int2,
    Int4,
    Int8,
    Oid,
    /// With (precision, scale) as declared.
    Numeric(Option<(u32, i32)>),
    Float4,
    Float8,
    /// text, varchar, name, citext.
    Text(TextKind),
    BpChar,
    /// The one-byte type `"char"`.
    Byte,
    Bytea,
    Date,
    /// Digits after the second.
    Time(u8),
    TimeTz,
    Timestamp(u8),
    TimestampTz(u8),
    Interval,
    Uuid,
    Json,
    Jsonb,
    Xml,
    /// `bit` or, if true, `varbit`.
    Bits(bool),
    Inet,
    Mac,
    Mac8,
    /// Digits after the point.
    Money(i32),
    Enum,
    Geometric(GeometricKind),
    /// (name, type oid on the wire, type) of each field.
    Composite(Vec<(String, u32, Self)>),
    /// Oid of the element on the wire, and its type.
    Array(u32, Box<Self>),
    Range(Box<Self>),
    Multirange(Box<Self>),
    Hstore,
    /// Rendered as text by the server.
    ServerText,
    Unsupported(String),
}

/// Kinds of text that differ in how they sort on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    /// `text` and `varchar`: `COLLATE "C"` is byte order.
    Plain,
    /// `name`: in byte order by itself.
    Name,
    /// `citext`: compares folded, whatever the collation.
    Folded,
}

/// The digits after the second of a time type.
fn digits(modifier: i32) -> u8 {
    u8::try_from(modifier).ok().filter(|digits| *digits <= 6).unwrap_or(6)
}

/// Precision and scale of a numeric type. The scale has eleven bits and a sign since `PostgreSQL` 15.
pub(super) fn numeric_declared(modifier: i32) -> Option<(u32, i32)> {
    let packed = u32::try_from(modifier.checked_sub(4)?).ok()?;
    let scale = i32::try_from(packed & 0x7FF).ok()?;
    Some((packed >> 16, (scale ^ 1024) - 1024))
}

/// The built-in type of this oid.
pub(super) fn built_in(oid: u32, modifier: i32, money_scale: i32) -> Option<Wire> {
    Some(match oid {
        16 => Wire::Bool,
        17 => Wire::Bytea,
        18 => Wire::Byte,
        19 => Wire::Text(TextKind::Name),
        20 => Wire::Int8,
        21 => Wire::Int2,
        23 => Wire::Int4,
        25 | 1043 => Wire::Text(TextKind::Plain),
        26 => Wire::Oid,
        114 => Wire::Json,
        142 => Wire::Xml,
        600 => Wire::Geometric(GeometricKind::Point),
        601 => Wire::Geometric(GeometricKind::Segment),
        602 => Wire::Geometric(GeometricKind::Path),
        603 => Wire::Geometric(GeometricKind::Box),
        604 => Wire::Geometric(GeometricKind::Polygon),
        628 => Wire::Geometric(GeometricKind::Line),
        718 => Wire::Geometric(GeometricKind::Circle),
        650 | 869 => Wire::Inet,
        700 => Wire::Float4,
        701 => Wire::Float8,
        774 => Wire::Mac8,
        790 => Wire::Money(money_scale),
        829 => Wire::Mac,
        1042 => Wire::BpChar,
        1082 => Wire::Date,
        1083 => Wire::Time(digits(modifier)),
        1114 => Wire::Timestamp(digits(modifier)),
        1184 => Wire::TimestampTz(digits(modifier)),
        1186 => Wire::Interval,
        1266 => Wire::TimeTz,
        1560 => Wire::Bits(false),
        1562 => Wire::Bits(true),
        1700 => Wire::Numeric(numeric_declared(modifier)),
        2950 => Wire::Uuid,
        3614 | 3615 => Wire::ServerText,
        3802 => Wire::Jsonb,
        _ => return None,
    })
}

/// The built-in types as the manual spells them, for the reference page.
pub(super) fn documented() -> Vec<(String, LogicalType)> {
    let plain = [
        ("boolean", 16),
        ("smallint", 21),
        ("integer", 23),
        ("bigint", 20),
        ("numeric", 1700),
        ("money", 790),
        ("real", 700),
        ("double precision", 701),
        ("oid", 26),
        ("text", 25),
        ("varchar(n)", 1043),
        ("char(n)", 1042),
        ("name", 19),
        ("\"char\"", 18),
        ("bytea", 17),
        ("bit(n)", 1560),
        ("bit varying(n)", 1562),
        ("date", 1082),
        ("time", 1083),
        ("time with time zone", 1266),
        ("timestamp", 1114),
        ("timestamp with time zone", 1184),
        ("interval", 1186),
        ("uuid", 2950),
        ("json", 114),
        ("jsonb", 3802),
        ("xml", 142),
        ("inet", 869),
        ("cidr", 650),
        ("macaddr", 829),
        ("macaddr8", 774),
        ("point", 600),
        ("line", 628),
        ("lseg", 601),
        ("box", 603),
        ("path", 602),
        ("polygon", 604),
        ("circle", 718),
        ("tsvector", 3614),
        ("tsquery", 3615),
    ];
    let plain = plain.into_iter().filter_map(|(name, oid)| Some((name.to_owned(), built_in(oid, -1, 2)?)));
    let composed = [
        ("enum", Wire::Enum),
        ("text[]", Wire::Array(25, Box::new(Wire::Text(TextKind::Plain)))),
        ("integer[]", Wire::Array(23, Box::new(Wire::Int4))),
        ("int4range", Wire::Range(Box::new(Wire::Int4))),
        ("numrange", Wire::Range(Box::new(Wire::Numeric(None)))),
        ("tstzrange", Wire::Range(Box::new(Wire::TimestampTz(6)))),
        ("int4multirange", Wire::Multirange(Box::new(Wire::Int4))),
        ("composite (f text)", Wire::Composite(vec![("f".to_owned(), 25, Wire::Text(TextKind::Plain))])),
        ("hstore", Wire::Hstore),
    ];
    let composed = composed.into_iter().map(|(name, wire)| (name.to_owned(), wire));
    plain.chain(composed).map(|(name, wire)| (name, wire.logical())).collect()
}

impl Wire {
    /// The store-neutral form.
    pub(super) fn logical(&self) -> LogicalType {
        match self {
            Self::Bool => LogicalType::Boolean,
            Self::Int2 => LogicalType::Integer { bits: 16, signed: true },
            Self::Int4 => LogicalType::Integer { bits: 32, signed: true },
            Self::Int8 => LogicalType::Integer { bits: 64, signed: true },
            Self::Oid => LogicalType::Integer { bits: 32, signed: false },
            Self::Numeric(declared) => LogicalType::Decimal { declared: *declared },
            // A bigint of the smallest unit: 19 digits.
            Self::Money(scale) => LogicalType::Decimal { declared: Some((19, *scale)) },
            Self::Float4 => LogicalType::Float { bits: 32 },
            Self::Float8 => LogicalType::Float { bits: 64 },
            Self::Text(_) | Self::Byte | Self::ServerText => LogicalType::Text,
            Self::BpChar => LogicalType::Char,
            Self::Bytea => LogicalType::Binary,
            Self::Date => LogicalType::Date,
            Self::Time(digits) => LogicalType::Time { digits: *digits },
            Self::TimeTz => LogicalType::TimeTz,
            Self::Timestamp(digits) => LogicalType::Timestamp { digits: *digits },
            Self::TimestampTz(digits) => LogicalType::Instant { digits: *digits },
            Self::Interval => LogicalType::Interval,
            Self::Uuid => LogicalType::Uuid,
            Self::Json | Self::Jsonb => LogicalType::Json,
            Self::Xml => LogicalType::Xml,
            Self::Bits(_) => LogicalType::Bits,
            Self::Inet => LogicalType::Inet,
            Self::Mac => LogicalType::Mac,
            Self::Mac8 => LogicalType::Mac8,
            Self::Enum => LogicalType::Enum,
            Self::Geometric(kind) => LogicalType::Geometric(*kind),
            Self::Composite(fields) => {
                LogicalType::Struct(fields.iter().map(|(name, _, wire)| (name.clone(), wire.logical())).collect())
            }
            Self::Array(_, element) => LogicalType::List(Box::new(element.logical())),
            Self::Range(bound) => LogicalType::Range(Box::new(bound.logical())),
            Self::Multirange(bound) => LogicalType::Multirange(Box::new(bound.logical())),
            Self::Hstore => LogicalType::Map(Box::new(LogicalType::Text), Box::new(LogicalType::Text)),
            Self::Unsupported(reason) => LogicalType::Unsupported(reason.clone()),
        }
    }

    /// The canonical type of a composed type; `None` for all others, and for what cannot be read.
    pub(super) fn composed(&self) -> Option<CanonicalType> {
        Some(match self {
            Self::Composite(fields) => {
                let field = |(name, _, wire): &(String, u32, Self)| {
                    Some(StructField { name: name.clone(), canonical: wire.canonical()? })
                };
                let mut fields = fields.iter().map(field).collect::<Option<Vec<_>>>()?;
                fields.sort_by(|one, other| one.name.cmp(&other.name));
                CanonicalType::Struct(fields)
            }
            Self::Array(_, element) => CanonicalType::List(Box::new(element.canonical()?)),
            Self::Range(bound) => CanonicalType::Range(Box::new(bound.canonical()?)),
            Self::Multirange(bound) => CanonicalType::Multirange(Box::new(bound.canonical()?)),
            Self::Hstore => CanonicalType::Map(Box::new(CanonicalType::Text), Box::new(CanonicalType::Text)),
            Self::Geometric(kind) => CanonicalType::Geometric(*kind),
            _ => return None,
        })
    }

    fn canonical(&self) -> Option<CanonicalType> {
        Some(match self {
            Self::Bool => CanonicalType::Boolean,
            Self::Int2 | Self::Int4 | Self::Int8 | Self::Oid | Self::Numeric(_) | Self::Money(_) => {
                CanonicalType::Number
            }
            Self::Float4 | Self::Float8 => CanonicalType::Float,
            Self::Text(_) | Self::BpChar | Self::Byte | Self::Xml | Self::Enum | Self::ServerText => {
                CanonicalType::Text
            }
            Self::Bytea => CanonicalType::Binary,
            Self::Date => CanonicalType::Date,
            Self::Time(_) => CanonicalType::Time,
            Self::TimeTz => CanonicalType::TimeTz,
            Self::Timestamp(_) => CanonicalType::Timestamp,
            Self::TimestampTz(_) => CanonicalType::Instant,
            Self::Interval => CanonicalType::Interval,
            Self::Uuid => CanonicalType::Uuid,
            Self::Json | Self::Jsonb => CanonicalType::Json,
            Self::Bits(_) => CanonicalType::Bits,
            Self::Inet => CanonicalType::Inet,
            Self::Mac => CanonicalType::Mac,
            Self::Mac8 => CanonicalType::Mac8,
            other => return other.composed(),
        })
    }

    /// Why the type, or a type within it, cannot be read; `None` if it can.
    pub(super) fn obstacle(&self) -> Option<&str> {
        match self {
            Self::Unsupported(reason) => Some(reason),
            Self::Composite(fields) => fields.iter().find_map(|(_, _, wire)| wire.nested_obstacle()),
            Self::Array(_, inner) | Self::Range(inner) | Self::Multirange(inner) => inner.nested_obstacle(),
            _ => None,
        }
    }

    fn nested_obstacle(&self) -> Option<&str> {
        match self {
            Self::ServerText => Some("a text search type within another type is not supported"),
            other => other.obstacle(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::numeric_declared;

    #[test]
    fn numeric_modifiers_have_signed_scales() {
        assert_eq!(numeric_declared(-1), None);
        assert_eq!(numeric_declared(((12 << 16) | 2) + 4), Some((12, 2)));
        assert_eq!(numeric_declared(((2 << 16) | 0x7FD) + 4), Some((2, -3)));
        assert_eq!(numeric_declared(((3 << 16) | 5) + 4), Some((3, 5)));
    }
}
