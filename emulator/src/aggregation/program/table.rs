//! The summary of a program's emulation as text.

use std::fmt;

use crate::aggregation::grid::{Column, grid};
use crate::aggregation::program::figures::{ProgramJob, ProgramScheme, ProgramSummary, WorkerFigures};
use crate::aggregation::si::si;
use crate::machine::scale::Scale;
use inart_topologies::units::counted;

impl fmt::Display for ProgramSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = self.schemes.len() > 1;
        for scheme in &self.schemes {
            for job in &scheme.jobs {
                let title = if several { format!(" under {}", scheme.scheme) } else { String::new() };
                writeln!(f, "{}{title}: {}", job.job, what_was_compared(job))?;
            }
        }
        match Scale::try_from(self.scale) {
            Ok(scale) if !scale.is_one() => writeln!(
                f,
                "Links of {} at {scale} of the topology's rates; times are the clock's.",
                self.topology
            )?,
            _ => writeln!(f, "Links of {} at the topology's own rates.", self.topology)?,
        }
        if self.drop > 0.0 {
            writeln!(
                f,
                "{}% of the frames on every link were dropped (seed {}).",
                self.drop * 100.0,
                self.seed
            )?;
        }
        for scheme in &self.schemes {
            for job in scheme.jobs.iter().filter(|job| job.tensors > 0) {
                writeln!(f)?;
                workers_of(f, scheme, job, several)?;
            }
            faults_of(f, scheme)?;
        }
        Ok(())
    }
}

fn what_was_compared(job: &ProgramJob) -> String {
    if !job.audited {
        return format!(
            "{} succeeded. None was a worker of InArt's, so no sum was verified.",
            counted(job.workers.len(), "rank")
        );
    }
    if job.tensors == 0 && job.tensors_not_compared == 0 {
        return format!(
            "{} succeeded. No tensor was summed on switches: they sum float32, and Gloo has all else.",
            counted(job.workers.len(), "rank")
        );
    }
    let mut line = format!(
        "{} succeeded; {} of {} compared bit for bit, all equal.",
        counted(job.workers.len(), "rank"),
        counted(job.sums_checked, "sum"),
        counted(job.tensors, "tensor")
    );
    if job.tensors_not_compared > 0 {
        line += &format!(
            " {} more tensors were not waited for at every rank, and could not be compared.",
            job.tensors_not_compared
        );
    }
    if job.tensors_not_finite > 0 {
        line += &format!(" {} tensors had a NaN or an infinity.", job.tensors_not_finite);
    }
    line
}

fn workers_of(
    f: &mut fmt::Formatter<'_>,
    scheme: &ProgramScheme,
    job: &ProgramJob,
    several: bool,
) -> fmt::Result {
    let of = if several { format!("{}, {}", scheme.scheme, job.job) } else { job.job.clone() };
    let planned = si(job.planned_rate_bps, "bps");
    writeln!(
        f,
        "{of}: planned rate {planned}, {} summed in switches, {} into the servers",
        counted(scheme.packets_aggregated, "frame"),
        si(job.ps_ingress_bytes as f64, "B")
    )?;
    let columns: [Column<'_, WorkerFigures>; 6] = [
        ("rank", &|worker| worker.rank.to_string()),
        ("worker", &|worker| worker.worker.clone()),
        ("tensors", &|worker| worker.tensors.to_string()),
        ("summed", &|worker| si(worker.bytes as f64, "B")),
        ("in all-reduce", &|worker| si(worker.seconds, "s")),
        ("retransmitted", &|worker| worker.retransmissions.to_string()),
    ];
    grid(f, &columns, &job.workers)
}

fn faults_of(f: &mut fmt::Formatter<'_>, scheme: &ProgramScheme) -> fmt::Result {
    if scheme.faults.is_empty() {
        return Ok(());
    }
    writeln!(
        f,
        "\nwhat was done while {} ran, by seconds since its start and tensors checked so far",
        scheme.scheme
    )?;
    for fault in &scheme.faults {
        writeln!(f, "  {:6.2} s  {:4}  {}", fault.seconds, fault.rounds_audited, fault.what)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_compared_is_said() {
        let mut job = ProgramJob {
            job: "a".into(),
            audited: true,
            tensors: 5,
            tensors_not_compared: 1,
            tensors_not_finite: 0,
            sums_checked: 40,
            planned_rate_bps: 1e6,
            ps_ingress_bytes: 1,
            workers: vec![],
            sizes: vec![],
        };
        assert!(
            what_was_compared(&job).contains("40 sums of 5 tensors compared bit for bit, all equal. 1 more")
        );
        assert!(!what_was_compared(&job).contains("NaN"));
        job.tensors_not_finite = 2;
        assert!(what_was_compared(&job).ends_with("2 tensors had a NaN or an infinity."));
        job.tensors_not_finite = 0;
        (job.tensors, job.tensors_not_compared, job.sums_checked) = (0, 0, 0);
        assert!(what_was_compared(&job).contains("No tensor was summed on switches"), "nothing was compared");
        job.audited = false;
        assert!(what_was_compared(&job).ends_with("so no sum was verified."));
    }
}
