//! TNA parts of a program next to the flat program: its pipes, the locations of their intrinsic metadata, and
//! the operations that v1model does not know.

use crate::op::{HeaderRef, Pc, Span, Word};

/// A TNA program's pipes.
#[derive(Debug)]
pub(crate) struct Tna {
    pub pipes: Vec<TnaPipe>,
    /// Bytes of port metadata (or of a resubmitted header) between the intrinsic metadata and the packet.
    pub port_metadata_bytes: usize,
}

/// The two halves of a pipe.
#[derive(Debug)]
pub(crate) struct TnaPipe {
    pub ingress: Ingress,
    pub egress: Egress,
}

/// The ingress half. Spans are bits of the intrinsic metadata before the packet.
#[derive(Debug)]
pub(crate) struct Ingress {
    /// Parser, control, deparser.
    pub code: [Pc; 3],
    pub prefix_bytes: usize,
    pub port: Option<Span>,
    pub resubmit_flag: Option<Span>,
    pub mac_timestamp: Option<Span>,
    pub timestamp: Option<Word>,
    pub parser_error: Option<Word>,
    /// Packets that cannot be parsed are dropped unless the control looks at the parser's error.
    pub reads_parser_error: bool,
    pub unicast: Option<Word>,
    pub bypass_egress: Option<Word>,
    pub groups: [Option<Word>; 2],
    pub rid: Option<Word>,
    pub drop: Option<Word>,
}

/// The egress half.
#[derive(Debug)]
pub(crate) struct Egress {
    /// Parser, control, deparser.
    pub code: [Pc; 3],
    pub prefix_bytes: usize,
    pub port: Option<Span>,
    pub queue_depths: [Option<Span>; 2],
    pub rid: Option<Span>,
    pub rid_first: Option<Span>,
    pub length: Option<Span>,
    pub timestamp: Option<Word>,
    pub parser_error: Option<Word>,
    pub drop: Option<Word>,
}

/// Operations that only TNA has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ArchOp {
    /// Applies a table; control goes on at the next operation.
    Apply {
        table: u32,
        /// 1 after a hit.
        hit: Word,
        /// The action that ran, counted from 1 on; 0 for none.
        ran: Word,
    },
    /// Adds a header, if it is valid, to the packet that leaves.
    Emit(HeaderRef),
    /// Requests a copy to a mirror session; a calculation's input precedes it.
    Mirror { session: Word, header: Option<u32> },
    /// Requests that the packet returns to the ingress.
    Resubmit { header: Option<u32> },
    /// Counts in the row that runs the action.
    CountRow,
    /// Color of the row's meter.
    MeterRow { d: Word },
    /// A register is touched that might have been touched in this pass already.
    Touch { register: u32 },
    /// The number of the row that runs the action.
    Row { d: Word },
    /// Adds a calculation's input to a ones' complement sum, or takes it away.
    Sum { d: Word, calc: u32, minus: bool },
}
