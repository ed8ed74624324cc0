//! MySQL and MariaDB through `mysql_async`: consistent snapshots, rows by the binary protocol.
//!
//! What each native type is to the plan: whole numbers and `year` are integers (`tinyint(1)` too, so that 0 and 1 meet
//! booleans and 2 meets none), `bit(n)` is bits, `float` and `double` are exact floats of 32 and 64 bits, `datetime` is
//! a timestamp with zero and partial dates, `timestamp` is an instant (the session is in UTC), `time` goes beyond a day
//! and below zero, `char` comes without its pad, `enum` is its label, `set` is its labels joined by commas in the order
//! of the definition, `json` is a document (in MariaDB: text with a `json_valid` check of its own), `uuid` has sixteen
//! bytes, `inet4` and `inet6` are addresses with their full prefix, and geometry is the bytes as stored: the reference
//! system in four bytes, then well-known binary. A cast to text gives the canonical text of these, and of other types
//! the server's own (`CAST(column AS CHAR)`).

mod connection;
mod decode;
mod failure;
mod frozen;
mod literal;
mod locator;
mod options;
mod order;
mod position;
mod predicate;
mod relation;
mod schema;
mod splits;
mod sql;
mod stream;
mod tls;
mod types;

use super::{Connector, FrozenTable, OrderSupport, Read, RowStream};
use crate::model::{Error, ErrorKind, Exactness, NativeTypes, Position, Projection, Result, SideRequest, TableSchema};
use connection::Session;
use futures::{FutureExt, StreamExt, future::BoxFuture, stream as streams};
use locator::{FileText, Settings, World};
use position::{Pool, Server};
use relation::Relation;
use std::{path::Path, sync::Arc};
use stream::Field;
use types::Wire;

/// What the driver holds of a read beside our batch: its packet and socket buffers.
const DRIVER_BUFFER_BYTES: u64 = 512 * 1024;

/// Connects to MySQL and MariaDB.
#[derive(Clone, Copy, Debug, Default)]
pub struct MysqlConnector {}

impl MysqlConnector {
    /// A connector. Everything it needs stands in the request's locator, in `~/.my.cnf` and in the environment.
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

/// Waits until the queries that were given up have ended on their servers, for a few seconds at most.
pub(super) async fn settle() {
    position::settle().await;
}

/// Reads a locator with this process' environment and files.
fn settings(locator: &str) -> Result<Settings> {
    use std::os::unix::fs::PermissionsExt;
    let env = |name: &str| std::env::var(name).ok();
    let file = |path: &Path| {
        let mode = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?.permissions().mode();
        let text = std::fs::read_to_string(path).ok()?;
        Some(FileText { text, mode })
    };
    locator::resolve(locator, &World { env: &env, file: &file })
}

/// The native types, for the reference page.
pub(super) fn native_types() -> NativeTypes {
    NativeTypes { store: "MySQL and MariaDB", types: types::documented() }
}

impl Connector for MysqlConnector {
    fn freeze<'a>(&'a self, request: &'a SideRequest, workers: usize) -> BoxFuture<'a, Result<Box<dyn FrozenTable>>> {
        async move {
            let settings = Arc::new(settings(&request.locator)?);
            if let Some(filter) = &request.filter {
                sql::check_fragment("filter", filter)?;
            }
            if let Some(query) = &request.query {
                sql::check_fragment("query", query)?;
            }
            let mut control = Session::open(&settings).await?;
            // A caller that gives up must not leave a lock or a slow description behind on the server.
            let guard = position::CancelOnDrop::new(&control)?;
            let server = Server::ask(&mut control).await?;
            let target = schema::find(&mut control, &settings, request).await?;
            let display = target.display.clone();
            let table = open(&settings, &server, &target, control, request, workers).await;
            let table: Box<dyn FrozenTable> = Box::new(table.map_err(|error| error.in_table(display))?);
            guard.defuse();
            Ok(table)
        }
        .boxed()
    }
}

async fn open(
    settings: &Arc<Settings>,
    server: &Server,
    target: &schema::Target,
    control: Session,
    request: &SideRequest,
    workers: usize,
) -> Result<MysqlTable> {
    let probe = format!("SELECT 1 FROM {} LIMIT 0", target.from());
    let mut frozen = position::freeze(settings, server, control, &probe, workers).await?;
    let mut relation = schema::describe(&mut frozen.control, server, target, request).await?;
    let mut position = frozen.position.clone();
    if let Some(why) = frozen::obstacle(&mut frozen.control, target, request.filter.as_deref()).await? {
        if !settings.not_frozen {
            return Err(Error::new(ErrorKind::Unsupported, format!("freezing the table: {why}")).hint(
                "add ?not-frozen=allow to the locator to read it while it may change; the position is unknown then",
            ));
        }
        position = Position {
            kind: position.kind,
            value: "unknown".to_owned(),
            exactness: Exactness::Unknown,
            obtained: format!("not frozen: {why}"),
        };
        // Two connections would see two states.
        frozen.keep_one(&why);
    }
    relation.single = frozen.single.clone();
    let pool = Arc::new(frozen.into_pool()?);
    Ok(MysqlTable { pool, position, relation })
}

struct MysqlTable {
    pool: Arc<Pool>,
    position: Position,
    relation: Relation,
}

impl MysqlTable {
    /// The wire types of a projection.
    fn fields(&self, projection: &Projection) -> Result<Arc<[Field]>> {
        let mut check = projection.columns().count();
        let mut fields = Vec::with_capacity(check);
        for projected in projection.columns() {
            let wire = self.relation.wire(projected)?.clone();
            let mut field = Field { name: projected.name.clone(), wire, server_text: false, check: None };
            match &field.wire {
                Wire::Unsupported(_) if projected.as_text => field.server_text = true,
                Wire::Unsupported(reason) => {
                    return Err(Error::new(ErrorKind::Unsupported, reason.clone()).in_column(projected.name.as_str()));
                }
                wire if wire.lossy_charset().is_some() => {
                    field.check = Some(check);
                    check += 1;
                }
                _ => {}
            }
            fields.push(field);
        }
        Ok(fields.into())
    }

    fn sql(&self, projection: &Projection, read: &Read) -> Result<String> {
        let relation = &self.relation;
        let range = predicate::range(relation, projection, &read.range)?;
        let (index, order) = if read.ascending {
            (order::index(relation, projection)?, order::clause(relation, projection)?)
        } else {
            (None, String::new())
        };
        Ok(format!(
            "SELECT {} FROM {}{}{order}",
            relation.select_list(projection)?,
            relation.from(index),
            relation.condition(range),
        ))
    }
}

impl FrozenTable for MysqlTable {
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
        match self.sql(projection, read).and_then(|sql| Ok((sql, self.fields(projection)?))) {
            Ok((sql, fields)) => stream::rows(Arc::clone(&self.pool), sql, fields, read.batch_bytes_max)
                .map(move |batch| batch.map_err(|error| error.in_table(display.as_str())))
                .boxed(),
            Err(error) => streams::once(async move { Err(error.in_table(display)) }).boxed(),
        }
    }

    fn splits<'a>(&'a self, projection: &'a Arc<Projection>, parts: usize) -> BoxFuture<'a, Result<Vec<Vec<u8>>>> {
        async move {
            let key = Projection { side: projection.side, key: projection.key.clone(), row: Vec::new() };
            let fields = self.fields(&key)?;
            splits::cuts(&self.relation, &self.pool, &key, fields, parts).await
        }
        .map(|cuts| cuts.map_err(|error: Error| error.in_table(self.relation.schema.display.as_str())))
        .boxed()
    }

    fn explain(&self, projection: &Arc<Projection>, read: &Read) -> String {
        self.sql(projection, read).unwrap_or_else(|error| error.to_string())
    }

    fn read_bytes_max(&self, _projection: &Arc<Projection>) -> u64 {
        DRIVER_BUFFER_BYTES
    }
}
