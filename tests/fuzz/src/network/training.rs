//! Jobs that train with parameter servers: their numbers are consistent, and small ones end in virtual time.

use inart_protocol_ps::SyncModel;
use inart_simulator_ps::{WorkerOptions, run_workers};
use inart_topologies::ps::{Cluster, Kind};

pub fn run(cluster: &Cluster, text: &str) {
    assert!(!cluster.jobs.is_empty());
    for job in &cluster.jobs {
        assert!(!job.participants.is_empty() && job.bits.is_finite());
        let times = job.participants.iter().map(|worker| worker.compute);
        assert!(times.chain([job.pause]).all(|time| time.mean_s.is_finite() && time.cv >= 0.0));
        assert!(job.participants.iter().all(|worker| worker.batch > 0 && worker.speed > 0.0));
        if job.kind == Kind::Workers && job.participants.len() <= 4 {
            let run = run_workers(job, &WorkerOptions::new(SyncModel::bsp(), 3));
            assert!(run.is_ok_and(|run| run.iteration_s.is_finite()), "{text}");
        }
    }
}
