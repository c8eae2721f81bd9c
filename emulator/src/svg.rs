//! SVG documents, written by hand, since a chart library would decide too much of how they look.

use std::fmt::Write;

/// Width of every document, in pixels.
pub const WIDTH: f64 = 1200.0;
/// Text.
pub const INK: &str = "#1f2937";
/// Text beside it.
pub const FAINT: &str = "#6b7280";
/// Grids.
pub const LINE: &str = "#e5e7eb";
/// What is compared: ours first.
pub const SERIES: [&str; 6] = ["#2563eb", "#0d9488", "#94a3b8", "#d97706", "#9333ea", "#64748b"];

/// A document that grows.
pub struct Svg(String);

impl Svg {
    /// An empty one of that height.
    pub fn new(height: f64) -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" font-family=\"Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        ))
    }

    /// A line of text; `anchor` is start, middle or end.
    #[expect(clippy::too_many_arguments, reason = "SVG text has that many attributes")]
    pub fn text(&mut self, x: f64, y: f64, size: f64, fill: &str, anchor: &str, weight: &str, text: &str) {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{fill}\" text-anchor=\"{anchor}\" \
             font-weight=\"{weight}\">{escaped}</text>"
        );
    }

    /// A filled rectangle.
    pub fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, fill: &str) {
        let _ = writeln!(
            self.0,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"3\" fill=\"{fill}\"/>"
        );
    }

    /// A straight line.
    pub fn line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, stroke: &str, width: f64) {
        let _ = writeln!(
            self.0,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{stroke}\" \
             stroke-width=\"{width}\" stroke-linecap=\"round\"/>"
        );
    }

    /// A line through points, with `more` attributes.
    pub fn curve(&mut self, points: &[(f64, f64)], stroke: &str, width: f64, more: &str) {
        let points: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            self.0,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\" {more}/>",
            points.join(" ")
        );
    }

    /// The whole document.
    pub fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}
