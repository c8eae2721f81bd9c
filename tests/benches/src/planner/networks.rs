//! The networks that are measured: fat-trees of the InArt paper's §5.3, and the same with links that bind.

use std::path::{Path, PathBuf};

use anyhow::Context;
use inart_topologies::switched::Topology;
use inart_topologies::switched::generate::{Equipment, fat_tree};
use inart_topologies::switched::ranges::{Ranges, RateRange};

#[path = "../../../../planner/aggregation/tests/with_units.rs"]
mod with_units;

use with_units::with_units;

/// Parameter servers of the InArt paper's emulation.
pub const SERVERS: usize = 4;

/// Returns a homogeneous fat-tree as in §5.3: links and servers of 20 Mbps, switches that add up 9 Mbps.
pub fn homogeneous(k: usize, servers: usize, workers: usize, seed: u64) -> anyhow::Result<Topology> {
    let equipment = Equipment {
        servers,
        workers,
        rate_bps: 20e6,
        aggregation_bps: 9e6,
        ingress_bps: 20e6,
        delay_seconds: 0.0,
        gradient_bytes: 548_000_000,
        seed,
    };
    Ok(fat_tree(k, &equipment)?)
}

fn range(text: &str) -> Option<RateRange> {
    Some(text.parse().expect("a range of rates"))
}

/// §5.3's heterogeneous fat-tree: all links drawn from 10 to 30 Mbps, those of the hosts too.
pub fn heterogeneous(k: usize, servers: usize, workers: usize, seed: u64) -> anyhow::Result<Topology> {
    let links = range("10Mbps..30Mbps");
    let ranges = Ranges { fabric: links, access: links, aggregation: None };
    Ok(homogeneous(k, servers, workers, seed)?.with_drawn_rates(&ranges, seed))
}

/// Returns a fat-tree whose links bind: 2 to 6 Mbps between switches, switches that aggregate 4 to 14 Mbps.
pub fn tight(k: usize, servers: usize, workers: usize, seed: u64) -> anyhow::Result<Topology> {
    let ranges = Ranges { fabric: range("2Mbps..6Mbps"), access: None, aggregation: range("4Mbps..14Mbps") };
    Ok(homogeneous(k, servers, workers, seed)?.with_drawn_rates(&ranges, seed))
}

/// Returns the reference instances outside the repository, by name; empty if they are missing.
pub fn shared(prefix: &str) -> anyhow::Result<Vec<(String, Topology)>> {
    let folder = shared_folder();
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no reference instances in {}", folder.display());
        return Ok(Vec::new());
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    files
        .into_iter()
        .filter(|path| name(path).starts_with(prefix))
        .map(|path| {
            let place = || path.display().to_string();
            let text = std::fs::read_to_string(&path).with_context(place)?;
            let text = with_units(&text).with_context(place)?;
            Ok((name(&path), Topology::from_yaml(&text).with_context(place)?))
        })
        .collect()
}

/// Returns the known results of the reference instances.
pub fn expected() -> Option<serde_json::Value> {
    serde_json::from_str(&std::fs::read_to_string(shared_folder().join("expected.json")).ok()?).ok()
}

fn shared_folder() -> PathBuf {
    Path::new(env!("INART_ROOT")).join("../shared/instances")
}
