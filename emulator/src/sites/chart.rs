//! The picture of an emulation of sites: the time of every round by scheme, and the rates of the links.

use inart_experiments::palette::color;
use inart_topologies::sites::Overlay;

use super::report::{Report, SchemeReport};
use crate::charts::panel::{Key, Panel, head, head_height};
use crate::charts::svg::{FAINT, INK, Svg};

/// Heights of the panels with their axes.
const TIMES: f64 = 340.0;
const RATES: f64 = 270.0;

/// How thick a scheme's lines are: those with auxiliary paths have the scheme's color.
fn thickness(scheme: &str) -> f64 {
    if scheme.ends_with('+') { 2.0 } else { 4.0 }
}

fn key(scheme: &SchemeReport) -> Key {
    Key {
        color: color(&scheme.scheme),
        thickness: 3.5 * thickness(&scheme.scheme),
        label: format!("{}: {:.2} s/round", scheme.scheme, scheme.mean_s),
    }
}

/// Draws the chart; `overlay` is the network as in its document.
pub fn chart(report: &Report, overlay: &Overlay) -> String {
    let keys: Vec<Key> = report.schemes.iter().map(key).collect();
    let top = head_height(&keys) + 40.0;
    let mut svg = Svg::new(top + TIMES + RATES);
    let title = format!("Training between the data centres of {}", report.network);
    head(&mut svg, &title, report.scale, &keys);
    let rounds = || report.schemes.iter().flat_map(|scheme| &scheme.rounds);
    let most_x = rounds().map(|round| round.start_s + round.seconds).fold(1e-3, f64::max);
    let most_y = rounds().map(|round| round.seconds).fold(1e-3, f64::max);
    let panel = Panel { top, bottom: top + TIMES - 70.0, most_x, most_y };
    panel.frame(&mut svg, "Time of each round, from its beginning to its end", "s");
    for scheme in &report.schemes {
        for round in &scheme.rounds {
            let (x1, y) = panel.at(round.start_s, round.seconds);
            let (x2, _) = panel.at(round.start_s + round.seconds, round.seconds);
            svg.line(x1, y, x2, y, color(&scheme.scheme), thickness(&scheme.scheme));
        }
    }
    rates(&mut svg, overlay, (top + TIMES, top + TIMES + RATES - 50.0), most_x);
    svg.finish()
}

/// The least, the mean and the most of all directed rates over time.
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
    let units = [(1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps")];
    let (unit_bps, unit) = units.into_iter().find(|(bps, _)| most_bps >= *bps).unwrap_or((1.0, "bps"));
    let panel = Panel { top, bottom, most_x, most_y: most_bps / unit_bps };
    panel.frame(svg, "Rates of the links: least, mean and most of all directions", unit);
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
            let rate = pick(&at(time)) / unit_bps;
            points.extend([panel.at(time, rate), panel.at(until, rate)]);
        }
        svg.curve(&points, colour, 2.0, "");
    }
}
