//! The restricted program: all racks, switches and servers, the links found overloaded so far, and the
//! columns made so far. HiGHS keeps its basis from one call to the next.

use std::num::NonZeroU32;

use highs::{Col, ColProblem, HighsModelStatus, Row, Sense};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lp::fabric::{Column, Fabric, Routing};
use crate::lp::prices::{Limits, Prices};
use crate::lp::results::{self, Cut};
use crate::model::Arc;

/// HiGHS's number for the primal simplex method: new columns leave the basis feasible, and it takes a tenth
/// of the time of the dual method here.
const PRIMAL: i32 = 4;
/// Feasibility in the program's unit, a hundredth of HiGHS's own, so that six digits are safe.
const TOLERANCE: f64 = 1e-9;

pub(crate) struct Master<'f> {
    fabric: &'f Fabric<'f>,
    pub limits: Limits,
    /// HiGHS's model; absent only while it is being solved.
    program: Option<highs::Model>,
    rows: Vec<Row>,
    /// Meaning of the rows after `rows`, in their order.
    extra: Vec<Extra>,
    links: FxHashMap<Arc, Row>,
    /// r(s, e) on links limited so far, by server; `None` if s may not use e.
    results: FxHashMap<Arc, Vec<Option<Col>>>,
    cuts: FxHashSet<Cut>,
    /// F_s, or only f where shares are fixed.
    sending: Vec<Col>,
    /// x_s, where they are fixed.
    fixed: Option<Vec<f64>>,
    columns: Vec<(Col, Column)>,
    pub routings: Vec<Routing>,
    /// Unit of rates, bit/s.
    pub unit: f64,
    /// Seconds that HiGHS has taken so far: its time limit counts from its first run.
    solving_s: f64,
}

/// Purpose of a row that was added later.
enum Extra {
    Link(Arc),
    Cut(Cut),
}

/// An optimum of the restricted program.
pub(crate) struct Optimum {
    /// f, in the program's unit.
    pub rate: f64,
    /// F_s, or only f.
    pub sending: Vec<f64>,
    /// Weight by column.
    pub weights: Vec<f64>,
    /// r(s, e), by limited link, then by server.
    results: FxHashMap<Arc, Vec<f64>>,
    pub prices: Prices,
    /// Whether HiGHS changed the basis.
    pub moved: bool,
}

impl<'f> Master<'f> {
    /// Creates the program without links and columns, over the first routing. Rates are in units of `unit`
    /// bit/s: the solver's tolerances are absolute, so it should be near the optimum.
    pub fn new(fabric: &'f Fabric<'f>, fixed: Option<&[f64]>, unit: f64) -> Result<Self, String> {
        let model = fabric.model;
        let in_units = |bps: f64| bps / unit;
        let limits = Limits {
            links: model.capacity[..model.arcs()].iter().copied().map(in_units).collect(),
            switches: model.aggregators.iter().map(|&v| in_units(model.capacity_of(model.own(v)))).collect(),
            servers: model.servers.iter().map(|&s| in_units(model.intake_bps(s))).collect(),
            // Single-homed workers: their one uplink carries the whole gradient.
            uplink: in_units(model.min_uplink_bps()),
        };
        let covers = model.servers.len() * fabric.racks.len();
        let mut problem = ColProblem::new();
        let mut rows: Vec<Row> = (0..covers).map(|_| problem.add_row(..=0.0)).collect();
        let nodes = limits.switches.iter().chain(&limits.servers).chain([&limits.uplink]);
        rows.extend(nodes.map(|&limit| problem.add_row(..=limit)));
        let mut program = problem.try_optimise(Sense::Maximise).map_err(|status| format!("{status:?}"))?;
        program.make_quiet();
        program.set_threads(NonZeroU32::MIN);
        program.set_option("presolve", "off");
        program.set_option("solver", "simplex");
        program.set_option("simplex_strategy", PRIMAL);
        // Perturbed bounds have to be restored at the end, and on degenerate networks HiGHS never finished
        // that.
        program.set_option("primal_simplex_bound_perturbation_multiplier", 0.0);
        program.set_option("primal_feasibility_tolerance", TOLERANCE);
        program.set_option("dual_feasibility_tolerance", TOLERANCE);
        let uplink = *rows.last().expect("invariant: just made");
        let racks = fabric.racks.len();
        let mut sending = Vec::new();
        let mut variable = |factors: Vec<(Row, f64)>| {
            let with_uplink = factors.into_iter().chain([(uplink, 1.0)]);
            program.try_add_column(1.0, 0.0.., with_uplink).map_err(|status| format!("{status:?}"))
        };
        match fixed {
            Some(shares) => {
                let share = |(at, &row): (usize, &Row)| (row, shares[at / racks]);
                let factors = rows[..covers].iter().enumerate().map(share).filter(|&(_, share)| share > 0.0);
                sending.push(variable(factors.collect())?);
            }
            None => {
                for of_server in rows[..covers].chunks(racks) {
                    sending.push(variable(of_server.iter().map(|&row| (row, 1.0)).collect())?);
                }
            }
        }
        let routings = vec![fabric.route(&vec![0.0; model.arcs()], false).0];
        let program = Some(program);
        Ok(Master {
            fabric,
            limits,
            program,
            rows,
            extra: Vec::new(),
            links: FxHashMap::default(),
            results: FxHashMap::default(),
            cuts: FxHashSet::default(),
            fixed: fixed.map(<[f64]>::to_vec),
            sending,
            columns: Vec::new(),
            routings,
            unit,
            solving_s: 0.0,
        })
    }

    /// Adds columns, whose routings must exist.
    pub fn add_columns(&mut self, columns: Vec<Column>) -> Result<(), String> {
        let (racks, switches) = (self.fabric.racks.len(), self.limits.switches.len());
        let covers = racks * self.limits.servers.len();
        let mut carried = vec![0.0; self.limits.links.len()];
        for column in columns {
            let mut factors: Vec<(Row, f64)> =
                column.racks.iter().map(|&r| (self.rows[column.server * racks + r], -1.0)).collect();
            let workers: f64 = column.racks.iter().map(|&r| self.fabric.sizes[r]).sum();
            let units = column.switch.map_or(workers, |_| 1.0);
            factors.push((self.rows[covers + switches + column.server], units));
            if let Some(v) = column.switch {
                factors.push((self.rows[covers + v], workers));
            }
            let mut touched = Vec::new();
            self.fabric.carry(&column, &self.routings[column.routing], 1.0, |_, arc, amount| {
                if carried[arc as usize] == 0.0 {
                    touched.push(arc);
                }
                carried[arc as usize] += amount;
            });
            for arc in touched {
                let amount = std::mem::take(&mut carried[arc as usize]);
                factors.extend(self.links.get(&arc).map(|&row| (row, amount)));
            }
            let program = self.program.as_mut().expect("invariant: put back after every solve");
            let made = program.try_add_column(0.0, 0.0.., factors).map_err(|status| format!("{status:?}"))?;
            self.columns.push((made, column));
        }
        Ok(())
    }

    /// Returns the overloaded links of a solution that the program does not limit yet, and violated cuts of
    /// results.
    pub fn violated(&self, optimum: &Optimum) -> (Vec<Arc>, Vec<Cut>) {
        let look = self.results(optimum);
        let mut load = look.load;
        for (weight, column) in self.used(optimum) {
            let routing = &self.routings[column.routing];
            self.fabric.carry(column, routing, weight, |_, arc, amount| load[arc as usize] += amount);
        }
        let over = |arc: &usize| load[*arc] > self.limits.links[*arc] * (1.0 + TOLERANCE);
        let links = (0..load.len()).filter(over).map(|arc| arc as Arc);
        let mut cuts: Vec<Cut> = Vec::new();
        for cut in look.cuts {
            if !self.cuts.contains(&cut) && !cuts.contains(&cut) {
                cuts.push(cut);
            }
        }
        (links.filter(|arc| !self.links.contains_key(arc)).collect(), cuts)
    }

    /// Returns the results of a solution.
    fn results(&self, optimum: &Optimum) -> results::Look {
        let servers = self.fabric.trees.len();
        let mut limited = vec![vec![f64::INFINITY; self.limits.links.len()]; servers];
        for (&arc, on) in &optimum.results {
            for (limited, on) in limited.iter_mut().zip(on) {
                limited[arc as usize] = *on;
            }
        }
        let sending = match &self.fixed {
            Some(shares) => shares.iter().map(|share| share * optimum.rate).collect(),
            None => optimum.sending.clone(),
        };
        results::look(self.fabric, &sending, limited)
    }

    /// Adds cuts of results.
    pub fn add_cuts(&mut self, cuts: Vec<Cut>) -> Result<(), String> {
        let program = self.program.as_mut().expect("invariant: put back after every solve");
        for cut in cuts {
            let sending = match &self.fixed {
                Some(shares) => (self.sending[0], shares[cut.server]),
                None => (self.sending[cut.server], 1.0),
            };
            let over = |arc: &Arc| Some((self.results.get(arc)?[cut.server]?, -1.0));
            let factors: Vec<(Col, f64)> =
                std::iter::once(sending).chain(cut.arcs.iter().filter_map(over)).collect();
            program.try_add_row(..=0.0, factors).map_err(|status| format!("{status:?}"))?;
            self.extra.push(Extra::Cut(cut.clone()));
            self.cuts.insert(cut);
        }
        Ok(())
    }

    /// Columns of positive weight.
    pub fn used<'a>(&'a self, optimum: &'a Optimum) -> impl Iterator<Item = (f64, &'a Column)> {
        let all = optimum.weights.iter().copied().zip(self.columns.iter().map(|(_, column)| column));
        all.filter(|&(weight, _)| weight > TOLERANCE)
    }

    /// Limits some more links.
    pub fn add_links(&mut self, arcs: &[Arc]) -> Result<(), String> {
        if arcs.is_empty() {
            return Ok(());
        }
        let mut factors: FxHashMap<Arc, Vec<(Col, f64)>> =
            arcs.iter().map(|&arc| (arc, Vec::new())).collect();
        for (variable, column) in &self.columns {
            self.fabric.carry(column, &self.routings[column.routing], 1.0, |_, arc, amount| {
                if let Some(factors) = factors.get_mut(&arc) {
                    match factors.last_mut() {
                        Some((last, sum)) if last == variable => *sum += amount,
                        _ => factors.push((*variable, amount)),
                    }
                }
            });
        }
        let program = self.program.as_mut().expect("invariant: put back after every solve");
        for &arc in arcs {
            let limit = self.limits.links[arc as usize];
            let row = program.try_add_row(..=limit, factors.remove(&arc).unwrap_or_default());
            let row = row.map_err(|status| format!("{status:?}"))?;
            self.links.insert(arc, row);
            self.extra.push(Extra::Link(arc));
            let mut of_server = Vec::new();
            for tree in &self.fabric.trees {
                of_server.push(if tree.allows(arc) {
                    let made = program.try_add_column(0.0, 0.0.., [(row, 1.0)]);
                    Some(made.map_err(|status| format!("{status:?}"))?)
                } else {
                    None
                });
            }
            self.results.insert(arc, of_server);
        }
        Ok(())
    }

    /// Returns the optimum over the existing columns; `None` if that takes longer than `time_left`.
    pub fn solve(&mut self, time_left: &dyn Fn() -> f64) -> Result<Option<Optimum>, String> {
        let left = time_left();
        if left <= 0.0 {
            return Ok(None);
        }
        let mut program = self.program.take().expect("invariant: put back after every solve");
        if left.is_finite() {
            program.set_option("time_limit", self.solving_s + left);
        }
        let solved = program.try_solve().map_err(|status| format!("{status:?}"))?;
        if left.is_finite() {
            self.solving_s += left - time_left();
        }
        let (status, solution) = (solved.status(), solved.get_solution());
        let moved = solved.simplex_iteration_count() > 0;
        self.program = Some(solved.into());
        match status {
            HighsModelStatus::Optimal => {}
            HighsModelStatus::ReachedTimeLimit => return Ok(None),
            other => return Err(format!("{other:?}")),
        }
        let value = |variable: &Col| solution[*variable].max(0.0);
        let sending: Vec<f64> = self.sending.iter().map(value).collect();
        let weights = self.columns.iter().map(|(variable, _)| value(variable)).collect();
        let dual = |position: usize| solution.dual_rows()[position].max(0.0);
        let racks = self.fabric.racks.len();
        let (servers, switches) = (self.limits.servers.len(), self.limits.switches.len());
        let covers = servers * racks;
        let (links, results) = self.prices_of_links(|position| dual(self.rows.len() + position));
        let on = |of_server: &Vec<Option<Col>>| -> Vec<f64> {
            of_server.iter().map(|variable| variable.as_ref().map_or(0.0, value)).collect()
        };
        let carried = self.results.iter().map(|(&arc, of_server)| (arc, on(of_server))).collect();
        let prices = Prices {
            links,
            switches: (0..switches).map(|v| dual(covers + v)).collect(),
            servers: (0..servers).map(|s| dual(covers + switches + s)).collect(),
            uplink: dual(covers + switches + servers),
            cover: (0..servers).map(|s| (0..racks).map(|r| dual(s * racks + r)).collect()).collect(),
            results,
        };
        Ok(Some(Optimum { rate: sending.iter().sum(), sending, weights, results: carried, prices, moved }))
    }

    /// Returns the prices of links, none below the sum of one server's cuts on it, and the sum of the prices
    /// of each server's cuts.
    fn prices_of_links(&self, dual: impl Fn(usize) -> f64) -> (Vec<f64>, Vec<f64>) {
        let mut links = vec![0.0; self.limits.links.len()];
        let mut results = vec![0.0; self.limits.servers.len()];
        let mut taken: FxHashMap<(usize, Arc), f64> = FxHashMap::default();
        for (position, extra) in self.extra.iter().enumerate() {
            match extra {
                Extra::Link(arc) => links[*arc as usize] = dual(position),
                Extra::Cut(cut) => {
                    let price = dual(position);
                    results[cut.server] += price;
                    let price_on = |arc: &Arc| *taken.entry((cut.server, *arc)).or_default() += price;
                    cut.arcs.iter().for_each(price_on);
                }
            }
        }
        for ((_, arc), taken) in taken {
            let price = &mut links[arc as usize];
            *price = price.max(taken);
        }
        (links, results)
    }
}
