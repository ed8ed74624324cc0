//! A plan as a document and as text; no row has been read.

use super::{
    document::PositionRecord,
    keys::key_text,
    record::{SCHEMA_VERSION, fingerprint, options, order_name},
};
use crate::model::{ColumnPair, KeyRange, PlanFacts, Side, Sides};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Ranges whose bounds are shown.
const BOUNDS_SHOWN: usize = 5;
/// Width at which a cell of the table of columns is cut.
const CELL_WIDTH_MAX: usize = 40;

/// The plan as a document (`docs/plan.schema.json`). The same facts give the same bytes.
#[must_use]
pub fn plan_document(facts: &PlanFacts) -> Value {
    let plan = &facts.plan;
    json!({
        "schema_version": SCHEMA_VERSION,
        "tieout_version": env!("CARGO_PKG_VERSION"),
        "tables": sides(&facts.schemas, |schema| json!({
            "name": schema.display,
            "rows_estimate": schema.rows_estimate,
            "bytes_estimate": schema.bytes_estimate,
        })),
        "positions": sides(&facts.positions, |position| json!(PositionRecord::from(position))),
        "key": {
            "origin": plan.key_origin,
            "unique": sides(&plan.key_unique, |unique| json!(unique)),
            "columns": plan.key.iter().map(column).collect::<Vec<_>>(),
        },
        "columns": plan.row.iter().map(column).collect::<Vec<_>>(),
        "excluded": sides(&plan.excluded, |names| json!(names)),
        "order": {
            "source": { "by": order_name(plan.order.source), "reason": facts.order_reasons.source },
            "sink": { "by": order_name(plan.order.sink), "reason": facts.order_reasons.sink },
        },
        "ranges": {
            "total": plan.ranges.as_slice().len(),
            "first": plan.ranges.as_slice().iter().take(BOUNDS_SHOWN).map(|range| bounds(facts, range)).collect::<Vec<_>>(),
        },
        "reads": sides(&facts.reads, |reads| json!(reads)),
        "memory": {
            "total_bytes": facts.memory_bytes(),
            "shares": facts.memory.iter().map(|share| json!({ "name": share.name, "bytes": share.bytes })).collect::<Vec<_>>(),
        },
        "workers": facts.workers,
        "encoding_version": plan.encoding_version,
        "fingerprint": fingerprint(plan),
    })
}

fn sides<T>(pair: &Sides<T>, mut function: impl FnMut(&T) -> Value) -> Value {
    json!({ "source": function(&pair.source), "sink": function(&pair.sink) })
}

fn column(pair: &ColumnPair) -> Value {
    let set: Map<String, Value> =
        options(&pair.options).into_iter().map(|(name, value)| (name, Value::String(value))).collect();
    json!({
        "source": pair.name.source,
        "sink": pair.name.sink,
        "native": sides(&pair.native, |native| json!(native)),
        "canonical": pair.canonical.to_string(),
        "options": set,
    })
}

fn bounds(facts: &PlanFacts, range: &KeyRange) -> Value {
    let types = facts.plan.key_types();
    let text = |bound: &Option<Vec<u8>>| bound.as_ref().map(|key| key_text(&types, key));
    json!({ "lower": text(&range.lower), "upper": text(&range.upper) })
}

/// The plan for people.
#[must_use]
pub fn plan_text(facts: &PlanFacts) -> String {
    let mut text = String::new();
    write_tables(&mut text, facts);
    write_columns(&mut text, facts);
    write_order(&mut text, facts);
    write_ranges(&mut text, facts);
    write_memory(&mut text, facts);
    text
}

// Writing into a string cannot fail; the macro keeps that in one place.
macro_rules! line {
    ($text:expr, $($part:tt)*) => {{ let _ = writeln!($text, $($part)*); }};
}

fn write_tables(text: &mut String, facts: &PlanFacts) {
    line!(text, "PLAN (no rows read)");
    for side in Side::BOTH {
        let schema = facts.schemas.get(side);
        let size = match (schema.rows_estimate, schema.bytes_estimate) {
            (Some(rows), Some(bytes)) => format!("  about {} rows, {}", grouped(rows), byte_size(bytes)),
            (Some(rows), None) => format!("  about {} rows", grouped(rows)),
            (None, Some(bytes)) => format!("  about {}", byte_size(bytes)),
            (None, None) => String::new(),
        };
        line!(text, "  {:<9} {}{size}", side.to_string(), schema.display);
    }
    for side in Side::BOTH {
        let position = facts.positions.get(side);
        line!(text, "  {:<9} {side} at {position}", if side == Side::Source { "frozen" } else { "" });
        if !position.obtained.is_empty() {
            line!(text, "  {:<9}   {}", "", position.obtained);
        }
    }
}

fn write_columns(text: &mut String, facts: &PlanFacts) {
    let plan = &facts.plan;
    if plan.key.is_empty() {
        line!(text, "\nKEY  none: rows are compared as a multiset ({})", plan.key_origin);
    } else {
        let names: Vec<&str> = plan.key.iter().map(|pair| pair.name.source.as_str()).collect();
        let unique = match (plan.key_unique.source, plan.key_unique.sink) {
            (true, true) => "unique on both sides",
            (true, false) => "unique in the source; the sink does not guarantee it",
            (false, true) => "unique in the sink; the source does not guarantee it",
            (false, false) => "neither side guarantees that it is unique",
        };
        line!(text, "\nKEY  {} ({}; {unique})", names.join(", "), plan.key_origin);
    }
    line!(text, "\nCOLUMNS  {} compared", plan.key.len() + plan.row.len());
    let mut rows = vec![["source", "type", "sink", "type", "compared as", "options"].map(str::to_owned)];
    for (pair, is_key) in plan.key.iter().map(|pair| (pair, true)).chain(plan.row.iter().map(|pair| (pair, false))) {
        let set = options(&pair.options);
        let mut notes: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if is_key {
            notes.insert(0, "key".to_owned());
        }
        rows.push([
            pair.name.source.clone(),
            pair.native.source.clone(),
            pair.name.sink.clone(),
            pair.native.sink.clone(),
            pair.canonical.to_string(),
            notes.join(" "),
        ]);
    }
    write_table(text, &rows);
    for side in Side::BOTH {
        let names = plan.excluded.get(side);
        if !names.is_empty() {
            line!(text, "  not compared, {side}: {}", names.join(", "));
        }
    }
}

fn write_table<const N: usize>(text: &mut String, rows: &[[String; N]]) {
    let cut = |cell: &str| -> String {
        if cell.chars().count() <= CELL_WIDTH_MAX {
            return cell.to_owned();
        }
        let mut short: String = cell.chars().take(CELL_WIDTH_MAX - 3).collect();
        short.push_str("...");
        short
    };
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            row.iter().enumerate().map(|(at, cell)| if at + 1 == N { cell.clone() } else { cut(cell) }).collect()
        })
        .collect();
    let widths: Vec<usize> =
        (0..N).map(|at| cells.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    for row in cells {
        let mut out = String::from(" ");
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(out, " {cell:<width$} ");
        }
        line!(text, "{}", out.trim_end());
    }
}

fn write_order(text: &mut String, facts: &PlanFacts) {
    line!(text, "\nORDER  canonical key order, checked while reading");
    for side in Side::BOTH {
        let by = match order_name(*facts.plan.order.get(side)) {
            "server-ranges" => "by the store, each range a read of its own",
            "server-once" => "by the store, in one read that is cut as it arrives",
            _ => "sorted here after one read",
        };
        let reason = facts.order_reasons.get(side);
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        line!(text, "  {:<7} {by}{reason}", side.to_string());
    }
    line!(text, "\nREADS");
    for side in Side::BOTH {
        for read in facts.reads.get(side) {
            for (at, part) in read.lines().enumerate() {
                line!(text, "  {:<7} {part}", if at == 0 { side.to_string() } else { String::new() });
            }
        }
    }
}

fn write_ranges(text: &mut String, facts: &PlanFacts) {
    let types = facts.plan.key_types();
    let ranges = facts.plan.ranges.as_slice();
    let workers = facts.workers;
    line!(text, "\nRANGES  {} in all, {workers} at once", grouped(to_u64(ranges.len())));
    let bound = |bound: &Option<Vec<u8>>, open: &str| {
        bound.as_ref().map_or_else(|| open.to_owned(), |key| key_text(&types, key))
    };
    for (number, range) in ranges.iter().take(BOUNDS_SHOWN).enumerate() {
        line!(text, "  {number:>5}  [{}, {})", bound(&range.lower, "start"), bound(&range.upper, "end"));
    }
    if ranges.len() > BOUNDS_SHOWN {
        line!(text, "  {:>5}  and {} more", "", grouped(to_u64(ranges.len() - BOUNDS_SHOWN)));
    }
}

fn write_memory(text: &mut String, facts: &PlanFacts) {
    line!(text, "\nMEMORY  {} at most", byte_size(facts.memory_bytes()));
    for share in &facts.memory {
        line!(text, "  {:>10}  {}", byte_size(share.bytes), share.name);
    }
}

fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// A number with a comma between thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size in binary units with one decimal.
pub(super) fn byte_size(bytes: u64) -> String {
    let mut size = bytes as f64;
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = next;
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{size:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(byte_size(1023), "1023 B");
        assert_eq!(byte_size(268_435_456), "256.0 MiB");
    }

    #[test]
    fn a_plan_is_readable_and_holds_no_secret() {
        let facts = crate::output::fixture::facts(std::path::Path::new("/out")).plan;
        let text = plan_text(&facts);
        for part in [
            "  source    public.orders  about 1,000 rows\n",
            "KEY  id (primary key; unique in the source; the sink does not guarantee it)\n",
            "COLUMNS  2 compared\n  source  type  sink       type   compared as  options\n",
            "  id      here  id_sink    there  number       key\n",
            "  name    here  name_sink  there  text\n",
            "  not compared, sink: loaded_at\n",
            "  source  by the store, each range a read of its own: the primary key\n",
            "  sink    sorted here after one read\n",
            "  source  SELECT id\n          FROM orders\n",
            "RANGES  2 in all, 2 at once\n",
            "MEMORY  64.0 MiB at most\n    64.0 MiB  batches\n",
        ] {
            assert!(text.contains(part), "{part}\nis not in\n{text}");
        }
        assert!(!text.contains("secret") && !plan_document(&facts).to_string().contains("secret"));
    }
}
