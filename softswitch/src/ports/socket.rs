//! A raw packet socket on one interface.

use std::ffi::CString;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Queued bytes a socket may hold in each direction; what shapes traffic is the queueing discipline.
const BUFFER_BYTES: libc::c_int = 16 << 20;
/// `PACKET_IGNORE_OUTGOING` of linux/if_packet.h (Linux 4.20), which libc lacks.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;

/// A socket bound to an interface, promiscuous, non-blocking, deaf to what the host itself sends there.
#[derive(Debug)]
pub struct PacketSocket(OwnedFd);

/// The number of an interface in this thread's network namespace.
///
/// # Errors
/// If there is no such interface.
pub fn interface_index(name: &str) -> io::Result<libc::c_int> {
    let name = CString::new(name).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: `name` is a NUL-terminated string that lives through the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index as libc::c_int),
    }
}

impl PacketSocket {
    /// Opens a socket on interface number `index`.
    ///
    /// # Errors
    /// If the kernel refuses the socket; root is needed.
    pub fn open(index: libc::c_int, bypass_queueing: bool) -> io::Result<PacketSocket> {
        // Protocol 0: nothing is received before the socket is bound to its interface.
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: a plain system call; a descriptor that is not negative is new and ours.
        let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: as above.
        let socket = PacketSocket(unsafe { OwnedFd::from_raw_fd(fd) });
        socket.set(libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1)?;
        socket.set(libc::SOL_PACKET, libc::PACKET_AUXDATA, &1)?;
        if bypass_queueing {
            socket.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1)?;
        }
        socket.grow_buffers(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF)?;
        socket.grow_buffers(libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)?;
        let promiscuous = libc::packet_mreq {
            mr_ifindex: index,
            mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        socket.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &promiscuous)?;
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as libc::c_ushort,
            sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
            sll_ifindex: index,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the address is a sockaddr_ll of the length given.
        if unsafe { libc::bind(fd, (&raw const address).cast(), length) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(socket)
    }

    fn set<T>(&self, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
        let length = size_of::<T>() as libc::socklen_t;
        // SAFETY: the option's value is `length` readable bytes.
        let done = unsafe {
            libc::setsockopt(self.0.as_raw_fd(), level, option, (&raw const *value).cast(), length)
        };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Beyond the system's limit if allowed, else up to it.
    fn grow_buffers(&self, force: libc::c_int, ask: libc::c_int) -> io::Result<()> {
        self.set(libc::SOL_SOCKET, force, &BUFFER_BYTES)
            .or_else(|_| self.set(libc::SOL_SOCKET, ask, &BUFFER_BYTES))
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
