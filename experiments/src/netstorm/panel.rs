//! A panel before it is run: which cases each of its numbers is computed from.

use crate::comparison::{Beside, Compared, Entry};
use crate::published::netstorm;
use crate::statistics::Statistics;

use super::case::Case;
use super::sweep::Sweep;

/// A number: a function of the mean times of some cases' rounds, for each seed.
#[derive(Debug, Clone)]
pub struct Number {
    pub cases: Vec<Case>,
    pub of: fn(&[f64]) -> f64,
    /// What the function's value is multiplied by.
    pub factor: f64,
}

impl Number {
    pub fn new(cases: Vec<Case>, of: fn(&[f64]) -> f64) -> Self {
        Number { cases, of, factor: 1.0 }
    }

    /// The mean time of a round.
    pub fn seconds(case: Case) -> Self {
        Number::new(vec![case], |times| times[0])
    }

    /// How many times as fast `case` is as `other`.
    pub fn times(other: Case, case: Case) -> Self {
        Number::new(vec![other, case], |times| times[0] / times[1])
    }

    /// How much faster `case` is than `other`, in percent.
    pub fn gain(other: Case, case: Case) -> Self {
        Number::new(vec![other, case], |times| (times[0] / times[1] - 1.0) * 100.0)
    }

    /// How much of `other`'s time `case` saves, in percent.
    pub fn saved(other: Case, case: Case) -> Self {
        Number::new(vec![other, case], |times| (1.0 - times[1] / times[0]) * 100.0)
    }

    fn statistics(&self, sweep: &Sweep) -> Option<Statistics> {
        let times: Vec<&[f64]> = self.cases.iter().map(|case| sweep.seconds(case)).collect::<Option<_>>()?;
        let seeds = times.first()?.len();
        let value =
            |seed: usize| self.factor * (self.of)(&times.iter().map(|times| times[seed]).collect::<Vec<_>>());
        Some(Statistics::of(&(0..seeds).map(value).collect::<Vec<_>>()))
    }
}

/// A row: the paper's scheme, and ours.
#[derive(Debug, Clone)]
pub struct Line {
    pub x: String,
    pub ours: Option<Number>,
    pub inart: Option<Number>,
}

impl Line {
    pub fn new(x: impl Into<String>, ours: Number, inart: Number) -> Self {
        Line { x: x.into(), ours: Some(ours), inart: Some(inart) }
    }
}

/// A panel.
#[derive(Debug, Clone)]
pub struct Panel {
    pub key: &'static str,
    pub title: &'static str,
    pub quantity: &'static str,
    pub unit: &'static str,
    pub axis: &'static str,
    pub lines: Vec<Line>,
}

impl Panel {
    pub fn cases(&self) -> impl Iterator<Item = Case> {
        let numbers = self.lines.iter().flat_map(|line| line.ours.iter().chain(&line.inart));
        numbers.flat_map(|number| number.cases.iter().copied())
    }

    /// With its numbers, and the paper's beside them.
    pub fn compared(&self, study: &str, sweep: &Sweep) -> Compared {
        let entry =
            |number: &Option<Number>| number.as_ref().and_then(|n| n.statistics(sweep)).map(Entry::Number);
        let row = |line: &Line| Beside {
            x: line.x.clone(),
            paper: netstorm(study, self.key, &line.x, self.unit),
            ours: entry(&line.ours),
            inart: entry(&line.inart),
        };
        Compared {
            key: self.key,
            title: self.title.to_owned(),
            quantity: self.quantity,
            unit: self.unit,
            axis: self.axis,
            rows: self.lines.iter().map(row).collect(),
        }
    }
}
