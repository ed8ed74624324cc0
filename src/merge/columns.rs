//! Which columns of two rows differ, and which of those differences the user declared to be none.

use super::{MergeSpec, excuses};
use crate::{
    encode::{decode_form, fields},
    model::{Error, Result},
};

/// Compares rows column by column and keeps count.
#[derive(Debug)]
pub struct ColumnComparer<'a> {
    spec: &'a MergeSpec,
    changed: Vec<u32>,
    excused: Vec<u32>,
    changed_by_column: Vec<u64>,
    excused_by_column: Vec<u64>,
}

impl<'a> ColumnComparer<'a> {
    /// A comparer with all counters at zero.
    #[must_use]
    pub fn new(spec: &'a MergeSpec) -> Self {
        let columns = spec.row_types.len();
        Self {
            spec,
            changed: Vec::new(),
            excused: Vec::new(),
            changed_by_column: vec![0; columns],
            excused_by_column: vec![0; columns],
        }
    }

    /// Compares two rows whose bytes differ; returns the indices of the changed columns, ascending. Empty: every
    /// difference is excused by a declared option.
    ///
    /// # Errors
    /// `Internal` if the bytes are not rows of the plan.
    pub fn compare(&mut self, source: &[u8], sink: &[u8]) -> Result<&[u32]> {
        self.changed.clear();
        self.excused.clear();
        let mut source_fields = fields(source);
        let mut sink_fields = fields(sink);
        for (index, (canonical, options)) in self.spec.row_types.iter().zip(&self.spec.options).enumerate() {
            let (Some(source_field), Some(sink_field)) = (source_fields.next(), sink_fields.next()) else {
                return Err(Error::internal(format!("comparing rows: field {index} is not there")));
            };
            if source_field == sink_field {
                continue;
            }
            let number = u32::try_from(index).map_err(|_| Error::internal("comparing rows: too many columns"))?;
            let is_excused = options.excuses()
                && excuses(
                    canonical,
                    options,
                    &decode_form(canonical, source_field)?,
                    &decode_form(canonical, sink_field)?,
                )?;
            if is_excused {
                self.excused.push(number);
            } else {
                self.changed.push(number);
            }
        }
        if source_fields.next().is_some() || sink_fields.next().is_some() {
            return Err(Error::internal("comparing rows: more fields than columns"));
        }
        if self.changed.is_empty() && self.excused.is_empty() {
            return Err(Error::internal("comparing rows: the bytes differ but no column does"));
        }
        for number in &self.excused {
            self.excused_by_column[*number as usize] += 1;
        }
        for number in &self.changed {
            self.changed_by_column[*number as usize] += 1;
        }
        Ok(&self.changed)
    }

    /// The counters: changed pairs and excused values per column.
    #[must_use]
    pub fn finish(self) -> (Vec<u64>, Vec<u64>) {
        (self.changed_by_column, self.excused_by_column)
    }
}
