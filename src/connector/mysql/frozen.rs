//! Whether a snapshot freezes what is read: which tables take part, and whether their engine has snapshots.

use super::{
    connection::{Session, is_exactly},
    schema::{Kind, Target},
    sql::{self, Token},
};
use crate::model::Result;
use std::collections::BTreeSet;

/// The engine whose tables a consistent snapshot freezes.
const FROZEN_ENGINE: &str = "InnoDB";
/// Databases whose tables count only where a text names the database: their names are too common for more.
const SYSTEM: [&str; 4] = ["mysql", "information_schema", "performance_schema", "sys"];
/// Views that stand in views: deeper nesting is not followed.
const DEPTH_MAX: usize = 32;

const DOING: &str = "looking at what is read";

/// A table, a view or a routine of the server.
struct Known {
    database: String,
    name: String,
    /// What makes it count: an engine without snapshots, a view, a routine.
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Engine(String),
    View,
    Routine,
}

/// Why the snapshot does not freeze what is read; `None` if it does.
pub(super) async fn obstacle(control: &mut Session, target: &Target) -> Result<Option<String>> {
    match &target.kind {
        Kind::Table { engine, .. } if engine.eq_ignore_ascii_case(FROZEN_ENGINE) => Ok(None),
        Kind::Table { engine, .. } => Ok(Some(format!("the engine {engine} has no snapshots"))),
        Kind::View { database, table } => {
            if SYSTEM.contains(&database.to_lowercase().as_str()) {
                return Ok(Some("the views of the server itself are not part of a snapshot".to_owned()));
            }
            let known = known(control).await?;
            match definition(control, database, table).await? {
                Some(text) => walk(control, &known, &text).await,
                None => Ok(Some("this user may not see the view's definition (grant SHOW VIEW)".to_owned())),
            }
        }
        Kind::Query(text) => {
            let known = known(control).await?;
            walk(control, &known, text).await
        }
    }
}

/// Everything that a text might name and that is not a table with snapshots.
async fn known(control: &mut Session) -> Result<Vec<Known>> {
    let sql = format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, IF(TABLE_TYPE LIKE '%VIEW', '', IF(TABLE_TYPE = 'SEQUENCE', 'SEQUENCE', \
         COALESCE(ENGINE, 'unknown'))) FROM information_schema.TABLES \
         WHERE TABLE_TYPE LIKE '%VIEW' OR TABLE_TYPE = 'SEQUENCE' OR COALESCE(ENGINE, '') <> '{FROZEN_ENGINE}' \
         UNION ALL SELECT ROUTINE_SCHEMA, ROUTINE_NAME, '()' FROM information_schema.ROUTINES"
    );
    let rows = control.rows(DOING, &sql).await?;
    let what = |text: &str| match text {
        "" => What::View,
        "()" => What::Routine,
        engine => What::Engine(engine.to_owned()),
    };
    Ok(rows
        .iter()
        .map(|row| Known { database: row.owned(0), name: row.owned(1), what: what(row.text(2).unwrap_or_default()) })
        .collect())
}

async fn definition(control: &mut Session, database: &str, view: &str) -> Result<Option<String>> {
    let sql = format!(
        "SELECT VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} AND {} AND {}",
        sql::text(database),
        sql::text(view),
        is_exactly("TABLE_SCHEMA", database),
        is_exactly("TABLE_NAME", view)
    );
    Ok(control.text(DOING, &sql).await?.filter(|text| !text.is_empty()))
}

/// Looks for names without snapshots in a text and in the views that it names. A column may be called as such a table
/// is: then the table counts, though it is not read; the other way round nothing is missed.
async fn walk(control: &mut Session, known: &[Known], text: &str) -> Result<Option<String>> {
    let mut texts = vec![text.to_owned()];
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    while let Some(text) = texts.pop() {
        let Ok(tokens) = sql::tokens(&text) else {
            return Ok(Some("the text of the query or of a view is not understood".to_owned()));
        };
        let words: BTreeSet<String> = tokens
            .iter()
            .filter_map(|token| match token {
                Token::Word(word) | Token::Quoted(word) => Some(word.to_lowercase()),
                Token::Text | Token::Sign(_) => None,
            })
            .collect();
        for found in known {
            let database = found.database.to_lowercase();
            let named = words.contains(&found.name.to_lowercase())
                && (!SYSTEM.contains(&database.as_str()) || words.contains(&database));
            if !named || !seen.insert((found.database.clone(), found.name.clone())) {
                continue;
            }
            match &found.what {
                What::Engine(engine) => {
                    return Ok(Some(format!(
                        "{}.{} is read, and the engine {engine} has no snapshots",
                        found.database, found.name
                    )));
                }
                What::Routine => {
                    return Ok(Some(format!(
                        "{}.{} is a routine, which may read anything",
                        found.database, found.name
                    )));
                }
                What::View if seen.len() > DEPTH_MAX => {
                    return Ok(Some("too many views stand in views".to_owned()));
                }
                What::View => match definition(control, &found.database, &found.name).await? {
                    Some(definition) => texts.push(definition),
                    None => {
                        return Ok(Some(format!(
                            "this user may not see the definition of {}.{} (grant SHOW VIEW)",
                            found.database, found.name
                        )));
                    }
                },
            }
        }
    }
    Ok(None)
}
