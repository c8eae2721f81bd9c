// The slot rules of docs/protocol.md, section "On Tofino". Each register is touched once per pass, in the order of the stages:
// who may take the slot over, whether it is exactly the frame's, who is in it.

struct mark_t {
    int<32> mark;
    int<32> sequence;           // signed, so that the comparison is that of serial numbers
}

struct words_t {
    bit<32> first;
    bit<32> second;
}

control Slots(in ingress_headers_t hdr, inout ingress_metadata_t meta) {
    Register<mark_t, index_t>(CELLS, {0, 0})  marks;
    Register<bit<32>, index_t>(CELLS, 0)      sequences;
    Register<words_t, index_t>(CELLS, {0, 0}) runs;         // group, exponent and length; incarnation
    Register<words_t, index_t>(CELLS, {0, 0}) plans;        // epoch and job; shard and flag last
    Register<bit<32>, index_t>(CELLS, 0)      seen_hi;
    Register<bit<32>, index_t>(CELLS, 0)      seen_lo;
    Register<bit<8>, index_t>(CELLS, 0)       flags;

    // A slot's range is aligned to its length, so base + masked is base ^ masked: the hash unit finds the slot, and no stage is lost.
    Hash<index_t>(HashAlgorithm_t.XOR16) index;

    // Another tag, or a newer frame, takes the slot over. That two tags have one mark is possible; then the frame is found to be
    // another's below, and is forwarded.
    RegisterAction<mark_t, index_t, bit<1>>(marks) take = {
        void apply(inout mark_t slot, out bit<1> taken) {
            taken = 0;
            if (slot.mark != (int<32>)meta.mark || (int<32>)hdr.inart.sequence - slot.sequence > 0) {
                slot.mark = (int<32>)meta.mark;
                slot.sequence = (int<32>)hdr.inart.sequence;
                taken = 1;
            }
        }
    };

    RegisterAction<bit<32>, index_t, bit<1>>(sequences) put_sequence = {
        void apply(inout bit<32> slot) {
            slot = hdr.inart.sequence;
        }
    };
    RegisterAction<bit<32>, index_t, bit<1>>(sequences) compare_sequence = {
        void apply(inout bit<32> slot, out bit<1> other) {
            other = 0;
            if (slot != hdr.inart.sequence) {
                other = 1;
            }
        }
    };

    RegisterAction<words_t, index_t, bit<1>>(runs) put_run = {
        void apply(inout words_t slot) {
            slot.first = hdr.inart.form;
            slot.second = hdr.inart.incarnation;
        }
    };
    RegisterAction<words_t, index_t, bit<1>>(runs) compare_run = {
        void apply(inout words_t slot, out bit<1> other) {
            other = 0;
            if (slot.first != hdr.inart.form || slot.second != hdr.inart.incarnation) {
                other = 1;
            }
        }
    };

    RegisterAction<words_t, index_t, bit<1>>(plans) put_plan = {
        void apply(inout words_t slot) {
            slot.first = hdr.inart.plan;
            slot.second = meta.part;
        }
    };
    RegisterAction<words_t, index_t, bit<1>>(plans) compare_plan = {
        void apply(inout words_t slot, out bit<1> other) {
            other = 0;
            if (slot.first != hdr.inart.plan || slot.second != meta.part) {
                other = 1;
            }
        }
    };

    RegisterAction<bit<32>, index_t, bit<32>>(seen_hi) put_hi = {
        void apply(inout bit<32> slot) {
            slot = hdr.inart.contributors_hi;
        }
    };
    RegisterAction<bit<32>, index_t, bit<32>>(seen_hi) merge_hi = {
        void apply(inout bit<32> slot, out bit<32> before) {
            before = slot;
            slot = slot | hdr.inart.contributors_hi;
        }
    };
    RegisterAction<bit<32>, index_t, bit<32>>(seen_lo) put_lo = {
        void apply(inout bit<32> slot) {
            slot = hdr.inart.contributors_lo;
        }
    };
    RegisterAction<bit<32>, index_t, bit<32>>(seen_lo) merge_lo = {
        void apply(inout bit<32> slot, out bit<32> before) {
            before = slot;
            slot = slot | hdr.inart.contributors_lo;
        }
    };

    // Those of repeats, too: a mark of congestion is news, and the others have the flag already.
    RegisterAction<bit<8>, index_t, bit<8>>(flags) put_flags = {
        void apply(inout bit<8> slot) {
            slot = meta.sticky;
        }
    };
    RegisterAction<bit<8>, index_t, bit<8>>(flags) merge_flags = {
        void apply(inout bit<8> slot, out bit<8> merged) {
            slot = slot | meta.sticky;
            merged = slot;
        }
    };

    @hidden action refuse_frame(Reason reason) {
        meta.reason = reason;
    }

    @hidden action pass(Outcome outcome) {
        meta.outcome = outcome;
    }

    @hidden action claim() {
        meta.claimed = 1;
        meta.slot = meta.base ^ meta.masked;
        meta.taken = take.execute(index.get({meta.base, meta.masked}));
    }

    // May the frame be added here? Only if it brings all members of its entry: so the units that are added are equal or disjoint,
    // and one that comes again never brings half of what is there.
    @stage(1)
    @hidden table admit {
        key = {
            meta.reason: ternary;
            meta.in_block: ternary;
            meta.sound: ternary;
            meta.route: ternary;
            meta.foreign_hi: ternary;
            meta.foreign_lo: ternary;
            meta.absent_hi: ternary;
            meta.absent_lo: ternary;
            hdr.inart.flags: ternary;
        }
        actions = { NoAction; refuse_frame; pass; claim; }
        const default_action = refuse_frame(Reason.NOT_MEMBER);
        const entries = {
            (Reason.NONE, 0, _, _, _, _, _, _, _): refuse_frame(Reason.BAD_GROUP);
            (Reason.NONE, _, 0, _, _, _, _, _, _): refuse_frame(Reason.BAD_CONTRIBUTORS);
            (Reason.NONE, _, _, Route.NONE, _, _, _, _, _): refuse_frame(Reason.NO_ROUTE);
            (Reason.NONE, _, _, Route.FORWARD, 0, 0, _, _, _): pass(Outcome.FORWARDED);
            (Reason.NONE, _, _, Route.ADD, 0, 0, _, _, FLAG_BYPASS &&& FLAG_BYPASS): pass(Outcome.BYPASSED);
            (Reason.NONE, _, _, Route.ADD, 0, 0, 0, 0, _): claim();
            (Reason.NONE, _, _, Route.ADD, 0, 0, _, _, _): pass(Outcome.OVERLAP);
            (Reason.NONE, _, _, _, _, _, _, _, _): refuse_frame(Reason.NOT_MEMBER);
            (_, _, _, _, _, _, _, _, _): NoAction();
        }
        size = 16;
    }

    @hidden action take_sequence() { put_sequence.execute(meta.slot); }
    @hidden action check_sequence() { meta.other_sequence = compare_sequence.execute(meta.slot); }
    @stage(2)
    @hidden table exact_sequence {
        key = { meta.taken: exact; }
        actions = { take_sequence; check_sequence; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            0: check_sequence();
            1: take_sequence();
        }
        size = 2;
    }

    @hidden action take_run() { put_run.execute(meta.slot); }
    @hidden action check_run() { meta.other_run = compare_run.execute(meta.slot); }
    @stage(2)
    @hidden table exact_run {
        key = { meta.taken: exact; }
        actions = { take_run; check_run; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            0: check_run();
            1: take_run();
        }
        size = 2;
    }

    @hidden action take_plan() { put_plan.execute(meta.slot); }
    @hidden action check_plan() { meta.other_plan = compare_plan.execute(meta.slot); }
    @stage(2)
    @hidden table exact_plan {
        key = { meta.taken: exact; }
        actions = { take_plan; check_plan; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            0: check_plan();
            1: take_plan();
        }
        size = 2;
    }

    @hidden action start_hi() {
        meta.fate = Mode.STORE;
        put_hi.execute(meta.slot);
    }
    @hidden action join_hi(Mode fate) {
        meta.fate = fate;
        meta.seen_hi = merge_hi.execute(meta.slot);
    }
    @stage(3)
    @hidden table contributors_hi {
        key = {
            meta.taken: ternary;
            meta.other_sequence: ternary;
            meta.other_run: ternary;
            meta.other_plan: ternary;
            hdr.inart.form[23:16]: ternary @name("exponent");
        }
        actions = { start_hi; join_hi; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (1, 0, 0, 0, _): start_hi();
            (0, 0, 0, 0, EXPONENT_MAXIMA): join_hi(Mode.RAISE);
            (0, 0, 0, 0, _): join_hi(Mode.ADD);
        }
        size = 4;
    }

    @hidden action start_lo() { put_lo.execute(meta.slot); }
    @hidden action join_lo() { meta.seen_lo = merge_lo.execute(meta.slot); }
    @stage(3)
    @hidden table contributors_lo {
        key = {
            meta.taken: exact;
            meta.other_sequence: exact;
            meta.other_run: exact;
            meta.other_plan: exact;
        }
        actions = { start_lo; join_lo; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (1, 0, 0, 0): start_lo();
            (0, 0, 0, 0): join_lo();
        }
        size = 2;
    }

    @hidden action start_flags() { put_flags.execute(meta.slot); }
    @hidden action join_flags() { meta.sticky = merge_flags.execute(meta.slot); }
    @stage(3)
    @hidden table sticky_flags {
        key = {
            meta.taken: exact;
            meta.other_sequence: exact;
            meta.other_run: exact;
            meta.other_plan: exact;
        }
        actions = { start_flags; join_flags; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (1, 0, 0, 0): start_flags();
            (0, 0, 0, 0): join_flags();
        }
        size = 2;
    }

    // Whose slot is it, if not the frame's?
    @hidden table mismatch {
        key = {
            meta.other_sequence: ternary;
            meta.other_run: ternary;
            meta.other_plan: ternary;
        }
        actions = { pass; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (1, _, _): pass(Outcome.STALE);
            (_, 1, _): pass(Outcome.OTHER_SHAPE);
            (_, _, 1): pass(Outcome.OTHER_SHAPE);
        }
        size = 4;
    }

    apply {
        admit.apply();
        if (meta.claimed == 1) {
            exact_sequence.apply();
            exact_run.apply();
            exact_plan.apply();
            contributors_hi.apply();
            contributors_lo.apply();
            sticky_flags.apply();
            mismatch.apply();
        }
    }
}
