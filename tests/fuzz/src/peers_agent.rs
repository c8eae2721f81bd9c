//! Messages of other peers, of a coordinator, and of peers to a coordinator: any bytes, in any order. Nothing
//! panics; an update that is accepted as complete is one value per parameter, averages are finite, and each
//! receiver has one result.

use std::sync::Arc;
use std::time::Duration;

use inart_peers_agent::{
    Body, Coordinator, CoordinatorOutput, CoordinatorSetup, Output, Peer, Roster, Schemes, Setup, Sync, Term,
    encode,
};
use inart_planner_peers::{Multicast, Reading, Scheme};
use inart_protocol_peers::{Copies, ReceiverOptions, SenderOptions};
use inart_topologies::peers::Ports;
use inart_wire::{Incarnation, Rank};

const PEERS: usize = 3;
const VALUES: usize = 70;
/// As many as a frame has here.
const CHUNK: usize = 32;
const FRAME_BYTES: usize = 172;
const INCARNATIONS: [u32; PEERS] = [11, 12, 13];

fn rank(number: usize) -> Rank {
    Rank::try_from(number % PEERS).expect("there are few")
}

fn sync(is_bsp: bool) -> Sync {
    if is_bsp { Sync::Bsp } else { Sync::Ssp { staleness: 1 } }
}

/// Peer 1, in the first round, with peers 0 and 2.
fn peer(by_switch: bool, is_bsp: bool) -> Peer {
    let (copies, receiver) = match by_switch {
        true => (Copies::Switch { frame_bytes: FRAME_BYTES }, ReceiverOptions::frames(CHUNK)),
        false => (Copies::Sender { window: 2, chunk_bytes: 4 * CHUNK }, ReceiverOptions::connections()),
    };
    let setup = Setup {
        program: inart_peers_agent::Terms::default(),
        round_patience: std::time::Duration::MAX,
        me: rank(1),
        incarnation: Incarnation::new(INCARNATIONS[1]),
        job: 3.into(),
        names: Vec::new(),
        plan_version: 1.into(),
        update_values: vec![VALUES; PEERS],
        chunk_values: CHUNK,
        receivers: 1,
        sync: sync(is_bsp),
        force_after: Some(2),
        rounds: 5,
        sender: SenderOptions::new(copies),
        receiver,
        rate_bps: 1e6,
        choice_patience: Duration::from_millis(300),
        peer_timeout: Duration::from_secs(30),
        meeting_patience: Duration::from_secs(300),
    };
    let mut peer = Peer::new(Arc::new(setup)).expect("a peer can be like this");
    peer.coordinator_up(Duration::ZERO);
    let term = Some(Term { number: 1, holder: 1 });
    let roster = Roster { term, incarnations: INCARNATIONS.to_vec(), ended: vec![0; PEERS] };
    peer.coordinator(encode(Body::Roster(roster)), Duration::ZERO);
    peer
}

fn coordinator(is_bsp: bool) -> Coordinator<Schemes> {
    let setup = CoordinatorSetup {
        job: 3.into(),
        names: Vec::new(),
        update_values: vec![VALUES; PEERS],
        chunk_values: CHUNK,
        update_bits: vec![32.0 * VALUES as f64; PEERS],
        receivers: 1,
        sync: sync(is_bsp),
        force_after: Some(2),
        multicast: Multicast::Switch,
        rounds: 5,
        ports: Ports { up_bps: vec![1e6; PEERS], down_bps: vec![1e6; PEERS] },
        gather: Duration::from_secs(1),
        holder: 7,
    };
    Coordinator::new(setup, Schemes::new(Scheme::Optimized, Reading::default(), 1, "fuzz"))
}

/// Runs the target: a byte for the kind of training, then messages, each with a byte for its kind and two for
/// its length.
pub fn run(data: &[u8]) {
    let Some((kind, mut data)) = data.split_first() else { return };
    let (by_switch, is_bsp) = (kind & 1 == 0, kind & 2 == 0);
    let (mut peer, mut coordinator) = (peer(by_switch, is_bsp), coordinator(is_bsp));
    let mut now = Duration::ZERO;
    while let [what, high, low, rest @ ..] = data {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len());
        let (message, others) = rest.split_at(length);
        data = others;
        now += Duration::from_millis(u64::from(what >> 4) * 50);
        match what % 8 {
            from @ (0 | 1) => peer.packet(rank(2 * usize::from(from)), message, now),
            2 => peer.frame(message, now),
            3 => peer.coordinator(message.to_vec().into(), now),
            from @ 4..=6 => coordinator.message(rank(usize::from(from)), message.to_vec().into(), now),
            _ => {
                coordinator.down(rank(usize::from(*what >> 4)), now);
                peer.coordinator_down(now);
                peer.coordinator_up(now);
            }
        }
        peer.tick(now);
        carry_out(&mut peer, by_switch, what % 2 == 0, now);
        coordinator.tick(now);
        while let Some(output) = coordinator.next_output() {
            // Its messages to peer 1 are of another term.
            if let CoordinatorOutput::Send { to, body } = output
                && to == rank(1)
            {
                peer.coordinator(encode(body), now);
            }
        }
    }
}

fn carry_out(peer: &mut Peer, by_switch: bool, is_delivered: bool, now: Duration) {
    // Rounds follow each other as long as others yield.
    for _ in 0..1000 {
        if let Some(output) = peer.next_output() {
            take(peer, output, now);
        } else if let Some(sent) = peer.next_transmission(now) {
            for to in sent.to.iter().filter(|_| !by_switch) {
                match is_delivered {
                    true => peer.delivered(sent.round, to, now),
                    false => peer.failed(sent.round, to, sent.chunk, now),
                }
            }
        } else {
            return;
        }
    }
}

fn take(peer: &mut Peer, output: Output, now: Duration) {
    match output {
        Output::Compute(start) => {
            if let Some(average) = start.average {
                assert_eq!(average.values.len(), VALUES);
                assert!(average.values.iter().all(|value| value.is_finite()), "{average:?}");
            }
            let update = vec![start.round as f32; VALUES];
            peer.computed(update, now).expect("it was requested, and has the job's length");
        }
        Output::Received(update) => assert_eq!(update.words.len(), VALUES),
        Output::Ended { outcome, .. } => {
            let parts = [&outcome.complete, &outcome.withdrawn, &outcome.given_up];
            let named = |at: usize| parts.iter().filter(|part| part.contains(rank(at))).count();
            assert!((0..PEERS).all(|at| named(at) <= 1) && named(1) == 0, "{outcome:?}");
        }
        Output::Rejected(why) => panic!("it was taken in already: {why}"),
        Output::Send { .. } | Output::Notify { .. } | Output::Report(_) | Output::Finished(_) => {}
    }
}
