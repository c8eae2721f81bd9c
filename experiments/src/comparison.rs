//! Three columns: a paper's numbers, the numbers of its schemes here, and those of `optimized` on the same
//! networks; and where they differ.

use serde::Serialize;

use crate::published::{PublishedEntry, PublishedValue};
use crate::spreadsheet::numbers;
use crate::statistics::Statistics;

/// A figure or table of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Study {
    /// Name on the command line.
    #[serde(rename = "experiment")]
    pub name: &'static str,
    /// Title of its chart.
    pub title: &'static str,
    /// Figure or table, as its paper numbers it.
    pub place: &'static str,
    /// System, by which this project names its paper.
    pub paper: &'static str,
    /// Where and why the published numbers and ours differ.
    pub differs: &'static str,
    /// Parts that are not reproduced here, and why.
    pub unreached: Option<&'static str>,
}

impl Study {
    /// Returns the figure or table with the name of its paper.
    pub fn source(&self) -> String {
        if self.has_figure() {
            format!("{} of the {} paper", self.place, self.paper)
        } else {
            "no published figure".to_owned()
        }
    }

    /// Reports whether a paper has the figure or table; a study of our own has none.
    pub(crate) fn has_figure(&self) -> bool {
        self.place != OWN
    }
}

/// Place of a study of our own.
const OWN: &str = "no figure";

/// A study's numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Figure or table compared.
    #[serde(flatten)]
    pub study: Study,
    /// Seeds 1 to this number, each of which draws a network; 0 for a table of words.
    pub seeds: u64,
    /// Command that repeats the study; the caller sets it.
    pub command: Option<String>,
    /// Panels, in the order of tables and charts.
    pub panels: Vec<ComparisonPanel>,
}

/// A panel's numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonPanel {
    /// Short name.
    pub key: &'static str,
    /// Title for people.
    pub title: String,
    /// Quantity shown.
    pub quantity: &'static str,
    /// Unit of the quantity; empty for words.
    pub unit: &'static str,
    /// Meaning of the rows.
    pub axis: &'static str,
    /// Rows.
    pub rows: Vec<ComparisonRow>,
}

/// A row: one quantity, published and from two schemes here.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparisonRow {
    /// Name of the row.
    pub x: String,
    /// Published entry, if there is one.
    pub paper: Option<PublishedEntry>,
    /// Entry of the published scheme, run here.
    pub here: Option<Entry>,
    /// Entry of our own scheme on the same networks.
    pub optimized: Option<Entry>,
}

/// An entry of ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// Statistics over the seeds.
    Number(Statistics),
    /// Words.
    Words(String),
}

impl ComparisonRow {
    /// Returns the texts of the cells: published, the published scheme here, `optimized`.
    pub(crate) fn cells(&self) -> [String; 3] {
        let paper = self.paper.as_ref().map(|printed| match &printed.entry {
            PublishedValue::Value(value) => value.to_string(),
            PublishedValue::Words(words) => words.clone(),
        });
        let entry = |entry: &Option<Entry>| match entry {
            Some(Entry::Number(statistics)) => statistics.to_string(),
            Some(Entry::Words(words)) => words.clone(),
            None => String::new(),
        };
        [paper.unwrap_or_default(), entry(&self.here), entry(&self.optimized)]
    }
}

/// Returns a comparison as a CSV file with the columns of the other experiments. Series `here` is the
/// published scheme, run here; series `optimized` is our own. A table of words has other columns.
pub fn comparison_csv(comparison: &Comparison) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |record: &[&str]| writer.write_record(record).expect("writing to memory does not fail");
    let is_words = comparison.seeds == 0;
    if is_words {
        write(&["panel", "x_axis", "x", "paper", "here", "optimized"]);
    } else {
        write(&crate::spreadsheet::COLUMNS);
    }
    for panel in &comparison.panels {
        for row in &panel.rows {
            if is_words {
                let [paper, here, inart] = row.cells();
                write(&[panel.key, panel.axis, &row.x, &paper, &here, &inart]);
                continue;
            }
            for (series, entry) in [("here", &row.here), ("optimized", &row.optimized)] {
                let Some(entry) = entry else { continue };
                let printed = row.paper.as_ref().filter(|_| series == "here");
                let paper = printed.map(|_| row.cells()[0].clone()).unwrap_or_default();
                let source = printed.map_or("", |printed| printed.source);
                let [mean, least, greatest, deviation, values] = match entry {
                    Entry::Number(statistics) => numbers(statistics),
                    Entry::Words(words) => [&**words, "", "", "", ""].map(str::to_owned),
                };
                let seeds = comparison.seeds.to_string();
                write(&[
                    panel.key,
                    panel.axis,
                    &row.x,
                    series,
                    panel.quantity,
                    panel.unit,
                    &mean,
                    &least,
                    &greatest,
                    &deviation,
                    &seeds,
                    &paper,
                    source,
                    "",
                    "",
                    &values,
                ]);
            }
        }
    }
    let table = writer.into_inner().expect("memory can be flushed");
    let command = comparison.command.as_ref().map_or(String::new(), |command| format!("# {command}\n"));
    command + &String::from_utf8(table).expect("only text was written")
}
