//! The picture of bulk synchronous rounds: how long each took, and how many an update reached.

use inart_experiments::palette::color;

use super::report::{BspFigures, Figures, Report, RoundTime, SchemeReport};
use crate::charts::panel::{Key, Panel, head, head_height};
use crate::charts::svg::{FAINT, Svg};

/// Heights of the panels with their axes.
const TIMES: f64 = 340.0;
const REACHED: f64 = 250.0;

/// How thick a scheme's lines are, by who makes the copies: two ways of one scheme have one color.
fn thickness(multicast: &str) -> f64 {
    if multicast == "switch" { 2.0 } else { 4.0 }
}

fn key(report: &Report, scheme: &SchemeReport, figures: &BspFigures) -> Key {
    let learnt = scheme.accuracy.map_or(String::new(), |share| format!(", {:.1} %", share * 100.0));
    let BspFigures { seconds, receivers_mean, .. } = figures;
    let is_both = report.multicast.contains(',');
    let by = if is_both { format!(" by {}", scheme.multicast) } else { String::new() };
    let others = if is_both { "" } else { " others" };
    let label = format!("{}{by} {seconds:.2} s/round, to {receivers_mean:.1}{others}{learnt}", scheme.scheme);
    Key { color: color(scheme.scheme), thickness: 3.5 * thickness(scheme.multicast), label }
}

/// Draws the chart; none of stale synchronous training, which has no rounds of all.
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
    let top = head_height(&keys) + 40.0;
    let mut svg = Svg::new(top + TIMES + REACHED);
    let title = format!("Training between the peers of {}", report.network);
    head(&mut svg, &title, report.scale, &keys);
    let most_y = most(|round| round.seconds.max(round.planned_s));
    let times = Panel { top, bottom: top + TIMES - 70.0, most_x, most_y };
    times.frame(&mut svg, "Each round's longest multicast, and what was planned for it (thin)", "s");
    let most_y = most(|round| round.receivers_mean);
    let reached = Panel { top: top + TIMES, bottom: top + TIMES + REACHED - 50.0, most_x, most_y };
    reached.frame(&mut svg, "Receivers of an update, mean over all peers", "");
    for (scheme, figures) in &schemes {
        let (colour, width) = (color(scheme.scheme), thickness(scheme.multicast));
        for round in &figures.each_round {
            let mut line = |panel: &Panel, value: f64, colour: &str, width: f64| {
                let (x1, y) = panel.at(round.start_s, value);
                let (x2, _) = panel.at(round.start_s + round.whole_s, value);
                svg.line(x1, y, x2, y, colour, width);
            };
            line(&times, round.planned_s, FAINT, 1.0);
            line(&times, round.seconds, colour, width);
            line(&reached, round.receivers_mean, colour, width);
        }
    }
    Some(svg.finish())
}
