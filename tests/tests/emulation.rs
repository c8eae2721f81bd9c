//! `inart emulate`, end to end: real processes in real namespaces. Skipped with a message without root.

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use inart_controller::JobPlan;
use inart_emulator::{Options, Testbed};
use inart_planner_aggregation::{Results, schemes};
use inart_tests::{document, emulate, inart, is_root, turn, workspace};
use inart_topologies::switched::Topology;
use inart_wire::ValuesPerFrame;
use serde_json::Value;
use tempfile::TempDir;

fn run(arguments: &[&str]) -> Value {
    let (mut command, _folder) = emulate(arguments);
    document(&command.output().expect("runs"))
}

#[test]
fn every_scheme_is_bit_exact_and_measured() {
    let Some(_turn) = turn() else { return };
    let (mut command, folder) = emulate(&["--rounds", "3"]);
    let summary = document(&command.output().expect("runs"));
    assert_eq!(summary["bit_exact"], true);
    assert_eq!(summary["rounds"], 3);
    let schemes = summary["schemes"].as_object().expect("by name");
    assert_eq!(
        schemes.keys().collect::<BTreeSet<_>>(),
        BTreeSet::from(["optimized", "atp", "lbmm", "r-inart"].map(str::to_owned).each_ref())
    );
    for (name, scheme) in schemes {
        assert_eq!(scheme["bit_exact"], true, "{name}");
        assert_eq!(scheme["rounds"], 3, "{name}");
        // No worker sends faster than planned, except for rounding; a busy machine may be slower.
        let (rate, planned) = (number(scheme, "rate_bps"), number(scheme, "planned_rate_bps"));
        assert!((planned / 5.0..1.05 * planned).contains(&rate), "{name}: {rate} of {planned}: {scheme}");
        assert!(scheme["switch_drops"].as_object().is_some_and(|drops| drops.is_empty()), "{name}: {scheme}");
    }
    let aggregated = |scheme: &str| schemes[scheme]["packets_aggregated"].as_u64().expect("a count");
    assert_eq!(aggregated("lbmm"), 0);
    assert!(aggregated("optimized") > 0 && aggregated("atp") > 0);
    let of = |scheme: &str, figure: &str| number(&schemes[scheme], figure);
    assert!(of("optimized", "ps_ingress_bytes") < of("lbmm", "ps_ingress_bytes"), "{summary}");
    // By the plans 2.5 Gbps and 4/3 Gbps.
    assert!(
        (of("optimized", "planned_rate_bps") / of("lbmm", "planned_rate_bps") - 1.875).abs() < 1e-6,
        "{summary}"
    );
    assert!(of("optimized", "rate_bps") > of("lbmm", "rate_bps"), "{summary}");
    assert!(of("optimized", "comm_seconds") < of("lbmm", "comm_seconds"), "{summary}");
    let chart = std::fs::read_to_string(folder.path().join("chart.svg")).expect("drawn");
    for (name, scheme) in schemes {
        assert!(chart.matches(&format!(">{name}</text>")).count() >= 3, "{name} in each panel of {chart}");
        let rate = inart_emulator::aggregation::si::si(number(scheme, "rate_bps"), "bps");
        assert!(chart.contains(&format!(">{rate}</text>")), "{name}: {rate} in {chart}");
    }
}

fn number(figures: &Value, name: &str) -> f64 {
    figures[name].as_f64().unwrap_or_else(|| panic!("no number {name} in {figures}"))
}

#[test]
fn gradients_are_summed_without_training_and_compared_with_the_plan() {
    let Some(_turn) = turn() else { return };
    let folder = TempDir::new().expect("a folder");
    let mut command = Command::new(inart());
    command.arg("emulate").arg(workspace().join("topologies/fig1.yaml"));
    command.args([
        "--gradient",
        "200KB",
        "--rounds",
        "2",
        "--schemes",
        "optimized,lbmm",
        "--json",
        "--chart",
    ]);
    let summary = document(&command.arg(folder.path().join("chart.svg")).output().expect("runs"));
    assert_eq!((&summary["bit_exact"], &summary["single_host"]), (&true.into(), &serde_json::json!([])));
    // 50,000 values are 196 blocks.
    assert_eq!(summary["sums_checked"], 2 * 2 * 6 * 196);
    let lbmm = &summary["schemes"]["lbmm"];
    // A frame of 1068 bytes for each in the time of a round, and one with the maxima of each server's blocks.
    let frames = number(lbmm, "rate_bps") * number(lbmm, "comm_seconds") / (1068.0 * 8.0);
    assert!((frames - 198.0).abs() < 0.001, "{frames} frames: {summary}");
    let inart = &summary["schemes"]["optimized"];
    assert!(number(inart, "rate_bps") > number(lbmm, "rate_bps"), "{summary}");
    assert!(number(lbmm, "rate_bps") < 1.05 * number(lbmm, "planned_rate_bps"), "{summary}");
    assert!(lbmm["jobs"][0].get("accuracy").is_none(), "{summary}");
    // Two servers of 4 Gbps, six workers: 4/3 Gbps each, and all gradients of a round go into the servers.
    let planned = |figure: &str| lbmm["planned"][figure].as_f64().expect("a number");
    assert!((planned("comm_seconds") - 1.2e-3).abs() < 1e-6, "{summary}");
    assert!((planned("throughput_bps") - 8e9).abs() < 1e6, "{summary}");
    assert!((planned("ps_ingress_bytes") - 1.2e6).abs() < 1.0, "{summary}");
    assert!(lbmm["ps_ingress_bytes"].as_f64().is_some_and(|bytes| bytes >= 2.0 * 1.2e6), "{summary}");
}

/// Checks links of MTU 9000: frames of 2048 values by default, through namespaces, switches and, with a
/// fault, the relay.
#[test]
fn jumbo_links_carry_jumbo_frames() {
    let Some(_turn) = turn() else { return };
    let folder = TempDir::new().expect("a folder");
    let topology = folder.path().join("jumbo.yaml");
    let fig1 = std::fs::read_to_string(workspace().join("topologies/fig1.yaml")).expect("readable");
    std::fs::write(&topology, fig1.replacen("nodes:", "mtu: 9000\nnodes:", 1)).expect("written");
    for (drop, loses) in [("0", false), ("2%", true)] {
        let mut command = Command::new(inart());
        command.arg("emulate").arg(&topology).args(["--gradient", "400KB", "--rounds", "2", "--drop", drop]);
        command.args(["--schemes", "optimized", "--json", "--chart"]).arg(folder.path().join("chart.svg"));
        let summary = document(&command.output().expect("runs"));
        assert_eq!(summary["bit_exact"], true);
        // 100,000 values are 391 blocks.
        assert_eq!(summary["sums_checked"], 2 * 6 * 391);
        let inart = &summary["schemes"]["optimized"];
        assert!(inart["packets_aggregated"].as_u64().is_some_and(|frames| frames > 0), "{summary}");
        assert_eq!(inart["link_drops"].as_u64().expect("a count") > 0, loses, "{summary}");
        assert_eq!(inart["switch_drops"], serde_json::json!({}), "{summary}");
    }
}

#[test]
fn frames_dropped_on_every_link_change_no_bit() {
    let Some(_turn) = turn() else { return };
    let base = ["--rounds", "3", "--schemes", "optimized", "--seed", "7"];
    let (quiet, lossy) = (run(&base), run(&[&base[..], &["--drop", "1%"]].concat()));
    let figures = |summary: &Value| summary["schemes"]["optimized"].clone();
    assert!(figures(&lossy)["link_drops"].as_u64().is_some_and(|drops| drops > 0), "{lossy}");
    assert_eq!(figures(&quiet)["link_drops"], 0);
    let digest = |summary: &Value| figures(summary)["jobs"][0]["digest"].as_str().expect("hex").to_owned();
    assert_eq!(digest(&quiet), digest(&lossy));
}

#[test]
fn two_jobs_at_once_are_audited_apart() {
    let Some(_turn) = turn() else { return };
    let summary = run(&["--rounds", "2", "--jobs", "2", "--schemes", "atp"]);
    let jobs = summary["schemes"]["atp"]["jobs"].as_array().expect("one per job");
    let names: Vec<_> = jobs.iter().map(|job| job["job"].as_str().expect("a name")).collect();
    assert_eq!(names, ["digits", "digits-2"]);
    assert!(jobs.iter().all(|job| job["bit_exact"] == true));
    assert_ne!(jobs[0]["digest"], jobs[1]["digest"], "each job trains on data of its own");
    assert_eq!(summary["single_host"].as_array().map(Vec::len), Some(2));
}

/// Sums that depend on no plan and no order: the same weights under schemes that cut the gradient
/// differently, and with loss.
#[test]
fn an_exact_job_has_the_same_weights_on_every_plan() {
    let Some(_turn) = turn() else { return };
    let folder = TempDir::new().expect("a folder");
    let topology = folder.path().join("exact.yaml");
    let fig1 = std::fs::read_to_string(workspace().join("topologies/fig1.yaml")).expect("readable");
    let exact = fig1
        .replace("gradient: ", "sum: exact, gradient: ")
        .replace("ingress_capacity: 4 Gbps", "ingress_capacity: 3 Gbps");
    std::fs::write(&topology, exact.replacen("ingress_capacity: 3", "ingress_capacity: 4", 1))
        .expect("written");
    let run = |more: &[&str]| {
        let mut command = Command::new(inart());
        command.arg("emulate").arg(&topology).args(["--rounds", "2", "--json"]).args(more);
        document(&command.arg("--chart").arg(folder.path().join("chart.svg")).output().expect("runs"))
    };
    let summary = run(&["--schemes", "optimized,lbmm", "--drop", "1%"]);
    let figures = ["optimized", "lbmm"].map(|scheme| summary["schemes"][scheme].clone());
    for (figures, aggregates) in figures.iter().zip([true, false]) {
        assert_eq!(figures["bit_exact"], true, "{figures}");
        assert_eq!(figures["packets_aggregated"].as_u64().is_some_and(|frames| frames > 0), aggregates);
    }
    let [inart, lbmm] = figures.map(|figures| figures["jobs"][0]["digest"].as_str().expect("hex").to_owned());
    assert_eq!(inart, lbmm, "one cuts 4 to 3, the other in halves");
}

#[test]
fn ordinary_traffic_crosses_the_switches_in_parallel() {
    let Some(_turn) = turn() else { return };
    let text = std::fs::read_to_string(workspace().join("topologies/fig1.yaml")).expect("readable");
    let topology = Topology::from_yaml(&text).expect("valid");
    let options = Options {
        topology: topology.clone(),
        levels: inart_planner_aggregation::Levels::One,
        results: Results::Counted,
        schemes: vec![schemes::LBMM],
        plans: Vec::new(),
        jobs: 1,
        target: inart_targets::DEFAULT,
        values: ValuesPerFrame::N64,
        window_chunks: 64,
        scale: None,
        drop: "0".parse().expect("a rate"),
        faults: Default::default(),
        peer_timeout: Duration::from_secs(30),
        expose: None,
        follow: false,
        changes: None,
        seed: 1,
        program: inart(),
        switch: None,
        external: None,
    };
    let mut testbed = Testbed::start(&topology, &options, 0.001).expect("built");
    let plan = inart_planner_aggregation::plan(
        &topology,
        &topology.jobs()[0],
        &inart_planner_aggregation::Options::new(schemes::LBMM),
    );
    let job = inart_controller::job_number(&topology, "digits").expect("the topology's job");
    let plan = JobPlan {
        job,
        plan: plan.expect("planned"),
        window_chunks: 64,
        rate_scale: 0.001,
        new_plan_version: true,
    };
    testbed.install("lbmm", &[plan]).expect("installed");
    // Hosts have addresses from 10.0.0.1 in the topology's order: s2 is node 3, w1 node 4, behind the other
    // switch.
    let bind = |host: &str, address: &str| {
        testbed.host(host).namespace.run(|| UdpSocket::bind(address)).expect("bound")
    };
    let (server, worker) = (bind("s2", "10.0.0.4:7000"), bind("w1", "10.0.0.5:7000"));
    for socket in [&server, &worker] {
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("set");
    }
    let mut buffer = [0; 2000];
    for length in [1, 1472] {
        worker.send_to(&vec![7; length], "10.0.0.4:7000").expect("sent");
        let (received, from) = server.recv_from(&mut buffer).expect("the request arrives");
        assert_eq!((received, from.to_string().as_str()), (length, "10.0.0.5:7000"));
        server.send_to(&buffer[..received], from).expect("sent");
        assert_eq!(worker.recv(&mut buffer).expect("the answer arrives"), length);
    }
}

#[test]
fn two_emulations_at_once_do_not_meet() {
    let Some(_turn) = turn() else { return };
    let started = [(); 2].map(|()| {
        let (mut command, folder) = emulate(&["--rounds", "2", "--schemes", "lbmm"]);
        (command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts"), folder)
    });
    for (child, _folder) in started {
        assert_eq!(document(&child.wait_with_output().expect("ends"))["bit_exact"], true);
    }
}

/// Returns whether this process ignores a signal; its child processes inherit that.
fn is_ignored(signal: nix::sys::signal::Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("readable");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask of signals");
    let mask = u64::from_str_radix(ignored.trim(), 16).expect("hexadecimal");
    mask & 1 << (signal as u32 - 1) != 0
}

#[test]
fn nothing_lingers_of_a_killed_emulation() {
    let Some(_turn) = turn() else { return };
    for signal in [nix::sys::signal::SIGKILL, nix::sys::signal::SIGTERM, nix::sys::signal::SIGINT] {
        if is_ignored(signal) {
            eprintln!("skipped: the parent of this test ignores {signal}, so the emulation does too");
            continue;
        }
        let (mut command, _folder) = emulate(&["--rounds", "1000", "--schemes", "lbmm"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts");
        let pid = child.id();
        // Two switches, the controller, two servers, six workers.
        let family = wait_for("all processes", || {
            if let Some(status) = child.try_wait().expect("a child") {
                let said = std::io::read_to_string(child.stderr.take().expect("piped")).expect("text");
                panic!("the emulation ended by itself, {status}: {said}");
            }
            Some(children_of(pid)).filter(|family| family.len() == 11)
        });
        let spaces: BTreeSet<_> = family.iter().filter_map(|&pid| network_namespace(pid)).collect();
        assert!(spaces.len() >= 8, "each host has a namespace of its own: {spaces:?}");
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid as i32), signal).expect("alive");
        reap(child);
        wait_for("the children's end", || family.iter().all(|&pid| !is_alive(pid)).then_some(()));
        let mine = network_namespace(std::process::id());
        let left: BTreeSet<_> =
            all_pids().filter_map(network_namespace).filter(|space| Some(space) != mine.as_ref()).collect();
        assert!(left.is_disjoint(&spaces.into_iter().filter(|space| Some(space) != mine.as_ref()).collect()));
    }
}

#[test]
fn bad_input_gets_one_line_and_status_2() {
    let folder = TempDir::new().expect("a folder");
    let file = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("written");
        folder.path().join(name)
    };
    let fig1 = workspace().join("topologies/fig1.yaml");
    let unknown = file(
        "unknown.yaml",
        "{name: t, nodes: [{name: v, kind: switch}], links: [{ends: [v, x], rate: 1 Gbps}]}",
    );
    let missing = folder.path().join("missing.yaml");
    let cases: [(&Path, &[&str], &str); 9] = [
        (&missing, &[], "missing.yaml"),
        (&unknown, &[], "x"),
        (&fig1, &["--rounds", "0"], "--rounds: 0"),
        (&fig1, &["--jobs", "0"], "--jobs: 0"),
        (&fig1, &["--window", "48"], "--window: 48"),
        (&fig1, &["--batch", "0"], "--batch: 0"),
        (&fig1, &["--schemes", "atp,atp"], "--schemes: atp"),
        (&fig1, &["--chart", "/proc/none/chart.svg"], "--chart /proc/none/chart.svg"),
        (&fig1, &["--switch", "no-such-switch"], "no-such-switch"),
    ];
    for (topology, arguments, named) in cases {
        let mut command = Command::new(inart());
        command.arg("emulate").arg(topology).args(["--chart"]).arg(folder.path().join("chart.svg"));
        if arguments.contains(&"--chart") {
            command = Command::new(inart());
            command.arg("emulate").arg(topology);
        }
        if arguments.contains(&"--switch") && !is_root() {
            continue;
        }
        let output = command.args(arguments).output().expect("runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.starts_with("error: ") && said.lines().count() == 1 && said.contains(named), "{said}");
    }
    for (option, value) in [("--schemes", "fast"), ("--values", "48"), ("--scale", "2"), ("--drop", "100%")] {
        let output =
            Command::new(inart()).arg("emulate").arg(&fig1).args([option, value]).output().expect("runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{option} {value}: {said}");
        assert!(said.contains(option) && said.contains(value), "{said}");
    }
}

#[test]
fn without_root_it_says_so() {
    const NOBODY: u32 = 65534;
    let Some(_turn) = turn() else { return };
    // Where other users may not read and execute it, whatever the workspace's permissions are.
    let folder = TempDir::new().expect("a folder");
    let copy = |from: PathBuf, name: &str| {
        let to = folder.path().join(name);
        std::fs::copy(from, &to).expect("copied");
        to
    };
    let (program, topology) =
        (copy(inart(), "optimized"), copy(workspace().join("topologies/fig1.yaml"), "fig1.yaml"));
    std::os::unix::fs::chown(folder.path(), Some(NOBODY), None).expect("root may");
    let mut command = Command::new(program);
    command.arg("emulate").arg(topology).arg("--chart").arg(folder.path().join("chart.svg"));
    let output = command.uid(NOBODY).gid(NOBODY).output().expect("runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.starts_with("error: ") && said.contains("run as root") && said.lines().count() == 1,
        "{said}"
    );
}

/// Tries until there is something; a minute is far more than it takes.
fn wait_for<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "timed out waiting for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn reap(mut child: Child) {
    let status = child.wait().expect("a child");
    assert!(!status.success(), "{status}");
}

fn all_pids() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").expect("mounted").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Fields of /proc/PID/stat from the third on: state, parent, ….
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(text.rsplit_once(')')?.1.split_whitespace().map(str::to_owned).collect())
}

fn children_of(parent: u32) -> Vec<u32> {
    let parent = parent.to_string();
    all_pids().filter(|&pid| stat(pid).is_some_and(|fields| fields[1] == parent)).collect()
}

fn is_alive(pid: u32) -> bool {
    stat(pid).is_some_and(|fields| fields[0] != "Z")
}

fn network_namespace(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}
