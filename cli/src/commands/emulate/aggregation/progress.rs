//! How far an emulation is, on the terminal.

use std::time::Duration;

use inart_emulator::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// Draws itself on a terminal's standard error, and is silent in a pipe.
pub fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{msg:22} {bar:40} {pos}/{len} rounds, {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Shows how far it is.
pub fn show(bar: &ProgressBar, progress: Progress<'_>) {
    bar.set_length(progress.rounds_total.into());
    bar.set_position(progress.rounds_done.into());
    if bar.message() != progress.stage {
        bar.set_message(progress.stage.to_owned());
    }
}
