//! The picture of an emulation of sites: the time of every round by scheme, and the rates of the links.

use inart_experiments::palette::color;
use inart_overlay::Overlay;

use super::report::Report;
use crate::panel::{LEFT, Panel};
use crate::svg::{FAINT, INK, Svg};

const HEIGHT: f64 = 720.0;

/// Draws the chart.
pub fn chart(report: &Report, overlay: &Overlay) -> String {
    let mut svg = Svg::new(HEIGHT);
    let title = format!("Training between the data centres of {}", report.network);
    svg.text(LEFT, 44.0, 24.0, INK, "start", "600", &title);
    let rounds = || report.schemes.iter().flat_map(|scheme| &scheme.rounds);
    let most_x = rounds().map(|round| round.start_s + round.seconds).fold(1e-3, f64::max);
    let most_y = rounds().map(|round| round.seconds).fold(1e-3, f64::max);
    let panel = Panel { top: 110.0, bottom: 400.0, most_x, most_y };
    panel.frame(&mut svg, "Time of each round, from its beginning to its end", "s");
    for (at, scheme) in report.schemes.iter().enumerate() {
        let colour = color(&scheme.scheme);
        for round in &scheme.rounds {
            let (x1, y) = panel.at(round.start_s, round.seconds);
            let (x2, _) = panel.at(round.start_s + round.seconds, round.seconds);
            svg.line(x1, y, x2, y, colour, 4.0);
        }
        let x = LEFT + 190.0 * at as f64;
        svg.bar(x, 62.0, 14.0, 14.0, colour);
        let label = format!("{}: {:.2} s/round", scheme.scheme, scheme.mean_s);
        svg.text(x + 20.0, 74.0, 13.0, INK, "start", "400", &label);
    }
    rates(&mut svg, overlay, most_x);
    svg.finish()
}

/// The least, the mean and the most of all directed rates over time.
fn rates(svg: &mut Svg, overlay: &Overlay, most_x: f64) {
    let mut times = vec![0.0];
    while let Some(change) = times.last().and_then(|&last| overlay.next_change(last)) {
        if change >= most_x {
            break;
        }
        times.push(change);
    }
    let at = |time: f64| overlay.rates_at(time).0;
    let most_y = times.iter().flat_map(|&time| at(time)).fold(1.0, f64::max) / 1e6;
    let panel = Panel { top: 470.0, bottom: 670.0, most_x, most_y };
    panel.frame(svg, "Rates of the links: least, mean and most of all directions", "Mbps");
    type Pick = fn(&[f64]) -> f64;
    let picks: [(Pick, &str); 3] = [
        (|rates| rates.iter().copied().fold(f64::INFINITY, f64::min), FAINT),
        (|rates| rates.iter().sum::<f64>() / rates.len() as f64, INK),
        (|rates| rates.iter().copied().fold(0.0, f64::max), FAINT),
    ];
    for (pick, colour) in picks {
        let mut points = Vec::new();
        for (index, &time) in times.iter().enumerate() {
            let until = times.get(index + 1).copied().unwrap_or(most_x);
            let rate = pick(&at(time)) / 1e6;
            points.extend([panel.at(time, rate), panel.at(until, rate)]);
        }
        svg.curve(&points, colour, 2.0, "");
    }
}
