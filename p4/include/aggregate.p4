// The slot rules of docs/protocol.md, in their order. Soft state: a slot that holds anything but what the frame needs is
// taken over or left alone, never added to.
control Aggregate(inout headers_t hdr, inout metadata_t meta) {
    register<bit<56>, slot_t>(SLOTS) tags;
    register<bit<32>, slot_t>(SLOTS) incarnations;  // the rest of the tag; apart, since more than 64 bits are slow
    register<bit<32>, slot_t>(SLOTS) sequences;
    register<bit<32>, slot_t>(SLOTS) shapes;
    register<bit<64>, slot_t>(SLOTS) contributors;
    register<bit<8>, slot_t>(SLOTS)  flags;
    register<bit<64>, slot_t>(SLOTS) asked;     // who repeated since the complete partial last left
    SlotValues() slot_values;

    bit<56> tag;
    bit<32> incarnation;
    bit<32> sequence;
    bit<32> shape;
    bit<64> askers;

    apply {
        if ((hdr.inart.flags & FLAG_BYPASS) != 0) {
            meta.outcome = Outcome.BYPASSED;
        } else {
            tags.read(tag, meta.slot);
            incarnations.read(incarnation, meta.slot);
            sequences.read(sequence, meta.slot);
            shapes.read(shape, meta.slot);
            contributors.read(meta.contributors, meta.slot);
            flags.read(meta.flags, meta.slot);
            meta.overflow = 0;
            int<32> age = (int<32>)(hdr.inart.sequence - sequence);

            if (meta.contributors == 0 || tag != meta.tag || incarnation != hdr.inart.incarnation || age > 0) {
                meta.outcome = Outcome.STORED;
                meta.contributors = 0;
                meta.flags = 0;
                tags.write(meta.slot, meta.tag);
                incarnations.write(meta.slot, hdr.inart.incarnation);
                sequences.write(meta.slot, hdr.inart.sequence);
                shapes.write(meta.slot, meta.shape);
            } else if (age < 0) {
                meta.outcome = Outcome.STALE;
            } else if (shape != meta.shape) {
                meta.outcome = Outcome.OTHER_SHAPE;
            } else if ((hdr.inart.contributors & meta.contributors) == 0) {
                meta.outcome = Outcome.ADDED;
            } else if ((hdr.inart.contributors & ~meta.contributors) != 0) {
                meta.outcome = Outcome.OVERLAP;
            } else if (meta.contributors != meta.expected) {
                meta.outcome = Outcome.ABSORBED;
            } else {
                // Once per wave of repeats: for the first, and for whoever asks again.
                asked.read(askers, meta.slot);
                if (askers == 0 || (askers & hdr.inart.contributors) != 0) {
                    meta.outcome = Outcome.REPEATED;
                    askers = 0;
                } else {
                    meta.outcome = Outcome.ABSORBED;
                }
                asked.write(meta.slot, askers | hdr.inart.contributors);
            }

            slot_values.apply(hdr.values, meta);

            if (meta.outcome == Outcome.STORED || meta.outcome == Outcome.ADDED) {
                meta.contributors = meta.contributors | hdr.inart.contributors;
                meta.flags = meta.flags | (hdr.inart.flags & FLAGS_STICKY);
                contributors.write(meta.slot, meta.contributors);
                flags.write(meta.slot, meta.flags);
                if (meta.contributors == meta.expected) {
                    meta.outcome = Outcome.COMPLETED;
                    // Completed by a repeat: the others' repeats of that wave are on their way.
                    askers = 0;
                    if ((hdr.inart.flags & FLAG_RESEND) != 0) {
                        askers = hdr.inart.contributors;
                    }
                    asked.write(meta.slot, askers);
                }
            }
            if (meta.outcome == Outcome.COMPLETED || meta.outcome == Outcome.REPEATED) {
                hdr.inart.kind = Kind.PARTIAL;
                hdr.inart.contributors = meta.contributors;
                hdr.inart.flags = hdr.inart.flags | meta.flags;
            }
        }
    }
}
