//! Addresses that stay on this machine.

use std::net::IpAddr;

/// Returns whether a gRPC address is on this machine only: `unix:…`, or `localhost`, or a loopback IP
/// address; with or without a scheme and a port.
pub fn is_local(address: &str) -> bool {
    if address.starts_with("unix:") {
        return true;
    }
    let authority = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        // More than one colon and no brackets: an IPv6 address without a port.
        None if authority.matches(':').count() > 1 => authority,
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn only_loopback_and_sockets_of_this_machine_are_local() {
        for local in [
            "127.0.0.1:9559",
            "127.8.0.1",
            "http://127.0.0.1:1/x",
            "localhost:9559",
            "LocalHost",
            "[::1]:9559",
            "::1",
            "unix:/run/v1.sock",
            "unix:///run/v1.sock",
        ] {
            assert!(is_local(local), "{local}");
        }
        for remote in [
            "0.0.0.0:9559",
            "[::]:9559",
            "10.0.0.1:9559",
            "localhost.example.org:9559",
            "127.0.0.1.example.org:1",
            "http://switch/127.0.0.1",
            "",
        ] {
            assert!(!is_local(remote), "{remote}");
        }
    }
}
