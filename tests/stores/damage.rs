//! Bytes from anywhere: what is damaged or made up gives an error or other rows, never a panic, a hang, or an endless
//! allocation. A smoke test of fixed seeds; every failure names its seed.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up must fail loudly")]

use crate::{
    csv::{Csv, JsonLines},
    parquet::Parquet,
    store::{Store, Wanted},
};
use std::time::{Duration, Instant};
use tieout::{
    config::parse_bytes,
    connector::registry::connector_for,
    encode::{decode_key, decode_row, parse},
    model::{CanonicalType, KeyRange},
};
use tieout_testkit::{
    contract::{KINDS, every_kind},
    random::SplitMix64,
};

/// Files that are damaged of each format.
const DAMAGED: u64 = 250;
/// How long one may take, unoptimised on a busy machine.
const SECONDS_MAX: u64 = 20;

fn below(random: &mut SplitMix64, bound: usize) -> usize {
    usize::try_from(random.below(bound as u64)).unwrap()
}

/// Changes a few places: other bytes, lost ones, doubled ones, an early end.
fn damage(bytes: &mut Vec<u8>, random: &mut SplitMix64) {
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = below(random, bytes.len());
        match random.below(6) {
            0 | 1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes[at] = [0, 0xFF, 0x7F, b'"', b'\n', b'{'][below(random, 6)],
            3 => {
                let end = (at + below(random, 40)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let end = (at + below(random, 40)).min(bytes.len());
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            _ => bytes.truncate(at),
        }
    }
}

/// Reads damaged copies of a file; how many were refused, when opened or when read.
async fn damaged<S: Store>(store: &S, label: &str) -> u64 {
    let table = every_kind("every", &KINDS, 120, 21);
    let locator = store.create(&table).await;
    // A store may make a folder of files.
    let path = std::path::PathBuf::from(&locator);
    let file = if path.is_dir() {
        std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).min().unwrap()
    } else {
        path
    };
    let whole = std::fs::read(&file).unwrap();
    let mut refused = 0;
    for seed in 0..DAMAGED {
        let mut bytes = whole.clone();
        damage(&mut bytes, &mut SplitMix64::new(seed));
        std::fs::write(&file, bytes).unwrap();
        let started = Instant::now();
        let wanted = Wanted::new(store, &table, locator.clone());
        let read = async {
            let opened = wanted.try_open().await?;
            let order = opened.table.order(&opened.projection).await?;
            opened.try_read(KeyRange::all(), order.best != tieout::model::ReadOrder::Local).await
        };
        let limit = Duration::from_secs(SECONDS_MAX);
        let read = tokio::time::timeout(limit, read).await.unwrap_or_else(|_| panic!("{label}: seed {seed} hangs"));
        assert!(started.elapsed() < limit, "{label}: seed {seed}");
        refused += u64::from(read.is_err());
    }
    refused
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_parquet() {
    let refused = damaged(&Parquet::start().await, "parquet").await;
    // Most damage meets a page with a checksum, or the footer.
    assert!(refused > DAMAGED / 2, "{refused} of {DAMAGED} refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_csv() {
    let refused = damaged(&Csv::start().await, "csv").await;
    assert!(refused > DAMAGED / 4, "{refused} of {DAMAGED} refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_json_lines() {
    let refused = damaged(&JsonLines::start().await, "json lines").await;
    assert!(refused > DAMAGED / 4, "{refused} of {DAMAGED} refused");
}

/// What numbers, times and locators are made of.
const LETTERS: &[u8] = b"0123456789-+.:eE TZ{}[]\"\\,infNaN\xC3\xA9";

/// Keys and rows of damaged bytes, and texts of any characters, are taken apart without a panic.
#[test]
fn made_up_values() {
    let types = [
        CanonicalType::Boolean,
        CanonicalType::Number,
        CanonicalType::Float,
        CanonicalType::Text,
        CanonicalType::Binary,
        CanonicalType::Date,
        CanonicalType::Time,
        CanonicalType::Timestamp,
        CanonicalType::Instant,
        CanonicalType::OffsetInstant,
        CanonicalType::Uuid,
    ];
    let (mut decoded, mut parsed) = (0, 0);
    for seed in 0..40_000 {
        let mut random = SplitMix64::new(seed);
        let wanted: Vec<CanonicalType> =
            (0..=random.below(3)).map(|_| types[below(&mut random, types.len())].clone()).collect();
        let length = below(&mut random, 40);
        let small = random.below(2) == 0;
        let bytes: Vec<u8> =
            (0..length).map(|_| (random.next_u64() & if small { 3 } else { 0xFF }).to_le_bytes()[0]).collect();
        decoded += u32::from(decode_key(&wanted, &bytes).is_ok());
        decoded += u32::from(decode_row(&wanted, &bytes).is_ok());
        let letters: Vec<u8> = (0..length).map(|_| LETTERS[below(&mut random, LETTERS.len())]).collect();
        let text = String::from_utf8_lossy(&letters);
        parsed += u32::from(parse(&wanted[0], &text).is_ok());
        drop(parse_bytes(&text));
        for scheme in ["postgres://", "mysql://", "mssql://", "sqlite:", "s3://", ""] {
            drop(connector_for(&format!("{scheme}{text}")));
        }
    }
    assert!(decoded > 100 && parsed > 100, "{decoded} decoded, {parsed} parsed");
}
