//! Runs an experiment and puts ours, the paper's and the reference's numbers side by side.

use serde::Serialize;

use crate::catalogue::{Axis, Experiment, Panel, Point};
use crate::published;
use crate::quantity::Quantity;
use crate::series::Series;
use crate::statistics::Statistics;
use crate::sweep::{Error, Sweep};

/// An experiment's numbers.
#[derive(Debug, Clone, Serialize)]
pub struct RunResult {
    /// Name of the experiment.
    pub experiment: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Number of the figure in the published paper, if it is one of its figures.
    pub figure: Option<u32>,
    /// Seeds 1 to this number: each draws a network, and rounds with the same seed.
    pub seeds: u64,
    /// The command that makes it again; for the caller to say.
    pub command: Option<String>,
    /// Its panels.
    pub panels: Vec<PanelResult>,
}

/// A panel's numbers.
#[derive(Debug, Clone, Serialize)]
pub struct PanelResult {
    /// Short name.
    pub key: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// What is shown.
    #[serde(skip)]
    pub quantity: Quantity,
    /// Its name.
    #[serde(rename = "quantity")]
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What it is shown against.
    #[serde(skip)]
    pub axis: Axis,
    /// The places on the x axis.
    pub x: Vec<String>,
    /// One row per series.
    pub rows: Vec<Row>,
}

/// A series' numbers, one per place on the x axis.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The series.
    pub series: Series,
    /// What the paper calls it, if it shows it.
    pub in_the_paper: Option<&'static str>,
    /// Its numbers.
    pub cells: Vec<Cell>,
}

/// One number, three times: ours, the paper's, the reference computation's.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// Ours, over the seeds.
    pub here: Statistics,
    /// The paper's.
    pub paper: Option<Paper>,
    /// The reference computation's, a mean over seeds of its own.
    pub reference: Option<f64>,
}

/// A number of the paper.
#[derive(Debug, Clone, Serialize)]
pub struct Paper {
    /// The number.
    pub value: f64,
    /// "text", or "plot": read off the figure, to about one percent.
    pub source: &'static str,
    /// What it is better than, which nothing can be.
    pub beyond: Option<Beyond>,
}

/// A limit on all of an experiment's networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Beyond {
    /// The proven bound on every unsplit plan.
    Bound,
    /// f~: what no plan exceeds, split or not.
    Lp,
}

/// How far beyond a bound a number has to be before we say so: more than what reading off a figure may cost.
const PLOT_ERROR: f64 = 0.02;
const TEXT_ERROR: f64 = 0.005;

/// Runs experiments over the seeds 1 to `seeds`, planning once what several of them show; tells `progress`
/// (plans done, all plans) now and then. One result per experiment, in their order.
///
/// # Errors
/// The first plan that cannot be made.
pub fn run(
    experiments: &[Experiment],
    seeds: u64,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Vec<RunResult>, Error> {
    let panels = experiments.iter().flat_map(|experiment| &experiment.panels);
    let sweep = Sweep::run(panels, seeds, progress)?;
    let result = |experiment: &Experiment| {
        let panel = |panel| panel_result(experiment.name, panel, &sweep);
        RunResult {
            experiment: experiment.name,
            title: experiment.title,
            figure: experiment.figure,
            seeds,
            command: None,
            panels: experiment.panels.iter().map(panel).collect(),
        }
    };
    Ok(experiments.iter().map(result).collect())
}

fn panel_result(experiment: &str, panel: &Panel, sweep: &Sweep) -> PanelResult {
    let mut rows: Vec<Row> = Vec::new();
    for &series in panel.series {
        let cell = |point| cell(experiment, panel, point, series, sweep);
        let cells: Option<Vec<Cell>> = panel.points.iter().map(cell).collect();
        rows.extend(cells.map(|cells| Row { series, in_the_paper: panel.called(series), cells }));
    }
    PanelResult {
        key: panel.key,
        title: panel.title,
        quantity: panel.quantity,
        name: panel.quantity.name(),
        unit: panel.quantity.unit(),
        axis: panel.axis,
        x: panel.points.iter().map(|point| point.x.clone()).collect(),
        rows,
    }
}

/// None if the series has no such quantity: a bound on rates says nothing of the traffic into servers.
fn cell(experiment: &str, panel: &Panel, point: &Point, series: Series, sweep: &Sweep) -> Option<Cell> {
    let here = over_seeds(panel.quantity, point, series, sweep)?;
    let paper = panel.paper.zip(panel.called(series)).and_then(|(key, name)| {
        let number = published::paper(experiment, key, &point.x, name, panel.quantity.unit())?;
        let error = if number.source == "text" { TEXT_ERROR } else { PLOT_ERROR };
        let limits = [(Series::Lp, Beyond::Lp), (Series::Bound, Beyond::Bound)];
        let beyond = limits.into_iter().find(|&(limit, _)| {
            over_seeds(panel.quantity, point, limit, sweep).is_some_and(|limit| {
                // The most generous seed decides.
                if panel.quantity.larger_is_better() {
                    number.value > limit.greatest * (1.0 + error)
                } else {
                    number.value < limit.least * (1.0 - error)
                }
            })
        });
        let source = if number.source == "text" { "text" } else { "plot" };
        Some(Paper { value: number.value, source, beyond: beyond.map(|(_, beyond)| beyond) })
    });
    let reference = published::reference(experiment, panel.key, &point.x, series.name());
    Some(Cell { here, paper, reference })
}

fn over_seeds(quantity: Quantity, point: &Point, series: Series, sweep: &Sweep) -> Option<Statistics> {
    let (bytes, workers) = (point.gradient_bytes, point.network.workers());
    let figures = sweep.outcomes(point.network, series.method()).iter().map(|outcome| match series {
        Series::Scheme(_) | Series::TwoLevels => Some(quantity.of_plan(outcome, bytes, workers)),
        Series::Bound | Series::TwoLevelsBound => quantity.of_rate(outcome.bound_bps, bytes, workers),
        Series::Lp => quantity.of_rate(outcome.lp_bps?, bytes, workers),
    });
    let figures = figures.collect::<Option<Vec<f64>>>()?;
    (!figures.is_empty()).then(|| Statistics::of(&figures))
}
