//! Numbers of others: published figures, and the reference computation.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// An entry that a paper states.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PublishedEntry {
    /// A number or words.
    #[serde(flatten)]
    pub entry: PublishedValue,
    /// "text", or "derived" from other numbers of the text.
    pub source: &'static str,
}

/// A number or words.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PublishedValue {
    /// A number.
    Value(f64),
    /// Words.
    Words(String),
}

/// A number of a figure of the InArt paper.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PaperNumber {
    experiment: String,
    panel: String,
    x: String,
    series: String,
    pub value: f64,
    unit: String,
    /// "text", or "plot": read off the figure.
    pub source: String,
}

#[derive(Debug, Clone, Deserialize)]
struct ReferenceNumber {
    experiment: String,
    panel: String,
    x: String,
    series: String,
    value: f64,
}

/// A number that a text states.
#[derive(Debug, Clone, Deserialize)]
struct StatedNumber {
    experiment: String,
    panel: String,
    x: String,
    value: f64,
    unit: String,
    source: String,
}

static STATED: LazyLock<Vec<StatedNumber>> = LazyLock::new(|| {
    let mut all = read(include_str!("../data/netstorm.csv"));
    all.extend(read(include_str!("../data/selmcast.csv")));
    all.extend(read(include_str!("../data/r2sp.csv")));
    all
});

static PAPER: LazyLock<Vec<PaperNumber>> = LazyLock::new(|| read(include_str!("../data/inart.csv")));
static REFERENCE: LazyLock<Vec<ReferenceNumber>> =
    LazyLock::new(|| read(include_str!("../data/reference.csv")));

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Vec<T> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.expect("a row of our own data is well formed")).collect()
}

/// Returns a number that the InArt paper shows, in this unit; `series` by its published name.
pub(crate) fn paper(
    experiment: &str,
    panel: &str,
    x: &str,
    series: &str,
    unit: &str,
) -> Option<&'static PaperNumber> {
    PAPER.iter().find(|number| {
        let names = [&number.experiment, &number.panel, &number.x, &number.unit];
        names == [experiment, panel, x, unit] && number.series.eq_ignore_ascii_case(series)
    })
}

/// Returns a number of the reference computation; `series` by our name.
pub(crate) fn reference(experiment: &str, panel: &str, x: &str, series: &str) -> Option<f64> {
    let number = REFERENCE.iter().find(|number| {
        number.experiment == experiment && number.panel == panel && number.x == x && number.series == series
    })?;
    Some(number.value)
}

/// Returns a number that another paper states, in this unit, for a row of an experiment's panel.
pub fn stated(experiment: &str, panel: &str, x: &str, unit: &str) -> Option<PublishedEntry> {
    let number = STATED.iter().find(|number| {
        let names = [&number.experiment, &number.panel, &number.x, &number.unit];
        names == [experiment, panel, x, unit]
    })?;
    let source = if number.source == "text" { "text" } else { "derived" };
    Some(PublishedEntry { entry: PublishedValue::Value(number.value), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;

    /// Every number stands in some table: none has a misspelled name or another unit.
    #[test]
    fn every_number_has_its_place() {
        let (mut papers, mut references) = (0, 0);
        for experiment in experiments() {
            for panel in &experiment.panels {
                let series = |point| panel.series.iter().map(move |&series| (point, series));
                for (point, series) in panel.points.iter().flat_map(series) {
                    let (x, unit) = (point.x.as_str(), panel.quantity.unit());
                    let own = panel.paper.filter(|key| *key == panel.key).zip(panel.published_name(series));
                    let number = own.and_then(|(key, name)| paper(experiment.name, key, x, name, unit));
                    papers += usize::from(number.is_some());
                    let number = reference(experiment.name, panel.key, x, series.name());
                    references += usize::from(number.is_some());
                }
            }
        }
        assert_eq!((papers, references), (PAPER.len(), REFERENCE.len()));
    }
}
