control InArtDeparser(packet_out packet, inout ingress_headers_t hdr, in ingress_metadata_t meta,
                      in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        packet.emit(hdr.bridge);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.tags);
        packet.emit(hdr.inart);
    }
}

control InArtEgressDeparser(packet_out packet, inout egress_headers_t hdr, in egress_metadata_t meta,
                            in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.inart);
    }
}
