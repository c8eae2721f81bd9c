//! Documents of networks of sites.
#![allow(clippy::unwrap_used)]

use inart_topologies::sites::Overlay;
use proptest::prelude::*;

const GEO9: &str = include_str!("../geo9.yaml");

#[test]
fn the_nine_data_centers_follow_their_traces() {
    let geo9 = Overlay::from_yaml(GEO9).unwrap();
    assert_eq!((geo9.sites().len(), geo9.links().len()), (9, 13));
    let rate = |from: &str, to: &str, seconds: f64| {
        let arc = geo9.arc_between(geo9.site_named(from).unwrap(), geo9.site_named(to).unwrap()).unwrap();
        geo9.rates_at(seconds).of(arc) / 1e6
    };
    assert_eq!((rate("n1", "n2", 0.0), rate("n2", "n1", 0.0)), (38.0, 54.0));
    assert_eq!((rate("n1", "n2", 180.0), rate("n1", "n2", 359.9)), (23.0, 23.0));
    // The trace ends after ten rates, and the last one holds on.
    assert_eq!((rate("n9", "n8", 1620.0), rate("n9", "n8", 1e6)), (32.0, 32.0));
    assert_eq!(geo9.next_change(0.0), Some(180.0));
    assert_eq!(geo9.next_change(180.0), Some(360.0));
    assert_eq!(geo9.next_change(1500.0), Some(1620.0));
    assert_eq!(geo9.next_change(1620.0), None);
    let job = &geo9.jobs()[0];
    assert_eq!((job.gradient_bytes(), job.chunk_bytes), (244_000_000, 4_000_000));
}

#[test]
fn other_networks_are_not_networks_of_sites() {
    for text in ["", "{", "name: x", include_str!("../fig1.yaml"), "nodes: [{name: site, kind: peer}]"] {
        assert!(Overlay::from_yaml(text).is_err(), "{text}");
    }
}

#[test]
fn names_have_up_to_63_bytes() {
    let (longest, longer) = ("x".repeat(63), "x".repeat(64));
    for part in ["name: t", "name: a", "name: j"] {
        let (most, more) = (format!("name: {longest}"), format!("name: {longer}"));
        let said = Overlay::from_yaml(&with(part, &more)).unwrap_err().to_string();
        assert!(said.contains("the name \"xxxxxxxxxxxxxxxx...\" has 64 bytes"), "{said}");
        let said = Overlay::from_yaml(&with(part, &most)).err().map(|error| error.to_string());
        // Links name node a.
        assert!(said.as_ref().is_none_or(|said| said.contains("\"a\"")), "{part}: {said:?}");
    }
}

/// Returns a network of three sites in a triangle, with one part replaced.
fn with(part: &str, by: &str) -> String {
    let text = "name: t
nodes: [{name: a, kind: site}, {name: b, kind: site}, {name: c, kind: site}]
links:
  - {ends: [a, b], rate: [10 Mbps, 20 Mbps], delay: 30 ms, loss: 0.02%}
  - {ends: [b, c], rate: 5 Mbps}
traces:
  - {link: [b, a], every: 180 s, rates: [20 Mbps, 30 Mbps]}
jobs:
  - {name: j, sites: [a, b, c], gradient: 40 MB, chunk: 4 MB}
";
    assert!(text.contains(part), "{part}");
    text.replacen(part, by, 1)
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_fix() {
    for (part, by, named) in [
        ("name: t", "name: ''", &["document", "empty or holds blanks"][..]),
        ("name: t\n", "", &["document"]),
        (
            "{name: c, kind: site}",
            "{name: a, kind: site}",
            &["line 2", "node a", "taken already", "its own name"],
        ),
        ("{name: c, kind: site}", "{name: c, kind: switch}", &["node c", "a switch in a network of sites"]),
        ("{name: c, kind: site}", "{name: c, kind: peer}", &["node c", "peers and sites"]),
        ("{name: c, kind: site}", "{name: c, kind: town}", &["node c", "\"town\"", "kind: site"]),
        ("{name: c, kind: site}", "{name: c, kind: site, site: a}", &["node c", "leave `site` out"]),
        ("[a, b], rate", "[a, a], rate", &["line 4", "link a-a", "the same site"]),
        ("[a, b], rate", "[a, B], rate", &["link a-B", "unknown site \"B\"", "did you mean \"b\""]),
        ("[b, c], rate", "[b, a], rate", &["line 5", "link b-a", "linked already"]),
        ("[a, b], rate", "[a], rate", &["line 4"]),
        ("[10 Mbps, 20 Mbps]", "[10 Mbps, 0]", &["link a-b", "one direction only", "leave the link out"]),
        ("[10 Mbps, 20 Mbps]", "0", &["link a-b", "a rate is 0", "at least 1 bit/s"]),
        ("[10 Mbps, 20 Mbps]", "1e-320 bps", &["link a-b", "a rate is ", "at least 1 bit/s"]),
        ("[10 Mbps, 20 Mbps]", "-5 Mbps", &["link a-b", "a rate is -5000000"]),
        ("[10 Mbps, 20 Mbps]", ".nan", &["link a-b", "a rate is NaN"]),
        ("[10 Mbps, 20 Mbps]", "[1 bps, 2 bps, 3 bps]", &["line 4", "neither one rate nor a list of two"]),
        ("[10 Mbps, 20 Mbps]", "fast", &["line 4", "neither one rate nor a list of two"]),
        ("delay: 30 ms", "delay: -1 s", &["link a-b", "delay is -1", "at most an hour"]),
        ("loss: 0.02%", "loss: 100%", &["link a-b", "loss is not a part", "0.02%"]),
        ("loss: 0.02%", "loss: much", &["link a-b", "loss is not a part"]),
        ("link: [b, a]", "link: [a, c]", &["line 7", "trace of a to c", "no such link"]),
        ("every: 180 s", "every: 0 s", &["trace of b to a", "every is 0"]),
        ("rates: [20 Mbps, 30 Mbps]", "rates: []", &["trace of b to a", "no rates"]),
        (
            "rates: [20 Mbps, 30 Mbps]",
            "rates: [20 Mbps, 0]",
            &["trace of b to a", "a rate is 0", "fault schedule"],
        ),
        (
            "jobs:",
            "  - {link: [b, a], every: 1 s, rates: [1 Mbps]}\njobs:",
            &["trace of b to a", "has a trace already"],
        ),
        ("sites: [a, b, c]", "sites: [a, c]", &["line 9", "job j", "site c has no way to site a"]),
        ("sites: [a, b, c]", "sites: [a, b, b]", &["job j", "listed twice"]),
        ("sites: [a, b, c]", "sites: [a]", &["job j", "at least two"]),
        ("sites: [a, b, c]", "sites: [a, d]", &["job j", "unknown site \"d\""]),
        ("gradient: 40 MB", "gradient: 0", &["job j", "gradient is 0 bytes"]),
        ("gradient: 40 MB", "gradient: 41 B", &["job j", "41 bytes", "write 44"]),
        ("gradient: 40 MB, ", "", &["job j", "either `gradient` or `tensors`"]),
        ("gradient: 40 MB", "gradient: 40 MB, tensors: [4 B]", &["job j", "either `gradient` or `tensors`"]),
        ("gradient: 40 MB", "tensors: [4 MB, 2 B]", &["job j", "a tensor is 2 bytes"]),
        (
            "gradient: 40 MB, chunk: 4 MB",
            "gradient: 140 MB, chunk: 180 MB",
            &[
                "line 9",
                "job j",
                "chunk 180 MB gives chunks of 140 MB",
                "at most 100 MB",
                "1 GiB",
                "`chunk: 4 MB`",
            ],
        ),
        ("40 MB, chunk: 4 MB", "140 MB, chunk: 100000004 B", &["job j", "at most 100 MB"]),
        ("chunk: 4 MB", "chunk: 4 B", &["job j", "10000000 chunks", "longer chunks"]),
        ("sites: [a, b, c]", "workers: [a]", &["job j", "this is a network of sites"]),
        (
            "  - {name: j, sites: [a, b, c], gradient: 40 MB, chunk: 4 MB}\n",
            "  []\n",
            &["it has no job", "add one"],
        ),
    ] {
        let error = Overlay::from_yaml(&with(part, by)).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        for word in named {
            assert!(error.contains(word), "{by}: should name {word:?}: {error}");
        }
    }
}

/// A chunk is of one tensor, so a long `chunk` does no harm where tensors are short.
#[test]
fn the_longest_chunk_is_what_counts_not_the_key() {
    for (part, by) in [
        ("chunk: 4 MB", "chunk: 26000000 B"),
        ("gradient: 40 MB, chunk: 4 MB", "gradient: 203304 B, chunk: 64 MB"),
        ("gradient: 40 MB, chunk: 4 MB", "tensors: [26 MB, 26 MB], chunk: 64 MB"),
    ] {
        assert!(Overlay::from_yaml(&with(part, by)).is_ok(), "{by}");
    }
}

prop_compose! {
    /// Returns a ring of sites, with any numbers that a document can have.
    fn rings()(
        sites in 2usize..7,
        rates in prop::collection::vec((1u64..1_000_000_000_000, 1u64..1_000_000_000), 7),
        delays in prop::collection::vec(0.0f64..10.0, 7),
        traced: bool,
        chunk in 1u64..1_000_000,
    ) -> String {
        let names = (0..sites).map(|at| format!("{{name: n{at}, kind: site}}")).collect::<Vec<_>>().join(", ");
        let mut text = format!("name: ring\nnodes: [{names}]\nlinks:\n");
        let links = if sites == 2 { 1 } else { sites };
        for at in 0..links {
            let ((there, back), delay, next) = (rates[at], delays[at], (at + 1) % sites);
            text += &format!("  - {{ends: [n{at}, n{next}], rate: [{there} bps, {back} bps], delay: {delay} s}}\n");
        }
        if traced {
            text += "traces:\n  - {link: [n1, n0], every: 0.125 s, rates: [1 kbps, 3 bps]}\n";
        }
        text + &format!("jobs:\n  - {{name: j, tensors: [40 B, 4 KB, {} B], chunk: {} B}}\n", 4 * chunk, 4 * chunk)
    }
}

proptest! {
    #[test]
    fn a_network_writes_itself_and_reads_back_the_same(text in rings()) {
        let first = Overlay::from_yaml(&text).unwrap();
        let second = Overlay::from_yaml(&first.to_yaml()).unwrap();
        prop_assert_eq!(first.name(), second.name());
        prop_assert_eq!(first.sites(), second.sites());
        prop_assert_eq!(first.links(), second.links());
        prop_assert_eq!(first.jobs(), second.jobs());
    }
}
