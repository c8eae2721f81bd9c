//! Jobs of peers.

use std::collections::HashSet;

use super::network::{Compute, Mesh, PeerId, PeerJob};
use crate::document::{At, JobEntry, TimeEntry, required, unknown, usable};
use crate::error::{NetworkError, Result};
use crate::units::counted;

/// The largest update that is read, in bytes.
const MOST_BYTES: f64 = 1e18;
/// The smallest, in bytes.
const LEAST_BYTES: f64 = 1.0;
/// The shortest and the longest mean time to compute, in seconds.
const LEAST_MEAN: f64 = 1e-9;
const MOST_MEAN: f64 = 1e7;
/// The greatest variation of times to compute.
const MOST_CV: f64 = 100.0;

/// A job during reading: its place in the document, and its peers.
struct Reader<'m> {
    mesh: &'m Mesh,
    at: u64,
    place: String,
    peers: Vec<PeerId>,
}

pub(super) fn job_of(mesh: &Mesh, entry: At<JobEntry>) -> Result<PeerJob> {
    let at = entry.line;
    let JobEntry {
        name,
        peers,
        receivers,
        update,
        required_pairs: pairs,
        rounds_since_contact: waited,
        compute,
        ..
    } = entry.value;
    let name = required(at, "job", "name", name)?;
    usable(at, "job", &name)?;
    let mut reader = Reader { mesh, at, place: format!("job {name}"), peers: Vec::new() };
    if mesh.job_named(&name).is_some() {
        return reader.wrong("this name is taken already", "give each job its own name");
    }
    reader.peers = reader.peers_of(peers.as_ref().map(|names| &names.value))?;
    let n = reader.peers.len();
    let receivers = reader.receivers(receivers.map(|receivers| receivers.value))?;
    let update = update.map(|update| update.value);
    let mut update_bytes = vec![update.as_ref().and_then(|update| update.default).map(|size| size.0); n];
    for (name, size) in update.iter().flat_map(|update| &update.overrides) {
        update_bytes[reader.rank("update", name)?] = Some(size.0);
    }
    let update_bytes = (0..n).zip(update_bytes).map(|(rank, bytes)| reader.update(rank, bytes));
    let update_bytes = update_bytes.collect::<Result<Vec<f64>>>()?;
    let required = reader.required(pairs.as_ref().map_or(&[], |pairs| &pairs.value))?;
    let waited = reader.waited(waited.as_ref().map_or(&[], |waited| &waited.value))?;
    let compute = compute.map(|compute| compute.value);
    let all = compute.as_ref().and_then(|compute| compute.default.as_ref()).map(Time::of);
    let mut times = vec![all; n];
    for (name, own) in compute.iter().flat_map(|compute| &compute.overrides) {
        let (own, all) = (Time::of(own), all.unwrap_or_default());
        times[reader.rank("compute", name)?] =
            Some(Time { mean: own.mean.or(all.mean), cv: own.cv.or(all.cv) });
    }
    let computes = reader.computes(times)?;
    Ok(PeerJob { name, peers: reader.peers, receivers, update_bytes, required, waited, computes })
}

/// A job's settings of peers' compute times.
#[derive(Clone, Copy, Default)]
struct Time {
    mean: Option<f64>,
    cv: Option<f64>,
}

impl Time {
    fn of(entry: &TimeEntry) -> Self {
        Time { mean: entry.mean.map(|mean| mean.value.0), cv: entry.cv.map(|cv| cv.value) }
    }
}

impl Reader<'_> {
    fn wrong<T>(&self, problem: impl Into<String>, fix: impl Into<String>) -> Result<T> {
        Err(NetworkError::new(self.at, self.place.clone(), problem, fix))
    }

    fn peers_of(&self, names: Option<&Vec<String>>) -> Result<Vec<PeerId>> {
        let all = || (0..self.mesh.peers.len() as u32).map(PeerId).collect::<Vec<_>>();
        let peers = match names {
            None => all(),
            Some(names) => {
                let known = names.iter().map(|name| self.known(name));
                let peers = known.collect::<Result<Vec<_>>>()?;
                let mut seen = HashSet::new();
                if let Some(&twice) = peers.iter().find(|&&peer| !seen.insert(peer)) {
                    let problem = format!("\"{}\" is listed twice", self.mesh.peer(twice).name);
                    return self.wrong(problem, "list it once");
                }
                peers
            }
        };
        if peers.len() < 2 {
            let problem = format!("it has {}", counted(peers.len(), "peer"));
            return self.wrong(problem, "name at least two: one alone has no receiver");
        }
        Ok(peers)
    }

    fn known(&self, name: &str) -> Result<PeerId> {
        let names = || self.mesh.peers.iter().map(|peer| peer.name.as_str());
        self.mesh.peer_named(name).ok_or_else(|| unknown(self.at, &self.place, "peer", name, names()))
    }

    /// Returns the position in the job of a peer that its key `what` names.
    fn rank(&self, what: &str, name: &str) -> Result<usize> {
        let id = self.known(name)?;
        match self.peers.iter().position(|&peer| peer == id) {
            Some(rank) => Ok(rank),
            None => self
                .wrong(format!("{what} names {name}, which is not a peer of the job"), "add it to `peers`"),
        }
    }

    fn receivers(&self, receivers: Option<i64>) -> Result<usize> {
        let n = self.peers.len();
        let fix = format!("give a number from 1 to {}: the other peers", n - 1);
        match receivers {
            None => self.wrong("it does not have the least number of receivers of an update", fix),
            Some(receivers) => match usize::try_from(receivers) {
                Ok(receivers) if (1..n).contains(&receivers) => Ok(receivers),
                _ => self
                    .wrong(format!("receivers is {receivers}, and it has {n}", n = counted(n, "peer")), fix),
            },
        }
    }

    fn update(&self, rank: usize, bytes: Option<f64>) -> Result<f64> {
        let name = self.mesh.peer(self.peers[rank]).name.as_str();
        match bytes {
            Some(bytes) if (LEAST_BYTES..=MOST_BYTES).contains(&bytes) => Ok(bytes),
            Some(bytes) => {
                let fix = "give a size like \"200 MB\", at least a byte";
                self.wrong(format!("the update of {name} is {bytes} bytes"), fix)
            }
            None => self.wrong(
                format!("it does not have the size of the update of {name}"),
                "write `update: 200 MB`, or `update: {default: 200 MB, overrides: {p1: 60 MB}}`",
            ),
        }
    }

    /// Returns two peers of the job, the first of which sends.
    fn pair(&self, what: &str, from: &str, to: &str) -> Result<(usize, usize)> {
        let pair = (self.rank(what, from)?, self.rank(what, to)?);
        if pair.0 == pair.1 {
            let problem = format!("{what} has {from} send to itself");
            return self.wrong(problem, "name two different peers, [sender, receiver]");
        }
        Ok(pair)
    }

    fn required(&self, pairs: &[[String; 2]]) -> Result<Vec<(usize, usize)>> {
        let mut seen = HashSet::new();
        let mut required = Vec::with_capacity(pairs.len());
        for [from, to] in pairs {
            let pair = self.pair("required_pairs", from, to)?;
            if !seen.insert(pair) {
                return self.wrong(format!("required_pairs lists [{from}, {to}] twice"), "list it once");
            }
            required.push(pair);
        }
        Ok(required)
    }

    fn waited(&self, entries: &[(String, String, i64)]) -> Result<Vec<(usize, usize, u32)>> {
        let mut seen = HashSet::new();
        let mut waited = Vec::with_capacity(entries.len());
        for (from, to, rounds) in entries {
            let (sender, receiver) = self.pair("rounds_since_contact", from, to)?;
            if !seen.insert((sender, receiver)) {
                return self
                    .wrong(format!("rounds_since_contact lists [{from}, {to}] twice"), "list it once");
            }
            let Ok(rounds) = u32::try_from(*rounds) else {
                let problem = format!("rounds_since_contact has {rounds} rounds of [{from}, {to}]");
                return self.wrong(problem, "give the rounds since one last sent to the other: 0 or more");
            };
            waited.push((sender, receiver, rounds));
        }
        Ok(waited)
    }

    fn computes(&self, entries: Vec<Option<Time>>) -> Result<Vec<Compute>> {
        if entries.iter().all(Option::is_none) {
            return Ok(Vec::new());
        }
        let of = |(rank, entry): (usize, Option<Time>)| {
            let name = &self.mesh.peer(self.peers[rank]).name;
            let fix = "write `compute: {mean: 1 s, cv: 0.57}`, or `compute: {overrides: {p1: {mean: 1 s}}}` for all";
            let Some(mean) = entry.and_then(|entry| entry.mean) else {
                return self.wrong(format!("it does not have the compute time of {name}"), fix);
            };
            let cv = entry.and_then(|entry| entry.cv).unwrap_or(0.0);
            if !(LEAST_MEAN..=MOST_MEAN).contains(&mean) || !(0.0..=MOST_CV).contains(&cv) {
                return self.wrong(format!("{name} computes for {mean} s with cv {cv}"), fix);
            }
            Ok(Compute { mean_seconds: mean, cv })
        };
        entries.into_iter().enumerate().map(of).collect()
    }
}
