//! A naive answer to every comparison of rows in memory, to hold the engine's against.
//!
//! It takes encoded records (`docs/encoding.md`, section 1), knows nothing of ranges, batches or streams, and follows
//! `Keys` of the equality rules to the letter: rows under one key are multisets, equal rows cancel, one left on each
//! side is changed, all else that is left is missing or extra.

use std::collections::BTreeMap;

use blake2::digest::consts::U32;
use blake2::{Blake2b, Digest};

/// The bytes of a key and of a row.
pub type Record = (Vec<u8>, Vec<u8>);

/// `BLAKE2b` with a digest of 32 bytes.
type Blake2b256 = Blake2b<U32>;

/// The kinds of difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// In the source alone.
    Missing,
    /// In the sink alone.
    Extra,
    /// One row on each side, and not the same.
    Changed,
}

/// One difference; equal rows under one key are one difference with their number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// The key.
    pub key: Vec<u8>,
    /// What it is.
    pub kind: Kind,
    /// The source's row; none for extra.
    pub source: Option<Vec<u8>>,
    /// The sink's row; none for missing.
    pub sink: Option<Vec<u8>>,
    /// How many rows it stands for, at least 1.
    pub occurrences: u64,
}

/// Keys that one side has more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Duplicates {
    /// Keys with two rows or more.
    pub keys: u64,
    /// Rows beyond the first of each such key.
    pub surplus: u64,
}

/// The whole answer. Counts are in rows; a changed pair counts once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Pairs of equal rows.
    pub matched: u64,
    /// Rows of the source alone.
    pub missing: u64,
    /// Rows of the sink alone.
    pub extra: u64,
    /// Pairs of different rows.
    pub changed: u64,
    /// Repeated keys of the source.
    pub source_duplicates: Duplicates,
    /// Repeated keys of the sink.
    pub sink_duplicates: Duplicates,
    /// Every difference by key; within a key missing before extra, then by row bytes.
    pub differences: Vec<Difference>,
}

/// How often each row stands under a key: in the source, in the sink.
type Group<'a> = BTreeMap<&'a [u8], (u64, u64)>;

/// Compares two sets of records in any order.
#[must_use]
pub fn compare(source: &[Record], sink: &[Record]) -> Answer {
    let mut groups: BTreeMap<&[u8], Group<'_>> = BTreeMap::new();
    for (key, row) in source {
        groups.entry(key).or_default().entry(row).or_default().0 += 1;
    }
    for (key, row) in sink {
        groups.entry(key).or_default().entry(row).or_default().1 += 1;
    }
    let mut answer = Answer::default();
    for (key, group) in groups {
        compare_group(&mut answer, key, &group);
    }
    answer
}

fn compare_group(answer: &mut Answer, key: &[u8], group: &Group<'_>) {
    count_duplicates(&mut answer.source_duplicates, group.values().map(|count| count.0).sum());
    count_duplicates(&mut answer.sink_duplicates, group.values().map(|count| count.1).sum());
    let mut missing = Vec::new();
    let mut extra = Vec::new();
    for (&row, &(in_source, in_sink)) in group {
        answer.matched += in_source.min(in_sink);
        if in_source > in_sink {
            missing.push((row, in_source - in_sink));
        } else if in_sink > in_source {
            extra.push((row, in_sink - in_source));
        }
    }
    if let ([(before, 1)], [(after, 1)]) = (missing.as_slice(), extra.as_slice()) {
        answer.changed += 1;
        answer.differences.push(Difference {
            key: key.to_vec(),
            kind: Kind::Changed,
            source: Some(before.to_vec()),
            sink: Some(after.to_vec()),
            occurrences: 1,
        });
        return;
    }
    for (row, occurrences) in missing {
        answer.missing += occurrences;
        let source = Some(row.to_vec());
        answer.differences.push(Difference { key: key.to_vec(), kind: Kind::Missing, source, sink: None, occurrences });
    }
    for (row, occurrences) in extra {
        answer.extra += occurrences;
        let sink = Some(row.to_vec());
        answer.differences.push(Difference { key: key.to_vec(), kind: Kind::Extra, source: None, sink, occurrences });
    }
}

fn count_duplicates(duplicates: &mut Duplicates, rows: u64) {
    if rows > 1 {
        duplicates.keys += 1;
        duplicates.surplus += rows - 1;
    }
}

/// The range digest of a set of records in any order (`docs/encoding.md`, section 8).
#[must_use]
pub fn range_digest(records: &[Record]) -> [u8; 32] {
    let mut sorted: Vec<&Record> = records.iter().collect();
    sorted.sort();
    let mut hash = Blake2b256::new();
    for (key, row) in sorted {
        hash_sized(&mut hash, key);
        hash_sized(&mut hash, row);
    }
    hash.finalize().into()
}

/// The table digest over a set of records that is cut at `cuts` (ascending keys; none for one open range).
#[must_use]
pub fn table_digest(records: &[Record], cuts: &[Vec<u8>]) -> [u8; 32] {
    let mut hash = Blake2b256::new();
    hash.update(b"tieout-table-v1\0");
    for index in 0..=cuts.len() {
        let lower = index.checked_sub(1).and_then(|before| cuts.get(before));
        let upper = cuts.get(index);
        let inside: Vec<Record> = records
            .iter()
            .filter(|(key, _)| lower.is_none_or(|bound| key >= bound) && upper.is_none_or(|bound| key < bound))
            .cloned()
            .collect();
        for bound in [lower, upper] {
            match bound {
                None => hash.update([0]),
                Some(key) => {
                    hash.update([1]);
                    hash_sized(&mut hash, key);
                }
            }
        }
        hash.update((inside.len() as u64).to_be_bytes());
        hash.update(range_digest(&inside));
    }
    hash.finalize().into()
}

fn hash_sized(hash: &mut Blake2b256, bytes: &[u8]) {
    hash.update(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    hash.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &[(&str, &str)]) -> Vec<Record> {
        text.iter().map(|(key, row)| (key.as_bytes().to_vec(), row.as_bytes().to_vec())).collect()
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
    }

    #[test]
    fn tells_the_kinds_apart() {
        let source = records(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let sink = records(&[("b", "2"), ("c", "1"), ("d", "1")]);
        let answer = compare(&source, &sink);
        assert_eq!((answer.matched, answer.missing, answer.extra, answer.changed), (1, 1, 1, 1));
        let kinds: Vec<Kind> = answer.differences.iter().map(|difference| difference.kind).collect();
        assert_eq!(kinds, [Kind::Missing, Kind::Changed, Kind::Extra]);
    }

    #[test]
    fn pairs_repeated_keys_as_multisets() {
        // Three equal rows against one, and a stray on the sink: two left against one is not a change.
        let answer = compare(&records(&[("k", "x"), ("k", "x"), ("k", "x")]), &records(&[("k", "y"), ("k", "x")]));
        assert_eq!((answer.matched, answer.missing, answer.extra, answer.changed), (1, 2, 1, 0));
        assert_eq!(answer.differences.first().map(|difference| difference.occurrences), Some(2));
        assert_eq!(answer.source_duplicates, Duplicates { keys: 1, surplus: 2 });
        assert_eq!(answer.sink_duplicates, Duplicates { keys: 1, surplus: 1 });
        // One left on each side is.
        let answer = compare(&records(&[("k", "x"), ("k", "z")]), &records(&[("k", "x"), ("k", "y")]));
        assert_eq!((answer.matched, answer.missing, answer.extra, answer.changed), (1, 0, 0, 1));
    }

    #[test]
    fn digests_do_not_depend_on_the_order_given() {
        let one = range_digest(&records(&[("a", "1"), ("b", "2"), ("b", "1")]));
        let other = range_digest(&records(&[("b", "1"), ("b", "2"), ("a", "1")]));
        assert_eq!(one, other);
        assert_ne!(one, range_digest(&records(&[("a", "1"), ("b", "2")])));
    }

    #[test]
    fn an_empty_range_has_the_digest_of_nothing() {
        let expected = "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8";
        assert_eq!(hex(&range_digest(&[])), expected);
    }

    #[test]
    fn cuts_are_part_of_the_table_digest() {
        let rows = records(&[("a", "1"), ("b", "2")]);
        assert_ne!(table_digest(&rows, &[]), table_digest(&rows, &[b"b".to_vec()]));
    }
}
