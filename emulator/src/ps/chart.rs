//! The chart of training at a parameter server: test accuracy over time, and the staleness of updates.

use inart_experiments::palette::color;

use super::report::{Report, SchemeReport};
use crate::charts::legend::Key;
use crate::charts::panel::{BELOW_AXIS, FOOT, Head, LEFT, Panel, RIGHT};
use crate::charts::svg::Svg;

/// Heights of the panels without their axes, in pixels.
const ACCURACY: f64 = 300.0;
const STALENESS: f64 = 180.0;
/// Greatest number of labels of the axis of staleness.
const LABELS: u64 = 14;

fn key(scheme: &SchemeReport) -> Key {
    let SchemeReport { scheme: name, iteration_s, accuracy, .. } = scheme;
    let label = format!("{name}: {iteration_s:.2} s per iteration, accuracy {:.1} %", accuracy * 100.0);
    Key { color: color(name), thickness: 14.0, label }
}

/// Draws the chart.
pub fn chart(report: &Report) -> String {
    let schemes = &report.schemes;
    let keys: Vec<Key> = schemes.iter().map(key).collect();
    let title = format!("Parameter-server training on {}", report.network);
    let head = Head::new(&title, report.scale, &keys);
    let top = head.height();
    let below = top + ACCURACY + BELOW_AXIS;
    let description = "Test accuracy over time, and the share of updates by staleness, for each scheme.";
    let mut svg = Svg::new(below + STALENESS + FOOT, &title, description);
    head.draw(&mut svg);
    let most_x = schemes.iter().map(|scheme| scheme.seconds).fold(1e-3, f64::max);
    let accuracy = Panel { top, bottom: top + ACCURACY, most_x, most_y: 100.0 };
    accuracy.frame(&mut svg, "Test accuracy (%)");
    for scheme in schemes {
        let points: Vec<_> =
            scheme.evaluations.iter().map(|now| accuracy.at(now.at_s, now.accuracy * 100.0)).collect();
        svg.curve(&points, color(&scheme.scheme), 3.0, "");
    }
    staleness_bars(&mut svg, schemes, below);
    svg.finish()
}

/// Draws a group of bars for each staleness.
fn staleness_bars(svg: &mut Svg, schemes: &[SchemeReport], top: f64) {
    let most = schemes.iter().filter_map(|scheme| scheme.staleness_counts.keys().last()).max();
    let most = most.copied().unwrap_or(0);
    let panel = Panel { top, bottom: top + STALENESS, most_x: (most + 1) as f64, most_y: 100.0 };
    panel.name(svg, "Share of updates (%)");
    panel.x_name(svg, "Staleness (model versions)");
    for percent in [0, 50, 100] {
        panel.grid_line(svg, f64::from(percent), &percent.to_string());
    }
    let group = (RIGHT - LEFT) / panel.most_x;
    let width = group * 0.8 / schemes.len().max(1) as f64;
    for (at, scheme) in schemes.iter().enumerate() {
        let all = scheme.staleness_counts.values().sum::<u64>().max(1) as f64;
        for (&staleness, &count) in &scheme.staleness_counts {
            let (x, y) = panel.at(staleness as f64, 100.0 * count as f64 / all);
            svg.bar(x + at as f64 * width, y, width, panel.bottom - y, color(&scheme.scheme));
        }
    }
    for staleness in (0..=most).step_by(most.div_ceil(LABELS).max(1) as usize) {
        let (x, _) = panel.at(staleness as f64 + 0.4, 0.0);
        panel.x_label(svg, x, &staleness.to_string());
    }
}
