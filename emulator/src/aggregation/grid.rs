//! Tables as text.

use std::fmt;

/// A title, and what stands below it in the row of a `T`.
pub type Column<'a, T> = (&'a str, &'a dyn Fn(&T) -> String);

/// Columns as wide as their widest cell; the first is set flush left, the others right.
pub fn grid<T>(f: &mut fmt::Formatter<'_>, columns: &[Column<'_, T>], rows: &[T]) -> fmt::Result {
    let header = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
    let cells: Vec<Vec<String>> = std::iter::once(header)
        .chain(rows.iter().map(|row| columns.iter().map(|(_, cell)| cell(row)).collect()))
        .collect();
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..columns.len()).map(width).collect();
    for row in cells {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            match column {
                0 => write!(f, "{cell:<width$}")?,
                _ => write!(f, "  {cell:>width$}")?,
            }
        }
        writeln!(f)?;
    }
    Ok(())
}
