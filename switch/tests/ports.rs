//! Ports on real interfaces, in a network namespace that only this test has; and pcap files.

use crate::{rig, support};

use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use inart_switch::ports::{Options, PortError, replay, start};
use inart_switch::{Port, Program, Switch};
use inart_wire::ValuesPerFrame;
use nix::sched::{CloneFlags, unshare};
use support::{Gradient, aggregating_switch, port_of, values};

fn program() -> Arc<Program> {
    Program::compile(&inart_p4::artifact(ValuesPerFrame::N32).json).expect("it compiles")
}

/// Returns a namespace with interfaces `left` and `right` joined, alive as long as the sender is.
fn namespace() -> Option<(PathBuf, std::sync::mpsc::Sender<()>)> {
    let (done, wait) = channel::<()>();
    let (made, ready) = channel();
    std::thread::spawn(move || {
        let ip = |arguments: &str| {
            let status = Command::new("ip").args(arguments.split(' ')).status();
            status.is_ok_and(|status| status.success())
        };
        let joined = unshare(CloneFlags::CLONE_NEWNET).is_ok()
            && ip("link add left type veth peer name right")
            && ip("link set left up")
            && ip("link set right up");
        let path = PathBuf::from(format!("/proc/self/task/{}/ns/net", nix::unistd::gettid()));
        let _ = made.send(joined.then_some(path));
        let _ = wait.recv();
    });
    ready.recv().ok().flatten().map(|path| (path, done))
}

#[test]
fn frames_cross_interfaces_of_a_namespace() {
    let Some((path, _alive)) = namespace() else {
        eprintln!("skipped: making a network namespace needs root and the ip command");
        return;
    };
    let switch = Arc::new(Mutex::new(aggregating_switch(program(), 1)));
    let options = Options {
        interfaces: vec![(Port(100), "left".into()), (Port(7), "right".into())],
        namespace: Some(path.clone()),
        ..Options::default()
    };
    let handle = start(switch, &options, |_| {}).expect("the ports open");
    // The sum of one worker leaves by port 100; the joined interface returns it to port 7.
    handle.inject(port_of(0), Gradient { worker: 0, sequence: 0, values: &[5; 32] }.bytes());
    let crossed = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        let statistics = handle.statistics();
        statistics[0].1.sent >= 1 && statistics[1].1.received >= 1
    });
    assert!(crossed, "{:?}", handle.statistics());
    drop(handle);

    let nowhere = Options { interfaces: vec![(Port(1), "absent".into())], namespace: Some(path), ..options };
    let error = start(Arc::default(), &nowhere, |_| {}).expect_err("there is no such interface");
    assert!(matches!(error, PortError::NoInterface { .. }));
    assert!(
        error.to_string().starts_with("port 1: there is no network interface absent in namespace /proc/")
    );
}

#[test]
fn ports_that_cannot_be() {
    let cases: [&[(u32, &str)]; 3] = [&[(1, "lo"), (1, "other")], &[(1, "lo"), (2, "lo")], &[(511, "lo")]];
    for ports in cases {
        let ports = ports.iter().map(|&(port, name)| (Port(port), name.into())).collect();
        let options = Options { interfaces: ports, ..Options::default() };
        let error = start(Arc::default(), &options, |_| {}).expect_err("it is refused");
        assert!(matches!(error, PortError::BadPort { .. }), "{error}");
    }
}

#[test]
fn pcap_files_are_replayed() {
    let folder = tempfile::tempdir().expect("a folder for files");
    let pcap = |name: &str, frames: &[Vec<u8>]| {
        let mut bytes = [0xa1b2_c3d4u32, 4 << 16 | 2, 0, 0, 65535, 1].map(u32::to_le_bytes).concat();
        for frame in frames {
            bytes.extend([0, 0, frame.len() as u32, frame.len() as u32].map(u32::to_le_bytes).concat());
            bytes.extend(frame);
        }
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("the file is written");
        path
    };
    let frame = |worker, value| Gradient { worker, sequence: 0, values: &[value; 32] }.bytes();
    let inputs =
        [(port_of(0), pcap("a.pcap", &[frame(0, 40)])), (port_of(1), pcap("b.pcap", &[frame(1, 2)]))];
    let mut switch = aggregating_switch(program(), 2);
    assert_eq!(replay(&mut switch, &inputs, folder.path()).expect("it is replayed"), 1);
    let written = std::fs::read(folder.path().join("port100.pcap")).expect("the sum is written");
    assert_eq!(values(&written[24 + 16..]), [42; 32]);

    let damaged = folder.path().join("none.pcap");
    std::fs::write(&damaged, b"no pcap file at all, but long enough").expect("the file is written");
    let error = replay(&mut switch, &[(Port(0), damaged)], folder.path()).expect_err("it is refused");
    assert!(error.to_string().ends_with("not a pcap file (pcapng must be converted first)"), "{error}");
}

#[tokio::test]
async fn a_switch_reports_why_its_thread_ended() {
    let mut switch = Switch::new(1);
    switch.load(Program::compile(rig::JSON).expect("it compiles")).expect("it loads");
    let to_cpu = u64::from(rig::CPU_PORT.0);
    switch.put_numbers("I.exact_table", Some(&[5, 1]), "I.exact_send", &[to_cpu]).expect("it fits");
    let options = Options { cpu_port: Some(rig::CPU_PORT), ..Options::default() };
    let broken = |_| panic!("on purpose");
    let handle = start(Arc::new(Mutex::new(switch)), &options, broken).expect("it starts");
    handle.inject(Port(1), rig::frame(5, 9, 0, 0, 0, 0));
    let why = rig::soon(handle.failed()).await;
    assert!(why.contains("panicked") && why.contains("on purpose"), "{why}");
}
