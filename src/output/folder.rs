//! The folder of a run: partial while it runs, whole once the record is written.

use super::{calendar::compact_utc, document::JournalLine, output_error};
use crate::model::{Error, ErrorKind, RangeOutcome, Result};
use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Name of the folder of the differences.
const DIFFERENCES: &str = "differences";
/// Name of the journal of finished ranges, which stands only in a partial folder.
const JOURNAL: &str = "journal.jsonl";
/// How files end that are being written.
pub(super) const UNFINISHED: &str = "tmp";

/// The folder of a run that is under way: `OUT/<run id>.partial/`.
///
/// [`RunFolder::finish`] gives it its final name; a folder that is dropped before keeps the partial one, so that what
/// has the final name is always whole.
#[derive(Debug)]
pub struct RunFolder {
    out: PathBuf,
    partial: PathBuf,
    whole: PathBuf,
    journal: File,
}

impl RunFolder {
    /// The name of a run: the moment in UTC, to the second, and eight hexadecimal digits of `nonce`.
    #[must_use]
    pub fn name(started: SystemTime, nonce: u32) -> String {
        format!("{}-{nonce:08x}", compact_utc(started))
    }

    /// Makes `OUT/<run id>.partial/` with an empty `differences/` and an empty journal; makes `out` if need be.
    ///
    /// # Errors
    /// `Output` if it exists already, in either name, or cannot be written; `Config` if `run_id` is not a plain name.
    pub fn create(out: &Path, run_id: &str) -> Result<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if run_id.is_empty() || run_id.starts_with('.') || !run_id.chars().all(plain) {
            return Err(Error::new(
                ErrorKind::Config,
                "naming the run: expected letters, digits, dots, hyphens and underscores",
            ));
        }
        let partial = out.join(format!("{run_id}.partial"));
        let whole = out.join(run_id);
        fs::create_dir_all(out).map_err(|cause| output_error("making the output folder", out, cause))?;
        for path in [&whole, &partial] {
            if path.symlink_metadata().is_ok() {
                return Err(Error::new(
                    ErrorKind::Output,
                    format!(
                        "making the folder of the run: expected no file or folder at {}, found one",
                        path.display()
                    ),
                )
                .hint("choose another folder with --output, or remove what an earlier run left"));
            }
        }
        fs::create_dir(&partial).map_err(|cause| output_error("making the folder of the run", &partial, cause))?;
        let differences = partial.join(DIFFERENCES);
        fs::create_dir(&differences).map_err(|cause| output_error("making the folder", &differences, cause))?;
        let path = partial.join(JOURNAL);
        let journal = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(&path)
            .map_err(|cause| output_error("making the journal", &path, cause))?;
        Ok(Self { out: out.to_path_buf(), partial, whole, journal })
    }

    /// Where files go while the run is under way.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Where the parts of the differences go while the run is under way.
    #[must_use]
    pub fn differences(&self) -> PathBuf {
        self.partial.join(DIFFERENCES)
    }

    /// Where the folder will be once it is whole.
    #[must_use]
    pub fn whole_path(&self) -> &Path {
        &self.whole
    }

    /// Adds a finished range to the journal, safely on disk on return. A range counts as done only after this.
    ///
    /// # Errors
    /// `Output` if it cannot be written.
    pub fn journal_range(&self, outcome: &RangeOutcome, parts: &[PathBuf]) -> Result<()> {
        let line = JournalLine::new(outcome, parts);
        let failed = |cause: Box<dyn std::error::Error + Send + Sync>| {
            output_error("writing the journal", &self.partial.join(JOURNAL), cause).in_range(outcome.range)
        };
        let mut text = serde_json::to_string(&line).map_err(|cause| failed(cause.into()))?;
        text.push('\n');
        // One write of an appending file: lines of several threads do not mix.
        (&self.journal).write_all(text.as_bytes()).map_err(|cause| failed(cause.into()))?;
        self.journal.sync_data().map_err(|cause| failed(cause.into()))
    }

    /// Writes a whole file into the folder, safely on disk on return.
    ///
    /// # Errors
    /// `Output` if it cannot be written.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.partial.join(name);
        let write = || {
            let mut file = File::create(&path)?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        write().map_err(|cause: std::io::Error| output_error("writing", &path, cause))?;
        Ok(path)
    }

    /// Gives the folder its final name, `OUT/<run id>/`, and returns it. Removes the journal, whose content is in
    /// `ranges.parquet`, and what ranges that did not finish left behind. Refuses a folder without its record.
    ///
    /// # Errors
    /// `Output` if that fails; `Internal` if there is no record yet. The folder stays partial then.
    pub fn finish(self) -> Result<PathBuf> {
        if !self.partial.join(super::record::RECORD).is_file() {
            return Err(Error::internal(format!(
                "finishing {}: expected the record of the run, found none",
                self.partial.display()
            )));
        }
        let differences = self.differences();
        remove_unfinished(&differences)?;
        sync_folder(&differences)?;
        let journal = self.partial.join(JOURNAL);
        fs::remove_file(&journal).map_err(|cause| output_error("removing the journal", &journal, cause))?;
        sync_folder(&self.partial)?;
        if self.whole.symlink_metadata().is_ok() {
            return Err(Error::new(
                ErrorKind::Output,
                format!("finishing the folder of the run: expected nothing at {}, found a file", self.whole.display()),
            ));
        }
        fs::rename(&self.partial, &self.whole)
            .map_err(|cause| output_error("giving the folder of the run its final name", &self.whole, cause))?;
        sync_folder(&self.out)?;
        Ok(self.whole)
    }
}

fn remove_unfinished(folder: &Path) -> Result<()> {
    let failed = |cause| output_error("clearing", folder, cause);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == UNFINISHED) {
            fs::remove_file(&path).map_err(|cause| output_error("removing", &path, cause))?;
        }
    }
    Ok(())
}

/// Makes the names in a folder safe on disk.
fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder)
        .and_then(|handle| handle.sync_all())
        .map_err(|cause| output_error("syncing the folder", folder, cause))
}
