//! Tests of locators and libpq's settings.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;

fn resolved(locator: &str, env: &[(&str, &str)], files: &[(&str, &str, u32)]) -> Result<Settings> {
    let env = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let file = |path: &Path| {
        files
            .iter()
            .find(|(known, _, _)| Path::new(known) == path)
            .map(|(_, text, mode)| FileText { text: (*text).to_owned(), mode: *mode })
    };
    resolve(locator, &World { env: &env, file: &file })
}

fn password_of(settings: &Settings) -> Option<&str> {
    settings.passwords[0].as_deref().map(|bytes| std::str::from_utf8(bytes).unwrap())
}

#[test]
fn urls_are_decoded_and_variables_are_not() {
    let cases = [
        ("%40Pass%3Aw%2Frd%231", "@Pass:w/rd#1"),
        ("p%2540", "p%40"),
        ("a%20b+c", "a b+c"),
        ("%C3%BC%E2%82%AC", "\u{fc}\u{20ac}"),
        ("%27%22%5C", "'\"\\"),
    ];
    for (encoded, raw) in cases {
        let settings = resolved(&format!("postgres://me:{encoded}@h:5/db#t"), &[], &[]).unwrap();
        assert_eq!(password_of(&settings), Some(raw));
        let settings = resolved("postgresql://me@h/db#t", &[("PGPASSWORD", raw)], &[]).unwrap();
        assert_eq!(password_of(&settings), Some(raw));
    }
}

#[test]
fn errors_do_not_show_the_password() {
    for locator in ["postgres://me:12/secr@h/db", "postgres://me:12#secr@h/db"] {
        assert!(resolved(locator, &[], &[]).is_err());
    }
    for locator in ["postgres://me:secret/rd@h/db", "postgres://me:secret#x@h", "postgres://me:secr%zzet@h/db"] {
        let error = resolved(locator, &[], &[]).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(!error.contains("secr"), "{error}");
    }
}

#[test]
fn tables_may_be_quoted() {
    let part = |text: &str, quoted| NamePart { text: text.to_owned(), quoted };
    let table = |text: &str| parse_table(text);
    assert_eq!(table("t").unwrap(), TableName { schema: None, table: part("t", false) });
    assert_eq!(
        table("s.\"a\"\"b.c\"").unwrap(),
        TableName { schema: Some(part("s", false)), table: part("a\"b.c", true) }
    );
    for wrong in ["", ".t", "s.", "a.b.c", "\"a", "\"a\"b"] {
        assert!(table(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_locator_beats_the_service_and_that_the_environment() {
    let files = [("/h/.pg_service.conf", "[other]\nport=1\n[live]\n# note\nhost = svc\nport=2\nuser=su\n", 0o644)];
    let env = [("HOME", "/h"), ("PGSERVICE", "live"), ("PGPORT", "3"), ("PGUSER", "eu"), ("PGDATABASE", "ed")];
    let settings = resolved("postgres://lu@#t", &env, &files).unwrap();
    assert_eq!(settings.hosts[0].to_string(), "svc:2");
    assert_eq!((settings.user.as_str(), settings.database.as_str()), ("lu", "ed"));
    assert!(resolved("postgres://?service=none#t", &env, &files).is_err());
}

#[test]
fn password_files_need_their_permissions() {
    let text = "# c\nh:5432:db:other:x\nh:*:d\\:b:me:pa\\:ss\\\\w\n*:*:*:*:any\n";
    let env = [("HOME", "/h")];
    let settings = resolved("postgres://me@h/d:b#t", &env, &[("/h/.pgpass", text, 0o600)]).unwrap();
    assert_eq!(password_of(&settings), Some("pa:ss\\w"));
    let settings = resolved("postgres://me@h2/d#t", &env, &[("/h/.pgpass", text, 0o600)]).unwrap();
    assert_eq!(password_of(&settings), Some("any"));
    let settings = resolved("postgres://me@h2/d#t", &env, &[("/h/.pgpass", text, 0o640)]).unwrap();
    assert_eq!((password_of(&settings), settings.notes.len()), (None, 1));
}

#[test]
fn sockets_hosts_and_parameters() {
    let settings = resolved("postgres://me@%2Ftmp%2Fpg:6000/db?connect_timeout=7&sslmode=disable#t", &[], &[]).unwrap();
    assert!(settings.hosts[0].address == Host::Unix("/tmp/pg".into()) && settings.hosts[0].port == 6000);
    assert_eq!(settings.connect_timeout, Some(Duration::from_secs(7)));
    let settings = resolved("postgres://me@[::1]:7,b/db#t", &[], &[]).unwrap();
    assert_eq!(settings.hosts[0].to_string(), "::1:7");
    assert_eq!(settings.hosts[1].to_string(), "b:5432");
    assert!(resolved("postgres://me@h/db?sslmode=maybe#t", &[], &[]).is_err());
    assert!(resolved("postgres://me@h/db?sslmod=require#t", &[], &[]).is_err());
}
