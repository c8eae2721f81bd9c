//! What happened to the jobs of a run, and when: each round's goodput, and every event. Drawn as a chart over
//! time.

use std::fmt;

use serde::Serialize;

use crate::aggregation::flags::{ROW_HEIGHT as FLAG, flags};
use crate::aggregation::si::si;
use crate::charts::svg::{FAINT, INK, LINE, SERIES, Svg, WIDTH, fitted, width_of, wrap};

/// One run: all jobs under one scheme.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// In the order of the jobs.
    pub jobs: Vec<JobLine>,
    /// In the order in which they happened.
    pub events: Vec<Event>,
}

/// One job's rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JobLine {
    /// Its name.
    pub job: String,
    /// In the order in which their sums were checked.
    pub rounds: Vec<RoundPoint>,
}

/// A round whose sums were right at every worker.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RoundPoint {
    /// Seconds since the start of the run, by the clock.
    pub seconds: f64,
    /// Bits of gradient values per second of its all-reduce, at the topology's own rates.
    pub goodput_bps: f64,
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// Seconds since all workers were there.
    pub seconds: f64,
    /// Rounds of all jobs whose sums had been checked by then.
    pub rounds_audited: u32,
    /// What.
    pub what: String,
}

const MARGIN: f64 = 40.0;
const LEFT: f64 = 120.0;
/// Where the flags of events begin.
const TOP: f64 = 94.0;
/// Height of the curves' panel.
const PANEL: f64 = 300.0;
const ROW: f64 = 20.0;
/// Where the last time is; the last flag reaches farther.
const END: f64 = WIDTH - MARGIN - 30.0;
/// The room for all jobs' names beside the title, and for one.
const NAMES: f64 = 560.0;
const LONGEST_NAME: f64 = 160.0;
/// Size of the list's text, and where it begins.
const SMALL: f64 = 13.0;
const TEXT: f64 = MARGIN + 92.0;
/// Lines of events, and the flags with their numbers.
const EVENT: &str = "#fbbf24";
const EVENT_FLAG: &str = "#fde68a";

/// Where the panel of the curves is, and what its axes go to.
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
        let area = Area { top: TOP, bottom: TOP + PANEL, end_s, most_bps };
        let flags = flags(self.events.iter().map(|event| area.x(event.seconds)));
        let rows = flags.iter().map(|flag| flag.row + 1).max().unwrap_or(0);
        let top = TOP + FLAG * rows as f64;
        let area = Area { top, bottom: top + PANEL, ..area };
        let texts: Vec<_> =
            self.events.iter().map(|event| wrap(&event.what, SMALL, WIDTH - MARGIN - TEXT)).collect();
        let lines: usize = texts.iter().map(Vec::len).sum();
        let list = area.bottom + 70.0;
        let mut svg = Svg::new(list + ROW * lines as f64 + MARGIN);
        self.heading(&mut svg, topology);
        axes(&mut svg, &area);
        for flag in &flags {
            let y = area.top - FLAG * (flag.row + 1) as f64;
            flag.lines.iter().for_each(|&x| svg.line(x, y, x, area.bottom, EVENT, 1.5));
        }
        self.curves(&mut svg, &area);
        for flag in &flags {
            let y = area.top - FLAG * (flag.row + 1) as f64;
            let (left, right) = flag.span();
            svg.bar(left, y, right - left, FLAG - 2.0, EVENT_FLAG);
            svg.text((left + right) / 2.0, y + 11.0, 12.0, INK, "middle", "600", &flag.text);
        }
        svg.line(LEFT, area.bottom, WIDTH - MARGIN, area.bottom, FAINT, 1.0);
        let mut at = list;
        for ((number, event), lines) in (1..).zip(&self.events).zip(&texts) {
            svg.text(MARGIN + 20.0, at, SMALL, INK, "end", "600", &number.to_string());
            svg.text(MARGIN + 80.0, at, SMALL, FAINT, "end", "400", &format!("{:.2} s", event.seconds));
            for line in lines {
                svg.text(TEXT, at, SMALL, INK, "start", "400", line);
                at += ROW;
            }
        }
        svg.finish()
    }

    /// Title, what is shown, and whose curve is which.
    fn heading(&self, svg: &mut Svg, topology: &str) {
        let title = fitted(&format!("InArt on {topology}"), 26.0, WIDTH - 2.0 * MARGIN - NAMES);
        svg.text(MARGIN, 52.0, 26.0, INK, "start", "600", &title);
        let rounds: usize = self.jobs.iter().map(|job| job.rounds.len()).sum();
        let line = format!(
            "Goodput per worker of each round at the topology's own rates, {rounds} rounds, all sums bit-exact. Time by the clock."
        );
        svg.text(MARGIN, 76.0, 14.0, FAINT, "start", "400", &line);
        let room = (NAMES / self.jobs.len().max(1) as f64 - 60.0).clamp(20.0, LONGEST_NAME);
        let mut legend = WIDTH - MARGIN;
        for (index, job) in self.jobs.iter().enumerate().rev() {
            let name = fitted(&job.job, 14.0, room);
            let at = legend - width_of(&name, 14.0);
            if at - 40.0 < WIDTH - MARGIN - NAMES {
                break;
            }
            svg.text(at, 52.0, 14.0, INK, "start", "400", &name);
            svg.line(at - 40.0, 48.0, at - 10.0, 48.0, SERIES[index % SERIES.len()], 3.0);
            legend = at - 60.0;
        }
    }

    fn curves(&self, svg: &mut Svg, area: &Area) {
        for (index, job) in self.jobs.iter().enumerate().rev() {
            let curve: Vec<_> =
                job.rounds.iter().map(|point| (area.x(point.seconds), area.y(point.goodput_bps))).collect();
            svg.curve(&curve, SERIES[index % SERIES.len()], 2.0, "");
        }
    }
}

fn axes(svg: &mut Svg, area: &Area) {
    for tick in ticks(1.1 * area.most_bps) {
        let y = area.y(tick);
        svg.line(LEFT, y, WIDTH - MARGIN, y, LINE, 1.0);
        svg.text(LEFT - 8.0, y + 4.5, 13.0, FAINT, "end", "400", &si(tick, "bps"));
    }
    for tick in ticks(area.end_s) {
        let label = format!("{tick} s");
        svg.text(area.x(tick), area.bottom + 20.0, 13.0, FAINT, "middle", "400", &label);
    }
}

/// What happened and when, one event per line, each with the goodput of every job between it and the next.
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

/// Round numbers from 0 to `most`, ten at most.
fn ticks(most: f64) -> impl Iterator<Item = f64> {
    let power = 10f64.powf(most.log10().floor() - 1.0);
    let step = [1.0, 2.0, 5.0, 10.0, 20.0].map(|factor| factor * power);
    let step = step.into_iter().find(|step| most / step <= 10.0).unwrap_or(most);
    (0..=10).map(move |tick| f64::from(tick) * step).take_while(move |tick| *tick <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for text in
            ["vision", "&lt;language&gt;", "200 rounds", "10.50 s", "change 1: done", ">2.00 Gbps<", ">18 s<"]
        {
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
        assert!((height(&long) - height(&short) - 2.0 * ROW).abs() < 1e-9, "{long}");
        let longest =
            long.lines().filter_map(|line| line.split_once('>')).map(|(_, text)| width_of(text, SMALL));
        assert!(longest.fold(0.0, f64::max) <= WIDTH - TEXT, "{long}");
    }

    #[test]
    fn nothing_that_happened_draws_nothing_impossible() {
        let svg = Timeline::default().draw("x");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn ticks_are_round_numbers() {
        for (most, expected) in
            [(1.0, vec![0.0, 0.1, 0.2]), (22.0, vec![0.0, 5.0, 10.0]), (3e9, vec![0.0, 5e8, 1e9])]
        {
            let all: Vec<_> = ticks(most).collect();
            assert!(all.len() <= 11 && all.iter().all(|tick| *tick <= most));
            for (tick, wanted) in all.iter().zip(expected) {
                assert!((tick - wanted).abs() < 1e-9 * most, "{all:?}");
            }
        }
    }
}
