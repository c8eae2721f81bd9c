//! Bad input of every kind: one line that names the place and the fix, status 2, nothing left behind.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::os::unix::process::CommandExt;
use std::process::Stdio;

use serde_json::{Value, json};
use support::{Workbench, is_refusal, root};

/// Planning may take minutes: what is checked at once is checked first. No plan exists here, so that planning
/// would fail first.
#[test]
fn a_controller_checks_addresses_and_certificates_before_it_plans() {
    let bench = Workbench::new();
    bench.write(
        "full.yaml",
        "name: full
nodes: [{name: v1, kind: switch}, {name: v2, kind: switch}, {name: s1, kind: server},
  {name: w1, kind: worker}]
links: [{ends: [v1, v2], rate: 1 Gbps}, {ends: [s1, v2], rate: 1 Gbps}, {ends: [w1, v1], rate: 1 Gbps}]
background: [{link: [v1, v2], rate: 1 Gbps}]
jobs: [{name: j}]
",
    );
    let both = ["--switch", "v1=127.0.0.1:1", "--switch", "v2=127.0.0.1:2"];
    let certificate = ["--listen-ca", "none.pem", "--listen-cert", "none.pem", "--listen-key", "none.pem"];
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let cases: [(&[&str], &[&str]); 6] = [
        (&["--switch", "v9=127.0.0.1:1"], &["v9"]),
        (&[&both[..], &["--tls-ca", "none.pem"]].concat(), &["none.pem", "No such file"]),
        (&[&both[..], &certificate].concat(), &["none.pem", "No such file"]),
        (&[&both[..], &["--listen", "nonsense"]].concat(), &["--listen", "nonsense"]),
        (&[&both[..], &["--p4", "nowhere"]].concat(), &["--p4", "nowhere"]),
        (&[&both[..], &["--listen", &address]].concat(), &["--listen", &address]),
    ];
    for (arguments, named) in cases {
        bench.refused(&[&["controller", "full.yaml"], arguments].concat(), named);
    }
    let planned = bench.inart(&[&["controller", "full.yaml"], &both[..]].concat());
    assert!(String::from_utf8_lossy(&planned.stderr).contains("no route to server s1"), "{planned:?}");
}

#[test]
fn wrong_topologies() {
    let bench = Workbench::new();
    let good = bench.read("fig1.yaml");
    let swap = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1)
    };
    let without = |line: &str| good.lines().filter(|l| !l.contains(line)).map(|l| format!("{l}\n")).collect();
    let rate = "[w1, v1], rate: 6 Gbps";
    let cases: Vec<(String, &[&str])> = vec![
        (swap("[w1, v1]", "[w1, v9]"), &["line 15", "link w1-v9", "\"v9\"", "add it under nodes"]),
        (swap("workers: [w1,", "workers: [w9,"), &["line 25", "job digits", "\"w9\""]),
        (swap("servers: [s1,", "servers: [s9,"), &["job digits", "\"s9\""]),
        (swap("workers: [w1,", "workers: [v1,"), &["\"v1\" is a switch"]),
        (good.clone() + "background:\n  - {node: v9, rate: 1 Gbps}\n", &["line 27", "v9"]),
        (good.clone() + "background:\n  - {link: [w1, v2], rate: 1 Gbps}\n", &["line 27", "w1", "v2"]),
        (swap("{name: w2, kind", "{name: w1, kind"), &["line 9", "node w1", "taken"]),
        (swap("jobs:", "  - {ends: [v1, w1], rate: 1 Gbps}\njobs:"), &["line 24", "linked already"]),
        (swap("[w1, v1]", "[w1, w1]"), &["line 15", "same node"]),
        (swap("[w1, v1]", "[w1, v1, v2]"), &["line 15", "name the two nodes"]),
        (without("[w1, v1]"), &["worker w1", "no route", "server s1"]),
        (swap(rate, "[w1, v1], rate: 0"), &["link w1-v1", "positive rate"]),
        (swap(rate, "[w1, v1], rate: -3 Gbps"), &["link w1-v1", "positive rate"]),
        (swap(rate, "[w1, v1], rate: .nan"), &["link w1-v1", "NaN"]),
        (swap(rate, "[w1, v1], rate: .inf"), &["link w1-v1", "inf"]),
        (swap(rate, "[w1, v1], rate: 6 Gbit"), &["line 15", "\"6 Gbit\"", "20 Mbps"]),
        (swap("ingress_capacity: 4 Gbps", "ingress_capacity: 0"), &["node s1", "ingress_capacity"]),
        (swap("kind: worker}", "kind: worker, color: red}"), &["line 8", "`color`", "kind"]),
        (swap("kind: worker}", "kind: wurker}"), &["line 8", "`wurker`", "worker"]),
        (good.clone() + "name: other\n", &["line 26", "duplicate", "write it once"]),
        (good.clone() + "---\n" + &good, &["one per file"]),
        (String::new(), &["empty", "topologies/"]),
        ("hello".into(), &["line 1"]),
        ("{{{{: [".into(), &["line 1"]),
        ("[".repeat(100_000), &["line 1"]),
    ];
    for (text, named) in &cases {
        bench.write("bad.yaml", text);
        bench.refused(&["topology", "check", "bad.yaml"], &[&["bad.yaml"], *named].concat());
    }
    bench.write("bad.yaml", [0xff, 0x00, 0x88, 0xb5]);
    for command in [&["topology", "check"][..], &["plan"], &["emulate"]] {
        bench.refused(&[command, &["bad.yaml"]].concat(), &["bad.yaml", "not text"]);
        bench.refused(&[command, &["missing.yaml"]].concat(), &["missing.yaml", "no such file"]);
        bench.refused(&[command, &["."]].concat(), &["directory"]);
    }
}

#[test]
fn wrong_plans() {
    let bench = Workbench::new();
    let good: Value = serde_json::from_str(&bench.read("plan.json")).unwrap();
    let tampered: [(&str, Value, &[&str]); 9] = [
        ("/shards/0/share", json!(-0.5), &["shard s1", "-0.5"]),
        ("/shards/0/share", json!(0.9), &["shares sum to"]),
        ("/flows/0/path", json!(["w1", "v2"]), &["flow w1 to s1"]),
        ("/flows/0/path", json!([]), &["flow w1 to s1"]),
        ("/flows/0/worker", json!("w99"), &["w99"]),
        ("/flows/0/aggregator", json!("v99"), &["v99"]),
        ("/shards/0/server", json!("s99"), &["s99"]),
        ("/rate_bps", json!(5e9), &["Gbps used of"]),
        ("/rate_bps", json!(-1), &["rate_bps"]),
    ];
    let push = |command| {
        [command, "bad.json", "fig1.yaml", "--switch", "v1=127.0.0.1:1", "--switch", "v2=127.0.0.1:1"]
    };
    for (place, value, named) in tampered {
        let mut plan = good.clone();
        *plan.pointer_mut(place).unwrap() = value;
        bench.write("bad.json", plan.to_string());
        let output = bench.inart(&["plan", "--check", "bad.json", "fig1.yaml"]);
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{place}: a plan that does not hold");
        assert!(named.iter().all(|name| said.contains(name)), "{place}: {said}");
        for command in ["apply", "diff"] {
            bench.refused(&push(command), &["bad.json", "inart plan"]);
        }
    }
    bench.write("bad.json", r#"{"hello": 1}"#);
    bench.refused(&["plan", "--check", "bad.json", "fig1.yaml"], &["bad.json", "`hello`", "inart plan"]);
    bench.write("bad.json", "");
    bench.refused(&["plan", "--check", "bad.json", "fig1.yaml"], &["bad.json", "inart plan"]);

    let other = bench.read("fig1.yaml").replacen("name: fig1", "name: other", 1);
    bench.write("other.yaml", other);
    let named = ["plan.json", "\"fig1\"", "\"other\""];
    bench.refused(&["plan", "--check", "plan.json", "other.yaml"], &named);
    for command in ["apply", "diff"] {
        let named = ["other.yaml", "a network of switches", "name a plan"];
        bench.refused(&[command, "other.yaml", "fig1.yaml"], &named);
    }
    bench.refused(&["apply", "plan.json", "other.yaml"], &named);
    bench.refused(&["diff", "plan.json", "other.yaml"], &named);
}

#[test]
fn wrong_ways_to_the_switches() {
    let bench = Workbench::new();
    let refused = |arguments: &[&str], named: &[&str]| {
        bench.refused(&[&["apply", "plan.json", "fig1.yaml"], arguments].concat(), named);
    };
    refused(&[], &["switch v1", "--switch v1=HOST:PORT"]);
    refused(&["--switch", "v1"], &["NAME=HOST:PORT"]);
    refused(&["--switch", "v1=127.0.0.1:1,device=x"], &["device=ID"]);
    refused(&["--switch", "v9=127.0.0.1:1"], &["v9", "v1, v2"]);
    refused(&["--switches", "missing.yaml"], &["--switches missing.yaml"]);
    let all = ["--switch", "v1=127.0.0.1:1", "--switch", "v2=127.0.0.1:1"];
    refused(&all, &["switch v1", "127.0.0.1:1", "start the switch"]);
    for (option, value) in [("--window", "3"), ("--window", "-1"), ("--rate-scale", "0"), ("--values", "33")]
    {
        refused(&[&all[..], &[option, value]].concat(), &[option, value]);
    }
    refused(&[&all[..], &["--state", "plan.json"]].concat(), &["plan.json", "--state"]);
    bench.refused(&["rollback"], &["nothing was pushed yet"]);
    bench.refused(&["rollback", "missing.yaml"], &["missing.yaml", "no such file"]);
    bench.refused(&["rollback", "fig1.yaml", "--topology", "fig1"], &["--topology"]);
    bench.refused(&["remove"], &["<TOPOLOGY>"]);
    bench.refused(&["remove", "digits"], &["digits", "no such file"]);
    bench.refused(&["remove", "fig1.yaml"], &["switch v1", "--switch v1=HOST:PORT"]);
    let remove = [&["remove", "digits", "fig1.yaml"], &all[..]].concat();
    bench.refused(&remove, &["switch v1", "127.0.0.1:1", "start the switch"]);
    bench.refused(&[&remove[..], &["--values", "33"]].concat(), &["--values", "33"]);
}

#[test]
fn a_program_that_does_not_match_its_source() {
    let bench = Workbench::new();
    for folder in ["", "build", "generated", "include"] {
        let (from, to) = (root().join("p4").join(folder), bench.path("p4").join(folder));
        std::fs::create_dir_all(&to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
            }
        }
    }
    let all = ["--switch", "v1=127.0.0.1:1", "--switch", "v2=127.0.0.1:1", "--p4", "p4"];
    let push = [&["apply", "plan.json", "fig1.yaml"], &all[..]].concat();
    bench.refused(&push, &["127.0.0.1:1"]); // the program is well, the switch is not there
    bench.write("p4/inart.p4", bench.read("p4/inart.p4") + "\n");
    bench.refused(&push, &["--p4 p4", "does not match its source", "inart.p4", "recompile"]);
    std::fs::remove_dir_all(bench.path("p4/build")).unwrap();
    bench.refused(&push, &["--p4 p4", "SOURCES.sha256"]);
}

#[test]
fn frames_that_the_links_do_not_carry() {
    let bench = Workbench::new();
    let all = ["--switch", "v1=127.0.0.1:1", "--switch", "v2=127.0.0.1:1", "--values", "1024"];
    let named = ["--values", "link ", "MTU of 1500", "1024 values need 4126", "`mtu`", "256 values"];
    bench.refused(&[&["apply", "plan.json", "fig1.yaml"], &all[..]].concat(), &named);
    bench.refused(&[&["remove", "digits", "fig1.yaml"], &all[..]].concat(), &named);
    bench.refused(&["emulate", "fig1.yaml", "--values", "1024"], &named);
    bench.refused(&["simulate", "fig1.yaml", "--values", "1024"], &named);
    // Links that carry them: the switch is not there.
    bench.write("jumbo.yaml", bench.read("fig1.yaml").replacen("nodes:", "mtu: 9000\nnodes:", 1));
    bench.refused(
        &[&["apply", "plan.json", "jumbo.yaml"], &all[..]].concat(),
        &["switch v1", "start the switch"],
    );
    for value in ["0", "100", "9217"] {
        bench.refused(
            &["topology", "leaf-spine", "--leaves", "2", "--spines", "1", "--mtu", value],
            &["--mtu", value],
        );
    }
}

#[test]
fn wrong_options() {
    let bench = Workbench::new();
    for (option, value) in [
        ("--drop", "200%"),
        ("--drop", "-1"),
        ("--jobs", "0"),
        ("--values", "33"),
        ("--window", "3"),
        ("--rounds", "0"),
        ("--schemes", "foo"),
        ("--scale", "0"),
        ("--scale", "-1"),
        ("--seed", "x"),
        ("--changes", "0"),
        ("--changes", "-1"),
    ] {
        bench.refused(&["emulate", "fig1.yaml", option, value], &[option, value]);
    }
    bench.refused(
        &["emulate", "fig1.yaml", "--chart", "fig1.yaml/chart.svg"],
        &["--chart fig1.yaml/chart.svg"],
    );
    bench.refused(
        &["emulate", "fig1.yaml", "--changes", "3", "--schemes", "atp,lbmm"],
        &["--changes: plans of one scheme"],
    );
    // A chart that cannot be written is refused before the work, by every system.
    for (network, flags) in [("geo9.yaml", &[][..]), ("mesh4.yaml", &[]), ("ps16.yaml", &["--sync", "bsp"])] {
        std::fs::copy(root().join("topologies").join(network), bench.path(network)).unwrap();
        let chart = ["emulate", network, "--chart", "fig1.yaml/chart.svg"];
        bench.refused(&[&chart[..], flags].concat(), &["--chart fig1.yaml/chart.svg"]);
    }
    bench.refused(&["emulate", "fig1.yaml", "--peer-timeout", "soon"], &["--peer-timeout", "like 500ms, 2s"]);
    bench.refused(&["switch", "-i", "1@lo"], &["PROGRAM", "--no-p4"]);
    let help = bench.inart(&["help", "--help"]);
    assert!(help.status.success() && help.stdout.starts_with(b"Plan, install, emulate"), "{help:?}");
    bench.refused(&["emulate", "fig1.yaml", "--changes", "3", "--follow"], &["--follow: the controller"]);
    bench.refused(&["emulate", "fig1.yaml", "--nonsense"], &["--nonsense"]);
    bench.refused(&["emulate"], &["<NETWORK>"]);
    bench.refused(&["nonsense"], &["'nonsense'"]);
    bench.refused(&["plan", "fig1.yaml", "--scheme", "foo"], &["--scheme", "foo", "lbmm"]);
    bench.refused(&["plan", "fig1.yaml", "--job", "foo"], &["foo", "digits"]);
    let huge = ["topology", "leaf-spine", "--leaves", "99999999999", "--spines", "99999999999"];
    bench.refused(&huge, &["leaf-spine"]);
}

#[test]
fn wrong_hosts() {
    let bench = Workbench::new();
    bench.write(
        "job.json",
        r#"{"job": 1, "name": "digits", "plan_version": 1, "values_per_frame": 64, "window_chunks": 4,
            "workers": [{"name": "w1", "mac": "02:00:00:00:00:01"}],
            "shards": [{"server": "s1", "mac": "02:00:00:00:00:02", "share": 1.0, "rate_bps": 1e6}]}"#,
    );
    bench.write("bad.json", "{");
    let worker = |assignment, rank| {
        ["worker", "--interface", "nosuch0", "--assignment", assignment, "--rank", rank, "--all-reduce", "9"]
    };
    bench.refused(&worker("job.json", "0"), &["nosuch0"]);
    bench.refused(&worker("job.json", "1"), &["rank 1", "digits"]);
    bench.refused(&worker("bad.json", "0"), &["--assignment bad.json", "inart apply --assignments"]);
    bench.refused(&worker("missing.json", "0"), &["--assignment missing.json"]);
    let server = |assignment, shard| {
        ["server", "--interface", "nosuch0", "--assignment", assignment, "--shard", shard]
    };
    bench.refused(&server("job.json", "0"), &["nosuch0"]);
    bench.refused(&server("job.json", "1"), &["shard 1", "digits"]);
    bench.refused(&server("bad.json", "0"), &["--assignment bad.json"]);
    bench.write("notes.txt", "precious");
    let occupied = ["notes.txt", "there is a file and no socket", "give another path"];
    bench.refused(&[&worker("job.json", "0")[..], &["--status", "notes.txt"]].concat(), &occupied);
    let controller = ["controller", "fig1.yaml", "--plan", "plan.json", "--listen", "unix:notes.txt"];
    let switches = ["--switch", "v1=127.0.0.1:1", "--switch", "v2=127.0.0.1:1"];
    bench.refused(&[&controller[..], &switches].concat(), &occupied);
    assert_eq!(bench.read("notes.txt"), "precious");
}

#[test]
fn wrong_captures() {
    let bench = Workbench::new();
    let header: Vec<u8> =
        [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65535].iter().flat_map(|w| w.to_le_bytes()).collect();
    let capture = |link: u32, rest: &[u8]| [&header[..], &link.to_le_bytes(), rest].concat();
    for (contents, named) in [
        (vec![], "too short"),
        (header[..10].to_vec(), "too short"),
        (b"no capture, but text that is long enough to be one".to_vec(), "neither a pcap nor a pcapng"),
        (capture(113, &[]), "link type 113"),
        (capture(1, &[0xff; 32]), "damaged"),
    ] {
        bench.write("bad.pcap", contents);
        bench.refused(&["decode", "bad.pcap"], &["bad.pcap", named]);
        bench.refused(&["decode", "bad.pcap", "--json"], &["bad.pcap", named]);
    }
    bench.refused(&["decode", "missing.pcap"], &["missing.pcap"]);
    bench.refused(&["decode", "."], &["folder"]);
    // Cut in the middle of a frame: the counts before the cut are printed.
    bench.write("cut.pcap", capture(1, &[1, 0, 0, 0, 2, 0, 0, 0, 60, 0, 0, 0, 60, 0, 0, 0, 9]));
    let output = bench.inart(&["decode", "cut.pcap", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["counts"]["file_cut"], true);
}

#[test]
fn without_root() {
    const UNPRIVILEGED: u32 = 65534;
    // Only root may read it.
    if std::fs::read("/etc/shadow").is_err() {
        eprintln!("skipped: needs root, to give it up");
        return;
    }
    let bench = Workbench::new();
    let program = bench.path("inart");
    std::fs::copy(env!("CARGO_BIN_EXE_inart"), &program).unwrap();
    std::os::unix::fs::chown(bench.path("."), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    let free = ["--grpc-server-addr", "127.0.0.1:0"];
    for network in ["geo9.yaml", "mesh4.yaml", "ps16.yaml", "two-levels.yaml", "fig1-computing.yaml"] {
        std::fs::copy(root().join("topologies").join(network), bench.path(network)).unwrap();
    }
    let one = "error: an emulation makes network namespaces, which this user may not; run as root";
    for (arguments, named) in [
        (&["emulate", "fig1.yaml"][..], one),
        (&["emulate", "geo9.yaml"], one),
        (&["emulate", "mesh4.yaml"], one),
        (&["emulate", "ps16.yaml", "--sync", "bsp"], one),
        (&["emulate", "two-levels.yaml"], one),
        (&["emulate", "fig1-computing.yaml", "--sync", "r2sp", "--aggregated-groups=2"], one),
        (&[&["switch", "--no-p4", "-i", "1@lo"], &free[..]].concat(), "root"),
    ] {
        let mut command = std::process::Command::new(&program);
        command.args(arguments).current_dir(bench.path(".")).uid(UNPRIVILEGED).gid(UNPRIVILEGED);
        is_refusal(&command.output().unwrap(), arguments, &[named]);
        assert!(!bench.path("out").exists(), "{arguments:?}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_error_and_a_full_disk_is() {
    let bench = Workbench::new();
    for arguments in [&["plan", "fig1.yaml", "--scheme", "atp"][..], &["topology", "draw", "fig1.yaml"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = bench.command(arguments).stdout(writer).stderr(Stdio::null()).status().unwrap();
        assert!(status.success(), "{arguments:?}");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        is_refusal(&bench.command(arguments).stdout(full).output().unwrap(), arguments, &["standard output"]);
    }
}

#[test]
fn json_is_one_document() {
    let bench = Workbench::new();
    for arguments in [
        &["plan", "fig1.yaml", "--scheme", "lbmm"][..],
        &["plan", "--check", "plan.json", "fig1.yaml"],
        &["topology", "check", "fig1.yaml"],
        &["topology", "draw", "fig1.yaml"],
        &["topology", "fat-tree", "--k", "4"],
    ] {
        let output = bench.inart(&[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).expect("one document");
    }
}
