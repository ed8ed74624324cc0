//! Tests of native types.

use super::*;

fn row(name: &str, system_id: i64, user_id: i64, user_defined: bool, assembly: bool) -> TypeRow {
    TypeRow { name: name.to_owned(), system_id, user_id, user_defined, assembly }
}

#[test]
fn types_are_found_by_name_whatever_their_numbers() {
    let types = [
        row("nvarchar", 231, 231, false, false),
        row("sysname", 231, 256, false, false),
        row("geometry", 240, 129, false, true),
        row("hierarchyid", 240, 128, false, true),
        row("decimal", 106, 106, false, false),
        row("amount", 106, 257, true, false),
        row("point", 240, 258, true, true),
    ];
    let base = |user, system| resolve(&types, user, system).1.map(|row| row.name.as_str());
    assert_eq!(base(231, 231), Some("nvarchar"));
    assert_eq!(base(256, 231), Some("nvarchar"));
    assert_eq!(base(129, 240), Some("geometry"));
    assert_eq!(base(257, 106), Some("decimal"));
    assert_eq!(base(258, 240), None);
    assert_eq!(base(999, 999), None);
}

#[test]
fn sizes_are_in_characters() {
    let size = |max_length, precision, scale| Size { max_length, precision, scale };
    assert_eq!(native("nvarchar", size(40, 0, 0)), "nvarchar(20)");
    assert_eq!(native("nvarchar", size(-1, 0, 0)), "nvarchar(max)");
    assert_eq!(native("decimal", size(9, 12, 2)), "decimal(12,2)");
    assert_eq!(native("datetime2", size(8, 27, 7)), "datetime2(7)");
    assert_eq!(native("timestamp", size(8, 0, 0)), "rowversion");
    let Wire::Text(characters) = Wire::new("nchar", size(12, 0, 0)) else { unreachable!("nchar is text") };
    assert_eq!((characters.units, characters.fixed, characters.national), (Some(6), true, true));
}

#[test]
fn what_would_be_lost_is_converted_on_the_server() {
    let selected = |name: &str| Wire::new(name, Size { max_length: 8, ..Size::default() }).selected("t.[c]", true);
    assert_eq!(selected("money"), "CONVERT(decimal(19,4), t.[c])");
    assert_eq!(selected("smallmoney"), "CONVERT(decimal(19,4), t.[c])");
    assert_eq!(selected("xml"), "CONVERT(nvarchar(max), t.[c])");
    assert_eq!(selected("geography"), "CONVERT(varbinary(max), t.[c])");
    assert_eq!(selected("ntext"), "CONVERT(nvarchar(max), t.[c])");
    assert_eq!(selected("image"), "CONVERT(varbinary(max), t.[c])");
    assert_eq!(selected("datetime"), "t.[c]");
}

#[test]
fn every_type_has_its_place() {
    let logical = |name: &str| Wire::new(name, Size { max_length: 8, precision: 12, scale: 2 }).logical();
    assert_eq!(logical("tinyint"), LogicalType::Integer { bits: 8, signed: false });
    assert_eq!(logical("numeric"), LogicalType::Decimal { declared: Some((12, 2)) });
    assert_eq!(logical("datetime"), LogicalType::Timestamp { digits: 3 });
    assert_eq!(logical("smalldatetime"), LogicalType::Timestamp { digits: 0 });
    assert_eq!(logical("datetime2"), LogicalType::Timestamp { digits: 2 });
    assert_eq!(logical("datetimeoffset"), LogicalType::OffsetInstant { digits: 2 });
    assert_eq!(logical("rowversion"), LogicalType::Binary);
    assert_eq!(logical("hierarchyid"), LogicalType::Binary);
    assert_eq!(logical("nchar"), LogicalType::Char);
    assert_eq!(logical("uniqueidentifier"), LogicalType::Uuid);
    let LogicalType::Unsupported(reason) = logical("sql_variant") else { unreachable!("sql_variant is not read") };
    assert!(reason.contains("CONVERT"));
    assert!(matches!(logical("nonsense"), LogicalType::Unsupported(_)));
}

#[test]
fn text_that_the_driver_would_misread_is_converted_by_the_server() {
    assert!(driver_reads(Some("SQL_Latin1_General_CP1_CI_AS")) && driver_reads(Some("Latin1_General_100_BIN2")));
    for collation in ["Latin1_General_100_CI_AS_SC_UTF8", "Chinese_PRC_CI_AS", "SQL_Latin1_General_CP850_CI_AS"] {
        assert!(!driver_reads(Some(collation)), "{collation}");
    }
    assert!(!driver_reads(None));
    let of =
        |name: &str, max_length: i64| Wire::new(name, Size { max_length, ..Size::default() }).selected("t.[c]", false);
    assert_eq!(of("varchar", 20), "CONVERT(nvarchar(20), t.[c])");
    assert_eq!(of("char", 20), "CONVERT(nvarchar(20), t.[c])");
    assert_eq!(of("varchar", 8000), "CONVERT(nvarchar(max), t.[c])");
    assert_eq!(of("varchar", -1), "CONVERT(nvarchar(max), t.[c])");
    assert_eq!(of("text", 16), "CONVERT(nvarchar(max), t.[c])");
    assert_eq!(of("nvarchar", 40), "t.[c]");
    assert_eq!(of("ntext", 16), "CONVERT(nvarchar(max), t.[c])");
}
