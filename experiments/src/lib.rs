//! The experiments of the InArt paper, planned: for each of its figures a sweep over networks and seeds, a
//! table, a chart, a CSV file, and the paper's own numbers beside ours.
//!
//! And the figures of NETSTORM's, SELMCAST's and R²SP's evaluations, run in virtual time: the numbers that
//! the papers state, their schemes' and ours here, as tables, charts and files of three columns.
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
mod comparison;
mod comparison_chart;
mod comparison_table;
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

pub use catalogue::{Axis, Experiment, Panel, Point, experiment, experiments};
pub use chart::svg;
pub use comparison::{Beside, Compared, Comparison, Entry, Study, comparison_csv};
pub use comparison_chart::comparison_svg;
pub use comparison_table::comparison_markdown;
pub use measured::{MEASURED_SCHEMES, MEASURED_SEED, Measured, Place, read_measured, write_measured};
pub use measured_table::measured_markdown;
pub use models::Model;
pub use network::{LinkRates, Network};
pub use outcome::Outcome;
pub use published::{Printed, PrintedEntry, stated};
pub use quantity::Quantity;
pub use result::{Beyond, Cell, PanelResult, Paper, Row, RunResult, run};
pub use series::Series;
pub use spreadsheet::csv;
pub use statistics::Statistics;
pub use studies::{STUDY_SEEDS, run_studies, studies, study};
pub use sweep::Error;
pub use table::markdown;
pub use trials::StudyError;
