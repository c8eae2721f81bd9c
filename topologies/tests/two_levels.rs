//! Documents of networks of two levels: accepted, written and rejected ones.
#![allow(clippy::unwrap_used)]

use inart_topologies::sites::{CHUNK_UNIT_BYTES, Hierarchy};

const NETWORK: &str = include_str!("../two-levels.yaml");

fn read(text: &str) -> Hierarchy {
    Hierarchy::from_yaml(text).unwrap()
}

#[test]
fn a_document_is_taken_apart() {
    let both = read(NETWORK);
    assert_eq!(both.overlay.sites(), ["n1", "n2", "n3"]);
    assert_eq!(both.overlay.links().len(), 3);
    let insides: Vec<_> = both.insides.iter().map(|inside| inside.site.as_str()).collect();
    assert_eq!(insides, ["n1", "n2"]);
    let first = &both.insides[0].topology;
    assert_eq!(
        (first.name(), first.jobs()[0].workers.len(), first.jobs()[0].servers.len()),
        ("two-levels-n1", 4, 1)
    );
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let cases: [(&str, &str, &[&str]); 10] = [
        (
            "{name: v3, kind: switch, aggregation_capacity: 10 Gbps, site: n2}",
            "{name: v3, kind: switch}",
            &["line 14", "v3", "in no site"],
        ),
        ("10 Gbps, site: n2}", "10 Gbps, site: n9}", &["line 14", "v3", "site \"n9\" does not exist"]),
        ("{name: w5, kind: worker,", "{name: w5, kind: server,", &["line 15", "w5", "parameter server"]),
        ("ends: [w5, v3]", "ends: [w5, v1]", &["line 27", "w5 to v1", "leaves site n2"]),
        ("workers: [w5, w6]", "workers: [w4, w6]", &["line 33", "n2-inside", "not inside one site"]),
        ("workers: [w5, w6]", "workers: []", &["line 33", "n2-inside", "not inside one site"]),
        ("servers: [n2]", "servers: [n1]", &["line 33", "n2-inside", "servers: [n2]"]),
        ("  - {name: n2-inside, workers: [w5, w6], servers: [n2]}\n", "", &["n2", "0 jobs"]),
        (
            "{ends: [w5, v3], rate: 200 Mbps}",
            "{ends: [w5, v3], rate: 0 Mbps}",
            &["inside site n2", "line 27", "rate is 0"],
        ),
        ("rate: 60 Mbps, delay", "rate: 0 Mbps, delay", &["line 19", "n2-n3", "rate"]),
    ];
    for (old, new, named) in cases {
        assert!(NETWORK.contains(old), "{old}");
        let error = Hierarchy::from_yaml(&NETWORK.replacen(old, new, 1)).unwrap_err().to_string();
        for word in named {
            assert!(error.contains(word), "{new}: {error}");
        }
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn a_network_for_another_gradient_is_written_and_read_back() {
    let both = read(NETWORK);
    let job = &both.overlay.jobs()[0];
    let (small, time) = both.scaled(job, 600_000, 0.1);
    assert!((time - 0.1).abs() < 1e-12);
    assert_eq!(small.insides[0].topology.links()[0].rate_bps(), 100e6);
    let delay = |both: &Hierarchy| both.overlay.links()[0].delay_seconds;
    assert!((delay(&small) - 0.1 * 0.03).abs() < 1e-12 && (delay(&both) - 0.03).abs() < 1e-12);
    let again = read(&small.to_yaml());
    assert_eq!(again.to_yaml(), small.to_yaml());
    assert_eq!(again.overlay.jobs()[0].gradient_bytes(), 600_000);
    // 1 MB in proportion is 10 KB: one unit, rounded up to two.
    assert_eq!(again.overlay.jobs()[0].chunk_bytes, 2 * CHUNK_UNIT_BYTES);
    assert_eq!(both.overlay.jobs()[0].chunk_bytes % CHUNK_UNIT_BYTES, 0);
    let names = |both: &Hierarchy| {
        let all = both.contributors(&both.overlay.jobs()[0]);
        all.into_iter().map(|one| one.worker.unwrap_or(one.site)).collect::<Vec<_>>()
    };
    assert_eq!(names(&again), ["w1", "w2", "w3", "w4", "w5", "w6", "n3"]);
    assert_eq!(names(&both), names(&again));
}

#[test]
fn jobs_inside_whose_sums_cannot_leave_are_refused() {
    for (key, why) in [("sum: exact", "sites round"), ("elastic: true", "join or leave")] {
        let text = NETWORK.replace("servers: [n2]}", &format!("servers: [n2], {key}}}"));
        let error = Hierarchy::from_yaml(&text).unwrap_err().to_string();
        assert!(error.contains("inside site n2") && error.contains(why), "{error}");
    }
}
