//! Updates between peers through networks of embedded switches with the controller's entries: each peer in
//! the bitmap gets one copy, and no other peer gets any. Needs neither ports nor root: the test moves the
//! frames.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, LazyLock};

use inart_controller::multicast::{MulticastError, requirements};
use inart_controller::tables::{Occupied, of_job};
use inart_controller::{Known, Network, PortMap, Wanted, intent};
use inart_switch::control::Replica;
use inart_switch::{Port, Program, Sink, Switch};
use inart_tables::{GroupId, ReceiversAction, SwitchTables, UpdatesAction};
use inart_topologies::peers::Mesh;
use inart_wire::{
    ChunkSeq, Contributors, Exponent, Flags, Frame, FrameRepr, Group, HeaderRepr, Kind, MacAddr, Rank,
    ShardId, ValuesPerFrame,
};
use proptest::prelude::*;

use crate::support::LIMITS;

const VALUES: ValuesPerFrame = ValuesPerFrame::N32;
const JOB: u16 = 7;
const PLAN_VERSION: u16 = 3;

/// Compiled once for all networks.
static PROGRAM: LazyLock<Arc<Program>> =
    LazyLock::new(|| Program::compile(&inart_p4::artifact(VALUES).json).unwrap());

/// Returns peers p0, p1, ... at the switches `homes`, which are linked to their `parents`; switch 0 has
/// none.
fn mesh(parents: &[usize], homes: &[usize]) -> Mesh {
    let mut text = "name: mesh\nnodes:\n".to_owned();
    (0..homes.len()).for_each(|peer| text += &format!("  - {{name: p{peer}, kind: peer}}\n"));
    (0..=parents.len()).for_each(|switch| text += &format!("  - {{name: s{switch}, kind: switch}}\n"));
    text += "links:\n";
    for (switch, parent) in parents.iter().enumerate() {
        text += &format!("  - {{ends: [s{}, s{parent}], rate: 1000 Gbps}}\n", switch + 1);
    }
    for (peer, home) in homes.iter().enumerate() {
        text += &format!("  - {{ends: [p{peer}, s{home}], rate: 1 Gbps}}\n");
    }
    let peers: Vec<_> = (0..homes.len()).map(|peer| format!("p{peer}")).collect();
    text +=
        &format!("jobs:\n  - {{name: lstm, peers: [{}], receivers: 1, update: 1 MB}}\n", peers.join(", "));
    Mesh::from_yaml(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the rows of jobs of peers on the switches, under [`PLAN_VERSION`].
fn network(ports: &PortMap, jobs: &[(u16, &[&str])]) -> Network {
    let wanted = jobs.iter().map(|(number, peers)| Wanted {
        job: (*number).into(),
        name: format!("job{number}"),
        requirements: requirements(ports, "lstm", peers).unwrap(),
        window: 1,
        new_plan_version: false,
        known: Known { only: Some(PLAN_VERSION.into()), ..Known::default() },
    });
    intent(ports, LIMITS, &Network::new(), &wanted.collect::<Vec<_>>()).unwrap().desired
}

/// Network of embedded switches.
pub struct Net {
    ports: PortMap,
    switches: BTreeMap<String, Switch>,
}

struct Frames(Vec<(u64, Vec<u8>)>);

impl Sink for Frames {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.0.push((u64::from(port.0), frame.to_vec()));
    }
}

fn load(program: &Arc<Program>, tables: &SwitchTables) -> Switch {
    let mut switch = Switch::new(0);
    switch.load(program.clone()).unwrap();
    for row in tables.rows() {
        let (table, action) = (row.table.full_name, row.action.full_name);
        switch.put_numbers(table, row.key.as_deref(), action, &row.params).unwrap();
    }
    for (group, ports) in &tables.groups {
        let replicas = ports.iter().map(|port| Replica { port: Port(port.get().into()), instance: 1 });
        switch.put_multicast_group(group.0.into(), replicas.collect(), false).unwrap();
    }
    switch
}

impl Net {
    /// Creates switches with these tables.
    pub fn holding(ports: PortMap, tables: &Network) -> Self {
        let switches = tables.iter().map(|(name, tables)| (name.clone(), load(&PROGRAM, tables))).collect();
        Net { ports, switches }
    }

    fn new(mesh: &Mesh) -> Self {
        Net::changed(mesh, &PROGRAM, |_| {})
    }

    /// Creates a network with another program, or with changed entries.
    fn changed(mesh: &Mesh, program: &Arc<Program>, change: impl Fn(&mut SwitchTables)) -> Self {
        let ports = PortMap::of_mesh(mesh).unwrap();
        let job = &mesh.jobs()[0];
        let peers: Vec<_> = (0..job.peers.len()).map(|rank| mesh.name_of(job, rank)).collect();
        let mut tables = network(&ports, &[(JOB, &peers)]);
        tables.values_mut().for_each(change);
        let switches = tables.iter().map(|(name, tables)| (name.clone(), load(program, tables))).collect();
        Net { ports, switches }
    }

    /// Sends a frame from a host and everything that follows from it. Returns the frames that arrive at
    /// hosts, in order.
    pub fn send(&mut self, from: &str, frame: Vec<u8>) -> Vec<(String, Vec<u8>)> {
        let first = self.ports.attachment(from).unwrap().to_owned();
        let mut flying = VecDeque::from([(from.to_owned(), first, frame)]);
        let mut arrived = Vec::new();
        for _ in 0..10_000 {
            let Some((from, at, frame)) = flying.pop_front() else { return arrived };
            let ingress = self.ports.port(&at, &from).unwrap();
            let Some(switch) = self.switches.get_mut(&at) else { panic!("{at} is no switch") };
            let mut out = Frames(Vec::new());
            switch.process(Port(ingress.get().into()), &frame, 0, &mut out);
            for (port, frame) in out.0 {
                let next = self.ports.peer(&at, port.try_into().unwrap()).unwrap().to_owned();
                match self.ports.is_switch(&next) {
                    true => flying.push_back((at.clone(), next, frame)),
                    false => arrived.push((next, frame)),
                }
            }
        }
        panic!("frames go in circles");
    }

    fn dropped(&self) -> u64 {
        let of = |switch: &Switch| -> u64 {
            switch.counters("InArtIngress.drops").unwrap().iter().map(|cell| cell.packets).sum()
        };
        self.switches.values().map(of).sum()
    }
}

fn update(from: usize, receivers: Contributors) -> Vec<u8> {
    let repr = FrameRepr {
        destination: MacAddr([1, 0, 0x5e, 0, 0, 7]),
        source: MacAddr([2, 0, 0, 0, 0, 1]),
        values_per_frame: VALUES,
        header: HeaderRepr {
            kind: Kind::Update,
            flags: Flags::LAST,
            plan_version: PLAN_VERSION.into(),
            job: JOB.into(),
            shard: ShardId::from(0xabcd),
            worker: Rank::try_from(from).unwrap().bitmap_index(),
            sequence: ChunkSeq::from(0x0102_0304),
            contributors: receivers,
            exponent: Exponent::from(0),
            length: 3,
            incarnation: 99.into(),
        },
    };
    let mut bytes = vec![0; repr.buffer_len()];
    repr.emit(&[f32::NAN.to_bits() as i32, 1, i32::MIN], &mut bytes).unwrap();
    bytes
}

/// Returns a frame for each block with a peer of `to`, by an independent computation.
fn frames_for(to: &BTreeSet<usize>) -> Vec<Contributors> {
    let block = |group: usize| {
        let bits = to.iter().filter(|rank| *rank / 64 == group).map(|rank| 1u64 << (rank % 64));
        Contributors { bitmap: bits.sum(), group: Group(group as u8) }
    };
    (0..4).map(block).filter(|block| block.bitmap != 0).collect()
}

/// Sends the update to `to`. Returns what is wrong with the arriving frames.
fn exactly(net: &mut Net, from: usize, to: &BTreeSet<usize>) -> Result<(), String> {
    let mut got = Vec::new();
    for receivers in frames_for(to) {
        let sent = update(from, receivers);
        for (host, frame) in net.send(&format!("p{from}"), sent.clone()) {
            let rank: usize = host.strip_prefix('p').unwrap().parse().unwrap();
            let named = Frame::new_checked(&frame[..]).unwrap().contributors();
            if (named.group.index(), named.bitmap) != (rank / 64, 1 << (rank % 64)) {
                return Err(format!("{host} gets a copy for {named}"));
            }
            let mut restored = frame;
            restored[28..36].copy_from_slice(&sent[28..36]);
            if restored != sent {
                return Err(format!("more than the bitmap was changed on the way to {host}"));
            }
            got.push(rank);
        }
    }
    got.sort_unstable();
    let wanted: Vec<_> = to.iter().copied().collect();
    if got == wanted { Ok(()) } else { Err(format!("from {from}: {got:?} get it, not {wanted:?}")) }
}

/// Generates switches in a tree, and peers at them.
fn networks() -> impl Strategy<Value = (Vec<usize>, Vec<usize>)> {
    let sizes = (0..5usize, prop_oneof![2..20usize, 60..70usize, 120..150usize]);
    sizes.prop_flat_map(|(more, peers)| {
        let parents: Vec<_> = (0..more).map(|switch| 0..=switch).collect();
        (parents, prop::collection::vec(0..=more, peers))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn each_chosen_peer_gets_one_copy_and_no_other_peer_any(
        (parents, homes) in networks(),
        rounds in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>(), 0..4u32), 1..12),
    ) {
        let mut net = Net::new(&mesh(&parents, &homes));
        for (from, seed, sparse) in rounds {
            let from = from.index(homes.len());
            // Each other peer with probability 1, 1/2, 1/8 or 1/64.
            let chosen = |rank: &usize| {
                let mixed = seed ^ (*rank as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let draw = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
                *rank != from && draw.is_multiple_of([1, 2, 8, 64][sparse as usize])
            };
            let to = (0..homes.len()).filter(chosen).collect();
            prop_assert_eq!(exactly(&mut net, from, &to), Ok(()));
        }
        prop_assert_eq!(net.dropped(), 0);
    }

    /// A host cannot send in another's name, whatever the receivers.
    #[test]
    fn an_unauthorized_sender_reaches_no_peer(
        (parents, homes) in networks(),
        draws in any::<[prop::sample::Index; 2]>(),
        bitmap in 1..u64::MAX,
    ) {
        let mut net = Net::new(&mesh(&parents, &homes));
        let [liar, named] = draws.map(|draw| draw.index(homes.len()));
        prop_assume!(liar != named);
        for group in 0..3 {
            let forged = update(named, Contributors { bitmap, group: Group(group) });
            prop_assert_eq!(net.send(&format!("p{liar}"), forged), vec![]);
        }
        prop_assert_eq!(net.dropped(), 3);
    }
}

#[test]
fn an_update_for_more_than_64_peers_needs_a_frame_per_block() {
    let homes: Vec<_> = (0..70).map(|peer| peer % 3).collect();
    let mut net = Net::new(&mesh(&[0, 0], &homes));
    let all: BTreeSet<_> = (1..70).collect();
    assert_eq!(frames_for(&all).len(), 2);
    assert_eq!(exactly(&mut net, 0, &all), Ok(()));
    assert_eq!(exactly(&mut net, 69, &(0..69).collect()), Ok(()));
    assert_eq!(exactly(&mut net, 5, &[63, 64].into()), Ok(()));
}

#[test]
fn the_entries_of_two_switches_are_few_and_as_written() {
    // s0: p0 at port 1, p1 at port 2, s1 at port 3. s1: p2 at port 1, s0 at port 2.
    let mesh = mesh(&[0], &[0, 0, 1]);
    let ports = PortMap::of_mesh(&mesh).unwrap();
    let behind: Vec<_> = ports.ports("s0").map(|(port, peer)| (port.get(), peer)).collect();
    assert_eq!(behind, [(1, "p0"), (2, "p1"), (3, "s1")]);
    assert_eq!(ports.mac("p2").unwrap().to_string(), "02:49:4e:50:00:02");
    let tables = network(&ports, &[(JOB, &["p0", "p1", "p2"])]);
    let rows = |switch: &str| -> Vec<_> {
        let rows = tables[switch].rows().into_iter().map(|row| row.to_string());
        rows.filter(|row| row.starts_with("updates") || row.starts_with("receivers")).collect()
    };
    assert_eq!(
        rows("s0"),
        [
            "updates[epoch=3, job=7, group=0, worker=0, ingress=1] -> replicate(group=2)",
            "updates[epoch=3, job=7, group=0, worker=1, ingress=2] -> replicate(group=2)",
            "updates[epoch=3, job=7, group=0, worker=2, ingress=3] -> replicate(group=2)",
            "receivers[epoch=3, job=7, group=0, egress=1] -> narrow(members=1)",
            "receivers[epoch=3, job=7, group=0, egress=2] -> narrow(members=2)",
            "receivers[epoch=3, job=7, group=0, egress=3] -> narrow(members=4)",
        ]
    );
    assert_eq!(
        rows("s1"),
        [
            "updates[epoch=3, job=7, group=0, worker=0, ingress=2] -> replicate(group=2)",
            "updates[epoch=3, job=7, group=0, worker=1, ingress=2] -> replicate(group=2)",
            "updates[epoch=3, job=7, group=0, worker=2, ingress=1] -> replicate(group=2)",
            "receivers[epoch=3, job=7, group=0, egress=1] -> narrow(members=4)",
            "receivers[epoch=3, job=7, group=0, egress=2] -> narrow(members=3)",
        ]
    );
    assert_eq!(tables["s0"].groups[&GroupId(2)].iter().map(|port| port.get()).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn two_jobs_share_switches_and_the_same_plan_keeps_its_groups() {
    let ports = PortMap::of_mesh(&mesh(&[0], &[0, 0, 1, 1])).unwrap();
    let both = network(&ports, &[(1, &["p0", "p1", "p2"]), (2, &["p1", "p3"])]);
    let s0 = &both["s0"];
    assert_eq!(s0.jobs(), [1.into(), 2.into()].into());
    let groups: BTreeSet<_> = s0.groups.keys().map(|group| group.0).collect();
    assert_eq!(groups, [1, 2, 3].into(), "the flood group, and one for each job");
    // Job 2 comes first now, and there are other jobs: its group stays.
    let asked = &requirements(&ports, "two", &["p1", "p3"]).unwrap()["s0"];
    let installed = |plan_version: u16, taken: &SwitchTables| {
        of_job(asked, 2.into(), plan_version.into(), 1, s0, &mut Occupied::by(taken, 0)).unwrap()
    };
    let again = installed(PLAN_VERSION, &SwitchTables::default());
    assert!(again.updates.values().all(|action| *action == UpdatesAction::Replicate { group: GroupId(3) }));
    let reinstalled = installed(PLAN_VERSION + 1, s0);
    assert!(
        reinstalled.updates.values().all(|action| *action == UpdatesAction::Replicate { group: GroupId(4) })
    );
}

#[test]
fn jobs_that_cannot_be_copied_to_are_refused_by_name() {
    let ports = PortMap::of_mesh(&mesh(&[0], &[0, 1])).unwrap();
    let refusal = |peers: &[&str]| requirements(&ports, "lstm", peers).unwrap_err().to_string();
    let not_a_host = "which is not a host at a switch of the network: link it to one";
    assert_eq!(refusal(&["p0", "p9"]), format!("job lstm has peer p9, {not_a_host}"));
    assert_eq!(refusal(&["p0", "s1"]), format!("job lstm has peer s1, {not_a_host}"));
    assert_eq!(refusal(&["p0", "p1", "p0"]), "job lstm lists peer p0 twice: list each peer once");
    let topology = inart_topologies::switched::Topology::from_yaml(
        "name: islands\nnodes:\n  - {name: a, kind: switch, aggregation_capacity: 1 Gbps}\n  - {name: b, kind: switch, aggregation_capacity: 1 Gbps}\n  \
         - {name: w, kind: worker}\n  - {name: v, kind: worker}\n  \
         - {name: p, kind: server, ingress_capacity: 1 Gbps}\nlinks:\n  \
         - {ends: [w, a], rate: 1 Gbps}\n  - {ends: [p, a], rate: 1 Gbps}\n  \
         - {ends: [v, b], rate: 1 Gbps}\njobs:\n  \
         - {name: j, workers: [w], servers: [p], gradient: 1 MB}\n",
    );
    let ports = PortMap::new(&topology.unwrap()).unwrap();
    let error = requirements(&ports, "lstm", &["w", "v"]).unwrap_err();
    assert_eq!(error.to_string(), "job lstm: no path leads from peer w to peer v: link their switches");
    assert!(matches!(error, MulticastError::Apart { .. }));
}

/// Compiles the program without the body of an action.
fn without(action: &str) -> Arc<Program> {
    let mut json: serde_json::Value = serde_json::from_slice(&inart_p4::artifact(VALUES).json).unwrap();
    let actions = json["actions"].as_array_mut().unwrap();
    let action = actions.iter_mut().find(|found| found["name"] == action).unwrap();
    action["primitives"] = serde_json::json!([]);
    Program::compile(json.to_string().as_bytes()).unwrap()
}

/// Detects mistakes: a switch that does not prune, and masks of other peers.
#[test]
fn a_mistake_in_the_egress_mask_is_noticed() {
    let mesh = mesh(&[0], &[0, 0, 1, 1]);
    let fault = |program: &Arc<Program>, change: fn(&mut SwitchTables)| {
        let mut net = Net::changed(&mesh, program, change);
        exactly(&mut net, 0, &[1, 2].into()).unwrap_err()
    };
    assert_eq!(fault(&without("InArtEgress.narrow"), |_| {}), "p1 gets a copy for {1-2}");
    let swapped = |tables: &mut SwitchTables| {
        for ReceiversAction::Narrow { members } in tables.receivers.values_mut() {
            members.bitmap = members.bitmap.rotate_left(1);
        }
    };
    assert_eq!(fault(&PROGRAM, swapped), "p1 gets a copy for {2}");
    let lacking = |tables: &mut SwitchTables| {
        tables.receivers.pop_last();
    };
    assert_eq!(fault(&PROGRAM, lacking), "from 0: [1] get it, not [1, 2]");
}
