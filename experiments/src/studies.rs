//! Figures and tables of the NETSTORM, SELMCAST and R²SP papers, run in virtual time.

use crate::comparison::{Comparison, Study};
use crate::netstorm;
use crate::r2sp;
use crate::selmcast;
use crate::trials::StudyError;

/// Default number of networks that a study draws.
pub const STUDY_SEEDS: u64 = 5;

/// Returns all studies, by paper.
pub fn studies() -> impl Iterator<Item = &'static Study> {
    netstorm::STUDIES.iter().chain(&selmcast::STUDIES).chain(&r2sp::STUDIES)
}

/// Returns the study of this name.
pub fn study(name: &str) -> Option<&'static Study> {
    studies().find(|study| study.name == name)
}

/// Runs studies over the seeds 1 to `seeds`, each trial once; reports to `progress` (runs done, all runs),
/// paper by paper. Studies of one paper keep their order, papers have the order of [`studies`].
///
/// # Errors
/// The first run that fails.
pub fn run_studies(
    chosen: &[&'static Study],
    seeds: u64,
    progress: &dyn Fn(u64, u64),
) -> Result<Vec<Comparison>, StudyError> {
    let of = |all: &[Study]| -> Vec<&'static Study> {
        chosen.iter().copied().filter(|study| all.iter().any(|one| one.name == study.name)).collect()
    };
    let mut results = netstorm::compare(&of(&netstorm::STUDIES), seeds, progress)?;
    results.extend(selmcast::compare(&of(&selmcast::STUDIES), seeds, progress)?);
    results.extend(r2sp::compare(&of(&r2sp::STUDIES), seeds, progress)?);
    Ok(results)
}
