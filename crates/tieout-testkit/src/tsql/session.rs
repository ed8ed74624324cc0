//! A session: batches, settings, transactions and the state that they see.

use super::failure::{Answer, error, syntax, unknown};
use super::scalar::View;
use super::select::Reader;
use super::table::Database;
use super::{Flavour, Shared, change};
use crate::tds::backend::{Param, Reply, Session, SqlError};
use sqlparser::ast::{Expr, Statement};
use sqlparser::dialect::MsSqlDialect;
use sqlparser::parser::Parser;
use std::cell::RefCell;
use std::sync::Arc;

/// Settings that are taken and change nothing here: what they would change is not done here, or done as they say.
const SETTINGS: &[&str] = &[
    "SET NOCOUNT ON",
    "SET ROWCOUNT 0",
    "SET TEXTSIZE 2147483647",
    "SET ANSI_NULLS ON",
    "SET ANSI_PADDING ON",
    "SET ANSI_WARNINGS ON",
    "SET ARITHABORT ON",
    "SET CONCAT_NULL_YIELDS_NULL ON",
    "SET QUOTED_IDENTIFIER ON",
    "SET NUMERIC_ROUNDABORT OFF",
    "SET IMPLICIT_TRANSACTIONS OFF",
    "SET XACT_ABORT ON",
    "SET DATEFORMAT YMD",
];

/// The one number of many errors over `PostgreSQL`.
const ANY_ERROR: i32 = 33_557_097;

/// A connection's session.
pub(super) struct Connected {
    shared: Arc<Shared>,
    /// Whether transactions are at SNAPSHOT isolation.
    at_snapshot: bool,
    transactions: u32,
    /// What the open transaction sees, from its first read on.
    snapshot: Option<Arc<Database>>,
}

/// Parses a condition.
pub(super) fn condition(text: &str) -> Answer<Expr> {
    let parser = Parser::new(&MsSqlDialect {}).try_with_sql(text);
    parser.and_then(|mut parser| parser.parse_expr()).map_err(syntax)
}

fn parsed(sql: &str) -> Answer<Vec<Statement>> {
    Parser::parse_sql(&MsSqlDialect {}, sql).map_err(syntax)
}

/// A statement that is words and numbers alone, with one blank between them, in capitals.
fn words(statement: &Statement) -> String {
    statement.to_string().replace('=', " ").split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_uppercase()
}

impl Connected {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, at_snapshot: false, transactions: 0, snapshot: None }
    }

    fn statement(&mut self, statement: &Statement, params: &[Param]) -> Answer<Reply> {
        let done = Ok(Reply::Done { affected: None });
        let now = self.shared.now();
        let view = View { flavour: self.shared.flavour, now: &now, transactions: self.transactions, params };
        match statement {
            Statement::Query(query) => {
                let seen = RefCell::new(self.snapshot.clone());
                let keeps = self.at_snapshot && self.transactions > 0;
                let state = || state(&now, keeps.then_some(&seen));
                let planned = Reader { session: &view, state: &state }.query(query, 0)?;
                self.snapshot = seen.into_inner();
                return Ok(Reply::Rows(planned.into_result()));
            }
            Statement::StartTransaction { .. } => {
                self.transactions += 1;
                return done;
            }
            Statement::Commit { .. } | Statement::Rollback { .. } if self.transactions == 0 => {
                return Err(error(
                    3902,
                    "The COMMIT or ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.",
                ));
            }
            Statement::Commit { .. } => {
                self.transactions -= 1;
                if self.transactions == 0 {
                    self.snapshot = None;
                }
                return done;
            }
            Statement::Rollback { .. } => {
                self.end();
                return done;
            }
            _ => {}
        }
        let text = words(statement);
        if SETTINGS.contains(&text.as_str()) || text.starts_with("SET LOCK_TIMEOUT ") {
            return done;
        }
        if let Some(level) = text.strip_prefix("SET TRANSACTION ISOLATION LEVEL ") {
            match level {
                "SNAPSHOT" => self.at_snapshot = true,
                "READ COMMITTED" => self.at_snapshot = false,
                _ => return Err(unknown(format_args!("the isolation level {level}"))),
            }
            return done;
        }
        if self.transactions > 0 {
            return Err(unknown("a change within a transaction"));
        }
        let affected = self.shared.change(|database| change::apply(database, statement, &view))?;
        Ok(Reply::Done { affected })
    }

    /// Ends the open transaction.
    fn end(&mut self) {
        self.transactions = 0;
        self.snapshot = None;
    }
}

/// The state that a query of tables reads: at SNAPSHOT isolation, the one of the transaction's first read.
fn state(now: &Arc<Database>, kept: Option<&RefCell<Option<Arc<Database>>>>) -> Answer<Arc<Database>> {
    let Some(kept) = kept else { return Ok(Arc::clone(now)) };
    if !now.allows_snapshot {
        let message = format!(
            "Snapshot isolation transaction failed accessing database '{}' because snapshot isolation is not allowed in this \
             database. Use ALTER DATABASE to allow snapshot isolation.",
            now.name
        );
        return Err(error(3952, message));
    }
    Ok(Arc::clone(kept.borrow_mut().get_or_insert_with(|| Arc::clone(now))))
}

impl Session for Connected {
    fn execute(&mut self, sql: &str, params: &[Param]) -> Result<Vec<Reply>, SqlError> {
        let run = |session: &mut Self| -> Answer<Vec<Reply>> {
            let mut replies = Vec::new();
            for statement in parsed(sql)? {
                replies.push(session.statement(&statement, params)?);
            }
            Ok(replies)
        };
        let flavour = self.shared.flavour;
        run(self).map_err(|error| {
            // XACT_ABORT is on.
            self.end();
            match flavour {
                Flavour::PostgresBacked if error.number != 50_001 => SqlError { number: ANY_ERROR, class: 16, ..error },
                _ => error,
            }
        })
    }
}
