//! Tests of the mapping as data: two tables, flags, and what becomes of them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::model::{
    CanonicalType, Column, ColumnOptions, ComparisonRequest, Conversion, ErrorKind, KeyCandidate, LogicalType,
    NameCase, OutputHint, Rounding, SideRequest, Sides, SortChoice, TableSchema, TextFold, TimePrecision,
};
use LogicalType as L;
use std::{collections::BTreeMap, path::PathBuf};

const INT: LogicalType = L::Integer { bits: 32, signed: true };

fn table(columns: &[(&str, LogicalType)], keys: &[&[&str]]) -> TableSchema {
    TableSchema {
        display: "t".to_owned(),
        columns: columns
            .iter()
            .map(|(name, logical)| Column {
                name: (*name).to_owned(),
                native: format!("native {}", types::type_word(logical)),
                logical: logical.clone(),
                nullable: true,
                hidden: false,
                collation: None,
            })
            .collect(),
        keys: keys
            .iter()
            .enumerate()
            .map(|(index, columns)| KeyCandidate {
                origin: if index == 0 { "primary key".to_owned() } else { format!("index u{index}") },
                columns: columns.iter().map(|&column| column.to_owned()).collect(),
            })
            .collect(),
        name_case: NameCase::Sensitive,
        rows_estimate: None,
        bytes_estimate: None,
    }
}

fn insensitive(mut schema: TableSchema) -> TableSchema {
    schema.name_case = NameCase::Insensitive;
    schema
}

fn hide(mut schema: TableSchema, name: &str) -> TableSchema {
    for column in schema.columns.iter_mut().filter(|column| column.name == name) {
        column.hidden = true;
    }
    schema
}

/// A request from flags as on the command line, without options.
fn request(flags: &str) -> ComparisonRequest {
    let mut request = ComparisonRequest {
        sides: Sides::new(SideRequest::default(), SideRequest::default()),
        key: vec![],
        columns: vec![],
        exclude: vec![],
        map: vec![],
        casts: vec![],
        options: BTreeMap::new(),
        sort: SortChoice::Auto,
        snapshot_age_max: None,
        ranges_from: None,
        output: PathBuf::from("out"),
        workers: 0,
        memory_bytes: 256 << 20,
        ranges: 0,
    };
    let words: Vec<&str> = flags.split_whitespace().collect();
    let pair = |word: &str| {
        let (one, other) = word.split_once('=').unwrap();
        (one.to_owned(), other.to_owned())
    };
    for flag in words.chunks(2) {
        match flag[0] {
            "-k" => request.key.push(flag[1].to_owned()),
            "-c" => request.columns.push(flag[1].to_owned()),
            "--exclude" => request.exclude.push(flag[1].to_owned()),
            "--map" => request.map.push(pair(flag[1])),
            "--cast" => request.casts.push(pair(flag[1])),
            other => assert_eq!(other, "", "unknown flag"),
        }
    }
    request
}

fn with(flags: &str, column: &str, options: ColumnOptions) -> ComparisonRequest {
    let mut request = request(flags);
    request.options.insert(column.to_owned(), options);
    request
}

/// `key | row`, a column as `name` or `source=sink`, with its canonical type.
fn shown(mapping: &Mapping) -> String {
    let list = |pairs: &[crate::model::ColumnPair]| -> String {
        let shown: Vec<String> = pairs
            .iter()
            .map(|pair| {
                let name = if pair.name.source == pair.name.sink {
                    pair.name.source.clone()
                } else {
                    format!("{}={}", pair.name.source, pair.name.sink)
                };
                format!("{name}:{}", pair.canonical)
            })
            .collect();
        shown.join(" ")
    };
    format!("{} | {}", list(&mapping.key), list(&mapping.row))
}

/// What comes out, or the error with its hint.
fn outcome(request: &ComparisonRequest, source: TableSchema, sink: TableSchema) -> String {
    match map_columns(request, &Sides::new(source, sink)) {
        Ok(mapping) => shown(&mapping),
        Err(error) => format!("{error} [{}]", error.hint_text().unwrap_or_default()),
    }
}

fn check(flags: &str, source: TableSchema, sink: TableSchema, expected: &str) {
    assert_eq!(outcome(&request(flags), source, sink), expected, "{flags}");
}

/// Maps one column `c` beside the key `id`.
fn column(flags: &str, source: LogicalType, sink: LogicalType) -> String {
    let one = |logical| table(&[("id", INT), ("c", logical)], &[&["id"]]);
    outcome(&request(flags), one(source), one(sink))
}

#[test]
fn key_and_columns_are_paired_by_name_in_key_order() {
    let source = table(&[("x", INT), ("y", INT), ("v", L::Text)], &[&["y", "x"]]);
    let sink = table(&[("v", L::Text), ("y", INT), ("x", INT)], &[&["y", "x"]]);
    check("", source.clone(), sink.clone(), "y:number x:number | v:text");
    let mapping = map_columns(&request(""), &Sides::new(source, sink)).unwrap();
    let indices = |columns: &[crate::model::Projected]| columns.iter().map(|c| c.index).collect::<Vec<_>>();
    assert_eq!(indices(&mapping.projection.source.key), [1, 0]);
    assert_eq!(indices(&mapping.projection.sink.key), [1, 2]);
    assert_eq!(indices(&mapping.projection.source.row), [2]);
    assert_eq!(indices(&mapping.projection.sink.row), [0]);
    assert_eq!(mapping.key_origin, "primary key of both sides");
    assert_eq!(mapping.key_unique, Sides::new(true, true));
}

#[test]
fn names_meet_exactly_or_in_case_alone() {
    let upper = || table(&[("ID", INT), ("\u{dc}nit", L::Text)], &[&["ID"]]);
    let lower = || table(&[("id", INT), ("\u{fc}nit", L::Text)], &[&["id"]]);
    check("", insensitive(upper()), lower(), "ID=id:number | \u{dc}nit=\u{fc}nit:text");
    check(
        "",
        upper(),
        lower(),
        "pairing columns: 3 problems\n  - only in the source: ID, \u{dc}nit (leave out by `--exclude ID --exclude \
         \u{dc}nit`, or pair by `--map SOURCE=SINK`)\n  - only in the sink: id, \u{fc}nit (leave out by `--exclude id \
         --exclude \u{fc}nit`, or pair by `--map SOURCE=SINK`)\n  - no key is usable on both sides: the source has (ID) \
         primary key, the sink has (id) primary key (name the key columns by `-k COLUMN`)\n  - no column is left to \
         compare [each line says what would settle it]"
            .replace("3 problems", "4 problems")
            .as_str(),
    );
    let reserved = || table(&[("order", INT), ("a\"b", L::Text)], &[&["order"]]);
    check("", reserved(), insensitive(reserved()), "order:number | a\"b:text");
}

#[test]
fn ambiguous_names_are_refused_with_the_candidates() {
    let source = table(&[("id", INT), ("Ab", INT), ("aB", INT)], &[&["id"]]);
    let sink = insensitive(table(&[("id", INT), ("ab", INT)], &[&["id"]]));
    check(
        "",
        source.clone(),
        sink.clone(),
        "pairing columns: columns that differ in case alone cannot be paired: Ab, aB in the source, ab in the sink \
         [pair each by `--map SOURCE=SINK`]",
    );
    check("--map Ab=ab --exclude aB", source.clone(), sink.clone(), "id:number | Ab=ab:number");
    check("--exclude aB", source, sink, "id:number | Ab=ab:number");
    // The exact name is never taken for a name that differs in case.
    let source = table(&[("id", INT), ("ID", INT)], &[&["id"]]);
    let sink = insensitive(table(&[("id", INT)], &[&["id"]]));
    check("--exclude ID", source, sink, "id:number | ");
}

#[test]
fn columns_of_one_side_are_listed_together() {
    let source = table(&[("id", INT), ("a", INT), ("b", INT)], &[&["id"]]);
    let sink = table(&[("id", INT), ("z", INT)], &[&["id"]]);
    check(
        "",
        source.clone(),
        sink.clone(),
        "pairing columns: 2 problems\n  - only in the source: a, b (leave out by `--exclude a --exclude b`, or pair by \
         `--map SOURCE=SINK`)\n  - only in the sink: z (leave out by `--exclude z`, or pair by `--map SOURCE=SINK`) \
         [each line says what would settle it]",
    );
    check("--exclude a --exclude z --exclude b", source.clone(), sink.clone(), "id:number | ");
    check("--map a=z --exclude b", source.clone(), sink.clone(), "id:number | a=z:number");
    let mapping = map_columns(&request("--map a=z --exclude b"), &Sides::new(source, sink)).unwrap();
    assert_eq!(mapping.excluded, Sides::new(vec!["b".to_owned()], vec![]));
}

#[test]
fn flags_name_columns_that_exist() {
    let t = || table(&[("id", INT), ("amount", INT), ("note", L::Text)], &[&["id"]]);
    check("-c amount", t(), t(), "id:number | amount:number");
    check(
        "-c amuont",
        t(),
        t(),
        "pairing columns: -c amuont: there is no such column on either side [did you mean `amount`?]",
    );
    check(
        "--exclude nope",
        t(),
        t(),
        "pairing columns: --exclude nope: there is no such column on either side [did you mean `note`?]",
    );
    check(
        "--map amount=x",
        t(),
        t(),
        "pairing columns: 2 problems\n  - --map amount=x: the sink has no column x\n  - only in the sink: amount (leave out by `--exclude amount`, or pair by `--map SOURCE=SINK`) [each line says what would settle it]",
    );
    check("-k note --exclude note", t(), t(), "pairing columns: key column note is excluded [drop one of the two]");
    check("-k note -k note", t(), t(), "pairing columns: key column note is named twice []");
    check(
        "--cast amont=text",
        t(),
        t(),
        "pairing columns: --cast amont=text: no such column is compared [did you mean `amount`?]",
    );
    let error = map_columns(&request("-c amuont"), &Sides::new(t(), t())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
}

#[test]
fn hidden_columns_take_part_when_named() {
    let t = || table(&[("id", INT), ("h", INT)], &[&["id"]]);
    check("", hide(t(), "h"), hide(t(), "h"), "id:number | ");
    check("-c h", hide(t(), "h"), t(), "id:number | h:number");
    check("--map h=h", t(), hide(t(), "h"), "id:number | h:number");
    check(
        "",
        t(),
        hide(t(), "h"),
        "pairing columns: only in the source: h [leave out by `--exclude h`, or pair by `--map SOURCE=SINK`; hidden in \
         the sink, to be named by `--map`: h]",
    );
}

#[test]
fn repeated_names_are_refused() {
    let source = table(&[("id", INT), ("a", INT), ("a", INT)], &[&["id"]]);
    let sink = table(&[("id", INT), ("a", INT)], &[&["id"]]);
    check(
        "",
        source,
        sink,
        "pairing columns: column a occurs more than once in the source [give its columns distinct names]",
    );
}

#[test]
fn keys_come_from_the_user_the_stores_or_nowhere() {
    let check = |flags: &str, source: &[&[&str]], sink: &[&[&str]], expected: &str| {
        let t = |keys| table(&[("a", INT), ("b", INT), ("c", INT)], keys);
        let shown = match map_columns(&request(flags), &Sides::new(t(source), t(sink))) {
            Ok(mapping) => {
                let names: Vec<&str> = mapping.key.iter().map(|pair| pair.name.source.as_str()).collect();
                let unique = mapping.key_unique;
                format!("{} {} {} - {}", names.join(","), unique.source, unique.sink, mapping.key_origin)
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expected, "{flags} {source:?} {sink:?}");
    };
    check("", &[&["a", "b"]], &[&["b", "a"]], "a,b true true - primary key of both sides");
    check("", &[&["a"], &["b"]], &[&["b"]], "b true true - index u1 of the source, primary key of the sink");
    check("", &[&["a"]], &[], "a true false - primary key of the source; the sink guarantees none");
    check("", &[], &[&["b"]], "b false true - primary key of the sink; the source guarantees none");
    check("", &[], &[], " false false - none: neither side guarantees a key, so rows are compared as a multiset");
    check("-k c -k a", &[&["a"]], &[&["a", "b"]], "c,a true false - named by -k");
    check(
        "",
        &[&["a"]],
        &[&["b"]],
        "pairing columns: no key is usable on both sides: the source has (a) primary key, the sink has (b) primary key",
    );
    check(
        "--exclude a",
        &[&["a"]],
        &[&["a"]],
        "pairing columns: no key is usable on both sides: the source has (a) primary key, the sink has (a) primary key",
    );
}

#[test]
fn a_cast_key_is_not_known_to_be_unique() {
    let t = || table(&[("id", L::Text), ("v", INT)], &[&["id"]]);
    let mapping = map_columns(&request("--cast id=number"), &Sides::new(t(), t())).unwrap();
    assert_eq!(mapping.key_unique, Sides::new(false, false));
    assert_eq!(mapping.projection.source.key[0].target.conversion, Conversion::Parse);
}

#[test]
fn types_that_meet() {
    let check = |source: LogicalType, sink: LogicalType, expected: &str| {
        let expected = format!("id:number | c:{expected}");
        assert_eq!(column("", source.clone(), sink.clone()), expected);
        assert_eq!(column("", sink, source), expected);
    };
    let list = |element| L::List(Box::new(element));
    check(INT, L::Decimal { declared: None }, "number");
    check(INT, L::Boolean, "number");
    check(L::Boolean, L::Boolean, "boolean");
    check(L::Float { bits: 32 }, L::Float { bits: 64 }, "float");
    check(L::Float { bits: 64 }, L::Decimal { declared: None }, "number");
    check(L::Enum, L::Text, "text");
    check(L::Char, L::Untyped, "text");
    check(L::Untyped, L::Timestamp { digits: 6 }, "timestamp");
    check(L::Null, L::Uuid, "uuid");
    check(L::Null, list(INT), "list<number>");
    check(L::OffsetInstant { digits: 7 }, L::Instant { digits: 6 }, "instant");
    check(L::OffsetInstant { digits: 7 }, L::OffsetInstant { digits: 7 }, "offset instant");
    check(list(INT), list(L::Decimal { declared: None }), "list<number>");
    check(
        L::Struct(vec![("b".to_owned(), INT), ("a".to_owned(), L::Text)]),
        L::Struct(vec![("a".to_owned(), L::Enum), ("b".to_owned(), INT)]),
        "struct<a: text, b: number>",
    );
}

#[test]
fn types_that_do_not_meet_are_refused_with_the_way_out() {
    let check = |source: LogicalType, sink: LogicalType, reason: &str, hint: &str| {
        let refusal = pair_types(&source, &sink).unwrap_err();
        assert_eq!((refusal.reason.as_str(), refusal.hint.as_deref().unwrap_or_default()), (reason, hint));
        assert!(pair_types(&sink, &source).is_err());
    };
    let text = "`--cast COLUMN=text` compares the text of both sides";
    check(
        L::Text,
        INT,
        "text and integer are not compared as they are",
        "`--cast COLUMN=number` parses the text side, `--cast COLUMN=text` compares text",
    );
    check(
        L::Date,
        L::Text,
        "date and text are not compared as they are",
        "`--cast COLUMN=date` parses the text side, `--cast COLUMN=text` compares text",
    );
    check(
        L::Uuid,
        L::Binary,
        "uuid and binary are not compared as they are",
        "`--cast COLUMN=uuid` reads both sides as uuid",
    );
    check(
        L::Date,
        L::Timestamp { digits: 6 },
        "date and timestamp are not compared as they are",
        "`--cast COLUMN=timestamp` takes a date as its midnight",
    );
    check(
        L::Timestamp { digits: 6 },
        L::Instant { digits: 6 },
        "timestamp and instant are not compared as they are",
        "name the zone of the zoneless side, such as `--option COLUMN.zone=Europe/Paris`",
    );
    check(
        L::Struct(vec![("a".to_owned(), INT)]),
        L::Struct(vec![("b".to_owned(), INT)]),
        "fields of the struct differ: the sink lacks a; the source lacks b",
        text,
    );
    let list = |element| L::List(Box::new(element));
    let inside = "elements inside of a nested type do not meet: ";
    check(list(INT), list(L::Boolean), &format!("{inside}integer and boolean"), text);
    check(list(L::Float { bits: 64 }), list(INT), &format!("{inside}float and integer"), text);
    check(list(L::Char), list(L::Text), &format!("{inside}pad blanks of char are not stripped there"), text);
    check(list(L::Untyped), list(INT), &format!("{inside}untyped text and integer"), text);
    check(L::Untyped, list(INT), "untyped text is not parsed as list", text);
    assert!(pair_types(&L::Unsupported("tsquery".to_owned()), &L::Null).is_err());
}

#[test]
fn unlike_columns_are_refused_together_and_meet_under_casts() {
    let source = table(&[("id", INT), ("a", L::Text), ("d", L::Date), ("u", L::Uuid)], &[&["id"]]);
    let sink = table(&[("id", INT), ("a", INT), ("d", L::Text), ("u", L::Binary)], &[&["id"]]);
    let message = outcome(&request(""), source.clone(), sink.clone());
    assert!(message.starts_with("pairing columns: 3 problems\n  - column a: text and integer"), "{message}");
    assert!(message.contains("(source native text, sink native integer) (`--cast a=number` parses"), "{message}");
    assert!(message.contains("`--cast d=date`") && message.contains("`--cast u=uuid`"), "{message}");
    let flags = "--cast a=int --cast d=date --cast u=uuid";
    check(flags, source.clone(), sink.clone(), "id:number | a:number d:date u:uuid");
    let mapping = map_columns(&request(flags), &Sides::new(source, sink)).unwrap();
    let conversions = |columns: &[crate::model::Projected]| -> Vec<Conversion> {
        columns.iter().map(|column| column.target.conversion).collect()
    };
    let (direct, parse) = (Conversion::Direct, Conversion::Parse);
    assert_eq!(conversions(&mapping.projection.source.row), [parse, direct, direct]);
    assert_eq!(conversions(&mapping.projection.sink.row), [direct, parse, direct]);
}

#[test]
fn casts_keep_every_value_or_are_refused() {
    let check = |logical: LogicalType, target: &str, expected: &str| {
        let target = casts::cast_target(target).unwrap();
        let shown = match casts::cast_side(&logical, &target) {
            Ok(cast) => format!("{:?} {}", cast.conversion, cast.as_text),
            Err(refusal) => refusal.hint.unwrap_or_default(),
        };
        assert_eq!(shown, expected, "{logical:?} {target}");
    };
    check(L::Char, "text", "Direct false");
    check(INT, "text", "Render true");
    check(L::Xml, "NUMERIC", "Parse false");
    check(L::Date, "timestamp", "Direct false");
    check(L::Binary, "uuid", "Direct false");
    check(L::Unsupported(String::new()), "text", "Render true");
    check(L::Unsupported(String::new()), "json", "Parse true");
    check(L::Untyped, "number", "Parse true");
    check(L::Untyped, "text", "Direct false");
    check(L::Float { bits: 64 }, "number", "Direct false");
    check(INT, "float", "possible is number, text");
    check(L::Decimal { declared: None }, "double", "possible is number, text");
    check(L::Timestamp { digits: 6 }, "date", "possible is text, the type of the column");
    check(L::Instant { digits: 6 }, "timestamp", "possible is text, the type of the column");
    assert!(casts::cast_target("money").unwrap_err().hint.unwrap_or_default().contains("text, number, float"));
}

#[test]
fn only_the_padded_side_is_stripped() {
    let one = |logical| table(&[("id", logical)], &[&["id"]]);
    let mapping = map_columns(&request(""), &Sides::new(one(L::Char), one(L::Text))).unwrap();
    assert!(mapping.projection.source.key[0].target.strip_pad);
    assert!(!mapping.projection.sink.key[0].target.strip_pad);
}

#[test]
fn options_fit_their_column() {
    let check = |column: &str, options: ColumnOptions, expected: &str| {
        let t = || {
            let columns = [("id", INT), ("n", INT), ("f", L::Float { bits: 64 }), ("t", L::Text), ("d", L::Date)];
            table(&columns, &[&["id"]])
        };
        assert_eq!(outcome(&with("", column, options), t(), t()), expected);
    };
    let fine = "id:number | n:number f:float t:text d:date";
    let none = ColumnOptions::default;
    let tolerance = |text: &str| ColumnOptions { abs_tol: Some(text.to_owned()), ..none() };
    check("n", tolerance("0.01"), fine);
    check("f", ColumnOptions { ulps: Some(4), ..none() }, fine);
    check("t", ColumnOptions { null: Some("-".to_owned()), ..none() }, fine);
    check(
        "n",
        tolerance("-1"),
        "pairing columns: option abs_tol of column n: expected a decimal that is not negative, such as 0.01 []",
    );
    check(
        "n",
        ColumnOptions { ulps: Some(4), ..none() },
        "pairing columns: option ulps of column n: it is for floats, the column is compared as number []",
    );
    check(
        "id",
        tolerance("1"),
        "pairing columns: option abs_tol of column id: a key column is compared exactly, or folded as text \
         [drop the option, or choose a key without `id` by `-k`]",
    );
    check(
        "d",
        ColumnOptions { precision: Some(TimePrecision::Seconds), ..none() },
        "pairing columns: option precision of column d: it is for times, timestamps and instants, the column is \
         compared as date []",
    );
    check(
        "x",
        tolerance("1"),
        "pairing columns: options of column x: no such column is compared [did you mean `d` or `f` or `n`?]",
    );
    let zone = ColumnOptions { zone: Some("Europe/Paris".to_owned()), ..none() };
    let message = outcome(&with("", "d", zone), table(&[("d", L::Date)], &[]), table(&[("d", L::Date)], &[]));
    assert!(message.contains("a zone is for a zoneless timestamp"), "{message}");
    let rounding = ColumnOptions { rounding: Rounding::HalfUp, ..none() };
    let time = || table(&[("at", L::Timestamp { digits: 6 })], &[]);
    let message = outcome(&with("", "at", rounding), time(), time());
    assert!(message.contains("there is no precision to round to"), "{message}");
}

#[test]
fn a_zone_stands_on_the_zoneless_side() {
    let source = table(&[("id", INT), ("at", L::Timestamp { digits: 6 })], &[&["id"]]);
    let sink = table(&[("id", INT), ("at", L::Instant { digits: 6 })], &[&["id"]]);
    let zone = ColumnOptions { zone: Some("Europe/Paris".to_owned()), ..ColumnOptions::default() };
    let mapping = map_columns(&with("", "at", zone), &Sides::new(source, sink)).unwrap();
    assert_eq!(shown(&mapping), "id:number | at:instant");
    assert_eq!(mapping.projection.source.row[0].target.zone.as_deref(), Some("Europe/Paris"));
    assert_eq!(mapping.projection.sink.row[0].target.zone, None);
}

#[test]
fn a_folded_key_stands_in_the_row_too() {
    let t = || table(&[("id", L::Text), ("v", INT)], &[&["id"]]);
    let fold = TextFold { fold_case: true, ..TextFold::default() };
    let options = ColumnOptions { fold, ..ColumnOptions::default() };
    let mapping = map_columns(&with("", "id", options), &Sides::new(t(), t())).unwrap();
    assert_eq!(shown(&mapping), "id:text | id:text v:number");
    assert_eq!(mapping.projection.source.key[0].target.key_fold, fold);
    assert!(mapping.projection.source.row[0].target.key_fold.is_none());
    assert_eq!(mapping.row[0].options.fold, fold);
}

#[test]
fn output_hints_hold_both_declarations() {
    let check = |canonical: CanonicalType, source: LogicalType, sink: LogicalType, expected: OutputHint| {
        assert_eq!(hints::output_hint(&canonical, &source, &sink), expected, "{source:?} {sink:?}");
    };
    let number = || CanonicalType::Number;
    let decimal = |precision, scale| L::Decimal { declared: Some((precision, scale)) };
    let unsigned = L::Integer { bits: 64, signed: false };
    check(number(), INT, L::Boolean, OutputHint::Int64);
    check(number(), INT, L::Untyped, OutputHint::Int64);
    check(number(), L::Untyped, L::Untyped, OutputHint::Plain);
    check(number(), unsigned, INT, OutputHint::Decimal(20, 0));
    check(number(), decimal(12, 2), INT, OutputHint::Decimal(12, 2));
    check(number(), decimal(5, 4), INT, OutputHint::Decimal(14, 4));
    check(number(), decimal(2, -3), decimal(2, 5), OutputHint::Decimal(10, 5));
    check(number(), decimal(70, 0), decimal(10, 10), OutputHint::Plain);
    check(number(), L::Decimal { declared: None }, INT, OutputHint::Plain);
    let (six, nine) = (L::Timestamp { digits: 6 }, L::Timestamp { digits: 9 });
    check(CanonicalType::Timestamp, six.clone(), six.clone(), OutputHint::Digits(6));
    check(CanonicalType::Timestamp, six, nine, OutputHint::Digits(9));
    check(CanonicalType::Text, L::Text, L::Char, OutputHint::Plain);
}

#[test]
fn ranges_follow_the_size_of_the_source() {
    let check = |asked, rows, bytes, keyless, expected| {
        let mut request = request("");
        request.ranges = asked;
        let mut schema = table(&[], &[]);
        schema.rows_estimate = rows;
        schema.bytes_estimate = bytes;
        assert_eq!(range_count(&request, &schema, keyless), expected);
    };
    check(0, None, None, false, 16);
    check(7, Some(100_000_000), None, false, 7);
    check(0, Some(100_000_000), None, false, 100);
    check(0, Some(1), Some(10 << 30), false, 160);
    check(0, Some(u64::MAX), None, false, 4096);
    check(5, Some(100_000_000), None, true, 1);
}
