control InArtIngress(inout ingress_headers_t hdr, inout ingress_metadata_t meta,
                     in ingress_intrinsic_metadata_t intrinsic,
                     in ingress_intrinsic_metadata_from_parser_t parsed,
                     inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                     inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    // Drops of the wrong size are counted in egress.
    Counter<bit<64>, bit<8>>(ALL_REASONS, CounterType_t.PACKETS_AND_BYTES) drops;
    // All that came in, by port: INART frames and others, those that are dropped too.
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) ingress_inart;
    Counter<bit<64>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) ingress_others;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) updates_counter;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) mac_counter;
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) switch_ports_counter;

    Check() check;

    // What is missing then says so: verdict gives the reason. A counter belongs to one table, so each has an action of its own.
    @name("updates.refuse") action refuse_update() {
        updates_counter.count();
    }

    @name("mac.refuse") action refuse_others() {
        mac_counter.count();
    }

    action replicate(bit<16> group) {
        updates_counter.count();
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

    // Updates on their way to the peers in their bitmap: to all ports with peers of that block, of which egress keeps some. At a
    // host's port also messages: it may speak as the peer whose updates come from there.
    table updates {
        key = {
            hdr.inart.epoch: exact @name("epoch");
            hdr.inart.job: exact @name("job");
            hdr.inart.group: exact @name("group");
            hdr.inart.worker: exact @name("worker");
            intrinsic.ingress_port: exact @name("ingress");
        }
        actions = { replicate; refuse_update; }
        const default_action = refuse_update();
        counters = updates_counter;
        size = 65536;
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

    // Did the tables know the way?
    @hidden table verdict {
        key = {
            meta.class: ternary;
            meta.trusted: ternary;
            meta.replicated: ternary;
            meta.sent: ternary;
        }
        actions = { refuse_frame; multicast; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            (Class.UPDATE, _, 0, _): refuse_frame(NO_UPDATE_ROUTE);
            (Class.UPDATE, _, 1, _): multicast();
            (Class.MESSAGE, 0, 0, _): refuse_frame(Reason.STRANGER);
            (_, _, _, 0): refuse_frame(Reason.NO_MAC_ROUTE);
        }
        size = 8;
    }

    apply {
        hdr.bridge.setValid();
        hdr.bridge.inart = meta.inart;
        hdr.bridge.is_update = meta.is_update;
        hdr.bridge.pad = 0;
        hdr.bridge.ingress = meta.ingress;
        if (hdr.inart.isValid()) {
            ingress_inart.count(intrinsic.ingress_port);
        } else {
            ingress_others.count(intrinsic.ingress_port);
        }

        check.apply(hdr, meta, parsed);
        if (meta.reason == Reason.NONE) {
            if (meta.class == Class.MESSAGE) {
                switch_ports.apply();
            }
            if (meta.class == Class.UPDATE || (meta.class == Class.MESSAGE && meta.trusted == 0)) {
                updates.apply();
            }
            if (meta.class == Class.OTHER
                || (meta.class == Class.MESSAGE && (meta.trusted == 1 || meta.replicated == 1))) {
                mac.apply();
            }
            verdict.apply();
        }

        if (meta.reason != Reason.NONE) {
            drops.count((bit<8>)meta.reason);
            for_deparser.drop_ctl = 1;
        }
    }
}
