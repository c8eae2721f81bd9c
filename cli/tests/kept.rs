//! Figures are printed whatever fails afterwards, and a run that cannot end well is refused before it starts.
#![allow(clippy::unwrap_used)]

use crate::support::{Workbench, root, turn};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn bench(networks: &[&str]) -> Workbench {
    let bench = Workbench::new();
    for network in networks {
        std::fs::copy(root().join("topologies").join(network), bench.path(network)).unwrap();
    }
    bench
}

/// Both figures were lost: the chart was written before they were printed.
#[test]
fn figures_are_printed_although_the_chart_cannot_be_written() {
    let _turn = turn();
    let bench = bench(&["pair.yaml", "mesh4.yaml"]);
    for (line, figure) in [
        ("emulate pair.yaml --schemes optimized --rounds 2 --gradient 4KB --chart /dev/full", "bit_exact"),
        ("emulate mesh4.yaml --schemes optimized --rounds 1 --update 4KB --chart /dev/full", "schemes"),
    ] {
        let output = bench.inart(&[&["--json"], &words(line)[..]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {errors}");
        assert!(
            errors.contains("error: --chart /dev/full") && errors.contains("No space left"),
            "{line}: {errors}"
        );
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(document.get(figure).is_some(), "{line}: {document}");
    }
}

/// Gloo's turn came after the other schemes, whose figures its failure threw away.
#[test]
fn what_a_scheme_lacks_is_seen_before_the_first_one_runs() {
    let bench = bench(&["geo9.yaml", "mesh4.yaml", "pair.yaml"]);
    for (line, named) in [
        (
            "emulate geo9.yaml --schemes optimized,gloo --python /bin/false",
            ["--python", "/bin/false does not find torch"],
        ),
        (
            "emulate geo9.yaml --schemes optimized,gloo --python /no/python",
            ["--python", "cannot start /no/python"],
        ),
        ("emulate geo9.yaml --schemes optimized,optimized", ["--schemes", "optimized is named twice"]),
        ("emulate mesh4.yaml --schemes optimized,optimized", ["schemes", "optimized is named twice"]),
        ("emulate pair.yaml --scale 1e-9", ["--scale: a link of 1 Gbps", "at least 1/100000"]),
        ("emulate pair.yaml --debug-dir seen --rounds 0", ["--rounds", "give a number from 1"]),
    ] {
        bench.refused(&words(line), &named);
    }
}

#[test]
fn an_emulation_writes_no_file_unasked() {
    let _turn = turn();
    let bench = bench(&["pair.yaml", "mesh4.yaml"]);
    let files = || {
        let entries = std::fs::read_dir(bench.path(".")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = files();
    for line in [
        "emulate pair.yaml --schemes optimized --rounds 2 --gradient 4KB",
        "emulate pair.yaml -- true",
        "emulate mesh4.yaml --schemes optimized --rounds 1 --update 4KB",
    ] {
        let output = bench.inart(&words(line));
        assert!(output.status.success(), "{line}: {output:?}");
        assert_eq!(files(), before, "{line}");
    }
}
