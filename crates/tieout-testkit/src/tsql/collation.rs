//! Collations: how text is stored and compared.
//!
//! Every comparison pads the shorter text with blanks (`KB316626`). A `BIN2` collation compares `nvarchar` by UTF-16 units and
//! `varchar` by the bytes of its code page, which for UTF-8 is the order of code points. The linguistic collations are known
//! for the letters, digits and signs of Latin-1 alone; text beyond that is refused, not guessed.

use super::failure::{Answer, error, unknown};
use crate::tds::{backend::Collation, wire};
use std::cmp::Ordering;

/// A collation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Coll {
    pub(super) name: &'static str,
    order: Order,
    /// What the wire says.
    pub(super) wire: Collation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// By units or bytes.
    Binary,
    /// By letters, then accents, then case where it counts.
    Words { case: bool },
}

const fn latin(name: &'static str, order: Order, flags: [u8; 2], sort: u8, code_page: u32) -> Coll {
    Coll { name, order, wire: Collation { bytes: [0x09, 0x04, flags[0], flags[1], sort], code_page } }
}

/// All that are known. Bytes: [MS-TDS] 2.2.5.1.2.
pub(super) static ALL: [Coll; 8] = [
    Coll { name: "SQL_Latin1_General_CP1_CI_AS", order: Order::Words { case: false }, wire: wire::LATIN1_CI_AS },
    latin("SQL_Latin1_General_CP1_CS_AS", Order::Words { case: true }, [0xC0, 0x00], 51, 1252),
    latin("Latin1_General_CI_AS", Order::Words { case: false }, [0xD0, 0x00], 0, 1252),
    latin("Latin1_General_CS_AS", Order::Words { case: true }, [0xC0, 0x00], 0, 1252),
    Coll { name: "Latin1_General_BIN2", order: Order::Binary, wire: wire::LATIN1_BIN2 },
    latin("Latin1_General_100_BIN2", Order::Binary, [0x00, 0x22], 0, 1252),
    Coll { name: "Latin1_General_100_BIN2_UTF8", order: Order::Binary, wire: wire::LATIN1_UTF8_BIN2 },
    latin("Latin1_General_100_CI_AS_SC_UTF8", Order::Words { case: false }, [0xD0, 0x24], 0, 65001),
];

/// The collation of the server and its database.
pub(super) static DEFAULT: &Coll = &ALL[0];

/// A collation by name, in any case.
pub(super) fn find(name: &str) -> Answer<&'static Coll> {
    ALL.iter()
        .find(|collation| collation.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| error(448, format!("Invalid collation '{name}'.")))
}

impl Coll {
    /// Compares `nvarchar`.
    pub(super) fn wide(&self, a: &[u16], b: &[u16]) -> Answer<Ordering> {
        match self.order {
            Order::Binary => Ok(padded(a, b, 0x20)),
            Order::Words { case } => words(a, b, case, false),
        }
    }

    /// Compares `varchar`, both in the code page of this collation.
    pub(super) fn narrow(&self, a: &[u8], b: &[u8]) -> Answer<Ordering> {
        match self.order {
            Order::Binary => Ok(padded(a, b, 0x20)),
            Order::Words { case } => words(&self.decode(a)?, &self.decode(b)?, case, self.name.starts_with("SQL_")),
        }
    }

    /// Text of the code page as UTF-16.
    pub(super) fn decode(&self, bytes: &[u8]) -> Answer<Vec<u16>> {
        if self.wire.code_page == 65001 {
            let text = std::str::from_utf8(bytes).map_err(|_| unknown("bytes that are not UTF-8"))?;
            return Ok(text.encode_utf16().collect());
        }
        Ok(bytes
            .iter()
            .map(|byte| HIGH.iter().find(|(at, _)| at == byte).map_or(u16::from(*byte), |(_, unit)| *unit))
            .collect())
    }

    /// UTF-16 in the code page.
    pub(super) fn encode(&self, units: &[u16]) -> Answer<Vec<u8>> {
        if self.wire.code_page == 65001 {
            return Ok(String::from_utf16_lossy(units).into_bytes());
        }
        units.iter().map(|unit| page_1252(*unit)).collect()
    }
}

/// Code page 1252 where it is not Latin-1.
const HIGH: [(u8, u16); 27] = [
    (0x80, 0x20AC),
    (0x82, 0x201A),
    (0x83, 0x0192),
    (0x84, 0x201E),
    (0x85, 0x2026),
    (0x86, 0x2020),
    (0x87, 0x2021),
    (0x88, 0x02C6),
    (0x89, 0x2030),
    (0x8A, 0x0160),
    (0x8B, 0x2039),
    (0x8C, 0x0152),
    (0x8E, 0x017D),
    (0x91, 0x2018),
    (0x92, 0x2019),
    (0x93, 0x201C),
    (0x94, 0x201D),
    (0x95, 0x2022),
    (0x96, 0x2013),
    (0x97, 0x2014),
    (0x98, 0x02DC),
    (0x99, 0x2122),
    (0x9A, 0x0161),
    (0x9B, 0x203A),
    (0x9C, 0x0153),
    (0x9E, 0x017E),
    (0x9F, 0x0178),
];

fn page_1252(unit: u16) -> Answer<u8> {
    if let Some((byte, _)) = HIGH.iter().find(|(_, high)| *high == unit) {
        return Ok(*byte);
    }
    match u8::try_from(unit) {
        Ok(byte) if !HIGH.iter().any(|(high, _)| *high == byte) => Ok(byte),
        // The server takes what fits best; which that is, is not documented.
        _ => Err(unknown("characters beyond code page 1252 as varchar")),
    }
}

/// Compares as if the shorter one went on with `pad`.
pub(super) fn padded<T: Copy + Ord>(a: &[T], b: &[T], pad: T) -> Ordering {
    let common = a.len().min(b.len());
    a[..common].cmp(&b[..common]).then_with(|| {
        let beyond = |rest: &[T]| rest.iter().map(|unit| unit.cmp(&pad)).find(|order| order.is_ne());
        match (beyond(&a[common..]), beyond(&b[common..])) {
            (Some(order), _) => order,
            (None, Some(order)) => order.reverse(),
            (None, None) => Ordering::Equal,
        }
    })
}

/// Signs in the order of the Windows collations; the first is the blank.
const SIGNS: &str = " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";
/// Signs in the order of the SQL collations: of ASCII.
const SQL_SIGNS: &str = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
/// Letters with accents, by the letter without.
const ACCENTS: [(char, &str); 8] = [
    ('a', "\u{e1}\u{e0}\u{e2}\u{e4}\u{e3}\u{e5}"),
    ('c', "\u{e7}"),
    ('e', "\u{e9}\u{e8}\u{ea}\u{eb}"),
    ('i', "\u{ed}\u{ec}\u{ee}\u{ef}"),
    ('n', "\u{f1}"),
    ('o', "\u{f3}\u{f2}\u{f4}\u{f6}\u{f5}"),
    ('u', "\u{fa}\u{f9}\u{fb}\u{fc}"),
    ('y', "\u{fd}\u{ff}"),
];

/// Letter, accent, case.
type Weight = (usize, usize, bool);

fn weight(unit: u16, sql: bool) -> Answer<Weight> {
    let refused = || unknown("linguistic comparison of characters beyond Latin letters");
    let c = char::from_u32(u32::from(unit)).ok_or_else(refused)?;
    let lower = c.to_lowercase().next().unwrap_or(c);
    let upper = lower != c;
    if lower.is_ascii_alphanumeric() {
        return Ok((usize::from(u8::try_from(lower).unwrap_or(0)), 0, upper));
    }
    for (letter, accented) in ACCENTS {
        if let Some(place) = accented.chars().position(|other| other == lower) {
            return Ok((usize::from(u8::try_from(letter).unwrap_or(0)), place + 1, upper));
        }
    }
    let signs = if sql { SQL_SIGNS } else { SIGNS };
    // Fewer than the code of the first digit, so that signs come first.
    signs.chars().position(|other| other == c).map(|place| (place, 0, false)).ok_or_else(refused)
}

fn words(a: &[u16], b: &[u16], case: bool, sql: bool) -> Answer<Ordering> {
    let weights = |text: &[u16]| -> Answer<Vec<Weight>> {
        let end = text.iter().rposition(|unit| *unit != 0x20).map_or(0, |last| last + 1);
        text[..end].iter().map(|unit| weight(*unit, sql)).collect()
    };
    let (a, b) = (weights(a)?, weights(b)?);
    // Hyphen and apostrophe count only where all else is equal, except in the SQL collations.
    let counts = |weight: &&Weight| sql || !matches!(weight.0, 2 | 9);
    let order = a.iter().filter(counts).map(|weight| weight.0).cmp(b.iter().filter(counts).map(|weight| weight.0));
    let order = order.then_with(|| a.iter().map(|weight| weight.1).cmp(b.iter().map(|weight| weight.1)));
    let order = order.then_with(|| a.iter().map(|weight| weight.0).cmp(b.iter().map(|weight| weight.0)));
    Ok(if case {
        order.then_with(|| a.iter().map(|weight| weight.2).cmp(b.iter().map(|weight| weight.2)))
    } else {
        order
    })
}
