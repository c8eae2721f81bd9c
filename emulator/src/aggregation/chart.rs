//! The picture of an emulation: how fast each scheme was, what reached the servers, and that training went as
//! on one host.

use inart_experiments::palette;
use inart_planner_aggregation::schemes;

use crate::aggregation::figures::{SchemeFigures, Summary};
use crate::aggregation::si::si;
use crate::charts::svg::{FAINT, INK, LINE, Svg, WIDTH, fitted};

const HEIGHT: f64 = 660.0;
const MARGIN: f64 = 40.0;
/// Width of the column of bar panels.
const BARS_WIDTH: f64 = 520.0;
const TOP: f64 = 140.0;

/// Draws the chart.
pub fn draw(summary: &Summary) -> String {
    let mut svg = Svg::new(HEIGHT);
    heading(&mut svg, summary);
    let rounds = f64::from(summary.rounds.max(1));
    type Figure<'a> = (&'a str, &'a str, Box<dyn Fn(&SchemeFigures) -> f64 + 'a>);
    let panels: [Figure; 3] = [
        ("Gradient sending rate per worker (mark: as planned)", "bps", Box::new(|s| s.rate_bps)),
        ("Communication time per round", "s", Box::new(|s| s.comm_seconds)),
        ("Into the parameter servers per round", "B", Box::new(|s| s.ps_ingress_bytes as f64 / rounds)),
    ];
    let height = (HEIGHT - TOP - MARGIN) / panels.len() as f64;
    for (index, (title, unit, figure)) in panels.iter().enumerate() {
        let top = TOP + height * index as f64;
        let planned: fn(&SchemeFigures) -> f64 = |scheme| scheme.planned_rate_bps;
        let mark = (index == 0).then_some(planned);
        bars(&mut svg, summary, top, height, title, unit, figure, mark);
    }
    if !summary.single_host.is_empty() {
        loss_curves(&mut svg, summary);
    }
    svg.finish()
}

fn heading(svg: &mut Svg, summary: &Summary) {
    let title = fitted(&format!("InArt on {}", summary.topology), 26.0, WIDTH - 2.0 * MARGIN);
    svg.text(MARGIN, 52.0, 26.0, INK, "start", "600", &title);
    let line = format!(
        "{} rounds per scheme; {} sums checked, all bit-exact.",
        summary.rounds, summary.sums_checked
    );
    svg.text(MARGIN, 78.0, 14.0, FAINT, "start", "400", &line);
    let lost = match summary.drop {
        0.0 => String::new(),
        share => format!(" and lost {}% of all frames on purpose", share * 100.0),
    };
    let line = format!(
        "Rates and times are the topology's; the emulated links ran {}{lost}.",
        summary.scale_phrase()
    );
    svg.text(MARGIN, 98.0, 14.0, FAINT, "start", "400", &line);
    let line = fitted(&who_is_who(summary), 14.0, WIDTH - 2.0 * MARGIN);
    svg.text(MARGIN, 118.0, 14.0, FAINT, "start", "400", &line);
}

/// What the names stand for that a reader of the InArt paper would take for others; nothing where a scheme
/// stands alone.
fn who_is_who(summary: &Summary) -> String {
    if summary.schemes.len() < 2 {
        return String::new();
    }
    let named = |figures: &SchemeFigures| {
        let scheme = figures.scheme;
        match scheme.promises().stands_for {
            None if is_ours(figures) => Some(format!("{scheme}: the default")),
            Some(name) if name.to_lowercase() != scheme.name() => {
                Some(format!("{scheme}: {name} of the InArt paper"))
            }
            _ => None,
        }
    };
    summary.schemes.iter().filter_map(named).collect::<Vec<_>>().join("; ")
}

fn is_ours(figures: &SchemeFigures) -> bool {
    figures.scheme == schemes::DEFAULT
}

fn colour(summary: &Summary, index: usize) -> &'static str {
    palette::color(summary.schemes[index].scheme.name())
}

#[expect(clippy::too_many_arguments, reason = "a panel has a place, a title and what it shows")]
fn bars(
    svg: &mut Svg,
    summary: &Summary,
    top: f64,
    height: f64,
    title: &str,
    unit: &str,
    figure: &dyn Fn(&SchemeFigures) -> f64,
    mark: Option<fn(&SchemeFigures) -> f64>,
) {
    svg.text(MARGIN, top + 14.0, 14.0, INK, "start", "600", title);
    let (left, right) = (MARGIN + 70.0, MARGIN + BARS_WIDTH - 90.0);
    let largest = summary
        .schemes
        .iter()
        .map(|scheme| figure(scheme).max(mark.map_or(0.0, |mark| mark(scheme))))
        .fold(f64::MIN_POSITIVE, f64::max);
    let pitch = ((height - 44.0) / summary.schemes.len().max(1) as f64).min(30.0);
    for (index, scheme) in summary.schemes.iter().enumerate() {
        let y = top + 26.0 + pitch * index as f64;
        let middle = y + pitch * 0.39 + 5.0;
        let width = |value: f64| (right - left) * value / largest;
        let value = figure(scheme);
        let weight = if is_ours(scheme) { "600" } else { "400" };
        svg.text(left - 10.0, middle, 14.0, INK, "end", weight, scheme.scheme.name());
        svg.bar(left, y, width(value).max(1.0), pitch * 0.78, colour(summary, index));
        let mut label = left + width(value);
        if let Some(planned) = mark.map(|mark| mark(scheme)) {
            let x = left + width(planned);
            svg.line(x, y - 2.0, x, y + pitch * 0.78 + 2.0, INK, 2.0);
            label = label.max(x);
        }
        svg.text(label + 8.0, middle, 14.0, INK, "start", weight, &si(value, unit));
    }
}

fn loss_curves(svg: &mut Svg, summary: &Summary) {
    let (left, right) = (MARGIN + BARS_WIDTH + 80.0, WIDTH - MARGIN);
    let (top, bottom) = (TOP + 30.0, HEIGHT - MARGIN - 50.0);
    svg.text(left, TOP + 14.0, 14.0, INK, "start", "600", "Training loss per round (log scale)");
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
            svg.text(left - 8.0, y(tick) + 4.5, 13.0, FAINT, "end", "400", &tick.to_string());
        }
    }
    let step =
        [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].into_iter().find(|s| rounds / s <= 8).unwrap_or(5000);
    for round in (step..=rounds).step_by(step) {
        svg.text(x((round - 1) as f64), bottom + 20.0, 13.0, FAINT, "middle", "400", &round.to_string());
    }
    svg.text((left + right) / 2.0, bottom + 42.0, 13.0, FAINT, "middle", "400", "round");
    svg.line(left, bottom, right, bottom, FAINT, 1.0);

    let points = |curve: &[f32]| -> Vec<(f64, f64)> {
        curve.iter().enumerate().map(|(round, &loss)| (x(round as f64), y(f64::from(loss)))).collect()
    };
    for host in &summary.single_host {
        svg.curve(&points(&host.losses), palette::BAND, 9.0, "");
    }
    for (index, scheme) in summary.schemes.iter().enumerate().rev() {
        for (place, job) in scheme.jobs.iter().enumerate() {
            // Equal curves hide each other: dashes of different phase let all of them show.
            let dash = format!(
                "stroke-dasharray=\"6 {}\" stroke-dashoffset=\"{}\"",
                6 * summary.schemes.len().saturating_sub(1),
                6 * index
            );
            svg.curve(&points(&job.losses), colour(summary, index), thickness(place), &dash);
        }
    }
    legend(svg, summary, right, top + 22.0);
}

/// Of a job's curve, by the job's place: jobs of one scheme have one color.
fn thickness(place: usize) -> f64 {
    [3.0, 2.0, 1.2].get(place).copied().unwrap_or(0.7)
}

/// Columns of accuracies that have room: of more jobs the least and the greatest is shown.
const MOST_COLUMNS: usize = 4;
/// Width of a column, and of the names of schemes before them.
const COLUMN: f64 = 70.0;
const NAMES: f64 = 140.0;

/// Accuracies of a scheme's jobs, one per column.
fn columns(accuracies: &[f64]) -> Vec<String> {
    let percent = |accuracy: f64| format!("{:.1}%", accuracy * 100.0);
    if accuracies.len() <= MOST_COLUMNS {
        return accuracies.iter().copied().map(percent).collect();
    }
    let least = accuracies.iter().copied().fold(f64::INFINITY, f64::min);
    let most = accuracies.iter().copied().fold(0.0, f64::max);
    vec![format!("{} to {}", percent(least), percent(most))]
}

fn legend(svg: &mut Svg, summary: &Summary, right: f64, top: f64) {
    let single: Vec<f64> = summary.single_host.iter().map(|host| host.accuracy).collect();
    let mut rows = vec![("one host", palette::BAND, 9.0, columns(&single))];
    for (index, scheme) in summary.schemes.iter().enumerate() {
        let trained = scheme.jobs.iter().filter_map(|job| job.trained.as_ref());
        let accuracies: Vec<f64> = trained.map(|trained| trained.accuracy).collect();
        rows.push((scheme.scheme.name(), colour(summary, index), 3.0, columns(&accuracies)));
    }
    svg.text(right, top, 13.0, FAINT, "end", "400", "test accuracy after training");
    let jobs = &summary.single_host;
    let are_named = (2..=MOST_COLUMNS).contains(&jobs.len());
    let width = if jobs.len() > MOST_COLUMNS { 2.0 * COLUMN } else { COLUMN };
    let count = rows.iter().map(|(.., cells)| cells.len()).max().unwrap_or(1);
    let end = |column: usize| right - width * (count - 1 - column.min(count - 1)) as f64;
    for (place, job) in jobs.iter().enumerate().filter(|_| are_named) {
        let name = fitted(&job.job, 13.0, COLUMN - 8.0);
        svg.text(end(place), top + 22.0, 13.0, FAINT, "end", "400", &name);
        svg.line(end(place) - 30.0, top + 30.0, end(place), top + 30.0, FAINT, thickness(place));
    }
    let first = top + if are_named { 54.0 } else { 24.0 };
    let left = right - width * count as f64 - NAMES;
    for (index, (name, colour, stroke, cells)) in rows.into_iter().enumerate() {
        let y = first + 22.0 * index as f64;
        svg.line(left, y - 4.5, left + 30.0, y - 4.5, colour, stroke);
        svg.text(left + 40.0, y, 14.0, INK, "start", "400", &fitted(name, 14.0, NAMES - 44.0));
        for (column, cell) in cells.iter().enumerate() {
            svg.text(end(column), y, 14.0, INK, "end", "600", cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregation::figures::{JobFigures, Planned, SingleHost};
    use inart_report::Trained;

    fn summary() -> Summary {
        let losses: Vec<f32> = (0..60).map(|round| 2.4 * (-0.07 * round as f32).exp() + 0.06).collect();
        let job = |rate_bps: f64, ingress: u64| JobFigures {
            job: "digits".into(),
            bit_exact: true,
            rate_bps: rate_bps * 0.97,
            planned_rate_bps: rate_bps,
            throughput_bps: rate_bps * 5.8,
            planned: Planned {
                comm_seconds: 1.5e6 / rate_bps,
                throughput_bps: rate_bps * 6.0,
                ps_ingress_bytes: 1.0,
            },
            goodput_bps: rate_bps * 0.9,
            comm_seconds: 1.6e6 / rate_bps,
            comm_seconds_mean: 1.6e6 / rate_bps,
            wall_comm_seconds: 1.6e8 / rate_bps,
            ps_ingress_bytes: ingress,
            retransmissions: 0,
            runs: None,
            trained: Some(Trained { loss: 0.1, accuracy: 0.975, digest: "00".into() }),
            losses: losses.clone(),
        };
        let schemes = [
            ("optimized", 2.5e9, 30e6),
            ("atp", 2e9, 36e6),
            ("lbmm", 4e9 / 3.0, 73e6),
            ("r-inart", 2e9, 50e6),
        ]
        .map(|(name, rate, ingress)| {
            SchemeFigures::of_jobs(schemes::named(name).expect("known"), 60, vec![job(rate, ingress as u64)])
        });
        let single_host = vec![SingleHost { job: "digits".into(), loss: 0.1, accuracy: 0.975, losses }];
        Summary {
            topology: "a<b>&c".into(),
            bit_exact: true,
            rounds: 60,
            sums_checked: 1_144_800,
            scale: 0.005,
            seed: 1,
            drop: 0.01,
            target: "v1model",
            values: 256,
            window: 64,
            elapsed_seconds: 1.0,
            single_host,
            changes: None,
            schemes: schemes.into(),
        }
    }

    #[test]
    fn every_scheme_and_figure_is_in_the_picture() {
        let svg = draw(&summary());
        if let Ok(path) = std::env::var("INART_CHART_SAMPLE") {
            std::fs::write(path, &svg).expect("written");
        }
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        for text in [
            "optimized",
            "optimized: the default",
            "atp",
            "lbmm",
            "r-inart",
            "2.42 Gbps",
            "640 us",
            "97.5%",
            "a&lt;b&gt;&amp;c",
            "1/200",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf\""));
    }

    /// The widths of the bars, panel by panel, in the order of the schemes.
    fn widths(svg: &str) -> Vec<f64> {
        let bars = svg.lines().filter(|line| line.starts_with("<rect x="));
        let width = |bar: &str| bar.split("width=\"").nth(1)?.split('"').next()?.parse().ok();
        bars.map(|bar| width(bar).expect("a width")).collect()
    }

    #[test]
    fn bars_are_as_long_as_what_they_stand_for() {
        let summary = summary();
        let widths = widths(&draw(&summary));
        assert_eq!(widths.len(), 3 * summary.schemes.len());
        let figures: [fn(&SchemeFigures) -> f64; 3] =
            [|scheme| scheme.rate_bps, |scheme| scheme.comm_seconds, |scheme| scheme.ps_ingress_bytes as f64];
        for (panel, figure) in widths.chunks(summary.schemes.len()).zip(figures) {
            for (scheme, width) in summary.schemes.iter().zip(panel) {
                let expected = panel[0] * figure(scheme) / figure(&summary.schemes[0]);
                assert!((width - expected).abs() < 0.2, "{}: {width}, not {expected}", scheme.scheme);
            }
        }
    }

    #[test]
    fn nothing_measured_draws_nothing_impossible() {
        let empty = Summary { schemes: vec![], single_host: vec![], rounds: 0, ..summary() };
        assert!(!draw(&empty).contains("NaN"));
    }
}
