// In-network aggregation for Tofino; docs/protocol.md, section "On Tofino", is the contract. `cargo run -p inart-p4` prints the
// code under generated/ and compiles this file into build/.

#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

#include "../include/constants.p4"
#include "../include/reasons.p4"

// Fewer than v1model's, since the table is meant to fit into the first stage.
const int STEER_ENTRIES = 8192;

// Tofino 1 adds 32 values in a pass, Tofino 2 adds 64.
#if VALUES_PER_FRAME == 32
#define PASSES 1
#include "generated/values_n32.p4"
#elif VALUES_PER_FRAME == 64 && __TARGET_TOFINO__ == 2
#define PASSES 1
#include "generated/values_n64.p4"
#elif VALUES_PER_FRAME == 64
#define PASSES 2
#include "generated/values_n32.p4"
#else
#error "define VALUES_PER_FRAME as 32 or 64"
#endif
const bit<16> VALUES = VALUES_PER_FRAME;
#include "include/headers.p4"
#include "include/metadata.p4"
#include "generated/seats.p4"
#if VALUES_PER_FRAME / PASSES == 32
#include "generated/slots_n32.p4"
#else
#include "generated/slots_n64.p4"
#endif
#include "include/ingress_parser.p4"
#include "include/check.p4"
#include "include/slots.p4"
#include "include/ingress.p4"
#include "include/egress.p4"
#include "include/deparsers.p4"

Pipeline(InArtParser(), InArtIngress(), InArtDeparser(),
         InArtEgressParser(), InArtEgress(), InArtEgressDeparser()) pipe;

Switch(pipe) main;
