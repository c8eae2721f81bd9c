//! Documents from pipes, files that are no documents, and words that belong to a user's program.
#![allow(clippy::unwrap_used)]

use crate::support;

use std::io::Write;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use support::{Workbench, is_refusal, root};

/// Ends a hang; not a bound on speed.
const LIMIT: Duration = Duration::from_secs(60);

fn bench() -> Workbench {
    let bench = Workbench::new();
    for file in
        ["geo9.yaml", "mesh4.yaml", "ps16.yaml", "two-levels.yaml", "rack.yaml", "fig1-computing.yaml"]
    {
        std::fs::copy(root().join("topologies").join(file), bench.path(file)).unwrap();
    }
    bench
}

/// The command with a text on its standard input, which is a pipe.
fn piped(bench: &Workbench, arguments: &[&str], text: &[u8]) -> Output {
    let mut command = bench.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = text.to_vec();
    let writer = std::thread::spawn(move || drop(input.write_all(&text)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// Returns the output of the command, unless the command hangs.
fn ended(bench: &Workbench, arguments: &[&str]) -> Output {
    let mut command = bench.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            panic!("{arguments:?} hangs: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn a_document_from_a_pipe_is_as_one_from_a_file() {
    let bench = bench();
    for (before, document, after) in [
        (&["plan"][..], "fig1.yaml", &["--scheme", "atp"][..]),
        (&["plan"], "geo9.yaml", &["--scheme", "mst"]),
        (&["plan"], "mesh4.yaml", &[]),
        (&["plan"], "two-levels.yaml", &["--scheme", "mst"]),
        (&["simulate"], "fig1.yaml", &["--rounds", "1", "--gradient", "4KB", "--scheme", "atp"]),
        (&["simulate"], "geo9.yaml", &["--rounds", "1", "--scheme", "mst"]),
        (&["simulate"], "mesh4.yaml", &["--rounds", "2"]),
        (&["simulate"], "ps16.yaml", &["--sync", "bsp", "--iterations", "5"]),
        (
            &["simulate"],
            "fig1-computing.yaml",
            &["--sync", "r2sp", "--aggregated-groups=2", "--iterations", "5"],
        ),
        (&["topology", "check"], "fig1.yaml", &[]),
        (&["topology", "wiring"], "fig1.yaml", &[]),
        (&["topology", "draw"], "fig1.yaml", &[]),
        (&["topology", "inside"], "two-levels.yaml", &["n1"]),
    ] {
        let file = bench.inart(&[before, &[document], after].concat());
        let pipe = piped(&bench, &[before, &["/dev/stdin"], after].concat(), bench.read(document).as_bytes());
        assert!(file.status.success() && pipe.status.success(), "{before:?} {document}: {file:?} {pipe:?}");
        // The time that a plan took differs.
        let without_times = |output: &Output| -> Vec<String> {
            let text = String::from_utf8(output.stdout.clone()).unwrap();
            text.lines()
                .filter(|line| !line.contains("solved") && !line.contains("packet-hops/s"))
                .map(str::to_owned)
                .collect()
        };
        assert_eq!(without_times(&pipe), without_times(&file), "{before:?} {document}");
    }
    // A plan, too.
    let plan = bench.read("plan.json");
    let check = piped(&bench, &["plan", "fig1.yaml", "--check", "/dev/stdin"], plan.as_bytes());
    assert!(check.status.success(), "{check:?}");
    let push =
        ["apply", "/dev/stdin", "fig1.yaml", "--switch", "v1=127.0.0.1:1", "--switch", "v2=127.0.0.1:1"];
    is_refusal(&piped(&bench, &push, plan.as_bytes()), &push, &["switch v1", "start the switch"]);
}

#[test]
fn a_mark_and_other_line_ends_change_nothing() {
    let bench = bench();
    for (command, file) in
        [(&["topology", "check"][..], "fig1.yaml"), (&["plan"], "geo9.yaml"), (&["plan"], "mesh4.yaml")]
    {
        let text = format!("\u{feff}{}", bench.read(file).replace('\n', "\r\n"));
        bench.write("windows.yaml", text);
        let output = bench.inart(&[command, &["windows.yaml"]].concat());
        assert!(output.status.success(), "{file}: {output:?}");
    }
}

#[test]
fn what_is_no_document_is_refused_in_one_line() {
    let bench = bench();
    bench.write("binary.yaml", [b'a', 0xff, 0xfe, 0]);
    bench.write("wide.yaml", [&b"\xff\xfe"[..], b"n\0a\0"].concat());
    for command in [&["topology", "check"][..], &["plan"], &["simulate"], &["emulate"], &["topology", "draw"]]
    {
        let refused = |file: &str, named: &[&str]| {
            let arguments = [command, &[file]].concat();
            is_refusal(&ended(&bench, &arguments), &arguments, &[&[file], named].concat());
        };
        refused("binary.yaml", &["not text"]);
        refused("wide.yaml", &["UTF-16", "UTF-8"]);
        refused(".", &["directory"]);
        refused("/dev/zero", &["device"]);
        refused("/dev/null", &["device"]);
    }
}

/// Each line of this table once chose a parser, opened a file or hung by a word that was no network.
#[test]
fn words_of_a_program_and_values_of_flags_are_no_networks() {
    let bench = bench();
    let pipe = bench.path("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    // A flag of its own that refuses, so that nothing needs root: what is said shows which parser spoke.
    let rest = ["--rounds", "3", "--"];
    for program in [
        &["cat", "pipe"][..],
        &["python3", "train.py", "geo9.yaml"],
        &["python3", "train.py", "--sync", "r2sp"],
        &["python3", "train.py", "--sync=r2sp", "--aggregated-groups=2"],
        &["cat", "mesh4.yaml"],
    ] {
        let arguments = [&["emulate", "rack.yaml"], &rest[..], program].concat();
        is_refusal(&ended(&bench, &arguments), &arguments, &["--rounds", "with a program of yours"]);
    }
    let help = ended(&bench, &["emulate", "rack.yaml", "--help", "--", "cat", "/dev/zero"]);
    assert!(String::from_utf8_lossy(&help.stdout).contains("--target"), "{help:?}");
    // One help, whatever the network is: each kind has its heading.
    for command in ["plan", "simulate", "emulate"] {
        let one = bench.inart(&[command, "--help"]);
        assert_eq!(bench.inart(&[command, "geo9.yaml", "--help"]).stdout, one.stdout);
        let text = String::from_utf8(one.stdout).unwrap();
        for heading in ["\nNetworks of switches:\n", "\nNetworks of sites:\n", "\nNetworks of peers:\n"] {
            assert!(text.contains(heading), "{command}: {heading}");
        }
        assert_eq!(text.contains("\nParameter servers (--sync):\n"), command != "plan");
    }
    for (arguments, named) in [
        (
            &["simulate", "fig1.yaml", "--faults", "geo9.yaml"][..],
            &["geo9.yaml", "network of sites", "fault schedule"][..],
        ),
        (&["plan", "fig1.yaml", "--check", "geo9.yaml"], &["geo9.yaml", "network of sites", "name a plan"]),
    ] {
        is_refusal(&ended(&bench, arguments), arguments, named);
    }
    bench.write("client.yaml", bench.read("fig1.yaml").replacen("kind: worker", "kind: client", 1));
    bench.refused(&["plan", "client.yaml"], &["line 8", "`client`", "worker", "site", "peer"]);
}

#[test]
fn a_number_without_a_unit_is_refused_by_every_system() {
    let bench = bench();
    for (file, part, by, named) in [
        ("fig1.yaml", "rate: 6 Gbps", "rate: 6", &["rate: 6 has no unit", "6bps, 6Mbps or 6Gbps"][..]),
        (
            "fig1.yaml",
            "aggregation_capacity: 6 Gbps",
            "aggregation_capacity: 6e9",
            &["aggregation_capacity: ", "has no unit"],
        ),
        ("geo9.yaml", "rate: [38 Mbps, 54 Mbps]", "rate: [38, 54 Mbps]", &["rate: 38 has no unit"]),
        ("geo9.yaml", "delay: 30 ms", "delay: 30", &["delay: 30 has no unit", "30s, 30ms or 30us"]),
        ("mesh4.yaml", "rate: 1 Gbps", "rate: 1", &["rate: 1 has no unit"]),
        ("two-levels.yaml", "delay: 30 ms", "delay: 30", &["30 has no unit"]),
    ] {
        let text = bench.read(file);
        assert!(text.contains(part), "{file}: {part}");
        bench.write("bare.yaml", text.replacen(part, by, 1));
        bench.refused(&["plan", "bare.yaml"], &[&["bare.yaml", "line "], named].concat());
    }
    bench.write("bare.yaml", bench.read("ps16.yaml").replacen("mean: 700 ms", "mean: 700", 1));
    bench.refused(&["simulate", "bare.yaml", "--sync", "bsp"], &["mean: 700 has no unit", "700ms"]);
    bench.refused(
        &["topology", "leaf-spine", "--leaves", "2", "--spines", "1", "--rate", "6"],
        &["--rate", "6 has no unit", "6Gbps"],
    );
    let bytes = bench.read("fig1.yaml").replacen("rate: 6 Gbps", "rate: 1 GBps", 1);
    bench.write("bytes.yaml", bytes);
    let wired = bench.inart(&["topology", "wiring", "bytes.yaml"]);
    assert!(String::from_utf8_lossy(&wired.stdout).contains("8000 Mbps"), "1 GBps is 8 Gbps: {wired:?}");
}
