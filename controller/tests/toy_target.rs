//! A target of this test alone: a board with entries in words, under port numbers of its own. Plans are
//! installed on it, and the daemon keeps it configured, without a change to any crate.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use inart_controller::daemon::{self, Config, DaemonError, State};
use inart_controller::{Controller, InstallError, JobPlan, PortMap, Records};
use inart_planner_aggregation::{Options, plan, schemes};
use inart_tables::{Entity, GroupId, Limits, Op, PortNo, Row, SPECS, SwitchTables, Update};
use inart_targets::{
    Access, Endpoint, Precedence, Program, ProgramError, Running, Session, SwitchCounters, SwitchError,
    Target, open_all,
};
use inart_wire::{JobId, PlanVersion, ValuesPerFrame};
use support::walker::{Walker, check_mac, check_own_slots};
use support::{LIMITS, fig1, job};
use tokio::sync::watch;

/// Names and numbers, in the target's own port numbers.
type Cells = Vec<(String, u64)>;

/// One switch. Two lines of it: `("mac", Some([("dst", 5)]))` leads to `("send", [("port", 107)])`.
#[derive(Default)]
struct Board {
    runs: bool,
    lines: BTreeMap<(String, Option<Cells>), (String, Cells)>,
    groups: BTreeMap<u16, BTreeSet<u64>>,
    writer: u128,
    /// Changes when the switch restarts, or gets another writer.
    changes: watch::Sender<()>,
}

/// All boards, by address.
#[derive(Clone, Default)]
struct Toy(Arc<Mutex<BTreeMap<String, Board>>>);

impl Toy {
    fn on<T>(&self, address: &str, change: impl FnOnce(&mut Board) -> T) -> T {
        change(self.0.lock().unwrap().entry(address.to_owned()).or_default())
    }

    /// Restarts the switch, empty.
    fn restart(&self, address: &str) {
        self.on(address, |board| {
            (board.runs, board.lines, board.groups) = (false, BTreeMap::new(), BTreeMap::new());
            board.changes.send_replace(());
        });
    }
}

impl Target for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn ports(&self) -> u16 {
        40
    }

    fn port_number(&self, port: PortNo) -> Option<u64> {
        (port.get() <= self.ports()).then(|| 99 + 4 * u64::from(port.get()))
    }

    fn port_of(&self, number: u64) -> Option<PortNo> {
        let port = number.checked_sub(99).filter(|offset| offset % 4 == 0)? / 4;
        PortNo::try_from(port).ok().filter(|port| port.get() <= self.ports())
    }

    fn program(&self, _: ValuesPerFrame, _: Option<&Path>) -> Result<Arc<dyn Program>, ProgramError> {
        Ok(Arc::new(self.clone()))
    }
}

impl Program for Toy {
    fn values(&self) -> ValuesPerFrame {
        ValuesPerFrame::N64
    }

    fn limits(&self) -> Limits {
        Limits { ports: self.ports(), ..LIMITS }
    }

    fn open(&self, place: Endpoint, access: Access) -> BoxFuture<'_, Result<Box<dyn Session>, SwitchError>> {
        let opened = self.on(&place.address, |board| {
            let precedence = match access {
                Access::Read => None,
                Access::Write(precedence) | Access::Resume(precedence) => Some(precedence.0),
            };
            if precedence.is_some_and(|precedence| precedence < board.writer) {
                return Err(SwitchError::Superseded("another controller writes".into()));
            }
            if let Some(precedence) = precedence.filter(|precedence| *precedence > board.writer) {
                board.writer = precedence;
                board.changes.send_replace(());
            }
            let changes = board.changes.subscribe();
            let session = Writing { toy: self.clone(), address: place.address.clone(), precedence, changes };
            Ok(Box::new(session) as Box<dyn Session>)
        });
        ready(opened).boxed()
    }

    fn greatest(&self, place: Endpoint) -> BoxFuture<'_, Result<Option<Precedence>, SwitchError>> {
        let seen = self.on(&place.address, |board| board.writer);
        ready(Ok(Some(Precedence(seen)))).boxed()
    }
}

struct Writing {
    toy: Toy,
    address: String,
    precedence: Option<u128>,
    changes: watch::Receiver<()>,
}

impl Writing {
    fn read_all(&self) -> Result<SwitchTables, SwitchError> {
        let mut tables = SwitchTables::default();
        self.toy.on(&self.address, |board| {
            for ((table, key), (action, params)) in &board.lines {
                let named = |cells: &Cells| -> Vec<_> {
                    cells.iter().map(|(name, number)| (name.clone(), *number)).collect()
                };
                let table = SPECS.iter().find(|spec| spec.name == table).unwrap();
                let (key, params) = (key.as_ref().map(named), named(params));
                let key =
                    key.as_ref().map(|key| key.iter().map(|(name, n)| (&**name, *n)).collect::<Vec<_>>());
                let params: Vec<_> = params.iter().map(|(name, number)| (&**name, *number)).collect();
                let row = Row::from_names(table, key.as_deref(), action, &params)?;
                tables.add_row(&row.with_our_ports(|number| self.toy.port_of(number))?)?;
            }
            for (group, ports) in &board.groups {
                let ports = ports.iter().map(|port| self.toy.port_of(*port).unwrap()).collect();
                tables.groups.insert(GroupId(*group), ports);
            }
            Ok(tables)
        })
    }

    fn put(&self, update: &Update) -> Result<(), SwitchError> {
        let names = |cells: &mut dyn Iterator<Item = (&'static inart_tables::Field, u64)>| -> Cells {
            cells.map(|(field, number)| (field.name.to_owned(), number)).collect()
        };
        self.toy.on(&self.address, |board| {
            if self.precedence != Some(board.writer) {
                return Err(SwitchError::Superseded("another controller writes".into()));
            }
            match update.item.entity() {
                Entity::Row(row) => {
                    let row = row.with_target_ports(|port| self.toy.port_number(port))?;
                    let key = row.key.is_some().then(|| names(&mut row.key_cells()));
                    let key = (row.table.name.to_owned(), key);
                    let does = (row.action.name.to_owned(), names(&mut row.param_cells()));
                    match update.op {
                        Op::Delete => drop(board.lines.remove(&key).unwrap()),
                        Op::Insert => assert_eq!(board.lines.insert(key, does), None),
                        Op::Modify => drop(board.lines.insert(key, does)),
                    }
                }
                Entity::Group(group, ports) => {
                    let ports = ports.iter().map(|port| self.toy.port_number(*port).unwrap()).collect();
                    match update.op {
                        Op::Delete => drop(board.groups.remove(&group.0)),
                        Op::Insert | Op::Modify => drop(board.groups.insert(group.0, ports)),
                    }
                }
            }
            Ok(())
        })
    }
}

impl Session for Writing {
    fn precedence(&self) -> Option<Precedence> {
        self.precedence.map(Precedence)
    }

    fn running(&mut self) -> BoxFuture<'_, Result<Running, SwitchError>> {
        let runs = self.toy.on(&self.address, |board| board.runs);
        ready(Ok(if runs { Running::Ours } else { Running::Nothing })).boxed()
    }

    fn load_program(&mut self) -> BoxFuture<'_, Result<(), SwitchError>> {
        self.toy.on(&self.address, |board| board.runs = true);
        ready(Ok(())).boxed()
    }

    fn read(&mut self) -> BoxFuture<'_, Result<SwitchTables, SwitchError>> {
        ready(self.read_all()).boxed()
    }

    fn write<'a>(&'a mut self, updates: &'a [Update]) -> BoxFuture<'a, Result<(), SwitchError>> {
        ready(updates.iter().try_for_each(|update| self.put(update))).boxed()
    }

    fn counters(&mut self) -> BoxFuture<'_, Result<SwitchCounters, SwitchError>> {
        ready(Ok(SwitchCounters::default())).boxed()
    }

    fn lost(&mut self) -> BoxFuture<'_, SwitchError> {
        async {
            let _ = self.changes.changed().await;
            match self.precedence == Some(self.toy.on(&self.address, |board| board.writer)) {
                true => SwitchError::Unreachable("the board was wiped".into()),
                false => SwitchError::Superseded("another controller writes".into()),
            }
        }
        .boxed()
    }
}

const SWITCHES: [&str; 2] = ["v1", "v2"];

fn places() -> BTreeMap<String, Endpoint> {
    SWITCHES.map(|name| (name.to_owned(), Endpoint::local(format!("board of {name}"), 0))).into()
}

fn planned() -> JobPlan {
    let topology = fig1();
    job(1, &plan(&topology, &topology.jobs()[0], &Options::new(schemes::OPTIMIZED)).unwrap())
}

#[tokio::test]
async fn a_plan_is_pushed_to_a_target_that_no_crate_knows() {
    let (toy, topology, job) = (Toy::default(), fig1(), planned());
    let program = toy.program(ValuesPerFrame::N64, None).unwrap();
    let sessions = open_all(&*program, places(), Access::Write(Precedence(1))).await.unwrap();
    let (values, limits) = (program.values(), program.limits());
    let mut controller =
        Controller::new(topology.clone(), values, limits, sessions, Records::default()).unwrap();
    controller.install(std::slice::from_ref(&job)).await.unwrap();
    assert_eq!(controller.install(std::slice::from_ref(&job)).await.unwrap().updates(), 0);

    let mut held = BTreeMap::new();
    for (name, session) in controller.switches() {
        held.insert(name.clone(), session.read().await.unwrap());
    }
    let ports = PortMap::new(&topology).unwrap();
    let walker = Walker::new(&topology, &held, &ports, &job.plan, JobId::from(1), PlanVersion::from(1));
    assert_eq!(walker.check(), Ok(()));
    assert_eq!((check_own_slots(&held), check_mac(&held, &ports)), (Ok(()), Ok(())));
    // The board has its own port numbers.
    toy.on("board of v1", |board| {
        let keys = board.lines.keys().filter_map(|(_, key)| key.as_ref());
        let ingress = keys.flatten().filter(|(name, _)| name == "ingress");
        let ingress: BTreeSet<u64> = ingress.map(|(_, number)| *number).collect();
        assert!(!ingress.is_empty() && ingress.iter().all(|number| number % 4 == 3), "{ingress:?}");
    });
    let whole = held;
    controller.remove(&[JobId::from(1)].into()).await.unwrap();
    for (name, session) in controller.switches() {
        assert!(session.read().await.unwrap().len() < whole[name].len(), "{name}");
    }
}

#[test]
fn a_topology_with_too_many_links_is_refused() {
    let toy = Toy::default();
    let limits = Limits { ports: 3, ..Program::limits(&toy) };
    let sessions = BTreeMap::<String, Box<dyn Session>>::new();
    let refused = Controller::new(fig1(), ValuesPerFrame::N64, limits, sessions, Records::default());
    let Err(error @ InstallError::Ports(_)) = refused else { panic!("it was accepted") };
    assert!(error.to_string().contains("a switch can have 3: spread them"), "{error}");
}

/// Reads until every switch holds the wanted tables.
async fn until_repaired(toy: &Toy, wanted: &BTreeMap<String, SwitchTables>) {
    for _ in 0..3000 {
        let mut right = true;
        for (name, place) in places() {
            let mut session = toy.open(place, Access::Read).await.unwrap();
            right &= session.read().await.unwrap() == wanted[&name];
        }
        if right {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the switches are not repaired");
}

#[tokio::test(flavor = "local")]
async fn the_daemon_keeps_such_a_target_configured_until_another_controller_takes_over() {
    let toy = Toy::default();
    let program = toy.program(ValuesPerFrame::N64, None).unwrap();
    let mut model = support::controller(&fig1(), Records::default());
    let wanted = support::now(model.install(&[planned()])).unwrap().desired;
    let config = Config {
        peers: None,
        topology: fig1(),
        jobs: vec![planned()],
        program: program.clone(),
        switches: places(),
        precedence: Precedence(7),
        records: Records::default(),
        replace_program: false,
        // Problems are noticed because the session is lost.
        switches_within: Duration::from_secs(60),
        check_every: Duration::from_secs(3600),
        change_within: Duration::from_secs(30),
        timing: Default::default(),
        steer: None,
        remove_departed: false,
        chance: daemon::by_chance(),
    };
    let state = Arc::new(State::new("fig1", SWITCHES.iter().map(|name| (*name, "a board"))));
    let daemon = tokio::task::spawn_local(daemon::run(config, state));
    until_repaired(&toy, &wanted).await;
    toy.restart("board of v2");
    until_repaired(&toy, &wanted).await;
    let place = places().remove("v1").unwrap();
    let _other = program.open(place, Access::Write(Precedence(8))).await.unwrap();
    let Err(ended) = daemon.await.unwrap();
    assert!(matches!(&ended, DaemonError::Superseded { switch, .. } if switch == "v1"), "{ended}");
}
