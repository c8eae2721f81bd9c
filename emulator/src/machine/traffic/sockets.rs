//! UDP and TCP over IPv4, through the kernel of the hosts' namespaces.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::machine::namespace::Namespace;

/// Ethernet, IPv4 and UDP headers.
const UDP_HEADERS: u16 = 14 + 20 + 8;
/// Ethernet, IPv4 and TCP headers, without TCP's options: the maximum segment size counts them in.
const TCP_HEADERS: u16 = 14 + 20 + 20;
/// Interval at which a thread checks whether to stop.
const LOOK: Duration = Duration::from_millis(50);
/// Interval at which due bytes are written.
const TICK: Duration = Duration::from_millis(2);
/// Bytes of one write to a connection.
const BLOCK: usize = 4096;

/// Sends datagrams.
pub struct UdpSender {
    socket: UdpSocket,
    payload: Vec<u8>,
}

impl UdpSender {
    /// Sends from a namespace to an address, in frames of `frame_bytes`.
    pub fn new(namespace: &Namespace, to: SocketAddr, frame_bytes: u16) -> io::Result<Self> {
        let socket = namespace.run(|| {
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
            socket.connect(to)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        })?;
        Ok(Self { socket, payload: vec![0; usize::from(frame_bytes.saturating_sub(UDP_HEADERS))] })
    }

    /// Sends as many datagrams as fit into a budget of bytes of frames; returns the bytes sent. A datagram is
    /// lost if the kernel has no room, or refuses it because the port is closed.
    pub fn send(&mut self, budget: f64) -> f64 {
        let (mut sent, each) = (0.0, (self.payload.len() + usize::from(UDP_HEADERS)) as f64);
        while sent + each <= budget {
            let _ = self.socket.send(&self.payload);
            sent += each;
        }
        sent
    }
}

/// Receives datagrams.
pub struct UdpReceiver {
    socket: UdpSocket,
}

impl UdpReceiver {
    /// At a port that the kernel chooses.
    pub fn bind(namespace: &Namespace, ip: Ipv4Addr) -> io::Result<Self> {
        let socket = namespace.run(|| UdpSocket::bind((ip, 0)))?;
        socket.set_read_timeout(Some(LOOK))?;
        Ok(Self { socket })
    }

    /// Returns the address of the receiver.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Receives until `stop` is set.
    pub fn run(self, stop: &AtomicBool) {
        let mut room = [0; 1];
        while !stop.load(Relaxed) {
            let _ = self.socket.recv(&mut room);
        }
    }
}

/// Sends a stream.
pub struct TcpSender {
    namespace: Namespace,
    to: SocketAddr,
    segment_bytes: u16,
}

impl TcpSender {
    /// Sends from a namespace to an address, in frames of up to `frame_bytes`.
    pub fn new(namespace: &Namespace, to: SocketAddr, frame_bytes: u16) -> io::Result<Self> {
        let segment_bytes = frame_bytes.saturating_sub(TCP_HEADERS).max(88); // Linux takes no less
        Ok(Self { namespace: namespace.duplicate()?, to, segment_bytes })
    }

    /// Connects, and sends at most at that rate until `stop` is set. Connects again if the connection breaks.
    pub fn run(self, stop: &AtomicBool, bytes_per_second: f64) {
        let connect = || {
            let stream =
                self.namespace.run(|| TcpStream::connect_timeout(&self.to, Duration::from_secs(1)))?;
            stream.set_write_timeout(Some(LOOK))?;
            set_segment_bytes(&stream, self.segment_bytes)?;
            Ok::<_, io::Error>(stream)
        };
        while !stop.load(Relaxed) {
            match connect() {
                Ok(stream) => write(stream, stop, bytes_per_second),
                Err(_) => thread::sleep(LOOK),
            }
        }
    }
}

/// Writes until `stop` is set or the connection breaks. Bytes that the connection could not take in time are
/// not sent later.
fn write(mut stream: TcpStream, stop: &AtomicBool, bytes_per_second: f64) {
    let (mut then, mut due) = (Instant::now(), 0.0);
    while !stop.load(Relaxed) {
        let now = Instant::now();
        due = (due + now.duration_since(then).as_secs_f64() * bytes_per_second)
            .min(bytes_per_second / 10.0 + BLOCK as f64);
        then = now;
        while due >= BLOCK as f64 && !stop.load(Relaxed) {
            match stream.write(&[0; BLOCK]) {
                Ok(count) => due -= count as f64,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(_) => return,
            }
        }
        thread::sleep(TICK);
    }
}

fn set_segment_bytes(stream: &TcpStream, bytes: u16) -> io::Result<()> {
    let value = libc::c_int::from(bytes);
    let length = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the option's value is an int, alive during the call.
    let set = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_MAXSEG,
            (&raw const value).cast(),
            length,
        )
    };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Receives streams, one after the other.
pub struct TcpReceiver {
    listener: TcpListener,
}

impl TcpReceiver {
    /// At a port that the kernel chooses.
    pub fn bind(namespace: &Namespace, ip: Ipv4Addr) -> io::Result<Self> {
        let listener = namespace.run(|| TcpListener::bind((ip, 0)))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener })
    }

    /// Returns the address of the listener.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Receives until `stop` is set.
    pub fn run(self, stop: &AtomicBool) {
        let mut room = vec![0; 1 << 16];
        while !stop.load(Relaxed) {
            let Ok((mut stream, _)) = self.listener.accept() else {
                thread::sleep(LOOK);
                continue;
            };
            if stream.set_nonblocking(false).is_err() || stream.set_read_timeout(Some(LOOK)).is_err() {
                continue;
            }
            while !stop.load(Relaxed) {
                match stream.read(&mut room) {
                    Ok(0) => break,
                    Ok(_) => {}
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                    Err(_) => break,
                }
            }
        }
    }
}
