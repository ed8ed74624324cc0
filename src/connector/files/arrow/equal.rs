//! Which rows of two batches hold the same values, found column by column.
//!
//! The answer is about native values of one accessor each: the same bits of the same type, unit and scale. Such values
//! are written by the same call with the same argument. Whatever else may mean the same (0.0 and -0.0, a dictionary and
//! its values) counts as different here, and is settled by the canonical bytes.

use super::{
    ArrowBatch,
    column::{Column, Data},
};
use arrow_array::{FixedSizeBinaryArray, GenericByteArray, types::ByteArrayType};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, NullBuffer, ToByteSlice};

/// Rows that are compared at first: rows that differ are met at little cost.
const BLOCK_ROWS_MIN: usize = 8;

/// Rows that are compared at a time at most: a block's values of all columns stay in the caches.
const BLOCK_ROWS_MAX: usize = 1024;

/// How many rows of `one` from `from` on, at most `most`, hold the same values as those of `other` from `other_from` on.
pub(super) fn equal_rows(one: &ArrowBatch, from: usize, other: &ArrowBatch, other_from: usize, most: usize) -> usize {
    let (from, other_from) = (one.span.0 + from, other.span.0 + other_from);
    let most = most.min(one.span.1.saturating_sub(from)).min(other.span.1.saturating_sub(other_from));
    let alike = one.columns.iter().zip(&other.columns).all(|(one, other)| one.as_text == other.as_text);
    if one.columns.is_empty() || one.columns.len() != other.columns.len() || !alike {
        return 0;
    }
    let (mut done, mut block) = (0, BLOCK_ROWS_MIN);
    while done < most {
        let wanted = block.min(most - done);
        let mut equal = wanted;
        for (one, other) in one.columns.iter().zip(&other.columns) {
            equal = equal_values(&one.data, from + done, &other.data, other_from + done, equal);
            if equal == 0 {
                break;
            }
        }
        done += equal;
        if equal < wanted {
            break;
        }
        block = (block * 4).min(BLOCK_ROWS_MAX);
    }
    done
}

fn equal_values(one: &Column, from: usize, other: &Column, other_from: usize, most: usize) -> usize {
    let most = equal_nulls(one.nulls.as_ref(), from, other.nulls.as_ref(), other_from, most);
    let mut equal = equal_data(&one.data, from, &other.data, other_from, most);
    let Some(nulls) = one.nulls.as_ref().filter(|_| equal < most) else { return equal };
    // Whatever stands in the place of a NULL does not count. NULLs are at the same places up to `most`.
    while equal < most
        && (nulls.is_null(from + equal) || equal_data(&one.data, from + equal, &other.data, other_from + equal, 1) == 1)
    {
        equal += 1;
    }
    equal
}

fn equal_nulls(
    one: Option<&NullBuffer>,
    from: usize,
    other: Option<&NullBuffer>,
    other_from: usize,
    most: usize,
) -> usize {
    match (one, other) {
        (None, None) => most,
        (Some(one), Some(other)) => equal_bits(one.inner(), from, other.inner(), other_from, most),
        (Some(one), None) => first_rows(most, |row| one.is_valid(from + row)),
        (None, Some(other)) => first_rows(most, |row| other.is_valid(other_from + row)),
    }
}

/// How many of the first `most` rows are equal by `is_equal`.
fn first_rows(most: usize, is_equal: impl Fn(usize) -> bool) -> usize {
    (0..most).position(|row| !is_equal(row)).unwrap_or(most)
}

fn equal_bits(one: &BooleanBuffer, from: usize, other: &BooleanBuffer, other_from: usize, most: usize) -> usize {
    if one.slice(from, most) == other.slice(other_from, most) {
        return most;
    }
    first_rows(most, |row| one.value(from + row) == other.value(other_from + row))
}

/// Values that are not NULL; where one is, anything.
fn equal_data(one: &Data, from: usize, other: &Data, other_from: usize, most: usize) -> usize {
    let at = Places { from, other_from, most };
    match (one, other) {
        (Data::Null, Data::Null) => most,
        (Data::Constant(a), Data::Constant(b)) if a == b => most,
        (Data::Bool(a), Data::Bool(b)) => equal_bits(a.values(), from, b.values(), other_from, most),
        (Data::I8(a), Data::I8(b)) => at.fixed(a.values(), b.values()),
        (Data::I16(a), Data::I16(b)) => at.fixed(a.values(), b.values()),
        (Data::I32(a), Data::I32(b)) => at.fixed(a.values(), b.values()),
        (Data::I64(a), Data::I64(b)) => at.fixed(a.values(), b.values()),
        (Data::U8(a), Data::U8(b)) => at.fixed(a.values(), b.values()),
        (Data::U16(a), Data::U16(b)) => at.fixed(a.values(), b.values()),
        (Data::U32(a), Data::U32(b)) => at.fixed(a.values(), b.values()),
        (Data::U64(a), Data::U64(b)) => at.fixed(a.values(), b.values()),
        (Data::F16(a), Data::F16(b)) => at.fixed(a.values(), b.values()),
        (Data::F32(a), Data::F32(b)) => at.fixed(a.values(), b.values()),
        (Data::F64(a), Data::F64(b)) => at.fixed(a.values(), b.values()),
        (Data::D32(a, scale), Data::D32(b, other)) if scale == other => at.fixed(a.values(), b.values()),
        (Data::D64(a, scale), Data::D64(b, other)) if scale == other => at.fixed(a.values(), b.values()),
        (Data::D128(a, scale), Data::D128(b, other)) if scale == other => at.fixed(a.values(), b.values()),
        (Data::D256(a, scale), Data::D256(b, other)) if scale == other => at.fixed(a.values(), b.values()),
        (Data::Utf8(a, kind), Data::Utf8(b, other)) if kind == other => at.varied(a, b),
        (Data::LargeUtf8(a, kind), Data::LargeUtf8(b, other)) if kind == other => at.varied(a, b),
        (Data::Utf8View(a, kind), Data::Utf8View(b, other)) if kind == other => {
            first_rows(most, |row| a.value(from + row) == b.value(other_from + row))
        }
        (Data::Binary(a), Data::Binary(b)) | (Data::Label(a), Data::Label(b)) => at.varied(a, b),
        (Data::LargeBinary(a), Data::LargeBinary(b)) => at.varied(a, b),
        (Data::BinaryView(a), Data::BinaryView(b)) => {
            first_rows(most, |row| a.value(from + row) == b.value(other_from + row))
        }
        (Data::Fixed(a), Data::Fixed(b)) | (Data::Uuid(a), Data::Uuid(b)) => at.wide(a, b),
        _ => equal_temporal(one, other, &at),
    }
}

fn equal_temporal(one: &Data, other: &Data, at: &Places) -> usize {
    match (one, other) {
        (Data::Date32(a), Data::Date32(b)) => at.fixed(a.values(), b.values()),
        (Data::Date64(a), Data::Date64(b)) => at.fixed(a.values(), b.values()),
        (Data::Time32(a, nanos), Data::Time32(b, other)) if nanos == other => at.fixed(a.values(), b.values()),
        (Data::Time64(a, nanos), Data::Time64(b, other)) if nanos == other => at.fixed(a.values(), b.values()),
        (Data::Timestamp(a, units, moment), Data::Timestamp(b, other_units, other_moment))
            if units == other_units && moment == other_moment =>
        {
            at.fixed(a.values(), b.values())
        }
        (Data::Int96(a, nanos, moment), Data::Int96(b, other_nanos, other_moment)) if moment == other_moment => {
            at.fixed(a.values(), b.values()).min(at.fixed(nanos.values(), other_nanos.values()))
        }
        (Data::Months(a), Data::Months(b)) => at.fixed(a.values(), b.values()),
        (Data::DayTime(a), Data::DayTime(b)) => at.fixed(a.values(), b.values()),
        (Data::MonthDayNano(a), Data::MonthDayNano(b)) => at.fixed(a.values(), b.values()),
        (Data::ParquetInterval(a, months), Data::ParquetInterval(b, other_months)) => {
            at.fixed(a.values(), b.values()).min(at.fixed(months.values(), other_months.values()))
        }
        // Other pairs of types, dictionaries and nested values.
        _ => 0,
    }
}

/// Which values of two arrays are compared.
struct Places {
    from: usize,
    other_from: usize,
    most: usize,
}

impl Places {
    fn fixed<T: ArrowNativeType>(&self, one: &[T], other: &[T]) -> usize {
        let one = &one[self.from..self.from + self.most];
        let other = &other[self.other_from..self.other_from + self.most];
        self.equal_of_width(one.to_byte_slice(), other.to_byte_slice(), size_of::<T>())
    }

    fn wide(&self, one: &FixedSizeBinaryArray, other: &FixedSizeBinaryArray) -> usize {
        let width = one.value_size();
        if width == 0 || width != other.value_size() {
            return 0;
        }
        let span = |from: usize| from * width..(from + self.most) * width;
        let (one, other) = (&one.value_data()[span(self.from)], &other.value_data()[span(self.other_from)]);
        self.equal_of_width(one, other, width)
    }

    /// Bytes of values that are `width` bytes wide.
    fn equal_of_width(&self, one: &[u8], other: &[u8], width: usize) -> usize {
        if one == other {
            return self.most;
        }
        first_rows(one.len().min(other.len()), |at| one[at] == other[at]) / width
    }

    fn varied<T: ByteArrayType>(&self, one: &GenericByteArray<T>, other: &GenericByteArray<T>) -> usize {
        let offsets = &one.value_offsets()[self.from..=self.from + self.most];
        let others = &other.value_offsets()[self.other_from..=self.other_from + self.most];
        let (bytes, other_bytes) = (one.value_data(), other.value_data());
        let (start, other_start) = (offsets[0], others[0]);
        // Counted without an early end, so that many are compared in one step.
        let unlike = |(at, other): &(&T::Offset, &T::Offset)| **at - start != **other - other_start;
        let same_lengths = offsets.iter().zip(others).filter(unlike).count() == 0;
        let span = |offsets: &[T::Offset], from: usize, to: usize| offsets[from].as_usize()..offsets[to].as_usize();
        if same_lengths && bytes[span(offsets, 0, self.most)] == other_bytes[span(others, 0, self.most)] {
            return self.most;
        }
        first_rows(self.most, |row| bytes[span(offsets, row, row + 1)] == other_bytes[span(others, row, row + 1)])
    }
}

#[cfg(test)]
mod tests;
