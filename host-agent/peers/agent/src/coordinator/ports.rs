//! What the ports carry, as far as is known: what the network says, and what updates that passed have shown.

use inart_topologies::peers::Ports;

use crate::message::Sample;

/// How far a port that is full moves the estimate towards what passed.
const GAIN: f64 = 0.5;
/// A port that is not full and this busy may carry more than is believed.
const BUSY: f64 = 0.9;
/// What is tried then, over what was believed.
const MORE: f64 = 1.05;
/// What is believed moves so far towards what ports are built for where nothing is seen.
const FORGOTTEN: f64 = 0.02;
/// No port is believed to carry less than this part of what it is built for.
const LEAST: f64 = 0.01;

/// Estimates, in bit/s.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Estimates {
    built: Ports,
    now: Ports,
}

impl Estimates {
    /// What the network says.
    pub fn new(built: Ports) -> Self {
        Estimates { now: built.clone(), built }
    }

    /// All move a little towards what they are built for.
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

    /// A sample of a peer's port. A full port shows what it carries. One that is not shows that it carries
    /// that much; if it is nearly as much as is believed, more is tried. Whether it was of use.
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
