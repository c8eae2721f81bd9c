//! The experiments of the paper, planned: for each of its figures a sweep over networks and seeds, a table, a
//! chart, a CSV file, and the paper's own numbers beside ours.
//!
//! ```
//! use inart_experiments::{experiment, run};
//!
//! let figure = experiment("inart-fig5").expect("is in the list");
//! let results = run(&[figure], 1, &|_, _| ())?;
//! assert!(results[0].to_string().contains("Communication time"));
//! # Ok::<(), inart_experiments::Error>(())
//! ```

mod catalogue;
mod chart;
mod measured;
mod measured_table;
mod network;
mod outcome;
mod published;
mod quantity;
mod result;
mod series;
mod spreadsheet;
mod statistics;
mod sweep;
mod table;

pub use catalogue::{Axis, Experiment, Panel, Point, experiment, experiments};
pub use chart::svg;
pub use measured::{MEASURED_SCHEMES, MEASURED_SEED, Measured, Place, read_measured, write_measured};
pub use measured_table::measured_markdown;
pub use network::{LinkRates, Network};
pub use outcome::Outcome;
pub use quantity::Quantity;
pub use result::{Beyond, Cell, PanelResult, Paper, Row, RunResult, run};
pub use series::Series;
pub use spreadsheet::csv;
pub use statistics::Statistics;
pub use sweep::Error;
pub use table::markdown;
