//! SQLite through rusqlite: one read transaction, storage classes honoured.

use super::{Connector, FrozenTable};
use crate::model::{Error, ErrorKind, Result, SideRequest};
use futures::{FutureExt, future::BoxFuture};

/// Connects to SQLite.
#[derive(Clone, Copy, Debug, Default)]
pub struct SqliteConnector {}

impl SqliteConnector {
    /// A connector. Everything it needs stands in the request's locator and in the environment.
    #[must_use]
    pub const fn new() -> Self {
        Self {}
    }

    /// Whether it serves this locator.
    #[must_use]
    pub fn serves(locator: &str) -> bool {
        locator.starts_with("sqlite:")
    }
}

impl Connector for SqliteConnector {
    fn freeze<'a>(&'a self, _request: &'a SideRequest, _workers: usize) -> BoxFuture<'a, Result<Box<dyn FrozenTable>>> {
        async move { Err(Error::new(ErrorKind::Unsupported, "opening a table: SQLite is not there yet")) }.boxed()
    }
}
