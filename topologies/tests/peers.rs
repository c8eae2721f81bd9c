//! Documents of networks of peers.
#![allow(clippy::unwrap_used)]

use inart_topologies::peers::Mesh;
use proptest::prelude::*;

const MESH16: &str = include_str!("../mesh16.yaml");

#[test]
fn the_sixteen_peers_have_unequal_ports() {
    let mesh = Mesh::from_yaml(MESH16).unwrap();
    assert_eq!((mesh.peers().len(), mesh.switches().len(), mesh.trunks().len()), (16, 1, 0));
    let job = &mesh.jobs()[0];
    let ports = mesh.ports_at(job, 0.0);
    let differs = |rates: &[f64]| rates.iter().any(|bps| *bps != rates[0]);
    assert!(differs(&ports.up_bps) && differs(&ports.down_bps));
    assert!(job.receivers < 16 && !job.computes.is_empty());
}

#[test]
fn other_networks_are_not_networks_of_peers() {
    for text in [
        "",
        "{",
        "name: x",
        include_str!("../fig1.yaml"),
        include_str!("../geo9.yaml"),
        "nodes: [{name: peer, kind: site}]",
        "nodes: [{name: a, kind: site}, {name: b, kind: peer}]",
    ] {
        assert!(Mesh::from_yaml(text).is_err(), "{text}");
    }
}

#[test]
fn names_have_up_to_63_bytes() {
    let (longest, longer) = ("x".repeat(63), "x".repeat(64));
    for part in ["name: t", "name: a", "name: j"] {
        let (most, more) = (format!("name: {longest}"), format!("name: {longer}"));
        let said = Mesh::from_yaml(&with(part, &more)).unwrap_err().to_string();
        assert!(said.contains("the name \"xxxxxxxxxxxxxxxx...\" has 64 bytes"), "{said}");
        let said = Mesh::from_yaml(&with(part, &most)).err().map(|error| error.to_string());
        // Links name node a.
        assert!(said.as_ref().is_none_or(|said| said.contains("\"a\"")), "{part}: {said:?}");
    }
}

/// Returns a network of four peers at two switches, with one part replaced.
fn with(part: &str, by: &str) -> String {
    let text = "name: t
nodes: [{name: a, kind: peer}, {name: b, kind: peer}, {name: c, kind: peer}, \
    {name: d, kind: peer}, {name: s, kind: switch}, {name: u, kind: switch}]
links:
  - {ends: [a, s], rate: [10 Gbps, 8 Gbps], delay: 5 us, loss: 0.02%}
  - {ends: [s, b], rate: 5 Gbps}
  - {ends: [c, u], rate: 5 Gbps}
  - {ends: [d, u], rate: 5 Gbps}
  - {ends: [s, u], rate: 20 Gbps}
traces:
  - {link: [s, a], every: 180 s, rates: [8 Gbps, 4 Gbps]}
jobs:
  - {name: j, peers: [a, b, c, d], receivers: 2, update: {default: 40 MB, overrides: {a: 60 MB}}, \
    required_pairs: [[a, b]], rounds_since_contact: [[a, c, 3]], compute: {default: {mean: 1 s, \
    cv: 0.5}, overrides: {a: {mean: 2 s}}}}
";
    assert!(text.contains(part), "{part}");
    text.replacen(part, by, 1)
}

#[test]
fn a_network_is_read_as_written() {
    let mesh = Mesh::from_yaml(&with("name: t", "name: t")).unwrap();
    let job = &mesh.jobs()[0];
    let ports = mesh.ports_at(job, 0.0);
    assert_eq!((ports.up_bps[0], ports.down_bps[0], ports.up_bps[1]), (10e9, 8e9, 5e9));
    assert_eq!(mesh.ports_at(job, 180.0).down_bps[0], 4e9);
    assert_eq!((mesh.next_change(job, 0.0), mesh.next_change(job, 180.0)), (Some(180.0), None));
    assert_eq!(job.update_bytes, [60e6, 40e6, 40e6, 40e6]);
    assert_eq!((&*job.required, &*job.waited), (&[(0, 1)][..], &[(0, 2, 3)][..]));
    assert_eq!(
        (job.computes[0].mean_seconds, job.computes[0].cv, job.computes[1].mean_seconds),
        (2.0, 0.5, 1.0)
    );
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list")]
fn what_is_wrong_is_named_with_its_place_and_fix() {
    for (part, by, named) in [
        ("name: t", "name: ''", &["document", "empty or holds blanks"][..]),
        ("name: t\n", "", &["document"]),
        (
            "{name: d, kind: peer}",
            "{name: a, kind: peer}",
            &["line 2", "node a", "taken already", "its own name"],
        ),
        ("{name: d, kind: peer}", "{name: d, kind: worker}", &["node d", "a worker in a network of peers"]),
        ("{name: d, kind: peer}", "{name: d, kind: town}", &["node d", "\"town\"", "kind: peer"]),
        ("{name: d, kind: peer}", "{name: d, kind: peer, site: a}", &["node d", "leave `site` out"]),
        (
            "{name: d, kind: peer}",
            "{name: d, kind: peer}, {name: e, kind: peer}",
            &["line 2", "peer e", "it has no link", "[e, s1]"],
        ),
        ("[a, s], rate", "[a, a], rate", &["line 4", "link a-a", "both ends are peers"]),
        ("[a, s], rate", "[s, s], rate", &["link s-s", "the same switch"]),
        ("[a, s], rate", "[A, s], rate", &["link A-s", "unknown node \"A\"", "did you mean \"a\""]),
        ("[a, s], rate", "[b, s], rate", &["line 5", "link s-b", "peer b is linked already", "one port"]),
        ("[a, s], rate", "[a], rate", &["line 4", "two nodes"]),
        ("[10 Gbps, 8 Gbps]", "[10 Gbps, 0]", &["link a-s", "a rate is 0", "above 0"]),
        ("[10 Gbps, 8 Gbps]", "0", &["link a-s", "a rate is 0"]),
        ("[10 Gbps, 8 Gbps]", "-5 Mbps", &["link a-s", "a rate is -5000000"]),
        ("[10 Gbps, 8 Gbps]", ".nan", &["link a-s", "a rate is NaN"]),
        ("[10 Gbps, 8 Gbps]", "1e19 bps", &["link a-s", "go up to 1e18"]),
        ("[10 Gbps, 8 Gbps]", "[1 bps, 2 bps, 3 bps]", &["line 4", "neither one rate nor a list of two"]),
        ("delay: 5 us", "delay: -1 s", &["link a-s", "delay is -1", "at most an hour"]),
        ("loss: 0.02%", "loss: 100%", &["link a-s", "loss is not a part", "0.02%"]),
        (
            "[s, u], rate: 20 Gbps",
            "[s, u], rate: 1 Gbps",
            &["line 8", "link s-u", "slower than the peers", "10 Gbps"],
        ),
        ("  - {ends: [s, u], rate: 20 Gbps}\n", "", &["peer c", "no way to peer a", "link switch u"]),
        (
            "  - {ends: [s, u], rate: 20 Gbps}\n",
            "  - {ends: [s, u], rate: 20 Gbps}\n  - {ends: [u, s], rate: 20 Gbps}\n",
            &["line 9", "link u-s", "a circle"],
        ),
        ("link: [s, a]", "link: [a, u]", &["line 10", "trace of a to u", "no such link"]),
        ("link: [s, a]", "link: [s, u]", &["trace of s to u", "both ends are switches"]),
        ("every: 180 s", "every: 0 s", &["trace of s to a", "every is 0"]),
        ("rates: [8 Gbps, 4 Gbps]", "rates: []", &["trace of s to a", "no rates"]),
        ("rates: [8 Gbps, 4 Gbps]", "rates: [8 Gbps, 0]", &["trace of s to a", "a rate is 0"]),
        (
            "jobs:",
            "  - {link: [s, a], every: 1 s, rates: [1 Mbps]}\njobs:",
            &["trace of s to a", "has a trace already"],
        ),
        ("peers: [a, b, c, d]", "peers: [a, b, c, b]", &["line 12", "job j", "\"b\" is listed twice"]),
        ("peers: [a, b, c, d]", "peers: [a]", &["job j", "it has 1 peer", "at least two"]),
        ("peers: [a, b, c, d]", "peers: [a, b, c, s]", &["job j", "unknown peer \"s\""]),
        (
            "peers: [a, b, c, d]",
            "peers: [a, b, d]",
            &["job j", "rounds_since_contact names c, which is not a peer of the job"],
        ),
        (
            "receivers: 2",
            "receivers: 4",
            &["line 12", "job j", "receivers is 4, and it has 4 peers", "from 1 to 3"],
        ),
        ("receivers: 2", "receivers: 0", &["job j", "receivers is 0", "from 1 to 3"]),
        ("receivers: 2", "receivers: -1", &["job j", "receivers is -1"]),
        ("receivers: 2, ", "", &["job j", "least number of receivers", "from 1 to 3"]),
        (
            "update: {default: 40 MB, overrides: {a: 60 MB}}",
            "update: 40",
            &["line 12", "update: ", "no unit"],
        ),
        ("default: 40 MB", "default: 40", &["line 12", "default: ", "no unit"]),
        ("default: 40 MB", "default: 0.5 B", &["job j", "the update of b is 0.5 bytes", "at least a byte"]),
        ("default: 40 MB", "default: 0", &["job j", "the update of b is 0 bytes", "200 MB"]),
        ("default: 40 MB, ", "", &["job j", "size of the update of b"]),
        ("overrides: {a: 60 MB}", "overrides: {e: 60 MB}", &["job j", "unknown peer \"e\""]),
        ("[[a, b]]", "[[a, a]]", &["job j", "required_pairs has a send to itself"]),
        ("[[a, b]]", "[[a, b], [a, b]]", &["job j", "required_pairs lists [a, b] twice"]),
        ("[[a, b]]", "[[a, e]]", &["job j", "unknown peer \"e\""]),
        ("[[a, b]]", "[[a, b, c]]", &["line 12"]),
        (
            "[[a, c, 3]]",
            "[[a, c, -3]]",
            &["job j", "rounds_since_contact has -3 rounds of [a, c]", "0 or more"],
        ),
        ("[[a, c, 3]]", "[[a, c]]", &["line 12"]),
        ("mean: 1 s, cv: 0.5", "mean: 0 s, cv: 0.5", &["job j", "b computes for 0 s"]),
        ("mean: 1 s, cv: 0.5", "cv: 0.5", &["job j", "compute time of b"]),
        ("mean: 1 s, cv: 0.5", "mean: 1 s, cv: -1", &["job j", "cv -1"]),
        ("receivers: 2", "receivers: 2, workers: [a]", &["job j", "this is a network of peers"]),
        ("receivers: 2", "receivers: 2, gradient: 4 MB", &["job j", "this is a network of peers"]),
        ("receivers: 2", "receivers: 2, speed: 4", &["line 12", "speed"]),
        (
            "jobs:\n  - {name: j, peers: [a, b, c, d], receivers: 2, update: {default: 40 MB, overrides: {a: 60 MB}}, required_pairs: [[a, b]], rounds_since_contact: [[a, c, 3]], compute: {default: {mean: 1 s, cv: 0.5}, overrides: {a: {mean: 2 s}}}}\n",
            "jobs: []\n",
            &["it has no job", "add one"],
        ),
    ] {
        let error = Mesh::from_yaml(&with(part, by)).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        for word in named {
            assert!(error.contains(word), "{by}: should name {word:?}: {error}");
        }
    }
}

prop_compose! {
    /// Returns a network with any numbers that a document can have.
    fn networks()(
        n in 2usize..7,
        up in prop::collection::vec(1e-3..1e12f64, 7),
        down in prop::collection::vec(1e-3..1e12f64, 7),
        updates in prop::collection::vec(1e-3..1e12f64, 7),
        pairs in prop::collection::btree_set((0usize..7, 0usize..7), 0..6),
        rounds in 0u32..9,
        is_equal: bool,
    ) -> String {
        let is_pair = |&(from, to): &(usize, usize)| from != to && from < n && to < n;
        let pairs: Vec<_> = pairs.into_iter().filter(is_pair).collect();
        let list = |one: &dyn Fn(usize) -> String| (0..n).map(one).collect::<Vec<_>>().join(", ");
        let listed = |one: &dyn Fn(usize, usize) -> String| {
            pairs.iter().map(|&(from, to)| one(from, to)).collect::<Vec<_>>().join(", ")
        };
        let gbps = |rates: &[f64], at: usize| format!("{:?} Gbps", rates[at] / 1e9);
        let update = |at: usize| if is_equal { 0.5 } else { updates[at] / 1e9 };
        let nodes = list(&|at| format!("{{name: p{at}, kind: peer}}"));
        let links =
            list(&|at| format!("{{ends: [p{at}, s1], rate: [{}, {}]}}", gbps(&up, at), gbps(&down, at)));
        let updates = list(&|at| format!("p{at}: {:?} GB", update(at) * 0.125));
        let required = listed(&|from, to| format!("[p{from}, p{to}]"));
        let waited = listed(&|from, to| format!("[p{from}, p{to}, {rounds}]"));
        format!(
            "name: t\nnodes: [{{name: s1, kind: switch}}, {nodes}]\nlinks: [{links}]\njobs:\n  - name: j\n    receivers: {}\n    \
             update: {{overrides: {{{updates}}}}}\n    required_pairs: [{required}]\n    rounds_since_contact: [{waited}]\n    compute: {{mean: 1 s, cv: 0.3}}\n",
            n - 1
        )
    }
}

proptest! {
    #[test]
    fn a_network_writes_itself_and_reads_back_the_same(text in networks()) {
        let first = Mesh::from_yaml(&text).unwrap();
        let second = Mesh::from_yaml(&first.to_yaml()).unwrap();
        prop_assert_eq!(first.name(), second.name());
        prop_assert_eq!(first.peers(), second.peers());
        prop_assert_eq!(first.trunks(), second.trunks());
        prop_assert_eq!(first.jobs(), second.jobs());
    }
}
