//! The standard table: 12 columns, about 160 bytes a row, any number of rows, the same on every store and machine.
//!
//! Row `index` (from 0) of the source has the key `2 * index + 2`, so that every odd key is free for rows that only
//! the sink has. The sink's faults follow from the index alone: of each [`FAULT_PERIOD`] rows one is missing, one is
//! changed in one column (each column but the key in turn), and one is followed by an extra row.

use crate::random::SplitMix64;

/// The seed of the benches.
pub const STANDARD_SEED: u64 = 20_240_229;

/// One fault of each kind in so many rows: 0.01 % of the rows have one.
pub const FAULT_PERIOD: u64 = 30_000;

/// Index modulo [`FAULT_PERIOD`] of a row that the sink lacks. The three are small so that small tables have faults.
const MISSING_AT: u64 = 7;
/// ... of a row that the sink has with another value.
const CHANGED_AT: u64 = 77;
/// ... of a row after which the sink has one more.
const EXTRA_AT: u64 = 777;

/// Seconds from 1970-01-01 to 2000-01-01, the epoch of `PostgreSQL`.
pub const POSTGRES_EPOCH_SECONDS: i64 = 946_684_800;

/// The columns after the key; a changed row differs in exactly one.
pub const COMPARED_COLUMNS: u64 = 11;

const WORDS: [&str; 16] = [
    "amber",
    "birch",
    "copper",
    "delta",
    "ember",
    "fjord",
    "garnet",
    "harbour",
    "indigo",
    "juniper",
    "k\u{e4}rnten",
    "lantern",
    "\u{6771}\u{4eac}",
    "nimbus",
    "o'brien",
    "prairie, \"north\"",
];

/// The columns with their `PostgreSQL` types, in order; the first is the key.
pub const COLUMNS: [(&str, &str); 12] = [
    ("id", "bigint"),
    ("quantity", "integer"),
    ("name", "text"),
    ("note", "text"),
    ("amount", "numeric(12,2)"),
    ("status", "integer"),
    ("score", "double precision"),
    ("created_at", "timestamptz"),
    ("day", "date"),
    ("code", "varchar(20)"),
    ("reference", "uuid"),
    ("active", "boolean"),
];

/// Which of the two tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one that is right.
    Source,
    /// The one with faults.
    Sink,
}

/// A row of the standard table. All but `note` are never NULL.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The key.
    pub id: i64,
    /// Any 32-bit number.
    pub quantity: i32,
    /// Three words, not always ASCII.
    pub name: String,
    /// NULL in a quarter of the rows.
    pub note: Option<String>,
    /// In hundredths, within numeric(12,2).
    pub amount_cents: i64,
    /// 0 to 5.
    pub status: i32,
    /// Finite, not zero.
    pub score: f64,
    /// Microseconds since 1970-01-01 00:00:00 UTC.
    pub created_at: i64,
    /// Days since 1970-01-01.
    pub day: i32,
    /// 12 characters of ASCII.
    pub code: String,
    /// The bytes of a UUID.
    pub reference: [u8; 16],
    /// A flag.
    pub active: bool,
}

/// The differences between source and sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Rows of the source alone.
    pub missing: u64,
    /// Rows of the sink alone.
    pub extra: u64,
    /// Rows that differ.
    pub changed: u64,
    /// Rows that are the same.
    pub matched: u64,
}

/// What a comparison of `rows` rows must find.
#[must_use]
pub fn expected(rows: u64) -> Expected {
    let at = |place: u64| if rows > place { (rows - place - 1) / FAULT_PERIOD + 1 } else { 0 };
    let (missing, extra, changed) = (at(MISSING_AT), at(EXTRA_AT), at(CHANGED_AT));
    Expected { missing, extra, changed, matched: rows - missing - changed }
}

/// The rows of a side in key order; `rows` is the number of rows of the source. At most 2^62 rows.
pub fn standard_rows(seed: u64, rows: u64, side: Side) -> impl Iterator<Item = Row> {
    (0..rows).flat_map(move |index| {
        let place = index % FAULT_PERIOD;
        let id = index.cast_signed() * 2 + 2;
        match (side, place) {
            (Side::Sink, MISSING_AT) => [None, None],
            (Side::Sink, CHANGED_AT) => [Some(change(standard_row(seed, id), index / FAULT_PERIOD)), None],
            (Side::Sink, EXTRA_AT) => [Some(standard_row(seed, id)), Some(standard_row(seed, id + 1))],
            _ => [Some(standard_row(seed, id)), None],
        }
        .into_iter()
        .flatten()
    })
}

/// The row of a key.
#[must_use]
pub fn standard_row(seed: u64, id: i64) -> Row {
    let mut random = SplitMix64::at(seed, id.cast_unsigned());
    let mixed = random.next_u64();
    let (first, second) = (random.next_u64(), random.next_u64());
    let mut reference = [0; 16];
    reference[..8].copy_from_slice(&first.to_be_bytes());
    reference[8..].copy_from_slice(&second.to_be_bytes());
    let note = (mixed & 3 != 0).then(|| words(&mut random, 4));
    Row {
        id,
        quantity: ((mixed >> 32) as u32).cast_signed(),
        name: words(&mut random, 3),
        note,
        amount_cents: random.below(200_000_000_000).cast_signed() - 100_000_000_000,
        status: small(&mut random, 6),
        score: (random.below(1 << 53) as f64 + 1.0) / 1_048_576.0 * if mixed & 4 == 0 { 1.0 } else { -1.0 },
        created_at: random.below(3_000_000_000_000_000).cast_signed() - 500_000_000_000_000,
        day: small(&mut random, 40_000) - 10_000,
        code: code(random.next_u64()),
        reference,
        active: mixed & 8 == 0,
    }
}

/// A number below a bound that fits.
fn small(random: &mut SplitMix64, bound: u32) -> i32 {
    i32::try_from(random.below(u64::from(bound))).unwrap_or(0)
}

fn words(random: &mut SplitMix64, count: usize) -> String {
    let mut bits = random.next_u64();
    let mut text = String::with_capacity(count * 10);
    for number in 0..count {
        if number > 0 {
            text.push(' ');
        }
        text.push_str(WORDS[(bits & 15) as usize]);
        bits >>= 4;
    }
    text
}

fn code(mut bits: u64) -> String {
    let mut text = String::with_capacity(12);
    for place in 0..12 {
        if place == 3 {
            text.push('-');
        } else {
            text.push(char::from(b'A' + (bits % 26) as u8));
            bits /= 26;
        }
    }
    text
}

/// The row with another value in the column `which` modulo [`COMPARED_COLUMNS`], as near to the old one as it gets.
fn change(mut row: Row, which: u64) -> Row {
    match which % COMPARED_COLUMNS {
        0 => row.amount_cents += 1,
        1 => row.quantity ^= 1,
        2 => row.name.push(' '),
        3 => row.note = if row.note.is_some() { None } else { Some(String::new()) },
        4 => row.status += 1,
        5 => row.score = f64::from_bits(row.score.to_bits() ^ 1),
        6 => row.created_at += 1,
        7 => row.day += 1,
        8 => row.code.make_ascii_lowercase(),
        9 => row.reference[15] ^= 1,
        _ => row.active = !row.active,
    }
    row
}

/// `CREATE TABLE` for `PostgreSQL`; without the primary key, which is quicker to add after the load.
#[must_use]
pub fn create_table(table: &str) -> String {
    let columns: Vec<String> = COLUMNS.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
    format!("CREATE TABLE {table} ({})", columns.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn has_the_faults_it_promises() {
        for rows in [0, 7, 8, 78, 778, 30_008] {
            let source: BTreeMap<i64, Row> = standard_rows(1, rows, Side::Source).map(|row| (row.id, row)).collect();
            let sink: BTreeMap<i64, Row> = standard_rows(1, rows, Side::Sink).map(|row| (row.id, row)).collect();
            assert_eq!(source.len() as u64, rows);
            let missing = source.keys().filter(|id| !sink.contains_key(id)).count() as u64;
            let extra = sink.keys().filter(|id| !source.contains_key(id)).count() as u64;
            let both = source.iter().filter_map(|(id, row)| Some((row, sink.get(id)?)));
            let (matched, changed): (Vec<_>, Vec<_>) = both.partition(|(before, after)| before == after);
            let found = Expected { missing, extra, changed: changed.len() as u64, matched: matched.len() as u64 };
            assert_eq!(found, expected(rows), "{rows} rows");
        }
        assert_eq!(expected(65_000), Expected { missing: 3, extra: 3, changed: 3, matched: 64_994 });
    }

    #[test]
    fn every_change_shows_in_one_column() {
        for which in 0..COMPARED_COLUMNS {
            let row = standard_row(1, 2);
            assert_ne!(change(row.clone(), which), row, "column {which}");
        }
    }

    #[test]
    fn is_pinned() {
        let mut rows = standard_rows(STANDARD_SEED, 3, Side::Source);
        let first = rows.next();
        assert_eq!(first.as_ref().map(|row| row.name.as_str()), Some("ember lantern \u{6771}\u{4eac}"));
        assert_eq!(first.as_ref().and_then(|row| row.note.as_deref()), Some("delta delta o'brien garnet"));
        assert_eq!(first.as_ref().map(|row| (row.id, row.quantity, row.status)), Some((2, 274_656_133, 3)));
        assert_eq!(first.as_ref().map(|row| row.amount_cents), Some(-28_401_859_028));
        assert_eq!(first.as_ref().map(|row| row.score.to_bits()), Some((-3_309_623_484.577_095_f64).to_bits()));
        assert_eq!(first.map(|row| (row.created_at, row.day)), Some((826_871_428_557_801, 4_542)));
        assert_eq!(rows.next().map(|row| (row.id, row.note)), Some((4, None)));
    }

    #[test]
    fn is_not_the_table_of_another_seed() {
        assert_ne!(standard_row(1, 2), standard_row(2, 2));
    }
}
