//! What the suite asks of a store, and how it reads one: through the connector's contract alone.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up must fail loudly")]

use futures::StreamExt;
use std::{path::PathBuf, sync::Arc};
use tieout::{
    connector::{FrozenTable, Read, registry::connector_for},
    encode::{EncodedBatch, RowLayout, RowWriter, decode_key, decode_row, parse},
    model::{
        CanonicalType, ComparisonRequest, DateValue, Error, KeyRange, Projection, ReadOrder, SideRequest, Sides,
        SortChoice, TimestampValue, Value,
    },
    plan::map_columns,
};
use tieout_testkit::contract::{Cell, Kind, Table};

/// A store that tables can be put into.
pub(crate) trait Store {
    /// Starts it, empty.
    async fn start() -> Self;

    /// Makes a table and returns its locator.
    async fn create(&self, table: &Table) -> String;

    /// Whether the store has this value; rows whose key is another one are not made, other cells are NULL instead.
    fn holds(&self, _kind: Kind, _cell: &Cell) -> bool {
        true
    }

    /// Whether the store can have this value in a key, and give it in order; rows with another one are not made.
    fn sorts(&self, _unique: bool, _kind: Kind, _cell: &Cell) -> bool {
        true
    }

    /// What a column must be cast to, where the store has no such type of its own.
    fn cast(&self, _kind: Kind) -> Option<&'static str> {
        None
    }

    /// The order that the store must give for a key: a store that quietly serves less fails.
    fn order(&self, table: &Table) -> ReadOrder;

    /// Whether the store knows of NOT NULL and of keys.
    fn has_constraints(&self) -> bool {
        true
    }
}

/// A store that runs SQL.
pub(crate) trait Database: Store {
    /// Runs statements, one after another.
    async fn sql(&self, statements: &[&str]);

    /// Quotes a name.
    fn quote(&self, name: &str) -> String;

    /// The locator of a table or view of any name.
    fn locator(&self, table: &str) -> String;
}

/// A database that runs elsewhere, and can be asked what runs in it.
pub(crate) trait Server: Database {
    /// A predicate on the column `id` that is quick up to 15 000 and then does not answer for a minute.
    fn slow(&self) -> &'static str;

    /// Statements of the program that run now.
    async fn running(&self) -> u64;

    /// Ends the connections of the program that run a statement.
    async fn cut(&self);

    /// Gives every setting that changes what the server sends a default that is not ours.
    async fn unsettle(&self);
}

/// What is read of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) locator: String,
    pub(crate) key: Vec<String>,
    pub(crate) casts: Vec<(String, String)>,
    pub(crate) filter: Option<String>,
}

impl Wanted {
    /// The table that was made of `table`.
    pub(crate) fn new<S: Store>(store: &S, table: &Table, locator: String) -> Self {
        let casts = table.columns.iter().filter_map(|column| Some((column.name.clone(), store.cast(column.kind)?)));
        let casts = casts.map(|(name, cast)| (name, cast.to_owned())).collect();
        Self { locator, key: table.key_names(), casts, filter: None }
    }

    fn side(&self) -> SideRequest {
        SideRequest { locator: self.locator.clone(), filter: self.filter.clone(), ..SideRequest::default() }
    }

    pub(crate) async fn try_open(&self) -> Result<Opened, Error> {
        let table = connector_for(&self.locator)?.freeze(&self.side(), 2).await?;
        let request = ComparisonRequest {
            sides: Sides::new(self.side(), self.side()),
            key: self.key.clone(),
            columns: Vec::new(),
            exclude: Vec::new(),
            map: Vec::new(),
            casts: self.casts.clone(),
            options: std::collections::BTreeMap::new(),
            sort: SortChoice::Auto,
            snapshot_age_max: None,
            ranges_from: None,
            output: PathBuf::from("unused"),
            workers: 2,
            memory_bytes: 256 << 20,
            ranges: 1,
        };
        let schemas = Sides::new(table.schema().clone(), table.schema().clone());
        let projection = map_columns(&request, &schemas)?.projection.source;
        Ok(Opened { table, projection })
    }

    pub(crate) async fn open(&self) -> Opened {
        self.try_open().await.unwrap_or_else(|error| panic!("opening a table: {error:?}"))
    }
}

/// (key bytes, row bytes)
pub(crate) type Record = (Vec<u8>, Vec<u8>);

/// A frozen table and what is wanted of it.
pub(crate) struct Opened {
    pub(crate) table: Box<dyn FrozenTable>,
    pub(crate) projection: Arc<Projection>,
}

impl Opened {
    pub(crate) fn key_types(&self) -> Vec<CanonicalType> {
        self.projection.key.iter().map(|part| part.target.canonical.clone()).collect()
    }

    pub(crate) fn row_types(&self) -> Vec<CanonicalType> {
        self.projection.row.iter().map(|part| part.target.canonical.clone()).collect()
    }

    /// The records of one read, as they come.
    pub(crate) async fn try_read(&self, range: KeyRange, ascending: bool) -> Result<Vec<Record>, Error> {
        // Small batches, so that a table of the suite is many of them.
        let read = Read { range, ascending, batch_bytes_max: 1 << 11 };
        let mut stream = self.table.stream(&self.projection, &read);
        let layout = RowLayout::new(&self.projection)?;
        let mut encoded = EncodedBatch::new();
        while let Some(batch) = stream.next().await {
            let batch = batch?;
            let before = encoded.len();
            batch.encode(&mut RowWriter::new(&layout, &mut encoded))?;
            assert_eq!(encoded.len() - before, batch.rows(), "a batch has as many rows as it says");
        }
        let record = |row| (encoded.record(row).key.to_vec(), encoded.record(row).row.to_vec());
        Ok((0..encoded.len()).map(record).collect())
    }

    pub(crate) async fn read(&self, range: KeyRange) -> Vec<Record> {
        self.try_read(range, true).await.unwrap_or_else(|error| panic!("reading a range: {error:?}"))
    }

    /// All records, in canonical order whoever brings them into it; within one key by their bytes.
    pub(crate) async fn read_all(&self) -> Vec<Record> {
        let order = self.table.order(&self.projection).await.unwrap();
        let in_order = order.best != ReadOrder::Local;
        let read = self.try_read(KeyRange::all(), in_order).await;
        let mut records = read.unwrap_or_else(|error| panic!("reading all: {error:?}"));
        let ascends = records.windows(2).all(|pair| pair[0].0 <= pair[1].0);
        assert!(!in_order || ascends, "keys ascend: {}", order.reason);
        records.sort();
        records
    }

    /// A record as values: those of the key, those of the row.
    pub(crate) fn values(&self, record: &Record) -> Vec<Value> {
        let mut values = decode_key(&self.key_types(), &record.0).unwrap();
        values.extend(decode_row(&self.row_types(), &record.1).unwrap());
        values
    }

    /// Rows of the generator as values, in canonical order: what [`Self::read_all`] must give.
    pub(crate) fn expected(&self, table: &Table) -> Vec<Vec<Value>> {
        let types: Vec<CanonicalType> = self.key_types().into_iter().chain(self.row_types()).collect();
        let value = |(canonical, cell): (&CanonicalType, &Cell)| value_of(canonical, cell);
        table.sorted().iter().map(|row| types.iter().zip(row).map(value).collect()).collect()
    }
}

/// The value that a cell stands for in a column that is compared as `canonical`.
pub(crate) fn value_of(canonical: &CanonicalType, cell: &Cell) -> Value {
    let moment = |micros: i64| {
        let nanos = u32::try_from(micros.rem_euclid(1_000_000) * 1000).unwrap();
        TimestampValue::Finite(micros.div_euclid(1_000_000), nanos)
    };
    match (canonical, cell) {
        (_, Cell::Null) => Value::Null,
        (CanonicalType::Boolean, Cell::Bool(value)) => Value::Bool(*value),
        // Both zeros are one value.
        (CanonicalType::Float, Cell::Real(value)) => Value::Float(f64::from(*value) + 0.0),
        (CanonicalType::Float, Cell::Double(value)) => Value::Float(value + 0.0),
        (CanonicalType::Text, Cell::Text(text)) => Value::Text(text.clone()),
        (CanonicalType::Binary, Cell::Bytes(bytes)) => Value::Binary(bytes.clone()),
        (CanonicalType::Date, Cell::Date(days)) => Value::Date(day(*days)),
        (CanonicalType::Time, Cell::Time(micros)) => Value::Time(micros * 1000),
        (CanonicalType::Timestamp, Cell::Timestamp(micros)) => Value::Timestamp(moment(*micros)),
        (CanonicalType::Instant, Cell::Instant(micros)) => Value::Instant(moment(*micros)),
        (CanonicalType::OffsetInstant, Cell::Instant(micros)) => Value::OffsetInstant(moment(*micros), 0),
        (CanonicalType::Uuid, Cell::Uuid(bytes)) => Value::Uuid(*bytes),
        (CanonicalType::Number, Cell::Bool(_) | Cell::Int(_) | Cell::Decimal(..)) => {
            parse(canonical, &cell.text().unwrap()).unwrap()
        }
        (canonical, cell) => panic!("a column of {cell:?} is compared as {canonical}"),
    }
}

fn day(days: i32) -> DateValue {
    let text = Cell::Date(days).text().unwrap();
    let parts: Vec<i32> = text.split('-').map(|part| part.parse().unwrap()).collect();
    DateValue::Day(parts[0], u8::try_from(parts[1]).unwrap(), u8::try_from(parts[2]).unwrap())
}
