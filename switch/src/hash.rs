//! The hash algorithms of bmv2's calculations.

/// A hash algorithm, ready to run.
#[derive(Debug)]
pub(crate) enum Algorithm {
    Crc(Box<Crc>),
    Checksum16,
    Xor16,
    Xor32,
    Identity,
    /// TNA's identity: the input is one number.
    Low,
    Xor8,
}

impl Algorithm {
    /// Returns the algorithm bmv2 knows by this name.
    pub fn by_name(name: &str) -> Option<Algorithm> {
        let crc = |width, polynomial, initial, last, reflected| {
            Some(Algorithm::Crc(Box::new(Crc::new(width, polynomial, initial, last, reflected))))
        };
        match name {
            "crc8_custom" => crc(8, 0x07, 0, 0, false),
            "crc16" | "crc16_custom" => crc(16, 0x8005, 0, 0, true),
            "crcCCITT" => crc(16, 0x1021, 0xffff, 0, false),
            "crc32" | "crc32_custom" => crc(32, 0x04c1_1db7, 0xffff_ffff, 0xffff_ffff, true),
            "crc64_custom" => crc(64, 0x1b, 0, 0, true),
            "csum16" | "cksum16" => Some(Algorithm::Checksum16),
            "xor16" => Some(Algorithm::Xor16),
            "xor32" => Some(Algorithm::Xor32),
            "identity" => Some(Algorithm::Identity),
            _ => None,
        }
    }

    pub fn run(&self, input: &[u8]) -> u64 {
        match self {
            Algorithm::Crc(crc) => crc.run(input),
            Algorithm::Checksum16 => u64::from(checksum16(input)),
            Algorithm::Xor16 => xor::<2>(input),
            Algorithm::Xor32 => xor::<4>(input),
            Algorithm::Low => input.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)),
            Algorithm::Xor8 => xor::<1>(input),
            Algorithm::Identity => input.iter().take(8).fold(0, |value, &byte| value << 8 | u64::from(byte)),
        }
    }
}

/// A CRC of up to 64 bits, a byte at a time. Reflected ones run on reflected registers.
#[derive(Debug)]
pub(crate) struct Crc {
    width: u32,
    initial: u64,
    last: u64,
    reflected: bool,
    table: [u64; 256],
}

impl Crc {
    pub fn new(width: u32, polynomial: u64, initial: u64, last: u64, reflected: bool) -> Crc {
        // The register sits at the top of 64 bits when not reflected, at the bottom otherwise.
        let (polynomial, initial) = if reflected {
            ((polynomial << (64 - width)).reverse_bits(), (initial << (64 - width)).reverse_bits())
        } else {
            (polynomial << (64 - width), initial << (64 - width))
        };
        let mut table = [0; 256];
        for (byte, entry) in (0u64..).zip(&mut table) {
            let mut register = if reflected { byte } else { byte << 56 };
            for _ in 0..8 {
                register = match reflected {
                    true if register & 1 == 1 => register >> 1 ^ polynomial,
                    true => register >> 1,
                    false if register >> 63 == 1 => register << 1 ^ polynomial,
                    false => register << 1,
                };
            }
            *entry = register;
        }
        Crc { width, initial, last, reflected, table }
    }

    fn run(&self, input: &[u8]) -> u64 {
        let register = input.iter().fold(self.initial, |register, &byte| {
            if self.reflected {
                self.table[(register as u8 ^ byte) as usize] ^ register >> 8
            } else {
                self.table[((register >> 56) as u8 ^ byte) as usize] ^ register << 8
            }
        });
        self.last ^ if self.reflected { register } else { register >> (64 - self.width) }
    }
}

/// Returns the Internet checksum.
pub(crate) fn checksum16(input: &[u8]) -> u16 {
    let (pairs, odd) = input.as_chunks::<2>();
    let mut sum: u64 = pairs.iter().map(|&pair| u64::from(u16::from_be_bytes(pair))).sum();
    sum += odd.first().map_or(0, |&byte| u64::from(byte) << 8);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn xor<const N: usize>(input: &[u8]) -> u64 {
    input.chunks(N).fold(0, |value, chunk| {
        let mut word = [0; 8];
        word[8 - N..8 - N + chunk.len()].copy_from_slice(chunk);
        value ^ u64::from_be_bytes(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_values() {
        // The customary check input of the CRC catalog.
        let run = |name| Algorithm::by_name(name).expect("known").run(b"123456789");
        assert_eq!(run("crc8_custom"), 0xf4);
        assert_eq!(run("crc16"), 0xbb3d);
        assert_eq!(run("crcCCITT"), 0x29b1);
        assert_eq!(run("crc32"), 0xcbf4_3926);
        assert_eq!(run("identity"), 0x3132_3334_3536_3738);
        assert_eq!(run("xor16"), 0x3132 ^ 0x3334 ^ 0x3536 ^ 0x3738 ^ 0x3900);
    }

    #[test]
    fn internet_checksum() {
        // RFC 1071, section 3.
        assert_eq!(checksum16(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum16(&[0xff]), 0x00ff);
    }
}
