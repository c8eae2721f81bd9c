//! More peers than a bitmap of the header has room for, each a process, every update compared. A program of
//! its own, which runs alone: on two processors its 67 processes leave no time for others.
#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "the other programs use other parts")]
mod support;

use serde_json::{Value, json};
use support::Workbench;

/// A block of the header has 64 peers: an update to peers of two blocks leaves as two frames per chunk.
#[test]
fn more_peers_than_a_bitmap_holds_get_their_updates() {
    let bench = Workbench::new();
    let names = || (1..=66).map(|peer| format!("p{peer}"));
    let nodes: String = names().map(|name| format!(", {{name: {name}, kind: peer}}")).collect();
    let links: String = names().map(|name| format!("  - {{ends: [{name}, s], rate: 3 Mbps}}\n")).collect();
    bench.write(
        "many.yaml",
        format!(
            "name: many\nnodes: [{{name: s, kind: switch}}{nodes}]\nlinks:\n{links}jobs:\n  \
             - {{name: all, receivers: 3, update: 8 KB}}\n"
        ),
    );
    let flags = "--json emulate many.yaml --multicast switch --values 64 --scale 1 --scheme orpheus --rounds \
                 2 --update 8KB";
    let output = bench.inart(&flags.split_whitespace().collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("run as root") {
        eprintln!("skipped: root is needed to make network namespaces");
        return;
    }
    assert!(output.status.success(), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let [scheme] = &report["schemes"].as_array().unwrap()[..] else { panic!("{report}") };
    assert_eq!(scheme["updates_checked"], 66 * 3 * 2, "{scheme}");
    assert_eq!((&scheme["given_up"], &scheme["gone"]), (&0.into(), &0.into()), "{scheme}");
    assert_eq!(scheme["dropped"], json!({}), "{scheme}");
}
