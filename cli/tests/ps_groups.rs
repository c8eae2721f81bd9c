//! `inart simulate` and `inart emulate TOPOLOGY --sync r2sp --aggregated-groups`: groups in turn, from the
//! document to the figures.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::turn;

const NETWORK: &str = concat!(env!("INART_ROOT"), "/topologies/fig1-computing.yaml");

fn inart(line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_inart")).args(line.split_whitespace()).output().unwrap()
}

fn simulate(flags: &str) -> serde_json::Value {
    let output = inart(&format!("simulate {NETWORK} --sync r2sp {flags} --json"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// By hand: rack 1 (w1 to w4) sums at 2.4 Gbit/s with equal shares, as `inart plan` says of it alone, and
/// rack 2 sends at its links' 6 Gbit/s.
#[test]
fn two_groups_are_the_racks() {
    let run = simulate("--aggregated-groups=2 --iterations 30");
    let groups = run["groups"].as_array().unwrap();
    let workers: Vec<_> = groups.iter().map(|group| group["workers"].as_array().unwrap().len()).collect();
    assert_eq!(workers, [4, 2]);
    for (group, bps) in groups.iter().zip([2.4e9, 6e9]) {
        assert!((group["rate_bps"].as_f64().unwrap() / bps - 1.0).abs() < 1e-6, "{group}");
        assert!((group["push_s"].as_f64().unwrap() * bps / 8e8 - 1.0).abs() < 1e-6, "{group}");
    }
    assert_eq!(run["staleness"]["max"], 1);
    assert!(run["iteration_s"].as_f64().unwrap() >= run["bound_s"].as_f64().unwrap() * 0.98);
}

/// Computing leaves the network idle here, so more than one group is the rule's choice, and it is faster.
#[test]
fn the_rule_is_faster_than_all_together() {
    let run = simulate("--aggregated-groups --iterations 60");
    let groups = run["groups"].as_array().unwrap().len();
    assert!((2..=6).contains(&groups), "{groups}");
    let [own, together] = ["iteration_s", "single_group_s"].map(|key| run[key].as_f64().unwrap());
    assert!(own < together * 0.95, "{own} {together}");
    assert_eq!(run["staleness"]["max"].as_u64().unwrap(), groups as u64 - 1);
    let text = inart(&format!("simulate {NETWORK} --sync r2sp --aggregated-groups"));
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("groups, and what is predicted: 1 "), "{text}");
    assert_eq!(text.matches("\ngroup ").count(), groups, "{text}");
}

#[test]
fn what_has_no_meaning_is_refused() {
    for (flags, named) in [
        ("--sync r2sp --aggregated-groups=0", "--aggregated-groups=0"),
        ("--sync r2sp --aggregated-groups=7", "from 1 to 6"),
        ("--sync r2sp --aggregated-groups=x", "--aggregated-groups=x"),
        ("--sync r2sp --aggregated-groups=1e-320", "--aggregated-groups=1e-320"),
        ("--sync bsp --aggregated-groups", "--aggregated-groups"),
        ("--sync fl-r2sp --aggregated-groups", "--aggregated-groups"),
        ("--sync r2sp --aggregated-groups --relaxation 0.5", "--relaxation"),
        ("--sync r2sp --aggregated-groups --tune-batches", "--tune-batches"),
        ("--sync r2sp --aggregated-groups --apply in-turn", "--apply"),
        ("--sync r2sp --aggregated-groups --absent w1=1s..2s", "--absent"),
        ("--sync r2sp --aggregated-groups --push-timeout 3s", "--push-timeout"),
        ("--sync r2sp --aggregated-groups --iterations 1", "--iterations 1"),
    ] {
        let output = inart(&format!("simulate {NETWORK} {flags}"));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{flags}: {text}");
        assert!(text.contains(named) && text.trim().lines().count() == 1, "{flags}: {text}");
    }
    let fig1 = NETWORK.replace("-computing", "");
    let output = inart(&format!("simulate {fig1} --sync r2sp --aggregated-groups"));
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("compute"));
}

/// The report of an emulation; none where this process may not make namespaces.
fn emulated(network: &str, flags: &str) -> Option<serde_json::Value> {
    let _turn = turn();
    let output = inart(&format!("--json emulate {network} --sync r2sp {flags}"));
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("run as root") {
        eprintln!("skipped: root is needed to make network namespaces");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// One group, and three: the emulation computes every sum, answer and version again.
#[test]
fn processes_train_in_groups_and_every_turn_is_computed_again() {
    let Some(report) = emulated(NETWORK, "--aggregated-groups=1,3 --iterations 5 --scale 1/500") else {
        return;
    };
    // Computed is for 0.4066 s by the clock: the model is 1/492 of the document's, the rates are 1/500.
    assert!((report["compute_s"].as_f64().unwrap() - 0.4).abs() < 1e-9, "{report}");
    let divisions = report["divisions"].as_array().unwrap();
    let groups: Vec<_> = divisions.iter().map(|one| one["groups"].as_array().unwrap().len()).collect();
    assert_eq!(groups, [1, 3]);
    for (one, groups) in divisions.iter().zip([1, 3]) {
        assert_eq!(one["turns_checked"], 5 * groups);
        // Six workers send and receive each value once in each iteration.
        assert_eq!(one["values_checked"], 5 * 6 * 2 * 50_826);
        assert_eq!(one["staleness_max"], groups - 1);
        assert!(one["summed_in_switches"].as_u64().unwrap() > 0, "{one}");
        assert!(
            one["iteration_s"].as_f64().unwrap() > 0.0 && one["accuracy"].as_f64().unwrap() > 0.2,
            "{one}"
        );
    }
}

/// Two racks at a server whose port carries both: two groups push at once, and chunks that come before those
/// of the turn before are held. Links lose frames.
const AT_ONCE: &str = "\
name: wide
nodes: [{name: v1, kind: switch}, {name: v2, kind: switch}, {name: s1, kind: server},
  {name: w1, kind: worker}, {name: w2, kind: worker}, {name: w3, kind: worker}, {name: w4, kind: worker}]
links: [{ends: [w1, v1], rate: 2 Gbps}, {ends: [w2, v1], rate: 2 Gbps}, {ends: [w3, v2], rate: 2 Gbps},
  {ends: [w4, v2], rate: 2 Gbps}, {ends: [v1, v2], rate: 8 Gbps}, {ends: [s1, v2], rate: 8 Gbps}]
jobs: [{name: job, workers: [w1, w2, w3, w4], servers: [s1], gradient: 100 MB,
  compute: {mean: 300 ms, cv: 0.3}}]
";

#[test]
fn two_groups_push_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let network = folder.path().join("wide.yaml");
    std::fs::write(&network, AT_ONCE).unwrap();
    let Some(report) = emulated(
        &network.display().to_string(),
        "--aggregated-groups=2 --iterations 8 --scale 1/500 --drop 2%",
    ) else {
        return;
    };
    let one = &report["divisions"][0];
    assert_eq!(one["concurrent_groups"], 2, "{one}");
    assert_eq!((&one["turns_checked"], &one["staleness_max"]), (&16.into(), &1.into()));
}

/// The process of an emulation's worker or server whose arguments have all of these.
fn process_of(emulation: u32, words: &[&str]) -> Option<i32> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_it = |number: &i32| {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{number}/{file}")).unwrap_or_default();
        let parent =
            read("stat").rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        let line = read("cmdline");
        parent == Some(emulation) && words.iter().all(|word| line.contains(word))
    };
    numbers.into_iter().find(is_it)
}

/// A worker or a server that dies ends the training with its name.
#[test]
fn who_dies_is_named() {
    let _turn = turn();
    for (words, named) in [
        (["group-worker\0", "\0--data-shard\x004/6\0"], "worker w5"),
        (["group-server\0", "\0--shard\x001\0"], "server s2"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_inart"));
        let line = format!(
            "emulate {NETWORK} --sync r2sp --aggregated-groups=2 --iterations 1000 --scale 1/500 --peer-timeout 60s"
        );
        command.args(line.split_whitespace()).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut emulation = command.spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        let process = loop {
            if let Some(process) = process_of(emulation.id(), &words) {
                break process;
            }
            if emulation.try_wait().unwrap().is_some() {
                break 0;
            }
            if Instant::now() > until {
                let _ = Command::new("kill").arg(emulation.id().to_string()).status();
                panic!("no process has the words {words:?}: {:?}", emulation.wait_with_output());
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        if process != 0 {
            std::thread::sleep(Duration::from_secs(3));
            let killed = Command::new("kill").args(["-9", &process.to_string()]).status().unwrap();
            assert!(killed.success());
        }
        let output = emulation.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("run as root") {
            eprintln!("skipped: root is needed to make network namespaces");
            return;
        }
        let error = said.lines().last().unwrap_or_default();
        assert!(output.status.code() == Some(2) && error.contains(named), "{said}");
    }
}

#[test]
fn an_emulation_in_groups_that_cannot_be_is_refused() {
    for (flags, named) in [
        ("--sync r2sp --aggregated-groups=0", "--aggregated-groups=0"),
        ("--sync r2sp --aggregated-groups=1,7", "from 1 to 6"),
        ("--sync r2sp --aggregated-groups=x", "--aggregated-groups=x"),
        ("--sync bsp --aggregated-groups", "--aggregated-groups"),
        ("--sync fl-r2sp --aggregated-groups=2", "--aggregated-groups"),
        ("--sync r2sp,bsp --aggregated-groups=2", "--aggregated-groups"),
        ("--sync r2sp --aggregated-groups --iterations 2", "--iterations 2"),
        (
            "--sync r2sp --aggregated-groups --batch 0",
            "'0' for '--batch <BATCH>': give a whole number from 1",
        ),
        ("--sync r2sp --aggregated-groups --learning-rate nan", "--learning-rate"),
        ("--sync r2sp --aggregated-groups --relaxation 0.5", "--relaxation"),
        ("--sync r2sp --aggregated-groups=2 --window 3 --scale 1/500", "window: 3"),
        ("--sync r2sp --aggregated-groups=2 --values 7", "--values"),
        ("--sync r2sp --aggregated-groups=2 --drop 2", "--drop"),
        ("--sync r2sp --aggregated-groups=2 --job x", "--job x"),
    ] {
        let output = inart(&format!("emulate {NETWORK} {flags}"));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{flags}: {text}");
        assert!(text.contains(named) && text.trim().lines().count() == 1, "{flags}: {text}");
    }
    let folder = tempfile::tempdir().unwrap();
    for (key, named) in [("sum: exact", "has exact sums"), ("elastic: true", "is elastic")] {
        let network = folder.path().join("network.yaml");
        let text = std::fs::read_to_string(NETWORK).unwrap();
        let changed = text.replace("{name: digits, ", &format!("{{name: digits, {key}, "));
        std::fs::write(&network, changed).unwrap();
        let output = inart(&format!("emulate {} --sync r2sp --aggregated-groups=2", network.display()));
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(named), "{text}");
    }
}

#[test]
fn hosts_of_groups_that_cannot_be_are_refused() {
    for (line, named) in [
        ("group-server --interface lo --shard 0", "--assignment"),
        ("group-server --interface lo --shard 0 --controller unix:/nowhere", "--job"),
        (
            "group-server --interface lo --shard 0 --assignment a --assignment b --concurrent-groups 3",
            "--concurrent-groups 3",
        ),
        ("group-server --interface lo --shard 0 --assignment /nowhere/a.json", "/nowhere/a.json"),
        ("group-server --interface lo --shard 0 --assignment a --iterations 0", "--iterations"),
        ("group-worker --interface lo --rank 0 --assignment a --groups 0 --data-shard 0/1", "--groups"),
        ("group-worker --interface lo --rank 0 --assignment a --groups 2 --data-shard 2/2", "--data-shard"),
        (
            "group-worker --interface lo --rank 0 --assignment a --groups 2 --data-shard 0/2 --learning-rate 0",
            "--learning-rate 0",
        ),
        (
            "group-worker --interface lo --rank 0 --assignment a --groups 2 --data-shard 0/2 --compute-cv 1",
            "--compute",
        ),
        (
            "group-worker --interface lo --rank 0 --assignment /nowhere/a.json --groups 2 --data-shard 0/2",
            "/nowhere/a.json",
        ),
    ] {
        let output = inart(line);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {text}");
        assert!(text.contains(named) && text.trim().lines().count() == 1, "{line}: {text}");
    }
}
