//! Decides exactly whether all find receivers within a time: every port takes one of the sets of updates that
//! it can carry, and the sets cover each sender's need. As an integer program this has almost no gap, where
//! the one by pairs (SELMCAST, (2) to (11)) has a wide one.

use highs::{ColProblem, HighsModelStatus, HighsSolutionStatus, Row, Sense};

use super::sets::{Item, maximal};
use crate::pairs::Pairs;
use crate::problem::Problem;

/// Relative tolerance of a port's load over a time: sums of floats.
const ROUNDING: f64 = 1e-12;

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// A selection within the time, with the fewest receivers.
    Within(Pairs),
    /// Proof that no such selection exists.
    Never,
    /// Too many sets, or too long a search.
    Unknown,
}

/// Limits of the search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Most sets of updates, over all ports.
    pub sets: usize,
    /// Most nodes of the search, so that equal inputs give equal plans.
    pub nodes: i32,
}

/// Decides whether there is a selection that takes at most `seconds`, which is at least the floor.
///
/// # Errors
/// The solver fails.
pub(super) fn within(problem: &Problem, seconds: f64, effort: Effort) -> Result<Answer, String> {
    let n = problem.peers();
    let need: Vec<usize> =
        (0..n).map(|from| problem.least_receivers(from) - problem.required.count(from)).collect();
    let Some(sets) = sets(problem, &need, seconds, effort.sets) else { return Ok(Answer::Unknown) };
    if need.iter().all(|need| *need == 0) {
        return Ok(Answer::Within(problem.required.clone()));
    }
    let mut program = ColProblem::new();
    let covered: Vec<Row> = need.iter().map(|&need| program.add_row(need as f64..)).collect();
    let taken: Vec<Row> = (0..n).map(|_| program.add_row(..=1.0)).collect();
    for (to, set) in &sets {
        let rows = set.iter().map(|&from| covered[from]).chain([taken[*to]]);
        program.add_integer_column(0.0, 0.0..=1.0, rows.map(|row| (row, 1.0)));
    }
    let mut model = program.try_optimise(Sense::Minimise).map_err(error_text)?;
    model.make_quiet();
    model.set_threads(std::num::NonZeroU32::MIN);
    model.try_set_option("mip_max_nodes", effort.nodes).map_err(error_text)?;
    let solved = model.try_solve().map_err(error_text)?;
    if solved.status() == HighsModelStatus::Infeasible {
        return Ok(Answer::Never);
    }
    if solved.primal_solution_status() != HighsSolutionStatus::Feasible {
        return Ok(Answer::Unknown);
    }
    let solution = solved.get_solution();
    let mut chosen = problem.required.clone();
    let mut need = need;
    for ((to, set), value) in sets.into_iter().zip(solution.columns()) {
        for from in set.into_iter().filter(|_| *value > 0.5) {
            if need[from] > 0 && !chosen.has(from, to) {
                chosen.insert(from, to);
                need[from] -= 1;
            }
        }
    }
    Ok(if need.iter().all(|need| *need == 0) { Answer::Within(chosen) } else { Answer::Unknown })
}

/// Returns the maximal sets of each port; `None` if there are too many.
fn sets(problem: &Problem, need: &[usize], seconds: f64, most: usize) -> Option<Vec<(usize, Vec<usize>)>> {
    let n = problem.peers();
    let mut all = Vec::new();
    for to in 0..n {
        let required = (0..n).filter(|&from| problem.required.has(from, to));
        let required: f64 = required.map(|from| problem.bits[from]).sum();
        let room = seconds * problem.ports.down_bps[to] * (1.0 + ROUNDING) - required;
        let is_free = |from: &usize| *from != to && need[*from] > 0 && !problem.required.has(*from, to);
        let items: Vec<Item> = (0..n).filter(is_free).map(|from| (from, problem.bits[from])).collect();
        let sets = maximal(&items, room, most.checked_sub(all.len())?)?;
        all.extend(sets.into_iter().map(|set| (to, set)));
    }
    Some(all)
}

fn error_text(status: impl std::fmt::Debug) -> String {
    format!("{status:?}")
}
