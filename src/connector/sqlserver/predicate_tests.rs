//! Tests of range predicates.

use super::*;

fn compared_of(expression: &str, nullable: bool, part: Part) -> Compared {
    Compared { expression: expression.to_owned(), nullable, part }
}

fn exact(text: &str) -> Part {
    Part::Exact(text.to_owned())
}

#[test]
fn bounds_are_spelt_out() {
    let one = [compared_of("a", false, exact("1"))];
    assert_eq!((bound(&one, true), bound(&one, false)), ("a >= 1".to_owned(), "a < 1".to_owned()));
    let one = [compared_of("a", true, exact("1"))];
    assert_eq!((bound(&one, true), bound(&one, false)), ("a >= 1".to_owned(), "(a < 1 OR a IS NULL)".to_owned()));
    let null = [compared_of("a", true, Part::Null)];
    assert_eq!((bound(&null, true), bound(&null, false)), ("1 = 1".to_owned(), "1 = 0".to_owned()));
    let two = [compared_of("a", false, exact("1")), compared_of("b", false, exact("2"))];
    assert_eq!(bound(&two, true), "(a >= 1 AND (a > 1 OR (a = 1 AND b >= 2)))");
    assert_eq!(bound(&two, false), "(a <= 1 AND (a < 1 OR (a = 1 AND b < 2)))");
    let two = [compared_of("a", true, Part::Null), compared_of("b", false, exact("2"))];
    assert_eq!(bound(&two, true), "(a IS NOT NULL OR (a IS NULL AND b >= 2))");
    assert_eq!(bound(&two, false), "(a IS NULL AND b < 2)");
    let highest = [compared_of("a", true, Part::Highest)];
    assert_eq!((bound(&highest, true), bound(&highest, false)), ("1 = 0".to_owned(), "1 = 1".to_owned()));
}

/// A value of a column of whole numbers, NULL first.
type Cell = Option<i64>;

/// What SQL makes of `text` for a row, by the rules of three-valued logic; of the forms that predicates have.
struct Sql<'a> {
    rest: &'a str,
    row: [Cell; 2],
}

impl Sql<'_> {
    fn eat(&mut self, word: &str) -> bool {
        let after = self.rest.trim_start().strip_prefix(word);
        if let Some(after) = after {
            self.rest = after;
        }
        after.is_some()
    }

    fn either(&mut self) -> Option<bool> {
        let mut value = self.both();
        while self.eat("OR ") {
            let other = self.both();
            value = if value == Some(true) || other == Some(true) { Some(true) } else { value.and(other) };
        }
        value
    }

    fn both(&mut self) -> Option<bool> {
        let mut value = self.one();
        while self.eat("AND ") {
            let other = self.one();
            value = if value == Some(false) || other == Some(false) { Some(false) } else { value.and(other) };
        }
        value
    }

    fn operand(&mut self) -> Cell {
        if self.eat("a") {
            return self.row[0];
        }
        if self.eat("b") {
            return self.row[1];
        }
        let text = self.rest.trim_start();
        let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        self.rest = &text[end..];
        text[..end].parse().ok()
    }

    fn one(&mut self) -> Option<bool> {
        if self.eat("(") {
            let value = self.either();
            assert!(self.eat(")"), "{}", self.rest);
            return value;
        }
        let left = self.operand();
        if self.eat("IS NOT NULL") {
            return Some(left.is_some());
        }
        if self.eat("IS NULL") {
            return Some(left.is_none());
        }
        let test: fn(&i64, &i64) -> bool = if self.eat(">=") {
            i64::ge
        } else if self.eat("<=") {
            i64::le
        } else if self.eat(">") {
            i64::gt
        } else if self.eat("<") {
            i64::lt
        } else {
            assert!(self.eat("="), "{}", self.rest);
            i64::eq
        };
        let right = self.operand();
        left.zip(right).map(|(left, right)| test(&left, &right))
    }
}

fn holds(predicate: Option<&str>, row: [Cell; 2]) -> bool {
    let Some(predicate) = predicate else { return true };
    let mut sql = Sql { rest: predicate, row };
    let value = sql.either();
    assert_eq!(sql.rest.trim(), "", "{predicate}");
    value == Some(true)
}

/// Columns hold even numbers; an odd bound lies between their values.
fn part_of(value: Cell) -> Part {
    match value {
        None => Part::Null,
        Some(0) => Part::Lowest,
        Some(9) => Part::Highest,
        Some(odd) if odd % 2 == 1 => Part::Above((odd + 1).to_string()),
        Some(even) => exact(&even.to_string()),
    }
}

#[test]
fn each_row_is_in_exactly_the_range_of_its_key() {
    let bounds: Vec<Cell> = [None].into_iter().chain((0..10).map(Some)).collect();
    let cells: Vec<Cell> = vec![None, Some(2), Some(4), Some(6), Some(8)];
    for nullable in [[false, false], [false, true], [true, false], [true, true]] {
        let keys = |list: &[Cell], place: usize| -> Vec<Cell> {
            list.iter().copied().filter(|cell| nullable[place] || cell.is_some()).collect()
        };
        let (first, second) = (keys(&bounds, 0), keys(&bounds, 1));
        let compared = |a: Cell, b: Cell| {
            vec![compared_of("a", nullable[0], part_of(a)), compared_of("b", nullable[1], part_of(b))]
        };
        let cuts: Vec<[Cell; 2]> = first.iter().flat_map(|a| second.iter().map(|b| [*a, *b])).collect();
        for pair in cuts.windows(2).step_by(3) {
            for [lower, upper] in [[None, Some(pair[0])], [Some(pair[0]), Some(pair[1])], [Some(pair[1]), None]] {
                let side = |cut: Option<[Cell; 2]>| cut.map(|[a, b]| compared(a, b));
                let sql = between(side(lower), side(upper));
                for a in keys(&cells, 0) {
                    for b in keys(&cells, 1) {
                        let row = [a, b];
                        let inside = lower.is_none_or(|lower| row >= lower) && upper.is_none_or(|upper| row < upper);
                        assert_eq!(holds(sql.as_deref(), row), inside, "{sql:?} of {lower:?}..{upper:?} for {row:?}");
                    }
                }
            }
        }
    }
}
