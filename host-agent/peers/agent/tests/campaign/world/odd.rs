//! Misbehavior of peers, coordinators and programs.

use bytes::Bytes;
use inart_peers_agent::{AdmissionError, Body, Choice, Notice, Roster, Sample, Seen, decode, encode};
use inart_protocol_peers::{chunk_packet, notice_packet};
use rand::Rng;
use rand::seq::IndexedRandom;

use super::{Event, VALUES, World, rank};
use crate::campaign::trial::Odd;

/// Numbers that are neither rates nor times.
const WILD: [f64; 6] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, -1e300];

impl World {
    /// Returns messages that a misbehaving coordinator sends before its own.
    pub(super) fn wild_word(&mut self, data: &Bytes) -> Option<Bytes> {
        if self.trial.odd != Some(Odd::WildChoices) || self.draws.random_bool(0.5) {
            return None;
        }
        let draws = &mut self.draws;
        let wild = match decode(data.clone()).ok()? {
            Body::Choice(choice) => Body::Choice(match draws.random_range(0..4) {
                0 => Choice { receivers: vec![u32::MAX], ..choice },
                1 => Choice { receivers: vec![self.trial.peers as u32], ..choice },
                2 => Choice { round: u32::MAX - draws.random_range(0..9), ..choice },
                _ => Choice { rate_bps: *WILD.choose(draws).unwrap(), ..choice },
            }),
            Body::Roster(roster) => {
                let ended = roster.ended.iter().map(|_| u32::MAX).collect();
                Body::Roster(Roster { ended, ..roster })
            }
            _ => return None,
        };
        self.audit.seen.wild_choices += 1;
        Some(encode(wild))
    }

    /// Returns a peer's report, with invalid numbers if the peer misbehaves.
    pub(super) fn wild_report(&mut self, at: usize, data: Bytes) -> Bytes {
        if self.trial.odd != (Some(Odd::WildReports { peer: at })) || self.draws.random_bool(0.5) {
            return data;
        }
        let draws = &mut self.draws;
        let mut number = || *WILD.choose(draws).unwrap();
        let Ok(mut body) = decode(data.clone()) else { return data };
        match &mut body {
            Body::Ready(ready) => ready.computed_seconds = number(),
            Body::Remaining(left) => left.part = number(),
            Body::Ended(ended) => ended.seconds.iter_mut().for_each(|seconds| *seconds = number()),
            Body::Seen(Seen { samples, .. }) => {
                let sample = Sample { is_up: true, bits: number(), seconds: number(), is_full: true };
                samples.extend([Sample { is_up: false, ..sample }, sample]);
            }
            _ => return data,
        }
        self.audit.seen.wild_reports += 1;
        encode(body)
    }

    /// Returns packets that a misbehaving peer sends next to a chunk of its own.
    pub(super) fn hostile_packets(&mut self, at: usize, to: usize, round: u32, chunk: u32, own: &[u8]) {
        if self.trial.odd != Some(Odd::Hostile { peer: at }) || self.draws.random_bool(0.7) {
            return;
        }
        let host = self.hosts[at].as_ref().unwrap();
        let members = host.peer.members();
        let ended = u32::MAX - self.draws.random_range(0..3);
        let beyond = self.trial.chunks as u32 + self.draws.random_range(0..1000);
        let packets = [
            own.to_vec(),
            own.to_vec(),
            chunk_packet(members, round, beyond, &[7; VALUES]),
            chunk_packet(members, round, u32::MAX, &[7; VALUES]),
            // All chunks but the last have the same length.
            chunk_packet(members, round, chunk, &[7; VALUES + 1]),
            chunk_packet(members, round, chunk, &[]),
            notice_packet(members, &Notice { ended, is_finished: true }.words()),
        ];
        for bytes in packets {
            self.audit.seen.hostile += 1;
            let in_s = self.draws.random_range(0.0..0.5);
            self.at(in_s, Event::Packet { from: at, to, bytes, sent: None });
        }
    }

    /// Returns whether the program of a peer hangs.
    pub(super) fn hangs(&mut self, at: usize, round: u32) -> bool {
        let Some(Odd::Hangs { peer, round: from }) = self.trial.odd else { return false };
        let does = at == peer && round >= from;
        self.audit.seen.hung += u64::from(does);
        self.done[at] |= does;
        does
    }

    /// Ends the process of a peer that takes no part, or no longer.
    pub(super) fn ends(&mut self, at: usize, why: &AdmissionError) {
        match (self.trial.odd, why) {
            (Some(Odd::OtherTerms { peer }), AdmissionError::OtherJob { why, .. }) => {
                let rounds = self.trial.rounds;
                let (own, all) = (rounds + 1, format!("the coordinator has rounds {rounds}"));
                let does_name = why.contains(&format!("has rounds {own}")) && why.contains(&all);
                assert!(peer == at && !self.is_corrected && does_name, "peer {at}: {why}");
                self.audit.seen.refused += 1;
                self.is_corrected = true;
                self.end_process(at);
                let again = self.draws.random_range(0.05..1.0);
                self.at(again, Event::Start(at));
            }
            (Some(Odd::Hangs { peer, .. }), AdmissionError::Others { peers, .. }) => {
                assert!(peers.contains(&format!("peer {}", rank(peer))), "peer {at} has waited for {peers}");
                assert!(at != peer && self.audit.seen.hung > 0, "peer {at} has waited for {peers}");
                self.audit.seen.ended_by_name += 1;
                self.end_process(at);
            }
            (_, AdmissionError::NoCoordinator { .. }) => self.rejected(at),
            (odd, why) => panic!("peer {at}: {why}; {odd:?}"),
        }
    }

    fn end_process(&mut self, at: usize) {
        self.count(at);
        self.hosts[at] = None;
        self.notify_coordinators(|coordinator, now| coordinator.down(rank(at), now));
    }
}
