control InArtIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter<Reason>(ALL_REASONS, CounterType.packets_and_bytes)   drops;
    counter<Outcome>(OUTCOMES, CounterType.packets_and_bytes) outcomes;
    // All that came in, by port: INART frames and others, those that are dropped too.
    counter<bit<9>>(512, CounterType.packets_and_bytes) ingress_inart;
    counter<bit<9>>(512, CounterType.packets_and_bytes) ingress_others;
    direct_counter(CounterType.packets_and_bytes) steer_counter;
    direct_counter(CounterType.packets_and_bytes) results_counter;
    direct_counter(CounterType.packets_and_bytes) updates_counter;
    direct_counter(CounterType.packets_and_bytes) mac_counter;
    direct_counter(CounterType.packets_and_bytes) switch_ports_counter;

    Check() check;
    Aggregate() aggregate;

    action refuse(in Reason reason) {
        meta.reason = reason;
    }

    action forward(bit<9> port, bit<64> members) {
        standard_metadata.egress_spec = port;
        meta.members = members;
        meta.expected = 0;
        meta.outcome = Outcome.FORWARDED;
    }

    // Add into slot `base + (sequence & mask)`; out of `port` once the contributors are those expected.
    action add(bit<9> port, bit<32> base, bit<32> mask, bit<64> members, bit<64> expected) {
        standard_metadata.egress_spec = port;
        meta.members = members;
        meta.expected = expected;
        meta.slot = (slot_t)(base + (hdr.inart.sequence & mask));
        meta.tag = hdr.inart.epoch ++ hdr.inart.job ++ hdr.inart.shard ++ hdr.inart.group;
        meta.shape = hdr.inart.exponent ++ hdr.inart.length ++ (hdr.inart.flags & FLAG_LAST);
    }

    action replicate(bit<16> group) {
        standard_metadata.mcast_grp = group;
    }

    action send(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action flood(bit<16> group) {
        standard_metadata.mcast_grp = group;
    }

    action trust() { }

    // Gradients and partials. The port keeps strangers out, and lets a path cross this switch twice.
    // At a host's port also messages: it may speak as the worker whose gradients come from there.
    table steer {
        key = {
            hdr.inart.epoch: exact @name("epoch");
            hdr.inart.job: exact @name("job");
            hdr.inart.shard: exact @name("shard");
            hdr.inart.worker: exact @name("worker");
            standard_metadata.ingress_port: exact @name("ingress");
        }
        actions = { forward; add; refuse(Reason.NO_ROUTE); }
        const default_action = refuse(Reason.NO_ROUTE);
        counters = steer_counter;
        size = 65536;
    }

    // Results on their way to all workers. At a host's port also messages: it may speak as the server whose results come
    // from there.
    table results {
        key = {
            hdr.inart.epoch: exact @name("epoch");
            hdr.inart.job: exact @name("job");
            hdr.inart.shard: exact @name("shard");
            standard_metadata.ingress_port: exact @name("ingress");
        }
        actions = { replicate; refuse(Reason.NO_RESULT_ROUTE); }
        const default_action = refuse(Reason.NO_RESULT_ROUTE);
        counters = results_counter;
        size = 4096;
    }

    // Updates on their way to the peers in their bitmap: to all ports with peers of that block, of which egress keeps some. At a
    // host's port also messages: it may speak as the peer whose updates come from there.
    table updates {
        key = {
            hdr.inart.epoch: exact @name("epoch");
            hdr.inart.job: exact @name("job");
            hdr.inart.group: exact @name("group");
            hdr.inart.worker: exact @name("worker");
            standard_metadata.ingress_port: exact @name("ingress");
        }
        actions = { replicate; refuse(NO_UPDATE_ROUTE); }
        const default_action = refuse(NO_UPDATE_ROUTE);
        counters = updates_counter;
        size = 65536;
    }

    // Everything else: ordinary traffic, and messages (control and probe frames).
    table mac {
        key = { hdr.ethernet.dst: exact @name("dst"); }
        actions = { send; flood; refuse(Reason.NO_MAC_ROUTE); }
        default_action = refuse(Reason.NO_MAC_ROUTE);
        counters = mac_counter;
        size = 4096;
    }

    // Ports with a switch behind them, which has seen to it that messages come from whom they say.
    table switch_ports {
        key = { standard_metadata.ingress_port: exact @name("ingress"); }
        actions = { trust; @defaultonly NoAction; }
        const default_action = NoAction();
        counters = switch_ports_counter;
        size = 512;
    }

    apply {
        if (hdr.inart.isValid()) {
            ingress_inart.count(standard_metadata.ingress_port);
        } else {
            ingress_others.count(standard_metadata.ingress_port);
        }
        mark_to_drop(standard_metadata);    // unless something below knows better
        check.apply(hdr, standard_metadata, meta.reason);

        if (meta.reason == Reason.NONE) {
            bool result = false;
            bool is_update = false;
            bool claims = false;            // a message from a host: is it who it says?
            if (hdr.inart.isValid() && !hdr.values.isValid()) {
                if (hdr.inart.kind == Kind.RESULT) {
                    result = true;
                } else if (hdr.inart.kind == KIND_UPDATE) {
                    is_update = true;
                } else {
                    claims = !switch_ports.apply().hit;
                }
            }

            if (hdr.values.isValid() || claims) {
                steer.apply();              // as a worker
            }
            if (result || (claims && meta.reason != Reason.NONE)) {
                meta.reason = Reason.NONE;
                results.apply();            // as a server
            }
            if (is_update || (claims && meta.reason != Reason.NONE)) {
                meta.reason = Reason.NONE;
                updates.apply();            // as a peer
            }

            if (hdr.values.isValid()) {
                if (meta.reason == Reason.NONE) {
                    if ((hdr.inart.contributors & ~meta.members) != 0) {
                        meta.reason = Reason.NOT_MEMBER;
                    } else if (meta.expected != 0) {
                        aggregate.apply(hdr, meta);
                    }
                }
            } else if (claims && meta.reason != Reason.NONE) {
                meta.reason = Reason.STRANGER;
            } else if (!result && !is_update) {
                // Not where gradients, results or updates would have gone. p4testgen's mark_to_drop leaves the group as it is.
                mark_to_drop(standard_metadata);
                standard_metadata.mcast_grp = 0;
                mac.apply();
            }
        }

        if (meta.reason != Reason.NONE) {
            drops.count(meta.reason);
            mark_to_drop(standard_metadata);
        } else if (hdr.values.isValid()) {
            outcomes.count(meta.outcome);
            if ((bit<8>)meta.outcome >= (bit<8>)Outcome.STORED) {
                mark_to_drop(standard_metadata);
            }
        }
    }
}
