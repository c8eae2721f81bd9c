//! A host behind a port of the embedded switch sends INART frames in VLANs, whose tags the kernel of their
//! receiver would remove: on real interfaces, in a namespace of this test. Skipped with a message without
//! root.

use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use inart_ethernet::{PacketSocket, Queue, Receiver, SocketOptions, interface_index};
use inart_p4::{Reason, artifact};
use inart_switch::ports::{Handle, Options, start};
use inart_switch::{Port, Program, Switch};
use inart_tables::{
    Mac, MacAction, MacKey, PortNo, Row, SwitchPorts, SwitchPortsAction, SwitchPortsKey, Table,
};
use inart_tests::turn;
use inart_wire::{
    AbortReason, BitmapIndex, Contributors, ControlMessage, Flags, FrameRepr, HeaderRepr, Kind, MacAddr,
    Rank, ValuesPerFrame,
};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{MsgFlags, recv};

const VALUES: ValuesPerFrame = ValuesPerFrame::N32;
const ATTACKER: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const VICTIM: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);
const ATTACKER_PORT: Port = Port(1);
const VICTIM_PORT: Port = Port(2);
/// Longer than a frame takes through the switch; only a failure waits for it.
const PATIENCE_MS: u16 = 20_000;

/// EtherTypes of tags: IEEE 802.1Q and 802.1ad, which Linux removes, and their predecessor, which it does
/// not.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];

/// Returns a frame that ends a job, in the name of its server.
fn abort() -> Vec<u8> {
    let message = ControlMessage::Abort {
        reason: AbortReason::Stopped,
        culprit: Rank::try_from(0u16).expect("a low rank"),
    };
    let words = message.words(9.into());
    frame(Kind::Control, Contributors::default(), &words)
}

/// Returns a partial that would complete a sum at the server.
fn partial() -> Vec<u8> {
    frame(Kind::Partial, Contributors::one(worker(1)), &[7; 32])
}

fn worker(rank: u16) -> BitmapIndex {
    BitmapIndex::try_from(rank).expect("a low rank")
}

fn frame(kind: Kind, contributors: Contributors, values: &[i32]) -> Vec<u8> {
    let header = HeaderRepr {
        kind,
        flags: Flags::NONE,
        plan_version: 1.into(),
        job: 1.into(),
        shard: 0.into(),
        worker: worker(1),
        sequence: 2.into(),
        contributors,
        exponent: 0.into(),
        length: values.len() as u16,
        incarnation: 9.into(),
    };
    let mut bytes = vec![0; VALUES.frame_bytes()];
    let repr = FrameRepr { destination: VICTIM, source: ATTACKER, values_per_frame: VALUES, header };
    repr.emit(values, &mut bytes).expect("the buffer is a frame long");
    bytes
}

/// Returns the frame behind tags of these EtherTypes and VLANs, the outermost first.
fn tagged(frame: &[u8], tags: &[(u16, u16)]) -> Vec<u8> {
    let tags: Vec<u8> =
        tags.iter().flat_map(|(kind, vlan)| [*kind, *vlan].map(u16::to_be_bytes).concat()).collect();
    [&frame[..12], &tags, &frame[12..]].concat()
}

/// Returns every tag alone; in VLANs 0 and 7, with a priority; two of them in any order; many.
fn stacks() -> Vec<Vec<(u16, u16)>> {
    let vlans = [0, 7, 0xe000, 0x1007];
    let single: Vec<_> = TAGS.iter().flat_map(|tag| vlans.map(|vlan| (*tag, vlan))).collect();
    let double = single.iter().flat_map(|outer| single.iter().map(|inner| vec![*outer, *inner]));
    let deep = (3..=8).chain([30]).flat_map(|depth| TAGS.map(|tag| vec![(tag, 0); depth]));
    single.iter().map(|tag| vec![*tag]).chain(double).chain(deep).collect()
}

/// Returns a frame that is not INART's, identified by a number.
fn ordinary(number: u8) -> Vec<u8> {
    [&VICTIM.0[..], &ATTACKER.0, &[0x08, 0x00], &[number; 50]].concat()
}

/// A switch between two interfaces, a host's socket for INART behind one, and a socket for all frames there.
struct Network {
    switch: Arc<Mutex<Switch>>,
    _ports: Handle,
    attacker: PacketSocket,
    victim: inart_host_agent::BatchedPort,
    everything: PacketSocket,
}

fn put(switch: &mut Switch, row: Row) {
    let put = switch.put_numbers(row.table.full_name, row.key.as_deref(), row.action.full_name, &row.params);
    put.expect("it fits");
}

fn port(port: Port) -> PortNo {
    PortNo::try_from(u64::from(port.0)).expect("ports count from 1")
}

impl Network {
    /// In a namespace that this thread moves to.
    fn lay() -> Self {
        unshare(CloneFlags::CLONE_NEWNET).expect("root may");
        for arguments in [
            "link add name attacker type veth peer name p1",
            "link add name victim type veth peer name p2",
            "link set dev attacker up",
            "link set dev victim up",
            "link set dev p1 up",
            "link set dev p2 up",
        ] {
            let status = Command::new("ip").args(arguments.split(' ')).status().expect("ip runs");
            assert!(status.success(), "ip {arguments}");
        }
        let program = Program::compile(&artifact(VALUES).json).expect("it compiles");
        let mut switch = Switch::new(0);
        switch.load(program).expect("it loads");
        put(&mut switch, Mac::row(&MacKey { dst: VICTIM }, &MacAction::Send { port: port(VICTIM_PORT) }));
        let switch = Arc::new(Mutex::new(switch));
        let namespace = PathBuf::from(format!("/proc/self/task/{}/ns/net", nix::unistd::gettid()));
        let interfaces = vec![(ATTACKER_PORT, "p1".into()), (VICTIM_PORT, "p2".into())];
        let options = Options { interfaces, namespace: Some(namespace), ..Options::default() };
        let ports = start(Arc::clone(&switch), &options, |_| {}).expect("the ports open");
        let open = |name| {
            PacketSocket::open(interface_index(name).expect("it is there"), &SocketOptions::EVERYTHING)
                .expect("root may")
        };
        Self {
            switch,
            _ports: ports,
            attacker: open("attacker"),
            victim: inart_host_agent::BatchedPort::open("victim").expect("root may"),
            everything: open("victim"),
        }
    }

    fn send(&self, frames: &[Vec<u8>]) {
        for batch in frames.chunks(32) {
            let mut queue = Queue::default();
            batch.iter().for_each(|frame| queue.push(frame));
            assert_eq!(queue.flush(&self.attacker).refused, 0);
        }
    }

    /// Returns the frames that reach the victim up to this frame, which is last.
    fn until(&self, last: &[u8]) -> Vec<Vec<u8>> {
        let (mut frames, mut receiver) = (Vec::new(), Receiver::allocate());
        loop {
            let mut fds = [PollFd::new(self.everything.as_fd(), PollFlags::POLLIN)];
            assert!(
                poll(&mut fds, PollTimeout::from(PATIENCE_MS)).expect("it waits") > 0,
                "{last:02x?} is lost"
            );
            for n in 0..receiver.receive(&self.everything).expect("it receives") {
                frames
                    .extend(receiver.frame(n).filter(|frame| frame[6..12] == ATTACKER.0).map(<[u8]>::to_vec));
            }
            if frames.last().is_some_and(|frame| frame == last) {
                return frames;
            }
        }
    }

    /// Returns the frames queued at the socket that a host's agent reads.
    fn received(&self) -> Vec<Vec<u8>> {
        let mut buffer = [0; 2048];
        let mut next = || {
            recv(self.victim.as_fd().as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT)
                .ok()
                .map(|length| buffer[..length].to_vec())
        };
        std::iter::from_fn(&mut next).collect()
    }

    fn dropped(&self, reason: Reason) -> u64 {
        let switch = self.switch.lock().expect("no holder of the lock panicked");
        switch.counters("InArtIngress.drops").expect("it has the counter")[reason.index()].packets
    }
}

#[test]
fn frames_in_vlans_reach_no_host_that_would_take_them_for_checked_frames() {
    let Some(_turn) = turn() else { return };
    // A thread of its own, with a namespace that ends with it.
    let test = std::thread::spawn(|| {
        let network = Network::lay();
        let forged = |frame: Vec<u8>| stacks().into_iter().map(move |tags| tagged(&frame, &tags));
        let frames: Vec<_> = forged(abort()).chain(forged(partial())).collect();
        let passing: Vec<_> = stacks().into_iter().filter(|tags| tags.len() <= 4).collect();
        let others: Vec<_> =
            passing.iter().zip(1..).map(|(tags, number)| tagged(&ordinary(number), tags)).collect();
        network.send(&frames);
        network.send(&others);
        let last = ordinary(0);
        network.send(std::slice::from_ref(&last));
        // Ordinary frames arrive with their tags, and no other frames do.
        let came = network.until(&last);
        assert!(
            came == [&others[..], std::slice::from_ref(&last)].concat(),
            "{} of {} arrived",
            came.len(),
            others.len() + 1
        );
        assert_eq!(network.received(), [[0; 0]; 0], "a forged frame reached the agent's socket");
        assert_eq!(network.dropped(Reason::Tagged), frames.len() as u64);

        // The agent would have received them: where another switch is, the same message is forwarded, except
        // with tags.
        let trust =
            SwitchPorts::row(&SwitchPortsKey { ingress: port(ATTACKER_PORT) }, &SwitchPortsAction::Trust);
        put(&mut network.switch.lock().expect("no holder of the lock panicked"), trust);
        network.send(&forged(abort()).chain([abort(), last.clone()]).collect::<Vec<_>>());
        assert_eq!(network.until(&last), [abort(), last]);
        assert_eq!(network.received(), [abort()]);
    });
    test.join().expect("no assertion failed");
}
