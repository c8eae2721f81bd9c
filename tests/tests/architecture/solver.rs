//! Packages that must not build the solver.

use std::process::Command;

use super::root;

/// Packages that only read, report or carry data need no solver: building HiGHS takes minutes, and a C++
/// compiler.
const WITHOUT: &[&str] = &[
    "inart-topologies",
    "inart-wire",
    "inart-terms",
    "inart-protocol-aggregation",
    "inart-protocol-sites",
    "inart-protocol-peers",
    "inart-protocol-ps",
    "inart-ps-agent",
];

#[test]
fn networks_are_read_without_a_solver() {
    for package in WITHOUT {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "tree",
            "--offline",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--package",
            package,
        ]);
        let output = cargo.current_dir(root()).output().unwrap();
        let tree = String::from_utf8(output.stdout).unwrap();
        assert!(tree.contains(package), "{}", String::from_utf8_lossy(&output.stderr));
        let solver = tree.lines().find(|line| ["highs", "good_lp"].iter().any(|name| line.starts_with(name)));
        assert_eq!(solver, None, "{package} builds a solver");
    }
}
