//! Mistakes of users who try the command for the first time: tables of documents and flags, each with
//! what the one line of the error has to name.
#![allow(clippy::unwrap_used)]

use crate::support::{Workbench, is_refusal, root};

/// A folder with the networks of all kinds.
fn bench() -> Workbench {
    let bench = Workbench::new();
    for network in
        ["geo9.yaml", "mesh4.yaml", "ps16.yaml", "two-levels.yaml", "fig1-computing.yaml", "fl64.yaml"]
    {
        std::fs::copy(root().join("topologies").join(network), bench.path(network)).unwrap();
    }
    bench
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// A document with a syntax error was taken for one of switches and servers, whatever its nodes were.
#[test]
fn broken_documents_of_every_kind_name_the_error_and_its_line() {
    let bench = bench();
    for file in ["fig1.yaml", "geo9.yaml", "mesh4.yaml", "two-levels.yaml"] {
        let good = bench.read(file);
        let (lines, jobs) =
            (good.lines().count(), good.lines().position(|line| line == "jobs:").unwrap() + 2);
        let twice = format!("line {}", lines + 1);
        let job = format!("line {jobs}");
        for (text, named) in [
            (good.clone() + "name: twice\n", [&*twice, "duplicate mapping key: name", "write it once"]),
            (format!("{good}---\n{good}"), ["line ", "a second document begins here", "write one per file"]),
            (good.replace("jobs:\n", "jobs:\n\t"), [&*job, "tab", "looks like"]),
            (good.replace("jobs:\n", "jobs:\n  - *missing\n"), [&*job, "unknown anchor", "looks like"]),
            (
                good.replace("jobs:\n  - {", "jobs:\n  - {name: a, "),
                [&*job, "duplicate mapping key: name", "once"],
            ),
        ] {
            bench.write("bad.yaml", text);
            for command in
                ["topology check", "topology draw", "topology wiring", "plan", "simulate", "emulate"]
            {
                let command = format!("{command} bad.yaml");
                bench.refused(&words(&command), &[&["bad.yaml"], &named[..]].concat());
            }
        }
    }
}

#[test]
fn infinity_and_nan_are_refused_by_the_name_of_their_key() {
    let bench = bench();
    for (file, part, by, named) in [
        ("geo9.yaml", "rate: [38 Mbps,", "rate: [.inf,", ["line 15", "link n1-n2", "inf"]),
        ("geo9.yaml", "delay: 30 ms", "delay: .nan", ["line 15", "link n1-n2", "delay is NaN"]),
        ("geo9.yaml", "loss: 0.02%", "loss: .inf", ["line 15", "link n1-n2", "loss"]),
        ("geo9.yaml", "gradient: 244 MB", "gradient: .nan", ["line 56", "job alexnet", "gradient is NaN"]),
        ("mesh4.yaml", "rate: [1 Gbps,", "rate: [.inf,", ["line 12", "link p2-s1", "inf"]),
        ("mesh4.yaml", "update: 203304 B", "update: .inf", ["line 16", "update of p1", "inf"]),
        ("mesh4.yaml", "cv: 0.3", "cv: .nan", ["line 16", "p1", "NaN"]),
        ("two-levels.yaml", "rate: 200 Mbps", "rate: .inf", ["line 27", "rate", "inf"]),
        ("fig1.yaml", "rate: 6 Gbps", "rate: 1e-9 bps", ["line 15", "link w1-v1", "at least 1 bit/s"]),
        ("two-levels.yaml", "gradient: 60 MB", "gradient: .nan", ["line 31", "gradient", "NaN"]),
    ] {
        let text = bench.read(file);
        assert!(text.contains(part), "{file}: {part}");
        bench.write("bad.yaml", text.replacen(part, by, 1));
        for command in
            [&["topology", "check", "bad.yaml"][..], &["plan", "bad.yaml"], &["emulate", "bad.yaml"]]
        {
            bench.refused(command, &[&["bad.yaml"], &named[..]].concat());
        }
    }
}

#[test]
fn a_check_reads_how_long_participants_compute() {
    let bench = bench();
    for (part, by, named) in [
        ("mean: 700 ms", "mean: -1 s", ["line 44", "job vgg16", "is -1"]),
        ("mean: 700 ms", "mean: 700", ["line 44", "mean", "no unit"]),
        ("mean: 700 ms", "mean: []", ["line 44", "document", "sequence"]),
        ("mean: 700 ms", "mean: 1e30 h", ["line 44", "job vgg16", "compute"]),
        ("cv: 0.05", "cv: -1", ["line 44", "cv", "-1"]),
        ("cv: 0.05", "cv: x", ["line 44", "number", "cv: 0.05"]),
        ("batch: 128", "batch: 0", ["line 44", "batch", "0"]),
        ("compute: {", "compute: {speeed: 1, ", ["line 44", "`speeed`", "mean"]),
    ] {
        let text = bench.read("ps16.yaml");
        assert!(text.contains(part), "{part}");
        bench.write("bad.yaml", text.replacen(part, by, 1));
        for command in [&["topology", "check", "bad.yaml"][..], &["simulate", "bad.yaml", "--sync", "bsp"]] {
            bench.refused(command, &[&["bad.yaml"], &named[..]].concat());
        }
    }
    for good in ["ps16.yaml", "fl64.yaml", "fig1-computing.yaml", "fig1.yaml"] {
        assert!(bench.inart(&["topology", "check", good]).status.success(), "{good}");
    }
}

/// Sizes beyond the limits ended with a panic; small scales, large batches and tiny rates with a run that did
/// not end.
#[test]
fn flags_out_of_range_are_refused_by_name_before_the_run() {
    let bench = bench();
    for (line, named) in [
        ("emulate geo9.yaml --gradient 1e30TB", ["--gradient", "from 4 B", "400 MB"]),
        ("emulate geo9.yaml --gradient 3B", ["--gradient", "from 4 B", "400 MB"]),
        ("emulate two-levels.yaml --gradient 1e30TB", ["--gradient", "from 4 B", "400 MB"]),
        ("emulate mesh4.yaml --update 1e30TB", ["--update", "from 4 B", "400 MB"]),
        ("emulate mesh4.yaml --update=-5MB", ["--update", "from 4 B", "400 MB"]),
        ("emulate geo9.yaml --batch 100000000", ["--batch", "100000000", "from 1 to 1000"]),
        ("emulate geo9.yaml --batch 0", ["--batch", "0", "from 1 to 1000"]),
        ("emulate mesh4.yaml --batch 0", ["--batch", "0", "from 1 to 1000"]),
        ("emulate ps16.yaml --sync bsp --batch 5000", ["--batch", "5000", "from 1 to 1000"]),
        (
            "emulate fig1-computing.yaml --sync r2sp --aggregated-groups --batch 5000",
            ["--batch", "5000", "from 1 to 1000"],
        ),
        ("emulate geo9.yaml --default-rate 0", ["--default-rate", "at least 1 bit/s", "'0'"]),
        ("emulate geo9.yaml --default-rate 1e30Tbps", ["--default-rate", "at most 1e18 bit/s", "1e30Tbps"]),
        (
            "simulate geo9.yaml --knowledge passive --default-rate 1e30Tbps",
            ["--default-rate", "at most 1e18", "1e30Tbps"],
        ),
        ("emulate geo9.yaml --scale 1e-12", ["--scale", "20 Mbps", "at least 1/2000"]),
        ("emulate geo9.yaml --gradient 4B", ["--scale", "slower than 10 kbps", "at least 1/2000"]),
        ("emulate mesh4.yaml --scale 1e-12", ["--scale", "500 Mbps", "at least 1/50000"]),
        ("emulate ps16.yaml --sync bsp --scale 1e-12", ["--scale", "3.738 Gbps", "at least 1/373800"]),
        (
            "emulate fig1-computing.yaml --sync r2sp --aggregated-groups=1 --scale 1e-12",
            ["--scale", "6 Gbps", "1/600000"],
        ),
        ("emulate fig1.yaml --changes 1000000", ["--changes", "1000000", "from 1 to 20000"]),
        ("emulate fig1.yaml --rounds x", ["--rounds", "'x'", "give a whole number"]),
        (
            "emulate fig1.yaml --seed 18446744073709551616",
            ["--seed", "18446744073709551616", "smaller number"],
        ),
        ("topology import x.json --delay -1s", ["--delay -1s", "below 0", "above 0"]),
        ("topology fat-tree --k 4 --gradient -5MB", ["--gradient -5MB", "below 0", "above 0"]),
        ("topology mesh --peers 4 --receivers 2 --rate 0", ["--rate", "'0'", "at least 1 bit/s"]),
        ("topology mesh --peers 4 --receivers 2 --update 0", ["--update", "'0'", "at least a byte"]),
        ("simulate geo9.yaml --degree=-1", ["--degree", "-1", "give a whole number"]),
    ] {
        bench.refused(&words(line), &named);
    }
}

#[test]
fn flags_that_would_be_ignored_are_refused() {
    let bench = bench();
    for (line, named) in [
        ("simulate mesh4.yaml --staleness 3", ["--staleness", "--sync ssp only"]),
        ("simulate mesh4.yaml --draw fixed", ["--draw", "--scheme orpheus only"]),
        ("emulate mesh4.yaml --values 64", ["--values", "--multicast switch only"]),
        ("emulate mesh4.yaml --finish-threshold 0.5", ["--finish-threshold", "--sync ssp only"]),
        ("plan geo9.yaml --degree 3", ["--degree", "--scheme bkt only"]),
        ("simulate geo9.yaml --queue-length 3", ["--queue-length", "--auxiliary"]),
        ("emulate geo9.yaml --python /usr/bin/python3", ["--python", "--schemes gloo only"]),
        ("simulate fig1.yaml --first-seed 5", ["--first-seed", "--trials only"]),
        ("simulate --trials 1 --scheme atp", ["--scheme", "leave it out"]),
        ("simulate --trials 1 --rounds 5", ["--rounds", "leave it out"]),
        // Of another kind of network.
        (
            "emulate geo9.yaml --faults f.yaml",
            ["--faults is for networks of switches", "geo9.yaml has sites"],
        ),
        (
            "emulate geo9.yaml --multicast switch",
            ["--multicast is for networks of peers", "geo9.yaml has sites"],
        ),
        (
            "emulate fig1.yaml --knowledge static",
            ["--knowledge is for networks of sites", "fig1.yaml has switches"],
        ),
        (
            "emulate mesh4.yaml --timeline t.svg",
            ["--timeline is for networks of switches", "mesh4.yaml has peers"],
        ),
        (
            "emulate ps16.yaml --sync r2sp --schemes optimized",
            ["--schemes", "ps16.yaml trains at a parameter server"],
        ),
        ("emulate geo9.yaml -- ls", ["-- ls: programs are for networks of switches", "geo9.yaml has sites"]),
        // Named twice.
        ("emulate ps16.yaml --sync bsp,bsp", ["--sync", "bsp is named twice"]),
        ("emulate two-levels.yaml --schemes optimized,gloo", ["--schemes gloo", "no workers are inside"]),
        ("emulate two-levels.yaml --schemes optimized,optimized", ["--schemes", "optimized is named twice"]),
    ] {
        bench.refused(&words(line), &named);
    }
    let tip = bench.inart(&words("emulate fig1.yaml --round 3"));
    is_refusal(&tip, &["emulate"], &["'--round'", "'--rounds'"]);
    assert!(!String::from_utf8_lossy(&tip.stderr).contains("as a value"), "{tip:?}");
}

/// A pipe without a reader held the command before its run, in silence.
#[test]
fn a_chart_is_a_file() {
    let bench = bench();
    let pipe = bench.path("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for line in
        ["emulate fig1.yaml", "emulate geo9.yaml", "emulate mesh4.yaml", "emulate ps16.yaml --sync bsp"]
    {
        bench.refused(&[&words(line)[..], &["--chart", "pipe"]].concat(), &["--chart pipe", "name a file"]);
        bench.refused(&[&words(line)[..], &["--chart", "."]].concat(), &["--chart .", "name a file"]);
    }
    let lost =
        bench.inart(&["simulate", "fig1.yaml", "--rounds", "1", "--gradient", "4KB", "--log", "/dev/full"]);
    let said = String::from_utf8_lossy(&lost.stderr);
    assert!(said.starts_with("error: --log") && said.contains("No space left"), "{said}");
    assert_eq!(lost.status.code(), Some(2));
}

/// A run that was too short for its faults looked like one that survived them.
#[test]
fn events_after_the_end_of_a_run_are_named() {
    let bench = bench();
    bench.write("late.yaml", "events:\n  - {at: 1 h, pause: w1, duration: 1 ms}\n");
    bench.write("late-sites.yaml", "events:\n  - {at: 100 h, crash: n5, duration: 10 s}\n");
    for (line, named) in [
        (
            "simulate fig1.yaml --rounds 1 --gradient 4KB --faults late.yaml",
            "--faults: 1 event occurs after the end",
        ),
        ("simulate geo9.yaml --rounds 1 --faults late-sites.yaml", "--faults: 1 event occurs after the end"),
        (
            "simulate ps16.yaml --sync bsp --iterations 2 --absent w1=1h..2h",
            "--absent: 1 event occurs after the end",
        ),
        ("simulate ps16.yaml --sync bsp --iterations 2 --absent w1=1s..2s", ""),
    ] {
        let output = bench.inart(&words(line));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !output.stdout.is_empty(), "{line}: {output:?}");
        assert!(errors.contains(named) && errors.is_empty() == named.is_empty(), "{line}: {errors}");
    }
}
