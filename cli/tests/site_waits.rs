//! What `inart site` prints while it waits, and how it ends, as processes.
#![allow(clippy::unwrap_used)]

use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::ring::{Ring, Running, SITES, certify};
use crate::support::turn;

fn with(mut command: Command, more: &[&str]) -> Running {
    command.args(more);
    Running::start(command)
}

/// Lines of standard error that report a wait.
fn waits(said: &str) -> Vec<&str> {
    said.lines().filter(|line| line.contains("waiting for")).collect()
}

#[test]
fn a_site_alone_names_its_neighbors_with_address_and_cause_and_ends() {
    let _turn = turn();
    let ring = Ring::new(20);
    let n1 = with(ring.site_command("n1"), &["--meeting-patience", "8s"]);
    let (status, said) = n1.end();
    let first = waits(&said)[0];
    assert!(first.contains("n2 (127.0.0.1:") && first.contains("): no connection"), "{said}");
    assert!(first.contains("; n3 (127.0.0.1:"), "{said}");
    assert!(waits(&said).iter().any(|line| line.contains("no connection (no answer)")), "{said}");
    assert_eq!(waits(&said).len(), 2, "at once and after five seconds: {said}");
    assert!(said.contains("error: site n1: no connection to n2, n3 after 8 s"), "{said}");
    assert_eq!(status, Some(2));
}

#[test]
fn a_certificate_of_another_authority_is_named_as_the_cause() {
    let _turn = turn();
    let ring = Ring::new(20);
    let _n2 = ring.site("n2");
    std::fs::create_dir(ring.bench.path("theirs")).unwrap();
    certify(&ring.bench.path("theirs"), &["n1"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_inart"));
    let file = |name: &str| ring.bench.path("theirs").join(name);
    command.arg("site").arg(ring.bench.path("net.yaml")).args(["--name", "n1", "--listen", &ring.at("n1")]);
    command.arg("--tls-ca").arg(file("ca.pem"));
    command.arg("--tls-cert").arg(file("n1.pem")).arg("--tls-key").arg(file("n1.key"));
    for other in ["n2", "n3"] {
        command.args(["--peer", &format!("{other}={}", ring.at(other))]);
    }
    let n1 = Running::start(command);
    let said = n1.wait_for_words("invalid peer certificate");
    let cause = |line: &&str| line.contains("n2 (127.0.0.1:") && line.contains("invalid peer certificate");
    assert!(waits(&said).iter().any(cause), "{said}");
}

#[test]
fn a_site_that_gets_sigterm_ends_all_sites_by_its_name() {
    let _turn = turn();
    let ring = Ring::new(1_000_000);
    let sites = ring.all_sites();
    sites.values().for_each(|site| site.wait_for_round(3));
    kill(Pid::from_raw(sites["n3"].child.id() as i32), Signal::SIGTERM).unwrap();
    for (name, site) in sites {
        let (status, said) = site.end();
        assert!(said.contains("error: site n3 was stopped"), "{name}: {said}");
        assert_eq!(status, Some(2), "{name}");
    }
}

#[test]
fn a_site_that_is_gone_for_good_is_named_until_patience_ends() {
    let _turn = turn();
    let ring = Ring::new(1_000_000);
    let mut sites: std::collections::BTreeMap<_, _> =
        SITES.map(|name| (name, with(ring.site_command(name), &["--patience", "12s"]))).into();
    sites.values().for_each(|site| site.wait_for_round(3));
    // Killed when it is dropped.
    sites.remove("n3");
    let mut lines = Vec::new();
    for (name, site) in sites {
        let (status, said) = site.end();
        let ends = |line: &&str| line.contains("while waiting for ") && line.contains("n3 (no connection)");
        assert!(said.lines().any(|line| ends(&line)), "{name}: {said}");
        assert!(!waits(&said).is_empty(), "{name}: {said}");
        assert_eq!(status, Some(2), "{name}");
        lines.push(said);
    }
    // The sites whose sums n3 adds or passes on name it.
    assert!(lines.iter().any(|said| said.contains("waiting for n3 (127.0.0.1:")), "{lines:?}");
}

#[test]
fn a_regular_run_prints_no_warning() {
    let _turn = turn();
    let ring = Ring::new(5);
    let sites = ring.all_sites();
    for (name, site) in sites {
        let (status, said) = site.end();
        // Processes that start late may be waited for.
        let others: Vec<_> = said.lines().filter(|line| !line.contains("waiting for")).collect();
        assert_eq!((status, others), (Some(0), Vec::<&str>::new()), "{name}");
    }
}
