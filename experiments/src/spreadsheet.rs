//! Result as a CSV file.

use crate::result::{Limit, RunResult};
use crate::statistics::{Statistics, significant};

/// Columns of the file.
pub(crate) const COLUMNS: [&str; 16] = [
    "panel",
    "x_axis",
    "x",
    "series",
    "quantity",
    "unit",
    "mean",
    "least",
    "greatest",
    "deviation",
    "seeds",
    "paper",
    "paper_source",
    "beyond",
    "reference",
    "values",
];

/// Returns mean, least, greatest, deviation and all values of a line, with five significant digits.
pub(crate) fn numbers(statistics: &Statistics) -> [String; 5] {
    let number = |value: f64| significant(value, 5);
    let Statistics { mean, least, greatest, deviation, values } = statistics;
    let values: Vec<String> = values.iter().copied().map(number).collect();
    let [mean, least, greatest, deviation] = [mean, least, greatest, deviation].map(|value| number(*value));
    [mean, least, greatest, deviation, values.join(" ")]
}

/// Returns a line per panel, place and series, after a comment with the command that writes the same file.
/// Numbers have five significant digits; `unit` holds for all of them but `seeds`. `values` has the value of
/// each seed from 1 on, with a space between them. `beyond` names the limit that the published number
/// exceeds on every seed's network: the proven `bound` of unsplit plans, or the `lp`.
pub fn csv(result: &RunResult) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |record: &[&str]| writer.write_record(record).expect("writing to memory does not fail");
    write(&COLUMNS);
    let seeds = result.seeds.to_string();
    for panel in &result.panels {
        for row in &panel.rows {
            for (x, cell) in panel.x.iter().zip(&row.cells) {
                let [mean, least, greatest, deviation, values] = numbers(&cell.here);
                let beyond = cell.paper.as_ref().and_then(|paper| paper.beyond);
                write(&[
                    panel.key,
                    panel.axis.name(),
                    x,
                    row.series.name(),
                    panel.name,
                    panel.unit,
                    &mean,
                    &least,
                    &greatest,
                    &deviation,
                    &seeds,
                    &cell.paper.as_ref().map_or(String::new(), |paper| paper.value.to_string()),
                    cell.paper.as_ref().map_or("", |paper| paper.source),
                    beyond.map_or("", |beyond| match beyond {
                        Limit::Bound => "bound",
                        Limit::Lp => "lp",
                    }),
                    &cell.reference.map_or(String::new(), |value| value.to_string()),
                    &values,
                ]);
            }
        }
    }
    let table = writer.into_inner().expect("memory can be flushed");
    let command = result.command.as_ref().map_or(String::new(), |command| format!("# {command}\n"));
    command + &String::from_utf8(table).expect("only text was written")
}
