//! A paper's numbers, those that its schemes come to here, and those of `optimized` on the same networks:
//! three columns, and what they differ in.

use serde::Serialize;

use crate::published::{Printed, PrintedEntry};
use crate::spreadsheet::numbers;
use crate::statistics::Statistics;

/// A figure or table of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Study {
    /// Its name on the command line.
    #[serde(rename = "experiment")]
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Its place in the paper.
    pub place: &'static str,
    /// The paper's system.
    pub paper: &'static str,
    /// The sentence that says where and why the paper's numbers and ours differ.
    pub differs: &'static str,
    /// What of it cannot be reproduced here, and why.
    pub unreached: Option<&'static str>,
}

/// A study's numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// What is compared.
    #[serde(flatten)]
    pub study: Study,
    /// Seeds 1 to this number, each of which draws a network; 0 if nothing is drawn.
    pub seeds: u64,
    /// The command that makes it again.
    pub command: String,
    /// Its panels.
    pub panels: Vec<Compared>,
}

/// A panel's numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Short name.
    pub key: &'static str,
    /// Title for people.
    pub title: String,
    /// What is shown.
    pub quantity: &'static str,
    /// Its unit; empty for words.
    pub unit: &'static str,
    /// What the rows are.
    pub axis: &'static str,
    /// The rows.
    pub rows: Vec<Beside>,
}

/// A row: the same thing three times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Beside {
    /// Its name.
    pub x: String,
    /// The paper's, if it says it.
    pub paper: Option<Printed>,
    /// What the paper's scheme comes to here.
    pub here: Option<Entry>,
    /// Figures of InArt's own scheme on the same networks.
    pub optimized: Option<Entry>,
}

/// What we found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// Over the seeds.
    Number(Statistics),
    /// Words.
    Words(String),
}

impl Beside {
    /// The texts of its cells: the paper's, the scheme's here, `optimized`'s.
    pub(crate) fn cells(&self) -> [String; 3] {
        let paper = self.paper.as_ref().map(|printed| match &printed.entry {
            PrintedEntry::Value(value) => value.to_string(),
            PrintedEntry::Words(words) => words.clone(),
        });
        let entry = |entry: &Option<Entry>| match entry {
            Some(Entry::Number(statistics)) => statistics.to_string(),
            Some(Entry::Words(words)) => words.clone(),
            None => String::new(),
        };
        [paper.unwrap_or_default(), entry(&self.here), entry(&self.optimized)]
    }
}

/// A comparison as a CSV file, in the columns of the other experiments: series `here` is the paper's scheme
/// as it comes out here, series `optimized` is InArt's own. Words, if there are any, get a file of other
/// columns.
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
    format!("# {}\n{}", comparison.command, String::from_utf8(table).expect("only text was written"))
}
