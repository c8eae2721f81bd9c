//! Networks that tests share.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::Path;

use inart_topologies::sites::Overlay;
use serde_json::Value;

/// Returns the exact values of NETSTORM's overlay; `None`, with a message, if they are not next to this
/// repository.
#[allow(clippy::disallowed_methods, clippy::print_stderr)]
pub fn data() -> Option<Value> {
    let path = Path::new(env!("INART_ROOT")).join("../shared/instances/sync/netstorm-geo9.json");
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(serde_json::from_str(&text).unwrap()),
        Err(_) => {
            eprintln!("skipped: ../shared/instances/sync/netstorm-geo9.json is not here");
            None
        }
    }
}

/// Returns the network of an instance, with one job of `chunks` chunks of 4 MB.
pub fn instance(data: &Value, name: &str, chunks: u64) -> Overlay {
    let rates = data["instances"][name]["link_mbps"].as_array().unwrap();
    let links = data["links"].as_array().unwrap().iter().zip(rates).map(|(ends, rate)| {
        let rate = rate
            .as_array()
            .map_or_else(|| format!("{rate} Mbps"), |both| format!("[{} Mbps, {} Mbps]", both[0], both[1]));
        format!("  - {{ends: [n{}, n{}], rate: {rate}, delay: 30 ms}}\n", ends[0], ends[1])
    });
    network(&links.collect::<String>(), chunks)
}

/// Returns the thirteen links at one rate.
pub fn equal(mbps: u64, chunks: u64) -> Overlay {
    let ends = [
        (1, 2),
        (1, 3),
        (2, 3),
        (2, 5),
        (3, 4),
        (4, 5),
        (4, 6),
        (5, 7),
        (6, 7),
        (6, 8),
        (6, 9),
        (7, 8),
        (8, 9),
    ];
    let link = |(a, b)| format!("  - {{ends: [n{a}, n{b}], rate: {mbps} Mbps, delay: 30 ms}}\n");
    network(&ends.map(link).concat(), chunks)
}

/// Returns nine sites with these links.
fn network(links: &str, chunks: u64) -> Overlay {
    let nodes: String = (1..=9).map(|at| format!("  - {{name: n{at}, kind: site}}\n")).collect();
    let job = format!("{{name: alexnet, gradient: {} MB, chunk: 4 MB}}", 4 * chunks);
    let text = format!("name: geo9\nnodes:\n{nodes}links:\n{links}jobs:\n  - {job}\n");
    Overlay::from_yaml(&text).unwrap()
}
