//! `inart host`: the network's document says which role the host of a name has.
#![allow(clippy::unwrap_used)]

use crate::support::{Workbench, root};

const ASSIGNMENT: &str = r#"{"job": 1, "name": "digits", "plan_version": 1, "values_per_frame": 32, "window_chunks": 4,
    "workers": [{"name": "w9", "mac": "02:00:00:00:00:01"}],
    "shards": [{"server": "s9", "mac": "02:00:00:00:00:02", "share": 1.0, "rate_bps": 1e6}]}"#;

fn bench() -> Workbench {
    let bench = Workbench::new();
    for network in ["geo9.yaml", "mesh4.yaml", "ps16.yaml", "fl64.yaml", "two-levels.yaml"] {
        std::fs::copy(root().join("topologies").join(network), bench.path(network)).unwrap();
    }
    bench.write("job.json", ASSIGNMENT);
    bench
}

/// Each line gets as far as the first thing that its role needs.
#[test]
fn the_document_decides_the_role() {
    let bench = bench();
    for (line, named) in [
        ("fig1.yaml --name w1 --assignment none.json --interface lo --train digits", &["none.json"][..]),
        (
            "fig1.yaml --name w1 --assignment job.json --interface lo --train digits",
            &["--name w1", "not in the assignment of job digits", "w9"],
        ),
        ("fig1.yaml --name w1 --assignment job.json", &["--interface"]),
        (
            "fig1.yaml --name s1 --assignment job.json --interface lo",
            &["--name s1", "not in the assignment of job digits", "s9"],
        ),
        (
            "fig1.yaml --name s1 --assignment job.json --concurrent-groups 1 --interface lo",
            &["not in the assignment"],
        ),
        ("fig1.yaml --name w1 --assignment job.json --groups 2 --interface lo", &["--data-shard"]),
        ("fig1.yaml --name w1", &["this is a worker", "--assignment or --controller", "--server"]),
        ("fig1.yaml --name s1", &["this is a server", "--assignment or --controller", "--sync"]),
        ("fig1.yaml --name v1", &["--name v1", "this is a switch", "`inart switch`"]),
        ("fig1.yaml --name w9", &["--name w9", "network fig1", "s1, s2, w1"]),
        ("fig1.yaml", &["--name is missing"]),
        ("geo9.yaml --name n1", &["--listen", "--peer", "--tls-ca"]),
        ("geo9.yaml --name n10", &["--name n10", "network geo9", "n1, n2"]),
        ("mesh4.yaml --name p1", &["--listen", "--coordinator"]),
        ("mesh4.yaml --name p9", &["--name p9", "network mesh4", "p1, p2"]),
        ("ps16.yaml --name s1 --sync r2sp", &["--worker"]),
        ("ps16.yaml --name w1 --server s1=127.0.0.1:1", &["job vgg16", "50826"]),
        ("two-levels.yaml --name n1 --controller-tls", &["--controller <ADDRESS>"]),
    ] {
        let words: Vec<_> = ["host"].into_iter().chain(line.split_whitespace()).collect();
        bench.refused(&words, named);
    }
}

#[test]
fn flags_of_another_role_are_refused_by_name() {
    let bench = bench();
    for (line, named) in [
        ("geo9.yaml --name n1 --coordinator c=127.0.0.1:1", "--coordinator is for peers; n1 is a site"),
        ("mesh4.yaml --name p1 --scheduler s=127.0.0.1:1", "--scheduler is for sites; p1 is a peer"),
        ("fig1.yaml --name w1 --assignment job.json --join-timeout 5s", "w1 is a worker"),
        (
            "ps16.yaml --name w1 --server s1=127.0.0.1:1 --outliers",
            "--outliers is for parameter servers (--sync)",
        ),
    ] {
        let words: Vec<_> = ["host"].into_iter().chain(line.split_whitespace()).collect();
        bench.refused(&words, &[named]);
    }
}

/// Scripts that name a role go on to work: the names are other names of `inart host`.
#[test]
fn names_of_roles_are_names_of_the_command() {
    let bench = bench();
    for (line, named) in [
        ("site geo9.yaml --name n1", "--tls-ca"),
        ("peer mesh4.yaml --name p1", "--coordinator"),
        ("order-server ps16.yaml --name s1 --sync r2sp", "--worker"),
        ("order-worker ps16.yaml --name w1 --server s1=127.0.0.1:1", "job vgg16"),
        ("worker --rank 0 --assignment none.json --interface lo --train digits", "none.json"),
        ("server --shard 0 --assignment none.json --interface lo", "none.json"),
    ] {
        bench.refused(&line.split_whitespace().collect::<Vec<_>>(), &[named]);
    }
    let help = String::from_utf8(bench.inart(&["--help"]).stdout).unwrap();
    assert!(
        help.contains("  host ") && !help.contains("order-server") && !help.contains("  worker "),
        "{help}"
    );
}
