//! Network namespaces. Those made here have no names: they are held by file descriptor only, so that the
//! kernel frees them, their interfaces and their queues when this process and its children end, however they
//! end.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::{panic, thread};

use nix::sched::{CloneFlags, setns, unshare};

/// Returns whether IPv6 could have been disabled and was not.
fn is_needed(error: &io::Error) -> bool {
    !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ReadOnlyFilesystem)
}

/// A network namespace: made by this process, or opened.
#[derive(Debug)]
pub struct Namespace {
    fd: OwnedFd,
}

impl Namespace {
    /// A fresh namespace with nothing but its loopback interface, down, and IPv6 off (nothing here speaks it,
    /// and its router solicitations would disturb the measured links).
    ///
    /// # Errors
    /// What the system calls report; root is needed.
    pub fn new() -> io::Result<Self> {
        on_a_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            for scope in ["all", "default"] {
                let path = format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6");
                match std::fs::write(path, "1") {
                    // Containers may have it read-only; router solicitations are then a few frames more.
                    Err(error) if is_needed(&error) => return Err(error),
                    _ => {}
                }
            }
            Ok(Self { fd: File::open("/proc/thread-self/ns/net")?.into() })
        })
    }

    /// The namespace that a file stands for, like `/proc/PID/ns/net`.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(file: &std::path::Path) -> io::Result<Self> {
        Ok(Self { fd: File::open(file)?.into() })
    }

    /// Another handle of the same namespace.
    ///
    /// # Errors
    /// If this process has no file descriptor left.
    pub fn duplicate(&self) -> io::Result<Self> {
        Ok(Self { fd: self.fd.try_clone()? })
    }

    /// A path that names the namespace to other processes as long as this one runs.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.fd.as_raw_fd()).into()
    }

    /// Runs `work` on a thread inside the namespace. Sockets that it opens stay in the namespace.
    ///
    /// # Errors
    /// An error of `work`, or of the system if the namespace cannot be entered.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        on_a_thread(|| {
            setns(&self.fd, CloneFlags::CLONE_NEWNET)?;
            work()
        })
    }

    /// A command that will run inside the namespace.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let fd = self.fd.as_raw_fd();
        // SAFETY: setns is async-signal-safe, and `fd` is open in the child until it executes the program.
        unsafe { command.pre_exec(move || enter(fd)) };
        command
    }

    /// Feeds a script to `ip -batch -` or `tc -batch -` inside the namespace.
    ///
    /// # Errors
    /// If the program cannot be started, or refuses a line of the script; the error has its output.
    pub fn batch(&self, program: &str, script: &str) -> io::Result<()> {
        if script.is_empty() {
            return Ok(());
        }
        let mut child = self
            .command(program)
            .args(["-batch", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| io::Error::other(format!("cannot run {program} (package iproute2): {error}")))?;
        let written = child.stdin.take().expect("stdin was piped").write_all(script.as_bytes());
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("{program}: {}", said.trim().replace('\n', "; "))));
        }
        written
    }

    /// Disables checksum offload, since veth interfaces have no hardware: a switch on raw sockets would
    /// forward TCP and UDP with wrong checksums.
    ///
    /// # Errors
    /// An unknown interface, or one that refuses the change.
    pub fn disable_checksum_offload(&self, interface: &str) -> io::Result<()> {
        self.run(|| {
            // Any socket reaches the interface ioctls.
            let socket = std::os::unix::net::UnixDatagram::unbound()?;
            #[repr(C)]
            struct EthtoolValue {
                command: u32,
                value: u32,
            }
            const ETHTOOL_STXCSUM: u32 = 0x17;
            let mut value = EthtoolValue { command: ETHTOOL_STXCSUM, value: 0 };
            // SAFETY: an all-zero ifreq is valid.
            let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
            let room = request.ifr_name.len() - 1;
            for (to, from) in request.ifr_name.iter_mut().take(room).zip(interface.bytes()) {
                *to = from as libc::c_char;
            }
            request.ifr_ifru.ifru_data = (&raw mut value).cast();
            // SAFETY: SIOCETHTOOL reads and writes the ethtool_value that ifru_data points to, alive until
            // after.
            match unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        })
    }
}

/// Moves the calling process or thread into the namespace behind `fd`.
fn enter(fd: RawFd) -> io::Result<()> {
    // SAFETY: setns takes a descriptor and a flag, and checks both.
    match unsafe { libc::setns(fd, libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Namespaces are a property of the thread: changing them on a short-lived one leaves the caller where it is.
fn on_a_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
}
