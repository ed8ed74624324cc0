//! MySQL's option files: pure parsing.

use std::{collections::BTreeMap, path::PathBuf};

/// Groups that clients read, the later ones winning over the earlier ones where both name an option.
const GROUPS: [&str; 4] = ["client", "client-server", "client-mariadb", "tieout"];

/// What a line of an option file asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// An option and its value.
    Set(String, Option<String>),
    /// Another file is read here.
    Include(PathBuf),
}

/// The entries of the groups that clients read, in the order of the file. Dashes and underscores in names are one.
pub(super) fn parse(text: &str) -> Vec<Entry> {
    let mut list = Vec::new();
    let mut group = String::new();
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with(';') {
            continue;
        }
        if let Some(file) = line.strip_prefix("!include ") {
            list.push(Entry::Include(PathBuf::from(file.trim())));
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            group = name.0.trim().to_lowercase();
            continue;
        }
        if !GROUPS.contains(&group.as_str()) {
            continue;
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim(), Some(unquoted(value.trim()))),
            None => (line.split('#').next().unwrap_or_default().trim(), None),
        };
        list.push(Entry::Set(name.replace('_', "-").to_lowercase(), value));
    }
    list
}

/// A value as the server's own programs read it: quotes around it go, escapes are undone, a comment behind it is cut.
fn unquoted(text: &str) -> String {
    for quote in ['\'', '"'] {
        if let Some(rest) = text.strip_prefix(quote)
            && let Some(end) = rest.rfind(quote)
        {
            return unescaped(&rest[..end]);
        }
    }
    let text = text.split(" #").next().unwrap_or_default().split("\t#").next().unwrap_or_default();
    unescaped(text.trim_end())
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(sign) = chars.next() {
        if sign != '\\' {
            out.push(sign);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('s') => out.push(' '),
            Some(other @ ('\\' | '"' | '\'')) => out.push(other),
            // Not an escape: the backslash stands for itself.
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

/// Applies entries in their order, following includes by `read` to a depth of four.
pub(super) fn apply(
    settings: &mut BTreeMap<String, String>,
    entries: Vec<Entry>,
    read: &dyn Fn(&std::path::Path) -> Option<String>,
    depth: u8,
) {
    for entry in entries {
        match entry {
            Entry::Set(name, Some(value)) => {
                settings.insert(name, value);
            }
            // A bare option switches something on.
            Entry::Set(name, None) => {
                settings.insert(name, String::new());
            }
            Entry::Include(path) => {
                if depth < INCLUDES_MAX
                    && let Some(text) = read(&path)
                {
                    apply(settings, parse(&text), read, depth + 1);
                }
            }
        }
    }
}

/// Files that include files: deeper nesting is a loop.
const INCLUDES_MAX: u8 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_values_and_includes() {
        let main = "[mysqld]\nuser=server\n[client]\nuser = ann\npassword='p#w\"d'\nssl_ca=/a b/ca.pem\n# c\n\
                    [client-mariadb]\nport=3307 # why\n!include /more\n[mysql]\nuser=shell\n";
        let read = |path: &std::path::Path| {
            (path == std::path::Path::new("/more")).then(|| "[client]\nsocket=\"/x\\\\y\"\n!include /more\n".to_owned())
        };
        let mut settings = BTreeMap::new();
        apply(&mut settings, parse(main), &read, 0);
        let expected =
            [("password", "p#w\"d"), ("port", "3307"), ("socket", "/x\\y"), ("ssl-ca", "/a b/ca.pem"), ("user", "ann")];
        let found: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(found, expected);
    }
}
