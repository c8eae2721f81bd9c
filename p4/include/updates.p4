// Frames of kind update: a peer's values for the peers in their bitmap. Only this program has them, not the one for Tofino, which
// shares constants.p4 and reasons.p4.

const Kind KIND_UPDATE = (Kind)4w6;

const Reason NO_UPDATE_ROUTE = (Reason)8w15;    // updates has no entry for this epoch, job, group, worker and port
const bit<32> ALL_REASONS = REASONS + 1;
