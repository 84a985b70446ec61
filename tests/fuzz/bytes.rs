//! Damage to bytes that knows nothing of their format, and to the numbers and lines of a text.

use super::Random;

/// Lengths, counts and offsets that readers trip over.
const COUNTS: [u64; 12] =
    [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1_0000_0000, i64::MAX as u64, u64::MAX];

/// What stands where a number is expected.
const NUMBERS: [&str; 18] = [
    "-1",
    "0",
    "1",
    "",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1e309",
    "-1e-400",
    "nan",
    "inf",
    "0x10",
    "1_000",
    "x",
    "\u{663}",
    "\"",
];

/// Damages bytes once to three times; `other` is another file, for swapped headers.
pub(super) fn damage(bytes: &mut Vec<u8>, random: &mut Random, other: &[u8]) {
    for _ in 0..1 + random.below(3) {
        let text = std::str::from_utf8(&bytes[..bytes.len().min(4096)]).is_ok();
        if text && !bytes.is_empty() && !random.one_in(3) {
            text_once(bytes, random)
        } else {
            once(bytes, random, other)
        }
    }
}

fn once(bytes: &mut Vec<u8>, random: &mut Random, other: &[u8]) {
    let length = bytes.len();
    // Most of what readers decide on stands at the beginning or the end.
    let at = match random.below(4) {
        0 => random.below(length.min(128)),
        1 => length - random.below(length.min(128)).min(length),
        _ => random.below(length),
    };
    let at = at.min(length.saturating_sub(1));
    match random.below(9) {
        _ if length == 0 => bytes.extend_from_slice(&other[..other.len().min(64)]),
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes[at] = random.next() as u8,
        3 => {
            let count = COUNTS[random.below(COUNTS.len())];
            let width = [1, 2, 4, 8][random.below(4)];
            let count = if random.one_in(4) { count.to_be_bytes() } else { count.to_le_bytes() };
            let count = if random.one_in(4) { &count[8 - width..] } else { &count[..width] };
            for (byte, value) in bytes[at..].iter_mut().zip(count) {
                *byte = *value;
            }
        }
        4 => drop(bytes.drain(random.range(length))),
        5 => {
            let again = bytes[random.range(length)].to_vec();
            bytes.splice(at..at, again);
        }
        6 => {
            let new: Vec<u8> = (0..random.below(16)).map(|_| random.next() as u8).collect();
            bytes.splice(at..at, new);
        }
        7 => {
            let (a, b) = (random.range(length), random.range(length));
            let (from, to) = (bytes[a].to_vec(), b);
            bytes.splice(to, from);
        }
        _ => {
            let head = random.below(other.len().min(256) + 1);
            let own = head.min(length);
            bytes.splice(..own, other[..head].iter().copied());
        }
    }
}

fn text_once(bytes: &mut Vec<u8>, random: &mut Random) {
    let lines = |bytes: &[u8]| {
        let mut starts = vec![0];
        starts.extend(bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1));
        starts.push(bytes.len());
        starts
    };
    match random.below(7) {
        // A number, whole.
        0..=2 => {
            let at = random.below(bytes.len());
            let digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'.' || *byte == b'-';
            let Some(start) = bytes[at..].iter().position(digit).map(|found| at + found) else { return };
            let end = bytes[start..].iter().position(|byte| !digit(byte)).map_or(bytes.len(), |found| start + found);
            bytes.splice(start..end, NUMBERS[random.below(NUMBERS.len())].bytes());
        }
        3 => {
            let starts = lines(bytes);
            let line = random.below(starts.len() - 1);
            drop(bytes.drain(starts[line]..starts[line + 1]));
        }
        4 => {
            let starts = lines(bytes);
            let (from, to) = (random.below(starts.len() - 1), random.below(starts.len() - 1));
            let line = bytes[starts[from]..starts[from + 1]].to_vec();
            bytes.splice(starts[to]..starts[to], line);
        }
        5 => {
            let at = random.below(bytes.len());
            let separators = b" ,\t;:|()[]{}\"'\n\r\0";
            let Some(found) = bytes[at..].iter().position(|byte| separators.contains(byte)) else { return };
            bytes[at + found] = separators[random.below(separators.len())];
        }
        // Brackets, as deep as a stack.
        _ => {
            let at = random.below(bytes.len());
            let bracket = *b"[({\"-"[random.below(5)..].first().unwrap_or(&b'[');
            let depth = if random.one_in(4) { 100_000 } else { 8 };
            bytes.splice(at..at, std::iter::repeat_n(bracket, depth));
        }
    }
}
