//! Events in a timeline: their flags and texts never overlap, and every event is marked and listed.

use inart_emulator::aggregation::timeline::{Event, JobLine, RoundPoint, Timeline};

use super::picture::{Picture, Rectangle, overlap};

const SECONDS: f64 = 60.0;
const FLAG: &str = "#fde68a";
const LINE: &str = "#fbbf24";

fn timeline(times: &[f64]) -> Timeline {
    let rounds = (0..60).map(|at| RoundPoint { seconds: f64::from(at), goodput_bps: 9e8 }).collect();
    let event = |(number, &seconds): (usize, &f64)| Event {
        seconds,
        rounds_audited: 0,
        what: format!("link a{number}-b{number} failed"),
    };
    Timeline {
        jobs: vec![JobLine { job: "one".into(), rounds }],
        events: times.iter().enumerate().map(event).collect(),
    }
}

fn is_within(inner: &Rectangle, outer: &Rectangle) -> bool {
    inner[0] >= outer[0] && inner[1] >= outer[1] && inner[2] <= outer[2] && inner[3] <= outer[3]
}

/// Returns the events that the text of a flag names: `3`, or `5-8`.
fn numbers(text: &str) -> std::ops::RangeInclusive<usize> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    first.parse().unwrap()..=last.parse().unwrap()
}

/// Draws a timeline with these events, and checks the picture by its boxes.
fn check(times: &[f64]) {
    let svg = timeline(times).draw("net");
    let picture = Picture::read(&svg);
    assert!(picture.problems().is_empty(), "{times:?}: {}", picture.problems().join("\n"));
    let of = |color: &'static str| {
        picture.marks.iter().filter(move |mark| mark.color == color).map(|mark| mark.room)
    };
    let flags: Vec<Rectangle> = of(FLAG).collect();
    let mut marked = Vec::new();
    for (at, flag) in flags.iter().enumerate() {
        let own: Vec<_> = picture.texts.iter().filter(|text| overlap(&text.room, flag)).collect();
        assert!(own.len() == 1 && is_within(&own[0].room, flag), "{times:?}: {flag:?} has {own:?}");
        let events = numbers(&own[0].text);
        let lines =
            of(LINE).filter(|line| flag[0] <= line[0] && line[0] <= flag[2] && line[1] <= flag[1] + 0.5);
        assert!(lines.count() >= events.clone().count(), "{times:?}: lines of {}", own[0].text);
        marked.extend(events);
        let covered = flags[at + 1..].iter().find(|other| overlap(flag, other));
        assert_eq!(covered, None, "{times:?}: on {flag:?}");
        // No other flag's line crosses the text.
        let crossing = of(LINE).find(|line| {
            let [left, top, right, bottom] = own[0].room;
            left < line[0] && line[0] < right && line[1] < top && line[3] > bottom && line[1] < flag[1] - 0.5
        });
        assert_eq!(crossing, None, "{times:?}: through {}", own[0].text);
    }
    let all: Vec<usize> = (1..=times.len()).collect();
    marked.sort_unstable();
    assert_eq!(marked, all, "{times:?}: marked");
    for (number, seconds) in all.iter().zip(times) {
        let text = format!("link a{0}-b{0} failed", number - 1);
        let found: Vec<_> = picture.texts.iter().filter(|found| found.text == text).collect();
        assert_eq!(found.len(), 1, "{text}");
        let is_in_row = |text: &str| {
            let beside = picture.texts.iter().filter(|other| other.text == text);
            beside.into_iter().any(|other| (other.room[1] - found[0].room[1]).abs() < 1.0)
        };
        assert!(
            is_in_row(&number.to_string()) && is_in_row(&format!("{seconds:.2} s")),
            "{number}: {seconds}"
        );
    }
}

#[test]
fn events_never_overlap_however_close_they_are() {
    check(&[]);
    check(&[30.0]);
    check(&[10.0; 12]);
    check(&(0..200).map(|at| 20.0 + f64::from(at) / 100.0).collect::<Vec<_>>());
    check(&(0..60).map(f64::from).collect::<Vec<_>>());
    check(&[0.0, 0.0, 59.98, 59.99, SECONDS, SECONDS]);
    // Clusters and single events of a small generator.
    let mut state = 7u64;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / f64::from(1u32 << 31)
    };
    for count in 1..120 {
        let width = [SECONDS, 8.0, 0.5][count % 3];
        let centers: Vec<f64> = (0..1 + count / 10).map(|_| (SECONDS - width) * draw()).collect();
        let mut times: Vec<f64> = (0..count).map(|at| centers[at % centers.len()] + width * draw()).collect();
        times.sort_by(f64::total_cmp);
        check(&times);
    }
}
