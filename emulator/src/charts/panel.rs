//! The parts of a chart over time: a head with the legend, and panels with time from left to right and a
//! quantity upwards.

use crate::charts::legend::{Key, Legend};
use crate::charts::svg::{
    FAINT, HEADING, INK, LINE, ROW, Svg, TEXT, TITLE, WIDTH, fitted_title, ticks, wrap,
};
use crate::machine::scale::Scaling;

/// Left edge of every panel, in pixels.
pub const LEFT: f64 = 80.0;
/// Right edge of every panel, in pixels.
pub const RIGHT: f64 = WIDTH - 40.0;
/// Height from the axis of a panel to the top of the next panel, in pixels: labels, the axis' name, the next
/// panel's title.
pub const BELOW_AXIS: f64 = 104.0;
/// Height from the last axis to the foot of the picture, in pixels.
pub const FOOT: f64 = 70.0;
/// Baseline of the first line below the title, in pixels.
const SUBTITLE: f64 = 74.0;
/// The head of a picture: title, scale, legend.
pub struct Head<'k> {
    title: String,
    /// Lines below the title.
    lines: Vec<String>,
    legend: Legend<'k>,
}

impl<'k> Head<'k> {
    /// Lays out a head.
    pub fn new(title: &str, scale: Scaling, keys: &'k [Key]) -> Self {
        let text = format!("Times and rates are the network's own; {scale}.");
        Self {
            title: fitted_title(title, RIGHT - LEFT),
            lines: wrap(&text, TEXT, RIGHT - LEFT),
            legend: Legend { keys, left: LEFT, right: RIGHT },
        }
    }

    /// Returns the top of the first panel, in pixels, with room for the panel's title above.
    pub fn height(&self) -> f64 {
        SUBTITLE + ROW * self.lines.len() as f64 + self.legend.height() + HEADING + 22.0
    }

    /// Draws title, scale and legend.
    pub fn draw(&self, svg: &mut Svg) {
        svg.text(LEFT, 44.0, TITLE, INK, "start", "600", &self.title);
        let mut y = SUBTITLE;
        for line in &self.lines {
            svg.text(LEFT, y, TEXT, FAINT, "start", "400", line);
            y += ROW;
        }
        self.legend.draw(svg, y);
    }
}

/// A panel's position, and the ranges of its axes.
pub struct Panel {
    pub top: f64,
    pub bottom: f64,
    /// In seconds.
    pub most_x: f64,
    pub most_y: f64,
}

impl Panel {
    /// Returns a point's position in the picture.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let across = LEFT + x / self.most_x * (RIGHT - LEFT);
        (across, self.bottom - y / self.most_y * (self.bottom - self.top))
    }

    /// Draws the axes; `name` is the quantity with its unit: "Test accuracy (%)".
    pub fn frame(&self, svg: &mut Svg, name: &str) {
        self.name(svg, name);
        for (value, label) in ticks(self.most_y) {
            self.grid_line(svg, value, &label);
        }
        for (value, label) in ticks(self.most_x) {
            let (x, _) = self.at(value, 0.0);
            self.x_label(svg, x, &label);
        }
        self.x_name(svg, "Time (s)");
    }

    /// Draws the name of the quantity, above the axis of y.
    pub fn name(&self, svg: &mut Svg, name: &str) {
        svg.text(LEFT, self.top - 16.0, HEADING, INK, "start", "600", name);
    }

    /// Draws a line of the grid with its label.
    pub fn grid_line(&self, svg: &mut Svg, value: f64, label: &str) {
        let (_, y) = self.at(0.0, value);
        svg.line(LEFT, y, RIGHT, y, LINE, 1.0);
        svg.text(LEFT - 8.0, y + 6.0, TEXT, FAINT, "end", "400", label);
    }

    /// Draws a label of the axis of x.
    pub fn x_label(&self, svg: &mut Svg, x: f64, label: &str) {
        svg.text(x, self.bottom + 24.0, TEXT, FAINT, "middle", "400", label);
    }

    /// Draws the name of the axis of x, below its labels.
    pub fn x_name(&self, svg: &mut Svg, name: &str) {
        svg.text((LEFT + RIGHT) / 2.0, self.bottom + 50.0, TEXT, FAINT, "middle", "400", name);
    }
}
