// Header stacks whose index is computed: read, written, asked for validity, removed, nested, and as a table's key;
// the last element as a header; structs copied whole.
#include <core.p4>
#include <v1model.p4>

header select_t { bit<8> index; bit<8> other; }
header item_t { bit<8> more; bit<8> value; }
struct headers_t { select_t which; item_t[3] items; item_t last; }
struct meta_t { bit<8> seen; item_t kept; }

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.which);
        transition item;
    }
    state item {
        packet.extract(hdr.items.next);
        meta.kept = hdr.items.last;
        transition select(hdr.items.last.more) { 0: accept; default: item; }
    }
}

control V(inout headers_t hdr, inout meta_t meta) { apply {} }

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    standard_metadata_t copy;
    action to(bit<9> port) { std.egress_spec = port; }
    table by_item {
        key = { hdr.items[hdr.which.index].value : exact @name("chosen value"); }
        actions = { to; NoAction; }
        default_action = NoAction();
    }
    apply {
        copy = std;
        log_msg("frame {}", { copy });
        std.egress_spec = copy.ingress_port;
        hdr.last = meta.kept;
        by_item.apply();
        if (hdr.items[hdr.which.index].isValid()) {
            hdr.items[hdr.which.index].value = hdr.items[hdr.which.index].value + 1;
        }
        // The value of the item that is asked for names another one.
        hdr.items[hdr.items[hdr.which.other].value].more = 8w0xaa;
        if (hdr.which.other == 2) { hdr.items[hdr.which.index].setInvalid(); }
    }
}

control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) { apply {} }
control U(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }

V1Switch(P(), V(), I(), E(), U(), D()) main;
