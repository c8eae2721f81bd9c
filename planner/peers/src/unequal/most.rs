//! The most receivers within a time, as an integer program (SELMCAST, (12), second step).

use highs::{ColProblem, HighsModelStatus, HighsSolutionStatus, Row, Sense};

use crate::pairs::Pairs;
use crate::problem::Problem;

/// Relative gap of the solver; numbers of receivers are whole.
const GAP: f64 = 1e-7;
/// Relative tolerance of a port's load over a time: sums of floats.
const ROUNDING: f64 = 1e-12;

/// Returns the selection with the most receivers within a time; `start` is a valid one. `None` if the search
/// exceeds its nodes.
///
/// # Errors
/// The solver fails.
pub(crate) fn most_receivers(
    problem: &Problem,
    seconds: f64,
    start: &Pairs,
    nodes: i32,
) -> Result<Option<Pairs>, String> {
    let n = problem.peers();
    let mut required = vec![0.0; n];
    problem.required.iter().for_each(|(from, to)| required[to] += problem.bits[from]);
    // In units that keep numbers near 1.
    let unit = problem.bits.iter().sum::<f64>() / n as f64;
    let mut program = ColProblem::new();
    let send: Vec<Row> = (0..n)
        .map(|from| {
            let has = problem.required.count(from);
            let least = problem.least_receivers(from) - has;
            let most = problem.most_receivers(from, seconds).saturating_sub(has).max(least);
            program.add_row(least as f64..=most as f64)
        })
        .collect();
    let room = |to: usize| seconds * (1.0 + ROUNDING) * problem.ports.down_bps[to] - required[to];
    let receive: Vec<Row> = (0..n).map(|to| program.add_row(..=room(to).max(0.0) / unit)).collect();
    let mut pairs = Vec::new();
    for (from, &sends) in send.iter().enumerate() {
        for (to, &receives) in receive.iter().enumerate() {
            if from != to && !problem.required.has(from, to) && problem.bits[from] <= room(to) {
                let factors = [(sends, 1.0), (receives, problem.bits[from] / unit)];
                program.add_integer_column(1.0, 0.0..=1.0, factors);
                pairs.push((from, to));
            }
        }
    }
    if pairs.is_empty() {
        return Ok(Some(start.clone()));
    }
    let mut model = program.try_optimise(Sense::Maximise).map_err(error_text)?;
    model.make_quiet();
    model.set_threads(std::num::NonZeroU32::MIN);
    model.try_set_option("mip_rel_gap", GAP).map_err(error_text)?;
    model.try_set_option("mip_max_nodes", nodes).map_err(error_text)?;
    let values: Vec<f64> = pairs.iter().map(|&(from, to)| f64::from(u8::from(start.has(from, to)))).collect();
    model.try_set_solution(Some(&values), None, None, None).map_err(error_text)?;
    let solved = model.try_solve().map_err(error_text)?;
    let is_done = solved.status() == HighsModelStatus::Optimal;
    if !is_done || solved.primal_solution_status() != HighsSolutionStatus::Feasible {
        return Ok(None);
    }
    let solution = solved.get_solution();
    let chosen = pairs.into_iter().zip(solution.columns()).filter(|(_, value)| **value > 0.5);
    let mut all = problem.required.clone();
    chosen.for_each(|((from, to), _)| all.insert(from, to));
    // The solver's tolerance may have let a port be a little too full.
    Ok(Some(if problem.seconds(&all) <= seconds * (1.0 + 1e-9) { all } else { start.clone() }))
}

fn error_text(status: impl std::fmt::Debug) -> String {
    format!("{status:?}")
}
