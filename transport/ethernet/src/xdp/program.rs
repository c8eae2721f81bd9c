//! The program on the interface: which frames the socket gets.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::bpf::{self, Instruction, Mode};
use super::error::XdpError;

/// Name of the program in the kernel: `bpftool prog`.
const NAME: [u8; 16] = *b"inart_redirect\0\0";

/// A program that redirects the frames of one EtherType to AF_XDP sockets, each to the socket of its queue.
/// Frames of other queues and of other types, also those that have the EtherType behind a VLAN tag, are
/// passed to the kernel. Dropping it, or the end of the process, removes the program from the interface.
pub(super) struct Program {
    sockets: OwnedFd,
    link: OwnedFd,
    is_native: bool,
}

impl Program {
    /// Attaches it to the interface of that number: in its driver, or where that cannot be, in the kernel.
    pub(super) fn attach(interface: libc::c_int, ether_type: u16, queues: u32) -> Result<Self, XdpError> {
        let sockets = bpf::create_map_of_sockets(queues).map_err(XdpError::of("making a map of sockets"))?;
        let program = instructions(sockets.as_fd(), ether_type);
        let program = bpf::load(NAME, &program).map_err(XdpError::of("loading its program"))?;
        let attach = |mode| bpf::attach(program.as_fd(), interface, mode);
        let link = attach(Mode::Native).map(|link| (link, true));
        let link = link.or_else(|_| attach(Mode::Generic).map(|link| (link, false)));
        let (link, is_native) = link.map_err(XdpError::of("attaching its program"))?;
        Ok(Self { sockets, link, is_native })
    }

    /// Starts to redirect the frames of that queue.
    pub(super) fn redirect(&self, queue: u32, socket: BorrowedFd<'_>) -> Result<(), XdpError> {
        bpf::put_socket(self.sockets.as_fd(), queue, socket).map_err(XdpError::of("redirecting frames"))
    }

    /// Returns whether it runs in the interface's driver.
    pub(super) fn is_native(&self) -> bool {
        self.is_native
    }
}

impl Drop for Program {
    /// Closing the link is not enough: a process that another thread has just started holds it, too, until it
    /// executes its program.
    fn drop(&mut self) {
        // If detaching fails, the link was removed with its interface.
        let _ = bpf::detach(self.link.as_fd());
    }
}

/// Registers. A program finds the context in the first argument.
const RESULT: u8 = 0;
const ARGUMENTS: [u8; 3] = [1, 2, 3];
const SPARE: [u8; 2] = [4, 5];

/// Codes of instructions, of linux/bpf_common.h and linux/bpf.h.
const LOAD_WORD: u8 = 0x61;
const LOAD_HALF: u8 = 0x69;
const LOAD_LONG: u8 = 0x18;
const COPY: u8 = 0xbf;
const SET: u8 = 0xb7;
const ADD: u8 = 0x07;
const JUMP_IF_GREATER: u8 = 0x2d;
const JUMP_IF_NOT_EQUAL: u8 = 0x55;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// In the place of a source: the number is a map's descriptor.
const MAP: u8 = 1;
/// The function `bpf_redirect_map`.
const REDIRECT_MAP: i32 = 51;
/// The verdict that leaves a frame to the kernel.
const PASS: i32 = 2;
/// Offsets in the context, `struct xdp_md`.
const DATA: i16 = 0;
const DATA_END: i16 = 4;
const QUEUE: i16 = 16;
/// Place of the EtherType in an Ethernet header, and its length in bytes.
const TYPE_AT: i16 = 12;
const HEADER_BYTES: i32 = 14;

/// Returns the program. `bpf_redirect_map` returns the verdict that it is given where the map has no socket.
fn instructions(sockets: BorrowedFd<'_>, ether_type: u16) -> [Instruction; 15] {
    let [context, data, end] = ARGUMENTS;
    let [header_end, found_type] = SPARE;
    let [map, queue, verdict] = ARGUMENTS;
    // As it is in a frame, read by this machine.
    let ether_type = i32::from(u16::from_ne_bytes(ether_type.to_be_bytes()));
    [
        Instruction::new(LOAD_WORD, [data, context], DATA, 0),
        Instruction::new(LOAD_WORD, [end, context], DATA_END, 0),
        Instruction::new(COPY, [header_end, data], 0, 0),
        Instruction::new(ADD, [header_end, 0], 0, HEADER_BYTES),
        // To the last two.
        Instruction::new(JUMP_IF_GREATER, [header_end, end], 8, 0),
        Instruction::new(LOAD_HALF, [found_type, data], TYPE_AT, 0),
        Instruction::new(JUMP_IF_NOT_EQUAL, [found_type, 0], 6, ether_type),
        Instruction::new(LOAD_WORD, [queue, context], QUEUE, 0),
        // An instruction of two.
        Instruction::new(LOAD_LONG, [map, MAP], 0, sockets.as_raw_fd()),
        Instruction::new(0, [0, 0], 0, 0),
        Instruction::new(SET, [verdict, 0], 0, PASS),
        Instruction::new(CALL, [0, 0], 0, REDIRECT_MAP),
        Instruction::new(EXIT, [0, 0], 0, 0),
        Instruction::new(SET, [RESULT, 0], 0, PASS),
        Instruction::new(EXIT, [0, 0], 0, 0),
    ]
}
