//! `docs/type-pairs.md`: every pair of types and what it is compared as, made from the functions that decide it.

use super::{
    casts::cast_side,
    types::{pair_types, type_word},
};
use crate::model::{CanonicalType, Conversion, GeometricKind, LogicalType, NativeTypes};
use std::fmt::Write;

/// One specimen of each type.
fn specimens() -> Vec<LogicalType> {
    use LogicalType as L;
    vec![
        L::Boolean,
        L::Integer { bits: 32, signed: true },
        L::Decimal { declared: None },
        L::Float { bits: 64 },
        L::Text,
        L::Char,
        L::Enum,
        L::Xml,
        L::Untyped,
        L::Binary,
        L::Bits,
        L::Date,
        L::Time { digits: 6 },
        L::TimeTz,
        L::Timestamp { digits: 6 },
        L::Instant { digits: 6 },
        L::OffsetInstant { digits: 6 },
        L::Interval,
        L::Uuid,
        L::Json,
        L::Inet,
        L::Mac,
        L::Mac8,
        L::Geometric(GeometricKind::Point),
        L::List(Box::new(L::Text)),
        L::Struct(vec![("f".to_owned(), L::Text)]),
        L::Map(Box::new(L::Text), Box::new(L::Text)),
        L::Range(Box::new(L::Integer { bits: 32, signed: true })),
        L::Multirange(Box::new(L::Integer { bits: 32, signed: true })),
        L::Dynamic(Box::new(L::Integer { bits: 64, signed: true })),
        L::Dynamic(Box::new(L::Decimal { declared: None })),
        L::Dynamic(Box::new(L::Float { bits: 64 })),
        L::Dynamic(Box::new(L::Text)),
        L::Dynamic(Box::new(L::Binary)),
        L::Null,
    ]
}

/// The page as Markdown: pairs that meet as they are, pairs that need a declaration, casts, and the native types of
/// `stores` with what each pair of them is compared as.
#[must_use]
pub fn type_pairs_markdown(stores: &[NativeTypes]) -> String {
    let specimens = specimens();
    let mut meet = String::new();
    let mut declare = String::new();
    for (place, one) in specimens.iter().enumerate() {
        for other in &specimens[place..] {
            let (one_word, other_word) = (type_word(one), type_word(other));
            match pair_types(one, other) {
                Ok(canonical) => {
                    let _ = writeln!(meet, "| {one_word} | {other_word} | {canonical} |");
                }
                Err(refusal) => {
                    let hint = refusal.hint.unwrap_or_default();
                    // The general way out is said once, above the table.
                    if !hint.contains("--exclude") {
                        let _ = writeln!(declare, "| {one_word} | {other_word} | {hint} |");
                    }
                }
            }
        }
    }
    format!(
        "# What column pairs are compared as\n\n\
         Made from the code (`TIEOUT_UPDATE_DOCS=1 cargo test --test it documents` writes it anew). The order of the two sides \
         does not matter. *Dynamic* columns hold cells that each have a type of their own (number, text, bytes), whatever \
         is declared; the word after it is what the declaration hints at. A cell that is not of the type that its column \
         is compared as stays a value of its own, equal to an identical cell alone.\n\n\
         ## Pairs that meet as they are\n\n\
         Elements of nested types meet only if each is compared alone as what the pair is compared as.\n\n\
         | type | type | compared as |\n|---|---|---|\n{meet}\n\
         ## Pairs that need a declaration\n\n\
         Refused before a row is read. A pair that is in neither table is refused too; `--cast COLUMN=text` compares \
         the text of both sides, `--exclude COLUMN` leaves the column out.\n\n\
         | type | type | declaration |\n|---|---|---|\n{declare}\n\
         ## Casts\n\n\
         `--cast COLUMN=TYPE` applies to both sides. *As it is*: nothing is lost; *parsed*: the text is read strictly; \
         *text*: the store, else tieout, writes the value as text. What is not listed is refused.\n\n\
         | type | cast to | how |\n|---|---|---|\n{}\n{}",
        casts(&specimens),
        native_pairs(stores)
    )
}

fn casts(specimens: &[LogicalType]) -> String {
    use CanonicalType as C;
    let targets = [
        C::Text,
        C::Number,
        C::Float,
        C::Boolean,
        C::Binary,
        C::Bits,
        C::Date,
        C::Time,
        C::TimeTz,
        C::Timestamp,
        C::Instant,
        C::OffsetInstant,
        C::Interval,
        C::Uuid,
        C::Json,
        C::Inet,
        C::Mac,
        C::Mac8,
    ];
    let mut out = String::new();
    let unsupported = LogicalType::Unsupported(String::new());
    for logical in specimens.iter().chain([&unsupported]) {
        let mut ways: [(&str, Vec<String>); 3] = [("as it is", vec![]), ("parsed", vec![]), ("text", vec![])];
        for target in &targets {
            if let Ok(cast) = cast_side(logical, target) {
                let way = match cast.conversion {
                    Conversion::Direct => 0,
                    Conversion::Parse => 1,
                    Conversion::Render => 2,
                };
                ways[way].1.push(target.to_string());
            }
        }
        for (how, targets) in ways.into_iter().filter(|(_, targets)| !targets.is_empty()) {
            let _ = writeln!(out, "| {} | {} | {how} |", type_word(logical), targets.join(", "));
        }
    }
    out
}

/// The native types of each store, and for each pair of stores what their types are compared as.
fn native_pairs(stores: &[NativeTypes]) -> String {
    let mut out = String::from(
        "## Native types\n\nWhat the types of each store are in the tables above. A type that is not listed is refused by name, with the \
         cast that would help.\n\n| store | native type | type |\n|---|---|---|\n",
    );
    for store in stores {
        for (native, logical) in &store.types {
            let word = match logical {
                LogicalType::Unsupported(reason) => format!("refused: {reason}"),
                logical => type_word(logical).to_owned(),
            };
            let _ = writeln!(out, "| {} | {} | {word} |", store.store, cell(native));
        }
    }
    out.push_str(
        "\n## Pairs of native types\n\nFor each native type of the one store, what the types of the other meet it as. Types of the other store that are \
         in neither column are refused; `--cast COLUMN=text` or `--exclude COLUMN` is then the way.\n",
    );
    for (place, one) in stores.iter().enumerate() {
        for other in &stores[place..] {
            let _ = write!(
                out,
                "\n### {} and {}\n\n| {} | meets | needs a declaration |\n|---|---|---|\n",
                one.store, other.store, one.store
            );
            let mut rows: Vec<((String, String), Vec<String>)> = Vec::new();
            for (native, logical) in &one.types {
                let partners = partners(logical, &other.types);
                match rows.iter_mut().find(|(known, _)| *known == partners) {
                    Some((_, natives)) => natives.push(cell(native)),
                    None => rows.push((partners, vec![cell(native)])),
                }
            }
            for ((meets, needs), natives) in rows {
                let _ = writeln!(out, "| {} | {meets} | {needs} |", natives.join(", "));
            }
        }
    }
    out
}

/// The types that meet `logical`, by what they are compared as, and those that would under a declaration, by that.
fn partners(logical: &LogicalType, others: &[(String, LogicalType)]) -> (String, String) {
    let mut meets: Vec<(String, Vec<&str>)> = Vec::new();
    let mut needs: Vec<(String, Vec<&str>)> = Vec::new();
    for (native, other) in others {
        let (list, word) = match pair_types(logical, other) {
            Ok(canonical) => (&mut meets, canonical.to_string()),
            Err(refusal) => match refusal.hint {
                Some(hint) if !hint.contains("--exclude") => (&mut needs, declaration(&hint)),
                _ => continue,
            },
        };
        match list.iter_mut().find(|(known, _)| *known == word) {
            Some((_, natives)) => natives.push(native),
            None => list.push((word, vec![native])),
        }
    }
    let text = |list: Vec<(String, Vec<&str>)>| {
        let parts: Vec<String> =
            list.into_iter().map(|(word, natives)| format!("{word}: {}", natives.join(", "))).collect();
        if parts.is_empty() { "-".to_owned() } else { cell(&parts.join("; ")) }
    };
    (text(meets), text(needs))
}

/// The first declaration that a hint names.
fn declaration(hint: &str) -> String {
    hint.split('`').nth(1).map_or_else(|| hint.to_owned(), |option| format!("`{option}`"))
}

/// Text of a table's cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
