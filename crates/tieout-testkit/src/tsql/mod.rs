//! A small T-SQL server: tables in memory, and the statements that are asked of it.
//!
//! It is written from the documentation of SQL Server alone, evaluates conditions, conversions and collations by rules of its
//! own, and refuses what it has no rule for (error 50001) instead of guessing. It shares nothing with the engine but the parser,
//! so that it can contradict it.
//!
//! - `session`: batches, transactions, snapshots; `select`: queries; `change`: INSERT, UPDATE, DELETE, CREATE.
//! - `scalar`: values and conditions; `compare`, `collation`: their order; `convert`, `moment`: CONVERT.
//! - `table`: tables, rows and states; `standard`: the standard table; `catalogue`: `sys`; `types`: types by name and number.

mod catalogue;
mod change;
mod collation;
mod compare;
mod convert;
mod failure;
mod moment;
mod scalar;
mod select;
mod session;
mod standard;
mod table;
#[cfg(test)]
mod tests;
mod types;

pub use table::{Column, Database, Index, Table};

use crate::Result;
use crate::tds::backend::{Backend, Cell, Login, Reply, Session, SqlError};
use crate::tds::{TdsOptions, TdsServer};
use failure::Answer;
use std::sync::{Arc, Mutex, PoisonError};

/// Which server is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// SQL Server, as documented.
    SqlServer,
    /// A server that speaks T-SQL over `PostgreSQL`: GUIDs compare from the left, there is no UTF-8 collation, no change tracking,
    /// and the catalogue has fewer columns, other type numbers and other names.
    PostgresBacked,
}

impl Flavour {
    fn version(self) -> &'static str {
        match self {
            Self::SqlServer => "Microsoft SQL Server 2022 (RTM) - 16.0.1000.6 (X64)",
            Self::PostgresBacked => "Babelfish for PostgreSQL with SQL Server Compatibility - 12.0.2000.8",
        }
    }
}

/// What the sessions of a server share.
struct Shared {
    flavour: Flavour,
    state: Mutex<Arc<Database>>,
}

impl Shared {
    fn now(&self) -> Arc<Database> {
        Arc::clone(&self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Commits what `change` makes of the database, or nothing.
    fn change<T>(&self, change: impl FnOnce(&mut Database) -> Answer<T>) -> Answer<T> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Database::clone(&state);
        let result = change(&mut next)?;
        next.commits += 1;
        *state = Arc::new(next);
        Ok(result)
    }
}

/// A server in memory. Clones are the same server.
#[derive(Clone)]
pub struct Tsql {
    shared: Arc<Shared>,
}

impl Tsql {
    /// An empty database `test` that allows SNAPSHOT isolation.
    #[must_use]
    pub fn new(flavour: Flavour) -> Self {
        Self { shared: Arc::new(Shared { flavour, state: Mutex::new(Arc::new(Database::default())) }) }
    }

    /// Runs statements in a session of their own and gives all rows of the queries among them.
    ///
    /// # Errors
    /// Those of the statements.
    pub fn execute(&self, sql: &str) -> std::result::Result<Vec<Vec<Cell>>, SqlError> {
        let mut session = session::Connected::new(Arc::clone(&self.shared));
        let mut rows = Vec::new();
        for reply in session.execute(sql, &[])? {
            if let Reply::Rows(result) = reply {
                for row in result.rows {
                    rows.push(row?);
                }
            }
        }
        Ok(rows)
    }

    /// Changes what no statement here can: settings of the database, masks, policies, rows that no INSERT could give.
    ///
    /// # Errors
    /// What `change` says; nothing has changed then.
    pub fn alter<T>(
        &self,
        change: impl FnOnce(&mut Database) -> std::result::Result<T, SqlError>,
    ) -> std::result::Result<T, SqlError> {
        self.shared.change(change)
    }

    /// Makes a synonym in `dbo`.
    ///
    /// # Errors
    /// When there is an object of that name.
    pub fn add_synonym(&self, name: &str, base: &str) -> std::result::Result<(), SqlError> {
        let base = base.to_owned();
        self.alter(|database| database.add(None, name, |id| table::Object::Synonym { id, base }))
    }

    /// Serves it on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no server can be started.
    pub fn serve(&self, options: TdsOptions) -> Result<TdsServer> {
        TdsServer::start(self.clone(), options)
    }
}

impl Backend for Tsql {
    fn login(&self, login: &Login) -> std::result::Result<Box<dyn Session>, SqlError> {
        let now = self.shared.now();
        if !login.database.is_empty() && !table::same(&login.database, &now.name) {
            let message =
                format!("Cannot open database \"{}\" requested by the login. The login failed.", login.database);
            return Err(SqlError { class: 11, ..failure::error(4060, message) });
        }
        Ok(Box::new(session::Connected::new(Arc::clone(&self.shared))))
    }
}
