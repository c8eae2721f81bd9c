//! Sites that wait name the sites that they wait for, and end by their names after a while.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use bytes::Bytes;
use inart_protocol_sites::SiteNo;
use inart_sites_agent::{Lacking, StallCause, Wait};

use crate::links::Net;

const LINE: &str = "name: line
nodes: [{name: a, kind: site}, {name: b, kind: site}, {name: c, kind: site}]
links: [{ends: [a, b], rate: 8 Mbps}, {ends: [b, c], rate: 8 Mbps}]
jobs: [{name: job, gradient: 12 B, chunk: 12 B}]
";

fn line() -> Net {
    Net::new(LINE, 8e6, Bytes::from_static(b"state"), |setup| {
        setup.meeting_patience = Duration::from_secs(40);
        setup.patience = Duration::from_secs(60);
    })
}

/// Runs until all three sites are in their rounds.
fn running() -> Net {
    let mut net = line();
    net.start_all();
    net.until(10.0, |net| net.sites.iter().flatten().all(|site| site.sums.len() >= 2));
    net
}

fn no_connection(site: u16) -> Lacking {
    Lacking { site: SiteNo(site), cause: StallCause::NoConnection }
}

fn failure(net: &Net, site: usize) -> String {
    net.site(site).failed.as_ref().expect("it has ended").to_string()
}

#[test]
fn a_regular_run_reports_no_wait() {
    let mut net = running();
    net.run(30.0);
    assert!(net.sites.iter().flatten().all(|site| site.waits.is_empty() && site.failed.is_none()));
}

#[test]
fn neighbors_that_do_not_connect_are_named_at_once_and_again_and_end_the_wait() {
    let mut net = line();
    net.start(0);
    net.start(1);
    net.run(39.0);
    let waits = &net.site(1).waits;
    assert!(waits[0].0 < 2.0, "first at {} s", waits[0].0);
    assert!(waits.windows(2).all(|two| two[1].0 - two[0].0 < 6.0), "every few seconds: {waits:?}");
    assert!(waits.len() >= 7);
    assert!(waits.iter().all(|(_, wait)| *wait == Wait::Neighbors(vec![no_connection(2)])), "{waits:?}");
    net.run(2.0);
    let error = failure(&net, 1);
    assert!(error.contains("site b: no connection to c after 40 s"), "{error}");
    let error = failure(&net, 0);
    assert!(error.contains("no connection to c"), "{error}");
}

#[test]
fn a_failed_site_is_named_until_patience_ends_the_job() {
    let mut net = running();
    net.kill(2);
    let killed = net.now;
    net.run(30.0);
    let waits = &net.site(1).waits;
    assert!(waits.len() >= 4, "{waits:?}");
    assert!(waits[0].0 < killed + 6.0);
    assert!(
        waits.iter().all(|(_, wait)| matches!(wait, Wait::Chunks { of, .. } if of == &[no_connection(2)])),
        "{waits:?}"
    );
    // The site could have restarted until now.
    assert!(net.sites.iter().flatten().all(|site| site.failed.is_none()));
    net.run(40.0);
    for site in [0, 1] {
        let error = failure(&net, site);
        assert!(
            error.contains("site b: no progress for 60 s while waiting for c (no connection)"),
            "{error}"
        );
    }
}

#[test]
fn a_site_that_restarts_within_the_patience_ends_nothing() {
    let mut net = running();
    for _ in 0..3 {
        net.kill(2);
        net.run(50.0);
        net.start(2);
        net.run(20.0);
    }
    assert!(net.sites.iter().flatten().all(|site| site.failed.is_none() && !site.sums.is_empty()));
}

#[test]
fn a_program_that_does_not_return_ends_the_job_by_the_name_of_its_site() {
    let mut net = running();
    net.hangs = Some(2);
    net.run(59.0);
    assert!(net.sites.iter().flatten().all(|site| site.failed.is_none()));
    let is_named = |(_, wait): &(f64, Wait)| {
        let computing = Lacking { site: SiteNo(2), cause: StallCause::Computing };
        matches!(wait, Wait::Chunks { of, .. } if of == &[computing])
    };
    assert!(net.site(1).waits.iter().any(is_named), "{:?}", net.site(1).waits);
    net.run(15.0);
    for site in 0..3 {
        let error = failure(&net, site);
        assert!(
            error.contains("site b: no progress for 60 s while waiting for c (has not reported this round)"),
            "{error}"
        );
    }
}

#[test]
fn a_site_that_is_stopped_ends_the_job_at_once_by_its_name() {
    let mut net = running();
    net.driver(2, inart_sites_agent::Driver::stop);
    net.run(0.5);
    for site in 0..3 {
        assert!(failure(&net, site).starts_with("site c was stopped"), "{}", failure(&net, site));
    }
}
