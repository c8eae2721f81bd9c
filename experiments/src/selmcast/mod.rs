//! Evaluation of the SELMCAST paper: rounds as planned, and trainings in virtual time.

mod case;
mod chance;
mod rounds;
mod studies;
mod trainings;

use crate::comparison::{Comparison, Study};
use crate::lines;
use crate::trials::StudyError;

use case::Panel;
pub use studies::STUDIES;

fn panels(study: &Study) -> Vec<Panel> {
    match study.name {
        "selmcast-fig1" => rounds::fig1(),
        "selmcast-fig4" => rounds::fig4(),
        "selmcast-fig5" => rounds::fig5(),
        "selmcast-fig6" => rounds::fig6(),
        "selmcast-fig7" => trainings::fig7(),
        "selmcast-fig8" => trainings::fig8(),
        "selmcast-fig9" => trainings::fig9(),
        "selmcast-fig10" => trainings::fig10(),
        "selmcast-fig11" => trainings::fig11(),
        "selmcast-fig12" => trainings::fig12(),
        "selmcast-fig13" => trainings::fig13(),
        _ => Vec::new(),
    }
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
    lines::compare(&all, seeds, progress, &|_, _| Ok(None))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::published::stated;

    #[test]
    fn every_published_number_has_a_row() {
        let mut printed = 0;
        for study in &STUDIES {
            let panels = panels(study);
            assert!(!panels.is_empty(), "{}", study.name);
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
        let data = include_str!("../../data/selmcast.csv");
        let rows = data.lines().filter(|line| line.starts_with("selmcast-")).count();
        assert_eq!(printed, rows);
    }
}
