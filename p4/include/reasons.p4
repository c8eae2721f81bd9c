// The numbers behind the counters `drops` and `outcomes`. p4/src/counts.rs mirrors this file; a test compares them.

// Why a frame was dropped: the first of these that holds. Index of `drops`.
enum bit<8> Reason {
    NONE = 0,                   // not dropped; never counted
    TOO_SHORT = 1,              // ends inside a header, a VLAN tag or the values
    BAD_VERSION = 2,
    UNKNOWN_KIND = 3,
    WRONG_SIZE = 4,             // not exactly 14 + 30 + 4 N bytes
    UNKNOWN_FLAG = 5,
    BAD_LENGTH = 6,             // more than N values, or none where there must be some
    BAD_GROUP = 7,              // the bitmap is about a block that the worker is not in
    BAD_CONTRIBUTORS = 8,       // gradient: not just its worker; partial: not even its worker
    NO_ROUTE = 9,               // steer has no entry for this epoch, job, shard, worker and port
    NOT_MEMBER = 10,            // contributors that the entry does not admit
    NO_RESULT_ROUTE = 11,       // results has no entry
    NO_MAC_ROUTE = 12,          // mac refuses: no plan yet, or told to
    STRANGER = 13,              // control or probe frame by a port that is neither its worker's nor its server's
    TAGGED = 14                 // INART behind VLAN tags, or more tags than are looked behind; comes before all others
}
const bit<32> REASONS = 15;

// What became of a gradient or partial that was not dropped: exactly one each. Index of `outcomes`.
// From STORED on the frame is consumed; before, it leaves by the port of its steer entry.
enum bit<8> Outcome {
    FORWARDED = 0,              // the entry says forward
    BYPASSED = 1,               // flag bypass
    STALE = 2,                  // older than the slot
    OTHER_SHAPE = 3,            // same sequence; other exponent, length or flag last
    OVERLAP = 4,                // some contributors new, some not
    COMPLETED = 5,              // made the slot complete: leaves as the partial
    REPEATED = 6,               // a repeat for a complete slot, once per wave: leaves as the partial, again
    STORED = 7,                 // took the slot over
    ADDED = 8,
    ABSORBED = 9                // a repeat for an incomplete slot, or one that another's repeat answers: adds nothing
}
const bit<32> OUTCOMES = 10;
