//! Estimated port rates, from the topology and from passed updates.

use inart_topologies::peers::Ports;

use crate::message::Sample;

/// Gain of an estimate towards the rate that passed a full port.
const GAIN: f64 = 0.5;
/// A port at this utilization that is not full may carry more than estimated.
const BUSY: f64 = 0.9;
/// Factor over the estimate to try next.
const MORE: f64 = 1.05;
/// Part of the distance to the capacity by which an estimate without samples moves.
const FORGOTTEN: f64 = 0.02;
/// Lowest estimate, as a part of the capacity.
const LEAST: f64 = 0.01;

/// Estimates, in bit/s.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Estimates {
    built: Ports,
    now: Ports,
}

impl Estimates {
    /// Creates estimates from the topology's capacities.
    pub fn new(built: Ports) -> Self {
        Estimates { now: built.clone(), built }
    }

    /// Moves all estimates a little towards the capacities.
    pub fn forget_a_little(&mut self) {
        let both =
            [(&mut self.now.up_bps, &self.built.up_bps), (&mut self.now.down_bps, &self.built.down_bps)];
        for (now, built) in both {
            now.iter_mut().zip(built).for_each(|(now, built)| *now += FORGOTTEN * (built - *now));
        }
    }

    pub fn ports(&self) -> &Ports {
        &self.now
    }

    /// Takes a sample of a peer's port. A full port shows its rate. Another port shows a lower bound; near
    /// the estimate, more is tried. Returns whether the sample was useful.
    pub fn sample(&mut self, peer: usize, sample: &Sample) -> bool {
        let bps = sample.bits / sample.seconds;
        if !(bps > 0.0 && bps.is_finite()) {
            return false;
        }
        let (built, now) = match sample.is_up {
            true => (self.built.up_bps[peer], &mut self.now.up_bps[peer]),
            false => (self.built.down_bps[peer], &mut self.now.down_bps[peer]),
        };
        let next = match sample.is_full {
            true => *now + GAIN * (bps - *now),
            false if bps >= BUSY * *now => bps.max(*now * MORE),
            false => *now,
        };
        *now = next.clamp(LEAST * built, built);
        true
    }
}
