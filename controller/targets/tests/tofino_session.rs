//! Target over BFRuntime, against the embedded switch with the programs for Tofino, and with the v1model
//! program, whose tables are the same.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use inart_bfruntime::DeviceId;
use inart_p4::{Outcome, Reason, Variant};
use inart_p4runtime::Schema;
use inart_switch::bfrt::Server;
use inart_switch::{Port, Sink, Switch};
use inart_tables::{
    GroupId, MacAction, MacKey, PortNo, SlotRange, SteerAction, SteerKey, SwitchPortsAction, SwitchPortsKey,
    SwitchTables, diff,
};
use inart_targets::tofino::{Compiled, Image, TOFINO, TOFINO2};
use inart_targets::{
    Access, Endpoint, PortNumbers, Precedence, Program, Running, Session, SwitchError, Target,
};
use inart_wire::{BitmapIndex, Contributors, MacAddr, ValuesPerFrame};

use crate::bf_rt;

const VALUES: ValuesPerFrame = ValuesPerFrame::N32;
const DEVICE: u32 = 1;

struct Quiet;

impl Sink for Quiet {
    fn packet(&mut self, _: Port, _: &[u8]) {}
}

fn of_v1model() -> Compiled {
    let artifact = inart_p4::artifact(VALUES);
    let info = bf_rt::bf_rt(&Schema::from_text(&artifact.p4info).unwrap());
    let image = Image { binary: artifact.json.to_vec(), ..Image::default() };
    Compiled::new(VALUES, info.as_bytes(), image).unwrap()
}

fn of_tofino(variant: Variant) -> Compiled {
    let artifact = inart_p4::tofino_artifact(variant).unwrap();
    let image = Image { binary: artifact.json.into_owned(), ..Image::default() };
    Compiled::new(variant.values, &artifact.bf_rt, image).unwrap()
}

struct Rig {
    address: String,
    switch: Arc<Mutex<Switch>>,
    program: Compiled,
}

impl Rig {
    async fn start() -> Self {
        Self::of(of_v1model()).await
    }

    async fn of(program: Compiled) -> Self {
        let switch = Arc::new(Mutex::new(Switch::new(1)));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(Server::new(DeviceId(DEVICE), switch.clone()).serve(listener, std::future::pending()));
        Rig { address, switch, program }
    }

    async fn open(&self, access: Access) -> Result<Box<dyn Session>, SwitchError> {
        self.open_at(access, PortNumbers::default()).await
    }

    /// Opens a session with ports of these numbers.
    async fn open_at(&self, access: Access, ports: PortNumbers) -> Result<Box<dyn Session>, SwitchError> {
        let place = Endpoint::local(&self.address, DEVICE.into());
        self.program.open(Endpoint { timeout: Duration::from_millis(300), ports, ..place }, access).await
    }

    fn send(&self, port: u32, frame: &[u8]) {
        self.switch.lock().unwrap().process(Port(port), frame, 0, &mut Quiet);
    }
}

fn port(number: u64) -> PortNo {
    PortNo::try_from(number).unwrap()
}

fn steer(worker: u16, ingress: u64) -> SteerKey {
    SteerKey {
        plan_version: 1.into(),
        job: 1.into(),
        shard: 0.into(),
        worker: BitmapIndex::try_from(worker).unwrap(),
        ingress: port(ingress),
    }
}

fn add(bitmap: u64, base: u32) -> SteerAction {
    let members = |bitmap| Contributors { bitmap, ..Contributors::one(BitmapIndex::try_from(0u16).unwrap()) };
    SteerAction::Add {
        port: port(70),
        slots: SlotRange { base, len: 64 },
        members: members(bitmap),
        expected: members(3),
    }
}

/// One entry of every kind. Port 70 is in the second pipe.
fn tables() -> SwitchTables {
    let mut tables = SwitchTables::default();
    tables.steer.insert(steer(0, 2), add(1, 64));
    tables.steer.insert(steer(1, 3), add(2, 64));
    tables.mac.insert(MacKey { dst: MacAddr([2, 0, 0, 0, 0, 9]) }, MacAction::Send { port: port(70) });
    tables.switch_ports.insert(SwitchPortsKey { ingress: port(70) }, SwitchPortsAction::Trust);
    tables.groups.insert(GroupId(1), [port(2), port(70)].into());
    tables.mac_default = MacAction::Flood { group: GroupId(1) };
    tables
}

/// Creates a gradient of worker 0 or 1.
fn gradient(values: ValuesPerFrame, worker: u8) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, worker, 0x88, 0xb5];
    frame.extend([0x31, 0, 0, 1, 0, 1, 0, 0, 0, worker]);
    frame.extend(5u32.to_be_bytes());
    frame.extend((1u64 << worker).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend((values.get() as u16).to_be_bytes());
    frame.extend([0; 4]);
    frame.resize(frame.len() + 4 * values.get(), 0);
    frame
}

#[tokio::test]
async fn what_is_written_is_read_back_and_counted() {
    written_read_and_counted(of_v1model()).await;
    for variant in Variant::ALL {
        written_read_and_counted(of_tofino(variant)).await;
    }
}

async fn written_read_and_counted(program: Compiled) {
    let values = program.values();
    let rig = Rig::of(program).await;
    let mut session = rig.open(Access::Write(Precedence(7))).await.unwrap();
    assert_eq!(
        (session.running().await.unwrap(), session.precedence()),
        (Running::Nothing, Some(Precedence(7)))
    );
    session.load_program().await.unwrap();
    assert_eq!(session.running().await.unwrap(), Running::Ours);
    assert!(session.read().await.unwrap().is_empty());
    let (nothing, wanted) = (SwitchTables::default(), tables());
    session.write(&diff(&nothing, &wanted)).await.unwrap();
    assert_eq!(session.read().await.unwrap(), wanted);
    // Port 70 is number 134 there.
    let groups: Vec<_> = rig.switch.lock().unwrap().multicast_groups().map(|(_, to)| to.len()).collect();
    assert_eq!(groups, [2]);

    rig.send(2, &gradient(values, 0));
    rig.send(2, &gradient(values, 0));
    rig.send(3, &gradient(values, 1));
    rig.send(4, &gradient(values, 1));
    // Of the last reason of this program.
    let tagged = [&gradient(values, 0)[..12], &[0x81, 0, 0, 7], &gradient(values, 0)[12..]].concat();
    rig.send(2, &tagged);
    let counters = session.counters().await.unwrap();
    let packets = |outcome| counters.outcome(outcome).packets;
    assert_eq!((packets(Outcome::SlotClaimed), packets(Outcome::Completed)), (1, 1));
    assert_eq!((counters.summed(), counters.drops(Reason::NoRoute).packets), (2, 1));
    let of_updates = |reason: &&Reason| **reason != Reason::NoUpdateRoute;
    assert_eq!(Reason::ALL.iter().rfind(of_updates), Some(&Reason::Tagged));
    assert_eq!(counters.drops(Reason::Tagged).packets, 1);
    assert_eq!(counters.offered(1.into()), 3);
    assert_eq!(counters.steer[&steer(0, 2)].1.packets, 2);
    let traffic = session.traffic(&[port(2), port(70)]).await.unwrap();
    assert_eq!((traffic.ports[&port(2)].ours_in.packets, traffic.ports[&port(2)].ours_out.packets), (2, 0));
    assert_eq!(traffic.ports[&port(70)].ours_out.packets, 1);
    assert_eq!(traffic.outcomes[Outcome::Completed.index()].packets, 1);

    let mut other = tables();
    other.steer.remove(&steer(1, 3));
    other.groups.insert(GroupId(1), [port(3)].into());
    other.mac.clear();
    session.write(&diff(&wanted, &other)).await.unwrap();
    assert_eq!(session.read().await.unwrap(), other);
    session.write(&diff(&other, &nothing)).await.unwrap();
    assert!(session.read().await.unwrap().is_empty());
}

#[tokio::test]
async fn stated_port_numbers_apply_everywhere() {
    let rig = Rig::start().await;
    // Numbers of a board: 9/0, 10/0, 11/0 and 1/0.
    let numbers = [(2, 56), (3, 48), (4, 40), (70, 132)].map(|(ours, theirs)| (port(ours), theirs));
    let numbers = PortNumbers::from_iter(numbers);
    let mut session = rig.open_at(Access::Write(Precedence(1)), numbers.clone()).await.unwrap();
    session.load_program().await.unwrap();
    let (nothing, wanted) = (SwitchTables::default(), tables());
    session.write(&diff(&nothing, &wanted)).await.unwrap();
    assert_eq!(session.read().await.unwrap(), wanted);
    let groups = || -> Vec<Vec<u32>> {
        let switch = rig.switch.lock().unwrap();
        let ports = switch.multicast_groups().map(|(_, to)| to.iter().map(|copy| copy.port.0).collect());
        ports.collect()
    };
    assert_eq!(groups(), [[56, 132]]);
    rig.send(56, &gradient(VALUES, 0));
    rig.send(48, &gradient(VALUES, 1));
    rig.send(3, &gradient(VALUES, 1));
    let counters = session.counters().await.unwrap();
    assert_eq!(
        (counters.outcome(Outcome::Completed).packets, counters.drops(Reason::NoRoute).packets),
        (1, 1)
    );
    let traffic = session.traffic(&[port(2), port(70)]).await.unwrap();
    assert_eq!(traffic.ports[&port(2)].ours_in.packets, 1);
    assert_eq!(traffic.ports[&port(70)].ours_out.packets, 1);
    // A port of another pipe, by its number on the switch and not by ours.
    let mut split = tables();
    split.steer.remove(&steer(1, 3));
    split.steer.insert(steer(1, 70), add(2, 64));
    let refused = session.write(&diff(&nothing, &split)).await.unwrap_err().to_string();
    assert!(refused.contains("pipe 0, others of its slots by pipe 1 (port 70)"), "{refused}");
    let mut unknown = SwitchTables::default();
    unknown.switch_ports.insert(SwitchPortsKey { ingress: port(5) }, SwitchPortsAction::Trust);
    assert!(session.write(&diff(&nothing, &unknown)).await.is_err(), "port 5 is not stated");

    // The links are at other ports now: entries for the old ports are read and removed.
    drop(session);
    let moved = [(2, 48), (3, 56), (70, 0)].map(|(ours, theirs)| (port(ours), theirs));
    let moved = PortNumbers::from_iter(moved);
    let opened = async {
        loop {
            match rig.open_at(Access::Write(Precedence(1)), moved.clone()).await {
                Err(SwitchError::Superseded(_)) => {}
                opened => return opened.unwrap(),
            }
        }
    };
    let mut session = tokio::time::timeout(Duration::from_secs(20), opened).await.unwrap();
    let found = session.read().await.unwrap();
    assert_ne!(found, wanted);
    session.write(&diff(&found, &SwitchTables::default())).await.unwrap();
    session.write(&diff(&nothing, &wanted)).await.unwrap();
    assert_eq!(session.read().await.unwrap(), wanted);
    assert_eq!(groups(), [[0, 48]]);
}

#[tokio::test]
async fn entries_of_an_earlier_write_count() {
    let rig = Rig::start().await;
    let nothing = SwitchTables::default();
    let (mut first, mut second) = (nothing.clone(), nothing.clone());
    first.steer.insert(steer(0, 2), add(1, 64));
    second.steer.insert(steer(1, 64), add(2, 64));
    let mut session = rig.open(Access::Write(Precedence(1))).await.unwrap();
    session.load_program().await.unwrap();
    session.write(&diff(&nothing, &first)).await.unwrap();
    let refused = session.write(&diff(&nothing, &second)).await.unwrap_err().to_string();
    let expected = "pipe 1, others of its slots by pipe 0 (port 2)";
    assert!(refused.contains(expected), "{refused}");
    assert_eq!(session.read().await.unwrap(), first);
    drop(session);
    // Another session must read first.
    let opened = async {
        loop {
            match rig.open(Access::Write(Precedence(1))).await {
                Err(SwitchError::Superseded(_)) => {}
                opened => return opened.unwrap(),
            }
        }
    };
    let mut session = tokio::time::timeout(Duration::from_secs(20), opened).await.unwrap();
    let refused = session.write(&diff(&nothing, &second)).await.unwrap_err().to_string();
    assert!(refused.contains(expected), "{refused}");
    session.write(&diff(&first, &second)).await.unwrap();
    assert_eq!(session.read().await.unwrap(), second);
    // Deleted entries no longer count.
    session.write(&diff(&second, &nothing)).await.unwrap();
    session.write(&diff(&nothing, &first)).await.unwrap();
    // Neither do entries that a new program cleared.
    session.load_program().await.unwrap();
    session.write(&diff(&nothing, &second)).await.unwrap();
    assert_eq!(session.read().await.unwrap(), second);
}

#[tokio::test]
async fn a_refused_batch_of_rows_changes_nothing() {
    let rig = Rig::start().await;
    let mut session = rig.open(Access::Write(Precedence(1))).await.unwrap();
    session.load_program().await.unwrap();
    let mut first = SwitchTables::default();
    first.steer.insert(steer(1, 3), add(2, 64));
    session.write(&diff(&SwitchTables::default(), &first)).await.unwrap();
    let mut both = first.clone();
    both.steer.insert(steer(0, 2), add(1, 64));
    // Written as if the switch were empty: the second entry exists already.
    let refused = session.write(&diff(&SwitchTables::default(), &both)).await.unwrap_err();
    let SwitchError::Refused(text) = refused else { panic!("{refused}") };
    assert!(text.contains("undid the others") && text.contains("ALREADY_EXISTS"), "{text}");
    assert_eq!(session.read().await.unwrap(), first);
    let mut crooked = SwitchTables::default();
    crooked.steer.insert(steer(0, 2), add(1, 32));
    let refused = session.write(&diff(&SwitchTables::default(), &crooked)).await.unwrap_err().to_string();
    assert!(refused.contains("not a multiple of their number 64"), "{refused}");
    assert_eq!(session.read().await.unwrap(), first);
}

#[tokio::test]
async fn one_session_writes_at_a_time() {
    let rig = Rig::start().await;
    let mut session = rig.open(Access::Write(Precedence(1))).await.unwrap();
    session.load_program().await.unwrap();
    session.write(&diff(&SwitchTables::default(), &tables())).await.unwrap();
    for access in [Access::Write(Precedence(9)), Access::Resume(Precedence(9))] {
        let second = rig.open(access).await.err().unwrap();
        assert!(matches!(&second, SwitchError::Superseded(text) if text.contains("inart_n32")), "{second}");
    }
    let mut reader = rig.open(Access::Read).await.unwrap();
    assert_eq!(reader.running().await.unwrap(), Running::Ours);
    assert_eq!(reader.read().await.unwrap(), tables());
    assert!(reader.write(&diff(&tables(), &SwitchTables::default())).await.is_err());
    drop(session);
    let resumed = async {
        loop {
            match rig.open(Access::Resume(Precedence(1))).await {
                Err(SwitchError::Superseded(_)) => tokio::time::sleep(Duration::from_millis(10)).await,
                opened => return opened.unwrap(),
            }
        }
    };
    let mut session = tokio::time::timeout(Duration::from_secs(20), resumed).await.unwrap();
    assert_eq!(session.running().await.unwrap(), Running::Ours);
    session.write(&diff(&tables(), &SwitchTables::default())).await.unwrap();
    assert!(reader.read().await.unwrap().is_empty());
}

/// A program whose table differs from the declaration is refused when it is loaded, in one line.
#[test]
fn a_program_with_other_tables_is_refused() {
    let artifact = inart_p4::artifact(VALUES);
    let info = bf_rt::bf_rt(&Schema::from_text(&artifact.p4info).unwrap());
    let load = |info: &str| {
        let loaded = Compiled::new(VALUES, info.as_bytes(), Image::default());
        loaded.err().map(|error| error.to_string())
    };
    assert_eq!(load(&info), None);
    for (from, to, expected) in [
        ("pipe.InArtIngress.switch_ports", "pipe.InArtIngress.others", "table switch_ports is missing"),
        ("\"name\":\"expected\"", "\"name\":\"wanted\"", "parameter expected is missing"),
        (
            "\"match_type\":\"Exact\",\"name\":\"epoch\"",
            "\"match_type\":\"LPM\",\"name\":\"epoch\"",
            "not matched exactly",
        ),
    ] {
        assert!(info.contains(from), "{from}");
        let error = load(&info.replacen(from, to, 1)).expect("it is refused");
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }
    let missing = TOFINO.program(VALUES, Some(std::path::Path::new("/nowhere")));
    let missing = missing.err().unwrap().to_string();
    assert!(missing.contains("/nowhere/tofino/build") && missing.contains("n32"), "{missing}");
}

#[test]
fn each_chip_has_programs_of_its_own() {
    let values = |target: &dyn Target| -> Vec<ValuesPerFrame> {
        ValuesPerFrame::ALL.into_iter().filter(|values| target.has_program(*values, None)).collect()
    };
    for variant in inart_p4::Variant::ALL {
        let target: &dyn Target = match variant.chip {
            inart_p4::Chip::Tofino1 => &TOFINO,
            inart_p4::Chip::Tofino2 => &TOFINO2,
        };
        assert!(values(target).contains(&variant.values), "{variant}");
    }
    let chosen = |target: &dyn Target| -> Vec<ValuesPerFrame> {
        ValuesPerFrame::ALL.into_iter().filter(|values| target.prefers(*values, None)).collect()
    };
    assert_eq!((chosen(&TOFINO), chosen(&TOFINO2)), (vec![ValuesPerFrame::N32], vec![ValuesPerFrame::N64]));
    let missing = TOFINO2.program(ValuesPerFrame::N32, None).err().unwrap().to_string();
    assert!(missing.contains("no program for 32 values per frame on tofino2"), "{missing}");
}
