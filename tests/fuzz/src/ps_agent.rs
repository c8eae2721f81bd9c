//! Messages of workers to a parameter server, and of a server to a worker: any bytes, in any order. Nothing
//! panics; an accepted update is one value per parameter, and the model stays finite.

use std::time::Duration;

use bytes::Bytes;
use inart_connections::{Machine as _, Output, PeerNo};
use inart_protocol_ps::{Applied, Options, SyncModel};
use inart_ps_agent::{
    InOrder, Precision, Sequencer, ServerAgent, ServerReport, ServerSetup, WorkerAgent, WorkerReport,
    WorkerSetup,
};

/// The only other process of a worker.
const SERVER: PeerNo = PeerNo(0);
const WORKERS: u32 = 3;
const VALUES: usize = 10;
const MODEL: u64 = 5;
/// The length of the packet stands in two more bytes.
const LONG: u8 = u8::MAX;

fn server(is_bsp: bool, is_half: bool) -> ServerAgent<InOrder<SyncModel>> {
    let setup = ServerSetup {
        incarnation: 9,
        model: MODEL,
        chunk_values: 4,
        precision: if is_half { Precision::Half } else { Precision::Single },
        window: 2,
        rates_bps: vec![None, Some(1e6), None],
        gather: Duration::from_secs(1),
        absence: Duration::from_secs(3),
        iterations: Some(5),
    };
    let r2sp = || SyncModel::r2sp(0.5, Applied::InTurn).expect("a part");
    let completion_rule = if is_bsp { SyncModel::bsp() } else { r2sp() };
    let options = Options { patience: Some(Duration::from_secs(20)), ..Options::fixed(WORKERS as usize) };
    ServerAgent::new(setup, InOrder::new(completion_rule, options, MODEL, vec![0.0; VALUES]))
}

/// Runs the target: a byte for the kind of training, or for [`crate::frame_link`]; then packets, each with a
/// byte for its side and one for its length, or `LONG` before two for the length. A packet of no bytes is the
/// next one that the real machine on the other side has sent.
pub fn run(data: &[u8]) {
    let Some((kind, mut data)) = data.split_first() else { return };
    if kind & 4 != 0 {
        return crate::frame_link::run(data);
    }
    let mut server = server(kind & 1 == 0, kind & 2 == 0);
    let patience = Duration::from_secs(3600);
    let mut worker = WorkerAgent::new(WorkerSetup {
        incarnation: 7,
        model: MODEL,
        values: VALUES,
        window: 2,
        rate_bps: None,
        patience,
    });
    let mut now = Duration::ZERO;
    for number in 0..WORKERS {
        server.up(PeerNo(number), now);
    }
    worker.up(SERVER, now);
    // Packets in flight between worker 0 and the server.
    let (mut to_server, mut to_worker) = (Vec::<Bytes>::new(), Vec::<Bytes>::new());
    while let [what, length, rest @ ..] = data {
        let (length, rest) = match (*length, rest) {
            (LONG, [high, low, rest @ ..]) => (u16::from_be_bytes([*high, *low]), rest),
            (length, rest) => (length.into(), rest),
        };
        let (packet, others) = rest.split_at(usize::from(length).min(rest.len()));
        data = others;
        now += Duration::from_millis(u64::from(what >> 5) * 100);
        let packet = Bytes::copy_from_slice(packet);
        let real = |from: &mut Vec<Bytes>| if from.is_empty() { Bytes::new() } else { from.remove(0) };
        match what % 8 {
            0 if packet.is_empty() => server.received(PeerNo(0), &real(&mut to_server), None, now),
            1 if packet.is_empty() => worker.received(SERVER, &real(&mut to_worker), None, now),
            from @ (0 | 2 | 3 | 4) => server.received(PeerNo(u32::from(from)), &packet, None, now),
            1 => worker.received(SERVER, &packet, None, now),
            5 => {
                server.down(PeerNo(0), now);
                worker.down(SERVER, now);
            }
            6 => {
                server.up(PeerNo(0), now);
                worker.up(SERVER, now);
            }
            _ => {}
        }
        server.tick(now);
        worker.tick(now);
        let is_taken = what & 8 == 0;
        of_server(&mut server, &mut to_worker, is_taken, now);
        of_worker(&mut worker, &mut to_server, is_taken, now);
        assert!(server.sequencer().values().iter().all(|value| !value.is_nan()));
    }
}

fn of_server(
    server: &mut ServerAgent<InOrder<SyncModel>>,
    to_worker: &mut Vec<Bytes>,
    is_taken: bool,
    now: Duration,
) {
    // Failed packets are sent again later.
    for _ in 0..1000 {
        let Some(output) = server.next(now) else { return };
        match output {
            Output::Send { to, id, data, .. } => {
                if to == PeerNo(0) {
                    to_worker.push(data);
                }
                server.ended(id, is_taken, now);
            }
            Output::Report(ServerReport::Pushed { values, .. }) => assert_eq!(values.len(), VALUES),
            _ => {}
        }
    }
}

fn of_worker(worker: &mut WorkerAgent, to_server: &mut Vec<Bytes>, is_taken: bool, now: Duration) {
    for _ in 0..1000 {
        let Some(output) = worker.next(now) else { return };
        match output {
            Output::Send { id, data, .. } => {
                to_server.push(data);
                worker.ended(id, is_taken, now);
            }
            Output::Report(WorkerReport::Compute(start)) => {
                assert_eq!(start.model.len(), VALUES);
                worker.computed(start.ticket, vec![1.0; VALUES]).expect("it is as long as the model");
            }
            _ => {}
        }
    }
}
