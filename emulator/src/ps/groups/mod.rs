//! R²SP between groups of workers with InArt inside, on one machine: the network with its switches and their
//! tables, a process per server and per worker. Every sum, every answer and every version of the model is
//! computed again.

mod audit;
mod processes;
mod report;
mod setting;

use std::time::{Duration, Instant};

use inart_controller::JobPlan;
use inart_planner_aggregation::schemes;
use inart_planner_ps::Racks;
use inart_protocol_aggregation::Assignment;
use inart_wire::JobId;

use crate::aggregation::testbed::Testbed;
use crate::error::Error;
use crate::machine::scale::Scale;
use crate::measured::{Measured, in_turn};
use audit::Audit;
use processes::Processes;
pub use report::{RackReport, RackTable, SimulatedRacks};
pub use setting::RackSetting;

/// A turn that takes longer is a failure.
const LONGEST_TURN: Duration = Duration::from_secs(60);

/// Runs the training in each of these divisions in groups, one after the other; reports applied turns and
/// their total number.
///
/// # Errors
/// Errors of the system; a process that fails; a wrong sum, answer or model.
pub fn emulate_racks(
    setting: &RackSetting,
    all: &[Racks],
    tell: &mut dyn FnMut(u64, u64),
) -> Result<Measured<RackTable>, Error> {
    crate::machine::permission::check()?;
    let turns = |racks: &Racks| racks.groups.len() as u64 * u64::from(setting.iterations);
    let total = all.iter().map(turns).sum();
    let mut before = 0;
    let (reports, problem) = in_turn(all, |racks| {
        let report = run(setting, racks, &mut |done| tell(before + done, total))?;
        before += turns(racks);
        Ok(report)
    })?;
    Ok(Measured { report: report::table(setting, reports), problem })
}

fn run(setting: &RackSetting, racks: &Racks, tell: &mut dyn FnMut(u64)) -> Result<RackReport, Error> {
    let options = setting.options();
    options.validate()?;
    let topology = setting.topology.with_jobs(setting.jobs(racks));
    let mut testbed = Testbed::start(&topology, &options, setting.scale.factor())?;
    let assignments = install(&mut testbed, setting, racks)?;
    let mut processes = Processes::start(setting, racks, &testbed, &assignments)?;
    let mut audit = Audit::new(setting, racks, &assignments)?;
    let turns = racks.groups.len() as u64 * u64::from(setting.iterations);
    let mut progress = (0, Instant::now());
    while !processes.are_done() {
        processes.listen(&mut |group, rank, report| audit.take(group, rank, report))?;
        tell(audit.turns());
        if audit.turns() > progress.0 {
            progress = (audit.turns(), Instant::now());
        }
        if progress.1.elapsed() > LONGEST_TURN {
            let why = format!("turn {} of {turns} has not ended for a minute", progress.0);
            return Err(Error::Failed { who: "the training".into(), why });
        }
    }
    let records = processes.end()?;
    let evaluations = audit.end(&records)?;
    let summed = testbed.counters()?.aggregated;
    report::report(setting, racks, &records, &audit, &evaluations, summed)
}

/// Installs the plans of all groups; returns the assignments of their hosts.
fn install(testbed: &mut Testbed, setting: &RackSetting, racks: &Racks) -> Result<Vec<Assignment>, Error> {
    let plans = racks.groups.iter().zip(1u16..).map(|(group, number)| JobPlan {
        job: JobId::from(number),
        plan: group.plan.clone(),
        window_chunks: setting.window_chunks,
        rate_scale: setting.scale.factor(),
        new_plan_version: true,
    });
    testbed.install(schemes::DEFAULT.name(), &plans.collect::<Vec<_>>())
}

/// The scale at which this machine carries the frames of all groups that may push at once.
///
/// # Errors
/// What the system refuses.
pub fn fitting_scale(all: &[Racks], values: inart_wire::ValuesPerFrame) -> Result<Scale, Error> {
    let demand = |racks: &Racks| {
        let mut each: Vec<f64> =
            racks.groups.iter().map(|group| crate::machine::capacity::demand(&group.plan, values)).collect();
        each.sort_by(|a, b| b.total_cmp(a));
        each.iter().take(racks.concurrent_groups).sum::<f64>()
    };
    let most = all.iter().map(demand).fold(0.0, f64::max);
    Ok(Scale::fitting(most * inart_targets::DEFAULT.frame_cost(), crate::machine::capacity::measure(values)?))
}
