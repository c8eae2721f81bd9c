//! A table of this test alone: declared here, it goes through all that the program's own tables go through.

use inart_tables::{
    Foreign, GroupId, Limits, Mac, MacAction, MacKey, OPTIONAL, PortNo, ProgramAction, ProgramField,
    ProgramTable, Receivers, ReceiversAction, ReceiversKey, Results, ResultsAction, ResultsKey, Row, SPECS,
    SUMS, SlotRange, Steer, SteerAction, SteerKey, SwitchPorts, SwitchPortsAction, SwitchPortsKey,
    SwitchTables, Table, Updates, UpdatesAction, UpdatesKey, check, diff, table, tables_of,
};
use inart_wire::{BitmapIndex, Contributors, Group, MacAddr};

table! {
    /// Color of a worker's frames.
    Paint = "paint"
    /// Key of `paint`.
    key PaintKey {
        /// Sender.
        worker: BitmapIndex = [worker: 16],
        /// Port.
        ingress: PortNo = [ingress: 9],
    }
    /// Action of `paint`.
    action PaintAction {
        /// One color for some slots.
        Plain = "plain" {
            /// Color.
            color: u8 = [color: 3],
            /// Slots.
            slots: SlotRange = [base: 32, mask: 32],
            /// Members.
            members: Contributors = [members: 64],
            /// Output port.
            port: PortNo = [port: 9],
        },
        /// None.
        Clear = "clear",
    }
}

fn port(number: u64) -> PortNo {
    PortNo::try_from(number).expect("a port")
}

fn worker(rank: u16) -> BitmapIndex {
    BitmapIndex::try_from(rank).expect("a low rank")
}

fn painted() -> (PaintKey, PaintAction) {
    let members = Contributors { bitmap: 6, ..Contributors::one(worker(70)) };
    let slots = SlotRange { base: 64, len: 32 };
    let key = PaintKey { worker: worker(70), ingress: port(3) };
    (key, PaintAction::Plain { color: 5, slots, members, port: port(4) })
}

/// Returns a program with the declared tables.
fn program(specs: &[&inart_tables::TableSpec]) -> Vec<ProgramTable> {
    let fields = |fields: &[inart_tables::Field]| -> Vec<_> {
        let one = |field: &inart_tables::Field| ProgramField {
            name: field.name.into(),
            bits: field.bits,
            exact: true,
        };
        fields.iter().map(one).collect()
    };
    let table = |spec: &&inart_tables::TableSpec| {
        let action = |action: &inart_tables::ActionSpec| ProgramAction {
            name: action.name.into(),
            params: fields(action.params),
        };
        let actions = spec.actions.iter().map(action).collect();
        ProgramTable { name: spec.name.into(), key: fields(spec.key), actions, size: 8 }
    };
    specs.iter().map(table).collect()
}

#[test]
fn an_entry_converts_to_a_row_and_back() {
    let (key, action) = painted();
    let row = Paint::row(&key, &action);
    assert_eq!(
        row.to_string(),
        "paint[worker=70, ingress=3] -> plain(color=5, base=64, mask=31, members=6, port=4)"
    );
    assert_eq!((row.table.full_name, row.action.full_name), ("InArtIngress.paint", "InArtIngress.plain"));
    assert_eq!(Paint::entry(&row), Ok((key, action)));
    let cleared = Paint::default_row(&PaintAction::Clear);
    assert_eq!(cleared.to_string(), "paint[default] -> clear()");
    assert_eq!(Paint::default_action(&cleared), Ok(PaintAction::Clear));
    // By name, in any order, as a switch may report it.
    let params = [("port", 4), ("mask", 31), ("members", 6), ("base", 64), ("color", 5)];
    let named = Row::from_names(Paint::SPEC, Some(&[("ingress", 3), ("worker", 70)]), "plain", &params);
    assert_eq!(named, Ok(row));
}

#[test]
fn what_is_foreign_is_named_with_its_place() {
    let key: &[(&str, u64)] = &[("worker", 70), ("ingress", 3)];
    let plain: &[(&str, u64)] = &[("color", 5), ("base", 64), ("mask", 31), ("members", 6), ("port", 4)];
    let read = |key: &[(&str, u64)], action: &str, params: &[(&str, u64)]| -> Result<_, Foreign> {
        Paint::entry(&Row::from_names(Paint::SPEC, Some(key), action, params)?)
    };
    assert!(read(key, "plain", plain).is_ok());
    let mismatch = |key: &[(&str, u64)], action: &str, params: &[(&str, u64)]| {
        read(key, action, params).expect_err("foreign").to_string()
    };
    assert_eq!(mismatch(&key[..1], "clear", &[]), "table paint: key field ingress is missing");
    assert_eq!(mismatch(&[("vlan", 1)], "clear", &[]), "table paint: key field vlan is not declared");
    assert_eq!(mismatch(key, "glow", &[]), "table paint: action glow is not one of its actions");
    assert_eq!(mismatch(key, "plain", &plain[1..]), "table paint, action plain: parameter color is missing");
    assert_eq!(
        mismatch(&[("worker", 70), ("ingress", 512)], "clear", &[]),
        "table paint: key field ingress is 512, which 9 bits do not hold"
    );
    assert_eq!(
        mismatch(&[("worker", 20000), ("ingress", 3)], "clear", &[]),
        "paint[worker=20000, ingress=3] -> clear(): worker is out of range"
    );
    assert_eq!(
        mismatch(&[("worker", 70), ("ingress", 0)], "clear", &[]),
        "paint[worker=70, ingress=0] -> clear(): ingress is out of range"
    );
    // Tables are not taken for each other, nor a default action for an entry.
    let row = Paint::default_row(&PaintAction::Clear);
    assert!(Paint::entry(&row).is_err() && Mac::default_action(&row).is_err());
    assert!(SwitchTables::default().add_row(&row).is_err());
}

#[test]
fn every_target_has_its_own_port_numbers() {
    let (key, action) = painted();
    let row = Paint::row(&key, &action);
    let theirs = row.clone().with_target_ports(|port| Some(100 + 4 * u64::from(port.get())));
    let theirs = theirs.expect("there are many ports");
    assert_eq!(
        theirs.to_string(),
        "paint[worker=70, ingress=112] -> plain(color=5, base=64, mask=31, members=6, port=116)"
    );
    let back = theirs.clone().with_our_ports(|number| PortNo::try_from((number - 100) / 4).ok());
    assert_eq!(back, Ok(row.clone()));
    let error = row.with_target_ports(|port| (port.get() < 4).then_some(0)).expect_err("no port 4");
    assert!(error.to_string().ends_with("port is 4: this kind of switch does not have it"), "{error}");
    let error = theirs.with_our_ports(|_| None).expect_err("no port");
    assert!(error.to_string().ends_with("ingress is 112: this kind of switch has no such port"), "{error}");
}

#[test]
fn a_program_is_checked_against_the_declaration() {
    let specs = [Paint::SPEC, Mac::SPEC];
    let sound = program(&specs);
    assert_eq!(check(&specs, &sound), Ok(()));
    let mismatch = |change: &dyn Fn(&mut Vec<ProgramTable>)| {
        let mut changed = sound.clone();
        change(&mut changed);
        let error = check(&specs, &changed).expect_err("it was changed").to_string();
        error.strip_prefix("its tables are not those that are declared: ").expect("a mismatch").to_owned()
    };
    assert_eq!(mismatch(&|p| drop(p.remove(0))), "table paint is missing");
    assert_eq!(mismatch(&|p| p[0].key[0].name = "seat".into()), "table paint, key field worker is missing");
    assert_eq!(
        mismatch(&|p| p[0].key[1].bits = 10),
        "table paint, key field ingress has 10 bits, 9 are declared"
    );
    assert_eq!(
        mismatch(&|p| p[0].key[1].exact = false),
        "table paint, key field ingress is not matched exactly"
    );
    assert_eq!(
        mismatch(&|p| p[0].key.swap(0, 1)),
        "table paint, key field worker stands at another place in the program"
    );
    let more = || ProgramField { name: "vlan".into(), bits: 12, exact: true };
    assert_eq!(mismatch(&|p| p[0].key.push(more())), "table paint, key field vlan is unknown");
    assert_eq!(mismatch(&|p| drop(p[0].actions.remove(1))), "table paint, action clear is missing");
    assert_eq!(
        mismatch(&|p| drop(p[0].actions[0].params.remove(0))),
        "table paint, action plain, parameter color is missing"
    );
    assert_eq!(
        mismatch(&|p| p[0].actions[1].params.push(more())),
        "table paint, action clear, parameter vlan is unknown"
    );
    let glow = || ProgramAction { name: "glow".into(), params: Vec::new() };
    assert_eq!(mismatch(&|p| p[0].actions.push(glow())), "table paint, action glow is unknown");
    assert_eq!(mismatch(&|p| p[1].name = "other".into()), "table mac is missing");
    assert_eq!(check(&specs[..1], &sound).expect_err("more").0, "table mac is unknown");
}

/// Returns one entry of every kind.
fn full() -> SwitchTables {
    let mut tables = SwitchTables::default();
    let members = Contributors { bitmap: !0, ..Contributors::one(worker(64)) };
    let steer = |rank| SteerKey {
        plan_version: 0xffff.into(),
        job: 2.into(),
        shard: 3.into(),
        worker: worker(rank),
        ingress: port(510),
    };
    let slots = SlotRange { base: 4032, len: 64 };
    let expected = Contributors { bitmap: 1, ..members };
    tables.steer.insert(steer(64), SteerAction::Add { port: port(1), slots, members, expected });
    tables.steer.insert(steer(65), SteerAction::Forward { port: port(2), members });
    tables.steer.insert(steer(66), SteerAction::Refuse);
    let key = |ingress| ResultsKey {
        plan_version: 1.into(),
        job: 2.into(),
        shard: 3.into(),
        ingress: port(ingress),
    };
    tables.results.insert(key(1), ResultsAction::Replicate { group: GroupId(7) });
    tables.results.insert(key(2), ResultsAction::Refuse);
    let address = |last| MacKey { dst: MacAddr([0xff, 1, 2, 3, 4, last]) };
    tables.mac.insert(address(1), MacAction::Send { port: port(3) });
    tables.mac.insert(address(2), MacAction::Refuse);
    tables.mac_default = MacAction::Flood { group: GroupId(1) };
    let group = Group(3);
    let key =
        UpdatesKey { plan_version: 1.into(), job: 4.into(), group, worker: worker(7), ingress: port(2) };
    tables.updates.insert(key, UpdatesAction::Replicate { group: GroupId(8) });
    tables.updates.insert(UpdatesKey { ingress: port(3), ..key }, UpdatesAction::Refuse);
    let key = ReceiversKey { plan_version: 1.into(), job: 4.into(), group, egress: port(1) };
    tables
        .receivers
        .insert(key, ReceiversAction::Narrow { members: Contributors { bitmap: 1 << 63, group } });
    tables.groups.insert(GroupId(8), [port(1), port(2)].into());
    tables.switch_ports.insert(SwitchPortsKey { ingress: port(4) }, SwitchPortsAction::Trust);
    tables.groups.insert(GroupId(7), [port(1), port(2)].into());
    tables
}

#[test]
fn all_tables_are_restored_from_their_rows() {
    let tables = full();
    let mut back = SwitchTables { groups: tables.groups.clone(), ..SwitchTables::default() };
    let rows = tables.rows();
    assert_eq!(rows.len(), tables.len() - tables.groups.len() + 1);
    rows.iter().try_for_each(|row| back.add_row(row)).expect("they are ours");
    assert_eq!(back, tables);
    for table in [Steer::SPEC, Results::SPEC, Updates::SPEC, Receivers::SPEC, Mac::SPEC, SwitchPorts::SPEC] {
        assert!(rows.iter().any(|row| row.table == table) && SPECS.contains(&table), "{}", table.name);
    }
}

#[test]
fn updates_lead_from_one_state_to_another_and_back() {
    let (empty, full) = (SwitchTables::default(), full());
    for (from, to) in [(&empty, &full), (&full, &empty)] {
        let mut tables = from.clone();
        for update in diff(from, to) {
            tables.apply(&update).expect("it fits");
            // Whatever an entry refers to is there.
            assert!(tables.results.is_empty() || tables.groups.contains_key(&GroupId(7)), "{update:?}");
            assert!(tables.updates.is_empty() || tables.groups.contains_key(&GroupId(8)), "{update:?}");
        }
        assert_eq!(&tables, to);
        assert!(diff(to, to).is_empty());
    }
}

#[test]
fn limits_are_those_of_the_program() {
    let limits = Limits::new(16, 2, &program(SPECS));
    assert_eq!((limits.slots, limits.ports, limits.steer, limits.switch_ports), (16, 2, 8, 8));
    assert!(limits.check(&full()).is_ok());
    let error = Limits { steer: 2, ..limits }.check(&full()).expect_err("three entries");
    assert_eq!(error.to_string(), "table steer would hold 3 entries, the program has room for 2");
}

#[test]
fn receivers_are_of_the_block_in_the_key_and_leave_by_egress() {
    let rows = full().rows();
    let row = rows.iter().find(|row| row.table == Receivers::SPEC).expect("there is one");
    let text = "receivers[epoch=1, job=4, group=3, egress=1] -> narrow(members=9223372036854775808)";
    assert_eq!(row.to_string(), text);
    assert_eq!((row.table.full_name, row.action.full_name), ("InArtEgress.receivers", "InArtEgress.narrow"));
    let (key, ReceiversAction::Narrow { members }) = Receivers::entry(row).expect("it is ours");
    assert_eq!(members.bitmap_indices().map(BitmapIndex::get).collect::<Vec<_>>(), [3 * 64 + 63]);
    assert_eq!((key.egress, members.group), (port(1), Group(3)));
    let elsewhere = row.clone().with_target_ports(|port| Some(100 + u64::from(port.get())));
    assert_eq!(elsewhere.expect("there are many ports").key, Some(vec![1, 4, 3, 101]));
}

#[test]
fn a_program_may_lack_the_tables_of_updates_but_only_both() {
    let whole = program(SPECS);
    assert_eq!(tables_of(&whole).expect("all are there"), SPECS);
    let lacking = |names: &[&str]| {
        let left = whole.iter().filter(|table| !names.contains(&table.name.as_str())).cloned();
        left.collect::<Vec<_>>()
    };
    let without = lacking(&["updates", "receivers"]);
    let has = tables_of(&without).expect("it copies no updates");
    assert_eq!(has.len() + OPTIONAL.len(), SPECS.len());
    assert!(OPTIONAL.iter().all(|spec| !has.contains(spec)));
    for half in ["updates", "receivers"] {
        let error = tables_of(&lacking(&[half])).expect_err("one of two").to_string();
        assert!(error.ends_with(&format!("table {half} is missing")), "{error}");
    }
    let error = Limits::new(16, 9, &without).check(&full()).expect_err("no room").to_string();
    assert_eq!(error, "table updates would hold 2 entries, the program of these switches has no such table");
}

#[test]
fn a_program_that_copies_updates_may_lack_the_tables_of_sums_but_only_both() {
    let whole = program(SPECS);
    let lacking = |names: &[&str]| {
        let left = whole.iter().filter(|table| !names.contains(&table.name.as_str())).cloned();
        left.collect::<Vec<_>>()
    };
    let without = lacking(&["steer", "results"]);
    let has = tables_of(&without).expect("it sums nothing");
    assert_eq!(has.len() + SUMS.len(), SPECS.len());
    assert!(SUMS.iter().all(|spec| !has.contains(spec)));
    for half in ["steer", "results"] {
        let error = tables_of(&lacking(&[half])).expect_err("one of two").to_string();
        assert!(error.ends_with(&format!("table {half} is missing")), "{error}");
    }
    // A program that does neither is not one of ours.
    assert!(tables_of(&lacking(&["steer", "results", "updates", "receivers"])).is_err());
    let error = Limits::new(16, 9, &without).check(&full()).expect_err("no room").to_string();
    assert!(error.ends_with("entries, the program of these switches has no such table"), "{error}");
}

#[test]
fn what_a_job_of_peers_holds_is_found_and_retired() {
    let mut tables = full();
    assert_eq!(tables.jobs(), [2.into(), 4.into()].into());
    assert_eq!(tables.plan_versions(4.into()), [1.into()].into());
    assert!(tables.used_groups().contains(&GroupId(8)));
    tables.retire(4.into(), |plan_version| plan_version == 1.into());
    assert!(
        tables.updates.is_empty() && tables.receivers.is_empty() && !tables.groups.contains_key(&GroupId(8))
    );
    assert!(tables.groups.contains_key(&GroupId(7)) && tables.jobs() == [2.into()].into());
}
