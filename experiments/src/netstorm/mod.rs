//! NETSTORM's evaluation, in virtual time.

mod case;
mod error;
mod figures;
mod mersenne;
mod networks;
mod panel;
mod scaling;
mod sweep;
mod tables;

use crate::comparison::{Compared, Comparison, Study};

pub use error::StudyError;
use panel::Panel;
use sweep::Sweep;

/// As often as the paper repeats its experiments.
pub const STUDY_SEEDS: u64 = 5;

/// The panels of a study that are run; none for tables of words.
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

/// What stands beside the panels that are run.
fn words(study: &Study, compared: &[Compared]) -> Result<Option<Compared>, StudyError> {
    Ok(match study.name {
        "netstorm-fig20" => Some(scaling::best(compared)),
        "netstorm-table-1" => Some(tables::options()),
        "netstorm-table-2" => Some(tables::settings()?),
        _ => None,
    })
}

/// Runs studies over the seeds 1 to `seeds`, each case once; tells `progress` (runs done, all runs).
///
/// # Errors
/// The first run that fails.
pub fn run_studies(
    studies: &[&'static Study],
    seeds: u64,
    progress: &dyn Fn(u64, u64),
) -> Result<Vec<Comparison>, StudyError> {
    let all: Vec<(&Study, Vec<Panel>)> = studies.iter().map(|study| (*study, panels(study))).collect();
    let cases = all.iter().flat_map(|(_, panels)| panels).flat_map(Panel::cases);
    let sweep = Sweep::run(cases, seeds, progress)?;
    let comparison = |(study, panels): &(&Study, Vec<Panel>)| {
        let mut compared: Vec<Compared> =
            panels.iter().map(|panel| panel.compared(study.name, &sweep)).collect();
        compared.extend(words(study, &compared)?);
        let seeds = if panels.is_empty() { 0 } else { seeds };
        let flags = if seeds > 0 { format!(" --seeds {seeds}") } else { String::new() };
        let command = format!("inart experiment {}{flags}", study.name);
        Ok(Comparison { study: **study, seeds, command, panels: compared })
    };
    all.iter().map(comparison).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::published::netstorm;
    use crate::studies::STUDIES;

    #[test]
    fn every_study_has_something_to_show() {
        let mut printed = 0;
        for study in &STUDIES {
            let panels = panels(study);
            assert!(!panels.is_empty() || words(study, &[]).unwrap().is_some(), "{}", study.name);
            for panel in &panels {
                let mut names: Vec<&str> = panel.lines.iter().map(|line| line.x.as_str()).collect();
                let found = |x: &&str| netstorm(study.name, panel.key, x, panel.unit).is_some();
                printed += names.iter().filter(|x| found(x)).count();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), panel.lines.len(), "{} {}", study.name, panel.key);
            }
        }
        // As many as the file has: none has a misspelt name, or another unit.
        let data = include_str!("../../data/netstorm.csv");
        let rows = data.lines().filter(|line| line.starts_with("netstorm-")).count();
        assert_eq!(printed, rows);
    }
}
