//! A fast hash for tables that one query fills and drops.

use std::hash::{BuildHasherDefault, Hasher};

/// Multiplies each word by an odd constant to 128 bits and folds the halves: a few cycles where the standard library's
/// keyed hash takes dozens. Not safe against keys chosen to collide, which would slow down the query that chose them.
#[derive(Debug, Clone, Default)]
pub(crate) struct FoldedMultiply(u64);

pub(crate) type BuildFoldedMultiply = BuildHasherDefault<FoldedMultiply>;

impl Hasher for FoldedMultiply {
    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0u8; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_u64(bytes.len() as u64);
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_i64(&mut self, value: i64) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
