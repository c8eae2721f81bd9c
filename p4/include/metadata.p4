// What the parts of the program tell each other about one frame.
struct metadata_t {
    Reason  reason;
    Outcome outcome;

    // From the steer entry. Not local to an action, so that p4c computes them once.
    bit<64> members;            // contributors that it admits
    bit<64> expected;           // contributors that complete the slot; 0: the entry only forwards
    slot_t  slot;
    bit<56> tag;                // whose sum, with the incarnation: epoch, job, shard, group
    bit<32> shape;              // exponent, length, flag last: equal in all frames of a chunk

    // The slot's, on the way to their new state.
    bit<64> contributors;       // 0: never used
    bit<8>  flags;
    bit<32> stored;             // one value at a time
    bit<32> overflow;
}
