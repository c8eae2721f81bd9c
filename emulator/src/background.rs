//! Background traffic: ordinary frames from host to host, at a constant rate.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use inart_ethernet::{PacketSocket, Queue, SocketOptions, interface_index};
use inart_wire::MacAddr;

use crate::namespace::Namespace;

/// IEEE local experimental 2: INART's frames have the other one.
const ETHER_TYPE: [u8; 2] = [0x88, 0xb6];
/// How often what has become due is sent.
const TICK: Duration = Duration::from_millis(2);

/// A running flow; stops when dropped.
#[derive(Debug)]
pub struct BackgroundFlow {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundFlow {
    /// Starts to send frames of `frame_bytes` from the namespace's first interface, `rate_bps` bits of them a
    /// second.
    pub fn start(
        namespace: &Namespace,
        [from, to]: [MacAddr; 2],
        rate_bps: f64,
        frame_bytes: u16,
    ) -> io::Result<Self> {
        let socket =
            namespace.run(|| PacketSocket::open(interface_index("eth0")?, &SocketOptions::EVERYTHING))?;
        let mut frame = [&to.0[..], &from.0[..], &ETHER_TYPE[..]].concat();
        frame.resize(usize::from(frame_bytes), 0);
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = thread::Builder::new().name("background".into()).spawn(move || {
            let (mut queue, start, mut sent) = (Queue::default(), Instant::now(), 0.0);
            while !told.load(Relaxed) {
                let due = start.elapsed().as_secs_f64() * rate_bps / 8.0;
                while sent + frame.len() as f64 <= due {
                    queue.push(&frame);
                    sent += frame.len() as f64;
                }
                queue.flush(&socket);
                thread::sleep(TICK);
            }
        })?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for BackgroundFlow {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there has been printed already
        }
    }
}
