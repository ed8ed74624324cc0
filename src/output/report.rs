//! The summary of a run for people: the verdict first, the rest in the order of questions.

use super::{
    explain::grouped,
    record::{Totals, options, table_digest},
};
use crate::model::{Exactness, RunFacts, Side, Verdict};
use std::{fmt::Write as _, path::Path};

/// Columns with changed values that are shown, most changed first.
const COLUMNS_SHOWN: usize = 10;

/// Whether the verdict is coloured; colour never carries meaning alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// ANSI colours.
    On,
    /// Plain text.
    Off,
}

// Writing into a string cannot fail; the macro keeps that in one place.
macro_rules! line {
    ($text:expr, $($part:tt)*) => {{ let _ = writeln!($text, $($part)*); }};
}

/// The summary of a run whose folder is `folder`.
#[must_use]
pub fn summary(facts: &RunFacts, folder: &Path, colour: Colour) -> String {
    let totals = Totals::of(facts);
    let mut text = String::new();
    write_verdict(&mut text, facts, &totals, colour);
    write_compared(&mut text, facts, &totals);
    write_found(&mut text, facts, &totals);
    write_options(&mut text, facts, &totals);
    write_duplicates(&mut text, facts, &totals);
    write_null_keys(&mut text, &totals);
    write_digests(&mut text, facts, &totals);
    write_files(&mut text, facts, &totals, folder);
    text
}

fn label(text: &mut String, label: &str, value: &str) {
    line!(text, "  {label:<11} {value}");
}

fn write_verdict(text: &mut String, facts: &RunFacts, totals: &Totals, colour: Colour) {
    let (word, code) = match &facts.verdict {
        Verdict::Equal => ("EQUAL", "32"),
        Verdict::Different => ("DIFFERENT", "31"),
        Verdict::Incomplete(_) => ("INCOMPLETE", "33"),
    };
    let word = match colour {
        Colour::On => format!("\u{1b}[1;{code}m{word}\u{1b}[0m"),
        Colour::Off => word.to_owned(),
    };
    let columns = facts.plan.plan.key.len() + facts.plan.plan.row.len();
    let says = match &facts.verdict {
        Verdict::Equal if totals.counts.excused > 0 => format!(
            "all {} rows match in {columns} columns, {} of them only because of options",
            grouped(totals.counts.matched),
            grouped(totals.counts.excused)
        ),
        Verdict::Equal if totals.rows.source == 0 && totals.rows.sink == 0 => {
            format!("both sides hold no rows ({columns} columns)")
        }
        Verdict::Equal => format!(
            "all {} rows are on both sides with exactly the same values in {columns} columns",
            grouped(totals.counts.matched)
        ),
        Verdict::Different => {
            let more = if totals.is_complete() { "" } else { " so far; not everything was compared" };
            format!("{}{more}", plural(totals.counts.differences(), "difference"))
        }
        Verdict::Incomplete(reason) => format!("no difference found, but not everything was compared: {reason}"),
    };
    line!(text, "{word}  {says}");
}

fn plural(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

fn write_compared(text: &mut String, facts: &RunFacts, totals: &Totals) {
    let plan = &facts.plan.plan;
    text.push('\n');
    for side in Side::BOTH {
        let table = &facts.plan.schemas.get(side).display;
        let position = facts.plan.positions.get(side);
        let position = match position.exactness {
            Exactness::Unknown => format!("{} {} (not exact)", position.kind, position.value),
            Exactness::Exact | Exactness::Bracketed => position.to_string(),
        };
        label(text, &side.to_string(), &format!("{table}, {}", plural(*totals.rows.get(side), "row")));
        label(text, "", &format!("frozen at {position}"));
    }
    let key: Vec<&str> = plan.key.iter().map(|pair| pair.name.source.as_str()).collect();
    let key = if key.is_empty() {
        "none: rows were compared as a multiset".to_owned()
    } else {
        format!("{} ({})", key.join(", "), plan.key_origin)
    };
    label(text, "key", &key);
    let excluded: Vec<String> = Side::BOTH
        .into_iter()
        .filter(|side| !plan.excluded.get(*side).is_empty())
        .map(|side| format!("{side} {}", plan.excluded.get(side).join(", ")))
        .collect();
    if !excluded.is_empty() {
        label(text, "left out", &excluded.join("; "));
    }
    let (done, total) = (count(totals.done), count(totals.total));
    let coverage = if totals.is_complete() {
        format!("complete, {}", plural(total, "range"))
    } else {
        format!("NOT COMPLETE, {} of {}", grouped(done), plural(total, "range"))
    };
    label(text, "coverage", &coverage);
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn write_found(text: &mut String, facts: &RunFacts, totals: &Totals) {
    let counts = &totals.counts;
    text.push('\n');
    let width = [counts.matched, counts.missing, counts.extra, counts.changed]
        .map(|number| grouped(number).len())
        .into_iter()
        .max()
        .unwrap_or(0);
    for (name, number, meaning) in [
        ("matched", counts.matched, ""),
        ("missing", counts.missing, "  in the source, not in the sink"),
        ("extra", counts.extra, "  in the sink, not in the source"),
        ("changed", counts.changed, "  same key, other values"),
    ] {
        let meaning = if number == 0 { "" } else { meaning };
        label(text, name, &format!("{:>width$}{meaning}", grouped(number)));
    }
    let mut changed: Vec<(&str, u64)> = facts
        .plan
        .plan
        .row
        .iter()
        .zip(&totals.changed)
        .filter(|(_, changed)| **changed > 0)
        .map(|(pair, changed)| (pair.name.source.as_str(), *changed))
        .collect();
    // Stable: columns with equal counts stay in plan order.
    changed.sort_by_key(|(_, changed)| std::cmp::Reverse(*changed));
    for (name, number) in changed.iter().take(COLUMNS_SHOWN) {
        label(text, "", &format!("{:>width$}  in {name}", grouped(*number)));
    }
    if changed.len() > COLUMNS_SHOWN {
        let more = plural(count(changed.len() - COLUMNS_SHOWN), "more column");
        label(text, "", &format!("{:>width$}  and {more} (run.json has all)", ""));
    }
}

fn write_options(text: &mut String, facts: &RunFacts, totals: &Totals) {
    let mut title = "options";
    for (pair, excused) in facts.plan.plan.row.iter().zip(&totals.excused) {
        let set = options(&pair.options);
        if set.is_empty() {
            continue;
        }
        let set: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let effect = if pair.options.excuses() {
            format!(": {} equal only because of it", plural(*excused, "value"))
        } else {
            String::new()
        };
        label(text, title, &format!("{} {}{effect}", pair.name.source, set.join(" ")));
        title = "";
    }
    for pair in &facts.plan.plan.key {
        let set: Vec<String> = options(&pair.options).iter().map(|(name, value)| format!("{name}={value}")).collect();
        if !set.is_empty() {
            label(text, title, &format!("{} {} (key)", pair.name.source, set.join(" ")));
            title = "";
        }
    }
}

fn write_duplicates(text: &mut String, facts: &RunFacts, totals: &Totals) {
    if facts.plan.plan.key.is_empty() {
        return;
    }
    for side in Side::BOTH {
        let (keys, surplus) = *totals.duplicates.get(side);
        if keys > 0 {
            let says = format!(
                "{side}: {} more than once ({}); compared as multisets",
                if keys == 1 { "1 key occurs".to_owned() } else { format!("{} keys occur", grouped(keys)) },
                plural(surplus, "surplus row")
            );
            label(text, "duplicates", &says);
        }
    }
}

fn write_null_keys(text: &mut String, totals: &Totals) {
    for side in Side::BOTH {
        let rows = *totals.null_key_rows.get(side);
        if rows > 0 {
            label(
                text,
                "null keys",
                &format!("{side}: {} with NULL in the key; NULL pairs with NULL", plural(rows, "row")),
            );
        }
    }
}

fn write_digests(text: &mut String, facts: &RunFacts, totals: &Totals) {
    let ranges = &facts.plan.plan.ranges;
    let digest = |side| table_digest(ranges, &facts.outcomes, side).map(|digest| digest.to_string());
    if let (Some(source), Some(sink)) = (digest(Side::Source), digest(Side::Sink)) {
        text.push('\n');
        if source == sink {
            label(text, "digest", &format!("{source} (both sides)"));
        } else {
            label(text, "digest", &format!("{source} source"));
            label(text, "", &format!("{sink} sink"));
            if facts.verdict == Verdict::Equal {
                let why = if totals.counts.excused > 0 {
                    "digests are of the exact values, and so differ where options made values equal"
                } else {
                    "digests are of the exact values"
                };
                label(text, "", why);
            }
        }
    }
}

fn write_files(text: &mut String, facts: &RunFacts, totals: &Totals, folder: &Path) {
    text.push('\n');
    label(text, "files", &folder.display().to_string());
    if totals.counts.differences() > 0 {
        let glob = folder.join("differences").join("*.parquet").display().to_string().replace('\'', "''");
        label(text, "look", &format!("duckdb -c \"SELECT * FROM '{glob}' LIMIT 20\""));
    }
    let seconds = facts.elapsed.as_secs_f64();
    let rows = totals.rows.source.saturating_add(totals.rows.sink);
    let rate = if seconds > 0.0 && rows > 0 {
        format!(", {} rows/s of both sides", grouped(round(rows as f64 / seconds)))
    } else {
        String::new()
    };
    label(text, "took", &format!("{seconds:.1} s{rate}"));
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a speed for people; the cast saturates")]
fn round(number: f64) -> u64 {
    number.round() as u64
}

#[cfg(test)]
mod tests;
