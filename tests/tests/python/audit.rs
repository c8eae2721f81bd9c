//! Reader of the reports at `INART_REPORT`, as the emulator has one.

use std::collections::BTreeMap;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread::{self, JoinHandle};

use inart_host_agent::report::{self, Report, Reports, Role, RoundReport};
use inart_protocol_aggregation::Assignment;
use inart_protocol_aggregation::audit::{Received, Sent, check_round};
use inart_protocol_aggregation::completion_rule::Lockstep;

/// Reports of each rank after its hello.
type Reported = BTreeMap<u16, Vec<Report>>;

/// Receives the reports of `workers` workers at a socket; they start when all are connected.
pub fn listen(socket: &Path, workers: u16) -> JoinHandle<Reported> {
    let listener = UnixListener::bind(socket).expect("bound");
    thread::spawn(move || {
        let streams: Vec<UnixStream> =
            (0..workers).map(|_| listener.accept().expect("a worker connects").0).collect();
        let mut readers: Vec<_> =
            streams.iter().map(|stream| Reports::new(stream.try_clone().expect("cloned"))).collect();
        let mut hello = |reader: &mut Reports<UnixStream>| match reader.next() {
            Some(Ok(Report::Hello(Role::Worker(_, rank)))) => rank.get(),
            other => panic!("{other:?} is no worker's hello"),
        };
        let ranks: Vec<u16> = readers.iter_mut().map(&mut hello).collect();
        for stream in &streams {
            report::start(stream).expect("the worker is there");
        }
        let read = |reader: Reports<UnixStream>| {
            thread::spawn(move || reader.map(|report| report.expect("a report")).collect())
        };
        let reading: Vec<JoinHandle<Vec<Report>>> = readers.into_iter().map(read).collect();
        ranks.into_iter().zip(reading.into_iter().map(|reader| reader.join().expect("read"))).collect()
    })
}

/// Compares every sum bit for bit with the sum of the inputs. Returns the number of rounds.
pub fn audit(assignment: &Assignment, reported: Reported) -> usize {
    let rounds: Vec<Vec<RoundReport>> = reported
        .into_values()
        .map(|reports| {
            assert_eq!(reports.last(), Some(&Report::Done { trained: None }));
            let rounds = reports.into_iter().filter_map(|report| match report {
                Report::Round(round) => Some(round),
                _ => None,
            });
            let mut rounds: Vec<_> = rounds.collect();
            rounds.sort_by_key(|round| round.round);
            rounds
        })
        .collect();
    assert_eq!(rounds.len(), assignment.workers.len());
    for (number, first) in rounds[0].iter().enumerate() {
        assert_eq!(first.round as usize, number, "each once");
        let of_all: Vec<_> = rounds.iter().map(|rounds| &rounds[number]).collect();
        let sent = of_all.iter().map(|report| Sent { worker: "any", values: &report.sent });
        let received = of_all.iter().enumerate();
        let received =
            received.map(|(rank, report)| Received { rank, worker: "any", result: &report.result });
        let (sent, received): (Vec<_>, Vec<_>) = (sent.collect(), received.collect());
        check_round(&Lockstep, first.round, &sent, &received, assignment.exact_sums)
            .expect("every sum is right");
    }
    rounds[0].len()
}
