//! The only list of stores: from a locator to its connector.

use super::Connector;
use crate::model::{Error, ErrorKind, Result};

/// The connector that serves `locator`.
///
/// # Errors
/// `Config` for a scheme that is not known.
pub fn connector_for(locator: &str) -> Result<Box<dyn Connector>> {
    let _ = locator;
    Err(Error::new(ErrorKind::Config, "no connector serves this locator"))
}
