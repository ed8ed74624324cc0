//! What locators, option files and the environment say together.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;

fn settings(locator: &str, env: &[(&str, &str)], files: &[(&str, &str)]) -> Result<Settings> {
    let env = |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    let file = |path: &Path| {
        files
            .iter()
            .find(|(name, _)| Path::new(name) == path)
            .map(|(_, text)| FileText { text: (*text).to_owned(), mode: 0o600 })
    };
    resolve(locator, &World { env: &env, file: &file })
}

#[test]
fn the_parts_of_a_locator() {
    let found = settings("mysql://ann:%40Pass%3Aw%2Frd%231@db.example:3307/shop#orders", &[], &[]).unwrap();
    assert_eq!(found.endpoint, Endpoint::Tcp("db.example".into(), 3307));
    assert_eq!(found.user.as_deref(), Some("ann"));
    assert_eq!(found.password.as_deref(), Some("@Pass:w/rd#1"));
    assert_eq!(found.database.as_deref(), Some("shop"));
    assert_eq!(found.table, Some(TableName { database: None, table: "orders".into() }));
    let found = settings("mariadb://[::1]/?socket=%2Fa%20b#`a.b``c`.\"t\"\"\"", &[], &[]).unwrap();
    assert_eq!(found.endpoint, Endpoint::Unix("/a b".into()));
    assert_eq!(found.table, Some(TableName { database: Some("a.b`c".into()), table: "t\"".into() }));
    assert!(!found.lock && !found.not_frozen);
    let found = settings("mysql://h/d?lock=yes&not-frozen=allow&connect_timeout=3", &[], &[]).unwrap();
    assert!(found.lock && found.not_frozen);
    assert_eq!(found.connect_timeout, Duration::from_secs(3));
}

#[test]
fn files_and_environment_fill_in_what_is_left() {
    let file = [("/home/ann/.my.cnf", "[client]\nuser=bob\npassword=\"p%40\"\nport=3310\nsocket=/s\n")];
    let env = [("HOME", "/home/ann"), ("MYSQL_PWD", "secret"), ("MYSQL_HOST", "there"), ("USER", "ann")];
    let found = settings("mysql://here/d", &env, &file).unwrap();
    assert_eq!(found.endpoint, Endpoint::Tcp("here".into(), 3310));
    assert_eq!((found.user.as_deref(), found.password.as_deref()), (Some("bob"), Some("p%40")));
    let found = settings("mysql:///d", &env, &file).unwrap();
    assert_eq!(found.endpoint, Endpoint::Unix("/s".into()));
    let found = settings("mysql:///d", &env, &[]).unwrap();
    assert_eq!(found.endpoint, Endpoint::Tcp("there".into(), 3306));
    assert_eq!((found.user.as_deref(), found.password.as_deref()), (Some("ann"), Some("secret")));
    let found = settings("mysql://carl:@h/d", &env, &file).unwrap();
    assert_eq!((found.user.as_deref(), found.password.as_deref()), (Some("carl"), Some("")));
}

#[test]
fn tls_modes_are_never_weakened() {
    let mode = |locator: &str| settings(locator, &[], &[]).map(|settings| settings.tls.mode());
    assert_eq!(mode("mysql://h/d").unwrap(), TlsMode::Preferred);
    assert_eq!(mode("mysql://h/d?ssl-mode=VERIFY_IDENTITY").unwrap(), TlsMode::VerifyIdentity);
    assert_eq!(mode("mysql://h/d?ssl-ca=/ca").unwrap(), TlsMode::VerifyCa);
    assert_eq!(mode("mysql://h/d?ssl-mode=required&ssl-ca=/ca").unwrap(), TlsMode::VerifyCa);
    assert_eq!(mode("mysql://h/d?sslmode=disabled").unwrap(), TlsMode::Disabled);
    assert!(mode("mysql://h/d?ssl-mode=verify").is_err());
    assert!(mode("mysql://h/d?ssl-mode=required&socket=/s").is_err());
    assert_eq!(mode("mysql://h/d?socket=/s").unwrap(), TlsMode::Disabled);
    let file = [("/h/.my.cnf", "[client]\nssl\nssl-verify-server-cert\n")];
    let found = settings("mysql://h/d", &[("HOME", "/h")], &file).unwrap();
    assert_eq!(found.tls.mode(), TlsMode::VerifyIdentity);
    let file = [("/h/.my.cnf", "[client]\nssl=1\n")];
    assert_eq!(settings("mysql://h/d", &[("HOME", "/h")], &file).unwrap().tls.mode(), TlsMode::Required);
}

#[test]
fn bad_locators_are_refused_without_showing_secrets() {
    for bad in [
        "mysql://ann:sec@ret:w/rd@h/d",
        "mysql://ann:secret@h:port/d",
        "mysql://ann:secret%zz@h/d",
        "mysql://h,i/d",
        "mysql://h/d?nonsense=secret",
        "mysql://h/d?lock=secret",
        "mysql://h/d?not-frozen=secret",
        "mysql://h/d#a.b.c",
        "mysql://h/d#`a",
        "mysql://h/d#",
        "mysql://h/d/e",
        "mysql://h:0/d",
        "mysql://h/d?ssl-cert=/c",
    ] {
        let error = settings(bad, &[], &[]).err();
        let error = error.unwrap_or_else(|| Error::internal(format!("{bad} was accepted, secret")));
        let text = format!("{error} {}", error.hint_text().unwrap_or_default());
        assert!(!text.contains("secret") && !text.contains("sec@ret"), "{bad}: {text}");
        assert_eq!(error.kind(), ErrorKind::Config, "{bad}");
    }
}
