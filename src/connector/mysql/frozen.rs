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

/// Why the snapshot does not freeze what is read, by the target or by the filter; `None` if it does.
pub(super) async fn obstacle(control: &mut Session, target: &Target, filter: Option<&str>) -> Result<Option<String>> {
    if let Some(why) = obstacle_of(control, target).await? {
        return Ok(Some(why));
    }
    let Some(filter) = filter else { return Ok(None) };
    let known = known(control).await?;
    walk(control, &known, filter, Written::InFilter).await
}

async fn obstacle_of(control: &mut Session, target: &Target) -> Result<Option<String>> {
    match &target.kind {
        Kind::Table { engine, .. } if engine.eq_ignore_ascii_case(FROZEN_ENGINE) => Ok(None),
        Kind::Table { engine, .. } => Ok(Some(format!("the engine {engine} has no snapshots"))),
        Kind::View { database, table } => {
            if SYSTEM.contains(&database.to_lowercase().as_str()) {
                return Ok(Some("the views of the server itself are not part of a snapshot".to_owned()));
            }
            let known = known(control).await?;
            match definition(control, database, table).await? {
                Some(text) => walk(control, &known, &text, Written::ByServer).await,
                None => Ok(Some("this user may not see the view's definition (grant SHOW VIEW)".to_owned())),
            }
        }
        Kind::Query(text) => {
            let known = known(control).await?;
            walk(control, &known, text, Written::ByUser).await
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

/// Who wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// The user, who needs rights on all that it names, and so sees it.
    ByUser,
    /// The user as well; without a query in it, its names are those of columns and routines.
    InFilter,
    /// The server: the definition of a view, which may read what the user has no right to see. Its tables are all called
    /// by database and name.
    ByServer,
}

/// The tables of a view's definition: pairs of names behind FROM and JOIN.
fn tables(tokens: &[Token]) -> Vec<(String, String)> {
    let mut list = Vec::new();
    for (at, window) in tokens.windows(3).enumerate() {
        let [Token::Quoted(database), Token::Sign('.'), Token::Quoted(table)] = window else { continue };
        let before = tokens[..at].iter().rev().find(|token| **token != Token::Sign('('));
        if let Some(Token::Word(word)) = before
            && ["from", "join", "straight_join"].iter().any(|known| word.eq_ignore_ascii_case(known))
        {
            list.push((database.clone(), table.clone()));
        }
    }
    list
}

/// The first table of a definition that this user does not see.
async fn unseen(control: &mut Session, tokens: &[Token]) -> Result<Option<String>> {
    for (database, table) in tables(tokens) {
        let sql = format!(
            "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {}",
            sql::text(&database),
            sql::text(&table)
        );
        if control.text(DOING, &sql).await?.as_deref() == Some("0") {
            return Ok(Some(format!("this user may not see {database}.{table}, which is read")));
        }
    }
    Ok(None)
}

/// Looks for names without snapshots in a text and in the views that it names. A column may be called as such a table
/// is: then the table counts, though it is not read; the other way round nothing is missed.
async fn walk(control: &mut Session, known: &[Known], text: &str, written: Written) -> Result<Option<String>> {
    let mut texts = vec![(text.to_owned(), written)];
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    while let Some((text, written)) = texts.pop() {
        let Ok(tokens) = sql::tokens(&text) else {
            return Ok(Some("the text of the query or of a view is not understood".to_owned()));
        };
        if written == Written::ByServer
            && let Some(why) = unseen(control, &tokens).await?
        {
            return Ok(Some(why));
        }
        let name = |token: &Token| match token {
            Token::Word(word) | Token::Quoted(word) => Some(word.to_lowercase()),
            Token::Text | Token::Sign(_) => None,
        };
        // Users' own words were checked before.
        if written == Written::ByServer
            && let Some(word) = sql::first_moving(&tokens)
        {
            return Ok(Some(format!("a view calls {word}, which each read answers anew")));
        }
        let words: BTreeSet<String> = tokens.iter().filter_map(name).collect();
        let reads = written != Written::InFilter || words.contains("select") || words.contains("table");
        let called: BTreeSet<String> =
            tokens.windows(2).filter(|pair| pair[1] == Token::Sign('(')).filter_map(|pair| name(&pair[0])).collect();
        for found in known {
            let database = found.database.to_lowercase();
            let named = words.contains(&found.name.to_lowercase())
                && (reads || found.what == What::Routine)
                && (found.what != What::Routine || called.contains(&found.name.to_lowercase()))
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
                    Some(definition) => texts.push((definition, Written::ByServer)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_a_definition() {
        let text = "select `y`.`a`.`id` AS `id`,`q`.`w` AS `w` from ((`y`.`a` left join `z`.`b` `q` on(`y`.`a`.`id` = \
                    `q`.`id`)) join (select `y`.`c`.`id` AS `id` from `y`.`c`) `d`)";
        let found = tables(&sql::tokens(text).unwrap_or_default());
        let found: Vec<String> = found.iter().map(|(database, table)| format!("{database}.{table}")).collect();
        assert_eq!(found, ["y.a", "z.b", "y.c"]);
    }
}
