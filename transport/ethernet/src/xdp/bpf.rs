//! The system call `bpf`: those of its commands that an AF_XDP socket needs. Numbers are those of
//! linux/bpf.h and linux/if_link.h.

use std::ffi::CStr;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE_ELEM: libc::c_int = 2;
const PROG_LOAD: libc::c_int = 5;
const LINK_CREATE: libc::c_int = 28;
const LINK_DETACH: libc::c_int = 34;

const MAP_OF_XDP_SOCKETS: u32 = 17;
const XDP_PROGRAM: u32 = 6;
const ATTACHED_TO_XDP: u32 = 37;
/// The program takes frames that are in several pieces of memory, as jumbo frames are: drivers refuse others
/// where the MTU is large.
const HAS_FRAGMENTS: u32 = 1 << 5;

/// No condition of the kernel's depends on it: the program calls nothing that is for GPL programs alone.
const LICENSE: &CStr = c"Apache-2.0";

/// One instruction of a program, as the kernel reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

impl Instruction {
    /// With a destination, a source, an offset (of memory, or of a jump) and a number.
    pub(super) const fn new(code: u8, [to, from]: [u8; 2], offset: i16, immediate: i32) -> Self {
        let registers = if cfg!(target_endian = "little") { from << 4 | to } else { to << 4 | from };
        Self { code, registers, offset, immediate }
    }
}

/// Attach point of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Mode {
    /// In the kernel, for any interface: after a packet was made of the frame.
    Generic = 1 << 1,
    /// In the interface's driver.
    Native = 1 << 2,
}

#[repr(C)]
struct MapCreate {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
}

#[repr(C)]
struct MapUpdate {
    map: u32,
    unused: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct ProgramLoad {
    kind: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
}

#[repr(C)]
struct LinkCreate {
    program: u32,
    interface: u32,
    kind: u32,
    flags: u32,
}

#[repr(C)]
struct LinkDetach {
    link: u32,
}

/// Calls `bpf`. Returns its result, which is not negative.
///
/// # Safety
/// Addresses in the attributes are those that the command reads, of memory that is valid through the call.
unsafe fn bpf<A>(command: libc::c_int, attributes: &A) -> io::Result<libc::c_int> {
    let bytes = size_of::<A>() as libc::c_uint;
    // SAFETY: the attributes are `size_of::<A>()` readable bytes; the caller guarantees the memory behind
    // their addresses.
    let done = unsafe { libc::syscall(libc::SYS_bpf, command, &raw const *attributes, bytes) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done as libc::c_int) }
}

/// Calls `bpf` with a command that returns a descriptor.
///
/// # Safety
/// As [`bpf`], and the command returns a new descriptor.
unsafe fn open<A>(command: libc::c_int, attributes: &A) -> io::Result<OwnedFd> {
    // SAFETY: the caller vouches for both.
    unsafe { bpf(command, attributes).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// Returns a map of AF_XDP sockets by queue, empty.
///
/// # Errors
/// If the kernel refuses; privileges are needed.
pub(super) fn create_map_of_sockets(queues: u32) -> io::Result<OwnedFd> {
    let attributes =
        MapCreate { kind: MAP_OF_XDP_SOCKETS, key_bytes: 4, value_bytes: 4, entries: queues, flags: 0 };
    // SAFETY: there are no addresses in it, and a map is a descriptor.
    unsafe { open(MAP_CREATE, &attributes) }
}

/// Puts a socket into the map, under its queue.
///
/// # Errors
/// If the kernel refuses.
pub(super) fn put_socket(map: BorrowedFd<'_>, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
    let value = socket.as_raw_fd() as u32;
    let attributes = MapUpdate {
        map: map.as_raw_fd() as u32,
        unused: 0,
        key: (&raw const queue) as u64,
        value: (&raw const value) as u64,
        flags: 0,
    };
    // SAFETY: both have four bytes, as the map's keys and values have, and are valid through the call.
    unsafe { bpf(MAP_UPDATE_ELEM, &attributes) }.map(drop)
}

/// Loads a program for received frames.
///
/// # Errors
/// Returns an error if the kernel refuses it; privileges are needed.
pub(super) fn load(name: [u8; 16], program: &[Instruction]) -> io::Result<OwnedFd> {
    let attributes = ProgramLoad {
        kind: XDP_PROGRAM,
        count: program.len() as u32,
        instructions: program.as_ptr() as u64,
        license: LICENSE.as_ptr() as u64,
        log_level: 0,
        log_bytes: 0,
        log: 0,
        kernel_version: 0,
        flags: HAS_FRAGMENTS,
        name,
    };
    // SAFETY: the program has the given number of instructions, the license ends with a zero, both are valid
    // through the call, and a program is a descriptor.
    unsafe { open(PROG_LOAD, &attributes) }
}

/// Attaches a program to the interface of that number, until it is detached, or all descriptors are closed.
///
/// # Errors
/// Returns an error if the kernel refuses: the driver has no such mode, or another program is attached.
pub(super) fn attach(program: BorrowedFd<'_>, interface: libc::c_int, mode: Mode) -> io::Result<OwnedFd> {
    let attributes = LinkCreate {
        program: program.as_raw_fd() as u32,
        interface: interface as u32,
        kind: ATTACHED_TO_XDP,
        flags: mode as u32,
    };
    // SAFETY: there are no addresses in it, and a link is a descriptor.
    unsafe { open(LINK_CREATE, &attributes) }
}

/// Removes a program from its interface, even if other descriptors exist.
///
/// # Errors
/// Returns an error only if the descriptor is not a link to an interface.
pub(super) fn detach(link: BorrowedFd<'_>) -> io::Result<()> {
    let attributes = LinkDetach { link: link.as_raw_fd() as u32 };
    // SAFETY: there are no addresses in it.
    unsafe { bpf(LINK_DETACH, &attributes) }.map(drop)
}
