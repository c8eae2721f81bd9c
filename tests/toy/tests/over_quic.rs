//! The machine of `in_virtual_time.rs`, by the loop that drives hosts, on QUIC between threads.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Mutex;
use std::time::Duration;

use inart_connections::{Error, Host, Names, Order, PeerNo, QuicOptions, Transport, drive};
use inart_quic::Congestion;
use inart_tls::{IdentityFiles, MutualTls};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use tokio::sync::mpsc::UnboundedSender;

use crate::audit::Audit;
use crate::loopback::loopback;
use crate::ring::{Mistake, News, Ring};

const COUNT: u32 = 4;
const ROUNDS: u64 = 8;

/// A process with its machine. Its program answers immediately.
struct Side<'a> {
    who: usize,
    audit: &'a Mutex<Audit>,
    orders: UnboundedSender<Order<(u64, u64)>>,
}

impl Host<Ring> for Side<'_> {
    type Error = Error;

    fn report(&mut self, news: News, _: &mut Ring) -> Result<(), Error> {
        let value = self.audit.lock().unwrap().hear(self.who, news).expect("the sum is right");
        value.into_iter().for_each(|value| self.orders.send(Order::Command(value)).unwrap());
        Ok(())
    }

    fn look(&mut self, _: &mut Ring, _: &Transport, _: Duration) -> Result<(), Error> {
        Ok(())
    }
}

/// Returns an identity for each name. Each certificate is its own authority, and all trust all.
fn identities(names: &[String]) -> Vec<MutualTls> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let own: Vec<_> = names.iter().map(|name| generate_simple_self_signed([name.clone()]).unwrap()).collect();
    std::fs::write(file("ca"), own.iter().map(|own| own.cert.pem()).collect::<String>()).unwrap();
    let load = |own: &CertifiedKey<KeyPair>| {
        let files = IdentityFiles { certificate: file("certificate"), key: file("key") };
        std::fs::write(&files.certificate, own.cert.pem()).unwrap();
        std::fs::write(&files.key, own.signing_key.serialize_pem()).unwrap();
        MutualTls::load(&file("ca"), &files, "inart-toy/1").unwrap()
    };
    own.iter().map(load).collect()
}

/// Runs one process until its part is over.
fn process(who: u32, all: &[String], places: &[SocketAddr], tls: MutualTls, audit: &Mutex<Audit>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let neighbors = [(who + 1) % COUNT, (who + COUNT - 1) % COUNT].map(|peer| peer as usize);
    let quic = QuicOptions {
        listen: places[who as usize],
        tls,
        peers: neighbors.into_iter().map(|peer| (all[peer].clone(), places[peer])).collect(),
        congestion: Congestion::Bbr,
        most_bytes: 64,
        held_bytes: None,
        sample: None,
    };
    let names = Names { me: all[who as usize].clone(), all: all.to_vec() };
    runtime.block_on(async {
        let transport = Transport::quic(&names, quic).unwrap();
        let (orders, taken) = tokio::sync::mpsc::unbounded_channel();
        let ring = Ring::new(PeerNo(who), COUNT, ROUNDS, Mistake::None);
        let mut side = Side { who: who as usize, audit, orders };
        // The time ends a hang only.
        let driven = drive(ring, &names, transport, taken, &mut side);
        let ended = tokio::time::timeout(Duration::from_secs(60), driven).await.expect("the ring ends");
        let (ring, _) = ended.unwrap();
        assert!(ring.is_done());
    });
}

#[test]
fn threads_on_the_loopback_sum_as_in_virtual_time() {
    let sockets: Vec<_> = (0..COUNT).map(|_| UdpSocket::bind((loopback(), 0)).unwrap()).collect();
    let places: Vec<_> = sockets.into_iter().map(|socket| socket.local_addr().unwrap()).collect();
    let all: Vec<String> = (0..COUNT).map(|who| format!("p{who}")).collect();
    let audit = Mutex::new(Audit::new(COUNT));
    (0..COUNT as usize).for_each(|who| audit.lock().unwrap().starts(who));
    std::thread::scope(|scope| {
        for (who, tls) in (0..).zip(identities(&all)) {
            let (all, places, audit) = (&all, &places, &audit);
            scope.spawn(move || process(who, all, places, tls, audit));
        }
    });
    audit.lock().unwrap().end(ROUNDS).unwrap();
}
