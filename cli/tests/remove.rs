//! `inart remove` against two switches on the loopback interface.
#![allow(clippy::unwrap_used)]

use crate::support;

use serde_json::{Value, json};
use support::switches::{document, start};
use support::{Workbench, is_refusal};

#[test]
fn jobs_are_listed_and_removed() {
    let bench = Workbench::new();
    let second = "  - {name: letters, workers: [w1, w2, w5], servers: [s1], gradient: 200 KB}\n";
    bench.write("net.yaml", bench.read("fig1.yaml") + second);
    bench.write("set.json", bench.inart(&["plan", "net.yaml", "--scheme", "atp", "--json"]).stdout);
    let [one, two] = [(); 2].map(|()| start(&bench, "127.0.0.1:0"));
    let switches = [format!("v1={}", one.address), format!("v2={}", two.address)];
    let at = ["--switch", &switches[0], "--switch", &switches[1]];
    let list = || document(&bench, &["remove", "net.yaml"])["jobs"].clone();
    let empty = document(&bench, &[&["remove", "net.yaml"], &at[..]].concat());
    assert_eq!(empty, json!({"jobs": []}));
    document(&bench, &[&["apply", "set.json", "net.yaml"], &at[..]].concat());
    let held = list();
    assert_eq!((&held[0]["name"], &held[1]["name"]), (&json!("digits"), &json!("letters")), "{held}");
    assert!(held[1]["slots"]["v1"].as_u64().unwrap() >= 64, "{held}");

    // One job left the topology; without records, too, it is there.
    let lost = bench.inart(&[&["remove", "fig1.yaml", "--state", "other"], &at[..]].concat());
    let lost = String::from_utf8(lost.stdout).unwrap();
    assert!(lost.contains("    2  ?       has not"), "{lost}");
    let unknown = ["remove", "vgg", "net.yaml", "--state", "state"];
    is_refusal(&bench.inart(&unknown), &unknown, &["no switch holds a job vgg", "1 (digits), 2 (letters)"]);

    let updates = |document: &Value| document["updates"].as_u64().unwrap();
    let preview = document(&bench, &["remove", "letters", "net.yaml", "--dry-run"]);
    assert!(preview["switches"]["v1"]["updates"][0].as_str().unwrap().starts_with("- "), "{preview}");
    let done = document(&bench, &["remove", "letters", "net.yaml"]);
    assert_eq!((updates(&done), &done["removed"]), (updates(&preview), &json!([2])));
    assert_eq!(list().as_array().unwrap().len(), 1);
    is_refusal(
        &bench.inart(&["remove", "2", "net.yaml", "--state", "state"]),
        &[],
        &["no switch holds a job 2"],
    );
    let left = document(&bench, &["diff", "set.json", "net.yaml"]);
    assert!(updates(&left) > 0);

    // Hosts that asked a controller have left a note of it.
    let file = "state/fig1.json";
    let mut records: Value = serde_json::from_str(&bench.read(file)).unwrap();
    records["jobs"]["1"]["claimed"] = json!(["server-0", "worker-0", "worker-1", "worker-2"]);
    bench.write(file, records.to_string());
    let arguments = ["remove", "digits", "net.yaml", "--state", "state"];
    let named = ["job 1 (digits): server-0, worker-0, worker-1, … ran under plan version 1", "--force"];
    is_refusal(&bench.inart(&arguments), &arguments, &named);
    document(&bench, &["remove", "digits", "net.yaml", "--force"]);
    assert_eq!(list(), json!([]));
    let none = bench.inart(&["remove", "net.yaml", "--state", "state"]);
    assert_eq!(String::from_utf8(none.stdout).unwrap(), "the switches hold no job\n");
}
