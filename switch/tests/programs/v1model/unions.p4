// A stack of header unions with a member of variable length, as options have it.
#include <core.p4>
#include <v1model.p4>

header count_t { bit<8> options; }
header end_t { bit<8> kind; }
header text_t { bit<8> kind; bit<8> length; varbit<64> text; }
header_union option_t { end_t end; text_t text; }
struct headers_t { count_t count; option_t[3] options; }
struct meta_t { bit<8> left; }

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.count);
        meta.left = hdr.count.options;
        transition more;
    }
    state more {
        transition select(meta.left) { 0: accept; default: option; }
    }
    state option {
        meta.left = meta.left - 1;
        transition select(packet.lookahead<bit<8>>()) { 0: end; default: text; }
    }
    state end {
        packet.extract(hdr.options.next.end);
        transition more;
    }
    state text {
        packet.extract(hdr.options.next.text, (bit<32>)(packet.lookahead<bit<16>>()[7:0]) << 3);
        transition more;
    }
}

control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
        std.egress_spec = 2;
        if (hdr.options[1].text.isValid()) { std.egress_spec = 3; }
        if (std.parser_error != error.NoError) { std.egress_spec = 4; }
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) { apply {} }
control U(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.count); packet.emit(hdr.options); } }

V1Switch(P(), V(), I(), E(), U(), D()) main;
