//! The chart of an emulation: rates, times and server load of each scheme, and the training loss next to that
//! of training on one host.

use inart_experiments::palette;
use inart_planner_aggregation::schemes;

use crate::aggregation::figures::{SchemeFigures, Summary};
use crate::aggregation::loss_panel;
use crate::aggregation::si::si;
use crate::charts::svg::{FAINT, HEADING, INK, ROW, Svg, TEXT, TITLE, WIDTH, fitted, fitted_title, wrap};

const MARGIN: f64 = 40.0;
/// Width of the column of bar panels.
const BARS_WIDTH: f64 = 560.0;
/// Widths of schemes' names and of values next to bars.
const NAMES: f64 = 150.0;
const VALUES: f64 = 110.0;
/// Baseline of the first line below the title.
const SUBTITLE: f64 = 84.0;
/// Height of a panel without its bars, and the height of the smallest picture.
const PANEL: f64 = 60.0;
const LEAST_HEIGHT: f64 = 740.0;
/// Greatest height of a bar with the gap to the next.
const PITCH: f64 = 32.0;

/// A panel of bars.
struct Bars<'f> {
    title: &'f str,
    unit: &'f str,
    figure: Box<dyn Fn(&SchemeFigures) -> f64 + 'f>,
    /// The position of a line across each bar.
    mark: Option<fn(&SchemeFigures) -> f64>,
}

/// Draws the chart.
pub fn draw(summary: &Summary) -> String {
    let rounds = f64::from(summary.rounds.max(1));
    let bars = |title, unit, figure, mark| Bars { title, unit, figure, mark };
    let panels = [
        bars(
            "Sending rate per worker (line: planned)",
            "bps",
            Box::new(|s| s.rate_bps),
            Some(|s| s.planned_rate_bps),
        ),
        bars("Communication time per round", "s", Box::new(|s| s.comm_seconds), None),
        bars(
            "Traffic into parameter servers per round",
            "B",
            Box::new(move |s| s.ps_ingress_bytes as f64 / rounds),
            None,
        ),
    ];
    let lines = subtitle(summary);
    let top = SUBTITLE + ROW * lines.len() as f64;
    let bar_rows = summary.schemes.len() as f64;
    let panel = PANEL + (ROW * bar_rows).max((LEAST_HEIGHT - top - MARGIN) / 3.0 - PANEL);
    let height = top + panel * panels.len() as f64 + MARGIN;
    let title = fitted_title(&format!("InArt on {}", summary.topology), WIDTH - 2.0 * MARGIN);
    let description = "Sending rate, communication time and traffic into the parameter servers of each scheme, and \
                       the training loss over rounds.";
    let mut svg = Svg::new(height, &title, description);
    svg.text(MARGIN, 52.0, TITLE, INK, "start", "600", &title);
    for (line, at) in lines.iter().zip(0u8..) {
        svg.text(MARGIN, SUBTITLE + ROW * f64::from(at), TEXT, FAINT, "start", "400", line);
    }
    for (bars, at) in panels.iter().zip(0u8..) {
        bars.draw(&mut svg, summary, top + panel * f64::from(at), panel);
    }
    if !summary.single_host.is_empty() {
        let area = [MARGIN + BARS_WIDTH + 80.0, top, WIDTH - MARGIN, height - MARGIN];
        loss_panel::draw(&mut svg, summary, area);
    }
    svg.finish()
}

/// The lines below the title: what was checked, at which rates, and the names of published schemes.
fn subtitle(summary: &Summary) -> Vec<String> {
    let lost = match summary.drop {
        0.0 => String::new(),
        share => format!(" and dropped {}% of all frames on purpose", share * 100.0),
    };
    let texts = [
        format!(
            "{} rounds per scheme; {} sums checked, all bit-exact.",
            summary.rounds, summary.sums_checked
        ),
        format!(
            "Rates and times are the topology's; the emulated links ran {}{lost}.",
            summary.scale_phrase()
        ),
        published_names(summary),
    ];
    let texts = texts.iter().filter(|text| !text.is_empty());
    texts.flat_map(|text| wrap(text, TEXT, WIDTH - 2.0 * MARGIN)).collect()
}

/// Maps schemes' names to those of the InArt paper where the two differ; empty for a scheme alone.
fn published_names(summary: &Summary) -> String {
    if summary.schemes.len() < 2 {
        return String::new();
    }
    let named = |figures: &SchemeFigures| {
        let scheme = figures.scheme;
        match scheme.promises().stands_for {
            None if is_default(figures) => Some(format!("{scheme}: the default")),
            Some(name) if name.to_lowercase() != scheme.name() => {
                Some(format!("{scheme}: {name} of the InArt paper"))
            }
            _ => None,
        }
    };
    summary.schemes.iter().filter_map(named).collect::<Vec<_>>().join("; ")
}

fn is_default(figures: &SchemeFigures) -> bool {
    figures.scheme == schemes::DEFAULT
}

impl Bars<'_> {
    fn draw(&self, svg: &mut Svg, summary: &Summary, top: f64, height: f64) {
        svg.text(MARGIN, top + 20.0, HEADING, INK, "start", "600", self.title);
        let (left, right) = (MARGIN + NAMES, MARGIN + BARS_WIDTH - VALUES);
        let largest = summary
            .schemes
            .iter()
            .map(|scheme| (self.figure)(scheme).max(self.mark.map_or(0.0, |mark| mark(scheme))))
            .fold(f64::MIN_POSITIVE, f64::max);
        let pitch = ((height - PANEL) / summary.schemes.len().max(1) as f64).min(PITCH);
        for (index, scheme) in summary.schemes.iter().enumerate() {
            let y = top + 34.0 + pitch * index as f64;
            let middle = y + pitch * 0.39 + 6.5;
            let width = |value: f64| (right - left) * value / largest;
            let value = (self.figure)(scheme);
            let weight = if is_default(scheme) { "600" } else { "400" };
            let name = scheme.scheme.name();
            svg.text(left - 10.0, middle, TEXT, INK, "end", weight, &fitted(name, TEXT, NAMES - 10.0));
            svg.bar(left, y, width(value).max(1.0), pitch * 0.78, palette::color(name));
            let mut label = left + width(value);
            if let Some(planned) = self.mark.map(|mark| mark(scheme)) {
                let x = left + width(planned);
                svg.line(x, y - 2.0, x, y + pitch * 0.78 + 2.0, INK, 2.0);
                label = label.max(x);
            }
            svg.text(label + 8.0, middle, TEXT, INK, "start", weight, &si(value, self.unit));
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
            ">97.5<",
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
