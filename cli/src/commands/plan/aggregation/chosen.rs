//! The jobs that a command is about.

use anyhow::{Context, ensure};
use inart_topologies::switched::{Job, Topology};

/// Returns the jobs of these names, in this order; all jobs if there are none.
pub fn jobs<'t>(topology: &'t Topology, names: &[String]) -> anyhow::Result<Vec<&'t Job>> {
    if names.is_empty() {
        return Ok(topology.jobs().iter().collect());
    }
    let mut jobs: Vec<&Job> = Vec::new();
    for name in names {
        let job = topology.job_named(name).with_context(|| {
            let all: Vec<_> = topology.jobs().iter().map(|job| job.name.as_str()).collect();
            format!("job {name}: topology {} has only {}", topology.name(), all.join(", "))
        })?;
        ensure!(
            jobs.iter().all(|known| known.name != *name),
            "--job {name} is given twice; name each job once"
        );
        jobs.push(job);
    }
    Ok(jobs)
}
