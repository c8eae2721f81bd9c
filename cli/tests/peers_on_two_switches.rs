//! Two switches with a link between them, filled by `inart apply`: which copies of an update cross that link,
//! reach a host, or die in a switch. Needs root, and skips without.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::collections::BTreeMap;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use inart_host_agent::{BatchedPort, Transport};
use inart_targets::{Access, DEFAULT, Endpoint};
use inart_wire::{
    BitmapIndex, ChunkSeq, Contributors, Exponent, Flags, Frame, FrameRepr, Group, HeaderRepr, Kind, MacAddr,
    ShardId, ValuesPerFrame,
};

use crate::support::processes::Running;
use crate::support::{Workbench, turn};

const VALUES: ValuesPerFrame = ValuesPerFrame::N256;
/// Longer than anything takes; only a failure waits for it.
const PATIENCE: Duration = Duration::from_secs(20);
/// In two blocks of 64: p1 and p2 are at s, all others at t, where p3's port is 1 and p70's 68.
const PEERS: u16 = 70;

fn document() -> String {
    let names = || (1..=PEERS).map(|peer| (peer, format!("p{peer}")));
    let nodes: String = names().map(|(_, name)| format!(", {{name: {name}, kind: peer}}")).collect();
    let at = |peer: u16| if peer <= 2 { "s" } else { "t" };
    let link = |(peer, name): (u16, String)| format!("  - {{ends: [{name}, {}], rate: 8 Mbps}}\n", at(peer));
    let links: String = names().map(link).collect();
    format!(
        "name: two\nnodes: [{{name: s, kind: switch}}, {{name: t, kind: switch}}{nodes}]\nlinks:\n{links}  \
         - {{ends: [s, t], rate: 1 Gbps}}\njobs:\n  - {{name: all, receivers: 1, update: 200 KB}}\n"
    )
}

fn ip(words: &str) {
    assert!(Command::new("ip").args(words.split(' ')).status().unwrap().success(), "ip {words}");
}

/// Runs a test in a network namespace of its own: hosts' interfaces `u…`, the switches' `d…`, and the link
/// between the switches `x` and `y`.
fn in_namespace(test: impl FnOnce() + Send + 'static) {
    let _turn = turn();
    let body = move || {
        if nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).is_err() {
            return eprintln!("skipped: root is needed to make a network namespace");
        }
        ip("link set lo up");
        for (a, b) in [("u1", "d1"), ("u2", "d2"), ("u3", "d3"), ("u70", "d70"), ("x", "y")] {
            ip(&format!("link add {a} type veth peer name {b}"));
            ip(&format!("link set {a} up"));
            ip(&format!("link set {b} up"));
        }
        test();
    };
    thread::spawn(body).join().unwrap();
}

fn switch(bench: &Workbench, ports: &str) -> (Running, String) {
    let words = format!("switch --no-p4 {ports} -- --grpc-server-addr 127.0.0.1:0");
    let running = Running::start(bench.command(&words.split_whitespace().collect::<Vec<_>>()));
    let address = running.line().strip_prefix("listening on ").unwrap().to_owned();
    (running, address)
}

fn open(interface: &str) -> BatchedPort {
    let mut port = BatchedPort::open(interface).unwrap();
    port.prepare(VALUES.frame_bytes()).unwrap();
    port
}

/// An update's frame as p1 sends it, for the peers of a block.
fn frame(block: u8, bitmap: u64) -> Vec<u8> {
    let header = HeaderRepr {
        kind: Kind::Update,
        flags: Flags::NONE,
        plan_version: 1.into(),
        job: 0x8000.into(),
        shard: ShardId::from(1),
        worker: BitmapIndex::try_from(0u16).unwrap(),
        sequence: ChunkSeq::from(0),
        contributors: Contributors { bitmap, group: Group(block) },
        exponent: Exponent::from(0),
        length: 256,
        incarnation: 77.into(),
    };
    let (destination, source) = (MacAddr::results_of(0x8000.into()), MacAddr([2, 0x49, 0x4e, 0x50, 0, 0]));
    let repr = FrameRepr { destination, source, values_per_frame: VALUES, header };
    let mut bytes = vec![0; repr.buffer_len()];
    repr.emit(&[7; 256], &mut bytes).unwrap();
    bytes
}

fn send(port: &mut BatchedPort, frame: &[u8], times: usize) {
    let mut left = times;
    port.transmit(&mut |buffer| {
        left = left.checked_sub(1)?;
        buffer[..frame.len()].copy_from_slice(frame);
        Some(frame.len())
    })
    .unwrap();
}

/// By block and bitmap, how many updates came.
type Came = BTreeMap<(u8, u64), usize>;

fn take(port: &mut BatchedPort, came: &mut Came) {
    port.receive(&mut |bytes| {
        if let Ok(frame) = Frame::new_checked(bytes)
            && frame.kind() == Kind::Update
        {
            let Contributors { bitmap, group } = frame.contributors();
            *came.entry((group.0, bitmap)).or_default() += 1;
        }
    })
    .unwrap();
}

/// Returns the copies that a switch pruned (no receiver behind the port), by the port's number.
fn unwanted(address: &str) -> BTreeMap<usize, i64> {
    let program = DEFAULT.program(VALUES, None).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let counters = runtime.block_on(async {
        let mut session = program.open(Endpoint::local(address, 0), Access::Read).await.unwrap();
        session.running().await.unwrap();
        session.counters().await.unwrap()
    });
    let counted = counters.unwanted.iter().map(|counts| counts.packets).enumerate();
    counted.filter(|(_, packets)| *packets > 0).collect()
}

#[test]
fn a_copy_crosses_the_link_between_switches_only_for_who_is_behind_it() {
    in_namespace(|| {
        let bench = Workbench::new();
        bench.write("two.yaml", document());
        let (_s, at_s) = switch(&bench, "-i 1@d1 -i 2@d2 -i 3@x");
        let (_t, at_t) = switch(&bench, "-i 1@d3 -i 68@d70 -i 69@y");
        let push = ["apply", "two.yaml", "--switch", &format!("s={at_s}"), "--switch", &format!("t={at_t}")];
        let output = bench.inart(&push);
        assert!(output.status.success(), "{output:?}");
        let mut sender = open("u1");
        // What s sends to t is what comes in at y.
        let mut watched: Vec<BatchedPort> = ["y", "u2", "u3", "u70"].into_iter().map(open).collect();
        // To p2 alone; to p3 alone; to p2 and p3; to p70, of the second block; to p1 itself alone.
        for (block, bitmap, times) in [(0, 0b10, 10), (0, 0b100, 7), (0, 0b110, 5), (1, 1 << 5, 4), (0, 1, 3)]
        {
            send(&mut sender, &frame(block, bitmap), times);
        }
        let expected: [Came; 4] = [
            [((0, 0b100), 7 + 5), ((1, 1 << 5), 4)].into(),
            [((0, 0b10), 10 + 5)].into(),
            [((0, 0b100), 7 + 5)].into(),
            [((1, 1 << 5), 4)].into(),
        ];
        let mut came: [Came; 4] = Default::default();
        let deadline = Instant::now() + PATIENCE;
        while came != expected && Instant::now() < deadline {
            watched.iter_mut().zip(&mut came).for_each(|(port, came)| take(port, came));
            thread::sleep(Duration::from_millis(5));
        }
        // A copy too many would follow those that were looked for.
        thread::sleep(Duration::from_millis(200));
        watched.iter_mut().zip(&mut came).for_each(|(port, came)| take(port, came));
        assert_eq!(came, expected, "at the link, p2, p3, p70");
        // Block 0: p2's port prunes copies for p3 or for no receiver, the link those for p2 or for no
        // receiver. Block 1 has no port but the link.
        assert_eq!(unwanted(&at_s), [(2, 7 + 3), (3, 10 + 3)].into());
        // p3's port and 60 others, which are not wired, are block 0's at t.
        let of_t = unwanted(&at_t);
        assert_eq!(of_t.get(&1), None, "{of_t:?}");
        assert_eq!(of_t.get(&68), None, "{of_t:?}");
        assert_eq!(of_t.get(&2), Some(&(7 + 5)), "{of_t:?}");
    });
}
