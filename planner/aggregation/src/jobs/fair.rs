//! Max-min fair rates, by two methods: by filling, exactly, if every job's use of every resource is given;
//! and by a sequence of linear programs if the rates are sums of variables (free shares, or a relaxation).

use good_lp::{Expression, ProblemVariables, Solution, SolverModel, Variable, highs, variable};

use crate::model::Resource;

/// Gains and overloads below this, relative, are rounding errors of the solver.
const NOTHING: f64 = 1e-6;

/// The max-min fair rates (bit/s) of jobs that use `uses[job]` (resource, per bit/s of rate) of `capacity`
/// (bit/s).
///
/// Progressive filling: all rates rise together until a resource is full; the jobs that use it stay there.
pub(super) fn fill(uses: &[Vec<(Resource, f64)>], capacity: &[f64]) -> Vec<f64> {
    let mut rates = vec![0.0; uses.len()];
    let mut open: Vec<usize> = (0..uses.len()).collect();
    let mut settled = vec![0.0; capacity.len()];
    while !open.is_empty() {
        let mut rising = vec![0.0; capacity.len()];
        for &(resource, use_) in open.iter().flat_map(|&job| &uses[job]) {
            rising[resource as usize] += use_;
        }
        let limit = |resource: Resource| {
            let r = resource as usize;
            (capacity[r] - settled[r]).max(0.0) / rising[r]
        };
        let limits = |job: usize| uses[job].iter().map(|&(resource, _)| limit(resource));
        let level = open.iter().flat_map(|&job| limits(job)).fold(f64::INFINITY, f64::min);
        let (full, rest): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|&&job| limits(job).any(|limit| limit <= level * (1.0 + 1e-12)));
        if full.is_empty() {
            break; // no limit is left: no job without a link
        }
        for &job in &full {
            rates[job] = level;
            uses[job].iter().for_each(|&(resource, use_)| settled[resource as usize] += use_ * level);
        }
        open = rest;
    }
    rates
}

/// Returns whether rates `a` are better than `b` in the max-min sense: the smallest first, then the next, and
/// so on.
pub(super) fn is_fairer(a: &[f64], b: &[f64]) -> bool {
    let sorted = |rates: &[f64]| {
        let mut rates = rates.to_vec();
        rates.sort_by(f64::total_cmp);
        rates
    };
    let (a, b) = (sorted(a), sorted(b));
    let differ = |(x, y): &(f64, f64)| (x - y).abs() > NOTHING * y.abs();
    a.into_iter().zip(b).find(differ).is_some_and(|(x, y)| x > y)
}

/// Returns whether a rate reaches a bound, up to rounding errors.
pub(super) fn is_proven(rate: f64, bound: f64) -> bool {
    rate >= bound * (1.0 - NOTHING)
}

/// A row: coefficients by variable, and the upper bound (or value) of their sum.
pub(super) struct Row {
    pub terms: Vec<(usize, f64)>,
    pub limit: f64,
    pub equal: bool,
}

/// Variables (none negative) under linear rows; the rate of a job is the sum of some of them.
pub(super) struct Program {
    pub variables: usize,
    /// The variables that sum to each job's rate.
    pub rates: Vec<Vec<usize>>,
    /// Upper bound of each rate, bit/s.
    pub most: Vec<f64>,
    pub rows: Vec<Row>,
}

impl Program {
    /// Returns the max-min fair rates, and values of the variables that give them, bit/s; `None` if the
    /// solver fails.
    ///
    /// Works level by level: finds the largest rate that all open jobs can have; then fixes the jobs that
    /// cannot have more at that level, found by raising as many as possible at a time.
    pub fn solve(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let unit = self.most.iter().copied().filter(|most| most.is_finite()).fold(0.0, f64::max);
        if unit <= 0.0 {
            return None;
        }
        let jobs = self.rates.len();
        let mut least = vec![0.0; jobs];
        let mut open: Vec<usize> = (0..jobs).collect();
        let mut values = vec![0.0; self.variables];
        while !open.is_empty() {
            let (level, found) = self.raise(&least, &open, unit, Rise::Together)?;
            values = found;
            open.iter().for_each(|&job| least[job] = level);
            let mut stuck = open.clone();
            while !stuck.is_empty() {
                let (_, raised) = self.raise(&least, &stuck, unit, Rise::Each)?;
                let more = |job: usize| self.rate(job, &raised) > level + NOTHING * unit.min(level);
                let before = stuck.len();
                stuck.retain(|&job| !more(job));
                if stuck.len() == before {
                    break;
                }
            }
            if stuck.is_empty() {
                break; // within the solver's tolerances all could still rise: stay below
            }
            open.retain(|job| !stuck.contains(job));
        }
        Some((least, values))
    }

    fn rate(&self, job: usize, values: &[f64]) -> f64 {
        self.rates[job].iter().map(|&v| values[v]).sum()
    }

    /// Raises the rates of `jobs` above the common minimum: by one amount for all, or by as much as possible
    /// in sum. Returns the common rate, or 0, and the variables.
    fn raise(&self, least: &[f64], jobs: &[usize], unit: f64, rise: Rise) -> Option<(f64, Vec<f64>)> {
        let mut variables = ProblemVariables::new();
        let all: Vec<Variable> = (0..self.variables).map(|_| variables.add(variable().min(0.0))).collect();
        let level = variables.add(variable().min(0.0));
        let rate = |job: usize| -> Expression { self.rates[job].iter().map(|&v| all[v]).sum() };
        let objective = match rise {
            Rise::Together => Expression::from(level),
            Rise::Each => jobs.iter().map(|&job| rate(job)).sum(),
        };
        let mut problem = variables.maximise(objective).using(highs).set_threads(1);
        for (job, (&least, &most)) in least.iter().zip(&self.most).enumerate() {
            if most.is_finite() {
                problem.add_constraint(rate(job).leq(most / unit));
            }
            problem.add_constraint(rate(job).geq(least.min(most) * (1.0 - 1e-9) / unit));
        }
        if matches!(rise, Rise::Together) {
            for &job in jobs {
                problem.add_constraint((rate(job) - level).geq(0.0));
            }
        }
        for row in &self.rows {
            let mut sum = Expression::with_capacity(row.terms.len());
            row.terms.iter().for_each(|&(v, factor)| sum.add_mul(factor, all[v]));
            let limit = row.limit / unit;
            problem.add_constraint(if row.equal { sum.eq(limit) } else { sum.leq(limit) });
        }
        let solution = problem.solve().ok()?;
        let values = all.iter().map(|&v| solution.value(v).max(0.0) * unit).collect();
        let level = if matches!(rise, Rise::Together) { solution.value(level).max(0.0) * unit } else { 0.0 };
        Some((level, values))
    }
}

#[derive(Clone, Copy)]
enum Rise {
    Together,
    Each,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filling_by_hand() {
        // Jobs 0 and 1 share resource 0 (10); job 1 also has 1 (3); job 2 has 2 (8) alone.
        let uses = vec![vec![(0, 1.0)], vec![(0, 1.0), (1, 1.0)], vec![(2, 2.0)]];
        assert_eq!(fill(&uses, &[10.0, 3.0, 8.0]), vec![7.0, 3.0, 4.0]);
    }

    #[test]
    fn fairness_compares_the_smallest_first() {
        assert!(is_fairer(&[5.0, 2.0], &[1.0, 100.0]));
        assert!(is_fairer(&[3.0, 2.0], &[2.0, 2.5]));
        assert!(!is_fairer(&[2.0, 3.0], &[3.0, 2.0]));
    }

    #[test]
    fn programs_fill_level_by_level() {
        // Job 0 is x0 + x1, job 1 is x2: x0 and x2 share 6, x1 has 4 for itself. Fair is 5 and 5.
        let row = |terms: &[(usize, f64)], limit: f64| Row { terms: terms.to_vec(), limit, equal: false };
        let mut program = Program {
            variables: 3,
            rates: vec![vec![0, 1], vec![2]],
            most: vec![100.0, 100.0],
            rows: vec![row(&[(0, 1.0), (2, 1.0)], 6.0), row(&[(1, 1.0)], 4.0)],
        };
        let (rates, values) = program.solve().expect("feasible");
        assert!(rates.iter().all(|rate| (rate - 5.0).abs() < 1e-5), "{rates:?}");
        assert!((values[2] - 5.0).abs() < 1e-5, "{values:?}");
        // Where job 1 can have 2 at most, job 0 gets the rest.
        program.most[1] = 2.0;
        let (rates, _) = program.solve().expect("feasible");
        assert!((rates[0] - 8.0).abs() < 1e-5 && (rates[1] - 2.0).abs() < 1e-5, "{rates:?}");
    }
}
