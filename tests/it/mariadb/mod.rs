//! MariaDB against `PostgreSQL`, files and itself; cases of the field are named by their ids.

mod connecting;
mod frozen;
mod keys;
mod mended;
mod stopping;
mod types;
mod values;

use tieout_testkit::mariadb::{MariadbServer, TestDatabase, query, test_database};

/// A fresh database of a real MariaDB server, dropped at the end of the test.
pub(crate) struct Maria {
    database: TestDatabase,
}

impl Maria {
    /// A database of the shared server.
    #[track_caller]
    pub(crate) fn new() -> Self {
        let database = test_database();
        Self { database: database.unwrap_or_else(|error| fail(&error.to_string())) }
    }

    /// A database of a server of its own, started with options; it keeps a binary log only if one of them says so.
    #[track_caller]
    pub(crate) fn alone(options: &[&str]) -> Self {
        let database = MariadbServer::start_with(options).and_then(TestDatabase::on);
        Self { database: database.unwrap_or_else(|error| fail(&error.to_string())) }
    }

    /// Runs statements with an empty SQL mode in UTC; fails the test if one fails.
    #[track_caller]
    pub(crate) fn sql(&self, statements: &str) {
        if let Err(error) = self.database.execute(statements) {
            fail(&format!("sql failed: {error}\n{statements}"));
        }
    }

    /// What a query prints.
    #[track_caller]
    pub(crate) fn ask(&self, sql: &str) -> String {
        query(self.database.url(), sql).unwrap_or_else(|error| fail(&error.to_string()))
    }

    /// Locator of a table.
    pub(crate) fn table(&self, table: &str) -> String {
        self.database.table(table)
    }

    /// The database's URL without a table.
    pub(crate) fn url(&self) -> String {
        self.database.url().to_owned()
    }

    /// The database's name.
    pub(crate) fn name(&self) -> &str {
        self.database.name()
    }

    /// `host:port` of the server.
    pub(crate) fn address(&self) -> String {
        let rest = self.url();
        let rest = rest.split_once('@').map_or("", |(_, rest)| rest);
        rest.split_once('/').map_or("", |(address, _)| address).to_owned()
    }
}

#[track_caller]
#[expect(clippy::panic, reason = "a test that cannot be set up must fail loudly")]
fn fail(message: &str) -> ! {
    panic!("{message}")
}
