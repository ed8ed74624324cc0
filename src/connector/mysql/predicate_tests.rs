//! Bounds of ranges as SQL, NULLs included.

use super::*;

fn column(expression: &str, nullable: bool, part: Part) -> Compared {
    Compared { expression: expression.to_owned(), nullable, part }
}

fn exact(text: &str) -> Part {
    Part::Exact(text.to_owned())
}

#[test]
fn one_column() {
    for (part, nullable, lower, upper) in [
        (exact("5"), false, "a >= 5", "a < 5"),
        (exact("5"), true, "a >= 5", "(a < 5 OR a IS NULL)"),
        (Part::Above("5".into()), false, "a >= 5", "a < 5"),
        (Part::Highest, true, "FALSE", "TRUE"),
        (Part::Lowest, false, "TRUE", "FALSE"),
        (Part::Lowest, true, "a IS NOT NULL", "a IS NULL"),
        (Part::Null, true, "TRUE", "FALSE"),
    ] {
        let parts = [column("a", nullable, part)];
        assert_eq!((bound(&parts, true).as_str(), bound(&parts, false).as_str()), (lower, upper));
    }
}

#[test]
fn two_columns() {
    let parts = [column("a", false, exact("1")), column("b", false, exact("2"))];
    assert_eq!(bound(&parts, true), "(a >= 1 AND (a > 1 OR (a = 1 AND b >= 2)))");
    assert_eq!(bound(&parts, false), "(a <= 1 AND (a < 1 OR (a = 1 AND b < 2)))");
    let parts = [column("a", true, Part::Null), column("b", true, exact("2"))];
    assert_eq!(bound(&parts, true), "(a IS NOT NULL OR (a IS NULL AND b >= 2))");
    assert_eq!(bound(&parts, false), "(a IS NULL AND (b < 2 OR b IS NULL))");
    let parts = [column("a", false, Part::Above("2".into())), column("b", false, exact("2"))];
    assert_eq!(bound(&parts, true), "a >= 2");
    assert_eq!(bound(&parts, false), "a < 2");
}
