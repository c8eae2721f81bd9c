//! A job with a parameter server, as the document of a star.

use super::network::{Job, Kind, Nic, Participant, Time};
use crate::document::{At, Document, JobEntry, LinkEntry, NodeEntry, PerHost, TimeEntry, section};
use crate::units::{Seconds, Size};

/// Returns the document of a network in which all participants of a job and its server are linked to one
/// switch, at their rates. `gradient_bytes` is the size of the model.
pub fn star(network: &str, server: &str, job: &Job, gradient_bytes: u64) -> Document {
    let names = || job.participants.iter().map(|worker| &worker.name);
    let mut switch = "switch".to_owned();
    while names().any(|name| *name == switch) || server == switch {
        switch.push('x');
    }
    let nodes = [NodeEntry::new(&switch, "switch"), NodeEntry::new(server, "server")];
    let nodes = nodes.into_iter().chain(names().map(|name| NodeEntry::new(name, "worker")));
    let link = |name: &str, nic: &Nic, delay_s: f64| {
        LinkEntry::new([&switch, name], [nic.in_bps.round(), nic.out_bps.round()]).with_delay(delay_s)
    };
    let own = link(server, &job.server, 0.0);
    let links =
        job.participants.iter().map(|Participant { name, nic, delay_s, .. }| link(name, nic, *delay_s));
    let mut entry = JobEntry {
        name: Some(At::new(job.name.clone())),
        servers: Some(At::new(vec![server.to_owned()])),
        gradient: Some(At::new(Size(gradient_bytes as f64))),
        ..JobEntry::default()
    };
    let all = Some(At::new(names().cloned().collect()));
    match job.kind {
        Kind::Workers => entry.workers = all,
        Kind::Clients => entry.clients = all,
    }
    let Time { mean_s, cv } = job.pause;
    entry.upload_delay = (mean_s > 0.0).then(|| At::new(TimeEntry::new(mean_s, cv)));
    let computes = job.participants.iter().map(|Participant { name, compute, speed, .. }| {
        let mean = Some(At::new(Seconds(compute.mean_s)));
        (
            name.clone(),
            TimeEntry { mean, cv: Some(At::new(compute.cv)), samples_per_second: Some(At::new(*speed)) },
        )
    });
    entry.compute = Some(At::new(PerHost::each(computes)));
    let batches = job.participants.iter().map(|worker| (worker.name.clone(), worker.batch.into()));
    entry.batch = Some(At::new(PerHost::each(batches)));
    Document {
        name: Some(At::new(network.to_owned())),
        nodes: section(nodes),
        links: section([own].into_iter().chain(links)),
        jobs: section([entry]),
        ..Document::default()
    }
}
