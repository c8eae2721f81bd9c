//! Documents: accepted ones, and rejected ones with the line and the fix.
#![allow(clippy::unwrap_used)]

use inart_topologies::ps::{Cluster, Kind};

const GOOD: &str = "name: small
nodes:
  - {name: v1, kind: switch}
  - {name: s1, kind: server}
  - {name: w1, kind: worker}
  - {name: w2, kind: worker}
links:
  - {ends: [v1, s1], rate: 4 Gbps, delay: 2 ms}
  - {ends: [v1, w1], rate: 1 Gbps}
  - {ends: [v1, w2], rate: 2 Gbps, delay: 1 ms}
jobs:
  - {name: vgg, servers: [s1], gradient: 500 MB, compute: {mean: 700 ms, cv: 0.05}, batch: 128}
";

fn refused(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    Cluster::from_yaml(&GOOD.replace(from, to)).unwrap_err().to_string()
}

#[test]
fn what_a_job_says_is_read() {
    let cluster = Cluster::from_yaml(GOOD).unwrap();
    let job = &cluster.jobs[0];
    assert_eq!((job.kind, job.bits, job.server.in_bps), (Kind::Workers, 4e9, 4e9));
    let [one, two] = &job.participants[..] else { panic!("two workers") };
    assert_eq!((one.nic.out_bps, two.nic.in_bps, one.delay_s, two.delay_s), (1e9, 2e9, 0.002, 0.003));
    // The speed follows from batch and mean, unless it is stated.
    assert_eq!((one.batch, one.speed, one.compute.mean_s, one.compute.cv), (128, 128.0 / 0.7, 0.7, 0.05));
}

#[test]
fn participants_have_times_and_batches_of_their_own() {
    let text = GOOD.replace("batch: 128", "batch: {overrides: {w2: 64}}").replace(
        "compute: {mean: 700 ms, cv: 0.05}",
        "compute: {default: {mean: 700 ms, cv: 0.05}, \
             overrides: {w1: {mean: 1.2 s, samples_per_second: 429}, w2: {cv: 0}}}",
    );
    let cluster = Cluster::from_yaml(&text).unwrap();
    let [one, two] = &cluster.jobs[0].participants[..] else { panic!("two workers") };
    assert_eq!((one.compute.mean_s, one.compute.cv, one.speed, one.batch), (1.2, 0.05, 429.0, 1));
    assert_eq!((two.compute.mean_s, two.compute.cv, two.speed, two.batch), (0.7, 0.0, 64.0 / 0.7, 64));
}

#[test]
fn clients_pause() {
    let clients = "clients: [w2], upload_delay: {mean: 223 ms, cv: 1.31}";
    let cluster = Cluster::from_yaml(&GOOD.replace("batch: 128", clients)).unwrap();
    let job = &cluster.jobs[0];
    assert_eq!((job.kind, job.participants.len(), job.pause.mean_s), (Kind::Clients, 1, 0.223));
}

#[test]
fn several_servers_are_one() {
    let text = GOOD
        .replace("  - {name: w1", "  - {name: s2, kind: server}\n  - {name: w1")
        .replace("  - {ends: [v1, w1]", "  - {ends: [v1, s2], rate: 3 Gbps}\n  - {ends: [v1, w1]")
        .replace("servers: [s1]", "servers: [s1, s2]");
    assert_eq!(Cluster::from_yaml(&text).unwrap().jobs[0].server.in_bps, 7e9);
}

/// Checks that a job without times is InArt's, and that at least one job of the document must have times.
#[test]
fn other_jobs_are_left_out() {
    let more = GOOD.to_owned() + "  - {name: other, gradient: 1 MB}\n";
    assert_eq!(Cluster::from_yaml(&more).unwrap().jobs.len(), 1);
    let none = refused("compute: {mean: 700 ms, cv: 0.05}, ", "");
    assert!(
        none.contains("line 12") && none.contains("job vgg") && none.contains("compute: {mean"),
        "{none}"
    );
}

#[test]
fn what_is_wrong_names_its_place_and_the_fix() {
    for (from, to, named) in [
        ("mean: 700 ms", "mean: 0 s", &["line 12", "job vgg", "compute time of w1 is 0"][..]),
        ("mean: 700 ms", "mean: -1 s", &["job vgg", "is -1"]),
        ("mean: 700 ms", "mean: soon", &["line 12", "soon"]),
        ("mean: 700 ms, ", "", &["job vgg", "mean compute time of w1", "mean: 700 ms"]),
        ("cv: 0.05", "cv: -1", &["job vgg", "cv", "-1", "from 0 to 100"]),
        ("cv: 0.05", "cv: .nan", &["job vgg", "cv"]),
        ("cv: 0.05", "samples_per_second: 0", &["job vgg", "speed of w1", "from 1e-7 to 1e12"]),
        ("cv: 0.05", "cb: 0.05", &["line 12", "cb"]),
        ("batch: 128", "batch: 0", &["job vgg", "batch of w1 is 0", "batch: 512"]),
        ("batch: 128", "batch: 1.5", &["line 12", "batch: not a whole number of samples"]),
        ("batch: 128", "batch: {overrides: {w9: 3}}", &["job vgg", "\"w9\""]),
        (
            "{mean: 700 ms, cv: 0.05}",
            "{default: {mean: 700 ms}, overrides: {s1: {mean: 1 s}}}",
            &["job vgg", "\"s1\""],
        ),
        ("{mean: 700 ms, cv: 0.05}", "700 ms", &["line 12", "names and values are expected"]),
        ("{mean: 700 ms, cv: 0.05}", "{default: {mean: 1 s}, other: 3}", &["line 12", "`other`"]),
        ("{mean: 700 ms, cv: 0.05}", "{men: 700 ms}", &["line 12", "`men`", "did you mean `mean`?"]),
        ("batch: 128", "batch: [128]", &["line 12"]),
        ("batch: 128", "batch: {default: 1.5}", &["line 12", "whole number of samples"]),
        ("batch: 128", "upload_delay: {mean: 1 s}", &["job vgg", "only clients have one"]),
        ("batch: 128", "clients: [w1], workers: [w2]", &["line 12", "both `workers` and `clients`"]),
        ("gradient: 500 MB, ", "", &["job vgg", "gradient: 528 MB"]),
        ("servers: [s1]", "servers: [w1]", &["job vgg", "w1"]),
        ("rate: 1 Gbps", "rate: 0", &["link v1-w1", "rate"]),
    ] {
        let error = refused(from, to);
        assert!(named.iter().all(|part| error.contains(part)), "{to}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn switches_that_block_are_refused() {
    let text = "name: two
nodes: [{name: v1, kind: switch}, {name: v2, kind: switch}, {name: s1, kind: server},
  {name: w1, kind: worker}, {name: w2, kind: worker}]
links:
  - {ends: [v1, s1], rate: 4 Gbps}
  - {ends: [v1, v2], rate: 1 Gbps}
  - {ends: [v2, w1], rate: 1 Gbps}
  - {ends: [v2, w2], rate: 1 Gbps}
jobs: [{name: vgg, gradient: 1 MB, compute: {mean: 1 s}}]
";
    let error = Cluster::from_yaml(text).unwrap_err().to_string();
    assert!(error.contains("job vgg") && error.contains("1 Gbps") && error.contains("2 Gbps"), "{error}");
    assert!(Cluster::from_yaml(&text.replace("[v1, v2], rate: 1", "[v1, v2], rate: 2")).is_ok());
}
