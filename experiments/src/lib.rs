//! Plans the experiments of the InArt paper: for each of its figures a sweep over networks and seeds, a
//! table, a chart and a CSV file, with the published numbers next to ours.
//!
//! Runs the figures of the NETSTORM, SELMCAST and R²SP papers in virtual time: tables, charts and files with
//! three columns, the published numbers, the published schemes here, and our own scheme.
//!
//! ```
//! use inart_experiments::{experiment, run};
//!
//! let figure = experiment("inart-fig5").expect("is in the list");
//! let results = run(&[figure], 1, &|_, _| ())?;
//! assert!(results[0].to_string().contains("Communication time"));
//! # Ok::<(), inart_experiments::Error>(())
//! ```

mod catalog;
mod chart;
mod comparison;
mod comparison_chart;
mod comparison_table;
mod layout;
mod lines;
mod measured;
mod measured_table;
mod models;
mod netstorm;
mod network;
mod outcome;
pub mod palette;
mod published;
mod quantity;
mod r2sp;
mod result;
mod selmcast;
mod series;
mod spreadsheet;
mod statistics;
mod studies;
mod sweep;
mod table;
mod trials;

pub use catalog::{Axis, Experiment, Panel, Point, experiment, experiments};
pub use chart::svg;
pub use comparison::{Comparison, ComparisonPanel, ComparisonRow, Entry, Study, comparison_csv};
pub use comparison_chart::comparison_svg;
pub use measured::{
    EMBEDDED_SWITCH, MEASURED_FORMAT, MEASURED_SCHEMES, MEASURED_SEED, MeasuredError, Measurement,
    MeasurementKey, read_measured, write_measured,
};
pub use measured_table::measured_table;
pub use models::Model;
pub use network::{LinkRates, Network};
pub use outcome::Outcome;
pub use published::{PublishedEntry, PublishedValue, stated};
pub use quantity::Quantity;
pub use result::{Cell, Limit, PanelResult, PublishedNumber, Row, RunResult, run};
pub use series::Series;
pub use spreadsheet::csv;
pub use statistics::Statistics;
pub use studies::{STUDY_SEEDS, run_studies, studies, study};
pub use sweep::Error;
pub use trials::StudyError;
