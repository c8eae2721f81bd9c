//! The program for Tofino that copies updates, compared with the one for v1model: the same tables and the
//! same random frames, the same answers and counters except for the rules of docs/protocol/tofino.md, section
//! "Updates on Tofino"; and copies of well-formed updates compared with a bitmap and a drawing of the
//! network.

use std::collections::BTreeMap;
use std::sync::Arc;

use inart_p4::{MULTICAST, Reason, Variant};
use inart_switch::control::{Port, Replica};
use inart_switch::{Program, Sink, Switch};
use inart_tables::{
    GroupId, MacAction, MacKey, PortNo, ReceiversAction, ReceiversKey, SwitchPortsAction, SwitchPortsKey,
    SwitchTables, UpdatesAction, UpdatesKey,
};
use inart_wire::{BitmapIndex, Contributors, Group, MacAddr};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

const HEADER: usize = 44;
const FRAME: usize = HEADER + 4 * 256;
const JOB: u16 = 7;
const UPDATE: u8 = 6;
/// Peers 0, 1, 2, 64 and 66 at ports 1, 2, 3, 6 and 7; 3, 4 and 65 behind another switch, at port 4.
const SENDERS: [(u16, u16); 8] = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 4), (64, 6), (65, 4), (66, 7)];
/// By block: port, and the bitmap of the peers behind it.
const BEHIND: [&[(u16, u64)]; 2] =
    [&[(1, 0b1), (2, 0b10), (3, 0b100), (4, 0b11000)], &[(4, 0b10), (6, 0b1), (7, 0b100)]];
/// Port in the groups of updates without a receiver.
const NO_RECEIVER: u16 = 5;
const FLOOD_GROUP: u16 = 1;
/// Addresses: at port 2, rejected, and unused.
const ADDRESSES: [[u8; 6]; 3] = [[2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 0xee], [2, 0, 0, 0, 0, 0x77]];

fn port(number: u16) -> PortNo {
    PortNo::try_from(u64::from(number)).expect("ports count from 1")
}

fn tables() -> SwitchTables {
    let updates = SENDERS.into_iter().flat_map(|(rank, ingress)| {
        (0..2u8).map(move |group| {
            let worker = BitmapIndex::try_from(rank).expect("a low rank");
            let (plan_version, job, ingress) = (1.into(), JOB.into(), port(ingress));
            let key = UpdatesKey { plan_version, job, group: Group(group), worker, ingress };
            (key, UpdatesAction::Replicate { group: GroupId(3 + u16::from(group)) })
        })
    });
    let receivers = (0..2u8).zip(BEHIND).flat_map(|(group, behind)| {
        behind.iter().map(move |&(egress, bitmap)| {
            let group = Group(group);
            let key = ReceiversKey { plan_version: 1.into(), job: JOB.into(), group, egress: port(egress) };
            (key, ReceiversAction::Narrow { members: Contributors { bitmap, group } })
        })
    });
    let address = |dst| MacKey { dst: MacAddr(dst) };
    let copied = (3..).zip(BEHIND).map(|(group, behind)| {
        (GroupId(group), behind.iter().map(|(behind, _)| *behind).chain([NO_RECEIVER]).map(port).collect())
    });
    SwitchTables {
        switch_ports: [(SwitchPortsKey { ingress: port(4) }, SwitchPortsAction::Trust)].into(),
        updates: updates.collect(),
        receivers: receivers.collect(),
        mac: [
            (address(ADDRESSES[0]), MacAction::Send { port: port(2) }),
            (address(ADDRESSES[1]), MacAction::Refuse),
        ]
        .into(),
        mac_default: MacAction::Flood { group: GroupId(FLOOD_GROUP) },
        groups: copied.chain([(GroupId(FLOOD_GROUP), (1..=8).map(port).collect())]).collect(),
        ..SwitchTables::default()
    }
}

fn switch(program: &Arc<Program>) -> Switch {
    let mut switch = Switch::new(1);
    switch.load(Arc::clone(program)).expect("it loads");
    let tables = tables();
    for row in tables.rows() {
        let (table, action) = (row.table.full_name, row.action.full_name);
        switch.put_numbers(table, row.key.as_deref(), action, &row.params).expect("the entry fits");
    }
    for (group, ports) in tables.groups {
        let replicas = ports.iter().map(|port| Replica { port: Port(port.get().into()), instance: 1 });
        switch.put_multicast_group(group.0.into(), replicas.collect(), false).expect("the group is new");
    }
    switch
}

/// An INART frame before it is spoilt.
#[derive(Clone, Debug)]
struct Inart {
    kind: u8,
    flags: u8,
    plan_version: u16,
    job: u16,
    worker: u16,
    contributors: u64,
    group: u8,
    length: u16,
    dst: [u8; 6],
    noise: u8,
}

impl Inart {
    fn bytes(&self) -> Vec<u8> {
        let mut frame = self.dst.to_vec();
        frame.extend([2, 0, 0, 0, 0, 9, 0x88, 0xb5, 0x30 | self.kind, self.flags]);
        for word in [self.plan_version, self.job, 0x1234, self.worker] {
            frame.extend(word.to_be_bytes());
        }
        frame.extend(u32::from(self.noise).wrapping_mul(0x0101_0305).to_be_bytes());
        frame.extend(self.contributors.to_be_bytes());
        frame.extend([self.group, self.noise]);
        frame.extend(self.length.to_be_bytes());
        frame.extend([self.noise; 4]);
        frame.extend((0..1024u32).map(|at| (at as u8).wrapping_mul(self.noise)));
        frame
    }

    /// Returns the expected copies for its peers, if it is well formed and arrives from its sender's port.
    fn copies(&self, ingress: u16) -> Option<Vec<(u32, Vec<u8>)>> {
        let is_sound = self.kind == UPDATE && self.flags < 0x20 && (1..=256).contains(&self.length);
        let is_peer = (self.plan_version, self.job) == (1, JOB) && SENDERS.contains(&(self.worker, ingress));
        let behind = BEHIND.get(usize::from(self.group))?;
        (is_sound && is_peer && self.contributors != 0).then(|| {
            let wanted =
                behind.iter().filter(|(out, bitmap)| *out != ingress && self.contributors & bitmap != 0);
            let copy = |&(out, bitmap): &(u16, u64)| {
                (out.into(), Inart { contributors: self.contributors & bitmap, ..self.clone() }.bytes())
            };
            wanted.map(copy).collect()
        })
    }
}

#[derive(Clone, Debug)]
struct Arrival {
    port: u16,
    frame: Vec<u8>,
    /// Frame before any damage, if it has none.
    whole: Option<Inart>,
}

fn inart() -> impl Strategy<Value = Inart> {
    let kind = prop_oneof![8 => Just(UPDATE), 3 => 4..6u8, 2 => 0..16u8];
    let rank = prop_oneof![9 => select(SENDERS.map(|(rank, _)| rank).to_vec()), 1 => 0..70u16];
    let bits = prop_oneof![6 => 0..32u64, 1 => Just(u64::MAX), 1 => Just(0), 1 => any::<u64>()];
    let group = prop_oneof![8 => 0..2u8, 1 => any::<u8>()];
    let length = prop_oneof![6 => 1..=256u16, 1 => Just(0), 1 => 255..=258u16, 1 => any::<u16>()];
    let flags = prop_oneof![6 => 0..0x20u8, 1 => any::<u8>()];
    let plan = prop_oneof![9 => Just((1, JOB)), 1 => (0..3u16, 6..9u16)];
    let other = (select(ADDRESSES.to_vec()), any::<u8>());
    (kind, rank, bits, group, length, flags, plan, other).prop_map(
        |(kind, worker, contributors, group, length, flags, (plan_version, job), (dst, noise))| Inart {
            kind,
            flags,
            plan_version,
            job,
            worker,
            contributors,
            group,
            length,
            dst,
            noise,
        },
    )
}

/// Port of its sender, mostly.
fn port_of(inart: &Inart, random: u16) -> u16 {
    let own = SENDERS.iter().find(|(rank, _)| *rank == inart.worker).map_or(1, |(_, at)| *at);
    if random < 10 { random.max(1) } else { own }
}

fn damage(frame: &mut Vec<u8>, how: u8, by: u16) {
    match how {
        0 => frame.truncate(usize::from(by) % FRAME),
        1 => frame.truncate(usize::from(by) % (HEADER + 8)),
        2 => frame.extend(vec![0; usize::from(by % 64) + 1]),
        3 => frame[14] = by as u8,
        4 => frame[12..14].copy_from_slice(&[8, 0]),
        _ => {
            let tags = [[0x81, 0, 0, 7], [0x88, 0xa8, 0, 7], [0x91, 0, 0, 7]];
            let tags = (0..=by % 5).flat_map(|at| tags[usize::from(at % 3)]);
            frame.splice(12..12, tags);
        }
    }
}

fn arrival() -> impl Strategy<Value = Arrival> {
    (inart(), 0..60u16, prop_oneof![5 => Just(None), 1 => (0..6u8, any::<u16>()).prop_map(Some)]).prop_map(
        |(inart, random, spoilt)| {
            let (port, mut frame) = (port_of(&inart, random), inart.bytes());
            if let Some((how, by)) = spoilt {
                damage(&mut frame, how, by);
            }
            let whole = spoilt.is_none().then_some(inart);
            Arrival { port, frame, whole }
        },
    )
}

#[derive(Default)]
struct Sent(Vec<(u32, Vec<u8>)>);

impl Sink for Sent {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.0.push((port.0, frame.to_vec()));
    }
}

/// Output, and increments of counters by name and index.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    out: Vec<(u32, Vec<u8>)>,
    counted: BTreeMap<(&'static str, usize), u64>,
}

impl Answer {
    fn drops(&self) -> Vec<(usize, u64)> {
        let drops = self.counted.iter().filter(|((name, _), _)| *name == "drops");
        drops.map(|((_, reason), count)| (*reason, *count)).collect()
    }

    fn copies(&self) -> u64 {
        let of = ["unwanted", "pruned", "egress_inart"];
        self.counted.iter().filter(|((name, _), _)| of.contains(name)).map(|(_, count)| *count).sum()
    }
}

const COUNTERS: [&str; 7] =
    ["drops", "unwanted", "pruned", "ingress_inart", "ingress_others", "egress_inart", "egress_others"];

fn counted(switch: &Switch) -> BTreeMap<(&'static str, usize), u64> {
    let mut all = BTreeMap::new();
    for name in COUNTERS {
        let cells =
            ["InArtIngress", "InArtEgress"].map(|control| switch.counters(&format!("{control}.{name}")));
        assert!(cells.iter().any(Result::is_ok), "{name} is there");
        for (index, cell) in cells.into_iter().flatten().flat_map(|cells| cells.iter().enumerate()) {
            *all.entry((name, index)).or_default() += cell.packets;
        }
    }
    all
}

fn answer(switch: &mut Switch, arrival: &Arrival) -> Answer {
    let before = counted(switch);
    let mut sent = Sent::default();
    switch.process(Port(arrival.port.into()), &arrival.frame, 0, &mut sent);
    sent.0.sort();
    let grown = counted(switch).into_iter().map(|(at, after)| (at, after - before.get(&at).unwrap_or(&0)));
    Answer { out: sent.0, counted: grown.filter(|(_, count)| *count > 0).collect() }
}

/// Differences of the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rule {
    /// A wrong size shows in egress, for each copy; other reasons come before it.
    Size,
    /// Gradients and partials have no route, whatever else is wrong with their contributors.
    Sums,
}

fn rule(arrival: &Arrival, v1model: &Answer, tna: &Answer) -> Option<Rule> {
    let frame = &arrival.frame;
    if frame.len() < HEADER || frame[12..14] != [0x88, 0xb5] {
        return None;
    }
    let index = |reason: Reason| reason.index();
    if frame.len() != FRAME {
        let wrong = index(Reason::WrongSize);
        let [(v1model_says, 1)] = v1model.drops()[..] else { return None };
        let [(says, copies)] = tna.drops()[..] else { return None };
        let is_seen = [wrong, index(Reason::TooShort)].contains(&v1model_says);
        let is_dropped = (says == wrong && copies >= 1) || (says != wrong && copies == 1);
        return (is_seen && is_dropped && tna.out.is_empty() && tna.copies() == 0).then_some(Rule::Size);
    }
    let of_sums = [Reason::BadGroup, Reason::BadContributors].map(index);
    let is_sum = frame[14] == 0x31 || frame[14] == 0x32;
    let differs = of_sums.map(|reason| vec![(reason, 1)]).contains(&v1model.drops());
    let has_no_route = tna.drops() == [(index(Reason::NoRoute), 1)];
    (is_sum && differs && has_no_route && tna.out.is_empty()).then_some(Rule::Sums)
}

fn programs(variant: Variant) -> [Arc<Program>; 2] {
    let tna = inart_p4::tofino_multicast_artifact(variant).expect("it is built in");
    [inart_p4::artifact(variant.values).json, tna.json]
        .map(|json| Program::compile(&json).expect("it compiles"))
}

#[test]
fn the_same_frames_as_on_v1model_but_for_the_rules() {
    MULTICAST.into_iter().for_each(|variant| compare_with_v1model(variant, 40));
}

#[test]
#[ignore = "soak: about 45 s"]
fn two_hundred_sequences_of_frames_as_on_v1model_but_for_the_rules() {
    MULTICAST.into_iter().for_each(|variant| compare_with_v1model(variant, 200));
}

/// Feeds `cases` sequences of frames, unless `PROPTEST_CASES` sets another number.
fn compare_with_v1model(variant: Variant, cases: u32) {
    let programs = programs(variant);
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let met = std::cell::RefCell::new((BTreeMap::new(), BTreeMap::new()));
    let run = runner.run(&prop::collection::vec(arrival(), 1..60), |frames| {
        let [mut v1model, mut tna] = [0, 1].map(|at: usize| switch(&programs[at]));
        for arrival in &frames {
            let (one, other) = (answer(&mut v1model, arrival), answer(&mut tna, arrival));
            let mut met = met.borrow_mut();
            if one != other {
                let rule = rule(arrival, &one, &other);
                let differ =
                    || TestCaseError::fail(format!("{arrival:x?}\nv1model: {one:x?}\nTNA: {other:x?}"));
                *met.0.entry(rule.ok_or_else(differ)?).or_insert(0u64) += 1;
            }
            if let Some(copies) = arrival.whole.as_ref().and_then(|whole| whole.copies(arrival.port)) {
                prop_assert_eq!(&other.out, &copies, "{:?}", arrival.whole);
                *met.1.entry(("copies", copies.len())).or_insert(0u64) += 1;
            }
            for (at, count) in other.drops() {
                *met.1.entry(("reason", at)).or_insert(0) += count;
            }
            for ((name, _), count) in &other.counted {
                *met.1.entry((*name, 0)).or_insert(0) += count;
            }
        }
        Ok(())
    });
    run.unwrap_or_else(|failed| panic!("{failed}"));
    let (rules, seen) = met.into_inner();
    eprintln!("{rules:?} {seen:?}");
    assert!([Rule::Size, Rule::Sums].iter().all(|rule| rules.contains_key(rule)), "{rules:?}");
    for reason in Reason::ALL {
        // The first sequence of sums reports all reasons of sums.
        let is_counted = !matches!(reason, Reason::BadGroup | Reason::NotMember);
        assert_eq!(seen.contains_key(&("reason", reason.index())), is_counted, "{reason}: {seen:?}");
    }
    assert!((0..4).all(|copies| seen.contains_key(&("copies", copies))), "{seen:?}");
    assert!(COUNTERS.iter().all(|name| seen.contains_key(&(*name, 0))), "{seen:?}");
}

#[test]
fn an_update_reaches_its_receivers_and_copies_without_a_receiver_are_counted() {
    let [_, program] = programs(MULTICAST[0]);
    let mut switch = switch(&program);
    let update = Inart {
        kind: UPDATE,
        flags: 0,
        plan_version: 1,
        job: JOB,
        worker: 0,
        contributors: 0b11010,
        group: 0,
        length: 256,
        dst: ADDRESSES[2],
        noise: 3,
    };
    let mut feed = |port, frame| answer(&mut switch, &Arrival { port, frame, whole: None });
    let copy = |bits| Inart { contributors: bits, ..update.clone() }.bytes();
    let said = feed(1, update.bytes());
    assert_eq!(said.out, [(2, copy(0b10)), (4, copy(0b11000))]);
    let counted = |name, port| ((name, port), 1);
    let expected = [
        counted("unwanted", 3),
        counted("unwanted", 5),
        counted("pruned", 1),
        counted("ingress_inart", 1),
        counted("egress_inart", 2),
        counted("egress_inart", 4),
    ];
    assert_eq!(said.counted, expected.into());
    // Of a stranger nothing leaves.
    let forged = feed(8, update.bytes());
    assert_eq!((forged.out, forged.counted[&("drops", Reason::NoUpdateRoute.index())]), (vec![], 1));
    // Each copy of a frame that is too long is counted, wanted or not.
    let long = feed(1, [&update.bytes()[..], &[0]].concat());
    assert_eq!((long.out, long.counted[&("drops", Reason::WrongSize.index())]), (vec![], 5));
}
