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
    Kind    kind;
    bit<8>  flags;
    bit<16> epoch;              // of the plan that steers this frame
    bit<16> job;
    bit<16> shard;
    bit<16> worker;             // rank of the sender; in a partial, of the worker that completed it
    bit<32> sequence;           // compared as a serial number
    bit<64> contributors;       // ranks summed here, relative to the group; of an update: its receivers
    bit<8>  group;              // which block of 64 ranks
    bit<8>  exponent;           // signed; EXPONENT_MAXIMA: the greatest value counts, not the sum
    bit<16> length;             // values that mean something
    bit<32> incarnation;        // which run of the epoch
}

const bit<32> FRAME_BYTES = 14 + 30 + 4 * (bit<32>)VALUES;

struct headers_t {
    ethernet_h ethernet;
    tag_h[TAGS] tags;           // of frames that are not INART's
    inart_h    inart;
    values_h   values;          // parsed in gradients and partials only: nothing else is ever summed
}
