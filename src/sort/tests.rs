//! Tests of the sort, against a naive one.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;
use std::io::{Read, Seek, SeekFrom, Write};

/// A small generator of numbers (xorshift), so that failures repeat.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % below
    }

    fn bytes(&mut self, length: usize, values: usize) -> Vec<u8> {
        (0..length).map(|_| u8::try_from(self.next(values)).unwrap()).collect()
    }
}

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

fn sorter(folder: &tempfile::TempDir, memory_bytes: u64) -> Sorter {
    let spill_folder = folder.path().to_path_buf();
    Sorter::new(SorterOptions { memory_bytes, spill_folder, disk_bytes_max: None }).unwrap()
}

fn push_all(sorter: &mut Sorter, rows: &Rows) -> Result<()> {
    let mut batch = EncodedBatch::new();
    for part in rows.chunks(7) {
        batch.clear();
        for (key, row) in part {
            batch.push(key, row);
        }
        sorter.push(&batch)?;
    }
    Ok(())
}

fn drain(sorted: &mut SortedRecords, bytes_max: usize) -> Result<Rows> {
    let (mut rows, mut batch) = (Rows::new(), EncodedBatch::new());
    while sorted.next_batch(&mut batch, bytes_max)? {
        assert!(batch.len() == 1 || batch.bytes() <= bytes_max);
        for index in 0..batch.len() {
            let record = batch.record(index);
            rows.push((record.key.to_vec(), record.row.to_vec()));
        }
    }
    assert!(batch.is_empty());
    Ok(rows)
}

fn is_empty(folder: &tempfile::TempDir) -> bool {
    std::fs::read_dir(folder.path()).unwrap().next().is_none()
}

fn check(memory_bytes: u64, mut rows: Rows) -> SortCounters {
    let folder = tempfile::tempdir().unwrap();
    let mut input = sorter(&folder, memory_bytes);
    push_all(&mut input, &rows).unwrap();
    let mut sorted = input.finish().unwrap();
    assert!(is_empty(&folder), "files in the spill folder have no name");
    let found = drain(&mut sorted, 1000).unwrap();
    rows.sort();
    assert!(found == rows, "order or rows differ");
    let counters = sorted.counters();
    assert!(counters.memory_bytes_peak <= memory_bytes, "{counters:?}");
    assert_eq!(counters.rows, rows.len() as u64);
    counters
}

fn random(seed: u64, count: usize, key_bytes: usize, row_bytes: usize, values: usize) -> Rows {
    let mut numbers = Numbers(seed);
    let mut row = || {
        let (key, row) = (numbers.next(key_bytes + 1), numbers.next(row_bytes + 1));
        (numbers.bytes(key, values), numbers.bytes(row, values))
    };
    (0..count).map(|_| row()).collect()
}

#[test]
fn few_rows_stay_in_memory() {
    for count in [0, 1, 2, 500] {
        let counters = check(1 << 20, random(1, count, 12, 30, 256));
        assert_eq!((counters.bytes_spilled, counters.runs_written), (0, 0));
    }
}

#[test]
fn short_keys_and_zeros_sort_as_bytes_do() {
    check(1 << 16, random(2, 4000, 10, 3, 2));
    check(1 << 16, random(3, 4000, 0, 12, 3));
    check(1 << 16, random(4, 4000, 3, 0, 1));
}

#[test]
fn keys_with_a_common_start_sort_as_bytes_do() {
    for memory_bytes in [1 << 16, 1 << 22] {
        let mut rows = random(14, 4000, 10, 30, 3);
        for (key, _) in &mut rows {
            key.splice(0..0, *b"customer/0000");
        }
        check(memory_bytes, rows.clone());
        for (key, _) in &mut rows {
            key.truncate(13);
        }
        check(memory_bytes, rows);
    }
}

#[test]
fn many_runs_take_several_merges() {
    let counters = check(1 << 16, random(5, 60_000, 20, 200, 256));
    assert!(counters.runs_written > 80 && counters.merges > 2, "{counters:?}");
    assert!(counters.bytes_spilled > 6_000_000, "{counters:?}");
}

#[test]
fn duplicates_are_all_kept() {
    let row = (b"key".to_vec(), vec![7; 90]);
    let counters = check(1 << 16, vec![row; 5000]);
    assert!(counters.runs_written > 5);
}

#[test]
fn sorted_and_reversed_input() {
    let mut rows = random(6, 5000, 9, 60, 256);
    rows.sort();
    check(1 << 16, rows.clone());
    rows.reverse();
    check(1 << 16, rows);
}

#[test]
fn rows_larger_than_a_block() {
    let mut rows = random(7, 300, 8, 20_000, 256);
    rows.extend(random(8, 300, 8, 20, 256));
    let counters = check(1 << 16, rows);
    assert!(counters.merges > 10, "{counters:?}");
}

#[test]
fn a_row_beyond_the_limit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut sorter = sorter(&folder, 1 << 16);
    let error = push_all(&mut sorter, &vec![(vec![1], vec![0; 70_000])]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("memory_bytes = 65536"), "{error}");
}

#[test]
fn the_disk_limit_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let spill_folder = folder.path().to_path_buf();
    let options = SorterOptions { memory_bytes: 1 << 16, spill_folder, disk_bytes_max: Some(100_000) };
    let mut sorter = Sorter::new(options).unwrap();
    let error = push_all(&mut sorter, &random(9, 20_000, 8, 100, 256)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.to_string().contains("disk_bytes_max = 100000"), "{error}");
}

#[test]
fn a_folder_that_is_not_there_is_refused() {
    let options = SorterOptions { memory_bytes: 1 << 16, spill_folder: "/nowhere/at/all".into(), disk_bytes_max: None };
    assert_eq!(Sorter::new(options).unwrap_err().kind(), ErrorKind::Config);
    let options = SorterOptions { memory_bytes: 1, spill_folder: "/".into(), disk_bytes_max: None };
    assert_eq!(Sorter::new(options).unwrap_err().kind(), ErrorKind::Config);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut sorter = sorter(&folder, 1 << 16);
    let path = folder.path().display().to_string();
    folder.close().unwrap();
    let error = push_all(&mut sorter, &random(12, 3000, 8, 100, 256)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert!(error.to_string().contains(&path), "{error}");
}

#[test]
fn lost_rows_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut sorter = sorter(&folder, 1 << 16);
    push_all(&mut sorter, &random(13, 3000, 8, 100, 256)).unwrap();
    sorter.runs.pop();
    let error = sorter.finish().and_then(|mut sorted| drain(&mut sorted, 1000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
}

#[test]
fn any_damaged_byte_is_found() {
    let rows = random(10, 3000, 8, 100, 256);
    for at in [0, 1, 3, 5, 7, 8, 11, 12, 15, 16, 500, 3000] {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = sorter(&folder, 1 << 16);
        push_all(&mut sorter, &rows).unwrap();
        let file = &mut sorter.runs[0].file;
        let mut byte = [0];
        file.seek(SeekFrom::Start(at)).unwrap();
        file.read_exact(&mut byte).unwrap();
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(&[byte[0] ^ 1]).unwrap();
        file.rewind().unwrap();
        let error = sorter.finish().and_then(|mut sorted| drain(&mut sorted, 1000)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Read, "byte {at}: {error}");
    }
}

#[test]
fn a_shortened_run_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut sorter = sorter(&folder, 1 << 16);
    push_all(&mut sorter, &random(11, 3000, 8, 100, 256)).unwrap();
    let bytes = sorter.runs[0].bytes();
    sorter.runs[0].file.set_len(bytes - 5).unwrap();
    let error = sorter.finish().and_then(|mut sorted| drain(&mut sorted, 1000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Read);
}

#[test]
fn can_cross_threads() {
    fn send<T: Send>() {}
    send::<Sorter>();
    send::<SortedRecords>();
}
