control InArtIngress(inout ingress_headers_t hdr, inout ingress_metadata_t meta,
                     in ingress_intrinsic_metadata_t intrinsic,
                     in ingress_intrinsic_metadata_from_parser_t parsed,
                     inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                     inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    // Of the outcomes, repeated and absorbed of complete slots are counted in egress; and drops of the wrong size.
    Counter<bit<64>, bit<8>>(REASONS, CounterType_t.PACKETS_AND_BYTES)  drops;
    Counter<bit<64>, bit<8>>(OUTCOMES, CounterType_t.PACKETS_AND_BYTES) outcomes;
    // All that came in, by port: INART frames and others, those that are dropped too.
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) ingress_inart;
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) ingress_others;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) steer_counter;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) results_counter;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) mac_counter;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) switch_ports_counter;

    Hash<bit<32>>(HashAlgorithm_t.CRC32)    mark_of;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) part_of;

    Check() check;
    Senders() senders;
    Blocks() blocks;
    Slots() slots;
    SlotValues() slot_values;
    IngressLimits() limits;

    // What is missing then says so: the reason is given below, so that no table waits for another. A counter belongs to one table,
    // so each has an action of its own.
    @name("steer.refuse") action refuse_values() {
        steer_counter.count();
    }

    @name("results.refuse") action refuse_result() {
        results_counter.count();
    }

    @name("mac.refuse") action refuse_others() {
        mac_counter.count();
    }

    action forward(bit<9> port, bit<64> members) {
        steer_counter.count();
        meta.route = Route.FORWARD;
        meta.port = port;
        meta.foreign_hi = hdr.inart.contributors_hi & ~members[63:32];
        meta.foreign_lo = hdr.inart.contributors_lo & ~members[31:0];
    }

    // Add into slot `base + (sequence & mask)`; out of `port` once the contributors are those expected.
    action add(bit<9> port, bit<32> base, bit<32> mask, bit<64> members, bit<64> expected) {
        steer_counter.count();
        meta.route = Route.ADD;
        meta.port = port;
        meta.base = base[15:0];
        meta.masked = hdr.inart.sequence[15:0] & mask[15:0];
        meta.foreign_hi = hdr.inart.contributors_hi & ~members[63:32];
        meta.foreign_lo = hdr.inart.contributors_lo & ~members[31:0];
        meta.absent_hi = ~hdr.inart.contributors_hi & members[63:32];
        meta.absent_lo = ~hdr.inart.contributors_lo & members[31:0];
        meta.expected_hi = expected[63:32];
        meta.expected_lo = expected[31:0];
    }

    action replicate(bit<16> group) {
        results_counter.count();
        meta.replicated = 1;
        meta.group = group;
    }

    action send(bit<9> port) {
        mac_counter.count();
        meta.sent = 1;
        for_tm.ucast_egress_port = port;
    }

    action flood(bit<16> group) {
        mac_counter.count();
        meta.sent = 1;
        for_tm.mcast_grp_a = group;
    }

    action trust() {
        switch_ports_counter.count();
        meta.trusted = 1;
    }

    // Gradients and partials. The port keeps strangers out, and lets a path cross this switch twice.
    // Also messages: at a host's port it may speak as the worker whose gradients come from there.
    @stage(0)
    table steer {
        key = {
            hdr.inart.plan[31:16]: exact @name("epoch");
            hdr.inart.plan[15:0]: exact @name("job");
            hdr.inart.shard: exact @name("shard");
            hdr.inart.worker: exact @name("worker");
            intrinsic.ingress_port: exact @name("ingress");
        }
        actions = { forward; add; refuse_values; }
        const default_action = refuse_values();
        counters = steer_counter;
        size = STEER_ENTRIES;
    }

    // Results on their way to all workers. At a host's port also messages: it may speak as the server whose results come
    // from there.
    table results {
        key = {
            hdr.inart.plan[31:16]: exact @name("epoch");
            hdr.inart.plan[15:0]: exact @name("job");
            hdr.inart.shard: exact @name("shard");
            intrinsic.ingress_port: exact @name("ingress");
        }
        actions = { replicate; refuse_result; }
        const default_action = refuse_result();
        counters = results_counter;
        size = 4096;
    }

    // Everything else: ordinary traffic, and messages (control and probe frames).
    table mac {
        key = { hdr.ethernet.dst: exact @name("dst"); }
        actions = { send; flood; refuse_others; }
        default_action = refuse_others();
        counters = mac_counter;
        size = 4096;
    }

    // Ports with a switch behind them, which has seen to it that messages come from whom they say.
    table switch_ports {
        key = { intrinsic.ingress_port: exact @name("ingress"); }
        actions = { trust; @defaultonly NoAction; }
        const default_action = NoAction();
        counters = switch_ports_counter;
        size = 512;
    }

    @hidden action refuse_frame(Reason reason) {
        meta.reason = reason;
    }

    @hidden action multicast() {
        for_tm.mcast_grp_a = meta.group;
    }

    // Did the tables know the way of a frame that is no gradient or partial?
    @hidden table verdict {
        key = {
            meta.class: ternary;
            meta.trusted: ternary;
            meta.route: ternary;
            meta.replicated: ternary;
            meta.sent: ternary;
        }
        actions = { refuse_frame; multicast; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (Class.RESULT, _, _, 0, _): refuse_frame(Reason.NO_RESULT_ROUTE);
            (Class.RESULT, _, _, 1, _): multicast();
            (Class.MESSAGE, 0, Route.NONE, 0, _): refuse_frame(Reason.STRANGER);
            (_, _, _, _, 0): refuse_frame(Reason.NO_MAC_ROUTE);
        }
        size = 8;
    }

    @hidden action complete() {
        meta.outcome = Outcome.COMPLETED;
        hdr.bridge.complete = 1;
        hdr.inart.kind = (bit<4>)Kind.PARTIAL;
        hdr.inart.contributors_hi = meta.expected_hi;
        hdr.inart.contributors_lo = meta.expected_lo;
        hdr.inart.flags = hdr.inart.flags | meta.sticky;
    }

    // Whether it is answered is the wave rule's, in egress.
    @hidden action repeat() {
        hdr.bridge.complete = 1;
        hdr.bridge.repeat = 1;
        hdr.inart.kind = (bit<4>)Kind.PARTIAL;
        hdr.inart.contributors_hi = meta.expected_hi;
        hdr.inart.contributors_lo = meta.expected_lo;
        hdr.inart.flags = hdr.inart.flags | meta.sticky;
    }

    @hidden action consume(Outcome outcome) {
        meta.outcome = outcome;
        for_deparser.drop_ctl = 1;
    }

#if PASSES == 2
    @hidden action turn(bit<9> port) {
        meta.loop = port;
    }

    // The port of the frame's pipe whose frames come in again.
    @hidden table loop {
        key = { intrinsic.ingress_port[8:7]: exact @name("pipe"); }
        actions = { turn; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            0: turn(RECIRCULATION_PORT);
            1: turn(RECIRCULATION_PORT + 128);
            2: turn(RECIRCULATION_PORT + 256);
            3: turn(RECIRCULATION_PORT + 384);
        }
        size = 4;
    }

    // To the second pass. All that it asks of the frame's header is as it came in, but for the slot's flags.
    @hidden action go_around(bit<8> complete) {
        meta.around = 1;
        hdr.inart.flags = hdr.inart.flags | meta.sticky;
        hdr.bridge.again = 1;
        hdr.again.setValid();
        hdr.again.complete = complete;
        hdr.again.limit = 0;
        hdr.again.ingress = 7w0 ++ meta.ingress;
        hdr.again.port = 7w0 ++ meta.port;
        hdr.again.slot = meta.slot;
        hdr.again.expected_hi = meta.expected_hi;
        hdr.again.expected_lo = meta.expected_lo;
        for_tm.ucast_egress_port = meta.loop;
    }

    // A frame that the second pass does not take has half of its values changed: nobody may have it.
    @hidden table finish {
        key = {
            meta.class: ternary;
            meta.mode: ternary;
            meta.missing_hi: ternary;
            meta.missing_lo: ternary;
            meta.complete_before: ternary;
        }
        actions = { complete; repeat; consume; go_around; NoAction; }
        const default_action = NoAction();
        const entries = {
            (Class.AGAIN, Mode.NONE, _, _, _): consume(Outcome.ABSORBED);
            (_, Mode.NONE, _, _, _): NoAction();
            (Class.VALUES, _, 0, 0, _): go_around(1);
            (Class.VALUES, _, _, _, _): go_around(0);
            (_, Mode.READ, 0, 0, 1): repeat();
            (_, _, 0, 0, 1): complete();
            (_, Mode.STORE, _, _, _): consume(Outcome.STORED);
            (_, Mode.ADD, _, _, _): consume(Outcome.ADDED);
            (_, Mode.RAISE, _, _, _): consume(Outcome.ADDED);
            (_, Mode.READ, _, _, _): consume(Outcome.ABSORBED);
        }
        size = 16;
    }
#else
    @hidden table finish {
        key = {
            meta.mode: ternary;
            meta.missing_hi: ternary;
            meta.missing_lo: ternary;
        }
        actions = { complete; repeat; consume; NoAction; }
        const default_action = NoAction();
        const entries = {
            (Mode.NONE, _, _): NoAction();
            (Mode.READ, 0, 0): repeat();
            (_, 0, 0): complete();
            (Mode.STORE, _, _): consume(Outcome.STORED);
            (Mode.ADD, _, _): consume(Outcome.ADDED);
            (Mode.RAISE, _, _): consume(Outcome.ADDED);
            (Mode.READ, _, _): consume(Outcome.ABSORBED);
        }
        size = 8;
    }
#endif

    @hidden action count_inart() {
        ingress_inart.count(intrinsic.ingress_port);
    }

    @hidden table inart_in {
        actions = { count_inart; }
        const default_action = count_inart();
    }

    @hidden action count_others() {
        ingress_others.count(intrinsic.ingress_port);
    }

    @hidden table others_in {
        actions = { count_others; }
        const default_action = count_others();
    }

    // Each has a table of its own, which has one hash.
    @hidden action find_mark() {
        meta.mark = mark_of.get({hdr.inart.plan, hdr.inart.shard, hdr.inart.form[31:24], hdr.inart.incarnation});
    }

    @stage(0)
    @hidden table mark {
        actions = { find_mark; }
        const default_action = find_mark();
    }

    @hidden action find_part() {
        meta.part = part_of.get({15w0, hdr.inart.flags[4:4], hdr.inart.shard});
    }

    apply {
        hdr.bridge.setValid();
        hdr.bridge.inart = meta.inart;
        hdr.bridge.values = 0;
        hdr.bridge.complete = 0;
        hdr.bridge.repeat = 0;
        hdr.bridge.limit = 0;
        hdr.bridge.again = 0;
        hdr.bridge.pad = 0;
        hdr.bridge.ingress = meta.ingress;
        hdr.bridge.slot = 0;
        if (hdr.inart.isValid()) {
            inart_in.apply();
        } else {
            others_in.apply();
        }

        check.apply(hdr, meta, parsed);
        if (meta.class == Class.VALUES || meta.class == Class.MESSAGE) {
            steer.apply();
        }

        if (meta.class == Class.VALUES || meta.class == Class.AGAIN) {
            hdr.bridge.values = 1;
            senders.apply(hdr, meta);
            blocks.apply(hdr, meta);
            mark.apply();
            find_part();
            meta.sticky = hdr.inart.flags & FLAGS_STICKY;
            for_tm.ucast_egress_port = meta.port;
#if PASSES == 2
            loop.apply();
            if (meta.limit_before == 1) {
                hdr.bridge.limit = 1;
            }
#endif

            slots.apply(hdr, meta);
            slot_values.apply(hdr, meta);
            limits.apply(hdr);

            // Those before the frame are those with it already, if it is a repeat; if it took the slot over, there are none.
            meta.seen_hi = meta.seen_hi | hdr.inart.contributors_hi;
            meta.seen_lo = meta.seen_lo | hdr.inart.contributors_lo;
            meta.missing_hi = meta.seen_hi ^ meta.expected_hi;
            meta.missing_lo = meta.seen_lo ^ meta.expected_lo;
            finish.apply();
#if PASSES == 2
            // The slot of the first pass: egress has one cell for both.
            hdr.bridge.slot = meta.base;
#else
            hdr.bridge.slot = meta.slot;
#endif
        } else if (meta.reason == Reason.NONE) {
            if (meta.class == Class.MESSAGE) {
                switch_ports.apply();
            }
            if (meta.class == Class.RESULT
                || (meta.class == Class.MESSAGE && meta.trusted == 0 && meta.route == Route.NONE)) {
                results.apply();
            }
            if (meta.class == Class.OTHER
                || (meta.class == Class.MESSAGE
                    && (meta.trusted == 1 || meta.route != Route.NONE || meta.replicated == 1))) {
                mac.apply();
            }
            verdict.apply();
        }

        if (meta.reason != Reason.NONE) {
            drops.count((bit<8>)meta.reason);
            for_deparser.drop_ctl = 1;
#if PASSES == 2
        } else if (hdr.bridge.values == 1 && hdr.bridge.repeat == 0 && meta.around == 0) {
#else
        } else if (hdr.bridge.values == 1 && hdr.bridge.repeat == 0) {
#endif
            outcomes.count((bit<8>)meta.outcome);
        }
    }
}
