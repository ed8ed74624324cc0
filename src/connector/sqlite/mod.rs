//! SQLite: one read transaction on one connection, which a thread of its own steps for all streams in turn.
//!
//! Cells carry their storage class; declared types are hints. The file is opened read-only and never created.

mod connection;
mod failure;
mod locator;
mod order;
mod position;
mod predicate;
mod relation;
mod schema;
mod splits;
mod sql;
mod stream;
mod types;
mod worker;

use super::{Connector, FrozenTable, OrderSupport, Read, RowStream};
use crate::model::{Error, KeyRange, NativeTypes, Position, Projection, Result, SideRequest, TableSchema};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream as streams};
use relation::Relation;
use std::sync::Arc;
use worker::{Query, Worker};

/// Connects to SQLite.
#[derive(Clone, Copy, Debug, Default)]
pub struct SqliteConnector {}

impl SqliteConnector {
    /// A connector. Everything it needs stands in the request's locator.
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

/// The native types, for the reference page.
pub(super) fn native_types() -> NativeTypes {
    NativeTypes { store: "SQLite", types: types::documented() }
}

impl Connector for SqliteConnector {
    fn freeze<'a>(&'a self, request: &'a SideRequest, _workers: usize) -> BoxFuture<'a, Result<Box<dyn FrozenTable>>> {
        async move {
            if let Some(filter) = &request.filter {
                sql::check_fragment("filter", filter)?;
            }
            if let Some(query) = &request.query {
                sql::check_fragment("query", query)?;
            }
            let target = locator::parse(&request.locator, request.query.is_some())?;
            let display = target.display();
            let frozen = Worker::start(target, request.clone()).await;
            let (worker, relation, position) = frozen.map_err(|error| error.in_table(display))?;
            let table: Box<dyn FrozenTable> = Box::new(SqliteTable { worker: Arc::new(worker), relation, position });
            Ok(table)
        }
        .boxed()
    }
}

struct SqliteTable {
    worker: Arc<Worker>,
    relation: Relation,
    position: Position,
}

impl SqliteTable {
    fn query(&self, projection: &Projection, read: &Read) -> Result<Query> {
        let relation = &self.relation;
        let range = predicate::range(relation, projection, &read.range)?;
        let order = if read.ascending { order::clause(relation, projection)? } else { String::new() };
        Ok(Query {
            sql: format!(
                "SELECT {} FROM {}{}{order}",
                relation.select_list(projection)?,
                relation.from,
                relation.condition(range.sql)
            ),
            params: range.params,
            guard: predicate::guard(relation, projection, &read.range)?,
            columns: projection.columns().map(|projected| projected.name.clone()).collect(),
            text: relation.text,
        })
    }

    fn rows(&self, query: Result<Query>, batch_bytes_max: usize) -> RowStream {
        let display = self.relation.schema.display.clone();
        match query {
            Ok(query) => stream::rows(Arc::clone(&self.worker), query, batch_bytes_max)
                .map(move |batch| batch.map_err(|error| error.in_table(display.as_str())))
                .boxed(),
            Err(error) => streams::once(async move { Err(error.in_table(display)) }).boxed(),
        }
    }
}

impl FrozenTable for SqliteTable {
    fn position(&self) -> &Position {
        &self.position
    }

    fn schema(&self) -> &TableSchema {
        &self.relation.schema
    }

    fn order<'a>(&'a self, projection: &'a Arc<Projection>) -> BoxFuture<'a, Result<OrderSupport>> {
        async move { order::support(&self.relation, projection) }.boxed()
    }

    fn stream(&self, projection: &Arc<Projection>, read: &Read) -> RowStream {
        self.rows(self.query(projection, read), read.batch_bytes_max)
    }

    fn splits<'a>(&'a self, projection: &'a Arc<Projection>, parts: usize) -> BoxFuture<'a, Result<Vec<Vec<u8>>>> {
        async move {
            if projection.key.is_empty() || parts < 2 {
                return Ok(Vec::new());
            }
            let key = Arc::new(Projection { side: projection.side, key: projection.key.clone(), row: Vec::new() });
            let rows = match splits::plan(&self.relation, &key, parts)? {
                splits::Sampling::None => return Ok(Vec::new()),
                splits::Sampling::Whole => {
                    let read =
                        Read { range: KeyRange::all(), ascending: false, batch_bytes_max: splits::SAMPLE_BATCH_BYTES };
                    self.rows(self.query(&key, &read), splits::SAMPLE_BATCH_BYTES)
                }
                splits::Sampling::Probes(sql) => {
                    let query = Query {
                        sql,
                        params: Vec::new(),
                        guard: None,
                        columns: key.columns().map(|projected| projected.name.clone()).collect(),
                        text: self.relation.text,
                    };
                    self.rows(Ok(query), splits::SAMPLE_BATCH_BYTES)
                }
            };
            splits::cuts(rows, &key, parts).await
        }
        .map(|cuts| cuts.map_err(|error: Error| error.in_table(self.relation.schema.display.as_str())))
        .boxed()
    }

    fn explain(&self, projection: &Arc<Projection>, read: &Read) -> String {
        self.query(projection, read).map_or_else(|error| error.to_string(), |query| query.to_string())
    }

    fn read_bytes_max(&self, _projection: &Arc<Projection>) -> u64 {
        connection::READ_BYTES_MAX
    }
}
