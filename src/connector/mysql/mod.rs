//! MySQL and MariaDB through `mysql_async`: consistent snapshots, rows by the binary protocol.

use super::{Connector, FrozenTable};
use crate::model::{Error, ErrorKind, Result, SideRequest};
use futures::{FutureExt, future::BoxFuture};

/// Connects to MySQL and MariaDB.
#[derive(Clone, Copy, Debug, Default)]
pub struct MysqlConnector {}

impl MysqlConnector {
    /// A connector. Everything it needs stands in the request's locator and in the environment.
    #[must_use]
    pub const fn new() -> Self {
        Self {}
    }

    /// Whether it serves this locator.
    #[must_use]
    pub fn serves(locator: &str) -> bool {
        locator.starts_with("mysql://") || locator.starts_with("mariadb://")
    }
}

impl Connector for MysqlConnector {
    fn freeze<'a>(&'a self, _request: &'a SideRequest, _workers: usize) -> BoxFuture<'a, Result<Box<dyn FrozenTable>>> {
        async move { Err(Error::new(ErrorKind::Unsupported, "opening a table: MySQL and MariaDB is not there yet")) }
            .boxed()
    }
}
