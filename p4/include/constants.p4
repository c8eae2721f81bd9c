// What every part of the program agrees on; docs/protocol.md gives the meaning.

const bit<16> ETHERTYPE_INART = 0x88B5;     // IEEE local experimental 1
const bit<16> ETHERTYPE_VLAN = 0x8100;      // IEEE 802.1Q
const bit<16> ETHERTYPE_SERVICE = 0x88A8;   // IEEE 802.1ad
const bit<16> ETHERTYPE_STACKED = 0x9100;   // what switches stacked tags with before 802.1ad
const bit<4>  VERSION = 3;

enum bit<4> Kind {
    GRADIENT = 1,       // worker -> switch or server
    PARTIAL = 2,        // switch -> switch or server
    RESULT = 3,         // server -> workers
    PROBE = 4,
    CONTROL = 5
}

const bit<8> FLAG_RESEND = 0x01;
const bit<8> FLAG_BYPASS = 0x02;            // no switch may add this frame
const bit<8> FLAG_OVERFLOW = 0x04;          // some sum did not fit 32 bits
const bit<8> FLAG_CONGESTION = 0x08;
const bit<8> FLAG_LAST = 0x10;              // last chunk of the shard
const bit<8> FLAGS_KNOWN = 0x1f;
// One input has it: the sum has it.
const bit<8> FLAGS_STICKY = FLAG_OVERFLOW | FLAG_CONGESTION;

// Of a frame whose values are sizes: not their sum counts, but the greatest.
const bit<8> EXPONENT_MAXIMA = 0x80;

const bit<32> TAGS = 4;                     // VLAN tags that the parser looks behind

const bit<19> LONG_QUEUE = 16;              // frames that a frame may leave behind in its queue without a mark

const bit<32> SLOTS = 4096;
typedef bit<12> slot_t;                     // cannot point outside the registers
