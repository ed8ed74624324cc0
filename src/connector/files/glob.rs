//! Glob patterns: `*` and `?` within a path part, `**` over parts, `[abc]`, `[a-z]`, `[!a]`.
//!
//! A wildcard at the start of a part does not match a leading dot, as in shells; whoever lists files asks with
//! [`Dots::Any`] what that rule leaves out, so that nothing is left out in silence.

/// Whether wildcards match a leading dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dots {
    /// Only a dot that the pattern spells, as in shells.
    Spelt,
    /// Any.
    Any,
}

/// Whether `text` holds a character that makes it a pattern.
pub(super) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Cuts a pattern into the folder before its first wildcard and the rest.
pub(super) fn split(pattern: &str) -> (&str, &str) {
    let first = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    match pattern[..first].rfind('/') {
        Some(0) => ("/", &pattern[1..]),
        Some(slash) => (&pattern[..slash], &pattern[slash + 1..]),
        None => ("", pattern),
    }
}

/// Whether the whole of `path` fits `pattern`.
pub(super) fn matches(pattern: &str, path: &str, dots: Dots) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    parts_match(&pattern, &path, dots)
}

fn parts_match(pattern: &[&str], path: &[&str], dots: Dots) -> bool {
    let is_shut = |name: &str| dots == Dots::Spelt && name.starts_with('.');
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => {
            parts_match(rest, path, dots)
                || path.split_first().is_some_and(|(name, tail)| !is_shut(name) && parts_match(pattern, tail, dots))
        }
        (Some((part, rest)), Some((name, tail))) => {
            if is_shut(name) && part.starts_with(['*', '?', '[']) {
                return false;
            }
            let part: Vec<char> = part.chars().collect();
            let name: Vec<char> = name.chars().collect();
            part_matches(&part, &name) && parts_match(rest, tail, dots)
        }
        _ => false,
    }
}

fn part_matches(pattern: &[char], name: &[char]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some(('*', rest)) => (0..=name.len()).any(|skip| part_matches(rest, &name[skip..])),
        Some(('?', rest)) => !name.is_empty() && part_matches(rest, &name[1..]),
        Some(('[', rest)) => {
            let Some(close) = rest.iter().skip(1).position(|c| *c == ']').map(|at| at + 1) else {
                return name.first() == Some(&'[') && part_matches(rest, &name[1..]);
            };
            let Some((first, tail)) = name.split_first() else { return false };
            class_holds(&rest[..close], *first) && part_matches(&rest[close + 1..], tail)
        }
        Some((literal, rest)) => name.first() == Some(literal) && part_matches(rest, &name[1..]),
    }
}

fn class_holds(class: &[char], wanted: char) -> bool {
    let (negated, mut rest) = match class.split_first() {
        Some(('!' | '^', rest)) => (true, rest),
        _ => (false, class),
    };
    let mut held = false;
    while let Some((first, tail)) = rest.split_first() {
        if let ['-', last, ..] = tail {
            held |= (*first..=*last).contains(&wanted);
            rest = &tail[2..];
        } else {
            held |= *first == wanted;
            rest = tail;
        }
    }
    held != negated
}

#[cfg(test)]
mod tests {
    use super::{Dots, matches, split};

    #[test]
    fn wildcards_stay_within_a_part_unless_doubled() {
        for (pattern, path, expected) in [
            ("*.parquet", "a.parquet", true),
            ("*.parquet", "x/a.parquet", false),
            ("**/*.parquet", "x/y/a.parquet", true),
            ("**/*.parquet", "a.parquet", true),
            ("part-?.csv", "part-1.csv", true),
            ("part-?.csv", "part-10.csv", false),
            ("[a-c]*.csv", "b1.csv", true),
            ("[!a-c]*.csv", "b1.csv", false),
            ("day=*/x.csv", "day=1/x.csv", true),
            ("*", "_SUCCESS", true),
            ("*.csv", "_x.csv", true),
            ("*", ".x.csv", false),
            (".*", ".x.csv", true),
            ("**/x.csv", "_temporary/x.csv", true),
            ("**/x.csv", ".old/x.csv", false),
            (".old/x.csv", ".old/x.csv", true),
            ("_*.csv", "_x.csv", true),
            ("_old/*.csv", "_old/x.csv", true),
            ("**/x.csv", "_day=1/x.csv", true),
        ] {
            assert_eq!(matches(pattern, path, Dots::Spelt), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn what_the_rule_of_dots_leaves_out_can_be_asked_for() {
        for (pattern, path, expected) in [
            ("*.csv", ".x.csv", true),
            ("[!a]*.csv", ".x.csv", true),
            ("**/x.csv", ".old/y/x.csv", true),
            ("*.csv", ".old/x.csv", false),
        ] {
            assert_eq!(matches(pattern, path, Dots::Any), expected, "{pattern} {path}");
            assert!(!matches(pattern, path, Dots::Spelt), "{pattern} {path}");
        }
    }

    #[test]
    fn the_folder_ends_before_the_first_wildcard() {
        assert_eq!(split("a/b/c*.csv"), ("a/b", "c*.csv"));
        assert_eq!(split("/c*.csv"), ("/", "c*.csv"));
        assert_eq!(split("*.csv"), ("", "*.csv"));
    }
}
