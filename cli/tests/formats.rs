//! Plans of formats that this version does not read, and plans from before formats had numbers.
#![allow(clippy::unwrap_used)]

use serde_json::Value;

use crate::support::{Workbench, root};

const NEWER: &str = "format 3 is newer than this version of inart reads (1 to 2); use a newer inart, or make the plan again \
                     with inart plan";

/// Each network, and the commands that read a plan of it.
const CASES: [(&str, &[&str]); 3] = [
    (
        "fig1.yaml",
        &[
            "plan N --check P",
            "plan N --complete P",
            "simulate N --plan P",
            "topology draw N --plan P",
            "plan N --from P",
        ],
    ),
    ("geo9-static.yaml", &["plan N --check P", "plan N --complete P", "simulate N --plan P"]),
    ("mesh4.yaml", &["plan N --check P", "plan N --complete P", "simulate N --plan P"]),
];

fn planned(bench: &Workbench, network: &str) -> String {
    std::fs::copy(root().join("topologies").join(network), bench.path(network)).unwrap();
    let output = bench.inart(&["plan", network, "--json"]);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_newer_plan_is_refused_by_every_command_that_reads_one() {
    let bench = Workbench::new();
    for (network, commands) in CASES {
        let plan = planned(&bench, network);
        assert!(plan.starts_with("{\"format\":2,"), "{plan}");
        // With a key that this version does not know, and sorted, as other tools write objects.
        let mut newer: Value = serde_json::from_str(&plan).unwrap();
        newer["format"] = 3.into();
        newer["aisles"] = 4.into();
        bench.write("newer.json", newer.to_string());
        for command in commands {
            let line = command.replace('N', network).replace('P', "newer.json");
            let arguments: Vec<_> = line.split(' ').collect();
            bench.refused(&arguments, &[&format!("newer.json: {NEWER}")]);
        }
    }
}

#[test]
fn a_plan_without_a_number_is_read() {
    let bench = Workbench::new();
    for (network, commands) in CASES {
        let plan = planned(&bench, network);
        bench.write("old.json", plan.replacen("\"format\":2,", "", 1));
        for command in commands {
            let line = command.replace('N', network).replace('P', "old.json");
            let output = bench.inart(&line.split(' ').collect::<Vec<_>>());
            assert!(output.status.success(), "{line}: {output:?}");
        }
    }
}
