//! Tables of the contract suite: what a store must hold, in terms of no store.
//!
//! A [`Kind`] is a type that several stores share, a [`Cell`] a value of one, and [`Cell::cmp_canonical`] their order by
//! definition. Each store writes a [`Table`] in its own way; what it then reads is held against these cells.

use std::cmp::Ordering;
use std::fmt::Write as _;

use crate::random::SplitMix64;
use crate::write::{day_text, uuid_text};

/// Microseconds of a day.
const DAY_MICROS: i64 = 86_400_000_000;

/// A type that stores share. Times have six digits after the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// false, true
    Boolean,
    /// Signed, of 16, 32 or 64 bits.
    Integer(u8),
    /// Precision (at most 38) and scale.
    Decimal(u8, u8),
    /// 32-bit float.
    Real,
    /// 64-bit float.
    Double,
    /// Of at most 200 characters.
    Text,
    /// Padded to so many characters.
    Char(u8),
    /// Of at most 200 bytes.
    Binary,
    /// A day.
    Date,
    /// Time of day.
    Time,
    /// Calendar time.
    Timestamp,
    /// A moment.
    Instant,
    /// A UUID.
    Uuid,
}

/// Every kind, each in the widths that differ.
pub const KINDS: [Kind; 16] = [
    Kind::Boolean,
    Kind::Integer(16),
    Kind::Integer(32),
    Kind::Integer(64),
    Kind::Decimal(12, 2),
    Kind::Decimal(38, 10),
    Kind::Real,
    Kind::Double,
    Kind::Text,
    Kind::Char(12),
    Kind::Binary,
    Kind::Date,
    Kind::Time,
    Kind::Timestamp,
    Kind::Instant,
    Kind::Uuid,
];

/// A value, or none.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Absent.
    Null,
    /// Of a boolean.
    Bool(bool),
    /// Of an integer.
    Int(i64),
    /// Of a decimal: in units of its last place, and the scale.
    Decimal(i128, u8),
    /// Of a real.
    Real(f32),
    /// Of a double.
    Double(f64),
    /// Of text, or of a padded text without its pad.
    Text(String),
    /// Of a binary.
    Bytes(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970-01-01 00:00:00.
    Timestamp(i64),
    /// The same, in UTC.
    Instant(i64),
    /// Of a UUID.
    Uuid([u8; 16]),
}

impl Cell {
    /// The order of values of one kind: NULL first, numbers by value, text by its UTF-8 bytes.
    #[must_use]
    pub fn cmp_canonical(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Null, Self::Null) => Ordering::Equal,
            (Self::Null, _) => Ordering::Less,
            (_, Self::Null) => Ordering::Greater,
            (Self::Bool(one), Self::Bool(two)) => one.cmp(two),
            (Self::Int(one), Self::Int(two))
            | (Self::Time(one), Self::Time(two))
            | (Self::Timestamp(one), Self::Timestamp(two))
            | (Self::Instant(one), Self::Instant(two)) => one.cmp(two),
            (Self::Decimal(one, _), Self::Decimal(two, _)) => one.cmp(two),
            // Adding zero makes one zero of two.
            (Self::Real(one), Self::Real(two)) => (one + 0.0).total_cmp(&(two + 0.0)),
            (Self::Double(one), Self::Double(two)) => (one + 0.0).total_cmp(&(two + 0.0)),
            (Self::Text(one), Self::Text(two)) => one.as_bytes().cmp(two.as_bytes()),
            (Self::Bytes(one), Self::Bytes(two)) => one.cmp(two),
            (Self::Date(one), Self::Date(two)) => one.cmp(two),
            (Self::Uuid(one), Self::Uuid(two)) => one.cmp(two),
            // Cells of two kinds never meet in a column.
            _ => Ordering::Equal,
        }
    }

    /// The text that all stores read alike: ISO dates and times without zone, `1` and `0` for booleans, hexadecimal
    /// digits for bytes. `None` for NULL.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        Some(match self {
            Self::Null => return None,
            Self::Bool(value) => u8::from(*value).to_string(),
            Self::Int(value) => value.to_string(),
            Self::Decimal(mantissa, scale) => decimal_text(*mantissa, *scale),
            Self::Real(value) => format!("{value:e}"),
            Self::Double(value) => format!("{value:e}"),
            Self::Text(value) => value.clone(),
            Self::Bytes(bytes) => bytes.iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            }),
            Self::Date(days) => day_text(i64::from(*days)),
            Self::Time(micros) => clock_text(*micros),
            Self::Timestamp(micros) | Self::Instant(micros) => {
                format!("{} {}", day_text(micros.div_euclid(DAY_MICROS)), clock_text(micros.rem_euclid(DAY_MICROS)))
            }
            Self::Uuid(bytes) => uuid_text(*bytes),
        })
    }
}

fn decimal_text(mantissa: i128, scale: u8) -> String {
    let sign = if mantissa < 0 { "-" } else { "" };
    let width = usize::from(scale) + 1;
    let digits = format!("{:0width$}", mantissa.unsigned_abs());
    let (whole, fraction) = digits.split_at(digits.len() - usize::from(scale));
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

fn clock_text(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    format!("{:02}:{:02}:{:02}.{:06}", seconds / 3600, seconds / 60 % 60, seconds % 60, micros % 1_000_000)
}

/// A column of a [`Table`].
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name, any text.
    pub name: String,
    /// The type.
    pub kind: Kind,
    /// Whether the store is told that NULL may occur.
    pub nullable: bool,
}

/// A table as the contract wants it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The name, any text.
    pub name: String,
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// How many of the first columns are the key; 0 is a table without one.
    pub key: usize,
    /// Whether the key is a primary key; else the store gets an index for it that allows repeats.
    pub unique: bool,
    /// The rows, in no order.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Names of the key columns.
    #[must_use]
    pub fn key_names(&self) -> Vec<String> {
        self.columns.iter().take(self.key).map(|column| column.name.clone()).collect()
    }

    /// The rows in canonical order of the key, rows of one key by their other cells.
    #[must_use]
    pub fn sorted(&self) -> Vec<Vec<Cell>> {
        let mut rows = self.rows.clone();
        rows.sort_by(|one, two| {
            let orders = one.iter().zip(two).map(|(one, two)| one.cmp_canonical(two));
            orders.fold(Ordering::Equal, Ordering::then)
        });
        rows
    }

    /// The same table without the cells that `holds` refuses: rows with such a key are gone, other cells are NULL.
    #[must_use]
    pub fn only(mut self, holds: impl Fn(Kind, &Cell) -> bool) -> Self {
        let (columns, key) = (&self.columns, self.key);
        let lacks = |at: usize, cell: &Cell| *cell != Cell::Null && !holds(columns[at].kind, cell);
        self.rows.retain(|row| !row.iter().take(key).enumerate().any(|(at, cell)| lacks(at, cell)));
        for row in &mut self.rows {
            for (at, cell) in row.iter_mut().enumerate().skip(key) {
                if lacks(at, cell) {
                    *cell = Cell::Null;
                }
            }
        }
        self
    }
}

/// Values of a kind that are at an end, special or easily mistaken. They are within what every store may hold, but for
/// what [`Table::only`] sorts out.
#[must_use]
pub fn extremes(kind: Kind) -> Vec<Cell> {
    match kind {
        Kind::Boolean => vec![Cell::Bool(false), Cell::Bool(true)],
        Kind::Integer(bits) => {
            let most = i64::MAX >> (64 - bits);
            [0, 1, -1, 9, 10, 99, 100, most, most - 1, -most, -most - 1].map(Cell::Int).to_vec()
        }
        Kind::Decimal(precision, scale) => {
            let most = 10_i128.pow(u32::from(precision)) - 1;
            let one = 10_i128.pow(u32::from(scale));
            let values = [0, 1, -1, one, -one, one - 1, one + 1, 100 * one, most, -most, most - 1];
            values.map(|mantissa| Cell::Decimal(mantissa, scale)).to_vec()
        }
        Kind::Real => {
            let values = [0.0, 1.0, -1.0, 0.1, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 16_777_216.0, 16_777_218.0];
            values.map(Cell::Real).to_vec()
        }
        Kind::Double => {
            let next = f64::from_bits(0.1_f64.to_bits() + 1);
            let large = 9_007_199_254_740_993_i64 as f64;
            let values =
                [0.0, 1.0, -1.0, 0.1, next, f64::MAX, f64::MIN, f64::MIN_POSITIVE, large, -large, 1e23, 5e-324];
            values.map(Cell::Double).to_vec()
        }
        Kind::Text => TEXTS.map(|text| Cell::Text(text.to_owned())).to_vec(),
        Kind::Char(_) => {
            let fitting = TEXTS.iter().filter(|text| text.chars().count() <= 12 && !text.ends_with(' '));
            fitting.map(|text| Cell::Text((*text).to_owned())).collect()
        }
        Kind::Binary => {
            let values: [&[u8]; 9] = [b"", b"\0", b"\0\0", b"\0\x01", b"\x01", b"a", b"a\0", b"\xFF", b"\xFF\xFF\xFE"];
            values.map(|bytes| Cell::Bytes(bytes.to_vec())).to_vec()
        }
        // 0001-01-01, 1000-01-01, both sides of the calendar reform and of the epoch, leap days, 9999-12-31.
        Kind::Date => {
            let days = [-719_162, -354_285, -141_428, -141_427, -1, 0, 11_016, 19_782, 2_932_896];
            days.map(Cell::Date).to_vec()
        }
        Kind::Time => [0, 1, 43_200_000_000, 45_296_000_001, DAY_MICROS - 1].map(Cell::Time).to_vec(),
        Kind::Timestamp => MOMENTS.map(Cell::Timestamp).to_vec(),
        Kind::Instant => MOMENTS.map(Cell::Instant).to_vec(),
        Kind::Uuid => {
            let mut mixed = [0; 16];
            mixed[0] = 0x80;
            let mut last = [0; 16];
            last[15] = 1;
            [[0; 16], [0xFF; 16], mixed, last, *b"0123456789abcdef"].map(Cell::Uuid).to_vec()
        }
    }
}

/// 0001-01-01, 9999-12-31 23:59:59.999999, around the epoch, in the hour that clocks skip, ends of 32 bits of seconds.
const MOMENTS: [i64; 10] = [
    -62_135_596_800_000_000,
    253_402_300_799_999_999,
    -1,
    0,
    1,
    1_000_000,
    1_711_852_200_000_000,
    2_147_483_647_999_999,
    2_147_483_648_000_000,
    -2_208_988_800_000_001,
];

const TEXTS: [&str; 34] = [
    "",
    "a",
    "A",
    "b",
    "a b",
    "a_b",
    "a-b",
    "ab",
    "aB",
    "a ",
    "a  ",
    " a",
    " ",
    "a\tb",
    "a\nb",
    "a\r\nb",
    "\u{1}",
    "a\u{1}",
    "\u{e9}",
    "e\u{301}",
    "e",
    "\u{df}",
    "ss",
    "\u{130}",
    "\u{fffd}",
    "\u{ff5e}",
    "\u{1F600}",
    "\u{10FFFF}",
    "z,\"q\"",
    "NULL",
    "\\N",
    "o'brien \\",
    "%_[]",
    "123456789012345678901234567890123456789012345678901234567890 long",
];

/// A value of a kind, anywhere in what every store holds.
#[must_use]
pub fn random(kind: Kind, random: &mut SplitMix64) -> Cell {
    let signed = |random: &mut SplitMix64, most: u64| random.below(2 * most + 1).cast_signed() - most.cast_signed();
    match kind {
        Kind::Boolean => Cell::Bool(random.below(2) == 0),
        Kind::Integer(bits) => Cell::Int(random.next_u64().cast_signed() >> (64 - bits)),
        Kind::Decimal(12, scale) => Cell::Decimal(signed(random, 99_999_999_999).into(), scale),
        Kind::Decimal(_, scale) => {
            Cell::Decimal(i128::from(random.next_u64().cast_signed()) * i128::from(signed(random, 1 << 40)), scale)
        }
        Kind::Real => Cell::Real(signed(random, 1 << 23) as f32 / 64.0),
        Kind::Double => Cell::Double(signed(random, 1 << 52) as f64 / 1_048_576.0),
        Kind::Text => Cell::Text(random_text(random, 12)),
        Kind::Char(width) => Cell::Text(random_text(random, width.into()).trim_end_matches(' ').to_owned()),
        Kind::Binary => Cell::Bytes((0..random.below(9)).map(|_| [0, 85, 170, 255][at(random, 4)]).collect()),
        Kind::Date => Cell::Date(i32::try_from(random.below(400_000)).unwrap_or(0) - 200_000),
        Kind::Time => Cell::Time(random.below(86_400_000_000).cast_signed()),
        Kind::Timestamp => Cell::Timestamp(signed(random, 6_000_000_000_000_000)),
        // Within 32 bits of seconds, which is all that some stores have for moments.
        Kind::Instant => Cell::Instant(random.below(2_000_000_000_000_000).cast_signed() + 1_000_000),
        Kind::Uuid => {
            let halves = [random.next_u64(), random.next_u64()].map(u64::to_be_bytes);
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&halves[0]);
            bytes[8..].copy_from_slice(&halves[1]);
            // Versions 1, 4 and 7 of RFC 9562: MariaDB takes some others and refuses the rest.
            bytes[6] = bytes[6] & 0x0F | [0x10, 0x40, 0x70][at(random, 3)];
            bytes[8] = bytes[8] & 0x3F | 0x80;
            Cell::Uuid(bytes)
        }
    }
}

/// A place below `length`.
fn at(random: &mut SplitMix64, length: usize) -> usize {
    usize::try_from(random.below(length as u64)).unwrap_or(0)
}

fn random_text(random: &mut SplitMix64, longest: u64) -> String {
    const LETTERS: [char; 12] = ['a', 'b', 'A', 'B', '1', ' ', '-', '_', '\u{e9}', '\u{17f}', '\u{6771}', 'z'];
    (0..=random.below(longest)).filter_map(|_| LETTERS.get(at(random, 12))).collect()
}

/// Another value, as near to this one as it gets.
#[must_use]
pub fn changed(cell: &Cell) -> Cell {
    // Of two neighbours the one that every store has too.
    let near = |value: i64| if value > 0 { value - 1 } else { value + 1 };
    match cell {
        Cell::Null => Cell::Null,
        Cell::Bool(value) => Cell::Bool(!value),
        Cell::Int(value) => Cell::Int(near(*value)),
        Cell::Decimal(mantissa, scale) => {
            Cell::Decimal(if *mantissa > 0 { mantissa - 1 } else { mantissa + 1 }, *scale)
        }
        // Not every store has the numbers beside zero.
        Cell::Real(value) => {
            let near = if *value > 0.0 { value.next_down() } else { value.next_up() };
            Cell::Real(if near.is_normal() { near } else { 1.5 })
        }
        Cell::Double(value) => {
            let near = if *value > 0.0 { value.next_down() } else { value.next_up() };
            Cell::Double(if near.is_normal() { near } else { 1.5 })
        }
        Cell::Text(text) => Cell::Text(match text.strip_suffix(|last: char| last.is_ascii_alphabetic()) {
            // The case of a letter, and nothing else.
            Some(front) => {
                let last = text.chars().last().unwrap_or('x');
                let other =
                    if last.is_ascii_lowercase() { last.to_ascii_uppercase() } else { last.to_ascii_lowercase() };
                format!("{front}{other}")
            }
            None => format!("x{}", text.chars().skip(1).collect::<String>()),
        }),
        Cell::Bytes(bytes) => Cell::Bytes(bytes.iter().copied().chain([0]).collect()),
        Cell::Date(days) => Cell::Date(if *days > 0 { days - 1 } else { days + 1 }),
        Cell::Time(micros) => Cell::Time(near(*micros)),
        Cell::Timestamp(micros) => Cell::Timestamp(near(*micros)),
        Cell::Instant(micros) => Cell::Instant(micros + 1),
        Cell::Uuid(bytes) => {
            let mut other = *bytes;
            other[15] ^= 1;
            Cell::Uuid(other)
        }
    }
}

/// A table with one column a kind of `kinds` after the key `id`, and rows of extremes, NULLs and random values.
///
/// Columns are named `c0_...` after their kind; row `n` has the key `n`.
#[must_use]
pub fn every_kind(name: &str, kinds: &[Kind], rows: usize, seed: u64) -> Table {
    let mut source = SplitMix64::new(seed);
    let key = Column { name: "id".to_owned(), kind: Kind::Integer(64), nullable: false };
    let named = kinds.iter().enumerate().map(|(at, &kind)| Column {
        name: format!("c{at}_{}", kind_word(kind)),
        kind,
        nullable: true,
    });
    let columns: Vec<Column> = std::iter::once(key).chain(named).collect();
    let pools: Vec<Vec<Cell>> = kinds.iter().map(|&kind| extremes(kind)).collect();
    let mut table = Table { name: name.to_owned(), columns, key: 1, unique: true, rows: Vec::new() };
    for row in 0..rows {
        let cells = pools.iter().zip(kinds).map(|(pool, &kind)| match pool.get(row) {
            Some(extreme) => extreme.clone(),
            None if source.below(7) == 0 => Cell::Null,
            None => random(kind, &mut source),
        });
        table.rows.push(std::iter::once(Cell::Int(i64::try_from(row).unwrap_or(i64::MAX))).chain(cells).collect());
    }
    shuffle(&mut table.rows, &mut source);
    table
}

/// A table whose key is of `kinds`. A unique one has distinct keys without NULL; the other one repeats some keys and has
/// NULL in every part. The last column, `v`, numbers the rows.
#[must_use]
pub fn keyed(name: &str, kinds: &[Kind], unique: bool, rows: usize, seed: u64) -> Table {
    let mut source = SplitMix64::new(seed);
    let mut columns: Vec<Column> = kinds
        .iter()
        .enumerate()
        .map(|(at, &kind)| Column { name: format!("k{at}"), kind, nullable: !unique })
        .collect();
    columns.push(Column { name: "v".to_owned(), kind: Kind::Integer(32), nullable: false });
    let mut keys: Vec<Vec<Cell>> = Vec::new();
    let pools: Vec<Vec<Cell>> = kinds.iter().map(|&kind| extremes(kind)).collect();
    let longest = pools.iter().map(Vec::len).max().unwrap_or(0);
    for row in 0..rows.max(longest) {
        let mut key: Vec<Cell> = Vec::new();
        for (pool, &kind) in pools.iter().zip(kinds) {
            key.push(match source.below(10) {
                0 if !unique => Cell::Null,
                // Extremes in turn, so that a key of one part has them all.
                _ if kinds.len() == 1 && row < pool.len() => pool[row].clone(),
                1..=4 if kinds.len() > 1 => pool[at(&mut source, pool.len())].clone(),
                _ => random(kind, &mut source),
            });
        }
        let repeats = if unique { 1 } else { 1 + source.below(3) / 2 };
        if !unique || !keys.contains(&key) {
            keys.extend((0..repeats).map(|_| key.clone()));
        }
    }
    let number = |(at, mut key): (usize, Vec<Cell>)| {
        key.push(Cell::Int(i64::try_from(at).unwrap_or(i64::MAX)));
        key
    };
    let mut rows: Vec<Vec<Cell>> = keys.into_iter().enumerate().map(number).collect();
    shuffle(&mut rows, &mut source);
    Table { name: name.to_owned(), columns, key: kinds.len(), unique, rows }
}

fn shuffle(rows: &mut [Vec<Cell>], random: &mut SplitMix64) {
    for at in (1..rows.len()).rev() {
        rows.swap(at, self::at(random, at + 1));
    }
}

fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Boolean => "boolean",
        Kind::Integer(_) => "integer",
        Kind::Decimal(..) => "decimal",
        Kind::Real => "real",
        Kind::Double => "double",
        Kind::Text => "text",
        Kind::Char(_) => "char",
        Kind::Binary => "binary",
        Kind::Date => "date",
        Kind::Time => "time",
        Kind::Timestamp => "timestamp",
        Kind::Instant => "instant",
        Kind::Uuid => "uuid",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_cells() {
        let text = |cell: Cell| cell.text().unwrap_or_default();
        assert_eq!(text(Cell::Decimal(-5, 2)), "-0.05");
        assert_eq!(text(Cell::Decimal(12_345, 0)), "12345");
        assert_eq!(text(Cell::Timestamp(-1)), "1969-12-31 23:59:59.999999");
        assert_eq!(text(Cell::Timestamp(MOMENTS[0])), "0001-01-01 00:00:00.000000");
        assert_eq!(text(Cell::Instant(MOMENTS[1])), "9999-12-31 23:59:59.999999");
        assert_eq!(text(Cell::Date(-719_162)), "0001-01-01");
        assert_eq!(text(Cell::Date(2_932_896)), "9999-12-31");
        assert_eq!(text(Cell::Bytes(vec![0, 255])), "00ff");
    }

    #[test]
    fn what_is_changed_is_another_value() {
        for kind in KINDS {
            let mut source = SplitMix64::new(1);
            let values = extremes(kind).into_iter().chain((0..100).map(|_| random(kind, &mut source)));
            for cell in values {
                assert_ne!(changed(&cell).cmp_canonical(&cell), Ordering::Equal, "{kind:?} {cell:?}");
            }
        }
    }

    #[test]
    fn tables_are_what_they_promise() {
        for kind in KINDS {
            let table = keyed("t", &[kind], true, 60, 1);
            let sorted = table.sorted();
            assert!(sorted.len() >= 2, "{kind:?}");
            assert!(sorted.windows(2).all(|pair| pair[0][0].cmp_canonical(&pair[1][0]) == Ordering::Less), "{kind:?}");
            for extreme in extremes(kind) {
                assert!(table.rows.iter().any(|row| row[0] == extreme), "{kind:?} {extreme:?}");
            }
            let repeated = keyed("t", &[kind], false, 60, 1).sorted();
            assert_eq!(repeated[0][0], Cell::Null);
            assert!(repeated.windows(2).any(|pair| pair[0][0] == pair[1][0] && pair[0][0] != Cell::Null), "{kind:?}");
        }
        assert_eq!(every_kind("t", &KINDS, 90, 1).rows.len(), 90);
    }
}
