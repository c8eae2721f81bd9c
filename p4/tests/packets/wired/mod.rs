//! A switch behind interfaces and a BFRuntime server: frames go over the one, tables and counters over the
//! other. It is `inart switch --bfrt`, or the vendor's model with its driver where they are installed.

mod namespace;
mod process;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use inart_ethernet::{PacketSocket, Queue, Receiver, SocketOptions, interface_index};
use inart_p4::{Chip, Variant};
use inart_tables::{PortNo, SteerAction, SwitchTables, diff};
use inart_targets::tofino::{Compiled, Image, TOFINO, TOFINO2};
use inart_targets::{Access, Counts, Endpoint, Precedence, Program, Session, Target};

use self::namespace::host_end;
use self::process::Installed;
use crate::packets::case::Case;
use crate::packets::frame::ordinary;
use crate::packets::network::{self, FLOODED, MARKER_PORT};
use crate::packets::program::Built;
use crate::packets::run::{self, Switch};

const BROADCAST: [u8; 6] = [0xff; 6];
/// No Ethernet frame is shorter than its header, and Linux drops one that has less than two bytes behind a
/// first VLAN tag of these kinds.
const HEADER_BYTES: usize = 14;
const TAGGED_BYTES: usize = 20;
const TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];
const FRAME_BYTES: usize = 4096;
/// Longest wait for a marker.
const PATIENCE: Duration = Duration::from_secs(20);
/// The ports that the switch counts at.
const PORTS: u16 = 512;

struct Wired {
    program: Built,
    session: Box<dyn Session>,
    lines: BTreeMap<u16, Line>,
    /// Time from a frame to its marker, for another thread of the switch to handle the frame.
    settle: Duration,
    markers: u64,
}

/// The other end of a port.
struct Line {
    socket: PacketSocket,
    queue: Queue,
    receiver: Receiver,
}

impl Line {
    fn open(port: u16) -> Self {
        let index = interface_index(&host_end(port)).expect("the interface is there");
        let socket = PacketSocket::open(index, &SocketOptions::EVERYTHING).expect("this is root");
        Line { socket, queue: Queue::default(), receiver: Receiver::with_room(64, FRAME_BYTES) }
    }

    fn send(&mut self, frame: &[u8]) {
        self.queue.push(frame);
        let sent = self.queue.flush(&self.socket);
        assert_eq!(sent.refused, 0, "the interface takes {} bytes", frame.len());
    }

    fn receive(&mut self) -> Vec<Vec<u8>> {
        let count = self.receiver.receive(&self.socket).unwrap_or(0);
        (0..count).map(|n| self.receiver.frame(n).expect("it fits").to_vec()).collect()
    }
}

impl Wired {
    /// Becomes the client of the server at this address.
    async fn connect(
        built: Built,
        program: &dyn Program,
        address: &str,
        settle: Duration,
    ) -> Result<Self, String> {
        let place = Endpoint { timeout: Duration::from_secs(30), ..Endpoint::local(address, 0) };
        let session = program.open(place, Access::Write(Precedence(1))).await;
        let session = session.map_err(|error| error.to_string())?;
        let lines = (1..=MARKER_PORT).map(|port| (port, Line::open(port))).collect();
        Ok(Wired { program: built, session, lines, settle, markers: 0 })
    }

    async fn of_ports(&mut self, name: &str) -> Vec<u64> {
        let ports: Vec<_> = (1..=MARKER_PORT).map(port).collect();
        let traffic = self.session.traffic(&ports).await.expect("the counters can be read");
        let mut cells = vec![0; usize::from(PORTS)];
        for (port, counted) in traffic.ports {
            let counts = match name {
                "ingress_inart" => counted.ours_in,
                "ingress_others" => counted.others_in,
                "egress_inart" => counted.ours_out,
                "egress_others" => counted.others_out,
                other => panic!("no counter {other}"),
            };
            cells[usize::from(port.get())] = packets(&counts);
        }
        cells
    }
}

/// Returns the tables of the cases as the driver of Tofino takes them: it rejects slots that do not start at
/// a multiple of their number, and two groups in the same ones. The results do not change.
fn tables(program: Built) -> SwitchTables {
    let mut tables = network::tables_of(program);
    for (key, action) in &mut tables.steer {
        let SteerAction::Add { slots, .. } = action else { continue };
        slots.base -= slots.base % slots.len;
        if key.shard == 4.into() && u16::from(key.worker) >= 64 {
            slots.base = 36;
        }
    }
    tables
}

fn port(number: u16) -> PortNo {
    PortNo::try_from(u64::from(number)).expect("ports count from 1")
}

fn packets(counts: &Counts) -> u64 {
    u64::try_from(counts.packets).expect("counts are not negative")
}

impl Switch for Wired {
    async fn load(&mut self, program: Built) {
        assert_eq!(program, self.program, "a session is for one program");
        self.session.load_program().await.expect("the switch takes the program");
        // The vendor's driver may keep groups from the program before.
        let (there, wanted) = (self.session.read().await.expect("tables can be read"), tables(program));
        let updates = diff(&there, &wanted);
        self.session.write(&updates).await.expect("the switch takes the tables");
        assert!(
            self.session.read().await.expect("tables can be read") == wanted,
            "other tables are read back"
        );
    }

    async fn send(&mut self, port: u16, frame: &[u8]) -> Vec<(u16, Vec<u8>)> {
        self.markers += 1;
        let mut marker = ordinary(BROADCAST);
        marker.extend(self.markers.to_be_bytes());
        self.lines.get_mut(&port).expect("a port of the network").send(frame);
        std::thread::sleep(self.settle);
        self.lines.get_mut(&MARKER_PORT).expect("it is there").send(&marker);
        let (begun, mut out) = (Instant::now(), Vec::new());
        let mut due: BTreeSet<u16> = FLOODED.collect();
        while !due.is_empty() {
            for (&port, line) in &mut self.lines {
                for frame in line.receive() {
                    if frame == marker {
                        due.remove(&port);
                    } else {
                        out.push((port, frame));
                    }
                }
            }
            assert!(begun.elapsed() < PATIENCE, "no marker at {due:?}; received: {out:02x?}");
            std::thread::sleep(Duration::from_micros(100));
        }
        out
    }

    async fn counter(&mut self, name: &str) -> Vec<u64> {
        match name {
            "drops" | "outcomes" => {
                let counters = self.session.counters().await.expect("the counters can be read");
                let cells = if name == "drops" { counters.drops } else { counters.outcomes };
                cells.iter().map(packets).collect()
            }
            of_ports => self.of_ports(of_ports).await,
        }
    }

    fn sends_markers(&self) -> bool {
        true
    }

    fn takes(&self, frame: &[u8]) -> bool {
        let tagged = TAGS.iter().any(|tag| frame.get(12..HEADER_BYTES) == Some(&tag[..]));
        frame.len() >= if tagged { TAGGED_BYTES } else { HEADER_BYTES }
    }

    /// Returns `None`: a session does not read registers.
    async fn slots(&mut self) -> Option<Vec<Vec<u8>>> {
        None
    }
}

/// Between a frame and its marker on the model, which has a thread for each port.
const MODEL_SETTLES: Duration = Duration::from_millis(300);

/// Runs the cases on the switch behind an address, in this thread's namespace: of a second program those in
/// which Tofino answers otherwise, since every case loads the program.
fn run_all(variant: Variant, program: &dyn Program, address: &str, settle: Duration) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("no resources needed").block_on(async {
        let built = Built::Tofino(variant);
        let connected = Wired::connect(built, program, address, settle).await;
        let mut switch = connected.expect("the switch takes a controller");
        let is_other = |case: &Case| case.steps.iter().any(|step| step.on_tofino.is_some());
        for case in run::cases_of(Built::Tofino(variant)) {
            if variant == Variant::ALL[0] || is_other(&case) {
                run::run(&mut switch, built, &case).await;
            }
        }
    });
}

/// Returns the compiled program for a session.
fn compiled(variant: Variant) -> Compiled {
    let artifact = inart_p4::tofino_artifact(variant).expect("it is built in");
    let image = Image { binary: artifact.json.into_owned(), ..Image::default() };
    Compiled::new(variant.values, &artifact.bf_rt, image).expect("it has the tables")
}

#[test]
fn the_embedded_switch_agrees_over_bfruntime() {
    let Some(command) = process::command() else {
        eprintln!("skipped: the command inart is not built next to this test");
        return;
    };
    for variant in Variant::ALL {
        let made = namespace::within(1..=MARKER_PORT, || {
            let (_switch, address) = process::embedded(&command);
            run_all(variant, &compiled(variant), &address, Duration::ZERO);
        });
        if !made {
            eprintln!("skipped: making a network namespace needs root and the ip command");
        }
    }
}

/// Has never run: the vendor's model was not available.
#[test]
fn the_vendors_model_agrees() {
    let installed = match Installed::find() {
        Ok(installed) => installed,
        Err(missing) => {
            eprintln!("skipped: {missing}");
            return;
        }
    };
    let mut compiled = 0;
    for variant in Variant::ALL {
        let Some(configuration) = installed.configuration(variant) else { continue };
        compiled += 1;
        let target = match variant.chip {
            Chip::Tofino1 => TOFINO,
            Chip::Tofino2 => TOFINO2,
        };
        let program = target.program(variant.values, Some(&installed.folder)).expect("it was compiled");
        let made = namespace::within(1..=MARKER_PORT, || {
            let model = installed.start(variant, &configuration);
            run_all(variant, &*program, model.address, MODEL_SETTLES);
        });
        assert!(made, "the model's ports need root and the ip command");
    }
    assert!(compiled > 0, "{} has no tofino/build/inart-*/inart.conf", installed.folder.display());
}
