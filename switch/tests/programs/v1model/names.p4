// Tables and keys whose names are no identifiers, and keys that are expressions.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> a; bit<8> b; bit<16> c; }
struct headers_t { h_t h; }
struct meta_t {}

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}

control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    action to(bit<9> port) { std.egress_spec = port; }
    action also(bit<8> value) { hdr.h.b = value; }
    @name("first: (a) #1/%")
    table first {
        key = {
            hdr.h.c[11:4] : exact;
            hdr.h.a & 8w0x0f : ternary;
        }
        actions = { to; NoAction; }
        default_action = NoAction();
    }
    @name("second|☃")
    table second {
        key = {
            hdr.h.a + 1 : exact @name("a plus one");
            hdr.h.b > 4 : exact @name("b > 4 : yes?");
        }
        actions = { also; NoAction; }
        default_action = NoAction();
    }
    apply { first.apply(); second.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) { apply {} }
control U(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(P(), V(), I(), E(), U(), D()) main;
