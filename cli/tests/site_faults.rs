//! Faults of `inart site` and `inart scheduler` as processes (docs/reference/sites.md, "Failures"): each
//! fault, and that sums are those of a run without it.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

use crate::support::ring::{Lines, NETWORK, Reports, Ring, Running, SITES, STRANGER, TIMEOUT, certify};
use crate::support::{doctor, turn};

/// The longest run here.
const ROUNDS: u32 = 60;

/// Returns the digest of each round's sum without faults. Sums depend on no tree and on no time.
fn calm_sums() -> &'static [String] {
    static SUMS: OnceLock<Vec<String>> = OnceLock::new();
    SUMS.get_or_init(|| {
        let ring = Ring::new(ROUNDS);
        let sites = ring.all_sites();
        let mut reports = Reports::default();
        for (name, site) in &sites {
            let end = reports.rest_of(name, site);
            assert_eq!(end["dropped"], serde_json::json!({}), "{name}: {end}");
        }
        let sums = reports.sums();
        assert_eq!(sums.len(), ROUNDS as usize);
        assert_eq!(sums.iter().collect::<BTreeSet<_>>().len(), sums.len(), "each round has a sum of its own");
        sums
    })
}

/// On the clock of the sites' rounds.
fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap();
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

/// The number of a plan that a scheduler says it has offered.
fn number(line: &str) -> u64 {
    let number = line.strip_prefix("plan ").and_then(|rest| rest.split(' ').next());
    number.unwrap_or_else(|| panic!("{line}")).parse().unwrap()
}

#[test]
fn a_killed_site_resumes_where_the_others_are_and_a_failed_scheduler_stops_no_site() {
    let _turn = turn();
    let ring = Ring::new(ROUNDS);
    let scheduler = ring.scheduler(&["--json"]);
    let mut sites = ring.all_sites();
    let mut reports = Reports::default();
    sites["n1"].wait_for_round(5);
    let offer = scheduler.next();
    assert_eq!(offer["event"], "offered", "{offer}");
    assert!(offer["version"].as_u64() >= Some(1 << 32) && offer["trees"].as_u64() >= Some(1), "{offer}");
    // Killed in the middle of whatever it does; then the scheduler, for good.
    sites.remove("n2");
    std::thread::sleep(Duration::from_millis(300));
    sites.insert("n2", ring.site("n2"));
    drop(scheduler);
    let ends: Vec<_> = sites.iter().map(|(name, site)| reports.rest_of(name, site)).collect();
    // No site has missed a round, and all sums are those without faults.
    assert!(reports.0.values().all(|sites| sites.contains_key("n3")));
    assert_eq!(reports.sums(), calm_sums());
    assert_eq!(reports.0[&u64::from(ROUNDS)].len(), 3, "all ended the last round");
    assert!(ends.iter().all(|end| end["accuracy"] == ends[0]["accuracy"]), "{ends:?}");
}

#[test]
fn a_dead_link_is_planned_without_within_two_rounds_also_by_a_scheduler_that_has_restarted() {
    let _turn = turn();
    let rounds = 24;
    let ring = Ring::with_slow_links(rounds);
    let scheduler = ring.scheduler(&[]);
    let sites = ring.all_sites();
    let mut reports = Reports::default();
    // The first scheduler plans several times by what sites measure.
    let in_force = loop {
        let plan = reports.next_of("n1", &sites["n1"])["version"].as_u64().unwrap() >> 32;
        if plan >= 2 {
            break plan;
        }
    };
    drop(scheduler);
    // The second one counts from 1, and plans for rates that stay.
    let scheduler = ring.scheduler(&["--knowledge", "static"]);
    number(&scheduler.line());
    reports.next_of("n1", &sites["n1"]);
    reports.next_of("n1", &sites["n1"]);
    ring.cut(("n1", "n3"), true);
    let without_it = number(&scheduler.line());
    let offered_ns = now_ns();
    assert!(without_it > in_force, "plan {without_it} after {in_force}");
    let mut ends = Vec::new();
    for (name, site) in &sites {
        ends.push(reports.rest_of(name, site));
    }
    assert_eq!(reports.sums(), calm_sums()[..rounds as usize]);
    // One plan for all sites in every round; the new one in one of the two rounds after those under way.
    let plans = reports.plans();
    let begun = |sites: &Lines| sites.values().any(|line| line["began_ns"].as_u64().unwrap() < offered_ns);
    let newest = *reports.0.iter().rfind(|(_, sites)| begun(sites)).unwrap().0;
    let first = *plans.iter().find(|(_, plan)| **plan == without_it).unwrap().0;
    assert!(first <= newest + 2, "round {first}, and {newest} was under way: {plans:?}");
    assert!(plans.range(first..).all(|(_, plan)| *plan == without_it), "{plans:?}");
    // What was on the link went around by the third site, which passes nothing on otherwise.
    assert!(ends.iter().any(|end| end["relayed"].as_u64().unwrap() > 0), "{ends:?}");
}

#[test]
fn strangers_are_refused_counted_and_logged_while_rounds_go_on() {
    let _turn = turn();
    let ring = Ring::new(20);
    let mut command = ring.site_command("n2");
    command.env("INART_LOG", "info");
    let n2 = Running::start(command);
    // A process with the name n1 and a certificate of another authority.
    std::fs::create_dir(ring.bench.path("theirs")).unwrap();
    certify(&ring.bench.path("theirs"), &["n1"]);
    let stranger = |name: &str, network: &str, folder: &str| {
        let file = |name: &str| ring.bench.path(folder).join(name);
        let mut command = Command::new(env!("CARGO_BIN_EXE_inart"));
        command.arg("host").arg(ring.bench.path(network)).args(["--name", name, "--listen", "127.0.0.1:0"]);
        command.arg("--tls-ca").arg(file("ca.pem"));
        command.arg("--tls-cert").arg(file(&format!("{name}.pem")));
        command.arg("--tls-key").arg(file(&format!("{name}.key")));
        command.args(["--peer", &format!("n2={}", ring.at("n2"))]);
        command
    };
    let mut impostor = stranger("n1", "net.yaml", "theirs");
    impostor.args(["--peer", &format!("n3={}", ring.at("n3"))]);
    let _impostor = Running::start(impostor);
    n2.wait_for_words("was refused: ");
    // A process with a certificate of our authority whose name is not in the network.
    let other = NETWORK.replace("name: ring", "name: other").replace("n1", STRANGER).replace("n3", "n2x");
    ring.bench.write("other.yaml", other);
    let mut unknown = stranger(STRANGER, "other.yaml", "");
    unknown.args(["--peer", "n2x=127.0.0.1:9"]);
    let _unknown = Running::start(unknown);
    n2.wait_for_words("a1 at 127.0.0.1:");
    let sites = [("n1", ring.site("n1")), ("n2", n2), ("n3", ring.site("n3"))];
    let mut reports = Reports::default();
    let ends: Vec<_> = sites.iter().map(|(name, site)| reports.rest_of(name, site)).collect();
    assert_eq!(reports.sums(), calm_sums()[..20]);
    for counter in ["connections_of_unknown_senders", "connections_refused"] {
        assert!(ends[1]["dropped"][counter].as_u64().unwrap() > 0, "{counter}: {}", ends[1]);
    }
}

#[test]
fn a_neighbor_with_another_network_is_named() {
    let _turn = turn();
    let ring = Ring::new(20);
    ring.bench.write("other.yaml", NETWORK.replace("name: job", "name: other"));
    let (first, second) = (ring.site("n1"), Running::start(ring.site_command_of("other.yaml", "n2")));
    let (mut running, until) = ([(first, "n2"), (second, "n1")], Instant::now() + TIMEOUT);
    // Both refuse; the one that does so first may be gone before the other has heard it.
    let ended = loop {
        let ended = running.iter_mut().position(|(site, _)| site.child.try_wait().unwrap().is_some());
        if let Some(ended) = ended {
            break ended;
        }
        assert!(Instant::now() < until, "no site refuses");
        std::thread::sleep(Duration::from_millis(20));
    };
    let (site, other) = running.into_iter().nth(ended).unwrap();
    let (status, said) = site.end();
    let (own, theirs) = if other == "n2" { ("job", "other") } else { ("other", "job") };
    let expected =
        format!("error: {other} has job {theirs}, this site has job {own}; give all sites the same\n");
    assert_eq!((status, said.contains(&expected)), (Some(2), true), "{said}");
}

#[test]
fn a_scheduler_with_another_network_is_named_at_both_ends_and_rounds_go_on() {
    let _turn = turn();
    let ring = Ring::with_slow_links(20);
    let sites = ring.all_sites();
    sites["n2"].wait_for_round(4);
    let lines = NETWORK.lines().filter(|line| !line.contains("ends: [n1, n3]"));
    ring.bench.write("other.yaml", lines.collect::<Vec<_>>().join("\n"));
    let scheduler = Running::start(ring.command("other.yaml", "scheduler", &["scheduler"]));
    scheduler.wait_for_words(
        "n1 has link n1-n3 5 Mbps there, 5 Mbps back, this scheduler has no link n1-n3; n1 is offered",
    );
    sites["n1"].wait_for_words(
        "the scheduler has no link n1-n3, this site has link n1-n3 5 Mbps there, 5 Mbps back; its plans",
    );
    let mut reports = Reports::default();
    sites.iter().for_each(|(name, site)| drop(reports.rest_of(name, site)));
    assert_eq!(reports.sums(), calm_sums()[..20]);
    assert!(reports.plans().values().all(|plan| *plan == 0), "the sites' own plan stays");
}

/// Each end names the setting and both values; neither begins.
#[test]
fn another_seed_or_number_of_rounds_is_named_at_both_ends() {
    let _turn = turn();
    for (name, own, other) in [("seed", "1", "9"), ("rounds", "20", "21")] {
        let mut ring = Ring::new(20);
        let first = ring.site("n1");
        ring.rounds = if name == "rounds" { 21 } else { 20 };
        let mut command = ring.site_command("n2");
        command.args(if name == "seed" { &["--seed", "9"][..] } else { &[] });
        let sites = [first, Running::start(command)];
        let said = sites.map(|site| {
            let (status, said) = site.end();
            assert_eq!(status, Some(2), "{said}");
            said
        });
        for (said, (them, theirs, ours)) in said.iter().zip([("n2", other, own), ("n1", own, other)]) {
            let expected = format!(
                "error: {them} has {name} {theirs}, this site has {name} {ours}; give all sites the same\n"
            );
            assert!(said.contains(&expected), "{said}");
        }
    }
}

/// A wall clock that is somewhere else within twenty years whenever it is asked.
const JUMPING: &str = "#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
static long jump(void) {
    static unsigned calls;
    return ((long)(__sync_fetch_and_add(&calls, 1) * 2654435761u % 7301) - 3650) * 86400;
}
int clock_gettime(clockid_t clock, struct timespec *at) {
    static int (*next)(clockid_t, struct timespec *);
    if (!next) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, \"clock_gettime\");
    int result = next(clock, at);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) at->tv_sec += jump();
    return result;
}
int gettimeofday(struct timeval *at, void *zone) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    at->tv_sec = exact.tv_sec;
    at->tv_usec = exact.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *at) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (at) *at = exact.tv_sec;
    return exact.tv_sec;
}
";

#[test]
fn a_clock_that_jumps_changes_nothing() {
    let _turn = turn();
    let ring = Ring::with_slow_links(16);
    ring.bench.write("jumping.c", JUMPING);
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-o"]).arg(ring.bench.path("jumping.so"));
    assert!(compile.arg(ring.bench.path("jumping.c")).arg("-ldl").status().unwrap().success());
    let jumping = |mut command: Command| {
        command.env("LD_PRELOAD", ring.bench.path("jumping.so")).env("INART_LOG", "info");
        Running::start(command)
    };
    let scheduler = jumping(ring.command("net.yaml", "scheduler", &["scheduler"]));
    let sites = SITES.map(|name| (name, jumping(ring.site_command(name))));
    let mut reports = Reports::default();
    for (name, site) in &sites {
        let end = reports.rest_of(name, site);
        // A site asks when a process connects during a round, and otherwise after 5 s of silence.
        assert!(end["asks"].as_u64().unwrap() <= 3, "{name}: {end}");
        // A scheduler repeats its newest plan to a site that says hello; the repeat counts as refused.
        let mut dropped = end["dropped"].clone();
        let repeats = dropped.as_object_mut().unwrap().remove("plans_refused");
        assert!(repeats.is_none_or(|repeats| repeats == 1), "{name}: {end}");
        assert_eq!((&end["failed"], &dropped), (&0.into(), &serde_json::json!({})), "{name}: {end}");
    }
    assert_eq!(reports.sums(), calm_sums()[..16]);
    assert!(reports.plans()[&16] > 0, "a plan of the scheduler's was followed: {:?}", reports.plans());
    // The log's lines have the wall clock's years.
    let said = scheduler.wait_for_words("n3 is connected");
    let years: BTreeSet<&str> = said.lines().filter_map(|line| line.get(..4)).collect();
    assert!(years.len() > 1, "the clock jumps: {said}");
}

#[test]
fn the_doctor_names_a_stopped_site_as_the_cause_for_which_the_others_wait() {
    let _turn = turn();
    let ring = Ring::new(1_000_000);
    doctor::create_folder(&ring.bench);
    let with_status = |name: &str| ["--status".to_owned(), doctor::socket(&ring.bench, name)];
    let _scheduler = ring.scheduler(&with_status("scheduler").each_ref().map(String::as_str));
    let sites = SITES.map(|name| {
        let mut command = ring.site_command(name);
        command.args(with_status(name));
        Running::start(command)
    });
    sites[0].wait_for_round(3);
    doctor::names_the_stopped(&ring.bench, ("n2", &sites[1].child), "n1, n3 wait");
}
