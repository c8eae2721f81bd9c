//! The compression of committed artifacts: xz, which `xz -dc` reads too.

use std::io::{self, Cursor, Write};

use lzma_rust2::{Action, Status, XzOptions, XzStream, XzWriter, xz_uncompressed_size};

/// Limit of an artifact's length, in bytes, decompressed: 16 MiB. The longest artifact has 6.3 MB.
///
/// The compressor's dictionary has this size, so it finds repetitions anywhere in an artifact.
pub const LONGEST: u32 = 16 << 20;

/// Limit of the memory that a decompression takes in addition to its output, in KiB: 66 MiB.
///
/// The dictionary of `xz -9` has 64 MiB.
const MEMORY_KIB: u32 = 66 << 10;

/// Error of compression or decompression.
#[derive(Debug, thiserror::Error)]
pub enum CompressionError {
    /// The decompressed bytes are too many.
    #[error("{bytes} bytes when decompressed, more than {LONGEST}")]
    TooLong {
        /// Length in bytes.
        bytes: u64,
    },
    /// The input is not an xz file, or is damaged.
    #[error("not a whole xz file: {0}")]
    Damaged(#[from] io::Error),
    /// The file has more or less than it states.
    #[error("not one xz stream of the length that it states")]
    OtherLength,
    /// The decompressed text is not UTF-8.
    #[error("not UTF-8 when decompressed")]
    NotText,
}

/// Compresses `contents` to an xz file. Equal contents give equal files.
///
/// # Errors
/// If `contents` has more than [`LONGEST`] bytes.
pub fn compress(contents: &[u8]) -> Result<Vec<u8>, CompressionError> {
    check_length(contents.len() as u64)?;
    // The settings of `xz -9e`, but for the dictionary.
    let mut options = XzOptions::with_preset(9);
    options.lzma_options.dict_size = LONGEST;
    options.lzma_options.nice_len = 273;
    options.lzma_options.depth_limit = 512;
    let compressed = XzWriter::new(Vec::new(), options).and_then(|mut writer| {
        writer.write_all(contents)?;
        writer.finish()
    });
    Ok(compressed.expect("the options are valid, and memory takes what is written"))
}

/// Decompresses an xz file of one stream.
///
/// Checks the length that the file states, allocates as much for the output, and stops there.
///
/// # Errors
/// If the file is damaged, has bytes behind the stream, or states more than [`LONGEST`] bytes.
pub fn decompress(file: &[u8]) -> Result<Vec<u8>, CompressionError> {
    let bytes = xz_uncompressed_size(Cursor::new(file))?;
    check_length(bytes)?;
    let mut contents = vec![0; bytes as usize];
    let mut stream = XzStream::new_mem_limit(false, MEMORY_KIB);
    let (mut read, mut written) = (0, 0);
    loop {
        let step = stream.process(&file[read..], &mut contents[written..], Action::Finish)?;
        read += step.bytes_consumed;
        written += step.bytes_produced;
        if step.status == Status::StreamEnd {
            break;
        }
        if step.bytes_consumed == 0 && step.bytes_produced == 0 {
            return Err(CompressionError::OtherLength);
        }
    }
    if read < file.len() || written < contents.len() {
        return Err(CompressionError::OtherLength);
    }
    Ok(contents)
}

fn check_length(bytes: u64) -> Result<(), CompressionError> {
    if bytes > u64::from(LONGEST) { Err(CompressionError::TooLong { bytes }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    /// Output of `xz -9e` 5.4.1 for `hello hello hello` and a newline.
    const BY_XZ: &[u8] = &[
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01, 0x1c,
        0x00, 0x00, 0x00, 0x10, 0xcf, 0x58, 0xcc, 0xe0, 0x00, 0x11, 0x00, 0x0c, 0x5d, 0x00, 0x34, 0x19, 0x49,
        0xee, 0x8d, 0xe9, 0x4f, 0x7e, 0x21, 0x21, 0xb0, 0x00, 0x00, 0x1f, 0x01, 0xd9, 0xc8, 0x87, 0xc1, 0x43,
        0xc8, 0x00, 0x01, 0x28, 0x12, 0xc9, 0x6a, 0x62, 0x8e, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00,
        0x00, 0x04, 0x59, 0x5a,
    ];
    const BY_XZ_CONTENTS: &[u8] = b"hello hello hello\n";
    /// Parts of [`BY_XZ`], each with a CRC-32 behind it, and a byte of each part.
    const BLOCK_HEADER: Range<usize> = 12..20;
    const DICTIONARY: usize = 16;
    const PROPERTIES: usize = 29;
    const INDEX: Range<usize> = 52..56;
    const LENGTH: usize = 55;

    fn reason(file: &[u8]) -> String {
        decompress(file).expect_err("it is not one of ours").to_string()
    }

    /// Compresses as [`compress`] does, without a limit.
    fn xz(contents: &[u8]) -> Vec<u8> {
        let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(0)).expect("the preset is valid");
        writer.write_all(contents).expect("memory takes it");
        writer.finish().expect("memory takes it")
    }

    /// Returns the CRC-32 of the xz format's specification.
    fn crc32(bytes: &[u8]) -> [u8; 4] {
        let mut crc = u32::MAX;
        for byte in bytes {
            crc ^= u32::from(*byte);
            for _ in 0..8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            }
        }
        (!crc).to_le_bytes()
    }

    #[test]
    fn decompressed_is_what_was_compressed() {
        let numbers: String = (0..100_000).map(|number| format!("{number} ")).collect();
        for contents in [b"".as_slice(), b"1", &[0; 100_000], numbers.as_bytes()] {
            let compressed = compress(contents).expect("it is short");
            assert!(decompress(&compressed).expect("it is whole") == contents);
            assert!(compressed == compress(contents).expect("it is short"), "other bytes the second time");
        }
        assert_eq!(decompress(BY_XZ).expect("it is whole"), BY_XZ_CONTENTS);
    }

    #[test]
    fn a_damaged_file_is_refused() {
        for length in 0..BY_XZ.len() {
            reason(&BY_XZ[..length]);
        }
        for index in 0..BY_XZ.len() {
            for bit in 0..8 {
                let mut damaged = BY_XZ.to_vec();
                damaged[index] ^= 1 << bit;
                // A property of the LZMA coder (`lc`) does not matter for such a short text.
                match decompress(&damaged) {
                    Ok(contents) if (index, bit) == (PROPERTIES, 0) => assert_eq!(contents, BY_XZ_CONTENTS),
                    Ok(_) => panic!("bit {bit} of byte {index} makes no difference"),
                    Err(_) => {}
                }
            }
        }
        assert!(reason(BY_XZ_CONTENTS).starts_with("not a whole xz file: "));
        reason(&[BY_XZ, b"more"].concat());
        reason(&[BY_XZ, &[0; 4]].concat());
        reason(&[BY_XZ, BY_XZ].concat());
    }

    #[test]
    fn what_would_be_too_long_is_refused() {
        let longest = vec![0; LONGEST as usize];
        assert_eq!(decompress(&xz(&longest)).expect("it is not too long").len(), longest.len());
        let longer = [longest, vec![0]].concat();
        let message = "16777217 bytes when decompressed, more than 16777216";
        assert_eq!(reason(&xz(&longer)), message);
        assert_eq!(compress(&longer).expect_err("it is too long").to_string(), message);
    }

    /// [`BY_XZ`] with another byte in a part, and that part's CRC-32.
    fn patched(part: Range<usize>, index: usize, byte: u8) -> Vec<u8> {
        let mut file = BY_XZ.to_vec();
        file[index] = byte;
        let sum = crc32(&file[part.clone()]);
        file[part.end..part.end + sum.len()].copy_from_slice(&sum);
        file
    }

    #[test]
    fn a_file_of_another_length_than_it_states_is_refused() {
        assert_eq!(patched(INDEX, LENGTH, BY_XZ_CONTENTS.len() as u8), BY_XZ);
        for stated in [0, 1, 17, 19, 127] {
            reason(&patched(INDEX, LENGTH, stated));
        }
    }

    #[test]
    fn a_larger_dictionary_than_that_of_xz_is_refused() {
        let with_dictionary = |size| patched(BLOCK_HEADER, DICTIONARY, size);
        assert_eq!(with_dictionary(BY_XZ[DICTIONARY]), BY_XZ);
        assert_eq!(decompress(&with_dictionary(28)).expect("64 MiB"), BY_XZ_CONTENTS);
        assert!(reason(&with_dictionary(29)).contains("memory"), "96 MiB");
        reason(&with_dictionary(40));
    }
}
