//! One column of every type, with rows that the clients must all read alike.

use tiberius::ColumnData::{self, Binary, Bit, Guid, I16, I32, I64, U8};
use tiberius::time::{Date, DateTime, DateTime2, DateTimeOffset, SmallDateTime, Time};
use tiberius::{Uuid, numeric::Numeric, xml::XmlData};
use tieout_testkit::tds::backend::{Cell, Collation, ColumnInfo, TdsType};
use tieout_testkit::tds::canned::Canned;
use tieout_testkit::tds::wire::LATIN1_CI_AS;

/// The query that gives one column of every type.
pub const EVERY_TYPE: &str = "SELECT * FROM every_type";

/// The query that gives the types that have a form without NULL.
pub const FIXED: &str = "SELECT * FROM fixed";

/// The length of the long values: beyond any packet.
pub const LONG: usize = 9000;

/// A name, a type, two values and what tiberius makes of them.
pub struct Case {
    pub name: &'static str,
    pub kind: TdsType,
    pub cells: [Cell; 2],
    pub expected: [ColumnData<'static>; 2],
    pub null: ColumnData<'static>,
}

fn text(text: &str) -> ColumnData<'static> {
    ColumnData::String(Some(text.to_owned().into()))
}

fn bytes(bytes: &[u8]) -> ColumnData<'static> {
    Binary(Some(bytes.to_vec().into()))
}

fn wide(text: &str) -> Cell {
    Cell::Utf16(text.encode_utf16().collect())
}

fn raw(bytes: &[u8]) -> Cell {
    Cell::Bytes(bytes.to_vec())
}

fn numeric(value: i128, scale: u8) -> ColumnData<'static> {
    ColumnData::Numeric(Some(Numeric::new_with_scale(value, scale)))
}

fn case(
    name: &'static str,
    kind: TdsType,
    null: ColumnData<'static>,
    first: (Cell, ColumnData<'static>),
    second: (Cell, ColumnData<'static>),
) -> Case {
    Case { name, kind, cells: [first.0, second.0], expected: [first.1, second.1], null }
}

/// Numbers.
fn numbers() -> Vec<Case> {
    let (small, large) = (TdsType::Numeric { precision: 5, scale: 2 }, TdsType::Decimal { precision: 38, scale: 10 });
    let nines = 99_999_999_999_999_999_999_999_999_999_999_999_999_i128;
    let float = |value| (Cell::F64(value), ColumnData::F64(Some(value)));
    let real = |value| (Cell::F32(value), ColumnData::F32(Some(value)));
    vec![
        case(
            "c_bit",
            TdsType::Bit,
            Bit(None),
            (Cell::Bit(true), Bit(Some(true))),
            (Cell::Bit(false), Bit(Some(false))),
        ),
        case("c_tinyint", TdsType::TinyInt, U8(None), (Cell::Int(255), U8(Some(255))), (Cell::Int(0), U8(Some(0)))),
        case(
            "c_smallint",
            TdsType::SmallInt,
            I16(None),
            (Cell::Int(-32768), I16(Some(-32768))),
            (Cell::Int(32767), I16(Some(32767))),
        ),
        case(
            "c_int",
            TdsType::Int,
            I32(None),
            (Cell::Int(-2_147_483_648), I32(Some(i32::MIN))),
            (Cell::Int(7), I32(Some(7))),
        ),
        case(
            "c_bigint",
            TdsType::BigInt,
            I64(None),
            (Cell::Int(i64::MIN), I64(Some(i64::MIN))),
            (Cell::Int(i64::MAX), I64(Some(i64::MAX))),
        ),
        case("c_real", TdsType::Real, ColumnData::F32(None), real(1.5), real(-0.0)),
        case("c_float", TdsType::Float, ColumnData::F64(None), float(0.1), float(f64::MAX)),
        // The client makes floating point of money, which is why the engine never asks for it.
        case(
            "c_money",
            TdsType::Money,
            ColumnData::F64(None),
            (Cell::Money(-12_345_600), ColumnData::F64(Some(-1234.56))),
            (Cell::Money(1 << 40), ColumnData::F64(Some(109_951_162.777_6))),
        ),
        case(
            "c_smallmoney",
            TdsType::SmallMoney,
            ColumnData::F64(None),
            (Cell::Money(-15_000), ColumnData::F64(Some(-1.5))),
            (Cell::Money(25_000), ColumnData::F64(Some(2.5))),
        ),
        case(
            "c_decimal",
            large,
            ColumnData::Numeric(None),
            (Cell::Decimal { mantissa: nines }, numeric(nines, 10)),
            (Cell::Decimal { mantissa: -nines }, numeric(-nines, 10)),
        ),
        case(
            "c_numeric",
            small,
            ColumnData::Numeric(None),
            (Cell::Decimal { mantissa: -258 }, numeric(-258, 2)),
            (Cell::Decimal { mantissa: 0 }, numeric(0, 2)),
        ),
    ]
}

/// Dates, and times of a day.
fn days_and_times() -> Vec<Case> {
    vec![
        case(
            "c_date",
            TdsType::Date,
            ColumnData::Date(None),
            (Cell::Date(3_652_058), ColumnData::Date(Some(Date::new(3_652_058)))),
            (Cell::Date(0), ColumnData::Date(Some(Date::new(0)))),
        ),
        case(
            "c_time7",
            TdsType::Time(7),
            ColumnData::Time(None),
            (Cell::Time(863_999_999_999), ColumnData::Time(Some(Time::new(863_999_999_999, 7)))),
            (Cell::Time(0), ColumnData::Time(Some(Time::new(0, 7)))),
        ),
        case(
            "c_time3",
            TdsType::Time(3),
            ColumnData::Time(None),
            (Cell::Time(43_200_001), ColumnData::Time(Some(Time::new(43_200_001, 3)))),
            (Cell::Time(1), ColumnData::Time(Some(Time::new(1, 3)))),
        ),
        case(
            "c_time0",
            TdsType::Time(0),
            ColumnData::Time(None),
            (Cell::Time(86_399), ColumnData::Time(Some(Time::new(86_399, 0)))),
            (Cell::Time(60), ColumnData::Time(Some(Time::new(60, 0)))),
        ),
    ]
}

/// Days with their times.
fn moments() -> Vec<Case> {
    let datetime2 = |days, time, scale| DateTime2::new(Date::new(days), Time::new(time, scale));
    vec![
        case(
            "c_datetime",
            TdsType::DateTime,
            ColumnData::DateTime(None),
            (
                Cell::DateTime { days: -53_690, ticks: 25_919_999 },
                ColumnData::DateTime(Some(DateTime::new(-53_690, 25_919_999))),
            ),
            (Cell::DateTime { days: 1, ticks: 300 }, ColumnData::DateTime(Some(DateTime::new(1, 300)))),
        ),
        case(
            "c_smalldatetime",
            TdsType::SmallDateTime,
            ColumnData::DateTime(None),
            (
                Cell::SmallDateTime { days: 65_535, minutes: 1439 },
                ColumnData::SmallDateTime(Some(SmallDateTime::new(65_535, 1439))),
            ),
            (Cell::SmallDateTime { days: 0, minutes: 0 }, ColumnData::SmallDateTime(Some(SmallDateTime::new(0, 0)))),
        ),
        case(
            "c_datetime2_7",
            TdsType::DateTime2(7),
            ColumnData::DateTime2(None),
            (
                Cell::DateTime2 { days: 3_652_058, time: 863_999_999_999 },
                ColumnData::DateTime2(Some(datetime2(3_652_058, 863_999_999_999, 7))),
            ),
            (Cell::DateTime2 { days: 0, time: 0 }, ColumnData::DateTime2(Some(datetime2(0, 0, 7)))),
        ),
        case(
            "c_datetime2_0",
            TdsType::DateTime2(0),
            ColumnData::DateTime2(None),
            (
                Cell::DateTime2 { days: 738_000, time: 86_399 },
                ColumnData::DateTime2(Some(datetime2(738_000, 86_399, 0))),
            ),
            (Cell::DateTime2 { days: 738_000, time: 0 }, ColumnData::DateTime2(Some(datetime2(738_000, 0, 0)))),
        ),
        case(
            "c_datetimeoffset",
            TdsType::DateTimeOffset(7),
            ColumnData::DateTimeOffset(None),
            (
                Cell::DateTimeOffset { days: 738_000, time: 1_234_567, offset_minutes: -840 },
                ColumnData::DateTimeOffset(Some(DateTimeOffset::new(datetime2(738_000, 1_234_567, 7), -840))),
            ),
            (
                Cell::DateTimeOffset { days: 738_000, time: 0, offset_minutes: 330 },
                ColumnData::DateTimeOffset(Some(DateTimeOffset::new(datetime2(738_000, 0, 7), 330))),
            ),
        ),
    ]
}

/// Texts; 0x80 is the euro sign in code page 1252.
fn texts() -> Vec<Case> {
    let null = || ColumnData::String(None);
    let long = "0123456789".repeat(LONG / 10);
    let pair = |a: &str, b: &str| ((wide(a), text(a)), (wide(b), text(b)));
    let narrow = |bytes: &[u8], read: &str| (raw(bytes), text(read));
    let (nchar, nvarchar) = (pair("a\u{e9}\u{20ac}", "   "), pair("\u{1F600}x", ""));
    let (nvarchar_max, ntext) = (pair(&long, ""), pair("n\u{1F600}", ""));
    vec![
        case("c_char", TdsType::Char(5), null(), narrow(b"ab\xE4  ", "ab\u{e4}  "), narrow(b"     ", "     ")),
        case("c_varchar", TdsType::VarChar(Some(10)), null(), narrow(b"\x80", "\u{20ac}"), narrow(b"", "")),
        case("c_varchar_max", TdsType::VarChar(None), null(), narrow(long.as_bytes(), &long), narrow(b"", "")),
        case("c_nchar", TdsType::NChar(3), null(), nchar.0, nchar.1),
        case("c_nvarchar", TdsType::NVarChar(Some(20)), null(), nvarchar.0, nvarchar.1),
        case("c_nvarchar_max", TdsType::NVarChar(None), null(), nvarchar_max.0, nvarchar_max.1),
        case("c_text", TdsType::Text, null(), narrow(b"t\xE4", "t\u{e4}"), narrow(b"", "")),
        case("c_ntext", TdsType::NText, null(), ntext.0, ntext.1),
        case(
            "c_xml",
            TdsType::Xml,
            ColumnData::Xml(None),
            (wide("<a>\u{20ac}</a>"), ColumnData::Xml(Some(std::borrow::Cow::Owned(XmlData::new("<a>\u{20ac}</a>"))))),
            (wide("<b/>"), ColumnData::Xml(Some(std::borrow::Cow::Owned(XmlData::new("<b/>"))))),
        ),
    ]
}

/// Bytes and the rest.
fn others() -> Vec<Case> {
    let null = || Binary(None);
    let long: Vec<u8> = (0..LONG).map(|index| u8::try_from(index % 251).unwrap_or_default()).collect();
    let pair = |a: &[u8], b: &[u8]| ((raw(a), bytes(a)), (raw(b), bytes(b)));
    let (fixed, short, max) = (pair(&[0, 1, 0xFE, 0xFF], &[0; 4]), pair(&[1, 2, 3], &[]), pair(&long, &[]));
    let (image, udt) = (pair(&[9, 8, 7], &[]), pair(&[0x58], &[0x5A, 0xC0]));
    let guid = [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF];
    vec![
        case("c_binary", TdsType::Binary(4), null(), fixed.0, fixed.1),
        case("c_varbinary", TdsType::VarBinary(Some(8)), null(), short.0, short.1),
        case("c_varbinary_max", TdsType::VarBinary(None), null(), max.0, max.1),
        case("c_image", TdsType::Image, null(), image.0, image.1),
        case(
            "c_guid",
            TdsType::UniqueIdentifier,
            Guid(None),
            (Cell::Guid(guid), Guid(Some(Uuid::from_bytes(guid)))),
            (Cell::Guid([0xFF; 16]), Guid(Some(Uuid::from_bytes([0xFF; 16])))),
        ),
        case("c_hierarchyid", TdsType::Udt { type_name: "hierarchyid".into() }, null(), udt.0, udt.1),
    ]
}

/// Every type but `sql_variant`.
pub fn cases() -> Vec<Case> {
    numbers().into_iter().chain(days_and_times()).chain(moments()).chain(texts()).chain(others()).collect()
}

/// A column of a case.
pub fn column(case: &Case, nullable: bool) -> ColumnInfo {
    let collation: Option<Collation> = (case.name == "c_varchar").then_some(LATIN1_CI_AS);
    ColumnInfo { name: case.name.into(), kind: case.kind.clone(), nullable, collation }
}

/// Answers [`EVERY_TYPE`] by the first values, NULLs, the second values and NULLs again; [`FIXED`] by both values.
pub fn canned() -> Canned {
    let cases = cases();
    let columns: Vec<ColumnInfo> = cases.iter().map(|case| column(case, true)).collect();
    let values = |index: usize| cases.iter().map(|case| case.cells[index].clone()).collect::<Vec<_>>();
    let nulls = vec![Cell::Null; cases.len()];
    let rows = vec![values(0), nulls.clone(), values(1), nulls];
    let fixed: Vec<ColumnInfo> = cases.iter().map(|case| column(case, false)).collect();
    Canned::new().login("u", "p").rows(EVERY_TYPE, columns, rows).rows(FIXED, fixed, vec![values(0), values(1)])
}
