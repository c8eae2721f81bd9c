//! A panel of a chart: time from left to right, a quantity upwards.

use crate::svg::{FAINT, INK, LINE, Svg, WIDTH, ticks};

/// Where panels begin and end, in pixels.
pub const LEFT: f64 = 80.0;
const RIGHT: f64 = WIDTH - 40.0;

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
