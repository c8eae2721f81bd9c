//! The network that a command is about.

use std::path::Path;

use anyhow::{Context, ensure};
use inart_overlay::{Overlay, SiteJob};

/// Whether a document is a network of sites.
pub fn is_one(text: &str) -> bool {
    Overlay::is_one(text)
}

/// Reads a network of sites.
pub fn read(path: &Path) -> anyhow::Result<Overlay> {
    let place = || path.display().to_string();
    let text = crate::commands::document::read(path).with_context(place)?;
    Overlay::from_yaml(&text).with_context(place)
}

/// The job of that name; without one, the only job.
pub fn job<'o>(overlay: &'o Overlay, name: Option<&str>) -> anyhow::Result<&'o SiteJob> {
    let all = || overlay.jobs().iter().map(|job| job.name.as_str()).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => overlay
            .job_named(name)
            .with_context(|| format!("--job {name}: network {} has only {}", overlay.name(), all())),
        None => {
            ensure!(overlay.jobs().len() == 1, "--job: name one of {}", all());
            Ok(&overlay.jobs()[0])
        }
    }
}
