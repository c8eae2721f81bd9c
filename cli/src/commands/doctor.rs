//! `inart doctor`: why nothing moves.

mod answers;
mod ports;
mod processes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use inart_controller::doctor::{Arrived, JobFinding, SwitchState, SwitchView, examine};
use inart_controller::{Controller, InstallError, JobPlan, PortMap, Push, Records, api};
use inart_tables::{PortNo, SwitchTables};
use inart_targets::{Access, Memory, Place, Program, Running, Session, SwitchCounters, SwitchError, Traffic};
use inart_topologies::switched::Topology;
use inart_wire::JobId;
use serde::Serialize;

use crate::commands::control::ControlArgs;
use crate::commands::values::duration;
use answers::{Heard, ask_all, hosts};

/// How long a switch may take to answer.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Arguments of `inart doctor`.
#[derive(clap::Args)]
pub struct Args {
    /// Name of the topology; needed if plans were pushed to several.
    #[arg(long, value_name = "NAME")]
    topology: Option<String>,
    /// A host's status socket (its --status), such as w1=/run/w1.sock or w1=127.0.0.1:9600; once per host.
    #[arg(long = "host", value_name = "NAME=ADDRESS", value_parser = parse_host)]
    host: Vec<(String, String)>,
    /// Folder with status sockets, each called after its host: w1.sock.
    #[arg(long, value_name = "DIR")]
    hosts: Option<PathBuf>,
    /// Ask this controller too (HOST:PORT or unix:/path).
    #[arg(long, value_name = "ADDRESS")]
    controller: Option<String>,
    /// Watch for this long what moves; workers retransmit within half a second.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration)]
    watch: Duration,
    #[command(flatten)]
    control: ControlArgs,
}

fn parse_host(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, address)) if !name.is_empty() && !address.is_empty() => Ok((name.into(), address.into())),
        _ => Err("write NAME=ADDRESS, such as w1=/run/w1.sock".to_owned()),
    }
}

/// All that was found.
#[derive(Serialize)]
struct Report {
    /// What is wrong with switches, hosts or the controller, whatever the jobs do.
    problems: Vec<String>,
    jobs: Vec<JobFinding>,
    /// Why processes of sites, peers and parameter servers wait.
    processes: Vec<processes::Finding>,
    /// Processes of sites, peers and parameter servers that answered, and how many of them made progress.
    answered: Option<(usize, usize)>,
    /// Parts that the doctor could not examine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Report {
    /// Whether there is nothing to repair.
    fn is_fine(&self) -> bool {
        self.problems.is_empty()
            && self.processes.is_empty()
            && self
                .jobs
                .iter()
                .all(|job| job.waiting.is_empty() && job.failure.is_none() && job.unknown.is_empty())
    }
}

/// Runs the command: exit status 1 if something is wrong.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let report = crate::commands::control::block_on(args.look())?;
    let text = if json {
        serde_json::to_string(&report)? + "\n"
    } else {
        let problems = report.problems.iter().map(|problem| format!("{problem}\n"));
        let jobs = report.jobs.iter().map(|job| format!("{job}\n"));
        let processes = report.processes.iter().map(|finding| format!("{finding}\n"));
        let answered = report
            .answered
            .map(|(all, moving)| format!("{all} processes answered; {moving} made progress\n"));
        let notes = report.notes.iter().map(|note| format!("note: {note}\n"));
        problems.chain(jobs).chain(processes).chain(answered).chain(notes).collect()
    };
    crate::commands::output::print(&text)?;
    Ok(if report.is_fine() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the error for records of a network without a plan.
fn without_plan(network: &str, records: &Records) -> anyhow::Error {
    if records.peers.is_empty() {
        return anyhow!("topology {network}: no plan was installed yet");
    }
    anyhow!(
        "topology {network}: only a network of peers is installed; `inart diff NETWORK` compares it with the switches"
    )
}

impl Args {
    async fn look(&self) -> anyhow::Result<Report> {
        let state = self.control.state();
        let known = Records::networks(&state);
        let addresses = self.host_addresses()?;
        if known.is_empty() {
            if !addresses.is_empty() {
                return Ok(self.without_records(&addresses, &state).await);
            }
            bail!(
                "no plan was installed yet, as far as the records in {} say: push a plan or start `inart controller`, or name \
                 the folder of its records with --state",
                state.display()
            );
        }
        let network = crate::commands::rollback::choose("topology", self.topology.as_deref(), &known)
            .with_context(|| format!("records {}", state.display()))?;
        let mut records = crate::commands::control::open_records(&state, &network)?;
        let pushes: BTreeMap<JobId, Push> =
            records.jobs.iter().filter_map(|(job, record)| Some((*job, record.live()?.clone()))).collect();
        let Some(first) = pushes.values().next() else { return Err(without_plan(&network, &records)) };
        let (values, newest) = (first.values, records.newest_topology().unwrap_or(&first.topology));
        let topology = Topology::from_yaml(newest).context("the topology of the last push")?;
        let (pushes, left): (BTreeMap<_, _>, BTreeMap<_, _>) =
            pushes.into_iter().partition(|(_, push)| topology.job_named(&push.plan.job).is_some());
        let ports = PortMap::new(&topology)?;
        let program = self.control.program(values)?;
        let places = self.control.places(&topology, &mut records)?;

        let left = left.iter().map(|(number, push)| {
            format!(
                "job {number} ({}) is not in topology {network} any more: if it is done, `inart remove {number} TOPOLOGY`",
                push.plan.job
            )
        });
        let mut problems: Vec<String> = left.collect();
        let mut sessions = connect(places.clone(), &*program).await;
        let watched = watched_ports(&ports, program.limits().ports);
        let came_before = read_all(&mut sessions, Came(&watched)).await;
        let before = read_all(&mut sessions, Counters).await;
        let hosts_before = ask_all(&addresses).await;
        tokio::time::sleep(self.watch).await;
        let after = read_all(&mut sessions, Counters).await;
        let came = read_all(&mut sessions, Came(&watched)).await;
        let hosts_after = ask_all(&addresses).await;
        let (processes, answered) = self.processes(&hosts_before, &hosts_after, false);
        let mut hosts = hosts(&hosts_before, hosts_after);
        hosts.all_asked = self.hosts.is_some();
        let tables = read_all(&mut sessions, Tables).await;

        // Of switches that do not answer that is told already.
        let answering = places.into_iter().filter(|(name, _)| sessions[name].is_ok());
        problems.extend(ports::problems(&topology, &ports, self.control.target, answering, TIMEOUT).await);
        let mut switches = BTreeMap::new();
        for (name, counted) in before {
            // Not every kind of switch counts by port.
            let arrived = match (&came_before[&name], &came[&name]) {
                (Ok(before), Ok(after)) => Arrived::between(before, after),
                _ => BTreeMap::new(),
            };
            let seen =
                counted.and_then(|before| Ok(SwitchView { before, after: after[&name].clone()?, arrived }));
            let state = match seen {
                Ok(view) => SwitchState::Ours(Box::new(view)),
                Err(why) => {
                    problems.push(format!("switch {name}: {why}"));
                    SwitchState::Silent(why)
                }
            };
            switches.insert(name, state);
        }
        let jobs: Vec<JobPlan> = pushes.iter().map(|(job, push)| push.job_plan(*job)).collect();
        problems.extend(differences(&topology, &*program, records, tables, &jobs).await?);
        problems.extend(hosts.silent.iter().map(|(host, why)| format!("host {host} does not answer: {why}")));
        if let Some(address) = &self.controller {
            problems.extend(self.ask_controller(address).await?);
        }
        let jobs = pushes.iter().map(|(job, push)| examine(&topology, &ports, *job, push, &switches, &hosts));
        let jobs = jobs.collect::<Result<_, _>>()?;
        Ok(Report { problems, jobs, processes, answered, notes: Vec::new() })
    }

    /// The waits that status sockets report, without the plans.
    async fn without_records(&self, addresses: &[(String, String)], state: &Path) -> Report {
        let before = ask_all(addresses).await;
        tokio::time::sleep(self.watch).await;
        let after = ask_all(addresses).await;
        let (processes, answered) = self.processes(&before, &after, true);
        let note = format!(
            "no plan is in the records in {}, so no switch was asked; name the records' folder with --state",
            state.display()
        );
        let has_hosts = after.iter().any(|(_, answer)| answers::is_host(answer));
        let notes = has_hosts.then_some(note).into_iter().collect();
        Report { problems: answers::without_carrier(&after), jobs: Vec::new(), processes, answered, notes }
    }

    /// Why processes wait; how many answered, and how many moved. Hosts of workers whose gradients switches
    /// sum are looked at `with_hosts` only, and so is silence where no other process answers.
    fn processes(
        &self,
        before: &Heard,
        after: &Heard,
        with_hosts: bool,
    ) -> (Vec<processes::Finding>, Option<(usize, usize)>) {
        let seconds = self.watch.as_secs_f64();
        let heard = answers::processes(before, after, with_hosts, seconds);
        let moved: Vec<_> = heard
            .values()
            .filter_map(|heard| match heard {
                processes::Heard::Status(_, moved) => Some(*moved),
                processes::Heard::Beginning | processes::Heard::Silent(_) => None,
            })
            .collect();
        if moved.is_empty() && !with_hosts {
            return (Vec::new(), None);
        }
        let answered = (moved.len(), moved.iter().filter(|moved| **moved).count());
        (processes::examine(&heard, seconds), Some(answered))
    }

    /// Where the hosts' status sockets are.
    fn host_addresses(&self) -> anyhow::Result<Vec<(String, String)>> {
        let mut addresses = self.host.clone();
        if let Some(folder) = &self.hosts {
            let place = || format!("--hosts {}", folder.display());
            for file in std::fs::read_dir(folder).with_context(place)? {
                let path = file.with_context(place)?.path();
                if let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".sock")) {
                    // One that serves several jobs has a socket for each: w1.2.sock.
                    let node = name.rsplit_once('.').filter(|(_, job)| job.parse::<u16>().is_ok());
                    let node = node.map_or(name, |(node, _)| node);
                    addresses.push((node.to_owned(), path.display().to_string()));
                }
            }
        }
        addresses.sort();
        Ok(addresses)
    }

    /// What the controller has to complain about.
    async fn ask_controller(&self, address: &str) -> anyhow::Result<Vec<String>> {
        let security = self.control.security()?;
        let status = async { api::Client::connect(address, &security).await?.status().await };
        let status = match status.await {
            Ok(status) => status,
            Err(error) => return Ok(vec![error.to_string()]),
        };
        let of_switches = status.switches.iter().filter(|switch| !switch.problem.is_empty());
        let said =
            of_switches.map(|switch| format!("controller: switch {}: {}", switch.name, switch.problem));
        Ok(said.collect())
    }
}

type Answers<T> = BTreeMap<String, Result<T, String>>;

/// Read-only sessions with switches that run our program.
async fn connect(places: BTreeMap<String, Place>, program: &dyn Program) -> Answers<Box<dyn Session>> {
    let all = places.into_iter().map(async |(name, place)| {
        let place = Place { timeout: TIMEOUT, ..place };
        let connected = async {
            let mut session = program.open(place, Access::Read).await?;
            let running = session.running().await?;
            Ok::<_, SwitchError>((session, running))
        };
        let answer = match tokio::time::timeout(2 * TIMEOUT, connected).await {
            Err(_) => Err(format!("does not answer within {TIMEOUT:?}; is its process stopped?")),
            Ok(Err(error)) => Err(error.to_string()),
            Ok(Ok((session, Running::Ours))) => Ok(session),
            Ok(Ok((_, Running::Nothing))) => {
                Err("runs no program: push the plan, or start `inart controller`".into())
            }
            Ok(Ok((_, Running::Other))) => Err("runs another program".into()),
        };
        (name, answer)
    });
    futures::future::join_all(all).await.into_iter().collect()
}

/// Something to read from a switch.
trait Reading {
    type Output;
    async fn read(&self, session: &mut dyn Session) -> Result<Self::Output, SwitchError>;
}

struct Counters;
struct Tables;
/// Frames that came in by these ports.
struct Came<'a>(&'a [PortNo]);

impl Reading for Came<'_> {
    type Output = Traffic;
    async fn read(&self, session: &mut dyn Session) -> Result<Traffic, SwitchError> {
        session.traffic(self.0).await
    }
}

/// Ports beyond the last one of the topology that are watched, too: a cable may be in one of them.
const MORE_PORTS: usize = 16;

/// The ports by which frames may come to a switch.
fn watched_ports(ports: &PortMap, most: u16) -> Vec<PortNo> {
    let last = ports.switches().flat_map(|switch| ports.ports(switch)).map(|(port, _)| port.get()).max();
    let count = (usize::from(last.unwrap_or(0)) + MORE_PORTS).min(usize::from(most));
    (0..count).filter_map(PortNo::nth).collect()
}

impl Reading for Counters {
    type Output = SwitchCounters;
    async fn read(&self, session: &mut dyn Session) -> Result<SwitchCounters, SwitchError> {
        session.counters().await
    }
}

impl Reading for Tables {
    type Output = SwitchTables;
    async fn read(&self, session: &mut dyn Session) -> Result<SwitchTables, SwitchError> {
        session.read().await
    }
}

/// Reads from all switches at once.
async fn read_all<R: Reading>(sessions: &mut Answers<Box<dyn Session>>, reading: R) -> Answers<R::Output> {
    let reading = &reading;
    let all = sessions.iter_mut().map(async |(name, session)| {
        let answer = match session {
            Err(why) => Err(why.clone()),
            Ok(session) => match tokio::time::timeout(2 * TIMEOUT, reading.read(&mut **session)).await {
                Err(_) => Err(format!("does not answer within {:?}; is its process stopped?", 2 * TIMEOUT)),
                Ok(answer) => answer.map_err(|error| error.to_string()),
            },
        };
        (name.clone(), answer)
    });
    futures::future::join_all(all).await.into_iter().collect()
}

/// What switches hold that the plans do not say, and the other way round.
async fn differences(
    topology: &Topology,
    program: &dyn Program,
    records: Records,
    tables: Answers<SwitchTables>,
    jobs: &[JobPlan],
) -> anyhow::Result<Vec<String>> {
    let mut held = BTreeMap::new();
    let mut known = Vec::new();
    for (name, answer) in tables {
        let mut switch = Memory::new(program.limits());
        if let Ok(tables) = answer {
            (switch.running, switch.tables) = (Running::Ours, tables);
            known.push(name.clone());
        }
        held.insert(name, switch);
    }
    let mut controller =
        Controller::new(topology.clone(), program.values(), program.limits(), held, records)?;
    let report = match controller.preview(jobs).await {
        Ok(report) => report,
        // The network has changed since that plan was pushed.
        Err(error @ (InstallError::Check { .. } | InstallError::Peers(_))) => {
            return Ok(vec![error.to_string()]);
        }
        Err(error) => return Err(error.into()),
    };
    let names = controller.names(jobs);
    let differing =
        report.switches.iter().filter(|(name, change)| known.contains(name) && !change.updates.is_empty());
    let said = differing.map(|(name, change)| {
        let first = names.describe(name, &change.updates[0]);
        format!(
            "switch {name}: its tables differ from the plan in {} places, such as \"{first}\"; `inart diff` lists them, \
             `inart controller` repairs them",
            change.updates.len()
        )
    });
    Ok(said.collect())
}
