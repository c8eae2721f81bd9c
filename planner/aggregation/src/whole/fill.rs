//! Largest value of whole units on one capacity B: the maximum of sum_s V_s(n_s) over whole n with sum_s F_s
//! n_s <= B.

use crate::model::Resource;

/// Number of points above which an enumeration, or one over more shards, is replaced by its fractional bound.
const POINTS: f64 = 1000.0;
const SHARDS: usize = 8;
/// Relative tolerance of the capacity: rounding errors must not lower a bound.
const FORGIVE: f64 = 1.0 + 1e-9;

/// V_s(n): value of n units of one shard together.
#[derive(Debug, Clone)]
pub(super) enum Worth {
    /// Value of each unit.
    Each(f64),
    /// `[n - 1]`, rising; more units than that are worth no more.
    Table(Vec<f64>),
}

impl Worth {
    fn of(&self, units: usize) -> f64 {
        match self {
            _ if units == 0 => 0.0,
            Worth::Each(price) => price * units as f64,
            Worth::Table(values) => values[units - 1],
        }
    }

    /// Returns how many units of rate `rate` fit, if more of them have more value.
    fn fitting(&self, capacity: f64, rate: f64) -> usize {
        // Saturates: a rate of 0 fits any number of times.
        let units = (capacity / rate * FORGIVE) as usize;
        match self {
            Worth::Each(_) => units,
            Worth::Table(values) => units.min(values.len()),
        }
    }

    /// The best number of units, of at most `most`.
    fn best(&self, most: usize) -> (f64, usize) {
        let value = self.of(most);
        if value > 0.0 { (value, most) } else { (0.0, 0) }
    }

    /// The most that one bit/s can be worth.
    fn density(&self, rate: f64) -> f64 {
        match self {
            Worth::Each(price) => price / rate,
            Worth::Table(values) => {
                let each = values.iter().enumerate().map(|(n, value)| value / (rate * (n + 1) as f64));
                each.fold(0.0, f64::max)
            }
        }
    }
}

/// One capacity, and the values of the shards' units on it.
#[derive(Debug, Clone)]
pub(super) struct Fill {
    pub resource: Resource,
    pub capacity: f64,
    /// Shards whose units have a value.
    pub shards: Vec<(usize, Worth)>,
}

impl Fill {
    /// Returns the largest value of units at rates `sending` here (or slightly more, if there are too many
    /// packings).
    pub fn most(&self, sending: &[f64]) -> f64 {
        self.fill(sending, |_, _| {})
    }

    /// Returns the largest value, and calls `on` for the numbers of units of each shard.
    pub fn fill(&self, sending: &[f64], mut on: impl FnMut(usize, usize)) -> f64 {
        if let [(s, worth)] = &self.shards[..] {
            let (value, units) = worth.best(worth.fitting(self.capacity, sending[*s]));
            on(*s, units);
            return value;
        }
        let mut useful: Vec<&(usize, Worth)> =
            self.shards.iter().filter(|shard| self.useful(shard, sending)).collect();
        // The number of the smallest units follows from the rest, so they come first, where the recursion
        // ends.
        useful.sort_by(|a, b| sending[a.0].total_cmp(&sending[b.0]));
        let points = |(n, (s, worth)): (usize, &&(usize, Worth))| {
            worth.fitting(self.capacity, sending[*s]) as f64 / (n + 1) as f64 + 1.0
        };
        if useful.len() > SHARDS || useful.iter().skip(1).enumerate().map(points).product::<f64>() > POINTS {
            return self.fractional(&useful, sending, on);
        }
        let mut walk = Walk { shards: &useful, sending, now: [0; SHARDS], best: -1.0, units: [0; SHARDS] };
        walk.down(useful.len(), self.capacity, 0.0);
        for ((s, _), &units) in useful.iter().zip(&walk.units) {
            on(*s, units);
        }
        walk.best
    }

    /// Returns whether no other shard's units are no larger and have no less value.
    fn useful(&self, (s, worth): &(usize, Worth), sending: &[f64]) -> bool {
        let Worth::Each(price) = worth else { return true };
        !self.shards.iter().any(|(other, theirs)| {
            let Worth::Each(theirs) = theirs else { return false };
            let same = sending[*other] == sending[*s] && theirs == price;
            sending[*other] <= sending[*s] && theirs >= price && (!same || other < s)
        })
    }

    fn fractional(
        &self,
        shards: &[&(usize, Worth)],
        sending: &[f64],
        mut on: impl FnMut(usize, usize),
    ) -> f64 {
        let dense = |(s, worth): &(usize, Worth)| worth.density(sending[*s]);
        let densest = shards.iter().max_by(|a, b| dense(a).total_cmp(&dense(b))).expect("there are several");
        on(densest.0, densest.1.fitting(self.capacity, sending[densest.0]));
        let alone = |(s, worth): &&(usize, Worth)| worth.best(worth.fitting(self.capacity, sending[*s])).0;
        (dense(densest) * self.capacity * FORGIVE).min(shards.iter().map(alone).sum())
    }
}

/// The enumeration, from the largest units down.
struct Walk<'f> {
    shards: &'f [&'f (usize, Worth)],
    sending: &'f [f64],
    now: [usize; SHARDS],
    best: f64,
    units: [usize; SHARDS],
}

impl Walk<'_> {
    fn down(&mut self, open: usize, left: f64, value: f64) {
        let at = open - 1;
        let (s, worth) = self.shards[at];
        let rate = self.sending[*s];
        let most = worth.fitting(left.max(0.0), rate);
        if at == 0 {
            let (more, units) = worth.best(most);
            if value + more > self.best {
                self.now[0] = units;
                (self.best, self.units) = (value + more, self.now);
            }
            return;
        }
        for units in 0..=most {
            self.now[at] = units;
            self.down(at, left - units as f64 * rate, value + worth.of(units));
        }
    }
}
