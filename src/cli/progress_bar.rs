//! Progress of a run on stderr: one moving line on a terminal, a plain line now and then elsewhere.

use super::printer::Printer;
use crate::model::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    env,
    io::{IsTerminal, stderr},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::task::AbortOnDropHandle;

/// Time between two looks at the counters on a terminal.
const TICK: Duration = Duration::from_millis(200);
/// Time between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// The display; goes away when it is dropped.
pub(super) struct Display {
    task: Option<AbortOnDropHandle<()>>,
    bar: Option<ProgressBar>,
}

impl Display {
    /// Starts to show `progress`, unless `off` or `TIEOUT_NO_PROGRESS` is set to something.
    pub(super) fn start(progress: Arc<Progress>, off: bool) -> Self {
        if off || env::var_os("TIEOUT_NO_PROGRESS").is_some_and(|value| !value.is_empty()) {
            return Self { task: None, bar: None };
        }
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            // The template is a constant; were it wrong, the default style would do.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
        let shown = bar.clone();
        let task = tokio::spawn(async move {
            let started = Instant::now();
            let mut interval = tokio::time::interval(if shown.is_some() { TICK } else { LINE_EVERY });
            interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
            interval.tick().await;
            loop {
                interval.tick().await;
                let line = Reading::take(&progress).line(started.elapsed());
                match &shown {
                    Some(bar) => {
                        bar.set_message(line);
                        bar.tick();
                    }
                    None => Printer::new(false).note(&line),
                }
            }
        });
        Self { task: Some(AbortOnDropHandle::new(task)), bar }
    }

    /// Ends the display and waits until nothing of it writes any more.
    pub(super) async fn stop(mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            // The task was told to end; that it was cut short is no news.
            let _ = task.await;
        }
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    rows: u64,
    expected: u64,
    ranges_done: u64,
    ranges_total: u64,
    differences: u64,
}

impl Reading {
    fn take(progress: &Progress) -> Self {
        let rows = Progress::read(&progress.source_rows).saturating_add(Progress::read(&progress.sink_rows));
        Self {
            rows,
            expected: Progress::read(&progress.rows_expected),
            ranges_done: Progress::read(&progress.ranges_done),
            ranges_total: Progress::read(&progress.ranges_total),
            differences: Progress::read(&progress.differences),
        }
    }

    fn line(&self, elapsed: Duration) -> String {
        let millis = elapsed.as_millis().max(1);
        let speed = u128::from(self.rows) * 1000 / millis;
        let left = match self.expected.checked_sub(self.rows) {
            Some(rows) if rows > 0 && speed > 0 => format!(", about {} s left", u128::from(rows) / speed),
            _ => String::new(),
        };
        format!(
            "{} rows, {} rows/s, {} of {} ranges, {} differences{left}",
            grouped(self.rows.into()),
            grouped(speed),
            self.ranges_done,
            self.ranges_total,
            grouped(self.differences.into()),
        )
    }
}

/// A number with a comma between groups of three digits.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_speed_and_what_is_left() {
        let reading =
            Reading { rows: 1_000_000, expected: 3_000_000, ranges_done: 5, ranges_total: 16, differences: 1234 };
        assert_eq!(
            reading.line(Duration::from_secs(2)),
            "1,000,000 rows, 500,000 rows/s, 5 of 16 ranges, 1,234 differences, about 4 s left"
        );
        assert_eq!(Reading::default().line(Duration::ZERO), "0 rows, 0 rows/s, 0 of 0 ranges, 0 differences");
    }
}
