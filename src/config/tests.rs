//! Files, overriding, limits.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

use super::*;
use crate::model::{Rounding, TimePrecision};

fn no_environment(_: &str) -> Option<String> {
    None
}

const FULL: &str = r#"
key = ["id"]
columns = ["a", "b"]
exclude = ["loaded_at"]
sort = "local"
output = "runs"
workers = 3
memory = "64MiB"
ranges = 7

[source]
locator = "postgres://${USER_NAME}@db/shop#public.orders"
where = "a > 1"

[sink]
locator = "orders.csv"
csv = { null = "NULL" }

[map]
a = "A"

[cast]
b = "text"

[option."x.y"]
precision = "ms"
rounding = "half_up"

[option.a]
abs_tol = "0.01"
ulps = 2

[csv]
delimiter = ";"
"#;

#[test]
fn a_full_file_is_read() {
    let environment = |name: &str| (name == "USER_NAME").then(|| "ann".to_owned());
    let request = parse(FULL, &environment).unwrap().finish().unwrap();
    assert_eq!(request.sides.source.locator, "postgres://ann@db/shop#public.orders");
    assert_eq!(request.sides.source.filter.as_deref(), Some("a > 1"));
    assert_eq!(request.sides.source.file.null, "");
    assert_eq!(request.sides.sink.file, FileOptions { header: true, delimiter: b';', null: "NULL".into() });
    assert_eq!(request.key, ["id"]);
    assert_eq!(request.map, [("a".to_owned(), "A".to_owned())]);
    assert_eq!(request.casts, [("b".to_owned(), "text".to_owned())]);
    assert_eq!(request.sort, SortChoice::Local);
    assert_eq!((request.workers, request.memory_bytes, request.ranges), (3, 67_108_864, 7));
    let dotted = request.options.get("x.y").unwrap();
    assert_eq!((dotted.precision, dotted.rounding), (Some(TimePrecision::Milliseconds), Rounding::HalfUp));
    assert_eq!(request.options.get("a").unwrap().ulps, Some(2));
}

#[test]
fn errors_name_the_line_and_no_value() {
    for (text, expected) in [
        ("key = [\"id\"]\nkeys = 1\n", "line 2"),
        ("[source]\n\nlocater = \"secret\"\n", "line 3"),
        ("source = \"secret\"\n", "line 1"),
        ("\nworkers = \"secret\"\n", "line 2, key workers"),
        (
            "[source]\nlocator = \"p://u:secret@${NO_SUCH}\"\n",
            "line 2, key locator: locator: environment variable NO_SUCH",
        ),
        ("[source]\nlocator = \"secret${X\"\n", "line 2"),
        ("[option.a]\nabs_tol = 0.01\n", "line 2, key abs_tol"),
        ("[option.a]\n\ntrimm = \"end\"\n", "line 3, key trimm"),
        ("memory = \"lots\"\n", "line 1, key memory"),
        ("[csv]\ndelimiter = \"ab\"\n", "line 2, key delimiter"),
        ("[sink]\npassword = \"secret\"\n", "line 2"),
    ] {
        let message = parse(text, &no_environment).unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: {message}");
        assert!(!message.contains("secret"), "{message}");
    }
    let message = parse("keys = 1\n", &no_environment).unwrap_err().to_string();
    assert!(message.contains("`keys`"), "{message}");
}

#[test]
fn the_upper_layer_wins() {
    let file = parse(FULL, &|_| Some("ann".to_owned())).unwrap();
    let line = PartialRequest {
        key: vec!["other".into()],
        map: vec![("a".into(), "Z".into()), ("b".into(), "B".into())],
        options: vec![OptionSetting::new("a", "abs_tol", "5").unwrap()],
        workers: Some(1),
        ..PartialRequest::default()
    };
    let request = line.over(file).finish().unwrap();
    assert_eq!(request.key, ["other"]);
    assert_eq!(request.map, [("a".to_owned(), "Z".to_owned()), ("b".to_owned(), "B".to_owned())]);
    assert_eq!(request.options.get("a").unwrap().abs_tol.as_deref(), Some("5"));
    assert_eq!(request.options.get("a").unwrap().ulps, Some(2));
    assert_eq!(request.workers, 1);
    assert_eq!(request.memory_bytes, 67_108_864);
}

#[test]
fn limits_are_named() {
    let base = || parse("[source]\nlocator='a.csv'\n[sink]\nlocator='b.csv'\n", &no_environment).unwrap();
    let with = |change: fn(&mut PartialRequest)| {
        let mut request = base();
        change(&mut request);
        request.finish().map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(with(|_| ()), Ok(()));
    assert!(with(|r| r.memory_bytes = Some(1)).unwrap_err().contains("67108864"));
    assert!(with(|r| r.workers = Some(257)).unwrap_err().contains("1 to 256"));
    assert!(with(|r| r.ranges = Some(0)).unwrap_err().contains("1 to 1000000"));
    assert!(with(|r| r.key = vec!["a".into(), "a".into()]).unwrap_err().contains("twice"));
    assert!(with(|r| (r.ranges, r.ranges_from) = (Some(2), Some("x".into()))).unwrap_err().contains("exclude"));
    assert!(with(|r| r.sides.sink.locator = None).unwrap_err().contains("no sink"));
    assert!(
        with(|r| r.options = vec![OptionSetting::new("a", "rounding", "half_up").unwrap()])
            .unwrap_err()
            .contains("precision")
    );
}

#[test]
fn options_split_at_the_last_dot() {
    for (text, column, name, value) in [
        ("amount.abs_tol=0.01", "amount", "abs_tol", "0.01"),
        ("a.b.trim=end", "a.b", "trim", "end"),
        ("\"a=b\".null=x=y", "a=b", "null", "x=y"),
        ("\"a\"\"b.c\".case=fold", "a\"b.c", "case", "fold"),
        ("c.null=", "c", "null", ""),
    ] {
        let setting = OptionSetting::parse(text).unwrap();
        assert_eq!((setting.column.as_str(), setting.name.as_str(), setting.value.as_str()), (column, name, value));
    }
    for text in ["amount", "amount=1", ".trim=end", "a.trim=start", "a.abs_tol=-1", "a.abs_tol=NaN", "a.ulps=", "a.x=1"]
    {
        assert!(OptionSetting::parse(text).is_err(), "{text}");
    }
}
