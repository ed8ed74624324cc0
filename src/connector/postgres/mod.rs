//! `PostgreSQL`: an exported snapshot shared by all readers, rows as binary COPY.

mod connection;
mod copy;
mod decode;
mod decode_nested;
mod failure;
mod locator;
mod order;
mod passfile;
mod position;
mod predicate;
mod relation;
mod schema;
mod schema_types;
mod splits;
mod sql;
mod stream;
mod tls;
mod types;

use super::{Connector, FrozenTable, OrderSupport, Read, RowStream};
use crate::model::{Error, ErrorKind, NativeTypes, Position, Projection, Result, SideRequest, TableSchema};
use connection::{Connection, SOCKET_BUFFER_BYTES};
use futures::{FutureExt, StreamExt, future::BoxFuture, stream as streams};
use locator::{FileText, Settings, World};
use position::Pool;
use relation::Relation;
use std::{path::Path, sync::Arc};
use stream::Field;

/// What the driver holds of a read beside our buffer: a few messages, of one row each as a rule.
const DRIVER_BUFFER_BYTES: usize = 512 * 1024;

/// Connects to `PostgreSQL` 12 and later.
#[derive(Clone, Copy, Debug, Default)]
pub struct PostgresConnector {}

impl PostgresConnector {
    /// A connector. Everything it needs stands in the request's locator and in libpq's environment.
    #[must_use]
    pub const fn new() -> Self {
        Self {}
    }

    /// Whether it serves this locator.
    #[must_use]
    pub fn serves(locator: &str) -> bool {
        locator.starts_with("postgres://") || locator.starts_with("postgresql://")
    }
}

/// Reads a locator with this process' environment and files.
fn settings(locator: &str) -> Result<Settings> {
    use std::os::unix::fs::PermissionsExt;
    let env = |name: &str| std::env::var(name).ok();
    let file = |path: &Path| {
        let mode = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.permissions().mode();
        // Certificates and keys need not be text; whoever needs the text of one finds it empty.
        let bytes = std::fs::read(path).ok()?;
        Some(FileText { text: String::from_utf8(bytes).unwrap_or_default(), mode })
    };
    locator::resolve(locator, &World { env: &env, file: &file })
}

impl Connector for PostgresConnector {
    fn freeze<'a>(&'a self, request: &'a SideRequest, workers: usize) -> BoxFuture<'a, Result<Box<dyn FrozenTable>>> {
        async move {
            let settings = Arc::new(settings(&request.locator)?);
            if let Some(filter) = &request.filter {
                sql::check_fragment("filter", filter)?;
            }
            if let Some(query) = &request.query {
                sql::check_fragment("query", query)?;
            }
            let control = Connection::open(&settings).await?;
            // A caller that gives up must not leave a lock or a slow description behind on the server.
            let guard = position::CancelOnDrop::new(&control)?;
            let target = schema::find(&control, &settings, request).await?;
            let display = target.display.clone();
            let frozen = async {
                let (snapshot, position) = position::freeze(&control, &target.lock).await?;
                let relation = schema::describe(&control, target, request).await?;
                Ok::<_, Error>((snapshot, position, relation))
            };
            let (snapshot, position, relation) = frozen.await.map_err(|error| error.in_table(display))?;
            guard.defuse();
            let pool = Arc::new(Pool::new(settings, snapshot, control, workers)?);
            let table: Box<dyn FrozenTable> = Box::new(PostgresTable { pool, position, relation });
            Ok(table)
        }
        .boxed()
    }
}

/// The native types, for the reference page. A domain is its base type.
pub(super) fn native_types() -> NativeTypes {
    NativeTypes { store: "PostgreSQL", types: types::documented() }
}

/// Waits until the queries that were given up have been cancelled on their servers, for a few seconds at most.
pub(super) async fn settle() {
    position::settle().await;
}

struct PostgresTable {
    pool: Arc<Pool>,
    position: Position,
    relation: Relation,
}

impl PostgresTable {
    /// The wire types of a projection.
    fn fields(&self, projection: &Projection) -> Result<Arc<[Field]>> {
        projection
            .columns()
            .map(|projected| {
                let wire = &self.relation.facts(projected)?.wire;
                let wire = if self.relation.server_text(projected)? { types::Wire::ServerText } else { wire.clone() };
                if let Some(reason) = wire.obstacle() {
                    return Err(Error::new(ErrorKind::Unsupported, reason).in_column(projected.name.as_str()));
                }
                let nested = if projected.as_text { wire.composed() } else { None };
                Ok(Field { name: projected.name.clone(), wire, nested })
            })
            .collect()
    }

    fn sql(&self, projection: &Projection, read: &Read) -> Result<String> {
        let relation = &self.relation;
        let range = predicate::range(relation, projection, &read.range)?;
        let order = if read.ascending { order::clause(relation, projection)? } else { String::new() };
        Ok(format!(
            "COPY (SELECT {} FROM {}{}{order}) TO STDOUT (FORMAT binary)",
            relation.select_list(projection)?,
            relation.source.from,
            relation.condition(range),
        ))
    }
}

impl FrozenTable for PostgresTable {
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
        let display = self.relation.schema.display.clone();
        let prepared = self.sql(projection, read).and_then(|sql| {
            let guards = predicate::guards(&self.relation, projection, &read.range)?;
            Ok((sql, guards, self.fields(projection)?))
        });
        match prepared {
            Ok((sql, guards, fields)) => {
                stream::rows(Arc::clone(&self.pool), sql, guards, fields, read.batch_bytes_max)
                    .map(move |batch| batch.map_err(|error| error.in_table(display.as_str())))
                    .boxed()
            }
            Err(error) => streams::once(async move { Err(error.in_table(display)) }).boxed(),
        }
    }

    fn splits<'a>(&'a self, projection: &'a Arc<Projection>, parts: usize) -> BoxFuture<'a, Result<Vec<Vec<u8>>>> {
        async move {
            let key = Arc::new(Projection { side: projection.side, key: projection.key.clone(), row: Vec::new() });
            let Some(sql) = splits::sample_sql(&self.relation, &key, parts)? else { return Ok(Vec::new()) };
            let fields = self.fields(&key)?;
            let rows = stream::rows(Arc::clone(&self.pool), sql, Vec::new(), fields, splits::SAMPLE_BATCH_BYTES);
            splits::cuts(rows, &key, parts).await
        }
        .map(|cuts| cuts.map_err(|error: Error| error.in_table(self.relation.schema.display.as_str())))
        .boxed()
    }

    fn explain(&self, projection: &Arc<Projection>, read: &Read) -> String {
        self.sql(projection, read).unwrap_or_else(|error| error.to_string())
    }

    fn read_bytes_max(&self, _projection: &Arc<Projection>) -> u64 {
        (SOCKET_BUFFER_BYTES + DRIVER_BUFFER_BYTES) as u64
    }
}
