//! The progress bar of long work, on standard error and on terminals only.

use std::fmt::Write;
use std::time::{Duration, Instant};

use bonnet_sql::ProgressReport;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Work that ends sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar that appears when work lasts and somebody reports on it.
pub(super) struct Bar {
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Bar {
    pub(super) fn new() -> Self {
        Self { started: Instant::now(), bar: None }
    }

    /// Shows this progress; None, or work of unknown extent, leaves what is shown.
    pub(super) fn show(&mut self, progress: Option<ProgressReport>) {
        let is_long = self.started.elapsed() >= PATIENCE;
        let Some(progress) = progress.filter(|progress| is_long && progress.total > 0) else { return };
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{msg} [{bar:30}] {percent:>3}% {pos}/{len}{left}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            let left = |state: &ProgressState, line: &mut dyn Write| {
                // The line is drawn in memory.
                let _ = line.write_str(&time_left(state.eta()));
            };
            ProgressBar::with_draw_target(Some(progress.total), ProgressDrawTarget::stderr())
                .with_message(progress.label.clone())
                .with_style(style.with_key("left", left).progress_chars("=> "))
        });
        if bar.message() != progress.label {
            // Another stage: what is left is guessed from its own pace.
            bar.reset_eta();
            bar.set_message(progress.label);
        }
        bar.set_length(progress.total);
        bar.set_position(progress.done.min(progress.total));
    }

    /// Takes the bar off the screen, so that something else can be written.
    pub(super) fn hide(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.hide();
    }
}

/// The bar's text about the time left: none before it is known, which is an estimate of 0 here.
fn time_left(estimate: Duration) -> String {
    match estimate.as_secs() {
        0 => String::new(),
        _ => format!(", {:#} left", HumanDuration(estimate)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_not_known_is_not_shown() {
        assert_eq!(time_left(Duration::ZERO), "");
        assert_eq!(time_left(Duration::from_millis(400)), "");
        assert_eq!(time_left(Duration::from_secs(7)), ", 7s left");
    }
}
