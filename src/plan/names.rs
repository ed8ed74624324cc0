//! Finding a column by the name that a user wrote, and names that were perhaps meant.

use crate::model::{NameCase, Sides, TableSchema};

/// Most names that a message suggests; more would bury the right one.
const NEAR_NAMES_MAX: usize = 3;

/// How names of the two sides meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameMatch {
    /// Only the exact name.
    Exact,
    /// The exact name, else the one name that differs in case alone.
    Folded,
}

impl NameMatch {
    /// Names fold as soon as one of the stores cannot tell them apart.
    pub fn of(schemas: &Sides<TableSchema>) -> Self {
        let insensitive = |schema: &TableSchema| schema.name_case == NameCase::Insensitive;
        if insensitive(&schemas.source) || insensitive(&schemas.sink) { Self::Folded } else { Self::Exact }
    }
}

/// What a name leads to in one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A column, by its index, under exactly this name.
    Exact(usize),
    /// A column, by its index, whose name differs in case alone.
    Folded(usize),
    /// Several columns that differ from the name in case alone.
    Ambiguous(Vec<String>),
    /// Nothing.
    Unknown,
}

impl Found {
    /// The index of the column, if there is one.
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::Exact(index) | Self::Folded(index) => Some(*index),
            Self::Ambiguous(_) | Self::Unknown => None,
        }
    }
}

/// Whether two names differ in case alone (or not at all).
pub(super) fn folds_to(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Finds `name` in `schema`.
pub(super) fn find(schema: &TableSchema, name: &str, names: NameMatch) -> Found {
    if let Some(index) = schema.columns.iter().position(|column| column.name == name) {
        return Found::Exact(index);
    }
    if names == NameMatch::Exact {
        return Found::Unknown;
    }
    let folded: Vec<usize> =
        (0..schema.columns.len()).filter(|&index| folds_to(&schema.columns[index].name, name)).collect();
    match folded.as_slice() {
        [] => Found::Unknown,
        [index] => Found::Folded(*index),
        several => Found::Ambiguous(several.iter().map(|&index| schema.columns[index].name.clone()).collect()),
    }
}

/// A hint with the names of `schemas` nearest to `name`, or with what names there are.
pub(super) fn suggest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let limit = (name.chars().count() / 3).max(1);
    let wanted = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = known
        .map(|known| (edit_distance(&wanted, &known.to_lowercase()), known))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.truncate(NEAR_NAMES_MAX);
    if near.is_empty() {
        return None;
    }
    let near: Vec<String> = near.into_iter().map(|(_, known)| format!("`{known}`")).collect();
    Some(format!("did you mean {}?", near.join(" or ")))
}

/// Number of characters that must be put in, taken out or replaced to turn one text into the other.
///
/// Source: Wagner and Fischer, "The String-to-String Correction Problem", J. ACM 21 (1974), with one row of the table.
fn edit_distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, character) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (index, candidate) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(character != *candidate);
            diagonal = row[index + 1];
            row[index + 1] = replaced.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_counts_single_changes() {
        let check = |one, other, expected| assert_eq!(edit_distance(one, other), expected, "{one} {other}");
        check("", "", 0);
        check("abc", "", 3);
        check("kitten", "sitting", 3);
        check("amount", "amuont", 2);
        check("id", "id", 0);
    }

    #[test]
    fn suggestions_are_near_and_sorted() {
        let known = ["amount", "account", "id"];
        assert_eq!(suggest("amout", known.into_iter()), Some("did you mean `amount`?".to_owned()));
        assert_eq!(suggest("created_at", known.into_iter()), None);
    }
}
