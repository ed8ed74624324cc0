//! Encryption, logins, transactions.

use crate::client::{config, connect, connect_as, rows};
use crate::values::{EVERY_TYPE, canned};
use tiberius::error::Error;
use tiberius::{AuthMethod, Command, EncryptionLevel, IsolationLevel};
use tieout_testkit::tds::backend::SqlError;
use tieout_testkit::tds::canned::Canned;
use tieout_testkit::tds::{TdsOptions, TdsServer, TlsMode};

fn start(tls: TlsMode) -> TdsServer {
    TdsServer::start(canned(), TdsOptions { tls, ..TdsOptions::default() }).unwrap()
}

#[tokio::test]
async fn encryption_is_what_both_sides_agree_on() {
    use EncryptionLevel::{NotSupported, Off, On, Required, Strict};
    let tries = [
        (TlsMode::Off, vec![NotSupported], vec![On, Required, Strict]),
        (TlsMode::Optional, vec![NotSupported, Off, On, Required], vec![Strict]),
        (TlsMode::Required, vec![Off, On, Required], vec![NotSupported, Strict]),
        (TlsMode::Strict, vec![Strict], vec![On, NotSupported]),
    ];
    for (mode, good, bad) in tries {
        let server = start(mode);
        for level in good {
            let mut client =
                connect_as(config(&server, level)).await.unwrap_or_else(|e| panic!("{mode:?} {level:?}: {e}"));
            let read = rows(&mut client, EVERY_TYPE).await.unwrap_or_else(|e| panic!("{mode:?} {level:?}: {e}"));
            assert_eq!(read.len(), 4, "{mode:?} {level:?}");
        }
        for level in bad {
            assert!(connect_as(config(&server, level)).await.is_err(), "{mode:?} {level:?}");
        }
    }
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_refused_by_the_client() {
    for (mode, level) in [(TlsMode::Required, EncryptionLevel::Required), (TlsMode::Strict, EncryptionLevel::Strict)] {
        let (server, other) = (start(mode), start(mode));
        let mut config = config(&other, level);
        config.port(server.port());
        assert!(connect_as(config).await.is_err());
        assert_eq!(server.logins(), []);
    }
}

#[tokio::test]
async fn a_wrong_password_is_refused() {
    let server = start(TlsMode::Off);
    let mut config = config(&server, EncryptionLevel::NotSupported);
    config.authentication(AuthMethod::sql_server("u", "wrong"));
    let error = connect_as(config).await.unwrap_err();
    assert_eq!(error.code(), Some(18456));
    assert_eq!(server.logins()[0].password, "wrong");
}

#[tokio::test]
async fn the_login_tells_database_application_and_intent() {
    let server = start(TlsMode::Off);
    let mut config = config(&server, EncryptionLevel::NotSupported);
    config.database("d\u{e4}ta");
    config.application_name("tieout");
    config.client_name("box");
    config.readonly(true);
    config.packet_size(8192);
    let mut client = connect_as(config).await.unwrap();
    rows(&mut client, EVERY_TYPE).await.unwrap();
    let login = server.logins().remove(0);
    assert_eq!((login.user.as_str(), login.password.as_str()), ("u", "p"));
    assert_eq!((login.database.as_str(), login.application.as_str()), ("d\u{e4}ta", "tieout"));
    assert_eq!((login.host.as_str(), login.server.as_str()), ("box", "127.0.0.1"));
    assert!(login.read_only_intent);
    assert_eq!(login.token, None);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_token_logs_in() {
    let options = TdsOptions { tls: TlsMode::Required, ..TdsOptions::default() };
    let server = TdsServer::start(Canned::new().token("secret"), options).unwrap();
    for (token, right) in [("secret", true), ("other", false)] {
        let mut config = config(&server, EncryptionLevel::Required);
        config.authentication(AuthMethod::aad_token(token));
        assert_eq!(connect_as(config).await.is_ok(), right, "{token}");
    }
    assert_eq!(server.logins()[0].token.as_deref(), Some("secret"));
}

#[tokio::test]
async fn an_instance_of_another_name_is_refused() {
    let server =
        TdsServer::start(canned(), TdsOptions { instance: Some("SALES".into()), ..TdsOptions::default() }).unwrap();
    for (name, right) in [("sales", true), ("other", false)] {
        let mut config = config(&server, EncryptionLevel::NotSupported);
        config.instance_name(name);
        config.port(server.port());
        assert_eq!(connect_as(config).await.is_ok(), right, "{name}");
    }
}

#[tokio::test]
async fn transactions_have_a_descriptor_that_requests_carry() {
    let server = start(TlsMode::Off);
    let mut client = connect(&server).await;
    for begin in ["BEGIN TRAN", "SET XACT_ABORT ON; BEGIN TRANSACTION"] {
        rows(&mut client, begin).await.unwrap();
        assert_eq!(rows(&mut client, EVERY_TYPE).await.unwrap().len(), 4);
        rows(&mut client, "COMMIT").await.unwrap();
        assert_eq!(rows(&mut client, EVERY_TYPE).await.unwrap().len(), 4);
    }
    client.begin_transaction_with_isolation(IsolationLevel::Snapshot).await.unwrap();
    assert_eq!(rows(&mut client, EVERY_TYPE).await.unwrap().len(), 4);
    client.rollback_transaction().await.unwrap();
    assert_eq!(rows(&mut client, EVERY_TYPE).await.unwrap().len(), 4);
    assert_eq!(server.failures(), Vec::<String>::new());
}

#[tokio::test]
async fn an_error_has_its_number_class_and_line() {
    let error = SqlError { number: 208, state: 3, class: 16, message: "Invalid object name 'x'.".into(), line: 2 };
    let fatal = SqlError { number: 21, state: 1, class: 20, message: "Fatal.".into(), line: 1 };
    let backend = Canned::new().error("bad", error).error("fatal", fatal);
    let server = TdsServer::start(backend, TdsOptions::default()).unwrap();
    let mut client = connect(&server).await;
    let Error::Server(read) = rows(&mut client, "bad").await.unwrap_err() else { panic!("no server error") };
    assert_eq!((read.code(), read.state(), read.class(), read.line()), (208, 3, 16, 2));
    assert_eq!(read.message(), "Invalid object name 'x'.");
    // The connection is good for another, until an error is fatal.
    assert!(rows(&mut client, "SET NOCOUNT ON").await.is_ok());
    assert!(rows(&mut client, "fatal").await.is_err());
    assert!(rows(&mut client, "SET NOCOUNT ON").await.is_err());
}

#[tokio::test]
async fn a_client_is_sent_elsewhere() {
    let options = TdsOptions { route: Some(("other.example".into(), 1444)), ..TdsOptions::default() };
    let server = TdsServer::start(canned(), options).unwrap();
    let error = connect_as(config(&server, EncryptionLevel::NotSupported)).await.unwrap_err();
    assert_eq!(error, Error::Routing { host: "other.example".into(), port: 1444 });
}

#[tokio::test]
async fn only_one_procedure_is_there() {
    let server = start(TlsMode::Off);
    let mut client = connect(&server).await;
    for (procedure, code) in [("sp_prepexec", Some(2812)), ("dbo.other", Some(2812)), ("sys.sp_executesql", None)] {
        let mut command = Command::new(procedure);
        command.bind_param("@stmt", EVERY_TYPE);
        let done = async { command.exec(&mut client).await?.into_command_result().await };
        assert_eq!(done.await.err().and_then(|error| error.code()), code, "{procedure}");
    }
    assert_eq!(server.queries(), [EVERY_TYPE]);
}
