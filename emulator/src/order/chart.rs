//! The picture: how good the model was over time, and how stale updates were.

use inart_experiments::palette::color;

use super::report::{Report, SchemeReport};
use crate::panel::{LEFT, Panel};
use crate::svg::{FAINT, INK, LINE, Svg};

const HEIGHT: f64 = 720.0;

/// Draws the chart.
pub fn chart(report: &Report) -> String {
    let schemes = &report.schemes;
    let mut svg = Svg::new(HEIGHT);
    let title = format!("Training at the parameter server of {}", report.network);
    svg.text(LEFT, 44.0, 24.0, INK, "start", "600", &title);
    for (at, scheme) in schemes.iter().enumerate() {
        let x = LEFT + 270.0 * (at % 4) as f64;
        let y = 62.0 + 18.0 * (at / 4) as f64;
        svg.bar(x, y, 14.0, 14.0, color(&scheme.scheme));
        let SchemeReport { scheme, iteration_s, accuracy, .. } = scheme;
        let label = format!("{scheme}: {iteration_s:.2} s/iteration, {:.1} %", accuracy * 100.0);
        svg.text(x + 20.0, y + 12.0, 13.0, INK, "start", "400", &label);
    }
    let most_x = schemes.iter().map(|scheme| scheme.seconds).fold(1e-3, f64::max);
    let learning = Panel { top: 140.0, bottom: 430.0, most_x, most_y: 100.0 };
    learning.frame(&mut svg, "Test accuracy", "%");
    for scheme in schemes {
        let points: Vec<_> =
            scheme.learnt.iter().map(|now| learning.at(now.at_s, now.accuracy * 100.0)).collect();
        svg.curve(&points, color(&scheme.scheme), 3.0, "");
    }
    stalenesses(&mut svg, schemes);
    svg.finish()
}

/// A group of bars for each staleness.
fn stalenesses(svg: &mut Svg, schemes: &[SchemeReport]) {
    const TOP: f64 = 500.0;
    const BOTTOM: f64 = 670.0;
    svg.text(
        LEFT,
        TOP - 14.0,
        15.0,
        INK,
        "start",
        "600",
        "Share of updates by staleness, in versions of the model",
    );
    let most = schemes.iter().filter_map(|scheme| scheme.staleness_counts.keys().last()).max();
    let most = most.copied().unwrap_or(0);
    for percent in [0, 50, 100] {
        let y = BOTTOM - f64::from(percent) / 100.0 * (BOTTOM - TOP);
        svg.line(LEFT, y, LEFT + 1080.0, y, LINE, 1.0);
        svg.text(LEFT - 8.0, y + 4.0, 12.0, FAINT, "end", "400", &format!("{percent} %"));
    }
    let group = 1080.0 / (most + 1) as f64;
    let width = group * 0.8 / schemes.len().max(1) as f64;
    for (at, scheme) in schemes.iter().enumerate() {
        let all = scheme.staleness_counts.values().sum::<u64>().max(1) as f64;
        for (&staleness, &count) in &scheme.staleness_counts {
            let height = count as f64 / all * (BOTTOM - TOP);
            let x = LEFT + staleness as f64 * group + at as f64 * width;
            svg.bar(x, BOTTOM - height, width, height, color(&scheme.scheme));
        }
    }
    let step = (most / 16).max(1);
    for staleness in (0..=most).step_by(step as usize) {
        let x = LEFT + (staleness as f64 + 0.4) * group;
        svg.text(x, BOTTOM + 18.0, 12.0, FAINT, "middle", "400", &staleness.to_string());
    }
}
