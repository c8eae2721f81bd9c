//! The emulated training in virtual time, at the rate left for values next to headers and acknowledgements.

use inart_ps_agent::Precision;
use inart_ps_host::CHUNK_VALUES;
use inart_simulator_ps::{ClientOptions, RunError, WorkerOptions, run_clients, run_workers};
use inart_topologies::ps::Job;
use inart_wire::ValuesPerFrame;
use serde::Serialize;

use super::setting::{Order, Scheme, Setting, Transport};
use crate::error::Error;

/// Figures in virtual time, at the rates of values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Simulated {
    /// Mean time between own pushes, or between aggregations of a group, in seconds.
    pub iteration_s: f64,
    /// Mean staleness; of workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staleness_mean: Option<f64>,
    /// The part of gaps that is about none; of workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bunched_arrivals: Option<f64>,
}

/// By QUIC: of the 1494 bytes of a full frame 1418 are a message's; an acknowledgement of about 90 bytes for
/// every two frames goes the other way.
const QUIC_SHARE: f64 = 1418.0 / 1494.0 * (1.0 - 90.0 / (2.0 * 1494.0));
/// Bytes of a chunk before its values: the packet's kind, format, two incarnations, permission, version,
/// number (docs/protocol/ps.md, "Push and pull").
const CHUNK_HEAD_BYTES: usize = 1 + 1 + 4 + 4 + 8 + 8 + 4;
/// Values of a frame's head: code, two numbers of the connection, part, place, bytes; one frame goes the
/// other way for several ("Push and pull by frames", F4).
const PART_HEAD_VALUES: usize = 6;
const PARTS_PER_ANSWER: f64 = 16.0;
/// The values of a full frame at an MTU of 1500.
const FULL: ValuesPerFrame = ValuesPerFrame::N256;

/// The part of a port's rate that is there for values.
fn payload_share(transport: Transport, precision: Precision) -> f64 {
    if transport == Transport::Quic {
        return QUIC_SHARE;
    }
    let value_bytes = if precision == Precision::Half { 2 } else { 4 };
    let (values, most) = (CHUNK_VALUES * value_bytes, 4 * (FULL.get() - PART_HEAD_VALUES));
    let packet = CHUNK_HEAD_BYTES + values;
    let last = (packet % most).div_ceil(4) + PART_HEAD_VALUES;
    let last = ValuesPerFrame::ALL.into_iter().find(|room| room.get() >= last);
    let carried = packet / most * FULL.frame_bytes() + last.unwrap_or(FULL).frame_bytes();
    let answers = ValuesPerFrame::N32.frame_bytes() as f64 / (PARTS_PER_ANSWER * FULL.frame_bytes() as f64);
    values as f64 / carried as f64 * (1.0 - answers)
}

/// Runs an order in virtual time.
pub fn simulated(setting: &Setting, scheme: &Scheme) -> Result<Simulated, Error> {
    let mut job: Job = setting.job.clone();
    let nics = job.participants.iter_mut().map(|worker| &mut worker.nic).chain([&mut job.server]);
    let share = payload_share(setting.transport, setting.precision);
    nics.for_each(|nic| (nic.out_bps, nic.in_bps) = (nic.out_bps * share, nic.in_bps * share));
    if setting.precision == Precision::Half {
        job.bits /= 2.0;
    }
    let failed = |error: RunError| Error::Option { option: "sync", problem: error.to_string() };
    // The server notices an absence by its push timeout, or by a closed connection.
    let absences = setting.faults.absences(setting.patience_s.is_none());
    match scheme.order {
        Order::Workers(sync_model) => {
            let options = WorkerOptions {
                tuning: setting.tuning,
                seed: setting.seed,
                patience_s: setting.patience_s,
                absences,
                ..WorkerOptions::new(sync_model, setting.iterations)
            };
            let run = run_workers(&job, &options).map_err(failed)?;
            Ok(Simulated {
                iteration_s: run.iteration_s,
                staleness_mean: Some(run.staleness.mean),
                bunched_arrivals: Some(run.bunched_arrivals),
            })
        }
        Order::Groups { groups, fraction, relaxation } => {
            let options = ClientOptions {
                groups,
                fraction,
                relaxation,
                rounds: setting.iterations,
                seed: setting.seed,
                patience_s: setting.patience_s,
                absences,
                usage_s: None,
            };
            let iteration_s = run_clients(&job, &options).map_err(failed)?.round_s;
            Ok(Simulated { iteration_s, staleness_mean: None, bunched_arrivals: None })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_by_frames_is_seventeen_of_256_values_and_one_answer_in_sixteen() {
        let of = |precision| payload_share(Transport::Frames, precision);
        let answers = 1.0 - 172.0 / (16.0 * 1068.0);
        assert!((of(Precision::Single) - 16384.0 / (17.0 * 1068.0) * answers).abs() < 1e-12);
        // The last part of a chunk of float16 has 222 bytes, for which a frame of 64 values has room.
        let half = 8192.0 / (8.0 * 1068.0 + (14.0 + 30.0 + 256.0)) * answers;
        assert!((of(Precision::Half) - half).abs() < 1e-12, "{} {half}", of(Precision::Half));
    }
}
