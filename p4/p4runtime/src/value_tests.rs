use proptest::prelude::*;

use super::*;

#[test]
fn leading_zeros_go_and_zero_is_one_byte() {
    assert_eq!(Value::from_bytes(&[0, 0, 1, 2]).unwrap().as_bytes(), [1, 2]);
    assert_eq!(Value::from_bytes(&[0, 0]).unwrap().as_bytes(), [0]);
    assert_eq!(Value::from(0u64).as_bytes(), [0]);
    assert_eq!(Value::from_bytes(&[]), Err(ValueError::Empty));
}

#[test]
fn widths_of_the_specifications_examples() {
    // Table "Examples of Valid Bytestring Encoding" and its counterpart of invalid ones.
    let fits = |bytes: &[u8], width| Value::from_bytes(bytes).unwrap().check_width(width).is_ok();
    assert!(
        fits(&[0x63], 8) && fits(&[0, 0x63], 16) && fits(&[0, 0x30, 0x64], 16) && fits(&[0, 0, 0x63], 12)
    );
    assert!(!fits(&[1, 0x63], 8) && !fits(&[1, 0, 0x63], 16) && !fits(&[0x10, 0x63], 12));
    assert!(!fits(&[0, 0x40, 0x63], 12));
}

#[test]
fn masks() {
    assert_eq!(Value::ones(9), Value::from(0x1ffu16));
    assert_eq!(Value::ones(8), Value::from(0xffu8));
    assert_eq!(Value::prefix_mask(24, 32), Value::from(0xffff_ff00u32));
    assert_eq!(Value::prefix_mask(0, 32), Value::from(0u8));
    assert_eq!(Value::prefix_mask(3, 9), Value::from(0b1_1100_0000u16));
}

proptest! {
    #[test]
    fn order_width_and_text_agree_with_integers(a: u128, b: u64) {
        let (x, y) = (Value::from(a), Value::from(b));
        prop_assert_eq!(x.cmp(&y), a.cmp(&u128::from(b)));
        prop_assert_eq!(x.to_u128(), Some(a));
        prop_assert_eq!(x.bit_len(), 128 - a.leading_zeros());
        prop_assert_eq!(y.to_string(), b.to_string());
        prop_assert_eq!(x.masked(&y), Value::from(a & u128::from(b)));
        prop_assert_eq!(Value::from_bytes(&x.padded(128)).unwrap(), x);
    }
}
