//! Clients that share no code with tiberius: `FreeTDS`'s `tsql` and python-tds.

use crate::values::{EVERY_TYPE, LONG, canned};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tieout_testkit::tds::types::Plp;
use tieout_testkit::tds::{RowEncoding, TdsOptions, TdsServer, TlsMode};

/// What `tsql` prints for a query, by rows and columns.
fn tsql(server: &TdsServer, sql: &str) -> Vec<Vec<String>> {
    let port = server.port().to_string();
    let mut child = Command::new("tsql")
        .args(["-o", "q", "-H", "127.0.0.1", "-p", &port, "-U", "u", "-P", "p"])
        .env("TDSVER", "7.4")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("FreeTDS's tsql cannot be started ({error}); scripts/test installs it"));
    child.stdin.take().unwrap().write_all(format!("{sql}\ngo\nexit\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "tsql: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| !line.is_empty()).map(|line| line.split('\t').map(ToOwned::to_owned).collect()).collect()
}

/// What `tsql` prints of both rows of values; its times end at minutes and its `datetimeoffset` is in its own zone.
fn printed() -> Vec<[String; 3]> {
    let digits = "0123456789".repeat(LONG / 10);
    let bytes: Vec<String> = (0..LONG).map(|index| format!("{:02x}", index % 251)).collect();
    let bytes = bytes.concat();
    let nines = "9999999999999999999999999999.9999999999";
    [
        ["c_bit", "1", "0"],
        ["c_tinyint", "255", "0"],
        ["c_smallint", "-32768", "32767"],
        ["c_int", "-2147483648", "7"],
        ["c_bigint", "-9223372036854775808", "9223372036854775807"],
        ["c_real", "1.5", "-0"],
        ["c_float", "0.10000000000000001", "1.7976931348623157e+308"],
        ["c_money", "-1234.5600", "109951162.7776"],
        ["c_smallmoney", "-1.5000", "2.5000"],
        ["c_decimal", nines, &format!("-{nines}")],
        ["c_numeric", "-2.58", "0.00"],
        ["c_date", "Dec 31 9999 12:00AM", "Jan  1 1 12:00AM"],
        ["c_time7", "Jan  1 1900 11:59PM", "Jan  1 1900 12:00AM"],
        ["c_time3", "Jan  1 1900 12:00PM", "Jan  1 1900 12:00AM"],
        ["c_time0", "Jan  1 1900 11:59PM", "Jan  1 1900 12:01AM"],
        ["c_datetime", "Jan  1 1753 11:59PM", "Jan  2 1900 12:00AM"],
        ["c_smalldatetime", "Jun  6 2079 11:59PM", "Jan  1 1900 12:00AM"],
        ["c_datetime2_7", "Dec 31 9999 11:59PM", "Jan  1 1 12:00AM"],
        ["c_datetime2_0", "Jul 30 2021 11:59PM", "Jul 30 2021 12:00AM"],
        ["c_datetimeoffset", "Jul 29 2021 10:00AM", "Jul 30 2021 05:30AM"],
        ["c_char", "ab\u{e4}  ", "     "],
        ["c_varchar", "\u{20ac}", ""],
        ["c_varchar_max", &digits, ""],
        ["c_nchar", "a\u{e9}\u{20ac}", "   "],
        ["c_nvarchar", "\u{1F600}x", ""],
        ["c_nvarchar_max", &digits, ""],
        ["c_text", "t\u{e4}", ""],
        ["c_ntext", "n\u{1F600}", ""],
        ["c_xml", "<a>\u{20ac}</a>", "<b/>"],
        ["c_binary", "0001feff", "00000000"],
        ["c_varbinary", "010203", ""],
        ["c_varbinary_max", &bytes, ""],
        ["c_image", "090807", ""],
        ["c_guid", "00112233-4455-6677-8899-AABBCCDDEEFF", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"],
        // Of a CLR type tsql has no text, and prints nothing.
        ["c_hierarchyid", "", ""],
    ]
    .map(|row| row.map(ToOwned::to_owned))
    .to_vec()
}

fn options(tls: TlsMode, row_encoding: RowEncoding, split_every: Option<usize>) -> TdsOptions {
    TdsOptions { tls, row_encoding, split_every, ..TdsOptions::default() }
}

#[test]
fn freetds_reads_every_type() {
    let expected = printed();
    for options in [
        options(TlsMode::Off, RowEncoding::Row, None),
        options(TlsMode::Optional, RowEncoding::NbcRow, Some(13)),
        options(TlsMode::Required, RowEncoding::Mixed, Some(509)),
        TdsOptions { plp: Plp { chunk: Some(3), unknown_length: true }, ..TdsOptions::default() },
    ] {
        let server = TdsServer::start(canned(), options.clone()).unwrap();
        let read = tsql(&server, EVERY_TYPE);
        assert_eq!(read.len(), 5, "{options:?}");
        for (index, [name, first, second]) in expected.iter().enumerate() {
            let column: Vec<&str> = read.iter().map(|row| row.get(index).map_or("", String::as_str)).collect();
            assert_eq!(column, [name, first, "NULL", second, "NULL"], "{options:?}");
        }
        assert_eq!(read[0].len(), expected.len());
        assert_eq!(server.failures(), Vec::<String>::new());
        assert_eq!(server.queries(), [format!("{EVERY_TYPE}\n")]);
    }
}

#[test]
fn python_tds_reads_every_type() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/python");
    let python = std::env::var("TIEOUT_PYTHON")
        .unwrap_or_else(|_| format!("{}/.cache/tieout/venv/bin/python", std::env::var("HOME").unwrap()));
    // Packets are as long as was agreed, but for the last: of a shorter one python-tds takes what was in its buffer before.
    let temp = tempfile::tempdir().unwrap();
    for options in [
        TdsOptions { packet_size: Some(512), ..TdsOptions::default() },
        options(TlsMode::Off, RowEncoding::NbcRow, None),
        options(TlsMode::Required, RowEncoding::Mixed, None),
        TdsOptions { plp: Plp { chunk: Some(4093), unknown_length: true }, ..TdsOptions::default() },
    ] {
        let server = TdsServer::start(canned(), options.clone()).unwrap();
        let mut command = Command::new(&python);
        command.current_dir(&folder).arg("-B").args(["check_tds.py", &server.port().to_string()]);
        if let Some(authority) = server.authority() {
            let file = temp.path().join("authority.pem");
            std::fs::write(&file, authority).unwrap();
            command.arg(file);
        }
        let output = command.output().unwrap_or_else(|error| panic!("{python}: {error}"));
        let said = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{options:?}: {said}{complaint}\n{:?}", server.failures());
        assert_eq!(said.trim(), "140 passed, 0 failed");
    }
}
