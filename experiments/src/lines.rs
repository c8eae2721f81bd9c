//! Panels before they run: the cases from which each number is computed.

use crate::comparison::{Comparison, ComparisonPanel, ComparisonRow, Entry, Study};
use crate::published::stated;
use crate::statistics::Statistics;
use crate::trials::{StudyError, Trial, Trials};

/// A number: a function of the runs of some cases, for each seed.
#[derive(Debug, Clone)]
pub struct Number<T: Trial> {
    pub cases: Vec<T>,
    pub of: fn(&[T::Run]) -> f64,
    /// Factor on the function's value.
    pub factor: f64,
}

impl<T: Trial<Run = f64>> Number<T> {
    /// Returns the measured value itself.
    pub fn measured(case: T) -> Self {
        Number::new(vec![case], |times| times[0])
    }

    /// Returns the value of `other` divided by that of `case`: of times, the speed-up of `case`.
    pub fn times(other: T, case: T) -> Self {
        Number::new(vec![other, case], |times| times[0] / times[1])
    }

    /// Returns the gain of `case` over `other`, in percent.
    pub fn gain(other: T, case: T) -> Self {
        Number::new(vec![other, case], |times| (times[0] / times[1] - 1.0) * 100.0)
    }

    /// Returns how much lower the value of `case` is than that of `other`, in percent.
    pub fn saved(other: T, case: T) -> Self {
        Number::new(vec![other, case], |times| (1.0 - times[1] / times[0]) * 100.0)
    }
}

impl<T: Trial> Number<T> {
    pub fn new(cases: Vec<T>, of: fn(&[T::Run]) -> f64) -> Self {
        Number { cases, of, factor: 1.0 }
    }

    fn statistics(&self, trials: &Trials<T>) -> Option<Statistics> {
        let runs: Vec<&[T::Run]> = self.cases.iter().map(|case| trials.runs(case)).collect::<Option<_>>()?;
        let seeds = runs.first()?.len();
        let value =
            |seed: usize| self.factor * (self.of)(&runs.iter().map(|runs| runs[seed]).collect::<Vec<_>>());
        Some(Statistics::of(&(0..seeds).map(value).collect::<Vec<_>>()))
    }
}

/// A row: the published scheme, and ours.
#[derive(Debug, Clone)]
pub struct Line<T: Trial> {
    pub x: String,
    pub here: Option<Number<T>>,
    pub optimized: Option<Number<T>>,
}

impl<T: Trial> Line<T> {
    pub fn new(x: impl Into<String>, here: Number<T>, optimized: Number<T>) -> Self {
        Line { x: x.into(), here: Some(here), optimized: Some(optimized) }
    }
}

/// A panel.
#[derive(Debug, Clone)]
pub struct Panel<T: Trial> {
    pub key: &'static str,
    pub title: &'static str,
    pub quantity: &'static str,
    pub unit: &'static str,
    pub axis: &'static str,
    pub lines: Vec<Line<T>>,
}

impl<T: Trial> Panel<T> {
    pub fn cases(&self) -> impl Iterator<Item = T> {
        let numbers = self.lines.iter().flat_map(|line| line.here.iter().chain(&line.optimized));
        numbers.flat_map(|number| number.cases.iter().copied())
    }

    /// Returns the panel with its numbers and the published ones.
    pub fn compared(&self, study: &str, trials: &Trials<T>) -> ComparisonPanel {
        let entry = |number: &Option<Number<T>>| {
            number.as_ref().and_then(|n| n.statistics(trials)).map(Entry::Number)
        };
        let row = |line: &Line<T>| ComparisonRow {
            x: line.x.clone(),
            paper: stated(study, self.key, &line.x, self.unit),
            here: entry(&line.here),
            optimized: entry(&line.optimized),
        };
        ComparisonPanel {
            key: self.key,
            title: self.title.to_owned(),
            quantity: self.quantity,
            unit: self.unit,
            axis: self.axis,
            rows: self.lines.iter().map(row).collect(),
        }
    }
}

/// Computes an additional panel of words from the panels of a study.
pub type Words<'w> = dyn Fn(&Study, &[ComparisonPanel]) -> Result<Option<ComparisonPanel>, StudyError> + 'w;

/// Runs the cases of all panels over the seeds 1 to `seeds`, each once, and computes the studies' tables.
///
/// # Errors
/// The first run that fails; an error of `words`.
pub fn compare<T: Trial>(
    all: &[(&Study, Vec<Panel<T>>)],
    seeds: u64,
    progress: &dyn Fn(u64, u64),
    words: &Words<'_>,
) -> Result<Vec<Comparison>, StudyError> {
    let cases = all.iter().flat_map(|(_, panels)| panels).flat_map(Panel::cases);
    let trials = Trials::run(cases, seeds, progress)?;
    let comparison = |(study, panels): &(&Study, Vec<Panel<T>>)| {
        let mut compared: Vec<ComparisonPanel> =
            panels.iter().map(|panel| panel.compared(study.name, &trials)).collect();
        compared.extend(words(study, &compared)?);
        let seeds = if panels.is_empty() { 0 } else { seeds };
        Ok(Comparison { study: **study, seeds, command: None, panels: compared })
    };
    all.iter().map(comparison).collect()
}
