//! Right clients get in, whatever strangers do.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use inart_tls::Security;
use inart_tls::accept::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Authority, besiege, call, connect, open, serve, soon};

const OWN: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Handshakes that never time out: a client gets in for another reason.
fn patient() -> Limits {
    Limits { handshake_time: Duration::from_secs(3600), connections: 2, ..Limits::default() }
}

/// First bytes of a TLS record of 512 bytes, and of an HTTP/2 client.
const RECORD: &[u8] = b"\x16\x03\x01\x02\x00\x01";
const HALF_A_PREFACE: &[u8] = b"PRI * HT";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_with_a_certificate_gets_in_between_300_silent_and_dripping_connections() {
    let authority = Authority::found();
    for from in [OTHER, OWN] {
        let address = serve(Some(authority.server()), patient()).await;
        let _siege = besiege(from, address, 300, RECORD).await;
        for _ in 0..3 {
            let mut channel = soon(connect(address, &authority.client(true))).await.unwrap();
            assert_eq!(soon(call(&mut channel)).await.unwrap(), "client", "besieged from {from}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plain_client_gets_in_between_300_silent_and_dripping_connections() {
    for from in [OTHER, OWN] {
        let address = serve(None, patient()).await;
        let _siege = besiege(from, address, 300, HALF_A_PREFACE).await;
        for _ in 0..3 {
            let mut channel = soon(connect(address, &Security::Local)).await.unwrap();
            assert_eq!(soon(call(&mut channel)).await.unwrap(), "", "besieged from {from}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_without_a_certificate_take_no_place_of_those_with_one() {
    let authority = Authority::found();
    let address = serve(Some(authority.server()), patient()).await;
    for _ in 0..8 {
        let stranger = soon(connect(address, &authority.client(false))).await;
        let answered = match stranger {
            Ok(mut channel) => soon(call(&mut channel)).await,
            Err(error) => Err(error),
        };
        assert!(answered.is_err(), "{answered:?}");
    }
    let mut channel = soon(connect(address, &authority.client(true))).await.unwrap();
    assert_eq!(soon(call(&mut channel)).await.unwrap(), "client");
}

async fn end(stream: &mut TcpStream) -> Vec<u8> {
    let mut read = Vec::new();
    let _ = soon(stream.read_to_end(&mut read)).await;
    read
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handshake_that_is_late_is_closed_however_often_a_byte_arrives() {
    let authority = Authority::found();
    for (tls, start) in [(None, HALF_A_PREFACE), (Some(authority.server()), RECORD)] {
        let limits = Limits { handshake_time: Duration::from_millis(300), ..Limits::default() };
        let address = serve(tls, limits).await;
        let (mut silent, dripping) = (open(OWN, address).await, open(OWN, address).await);
        let (mut dripping, mut drops) = dripping.into_split();
        drops.write_all(start).await.unwrap();
        let drip = tokio::spawn(async move {
            while drops.write_all(b"T").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        end(&mut silent).await;
        let _ = soon(dripping.read_to_end(&mut Vec::new())).await;
        soon(drip).await.unwrap();
    }
}

/// An HTTP/2 client's first bytes, with empty SETTINGS.
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_with_many_connections_loses_its_newest_to_another_address() {
    let address = serve(None, Limits { connections: 4, ..Limits::default() }).await;
    let mut held = Vec::new();
    for _ in 0..4 {
        let mut stream = open(OTHER, address).await;
        stream.write_all(HTTP2).await.unwrap();
        soon(stream.read_exact(&mut [0; 9])).await.unwrap();
        held.push(stream);
    }
    let mut fifth = open(OTHER, address).await;
    fifth.write_all(HTTP2).await.unwrap();
    assert_eq!(end(&mut fifth).await, b"", "no more for the same address");
    let mut channel = soon(connect(address, &Security::Local)).await.unwrap();
    soon(call(&mut channel)).await.unwrap();
    end(&mut held.pop().unwrap()).await;
    for stream in &mut held {
        // The first three are served: a PING is answered.
        stream.write_all(b"\0\0\x08\x06\0\0\0\0\0PINGPING").await.unwrap();
        let mut read = Vec::new();
        while !read.ends_with(b"PINGPING") {
            read.push(soon(stream.read_u8()).await.unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_another_protocol_is_answered_and_takes_no_place() {
    let address = serve(None, Limits { connections: 1, ..Limits::default() }).await;
    for words in [&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..], RECORD] {
        let mut stream = open(OWN, address).await;
        stream.write_all(words).await.unwrap();
        let read = end(&mut stream).await;
        assert_eq!(read[3], 4, "SETTINGS: {read:?}");
        assert_eq!(read[12], 7, "GOAWAY: {read:?}");
    }
    let mut channel = soon(connect(address, &Security::Local)).await.unwrap();
    soon(call(&mut channel)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_from_which_no_byte_arrives_is_closed() {
    let address = serve(None, Limits { silence: Duration::from_millis(300), ..Limits::default() }).await;
    let mut silent = open(OWN, address).await;
    silent.write_all(HTTP2).await.unwrap();
    // SETTINGS and the acknowledgement of ours arrive first.
    assert_ne!(end(&mut silent).await, b"");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handshake_that_gave_way_is_closed() {
    let address = serve(None, Limits { handshakes: 8, ..patient() }).await;
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(open(OWN, address).await);
    }
    // The first twelve were closed for the last eight, which are open.
    for stream in &mut silent[..12] {
        assert_eq!(soon(stream.read(&mut [0])).await.unwrap_or(0), 0);
    }
    for stream in &mut silent[12..] {
        let open = tokio::time::timeout(Duration::from_millis(20), stream.read(&mut [0])).await;
        assert!(open.is_err(), "{open:?}");
    }
}
