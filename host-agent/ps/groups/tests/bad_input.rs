//! Frames that fit no turn, and groups that fit no model: each is named, and the model stays unchanged.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support;

use inart_host_agent::{InProcess, Options};
use inart_protocol_aggregation::Assignment;
use inart_protocol_aggregation::completion_rule::OwnSum;
use inart_protocol_ps::TurnError;
use inart_ps_groups::{Part, PartError, RackError, RackGroup, RackServer, RackWorker, Shape};
use inart_wire::ShardId;
use support::{assignments, mac};

const VALUES: usize = 600;

/// One of two servers has the value of *ready*, the other an empty frame. The second has a block of 88 values
/// of the gradient, in a frame of 64 and one of 24, behind their maxima.
fn part(shard: u16) -> Part {
    let shape = Shape::new(&assignments(&[1, 1])[0], VALUES, 2).unwrap();
    assert_eq!([0, 1, 2].map(|shard: u16| shape.ready_values(shard.into())), [Some(1), Some(0), Some(0)]);
    assert_eq!((shape.part(0.into()), shape.part(1.into())), (0..512, 512..600));
    assert_eq!(shape.frames(1.into()), [0..0, 0..64, 64..88]);
    Part::new((&shape, ShardId::from(shard)), &[1.0; VALUES], 2, 1).unwrap()
}

fn sum(sequence: u32, values: &[f32], last: bool) -> OwnSum {
    OwnSum::exact(sequence.into(), values.to_vec(), last)
}

#[test]
fn frames_that_fit_no_turn_are_named() {
    let length = |frame, values, expected| Err(PartError::Length { group: 0, frame, values, expected });
    let mut part = self::part(0);
    assert_eq!(part.take(0, sum(0, &[0.0; 2], true)), length(0, 2, 1));
    assert_eq!(part.take(0, sum(0, &[0.0], false)), length(0, 1, 1), "*ready* is still open");
    let mut part = self::part(1);
    assert_eq!(part.take(0, sum(0, &[0.0], true)), length(0, 1, 0));
    assert_eq!(part.take(0, sum(2, &[1.0; 64], false)), Err(TurnError::OutOfTurn(0).into()));
    let mut part = self::part(1);
    part.take(0, sum(0, &[], false)).unwrap();
    assert_eq!(part.take(0, sum(0, &[], false)), Err(TurnError::Twice(0).into()));
    let no_such = |frame| Err(PartError::Frame { group: 0, frame });
    assert_eq!(part.take(0, sum(1, &[1.0; 64], false)), no_such(1), "maxima do not arrive here");
    assert_eq!(part.take(0, sum(4, &[1.0; 64], false)), no_such(4));
    assert_eq!(part.take(0, sum(3, &[1.0; 64], false)), length(3, 64, 24));
    assert_eq!(part.take(1, sum(2, &[1.0; 64], false)), Err(TurnError::OutOfTurn(1).into()));
    assert_eq!(part.model(), [1.0; 88]);
    part.take(0, sum(3, &[1.0; 24], true)).unwrap();
    assert_eq!((part.model()[63], part.model()[64]), (1.0, 2.0));
    let again = part.take(0, sum(3, &[1.0; 24], true));
    assert_eq!(again, Err(TurnError::Chunk { group: 0, chunk: 1 }.into()));
    assert_eq!(part.model()[64], 2.0, "the sum is not applied twice");
}

#[test]
fn a_model_that_is_not_finite_ends_the_training() {
    let mut part = part(1);
    part.take(0, sum(0, &[], false)).unwrap();
    let mut huge = [0.0; 64];
    huge[5] = f32::INFINITY;
    assert_eq!(part.take(0, sum(2, &huge, false)), Err(PartError::NotFinite { group: 0, value: 512 + 5 }));
}

/// The group receives its turn, and then the change of its model; the next iteration's frames follow.
#[test]
fn frames_are_answered_by_their_numbers() {
    let mut part = part(1);
    for first in [0, 4] {
        part.take(0, sum(first, &[], false)).unwrap();
        part.take(0, sum(first + 2, &[0.5; 64], false)).unwrap();
        part.take(0, sum(first + 3, &[0.25; 24], true)).unwrap();
        let answers: Vec<_> =
            part.answers().iter().map(|(group, own)| (*group, own.sequence.get())).collect();
        assert_eq!(answers, [(0, first), (0, first + 2), (0, first + 3)]);
        assert_eq!(part.end(0).get(), first + 4);
        // The other group's turn, whose model lacks both.
        part.take(1, sum(first, &[], false)).unwrap();
        for (ahead, len) in [(2, 64), (3, 24)] {
            part.take(1, sum(first + ahead, &vec![0.0; len], ahead == 3)).unwrap();
        }
        let (_, change) = &part.answers()[1];
        let right = sum(first + 2, &[0.5; 64], false);
        assert_eq!(*change, right.answer(&right.values).0);
    }
}

fn groups(jobs: Vec<Assignment>) -> Vec<RackGroup> {
    let network = InProcess::new();
    let group = |assignment| RackGroup {
        assignment,
        transport: Box::new(network.port(mac(100))),
        options: Options::default(),
    };
    jobs.into_iter().map(group).collect()
}

fn refused(jobs: Vec<Assignment>, concurrent_groups: usize, values: usize) -> String {
    let server = RackServer::new(0.into(), groups(jobs), concurrent_groups, &vec![0.0; values], 1);
    server.err().expect("the groups are invalid").to_string()
}

#[test]
fn groups_that_fit_no_model_are_named() {
    let jobs = || assignments(&[1, 1]);
    assert!(refused(jobs(), 3, VALUES).contains("at most as many at once as groups"));
    assert!(refused(Vec::new(), 1, VALUES).contains("0 groups"));
    let mut other = jobs();
    (other[1].shards[0].share, other[1].shards[1].share) = (0.25, 0.75);
    let error = refused(other, 1, VALUES);
    assert!(error.contains("job-2") && error.contains("equal shares"), "{error}");
    let mut none = jobs();
    (none[0].shards[0].share, none[0].shards[1].share) = (0.0, 1.0);
    let error = refused(none, 1, VALUES);
    assert!(error.contains("server s0") && error.contains("no part"), "{error}");
    assert!(refused(jobs(), 1, 1).contains("no part"));
    let network = InProcess::new();
    let place = (Box::new(network.port(mac(0))) as Box<_>, Options::default());
    let mut worker =
        RackWorker::new(jobs()[0].clone(), 0u16.try_into().unwrap(), 2, vec![0.0; VALUES], place).unwrap();
    let error = worker.push(&mut [0.0; 3]).expect_err("another length");
    assert!(matches!(error, RackError::Model { given: 3, values: VALUES }), "{error}");
}

/// Workers with another number of groups sum no *ready*.
#[test]
fn workers_of_another_number_of_groups_end_all() {
    let network = InProcess::new();
    let jobs = assignments(&[1, 1]);
    let servers: Vec<_> = (0..2u8)
        .map(|shard| {
            let group = |assignment: &Assignment| RackGroup {
                assignment: assignment.clone(),
                transport: Box::new(network.port(mac(100 + shard))),
                options: Options::default(),
            };
            let all = jobs.iter().map(group).collect();
            let shard = u16::from(shard).into();
            let server = RackServer::new(shard, all, 1, &[0.5; VALUES], 3).unwrap();
            std::thread::spawn(move || server.run(&mut |_, _| ()).err().map(|error| error.to_string()))
        })
        .collect();
    let place = (Box::new(network.port(mac(0))) as Box<_>, Options::default());
    let alone = RackWorker::new(jobs[0].clone(), 0u16.try_into().unwrap(), 1, vec![0.5; VALUES], place);
    let error = alone.unwrap().push(&mut [1e-3; VALUES]).expect_err("the worker sums no *ready*").to_string();
    assert!(error.contains("another number of groups") || error.contains("job-1"), "{error}");
    for server in servers {
        let error = server.join().unwrap().expect("the server ends");
        assert!(error.contains("job-1"), "{error}");
    }
}

#[test]
fn a_nan_ends_all_with_the_name_of_its_worker() {
    let network = InProcess::new();
    let place = (Box::new(network.port(mac(0))) as Box<_>, Options::default());
    let jobs = assignments(&[1]);
    let server = RackGroup {
        assignment: jobs[0].clone(),
        transport: Box::new(network.port(mac(100))),
        options: Options::default(),
    };
    let server = RackServer::new(0.into(), vec![server], 1, &[0.0; VALUES], 3).unwrap();
    let server = std::thread::spawn(move || server.run(&mut |_, _| ()).err().map(|error| error.to_string()));
    let mut worker =
        RackWorker::new(jobs[0].clone(), 0u16.try_into().unwrap(), 1, vec![0.0; VALUES], place).unwrap();
    let mut update = [0.0; VALUES];
    update[7] = f32::NAN;
    let error = worker.push(&mut update).expect_err("the update is not finite").to_string();
    assert!(error.contains("value 7"), "{error}");
    let error = server.join().unwrap().expect("the server ends");
    assert!(error.contains("w0"), "{error}");
}
