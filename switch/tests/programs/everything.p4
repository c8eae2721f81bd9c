// One of each thing that P4Runtime controls, for the tests of the switch's P4Runtime server. The .json and .txtpb
// beside this file are what p4c printed:
//   p4c-bm2-ss --p4runtime-files everything.txtpb -o everything.json everything.p4
#include <core.p4>
#include <v1model.p4>

@controller_header("packet_in")
header packet_in_t { bit<9> ingress_port; bit<7> reason; }
@controller_header("packet_out")
header packet_out_t { bit<9> egress_port; bit<7> pad; }
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header body_t { bit<32> a; bit<16> b; bit<8> c; bit<8> d; }

struct headers_t { packet_in_t packet_in; packet_out_t packet_out; ethernet_t ethernet; body_t body; }
struct meta_t { bit<32> reg; bit<2> colour; bit<1> special; }
struct learn_t { bit<48> src; bit<9> port; }

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    value_set<bit<16>>(4) special_types;
    state start {
        transition select(std.ingress_port) { 9w510: from_cpu; default: ethernet; }
    }
    state from_cpu { packet.extract(hdr.packet_out); transition ethernet; }
    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            special_types: special;
            16w0x1234: body;
            default: accept;
        }
    }
    state special { meta.special = 1; transition accept; }
    state body { packet.extract(hdr.body); transition accept; }
}

control V(inout headers_t hdr, inout meta_t meta) { apply {} }

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    counter(8, CounterType.packets_and_bytes) seen;
    meter(4, MeterType.packets) pace;
    register<bit<32>>(16) cells;
    direct_counter(CounterType.packets_and_bytes) exact_hits;
    direct_meter<bit<2>>(MeterType.bytes) exact_pace;
    action_selector(HashAlgorithm.crc16, 32w16, 32w10) choice;

    action drop() { mark_to_drop(std); }
    action send(bit<9> port) { std.egress_spec = port; }
    action to_group(bit<16> group) { std.mcast_grp = group; }
    action to_cpu(bit<7> reason) {
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = std.ingress_port;
        hdr.packet_in.reason = reason;
        std.egress_spec = 510;
    }
    action learn() { digest<learn_t>(1, {hdr.ethernet.src, std.ingress_port}); }
    action copy(bit<32> session) { clone(CloneType.I2E, session); }
    action exact_send(bit<9> port) { std.egress_spec = port; exact_hits.count(); exact_pace.read(meta.colour); }
    action exact_drop() { mark_to_drop(std); exact_hits.count(); exact_pace.read(meta.colour); }
    action remember(bit<4> index) { cells.read(meta.reg, (bit<32>)index); cells.write((bit<32>)index, meta.reg + 1); }

    table exact_table {
        key = { hdr.ethernet.dst: exact; std.ingress_port: exact; }
        actions = { exact_send; exact_drop; }
        default_action = exact_drop();
        counters = exact_hits;
        meters = exact_pace;
        size = 4;
    }
    table lpm_table {
        key = { hdr.body.a: lpm; }
        actions = { send; drop; @defaultonly NoAction; }
        size = 64;
        support_timeout = true;
    }
    table ternary_table {
        key = { hdr.body.a: ternary; hdr.body.b: range; hdr.body.c: optional; hdr.body.d: exact; }
        actions = { send; drop; to_group; to_cpu; copy; learn; remember; @defaultonly NoAction; }
        size = 64;
    }
    table const_table {
        key = { hdr.body.d: exact; }
        actions = { send; NoAction; }
        const entries = { 8w7: send(7); }
        const default_action = NoAction();
    }
    table learn_table {
        key = { hdr.ethernet.src: exact; }
        actions = { NoAction; @defaultonly learn; }
        default_action = learn();
        size = 64;
    }
    table select_table {
        key = { hdr.ethernet.type: exact; hdr.ethernet.src: selector; }
        actions = { send; drop; @defaultonly NoAction; }
        implementation = choice;
        size = 64;
    }
    apply {
        if (hdr.packet_out.isValid()) {
            std.egress_spec = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
        } else {
            seen.count((bit<32>)std.ingress_port & 7);
            pace.execute_meter((bit<32>)std.ingress_port & 3, meta.colour);
            exact_table.apply();
            learn_table.apply();
            select_table.apply();
            if (hdr.body.isValid()) {
                lpm_table.apply();
                ternary_table.apply();
                const_table.apply();
            }
            if (meta.special == 1) { to_cpu(3); }
        }
    }
}

control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr.packet_in); packet.emit(hdr.ethernet); packet.emit(hdr.body); }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;
