// The frame of p4/include/headers.p4, with the same layout. The chip compares in words of 32 bits, so the bitmap has two halves here.

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
    bit<4>  kind;               // enum Kind, or KIND_UPDATE
    bit<8>  flags;
    bit<16> epoch;              // of the plan that steers this frame
    bit<16> job;
    bit<16> shard;
    bit<16> worker;             // rank of the sender
    bit<32> sequence;
    bit<32> contributors_hi;    // of an update: its receivers, relative to the group: 63 to 32
    bit<32> contributors_lo;    // 31 to 0
    bit<8>  group;              // which block of 64 ranks
    bit<8>  exponent;
    bit<16> length;             // values that mean something
    bit<32> incarnation;        // which run of the epoch
}

// What ingress tells egress about a frame.
header bridge_h {
    bit<1>  inart;              // behind Ethernet there is an INART header
    bit<1>  is_update;
    @padding bit<5> pad;
    bit<9>  ingress;            // port
}

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
    ethernet_h ethernet;
    tag_h[4]   tags;            // of frames that are not INART's; TAGS of them
    inart_h    inart;
}

struct egress_headers_t {
    ethernet_h ethernet;
    inart_h    inart;
}

// What a frame is, by EtherType, version and kind.
enum bit<3> Class {
    OTHER = 0,                  // not INART's
    UPDATE = 1,
    MESSAGE = 2,                // probe or control frame
    VALUES = 3,                 // gradient or partial
    RESULT = 4,
    MALFORMED = 5,              // another version or kind
    TAGGED = 6                  // INART behind VLAN tags, or too many tags
}

struct ingress_metadata_t {
    Class   class;
    bit<1>  inart;              // behind Ethernet there is an INART header
    bit<1>  is_update;
    bit<9>  ingress;            // port that the frame came in by
    Reason  reason;
    bit<1>  trusted;            // a switch is behind the port
    bit<1>  replicated;         // updates has an entry
    bit<16> group;              // its multicast group
    bit<1>  sent;               // mac has an entry, or its default sends
}

struct egress_metadata_t {
    bridge_h bridge;
    bit<1>   long_queue;
    bit<1>   left;              // somebody behind the port is among the receivers
}
