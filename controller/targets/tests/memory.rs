//! Target in memory: sessions share a switch, and the greatest precedence writes.

use futures::FutureExt;
use inart_tables::{Limits, MacAction, MacKey, PortNo, SwitchTables, diff};
use inart_targets::memory::InMemory;
use inart_targets::{Access, DEFAULT, Endpoint, Precedence, Program, Running, Session, SwitchError};
use inart_wire::{MacAddr, ValuesPerFrame};

/// Returns the result of a future that is ready.
fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("it waits for nothing")
}

fn open(target: &InMemory, access: Access) -> Result<Box<dyn Session>, SwitchError> {
    now(target.open(Endpoint::local("here", 0), access))
}

#[test]
fn sessions_share_a_switch_and_the_greatest_rank_writes() {
    let limits = Limits {
        slots: 16,
        ports: 4,
        switch_ports: 1,
        steer: 1,
        results: 1,
        updates: 1,
        receivers: 1,
        mac: 1,
    };
    let target = InMemory::new(ValuesPerFrame::N64, limits);
    let mut first = open(&target, Access::Write(Precedence(3))).expect("no other controller");
    now(first.load_program()).expect("it may");
    let mut tables = SwitchTables::default();
    let port = PortNo::nth(2).expect("a port");
    tables.mac.insert(MacKey { dst: MacAddr([2; 6]) }, MacAction::Send { port });
    let updates = diff(&SwitchTables::default(), &tables);
    now(first.write(&updates)).expect("it fits");

    let mut reader = open(&target, Access::Read).expect("everybody may read");
    assert_eq!(now(reader.running()), Ok(Running::Ours));
    assert_eq!(now(reader.read()), Ok(tables.clone()));
    assert!(matches!(now(reader.write(&updates)), Err(SwitchError::Superseded(_))));
    assert!(matches!(open(&target, Access::Write(Precedence(2))), Err(SwitchError::Superseded(_))));
    assert_eq!(now(target.greatest(Endpoint::local("here", 0))), Ok(Some(Precedence(3))));
    assert!(open(&target, Access::Resume(Precedence(2))).is_err(), "a query changes nothing");
    open(&target, Access::Resume(Precedence(4))).expect("the greatest");
    assert!(matches!(now(first.lost()), SwitchError::Superseded(_)));
    assert!(matches!(now(first.write(&updates)), Err(SwitchError::Superseded(_))));
    assert_eq!(target.switch("here").tables, tables);
}

#[test]
fn the_listed_targets_have_distinct_names_and_reversible_port_numbers() {
    let names: Vec<_> = inart_targets::ALL.iter().map(|target| target.name()).collect();
    assert_eq!(names, ["v1model", "tofino", "tofino2"]);
    for target in inart_targets::ALL {
        assert_eq!(inart_targets::named(target.name()).map(|found| found.ports()), Some(target.ports()));
        let most = usize::from(target.ports());
        for port in (0..most).filter_map(PortNo::nth) {
            let number = target.port_number(port).expect("it has that many ports");
            assert_eq!(target.port_of(number), Some(port));
        }
        assert_eq!(PortNo::nth(most).and_then(|port| target.port_number(port)), None);
    }
    assert!(inart_targets::named("none").is_none());
    // 511 means drop, and we do not use 0.
    assert_eq!((DEFAULT.ports(), DEFAULT.port_of(511), DEFAULT.port_of(0)), (510, None, None));
}

#[test]
fn the_built_in_programs_have_the_declared_tables() {
    for values in ValuesPerFrame::ALL {
        let limits = DEFAULT.program(values, None).expect("it was compiled from these sources").limits();
        assert_eq!((limits.slots, limits.steer, limits.results), (4096, 65536, 4096));
        assert_eq!((limits.mac, limits.switch_ports, limits.ports), (4096, 512, 510));
    }
}

/// A program whose table differs from the declaration is refused when it is loaded, in one line.
#[test]
fn a_program_with_other_tables_is_refused() {
    let artifact = inart_p4::artifact(ValuesPerFrame::N32);
    let load = |p4info: &str| {
        let loaded = inart_targets::v1model::Compiled::new(ValuesPerFrame::N32, &artifact.json, p4info);
        loaded.err().map(|error| error.to_string())
    };
    assert_eq!(load(&artifact.p4info), None);
    for (from, to, expected) in [
        (
            "name: \"epoch\"\n    bitwidth: 16",
            "name: \"epoch\"\n    bitwidth: 8",
            "key field epoch has 8 bits",
        ),
        ("name: \"ingress\"", "name: \"standard_metadata.ingress_port\"", "key field ingress is missing"),
        ("name: \"expected\"", "name: \"wanted\"", "table steer, action add, parameter expected is missing"),
        ("alias: \"switch_ports\"", "alias: \"switch_port\"", "table switch_ports is missing"),
        ("match_type: EXACT", "match_type: TERNARY", "is not matched exactly"),
    ] {
        assert!(artifact.p4info.contains(from), "{from}");
        let error = load(&artifact.p4info.replacen(from, to, 1)).expect("it is refused");
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    }
    assert!(load("tables {").is_some_and(|error| error.contains("its P4Info")));
}
