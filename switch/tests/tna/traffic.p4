// Externs of TNA that look at traffic or choose: meters, action profiles and selectors, counters of the parser.
#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

// Which extern is asked, of which cell; what it answers.
header op_h {
    bit<8> op;
    bit<8> index;
    bit<8> answer;
    bit<8> options;
}

// An option of one byte; there are `options` of them.
header option_h {
    bit<8> value;
}

struct headers_t {
    op_h op;
    option_h[6] options;
}

struct metadata_t { }

parser IngressParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                     out ingress_intrinsic_metadata_t intrinsic) {
    ParserCounter() left;

    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.op);
        left.set(hdr.op.options);
        transition next;
    }

    state next {
        transition select(left.is_zero()) {
            true: accept;
            false: option;
        }
    }

    state option {
        packet.extract(hdr.options.next);
        left.decrement(1);
        transition next;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t parsed,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Meter<bit<8>>(16, MeterType_t.PACKETS) rates;
    DirectMeter(MeterType_t.BYTES) own_rate;
    ActionProfile(16) ways;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) spread;
    ActionProfile(16) members;
    ActionSelector(members, spread, SelectorMode_t.FAIR, 8, 4) groups;

    action send(bit<9> port) {
        for_tm.ucast_egress_port = port;
    }

    action drop() {
        for_deparser.drop_ctl = 1;
    }

    action colour() {
        hdr.op.answer = (bit<8>)own_rate.execute();
    }

    // Entries name a member of the profile.
    table chosen {
        key = { hdr.op.index: exact; }
        actions = { send; drop; }
        implementation = ways;
        size = 16;
    }

    // Entries name a member, or a group of which the hash picks one.
    table balanced {
        key = {
            hdr.op.index: exact;
            hdr.op.answer: selector;
        }
        actions = { send; drop; }
        implementation = groups;
        size = 16;
    }

    table metered {
        key = { hdr.op.index: exact; }
        actions = { colour; }
        meters = own_rate;
        size = 16;
    }

    apply {
        for_tm.ucast_egress_port = 9;
        if (hdr.op.op == 1) {
            hdr.op.answer = (bit<8>)rates.execute(hdr.op.index);
        } else if (hdr.op.op == 2) {
            metered.apply();
        } else if (hdr.op.op == 3) {
            chosen.apply();
        } else if (hdr.op.op == 4) {
            balanced.apply();
        } else if (hdr.op.op == 5 && hdr.options[2].isValid()) {
            hdr.op.answer = hdr.options[2].value;
        }
    }
}

control IngressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        packet.emit(hdr);
    }
}

parser EgressParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                    out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t parsed,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    apply { }
}

control EgressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
