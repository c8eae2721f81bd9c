//! The Python package: its own tests, and ranks as processes on a network. Those skip themselves without
//! root, and all without Debian's Python packages.

mod audit;
mod elastic;
mod network;
pub mod package;
mod testbed;

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use inart_tests::{turn, workspace};
use network::{Bridge, RANKS, report_of, reports_of, same, start_rank};
use package::{has, package, python};
use tempfile::TempDir;

/// The package's own tests, which need no network.
fn unit_tests(module: &str) {
    let mut python = Command::new(python());
    python.args(["-m", "unittest", module]).current_dir(workspace().join("python/tests"));
    python.env("PYTHONPATH", package()).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = python.output().expect("Python runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.trim_end().ends_with("OK") && !said.contains("Ran 0 "), "{said}");
}

#[test]
fn arrays_are_summed_within_a_process() {
    if has(&["numpy"]) {
        unit_tests("test_arrays");
    }
}

#[test]
fn joining_a_job_reads_the_environment_and_names_what_is_wrong() {
    if has(&["numpy"]) {
        unit_tests("test_joining");
    }
}

#[test]
fn tensors_are_summed_within_a_process() {
    if has(&["torch"]) {
        unit_tests("test_torch");
        unit_tests("test_torch_hooks");
    }
}

#[test]
fn sums_of_processes_are_numpys_and_audited_bit_for_bit() {
    let Some(_turn) = turn() else { return };
    if !has(&["numpy"]) {
        return;
    }
    let (bridge, folder) = (Bridge::new(), TempDir::new().expect("a folder"));
    let (assignment, file) = bridge.job(1);
    let socket = folder.path().join("report");
    let audited = audit::listen(&socket, RANKS);
    let reports =
        reports_of(bridge.start(&["sums.py"], &file, &[("INART_REPORT", socket.to_str().expect("plain"))]));
    assert_eq!(same(&reports, "sums"), 12);
    same(&reports, "digest");
    let names: Vec<_> = reports.iter().map(|rank| rank["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["w0", "w1", "w2"]);
    assert_eq!(audit::audit(&assignment, audited.join().expect("reported")), 12);

    // Within the same plan version switches may still hold the first run's sums.
    let again = bridge.start(&["sums.py"], &file, &[]);
    for (rank, child) in again.into_iter().enumerate() {
        let output = child.wait_with_output().expect("ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{said}");
        let why = format!("AssignmentError: assignment {file}: worker-{rank} has run with it before");
        assert!(said.contains(&why), "{said}");
    }
}

#[test]
fn ddp_trains_as_with_gloo_by_hook_and_by_backend() {
    let Some(_turn) = turn() else { return };
    if !has(&["torch", "numpy"]) {
        return;
    }
    let bridge = Bridge::new();
    let train = |job: u16, how: &str| {
        let (_, file) = bridge.job(job);
        let reports = reports_of(bridge.start(&["ddp.py", how], &file, &[]));
        same(&reports, "digest");
        let accuracy = same(&reports, "accuracy").as_f64().expect("a number");
        (reports, accuracy)
    };
    let (_, gloo) = train(1, "gloo");
    let (hook, by_hook) = train(2, "hook");
    let (_, by_backend) = train(3, "backend");
    let (_, narrow) = train(4, "bfloat16");
    assert!(gloo > 0.9, "{gloo}");
    // Of 1000 points: sums of scaled gradients differ from Gloo's in their last bits.
    for accuracy in [by_hook, by_backend] {
        assert!((accuracy - gloo).abs() <= 0.0021, "{accuracy}, {gloo} with Gloo");
    }
    assert!(narrow > 0.85, "{narrow}");
    // Several buckets in each of 60 iterations but the first.
    let (buckets, launches) = (same(&hook, "buckets"), same(&hook, "launches"));
    assert!(buckets.as_u64() >= Some(2) && launches.as_u64() >= Some(100), "{hook:?}");
}

/// The job has all three ranks. Models with process groups of two ranks and of one rank must not use it.
#[test]
fn a_hook_sums_over_the_process_group_of_its_model_only() {
    let Some(_turn) = turn() else { return };
    if !has(&["torch", "numpy"]) {
        return;
    }
    let bridge = Bridge::new();
    let (_, file) = bridge.job(1);
    let reports = reports_of(bridge.start(&["subgroup.py"], &file, &[]));
    for (rank, report) in reports.iter().enumerate() {
        let own = if rank < 2 { "[0, 1]" } else { "[2]" };
        let refused = report["refused"].as_str().expect("an error");
        let why = format!("sums over ranks [0, 1, 2], but the model's process group has ranks {own}");
        assert!(refused.contains(&why), "{refused}");
    }
    assert_eq!(reports[2]["alone"], 5.0, "a job of the group's ranks is accepted");
}

#[test]
fn collectives_are_summed_on_the_switches_or_handed_to_gloo() {
    let Some(_turn) = turn() else { return };
    if !has(&["torch", "numpy"]) {
        return;
    }
    let (bridge, folder) = (Bridge::new(), TempDir::new().expect("a folder"));
    let ((assignment, first), (_, second)) = (bridge.job(1), bridge.job(2));
    let socket = folder.path().join("report");
    let audited = audit::listen(&socket, RANKS);
    let more = [("SECOND_ASSIGNMENT", second.as_str()), ("INART_REPORT", socket.to_str().expect("plain"))];
    let reports = reports_of(bridge.start(&["groups.py"], &first, &more));
    same(&reports, "digest");
    let sums = same(&reports, "on_switches").as_u64().expect("a count");
    assert_eq!(audit::audit(&assignment, audited.join().expect("reported")) as u64, sums);
}

#[test]
fn a_killed_rank_ends_the_others_with_its_name() {
    let Some(_turn) = turn() else { return };
    if !has(&["torch", "numpy"]) {
        return;
    }
    let bridge = Bridge::new();
    for (job, how) in (1..).zip(["arrays", "hook", "backend"]) {
        let (_, file) = bridge.job(job);
        let outputs: Vec<_> = bridge
            .start(&["killed.py", how], &file, &[])
            .into_iter()
            .map(|rank| rank.wait_with_output().expect("ends"))
            .collect();
        for (rank, output) in outputs.iter().enumerate() {
            if rank == 1 {
                assert_eq!(output.status.signal(), Some(9), "{output:?}");
                continue;
            }
            let report = report_of(output);
            let error = report["error"].as_str().expect("text");
            assert!(error.contains("the job was aborted: worker 1 (w1) is silent"), "{how}: {error}");
            let kind = if how == "arrays" { "AbortedError" } else { "RuntimeError" };
            assert_eq!(report["kind"], kind, "{how}: {error}");
        }
    }
}

/// The skipped step has the buckets and arrays of every other step: only the labels have its number.
#[test]
fn a_rank_that_skips_a_step_ends_the_job_with_its_name() {
    let Some(_turn) = turn() else { return };
    if !has(&["torch", "numpy"]) {
        return;
    }
    let bridge = Bridge::new();
    for (job, how) in (1..).zip(["arrays", "hook"]) {
        let (_, file) = bridge.job(job);
        for report in reports_of(bridge.start(&["skipping.py", how], &file, &[])) {
            let error = report["error"].as_str().expect("text");
            let named = "worker 1 (w1) and its peers started different tensors as ";
            assert!(error.contains(named), "{how}: {error}");
            assert!(report["number"].as_u64() >= Some(5), "{how}: {report:?}");
        }
    }
}

/// Two workers on a switch, and a server.
const PAIR: &str =
    "{name: pair, nodes: [{name: v, kind: switch, aggregation_capacity: 2 Gbps}, {name: s, kind: server},
    {name: a, kind: worker}, {name: b, kind: worker}],
    links: [{ends: [a, v], rate: 1 Gbps}, {ends: [b, v], rate: 1 Gbps}, {ends: [s, v], rate: 1 Gbps}],
    jobs: [{name: whole, gradient: 1 MB}]}";

#[test]
fn a_controller_tells_ranks_what_a_switch_sums() {
    let Some(_turn) = turn() else { return };
    if !has(&["numpy"]) {
        return;
    }
    let mut testbed = testbed::of(PAIR, 0.1);
    let mut server = testbed::server(&testbed, 0, "s");
    let ranks = [(0, "a"), (1, "b")]
        .map(|(rank, host)| start_rank(testbed::python(&testbed, host), &["sums.py"], rank, 2));
    let reports = reports_of(ranks.into());
    server.kill().expect("alive");
    server.wait().expect("a child");
    same(&reports, "digest");
    assert_eq!(same(&reports, "sums"), 12);
    let counters = testbed.counters().expect("readable");
    assert!(counters.aggregated > 0, "{counters:?}");
}
