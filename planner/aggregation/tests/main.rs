//! Runs the tests of this crate as one program: cargo links one program sooner than many.
#![allow(clippy::unwrap_used, reason = "tests")]

mod again;
mod brute;
mod check;
mod check_results;
mod directions;
mod exact_jobs;
mod fig1;
mod formats;
mod hostile;
mod imported;
mod instances;
mod jobs;
mod jobs_optimum;
mod joining;
mod levels;
mod literal;
mod lp;
mod narrow;
mod networks;
mod now;
mod optimum;
mod paths;
mod random;
mod replan;
mod results;
mod results_bounds;
mod schemes;
mod toy;
mod toy_scheme;
mod with_units;
