//! Networks of other tools: one sample of each format, read as a person would expect; odd, wrong and hostile
//! texts.

#![allow(clippy::unwrap_used)]

use inart_topologies::switched::import::{Format, Hosts, ImportOptions, Imported, import};
use inart_topologies::switched::{NodeKind, Topology};
use proptest::prelude::*;

const SAMPLES: [(&str, Format, &str); 5] = [
    ("zoo.graphml", Format::Graphml, include_str!("data/zoo.graphml")),
    ("leafspine.dot", Format::Dot, include_str!("data/leafspine.dot")),
    ("ring.json", Format::Networkx, include_str!("data/ring.json")),
    ("lab.clab.yml", Format::Containerlab, include_str!("data/lab.clab.yml")),
    ("mininet.txt", Format::Mininet, include_str!("data/mininet.txt")),
];

fn options() -> ImportOptions {
    ImportOptions {
        name: "net".into(),
        servers: None,
        workers: None,
        hosts_per_switch: None,
        rate_bps: 10e9,
        unit_bps: 1e6,
        aggregation_bps: 5e9,
        ingress_bps: None,
        delay_seconds: 0.0,
        mtu: 1500,
        gradient_bytes: 100_000_000,
        seed: 1,
    }
}

fn read(text: &str, format: Format) -> Imported {
    import(text, format, &options()).unwrap()
}

fn refused(text: &str, format: Format, options: &ImportOptions, named: &[&str]) {
    let error = import(text, format, options).expect_err(text).to_string();
    assert!(!error.contains('\n'), "one line: {error}");
    for name in named {
        assert!(error.contains(name), "\"{error}\" lacks \"{name}\"");
    }
}

#[test]
fn samples_are_read_as_expected() {
    for (file, format, text) in SAMPLES {
        assert_eq!(Format::guess(file, text), Some(format));
        assert_eq!(Format::guess("unnamed", text), Some(format), "{file} by its text");
        let Imported { topology, notes } = read(text, format);
        let notes: String = notes.iter().map(|note| format!("# {note}\n")).collect();
        insta::assert_snapshot!(file, notes + &topology.to_yaml());
    }
}

#[test]
fn mtus_are_read_and_the_smallest_of_parallel_links_counts() {
    let lab = |links: &str| {
        let text = format!(
            "name: lab\ntopology:\n  nodes: {{v: {{kind: srl}}, a: {{kind: linux}}, b: {{kind: linux}}}}\n  links:\n{links}"
        );
        read(&text, Format::Containerlab)
    };
    let Imported { topology, notes } = lab("
    - {endpoints: [\"a:e1\", \"v:e1\"], mtu: 9500}
    - {endpoints: [\"b:e1\", \"v:e2\"], mtu: 9000}
    - {endpoints: [\"b:e2\", \"v:e3\"], vars: {mtu: 4200}}
");
    assert_eq!(topology.links().iter().map(|link| link.mtu).collect::<Vec<_>>(), [9216, 4200], "{notes:?}");
    let Imported { topology, notes } = lab("
    - {endpoints: [\"a:e1\", \"v:e1\"], mtu: large}
    - {endpoints: [\"b:e1\", \"v:e2\"]}
");
    assert_eq!(topology.links().iter().map(|link| link.mtu).collect::<Vec<_>>(), [1500, 1500]);
    assert!(notes.iter().any(|note| note.contains("\"large\" is not an MTU; 1500 is used")), "{notes:?}");
}

#[test]
fn options_assign_roles_to_hosts() {
    let (_, format, text) = SAMPLES[4];
    let names = |imported: &Imported, kind| -> Vec<String> {
        let nodes = imported.topology.nodes().iter();
        nodes.filter(|node| node.kind == kind).map(|node| node.name.clone()).collect()
    };
    let named = |names: &str| Some(names.parse::<Hosts>().unwrap());
    let chosen = ImportOptions { servers: named("h2"), workers: named("h1,h4"), ..options() };
    let imported = import(text, format, &chosen).unwrap();
    assert_eq!(names(&imported, NodeKind::Server), ["h2"]);
    assert_eq!(names(&imported, NodeKind::Worker), ["h1", "h4"]);
    assert!(imported.notes.iter().any(|note| note.starts_with("1 host left out")), "{:?}", imported.notes);
    // A switch that is named becomes a host; hosts attached on top of the file's own.
    let chosen = ImportOptions { servers: named("s2"), workers: named("h1,h2"), ..options() };
    assert_eq!(names(&import(text, format, &chosen).unwrap(), NodeKind::Switch), ["s1"]);
    let chosen = ImportOptions { hosts_per_switch: Some(3), servers: Some(Hosts::Count(2)), ..options() };
    let imported = import(text, format, &chosen).unwrap();
    assert_eq!(imported.topology.jobs()[0].workers.len() + imported.topology.jobs()[0].servers.len(), 10);
    // The same seed draws the same hosts.
    let again = import(text, format, &chosen).unwrap();
    assert_eq!(again.topology.to_yaml(), imported.topology.to_yaml());

    for (servers, workers, expected) in [
        (named("h9"), None, &["servers", "\"h9\"", "h1, h2"][..]),
        (named("h1"), named("h1"), &["\"h1\"", "name it once"]),
        (named("9"), None, &["servers", "9 servers", "more hosts to each switch"]),
        (named("1"), named("7"), &["workers", "7 workers", "only 3 hosts"]),
        (named("0"), None, &["no host is left to be a server", "name servers"]),
        (named("4"), None, &["no host is left to be a worker", "name workers"]),
    ] {
        refused(text, format, &ImportOptions { servers, workers, ..options() }, expected);
    }
    let many = ImportOptions { hosts_per_switch: Some(usize::MAX), ..options() };
    refused(text, format, &many, &["hosts per switch", "ask for fewer"]);
}

#[test]
fn wrong_texts_name_place_and_fix() {
    let dot = |body: &str| format!("graph {{\n a [role=worker]; b [role=server];\n {body}\n}}");
    let cases: &[(Format, String, &[&str])] = &[
        (Format::Dot, dot("a -- v [bw=-5]"), &["link a-v", "bw is -5", "positive rate"]),
        (Format::Dot, dot("a -- v [bw=nan]"), &["link a-v", "bw is nan"]),
        (
            Format::Dot,
            dot("v [aggregation_capacity=-1]; a -- v -- b"),
            &["node v", "aggregation_capacity is -1"],
        ),
        (
            Format::Dot,
            dot("v [aggregation=1]; a -- v -- b"),
            &["node v", "`aggregation` is now `aggregation_capacity`"],
        ),
        (Format::Dot, dot("a -- "), &["line 4", "a node is expected", "'}'"]),
        (Format::Dot, dot("a -- \"v"), &["line 3", "quoted text does not end"]),
        (Format::Dot, dot("a @ v"), &["line 3", "'@'"]),
        (Format::Dot, dot("a -- v"), &["no host is left to be a server"]),
        (Format::Dot, dot("a -- b"), &["no switch", "inart-role"]),
        (Format::Dot, "tree { a }".into(), &["line 1", "`graph` or `digraph`"]),
        (Format::Dot, "graph {".repeat(3), &["line 1"]),
        (Format::Dot, "graph {".to_owned() + &"{".repeat(100_000), &["nested", "64"]),
        (Format::Graphml, "<graphml><graph>".into(), &["line 1", "graphml"]),
        (Format::Graphml, "<a\n b='c'/\n>".into(), &["line 2", "graphml"]),
        (Format::Graphml, "<a/>".into(), &["no <graph>", "name its format"]),
        (Format::Graphml, "<graph><node id='a'/><node id='a'/></graph>".into(), &["node \"a\"", "twice"]),
        (Format::Graphml, "<graph><node/></graph>".into(), &["<node> has no id"]),
        (Format::Graphml, "<graph><edge source='a' target='b'/></graph>".into(), &["unknown node \"a\""]),
        (Format::Graphml, "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>".into(), &["graphml", "DTD"]),
        (Format::Graphml, "<a>".repeat(200_000), &["graphml"]),
        (Format::Networkx, "{\"nodes\": []}".into(), &["`links`", "node_link_data"]),
        (Format::Networkx, "{\"nodes\": [1], \"links\": []}".into(), &["nodes[0] is not an object"]),
        (Format::Networkx, "{\"nodes\": [{}], \"edges\": []}".into(), &["nodes[0] has no id"]),
        (Format::Networkx, "{\"nodes\": [],\n \"links\": [Nan]}".into(), &["line 2"]),
        (Format::Gml, "graph [ node [ label \"a\" ] ]".into(), &["gml", "no id"]),
        (Format::Gml, "graph [ node [ id 1 ] node [ id 1 ] ]".into(), &["node \"1\"", "twice"]),
        (Format::Gml, "graph [\n edge [ source 1 target 2 ] ]".into(), &["unknown node \"1\""]),
        (Format::Gml, "graph [\n node [ id \"1 ]".into(), &["line 2", "does not end"]),
        (Format::Gml, "graph [\n node [ id 1".into(), &["line 2", "`]`"]),
        (Format::Gml, "a 1\n]".into(), &["line 2", "a key is expected"]),
        (Format::Gml, "a [".repeat(100_000), &["nested", "64"]),
        (Format::Networkx, "[".repeat(100_000), &["line 1", "recursion"]),
        (Format::Containerlab, "name: x".into(), &["topology"]),
        (
            Format::Containerlab,
            "topology: {nodes: {a: }, links: [{endpoints: [\"a:1\"]}]}".into(),
            &["1 endpoint"],
        ),
        (
            Format::Containerlab,
            "topology: {nodes: {a: }, links: [{endpoints: [\"a:1\", \"b:1\"]}]}".into(),
            &["unknown node \"b\""],
        ),
        (Format::Containerlab, "[".repeat(100_000), &["containerlab"]),
        (Format::Mininet, "hello\n".into(), &["no link", "`net`"]),
    ];
    for (format, text, named) in cases {
        refused(text, *format, &options(), named);
    }
    for format in ["graphml", "gml", "dot", "networkx", "containerlab", "mininet"] {
        let format: Format = format.parse().unwrap();
        assert!(import("", format, &options()).is_err(), "{format}");
    }
    assert!("gexf".parse::<Format>().unwrap_err().contains("containerlab"));
    assert_eq!(Format::guess("notes.txt", "hello"), None);
}

/// A triangle of switches with two hosts, and a node of another network, in every format that marks those.
#[test]
fn nodes_outside_the_network_are_left_out_however_they_are_marked() {
    let graphml = |no: &str| {
        format!(
            "<?xml version=\"1.0\"?>\n<!DOCTYPE graphml SYSTEM \"http://graphml.graphdrawing.org/dtds/graphml.dtd\">\n\
             <graphml><key id='i' for='node' attr.name='Internal' attr.type='boolean'/>\
             <graph edgedefault='undirected'>\
             <node id='a'><data key='i'>true</data></node><node id='b'><data key='i'>1</data></node>\
             <node id='x'><data key='i'>{no}</data></node>\
             <edge source='a' target='b'/><edge source='b' target='x'/>\
             </graph></graphml>"
        )
    };
    let json = |no: &str| {
        format!(
            "{{\"nodes\": [{{\"id\": \"a\", \"Internal\": true}}, {{\"id\": \"b\"}}, {{\"id\": \"x\", \"Internal\": {no}}}],
              \"links\": [{{\"source\": \"a\", \"target\": \"b\"}}, {{\"source\": \"b\", \"target\": \"x\"}}]}}"
        )
    };
    let gml = |no: &str| {
        format!(
            "# by hand\ngraph [\n  node [ id 0 label \"a\" Internal 1 ]\n  node [ id 1 label \"b\" graphics [ x 1.5 ] ]\n  \
             node [ id 2 label \"x\" Internal {no} ]\n  edge [ source 0 target 1 ]\n  edge [ source 1 target 2 ]\n]\n"
        )
    };
    let texts = [
        ("zoo.graphml", Format::Graphml, graphml("false")),
        ("zoo.graphml", Format::Graphml, graphml("False")),
        ("zoo.graphml", Format::Graphml, graphml("0")),
        ("ring.json", Format::Networkx, json("false")),
        ("ring.json", Format::Networkx, json("0")),
        ("zoo.gml", Format::Gml, gml("0")),
        ("zoo.gml", Format::Gml, gml("\"False\"")),
    ];
    for (file, format, text) in texts {
        assert_eq!(Format::guess(file, &text), Some(format), "{text}");
        assert_eq!(Format::guess("unnamed", &text), Some(format), "{text}");
        let Imported { topology, notes } = read(&text, format);
        let nodes = topology.nodes().iter();
        let switches: Vec<_> =
            nodes.filter(|node| node.kind == NodeKind::Switch).map(|node| node.name.as_str()).collect();
        assert_eq!(switches, ["a", "b"], "{text}");
        let left = notes.iter().filter(|note| note.starts_with("1 node left out: the file marks"));
        assert_eq!(left.count(), 1, "{notes:?}");
    }
}

#[test]
fn bits_and_bytes_of_a_rate_differ() {
    let rate = |bandwidth: &str| {
        let text =
            format!("graph {{ a [role=worker]; b [role=server]; a -- v; b -- v [bw=\"{bandwidth}\"] }}");
        read(&text, Format::Dot).topology.links()[1].rate_bps()
    };
    for (bandwidth, bps) in
        [("125MBps", 1e9), ("10GBps", 80e9), ("10 GB/s", 80e9), ("10Gbps", 10e9), ("10G", 10e9)]
    {
        assert_eq!(rate(bandwidth), bps, "{bandwidth}");
    }
}

#[test]
fn a_delay_without_a_unit_is_noted() {
    let text = "graph { a [role=worker]; b [role=server]; a -- v [delay=5]; b -- v [delay=\"2 ms\"] }";
    let Imported { topology, notes } = read(text, Format::Dot);
    let delays: Vec<_> = topology.links().iter().map(|link| link.delay_seconds).collect();
    assert_eq!(delays, [0.0, 0.002]);
    assert!(notes.iter().any(|note| note.contains("\"5\" is not a delay with a unit")), "{notes:?}");
}

#[test]
fn numbers_as_python_writes_them_are_read() {
    let text = |rate: &str| {
        format!(
            "{{\"nodes\": [{{\"id\": \"a NaN\", \"weight\": NaN, \"x\": -Infinity}}, {{\"id\": \"b\"}}],
              \"links\": [{{\"source\": \"a NaN\", \"target\": \"b\", \"bw\": {rate}}}]}}"
        )
    };
    let Imported { topology, notes } = read(&text("NaN"), Format::Networkx);
    assert_eq!(topology.links()[0].rate_bps(), 10e9);
    assert!(topology.node_named("a_NaN").is_some(), "text stays");
    assert!(notes.iter().any(|note| note.starts_with("2 NaNs read as not stated")), "{notes:?}");
    refused(&text("Infinity"), Format::Networkx, &options(), &["link a_NaN-b", "bw is inf"]);
}

#[test]
fn a_strict_graph_has_one_edge_per_pair() {
    let links = |text: &str| -> (Vec<f64>, Vec<String>) {
        let Imported { topology, notes } = read(text, Format::Dot);
        let switch = |id| topology.node(id).kind == NodeKind::Switch;
        let inner = topology.links().iter().filter(|link| link.ends.iter().all(|&end| switch(end)));
        (inner.map(|link| link.rate_bps()).collect(), notes)
    };
    let edges = "{ a -- b [bw=10]; b -- a; a -- b [color=red]; }";
    assert_eq!(links(&format!("strict graph {edges}")).0, [10e6], "attributes add to the first edge");
    let (twice, notes) = links(&format!("graph {edges}"));
    assert_eq!(twice, [20e9 + 10e6]);
    assert!(notes.iter().any(|note| note.contains("3 links taken as one")), "{notes:?}");
    // Opposite edges may be two cables: their one link has a note.
    let pair =
        |notes: &[String]| notes.iter().any(|note| note.starts_with("1 pair of opposite edges taken as one"));
    let (one, notes) = links("digraph { a -> b [bw=10]; b -> a [bw=10]; }");
    assert!(one == [10e6] && pair(&notes), "{notes:?}");
    let (one, notes) = links("strict digraph { a -> b [bw=10]; b -> a [bw=10]; }");
    assert!(one == [10e6] && !pair(&notes), "{notes:?}");
}

#[test]
fn hosts_that_have_no_way_are_left_out_with_a_note() {
    let text = "graph { a [role=worker]; b [role=server]; c [role=worker]; v -- a; v -- b; c -- a; x -- y }";
    let imported = read(text, Format::Dot);
    assert_eq!(imported.topology.nodes().len(), 3);
    let lost = imported.notes.iter().find(|note| note.contains("not connected")).unwrap();
    assert!(lost.starts_with("3 nodes") && lost.ends_with("c, x, y"), "{lost}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), which in 0usize..5) {
        let _ = import(&String::from_utf8_lossy(&bytes), SAMPLES[which].1, &options());
    }

    /// Checks samples with pieces cut out, duplicated, or replaced by marks of the formats.
    #[test]
    fn damaged_samples_are_read_or_refused_in_one_line(
        which in 0usize..5,
        damage in prop::collection::vec((0usize..4000, 0usize..40, 0usize..12), 1..6),
    ) {
        const MARKS: [&str; 12] =
            ["", "", "<", "/>", "{", "}", "\"", "[", ": ", "\n- ", "--", "\u{e9}0.nan"];
        let (_, format, text) = SAMPLES[which];
        let mut chars: Vec<char> = text.chars().collect();
        for (at, length, mark) in damage {
            let at = at % (chars.len() + 1);
            let end = (at + length).min(chars.len());
            let cut: Vec<char> = chars.splice(at..end, MARKS[mark].chars()).collect();
            if mark == 0 {
                chars.splice(at..at, cut.iter().chain(&cut).copied());
            }
        }
        match import(&chars.into_iter().collect::<String>(), format, &options()) {
            Err(error) => prop_assert!(!error.to_string().contains('\n'), "{error}"),
            Ok(Imported { topology, .. }) => {
                let again = Topology::from_yaml(&topology.to_yaml()).unwrap();
                prop_assert_eq!(again.nodes(), topology.nodes());
                prop_assert_eq!(again.links(), topology.links());
                prop_assert_eq!(again.jobs(), topology.jobs());
            }
        }
    }
}
