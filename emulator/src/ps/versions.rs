//! The server's versions of its model, computed again one after the other, also over incarnations of its
//! process.

use std::collections::BTreeMap;

use inart_ps_agent::Checkpoint;
use inart_ps_host::CHUNK_VALUES;
use inart_report::digest;

use super::arriving::arriving;
use super::ledger::{Ledger, orders};
use super::records::{Applied, Records, Sent};
use super::setting::Setting;
use crate::error::Error;

/// Names of computed things in messages.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// Update that a worker pushes in a time, such as `update of iteration`.
    pub pushed: &'static str,
    /// Origin of the update, such as `computed for iteration`.
    pub computed: &'static str,
    /// Name of that time.
    pub time: &'static str,
    /// Relation of a version to updates, such as `the sum of its updates`.
    pub made: &'static str,
    /// Description of an impossible checkpoint, such as `no sum of updates`.
    pub not_made: &'static str,
}

/// The versions.
pub struct Versions<'a> {
    pub setting: &'a Setting,
    pub records: &'a Records,
    pub ledger: Ledger<'a>,
    terms: Terms,
    /// Number of restarts of the server.
    pub incarnation: usize,
    pub version: u64,
    pub model: Vec<f32>,
    first: Vec<f32>,
    /// Versions from which an update was or may have been computed.
    all: BTreeMap<u64, Vec<f32>>,
}

impl<'a> Versions<'a> {
    /// # Errors
    /// An update that was taken twice.
    pub fn new(
        setting: &'a Setting,
        records: &'a Records,
        terms: Terms,
        first: Vec<f32>,
    ) -> Result<Self, Error> {
        Ok(Versions {
            setting,
            records,
            ledger: Ledger::new(records)?,
            terms,
            incarnation: 0,
            version: 0,
            model: first.clone(),
            all: BTreeMap::from([(0, first.clone())]),
            first,
        })
    }

    /// Returns an error of the server.
    pub fn server(&self, why: String) -> Error {
        Error::Failed { who: self.setting.server.clone(), why }
    }

    /// The number of a worker or client.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.setting.job.participants.iter().position(|own| own.name == name)
    }

    /// Values as they arrive on the other side.
    pub fn arriving(&self, values: &[f32]) -> Vec<f32> {
        arriving(values, CHUNK_VALUES, self.setting.precision)
    }

    /// The version that comes next, which is that one.
    ///
    /// # Errors
    /// It is another one.
    pub fn next(&self, applied: &Applied) -> Result<u64, Error> {
        let version = self.version + 1;
        if applied.applied != version {
            return Err(self.server(format!("version {version} of its model is lacking")));
        }
        Ok(version)
    }

    /// Adds the next version of the model.
    ///
    /// # Errors
    /// The server reported another version.
    pub fn add(&mut self, applied: &Applied) -> Result<(), Error> {
        let version = self.version + 1;
        if applied.model.as_ref().is_some_and(|own| *own != digest(&self.model)) {
            return Err(self.server(format!("version {version} is not {}", self.terms.made)));
        }
        self.version = version;
        self.all.insert(version, self.model.clone());
        Ok(())
    }

    /// Forgets what nothing is computed from that was applied from that place of the record on.
    pub fn forget(&mut self, from: usize) {
        let oldest = self.ledger.oldest_base(from, self.incarnation).unwrap_or(self.version);
        self.all.retain(|version, _| *version >= oldest);
    }

    /// The version that a worker has pulled, as it arrived.
    ///
    /// # Errors
    /// It has pulled something else.
    pub fn pulled(&self, name: &str, sent: &Sent) -> Result<Vec<f32>, Error> {
        let base = self.all.get(&sent.base).map(|values| self.arriving(values));
        base.filter(|base| digest(base) == sent.model).ok_or_else(|| {
            let why = format!("what it pulled for {} {} is not a version", self.terms.time, sent.iteration);
            Error::Failed { who: name.to_owned(), why }
        })
    }

    /// Returns the checkpoint from which the server resumes when it restarts, and the time of the restart.
    ///
    /// # Errors
    /// It has kept less than it had told.
    pub fn kept(&self) -> Result<(Checkpoint, u64), Error> {
        let restart = &self.records.restarts[self.incarnation];
        let none = || {
            let n = self.setting.job.participants.len();
            Checkpoint { version: 0, done: vec![0; n], members: vec![false; n], values: self.first.clone() }
        };
        let kept = restart.kept.clone().unwrap_or_else(none);
        if kept.version < self.version {
            let why = format!("it resumed from version {}, and had reported {}", kept.version, self.version);
            return Err(self.server(why));
        }
        Ok((kept, restart.at_ns))
    }

    /// Makes the versions that the server had not reported before it was killed, each of at least one part;
    /// `add` adds the part with a number to a model.
    ///
    /// # Errors
    /// The checkpoint is not made of the parts in any order.
    pub fn make_unreported(
        &mut self,
        kept: &Checkpoint,
        parts: usize,
        add: impl Fn(&mut [f32], usize),
    ) -> Result<(), Error> {
        let wanted = digest(&kept.values);
        for order in orders(parts) {
            let mut model = self.model.clone();
            order.into_iter().for_each(|place| add(&mut model, place));
            if digest(&model) == wanted {
                self.model = model;
                return Ok(());
            }
        }
        Err(self.not_made(kept))
    }

    /// What the server has kept cannot be.
    pub fn not_made(&self, kept: &Checkpoint) -> Error {
        self.server(format!("what it has kept as version {} is {}", kept.version, self.terms.not_made))
    }

    /// Resumes the server from its checkpoint, which must equal the model.
    ///
    /// # Errors
    /// It is another one.
    pub fn resume(&mut self, kept: &Checkpoint) -> Result<(), Error> {
        if digest(&kept.values) != digest(&self.model) {
            return Err(self.server(format!("what it has kept is not its version {}", kept.version)));
        }
        self.version = kept.version;
        self.all = BTreeMap::from([(kept.version, self.model.clone())]);
        self.incarnation += 1;
        Ok(())
    }

    /// Returns the number of wasted updates, and of updates that were lost with a server. `is_excused`
    /// accepts further wasted ones.
    ///
    /// # Errors
    /// An update that may not be wasted.
    pub fn losses(
        &mut self,
        is_excused: impl Fn(&Self, usize, &str, &Sent) -> bool,
    ) -> Result<(u64, u64), Error> {
        let Terms { pushed: what, computed, .. } = self.terms;
        let lost = self.ledger.lost();
        for pushed in &lost {
            let (name, iteration) = (&pushed.worker, pushed.iteration);
            let copy = self.number(name).and_then(|worker| self.ledger.copy(worker, pushed));
            if copy.is_none_or(|copy| copy.sent != pushed.pushed) || !self.ledger.may_be_lost(pushed) {
                return Err(self.server(format!("it has lost {name}'s {what} {iteration}")));
            }
        }
        let wasted_updates = self.ledger.wasted_updates();
        for (worker, sent) in &wasted_updates {
            let name = &self.setting.job.participants[*worker].name;
            if !self.ledger.may_be_wasted(*worker, name, sent) && !is_excused(self, *worker, name, sent) {
                let why = format!("it has not taken what {name} {computed} {}", sent.iteration);
                return Err(self.server(why));
            }
        }
        Ok((wasted_updates.len() as u64, lost.len() as u64))
    }
}
