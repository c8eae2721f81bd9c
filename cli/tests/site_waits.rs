//! Output of `inart site` while it waits and at its end, as processes.
#![allow(clippy::unwrap_used)]

use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::ring::{Ring, Running, SCHEDULER, SITES, TIMEOUT, certify};
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
    let n1 = with(ring.site_command("n1"), &["--connect-timeout", "20s"]);
    let (status, said) = n1.end();
    let first = waits(&said)[0];
    assert!(first.contains("n2 (127.0.0.1:") && first.contains("): no connection"), "{said}");
    assert!(first.contains("; n3 (127.0.0.1:"), "{said}");
    assert!(waits(&said).iter().any(|line| line.contains("no connection (no answer)")), "{said}");
    // A busy machine may be late with one.
    assert!((2..=4).contains(&waits(&said).len()), "at once and every five seconds: {said}");
    assert!(said.contains("error: site n1: no connection to n2, n3 after 20 s"), "{said}");
    assert_eq!(status, Some(2));
}

#[test]
fn a_certificate_of_another_authority_is_named_as_the_cause() {
    let _turn = turn();
    let ring = Ring::new(20);
    let n2 = ring.site("n2");
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
    // Both sides say so at once, with the fix.
    let cause = "its certificate is of another authority; give both";
    n1.wait_for_words(&format!("no connection to n2 ({}): {cause}", ring.at("n2")));
    let refused = "it refuses this process, whose certificate is of another authority; give both";
    n2.wait_for_words(&format!("no connection to n1 ({}): {refused}", ring.at("n1")));
    // And so do waits.
    let said = n1.wait_for_words(&format!("n2 ({}): no connection ({cause}", ring.at("n2")));
    let once = format!("no connection to n2 ({}): {cause}", ring.at("n2"));
    assert_eq!(said.matches(&once).count(), 1, "{said}");
}

/// A process beside the ring's, which reaches all others directly.
fn beside(ring: &Ring, name: &str, command: &[&str], others: &[&str]) -> Running {
    let mut all = Command::new(env!("CARGO_BIN_EXE_inart"));
    let file = |name: String| ring.bench.path(&name);
    all.args(command).arg(file("net.yaml".into())).args(["--name", name, "--listen", "127.0.0.1:0"]);
    all.arg("--tls-ca").arg(file("ca.pem".into()));
    all.arg("--tls-cert").arg(file(format!("{name}.pem"))).arg("--tls-key").arg(file(format!("{name}.key")));
    for other in others {
        all.args(["--peer", &format!("{other}={}", ring.at(other))]);
    }
    Running::start(all)
}

#[test]
fn a_second_process_of_one_name_is_refused_and_named_on_both_sides() {
    let _turn = turn();
    let ring = Ring::new(1_000_000);
    let first = ring.scheduler(&[]);
    let sites = ring.all_sites();
    sites.values().for_each(|site| site.wait_for_round(3));
    // n1 connects to n2, and n3 is connected to; so is the scheduler.
    let seconds = [
        ("n1", &["site"][..], &["n2", "n3"][..]),
        ("n3", &["site"], &["n1", "n2"]),
        (SCHEDULER, &["scheduler"], &SITES),
    ];
    for (name, command, others) in seconds {
        let (status, said) = beside(&ring, name, command, others).end();
        assert!(said.contains(&format!("error: {name}: refused: ")), "{name}: {said}");
        assert!(said.contains(&format!("{name} already runs (connected from 127.")), "{said}");
        assert!(said.contains("; stop one of the two"), "{said}");
        assert_eq!(status, Some(2), "{name}");
        // It has ended, so the process that refused it has said so.
        let words = format!("a second process called {name} was refused");
        let until = Instant::now() + TIMEOUT;
        while !others.iter().any(|other| sites[other].has_said(&words)) {
            assert!(Instant::now() < until, "no site says {words:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    // The first ones train as before.
    for site in sites.values() {
        let round = site.next()["round"].as_u64().unwrap();
        site.wait_for_round(round + 20);
    }
    drop(first);
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
        SITES.map(|name| (name, with(ring.site_command(name), &["--progress-timeout", "12s"]))).into();
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
