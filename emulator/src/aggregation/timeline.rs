//! The events of a run and each round's goodput, as a chart over time and as text.

use std::fmt;

use inart_topologies::units::counted;
use serde::Serialize;

use crate::aggregation::flags::{ROW_HEIGHT as FLAG, flags};
use crate::aggregation::si::si;
use crate::charts::legend::{Key, Legend};
use crate::charts::svg::{
    FAINT, HEADING, INK, LINE, ROW, SERIES, Svg, TEXT, TITLE, WIDTH, fitted, fitted_title, rate_unit, ticks,
    wrap,
};

/// One run: all jobs under one scheme.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// One per job, in the order of the jobs.
    pub jobs: Vec<JobLine>,
    /// Events, in the order of their times.
    pub events: Vec<Event>,
}

/// One job's rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JobLine {
    /// Name of the job.
    pub job: String,
    /// Rounds, in the order in which their sums were checked.
    pub rounds: Vec<RoundPoint>,
}

/// A round whose sums were correct at every worker.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RoundPoint {
    /// Seconds of wall-clock time since the start of the run.
    pub seconds: f64,
    /// Bits of gradient values per second of its all-reduce, at the topology's own rates.
    pub goodput_bps: f64,
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// Seconds since all workers were connected.
    pub seconds: f64,
    /// Number of rounds of all jobs whose sums had been checked by then.
    pub rounds_audited: u32,
    /// Description of the event.
    pub what: String,
}

const MARGIN: f64 = 40.0;
const LEFT: f64 = 110.0;
/// Baselines of the subtitle and of the legend, and from the legend's foot to the flags of events.
const SUBTITLE: f64 = 84.0;
const LEGEND: f64 = 112.0;
const BELOW_LEGEND: f64 = 32.0;
/// Greatest width of a job's name in the legend.
const NAME: f64 = 240.0;
/// Thickness of a mark in the legend.
const MARK: f64 = 4.0;
/// Height of the curves' panel.
const PANEL: f64 = 320.0;
/// Position of the last time; the last flag ends to the right of it.
const END: f64 = WIDTH - MARGIN - 30.0;
/// Columns of the list of events: where numbers and times end, where texts begin.
const NUMBER: f64 = MARGIN + 36.0;
const SECONDS: f64 = MARGIN + 130.0;
const EVENT_TEXT: f64 = MARGIN + 146.0;
/// Height from the axis to the list: labels, the axis' name, the list's title.
const ABOVE_LIST: f64 = 130.0;
/// Colors of the events' lines, and of the flags with their numbers.
const EVENT: &str = "#fbbf24";
const EVENT_FLAG: &str = "#fde68a";

/// The position of the panel of the curves, and the ranges of its axes.
struct Area {
    top: f64,
    bottom: f64,
    end_s: f64,
    most_bps: f64,
}

impl Area {
    fn x(&self, seconds: f64) -> f64 {
        LEFT + (END - LEFT) * seconds / self.end_s
    }

    fn y(&self, bps: f64) -> f64 {
        self.bottom - PANEL * bps / (1.1 * self.most_bps)
    }
}

impl Timeline {
    /// Draws the goodput of each job over time, with a numbered flag for each event, and the list of events.
    pub fn draw(&self, topology: &str) -> String {
        let points = || self.jobs.iter().flat_map(|job| &job.rounds);
        let events = self.events.iter().map(|event| event.seconds);
        let end_s = points().map(|point| point.seconds).chain(events).fold(f64::MIN_POSITIVE, f64::max);
        let most_bps = points().map(|point| point.goodput_bps).fold(f64::MIN_POSITIVE, f64::max);
        let keys: Vec<Key> = self.jobs.iter().zip(SERIES.into_iter().cycle()).map(key).collect();
        let legend = Legend { keys: &keys, left: MARGIN, right: WIDTH - MARGIN };
        let flags_top = LEGEND + legend.height() + BELOW_LEGEND;
        let area = Area { top: flags_top, bottom: flags_top + PANEL, end_s, most_bps };
        let flags = flags(self.events.iter().map(|event| area.x(event.seconds)));
        let rows = flags.iter().map(|flag| flag.row + 1).max().unwrap_or(0);
        let top = flags_top + FLAG * rows as f64;
        let area = Area { top, bottom: top + PANEL, ..area };
        let texts: Vec<_> =
            self.events.iter().map(|event| wrap(&event.what, TEXT, WIDTH - MARGIN - EVENT_TEXT)).collect();
        let lines: usize = texts.iter().map(Vec::len).sum();
        let list = area.bottom + if lines > 0 { ABOVE_LIST } else { ABOVE_LIST - 2.0 * ROW };
        let description = format!(
            "Goodput per worker of each job over time. Numbered lines mark {}, listed below.",
            counted(self.events.len(), "event")
        );
        let title = format!("InArt on {topology}");
        let mut svg = Svg::new(list + ROW * lines as f64 + MARGIN - ROW, &title, &description);
        self.heading(&mut svg, &title);
        legend.draw(&mut svg, LEGEND);
        axes(&mut svg, &area, flags_top - 18.0);
        for flag in &flags {
            let y = area.top - FLAG * (flag.row + 1) as f64;
            flag.lines.iter().for_each(|&x| svg.line(x, y, x, area.bottom, EVENT, 1.5));
        }
        self.curves(&mut svg, &area);
        for flag in &flags {
            let y = area.top - FLAG * (flag.row + 1) as f64;
            let (left, right) = flag.span();
            svg.bar(left, y, right - left, FLAG - 2.0, EVENT_FLAG);
            svg.text((left + right) / 2.0, y + 17.5, TEXT, INK, "middle", "400", &flag.text);
        }
        svg.line(LEFT, area.bottom, WIDTH - MARGIN, area.bottom, FAINT, 1.0);
        self.list(&mut svg, &texts, list);
        svg.finish()
    }

    /// Draws the list of events, each with its number, from this baseline on.
    fn list(&self, svg: &mut Svg, texts: &[Vec<String>], top: f64) {
        if !self.events.is_empty() {
            svg.text(MARGIN, top - ROW - 4.0, HEADING, INK, "start", "600", "Events");
        }
        let mut at = top;
        for ((number, event), lines) in (1..).zip(&self.events).zip(texts) {
            svg.text(NUMBER, at, TEXT, INK, "end", "600", &number.to_string());
            svg.text(SECONDS, at, TEXT, FAINT, "end", "400", &format!("{:.2} s", event.seconds));
            for line in lines {
                svg.text(EVENT_TEXT, at, TEXT, INK, "start", "400", line);
                at += ROW;
            }
        }
    }

    /// Draws the title and the number of rounds.
    fn heading(&self, svg: &mut Svg, title: &str) {
        let title = fitted_title(title, WIDTH - 2.0 * MARGIN);
        svg.text(MARGIN, 52.0, TITLE, INK, "start", "600", &title);
        let rounds: usize = self.jobs.iter().map(|job| job.rounds.len()).sum();
        let line = format!(
            "{rounds} rounds, all sums bit-exact. Rates are the topology's own; times are wall-clock times."
        );
        svg.text(MARGIN, SUBTITLE, TEXT, FAINT, "start", "400", &line);
    }

    fn curves(&self, svg: &mut Svg, area: &Area) {
        for (index, job) in self.jobs.iter().enumerate().rev() {
            let curve: Vec<_> =
                job.rounds.iter().map(|point| (area.x(point.seconds), area.y(point.goodput_bps))).collect();
            svg.curve(&curve, SERIES[index % SERIES.len()], 2.0, "");
        }
    }
}

fn key((job, color): (&JobLine, &'static str)) -> Key {
    Key { color, thickness: MARK, label: fitted(&job.job, TEXT, NAME) }
}

/// Draws the axes; `name` is the baseline of the name of the axis of y.
fn axes(svg: &mut Svg, area: &Area, name: f64) {
    let (unit_bps, unit) = rate_unit(area.most_bps);
    svg.text(MARGIN, name, HEADING, INK, "start", "600", &format!("Goodput per worker ({unit})"));
    for (value, label) in ticks(1.1 * area.most_bps / unit_bps) {
        let y = area.y(value * unit_bps);
        svg.line(LEFT, y, WIDTH - MARGIN, y, LINE, 1.0);
        svg.text(LEFT - 8.0, y + 6.0, TEXT, FAINT, "end", "400", &label);
    }
    for (value, label) in ticks(area.end_s) {
        svg.text(area.x(value), area.bottom + 24.0, TEXT, FAINT, "middle", "400", &label);
    }
    let middle = (LEFT + END) / 2.0;
    svg.text(middle, area.bottom + 50.0, TEXT, FAINT, "middle", "400", "Time (s)");
}

/// Prints one event per line with its time and the goodput of every job until the next event.
impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let starts = self.events.iter().map(|event| event.seconds);
        let ends = starts.skip(1).chain([f64::INFINITY]);
        let mut rows =
            vec![(0.0, "training begins", self.events.first().map_or(f64::INFINITY, |event| event.seconds))];
        rows.extend(
            self.events.iter().zip(ends).map(|(event, end)| (event.seconds, event.what.as_str(), end)),
        );
        for (from, what, to) in rows {
            let goodput = |job: &JobLine| {
                let within = job.rounds.iter().filter(|round| (from..to).contains(&round.seconds));
                let rounds: Vec<f64> = within.map(|round| round.goodput_bps).collect();
                match rounds.len() {
                    0 => format!("{:>9}", "-"),
                    count => format!("{:>9}", si(rounds.iter().sum::<f64>() / count as f64, "bps")),
                }
            };
            let goodputs: Vec<_> = self.jobs.iter().map(goodput).collect();
            writeln!(f, "{from:8.2} s  {}  {what}", goodputs.join("  "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::svg::width_of;

    fn event(seconds: f64, what: &str) -> Event {
        Event { seconds, rounds_audited: 0, what: what.into() }
    }

    #[test]
    fn every_job_round_and_event_is_in_the_picture() {
        let point = |seconds, goodput_bps| RoundPoint { seconds, goodput_bps };
        let line = |job: &str, low: f64| JobLine {
            job: job.into(),
            rounds: (0..100).map(|i| point(f64::from(i) / 5.0, if i < 50 { 2e9 } else { low })).collect(),
        };
        let timeline = Timeline {
            jobs: vec![line("vision", 1e9), line("<language>", 1.5e9)],
            events: vec![event(10.0, "background udp begins"), event(10.5, "change 1: done")],
        };
        let svg = timeline.draw("fig1");
        if let Ok(path) = std::env::var("INART_TIMELINE_SAMPLE") {
            std::fs::write(path, &svg).expect("written");
        }
        for text in [
            "vision",
            "&lt;language&gt;",
            "200 rounds",
            "10.50 s",
            "change 1: done",
            ">Goodput per worker (Gbps)<",
            ">2.0<",
            ">Time (s)<",
            ">15<",
        ] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert_eq!(svg.lines().filter(|line| line.contains("#fbbf24")).count(), 2, "a mark per event");
        let points =
            svg.lines().find(|line| line.starts_with("<polyline")).map(|line| line.matches(',').count());
        assert_eq!(points, Some(100));
    }

    #[test]
    fn the_text_has_the_mean_goodput_between_events() {
        let point = |seconds, goodput_bps| RoundPoint { seconds, goodput_bps };
        let rounds = vec![point(1.0, 2e9), point(2.0, 4e9), point(6.0, 1e9)];
        let timeline = Timeline {
            jobs: vec![JobLine { job: "one".into(), rounds }],
            events: vec![event(5.0, "link a-b down"), event(7.0, "link a-b up")],
        };
        let text = timeline.to_string();
        let lines: Vec<_> = text.lines().map(str::trim).collect();
        let expected = [
            "0.00 s  3.00 Gbps  training begins",
            "5.00 s  1.00 Gbps  link a-b down",
            "7.00 s          -  link a-b up",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_long_text_goes_on_in_the_next_row_and_the_picture_grows() {
        let height = |svg: &str| -> f64 {
            let text = svg.split("height=\"").nth(1).and_then(|text| text.split('"').next());
            text.and_then(|text| text.parse().ok()).expect("a height")
        };
        let draw = |what: &str| Timeline { jobs: vec![], events: vec![event(1.0, what)] }.draw("x");
        let (short, long) = (draw("short"), draw(&"undone: switch v1 refused ".repeat(12)));
        assert!((height(&long) - height(&short) - 3.0 * ROW).abs() < 1e-9, "{long}");
        let place = format!("<text x=\"{EVENT_TEXT:.1}\"");
        let texts = long.lines().filter_map(|line| line.strip_prefix(&place)?.strip_suffix("</text>"));
        let widths: Vec<_> =
            texts.filter_map(|text| text.split_once('>')).map(|(_, text)| width_of(text, TEXT)).collect();
        assert_eq!(widths.len(), 4);
        assert!(widths.iter().all(|width| *width <= WIDTH - MARGIN - EVENT_TEXT), "{long}");
    }

    #[test]
    fn nothing_that_happened_draws_nothing_impossible() {
        let svg = Timeline::default().draw("x");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
