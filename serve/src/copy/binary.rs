//! Rows in PostgreSQL's binary format, out of bytes that come in parts. Values become the texts that they stand for.

use std::fmt::Write;

use arrow::temporal_conversions::{date32_to_datetime, timestamp_us_to_datetime};
use bytes::{Buf, BytesMut};

use super::records::Record;
use crate::codec::MOST;
use crate::failure::Failure;
use crate::parameters::{binary_array, digits_of_binary};
use crate::types::{
    self, BOOL, BYTEA, DATE, FLOAT4, FLOAT8, INT2, INT4, INT8, INTERVAL, NUMERIC, Oid, TIME, TIMESTAMP, TIMESTAMPTZ,
};
use crate::values::{EPOCH_DAYS, EPOCH_MICROSECONDS};

/// The bytes with which the format begins.
pub(super) const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// Cuts bytes into rows.
pub(super) struct BinaryRecords {
    types: Vec<Oid>,
    waiting: BytesMut,
    begun: bool,
    ended: bool,
    record: Record,
}

impl BinaryRecords {
    /// Rows of columns of these types.
    pub(super) fn new(types: Vec<Oid>) -> Self {
        let record = Record { line: 1, ..Record::default() };
        Self { types, waiting: BytesMut::new(), begun: false, ended: false, record }
    }

    /// Reads further bytes, and hands on the rows that end in them.
    ///
    /// # Errors
    /// Those of `row`, and bytes that are no rows of these types.
    pub(super) fn read(
        &mut self,
        bytes: &[u8],
        mut row: impl FnMut(&Record) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.waiting.extend_from_slice(bytes);
        if !self.begun && !self.header()? {
            return Ok(());
        }
        while !self.ended && self.tuple()? {
            if !self.ended {
                row(&self.record)?;
                self.record.clear();
                self.record.line += 1;
            }
        }
        match self.waiting.len() > MOST && !self.ended {
            true => {
                Err(Failure::new("54000", format!("row {}: a row has at most {} MiB", self.record.line, MOST >> 20)))
            }
            false => Ok(()),
        }
    }

    /// # Errors
    /// If the rows are cut off.
    pub(super) fn finish(self) -> Result<(), Failure> {
        match self.ended {
            true => Ok(()),
            false => Err(Failure::new("22P04", format!("row {}: the binary data are cut off", self.record.line))),
        }
    }

    /// Passes over the header, once it is there.
    fn header(&mut self) -> Result<bool, Failure> {
        let wrong = |text: &str| Failure::new("22P04", format!("COPY: {text}"));
        let known = SIGNATURE.len().min(self.waiting.len());
        if self.waiting[..known] != SIGNATURE[..known] {
            return Err(wrong("the data are not in PostgreSQL's binary format; FORMAT csv and text are others"));
        }
        let Some(&[a, b, _, _, e, f, g, h]) = self.waiting.get(SIGNATURE.len()..SIGNATURE.len() + 8) else {
            return Ok(false);
        };
        // The upper half of the flags is what a reader must know.
        if (a, b) != (0, 0) {
            return Err(wrong("the binary data have a header that is not known"));
        }
        let length = SIGNATURE.len() + 8 + u32::from_be_bytes([e, f, g, h]) as usize;
        if self.waiting.len() < length {
            return Ok(false);
        }
        self.waiting.advance(length);
        self.begun = true;
        Ok(true)
    }

    /// Takes the next row, once all of it is there.
    fn tuple(&mut self) -> Result<bool, Failure> {
        let line = self.record.line;
        let wrong = |text: String| Failure::new("22P04", format!("row {line}: {text}"));
        let Some((count, mut rest)) = self.waiting.split_first_chunk::<2>() else { return Ok(false) };
        let count = i16::from_be_bytes(*count);
        if count == -1 {
            self.ended = true;
            return Ok(true);
        }
        let expected = self.types.len();
        if usize::try_from(count) != Ok(expected) {
            return Err(wrong(format!("{count} values, where {expected} are expected")));
        }
        let mut values = Vec::with_capacity(expected);
        for _ in 0..expected {
            let Some((length, after)) = rest.split_first_chunk::<4>() else { return Ok(false) };
            let length = i32::from_be_bytes(*length);
            let Some((value, after)) = after.split_at_checked(usize::try_from(length).unwrap_or(0)) else {
                return Ok(false);
            };
            if length < -1 {
                return Err(wrong(format!("a value of {length} bytes")));
            }
            values.push((length >= 0).then_some(value));
            rest = after;
        }
        let mut text = String::new();
        for (value, &oid) in values.iter().zip(&self.types) {
            text.clear();
            if let Some(value) = value {
                put(value, oid, &mut text).map_err(&wrong)?;
            }
            self.record.bytes.extend_from_slice(text.as_bytes());
            self.record.end(value.is_none());
        }
        let length = self.waiting.len() - rest.len();
        self.waiting.advance(length);
        Ok(true)
    }
}

/// Writes the text of a value.
fn put(bytes: &[u8], oid: Oid, out: &mut String) -> Result<(), String> {
    let name = types::of_oid(oid).map_or("unknown", |known| known.sql);
    let wrong = || format!("a value of the type {name} has {} bytes: it is sent as another type", bytes.len());
    fn of<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
        bytes.try_into().ok()
    }
    if let Some(element) = types::element(oid) {
        out.push('{');
        for (i, value) in binary_array(bytes)?.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            let Some(value) = value else {
                out.push_str("NULL");
                continue;
            };
            let mut text = String::new();
            put(value, element.oid, &mut text)?;
            out.push('"');
            for character in text.chars() {
                if matches!(character, '"' | '\\') {
                    out.push('\\');
                }
                out.push(character);
            }
            out.push('"');
        }
        out.push('}');
        return Ok(());
    }
    // Strings take any text.
    let mut text = |text: std::fmt::Arguments<'_>| {
        let _ = out.write_fmt(text);
    };
    let beyond = || format!("a {name} lies beyond what the engine holds");
    match oid {
        BOOL => {
            let [byte] = of(bytes).ok_or_else(wrong)?;
            text(format_args!("{}", byte != 0));
        }
        INT2 => text(format_args!("{}", i16::from_be_bytes(of(bytes).ok_or_else(wrong)?))),
        INT4 => text(format_args!("{}", i32::from_be_bytes(of(bytes).ok_or_else(wrong)?))),
        INT8 => text(format_args!("{}", i64::from_be_bytes(of(bytes).ok_or_else(wrong)?))),
        FLOAT4 => text(format_args!("{:?}", f32::from_be_bytes(of(bytes).ok_or_else(wrong)?))),
        FLOAT8 => text(format_args!("{:?}", f64::from_be_bytes(of(bytes).ok_or_else(wrong)?))),
        NUMERIC => text(format_args!("{}", digits_of_binary(bytes).ok_or_else(wrong)?)),
        BYTEA => {
            text(format_args!("\\x"));
            bytes.iter().for_each(|byte| text(format_args!("{byte:02x}")));
        }
        DATE => {
            let days = i32::from_be_bytes(of(bytes).ok_or_else(wrong)?).checked_add(EPOCH_DAYS);
            let date = days.and_then(date32_to_datetime).ok_or_else(beyond)?;
            text(format_args!("{}", date.date()));
        }
        TIMESTAMP | TIMESTAMPTZ => {
            let time = i64::from_be_bytes(of(bytes).ok_or_else(wrong)?).checked_add(EPOCH_MICROSECONDS);
            let time = time.and_then(timestamp_us_to_datetime).ok_or_else(beyond)?;
            text(format_args!("{time}{}", if oid == TIMESTAMPTZ { "+00:00" } else { "" }));
        }
        TIME => {
            let time = i64::from_be_bytes(of(bytes).ok_or_else(wrong)?);
            let (seconds, fraction) = (time.div_euclid(1_000_000), time.rem_euclid(1_000_000));
            text(format_args!("{:02}:{:02}:{:02}.{fraction:06}", seconds / 3600, seconds / 60 % 60, seconds % 60));
        }
        INTERVAL => {
            let [a, b, c, d, e, f, g, h, days @ .., i, j, k, l] = of::<16>(bytes).ok_or_else(wrong)?;
            let (time, months) = (i64::from_be_bytes([a, b, c, d, e, f, g, h]), i32::from_be_bytes([i, j, k, l]));
            text(format_args!("{months} months {} days {time} microseconds", i32::from_be_bytes(days)));
        }
        _ => {
            let value = std::str::from_utf8(bytes).map_err(|_| "a text is not UTF-8".to_owned())?;
            text(format_args!("{value}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(types: &[Oid], body: &[u8], parts: usize) -> Result<Vec<Vec<Option<String>>>, Failure> {
        let bytes = [SIGNATURE, &[0; 8], body].concat();
        let mut records = BinaryRecords::new(types.to_vec());
        let mut found = Vec::new();
        for part in bytes.chunks(parts) {
            records.read(part, |record| {
                let text = |field: Option<&[u8]>| field.map(|field| String::from_utf8(field.to_vec()).unwrap());
                found.push(record.fields().map(text).collect());
                Ok(())
            })?;
        }
        records.finish()?;
        Ok(found)
    }

    fn value(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as i32).to_be_bytes()[..], bytes].concat()
    }

    #[test]
    fn values_become_the_texts_that_they_stand_for() {
        let types = [BOOL, INT2, INT4, INT8, FLOAT8, types::TEXT, BYTEA, DATE, TIMESTAMP, TIME, 1007, INTERVAL, INT4];
        let array =
            [[0, 0, 0, 1], [0; 4], [0, 0, 0, 23], [0, 0, 0, 2], [0, 0, 0, 1], [0, 0, 0, 4], [0, 0, 0, 5], [0xff; 4]];
        let interval = [&5_000_000_i64.to_be_bytes()[..], &3_i32.to_be_bytes(), &14_i32.to_be_bytes()].concat();
        let row = [
            13_i16.to_be_bytes().to_vec(),
            value(&[1]),
            value(&(-2_i16).to_be_bytes()),
            value(&256_i32.to_be_bytes()),
            value(&i64::MIN.to_be_bytes()),
            value(&0.1_f64.to_be_bytes()),
            value("é\t".as_bytes()),
            value(&[0, 255]),
            value(&1_i32.to_be_bytes()),
            value(&1_500_000_i64.to_be_bytes()),
            value(&3_661_000_001_i64.to_be_bytes()),
            value(&array.concat()),
            value(&interval),
            (-1_i32).to_be_bytes().to_vec(),
        ];
        let body = [row.concat(), (-1_i16).to_be_bytes().to_vec()].concat();
        for parts in [1, 7, 1000] {
            let found = rows(&types, &body, parts).unwrap().remove(0);
            let expected = [
                "true",
                "-2",
                "256",
                "-9223372036854775808",
                "0.1",
                "é\t",
                "\\x00ff",
                "2000-01-02",
                "2000-01-01 00:00:01.500",
                "01:01:01.000001",
                "{\"5\",NULL}",
                "14 months 3 days 5000000 microseconds",
            ];
            assert_eq!(found[..12], expected.map(|text| Some(text.to_owned())));
            assert_eq!(found[12], None);
        }
    }

    #[test]
    fn what_is_cut_off_or_of_another_type_is_an_error() {
        let message = |types: &[Oid], body: &[u8]| rows(types, body, 1000).unwrap_err().message;
        let one = [&1_i16.to_be_bytes()[..], &value(&7_i32.to_be_bytes())].concat();
        assert_eq!(message(&[INT4], &one), "row 2: the binary data are cut off");
        assert_eq!(message(&[INT4], &one[..5]), "row 1: the binary data are cut off");
        assert_eq!(message(&[INT8], &one), "row 1: a value of the type bigint has 4 bytes: it is sent as another type");
        assert_eq!(message(&[INT4, INT4], &one), "row 1: 1 values, where 2 are expected");
        let mut records = BinaryRecords::new(vec![INT4]);
        let failure = records.read(b"1,2,3\n", |_| Ok(())).unwrap_err();
        assert!(failure.message.contains("not in PostgreSQL's binary format"), "{failure:?}");
    }
}
