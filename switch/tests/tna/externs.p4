// What the tests of the switch look at: one header, and an operation that says what is done with the packet.
#include <core.p4>
#include <tna.p4>

header test_h {
    bit<8>  op;
    bit<8>  index;
    bit<16> sum;        // Internet checksum over the header
    int<32> value;
    bit<32> result;
}

header label_h {
    bit<8> more;
    bit<8> number;
}

// Goes before mirrored and resubmitted packets.
header copy_h {
    bit<8>  op;
    bit<8>  index;
    bit<16> port;
    bit<32> value;
}

struct headers_t {
    copy_h     copy;
    test_h     test;
    label_h[3] labels;
}

struct metadata_t {
    bit<10> session;
    bit<1>  right;
    bit<16> port;
    bit<8>  peek;
}

struct pair_t {
    int<32> low;
    int<32> high;
}

struct message_t {
    bit<8>  index;
    bit<32> value;
}

parser IngressParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                     out ingress_intrinsic_metadata_t intrinsic) {
    value_set<bit<8>>(4) known;
    Checksum() sum;

    state start {
        packet.extract(intrinsic);
        meta.session = 0;
        meta.right = 0;
        meta.port = 0;
        meta.peek = 0;
        transition select(intrinsic.resubmit_flag) {
            1: resubmitted;
            0: fresh;
        }
    }

    state resubmitted {
        packet.extract(hdr.copy);
        transition test;
    }

    state fresh {
        packet.advance(PORT_METADATA_SIZE);
        transition test;
    }

    state test {
        packet.extract(hdr.test);
        sum.add(hdr.test);
        transition select(hdr.test.op) {
            0x10 &&& 0xf0: labels;
            known: accept;
            0x20 .. 0x22: ranged;
            0x00 &&& 0xf0: checked;
        }
    }

    state ranged {
        transition select(hdr.test.op, hdr.test.index) {
            (0x20 &&& 0xf0, 1 .. 255): accept;
        }
    }

    state checked {
        meta.right = (bit<1>)sum.verify();
        transition accept;
    }

    state labels {
        packet.extract(hdr.labels.next);
        meta.peek = packet.lookahead<bit<8>>();
        transition select(hdr.labels.last.more) {
            0: accept;
            _: labels;
        }
    }
}

control Ingress(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t parsed,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Register<int<32>, bit<8>>(256, 5) totals;
    Register<pair_t, bit<8>>(256, {7, -1}) pairs;
    Register<bit<8>, bit<8>>(256) marks;
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS_AND_BYTES) packets;
    DirectCounter<bit<32>>(CounterType_t.PACKETS) hits;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) crc;
    Hash<bit<12>>(HashAlgorithm_t.IDENTITY) low;
    Hash<bit<8>>(HashAlgorithm_t.XOR8) folded;

    RegisterAction<int<32>, bit<8>, bit<32>>(totals) add = {
        void apply(inout int<32> total, out bit<32> now) {
            total = total |+| hdr.test.value;
            now = (bit<32>)total;
        }
    };
    RegisterAction<pair_t, bit<8>, bit<32>>(pairs) extremes = {
        void apply(inout pair_t pair, out bit<32> before) {
            before = (bit<32>)pair.low;
            if (hdr.test.value < pair.low) {
                pair.low = hdr.test.value;
            } else {
                pair.high = max(pair.high, hdr.test.value);
            }
        }
    };
    RegisterAction<bit<8>, bit<8>, bit<8>>(marks) mark_low = {
        void apply(inout bit<8> mark) { mark = mark | 1; }
    };
    RegisterAction<bit<8>, bit<8>, bit<8>>(marks) mark_high = {
        void apply(inout bit<8> mark, out bit<8> now) {
            mark = mark | 0x80;
            now = mark;
        }
    };

    action send(PortId_t port) {
        hits.count();
        for_tm.ucast_egress_port = port;
    }
    // Does not count.
    action spread(MulticastGroupId_t group, bit<1> skip) {
        for_tm.mcast_grp_a = group;
        for_tm.bypass_egress = skip;
    }
    action refuse() {
        for_deparser.drop_ctl = 1;
    }

    table route {
        key = { hdr.test.index: ternary @name("index"); }
        actions = { send; spread; refuse; }
        default_action = refuse();
        counters = hits;
        size = 64;
    }

    table bands {
        key = { hdr.test.index: range; hdr.test.op: exact; }
        actions = { send; @defaultonly NoAction; }
        const entries = {
            (0x80 .. 0x8f, 7): send(77);
            (0x90 .. 0xff, 7): send(78);
        }
        const default_action = NoAction();
        size = 4;
    }

    apply {
        packets.count(hdr.test.op);
        switch (route.apply().action_run) {
            refuse: { meta.peek = 0xff; }
            send: { meta.port = (bit<16>)for_tm.ucast_egress_port; }
        }
        if (hdr.test.op == 1) {
            hdr.test.result = add.execute(hdr.test.index);
        } else if (hdr.test.op == 2) {
            hdr.test.result = extremes.execute(hdr.test.index);
        } else if (hdr.test.op == 3) {
            hdr.test.result = 4w0 ++ low.get({hdr.test.value, hdr.test.index}) ++ crc.get({4w0, hdr.test.op[3:0], hdr.test.index});
        } else if (hdr.test.op == 4) {
            hdr.test.result = (bit<32>)folded.get({hdr.test.value, hdr.test.index});
            hdr.test.value = hdr.test.value |-| 1;
        } else if (hdr.test.op == 5) {
            for_deparser.mirror_type = 1;
            meta.session = (bit<10>)hdr.test.index;
        } else if (hdr.test.op == 6 && intrinsic.resubmit_flag == 0) {
            for_deparser.resubmit_type = 1;
        } else if (hdr.test.op == 7) {
            if (bands.apply().hit) {
                hdr.test.result = 1;
            }
        } else if (hdr.test.op == 8) {
            for_deparser.digest_type = 1;
        } else if (hdr.test.op == 9) {
            if (hdr.test.value > 0) {
                mark_low.execute(hdr.test.index);
            }
            if (hdr.test.value < 100) {
                hdr.test.result = (bit<32>)mark_high.execute(hdr.test.index);
            }
        } else if (hdr.test.op == 10) {
            hdr.test.result = (bit<32>)meta.right;
        } else if (hdr.labels[0].isValid()) {
            hdr.test.result = (bit<32>)meta.peek;
            hdr.labels[1].number = hdr.labels[0].number + 1;
        }
    }
}

control IngressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    Mirror(1) mirror;
    Resubmit(1) resubmit;
    Digest<message_t>(1) digest;
    Checksum() sum;

    apply {
        if (for_deparser.mirror_type == 1) {
            mirror.emit<copy_h>(meta.session, {0xcc, hdr.test.index, meta.port, (bit<32>)hdr.test.value});
        }
        if (for_deparser.resubmit_type == 1) {
            resubmit.emit<copy_h>({0xdd, hdr.test.index, meta.port, 0x01020304});
        }
        if (for_deparser.digest_type == 1) {
            digest.pack({hdr.test.index, (bit<32>)hdr.test.value});
        }
        hdr.test.sum = sum.update({hdr.test.op, hdr.test.index, hdr.test.value, hdr.test.result});
        packet.emit(hdr);
    }
}

parser EgressParser(packet_in packet, out headers_t hdr, out metadata_t meta,
                    out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        meta.session = 0;
        meta.right = 0;
        meta.port = 0;
        meta.peek = 0;
        transition select(packet.lookahead<bit<8>>()) {
            0xcc: copied;
            _: test;
        }
    }
    state copied {
        packet.extract(hdr.copy);
        transition test;
    }
    state test {
        packet.extract(hdr.test);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t parsed,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    apply {
        if (intrinsic.egress_rid != 0) {
            hdr.test.result = intrinsic.egress_rid ++ intrinsic.pkt_length;
        }
        if (hdr.test.op == 11) {
            for_deparser.drop_ctl = 1;
        }
    }
}

control EgressDeparser(packet_out packet, inout headers_t hdr, in metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        packet.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
