//! A raw packet socket on one interface.

use std::ffi::CString;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// `PACKET_IGNORE_OUTGOING` of linux/if_packet.h (Linux 4.20), which libc lacks.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;

/// `PACKET_VNET_HDR` of linux/if_packet.h.
const PACKET_VNET_HDR: libc::c_int = 15;

/// Returns a packet socket that receives nothing yet.
fn new_socket() -> io::Result<OwnedFd> {
    // Protocol 0: nothing is received before the socket is bound to its interface.
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: a plain system call; a descriptor that is not negative is new and ours.
    let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Settings of a socket: received frames, sending, and buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketOptions {
    /// EtherType of the received frames; `None` for all frames except those that the host itself sends on the
    /// interface. With an EtherType, frames that have it behind a VLAN tag arrive without the tag.
    pub ether_type: Option<u16>,
    /// Whether the interface also takes frames to other hosts' addresses.
    pub promiscuous: bool,
    /// Sends past the interface's queueing discipline. Quicker, but nothing shapes the traffic then.
    pub bypass_queueing: bool,
    /// Whether [`Receiver::take`](crate::Receiver::take) performs the offloads that senders left to their
    /// devices: checksums, and the segmentation of long frames.
    pub finish_offloads: bool,
    /// Bytes of kernel memory for frames that wait to be received.
    pub receive_buffer_bytes: usize,
    /// Buffer for frames that wait to be sent; `None` leaves the system's default.
    pub send_buffer_bytes: Option<usize>,
}

impl SocketOptions {
    /// Every frame on the interface, as a switch receives them. The queueing discipline shapes traffic, not
    /// the buffers.
    pub const EVERYTHING: Self = Self {
        ether_type: None,
        promiscuous: true,
        bypass_queueing: false,
        finish_offloads: false,
        receive_buffer_bytes: 16 << 20,
        send_buffer_bytes: Some(16 << 20),
    };
}

/// A non-blocking socket bound to an interface.
#[derive(Debug)]
pub struct PacketSocket {
    fd: OwnedFd,
    /// Socket for sending. A socket whose received frames have a header requires one before each sent frame,
    /// so frames are sent by this one instead.
    sender: Option<OwnedFd>,
}

/// Returns the number of an interface in this thread's network namespace.
///
/// # Errors
/// If there is no such interface.
pub fn interface_index(name: &str) -> io::Result<libc::c_int> {
    let name = CString::new(name).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: `name` is a NUL-terminated string that is valid through the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index as libc::c_int),
    }
}

/// Returns the most bytes after the Ethernet header that an interface in this thread's network namespace
/// sends at once.
///
/// # Errors
/// If there is no such interface.
pub fn mtu(name: &str) -> io::Result<usize> {
    // SAFETY: a plain system call; a descriptor that is not negative is new and ours.
    let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    mtu_at(unsafe { OwnedFd::from_raw_fd(fd) }, name)
}

/// Returns the index of an interface in the network namespace of that socket, whichever this thread's is.
///
/// # Errors
/// If there is no such interface.
pub fn mtu_at(socket: impl AsFd, name: &str) -> io::Result<usize> {
    let request = ask(&socket, name, libc::SIOCGIFMTU as _)?;
    // SAFETY: the call has filled in the MTU.
    let mtu = unsafe { request.ifr_ifru.ifru_mtu };
    usize::try_from(mtu).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Returns whether an interface in the network namespace of that socket is up and has a link.
///
/// # Errors
/// If there is no such interface.
pub fn has_carrier_at(socket: impl AsFd, name: &str) -> io::Result<bool> {
    let request = ask(&socket, name, libc::SIOCGIFFLAGS as _)?;
    // SAFETY: the call has filled in the flags.
    let flags = libc::c_int::from(unsafe { request.ifr_ifru.ifru_flags });
    let both = libc::IFF_UP | libc::IFF_RUNNING;
    Ok(flags & both == both)
}

/// Returns the result of an ioctl for an interface in the network namespace of that socket.
fn ask(socket: &impl AsFd, name: &str, call: libc::Ioctl) -> io::Result<libc::ifreq> {
    // SAFETY: all fields of ifreq may be zero.
    let mut request: libc::ifreq = unsafe { zeroed() };
    // The last byte stays zero.
    let most = request.ifr_name.len() - 1;
    let room = request.ifr_name[..most].get_mut(..name.len()).filter(|_| !name.contains('\0'));
    let room = room.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    room.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from as libc::c_char);
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the request is an ifreq with a NUL-terminated name, and is valid through the call.
    match unsafe { libc::ioctl(fd, call, &raw mut request) } {
        0.. => Ok(request),
        _ => Err(io::Error::last_os_error()),
    }
}

impl PacketSocket {
    /// Opens a socket on interface number `index`.
    ///
    /// # Errors
    /// If the kernel refuses the socket; root is needed.
    pub fn open(index: libc::c_int, options: &SocketOptions) -> io::Result<PacketSocket> {
        let mut socket = PacketSocket { fd: new_socket()?, sender: None };
        if options.finish_offloads {
            socket.set(libc::SOL_PACKET, PACKET_VNET_HDR, &1)?;
            // Bound without a protocol, it receives nothing.
            let sender = PacketSocket { fd: new_socket()?, sender: None };
            sender.prepare_to_send(options)?;
            sender.bind(index, 0)?;
            socket.sender = Some(sender.fd);
        }
        if options.ether_type.is_none() {
            // A socket for one EtherType does not receive them anyway, and gets no tags.
            socket.set(libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1)?;
            socket.set(libc::SOL_PACKET, libc::PACKET_AUXDATA, &1)?;
        }
        socket.prepare_to_send(options)?;
        socket.grow_buffer([libc::SO_RCVBUFFORCE, libc::SO_RCVBUF], options.receive_buffer_bytes)?;
        if options.promiscuous {
            let promiscuous = libc::packet_mreq {
                mr_ifindex: index,
                mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
                mr_alen: 0,
                mr_address: [0; 8],
            };
            socket.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &promiscuous)?;
        }
        socket.bind(index, options.ether_type.unwrap_or(libc::ETH_P_ALL as u16))?;
        Ok(socket)
    }

    fn prepare_to_send(&self, options: &SocketOptions) -> io::Result<()> {
        if options.bypass_queueing {
            self.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1)?;
        }
        match options.send_buffer_bytes {
            Some(bytes) => self.grow_buffer([libc::SO_SNDBUFFORCE, libc::SO_SNDBUF], bytes),
            None => Ok(()),
        }
    }

    /// Returns the socket that sends.
    pub(crate) fn sender(&self) -> BorrowedFd<'_> {
        self.sender.as_ref().unwrap_or(&self.fd).as_fd()
    }

    /// Returns whether each frame has a header of its offloads.
    pub(crate) fn has_header(&self) -> bool {
        self.sender.is_some()
    }

    /// Returns the error that waits at the socket, which is cleared: that its interface went down.
    ///
    /// # Errors
    /// Returns that error.
    pub fn take_error(&self) -> io::Result<()> {
        let mut error: libc::c_int = 0;
        let mut length = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: the value and its length are valid through the call.
        let done = unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_ERROR,
                (&raw mut error).cast(),
                &raw mut length,
            )
        };
        match (done, error) {
            (0, 0) => Ok(()),
            (0, error) => Err(io::Error::from_raw_os_error(error)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn bind(&self, index: libc::c_int, ether_type: u16) -> io::Result<()> {
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as libc::c_ushort,
            sll_protocol: ether_type.to_be(),
            sll_ifindex: index,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the address is a sockaddr_ll of the length given.
        let done = unsafe { libc::bind(self.fd.as_raw_fd(), (&raw const address).cast(), length) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    pub(crate) fn set<T>(&self, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
        let length = size_of::<T>() as libc::socklen_t;
        // SAFETY: the option's value is `length` readable bytes.
        let done = unsafe {
            libc::setsockopt(self.fd.as_raw_fd(), level, option, (&raw const *value).cast(), length)
        };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Beyond the system's limit if allowed, else up to it.
    fn grow_buffer(&self, [force, ask]: [libc::c_int; 2], bytes: usize) -> io::Result<()> {
        let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
        self.set(libc::SOL_SOCKET, force, &bytes).or_else(|_| self.set(libc::SOL_SOCKET, ask, &bytes))
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
