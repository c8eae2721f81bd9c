//! Two peers and their coordinator as hosts run them: each message has a number, and its end decides which
//! process may leave.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine, Output, PeerNo};
use inart_peers_agent::{
    Coordinator, CoordinatorProcess, CoordinatorReport, CoordinatorSetup, Peer, PeerProcess, PeerReport,
    Schemes, Setup, Sync, Terms,
};
use inart_planner_peers::{Multicast, Reading, Scheme};
use inart_protocol_peers::{Copies, ReceiverOptions, SenderOptions};
use inart_topologies::peers::Ports;
use inart_wire::{Incarnation, Rank};

const PEERS: usize = 2;
const ROUNDS: u32 = 3;
/// The number of the coordinator at peers.
const COORDINATOR: PeerNo = PeerNo(PEERS as u32);
/// Time between two looks at all machines.
const STEP: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(20);

fn rank(peer: usize) -> Rank {
    Rank::try_from(peer).unwrap()
}

fn names() -> Vec<String> {
    ["job", "p1", "p2"].map(str::to_owned).to_vec()
}

fn peer(me: usize) -> PeerProcess {
    let timeout = Duration::from_secs(60);
    let copies = Copies::Sender { window: 4, chunk_bytes: 4 };
    let setup = Setup {
        program: Terms::default(),
        round_patience: Duration::MAX,
        me: rank(me),
        incarnation: Incarnation::new(7 + me as u32),
        names: names(),
        job: 3.into(),
        plan_version: 1.into(),
        update_values: vec![2; PEERS],
        chunk_values: 1,
        receivers: 1,
        sync: Sync::Bsp,
        force_after: None,
        rounds: ROUNDS,
        sender: SenderOptions { patience: timeout, ..SenderOptions::new(copies) },
        receiver: ReceiverOptions::connections(),
        rate_bps: 1e9,
        choice_patience: Duration::from_secs(1),
        peer_timeout: timeout,
        meeting_patience: timeout,
    };
    PeerProcess::new(Peer::new(Arc::new(setup)).unwrap(), rank(me), PEERS)
}

fn coordinator() -> CoordinatorProcess<Schemes> {
    let setup = CoordinatorSetup {
        job: 3.into(),
        names: names(),
        update_values: vec![2; PEERS],
        chunk_values: 1,
        update_bits: vec![64.0; PEERS],
        receivers: 1,
        sync: Sync::Bsp,
        force_after: None,
        multicast: Multicast::Hosts,
        rounds: ROUNDS,
        ports: Ports { up_bps: vec![1e9; PEERS], down_bps: vec![1e9; PEERS] },
        gather: Duration::from_secs(1),
        holder: 7,
    };
    let schemes = Schemes::new(Scheme::ALL[0], Reading::default(), 1, "job");
    CoordinatorProcess::new(Coordinator::new(setup, schemes)).with_patience(PATIENCE)
}

/// A message between processes: peers by rank, then the coordinator.
struct Packet {
    from: usize,
    to: usize,
    id: u64,
    data: Bytes,
}

struct World {
    peers: Vec<Option<PeerProcess>>,
    coordinator: Option<CoordinatorProcess<Schemes>>,
    net: VecDeque<Packet>,
    now: Duration,
    /// Peers whose last multicast has ended: they notify others.
    ended: BTreeSet<usize>,
    finished: BTreeMap<usize, Duration>,
    left: BTreeMap<usize, Duration>,
    coordinator_reports: Vec<CoordinatorReport>,
    /// Peer that acknowledges nothing once the other one's last multicast has ended.
    unreachable: Option<usize>,
}

impl World {
    fn new(unreachable: Option<usize>) -> World {
        let mut world = World {
            peers: (0..PEERS).map(|me| Some(peer(me))).collect(),
            coordinator: Some(coordinator()),
            net: VecDeque::new(),
            now: Duration::ZERO,
            ended: BTreeSet::new(),
            finished: BTreeMap::new(),
            left: BTreeMap::new(),
            coordinator_reports: Vec::new(),
            unreachable,
        };
        for at in 0..PEERS {
            let own = world.peers[at].as_mut().unwrap();
            own.up(COORDINATOR, Duration::ZERO);
            own.up(PeerNo(1 - at as u32), Duration::ZERO);
            world.coordinator.as_mut().unwrap().up(PeerNo(at as u32), Duration::ZERO);
        }
        world
    }

    fn run(&mut self, until: Duration) {
        while self.now < until {
            self.now += STEP;
            let now = self.now;
            self.peers.iter_mut().flatten().for_each(|peer| peer.tick(now));
            self.coordinator.iter_mut().for_each(|coordinator| coordinator.tick(now));
            loop {
                self.carry_out();
                let Some(packet) = self.net.pop_front() else { break };
                self.arrive(packet);
            }
        }
    }

    fn carry_out(&mut self) {
        let now = self.now;
        for at in 0..PEERS {
            while let Some(output) = self.peers[at].as_mut().and_then(|peer| peer.next(now)) {
                match output {
                    Output::Send { to, id, data, .. } => {
                        self.net.push_back(Packet { from: at, to: to.index(), id, data });
                    }
                    Output::Report(PeerReport::Compute(_)) => {
                        self.peers[at].as_mut().unwrap().command(vec![at as f32; 2], now);
                    }
                    Output::Report(PeerReport::Ended { outcome, .. }) if outcome.round == ROUNDS => {
                        self.ended.insert(at);
                    }
                    Output::Report(PeerReport::Finished(_)) => drop(self.finished.insert(at, now)),
                    Output::Over => {
                        self.left.insert(at, now);
                        self.peers[at] = None;
                        self.coordinator.iter_mut().for_each(|other| other.left(PeerNo(at as u32), now));
                    }
                    _ => {}
                }
            }
        }
        while let Some(output) = self.coordinator.as_mut().and_then(|coordinator| coordinator.next(now)) {
            match output {
                Output::Send { to, id, data, .. } => {
                    self.net.push_back(Packet { from: PEERS, to: to.index(), id, data });
                }
                Output::Report(report) => self.coordinator_reports.push(report),
                Output::Over => self.coordinator = None,
                _ => {}
            }
        }
    }

    fn arrive(&mut self, Packet { from, to, id, data }: Packet) {
        let now = self.now;
        let is_unreachable = from < PEERS && self.unreachable == Some(to) && self.ended.contains(&(1 - to));
        let sender = PeerNo(from as u32);
        let is_received = match (self.peers.get_mut(to), &mut self.coordinator) {
            (Some(Some(peer)), _) => {
                peer.received(sender, &data, None, now);
                true
            }
            (None, Some(coordinator)) => {
                coordinator.received(sender, &data, None, now);
                true
            }
            _ => false,
        };
        let is_taken = is_received && !is_unreachable;
        match (self.peers.get_mut(from), &mut self.coordinator) {
            (Some(Some(peer)), _) => peer.ended(id, is_taken, now),
            (None, Some(coordinator)) => coordinator.ended(id, is_taken, now),
            _ => {}
        }
    }
}

#[test]
fn peers_leave_once_others_have_heard_of_their_end() {
    let mut world = World::new(None);
    world.run(Duration::from_secs(30));
    assert_eq!(world.finished.len(), PEERS, "both end their rounds");
    assert_eq!(world.left.len(), PEERS, "both leave");
    let waits = world.left.iter().map(|(at, left)| *left - world.finished[at]);
    assert!(waits.max().unwrap() < Duration::from_secs(5), "{:?} {:?}", world.finished, world.left);
    let has_both = |report: &CoordinatorReport| match report {
        CoordinatorReport::InCharge { peers, .. } => *peers == [rank(0), rank(1)],
        _ => false,
    };
    let has_one_receiver = |report: &&CoordinatorReport| match report {
        CoordinatorReport::Chosen { from, to, .. } => to[..] != [*from] && to.len() == 1,
        _ => false,
    };
    let in_charge = world.coordinator_reports.iter().any(has_both);
    let chosen = world.coordinator_reports.iter().filter(has_one_receiver);
    assert!(in_charge && chosen.count() >= PEERS * ROUNDS as usize, "{:?}", world.coordinator_reports);
    assert!(world.coordinator.is_none(), "the coordinator ends with the last round");
}

#[test]
fn a_peer_stays_for_one_that_has_not_heard_of_its_end_but_not_for_ever() {
    // Peer 1 acknowledges none of peer 0's last notices.
    let mut world = World::new(Some(1));
    world.run(Duration::from_secs(20));
    assert!(world.finished.contains_key(&0), "peer 0 knows that peer 1 has ended the last round");
    assert!(!world.left.contains_key(&0), "peer 1 may not know that peer 0 has ended");
    world.run(Duration::from_secs(60));
    let waited = world.left[&0] - world.finished[&0];
    assert!(waited >= Duration::from_secs(30) && waited < Duration::from_secs(32), "{waited:?}");
}

#[test]
fn a_coordinator_without_peers_ends_after_its_patience() {
    let mut lonely = coordinator();
    lonely.tick(PATIENCE - STEP);
    assert!(lonely.next(PATIENCE - STEP).is_none());
    lonely.tick(PATIENCE);
    let report = lonely.next(PATIENCE).and_then(Output::report);
    assert_eq!(report, Some(CoordinatorReport::Alone { waited: PATIENCE }));
    assert!(matches!(lonely.next(PATIENCE), Some(Output::Over)));
    assert!(lonely.next(PATIENCE).is_none(), "once");
}
