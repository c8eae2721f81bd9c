//! A network of switches as the entries of its document.

use indexmap::IndexMap;

use super::{DEFAULT_MTU, Job, Link, Node, NodeId, NodeKind, Topology};
use crate::document::{At, BackgroundEntry, Document, JobEntry, LinkEntry, NodeEntry, Sum};
use crate::units::{Rate, Seconds, Size};

/// Which optional values a document writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Values that differ from the defaults.
    WhatDiffers,
    /// All of them.
    Everything,
}

impl Topology {
    /// Returns the document that reads back to an equal topology.
    pub(crate) fn document(&self, detail: Detail) -> Document {
        let all = detail == Detail::Everything;
        let common = if all { DEFAULT_MTU } else { self.common_mtu() };
        let nodes = self.nodes.iter().map(|node| At::new(node_entry(node, all))).collect();
        let links = self.links.iter().map(|link| At::new(self.link_entry(link, common, all))).collect();
        let background: Vec<_> = self.background_entries().into_iter().map(At::new).collect();
        let jobs = self.jobs.iter().map(|job| At::new(self.job_entry(job))).collect();
        Document {
            name: Some(At::new(self.name.clone())),
            mtu: (common != DEFAULT_MTU).then(|| At::new(common.into())),
            nodes: Some(At::new(nodes)),
            links: Some(At::new(links)),
            background: (all || !background.is_empty()).then(|| At::new(background)),
            traces: None,
            jobs: Some(At::new(jobs)),
        }
    }

    /// Returns the MTU of all links, else the default.
    fn common_mtu(&self) -> u16 {
        let first = self.links.first().map_or(DEFAULT_MTU, |link| link.mtu);
        if self.links.iter().all(|link| link.mtu == first) { first } else { DEFAULT_MTU }
    }

    fn name_of(&self, id: NodeId) -> String {
        self.node(id).name.clone()
    }

    fn link_entry(&self, link: &Link, common: u16, all: bool) -> LinkEntry {
        let ports: IndexMap<_, _> = link.named_ports().map(|(end, port)| (self.name_of(end), port)).collect();
        LinkEntry {
            delay: (all || link.delay_seconds > 0.0).then(|| At::new(Seconds(link.delay_seconds))),
            mtu: (all || link.mtu != common).then(|| At::new(link.mtu.into())),
            ports: (!ports.is_empty()).then(|| At::new(ports)),
            ..LinkEntry::new(link.ends.map(|end| self.name_of(end)), link.rates_bps).with_loss(link.loss)
        }
    }

    fn background_entries(&self) -> Vec<BackgroundEntry> {
        let rate = |bps: f64| Some(At::new(Rate(bps)));
        let loaded = self.nodes.iter().filter(|node| node.background_bps > 0.0);
        let mut entries: Vec<_> = loaded
            .map(|node| BackgroundEntry {
                link: None,
                node: Some(At::new(node.name.clone())),
                rate: rate(node.background_bps),
            })
            .collect();
        for link in &self.links {
            let [a, b] = link.ends.map(|end| self.name_of(end));
            let ways = [([a.clone(), b.clone()], link.background_bps[0]), ([b, a], link.background_bps[1])];
            for (ends, bps) in ways.into_iter().filter(|(_, bps)| *bps > 0.0) {
                entries.push(BackgroundEntry { link: Some(At::new(ends)), node: None, rate: rate(bps) });
            }
        }
        entries
    }

    fn job_entry(&self, job: &Job) -> JobEntry {
        let names = |ids: &[NodeId]| Some(At::new(ids.iter().map(|&id| self.name_of(id)).collect()));
        JobEntry {
            name: Some(At::new(job.name.clone())),
            workers: names(&job.workers),
            servers: names(&job.servers),
            gradient: job.gradient_bytes.map(|bytes| At::new(Size(bytes as f64))),
            sum: job.exact.then(|| At::new(Sum::Exact)),
            elastic: job.elastic.then(|| At::new(true)),
            ..JobEntry::default()
        }
    }
}

fn node_entry(node: &Node, all: bool) -> NodeEntry {
    let adds = node.aggregation_bps > 0.0 || (all && node.kind == NodeKind::Switch);
    NodeEntry {
        name: Some(At::new(node.name.clone())),
        kind: Some(At::new(node.kind.name().to_owned())),
        aggregation_capacity: adds.then(|| At::new(Rate(node.aggregation_bps))),
        ingress_capacity: node.ingress_bps.map(|bps| At::new(Rate(bps))),
        board: node.board.map(|board| At::new(board.name().to_owned())),
        ..NodeEntry::default()
    }
}
