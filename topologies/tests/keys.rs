//! The keys of documents: the page that lists them, and the keys that each kind of network rejects.

use inart_topologies::document::{Document, KEYS};
use inart_topologies::{Kind, Network};

/// Returns a document of each kind, whose last line is a job.
fn example(kind: Kind) -> &'static str {
    match kind {
        Kind::Switched => {
            "name: t
nodes: [{name: v, kind: switch}, {name: s, kind: server}, {name: w, kind: worker}]
links:
  - {ends: [w, v], rate: 1 Gbps}
  - {ends: [v, s], rate: 1 Gbps}
jobs:
  - {name: j, gradient: 4 MB}
"
        }
        Kind::Sites => {
            "name: t
nodes: [{name: v, kind: site}, {name: s, kind: site}, {name: w, kind: site}]
links:
  - {ends: [w, v], rate: 1 Gbps}
  - {ends: [v, s], rate: 1 Gbps}
jobs:
  - {name: j, gradient: 4 MB}
"
        }
        Kind::Peers => {
            "name: t
nodes: [{name: v, kind: switch}, {name: s, kind: peer}, {name: w, kind: peer}]
links:
  - {ends: [w, v], rate: 1 Gbps}
  - {ends: [v, s], rate: 1 Gbps}
jobs:
  - {name: j, receivers: 1, update: 4 MB}
"
        }
    }
}

#[test]
fn examples_of_keys_are_of_their_types() {
    let mut read = 0;
    for key in KEYS.iter().flat_map(|keys| *keys) {
        let entry = format!("{}: {}", key.name, key.example);
        let document = match key.section {
            "network" => entry.clone(),
            "compute" => format!("jobs: [{{compute: {{{entry}}}}}]"),
            section => format!("{section}: [{{{entry}}}]"),
        };
        let read_as = Document::from_yaml(&document);
        assert!(read_as.is_ok(), "{}: {entry}: {}", key.section, read_as.unwrap_err());
        read += 1;
    }
    assert!(read > 40, "{read}");
}

#[test]
fn a_key_of_another_kind_is_refused_with_its_line_and_the_kinds_that_know_it() {
    let jobs = KEYS.iter().flat_map(|keys| *keys).filter(|key| key.section == "jobs");
    let mut refused = 0;
    for key in jobs.filter(|key| key.name != "name") {
        for kind in Kind::ALL.into_iter().filter(|kind| !key.kinds.contains(kind)) {
            let entry = format!("{}: {}", key.name, key.example);
            let text = example(kind).replace("{name: j, ", &format!("{{name: j, {entry}, "));
            let error = Network::from_yaml(&text).unwrap_err().to_string();
            let of_others = key.kinds_in_words();
            let named = ["line 7: job j: ", &format!("`{}` is for networks of {of_others}", key.name)];
            assert!(named.iter().all(|part| error.contains(part)), "{entry} in {kind}: {error}");
            assert!(error.contains(&format!("a network of {kind}")), "{error}");
            refused += 1;
        }
    }
    assert!(refused > 30, "{refused}");
}

#[test]
fn what_a_document_lacks_is_named_where_it_is_lacking() {
    let cases = [
        ("name: t\n", "", "document: it has no `name`"),
        (example(Kind::Switched), "# nothing\n", "document: it is empty"),
        ("name: v, ", "", "line 2: node: it has no `name`"),
        (", kind: switch", "", "line 2: node v: it has no `kind`"),
        ("kind: switch", "kind: client", "line 2: node v: kind is `client`; write `kind: worker`"),
        ("{ends: [w, v], ", "{", "line 4: link without ends: it has no `ends`"),
        (", rate: 1 Gbps", "", "line 4: link w-v: it has no `rate`"),
        ("rate: 1 Gbps", "rat: 1 Gbps", "line 4: document: unknown key `rat`; did you mean `rate`?"),
        ("[w, v]", "[w]", "line 4"),
        ("[w, v]", "7", "line 4: document: ends: a list is expected here"),
        ("{name: j, ", "{", "line 7: job: it has no `name`"),
        ("gradient: 4 MB", "batch: 1.5", "line 7: document: batch: not a whole number of samples"),
        ("gradient: 4 MB", "elastic: maybe", "line 7: document: elastic: neither true nor false"),
        ("jobs:\n", "jobs:\n  - {name: i, workers: [w], clients: [w]}\n", "both `workers` and `clients`"),
        ("name: t\n", "name: t\nname: u\n", "line 2: document: duplicate mapping key"),
        ("jobs:\n", "---\njobs:\n", "a second document begins here"),
    ];
    for (part, by, named) in cases {
        let text = example(Kind::Switched);
        assert!(text.contains(part), "{part}");
        let error = Network::from_yaml(&text.replacen(part, by, 1)).unwrap_err().to_string();
        assert!(error.contains(named) && error.lines().count() == 1, "{by}: {error}");
    }
}

#[test]
fn marks_and_line_ends_of_other_systems_are_read() {
    for kind in Kind::ALL {
        let text = format!("\u{feff}{}", example(kind).replace('\n', "\r\n"));
        assert_eq!(Network::from_yaml(&text).unwrap().kind(), kind);
    }
}

#[test]
fn anchors_that_explode_are_refused() {
    let mut text = "name: t\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        text += &format!("a{level}: &a{level} [{}]\n", vec![before; 10].join(", "));
    }
    text += "nodes: *a11\n";
    let before = Network::from_yaml(&text).unwrap_err().to_string();
    assert_eq!(before.lines().count(), 1, "{before}");
    // Where each list may stand.
    let nested = text.replace("name: t\n", "name: t\nnodes:\n").replace("\na", "\n- &b\n  a");
    assert_eq!(Network::from_yaml(&nested).unwrap_err().to_string().lines().count(), 1);
}
