//! Networks that commands are about, and their jobs.

use std::path::Path;

use anyhow::{Context, anyhow, bail, ensure};
use inart_topologies::peers::{Mesh, PeerJob};
use inart_topologies::ps::{Cluster, Job};
use inart_topologies::sites::{Hierarchy, Overlay, SiteJob};
use inart_topologies::{Kind, Network, Switched};

use super::document;

/// Reads a network of any kind.
pub fn read(path: &Path) -> anyhow::Result<Network> {
    let read = Network::read_watched(path, &mut document::waiting(path));
    read.map_err(|error| {
        let is_plan = path.is_file() && document::read(path).is_ok_and(|text| document::is_plan(&text));
        match is_plan {
            true => anyhow!("{}: this is a plan; name a network's document (YAML or JSON)", path.display()),
            false => error.into(),
        }
    })
}

/// Reads a network of switches; refuses others.
pub fn switched(path: &Path) -> anyhow::Result<Switched> {
    match read(path)? {
        Network::Switched(switched) => Ok(switched),
        other => refused(path, &other, Kind::Switched),
    }
}

/// Reads a network of sites; refuses others.
pub fn sites(path: &Path) -> anyhow::Result<Hierarchy> {
    match read(path)? {
        Network::Sites(sites) => Ok(sites),
        other => refused(path, &other, Kind::Sites),
    }
}

/// Reads a network of peers; refuses others.
pub fn peers(path: &Path) -> anyhow::Result<Mesh> {
    match read(path)? {
        Network::Peers(mesh) => Ok(mesh),
        other => refused(path, &other, Kind::Peers),
    }
}

fn refused<T>(path: &Path, network: &Network, wanted: Kind) -> anyhow::Result<T> {
    bail!(
        "{}: this is a network of {}; name a network of {wanted}, such as {}",
        path.display(),
        network.kind(),
        wanted.example()
    )
}

/// Returns the sites' job of that name; without one, the only job.
pub fn site_job<'o>(overlay: &'o Overlay, name: Option<&str>) -> anyhow::Result<&'o SiteJob> {
    job(overlay.jobs(), |job| &job.name, name, |all| format!("network {} has only {all}", overlay.name()))
}

/// Returns the peers' job of that name; without one, the only job.
pub fn peer_job<'m>(mesh: &'m Mesh, name: Option<&str>) -> anyhow::Result<&'m PeerJob> {
    job(mesh.jobs(), |job| &job.name, name, |all| format!("network {} has only {all}", mesh.name()))
}

/// Returns the job of that name that trains at a parameter server; without one, the only such job.
pub fn training_job<'c>(cluster: &'c Cluster, name: Option<&str>) -> anyhow::Result<&'c Job> {
    let only = |all: &str| format!("of network {}, only {all} have `compute`", cluster.name);
    job(&cluster.jobs, |job| &job.name, name, only)
}

fn job<'j, J>(
    jobs: &'j [J],
    name_of: fn(&J) -> &str,
    name: Option<&str>,
    only: impl Fn(&str) -> String,
) -> anyhow::Result<&'j J> {
    let all = || jobs.iter().map(name_of).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => {
            let job = jobs.iter().find(|job| name_of(job) == name);
            job.with_context(|| format!("--job {name}: {}", only(&all())))
        }
        None => {
            ensure!(jobs.len() == 1, "--job: name one of {}", all());
            Ok(&jobs[0])
        }
    }
}
