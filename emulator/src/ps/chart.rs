//! The picture: how good the model was over time, and how stale updates were.

use inart_experiments::palette::color;

use super::report::{Report, SchemeReport};
use crate::charts::panel::{Key, LEFT, Panel, RIGHT, head, head_height};
use crate::charts::svg::{FAINT, INK, LINE, Svg};

/// Heights of the panels with their axes.
const LEARNING: f64 = 360.0;
const STALENESS: f64 = 220.0;

fn key(scheme: &SchemeReport) -> Key {
    let SchemeReport { scheme: name, iteration_s, accuracy, .. } = scheme;
    let label = format!("{name}: {iteration_s:.2} s/iteration, {:.1} %", accuracy * 100.0);
    Key { color: color(name), thickness: 14.0, label }
}

/// Draws the chart.
pub fn chart(report: &Report) -> String {
    let schemes = &report.schemes;
    let keys: Vec<Key> = schemes.iter().map(key).collect();
    let top = head_height(&keys) + 40.0;
    let mut svg = Svg::new(top + LEARNING + STALENESS);
    let title = format!("Training at the parameter server of {}", report.network);
    head(&mut svg, &title, report.scale, &keys);
    let most_x = schemes.iter().map(|scheme| scheme.seconds).fold(1e-3, f64::max);
    let learning = Panel { top, bottom: top + LEARNING - 70.0, most_x, most_y: 100.0 };
    learning.frame(&mut svg, "Test accuracy", "%");
    for scheme in schemes {
        let points: Vec<_> =
            scheme.evaluations.iter().map(|now| learning.at(now.at_s, now.accuracy * 100.0)).collect();
        svg.curve(&points, color(&scheme.scheme), 3.0, "");
    }
    stalenesses(&mut svg, schemes, top + LEARNING);
    svg.finish()
}

/// A group of bars for each staleness.
fn stalenesses(svg: &mut Svg, schemes: &[SchemeReport], top: f64) {
    let bottom = top + STALENESS - 50.0;
    let title = "Share of updates by staleness, in versions of the model";
    svg.text(LEFT, top - 14.0, 15.0, INK, "start", "600", title);
    let most = schemes.iter().filter_map(|scheme| scheme.staleness_counts.keys().last()).max();
    let most = most.copied().unwrap_or(0);
    for percent in [0, 50, 100] {
        let y = bottom - f64::from(percent) / 100.0 * (bottom - top);
        svg.line(LEFT, y, RIGHT, y, LINE, 1.0);
        svg.text(LEFT - 8.0, y + 4.0, 12.0, FAINT, "end", "400", &format!("{percent} %"));
    }
    let group = (RIGHT - LEFT) / (most + 1) as f64;
    let width = group * 0.8 / schemes.len().max(1) as f64;
    for (at, scheme) in schemes.iter().enumerate() {
        let all = scheme.staleness_counts.values().sum::<u64>().max(1) as f64;
        for (&staleness, &count) in &scheme.staleness_counts {
            let height = count as f64 / all * (bottom - top);
            let x = LEFT + staleness as f64 * group + at as f64 * width;
            svg.bar(x, bottom - height, width, height, color(&scheme.scheme));
        }
    }
    let step = (most / 16).max(1);
    for staleness in (0..=most).step_by(step as usize) {
        let x = LEFT + (staleness as f64 + 0.4) * group;
        svg.text(x, bottom + 18.0, 12.0, FAINT, "middle", "400", &staleness.to_string());
    }
}
