//! Evaluation of R²SP and FL-R²SP in virtual time, including trainings; and R²SP between racks.

mod between_racks;
mod case;
mod clients;
mod contention;
mod convergence;
mod federated_model;
mod federation;
mod federations;
mod groups;
mod memo;
mod models;
mod numbers;
mod racks;
mod schemes;
mod settings;
mod studies;
mod training;
mod trainings;
mod workers;

use crate::comparison::{Comparison, Study};
use crate::lines;
use crate::trials::StudyError;

use numbers::Panel;
pub use studies::STUDIES;

fn panels(study: &Study) -> Vec<Panel> {
    match study.name {
        "r2sp-table1" => contention::table_1(),
        "r2sp-table2" => groups::table_2(),
        "r2sp-table3" => settings::table_3(),
        "r2sp-table4" => groups::table_4(),
        "r2sp-table5" => groups::table_5(),
        "r2sp-fig1" => contention::fig1(),
        "r2sp-fig2" => contention::fig2(),
        "r2sp-fig8" => schemes::fig8(),
        "r2sp-fig9" => schemes::fig9(),
        "r2sp-fig10" => schemes::fig10(),
        "r2sp-fig12" => schemes::fig12(),
        "r2sp-fig13" => settings::fig13(),
        "r2sp-fig14" => settings::fig14(),
        "r2sp-fig16" => groups::fig16(),
        "r2sp-fig17" => groups::fig17(),
        "r2sp-fig18" => groups::fig18(),
        "r2sp-fig8b" => trainings::fig8b(),
        "r2sp-fig8c" => trainings::fig8c(),
        "r2sp-fig11" => trainings::fig11(),
        "r2sp-fig14b" => trainings::fig14b(),
        "r2sp-fig14c" => trainings::fig14c(),
        "r2sp-fig15" => federations::fig15(),
        "r2sp-table4b" => federations::table_4_convergence(),
        "r2sp-racks" => between_racks::panels(),
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
    use super::clients::Measure;
    use super::models::{ClientModel, Model};
    use super::workers::{Fleet, Sync};
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
        let data = include_str!("../../data/r2sp.csv");
        let rows = data.lines().filter(|line| line.starts_with("r2sp-")).count();
        assert_eq!(printed, rows);
    }

    /// The models' times were fitted to these rows of Tables IV and V, and to no others.
    #[test]
    fn runs_of_one_group_give_the_rows_that_they_were_fitted_to() {
        let rows = [
            (ClientModel::Cnn, [10.69, 0.38, 2.73]),
            (ClientModel::Lstm, [9.41, 0.36, 2.12]),
            (ClientModel::ResNet20, [44.90, 1.19, 13.28]),
        ];
        for (model, wanted) in rows {
            for (measure, wanted) in [Measure::Round, Measure::Push, Measure::Pull].into_iter().zip(wanted) {
                let figures = (1..=3).map(|seed| clients::Case::bsp(model, measure).run(seed).unwrap());
                let mean = figures.sum::<f64>() / 3.0;
                assert!((mean / wanted - 1.0).abs() < 0.03, "{model:?} {measure:?}: {mean}, {wanted}");
            }
        }
    }

    /// BSP's iteration is t_c + 2NS/B, and no order takes less than t_c + 2S/B_w or NS/B.
    #[test]
    fn workers_take_what_the_closed_forms_say() {
        let rows = [
            (Model::ResNet32, 0.23, 0.1475),
            (Model::AlexNet, 3.39, 1.445),
            (Model::Vgg16, 9.74, 4.52),
            (Model::Inception, 1.97, 1.0175),
        ];
        for (model, bsp_s, least_s) in rows {
            for fleet in [Fleet::Alike(8), Fleet::Alike(16)] {
                let run = |sync| workers::Case::new(model, sync).of(fleet).even().run(1).unwrap();
                assert!((run(Sync::Bsp) / bsp_s - 1.0).abs() < 1e-6, "{model:?} {fleet:?}");
                let r2sp_s = run(Sync::R2sp(0.8));
                assert!((0.999999..1.05).contains(&(r2sp_s / least_s)), "{model:?} {fleet:?}: {r2sp_s}");
            }
        }
    }
}
