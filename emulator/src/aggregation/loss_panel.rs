//! The panel of training losses: one curve per job and scheme, and a legend with the test accuracies.

use inart_experiments::palette;

use crate::aggregation::figures::Summary;
use crate::charts::svg::{FAINT, HEADING, INK, LINE, ROW, Svg, TEXT, fitted};

/// Columns of accuracies that have room; for more jobs, the legend has the least and the greatest.
const MOST_COLUMNS: usize = 3;
/// Width of a column, and of the schemes' names before them.
const COLUMN: f64 = 86.0;
const NAMES: f64 = 186.0;
const MARK: f64 = 30.0;
/// Height of the axis' labels and its name.
const AXIS: f64 = 60.0;

/// Draws the panel within left, top, right and bottom.
pub fn draw(svg: &mut Svg, summary: &Summary, [left, top, right, foot]: [f64; 4]) {
    svg.text(left, top + 20.0, HEADING, INK, "start", "600", "Training loss (log scale)");
    let (top, bottom) = (legend(svg, summary, left, top + 50.0), foot - AXIS);
    let curves: Vec<_> = summary
        .single_host
        .iter()
        .map(|host| &host.losses)
        .chain(summary.schemes.iter().flat_map(|scheme| scheme.jobs.iter().map(|job| &job.losses)))
        .collect();
    let losses = || curves.iter().flat_map(|curve| curve.iter()).map(|&loss| f64::from(loss).max(1e-6));
    let (least, most) = (losses().fold(f64::INFINITY, f64::min), losses().fold(0.0, f64::max));
    if most <= 0.0 {
        return;
    }
    let (low, high) = ((least * 0.8).ln(), (most * 1.25).ln());
    let y = |loss: f64| bottom - (bottom - top) * (loss.max(1e-6).ln() - low) / (high - low);
    let rounds = curves.iter().map(|curve| curve.len()).max().unwrap_or(1);
    let x = |round: f64| left + (right - left) * round / (rounds.max(2) - 1) as f64;
    for tick in [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0] {
        if (low..high).contains(&f64::ln(tick)) {
            svg.line(left, y(tick), right, y(tick), LINE, 1.0);
            svg.text(left - 8.0, y(tick) + 6.0, TEXT, FAINT, "end", "400", &tick.to_string());
        }
    }
    let step =
        [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].into_iter().find(|s| rounds / s <= 6).unwrap_or(5000);
    for round in (step..=rounds).step_by(step) {
        svg.text(x((round - 1) as f64), bottom + 24.0, TEXT, FAINT, "middle", "400", &round.to_string());
    }
    svg.text((left + right) / 2.0, bottom + 50.0, TEXT, FAINT, "middle", "400", "Round");
    svg.line(left, bottom, right, bottom, FAINT, 1.0);

    let points = |curve: &[f32]| -> Vec<(f64, f64)> {
        curve.iter().enumerate().map(|(round, &loss)| (x(round as f64), y(f64::from(loss)))).collect()
    };
    for host in &summary.single_host {
        svg.curve(&points(&host.losses), palette::BAND, 9.0, "");
    }
    for (index, scheme) in summary.schemes.iter().enumerate().rev() {
        for (place, job) in scheme.jobs.iter().enumerate() {
            // Equal curves cover each other: dashes of different phase make all of them visible.
            let dash = format!(
                "stroke-dasharray=\"6 {}\" stroke-dashoffset=\"{}\"",
                6 * summary.schemes.len().saturating_sub(1),
                6 * index
            );
            svg.curve(&points(&job.losses), color(summary, index), thickness(place), &dash);
        }
    }
}

fn color(summary: &Summary, index: usize) -> &'static str {
    palette::color(summary.schemes[index].scheme.name())
}

/// Returns the thickness of a job's curve, by the job's index: jobs of one scheme have one color.
fn thickness(place: usize) -> f64 {
    [3.0, 2.0, 1.2].get(place).copied().unwrap_or(0.7)
}

/// Formats the accuracies of a scheme's jobs, one per column.
fn columns(accuracies: &[f64]) -> Vec<String> {
    let percent = |accuracy: f64| format!("{:.1}", accuracy * 100.0);
    if accuracies.len() <= MOST_COLUMNS {
        return accuracies.iter().copied().map(percent).collect();
    }
    let least = accuracies.iter().copied().fold(f64::INFINITY, f64::min);
    let most = accuracies.iter().copied().fold(0.0, f64::max);
    vec![format!("{} to {}", percent(least), percent(most))]
}

/// Draws the legend with the test accuracies below this baseline; returns the top of the plot.
fn legend(svg: &mut Svg, summary: &Summary, left: f64, top: f64) -> f64 {
    let single: Vec<f64> = summary.single_host.iter().map(|host| host.accuracy).collect();
    let mut rows = vec![("one host", palette::BAND, 9.0, columns(&single))];
    for (index, scheme) in summary.schemes.iter().enumerate() {
        let trained = scheme.jobs.iter().filter_map(|job| job.trained.as_ref());
        let accuracies: Vec<f64> = trained.map(|trained| trained.accuracy).collect();
        rows.push((scheme.scheme.name(), color(summary, index), 3.0, columns(&accuracies)));
    }
    let jobs = &summary.single_host;
    let are_named = (2..=MOST_COLUMNS).contains(&jobs.len());
    let width = if jobs.len() > MOST_COLUMNS { 2.0 * COLUMN } else { COLUMN };
    let count = rows.iter().map(|(.., cells)| cells.len()).max().unwrap_or(1);
    let right = left + NAMES + width * count as f64;
    svg.text(right, top, TEXT, FAINT, "end", "400", "Test accuracy (%)");
    let end = |column: usize| right - width * (count - 1 - column.min(count - 1)) as f64;
    for (place, job) in jobs.iter().enumerate().filter(|_| are_named) {
        let name = fitted(&job.job, TEXT, COLUMN - 8.0);
        svg.text(end(place), top + ROW, TEXT, FAINT, "end", "400", &name);
        svg.line(end(place) - MARK, top + 35.0, end(place), top + 35.0, FAINT, thickness(place));
    }
    let first = top + if are_named { 62.0 } else { 28.0 };
    let foot = first + ROW * rows.len() as f64;
    for (index, (name, shade, stroke, cells)) in rows.into_iter().enumerate() {
        let y = first + ROW * index as f64;
        svg.line(left, y - 6.0, left + MARK, y - 6.0, shade, stroke);
        svg.text(left + 40.0, y, TEXT, INK, "start", "400", &fitted(name, TEXT, NAMES - 44.0));
        for (column, cell) in cells.iter().enumerate() {
            svg.text(end(column), y, TEXT, INK, "end", "600", cell);
        }
    }
    foot
}
