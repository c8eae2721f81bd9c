//! Data centers with workers inside, in one process: workers and parameter servers on a switch in memory,
//! which only forwards, and sites on QUIC connections over the loopback interface.
#![allow(clippy::unwrap_used)]

mod data_centres;

use std::ops::Range;
use std::time::Duration;

use data_centres::{DataCentres, Told};
use inart_protocol_aggregation::audit::sum_of;
use inart_sites_agent::audit::sum_of_sites;

use crate::three::{TENSORS, VALUES};

/// Longer than the silence of any process here.
const PATIENT: Duration = Duration::from_secs(60);
/// Maximum silence of a worker in tests where one dies: longer than the silence of others on a busy machine.
const HASTY: Duration = Duration::from_secs(6);

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
    let world = DataCentres::new(rounds, PATIENT);
    let Told { sites, workers, bare } = world.run(|place, round| Some(gradient(place, round, VALUES)));
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
            let told = &site.rounds[round];
            assert_eq!((bits(&told.sum), told.round), (bits(&sum), round as u32 + 1));
            assert!(told.began <= told.own && told.own <= told.ended);
        }
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Checks the errors of all sites and workers, except the workers `but`.
fn all_say(told: &Told, words: &[&str], but: &[usize]) {
    let sites = told.sites.iter().map(|site| site.as_ref().unwrap_err().to_string());
    let workers = told.workers.iter().enumerate().filter(|(place, _)| !but.contains(place));
    let workers = workers.map(|(_, worker)| worker.as_ref().unwrap_err().to_string());
    let bare = told.bare.as_ref().unwrap_err().to_string();
    for said in sites.chain([bare]).chain(workers.clone()) {
        for word in words {
            assert!(said.contains(word), "{said}");
        }
    }
}

#[test]
fn a_nan_at_one_worker_is_told_with_site_and_worker_at_all_sites_and_workers() {
    let world = DataCentres::new(3, PATIENT);
    let told = world.run(|place, round| {
        let mut own = gradient(place, round, VALUES);
        if (place, round) == (3, 2) {
            own[700] = f32::NAN;
        }
        Some(own)
    });
    let own = told.workers[3].as_ref().unwrap_err().to_string();
    assert!(own.contains("value 700 of this worker's gradient is NaN"), "{own}");
    // Workers of its site learn the name of the worker, all others also that of the site.
    let beside = told.workers[4].as_ref().unwrap_err().to_string();
    assert!(beside.contains("worker 0 (d) has a gradient with a NaN"), "{beside}");
    all_say(&told, &["n2", "d", "has a gradient with a NaN"], &[3, 4]);
}

#[test]
fn a_nan_of_a_site_without_workers_is_told_with_its_name_at_all_workers() {
    let world = DataCentres::new(3, PATIENT);
    let told = world.run(|place, round| {
        let mut own = gradient(place, round, VALUES);
        if (place, round) == (5, 2) {
            own[9_000] = f32::INFINITY;
        }
        Some(own)
    });
    all_say(&told, &["round 2", "site n3 has a NaN or an infinity"], &[]);
}

#[test]
fn a_worker_that_dies_is_told_with_its_site_at_all() {
    let world = DataCentres::new(3, HASTY);
    let told = world.run(|place, round| ((place, round) != (1, 2)).then(|| gradient(place, round, VALUES)));
    all_say(&told, &["b", "is silent"], &[1]);
    all_say_at_the_others(&told, "site n1: worker b is silent");
}

/// Checks the errors of the sites and workers outside the first site.
fn all_say_at_the_others(told: &Told, words: &str) {
    let workers = told.workers[3..].iter().map(|worker| worker.as_ref().unwrap_err().to_string());
    let site = told.sites[1].as_ref().unwrap_err().to_string();
    for said in workers.chain([site, told.bare.as_ref().unwrap_err().to_string()]) {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_gradient_of_another_length_is_told_with_its_site_and_both_lengths() {
    let world = DataCentres::new(3, PATIENT);
    // All workers of the first site, in the second round.
    let told = world.run(|place, round| {
        let values = if place < 3 && round == 2 { VALUES - 1000 } else { VALUES };
        Some(gradient(place, round, values))
    });
    all_say(&told, &["site n1", "the job's tensor 0 of 20000 values: one of 19000"], &[]);
    // Only one worker.
    let world = DataCentres::new(3, PATIENT);
    let told = world.run(|place, round| {
        let values = if (place, round) == (1, 2) { VALUES - 32 } else { VALUES };
        Some(gradient(place, round, values))
    });
    all_say_at_the_others(&told, "site n1: worker b has a gradient of 19968 values, others have 20000");
    all_say(&told, &["has a gradient of 19968 values, others have 20000"], &[]);
}

#[test]
fn a_site_with_workers_that_comes_back_ends_the_job_everywhere() {
    let world = DataCentres::new(1000, PATIENT);
    let told = world.run_and_restart_the_bare_site(move |place, round| Some(gradient(place, round, VALUES)));
    all_say(&told, &["site n3 was restarted", "workers inside sites cannot go back"], &[]);
}
