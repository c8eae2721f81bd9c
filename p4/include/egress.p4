control InArtEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter<bit<9>>(512, CounterType.packets_and_bytes) pruned;    // by port
    // All that goes out, by port: INART frames and others.
    counter<bit<9>>(512, CounterType.packets_and_bytes) egress_inart;
    counter<bit<9>>(512, CounterType.packets_and_bytes) egress_others;

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
            egress_inart.count(standard_metadata.egress_port);
        } else {
            egress_others.count(standard_metadata.egress_port);
        }
    }
}
