//! Tests of locators.

#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;

fn read(locator: &str, env: &[(&str, &str)]) -> Result<Settings> {
    resolve(locator, &|name| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
}

fn refused(locator: &str) -> String {
    read(locator, &[]).err().unwrap().to_string()
}

#[test]
fn a_locator_names_everything() {
    let settings = read(
        "mssql://sa:p%40ss@db.example:1444/Sales?encrypt=strict&ca-file=/a.pem&application-intent=readonly&isolation=read-committed#dbo.orders",
        &[],
    )
    .unwrap();
    assert_eq!((settings.host.as_str(), settings.port, settings.instance.as_deref()), ("db.example", Some(1444), None));
    assert!(settings.login == Login::Sql { user: "sa".into(), password: "p@ss".into() });
    assert_eq!(settings.database.as_deref(), Some("Sales"));
    assert_eq!((settings.encrypt, settings.isolation), (Encrypt::Strict, Isolation::ReadCommitted));
    assert!(settings.read_only_intent && !settings.trust_certificate);
    assert_eq!(settings.table.unwrap().quoted(), "[dbo].[orders]");
}

#[test]
fn defaults_are_the_safe_ones() {
    let settings = read("sqlserver://u@h/db#t", &[]).unwrap();
    assert_eq!((settings.encrypt, settings.isolation), (Encrypt::Yes, Isolation::Snapshot));
    assert!(!settings.trust_certificate && !settings.filtered_rows && !settings.read_only_intent);
    assert_eq!((settings.port_or_default(), settings.to_string().as_str()), (1433, "h:1433"));
    let config = settings.driver_config().unwrap();
    assert_eq!(config.get_command_timeout(), None);
    assert!(!config.get_lossy_utf16_decoding());
}

#[test]
fn instances_and_addresses() {
    let settings = read("mssql://u@host\\SQL2022/db#t", &[]).unwrap();
    assert_eq!((settings.host.as_str(), settings.instance.as_deref(), settings.port), ("host", Some("SQL2022"), None));
    assert_eq!(settings.to_string(), "host\\SQL2022");
    let settings = read("mssql://u@[::1]:1500/db#t", &[]).unwrap();
    assert_eq!((settings.host.as_str(), settings.port), ("::1", Some(1500)));
}

#[test]
fn o44_passwords_with_special_characters() {
    let password = |locator: &str, env: &[(&str, &str)]| match read(locator, env).unwrap().login {
        Login::Sql { password, .. } => password,
        _ => String::new(),
    };
    for (encoded, raw) in [
        ("%40Pass%3Aw%2Frd%231", "@Pass:w/rd#1"),
        ("p%2540", "p%40"),
        ("a%20b+c", "a b+c"),
        ("%C3%BC%E2%82%AC", "\u{fc}\u{20ac}"),
        ("%27%22%5C", "'\"\\"),
    ] {
        assert_eq!(password(&format!("mssql://u:{encoded}@h/db#t"), &[]), raw);
        assert_eq!(password("mssql://u@h/db#t", &[("SQLCMDPASSWORD", raw)]), raw);
    }
    let told = refused("mssql://u:@Pass:w/rd#1@h/db#t");
    assert!(!told.contains("Pass") && !told.contains("rd"), "{told}");
}

#[test]
fn logins() {
    let token = read("mssql://h/db#t", &[("TIEOUT_MSSQL_TOKEN", "tok")]).unwrap();
    assert!(token.login == Login::Token("tok".into()));
    // A user that is named wins over a token that happens to be there.
    let sql = read("mssql://u:p@h/db#t", &[("TIEOUT_MSSQL_TOKEN", "tok")]).unwrap();
    assert!(sql.login == Login::Sql { user: "u".into(), password: "p".into() });
    let env = read("mssql://h/db#t", &[("SQLCMDUSER", "u"), ("SQLCMDPASSWORD", "p")]).unwrap();
    assert!(env.login == Login::Sql { user: "u".into(), password: "p".into() });
    assert!(read("mssql://h/db?authentication=token#t", &[]).is_err());
    let integrated = read("mssql://h/db?authentication=integrated#t", &[]).unwrap();
    assert!(integrated.login == Login::Integrated);
    #[cfg(not(feature = "sqlserver-integrated"))]
    assert_eq!(integrated.driver_config().err().unwrap().kind(), ErrorKind::Unsupported);
}

#[test]
fn what_is_not_known_is_refused() {
    for locator in [
        "mssql://u@h/db?encrypt=maybe#t",
        "mssql://u@h/db?Encrypt=yes#t",
        "mssql://u@h/db?trust-server-certificate=1#t",
        "mssql://u@h/db?isolation=serializable#t",
        "mssql://u@h/db?application-intent=ReadOnly#t",
        "mssql://u@h/db?row-security=off#t",
        "mssql://u@h/db?authentication=ntlm#t",
        "mssql://u@h/db?color=blue#t",
        "mssql://u@h/db?encrypt#t",
        "mssql://u@h/db?encrypt=strict&trust-server-certificate=yes#t",
        "mssql://u@h/db?ca-file=/a&trust-server-certificate=yes#t",
        "mssql://u@h:0/db#t",
        "mssql://u@h:99999/db#t",
        "mssql://u@h\\/db#t",
        "mssql://u@/db#t",
        "mssql://h/db#t",
        "mssql://u:%zz@h/db#t",
    ] {
        assert!(read(locator, &[]).is_err(), "{locator}");
    }
}
