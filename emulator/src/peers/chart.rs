//! The chart of bulk synchronous rounds: the time of each multicast, and the receivers of an update.

use inart_experiments::palette::color;

use super::report::{BspFigures, Figures, Report, RoundTime, SchemeReport};
use crate::charts::legend::Key;
use crate::charts::panel::{BELOW_AXIS, FOOT, Head, Panel};
use crate::charts::svg::{FAINT, Svg};

/// Heights of the panels without their axes, in pixels.
const TIMES: f64 = 280.0;
const REACHED: f64 = 180.0;

/// Returns the thickness of a scheme's lines: a scheme has one color, whether hosts or switches make the
/// copies.
fn thickness(multicast: &str) -> f64 {
    if multicast == "switch" { 2.0 } else { 4.0 }
}

fn key(report: &Report, scheme: &SchemeReport, figures: &BspFigures) -> Key {
    let accuracy =
        scheme.accuracy.map_or(String::new(), |share| format!(", accuracy {:.1} %", share * 100.0));
    let BspFigures { seconds, receivers_mean, .. } = figures;
    let is_both = report.multicast.contains(',');
    let by = if is_both { format!(" by {}", scheme.multicast) } else { String::new() };
    let label =
        format!("{}{by}: {seconds:.2} s per round, {receivers_mean:.1} receivers{accuracy}", scheme.scheme);
    Key { color: color(scheme.scheme), thickness: 3.5 * thickness(scheme.multicast), label }
}

/// Draws the chart. Returns `None` for stale synchronous training, which has no common rounds.
pub fn chart(report: &Report) -> Option<String> {
    let of = |figures: &'_ Figures| match figures {
        Figures::Bsp(figures) => Some(figures.clone()),
        Figures::Ssp(_) => None,
    };
    let schemes = report.schemes.iter().map(|scheme| Some((scheme, of(&scheme.figures)?)));
    let schemes = schemes.collect::<Option<Vec<_>>>()?;
    let most = |of: fn(&RoundTime) -> f64| {
        let all = schemes.iter().flat_map(|(_, figures)| &figures.each_round);
        all.map(of).fold(1e-3, f64::max)
    };
    let most_x = most(|round| round.start_s + round.whole_s);
    let keys: Vec<Key> = schemes.iter().map(|(scheme, figures)| key(report, scheme, figures)).collect();
    let title = format!("Training between the peers of {}", report.network);
    let head = Head::new(&title, report.scale, &keys);
    let top = head.height();
    let below = top + TIMES + BELOW_AXIS;
    let description = "The time of each round's longest multicast, measured and planned, and the mean number of \
                       receivers of an update, for each scheme.";
    let mut svg = Svg::new(below + REACHED + FOOT, &title, description);
    head.draw(&mut svg);
    let most_y = most(|round| round.seconds.max(round.planned_s));
    let times = Panel { top, bottom: top + TIMES, most_x, most_y };
    times.frame(&mut svg, "Time of the longest multicast per round (s); thin gray: planned");
    let most_y = most(|round| round.receivers_mean);
    let reached = Panel { top: below, bottom: below + REACHED, most_x, most_y };
    reached.frame(&mut svg, "Receivers per update (mean over peers)");
    for (scheme, figures) in &schemes {
        let (shade, width) = (color(scheme.scheme), thickness(scheme.multicast));
        for round in &figures.each_round {
            let mut line = |panel: &Panel, value: f64, shade: &str, width: f64| {
                let (x1, y) = panel.at(round.start_s, value);
                let (x2, _) = panel.at(round.start_s + round.whole_s, value);
                svg.line(x1, y, x2, y, shade, width);
            };
            line(&times, round.planned_s, FAINT, 1.0);
            line(&times, round.seconds, shade, width);
            line(&reached, round.receivers_mean, shade, width);
        }
    }
    Some(svg.finish())
}
