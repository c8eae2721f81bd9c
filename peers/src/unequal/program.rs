//! Unequal updates as an integer program (SELMCAST, (2) to (12)), for HiGHS.

use highs::{ColProblem, HighsModelStatus, Row, Sense};

use crate::pairs::Pairs;
use crate::problem::Problem;

/// The solver's tolerance, relatively: what it calls proven is proven but for this.
const TOLERANCE: f64 = 1e-6;

/// What the solver has found.
pub(crate) struct Found {
    /// The best selection.
    pub chosen: Pairs,
    /// What no selection beats, in the objective's unit.
    pub bound: f64,
    /// Whether the solver ended as it was asked to.
    pub is_done: bool,
}

/// How hard to try.
pub(crate) struct Effort {
    /// Relative gap at which to end.
    pub gap: f64,
    /// Nodes of the search at which to end, so that the same inputs give the same plan.
    pub nodes: i32,
}

/// Rows and columns of a program, in units that keep numbers near 1.
struct Program<'p> {
    problem: &'p Problem,
    columns: ColProblem,
    /// The pairs that may be chosen: the last columns.
    pairs: Vec<(usize, usize)>,
    unit_bits: f64,
    unit_bps: f64,
    required: Vec<f64>,
}

impl<'p> Program<'p> {
    fn new(problem: &'p Problem) -> Self {
        let n = problem.peers() as f64;
        let mut required = vec![0.0; problem.peers()];
        problem.required.iter().for_each(|(from, to)| required[to] += problem.bits[from]);
        Program {
            problem,
            columns: ColProblem::new(),
            pairs: Vec::new(),
            unit_bits: problem.bits.iter().sum::<f64>() / n,
            unit_bps: problem.ports.down_bps.iter().sum::<f64>() / n,
            required,
        }
    }

    fn bits(&self, from: usize) -> f64 {
        self.problem.bits[from] / self.unit_bits
    }

    fn bps(&self, to: usize) -> f64 {
        self.problem.ports.down_bps[to] / self.unit_bps
    }

    fn unit_seconds(&self) -> f64 {
        self.unit_bits / self.unit_bps
    }

    /// A column for every pair that can be done within a time.
    fn add_pairs(&mut self, seconds: f64, cost: f64, send: &[Row], receive: &[Row]) {
        let problem = self.problem;
        for from in 0..problem.peers() {
            for to in 0..problem.peers() {
                let load = self.required[to] + problem.bits[from];
                let fits = load / problem.ports.down_bps[to] <= seconds * (1.0 + TOLERANCE);
                if from != to && !problem.required.has(from, to) && fits {
                    let factors = [(send[from], 1.0), (receive[to], self.bits(from))];
                    self.columns.add_integer_column(cost, 0.0..=1.0, factors);
                    self.pairs.push((from, to));
                }
            }
        }
    }

    fn solve(self, sense: Sense, effort: &Effort) -> Result<Found, String> {
        let Program { problem, columns, pairs, .. } = self;
        let mut model = columns.try_optimise(sense).map_err(|status| format!("{status:?}"))?;
        model.make_quiet();
        model.set_threads(std::num::NonZeroU32::MIN);
        for (name, value) in [("mip_rel_gap", effort.gap), ("mip_abs_gap", 0.0)] {
            model.try_set_option(name, value).map_err(|status| format!("{name}: {status:?}"))?;
        }
        model.try_set_option("mip_max_nodes", effort.nodes).map_err(|status| format!("{status:?}"))?;
        let solved = model.try_solve().map_err(|status| format!("{status:?}"))?;
        let is_done = solved.status() == HighsModelStatus::Optimal;
        if solved.primal_solution_status() != highs::HighsSolutionStatus::Feasible {
            return Err(format!("no selection: {:?}", solved.status()));
        }
        let bound = solved.double_info_value(c"mip_dual_bound").map_err(|status| format!("{status:?}"))?;
        let solution = solved.get_solution();
        let mut chosen = problem.required.clone();
        let values = solution.columns();
        let of_pairs = &values[values.len().saturating_sub(pairs.len())..];
        for ((from, to), _) in pairs.into_iter().zip(of_pairs).filter(|(_, value)| **value > 0.5) {
            chosen.insert(from, to);
        }
        Ok(Found { chosen, bound, is_done })
    }
}

/// The selection of the least time, which is proven to be at least `low` and known to be at most `high` seconds;
/// its bound is in seconds.
///
/// # Errors
/// What the solver says.
pub(crate) fn least_time(problem: &Problem, low: f64, high: f64, effort: &Effort) -> Result<Found, String> {
    let mut program = Program::new(problem);
    let n = problem.peers();
    let need = |from: usize| (problem.least_receivers(from) - problem.required.count(from)) as f64;
    let send: Vec<Row> = (0..n).map(|from| program.columns.add_row(need(from)..=need(from))).collect();
    let free = |to: usize| -program.required[to] / program.unit_bits;
    let free: Vec<f64> = (0..n).map(free).collect();
    let receive: Vec<Row> = free.into_iter().map(|free| program.columns.add_row(..=free)).collect();
    let unit = program.unit_seconds();
    let factors: Vec<(Row, f64)> = (0..n).map(|to| (receive[to], -program.bps(to))).collect();
    program.columns.add_column(1.0, low / unit..=high / unit * (1.0 + TOLERANCE), factors);
    program.add_pairs(high, 0.0, &send, &receive);
    let found = program.solve(Sense::Minimise, effort)?;
    Ok(Found { bound: (found.bound * unit * (1.0 - TOLERANCE)).max(low), ..found })
}

/// The selection of the most receivers within a time; its bound is in receivers.
///
/// # Errors
/// What the solver says.
pub(crate) fn most_receivers(problem: &Problem, seconds: f64, effort: &Effort) -> Result<Found, String> {
    let mut program = Program::new(problem);
    let n = problem.peers();
    let mut send = Vec::with_capacity(n);
    for from in 0..n {
        let required = problem.required.count(from);
        let least = (problem.least_receivers(from) - required) as f64;
        let most = problem.most_receivers(from, seconds).saturating_sub(required) as f64;
        send.push(program.columns.add_row(least..=most.max(least)));
    }
    let room = |to: usize| (seconds * problem.ports.down_bps[to] - program.required[to]) / program.unit_bits;
    let room: Vec<f64> = (0..n).map(room).collect();
    let receive: Vec<Row> = room.into_iter().map(|room| program.columns.add_row(..=room.max(0.0))).collect();
    program.add_pairs(seconds, 1.0, &send, &receive);
    program.solve(Sense::Maximise, effort)
}
