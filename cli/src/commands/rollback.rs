//! `inart rollback`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use inart_controller::{PeersPush, Records, is_of_peers};
use inart_wire::JobId;

use crate::commands::control;
use crate::commands::control::{ControlArgs, Purpose, SwitchNetwork};

/// Arguments of `inart rollback`.
#[derive(clap::Args)]
pub struct Args {
    /// Current topology [default: the topology of the newest push of any job].
    #[arg(value_name = "TOPOLOGY", conflicts_with = "topology")]
    today: Option<PathBuf>,
    /// Name of the topology; needed if the records have several.
    #[arg(long, value_name = "NAME")]
    topology: Option<String>,
    /// Name of the job; needed if the records have several.
    #[arg(long, value_name = "NAME")]
    job: Option<String>,
    /// Folder for the hosts' assignments, one JOB.json each.
    #[arg(long, value_name = "DIR")]
    assignments: Option<PathBuf>,
    #[command(flatten)]
    control: ControlArgs,
}

/// Runs the command.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let state = args.control.state();
    let known = Records::networks(&state);
    let today = args.today.as_deref().map(SwitchNetwork::read).transpose()?;
    let named = today.as_ref().map(|today| today.topology.name()).or(args.topology.as_deref());
    let network =
        choose("topology", named, &known).with_context(|| format!("records {}", state.display()))?;
    let records = control::open_records(&state, &network)?;
    let job = job(&records, args.job.as_deref()).with_context(|| format!("topology {network}"))?;
    let values = match is_of_peers(job) {
        true => records.peers_before_last(job)?.values,
        false => records.before_last(job)?.values,
    };
    // The controller reads the network of peers from the records.
    let SwitchNetwork { topology, .. } = today.map_or_else(|| newest(&records, &network), Ok)?;
    control::block_on(async {
        let mut controller = args.control.controller(topology, None, values, records, Purpose::Write).await?;
        if let Some(dir) = &args.assignments {
            control::prepare_assignments(dir)?;
        }
        let report = controller.rollback(job).await?;
        if let Some(dir) = &args.assignments {
            control::write_assignments(dir, &report.assignments)?;
        }
        crate::commands::output::print(&if json { control::json(&report) } else { control::table(&report) })?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Returns the topology that the tables of all jobs follow.
fn newest(records: &Records, network: &str) -> anyhow::Result<SwitchNetwork> {
    let document = records.newest_topology().with_context(|| {
        format!(
            "the jobs of {network} were pushed on different topologies, and which is the newest was not noted: \
             give its document, `inart rollback TOPOLOGY`"
        )
    })?;
    SwitchNetwork::recorded(document).context("the topology of the newest push")
}

fn job(records: &Records, name: Option<&str>) -> anyhow::Result<JobId> {
    let live = records.jobs.iter().filter_map(|(job, record)| Some((*job, record.live()?.plan.job.clone())));
    let peers = records.peers.live().map(PeersPush::peers).transpose().context("the records")?;
    let copied = peers.iter().flat_map(|peers| peers.jobs().map(|(job, copied)| (job, copied.name.clone())));
    let live = live.chain(copied);
    let (numbers, names): (Vec<JobId>, Vec<String>) = live.unzip();
    let name = choose("job", name, &names)?;
    let at = names.iter().position(|known| *known == name).expect("the chosen name is one of them");
    Ok(numbers[at])
}

/// Returns the named one of the known names, or the only one.
pub fn choose(what: &str, name: Option<&str>, known: &[String]) -> anyhow::Result<String> {
    match (name, known) {
        (_, []) => bail!("nothing was pushed yet, so there is nothing to go back to"),
        (Some(name), _) if known.iter().any(|known| known == name) => Ok(name.to_owned()),
        (Some(name), _) => bail!("{what} {name}: only {} is known", known.join(", ")),
        (None, [only]) => Ok(only.clone()),
        (None, _) => bail!("several are known; choose one with --{what}: {}", known.join(", ")),
    }
}
