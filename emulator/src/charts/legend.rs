//! The legend of a chart: a mark and a label per entry, in as many rows as necessary.

use crate::charts::svg::{INK, ROW, Svg, TEXT, fitted, width_of};

/// Size of a mark, and from the left edge of a mark to its label, in pixels.
const MARK: f64 = 18.0;
const LABEL: f64 = 28.0;
/// Gap between two entries, in pixels.
const GAP: f64 = 24.0;

/// An entry of a legend.
pub struct Key {
    pub color: &'static str,
    /// Thickness of its mark, at most 14 pixels.
    pub thickness: f64,
    pub label: String,
}

/// A legend between two edges.
pub struct Legend<'k> {
    /// Entries, in their order.
    pub keys: &'k [Key],
    /// Left edge, in pixels.
    pub left: f64,
    /// Right edge, in pixels.
    pub right: f64,
}

impl Legend<'_> {
    /// Returns the left edge and the row of each entry, and the number of rows.
    fn places(&self) -> (Vec<(f64, usize)>, usize) {
        let (mut x, mut row) = (self.left, 0);
        let mut all = Vec::new();
        for key in self.keys {
            let width = LABEL + width_of(&key.label, TEXT) + GAP;
            if x > self.left && x + width > self.right {
                (x, row) = (self.left, row + 1);
            }
            all.push((x, row));
            x += width;
        }
        (all, row + 1)
    }

    /// Returns its height in pixels.
    pub fn height(&self) -> f64 {
        ROW * self.places().1 as f64
    }

    /// Draws it; `baseline` is that of the first row.
    pub fn draw(&self, svg: &mut Svg, baseline: f64) {
        for (key, (x, row)) in self.keys.iter().zip(self.places().0) {
            let y = baseline + ROW * row as f64;
            svg.bar(x, y - 6.5 - key.thickness / 2.0, MARK, key.thickness, key.color);
            let label = fitted(&key.label, TEXT, self.right - x - LABEL);
            svg.text(x + LABEL, y, TEXT, INK, "start", "400", &label);
        }
    }
}
