// A program with a few of everything, small enough to be compiled a million times. `small.json` is what p4c-bm2-ss makes of it,
// without source_info and white space.

#include <core.p4>
#include <v1model.p4>

header frame_t {
    bit<16> kind;
    bit<8>  a;
    bit<40> b;
}

struct headers_t { frame_t frame; }
struct metadata_t { bit<32> sum; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start {
        packet.extract(hdr.frame);
        transition select(hdr.frame.kind) {
            0x0800 &&& 0xff00: accept;
            default: accept;
        }
    }
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    register<bit<32>>(4) sums;
    counter(4, CounterType.packets) seen;
    direct_counter(CounterType.packets_and_bytes) hits;

    action send(bit<9> port, bit<8> mark) {
        standard.egress_spec = port;
        sums.read(meta.sum, (bit<32>)(hdr.frame.a & 3));
        meta.sum = meta.sum + hdr.frame.b[31:0];
        sums.write((bit<32>)(hdr.frame.a & 3), meta.sum);
        hdr.frame.a = mark;
        seen.count(1);
    }
    action many(bit<16> group) { standard.mcast_grp = group; }
    action drop() { mark_to_drop(standard); }

    table by_kind {
        key = { hdr.frame.kind: exact; }
        actions = { send; many; drop; }
        default_action = drop();
        counters = hits;
        size = 8;
    }
    table by_value {
        key = { hdr.frame.b: lpm; hdr.frame.a: ternary; }
        actions = { send; drop; NoAction; }
        default_action = NoAction();
        size = 8;
    }

    apply {
        if (by_kind.apply().hit && hdr.frame.b != 0) {
            by_value.apply();
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.frame); } }

V1Switch(P(), V(), I(), E(), V(), D()) main;
