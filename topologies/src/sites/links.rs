//! Links between sites, and how their rates change.

use super::network::{Overlay, SiteLink};
use crate::document::{At, LinkEntry, TraceEntry, required, trace};
use crate::error::{NetworkError, Result};

/// The slowest rate that is read, 1 bit/s: times over any number of links stay finite.
const LEAST_BPS: f64 = 1.0;
/// The fastest rate that is read, 1 Ebit/s: sums over any number of links stay finite.
const MOST_BPS: f64 = 1e18;
/// The longest delay of a link that is read, an hour.
const MOST_SECONDS: f64 = 3600.0;

impl Overlay {
    pub(super) fn add_link(&mut self, entry: At<LinkEntry>) -> Result<()> {
        let (at, place) = (entry.line, entry.value.place());
        let LinkEntry { ends, rate, delay, loss, .. } = entry.value;
        let [a, b] = required(at, &place, "ends", ends)?;
        let ends = [self.known(at, &place, &a)?, self.known(at, &place, &b)?];
        let wrong = |problem: String, fix: &str| Err(NetworkError::new(at, place.clone(), problem, fix));
        if ends[0] == ends[1] {
            return wrong("both ends are the same site".to_owned(), "name two different sites");
        }
        if self.arc_between(ends[0], ends[1]).is_some() {
            return wrong(
                "these two sites are linked already".to_owned(),
                "keep one link and add the rates up",
            );
        }
        let rates_bps = required(at, &place, "rate", rate)?.0.map(|rate| rate.0);
        if rates_bps.contains(&0.0) && rates_bps.iter().any(|bps| *bps > 0.0) {
            let problem = format!("it leads in one direction only: rates {rates_bps:?}");
            return wrong(problem, "sums go up and down: give both directions a rate, or leave the link out");
        }
        for bps in rates_bps {
            in_range(at, &place, bps)?;
        }
        let delay_seconds = delay.map_or(0.0, |delay| delay.value.0);
        if !(0.0..=MOST_SECONDS).contains(&delay_seconds) {
            let problem = format!("delay is {delay_seconds}");
            return wrong(problem, "give a duration like \"30 ms\", at most an hour");
        }
        let loss = loss.map_or(0.0, |part| part.value.0);
        if !(0.0..1.0).contains(&loss) {
            return wrong(
                "loss is not a part from 0% to below 100%".to_owned(),
                "write it like `loss: 0.02%`",
            );
        }
        self.links.push(SiteLink { ends, rates_bps, delay_seconds, loss, traces: [None, None] });
        Ok(())
    }

    pub(super) fn add_trace(&mut self, entry: At<TraceEntry>) -> Result<()> {
        let at = entry.line;
        let TraceEntry { link, every, rates } = entry.value;
        let [a, b] = required(at, "trace", "link", link)?;
        let place = format!("trace of {a} to {b}");
        let (from, to) = (self.known(at, &place, &a)?, self.known(at, &place, &b)?);
        let Some(arc) = self.arc_between(from, to) else {
            return Err(NetworkError::new(at, place, "there is no such link", "add it under links"));
        };
        let trace = trace(at, &place, every, rates, in_range)?;
        let of_link = &mut self.links[arc.index() / 2].traces[arc.index() % 2];
        if of_link.is_some() {
            let fix = "keep one; each direction has its own";
            return Err(NetworkError::new(at, place, "this direction has a trace already", fix));
        }
        *of_link = Some(trace);
        Ok(())
    }
}

fn in_range(at: u64, place: &str, bps: f64) -> Result<()> {
    if (LEAST_BPS..=MOST_BPS).contains(&bps) {
        return Ok(());
    }
    let fix = match bps > MOST_BPS {
        true => "rates go up to 1e18 bit/s",
        false => "give a rate of at least 1 bit/s like \"20 Mbps\"; a fault schedule takes links down",
    };
    Err(NetworkError::new(at, place, format!("a rate is {bps}"), fix))
}
