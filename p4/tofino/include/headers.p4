// The frame of p4/include/headers.p4, with the same layout. The chip compares and computes in words of 32 bits, so the bitmap has two
// halves here, and what is only compared stands together in one word.

header ethernet_h {
    bit<48> dst;
    bit<48> src;
    bit<16> ether_type;
}

// What comes after the EtherType of a VLAN tag, up to the next one.
header tag_h {
    bit<16> tci;                // priority, drop eligibility, VLAN
    bit<16> ether_type;
}

header inart_h {
    bit<4>  version;
    bit<4>  kind;               // enum Kind
    bit<8>  flags;
    bit<32> plan;               // epoch of the plan that steers this frame, and job
    bit<16> shard;
    bit<16> worker;             // seat of the sender; in a partial, of the worker that completed it
    bit<32> sequence;           // compared as a serial number
    bit<32> contributors_hi;    // seats summed here, relative to the group: 63 to 32
    bit<32> contributors_lo;    // 31 to 0
    bit<32> form;               // group (which block of 64 seats), exponent, length (values that mean something)
    bit<32> incarnation;        // which run of the epoch
}

// What ingress tells egress about a frame.
header bridge_h {
    bit<1>  inart;              // behind Ethernet there is an INART header
    bit<1>  values;             // gradient or partial: may leave by the port that it came in by
    bit<1>  complete;           // the partial of a slot of this switch
    bit<1>  repeat;             // with complete: because of a repeat
    bit<1>  limit;              // a value that egress does not parse is at a limit
    bit<1>  again;              // on its way to the second pass
    @padding bit<1> pad;
    bit<9>  ingress;            // port
    bit<16> slot;               // with complete
}

#if PASSES == 2
// What the first pass tells the second.
header again_h {
    bit<8>  complete;           // 1: the slot of the first pass is complete
    bit<8>  limit;              // 1: a value of the first pass is at a limit
    bit<16> ingress;            // port that the frame came in by
    bit<16> port;               // of the steer entry
    bit<16> slot;
    bit<32> expected_hi;
    bit<32> expected_lo;
}
#endif

const bit<16> FRAME_BYTES = 14 + 30 + 4 * VALUES;
// Egress is told a frame's length as it came in, with the FCS.
const bit<16> FRAME_AND_FCS_BYTES = FRAME_BYTES + 4;

// The traffic manager counts in cells: LONG_QUEUE frames are so many.
#if __TARGET_TOFINO__ == 2
const bit<16> CELL_BYTES = 176;
#else
const bit<16> CELL_BYTES = 80;
#endif
const bit<19> LONG_QUEUE_CELLS = LONG_QUEUE * (bit<19>)((FRAME_AND_FCS_BYTES + CELL_BYTES - 1) / CELL_BYTES);

struct ingress_headers_t {
    bridge_h   bridge;
#if PASSES == 2
    again_h    before;          // from the first pass
    again_h    again;           // to the second
#endif
    ethernet_h ethernet;
    tag_h[4]   tags;            // of frames that are not INART's; TAGS of them
    inart_h    inart;
    // Parsed in gradients and partials only: nothing else is ever summed. What is summed in this pass is `front` and `rest`.
#if PASSES == 2
    front_h    front_done;      // `front` of the first pass
#endif
    front_h    front;
#if PASSES == 2
    front_h    front_later;     // `front` of the second pass
    rest_h     rest_done;       // `rest` of the first pass
#endif
    rest_h     rest;
#if PASSES == 2
    rest_h     rest_later;      // `rest` of the second pass
#endif
}

// Egress looks at the first values only: Tofino 1's egress parser gets no deeper than 160 bytes.
struct egress_headers_t {
#if PASSES == 2
    again_h    again;
#endif
    ethernet_h ethernet;
    inart_h    inart;
#if PASSES == 2
    front_h    front_done;
#endif
    front_h    front;
}
