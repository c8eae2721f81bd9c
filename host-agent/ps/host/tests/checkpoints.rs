//! A reported version is stored: also one of several that were applied together.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use inart_protocol_ps::{Applied, Options, SyncModel};
use inart_ps_agent::{Checkpoint, InOrder, Precision};
use inart_ps_host::{
    CheckpointFile, Job, ServerEvent, ServerHost, ServerOptions, Start, Training, WorkerHost,
};
use inart_terms::Terms;

use crate::loopback::loopback;
use crate::support::{Identities, options};

const WORKERS: usize = 3;
const VALUES: usize = 2000;

/// The first worker is slow: the others' updates wait for its turn, and all are applied together.
struct Worker(usize);

impl Training for Worker {
    fn compute(&mut self, _: &Start) -> Vec<f32> {
        if self.0 == 0 {
            std::thread::sleep(Duration::from_millis(60));
        }
        vec![1.0; VALUES]
    }
}

#[test]
fn reported_versions_are_stored() {
    let identities = Identities::new();
    let names: Vec<String> = (0..WORKERS).map(|worker| format!("w{worker}")).collect();
    let job = Job { name: "j".into(), server: "s".into(), workers: names.clone(), values: VALUES };
    let sockets: Vec<_> = (0..=WORKERS).map(|_| UdpSocket::bind((loopback(), 0)).unwrap()).collect();
    let places: Vec<SocketAddr> = sockets.iter().map(|socket| socket.local_addr().unwrap()).collect();
    drop(sockets);
    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let server = BTreeMap::from([("s".to_owned(), places[WORKERS])]);
            let options = options(identities.of(&names[worker]), places[worker], server);
            let (job, name) = (job.clone(), names[worker].clone());
            std::thread::spawn(move || {
                let host = WorkerHost::open(&job, &name, None, Duration::from_secs(30), options).unwrap();
                host.run(&mut Worker(worker)).unwrap();
            })
        })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let file = CheckpointFile::new(&folder.path().join("model.kept"), job.fingerprint());
    let sync_model = SyncModel::r2sp(0.0, Applied::InTurn).unwrap();
    let model = vec![0.0; VALUES];
    let sequencer = InOrder::new(sync_model, Options::fixed(WORKERS), job.fingerprint(), model);
    let server = ServerOptions {
        precision: Precision::Single,
        rates_bps: vec![None; WORKERS],
        gather: Duration::from_secs(30),
        absence: Duration::from_secs(30),
        iterations: Some(10),
    };
    let all = names.into_iter().zip(places.iter().copied()).collect();
    let options = options(identities.of("s"), places[WORKERS], all);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (mut versions, mut together) = (0, 0);
    runtime.block_on(async {
        let host = ServerHost::open(&job, sequencer, server, Some(file.clone()), options).unwrap();
        let on_event = |event: ServerEvent| {
            if let ServerEvent::Applied { applied, model } = event {
                versions += 1;
                together += u32::from(model.is_none());
                let kept = file.read().unwrap().expect("a version is kept").version;
                assert!(kept >= applied.version, "version {} is reported, {kept} is stored", applied.version);
            }
        };
        host.run(on_event).await.unwrap();
    });
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert!(
        versions >= 30 && together >= 5,
        "{together} of {versions} versions were followed by others at once"
    );
}

#[test]
fn the_file_of_another_training_of_the_job_is_refused_with_the_difference() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let of = |step: &str| {
        let terms = Terms::new([("order", "bsp"), ("seed", "1"), ("step", step)]).unwrap();
        CheckpointFile::new(&path, 7).with_terms(terms)
    };
    let kept = Checkpoint { version: 60, done: vec![30, 30], members: vec![true; 2], values: vec![0.5; 3] };
    of("0.3").write(&kept).unwrap();
    assert_eq!(of("0.3").read().unwrap(), Some(kept.clone()));
    let refused = of("0.05").read().unwrap_err().to_string();
    for named in ["model:", "it has step 0.3", "this training has step 0.05", "delete this one"] {
        assert!(refused.contains(named), "{refused}");
    }
    // A server does not know the learning rate: its workers bring it, and the file has it.
    let server = Terms::new([("order", "bsp"), ("seed", "1")]).unwrap();
    let back = CheckpointFile::new(&path, 7).with_terms(server).read_training().unwrap().unwrap();
    assert_eq!((back.terms.value("step"), back.kept), (Some("0.3"), kept));
}
