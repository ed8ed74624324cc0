//! Writers of the standard table: `PostgreSQL` (binary COPY), Parquet and CSV. All stream, with bounded memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use bytes::{BufMut, Bytes, BytesMut};
use futures::SinkExt;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::WriterProperties;
use tokio_postgres::Client;

use crate::Result;
use crate::table::{POSTGRES_EPOCH_SECONDS, Row, Side, create_table, standard_rows};

/// Rows of a Parquet row group: the default of most writers.
const ROW_GROUP_ROWS: usize = 1_048_576;

/// Rows of an Arrow batch on its way to a file.
const BATCH_ROWS: usize = 16_384;

/// Bytes of a message of COPY: large enough that the calls don't matter.
const COPY_BYTES: usize = 256 * 1024;

/// Days from 1970-01-01 to 2000-01-01.
const POSTGRES_EPOCH_DAYS: i32 = 10_957;

/// Makes the table in `PostgreSQL`, loads it by binary COPY, adds the primary key and analyses it.
pub async fn load_postgres(client: &Client, table: &str, seed: u64, rows: u64, side: Side) -> Result<()> {
    client.batch_execute(&create_table(table)).await?;
    let sink = client.copy_in::<_, Bytes>(&format!("COPY {table} FROM STDIN (FORMAT binary)")).await?;
    futures::pin_mut!(sink);
    let mut buffer = BytesMut::with_capacity(COPY_BYTES + 1024);
    buffer.put_slice(b"PGCOPY\n\xff\r\n\0");
    buffer.put_u64(0);
    for row in standard_rows(seed, rows, side) {
        put_row(&mut buffer, &row)?;
        if buffer.len() >= COPY_BYTES {
            sink.send(buffer.split().freeze()).await?;
            buffer.reserve(COPY_BYTES + 1024);
        }
    }
    buffer.put_i16(-1);
    sink.send(buffer.freeze()).await?;
    sink.finish().await?;
    client.batch_execute(&format!("ALTER TABLE {table} ADD PRIMARY KEY (id)")).await?;
    // Alone, since VACUUM does not run inside of the transaction that a script of several statements is.
    client.batch_execute(&format!("VACUUM ANALYZE {table}")).await?;
    Ok(())
}

fn put_row(out: &mut BytesMut, row: &Row) -> Result<()> {
    out.put_i16(12);
    put_field(out, &row.id.to_be_bytes())?;
    put_field(out, &row.quantity.to_be_bytes())?;
    put_field(out, row.name.as_bytes())?;
    match &row.note {
        None => out.put_i32(-1),
        Some(note) => put_field(out, note.as_bytes())?,
    }
    put_numeric(out, row.amount_cents)?;
    put_field(out, &row.status.to_be_bytes())?;
    put_field(out, &row.score.to_be_bytes())?;
    put_field(out, &(row.created_at - POSTGRES_EPOCH_SECONDS * 1_000_000).to_be_bytes())?;
    put_field(out, &(row.day - POSTGRES_EPOCH_DAYS).to_be_bytes())?;
    put_field(out, row.code.as_bytes())?;
    put_field(out, &row.reference)?;
    put_field(out, &[u8::from(row.active)])
}

fn put_field(out: &mut BytesMut, bytes: &[u8]) -> Result<()> {
    out.put_i32(i32::try_from(bytes.len())?);
    out.put_slice(bytes);
    Ok(())
}

/// numeric with scale 2, as `PostgreSQL` sends it: groups of four digits, the weight of the first, sign and scale.
fn put_numeric(out: &mut BytesMut, cents: i64) -> Result<()> {
    let mut digits = Vec::with_capacity(4);
    let size = cents.unsigned_abs();
    let fraction = u16::try_from(size % 100 * 100)?;
    let mut whole = size / 100;
    while whole > 0 {
        digits.push(u16::try_from(whole % 10_000)?);
        whole /= 10_000;
    }
    digits.reverse();
    let weight = i16::try_from(digits.len())? - 1;
    if fraction > 0 {
        digits.push(fraction);
    }
    out.put_i32(i32::try_from(8 + 2 * digits.len())?);
    out.put_i16(i16::try_from(digits.len())?);
    out.put_i16(weight);
    out.put_u16(if cents < 0 { 0x4000 } else { 0 });
    out.put_u16(2);
    for digit in digits {
        out.put_u16(digit);
    }
    Ok(())
}

/// Writes a Parquet file: zstd, row groups of 1,048,576 rows, declared as sorted by the key.
pub fn write_parquet(path: &Path, seed: u64, rows: u64, side: Side) -> Result<()> {
    let schema = Arc::new(arrow_schema());
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_sorting_columns(Some(vec![SortingColumn { column_idx: 0, descending: false, nulls_first: true }]))
        .build();
    let mut writer = ArrowWriter::try_new(File::create(path)?, Arc::clone(&schema), Some(properties))?;
    let mut batch = Vec::with_capacity(BATCH_ROWS);
    for row in standard_rows(seed, rows, side) {
        batch.push(row);
        if batch.len() == BATCH_ROWS {
            writer.write(&arrow_batch(&schema, &batch)?)?;
            batch.clear();
        }
    }
    if !batch.is_empty() {
        writer.write(&arrow_batch(&schema, &batch)?)?;
    }
    writer.close()?;
    Ok(())
}

/// The standard table's columns as Arrow types.
#[must_use]
pub fn arrow_schema() -> Schema {
    let reference = [("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())];
    Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("quantity", DataType::Int32, false),
        Field::new("name", DataType::Utf8, false),
        Field::new("note", DataType::Utf8, true),
        Field::new("amount", DataType::Decimal128(12, 2), false),
        Field::new("status", DataType::Int32, false),
        Field::new("score", DataType::Float64, false),
        Field::new("created_at", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), false),
        Field::new("day", DataType::Date32, false),
        Field::new("code", DataType::Utf8, false),
        Field::new("reference", DataType::FixedSizeBinary(16), false).with_metadata(reference.into()),
        Field::new("active", DataType::Boolean, false),
    ])
}

/// Rows as an Arrow batch of [`arrow_schema()`].
pub fn arrow_batch(schema: &Arc<Schema>, rows: &[Row]) -> Result<RecordBatch> {
    let amounts = Decimal128Array::from_iter_values(rows.iter().map(|row| i128::from(row.amount_cents)));
    let moments = TimestampMicrosecondArray::from_iter_values(rows.iter().map(|row| row.created_at));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.id))),
        Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.quantity))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.name))),
        Arc::new(rows.iter().map(|row| row.note.as_deref()).collect::<StringArray>()),
        Arc::new(amounts.with_precision_and_scale(12, 2)?),
        Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.status))),
        Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| row.score))),
        Arc::new(moments.with_timezone("UTC")),
        Arc::new(Date32Array::from_iter_values(rows.iter().map(|row| row.day))),
        Arc::new(StringArray::from_iter_values(rows.iter().map(|row| &row.code))),
        Arc::new(FixedSizeBinaryArray::try_from_iter(rows.iter().map(|row| row.reference))?),
        Arc::new(rows.iter().map(|row| Some(row.active)).collect::<BooleanArray>()),
    ];
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}

/// Writes a CSV file with a header, as `PostgreSQL`'s `COPY ... (FORMAT csv, HEADER)` does: an unquoted nothing is NULL.
pub fn write_csv(path: &Path, seed: u64, rows: u64, side: Side) -> Result<()> {
    write_csv_with(path, seed, rows, side, ["false", "true"])
}

/// The same, with the texts of false and true: not every store that it is compared with has booleans.
pub fn write_csv_with(path: &Path, seed: u64, rows: u64, side: Side, flags: [&str; 2]) -> Result<()> {
    let mut out = BufWriter::with_capacity(COPY_BYTES, File::create(path)?);
    writeln!(out, "id,quantity,name,note,amount,status,score,created_at,day,code,reference,active")?;
    for row in standard_rows(seed, rows, side) {
        let note = row.note.as_ref().map_or_else(String::new, |note| quoted(note));
        let (name, amount, created_at) =
            (quoted(&row.name), amount_text(row.amount_cents), moment_text(row.created_at));
        let (day, reference) = (day_text(i64::from(row.day)), uuid_text(row.reference));
        let (id, quantity, status, score, code, active) =
            (row.id, row.quantity, row.status, row.score, &row.code, flags[usize::from(row.active)]);
        writeln!(
            out,
            "{id},{quantity},{name},{note},{amount},{status},{score},{created_at},{day},{code},{reference},{active}"
        )?;
    }
    out.flush()?;
    Ok(())
}

fn quoted(text: &str) -> String {
    if text.is_empty() || text.contains(['"', ',', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

pub(crate) fn amount_text(cents: i64) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    let size = cents.unsigned_abs();
    format!("{sign}{}.{:02}", size / 100, size % 100)
}

pub(crate) fn moment_text(micros: i64) -> String {
    let (seconds, fraction) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{} {hour:02}:{minute:02}:{:02}.{fraction:06}+00", day_text(days), second % 60)
}

/// Source: the days-to-civil algorithm of Howard Hinnant, "chrono-compatible low-level date algorithms".
pub(crate) fn day_text(days: i64) -> String {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

pub(crate) fn uuid_text(bytes: [u8; 16]) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Writes three rows (id int32, a decimal(9,2) as `BYTE_ARRAY` of minimal length: -12345.67, -0.01, 0.01), a layout that
/// only the low-level writer makes.
///
/// # Errors
/// Whatever the file system or the Parquet writer report.
pub fn byte_array_decimals(path: &Path) -> Result<()> {
    use parquet::{
        data_type::{ByteArray, ByteArrayType, Int32Type},
        file::{properties::WriterProperties, writer::SerializedFileWriter},
        schema::parser::parse_message_type,
    };
    let schema = "message m { required int32 id; required binary a (DECIMAL(9,2)); }";
    let schema = Arc::new(parse_message_type(schema)?);
    let file = File::create(path)?;
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(WriterProperties::builder().build()))?;
    let mut group = writer.next_row_group()?;
    if let Some(mut column) = group.next_column()? {
        column.typed::<Int32Type>().write_batch(&[1, 2, 3], None, None)?;
        column.close()?;
    }
    if let Some(mut column) = group.next_column()? {
        // -1234567 is ED 29 79, -1 is FF, 1 is 01.
        let values = [vec![0xED, 0x29, 0x79], vec![0xFF], vec![0x01]].map(ByteArray::from);
        column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        column.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        assert_eq!(day_text(0), "1970-01-01");
        assert_eq!(day_text(11_016), "2000-02-29");
        assert_eq!(day_text(-1), "1969-12-31");
        assert_eq!(moment_text(-1), "1969-12-31 23:59:59.999999+00");
        assert_eq!(amount_text(-5), "-0.05");
        assert_eq!(quoted("a \"b\", c"), "\"a \"\"b\"\", c\"");
        assert_eq!(uuid_text([0x0F; 16]), "0f0f0f0f-0f0f-0f0f-0f0f-0f0f0f0f0f0f");
    }

    #[test]
    fn numerics() {
        let mut out = BytesMut::new();
        assert!(put_numeric(&mut out, -12_345_606).is_ok());
        // -123456.06: groups 12, 3456, 0600; weight 1; negative; scale 2.
        assert_eq!(&out[..], b"\0\0\0\x0e\0\x03\0\x01\x40\0\0\x02\0\x0c\x0d\x80\x02\x58");
    }
}
