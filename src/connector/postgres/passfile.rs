//! libpq's password file and service files: pure parsing.

use crate::model::{Error, ErrorKind, Result};

/// The password of the first line of a password file that fits.
pub(super) fn password(text: &str, host: &str, port: u16, database: &str, user: &str) -> Option<String> {
    let port = port.to_string();
    let wanted = [host, port.as_str(), database, user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut rest = line;
        for wanted in wanted {
            let (raw, field, tail) = field(rest);
            if raw != "*" && field != wanted {
                return None;
            }
            rest = tail?;
        }
        // The password ends at an unescaped colon, as everywhere in the file.
        let (_, password, _) = field(rest);
        (!password.is_empty()).then_some(password)
    })
}

/// The first field as it stands and unescaped, and what follows its colon.
fn field(line: &str) -> (&str, String, Option<&str>) {
    let mut name = String::new();
    let mut characters = line.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            ':' => return (&line[..at], name, Some(&line[at + 1..])),
            '\\' => match characters.next() {
                Some((_, escaped)) => name.push(escaped),
                None => name.push('\\'),
            },
            other => name.push(other),
        }
    }
    (line, name, None)
}

/// The settings of a service. `None` if the file does not know it.
pub(super) fn service(text: &str, service: &str) -> Option<Result<Vec<(String, String)>>> {
    let mut found = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            if found.is_some() {
                break;
            }
            if name.0 == service {
                found = Some(Vec::new());
            }
        } else if let Some(entries) = &mut found {
            match line.split_once('=') {
                Some((name, _)) if name.trim() == "service" => {
                    return Some(Err(wrong("a service may not name another")));
                }
                Some((name, value)) => entries.push((name.trim().to_owned(), value.trim().to_owned())),
                None => return Some(Err(wrong("expected name=value"))),
            }
        }
    }
    found.map(Ok)
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::Config, format!("reading a service file: {what}"))
}
