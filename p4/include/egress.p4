control InArtEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter<bit<9>>(512, CounterType.packets_and_bytes) pruned;    // by port
    counter<bit<9>>(512, CounterType.packets_and_bytes) unwanted;  // copies of updates, by port
    // All that goes out, by port: INART frames and others.
    counter<bit<9>>(512, CounterType.packets_and_bytes) egress_inart;
    counter<bit<9>>(512, CounterType.packets_and_bytes) egress_others;

    direct_counter(CounterType.packets_and_bytes) receivers_counter;

    // Some of the peers in an update's bitmap are behind this port: the copy that leaves by it is theirs alone.
    action narrow(bit<64> members) {
        hdr.inart.contributors = hdr.inart.contributors & members;
    }

    action nobody() {
        hdr.inart.contributors = 0;
    }

    table receivers {
        key = {
            hdr.inart.epoch: exact @name("epoch");
            hdr.inart.job: exact @name("job");
            hdr.inart.group: exact @name("group");
            standard_metadata.egress_port: exact @name("egress");
        }
        actions = { narrow; @defaultonly nobody; }
        const default_action = nobody();
        counters = receivers_counter;
        size = 16384;
    }

    apply {
        if (hdr.inart.isValid() && standard_metadata.deq_qdepth > LONG_QUEUE) {
            hdr.inart.flags = hdr.inart.flags | FLAG_CONGESTION;
        }
        // A flood or multicast must not go back to where it came from. Gradients and partials may: when the server is on
        // the same side as the worker, the way to the aggregator and the trunk back share a port.
        if (standard_metadata.egress_port == standard_metadata.ingress_port && !hdr.values.isValid()) {
            pruned.count(standard_metadata.egress_port);
            mark_to_drop(standard_metadata);
        } else if (hdr.inart.isValid()) {
            if (hdr.inart.kind == KIND_UPDATE) {
                receivers.apply();
            }
            // A copy that nobody behind this port is in the bitmap of.
            if (hdr.inart.kind == KIND_UPDATE && hdr.inart.contributors == 0) {
                unwanted.count(standard_metadata.egress_port);
                mark_to_drop(standard_metadata);
            } else {
                egress_inart.count(standard_metadata.egress_port);
            }
        } else {
            egress_others.count(standard_metadata.egress_port);
        }
    }
}
