//! From the driver's errors to ours: by the server's error number, without query text or row values.

use crate::model::{Error, ErrorKind};
use mysql_async::{DriverError, IoError, ServerError};

/// Turns an error of the driver into ours; `doing` is what was being done, in words that fit before a colon.
///
/// The server's message is kept for errors whose messages name objects and settings only.
pub(super) fn failure(doing: &str, error: &mysql_async::Error) -> Error {
    match error {
        mysql_async::Error::Server(server) => server_failure(doing, server),
        mysql_async::Error::Io(IoError::Io(cause)) => io_failure(doing, &cause.to_string()),
        mysql_async::Error::Io(IoError::Tls(cause)) => io_failure(doing, &cause.to_string()),
        mysql_async::Error::Driver(DriverError::NoClientSslFlagFromServer) => {
            Error::new(ErrorKind::Connect, format!("{doing}: the server offers no TLS"))
                .hint("turn TLS on in the server; only ssl-mode=preferred or disabled go without")
        }
        mysql_async::Error::Driver(DriverError::ConnectionClosed) => {
            Error::new(ErrorKind::Connect, format!("{doing}: the connection is closed"))
        }
        mysql_async::Error::Driver(DriverError::UnknownAuthPlugin { name }) => Error::new(
            ErrorKind::Unsupported,
            format!("{doing}: the server asks for the authentication method {name}, which is not supported"),
        ),
        mysql_async::Error::Driver(DriverError::PacketTooLarge) => {
            Error::new(ErrorKind::Limit, format!("{doing}: a row is larger than what can be read (1 GiB)"))
        }
        // Texts of other kinds may hold a value or a packet.
        mysql_async::Error::Driver(_) | mysql_async::Error::Other(_) | mysql_async::Error::Url(_) => {
            Error::new(ErrorKind::Connect, format!("{doing}: the driver and the server do not understand each other"))
        }
    }
}

fn io_failure(doing: &str, cause: &str) -> Error {
    let error = Error::new(ErrorKind::Connect, format!("{doing}: {cause}"));
    if cause.contains("certificate") || cause.contains("UnknownIssuer") {
        error.hint(
            "name the authority that signed the server's certificate with ssl-ca=FILE, and the host as the certificate \
             has it",
        )
    } else {
        error
    }
}

fn server_failure(doing: &str, server: &ServerError) -> Error {
    let code = server.code;
    let (kind, hint) = classify(code);
    let message = if says_values(server) {
        "the server could not compute a value"
    } else if matches!(code, 1064 | 1149) {
        "the server finds a syntax error"
    } else {
        server.message.as_str()
    };
    let error = Error::new(kind, format!("{doing}: {message} (error {code}, SQLSTATE {})", server.state));
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// Whether the message quotes a value or an expression: data errors, and constraints.
fn says_values(server: &ServerError) -> bool {
    server.state.starts_with("22")
        || server.state.starts_with("23")
        || server.state.starts_with("45")
        || matches!(server.code, 1292 | 1366 | 1365 | 1411 | 1367 | 1525 | 1690 | 1644 | 4078)
}

fn classify(code: u16) -> (ErrorKind, Option<&'static str>) {
    match code {
        1045 | 1698 | 1251 => (ErrorKind::Config, Some("check user, password, MYSQL_PWD and .my.cnf")),
        1044 => (ErrorKind::Permission, Some("grant this user a right on the database")),
        1142 | 1143 | 1227 | 1370 | 1345 | 1410 => {
            (ErrorKind::Permission, Some("grant SELECT on the table (and SHOW VIEW on a view)"))
        }
        1049 => (ErrorKind::Config, Some("name an existing database in the locator")),
        1146 | 1054 | 1051 | 1356 | 1109 | 1305 => (ErrorKind::Schema, None),
        1064 | 1149 => (ErrorKind::Config, Some("check the filter and the query of this side")),
        1412 => (
            ErrorKind::PositionLost,
            Some("the table was altered or emptied after the snapshot was taken; run the comparison again"),
        ),
        1205 => (ErrorKind::Read, Some("another session holds a lock on the table; try again when it is done")),
        1317 | 1969 | 3024 | 1907 => {
            (ErrorKind::Read, Some("the query was stopped on the server; look for who stops it"))
        }
        1927 | 1053 | 1152 | 1158 | 1159 | 1160 | 1161 | 1184 => {
            (ErrorKind::Connect, Some("the server ended the connection; look into its log"))
        }
        1040 | 1203 | 1226 => {
            (ErrorKind::Connect, Some("the server takes no more connections now; run with fewer workers (-j)"))
        }
        1153 => (ErrorKind::Limit, Some("raise max_allowed_packet of the server")),
        1038 => (ErrorKind::Read, Some("use --sort local, or raise sort_buffer_size of the server")),
        1129 | 1130 => (ErrorKind::Connect, Some("the server refuses this host")),
        _ => (ErrorKind::Read, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: u16, state: &str, message: &str) -> Error {
        let server = ServerError { code, message: message.to_owned(), state: state.to_owned() };
        failure("reading rows", &mysql_async::Error::Server(server))
    }

    #[test]
    fn values_and_query_texts_are_not_repeated() {
        let error = of(1292, "22007", "Incorrect datetime value: 'secret'");
        assert_eq!(
            error.to_string(),
            "reading rows: the server could not compute a value (error 1292, SQLSTATE 22007)"
        );
        let error = of(1064, "42000", "You have an error in your SQL syntax near 'secret'");
        assert!(!error.to_string().contains("secret"), "{error}");
        assert_eq!(error.kind(), ErrorKind::Config);
        let error = of(1412, "HY000", "Table definition has changed, please retry transaction");
        assert_eq!(error.kind(), ErrorKind::PositionLost);
        assert!(error.to_string().contains("Table definition has changed"), "{error}");
    }
}
