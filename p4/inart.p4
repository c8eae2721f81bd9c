// In-network aggregation for v1model; docs/protocol.md is the contract. `cargo run -p inart-p4` prints the per-value
// code under generated/ and compiles this file into build/.

#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

#include "include/constants.p4"
#include "include/reasons.p4"
#include "include/updates.p4"
#include "include/metadata.p4"
#if VALUES_PER_FRAME == 32
#include "generated/values_n32.p4"
#elif VALUES_PER_FRAME == 64
#include "generated/values_n64.p4"
#elif VALUES_PER_FRAME == 256
#include "generated/values_n256.p4"
#elif VALUES_PER_FRAME == 1024
#include "generated/values_n1024.p4"
#elif VALUES_PER_FRAME == 2048
#include "generated/values_n2048.p4"
#else
#error "define VALUES_PER_FRAME as 32, 64, 256, 1024 or 2048"
#endif
#include "include/headers.p4"
#include "include/parser.p4"
#include "include/check.p4"
#include "include/aggregate.p4"
#include "include/ingress.p4"
#include "include/egress.p4"
#include "include/deparser.p4"

// INART has no checksum of its own: the Ethernet FCS covers a hop, and the audit compares every sum.
control NoVerify(inout headers_t hdr, inout metadata_t meta) { apply { } }
control NoUpdate(inout headers_t hdr, inout metadata_t meta) { apply { } }

V1Switch(InArtParser(), NoVerify(), InArtIngress(), InArtEgress(), NoUpdate(), InArtDeparser()) main;
