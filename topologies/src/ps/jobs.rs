//! Jobs with parameter servers.

use super::fabric::Fabric;
use super::network::{Cluster, Job, Kind, Participant, Time};
use super::training::{Compute, Training};
use crate::error::{NetworkError, Result};
use crate::switched::{NodeId, Topology};

/// Most participants of a job.
const MOST: usize = 16_384;
/// The shortest mean time that is read, in seconds.
const LEAST_MEAN: f64 = 1e-9;
/// The longest mean time that is read, in seconds; and the greatest variation.
const MOST_TIME: (f64, f64) = (1e7, 100.0);
/// The speeds that are read, in samples a second: a sample in the longest time, and 1e12.
const SPEEDS: std::ops::RangeInclusive<f64> = 1.0 / MOST_TIME.0..=1e12;
/// The largest batch that is read, in samples.
const MOST_BATCH: i64 = 1_000_000_000;

/// Returns the jobs with parameter servers, from the training settings of all jobs.
pub(super) fn build(topology: &Topology, all: &[Training]) -> Result<Cluster> {
    if let Some(link) = topology.links().iter().find(|link| link.loss > 0.0) {
        let [a, b] = link.ends.map(|end| topology.node(end).name.as_str());
        let problem = "it loses frames, and runs of parameter servers do not simulate losses of links";
        return Err(NetworkError::new(None, format!("link {a}-{b}"), problem, "leave `loss` out"));
    }
    let any = all.iter().any(Training::says_how_long);
    let fabric = Fabric::new(topology);
    let mut jobs = Vec::new();
    for entry in all.iter().filter(|entry| !any || entry.says_how_long()) {
        let reader = Reader { topology, at: entry.line, place: format!("job {}", entry.name) };
        jobs.push(reader.job(&fabric, entry)?);
    }
    if jobs.is_empty() {
        let fix = "add one: `jobs: [{name: vgg16, gradient: 528 MB, compute: {mean: 700 ms, cv: 0.05}}]`";
        let problem = "it has no job with `compute`";
        return Err(NetworkError::new(None, "document", problem, fix));
    }
    Ok(Cluster { name: topology.name().to_owned(), jobs })
}

/// A job while it is read: where it stands.
struct Reader<'t> {
    topology: &'t Topology,
    at: u64,
    place: String,
}

impl Reader<'_> {
    fn wrong<T>(&self, problem: impl Into<String>, fix: &str) -> Result<T> {
        Err(NetworkError::new(self.at, &*self.place, problem, fix))
    }

    fn job(&self, fabric: &Fabric<'_>, entry: &Training) -> Result<Job> {
        let Some(planned) = self.topology.jobs().iter().find(|job| job.name == entry.name) else {
            return self.wrong("the planner does not know it", "give it a name");
        };
        let Some(bytes) = planned.gradient_bytes else {
            return self.wrong("it does not have the size of the model", "write `gradient: 528 MB`");
        };
        let kind = if entry.is_of_clients { Kind::Clients } else { Kind::Workers };
        if kind == Kind::Workers && entry.upload_delay.is_some() {
            return self.wrong(
                "it has an `upload_delay`, and only clients have one",
                "write `clients`, or leave it out",
            );
        }
        if planned.workers.len() > MOST {
            let problem = format!("it has {} {}", planned.workers.len(), kind.name());
            return self.wrong(problem, &format!("at most {MOST} are simulated"));
        }
        let names: Vec<&str> = planned.workers.iter().map(|&id| &*self.topology.node(id).name).collect();
        let named = entry.computes.keys().chain(entry.batches.keys());
        if let Some(stranger) = named.into_iter().find(|name| !names.contains(&name.as_str())) {
            let problem =
                format!("\"{stranger}\" has a time or a batch, and is not one of its {}", kind.name());
            return self.wrong(problem, "name one of them, or leave it out");
        }
        fabric.carries(self.at, &self.place, planned)?;
        let server = fabric.server(self.at, &self.place, &planned.servers)?;
        let each = planned.workers.iter().map(|&id| self.participant(fabric, &planned.servers, id, entry));
        let pause = match entry.upload_delay {
            None => Time { mean_s: 0.0, cv: 0.0 },
            Some(pause) => self.time("upload_delay", "", Some(pause))?,
        };
        let participants = each.collect::<Result<_>>()?;
        Ok(Job { name: entry.name.clone(), kind, participants, server, bits: bytes as f64 * 8.0, pause })
    }

    fn participant(
        &self,
        fabric: &Fabric<'_>,
        servers: &[NodeId],
        id: NodeId,
        entry: &Training,
    ) -> Result<Participant> {
        let name = self.topology.node(id).name.clone();
        let own = entry.computes.get(&name).copied();
        let all = entry.compute.unwrap_or_default();
        let merged = own.map(|own| Compute {
            mean: own.mean.or(all.mean),
            cv: own.cv.or(all.cv),
            speed: own.speed.or(all.speed),
        });
        let given = merged.or(entry.compute);
        let compute = self.time("compute", &format!(" of {name}"), given)?;
        let batch = match entry.batches.get(&name).copied().or(entry.batch) {
            None => 1,
            Some(batch) if (1..=MOST_BATCH).contains(&batch) => batch as u32,
            Some(batch) => {
                let fix = "give samples from 1 on, like `batch: 512`";
                return self.wrong(format!("the batch of {name} is {batch}"), fix);
            }
        };
        let speed = given.and_then(|given| given.speed).unwrap_or(f64::from(batch) / compute.mean_s);
        if !SPEEDS.contains(&speed) {
            let problem = format!("the speed of {name} is {speed} samples per second");
            return self.wrong(problem, "give one from 1e-7 to 1e12, like `samples_per_second: 429`");
        }
        let nic = fabric.nic(self.at, &self.place, id)?;
        let delay_s = fabric.delay_s(servers, id);
        Ok(Participant { name, nic, delay_s, compute, batch, speed })
    }

    fn time(&self, what: &str, of: &str, given: Option<Compute>) -> Result<Time> {
        let example = format!("write `{what}: {{mean: 700 ms, cv: 0.05}}`");
        let Some(mean) = given.and_then(|given| given.mean) else {
            return self.wrong(format!("it does not have the mean {what} time{of}"), &example);
        };
        if !(LEAST_MEAN..=MOST_TIME.0).contains(&mean) {
            return self.wrong(format!("the mean {what} time{of} is {}", mean), &example);
        }
        let cv = given.and_then(|given| given.cv).unwrap_or(0.0);
        if !(0.0..=MOST_TIME.1).contains(&cv) {
            return self.wrong(format!("the cv of the {what} time{of} is {cv}"), "give one from 0 to 100");
        }
        Ok(Time { mean_s: mean, cv })
    }
}
