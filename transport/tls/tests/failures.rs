//! Errors of clients about servers of other protocols.

use inart_tls::{EndpointError, Security, TlsFailure, disagreement, endpoint};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{Authority, serve, soon};

/// Serves connections with this answer to their first bytes.
async fn answering(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 64]).await;
                let _ = stream.write_all(answer).await;
                let _ = stream.read_to_end(&mut Vec::new()).await;
            });
        }
    });
    address
}

#[tokio::test]
async fn a_server_of_another_protocol_is_named() {
    let authority = Authority::found();
    for answer in [&b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"[..], b"\xff\xff\xff\xff\xff"] {
        let address = answering(answer).await;
        for security in [&Security::Local, &authority.client(true)] {
            let found = soon(disagreement(&address, security)).await.unwrap();
            assert_eq!(found, TlsFailure::OtherProtocol);
            assert!(found.to_string().contains("does not use HTTP/2"), "{found}");
        }
    }
    let right = serve(None, Default::default()).await;
    assert_eq!(soon(disagreement(&right.to_string(), &Security::Local)).await, None);
}

/// Users write a device's number there, which would be ignored.
#[tokio::test]
async fn an_address_with_more_behind_the_port_is_refused() {
    for wrong in ["127.0.0.1:9559/7", "http://127.0.0.1:9559/x/y"] {
        let error = endpoint(wrong, &Security::Local).err().unwrap();
        assert!(matches!(error, EndpointError::Address { .. }), "{error}");
        assert!(error.to_string().contains("follows the port"), "{error}");
    }
    for right in ["127.0.0.1:9559", "http://127.0.0.1:9559/", "unix:/run/v1.sock", "unix:///run/v1.sock"] {
        assert!(endpoint(right, &Security::Local).is_ok(), "{right}");
    }
}
