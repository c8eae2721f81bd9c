//! The chart of an emulated WAN topology: the time of every round by scheme, and the rates of the links.

use inart_experiments::palette::color;
use inart_topologies::sites::Overlay;

use super::report::{Report, SchemeReport};
use crate::charts::legend::Key;
use crate::charts::panel::{BELOW_AXIS, FOOT, Head, Panel};
use crate::charts::svg::{FAINT, INK, Svg, rate_unit};

/// Heights of the panels without their axes, in pixels.
const TIMES: f64 = 280.0;
const RATES: f64 = 200.0;

/// Returns the thickness of a scheme's lines: a scheme with auxiliary paths has the color of the scheme
/// without.
fn thickness(scheme: &str) -> f64 {
    if scheme.ends_with('+') { 2.0 } else { 4.0 }
}

fn key(scheme: &SchemeReport) -> Key {
    Key {
        color: color(&scheme.scheme),
        thickness: 3.5 * thickness(&scheme.scheme),
        label: format!("{}: {:.2} s per round", scheme.scheme, scheme.mean_s),
    }
}

/// Draws the chart; `overlay` is the network of the document.
pub fn chart(report: &Report, overlay: &Overlay) -> String {
    let keys: Vec<Key> = report.schemes.iter().map(key).collect();
    let title = format!("Training across the sites of {}", report.network);
    let head = Head::new(&title, report.scale, &keys);
    let top = head.height();
    let below = top + TIMES + BELOW_AXIS;
    let description = "The time of every round for each scheme, and the rates of the links over time.";
    let mut svg = Svg::new(below + RATES + FOOT, &title, description);
    head.draw(&mut svg);
    let rounds = || report.schemes.iter().flat_map(|scheme| &scheme.rounds);
    let most_x = rounds().map(|round| round.start_s + round.seconds).fold(1e-3, f64::max);
    let most_y = rounds().map(|round| round.seconds).fold(1e-3, f64::max);
    let panel = Panel { top, bottom: top + TIMES, most_x, most_y };
    panel.frame(&mut svg, "Time per round (s)");
    for scheme in &report.schemes {
        for round in &scheme.rounds {
            let (x1, y) = panel.at(round.start_s, round.seconds);
            let (x2, _) = panel.at(round.start_s + round.seconds, round.seconds);
            svg.line(x1, y, x2, y, color(&scheme.scheme), thickness(&scheme.scheme));
        }
    }
    rates(&mut svg, overlay, (below, below + RATES), most_x);
    svg.finish()
}

/// Draws the least, the mean and the greatest of all directed rates over time.
fn rates(svg: &mut Svg, overlay: &Overlay, (top, bottom): (f64, f64), most_x: f64) {
    let mut times = vec![0.0];
    while let Some(change) = times.last().and_then(|&last| overlay.next_change(last)) {
        if change >= most_x {
            break;
        }
        times.push(change);
    }
    let at = |time: f64| overlay.rates_at(time).0;
    let most_bps = times.iter().flat_map(|&time| at(time)).fold(1.0, f64::max);
    let (unit_bps, unit) = rate_unit(most_bps);
    let panel = Panel { top, bottom, most_x, most_y: most_bps / unit_bps };
    panel.frame(svg, &format!("Link rate ({unit}): minimum, mean and maximum of all directions"));
    type Pick = fn(&[f64]) -> f64;
    let picks: [(Pick, &str); 3] = [
        (|rates| rates.iter().copied().fold(f64::INFINITY, f64::min), FAINT),
        (|rates| rates.iter().sum::<f64>() / rates.len() as f64, INK),
        (|rates| rates.iter().copied().fold(0.0, f64::max), FAINT),
    ];
    for (pick, shade) in picks {
        let mut points = Vec::new();
        for (index, &time) in times.iter().enumerate() {
            let until = times.get(index + 1).copied().unwrap_or(most_x);
            let rate = pick(&at(time)) / unit_bps;
            points.extend([panel.at(time, rate), panel.at(until, rate)]);
        }
        svg.curve(&points, shade, 2.0, "");
    }
}
