// The least program with a header, a parser, a table, an action with a parameter, a register and a condition. `tiny.json` is what
// p4c-bm2-ss makes of it, without source_info, field_aliases, __meta__ and white space.

#include <core.p4>
#include <v1model.p4>

header frame_t { bit<16> kind; bit<32> a; }
struct headers_t { frame_t frame; }
struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.frame);
        transition select(hdr.frame.kind) { 0x0800 &&& 0xff00: accept; default: accept; }
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<32>>(4) sums;
    action send(bit<9> port) {
        standard.egress_spec = port;
        sums.read(hdr.frame.a, (bit<32>)hdr.frame.kind);
    }
    table t {
        key = { hdr.frame.kind: exact; }
        actions = { send; }
        size = 8;
    }
    apply {
        if (hdr.frame.a + 1 != 7) { t.apply(); }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.frame); } }

V1Switch(P(), V(), I(), E(), V(), D()) main;
