control InArtDeparser(packet_out packet, inout ingress_headers_t hdr, in ingress_metadata_t meta,
                      in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        packet.emit(hdr.bridge);
#if PASSES == 2
        packet.emit(hdr.again);
#endif
        packet.emit(hdr.ethernet);
        packet.emit(hdr.tags);
        packet.emit(hdr.inart);
#if PASSES == 2
        packet.emit(hdr.front_done);
        packet.emit(hdr.front);
        packet.emit(hdr.front_later);
        packet.emit(hdr.rest_done);
#else
        packet.emit(hdr.front);
#endif
        packet.emit(hdr.rest);
#if PASSES == 2
        packet.emit(hdr.rest_later);
#endif
    }
}

control InArtEgressDeparser(packet_out packet, inout egress_headers_t hdr, in egress_metadata_t meta,
                            in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
#if PASSES == 2
        packet.emit(hdr.again);
#endif
        packet.emit(hdr.ethernet);
        packet.emit(hdr.inart);
#if PASSES == 2
        packet.emit(hdr.front_done);
#endif
        packet.emit(hdr.front);
    }
}
