//! Text tables with aligned columns.

use std::fmt::Write as _;

/// Side to which the cells of a table align; names of rows are always at the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Returns a line per row, with columns two spaces apart. Rows have the same number of cells, the first of
/// them a name.
pub(crate) fn aligned(rows: &[Vec<String>], align: Align) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = if at == 0 { "" } else { "  " };
            let _ = match align {
                Align::Right if at > 0 => write!(line, "{gap}{cell:>width$}"),
                _ => write!(line, "{gap}{cell:width$}"),
            };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["", "one", "2"], ["R²SP", "1", "±23"], ["a", "", ""]]
            .map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&rows, Align::Right), "      one    2\nR²SP    1  ±23\na\n");
        assert_eq!(aligned(&rows, Align::Left), "      one  2\nR²SP  1    ±23\na\n");
    }
}
