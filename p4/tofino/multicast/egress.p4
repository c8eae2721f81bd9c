parser InArtEgressParser(packet_in packet, out egress_headers_t hdr, out egress_metadata_t meta,
                         out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        meta.long_queue = 0;
        meta.left = 1;
        packet.extract(meta.bridge);
        transition select(meta.bridge.inart) {
            0: accept;
            1: inart;
        }
    }

    state inart {
        packet.extract(hdr.ethernet);
        packet.extract(hdr.inart);
        transition accept;
    }
}

control InArtEgress(inout egress_headers_t hdr, inout egress_metadata_t meta,
                    in egress_intrinsic_metadata_t intrinsic,
                    in egress_intrinsic_metadata_from_parser_t parsed,
                    inout egress_intrinsic_metadata_for_deparser_t for_deparser,
                    inout egress_intrinsic_metadata_for_output_port_t for_port) {
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) pruned;      // by port
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) unwanted;    // copies of updates, by port
    // All that goes out, by port: INART frames and others.
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) egress_inart;
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) egress_others;
    // What ingress does not know: the wrong size. Of an update each copy counts.
    Counter<bit<64>, bit<8>>(ALL_REASONS, CounterType_t.PACKETS_AND_BYTES) drops;

    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) receivers_counter;

    // Some of the peers in an update's bitmap are behind this port: the copy that leaves by it is theirs alone.
    action narrow(bit<64> members) {
        receivers_counter.count();
        hdr.inart.contributors_hi = hdr.inart.contributors_hi & members[63:32];
        hdr.inart.contributors_lo = hdr.inart.contributors_lo & members[31:0];
    }

    action nobody() {
        hdr.inart.contributors_hi = 0;
        hdr.inart.contributors_lo = 0;
    }

    table receivers {
        key = {
            hdr.inart.epoch: exact @name("epoch");
            hdr.inart.job: exact @name("job");
            hdr.inart.group: exact @name("group");
            intrinsic.egress_port: exact @name("egress");
        }
        actions = { narrow; @defaultonly nobody; }
        const default_action = nobody();
        counters = receivers_counter;
        size = 16384;
    }

    @hidden action is_left() {
        meta.left = 1;
    }

    @hidden action is_unwanted() {
        meta.left = 0;
    }

    @hidden table wanted {
        key = {
            hdr.inart.contributors_hi: ternary;
            hdr.inart.contributors_lo: ternary;
        }
        actions = { is_left; is_unwanted; }
        const default_action = is_left();
        const entries = { (0, 0): is_unwanted(); }
        size = 2;
    }

    @hidden action mark_long() {
        meta.long_queue = 1;
    }

    // The traffic manager counts cells, not frames.
    @hidden table queue {
        key = { intrinsic.deq_qdepth: range; }
        actions = { mark_long; NoAction; }
        const default_action = mark_long();
        const entries = { 0 .. LONG_QUEUE_CELLS: NoAction(); }
        size = 2;
    }

    apply {
        if (hdr.inart.isValid()) {
            queue.apply();
            if (meta.long_queue == 1) {
                hdr.inart.flags = hdr.inart.flags | FLAG_CONGESTION;
            }
        }
        if (meta.bridge.is_update == 1) {
            receivers.apply();
            wanted.apply();
        }

        if (hdr.inart.isValid() && intrinsic.pkt_length != FRAME_AND_FCS_BYTES) {
            drops.count((bit<8>)Reason.WRONG_SIZE);
            for_deparser.drop_ctl = 1;
        } else if (intrinsic.egress_port == meta.bridge.ingress) {
            // A flood or multicast must not go back to where it came from.
            pruned.count(intrinsic.egress_port);
            for_deparser.drop_ctl = 1;
        } else if (meta.left == 0) {
            // A copy that nobody behind this port is in the bitmap of.
            unwanted.count(intrinsic.egress_port);
            for_deparser.drop_ctl = 1;
        } else if (hdr.inart.isValid()) {
            egress_inart.count(intrinsic.egress_port);
        } else {
            egress_others.count(intrinsic.egress_port);
        }
    }
}
