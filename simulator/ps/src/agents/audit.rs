//! The oracle: computed updates, the model that follows from the applied ones, and their order. It shares no
//! code with the agents; values are added in double precision and rounded once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use inart_protocol_ps::{Applied as When, Blocking, SyncModel, Update};
use inart_ps_agent::{Checkpoint, Start};
use inart_topologies::units::counted;

/// A finding: the participant, and the problem.
pub type Wrong = (usize, String);
type Found = Result<(), Wrong>;

/// Synchronization, for the oracle.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// Workers by a synchronization model.
    Order(SyncModel),
    /// Clients in this number of groups.
    Groups(usize),
}

impl Rule {
    /// Returns the most versions between an update's pull and its application, with this number of workers.
    /// With restarts of the server the bound of ssp does not hold: workers rejoin with their own counts.
    pub fn staleness(self, workers: usize, restarts: bool) -> Option<u64> {
        let others = workers as u64 - 1;
        match self {
            Rule::Groups(_) | Rule::Order(SyncModel::Asp(_)) => None,
            Rule::Order(SyncModel::Bsp(_)) => Some(0),
            Rule::Order(SyncModel::Ssp(_)) if restarts => None,
            Rule::Order(SyncModel::Ssp(ssp)) => match ssp.blocking {
                Blocking::AfterPush => Some((2 * ssp.bound + 1) * others),
                Blocking::BeforeCommit => Some(2 * ssp.bound * others),
            },
            // A version ends while a worker lags this far behind; then it is awaited.
            Rule::Order(SyncModel::Safa(safa)) => Some(safa.lag + 1),
            Rule::Order(SyncModel::R2sp(r2sp)) => match r2sp.applied {
                When::InTurn => Some(others),
                When::OnArrival => Some(2 * others),
            },
        }
    }

    /// Returns whether updates are applied round by round, one per worker.
    fn is_in_turn(self) -> bool {
        matches!(self, Rule::Order(SyncModel::R2sp(r2sp)) if r2sp.applied == When::InTurn)
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// An update that a participant has computed.
struct Computed {
    worker: usize,
    base: u64,
    batch: u32,
    has_arrived: bool,
}

/// An update that the server has and has not applied.
struct Held {
    iteration: u64,
    base: u64,
    values: Vec<f32>,
    batch: u32,
}

/// Ground truth of a run.
pub struct Audit {
    rule: Rule,
    /// By participant: samples of its first batch.
    first_batches: Vec<u32>,
    most_staleness: Option<u64>,
    computed: BTreeMap<Vec<u32>, Computed>,
    /// Models by version, of all incarnations of the server.
    models: BTreeMap<u64, Vec<f32>>,
    version: u64,
    held: BTreeMap<usize, Held>,
    last: BTreeMap<usize, u64>,
    /// By participant: updates that have not arrived, and events that excuse one.
    missing: Vec<u64>,
    excuses: Vec<u64>,
    /// Order of applied updates since the last change of participants or the server.
    turns: VecDeque<usize>,
    members: BTreeSet<usize>,
    is_closing: bool,
    pub updates: u64,
    pub values: u64,
    pub versions: u64,
    pub wasted_updates: u64,
    /// Held updates that a crashed server had accepted.
    pub lost: u64,
    pub stalenesses: Vec<u64>,
}

impl Audit {
    /// Creates the oracle of a training that starts with a model.
    pub fn new(rule: Rule, first_batches: Vec<u32>, restarts: bool, model: Vec<f32>) -> Self {
        let workers = first_batches.len();
        Audit {
            rule,
            most_staleness: rule.staleness(workers, restarts),
            first_batches,
            computed: BTreeMap::new(),
            models: BTreeMap::from([(0, model)]),
            version: 0,
            held: BTreeMap::new(),
            last: BTreeMap::new(),
            missing: vec![0; workers],
            excuses: vec![0; workers],
            turns: VecDeque::new(),
            members: BTreeSet::new(),
            is_closing: false,
            updates: 0,
            values: 0,
            versions: 0,
            wasted_updates: 0,
            lost: 0,
            stalenesses: Vec::new(),
        }
    }

    /// Checks that a server resumes from its predecessor's checkpoint.
    pub fn restarted(&mut self, kept: &Checkpoint) -> Found {
        let model = self.models.get(&kept.version);
        if model.map(|model| bits(model)) != Some(bits(&kept.values)) {
            return Err((0, format!("version {} was kept with other values", kept.version)));
        }
        if kept.version != self.version {
            return Err((0, format!("version {} was kept, and {} was there", kept.version, self.version)));
        }
        self.lost += self.held.len() as u64;
        self.held.clear();
        self.last.clear();
        self.members.clear();
        self.is_closing = false;
        self.turns.clear();
        self.excuses.iter_mut().for_each(|excuse| *excuse += 1);
        Ok(())
    }

    /// Takes note of a participant's crash: its update may be lost.
    pub fn killed(&mut self, worker: usize) {
        self.excuses[worker] += 1;
        self.turns.clear();
    }

    /// Takes note that a participant, or another incarnation of it, has joined.
    pub fn joined(&mut self, worker: usize) {
        self.members.insert(worker);
        self.turns.clear();
    }

    /// Takes note that the server has removed a participant.
    pub fn removed(&mut self, worker: usize) {
        self.members.remove(&worker);
        self.killed(worker);
    }

    /// Takes note of the training's end: only those that compute still have a turn.
    pub fn closes(&mut self) {
        self.is_closing = true;
    }

    /// Checks that a pulled model is the version that it claims to be.
    pub fn pulled(&mut self, worker: usize, start: &Start) -> Found {
        let wrong = |what: &str| Err((worker, format!("the model {what} version {}", start.version)));
        let Some(model) = self.models.get(&start.version) else { return wrong("is of an unknown") };
        self.values += model.len() as u64;
        if bits(model) == bits(&start.model) { Ok(()) } else { wrong("that it pulled is not") }
    }

    /// Takes an update that a participant has computed. Returns whether no other is equal.
    pub fn computed(&mut self, worker: usize, start: &Start, values: &[f32]) -> bool {
        let new = Computed { worker, base: start.version, batch: start.batch, has_arrived: false };
        let key = bits(values);
        if self.computed.contains_key(&key) {
            return false;
        }
        self.computed.insert(key, new);
        self.missing[worker] += 1;
        self.wasted_updates += 1;
        true
    }

    /// Checks a complete update at the server: as computed, and received once.
    pub fn arrived(&mut self, worker: usize, iteration: u64, base: u64, values: &[f32]) -> Found {
        let wrong = |what: String| Err((worker, format!("update {iteration} {what}")));
        let Some(computed) = self.computed.get_mut(&bits(values)) else {
            return wrong("was computed by no participant".to_owned());
        };
        if (computed.worker, computed.base) != (worker, base) {
            let Computed { worker, base: own, .. } = computed;
            return wrong(format!("was computed by participant {worker} from version {own}, not {base}"));
        }
        if std::mem::replace(&mut computed.has_arrived, true) {
            return wrong("has arrived twice".to_owned());
        }
        let held = Held { iteration, base, values: values.to_vec(), batch: computed.batch };
        if self.held.insert(worker, held).is_some() {
            return wrong("has replaced another one".to_owned());
        }
        self.missing[worker] -= 1;
        self.wasted_updates -= 1;
        self.values += values.len() as u64;
        self.complete(worker)
    }

    /// Checks that faults explain all missing updates of a worker. Clients' may arrive after their round.
    fn complete(&self, worker: usize) -> Found {
        let (missing, excuses) = (self.missing[worker], self.excuses[worker]);
        if missing > excuses && matches!(self.rule, Rule::Order(_)) {
            return Err((
                worker,
                format!("{missing} of its updates never arrived, and faults explain {excuses}"),
            ));
        }
        Ok(())
    }

    /// Checks applied updates; with the server's model, unless that is of a later version.
    pub fn applied(&mut self, version: u64, updates: &[Update], model: Option<&[f32]>) -> Found {
        let first = updates.first().map_or(0, |update| update.worker.index());
        if version != self.version + 1 {
            return Err((first, format!("version {version} follows version {}", self.version)));
        }
        let mut expected = self.models[&self.version].clone();
        let mut of_group = Vec::new();
        for update in updates {
            let held = self.release(update)?;
            self.updates += 1;
            match self.rule {
                Rule::Order(_) => self.add(&mut expected, update.worker.index(), &held),
                Rule::Groups(_) => of_group.push(held.values),
            }
        }
        if let Rule::Groups(groups) = self.rule {
            merge(&mut expected, &of_group, groups);
        }
        if let Some(model) = model {
            self.values += model.len() as u64;
            let (own, wanted) = (bits(model), bits(&expected));
            let differs = |at: &usize| own.get(*at) != wanted.get(*at);
            if let Some(at) = (0..wanted.len().max(own.len())).find(differs) {
                let [own, wanted] = [model.get(at), expected.get(at)];
                return Err((
                    first,
                    format!("value {at} of version {version} is {own:?}, and not {wanted:?}"),
                ));
            }
        }
        (self.version, self.versions) = (version, self.versions + 1);
        self.models.insert(version, expected);
        updates.iter().try_for_each(|update| self.in_turn(update.worker.index()))
    }

    /// Adds an update, weighted by the samples of its iteration over those of its first batch.
    fn add(&self, model: &mut [f32], worker: usize, held: &Held) {
        let scale = (f64::from(held.batch) / f64::from(self.first_batches[worker])) as f32;
        for (sum, value) in model.iter_mut().zip(&held.values) {
            let scaled = (f64::from(scale) * f64::from(*value)) as f32;
            *sum = (f64::from(*sum) + f64::from(scaled)) as f32;
        }
    }

    /// Removes an applied update: it must have arrived, be of a later iteration than the last one, and not be
    /// too stale.
    fn release(&mut self, update: &Update) -> Result<Held, Wrong> {
        let (worker, iteration) = (update.worker.index(), update.iteration);
        let wrong = |what: String| (worker, format!("update {iteration} {what}"));
        let held =
            self.held.remove(&worker).ok_or_else(|| wrong("is applied and is not there".to_owned()))?;
        if held.iteration != iteration {
            return Err(wrong(format!("is applied, and {} is there", held.iteration)));
        }
        let last = self.last.insert(worker, iteration);
        if last.is_some_and(|last| last >= iteration) {
            return Err(wrong("is applied twice".to_owned()));
        }
        let stale = self.version - held.base;
        if stale != update.staleness {
            return Err(wrong(format!(
                "is {stale} old, and counts as {}",
                update.staleness,
                stale = counted(stale, "version")
            )));
        }
        if let Some(most) = self.most_staleness.filter(|most| stale > *most) {
            return Err(wrong(format!(
                "is {stale} old, and at most {most} are allowed",
                stale = counted(stale, "version")
            )));
        }
        self.stalenesses.push(stale);
        Ok(held)
    }

    /// Checks that a round is one update of each participant, in the order of the previous round, while no
    /// participant joins or leaves.
    fn in_turn(&mut self, worker: usize) -> Found {
        let members = self.members.len();
        if members == 0 || self.is_closing || !self.rule.is_in_turn() {
            return Ok(());
        }
        self.turns.push_back(worker);
        // Open turns may still belong to removed participants.
        if self.turns.len() > 3 * members {
            self.turns.pop_front();
            let last = self.turns.len() - 1;
            let round: Vec<usize> = self.turns.range(last + 1 - members..).copied().collect();
            if self.turns.get(last - members) != Some(&worker) {
                return Err((worker, format!("it is applied out of turn: the last were {round:?}")));
            }
            if self.members.iter().any(|member| !round.contains(member)) {
                return Err((worker, format!("a round leaves a client out: {round:?}")));
            }
        }
        Ok(())
    }

    /// Checks the end of the training: accepted updates are applied, and the server, if one runs, has the
    /// model that follows.
    pub fn ended(&self, model: Option<&[f32]>) -> Found {
        if model.is_some_and(|model| bits(model) != bits(&self.models[&self.version])) {
            return Err((0, format!("version {} has other values at the end", self.version)));
        }
        if let Some(worker) = self.held.keys().next() {
            return Err((*worker, "its update was taken and never applied".to_owned()));
        }
        (0..self.missing.len()).try_for_each(|worker| self.complete(worker))
    }
}

/// Merges a group's mean into the model with weight 1/M (R²SP, Algorithm 2, line 16), in double precision.
fn merge(model: &mut [f32], of_group: &[Vec<f32>], groups: usize) {
    let part = 1.0 / groups as f64;
    for (at, value) in model.iter_mut().enumerate() {
        let sum = of_group.iter().fold(0.0, |sum, of| sum + f64::from(of[at]));
        let mean = (sum / of_group.len() as f64) as f32;
        *value = (f64::from(*value) * (1.0 - part) + f64::from(mean) * part) as f32;
    }
}
