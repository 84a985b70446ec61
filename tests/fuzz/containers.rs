//! Damage beneath checksums and compression: a container is taken apart, a part is damaged, and it is put together again.

use std::io::{Cursor, Read, Write};

use flate2::Compression;
use flate2::read::{GzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{Random, bytes};

/// The most bytes that a part is unpacked to.
const MOST: u64 = 16 << 20;

/// Damages a file: within its container in most cases, if it is one, else its bytes.
pub(super) fn damage(file: &mut Vec<u8>, random: &mut Random, other: &[u8]) {
    let inside = match random.one_in(4) {
        true => None,
        false if file.starts_with(b"PK\x03\x04") => zip(file, random, other),
        false if file.starts_with(b"\x1f\x8b") => gzip(file, random, other),
        false if file.starts_with(b"\x93NUMPY") => npy(file, random, other),
        false if file.len() > 128 && file[124..128] == [0, 1, b'I', b'M'] => mat(file, random, other),
        false => None,
    };
    match inside {
        Some(new) => *file = new,
        None => bytes::damage(file, random, other),
    }
}

fn zip(file: &[u8], random: &mut Random, other: &[u8]) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(file)).ok()?;
    let chosen = random.below(archive.len());
    let mut new = ZipWriter::new(Cursor::new(Vec::new()));
    for member in 0..archive.len() {
        let (name, content) = {
            let mut member = archive.by_index(member).ok()?;
            let mut content = Vec::new();
            member.by_ref().take(MOST).read_to_end(&mut content).ok()?;
            (member.name().ok()?.into_owned(), content)
        };
        let mut content = content;
        let mut name = name;
        if member == chosen {
            match random.below(12) {
                0 => continue,
                1 => name.push('x'),
                _ => damage(&mut content, random, other),
            }
        }
        let method = if random.one_in(2) { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        new.start_file(name, SimpleFileOptions::default().compression_method(method)).ok()?;
        new.write_all(&content).ok()?;
    }
    Some(new.finish().ok()?.into_inner())
}

fn gzip(file: &[u8], random: &mut Random, other: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    GzDecoder::new(file).take(MOST).read_to_end(&mut content).ok()?;
    bytes::damage(&mut content, random, other);
    let mut new = GzEncoder::new(Vec::new(), Compression::fast());
    new.write_all(&content).ok()?;
    new.finish().ok()
}

/// Damages the text of the header, whose length stays right.
fn npy(file: &[u8], random: &mut Random, other: &[u8]) -> Option<Vec<u8>> {
    let length = usize::from(u16::from_le_bytes([*file.get(8)?, *file.get(9)?]));
    let mut header = file.get(10..10 + length)?.to_vec();
    let mut values = file[10 + length..].to_vec();
    match random.below(3) {
        0 => bytes::damage(&mut values, random, other),
        1 => bytes::damage(&mut header, random, other),
        _ => {
            let types = ["'<i8'", "'|b1'", "'<U9'", "'|S0'", "'<f4'", "'>f8'", "'|O'", "'<u99999999999'"];
            let text = String::from_utf8_lossy(&header).replace("'<i4'", random.pick(&types));
            let shapes = ["()", "(0,)", "(18446744073709551615,)", "(4294967296, 4294967296)", "(3, 3, 3)", "(-1,)"];
            let shape = text.find('(').zip(text.find(')'));
            header = match shape.filter(|_| random.one_in(2)) {
                Some((from, to)) if from < to => [&text[..from], random.pick(&shapes), &text[to + 1..]].concat(),
                _ => text,
            }
            .into_bytes();
        }
    }
    let length = u16::try_from(header.len()).ok()?.to_le_bytes();
    Some([&file[..8], &length, &header, &values].concat())
}

/// Damages one element of a MAT-file; a compressed one beneath its compression.
fn mat(file: &[u8], random: &mut Random, other: &[u8]) -> Option<Vec<u8>> {
    let word = |at: usize| Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?));
    let mut elements = Vec::new();
    let mut at = 128;
    while let (Some(kind), Some(length)) = (word(at), word(at + 4)) {
        let end = at + 8 + length as usize;
        elements.push((kind, file.get(at + 8..end)?));
        at = if kind == 15 { end } else { end.next_multiple_of(8) };
    }
    let chosen = random.below(elements.len());
    let mut new = file[..128].to_vec();
    for (number, (kind, content)) in elements.into_iter().enumerate() {
        let mut content = content.to_vec();
        if number == chosen && kind == 15 {
            let mut inner = Vec::new();
            ZlibDecoder::new(&content[..]).take(MOST).read_to_end(&mut inner).ok()?;
            // The head of an array says how large it is.
            let head = random.range(inner.len().min(96));
            match random.one_in(2) {
                true => bytes::damage(&mut inner, random, other),
                false => inner[head].iter_mut().for_each(|byte| *byte = random.next() as u8 & 0x8f),
            }
            let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(&inner).ok()?;
            content = packed.finish().ok()?;
        } else if number == chosen {
            bytes::damage(&mut content, random, other);
        }
        new.extend(kind.to_le_bytes());
        new.extend(u32::try_from(content.len()).ok()?.to_le_bytes());
        new.extend(&content);
        if kind != 15 {
            new.resize(new.len().next_multiple_of(8), 0);
        }
    }
    Some(new)
}
