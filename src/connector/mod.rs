//! The contract of a store: freeze a table, describe it, stream its rows in canonical key order.
//!
//! A legal sequence of batches for the range `[10, 20)`: (10, 11), (), (11, 15), (19). Equal keys are adjacent, batches
//! have any size. An illegal one: (10, 15), (11) is out of order; (10, 20) leaves the range; an end of the stream after
//! (10, 11) because the connection broke. Those are errors, never shorter results.

pub mod registry;

#[cfg(feature = "files")]
pub mod files;
#[cfg(feature = "mysql")]
pub mod mysql;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "sqlserver")]
pub mod sqlserver;

pub use crate::encode::{NativeBatch, NativeColumns};

use crate::model::{KeyRange, Position, Projection, ReadOrder, Result, SideRequest, TableSchema};
use futures::{future::BoxFuture, stream::BoxStream};
use std::sync::Arc;

/// Batches of one read, in the order asked for. Dropping the stream stops the work on the server.
pub type RowStream = BoxStream<'static, Result<Box<dyn NativeBatch>>>;

/// How rows of one read are wanted.
#[derive(Clone, Debug)]
pub struct Read {
    /// Rows whose key lies in this range, exactly those.
    pub range: KeyRange,
    /// Whether they must ascend in canonical key order. If not, any order will do, and the range is the whole key space.
    pub ascending: bool,
    /// Largest batch in bytes, unless a single row is larger.
    pub batch_bytes_max: usize,
}

/// What order a store can give for a projection.
#[derive(Clone, Debug)]
pub struct OrderSupport {
    /// The best it can do: ranges apart, all at once, or only unordered (`Local`).
    pub best: ReadOrder,
    /// Whether it can order at all, at whatever cost (`--sort server`).
    pub can_order: bool,
    /// Why not better, or what serves the order; for people.
    pub reason: String,
}

/// A store.
pub trait Connector: Send + Sync {
    /// Freezes a table: everything read later is as of one position.
    ///
    /// # Errors
    /// `Config`, `Connect`, `Permission`, `Schema` or `Unsupported`, all with the table named.
    fn freeze<'a>(&'a self, request: &'a SideRequest, workers: usize) -> BoxFuture<'a, Result<Box<dyn FrozenTable>>>;
}

/// A table at a frozen position.
pub trait FrozenTable: Send + Sync {
    /// Where it is frozen.
    fn position(&self) -> &Position;

    /// What it looks like.
    fn schema(&self) -> &TableSchema;

    /// Says in which order the store can give the rows of `projection`.
    ///
    /// # Errors
    /// As of reading.
    fn order<'a>(&'a self, projection: &'a Arc<Projection>) -> BoxFuture<'a, Result<OrderSupport>>;

    /// Reads rows. Each call is a read of its own at the same position; several may run at once.
    fn stream(&self, projection: &Arc<Projection>, read: &Read) -> RowStream;

    /// Key bytes that cut the table into about `parts` ranges of equal size; fewer or none where it is small or nothing is known. Depends on the data and the position alone.
    ///
    /// # Errors
    /// As of reading.
    fn splits<'a>(&'a self, projection: &'a Arc<Projection>, parts: usize) -> BoxFuture<'a, Result<Vec<Vec<u8>>>>;

    /// What `read` does, for people: SQL, or files and row groups.
    fn explain(&self, projection: &Arc<Projection>, read: &Read) -> String;

    /// Bytes that a read holds outside of batches (row groups, buffers), at most.
    fn read_bytes_max(&self, projection: &Arc<Projection>) -> u64;
}
