//! Ranges of a frozen table: whatever the bounds, each row is in exactly one of the ranges that tile the key space.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up must fail loudly")]

use crate::store::{Opened, Record};
use futures::StreamExt;
use tieout::{
    encode::{encode_key, parse},
    model::{CanonicalType, DateValue, Decimal, Error, ErrorKind, KeyRange, PlannedRanges, TimestampValue, Value},
};
use tieout_testkit::random::SplitMix64;

/// Ranges that are read at once.
const AT_ONCE: usize = 4;

/// Values that a bound may have whatever the column can hold: a bound may come from another store.
struct Foreign {
    value: Value,
    /// Whether the store may say that it has no literal for it. It may never answer wrongly.
    refusable: bool,
}

#[expect(clippy::too_many_lines, reason = "one family after the other")]
fn foreign(canonical: &CanonicalType) -> Vec<Foreign> {
    let plain = |value: Value| Foreign { value, refusable: false };
    let far = |value: Value| Foreign { value, refusable: true };
    let moments = |wrap: fn(TimestampValue) -> Value| {
        let near = [
            TimestampValue::Finite(0, 1),
            TimestampValue::Finite(0, 999_999_999),
            TimestampValue::Finite(-1, 999_999_500),
            TimestampValue::Finite(1_711_852_200, 1),
            TimestampValue::Finite(1_000_000_000, 0),
        ];
        let ends = [
            TimestampValue::NegativeInfinity,
            TimestampValue::PositiveInfinity,
            TimestampValue::Partial(2024, 3, 0, 0),
            TimestampValue::Finite(i64::MAX / 4, 0),
        ];
        near.map(|value| plain(wrap(value))).into_iter().chain(ends.map(|value| far(wrap(value)))).collect()
    };
    match canonical {
        CanonicalType::Boolean => [false, true].map(|value| plain(Value::Bool(value))).into(),
        CanonicalType::Number => {
            let texts = ["0.5", "-0.5", "1.005", "99.999", "-32768.1", "2147483647.5", "9223372036854775807.000001"];
            let wide = ["1e30", "-1e30", "123456789012345678901234567890.1234567890123456789"];
            let number = |text: &str| plain(Value::Number(decimal(text)));
            let ends = [Decimal::NaN, Decimal::PositiveInfinity, Decimal::NegativeInfinity];
            let ends = ends.map(|value| plain(Value::Number(value)));
            texts.into_iter().chain(wide).map(number).chain(ends).collect()
        }
        CanonicalType::Float => {
            let values = [0.05, -0.05, 0.1, 0.100_000_001, 1e300, -1e300, 1e-320, f64::from(0.1_f32)];
            let ends = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
            values.into_iter().chain(ends).map(|value| plain(Value::Float(value))).collect()
        }
        CanonicalType::Text => {
            ["a\0", "a\0b", "a   ", "ab ", "\u{e8}", "\u{1F5FF}", "~", "a\u{2}", "o'\\", &"b".repeat(400)]
                .map(|text| plain(Value::Text(text.to_owned())))
                .into()
        }
        CanonicalType::Binary => {
            [&b"\0\0\0"[..], b"a\0\0", b"\x80", &[0xFF; 300]].map(|bytes| plain(Value::Binary(bytes.to_vec()))).into()
        }
        CanonicalType::Date => {
            let near = [DateValue::Day(1999, 12, 31), DateValue::Day(1582, 10, 10), DateValue::Day(2024, 2, 28)];
            let ends = [
                DateValue::NegativeInfinity,
                DateValue::PositiveInfinity,
                DateValue::Day(0, 0, 0),
                DateValue::Day(2024, 3, 0),
                DateValue::Day(-4000, 1, 1),
                DateValue::Day(200_000, 1, 1),
            ];
            near.map(|value| plain(Value::Date(value)))
                .into_iter()
                .chain(ends.map(|value| far(Value::Date(value))))
                .collect()
        }
        CanonicalType::Time => {
            let nanos = [1, 500, 43_200_000_000_500, 86_399_999_999_999, 86_400_000_000_000];
            let ends = [-1, 86_400_000_000_001, 838 * 3_600_000_000_000];
            nanos
                .into_iter()
                .map(|value| plain(Value::Time(value)))
                .chain(ends.map(|value| far(Value::Time(value))))
                .collect()
        }
        CanonicalType::Timestamp => moments(Value::Timestamp),
        // A moment has no partial date.
        CanonicalType::Instant => {
            let mut all: Vec<Foreign> = moments(Value::Instant);
            all.retain(|bound| !matches!(bound.value, Value::Instant(TimestampValue::Partial(..))));
            all
        }
        CanonicalType::Uuid => [1_u8, 0x7F, 0x80, 0xFE].map(|byte| plain(Value::Uuid([byte; 16]))).into(),
        other => panic!("no bounds of {other}"),
    }
}

fn decimal(text: &str) -> Decimal {
    match parse(&CanonicalType::Number, text).unwrap() {
        Value::Number(number) => number,
        other => panic!("{text} is {other:?}"),
    }
}

/// A bound, and whether the store may refuse it.
type Bound = (Vec<u8>, bool);

/// Bounds of every sort: keys of the table, mixtures of them, NULLs, values that it cannot hold.
fn bounds(opened: &Opened, records: &[Record], random: &mut SplitMix64) -> Vec<Bound> {
    let types = opened.key_types();
    let pick = |random: &mut SplitMix64, length: usize| usize::try_from(random.below(length as u64)).unwrap();
    let mut all: Vec<Bound> = Vec::new();
    for (at, canonical) in types.iter().enumerate() {
        for bound in foreign(canonical).into_iter().chain([Foreign { value: Value::Null, refusable: false }]) {
            // The other parts are those of some row.
            let mut values: Vec<Value> = if records.is_empty() {
                vec![Value::Null; types.len()]
            } else {
                opened.values(&records[pick(random, records.len())])[..types.len()].to_vec()
            };
            values[at] = bound.value;
            all.push((encode_key(&types, &values).unwrap(), bound.refusable));
        }
    }
    for _ in 0..8.min(records.len()) {
        all.push((records[pick(random, records.len())].0.clone(), false));
        if types.len() == 1 {
            continue;
        }
        let mut mixed = Vec::new();
        for at in 0..types.len() {
            let values = opened.values(&records[pick(random, records.len())]);
            mixed.push(if random.below(5) == 0 { Value::Null } else { values[at].clone() });
        }
        all.push((encode_key(&types, &mixed).unwrap(), false));
    }
    for record in [records.first(), records.last()].into_iter().flatten() {
        all.push((record.0.clone(), false));
    }
    all.sort();
    all.dedup_by(|one, two| one.0 == two.0);
    all
}

/// Reads ranges of many bounds; `records` are all of the table, in order.
pub(crate) async fn check(opened: &Opened, records: &[Record], label: &str) {
    let mut random = SplitMix64::new(7);
    let all = bounds(opened, records, &mut random);
    let mut refused: Vec<Vec<u8>> = Vec::new();
    let doubtful: Vec<KeyRange> =
        all.iter().filter(|bound| bound.1).flat_map(|(bound, _)| [above(bound), below(bound)]).collect();
    for (range, found) in doubtful.iter().zip(read_all(opened, &doubtful).await) {
        match found {
            Ok(found) => assert_records(opened, &found, records, range, label),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unsupported, "{label}: {range:?}: {error:?}");
                refused.extend(range.lower.clone().or_else(|| range.upper.clone()));
            }
        }
    }
    let cuts: Vec<Vec<u8>> = all.into_iter().map(|(bound, _)| bound).filter(|bound| !refused.contains(bound)).collect();
    // Ranges that tile the key space, and the splits that the store itself proposes.
    let splits = opened.table.splits(&opened.projection, 4).await.unwrap();
    assert_eq!(splits, opened.table.splits(&opened.projection, 4).await.unwrap(), "{label}: splits are data");
    assert!(splits.len() < 8, "{label}: {} splits for 4 parts", splits.len());
    for cuts in [cuts.clone(), splits] {
        let tiles = PlannedRanges::from_cuts(cuts);
        let rows = check_ranges(opened, tiles.as_slice(), records, label).await;
        assert_eq!(rows, records.len(), "{label}: the ranges together are the whole");
    }
    // Wider ones, and those that are empty because they start where they end.
    let mut pick = || cuts[usize::try_from(random.below(cuts.len() as u64)).unwrap()].clone();
    let wide = (0..6).map(|_| {
        let (one, two) = (pick(), pick());
        KeyRange { lower: Some(one.clone().min(two.clone())), upper: Some(one.max(two)) }
    });
    let wide: Vec<KeyRange> = wide.collect();
    check_ranges(opened, &wide, records, label).await;
}

/// Reads each of the ranges, a few at once, and returns the number of rows.
async fn check_ranges(opened: &Opened, ranges: &[KeyRange], records: &[Record], label: &str) -> usize {
    let mut rows = 0;
    for (range, found) in ranges.iter().zip(read_all(opened, ranges).await) {
        let found = found.unwrap_or_else(|error| panic!("{label}: {range:?}: {error:?}"));
        assert_records(opened, &found, records, range, label);
        rows += found.len();
    }
    rows
}

async fn read_all(opened: &Opened, ranges: &[KeyRange]) -> Vec<Result<Vec<Record>, Error>> {
    let reads = ranges.iter().map(|range| opened.try_read(range.clone(), true));
    futures::stream::iter(reads).buffered(AT_ONCE).collect().await
}

fn above(bound: &[u8]) -> KeyRange {
    KeyRange { lower: Some(bound.to_vec()), upper: None }
}

fn below(bound: &[u8]) -> KeyRange {
    KeyRange { lower: None, upper: Some(bound.to_vec()) }
}

/// Asserts that `found` ascends and is what `range` leaves of `all`.
#[track_caller]
fn assert_records(opened: &Opened, found: &[Record], all: &[Record], range: &KeyRange, label: &str) {
    let text = |bound: &Option<Vec<u8>>| {
        bound.as_ref().map(|key| tieout::encode::decode_key(&opened.key_types(), key).unwrap())
    };
    let label = format!("{label}: from {:?} below {:?}", text(&range.lower), text(&range.upper));
    assert!(found.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{label}: keys ascend");
    let mut sorted = found.to_vec();
    sorted.sort();
    let expected: Vec<&Record> = all.iter().filter(|record| range.contains(&record.0)).collect();
    if sorted.iter().ne(expected.iter().copied()) {
        let show = |record: &Record| format!("{:?}", opened.values(record));
        let lost: Vec<String> =
            expected.iter().filter(|record| !sorted.contains(record)).take(3).map(|record| show(record)).collect();
        let strange: Vec<String> =
            sorted.iter().filter(|record| !expected.contains(record)).take(3).map(show).collect();
        let (read, should) = (sorted.len(), expected.len());
        panic!(
            "{label}: {read} rows, expected {should}; lost {lost:#?}; strange {strange:#?}\n{}",
            opened.table.explain(
                &opened.projection,
                &tieout::connector::Read { range: range.clone(), ascending: true, batch_bytes_max: 1 << 11 }
            )
        );
    }
}
