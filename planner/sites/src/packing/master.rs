//! Restricted program over the arborescences found so far. HiGHS keeps its basis from one call to the next.

use std::collections::HashSet;
use std::num::NonZeroU32;

use highs::{Col, ColProblem, HighsModelStatus, Row, Sense};

use super::columns::{Column, Direction, Graph};

/// Number of the primal simplex method in HiGHS: new columns leave the basis feasible.
const PRIMAL: i32 = 4;
/// Feasibility tolerance in the program's unit.
const TOLERANCE: f64 = 1e-9;

/// Objective of the program, which is maximized.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// Rate.
    Rate,
    /// Small heights at a rate that is a row of the program.
    Shallow(Row),
}

/// Program with one row per root (the weight of its in-arborescences minus that of its out-arborescences = 0)
/// and one row per arc (the weight of all that use it <= its capacity).
pub(crate) struct Master<'g> {
    graph: &'g Graph,
    /// HiGHS's model; absent only while it is being solved.
    program: Option<highs::Model>,
    roots: Vec<Row>,
    limits: Vec<Row>,
    columns: Vec<(Col, Column)>,
    known: HashSet<Column>,
    aim: Aim,
}

/// Optimum of the restricted program.
pub(crate) struct Optimum {
    /// Rate in the program's unit.
    pub rate: f64,
    /// Weights by column.
    pub weights: Vec<f64>,
    /// Prices of arcs, at least 0.
    pub arcs: Vec<f64>,
    /// By root: the least value of one more unit into the root, before its way out is paid.
    roots: Vec<f64>,
    /// Contribution of the rate's row to an in-arborescence.
    of_rate: f64,
    /// Number of simplex iterations.
    pub iterations: i64,
}

impl<'g> Master<'g> {
    /// Creates the program without columns. Rates are in the graph's unit: HiGHS's tolerances are absolute.
    pub fn new(graph: &'g Graph) -> Result<Self, String> {
        let mut problem = ColProblem::new();
        let roots = (0..graph.sites).map(|_| problem.add_row(0.0..=0.0)).collect();
        let limits = graph.capacities.iter().map(|&capacity| problem.add_row(..=capacity)).collect();
        let mut program = problem.try_optimise(Sense::Maximise).map_err(|status| format!("{status:?}"))?;
        program.make_quiet();
        program.set_threads(NonZeroU32::MIN);
        program.set_option("presolve", "off");
        program.set_option("solver", "simplex");
        program.set_option("simplex_strategy", PRIMAL);
        program.set_option("primal_simplex_bound_perturbation_multiplier", 0.0);
        program.set_option("primal_feasibility_tolerance", TOLERANCE);
        program.set_option("dual_feasibility_tolerance", TOLERANCE);
        let (program, aim) = (Some(program), Aim::Rate);
        Ok(Master { graph, program, roots, limits, columns: Vec::new(), known: HashSet::new(), aim })
    }

    /// Returns the columns, in the order of an optimum's weights.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().map(|(_, column)| column)
    }

    /// Adds a column; returns whether it is new.
    pub fn add(&mut self, column: Column) -> Result<bool, String> {
        if self.known.contains(&column) {
            return Ok(false);
        }
        let root = self.roots[column.root];
        let mut factors = vec![match column.direction {
            Direction::In => (root, 1.0),
            Direction::Out => (root, -1.0),
        }];
        if let (Aim::Shallow(row), Direction::In) = (self.aim, column.direction) {
            factors.push((row, 1.0));
        }
        factors.extend(column.arcs().map(|arc| (self.limits[arc], 1.0)));
        let value = self.value(&column);
        let program = self.program.as_mut().ok_or("the program was lost")?;
        let made = program.try_add_column(value, 0.0.., factors).map_err(|status| format!("{status:?}"))?;
        self.known.insert(column.clone());
        self.columns.push((made, column));
        Ok(true)
    }

    /// Returns the gain of one unit of a column in the objective.
    fn value(&self, column: &Column) -> f64 {
        match (self.aim, column.direction) {
            (Aim::Rate, Direction::In) => 1.0,
            (Aim::Rate, Direction::Out) => 0.0,
            (Aim::Shallow(_), _) => -f64::from(self.graph.height(column)),
        }
    }

    /// Requires a rate of at least `rate` from now on, and minimizes the sum of weight times height.
    pub fn prefer_shallow(&mut self, rate: f64) -> Result<(), String> {
        let ins = self.columns.iter().filter(|(_, column)| column.direction == Direction::In);
        let factors: Vec<(Col, f64)> = ins.map(|&(variable, _)| (variable, 1.0)).collect();
        let program = self.program.as_mut().ok_or("the program was lost")?;
        let row = program.try_add_row(rate.., factors).map_err(|status| format!("{status:?}"))?;
        self.aim = Aim::Shallow(row);
        for (variable, column) in &self.columns {
            let height = f64::from(self.graph.height(column));
            program.change_column_cost(*variable, -height);
        }
        Ok(())
    }

    /// Solves the program over the columns added so far.
    pub fn solve(&mut self) -> Result<Optimum, String> {
        let program = self.program.take().ok_or("the program was lost")?;
        let solved = program.try_solve().map_err(|status| format!("{status:?}"))?;
        let (status, solution) = (solved.status(), solved.get_solution());
        let iterations = solved.simplex_iteration_count();
        self.program = Some(solved.into());
        if status != HighsModelStatus::Optimal {
            return Err(format!("{status:?}"));
        }
        let weights: Vec<f64> =
            self.columns.iter().map(|(variable, _)| solution[*variable].max(0.0)).collect();
        let ins = weights.iter().zip(self.columns()).filter(|(_, column)| column.direction == Direction::In);
        let rate = ins.map(|(weight, _)| weight).sum();
        // Rows were added in this order.
        let duals = solution.dual_rows();
        let (roots, rest) = duals.split_at(self.roots.len());
        let (limits, rest) = rest.split_at(self.limits.len());
        let arcs = limits.iter().map(|price| price.max(0.0)).collect();
        let of_rate = rest.first().map_or(0.0, |dual| -dual);
        Ok(Optimum { rate, weights, arcs, roots: roots.to_vec(), of_rate, iterations })
    }

    /// Returns the sum of weight times height.
    pub fn height(&self, optimum: &Optimum) -> f64 {
        let height = |(column, weight): (&Column, &f64)| weight * f64::from(self.graph.height(column));
        self.columns().zip(&optimum.weights).map(height).sum()
    }

    /// Returns the gain of one unit of a column at an optimum: its reduced cost.
    pub fn worth(&self, optimum: &Optimum, column: &Column) -> f64 {
        let price = optimum.roots[column.root];
        let earned = match column.direction {
            Direction::In => optimum.of_rate - price,
            Direction::Out => price,
        };
        self.value(column) + earned - column.cost(&optimum.arcs)
    }
}
