//! The network that a command is about.

use std::path::Path;

use anyhow::{Context, ensure};
use inart_peers::{Mesh, PeerJob};

/// Whether a document is a network of peers.
pub fn is_one(text: &str) -> bool {
    Mesh::is_one(text)
}

/// Reads a network of peers.
pub fn read(path: &Path) -> anyhow::Result<Mesh> {
    let place = || path.display().to_string();
    let text = crate::commands::document::read(path).with_context(place)?;
    Mesh::from_yaml(&text).with_context(place)
}

/// The job of that name; without one, the only job.
pub fn job<'m>(mesh: &'m Mesh, name: Option<&str>) -> anyhow::Result<&'m PeerJob> {
    let all = || mesh.jobs().iter().map(|job| job.name.as_str()).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => mesh
            .job_named(name)
            .with_context(|| format!("--job {name}: network {} has only {}", mesh.name(), all())),
        None => {
            ensure!(mesh.jobs().len() == 1, "--job: name one of {}", all());
            Ok(&mesh.jobs()[0])
        }
    }
}
