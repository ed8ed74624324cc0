//! What the tests and benches of tieout share: private `PostgreSQL` and MariaDB servers, a TDS server, the tables of the
//! contract of stores, the standard table, a naive oracle and seeded random numbers. It depends on nothing of the engine, so that it can contradict it.

pub mod contract;
pub mod mariadb;
pub mod mysql;
pub mod oracle;
pub mod postgres;
pub mod random;
pub mod sqlite;
pub mod table;
pub mod tds;
pub mod tsql;
pub mod write;

/// What can go wrong here only matters as text in the failure of a test.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
