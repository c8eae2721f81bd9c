//! Models of a training of clients in virtual time. A run decides which client trains from which version, and
//! which models each average contains. The models are real, and so are the decisions on outliers.

use std::rc::Rc;

use inart_protocol_ps::{cosine, mean, merge};
use inart_simulator_ps::ClientEvent;
use inart_training::{Client, ConfigError, Draw, Round};

use super::clients::{CLIENTS, GROUPS};
use super::convergence::Convergence;

/// One client in four is an outlier (Section VI-B).
const OUTLIERS: usize = 4;
/// Concentrations of the digits of other clients and of outliers (Section VI-B).
const ALPHAS: [f64; 2] = [10.0, 0.1];
/// Images of a client: 1/128 of the 50,000 of CIFAR-10.
const IMAGES: usize = 390;
/// A client's round: the R²SP paper's 100 steps of 0.01 in fewer and longer ones.
const ROUND: Round = Round { batch: 8, steps: 5, step: 0.2 };

/// Updates that outliers push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outliers {
    /// Models learned from few digits, as in the R²SP paper.
    Skewed,
    /// Opposite of the learned change, as `inart host --sign-flip` pushes it.
    Opposite,
}

/// Reports whether a client is an outlier: one in four of each of the R²SP paper's groups, under every
/// scheme.
fn is_outlier(client: usize) -> bool {
    (client / GROUPS).is_multiple_of(OUTLIERS)
}

/// A server's model, and the versions that its clients pulled.
pub struct Federation {
    clients: Vec<Client>,
    groups: usize,
    is_judged: bool,
    outliers: Outliers,
    model: Rc<Vec<f32>>,
    /// Model after the last aggregation, by group.
    starts: Vec<Rc<Vec<f32>>>,
    /// Model from which a client trains, by client.
    bases: Vec<Rc<Vec<f32>>>,
    /// Number of merges, of means or of single models.
    merges: usize,
    is_out: Vec<bool>,
    pub convergence: Convergence,
}

impl Federation {
    pub fn new(seed: u64, groups: usize, is_judged: bool, outliers: Outliers) -> Result<Self, ConfigError> {
        let draw = |client| Draw { alpha: ALPHAS[usize::from(is_outlier(client))], images: IMAGES };
        let draws: Vec<_> = (0..CLIENTS).map(draw).collect();
        let clients = Client::drawn(seed, ROUND, &draws)?;
        let model = Rc::new(clients[0].first_model());
        Ok(Federation {
            groups,
            is_judged,
            outliers,
            starts: vec![Rc::clone(&model); groups],
            bases: vec![Rc::clone(&model); clients.len()],
            model,
            merges: 0,
            is_out: vec![false; clients.len()],
            convergence: Convergence::default(),
            clients,
        })
    }

    /// Handles an event of a run. Of an aggregation, returns the cosine of each client's change and the mean.
    pub fn on_event(&mut self, at_s: f64, event: ClientEvent) -> Vec<(usize, f64)> {
        if self.convergence.is_over() {
            return Vec::new();
        }
        match event {
            ClientEvent::Pull { client, .. } => self.pulled(client),
            ClientEvent::Aggregate { group, round, clients, .. } => {
                return self.aggregated(at_s, group, round, &clients);
            }
            ClientEvent::LeftOut { client } => self.is_out[client] = true,
            ClientEvent::Push { .. } | ClientEvent::Gone { .. } => {}
        }
        Vec::new()
    }

    pub fn pulled(&mut self, client: usize) {
        self.bases[client] = Rc::clone(&self.model);
    }

    /// Returns the model that a client pushes.
    fn trained(&mut self, client: usize, round: u64) -> Vec<f32> {
        let base = &self.bases[client];
        let mut model = self.clients[client].train(base, round);
        if self.outliers == Outliers::Opposite && is_outlier(client) {
            model.iter_mut().zip(base.iter()).for_each(|(value, base)| *value = 2.0 * base - *value);
        }
        model
    }

    /// Aggregates a group as the server does (`inart_ps_agent::InGroups`).
    fn aggregated(&mut self, at_s: f64, group: usize, round: u64, clients: &[usize]) -> Vec<(usize, f64)> {
        let models: Vec<_> = clients.iter().map(|client| self.trained(*client, round)).collect();
        let group_mean = mean(models.iter().map(Vec::as_slice));
        let start = Rc::clone(&self.starts[group]);
        // An unchanged model is similar to any mean.
        let alike = |model: &Vec<f32>| cosine(&start, model, &group_mean).unwrap_or(1.0);
        let cosines = match self.is_judged {
            true => clients.iter().copied().zip(models.iter().map(alike)).collect(),
            false => Vec::new(),
        };
        self.merge(at_s, &group_mean);
        self.starts[group] = Rc::clone(&self.model);
        cosines
    }

    /// Merges the model of one client, under ASP.
    pub fn arrived(&mut self, at_s: f64, client: usize, round: u64) {
        if !self.convergence.is_over() {
            let model = self.trained(client, round);
            self.merge(at_s, &model);
        }
    }

    fn merge(&mut self, at_s: f64, with: &[f32]) {
        let model: &mut Vec<f32> = Rc::make_mut(&mut self.model);
        merge(model, with, self.groups);
        self.merges += 1;
        if self.merges.is_multiple_of(self.groups) {
            let accuracy = self.clients[0].evaluate(&self.model).accuracy;
            self.convergence.evaluated(at_s, accuracy);
        }
    }

    /// Returns the excluded parts of outliers and of other clients.
    pub fn left_out(&self) -> [f64; 2] {
        [true, false].map(|kind| {
            let of: Vec<_> = (0..self.clients.len()).filter(|client| is_outlier(*client) == kind).collect();
            of.iter().filter(|client| self.is_out[**client]).count() as f64 / of.len() as f64
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::time::Duration;

    use inart_protocol_ps::{Arrival, GroupOptions, OutlierRule, WorkerNo, fraction_of, relaxation_of};
    use inart_ps_agent::{InGroups, Sequencer};
    use inart_simulator_ps::run_clients_judged;

    use super::super::clients;
    use super::super::models::ClientModel;
    use super::*;

    const SEED: u64 = 3;

    fn federation(groups: usize, outliers: Outliers) -> Federation {
        Federation::new(SEED, groups, true, outliers).unwrap()
    }

    /// Returns a server as its process creates it, with all clients connected.
    fn server(first: Vec<f32>) -> InGroups {
        let options = GroupOptions {
            clients: CLIENTS,
            groups: GROUPS,
            fraction: fraction_of(0.75).unwrap(),
            relaxation: relaxation_of(1.0).unwrap(),
            patience: None,
            outliers: Some(OutlierRule::default()),
        };
        let mut server = InGroups::new(options, vec![1; CLIENTS], 7, first).unwrap();
        for client in 0..CLIENTS as u32 {
            server.join(WorkerNo(client), Duration::ZERO);
            server.request(WorkerNo(client), Duration::ZERO);
            server.pull(WorkerNo(client), Duration::ZERO).unwrap();
        }
        server
    }

    /// The server's process gets the same models at the same times. After each aggregation it has the same
    /// model, bit for bit, and it excludes the same clients. Clients train from the version that they pulled.
    #[test]
    fn models_and_outliers_are_those_of_the_server() {
        let run = clients::Case::fl(ClientModel::Cnn, clients::Measure::Round);
        let mut training = federation(GROUPS, Outliers::Skewed);
        let mut server = server(training.model.to_vec());
        let mut versions = 0;
        let options = run.options(SEED, 6);
        run_clients_judged(&run.job(), &options, Some(OutlierRule::default()), &mut |at_s, event| {
            let now = Duration::from_nanos((at_s * 1e9).round() as u64);
            match event {
                ClientEvent::Push { client, round, arrival } if arrival != Arrival::Barred => {
                    let model = training.trained(client, round);
                    server.push(WorkerNo(client as u32), round, model, now);
                }
                ClientEvent::Aggregate { .. } => server.tick(now),
                _ => {}
            }
            let cosines = training.on_event(at_s, event.clone());
            match event {
                ClientEvent::Aggregate { version, .. } => {
                    assert_eq!(server.version(), version);
                    assert!(server.values() == training.model.as_slice(), "{version}");
                    versions += 1;
                }
                ClientEvent::Pull { client, .. } => {
                    assert!(server.values() == training.bases[client].as_slice(), "{client}");
                }
                _ => {}
            }
            cosines
        })
        .unwrap();
        assert!(versions >= 6 * GROUPS, "{versions}");
        let mut out: Vec<_> = server.left_out().iter().map(|client| client.index()).collect();
        out.sort_unstable();
        assert!(out.iter().filter(|client| is_outlier(**client)).count() > 16, "{out:?}");
        assert_eq!(out, (0..CLIENTS).filter(|client| training.is_out[*client]).collect::<Vec<_>>());
    }

    /// A model that arrives alone is merged as a group of one. Its client trained it from the version that it
    /// pulled, not from the current one.
    #[test]
    fn one_by_one_each_model_is_merged_as_it_arrives() {
        let mut training = federation(CLIENTS, Outliers::Skewed);
        let first = training.model.to_vec();
        let trained = |client: usize, base: &[f32], round| {
            federation(CLIENTS, Outliers::Skewed).clients[client].train(base, round)
        };
        let mut wanted = first.clone();
        training.arrived(1.0, 5, 0);
        merge(&mut wanted, &trained(5, &first, 0), CLIENTS);
        assert!(*training.model == wanted);
        training.pulled(5);
        let pulled = wanted.clone();
        training.arrived(2.0, 6, 0);
        merge(&mut wanted, &trained(6, &first, 0), CLIENTS);
        training.arrived(3.0, 5, 1);
        merge(&mut wanted, &trained(5, &pulled, 1), CLIENTS);
        assert!(*training.model == wanted);
        let mut stale = training.model.to_vec();
        merge(&mut stale, &trained(5, &first, 1), CLIENTS);
        assert!(*training.model != stale);
    }

    #[test]
    fn one_client_in_four_of_each_group_is_an_outlier_and_may_push_the_opposite() {
        for group in 0..GROUPS {
            let own = (group..CLIENTS).step_by(GROUPS).filter(|client| is_outlier(*client)).count();
            assert_eq!(own, CLIENTS / GROUPS / OUTLIERS);
        }
        let [mut as_learnt, mut opposite] =
            [Outliers::Skewed, Outliers::Opposite].map(|outliers| federation(GROUPS, outliers));
        let base = as_learnt.model.to_vec();
        let [learnt, pushed] = [&mut as_learnt, &mut opposite].map(|training| training.trained(0, 0));
        assert!(learnt != base);
        for ((learnt, pushed), base) in learnt.iter().zip(&pushed).zip(&base) {
            assert!((learnt + pushed - 2.0 * base).abs() <= 1e-5 * base.abs().max(1.0));
        }
        assert!(as_learnt.trained(8, 0) == opposite.trained(8, 0));
    }
}
