//! A search for prices that refute rates, one after another.

use super::ascent::Ascent;
use super::prices::{Certificate, Network, Prices};

/// Iterations (each prices all paths and fills once) for the first prices, and for later ones that start from
/// those.
pub(super) const FIRST: usize = 2000;
const LATER: usize = 700;
/// The bound along a direction is found to this part of the rate.
const PRECISE: f64 = 2e-3;

/// A search for certificates, each starting from the prices of another.
pub(super) struct Proof<'p, 'n, 'm> {
    pub(super) network: &'n Network<'m>,
    pub(super) ascent: Ascent<'n, 'm>,
    /// Iterations that `ascent` may use in sum.
    pub(super) looks: usize,
    /// The last prices, and the rates they were made for.
    pub(super) last: Option<(Prices, Vec<f64>)>,
    pub(super) time_left: &'p dyn Fn() -> f64,
}

impl Proof<'_, '_, '_> {
    /// Returns whether iterations or time are used up.
    pub(super) fn ended(&self) -> bool {
        self.ascent.looks >= self.looks || (self.time_left)() <= 0.0
    }

    /// Returns a certificate against `sending`, if one is found within `looks` iterations.
    pub(super) fn against(&mut self, sending: &[f64], looks: usize) -> Option<Certificate> {
        let start = match &self.last {
            Some((prices, from)) => prices.scaled(from, sending),
            None => Prices::even(self.network, sending),
        };
        let peak = self.ascent.climb(sending, start, looks, self.time_left);
        self.last = Some((peak.prices, sending.to_vec()));
        (peak.excess > 0.0).then_some(peak.certificate)
    }

    /// Returns the lowest rate in (low, high] found to be infeasible for every plan with shares `shares`, or
    /// `high`. `guess`: an approximate lower limit; rates just above it are tried first.
    pub(super) fn along(&mut self, shares: &[f64], mut low: f64, mut high: f64, guess: Option<f64>) -> f64 {
        let at = |rate: f64| -> Vec<f64> { shares.iter().map(|x| x * rate).collect() };
        let mut looks = if guess.is_some() { LATER } else { FIRST };
        low = guess.map_or(low, |guess| low.max(guess * (1.0 - 0.5 * PRECISE)));
        let mut asked = guess.map(|_| low * (1.0 + PRECISE)).filter(|rate| *rate < high);
        while low < high * (1.0 - PRECISE) && !self.ended() {
            let middle = asked.take().unwrap_or(0.5 * (low + high));
            match self.against(&at(middle), looks) {
                Some(certificate) => {
                    // It may refute even lower ones.
                    let refuted = |rate: f64| certificate.excess(&at(rate)) > 0.0;
                    high = crate::bounds::bisect_up(middle, |rate| rate <= low || !refuted(rate)).min(middle);
                }
                None => low = middle,
            }
            looks = LATER;
        }
        high
    }
}
