// Copies of updates between peers for Tofino; docs/protocol.md, section "Updates on Tofino", is the contract. A switch that copies for
// peers sums for nobody, so this is a program of its own. `cargo run -p inart-p4` compiles it into build/.

#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

#include "../../include/constants.p4"
#include "../../include/reasons.p4"
#include "../../include/updates.p4"

// The values of an update are not parsed: how many there are decides only how long a frame is.
const bit<16> VALUES = VALUES_PER_FRAME;
#include "headers.p4"
#include "parser.p4"
#include "check.p4"
#include "ingress.p4"
#include "egress.p4"
#include "deparsers.p4"

Pipeline(InArtParser(), InArtIngress(), InArtDeparser(),
         InArtEgressParser(), InArtEgress(), InArtEgressDeparser()) pipe;

Switch(pipe) main;
