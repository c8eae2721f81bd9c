//! SVG documents, written by hand: a chart library would fix too much of their layout. Every text is a
//! `<text>` element, and a title and a description are there for screen readers.

use std::fmt::Write;

/// Width of every document, in pixels.
pub const WIDTH: f64 = 1200.0;
/// Size of the smallest text, in pixels: 9 pixels when the picture is shown at half its width.
pub const TEXT: f64 = 18.0;
/// Size of the title of a panel, in pixels.
pub const HEADING: f64 = 20.0;
/// Size of the title of a picture, in pixels.
pub const TITLE: f64 = 26.0;
/// Height of a line of the smallest text, in pixels.
pub const ROW: f64 = 26.0;
/// Color of text.
pub const INK: &str = "#1f2937";
/// Color of axes and their labels.
pub const FAINT: &str = "#6b7280";
/// Color of grids.
pub const LINE: &str = "#e5e7eb";
/// Colors of the jobs of one scheme, by the job's index.
pub const SERIES: [&str; 7] = inart_experiments::palette::COLORS;

/// A document under construction.
pub struct Svg(String);

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

impl Svg {
    /// Creates an empty document of that height in pixels, with a title and a description for readers that
    /// cannot see the picture.
    pub fn new(height: f64, title: &str, description: &str) -> Self {
        let (title, description) = (escaped(title), escaped(description));
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" font-family=\"Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif\" \
             role=\"img\">\n<title>{title}</title>\n<desc>{description}</desc>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        ))
    }

    /// Adds a line of text; `anchor` is start, middle or end.
    #[expect(clippy::too_many_arguments, reason = "SVG text has that many attributes")]
    pub fn text(&mut self, x: f64, y: f64, size: f64, fill: &str, anchor: &str, weight: &str, text: &str) {
        let escaped = escaped(text);
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{fill}\" text-anchor=\"{anchor}\" \
             font-weight=\"{weight}\">{escaped}</text>"
        );
    }

    /// Adds a filled rectangle.
    pub fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, fill: &str) {
        let _ = writeln!(
            self.0,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"3\" fill=\"{fill}\"/>"
        );
    }

    /// Adds a straight line.
    pub fn line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, stroke: &str, width: f64) {
        let _ = writeln!(
            self.0,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{stroke}\" \
             stroke-width=\"{width}\" stroke-linecap=\"round\"/>"
        );
    }

    /// Adds a line through points, with `more` attributes.
    pub fn curve(&mut self, points: &[(f64, f64)], stroke: &str, width: f64, more: &str) {
        let points: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.0,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\" {more}/>",
            points.join(" ")
        );
    }

    /// Returns the document.
    pub fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

/// Mean width of a character, as part of the font's size; for a wide font, because the reader's font is
/// unknown.
const CHARACTER: f64 = 0.58;

/// Estimates the width of a text, in pixels.
pub fn width_of(text: &str, size: f64) -> f64 {
    CHARACTER * size * text.chars().count() as f64
}

/// Returns the text, cut at its end if it is wider than `width` pixels.
pub fn fitted(text: &str, size: f64, width: f64) -> String {
    let most = ((width / (CHARACTER * size)) as usize).max(2);
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
    }
}

/// Width of bold text over that of plain text.
const BOLD: f64 = 1.15;

/// Returns the title of a picture, cut at its end if it is wider than `width` pixels.
pub fn fitted_title(title: &str, width: f64) -> String {
    fitted(title, BOLD * TITLE, width)
}

/// Returns three to six round values from 0 to at most `most`, each with its label.
pub fn ticks(most: f64) -> Vec<(f64, String)> {
    let rough = most / 5.0;
    if !(rough.is_finite() && rough > 0.0) {
        return vec![(0.0, "0".to_owned())];
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let count = (most / step + 1e-9).floor() as u32;
    (0..=count).map(|at| f64::from(at) * step).map(|value| (value, format!("{value:.digits$}"))).collect()
}

/// Returns the unit of an axis of rates up to `most_bps`, in bits per second and as its name.
pub fn rate_unit(most_bps: f64) -> (f64, &'static str) {
    let units = [(1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps")];
    units.into_iter().find(|(bps, _)| most_bps >= *bps).unwrap_or((1.0, "bps"))
}

/// Cuts a text into lines of at most `width` pixels, between words if possible.
pub fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let most = ((width / (CHARACTER * size)) as usize).max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        loop {
            let line = lines.last_mut().expect("has one line at least");
            let used = line.chars().count();
            let gap = usize::from(used > 0);
            if used + gap + rest.len() <= most {
                line.extend(std::iter::repeat_n(' ', gap).chain(rest));
                break;
            }
            if used == 0 {
                line.extend(rest.drain(..most));
            }
            lines.push(String::new());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every label, parsed, is its value, and no two labels are equal.
    #[test]
    fn labels_of_ticks_are_their_values() {
        for most in [0.0031, 0.37, 1.0, 1.94, 2.0, 6.9, 7.0, 9.99, 47.0, 100.0, 155.0, 12345.0] {
            let ticks = ticks(most);
            assert!((3..=6).contains(&ticks.len()), "{most}: {ticks:?}");
            for (value, label) in &ticks {
                let read: f64 = label.parse().expect("a number");
                assert!((read - value).abs() < 1e-9 * most && *value <= most * 1.0001, "{most}: {ticks:?}");
            }
            let mut labels: Vec<_> = ticks.iter().map(|(_, label)| label).collect();
            labels.dedup();
            assert_eq!(labels.len(), ticks.len(), "{most}: {ticks:?}");
        }
        assert_eq!(ticks(0.0).len(), 1);
    }

    #[test]
    fn a_text_without_room_ends_in_dots() {
        assert_eq!(fitted("geo9", 10.0, 100.0), "geo9");
        let cut = fitted(&"a".repeat(300), 10.0, 100.0);
        assert!(cut.ends_with("a…") && width_of(&cut, 10.0) <= 100.0, "{cut}");
    }

    #[test]
    fn no_line_is_wider_than_the_picture_and_no_word_is_lost() {
        let text = "decision 7: link c1-l2 has failed; job one: 0 bps -> 800 Mbps, a_word_that_is_longer_than_a_line";
        let lines = wrap(text, 10.0, 20.0 * 10.0 * CHARACTER);
        assert!(lines.iter().all(|line| line.chars().count() <= 20 && !line.is_empty()), "{lines:?}");
        let letters = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(letters(&lines.concat()), letters(text));
        assert_eq!(lines[0], "decision 7: link");
        assert_eq!(wrap("short", 10.0, 500.0), ["short"]);
        assert_eq!(wrap("", 10.0, 500.0), [""]);
    }
}
