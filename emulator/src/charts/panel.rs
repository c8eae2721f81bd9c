//! The parts of a chart over time: a head with the legend, and panels with time from left to right and a
//! quantity upwards.

use crate::charts::svg::{FAINT, INK, LINE, Svg, WIDTH, fitted, ticks, width_of};
use crate::machine::scale::Scaling;

/// Where panels begin and end, in pixels.
pub const LEFT: f64 = 80.0;
/// Where panels end, in pixels.
pub const RIGHT: f64 = WIDTH - 40.0;
/// Sizes of text.
const TITLE: f64 = 24.0;
const SMALL: f64 = 13.0;
/// Heights of the title with the scale, and of a row of the legend.
const HEAD: f64 = 84.0;
const ROW: f64 = 22.0;

/// An entry of a legend.
pub struct Key {
    pub color: &'static str,
    /// Thickness of its mark, at most 14 pixels.
    pub thickness: f64,
    pub label: String,
}

/// Where each entry of a legend begins, row after row, and how many rows there are.
fn places(keys: &[Key]) -> (Vec<(f64, usize)>, usize) {
    let (mut x, mut row) = (LEFT, 0);
    let mut all = Vec::new();
    for key in keys {
        let width = 20.0 + width_of(&key.label, SMALL) + 24.0;
        if x > LEFT && x + width > RIGHT {
            (x, row) = (LEFT, row + 1);
        }
        all.push((x, row));
        x += width;
    }
    (all, row + 1)
}

/// How high the head with this legend is: panels begin below it.
pub fn head_height(keys: &[Key]) -> f64 {
    HEAD + ROW * places(keys).1 as f64
}

/// Draws title, scale and legend.
pub fn head(svg: &mut Svg, title: &str, scale: Scaling, keys: &[Key]) {
    svg.text(LEFT, 44.0, TITLE, INK, "start", "600", &fitted(title, TITLE, RIGHT - LEFT));
    let line = format!("Times and rates are the network's own; {scale}.");
    svg.text(LEFT, 68.0, 14.0, FAINT, "start", "400", &line);
    for (key, (x, row)) in keys.iter().zip(places(keys).0) {
        let y = HEAD + ROW * row as f64;
        svg.bar(x, y + 7.0 - key.thickness / 2.0, 14.0, key.thickness, key.color);
        let label = fitted(&key.label, SMALL, RIGHT - x - 20.0);
        svg.text(x + 20.0, y + 12.0, SMALL, INK, "start", "400", &label);
    }
}

/// A panel's place, and what its axes go to.
pub struct Panel {
    pub top: f64,
    pub bottom: f64,
    /// In seconds.
    pub most_x: f64,
    pub most_y: f64,
}

impl Panel {
    /// Where a point is in the picture.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let across = LEFT + x / self.most_x * (RIGHT - LEFT);
        (across, self.bottom - y / self.most_y * (self.bottom - self.top))
    }

    /// Axes, with what is shown and its unit.
    pub fn frame(&self, svg: &mut Svg, title: &str, unit: &str) {
        svg.text(LEFT, self.top - 14.0, 15.0, INK, "start", "600", title);
        for (value, label) in ticks(self.most_y) {
            let (_, y) = self.at(0.0, value);
            svg.line(LEFT, y, RIGHT, y, LINE, 1.0);
            svg.text(LEFT - 8.0, y + 4.0, 12.0, FAINT, "end", "400", format!("{label} {unit}").trim_end());
        }
        for (value, label) in ticks(self.most_x) {
            let (x, _) = self.at(value, 0.0);
            svg.text(x, self.bottom + 18.0, 12.0, FAINT, "middle", "400", &format!("{label} s"));
        }
    }
}
