//! Checks of the records of all peers.

use std::collections::BTreeSet;

use inart_peers_agent::Sync;

use super::Recorded;

/// Counts of what was checked.
#[derive(Debug, Default)]
pub struct Seen {
    pub received: usize,
    pub averages: usize,
    pub given_up: usize,
    /// Updates that were started and never completed.
    pub lost_rounds: usize,
}

/// Checks that every received update equals the sender's, that peers reported as complete have it, and that
/// every average is the mean of the updates it names. `fault_free`: no peer has failed, so that in bulk
/// synchronous rounds an average is of all complete updates, and in stale ones no peer is too far ahead.
pub fn check(peers: &[Recorded], fault_free: Option<Sync>) -> Seen {
    let mut seen = Seen::default();
    for peer in peers {
        received(peer, peers, &mut seen);
        ended(peer, peers, &mut seen);
        averaged(peer, peers, &mut seen);
        if let Some(sync) = fault_free {
            kept(peer, peers, sync);
        }
    }
    seen
}

/// Returns all incarnations of a peer.
fn incarnations(peers: &[Recorded], rank: usize) -> impl Iterator<Item = &Recorded> {
    peers.iter().filter(move |peer| peer.rank == rank)
}

fn received(peer: &Recorded, peers: &[Recorded], seen: &mut Seen) {
    let mut names = BTreeSet::new();
    for (from, round, words) in &peer.received {
        let mut sent = incarnations(peers, *from).filter_map(|incarnation| incarnation.sent.get(round));
        assert!(
            sent.any(|sent| sent == &**words),
            "peer {}: update {round} of {from} differs from the sent one",
            peer.rank
        );
        // Two incarnations of a sender have different rounds here: the second one starts later.
        assert!(names.insert((*from, *round)), "peer {} has update {round} of {from} twice", peer.rank);
        seen.received += 1;
    }
}

fn ended(peer: &Recorded, peers: &[Recorded], seen: &mut Seen) {
    for (round, outcome) in &peer.outcomes {
        seen.given_up += outcome.given_up.len();
        for to in outcome.complete.iter() {
            let got = |incarnation: &Recorded| {
                incarnation.received.iter().any(|(from, is, _)| (*from, is) == (peer.rank, round))
            };
            // A program that crashed may not have recorded its peer's updates.
            let has = |incarnation: &Recorded| got(incarnation) || incarnation.ending.is_none();
            assert!(
                incarnations(peers, to.index()).any(has),
                "peer {to} lacks update {round} of {}",
                peer.rank
            );
        }
    }
}

fn averaged(peer: &Recorded, peers: &[Recorded], seen: &mut Seen) {
    for (round, average) in &peer.averages {
        assert!(average.not_finite.is_empty() && average.other_length.is_empty());
        let others = average.of.iter().map(|(from, of)| {
            let mut sent =
                incarnations(peers, from.index()).filter_map(|incarnation| incarnation.sent.get(of));
            let words = sent.next().unwrap_or_else(|| panic!("update {of} of {from} was never sent"));
            assert!(sent.next().is_none(), "two incarnations of {from} have an update {of}");
            words
        });
        // A second incarnation sends nothing before it has the others' model.
        assert_eq!(average.without_own, !peer.sent.contains_key(round), "peer {}, round {round}", peer.rank);
        let models: Vec<&Vec<u32>> = peer.sent.get(round).into_iter().chain(others).collect();
        for (at, value) in average.values.iter().enumerate() {
            // Multiples of 2^-16 have exact sums.
            let fixed = |model: &&Vec<u32>| (f64::from(f32::from_bits(model[at])) * 65536.0) as i64;
            let sum: i64 = models.iter().map(fixed).sum();
            let mean = (sum as f64 / 65536.0 / models.len() as f64) as f32;
            assert_eq!(value.to_bits(), mean.to_bits(), "peer {}, round {round}, value {at}", peer.rank);
        }
        seen.averages += 1;
    }
}

fn kept(peer: &Recorded, peers: &[Recorded], sync: Sync) {
    for (round, average) in &peer.averages {
        let of: BTreeSet<(usize, u32)> = average.of.iter().map(|(from, of)| (from.index(), *of)).collect();
        match sync {
            Sync::Bsp => {
                let sent = peers.iter().filter(|other| other.complete(*round).contains(&peer.rank));
                let expected = sent.map(|other| (other.rank, *round)).collect();
                assert_eq!(of, expected, "peer {} in round {round}", peer.rank);
            }
            Sync::Ssp { staleness } => {
                let far = of.iter().map(|(_, of)| of.saturating_sub(*round)).max().unwrap_or(0);
                assert!(far <= staleness + 1, "peer {} in round {round} has {of:?}", peer.rank);
            }
        }
    }
}
