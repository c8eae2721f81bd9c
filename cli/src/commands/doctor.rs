//! `inart doctor`: diagnoses a stalled job.

pub mod answers;
mod ports;
mod processes;
mod switches;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use inart_controller::doctor::{
    Arrived, JobFinding, PeersFinding, SwitchState, SwitchView, examine, examine_peers,
};
use inart_controller::{JobPlan, PeersPush, PortMap, Push, Records, api};
use inart_topologies::units::counted;
use inart_wire::JobId;
use serde::Serialize;

use crate::commands::control::{ControlArgs, SwitchNetwork};
use crate::commands::values::duration;
use answers::{Answers, ask_all, hosts};
use switches::{Arrivals, Counters, TIMEOUT, Tables, connect, differences, read_all, watched_ports};

/// Arguments of `inart doctor`.
#[derive(clap::Args)]
pub struct Args {
    /// Name of the topology; needed if the records have several.
    #[arg(long, value_name = "NAME")]
    topology: Option<String>,
    /// Status socket of a host, such as w1=/run/w1.sock or w1=127.0.0.1:9600.
    ///
    /// The socket is the host's --status. Repeat for each host.
    #[arg(long = "host", value_name = "NAME=ADDRESS", value_parser = parse_host)]
    host: Vec<(String, String)>,
    /// Folder with status sockets, each named after its host: w1.sock.
    #[arg(long, value_name = "DIR")]
    hosts: Option<PathBuf>,
    /// Query the controller at this address too (HOST:PORT or unix:/path).
    #[arg(long, value_name = "ADDRESS")]
    controller: Option<String>,
    /// Time to watch for progress; a healthy worker retransmits within half a second.
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

/// Findings of the doctor.
#[derive(Serialize)]
struct Report {
    /// Problems of switches, hosts or the controller, independent of jobs.
    problems: Vec<String>,
    jobs: Vec<JobFinding>,
    /// Jobs of peers whose updates switches copy.
    peers: Vec<PeersFinding>,
    /// Causes for which processes of sites, peers and parameter servers wait.
    processes: Vec<processes::Finding>,
    /// Processes of sites, peers and parameter servers that answered, and how many of them made progress.
    answered: Option<(usize, usize)>,
    /// Parts that the doctor could not examine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Report {
    /// Whether the doctor found no problem.
    fn is_fine(&self) -> bool {
        self.problems.is_empty()
            && self.processes.is_empty()
            && self
                .jobs
                .iter()
                .all(|job| job.waiting.is_empty() && job.failure.is_none() && job.unknown.is_empty())
    }
}

/// Runs the command. Exit status: 1 if the doctor found a problem.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let report = crate::commands::control::block_on(args.look())?;
    let text = if json {
        serde_json::to_string(&report)? + "\n"
    } else {
        let problems = report.problems.iter().map(|problem| format!("{problem}\n"));
        let jobs = report.jobs.iter().map(|job| format!("{job}\n"));
        let jobs = jobs.chain(report.peers.iter().map(|job| format!("{job}\n")));
        let processes = report.processes.iter().map(|finding| format!("{finding}\n"));
        let answered = report
            .answered
            .map(|(all, moving)| format!("{} answered; {moving} made progress\n", counted(all, "process")));
        let notes = report.notes.iter().map(|note| format!("note: {note}\n"));
        problems.chain(jobs).chain(processes).chain(answered).chain(notes).collect()
    };
    crate::commands::output::print(&text)?;
    Ok(if report.is_fine() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Jobs of the records that the topology does not have.
fn no_longer_in(network: &str, left: &BTreeMap<JobId, Push>) -> Vec<String> {
    let left = left.iter().map(|(number, push)| {
        format!(
            "job {number} ({}) is not in topology {network} any more: if it is done, `inart remove {number} \
             TOPOLOGY`",
            push.plan.job
        )
    });
    left.collect()
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
                "no plan has been installed (no records in {}): run `inart apply` or start `inart \
                 controller`, or name the folder of its records with --state",
                state.display()
            );
        }
        let network = crate::commands::rollback::choose("topology", self.topology.as_deref(), &known)
            .with_context(|| format!("records {}", state.display()))?;
        let mut records = crate::commands::control::open_records(&state, &network)?;
        let pushes: BTreeMap<JobId, Push> =
            records.jobs.iter().filter_map(|(job, record)| Some((*job, record.live()?.clone()))).collect();
        let peers = records.peers.live().map(PeersPush::peers).transpose().context("the records")?;
        ensure!(
            !pushes.is_empty() || peers.is_some(),
            "topology {network}: nothing is installed; apply a plan or a network of peers"
        );
        let first = pushes.values().next().map(|push| push.topology.as_str());
        let newest = records.newest_topology().or(first).context("the records name no topology")?;
        let SwitchNetwork { topology, .. } =
            SwitchNetwork::recorded(newest).context("the topology of the last push")?;
        let values = pushes.values().next().map(|push| push.values).or(records.installed_values());
        let values = values.context("the records do not have the number of values per frame")?;
        let (pushes, left): (BTreeMap<_, _>, BTreeMap<_, _>) =
            pushes.into_iter().partition(|(_, push)| topology.job_named(&push.plan.job).is_some());
        let ports = PortMap::new(&topology)?;
        let program = self.control.program_for(values, None, &records)?;
        let places = self.control.places(&topology, &mut records)?;

        let mut problems = no_longer_in(&network, &left);
        let mut sessions = connect(places.clone(), &*program).await;
        let watched = watched_ports(&ports, program.limits().ports);
        let arrivals_before = read_all(&mut sessions, Arrivals(&watched)).await;
        let before = read_all(&mut sessions, Counters).await;
        let hosts_before = ask_all(&addresses).await;
        tokio::time::sleep(self.watch).await;
        let after = read_all(&mut sessions, Counters).await;
        let arrivals = read_all(&mut sessions, Arrivals(&watched)).await;
        let hosts_after = ask_all(&addresses).await;
        let (processes, answered) = self.processes(&hosts_before, &hosts_after, false);
        let mut hosts = hosts(&hosts_before, hosts_after);
        hosts.all_asked = self.hosts.is_some();
        let tables = read_all(&mut sessions, Tables).await;

        // A switch that does not answer is listed already.
        let answering = places.into_iter().filter(|(name, _)| sessions[name].is_ok());
        problems.extend(ports::problems(&topology, &ports, self.control.target, answering, TIMEOUT).await);
        let mut switches = BTreeMap::new();
        for (name, counted) in before {
            // Some kinds of switch have no counters per port.
            let arrived = match (&arrivals_before[&name], &arrivals[&name]) {
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
        let peers = peers.map(|peers| examine_peers(&peers, &switches)).unwrap_or_default();
        Ok(Report { problems, jobs, peers, processes, answered, notes: Vec::new() })
    }

    /// Reports the waits that status sockets show, without plans.
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
        let (problems, jobs, peers) = (answers::without_carrier(&after), Vec::new(), Vec::new());
        Report { problems, jobs, peers, processes, answered, notes }
    }

    /// Returns the causes of waits, and the numbers of processes that answered and that made progress. Hosts
    /// of aggregated jobs, and silence where no other process answers, are examined `with_hosts` only.
    fn processes(
        &self,
        before: &Answers,
        after: &Answers,
        with_hosts: bool,
    ) -> (Vec<processes::Finding>, Option<(usize, usize)>) {
        let seconds = self.watch.as_secs_f64();
        let heard = answers::processes(before, after, with_hosts, seconds);
        let moved: Vec<_> = heard
            .values()
            .filter_map(|heard| match heard {
                processes::Answer::Status(_, moved) => Some(*moved),
                processes::Answer::NotStarted | processes::Answer::Silent(_) => None,
            })
            .collect();
        if moved.is_empty() && !with_hosts {
            return (Vec::new(), None);
        }
        let answered = (moved.len(), moved.iter().filter(|moved| **moved).count());
        (processes::examine(&heard, seconds), Some(answered))
    }

    /// Returns the addresses of the hosts' status sockets.
    fn host_addresses(&self) -> anyhow::Result<Vec<(String, String)>> {
        let mut addresses = self.host.clone();
        if let Some(folder) = &self.hosts {
            let place = || format!("--hosts {}", folder.display());
            for file in std::fs::read_dir(folder).with_context(place)? {
                let path = file.with_context(place)?.path();
                if let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".sock")) {
                    // A host that serves several jobs has a socket for each: w1.2.sock.
                    let node = name.rsplit_once('.').filter(|(_, job)| job.parse::<u16>().is_ok());
                    let node = node.map_or(name, |(node, _)| node);
                    addresses.push((node.to_owned(), path.display().to_string()));
                }
            }
        }
        addresses.sort();
        Ok(addresses)
    }

    /// Returns the problems that the controller reports.
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
