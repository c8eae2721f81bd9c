//! Old keys: refused with the new one in the message, and translated in what a former version wrote.
#![allow(clippy::unwrap_used)]

use inart_topologies::faults::Faults;
use inart_topologies::former::with_present_keys;
use inart_topologies::ps::Cluster;
use inart_topologies::{Kind, Network};

const SWITCHED: &str = "name: t
nodes:
  - {name: v, kind: switch, aggregation_capacity: 6 Gbps}
  - {name: s, kind: server, ingress_capacity: 4 Gbps}
  - {name: w, kind: worker}
  - {name: x, kind: worker}
links: [{ends: [w, v], rate: 1 Gbps}, {ends: [x, v], rate: 1 Gbps}, {ends: [v, s], rate: 1 Gbps}]
jobs:
  - {name: j, gradient: 4 MB, clients: [w, x], upload_delay: {mean: 1 s},
     compute: {default: {mean: 1 s}, overrides: {w: {samples_per_second: 9}}},
     batch: {default: 2, overrides: {w: 3}}}
";

const FORMER_SWITCHED: &str = "name: t
nodes:
  - {name: v, kind: switch, aggregation: 6 Gbps}
  - {name: s, kind: server, ingress: 4 Gbps}
  - {name: w, kind: worker}
  - {name: x, kind: worker}
links: [{ends: [w, v], rate: 1 Gbps}, {ends: [x, v], rate: 1 Gbps}, {ends: [v, s], rate: 1 Gbps}]
jobs:
  - {name: j, gradient: 4 MB, clients: [w, x], pause: {mean: 1 s},
     compute: {mean: 1 s}, computes: {w: {speed: 9}}, batch: 2, batches: {w: 3}}
";

const PEERS: &str = "name: t
nodes: [{name: v, kind: switch}, {name: pause, kind: peer}, {name: b, kind: peer}]
links: [{ends: [pause, v], rate: 1 Gbps}, {ends: [b, v], rate: 1 Gbps}]
jobs:
  - {name: j, receivers: 1, required_pairs: [[pause, b]], rounds_since_contact: [[b, pause, 3]],
     update: {overrides: {pause: 4 MB, b: 5 MB}}}
";

const FORMER_PEERS: &str = "name: t
nodes: [{name: v, kind: switch}, {name: pause, kind: peer}, {name: b, kind: peer}]
links: [{ends: [pause, v], rate: 1 Gbps}, {ends: [b, v], rate: 1 Gbps}]
jobs:
  - {name: j, receivers: 1, required: [[pause, b]], waited: [[b, pause, 3]], updates: {pause: 4 MB, b: 5 MB}}
";

#[test]
fn an_old_key_is_refused_with_the_new_one() {
    for (text, new, old, words) in [
        (SWITCHED, "aggregation_capacity: 6", "aggregation: 6", ["line 3", "`aggregation_capacity`"]),
        (SWITCHED, "ingress_capacity: 4", "ingress: 4", ["line 4", "`ingress_capacity`"]),
        (SWITCHED, "upload_delay: {", "pause: {", ["line 9", "`upload_delay`"]),
        (SWITCHED, "samples_per_second: 9", "speed: 9", ["line 10", "`samples_per_second`"]),
        (
            SWITCHED,
            "compute: {default: {mean: 1 s}, overrides: {w: {samples_per_second: 9}}}",
            "computes: {w: {mean: 1 s}}",
            ["line 10", "`compute: {default: "],
        ),
        (
            SWITCHED,
            "batch: {default: 2, overrides: {w: 3}}",
            "batches: {w: 3}",
            ["line 11", "`batch: {default: "],
        ),
        (PEERS, "required_pairs", "required", ["line 5", "`required_pairs`"]),
        (PEERS, "rounds_since_contact", "waited", ["line 5", "`rounds_since_contact`"]),
        (
            PEERS,
            "update: {overrides: {pause: 4 MB, b: 5 MB}}",
            "updates: {b: 5 MB}",
            ["line 6", "`update: {default: "],
        ),
    ] {
        assert!(Network::from_yaml(text).is_ok() && text.contains(new), "{new}");
        let error = Network::from_yaml(&text.replacen(new, old, 1)).unwrap_err().to_string();
        let is_now = format!("`{}` is now `", old.split(':').next().unwrap());
        assert!(words.iter().all(|word| error.contains(word)) && error.contains(&is_now), "{old}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    // A place that has no such key under any name.
    let link = SWITCHED.replacen("rate: 1 Gbps", "speed: 1 Gbps", 1);
    assert!(!Network::from_yaml(&link).unwrap_err().to_string().contains("is now"));
}

#[test]
fn an_old_key_of_a_fault_schedule_is_refused_with_the_new_one() {
    for (text, named) in [
        ("events:\n  - {at: 1 s, crash: s, for: 2 s}\n", "line 2: `for` is now `duration`; write it like"),
        ("events:\n  - {at: 1 s, bounce: w, duration: 2 s}\n", "line 2: `bounce` is now `interface_down`; "),
        ("background:\n  - {from: w, to: s, rate: 1 Gbps, for: 2 s}\n", "line 2: `for` is now `duration`; "),
    ] {
        let error = Faults::from_yaml(text).unwrap_err().to_string();
        assert!(error.starts_with(named) && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn documents_of_a_former_version_are_translated() {
    for (former, present, kind) in
        [(FORMER_SWITCHED, SWITCHED, Kind::Switched), (FORMER_PEERS, PEERS, Kind::Peers)]
    {
        assert!(Network::from_yaml(former).is_err());
        let translated = Network::from_yaml(&with_present_keys(former)).unwrap();
        let wanted = Network::from_yaml(present).unwrap();
        assert_eq!((translated.to_yaml(), translated.kind()), (wanted.to_yaml(), kind));
        assert_eq!(with_present_keys(present), present, "nothing to translate");
    }
    assert_eq!(with_present_keys("name: [t"), "name: [t");
}

#[test]
fn values_per_host_are_written_as_they_are_read() {
    let job = &Cluster::from_yaml(SWITCHED).unwrap().jobs[0];
    let batches: Vec<_> = job.participants.iter().map(|one| one.batch).collect();
    assert_eq!(batches, [3, 2]);
    let written = Network::from_yaml(SWITCHED).unwrap().to_yaml();
    for part in [
        "compute: {default: {mean: 1 s}, overrides: {w: {samples_per_second: 9.0}}}",
        "batch: {default: 2, overrides: {w: 3}}",
    ] {
        assert!(written.contains(part), "{written}");
    }
    let one = SWITCHED.replace("{default: 2, overrides: {w: 3}}", "{default: 2}");
    let written = Network::from_yaml(&one).unwrap().to_yaml();
    assert!(written.contains("batch: 2, upload_delay"), "one value is written plainly: {written}");
}
