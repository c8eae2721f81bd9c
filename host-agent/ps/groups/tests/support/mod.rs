//! Groups and servers as threads of one process: every model is computed again, bit for bit, from the
//! workers' records of their updates.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(dead_code, reason = "each test uses a part")]

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use inart_host_agent::{InProcess, InProcessPort, Options, Transport};
use inart_protocol_aggregation::audit::sum_of;
use inart_protocol_aggregation::{Assignment, ShardAssignment, WorkerAddress};
use inart_ps_groups::{Ending, RackError, RackGroup, RackServer, RackWorker, Turn, TurnEvent};
use inart_wire::{MacAddr, ValuesPerFrame};

const VALUES: usize = 700;

pub fn mac(host: u8) -> MacAddr {
    MacAddr([2, 0, 0, 0, 0, host])
}

/// Returns assignments of groups of these sizes at two servers (100 and 101) with half of the model each.
pub fn assignments(sizes: &[u8]) -> Vec<Assignment> {
    let mut first = 0;
    let mut of = |(group, size): (usize, &u8)| {
        let all = first..first + size;
        first += size;
        let shard = |server: u8| ShardAssignment {
            server: format!("s{server}"),
            mac: mac(100 + server),
            share: 0.5,
            rate_bps: 1e9,
            bitmap_indices: vec![],
        };
        Assignment {
            job: (group as u16 + 1).into(),
            name: format!("job-{}", group + 1),
            plan_version: 1.into(),
            values_per_frame: ValuesPerFrame::N64,
            window_chunks: 4,
            exact_sums: false,
            workers: all.map(|host| WorkerAddress { name: format!("w{host}"), mac: mac(host) }).collect(),
            shards: vec![shard(0), shard(1)],
        }
    };
    sizes.iter().enumerate().map(&mut of).collect()
}

fn options(peer_timeout: Duration) -> Options {
    Options { peer_timeout, ..Options::default() }
}

/// Returns a model with some values far smaller than the others of their block.
fn first_model() -> Vec<f32> {
    let size = |at: usize| if at % 13 == 5 { 1e-9 } else { 1.0 };
    (0..VALUES).map(|at| size(at) * (at as f32 * 0.37).sin()).collect()
}

/// Returns a worker's update: it depends on its model, on the worker and on the iteration.
fn update(model: &[f32], host: usize, iteration: u32) -> Vec<f32> {
    let change = |(at, value): (usize, &f32)| {
        -1e-3 * value + 1e-4 * ((at * (host + 3)) as f32 + iteration as f32).cos()
    };
    model.iter().enumerate().map(change).collect()
}

/// The turns of a worker, and its model after each.
pub type Turned = (Vec<Turn>, Vec<Vec<f32>>);
pub type Worked = Result<Turned, RackError>;
pub type Served = Result<(Vec<(TurnEvent, Vec<f32>)>, Ending), RackError>;

/// Trains; `serves` is how many iterations of each group a server serves, `stops` how many a worker does, by
/// group and rank.
pub fn train(
    wrap: fn(InProcessPort) -> Box<dyn Transport>,
    sizes: &[u8],
    concurrent_groups: usize,
    peer_timeout: Duration,
    (serves, stops): ([u32; 2], &(dyn Fn(usize, usize) -> u32 + Sync)),
) -> (Vec<Vec<Worked>>, Vec<Served>) {
    let (network, jobs) = (InProcess::new(), assignments(sizes));
    let groups = jobs.len();
    let servers: Vec<_> = (0..2u8)
        .map(|shard| {
            let group = |job: &Assignment| RackGroup {
                assignment: job.clone(),
                transport: wrap(network.port(mac(100 + shard))),
                options: options(peer_timeout),
            };
            let all = jobs.iter().map(group).collect();
            RackServer::new(
                u16::from(shard).into(),
                all,
                concurrent_groups,
                &first_model(),
                serves[usize::from(shard)],
            )
            .unwrap()
        })
        .collect();
    let all = sizes.iter().map(|size| usize::from(*size)).sum();
    let together = Arc::new(Barrier::new(all));
    thread::scope(|scope| {
        let servers: Vec<_> = servers
            .into_iter()
            .map(|server| {
                scope.spawn(move || {
                    let mut heard = Vec::new();
                    let ending =
                        server.run(&mut |news, version| heard.push((news.clone(), version.to_vec())))?;
                    Ok((heard, ending))
                })
            })
            .collect();
        let mut host = 0usize;
        let workers: Vec<Vec<_>> = jobs
            .iter()
            .enumerate()
            .map(|(group, job)| {
                let own = (0..job.workers.len()).map(|rank| {
                    let (own, network, job) = (host, network.clone(), job.clone());
                    host += 1;
                    let together = Arc::clone(&together);
                    scope.spawn(move || {
                        let place = (wrap(network.port(mac(own as u8))), options(peer_timeout));
                        let id = rank.try_into().unwrap();
                        let mut worker = RackWorker::new(job, id, groups, first_model(), place).unwrap();
                        together.wait();
                        let (mut turns, mut models) = (Vec::new(), Vec::new());
                        for iteration in 0..stops(group, rank) {
                            let mut own = update(worker.model(), own, iteration);
                            turns.push(worker.push(&mut own)?);
                            models.push(worker.model().to_vec());
                        }
                        Ok((turns, models))
                    })
                });
                own.collect()
            })
            .collect();
        let join = |threads: Vec<thread::ScopedJoinHandle<'_, Worked>>| {
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        };
        let workers = workers.into_iter().map(join).collect();
        (workers, servers.into_iter().map(|server| server.join().unwrap()).collect())
    })
}

/// Repeats the training on one thread by the rules of docs/protocol/ps.md. Returns what every worker must
/// have received, and every version of the model.
fn again(sizes: &[u8], iterations: u32, worked: &[Vec<Turned>]) -> Vec<Vec<f32>> {
    let (mut model, mut versions) = (first_model(), Vec::new());
    let mut has = vec![model.clone(); sizes.len()];
    for iteration in 0..iterations {
        let mut first = 0;
        for (group, workers) in worked.iter().enumerate() {
            let what = format!("group {group}, iteration {iteration}");
            let has = &mut has[group];
            let updates: Vec<_> =
                (0..workers.len()).map(|rank| update(has, first + rank, iteration)).collect();
            let sum = sum_of(&updates.iter().map(|own| &own[..]).collect::<Vec<_>>(), workers.len(), false);
            model.iter_mut().zip(&sum).for_each(|(value, change)| *value += change);
            let changes: Vec<f32> = model.iter().zip(&*has).map(|(value, has)| value - has).collect();
            has.iter_mut().zip(&changes).for_each(|(value, change)| *value += change);
            for ((turns, models), own) in workers.iter().zip(&updates) {
                let record = &turns[iteration as usize].record;
                assert_eq!(bits(&record.sent), bits(own), "{what}");
                assert_eq!(bits(&record.result), bits(&changes), "{what}");
                assert_eq!(models[iteration as usize], *has, "{what}");
            }
            versions.push(model.clone());
            first += workers.len();
        }
    }
    versions
}

fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|float| float.to_bits()).collect()
}

/// Returns a transport without faults.
pub fn plain(port: InProcessPort) -> Box<dyn Transport> {
    Box::new(port)
}

/// Trains without failures, and compares everything.
pub fn check_training(
    wrap: fn(InProcessPort) -> Box<dyn Transport>,
    sizes: &[u8],
    concurrent_groups: usize,
    iterations: u32,
) {
    let (workers, servers) =
        train(wrap, sizes, concurrent_groups, Duration::from_secs(10), ([iterations; 2], &|_, _| iterations));
    let worked: Vec<Vec<_>> =
        workers.into_iter().map(|group| group.into_iter().map(Result::unwrap).collect()).collect();
    let versions = again(sizes, iterations, &worked);
    let model = versions.last().unwrap().clone();
    let mut parts = Vec::new();
    for server in servers {
        let (news, ending) = server.unwrap();
        let part = parts.len()..parts.len() + ending.model.len();
        parts.extend(ending.model);
        assert_eq!(ending.servers.len(), sizes.len());
        let ends = news.iter().filter_map(|news| match news {
            (TurnEvent::Ends { group, turn, staleness }, version) => {
                assert_eq!(version, &versions[*turn as usize][part.clone()], "version of turn {turn}");
                Some((*group, *turn, *staleness))
            }
            _ => None,
        });
        let ends: Vec<_> = ends.collect();
        let groups = sizes.len() as u64;
        // In the first round each group's sum is as stale as there were turns.
        let expected = (0..groups * u64::from(iterations))
            .map(|turn| ((turn % groups) as usize, turn, turn.min(groups - 1)));
        assert_eq!(ends, expected.collect::<Vec<_>>());
    }
    assert_eq!(parts, model);
    // Rounding errors are compensated: the last group's copy equals the model, to within a rounding of its
    // last change.
    let last = &worked.last().unwrap()[0].1.last().unwrap();
    let off = last.iter().zip(&model).map(|(has, model)| (has - model).abs()).fold(0.0, f32::max);
    assert!(off < 1e-6, "{off}");
}
