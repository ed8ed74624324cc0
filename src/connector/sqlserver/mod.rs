//! SQL Server through tiberius: snapshot isolation, rows as TDS tokens.

use super::{Connector, FrozenTable};
use crate::model::{Error, ErrorKind, Result, SideRequest};
use futures::{FutureExt, future::BoxFuture};

/// Connects to SQL Server.
#[derive(Clone, Copy, Debug, Default)]
pub struct SqlServerConnector {}

impl SqlServerConnector {
    /// A connector. Everything it needs stands in the request's locator and in the environment.
    #[must_use]
    pub const fn new() -> Self {
        Self {}
    }

    /// Whether it serves this locator.
    #[must_use]
    pub fn serves(locator: &str) -> bool {
        locator.starts_with("mssql://") || locator.starts_with("sqlserver://")
    }
}

impl Connector for SqlServerConnector {
    fn freeze<'a>(&'a self, _request: &'a SideRequest, _workers: usize) -> BoxFuture<'a, Result<Box<dyn FrozenTable>>> {
        async move { Err(Error::new(ErrorKind::Unsupported, "opening a table: SQL Server is not there yet")) }.boxed()
    }
}
