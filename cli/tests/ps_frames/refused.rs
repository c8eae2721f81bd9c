//! Refusals before the first frame is sent.

use std::process::Stdio;

use super::cluster::{Cluster, address, in_namespace, run};

#[test]
fn interfaces_that_cannot_be_used_are_refused() {
    in_namespace(1500, || {
        let cluster = Cluster::new();
        let refused = |name: &str, interface: &str, named: &[&str]| {
            let line = Cluster::line(name, if name == "s1" { "--sync bsp" } else { "" });
            cluster.refused(&line.replace(&format!("on-{name}"), interface), named);
        };
        refused("s1", "eth9", &["interface eth9", "on-s1"]);
        refused("w1", "lo", &["interface lo", "no Ethernet address"]);
        run("ip", "link set on-w1 mtu 100");
        refused("w1", "on-w1", &["interface on-w1", "MTU of 100", "158"]);
        run("ip", "link set on-w2 down");
        refused("w2", "on-w2", &["interface on-w2", "down"]);
        // Its own address as the server's.
        refused("w3", "on-s1", &["s1 at 02:49:4e:41:00:01", "interface on-s1"]);
    });
}

#[test]
fn an_interface_that_is_removed_ends_its_process_with_its_name() {
    in_namespace(1500, || {
        let cluster = Cluster::new();
        let server = cluster.start("s1", "--sync bsp --iterations 1000 --join-timeout 1s");
        let words = Cluster::line("w1", "--server-timeout 20s");
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut command = cluster.0.command(&words);
        let worker = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        while server.next().get("applied").is_none() {}
        run("ip", "link del on-w1");
        let output = worker.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(last.contains("error: interface on-w1") && last.contains("removed"), "{said}");
    });
}

#[test]
fn flags_that_do_not_go_together_are_refused() {
    let cluster = Cluster::new();
    let server = |more: &str| format!("{} {more}", Cluster::line("s1", "--sync bsp"));
    let worker = |more: &str| format!("{} {more}", Cluster::line("w1", ""));
    let quic = ["--listen 127.0.0.1:1", "--tls-ca x", "--tls-cert x", "--tls-key x", "--congestion bbr"];
    for flag in quic {
        let name = flag.split(' ').next().unwrap();
        cluster.refused(&server(flag), &[name, "--interface on-s1", "leave out"]);
        cluster.refused(&worker(flag), &[name, "--interface on-w1", "leave out"]);
    }
    let without = |line: String| line.replace("--interface on-s1", "").replace("--interface on-w1", "");
    cluster.refused(&without(server("")), &["--listen", "QUIC", "--interface"]);
    cluster.refused(&without(worker("--listen 127.0.0.1:1")), &["--tls-ca", "QUIC", "--interface"]);
    cluster.refused(&without(worker("--frame-values 64")), &["--frame-values 64", "--interface"]);
    cluster.refused(&worker("--frame-values 65"), &["65", "32, 64, 256"]);
    let instead = |of: &str, given: &str| server("").replace(&address(of), given);
    cluster.refused(&instead("w2", "10.0.0.1:80"), &["--worker w2=10.0.0.1:80", "MAC"]);
    cluster.refused(&instead("w2", "02:00:00:00:00"), &["--worker w2=", "02:00:00:00:00:01"]);
    cluster.refused(
        &instead("w2", "ff:ff:ff:ff:ff:ff"),
        &["w2 at ff:ff:ff:ff:ff:ff", "not the address of a host"],
    );
    cluster.refused(
        &instead("w2", "01:00:5e:00:00:01"),
        &["w2 at 01:00:5e:00:00:01", "not the address of a host"],
    );
    cluster.refused(&instead("w2", &address("w1")), &["w2 at", "w1 has that address"]);
    cluster.refused(&server(&format!("--worker w1={}", address("w1"))), &["--worker w1", "twice"]);
    cluster.refused(&server(&format!("--worker w9={}", address("x"))), &["w9", "w1, w2, w3"]);
    cluster.refused(&server("").replace(&format!("--worker w3={}", address("w3")), ""), &["w3", "w3=MAC"]);
    cluster.refused(&worker("").replace(&address("s1"), "nowhere"), &["--server s1=nowhere", "MAC"]);
    cluster.refused(&worker("").replace(&format!("s1={}", address("s1")), "s1"), &["--server", "NAME=MAC"]);
}
