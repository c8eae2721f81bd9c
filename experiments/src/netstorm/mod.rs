//! Evaluation of the NETSTORM paper, in virtual time.

mod case;
mod figures;
mod job;
mod mersenne;
mod networks;
mod scaling;
mod studies;
mod tables;

use crate::comparison::{Comparison, ComparisonPanel, Study};
use crate::lines;
use crate::trials::StudyError;

use case::Panel;
pub use studies::STUDIES;

/// Returns the panels that a study runs; no panel for tables of words.
fn panels(study: &Study) -> Vec<Panel> {
    match study.name {
        "netstorm-fig13" => figures::fig13(),
        "netstorm-fig14" => figures::fig14(),
        "netstorm-fig15" => figures::fig15(),
        "netstorm-fig16" => figures::fig16(),
        "netstorm-fig17" => figures::fig17(),
        "netstorm-fig18" => figures::fig18(),
        "netstorm-fig19" => scaling::fig19(),
        "netstorm-fig20" => scaling::fig20(),
        _ => Vec::new(),
    }
}

/// Returns the panel of words of a study.
fn words(study: &Study, compared: &[ComparisonPanel]) -> Result<Option<ComparisonPanel>, StudyError> {
    Ok(match study.name {
        "netstorm-fig20" => Some(scaling::best(compared)),
        "netstorm-table-1" => Some(tables::options()),
        "netstorm-table-2" => Some(tables::settings()?),
        _ => None,
    })
}

/// Runs studies over the seeds 1 to `seeds`, each case once; reports to `progress` (runs done, all runs).
///
/// # Errors
/// The first run that fails.
pub fn compare(
    studies: &[&'static Study],
    seeds: u64,
    progress: &dyn Fn(u64, u64),
) -> Result<Vec<Comparison>, StudyError> {
    let all: Vec<(&Study, Vec<Panel>)> = studies.iter().map(|study| (*study, panels(study))).collect();
    lines::compare(&all, seeds, progress, &words)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::published::stated;

    #[test]
    fn every_study_has_something_to_show() {
        let mut printed = 0;
        for study in &STUDIES {
            let panels = panels(study);
            assert!(!panels.is_empty() || words(study, &[]).unwrap().is_some(), "{}", study.name);
            for panel in &panels {
                let mut names: Vec<&str> = panel.lines.iter().map(|line| line.x.as_str()).collect();
                let found = |x: &&str| stated(study.name, panel.key, x, panel.unit).is_some();
                printed += names.iter().filter(|x| found(x)).count();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), panel.lines.len(), "{} {}", study.name, panel.key);
            }
        }
        // All numbers of the file were found: none has a misspelled name or another unit.
        let data = include_str!("../../data/netstorm.csv");
        let rows = data.lines().filter(|line| line.starts_with("netstorm-")).count();
        assert_eq!(printed, rows);
    }
}
