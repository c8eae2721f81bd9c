//! Flags that no other test and no script passes: each does what its help says. The last test finds
//! flags that nothing passes.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::switches::start;
use crate::support::{Workbench, root};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Returns both outputs of a command line, which ends with this status.
fn printed(bench: &Workbench, line: &str, status: i32) -> String {
    let output = bench.inart(&words(line));
    assert_eq!(output.status.code(), Some(status), "{line}: {output:?}");
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn flags_of_runs_do_what_they_say() {
    let bench = Workbench::new();
    let slow =
        printed(&bench, "topology leaf-spine --leaves 2 --spines 1 --servers 1 --workers 2 --rate 1Mbps", 0);
    bench.write("slow.yaml", slow);
    for (line, status, named) in [
        (
            "simulate fig1.yaml --rounds 1 --gradient 4KB --odd-length 0=100",
            0,
            "w1) has a gradient of 100 values",
        ),
        (
            "simulate fig1.yaml --rounds 3 --gradient 4KB --skip 1=1",
            0,
            "worker 1 (w2) and its peers started different tensors",
        ),
        ("simulate fig1.yaml --rounds 1 --gradient 4KB --tensors 3", 0, "several tensors 1"),
        ("simulate fig1.yaml --rounds 1 --gradient 4KB --sizes tiny", 0, "values of uncommon magnitudes 1"),
        ("simulate fig1.yaml --rounds 1 --gradient 4KB --spikes 100%", 0, "all equal"),
        ("simulate fig1.yaml --rounds 1 --gradient 4KB --budget 50ms", 0, "all equal"),
        (
            "simulate fig1.yaml --gradient 4KB --changes 1 --notify-jitter 1ms --change-interval 5ms --uncoordinated",
            0,
            "1 change of plans",
        ),
        ("simulate fig1.yaml --background 0.5 --background-link v1-s1", 2, "no link joins v1 and s1"),
        (
            "simulate slow.yaml --gradient 40KB --background 0.5 --background-link T0-C0 --background-at 2s --json",
            0,
            "goodput",
        ),
        ("doctor --host w1=nosuch.sock --watch 1ms", 1, "w1 does not answer"),
        ("experiment fig8 --at 10", 2, "--measure"),
        ("switch --arch tna", 2, "--conformance <DIR>"),
        (
            "controller fig1.yaml --insecure-listen --listen-ca ca.pem",
            2,
            "'--insecure-listen' cannot be used",
        ),
    ] {
        let said = printed(&bench, line, status);
        assert!(said.contains(named), "{line} should print {named:?}: {said}");
    }
}

#[test]
fn flags_of_plans_and_topologies_do_what_they_say() {
    let bench = Workbench::new();
    let shares = |line: &str| -> Vec<f64> {
        let plan: serde_json::Value = serde_json::from_str(&printed(&bench, line, 0)).unwrap();
        plan["shards"].as_array().unwrap().iter().map(|shard| shard["share"].as_f64().unwrap()).collect()
    };
    assert_eq!(shares("plan fig1.yaml --json --equal-shares --budget 50ms"), [0.5, 0.5]);
    let running = shares("plan fig1.yaml --json --scheme optimized");
    bench.write("running.json", printed(&bench, "plan fig1.yaml --json --scheme optimized", 0));
    assert_eq!(shares("plan fig1.yaml --json --from running.json --keep-shares --max-rate-loss 5%"), running);
    assert!(printed(&bench, "plan fig1.yaml --paths shortest", 0).contains("paths   shortest"));
    bench.write("net.dot", "graph g { a -- b [bandwidth=3]; b -- c; }\n");
    let imported = printed(&bench, "topology import net.dot --hosts-per-switch 2 --unit 1Mbps", 0);
    assert!(
        imported.contains("6 hosts attached, 2 per switch") && imported.contains("rate: 3 Mbps"),
        "{imported}"
    );
    let random = printed(&bench, "topology random --switches 4 --degree 2 --ports 3", 0);
    assert!(random.contains("random-4x2"), "{random}");
    let jobs =
        "topology leaf-spine --leaves 2 --spines 1 --ports 9 --jobs 2 --workers-per-job 3 --workers 8 --json";
    let document: serde_json::Value = serde_json::from_str(&printed(&bench, jobs, 0)).unwrap();
    for job in document["jobs"].as_array().unwrap() {
        assert_eq!(job["workers"].as_array().unwrap().len(), 3, "{job}");
    }
}

#[test]
fn a_push_has_a_precedence() {
    let bench = Workbench::new();
    let switches = ["v1", "v2"].map(|name| (name, start(&bench, "127.0.0.1:0")));
    let places =
        switches.each_ref().map(|(name, switch)| format!("--switch {name}={}", switch.address)).join(" ");
    let push = |id: &str, status| {
        printed(
            &bench,
            &format!("apply plan.json fig1.yaml --state state --election-id {id} {places}"),
            status,
        )
    };
    push("7", 0);
    assert!(push("first", 2).contains("--election-id"));
}

/// A command line of `simple_switch_grpc` starts the switch as it is; notes name what is ignored.
#[test]
fn options_of_bmv2_are_accepted_and_ignored() {
    let before = "switch --no-p4 --grpc-server-addr 127.0.0.1:0 --cpu-port 64 --log-file bmv2.log --log-flush \
                  --log-level trace --nanolog ipc:///tmp/a --notifications-addr ipc:///tmp/b \
                  --dump-packet-data 64 --max-port-count 64 --pcap";
    for after in ["--enable-swap --priority-queues 8", "--disable-swap"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_inart"));
        command
            .args(words(before))
            .arg("--")
            .args(words(after))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut switch = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(switch.stdout.take().unwrap()).read_line(&mut line).unwrap();
        switch.kill().unwrap();
        let notes = switch.wait_with_output().unwrap();
        let notes = String::from_utf8_lossy(&notes.stderr);
        assert!(line.starts_with("listening on 127.0.0.1:"), "{line}{notes}");
        for named in ["logging options are ignored", "no nanomsg sockets", "--dump-packet-data", "--pcap"] {
            assert_eq!(notes.matches(named).count(), 1, "{named}: {notes}");
        }
        assert!(!Path::new("bmv2.log").exists());
    }
}

#[test]
fn every_flag_is_passed_by_a_test_or_a_script() {
    let flags = all_flags();
    assert!(flags.len() > 200 && flags.contains("odd-length"), "{flags:?}");
    let mut texts = String::new();
    for place in ["cli/tests", "tests/tests", "tests/scripts", "tests/benches", "emulator/src", "mininet"] {
        read_all(&root().join(place), &mut texts);
    }
    let is_passed = |flag: &&String| {
        let long = format!("--{flag}");
        texts.match_indices(&long).any(|(at, _)| {
            let next = texts[at + long.len()..].chars().next();
            next.is_none_or(|next| !next.is_alphanumeric() && next != '-')
        })
    };
    let none: Vec<&String> = flags.iter().filter(|flag| !is_passed(flag)).collect();
    assert!(none.is_empty(), "pass these flags in a test: {none:?}");
}

/// The long names that `--help` prints, of all commands.
fn all_flags() -> BTreeSet<String> {
    let mut flags = BTreeSet::new();
    let mut commands = vec![Vec::new()];
    while let Some(command) = commands.pop() {
        let mut help = Command::new(env!("CARGO_BIN_EXE_inart"));
        let output = help.args(&command).arg("--help").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut is_command = false;
        for line in text.lines() {
            is_command = if line.is_empty() { false } else { is_command || line == "Commands:" };
            let name = line.strip_prefix("  ").filter(|line| !line.starts_with(' '));
            if is_command && let Some(name) = name.and_then(|line| line.split_whitespace().next()) {
                if name != "help" {
                    commands.push([&command[..], &[name.to_owned()]].concat());
                }
                continue;
            }
            // `      --flag <VALUE>  Help` or `  -f, --flag`.
            let entry = line.trim_start();
            let long = entry.strip_prefix("--").or_else(|| entry.get(4..)?.strip_prefix("--"));
            let is_entry = line.starts_with("  ") && (entry.starts_with("--") || entry.starts_with('-'));
            let long = long.filter(|_| is_entry).map(|long| {
                long.chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect::<String>()
            });
            flags.extend(long.filter(|long| !long.is_empty()));
        }
    }
    for general in ["help", "version"] {
        flags.remove(general);
    }
    flags
}

fn read_all(folder: &Path, texts: &mut String) {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for path in entries.collect::<Vec<PathBuf>>() {
        if path.is_dir() {
            read_all(&path, texts);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            texts.push_str(&text);
        }
    }
}
