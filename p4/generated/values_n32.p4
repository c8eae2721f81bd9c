// Printed by p4/src/generate.rs: change that, not this.

const bit<16> VALUES = 32;

header values_h {
    bit<32> v0;
    bit<32> v1;
    bit<32> v2;
    bit<32> v3;
    bit<32> v4;
    bit<32> v5;
    bit<32> v6;
    bit<32> v7;
    bit<32> v8;
    bit<32> v9;
    bit<32> v10;
    bit<32> v11;
    bit<32> v12;
    bit<32> v13;
    bit<32> v14;
    bit<32> v15;
    bit<32> v16;
    bit<32> v17;
    bit<32> v18;
    bit<32> v19;
    bit<32> v20;
    bit<32> v21;
    bit<32> v22;
    bit<32> v23;
    bit<32> v24;
    bit<32> v25;
    bit<32> v26;
    bit<32> v27;
    bit<32> v28;
    bit<32> v29;
    bit<32> v30;
    bit<32> v31;
}

// The values of the slots, two's complement. Unsigned, since bmv2 forgets the sign of a signed register.
control SlotValues(inout values_h values, inout metadata_t meta) {
    register<bit<32>, slot_t>(SLOTS) value_0;
    register<bit<32>, slot_t>(SLOTS) value_1;
    register<bit<32>, slot_t>(SLOTS) value_2;
    register<bit<32>, slot_t>(SLOTS) value_3;
    register<bit<32>, slot_t>(SLOTS) value_4;
    register<bit<32>, slot_t>(SLOTS) value_5;
    register<bit<32>, slot_t>(SLOTS) value_6;
    register<bit<32>, slot_t>(SLOTS) value_7;
    register<bit<32>, slot_t>(SLOTS) value_8;
    register<bit<32>, slot_t>(SLOTS) value_9;
    register<bit<32>, slot_t>(SLOTS) value_10;
    register<bit<32>, slot_t>(SLOTS) value_11;
    register<bit<32>, slot_t>(SLOTS) value_12;
    register<bit<32>, slot_t>(SLOTS) value_13;
    register<bit<32>, slot_t>(SLOTS) value_14;
    register<bit<32>, slot_t>(SLOTS) value_15;
    register<bit<32>, slot_t>(SLOTS) value_16;
    register<bit<32>, slot_t>(SLOTS) value_17;
    register<bit<32>, slot_t>(SLOTS) value_18;
    register<bit<32>, slot_t>(SLOTS) value_19;
    register<bit<32>, slot_t>(SLOTS) value_20;
    register<bit<32>, slot_t>(SLOTS) value_21;
    register<bit<32>, slot_t>(SLOTS) value_22;
    register<bit<32>, slot_t>(SLOTS) value_23;
    register<bit<32>, slot_t>(SLOTS) value_24;
    register<bit<32>, slot_t>(SLOTS) value_25;
    register<bit<32>, slot_t>(SLOTS) value_26;
    register<bit<32>, slot_t>(SLOTS) value_27;
    register<bit<32>, slot_t>(SLOTS) value_28;
    register<bit<32>, slot_t>(SLOTS) value_29;
    register<bit<32>, slot_t>(SLOTS) value_30;
    register<bit<32>, slot_t>(SLOTS) value_31;

    // A sum did not fit if its sign is neither term's: the sign bit of `overflow` remembers that of any sum.
    @hidden action add_values() {
        value_0.read(meta.stored, meta.slot);
        values.v0 = values.v0 + meta.stored;
        meta.overflow = meta.overflow | (((values.v0 - meta.stored) ^ values.v0) & (meta.stored ^ values.v0));
        value_1.read(meta.stored, meta.slot);
        values.v1 = values.v1 + meta.stored;
        meta.overflow = meta.overflow | (((values.v1 - meta.stored) ^ values.v1) & (meta.stored ^ values.v1));
        value_2.read(meta.stored, meta.slot);
        values.v2 = values.v2 + meta.stored;
        meta.overflow = meta.overflow | (((values.v2 - meta.stored) ^ values.v2) & (meta.stored ^ values.v2));
        value_3.read(meta.stored, meta.slot);
        values.v3 = values.v3 + meta.stored;
        meta.overflow = meta.overflow | (((values.v3 - meta.stored) ^ values.v3) & (meta.stored ^ values.v3));
        value_4.read(meta.stored, meta.slot);
        values.v4 = values.v4 + meta.stored;
        meta.overflow = meta.overflow | (((values.v4 - meta.stored) ^ values.v4) & (meta.stored ^ values.v4));
        value_5.read(meta.stored, meta.slot);
        values.v5 = values.v5 + meta.stored;
        meta.overflow = meta.overflow | (((values.v5 - meta.stored) ^ values.v5) & (meta.stored ^ values.v5));
        value_6.read(meta.stored, meta.slot);
        values.v6 = values.v6 + meta.stored;
        meta.overflow = meta.overflow | (((values.v6 - meta.stored) ^ values.v6) & (meta.stored ^ values.v6));
        value_7.read(meta.stored, meta.slot);
        values.v7 = values.v7 + meta.stored;
        meta.overflow = meta.overflow | (((values.v7 - meta.stored) ^ values.v7) & (meta.stored ^ values.v7));
        value_8.read(meta.stored, meta.slot);
        values.v8 = values.v8 + meta.stored;
        meta.overflow = meta.overflow | (((values.v8 - meta.stored) ^ values.v8) & (meta.stored ^ values.v8));
        value_9.read(meta.stored, meta.slot);
        values.v9 = values.v9 + meta.stored;
        meta.overflow = meta.overflow | (((values.v9 - meta.stored) ^ values.v9) & (meta.stored ^ values.v9));
        value_10.read(meta.stored, meta.slot);
        values.v10 = values.v10 + meta.stored;
        meta.overflow = meta.overflow | (((values.v10 - meta.stored) ^ values.v10) & (meta.stored ^ values.v10));
        value_11.read(meta.stored, meta.slot);
        values.v11 = values.v11 + meta.stored;
        meta.overflow = meta.overflow | (((values.v11 - meta.stored) ^ values.v11) & (meta.stored ^ values.v11));
        value_12.read(meta.stored, meta.slot);
        values.v12 = values.v12 + meta.stored;
        meta.overflow = meta.overflow | (((values.v12 - meta.stored) ^ values.v12) & (meta.stored ^ values.v12));
        value_13.read(meta.stored, meta.slot);
        values.v13 = values.v13 + meta.stored;
        meta.overflow = meta.overflow | (((values.v13 - meta.stored) ^ values.v13) & (meta.stored ^ values.v13));
        value_14.read(meta.stored, meta.slot);
        values.v14 = values.v14 + meta.stored;
        meta.overflow = meta.overflow | (((values.v14 - meta.stored) ^ values.v14) & (meta.stored ^ values.v14));
        value_15.read(meta.stored, meta.slot);
        values.v15 = values.v15 + meta.stored;
        meta.overflow = meta.overflow | (((values.v15 - meta.stored) ^ values.v15) & (meta.stored ^ values.v15));
        value_16.read(meta.stored, meta.slot);
        values.v16 = values.v16 + meta.stored;
        meta.overflow = meta.overflow | (((values.v16 - meta.stored) ^ values.v16) & (meta.stored ^ values.v16));
        value_17.read(meta.stored, meta.slot);
        values.v17 = values.v17 + meta.stored;
        meta.overflow = meta.overflow | (((values.v17 - meta.stored) ^ values.v17) & (meta.stored ^ values.v17));
        value_18.read(meta.stored, meta.slot);
        values.v18 = values.v18 + meta.stored;
        meta.overflow = meta.overflow | (((values.v18 - meta.stored) ^ values.v18) & (meta.stored ^ values.v18));
        value_19.read(meta.stored, meta.slot);
        values.v19 = values.v19 + meta.stored;
        meta.overflow = meta.overflow | (((values.v19 - meta.stored) ^ values.v19) & (meta.stored ^ values.v19));
        value_20.read(meta.stored, meta.slot);
        values.v20 = values.v20 + meta.stored;
        meta.overflow = meta.overflow | (((values.v20 - meta.stored) ^ values.v20) & (meta.stored ^ values.v20));
        value_21.read(meta.stored, meta.slot);
        values.v21 = values.v21 + meta.stored;
        meta.overflow = meta.overflow | (((values.v21 - meta.stored) ^ values.v21) & (meta.stored ^ values.v21));
        value_22.read(meta.stored, meta.slot);
        values.v22 = values.v22 + meta.stored;
        meta.overflow = meta.overflow | (((values.v22 - meta.stored) ^ values.v22) & (meta.stored ^ values.v22));
        value_23.read(meta.stored, meta.slot);
        values.v23 = values.v23 + meta.stored;
        meta.overflow = meta.overflow | (((values.v23 - meta.stored) ^ values.v23) & (meta.stored ^ values.v23));
        value_24.read(meta.stored, meta.slot);
        values.v24 = values.v24 + meta.stored;
        meta.overflow = meta.overflow | (((values.v24 - meta.stored) ^ values.v24) & (meta.stored ^ values.v24));
        value_25.read(meta.stored, meta.slot);
        values.v25 = values.v25 + meta.stored;
        meta.overflow = meta.overflow | (((values.v25 - meta.stored) ^ values.v25) & (meta.stored ^ values.v25));
        value_26.read(meta.stored, meta.slot);
        values.v26 = values.v26 + meta.stored;
        meta.overflow = meta.overflow | (((values.v26 - meta.stored) ^ values.v26) & (meta.stored ^ values.v26));
        value_27.read(meta.stored, meta.slot);
        values.v27 = values.v27 + meta.stored;
        meta.overflow = meta.overflow | (((values.v27 - meta.stored) ^ values.v27) & (meta.stored ^ values.v27));
        value_28.read(meta.stored, meta.slot);
        values.v28 = values.v28 + meta.stored;
        meta.overflow = meta.overflow | (((values.v28 - meta.stored) ^ values.v28) & (meta.stored ^ values.v28));
        value_29.read(meta.stored, meta.slot);
        values.v29 = values.v29 + meta.stored;
        meta.overflow = meta.overflow | (((values.v29 - meta.stored) ^ values.v29) & (meta.stored ^ values.v29));
        value_30.read(meta.stored, meta.slot);
        values.v30 = values.v30 + meta.stored;
        meta.overflow = meta.overflow | (((values.v30 - meta.stored) ^ values.v30) & (meta.stored ^ values.v30));
        value_31.read(meta.stored, meta.slot);
        values.v31 = values.v31 + meta.stored;
        meta.overflow = meta.overflow | (((values.v31 - meta.stored) ^ values.v31) & (meta.stored ^ values.v31));
    }

    // After add_values, which wrapped: take the slot's value away again and add it as it should be.
    @hidden action saturate_values() {
        meta.flags = meta.flags | FLAG_OVERFLOW;
        value_0.read(meta.stored, meta.slot);
        values.v0 = (bit<32>)((int<32>)(values.v0 - meta.stored) |+| (int<32>)meta.stored);
        value_1.read(meta.stored, meta.slot);
        values.v1 = (bit<32>)((int<32>)(values.v1 - meta.stored) |+| (int<32>)meta.stored);
        value_2.read(meta.stored, meta.slot);
        values.v2 = (bit<32>)((int<32>)(values.v2 - meta.stored) |+| (int<32>)meta.stored);
        value_3.read(meta.stored, meta.slot);
        values.v3 = (bit<32>)((int<32>)(values.v3 - meta.stored) |+| (int<32>)meta.stored);
        value_4.read(meta.stored, meta.slot);
        values.v4 = (bit<32>)((int<32>)(values.v4 - meta.stored) |+| (int<32>)meta.stored);
        value_5.read(meta.stored, meta.slot);
        values.v5 = (bit<32>)((int<32>)(values.v5 - meta.stored) |+| (int<32>)meta.stored);
        value_6.read(meta.stored, meta.slot);
        values.v6 = (bit<32>)((int<32>)(values.v6 - meta.stored) |+| (int<32>)meta.stored);
        value_7.read(meta.stored, meta.slot);
        values.v7 = (bit<32>)((int<32>)(values.v7 - meta.stored) |+| (int<32>)meta.stored);
        value_8.read(meta.stored, meta.slot);
        values.v8 = (bit<32>)((int<32>)(values.v8 - meta.stored) |+| (int<32>)meta.stored);
        value_9.read(meta.stored, meta.slot);
        values.v9 = (bit<32>)((int<32>)(values.v9 - meta.stored) |+| (int<32>)meta.stored);
        value_10.read(meta.stored, meta.slot);
        values.v10 = (bit<32>)((int<32>)(values.v10 - meta.stored) |+| (int<32>)meta.stored);
        value_11.read(meta.stored, meta.slot);
        values.v11 = (bit<32>)((int<32>)(values.v11 - meta.stored) |+| (int<32>)meta.stored);
        value_12.read(meta.stored, meta.slot);
        values.v12 = (bit<32>)((int<32>)(values.v12 - meta.stored) |+| (int<32>)meta.stored);
        value_13.read(meta.stored, meta.slot);
        values.v13 = (bit<32>)((int<32>)(values.v13 - meta.stored) |+| (int<32>)meta.stored);
        value_14.read(meta.stored, meta.slot);
        values.v14 = (bit<32>)((int<32>)(values.v14 - meta.stored) |+| (int<32>)meta.stored);
        value_15.read(meta.stored, meta.slot);
        values.v15 = (bit<32>)((int<32>)(values.v15 - meta.stored) |+| (int<32>)meta.stored);
        value_16.read(meta.stored, meta.slot);
        values.v16 = (bit<32>)((int<32>)(values.v16 - meta.stored) |+| (int<32>)meta.stored);
        value_17.read(meta.stored, meta.slot);
        values.v17 = (bit<32>)((int<32>)(values.v17 - meta.stored) |+| (int<32>)meta.stored);
        value_18.read(meta.stored, meta.slot);
        values.v18 = (bit<32>)((int<32>)(values.v18 - meta.stored) |+| (int<32>)meta.stored);
        value_19.read(meta.stored, meta.slot);
        values.v19 = (bit<32>)((int<32>)(values.v19 - meta.stored) |+| (int<32>)meta.stored);
        value_20.read(meta.stored, meta.slot);
        values.v20 = (bit<32>)((int<32>)(values.v20 - meta.stored) |+| (int<32>)meta.stored);
        value_21.read(meta.stored, meta.slot);
        values.v21 = (bit<32>)((int<32>)(values.v21 - meta.stored) |+| (int<32>)meta.stored);
        value_22.read(meta.stored, meta.slot);
        values.v22 = (bit<32>)((int<32>)(values.v22 - meta.stored) |+| (int<32>)meta.stored);
        value_23.read(meta.stored, meta.slot);
        values.v23 = (bit<32>)((int<32>)(values.v23 - meta.stored) |+| (int<32>)meta.stored);
        value_24.read(meta.stored, meta.slot);
        values.v24 = (bit<32>)((int<32>)(values.v24 - meta.stored) |+| (int<32>)meta.stored);
        value_25.read(meta.stored, meta.slot);
        values.v25 = (bit<32>)((int<32>)(values.v25 - meta.stored) |+| (int<32>)meta.stored);
        value_26.read(meta.stored, meta.slot);
        values.v26 = (bit<32>)((int<32>)(values.v26 - meta.stored) |+| (int<32>)meta.stored);
        value_27.read(meta.stored, meta.slot);
        values.v27 = (bit<32>)((int<32>)(values.v27 - meta.stored) |+| (int<32>)meta.stored);
        value_28.read(meta.stored, meta.slot);
        values.v28 = (bit<32>)((int<32>)(values.v28 - meta.stored) |+| (int<32>)meta.stored);
        value_29.read(meta.stored, meta.slot);
        values.v29 = (bit<32>)((int<32>)(values.v29 - meta.stored) |+| (int<32>)meta.stored);
        value_30.read(meta.stored, meta.slot);
        values.v30 = (bit<32>)((int<32>)(values.v30 - meta.stored) |+| (int<32>)meta.stored);
        value_31.read(meta.stored, meta.slot);
        values.v31 = (bit<32>)((int<32>)(values.v31 - meta.stored) |+| (int<32>)meta.stored);
    }

    // Of sizes the greatest counts: what a value has above the slot's, and the slot's.
    @hidden action raise_values() {
        value_0.read(meta.stored, meta.slot);
        values.v0 = (values.v0 |-| meta.stored) + meta.stored;
        value_1.read(meta.stored, meta.slot);
        values.v1 = (values.v1 |-| meta.stored) + meta.stored;
        value_2.read(meta.stored, meta.slot);
        values.v2 = (values.v2 |-| meta.stored) + meta.stored;
        value_3.read(meta.stored, meta.slot);
        values.v3 = (values.v3 |-| meta.stored) + meta.stored;
        value_4.read(meta.stored, meta.slot);
        values.v4 = (values.v4 |-| meta.stored) + meta.stored;
        value_5.read(meta.stored, meta.slot);
        values.v5 = (values.v5 |-| meta.stored) + meta.stored;
        value_6.read(meta.stored, meta.slot);
        values.v6 = (values.v6 |-| meta.stored) + meta.stored;
        value_7.read(meta.stored, meta.slot);
        values.v7 = (values.v7 |-| meta.stored) + meta.stored;
        value_8.read(meta.stored, meta.slot);
        values.v8 = (values.v8 |-| meta.stored) + meta.stored;
        value_9.read(meta.stored, meta.slot);
        values.v9 = (values.v9 |-| meta.stored) + meta.stored;
        value_10.read(meta.stored, meta.slot);
        values.v10 = (values.v10 |-| meta.stored) + meta.stored;
        value_11.read(meta.stored, meta.slot);
        values.v11 = (values.v11 |-| meta.stored) + meta.stored;
        value_12.read(meta.stored, meta.slot);
        values.v12 = (values.v12 |-| meta.stored) + meta.stored;
        value_13.read(meta.stored, meta.slot);
        values.v13 = (values.v13 |-| meta.stored) + meta.stored;
        value_14.read(meta.stored, meta.slot);
        values.v14 = (values.v14 |-| meta.stored) + meta.stored;
        value_15.read(meta.stored, meta.slot);
        values.v15 = (values.v15 |-| meta.stored) + meta.stored;
        value_16.read(meta.stored, meta.slot);
        values.v16 = (values.v16 |-| meta.stored) + meta.stored;
        value_17.read(meta.stored, meta.slot);
        values.v17 = (values.v17 |-| meta.stored) + meta.stored;
        value_18.read(meta.stored, meta.slot);
        values.v18 = (values.v18 |-| meta.stored) + meta.stored;
        value_19.read(meta.stored, meta.slot);
        values.v19 = (values.v19 |-| meta.stored) + meta.stored;
        value_20.read(meta.stored, meta.slot);
        values.v20 = (values.v20 |-| meta.stored) + meta.stored;
        value_21.read(meta.stored, meta.slot);
        values.v21 = (values.v21 |-| meta.stored) + meta.stored;
        value_22.read(meta.stored, meta.slot);
        values.v22 = (values.v22 |-| meta.stored) + meta.stored;
        value_23.read(meta.stored, meta.slot);
        values.v23 = (values.v23 |-| meta.stored) + meta.stored;
        value_24.read(meta.stored, meta.slot);
        values.v24 = (values.v24 |-| meta.stored) + meta.stored;
        value_25.read(meta.stored, meta.slot);
        values.v25 = (values.v25 |-| meta.stored) + meta.stored;
        value_26.read(meta.stored, meta.slot);
        values.v26 = (values.v26 |-| meta.stored) + meta.stored;
        value_27.read(meta.stored, meta.slot);
        values.v27 = (values.v27 |-| meta.stored) + meta.stored;
        value_28.read(meta.stored, meta.slot);
        values.v28 = (values.v28 |-| meta.stored) + meta.stored;
        value_29.read(meta.stored, meta.slot);
        values.v29 = (values.v29 |-| meta.stored) + meta.stored;
        value_30.read(meta.stored, meta.slot);
        values.v30 = (values.v30 |-| meta.stored) + meta.stored;
        value_31.read(meta.stored, meta.slot);
        values.v31 = (values.v31 |-| meta.stored) + meta.stored;
    }

    @hidden action store_values() {
        value_0.write(meta.slot, values.v0);
        value_1.write(meta.slot, values.v1);
        value_2.write(meta.slot, values.v2);
        value_3.write(meta.slot, values.v3);
        value_4.write(meta.slot, values.v4);
        value_5.write(meta.slot, values.v5);
        value_6.write(meta.slot, values.v6);
        value_7.write(meta.slot, values.v7);
        value_8.write(meta.slot, values.v8);
        value_9.write(meta.slot, values.v9);
        value_10.write(meta.slot, values.v10);
        value_11.write(meta.slot, values.v11);
        value_12.write(meta.slot, values.v12);
        value_13.write(meta.slot, values.v13);
        value_14.write(meta.slot, values.v14);
        value_15.write(meta.slot, values.v15);
        value_16.write(meta.slot, values.v16);
        value_17.write(meta.slot, values.v17);
        value_18.write(meta.slot, values.v18);
        value_19.write(meta.slot, values.v19);
        value_20.write(meta.slot, values.v20);
        value_21.write(meta.slot, values.v21);
        value_22.write(meta.slot, values.v22);
        value_23.write(meta.slot, values.v23);
        value_24.write(meta.slot, values.v24);
        value_25.write(meta.slot, values.v25);
        value_26.write(meta.slot, values.v26);
        value_27.write(meta.slot, values.v27);
        value_28.write(meta.slot, values.v28);
        value_29.write(meta.slot, values.v29);
        value_30.write(meta.slot, values.v30);
        value_31.write(meta.slot, values.v31);
    }

    @hidden action load_values() {
        value_0.read(values.v0, meta.slot);
        value_1.read(values.v1, meta.slot);
        value_2.read(values.v2, meta.slot);
        value_3.read(values.v3, meta.slot);
        value_4.read(values.v4, meta.slot);
        value_5.read(values.v5, meta.slot);
        value_6.read(values.v6, meta.slot);
        value_7.read(values.v7, meta.slot);
        value_8.read(values.v8, meta.slot);
        value_9.read(values.v9, meta.slot);
        value_10.read(values.v10, meta.slot);
        value_11.read(values.v11, meta.slot);
        value_12.read(values.v12, meta.slot);
        value_13.read(values.v13, meta.slot);
        value_14.read(values.v14, meta.slot);
        value_15.read(values.v15, meta.slot);
        value_16.read(values.v16, meta.slot);
        value_17.read(values.v17, meta.slot);
        value_18.read(values.v18, meta.slot);
        value_19.read(values.v19, meta.slot);
        value_20.read(values.v20, meta.slot);
        value_21.read(values.v21, meta.slot);
        value_22.read(values.v22, meta.slot);
        value_23.read(values.v23, meta.slot);
        value_24.read(values.v24, meta.slot);
        value_25.read(values.v25, meta.slot);
        value_26.read(values.v26, meta.slot);
        value_27.read(values.v27, meta.slot);
        value_28.read(values.v28, meta.slot);
        value_29.read(values.v29, meta.slot);
        value_30.read(values.v30, meta.slot);
        value_31.read(values.v31, meta.slot);
    }

    apply {
        if (meta.outcome == Outcome.ADDED) {
            if (meta.shape[31:24] == EXPONENT_MAXIMA) {
                raise_values();
            } else {
                add_values();
                if (meta.overflow[31:31] == 1) {
                    saturate_values();
                }
            }
        }
        if (meta.outcome == Outcome.STORED || meta.outcome == Outcome.ADDED) {
            store_values();
        } else if (meta.outcome == Outcome.REPEATED) {
            load_values();
        }
    }
}
