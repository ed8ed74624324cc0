//! The only list of stores: from a locator to its connector.

use super::Connector;
use crate::model::{Error, ErrorKind, NativeTypes, Result};

/// Waits until work that was given up has ended in the stores, for a few seconds at most.
pub async fn settle() {
    #[cfg(feature = "postgres")]
    super::postgres::settle().await;
    #[cfg(feature = "mysql")]
    super::mysql::settle().await;
    #[cfg(feature = "sqlserver")]
    super::sqlserver::settle().await;
}

/// The connector that serves `locator`.
///
/// # Errors
/// `Config` for a scheme that is not known, or whose store this build leaves out.
pub fn connector_for(locator: &str) -> Result<Box<dyn Connector>> {
    #[cfg(feature = "postgres")]
    if super::postgres::PostgresConnector::serves(locator) {
        return Ok(Box::new(super::postgres::PostgresConnector::new()));
    }
    #[cfg(feature = "mysql")]
    if super::mysql::MysqlConnector::serves(locator) {
        return Ok(Box::new(super::mysql::MysqlConnector::new()));
    }
    #[cfg(feature = "sqlite")]
    if super::sqlite::SqliteConnector::serves(locator) {
        return Ok(Box::new(super::sqlite::SqliteConnector::new()));
    }
    #[cfg(feature = "sqlserver")]
    if super::sqlserver::SqlServerConnector::serves(locator) {
        return Ok(Box::new(super::sqlserver::SqlServerConnector::new()));
    }
    #[cfg(feature = "files")]
    if super::files::FilesConnector::serves(locator) {
        return Ok(Box::new(super::files::FilesConnector::new()));
    }
    // A locator may hold a password: only its scheme is shown.
    let scheme = locator.split_once(':').map_or("", |(scheme, _)| scheme);
    Err(Error::new(ErrorKind::Config, format!("choosing a store: no store serves the scheme `{scheme}`"))
        .hint("use postgres://..., mysql://..., mssql://..., sqlite:..., a path, a glob, or an object-store URL such as s3://..."))
}

/// The native types of all stores of this build, in the order in which the reference page shows them.
#[must_use]
pub fn native_types() -> Vec<NativeTypes> {
    let mut stores = Vec::new();
    #[cfg(feature = "postgres")]
    stores.extend([super::postgres::native_types()]);
    #[cfg(feature = "mysql")]
    stores.extend([super::mysql::native_types()]);
    #[cfg(feature = "sqlite")]
    stores.extend([super::sqlite::native_types()]);
    #[cfg(feature = "sqlserver")]
    stores.extend([super::sqlserver::native_types()]);
    #[cfg(feature = "files")]
    stores.extend(super::files::native_types());
    stores
}
