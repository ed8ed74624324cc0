//! Files: Parquet, CSV and JSON lines, local or in an object store.
//!
//! A locator names a file, a folder, a glob or a URL. The files are frozen by size, modification time and tag; each is
//! checked again after it was read. Columns of files without types (CSV) are `Untyped` and take the type of their
//! partner by strict parsing.

mod arrow;
mod csv;
mod glob;
mod json;
mod locate;
mod naming;
mod order;
mod parquet;
mod source;
mod text;
mod text_table;

use super::{Connector, FrozenTable, NativeBatch, RowStream};
use crate::model::{Column, Error, ErrorKind, Exactness, LogicalType, NativeTypes, Position, Result, SideRequest};
use futures::{StreamExt, future::BoxFuture, stream};
use locate::FileSet;
use naming::Format;
use object_store::ObjectStore;
use source::FileRef;
use std::sync::Arc;
use tokio::{runtime::Handle, sync::mpsc};

/// Batches that wait between the thread that reads a file and the consumer: one that is read while one is consumed.
const QUEUE_BATCHES_MAX: usize = 1;

/// Files whose facts a position lists; of more it gives their number and a digest of the list.
const POSITION_FILES_MAX: usize = 4;

/// The connector for files.
#[derive(Clone, Debug, Default)]
pub struct FilesConnector {
    injected: Option<Arc<dyn ObjectStore>>,
}

impl FilesConnector {
    /// A connector for local files and the object stores that the environment configures.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A connector whose `memory://` locators lead to `store`.
    #[must_use]
    pub fn with_store(store: Arc<dyn ObjectStore>) -> Self {
        Self { injected: Some(store) }
    }

    /// Whether this connector serves `locator`.
    #[must_use]
    pub fn serves(locator: &str) -> bool {
        locate::is_served(locator)
    }
}

/// The column types of Parquet, CSV and JSON lines, for the reference page.
pub(super) fn native_types() -> Vec<NativeTypes> {
    let text = |native: &str, logical| (native.to_owned(), logical);
    vec![
        NativeTypes { store: "Parquet", types: parquet::documented() },
        NativeTypes { store: "CSV", types: vec![text("(text)", LogicalType::Untyped)] },
        NativeTypes {
            store: "JSON lines",
            types: vec![
                text("string", LogicalType::Untyped),
                text("number", LogicalType::Untyped),
                text("whole numbers alone", LogicalType::Decimal { declared: None }),
                text("boolean", LogicalType::Boolean),
                text("object, array, or mixed", LogicalType::Json),
                text("null alone", LogicalType::Null),
            ],
        },
    ]
}

impl Connector for FilesConnector {
    fn freeze<'a>(&'a self, request: &'a SideRequest, _workers: usize) -> BoxFuture<'a, Result<Box<dyn FrozenTable>>> {
        Box::pin(async move {
            let (injected, request) = (self.injected.clone(), request.clone());
            blocking(move |runtime| freeze(&request, injected, runtime)).await
        })
    }
}

fn freeze(
    request: &SideRequest,
    injected: Option<Arc<dyn ObjectStore>>,
    runtime: &Handle,
) -> Result<Box<dyn FrozenTable>> {
    if request.query.is_some() || request.filter.is_some() {
        return Err(Error::new(ErrorKind::Unsupported, "reading files: expected no query and no predicate, found one")
            .hint("filter the files beforehand"));
    }
    let set = locate::locate(&request.locator, injected, runtime)?;
    let display = set.display.clone();
    let frozen: Result<Box<dyn FrozenTable>> = match set.format {
        Format::Parquet => parquet::freeze(set).map(|table| Box::new(table) as _),
        Format::Csv | Format::JsonLines => text_table::freeze(set, &request.file).map(|table| Box::new(table) as _),
    };
    frozen.map_err(|error| error.in_table(display))
}

/// The position of frozen files.
fn position_of(set: &FileSet) -> Position {
    let line = |file: &FileRef| {
        let tag = file.stamp.tag.as_deref().unwrap_or("-");
        format!("{} size {} modified {} tag {tag}", file.name, file.stamp.size, file.stamp.modified)
    };
    let mut value = if set.files.len() <= POSITION_FILES_MAX {
        set.files.iter().map(line).collect::<Vec<_>>().join("; ")
    } else {
        use blake2::{Blake2b, Digest, digest::consts::U32};
        let mut state = Blake2b::<U32>::new();
        for file in &set.files {
            state.update(line(file).as_bytes());
            state.update(b"\n");
        }
        let digest = crate::model::Digest(state.finalize().into());
        let bytes: u64 = set.files.iter().map(|file| file.stamp.size).sum();
        format!("{} files, {bytes} bytes, list blake2b-256 {digest}", set.files.len())
    };
    let mut obtained = "facts of each file, read at the start and again after it was read".to_owned();
    // Part of the value, because people see that in every summary.
    if set.ignored > 0 {
        let plural = if set.ignored == 1 { "" } else { "s" };
        value = format!("{value}; {} side file{plural} (_*, .*, *.crc, *.md5) set aside", set.ignored);
    }
    let mut exactness = Exactness::Bracketed;
    if set.files.iter().any(|file| file.stamp.is_blind()) {
        exactness = Exactness::Unknown;
        obtained =
            format!("{obtained}; the server names neither ETag nor Last-Modified, so that only sizes are checked");
    }
    Position { kind: "file".to_owned(), value, exactness, obtained }
}

/// Appends the columns that folders `name=value` make to those of the files: text without a type, like CSV.
///
/// # Errors
/// `Schema` if the files have a column of such a name: it would not be clear which value counts.
fn append_partitions(set: &FileSet, columns: &mut Vec<Column>) -> Result<()> {
    for (at, name) in set.partitions.iter().enumerate() {
        if columns.iter().any(|column| column.name == *name) {
            let message = "expected no column of this name in the files, because folders name=value make one, found it";
            return Err(Error::new(ErrorKind::Schema, message)
                .in_column(name)
                .hint("name the files by a glob whose wildcards begin below those folders, one partition at a time"));
        }
        columns.push(Column {
            name: name.clone(),
            native: "folder name".to_owned(),
            logical: LogicalType::Untyped,
            nullable: set.files.iter().any(|file| file.partitions.get(at).is_none_or(Option::is_none)),
            hidden: false,
            collation: None,
        });
    }
    Ok(())
}

/// Runs `work` on a blocking thread.
async fn blocking<T: Send + 'static>(work: impl FnOnce(&Handle) -> Result<T> + Send + 'static) -> Result<T> {
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || work(&runtime))
        .await
        .map_err(|error| Error::internal("reading files: a thread broke").caused_by(error))?
}

/// Sends batches to the consumer of a stream; `false` once nobody listens.
struct Sender(mpsc::Sender<Result<Box<dyn NativeBatch>>>);

impl Sender {
    fn send(&self, batch: Box<dyn NativeBatch>) -> bool {
        self.0.blocking_send(Ok(batch)).is_ok()
    }
}

/// A stream fed by `work` on a blocking thread, which starts when the stream is first polled.
fn fed_stream(display: String, work: impl FnOnce(&Sender) -> Result<()> + Send + 'static) -> RowStream {
    let start = async move {
        let (sender, receiver) = mpsc::channel(QUEUE_BATCHES_MAX);
        let sender = Sender(sender);
        let task = tokio::task::spawn_blocking(move || work(&sender));
        let batches =
            stream::unfold(
                receiver,
                |mut receiver| async move { receiver.recv().await.map(|batch| (batch, receiver)) },
            );
        // The end of the channel alone does not say that everything was read: the outcome of the task does.
        let end = stream::once(async move {
            match task.await {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(Err(error.in_table(display))),
                Err(error) => Some(Err(Error::internal("reading files: a thread broke").caused_by(error))),
            }
        });
        batches.chain(end.filter_map(std::future::ready))
    };
    stream::once(start).flatten().boxed()
}

#[cfg(test)]
mod tests;
