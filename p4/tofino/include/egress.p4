parser InArtEgressParser(packet_in packet, out egress_headers_t hdr, out egress_metadata_t meta,
                         out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        meta.own_hi = 0;
        meta.own_lo = 0;
        meta.start_hi = 0;
        meta.start_lo = 0;
        meta.asked_hi = 0;
        meta.asked_lo = 0;
        meta.answered = 0;
        meta.outcome = Outcome.FORWARDED;
        meta.limit = 0;
        meta.long_queue = 0;
        meta.drop = 0;
        packet.extract(meta.bridge);
#if PASSES == 2
        transition select(meta.bridge.again) {
            1: again;
            default: ethernet;
        }
    }

    state again {
        packet.extract(hdr.again);
        packet.extract(hdr.ethernet);
        packet.extract(hdr.inart);
        packet.extract(hdr.front);
        transition accept;
    }

    state ethernet {
#endif
        packet.extract(hdr.ethernet);
        transition select(meta.bridge.inart, meta.bridge.complete) {
            (0, _): accept;
            (1, 0): inart;
            (1, 1): partial;
        }
    }

    state inart {
        packet.extract(hdr.inart);
        transition accept;
    }

    state partial {
        packet.extract(hdr.inart);
#if PASSES == 2
        packet.extract(hdr.front_done);
#endif
        packet.extract(hdr.front);
        transition accept;
    }
}

// The wave rule: of all who ask again for a chunk, the first gets the partial, and so does whoever asks again after that. `asked` has
// a bit per seat that each of its repeats turns, `wave` one bit that each answer turns: a repeat is answered if its bit was the
// wave's. So of two repeats of one seat without a partial in between the second is answered.
control Waves(inout egress_headers_t hdr, inout egress_metadata_t meta) {
    Register<bit<32>, index_t>(SLOTS, 0) asked_hi;
    Register<bit<32>, index_t>(SLOTS, 0) asked_lo;
    Register<bit<8>, index_t>(SLOTS, 0)  wave;

    RegisterAction<bit<32>, index_t, bit<32>>(asked_hi) begin_hi = {
        void apply(inout bit<32> slot) {
            slot = meta.start_hi;
        }
    };
    RegisterAction<bit<32>, index_t, bit<32>>(asked_hi) ask_hi = {
        void apply(inout bit<32> slot, out bit<32> now) {
            now = ~slot & meta.own_hi;
            slot = slot ^ meta.own_hi;
        }
    };
    RegisterAction<bit<32>, index_t, bit<32>>(asked_lo) begin_lo = {
        void apply(inout bit<32> slot) {
            slot = meta.start_lo;
        }
    };
    RegisterAction<bit<32>, index_t, bit<32>>(asked_lo) ask_lo = {
        void apply(inout bit<32> slot, out bit<32> now) {
            now = ~slot & meta.own_lo;
            slot = slot ^ meta.own_lo;
        }
    };

    RegisterAction<bit<8>, index_t, bit<1>>(wave) begin_unasked = {
        void apply(inout bit<8> slot) {
            slot = 0;
        }
    };
    RegisterAction<bit<8>, index_t, bit<1>>(wave) begin_asked = {
        void apply(inout bit<8> slot) {
            slot = 1;
        }
    };
    // The seat's bit was 0.
    RegisterAction<bit<8>, index_t, bit<1>>(wave) answer_even = {
        void apply(inout bit<8> slot, out bit<1> answered) {
            answered = 0;
            if (slot == 0) {
                answered = 1;
                slot = 1;
            }
        }
    };
    // It was 1.
    RegisterAction<bit<8>, index_t, bit<1>>(wave) answer_odd = {
        void apply(inout bit<8> slot, out bit<1> answered) {
            answered = 0;
            if (slot != 0) {
                answered = 1;
                slot = 0;
            }
        }
    };

    Seats() seats;

    @hidden action set_begin_hi() { begin_hi.execute(meta.bridge.slot); }
    @hidden action set_ask_hi() { meta.asked_hi = ask_hi.execute(meta.bridge.slot); }
    @hidden table ask_of_hi {
        key = { meta.bridge.repeat: exact; }
        actions = { set_begin_hi; set_ask_hi; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            0: set_begin_hi();
            1: set_ask_hi();
        }
        size = 2;
    }

    @hidden action set_begin_lo() { begin_lo.execute(meta.bridge.slot); }
    @hidden action set_ask_lo() { meta.asked_lo = ask_lo.execute(meta.bridge.slot); }
    @hidden table ask_of_lo {
        key = { meta.bridge.repeat: exact; }
        actions = { set_begin_lo; set_ask_lo; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            0: set_begin_lo();
            1: set_ask_lo();
        }
        size = 2;
    }

    @hidden action set_unasked() { begin_unasked.execute(meta.bridge.slot); }
    @hidden action set_asked() { begin_asked.execute(meta.bridge.slot); }
    @hidden action ask_even() { meta.answered = answer_even.execute(meta.bridge.slot); }
    @hidden action ask_odd() { meta.answered = answer_odd.execute(meta.bridge.slot); }
    @hidden table answer {
        key = {
            meta.bridge.repeat: ternary;
            hdr.inart.flags[0:0]: ternary @name("resend");
            meta.asked_hi: ternary;
            meta.asked_lo: ternary;
        }
        actions = { set_unasked; set_asked; ask_even; ask_odd; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (0, 0, _, _): set_unasked();
            (0, 1, _, _): set_asked();
            (1, _, 0, 0): ask_odd();
            (1, _, _, _): ask_even();           // the seat's bit is 1 now
        }
        size = 4;
    }

    apply {
        seats.apply(hdr, meta);
        ask_of_hi.apply();
        ask_of_lo.apply();
        answer.apply();
    }
}

control InArtEgress(inout egress_headers_t hdr, inout egress_metadata_t meta,
                    in egress_intrinsic_metadata_t intrinsic,
                    in egress_intrinsic_metadata_from_parser_t parsed,
                    inout egress_intrinsic_metadata_for_deparser_t for_deparser,
                    inout egress_intrinsic_metadata_for_output_port_t for_port) {
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) pruned;  // by port
    // All that goes out, by port: INART frames and others.
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) egress_inart;
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) egress_others;
    // What ingress does not know: the wrong size; and what becomes of repeats for complete slots.
    Counter<bit<64>, bit<8>>(REASONS, CounterType_t.PACKETS_AND_BYTES)  drops;
    Counter<bit<64>, bit<8>>(OUTCOMES, CounterType_t.PACKETS_AND_BYTES) outcomes;

    Waves() waves;
    EgressLimits() limits;

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

    @hidden action answer(Outcome outcome) {
        meta.outcome = outcome;
    }

    @hidden action absorb(Outcome outcome) {
        meta.outcome = outcome;
        meta.drop = 1;
    }

    // What becomes of a repeat for a complete slot.
    @hidden table finish {
        key = { meta.answered: exact; }
        actions = { answer; absorb; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            0: absorb(Outcome.ABSORBED);
            1: answer(Outcome.REPEATED);
        }
        size = 2;
    }

    apply {
        if (hdr.inart.isValid()) {
            queue.apply();
            if (meta.bridge.complete == 1) {
                waves.apply(hdr, meta);
            }
            if (hdr.front.isValid()) {
                limits.apply(hdr, meta);
            }
#if PASSES == 2
            // In its second pass a frame is no longer as it came in.
            if (intrinsic.pkt_length != FRAME_AND_FCS_BYTES && meta.bridge.complete == 0) {
#else
            if (intrinsic.pkt_length != FRAME_AND_FCS_BYTES) {
#endif
                meta.drop = 1;
                drops.count((bit<8>)Reason.WRONG_SIZE);
            } else if (meta.bridge.repeat == 1) {
                finish.apply();
                outcomes.count((bit<8>)meta.outcome);
            }
            if (meta.limit == 1 || meta.bridge.limit == 1) {
#if PASSES == 2
                if (meta.bridge.again == 1) {
                    hdr.again.limit = 1;
                } else
#endif
                if (meta.bridge.complete == 1) {
                    hdr.inart.flags = hdr.inart.flags | FLAG_OVERFLOW;
                }
            }
            if (meta.long_queue == 1) {
                hdr.inart.flags = hdr.inart.flags | FLAG_CONGESTION;
            }
        }

        // A flood or multicast must not go back to where it came from. Gradients and partials may: when the server is on
        // the same side as the worker, the way to the aggregator and the trunk back share a port.
        if (meta.drop == 1) {
            for_deparser.drop_ctl = 1;
        } else if (intrinsic.egress_port == meta.bridge.ingress && meta.bridge.values == 0) {
            pruned.count(intrinsic.egress_port);
            for_deparser.drop_ctl = 1;
        } else if (hdr.inart.isValid()) {
            egress_inart.count(intrinsic.egress_port);
        } else {
            egress_others.count(intrinsic.egress_port);
        }
    }
}
