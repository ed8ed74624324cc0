//! The errors of the server, with the numbers of its documentation.

use crate::tds::backend::SqlError;

/// The result of everything here.
pub(super) type Answer<T> = Result<T, SqlError>;

/// An error of a number; 16 is the class of what the user can mend.
pub(super) fn error(number: i32, message: impl Into<String>) -> SqlError {
    SqlError { number, state: 1, class: 16, message: message.into(), line: 1 }
}

/// What the server would do, but this one has no rule for: never guessed.
pub(super) fn unknown(what: impl std::fmt::Display) -> SqlError {
    error(50_001, format!("The test server has no rule for {what}."))
}

/// Syntax that is not taken.
pub(super) fn syntax(near: impl std::fmt::Display) -> SqlError {
    SqlError { class: 15, ..error(102, format!("Incorrect syntax near '{near}'.")) }
}

/// A column that is not there.
pub(super) fn no_column(name: &str) -> SqlError {
    error(207, format!("Invalid column name '{name}'."))
}

/// A table, view or other object that is not there.
pub(super) fn no_object(name: &str) -> SqlError {
    error(208, format!("Invalid object name '{name}'."))
}

/// A value that is too large for its type.
pub(super) fn overflow(kind: &str) -> SqlError {
    error(8115, format!("Arithmetic overflow error converting expression to data type {kind}."))
}
