//! Data centers with workers inside, in one process: workers and parameter servers on a switch in memory,
//! which only forwards, and sites on QUIC connections over the loopback interface.
#![allow(clippy::unwrap_used)]

mod data_centers;

use std::ops::Range;
use std::time::Duration;

use data_centers::{DataCenters, Results};
use inart_protocol_aggregation::audit::sum_of;
use inart_sites_agent::audit::sum_of_sites;

use crate::three::{TENSORS, VALUES};

/// Longer than the silence of any process here.
const LONG_PATIENCE: Duration = Duration::from_secs(60);
/// Maximum silence of a worker in tests where one dies: longer than the silence of others on a busy machine.
const SHORT_PATIENCE: Duration = Duration::from_secs(6);

/// Returns a worker's gradient: values of very different magnitudes, by round and index.
fn gradient(place: usize, round: u32, values: usize) -> Vec<f32> {
    let value = |at: usize| {
        let mixed =
            (at * 2_654_435_761 + place * 97_003 + round as usize * 31).wrapping_mul(0x9e37_79b9) % 20_011;
        let size = [1.0, 1e-3, 300.0][(at / 700 + round as usize) % 3];
        (mixed as f32 / 1e4 - 1.0) * size
    };
    (0..values).map(value).collect()
}

#[test]
fn all_workers_of_all_sites_have_the_same_bits_which_are_those_of_the_sum() {
    let rounds = 4;
    let world = DataCenters::new(rounds, LONG_PATIENCE);
    let Results { sites, workers, bare } = world.run(|place, round| Some(gradient(place, round, VALUES)));
    let sites: Vec<_> = sites.into_iter().map(Result::unwrap).collect();
    let workers: Vec<_> = workers.into_iter().map(Result::unwrap).collect();
    let bare = bare.unwrap();
    for round in 0..rounds as usize {
        let own: Vec<Vec<f32>> = (0..6).map(|place| gradient(place, round as u32 + 1, VALUES)).collect();
        let own: Vec<&[f32]> = own.iter().map(|values| &values[..]).collect();
        // Inside a site each tensor is summed separately.
        let of_workers = |own: &[&[f32]]| {
            let of = |range: Range<usize>| {
                let parts: Vec<&[f32]> = own.iter().map(|values| &values[range.clone()]).collect();
                sum_of(&parts, own.len(), false)
            };
            [of(0..TENSORS[0]), of(TENSORS[0]..VALUES)].concat()
        };
        let sum = sum_of_sites(&[&of_workers(&own[..3]), &of_workers(&own[3..5]), own[5]], &TENSORS);
        for (place, worker) in workers.iter().enumerate() {
            let (read, record) = &worker[round];
            assert_eq!(bits(&record.sent), bits(own[place]), "worker {place}, round {round}");
            assert_eq!(
                (bits(read), bits(&record.result)),
                (bits(&sum), bits(&sum)),
                "worker {place}, round {round}"
            );
        }
        assert_eq!(bits(&bare[round]), bits(&sum), "the site without workers, round {round}");
        for site in &sites {
            let record = &site.rounds[round];
            assert_eq!((bits(&record.sum), record.round), (bits(&sum), round as u32 + 1));
            assert!(record.began <= record.own && record.own <= record.ended);
        }
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Checks the errors of all sites and workers, except the workers `but`.
fn check_errors(results: &Results, words: &[&str], but: &[usize]) {
    let sites = results.sites.iter().map(|site| site.as_ref().unwrap_err().to_string());
    let workers = results.workers.iter().enumerate().filter(|(place, _)| !but.contains(place));
    let workers = workers.map(|(_, worker)| worker.as_ref().unwrap_err().to_string());
    let bare = results.bare.as_ref().unwrap_err().to_string();
    for error in sites.chain([bare]).chain(workers.clone()) {
        for word in words {
            assert!(error.contains(word), "{error}");
        }
    }
}

#[test]
fn a_nan_at_one_worker_is_reported_with_site_and_worker_at_all_sites_and_workers() {
    let world = DataCenters::new(3, LONG_PATIENCE);
    let results = world.run(|place, round| {
        let mut own = gradient(place, round, VALUES);
        if (place, round) == (3, 2) {
            own[700] = f32::NAN;
        }
        Some(own)
    });
    let own = results.workers[3].as_ref().unwrap_err().to_string();
    assert!(own.contains("value 700 of this worker's gradient is NaN"), "{own}");
    // Workers of its site learn the name of the worker, all others also that of the site.
    let same_site = results.workers[4].as_ref().unwrap_err().to_string();
    assert!(same_site.contains("worker 0 (d) has a gradient with a NaN"), "{same_site}");
    check_errors(&results, &["n2", "d", "has a gradient with a NaN"], &[3, 4]);
}

#[test]
fn a_nan_of_a_site_without_workers_is_reported_with_its_name_at_all_workers() {
    let world = DataCenters::new(3, LONG_PATIENCE);
    let results = world.run(|place, round| {
        let mut own = gradient(place, round, VALUES);
        if (place, round) == (5, 2) {
            own[9_000] = f32::INFINITY;
        }
        Some(own)
    });
    check_errors(&results, &["round 2", "site n3 has a NaN or an infinity"], &[]);
}

#[test]
fn a_dead_worker_is_reported_with_its_site_at_all_processes() {
    let world = DataCenters::new(3, SHORT_PATIENCE);
    let results =
        world.run(|place, round| ((place, round) != (1, 2)).then(|| gradient(place, round, VALUES)));
    check_errors(&results, &["b", "is silent"], &[1]);
    check_other_errors(&results, "site n1: worker b is silent");
}

/// Checks the errors of the sites and workers outside the first site.
fn check_other_errors(results: &Results, words: &str) {
    let workers = results.workers[3..].iter().map(|worker| worker.as_ref().unwrap_err().to_string());
    let site = results.sites[1].as_ref().unwrap_err().to_string();
    for error in workers.chain([site, results.bare.as_ref().unwrap_err().to_string()]) {
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_gradient_of_another_length_is_reported_with_its_site_and_both_lengths() {
    let world = DataCenters::new(3, LONG_PATIENCE);
    // All workers of the first site, in the second round.
    let results = world.run(|place, round| {
        let values = if place < 3 && round == 2 { VALUES - 1000 } else { VALUES };
        Some(gradient(place, round, values))
    });
    check_errors(&results, &["site n1", "the job's tensor 0 of 20000 values: one of 19000"], &[]);
    // Only one worker.
    let world = DataCenters::new(3, LONG_PATIENCE);
    let results = world.run(|place, round| {
        let values = if (place, round) == (1, 2) { VALUES - 32 } else { VALUES };
        Some(gradient(place, round, values))
    });
    check_other_errors(&results, "site n1: worker b has a gradient of 19968 values, others have 20000");
    check_errors(&results, &["has a gradient of 19968 values, others have 20000"], &[]);
}

#[test]
fn a_restarted_site_ends_a_job_with_workers_inside_everywhere() {
    let world = DataCenters::new(1000, LONG_PATIENCE);
    let results =
        world.run_and_restart_the_bare_site(move |place, round| Some(gradient(place, round, VALUES)));
    check_errors(&results, &["site n3 was restarted", "workers inside sites cannot return"], &[]);
}
