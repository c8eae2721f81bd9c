//! Unknown senders that start handshakes and do not end them: how much the endpoint sends them, and whether
//! peers still connect.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use quinn::crypto::rustls::QuicClientConfig;

use crate::support::{Authority, TIMEOUT, find, is_up};

/// Bytes that a handshake's first answer has at least: a flight with the certificate.
const FLIGHT: u64 = 1000;
const STRANGERS: usize = 150;

/// Takes datagrams for the endpoint to it from addresses of its own, one per sender, and drops its answers.
fn one_way(to: SocketAddr, answered: Vec<Arc<AtomicU64>>, is_over: Arc<AtomicBool>) -> Vec<SocketAddr> {
    let mut addresses = Vec::new();
    for count in answered {
        let (inside, outside) =
            (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        addresses.push(inside.local_addr().unwrap());
        let is_over = is_over.clone();
        outside.connect(to).unwrap();
        for socket in [&inside, &outside] {
            socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        }
        std::thread::spawn(move || {
            let mut data = [0; 2048];
            while !is_over.load(SeqCst) {
                // An unknown sender stops once it has an answer. The system may drop one of many datagrams
                // before.
                if count.load(SeqCst) == 0
                    && let Ok((length, _)) = inside.recv_from(&mut data)
                {
                    let _ = outside.send(&data[..length]);
                }
                if let Ok(length) = outside.recv(&mut data) {
                    count.fetch_add(length as u64, SeqCst);
                }
            }
        });
    }
    addresses
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_that_end_no_handshake_take_few_places_and_peers_connect() {
    let authority = Authority::found("one");
    let (b, mut events) = authority.open("b", &BTreeMap::new());
    let answered: Vec<_> = (0..STRANGERS).map(|_| Arc::new(AtomicU64::new(0))).collect();
    let is_over = Arc::new(AtomicBool::new(false));
    let addresses = one_way(b.address().unwrap(), answered.clone(), is_over.clone());
    // A handshake starts without a certificate.
    let tls = Authority::found("other").identify("x");
    let tls = QuicClientConfig::try_from(tls.client()).unwrap();
    let client = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let config = quinn::ClientConfig::new(Arc::new(tls));
    let handshakes: Vec<_> = addresses
        .into_iter()
        .map(|address| client.connect_with(config.clone(), address, "b").unwrap())
        .collect();
    let all_are_answered = async {
        while answered.iter().any(|bytes| bytes.load(SeqCst) == 0) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, all_are_answered).await.unwrap();
    let served = answered.iter().filter(|bytes| bytes.load(SeqCst) >= FLIGHT).count();
    assert!(served <= 16, "{served} handshakes of {STRANGERS} were started without a check of the address");
    // A peer connects meanwhile.
    let (a, _a_events) = authority.open("a", &BTreeMap::from([("b".to_owned(), b.address().unwrap())]));
    b.set_peer("a", a.address().unwrap());
    find(&mut events, is_up).await;
    is_over.store(true, SeqCst);
    drop(handshakes);
}
