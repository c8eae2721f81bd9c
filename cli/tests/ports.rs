//! `inart ports` against `inart switch --bfrt`: listing, bring-up, and the doctor's problems. The
//! program is the v1model one, whose tables are the same.
#![allow(clippy::unwrap_used)]

use crate::bf_rt;
use crate::support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use inart_p4runtime::Schema;
use inart_wire::ValuesPerFrame;
use serde_json::{Value, json};
use support::switches::document;
use support::{Workbench, is_refusal};

const PAIR: &str = "\
name: pair
nodes:
  - {name: v1, kind: switch, aggregation_capacity: 100 Gbps, board: wedge100bf-32x}
  - {name: s1, kind: server}
  - {name: w1, kind: worker}
  - {name: w2, kind: worker}
links:
  - {ends: [w1, v1], rate: 100 Gbps, ports: {v1: 9/0}}
  - {ends: [w2, v1], rate: 25 Gbps, ports: {v1: 10/1}}
  - {ends: [s1, v1], rate: 100 Gbps, ports: {v1: 132}}
jobs:
  - {name: digits, workers: [w1, w2], servers: [s1]}
";

/// A switch without interfaces; killed when dropped.
struct Switch {
    process: Child,
    at: String,
}

impl Drop for Switch {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Switch {
    fn start(bench: &Workbench, more: &[&str]) -> Self {
        let arguments = [&["switch", "--no-p4", "--bfrt", "127.0.0.1:0"], more].concat();
        let mut process = bench.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let at = format!("v1={}", line.trim().strip_prefix("listening on ").unwrap());
        Switch { process, at }
    }

    /// The arguments that reach it.
    fn reach(&self) -> Vec<&str> {
        vec!["--target", "tofino", "--p4", "p4", "--switch", &self.at]
    }
}

/// A folder with a program for 32 values, a topology and a plan.
fn workbench() -> Workbench {
    let bench = Workbench::new();
    let artifact = inart_p4::artifact(ValuesPerFrame::N32);
    let info = bf_rt::bf_rt(&Schema::from_text(&artifact.p4info).unwrap());
    std::fs::create_dir_all(bench.path("p4/tofino/build")).unwrap();
    bench.write(
        "p4/tofino/build/inart-tofino1-n32.bf-rt.json.xz",
        inart_p4::compress(info.as_bytes()).unwrap(),
    );
    bench.write("p4/tofino/build/inart-tofino1-n32.json.xz", inart_p4::compress(&artifact.json).unwrap());
    bench.write("pair.yaml", PAIR);
    let made = bench.inart(&["plan", "pair.yaml", "--json"]);
    bench.write("pair.json", made.stdout);
    bench
}

/// Returns the doctor's problems of the switch's ports.
fn diagnosis(bench: &Workbench, switch: &Switch) -> Vec<String> {
    let arguments =
        [vec!["doctor", "--watch", "100ms", "--json", "--state", "state"], switch.reach()].concat();
    let output = bench.inart(&arguments);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let problems = report["problems"].as_array().unwrap().iter().filter_map(Value::as_str);
    problems.filter(|problem| problem.contains("dev_port")).map(str::to_owned).collect()
}

#[test]
fn ports_are_listed_brought_up_once_and_diagnosed() {
    let bench = workbench();
    let switch = Switch::start(&bench, &["--board", "wedge100bf-32x"]);
    let with = |command: &[&'static str], more: &[&'static str]| {
        let command: Vec<&str> = [command.to_vec(), switch.reach(), more.to_vec()].concat();
        document(&bench, &command)["switches"]["v1"].clone()
    };
    let ports = |more: &[&'static str]| with(&["ports", "pair.yaml"], more);
    let early = [vec!["ports", "pair.yaml", "--state", "state"], switch.reach()].concat();
    is_refusal(&bench.inart(&early), &early, &["switch v1", "apply a plan first"]);
    with(&["apply", "pair.json", "pair.yaml"], &[]);

    let found = ports(&[]);
    assert_eq!(found["changed"], 0);
    assert_eq!(
        found["ports"][0],
        json!({"port": 1, "peer": "w1", "front": "9/0", "dev_port": 56, "pipe": 0, "added": false})
    );
    let problems = diagnosis(&bench, &switch);
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].contains("port 1 (9/0, dev_port 56) to w1 has not been added"), "{problems:?}");

    let found = ports(&["--bring-up"]);
    assert_eq!(found["changed"], 3);
    let of = |field: &str| {
        found["ports"].as_array().unwrap().iter().map(|port| port[field].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("dev_port"), [56, 49, 132]);
    assert_eq!(of("pipe"), [0, 0, 1]);
    assert_eq!(of("front"), ["9/0", "10/1", "1/0"]);
    assert_eq!(of("speed_gbps"), [100, 25, 100]);
    assert_eq!(of("fec"), ["rs", "none", "rs"]);
    assert_eq!((of("enabled"), of("up")), (vec![json!(true); 3], vec![json!(true); 3]));
    assert_eq!(of("received"), vec![json!({"frames": 0, "bytes": 0}); 3]);
    assert_eq!(ports(&["--bring-up"])["changed"], 0, "twice changes nothing");
    assert!(diagnosis(&bench, &switch).is_empty());
    assert_eq!(ports(&["--bring-up", "--fec", "none"])["changed"], 2);
    assert_eq!(ports(&[])["ports"][0]["fec"], "none");

    let text = bench.inart(&[early, vec!["--bring-up"]].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.starts_with("v1: set up 2 ports\n"), "{text}");
    assert_eq!(text.lines().count(), 5, "{text}");
}

#[test]
fn what_cannot_be_brought_up_is_refused_by_name() {
    let bench = workbench();
    // Front ports of no board: 9/0 is another port there.
    let switch = Switch::start(&bench, &[]);
    let push = [vec!["apply", "pair.json", "pair.yaml"], switch.reach()].concat();
    document(&bench, &push);
    let bring_up =
        |topology| [vec!["ports", topology, "--state", "state", "--bring-up"], switch.reach()].concat();
    let arguments = bring_up("pair.yaml");
    is_refusal(&bench.inart(&arguments), &arguments, &["switch v1", "dev_port 56", "is dev_port 32 there"]);
    bench.write("slow.yaml", PAIR.replace("9/0", "56").replace("10/1", "49").replace("25 Gbps", "20 Mbps"));
    let arguments = bring_up("slow.yaml");
    is_refusal(&bench.inart(&arguments), &arguments, &["switch v1", "link to w2", "100 Gbps"]);
    let other = ["ports", "pair.yaml", "--state", "state", "--switch", &switch.at];
    is_refusal(&bench.inart(&other), &other, &["v1model", "--target tofino"]);
    let wrong = ["switch", "--no-p4", "--bfrt", "127.0.0.1:0", "--board", "wedge100bf-65x"];
    is_refusal(&bench.inart(&wrong), &wrong, &["--board", "wedge100bf-32x"]);
}
