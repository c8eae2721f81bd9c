//! The summary as text.

use std::fmt;

use inart_report::Trained;
use inart_topologies::units::counted;

use crate::aggregation::figures::{SchemeFigures, Summary};
use crate::aggregation::grid::{Column, grid};
use crate::aggregation::si::si;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} per scheme; {} compared bit for bit, all equal.",
            self.topology,
            counted(self.rounds, "round"),
            counted(self.sums_checked, "sum")
        )?;
        writeln!(f, "Emulated {}; the figures below are at the topology's own.", self.scale_phrase())?;
        if self.target != inart_targets::DEFAULT.name() {
            writeln!(f, "The switches were of kind {}, frames had {} values.", self.target, self.values)?;
        }
        if self.drop > 0.0 {
            writeln!(
                f,
                "{}% of the frames on every link were dropped (seed {}).",
                self.drop * 100.0,
                self.seed
            )?;
        }
        writeln!(f)?;
        let rounds = f64::from(self.rounds.max(1));
        let ingress = |s: &SchemeFigures| si(s.ps_ingress_bytes as f64 / rounds, "B");
        if self.single_host.is_empty() {
            let beside = |measured: String, planned: f64, unit| format!("{measured} ({})", si(planned, unit));
            let columns: [Column<'_, SchemeFigures>; 6] = [
                ("scheme", &|s| s.scheme.to_string()),
                ("sending rate (planned)", &|s| beside(si(s.rate_bps, "bps"), s.planned_rate_bps, "bps")),
                ("comm. per round", &|s| beside(si(s.comm_seconds, "s"), s.planned.comm_seconds, "s")),
                ("all workers", &|s| beside(si(s.throughput_bps, "bps"), s.planned.throughput_bps, "bps")),
                ("PS ingress per round", &|s| beside(ingress(s), s.planned.ps_ingress_bytes, "B")),
                ("retransmitted", &|s| s.retransmissions.to_string()),
            ];
            grid(f, &columns, &self.schemes)?;
            writeln!(f, "planned: of values alone, by arithmetic; measured: of whole frames, by the clock")?;
        } else {
            let columns: [Column<'_, SchemeFigures>; 7] = [
                ("scheme", &|s| s.scheme.to_string()),
                ("planned rate", &|s| si(s.planned_rate_bps, "bps")),
                ("sending rate", &|s| si(s.rate_bps, "bps")),
                ("comm. per round", &|s| si(s.comm_seconds, "s")),
                ("summed in switches", &|s| counted(s.packets_aggregated, "frame")),
                ("PS ingress per round", &ingress),
                ("retransmitted", &|s| s.retransmissions.to_string()),
            ];
            grid(f, &columns, &self.schemes)?;
        }
        writeln!(f)?;
        for scheme in self.schemes.iter().filter(|scheme| !scheme.faults.is_empty()) {
            writeln!(f, "what was done while {} ran, by seconds and rounds checked so far", scheme.scheme)?;
            for fault in &scheme.faults {
                writeln!(f, "  {:6.2} s  {:4}  {}", fault.seconds, fault.rounds_audited, fault.what)?;
            }
            writeln!(f)?;
        }
        if let Some(changes) = &self.changes {
            let part = changes.goodput_ratio.map(|ratio| format!("{:.1} %", 100.0 * ratio));
            writeln!(
                f,
                "{} of plans, {:.0} ms each, {} lost; goodput while they change {} of that in the pauses \
                 between\n",
                counted(changes.changes, "change"),
                changes.change_ms,
                counted(changes.lost_rounds, "round"),
                part.unwrap_or_else(|| "not known as part".into())
            )?;
        }
        for host in &self.single_host {
            writeln!(f, "training {}: loss and accuracy on images never trained on", host.job)?;
            writeln!(f, "  {:<13}  {:.4}  {:.2}%", "one host", host.loss, host.accuracy * 100.0)?;
            for scheme in &self.schemes {
                for job in scheme.jobs.iter().filter(|job| job.job == host.job) {
                    let Some(Trained { loss, accuracy, digest }) = &job.trained else { continue };
                    let weights = digest.get(..16).unwrap_or(digest);
                    let accuracy = accuracy * 100.0;
                    writeln!(f, "  {:<13}  {loss:.4}  {accuracy:.2}%  weights {weights}", scheme.scheme)?;
                }
            }
        }
        Ok(())
    }
}
