//! SQL Server through tiberius: one SNAPSHOT transaction, or several that are proven to see the same; rows as TDS tokens.

mod connection;
mod decode;
mod failure;
mod literal;
mod locator;
mod name;
mod order;
mod position;
mod predicate;
mod relation;
mod schema;
mod splits;
mod sql;
mod stream;
mod time;
mod types;

use super::{Connector, FrozenTable, OrderSupport, Read, RowStream};
use crate::model::{Error, NativeTypes, Position, Projection, Result, SideRequest, TableSchema};
use connection::Connection;
use decode::Field;
use futures::{FutureExt, StreamExt, future::BoxFuture, stream as streams};
use position::{Database, Pool, Subject};
use relation::Relation;
use std::sync::Arc;

/// What a read holds beside the batch that its reader has: one that is filled, one that waits, and the driver's packets.
const READ_BYTES: u64 = 3 * 256 * 1024;

/// Connects to SQL Server 2012 and later, Azure SQL, and servers that speak its language.
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
    fn freeze<'a>(&'a self, request: &'a SideRequest, workers: usize) -> BoxFuture<'a, Result<Box<dyn FrozenTable>>> {
        async move {
            let env = |name: &str| std::env::var(name).ok();
            let settings = Arc::new(locator::resolve(&request.locator, &env)?);
            if let Some(filter) = &request.filter {
                sql::check_fragment("filter", filter)?;
            }
            if let Some(query) = &request.query {
                sql::check_fragment("query", query)?;
            }
            let (mut control, server) = Connection::open(&settings).await?;
            let database = Database::ask(&mut control, server.genuine).await?;
            let abilities = schema::abilities(&mut control, server.genuine).await?;
            let target = match &request.query {
                Some(_) => None,
                None => Some(schema::find(&mut control, &settings, &database.name).await?),
            };
            let display = target.as_ref().map_or_else(|| "query".to_owned(), |target| target.display.clone());
            let frozen = async {
                let sight = schema::sight(&mut control, &settings, target.as_ref()).await?;
                let relation = match (&target, &request.query) {
                    (Some(target), _) => {
                        schema::describe_table(&mut control, target, &sight, abilities, request).await?
                    }
                    (None, query) => {
                        let query = query.as_deref().unwrap_or_default();
                        schema::describe_query(&mut control, query, abilities, request).await?
                    }
                };
                if request.filter.is_some() {
                    let probe = sql::probe_filter(&relation.source.from, &relation.condition(None));
                    control.run("checking the filter", &probe).await?;
                }
                let subject = Subject {
                    from: &relation.source.from,
                    table: target.as_ref().map(|target| target.object).filter(|_| relation.source.can_sample),
                    notes: &sight.notes,
                };
                let (pool, position) = position::freeze(&settings, control, &database, &subject, workers).await?;
                Ok::<_, Error>((pool, position, relation))
            };
            let (pool, position, relation) = frozen.await.map_err(|error| error.in_table(display))?;
            let table: Box<dyn FrozenTable> = Box::new(SqlServerTable { pool: Arc::new(pool), position, relation });
            Ok(table)
        }
        .boxed()
    }
}

/// The native types, as the manual spells them.
pub(super) fn native_types() -> NativeTypes {
    NativeTypes { store: "SQL Server", types: types::documented() }
}

/// Waits until the queries that were given up have been cancelled on their servers, for a few seconds at most.
pub(super) async fn settle() {
    position::settle().await;
}

struct SqlServerTable {
    pool: Arc<Pool>,
    position: Position,
    relation: Relation,
}

impl SqlServerTable {
    /// How the columns of a projection are read.
    fn fields(&self, projection: &Projection) -> Result<Arc<[Field]>> {
        projection.columns().map(|projected| Ok(Field::new(&self.relation.facts(projected)?.wire, projected))).collect()
    }

    fn sql(&self, projection: &Projection, read: &Read) -> Result<String> {
        select(&self.relation, projection, read)
    }
}

/// The query of a read.
fn select(relation: &Relation, projection: &Projection, read: &Read) -> Result<String> {
    let range = predicate::range(relation, projection, &read.range)?;
    let order = if read.ascending { order::clause(relation, projection)? } else { String::new() };
    Ok(format!(
        "SELECT {} FROM {}{}{order}",
        relation.select_list(projection)?,
        relation.source.from,
        relation.condition(range),
    ))
}

impl FrozenTable for SqlServerTable {
    fn position(&self) -> &Position {
        &self.position
    }

    fn schema(&self) -> &TableSchema {
        &self.relation.schema
    }

    fn order<'a>(&'a self, projection: &'a Arc<Projection>) -> BoxFuture<'a, Result<OrderSupport>> {
        async move { order::support(&self.relation, projection, self.pool.one_reader.as_deref()) }.boxed()
    }

    fn stream(&self, projection: &Arc<Projection>, read: &Read) -> RowStream {
        let display = self.relation.schema.display.clone();
        match self.sql(projection, read).and_then(|sql| Ok((sql, self.fields(projection)?))) {
            Ok((sql, fields)) => stream::rows(Arc::clone(&self.pool), sql, fields, read.batch_bytes_max)
                .map(move |batch| batch.map_err(|error| error.in_table(display.as_str())))
                .boxed(),
            Err(error) => streams::once(async move { Err(error.in_table(display)) }).boxed(),
        }
    }

    fn splits<'a>(&'a self, projection: &'a Arc<Projection>, parts: usize) -> BoxFuture<'a, Result<Vec<Vec<u8>>>> {
        async move {
            let key = Arc::new(Projection { side: projection.side, key: projection.key.clone(), row: Vec::new() });
            let Some(sql) = splits::sample_sql(&self.relation, &key, parts)? else { return Ok(Vec::new()) };
            let fields = self.fields(&key)?;
            let rows = stream::rows(Arc::clone(&self.pool), sql, fields, splits::SAMPLE_BATCH_BYTES);
            splits::cuts(rows, &key, parts).await
        }
        .map(|cuts| cuts.map_err(|error: Error| error.in_table(self.relation.schema.display.as_str())))
        .boxed()
    }

    fn explain(&self, projection: &Arc<Projection>, read: &Read) -> String {
        self.sql(projection, read).unwrap_or_else(|error| error.to_string())
    }

    fn read_bytes_max(&self, _projection: &Arc<Projection>) -> u64 {
        READ_BYTES
    }
}

#[cfg(test)]
mod tests;
