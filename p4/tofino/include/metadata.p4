// What a frame is, by EtherType, version and kind. The parser decides, so that the first stage can use it.
enum bit<3> Class {
    OTHER = 0,                  // not INART's
    VALUES = 1,                 // gradient or partial
    RESULT = 2,
    MESSAGE = 3,                // probe or control frame
    MALFORMED = 4,              // another version or kind
    TAGGED = 5,                 // INART behind VLAN tags, or too many tags
    AGAIN = 6                   // gradient or partial in its second pass
}

// What a steer entry says.
enum bit<2> Route {
    NONE = 0,
    FORWARD = 1,
    ADD = 2
}

// What is done with the values of a frame and its slot.
enum bit<3> Mode {
    NONE = 0,
    STORE = 1,                  // the frame takes the slot over
    ADD = 2,                    // its contributors are new
    READ = 3,                   // a repeat
    RAISE = 4                   // its contributors are new, and of each value the greatest counts
}

typedef bit<16> index_t;        // of a slot of a pass; below CELLS
const bit<32> CELLS = PASSES * SLOTS;
const index_t SECOND_PASS = 0x1000;             // the cells of the second pass are behind those of the first

// Of each pipe: what leaves by it comes in again.
const bit<9> RECIRCULATION_PORT = 68;
const bit<9> PORT_IN_PIPE = 0x7f;

const int<32> HIGHEST = 0x7fffffff;              // the lowest is -HIGHEST - 1

struct ingress_metadata_t {
    Class   class;
    bit<1>  inart;              // behind Ethernet there is an INART header
    bit<1>  sound;              // the contributors fit kind and worker
    bit<1>  in_block;           // the group is the worker's
    Reason  reason;
    Outcome outcome;

    // From the tables.
    Route   route;
    bit<9>  port;               // of the steer entry
    index_t base;
    index_t masked;             // sequence & mask
    bit<9>  ingress;            // port that the frame came in by, in its first pass
    bit<32> foreign_hi;         // contributors that the entry does not admit
    bit<32> foreign_lo;
    bit<32> absent_hi;          // what the entry admits, and the frame does not bring
    bit<32> absent_lo;
    bit<32> expected_hi;        // contributors that complete the slot
    bit<32> expected_lo;
    bit<1>  trusted;            // a switch is behind the port
    bit<1>  replicated;         // results has an entry
    bit<16> group;              // its multicast group
    bit<1>  sent;               // mac has an entry, or its default sends

    // The frame's tag and shape, beside the words of its header.
    bit<32> mark;               // a hash of the tag
    bit<32> part;               // shard, flag last

    // The slot.
    index_t slot;
    bit<1>  claimed;            // the frame is for the slot, if tag, sequence and shape are the slot's or newer
    bit<1>  taken;              // it has taken the slot over
    bit<1>  other_sequence;     // the slot's is another one
    bit<1>  other_run;          // its group, exponent, length or incarnation is
    bit<1>  other_plan;         // its epoch, job, shard or flag last is
    Mode    fate;               // STORE, ADD (perhaps a repeat), or NONE
    Mode    mode;
    bit<32> seen_hi;            // contributors in the slot: before the frame, then with it
    bit<32> seen_lo;
    bit<32> missing_hi;
    bit<32> missing_lo;
    bit<8>  sticky;             // sticky flags: the frame's, then the slot's

#if PASSES == 2
    bit<1>  complete_before;    // the slot of the first pass is
    bit<1>  limit_before;       // a value of the first pass is at a limit
    bit<9>  loop;               // port of this pipe that recirculates
    bit<1>  around;             // on its way to the second pass
#endif
}

struct egress_metadata_t {
    bridge_h bridge;
    bit<32> own_hi;             // the worker's seat
    bit<32> own_lo;
    bit<32> start_hi;           // what `asked` begins with when a slot is completed
    bit<32> start_lo;
    bit<32> asked_hi;           // the slot's, with this frame
    bit<32> asked_lo;
    bit<1>  answered;           // this repeat gets the partial
    Outcome outcome;            // of a repeat for a complete slot
    bit<1>  limit;              // a value is at a limit of 32 bits
    bit<1>  long_queue;
    bit<1>  drop;
}
