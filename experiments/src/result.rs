//! Runs an experiment and puts our numbers next to those of the InArt paper and of the reference.

use serde::Serialize;

use crate::catalog::{Axis, Experiment, Panel, Point};
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
    /// Title of its chart.
    pub title: &'static str,
    /// Number of the figure in the published paper, if it is one of its figures.
    pub figure: Option<u32>,
    /// Seeds 1 to this number: each draws a network, and rounds with the same seed.
    pub seeds: u64,
    /// Command that repeats the experiment; the caller sets it.
    pub command: Option<String>,
    /// Panels, in the order of tables and charts.
    pub panels: Vec<PanelResult>,
}

/// A panel's numbers.
#[derive(Debug, Clone, Serialize)]
pub struct PanelResult {
    /// Short name.
    pub key: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// Quantity shown.
    #[serde(skip)]
    pub quantity: Quantity,
    /// Name of the quantity.
    #[serde(rename = "quantity")]
    pub name: &'static str,
    /// Unit of the quantity.
    pub unit: &'static str,
    /// Meaning of the x axis.
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
    /// Name in the InArt paper, if it shows the series.
    pub published_as: Option<&'static str>,
    /// Numbers, one per place.
    pub cells: Vec<Cell>,
}

/// A cell: our number, the InArt paper's, and that of the reference computation.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// Statistics of ours over the seeds.
    pub here: Statistics,
    /// Published number.
    pub paper: Option<PublishedNumber>,
    /// Number of the reference computation, a mean over seeds of its own.
    pub reference: Option<f64>,
}

/// A number of the InArt paper.
#[derive(Debug, Clone, Serialize)]
pub struct PublishedNumber {
    /// The number.
    pub value: f64,
    /// "text", or "plot": read off the figure, to about one percent.
    pub source: &'static str,
    /// Limit that the published number exceeds.
    pub beyond: Option<Limit>,
}

/// A limit on all of an experiment's networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// The proven bound on every unsplit plan.
    Bound,
    /// f~: what no plan exceeds, split or not.
    Lp,
}

/// Relative distance from a limit below which a number does not exceed it: the error of reading a figure.
const PLOT_ERROR: f64 = 0.02;
const TEXT_ERROR: f64 = 0.005;

/// Runs experiments over the seeds 1 to `seeds`, and plans once what several of them show. Reports to
/// `progress` (plans done, all plans). Returns a result per experiment, in their order.
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
        rows.extend(cells.map(|cells| Row { series, published_as: panel.published_name(series), cells }));
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

/// Returns `None` if the series has no such quantity: a bound on rates does not bound the traffic into
/// servers.
fn cell(experiment: &str, panel: &Panel, point: &Point, series: Series, sweep: &Sweep) -> Option<Cell> {
    let here = over_seeds(panel.quantity, point, series, sweep)?;
    let paper = panel.paper.zip(panel.published_name(series)).and_then(|(key, name)| {
        let number = published::paper(experiment, key, &point.x, name, panel.quantity.unit())?;
        let error = if number.source == "text" { TEXT_ERROR } else { PLOT_ERROR };
        let limits = [(Series::Lp, Limit::Lp), (Series::Bound, Limit::Bound)];
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
        Some(PublishedNumber { value: number.value, source, beyond: beyond.map(|(_, beyond)| beyond) })
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
