//! Decoded canonical values: for outputs, tolerances, range bounds and nested types; not for the hot path.

/// A value of a canonical type.
///
/// Equality is structural; floats are already folded (no -0.0, one NaN), decimals and JSON are normalised.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Absent.
    Null,
    /// `boolean`
    Bool(bool),
    /// `number`
    Number(Decimal),
    /// `float`
    Float(f64),
    /// `text`
    Text(String),
    /// `binary`
    Binary(Vec<u8>),
    /// `bits`: number of bits, and the bits with the first one highest.
    Bits(u32, Vec<u8>),
    /// `date`
    Date(DateValue),
    /// `time`: nanoseconds since midnight.
    Time(i64),
    /// `time with zone`: nanoseconds since midnight, offset in seconds (east positive).
    TimeTz(i64, i32),
    /// `timestamp`
    Timestamp(TimestampValue),
    /// `instant`
    Instant(TimestampValue),
    /// `offset instant`: the moment, and the offset in seconds (east positive).
    OffsetInstant(TimestampValue, i32),
    /// `interval`: months, days, microseconds.
    Interval(i32, i32, i64),
    /// `uuid`
    Uuid([u8; 16]),
    /// `json`
    Json(JsonValue),
    /// `inet`: 4 or 16 address bytes, prefix length.
    Inet(Vec<u8>, u8),
    /// `mac address`: 6 or 8 bytes.
    Mac(Vec<u8>),
    /// `geometric`: closed (paths only, else true) and the floats in the order of the encoding.
    Geometric(bool, Vec<f64>),
    /// `list`: (length, lower bound) of each dimension, the elements in row-major order.
    List(Vec<(u32, i32)>, Vec<Self>),
    /// `struct`: the fields, sorted by the UTF-8 bytes of their names.
    Struct(Vec<Self>),
    /// `map`: the entries in any order; the encoder sorts them.
    Map(Vec<(Self, Self)>),
    /// `range`
    Range(RangeValue),
    /// `multirange`
    Multirange(Vec<RangeValue>),
    /// A number, text or binary in a field of another canonical type: the cell of a store whose cells have types of
    /// their own.
    Stray(Box<Self>),
}

/// A number of any width. Finite values: `0.d1d2d3... * 100^exponent` with base-100 digits, d1 and the last digit
/// not 0; zero has no digits, exponent 0, and is not negative.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Decimal {
    /// Not a number.
    NaN,
    /// Positive infinity.
    PositiveInfinity,
    /// Negative infinity.
    NegativeInfinity,
    /// A finite number.
    Finite {
        /// Whether it is below zero.
        negative: bool,
        /// Number of base-100 digits before the point.
        exponent: i32,
        /// Base-100 digits, 0 to 99 each, most significant first.
        digits: Vec<u8>,
    },
}

/// A calendar day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DateValue {
    /// Before every day.
    NegativeInfinity,
    /// Year (astronomical), month (0 to 12), day (0 to 31).
    Day(i32, u8, u8),
    /// After every day.
    PositiveInfinity,
}

/// Calendar time, or a moment in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimestampValue {
    /// Before every moment.
    NegativeInfinity,
    /// Seconds since 1970-01-01 00:00:00, nanoseconds of the second.
    Finite(i64, u32),
    /// A date with month or day 0 (year, month, day), nanoseconds of the day.
    Partial(i32, u8, u8, u64),
    /// After every moment.
    PositiveInfinity,
}

/// A JSON document.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonValue {
    /// null
    Null,
    /// true or false
    Bool(bool),
    /// An exact number.
    Number(Decimal),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Self>),
    /// An object: members sorted by the UTF-8 bytes of distinct names.
    Object(Vec<(String, Self)>),
}

/// A range over an ordered type.
#[derive(Clone, Debug, PartialEq)]
pub enum RangeValue {
    /// Holds nothing.
    Empty,
    /// Bounds, each with whether it is included; `None` is unbounded.
    Bounds {
        /// Lower bound.
        lower: Option<(Box<Value>, bool)>,
        /// Upper bound.
        upper: Option<(Box<Value>, bool)>,
    },
}
