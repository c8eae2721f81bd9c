//! The network that a command is about.

use std::path::Path;

use anyhow::{Context, ensure};
use inart_cluster::{Cluster, Job};

/// Reads a network with servers.
pub fn read(path: &Path) -> anyhow::Result<Cluster> {
    let place = || path.display().to_string();
    let text = crate::commands::document::read(path).with_context(place)?;
    Cluster::from_yaml(&text).with_context(place)
}

/// The job of that name; without one, the only job.
pub fn job<'c>(cluster: &'c Cluster, name: Option<&str>) -> anyhow::Result<&'c Job> {
    let all = || cluster.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => cluster.job_named(name).with_context(|| {
            format!("--job {name}: of network {}, only {} say how long they compute", cluster.name, all())
        }),
        None => {
            ensure!(cluster.jobs.len() == 1, "--job: name one of {}", all());
            Ok(&cluster.jobs[0])
        }
    }
}
