//! The type of a column of CSV, found from its fields.
//!
//! The patterns of Arrow's own inference, but for numbers with zeros before them: they are strings, since as numbers `007` and
//! `7` would be one key.
//!
//! Upstream: none known
//! Given: `COPY (SELECT '007' AS k) TO '{dir}/rows.csv' STORED AS CSV`
//! Shows: `SELECT k FROM '{dir}/rows.csv'` gives `007`

use arrow::datatypes::{DataType, TimeUnit};

/// The kinds of fields that a column has had.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u16);

const BOOLEAN: u16 = 1;
const INTEGER: u16 = 1 << 1;
const REAL: u16 = 1 << 2;
const DATE: u16 = 1 << 3;
/// Times with up to 0, 3, 6 and 9 digits behind the second.
const TIMES: [u16; 4] = [1 << 4, 1 << 5, 1 << 6, 1 << 7];
const TEXT: u16 = 1 << 8;

impl Kinds {
    /// Adds a field that is not NULL.
    pub(crate) fn add(&mut self, field: &str) {
        self.0 |= kind(field);
    }

    /// The kind of one field.
    pub(crate) fn of(field: &str) -> Self {
        Self(kind(field))
    }

    /// Whether all fields were NULL.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether it has been found to be of strings.
    pub(crate) fn is_text(self) -> bool {
        self.data_type() == DataType::Utf8
    }

    /// The type that all fields have; that of NULL where there was none.
    pub(crate) fn data_type(self) -> DataType {
        let times = |unit| DataType::Timestamp(unit, None);
        match self.0 {
            0 => DataType::Null,
            BOOLEAN => DataType::Boolean,
            INTEGER => DataType::Int64,
            kinds if kinds & !(INTEGER | REAL) == 0 => DataType::Float64,
            DATE => DataType::Date32,
            kinds if kinds & !(DATE | TIMES[0] | TIMES[1] | TIMES[2] | TIMES[3]) == 0 => match kinds {
                kinds if kinds & TIMES[3] != 0 => times(TimeUnit::Nanosecond),
                kinds if kinds & TIMES[2] != 0 => times(TimeUnit::Microsecond),
                kinds if kinds & TIMES[1] != 0 => times(TimeUnit::Millisecond),
                _ => times(TimeUnit::Second),
            },
            _ => DataType::Utf8,
        }
    }
}

fn kind(field: &str) -> u16 {
    let bytes = field.as_bytes();
    match bytes.first() {
        Some(b'0'..=b'9' | b'-' | b'.') => number(field).or_else(|| moment(bytes)).unwrap_or(TEXT),
        Some(b't' | b'T') if field.eq_ignore_ascii_case("true") => BOOLEAN,
        Some(b'f' | b'F') if field.eq_ignore_ascii_case("false") => BOOLEAN,
        _ if matches!(field, "NaN" | "nan" | "inf") => REAL,
        _ => TEXT,
    }
}

/// The length of the digits at the start.
fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The kind of a number; that of a string where it has zeros before it, or is a whole number beyond BIGINT.
fn number(field: &str) -> Option<u16> {
    if field == "-inf" {
        return Some(REAL);
    }
    let bytes = field.as_bytes();
    let rest = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let whole = digits(rest);
    let is_padded = whole > 1 && rest[0] == b'0';
    let mut rest = &rest[whole..];
    if rest.is_empty() {
        let fits = whole < 19 || field.parse::<i64>().is_ok();
        return (whole > 0).then_some(if fits && !is_padded { INTEGER } else { TEXT });
    }
    let point = rest.strip_prefix(b".");
    if let Some(behind) = point {
        let fraction = digits(behind);
        if whole + fraction == 0 {
            return None;
        }
        rest = &behind[fraction..];
    }
    if let Some(exponent) = rest.strip_prefix(b"e").or_else(|| rest.strip_prefix(b"E")) {
        let exponent = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
        let length = digits(exponent);
        if length == 0 || (point.is_none() && whole == 0) {
            return None;
        }
        rest = &exponent[length..];
    }
    rest.is_empty().then_some(if is_padded { TEXT } else { REAL })
}

/// The kind of a date, or of a date and a time.
fn moment(bytes: &[u8]) -> Option<u16> {
    let matches = |bytes: &[u8], pattern: &[u8]| {
        bytes.len() >= pattern.len()
            && bytes.iter().zip(pattern).all(|(byte, sign)| match sign {
                b'0' => byte.is_ascii_digit(),
                b'T' => matches!(byte, b'T' | b' '),
                sign => byte == sign,
            })
    };
    if !matches(bytes, b"0000-00-00") {
        return None;
    }
    let time = &bytes[10..];
    if time.is_empty() {
        return Some(DATE);
    }
    if !matches(time, b"T00:00:00") {
        return None;
    }
    match &time[9..] {
        [] => Some(TIMES[0]),
        [b'.', behind @ ..] => match digits(behind) {
            1..=3 => Some(TIMES[1]),
            4..=6 => Some(TIMES[2]),
            7..=9 => Some(TIMES[3]),
            _ => None,
        },
        [byte, ..] => (!byte.is_ascii_digit()).then_some(TIMES[0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(fields: &[&str]) -> DataType {
        let mut kinds = Kinds::default();
        fields.iter().for_each(|field| kinds.add(field));
        kinds.data_type()
    }

    #[test]
    fn numbers_with_zeros_before_them_are_strings() {
        for field in ["007", "00", "-01", "01.5", "00.5", "007e3", "0123456789", "18446744073709551616"] {
            assert_eq!(found(&[field]), DataType::Utf8, "{field}");
            assert_eq!(found(&["1", field]), DataType::Utf8, "{field}");
        }
        for field in ["0", "-0", "7", "-7", "10", "9223372036854775807", "-9223372036854775808"] {
            assert_eq!(found(&[field]), DataType::Int64, "{field}");
        }
        for field in ["0.5", "-0.25", ".5", "5.", "1e5", "0e0", "-.5E-3", "0.007", "NaN", "nan", "inf", "-inf"] {
            assert_eq!(found(&[field]), DataType::Float64, "{field}");
        }
    }

    #[test]
    fn kinds_are_those_of_arrow() {
        use arrow::csv::reader::Format;
        let fields = [
            "true",
            "FALSE",
            "True ",
            "t",
            "1",
            "-1",
            "--1",
            "+1",
            "1.",
            ".",
            "-",
            "-.",
            "1.5.2",
            "1e",
            "e5",
            ".e5",
            "1e+5",
            "1.5e-7",
            "9223372036854775808",
            "2024-02-29",
            "2024-2-9",
            "2024-02-29x",
            "2024-02-29 10:11:12",
            "2024-02-29T10:11:12",
            "2024-02-29 10:11",
            "2024-02-29 10:11:12Z",
            "2024-02-29 10:11:12+02:00",
            "2024-02-29 10:11:123",
            "2024-02-29 10:11:12.5",
            "2024-02-29 10:11:12.123456",
            "2024-02-29 10:11:12.1234567",
            "2024-02-29 10:11:12.1234567890",
            "2024-02-29 10:11:12.5Z",
            "12:30:00",
            "x",
            "NaN",
            "nan",
            "NAN",
            "inf",
            "-inf",
            "infinity",
            "-",
            "a b",
            "1 2",
            "0x10",
            "1,5",
            "1_000",
            "é",
            "-9223372036854775809",
        ];
        for field in fields {
            let text = format!("\"{field}\";\n");
            let (schema, _) = Format::default().with_delimiter(b';').infer_schema(text.as_bytes(), None).unwrap();
            assert_eq!(found(&[field]), *schema.field(0).data_type(), "{field}");
        }
        assert_eq!(found(&[]), DataType::Null);
        assert_eq!(found(&["1", "2.5"]), DataType::Float64);
        assert_eq!(found(&["1", "true"]), DataType::Utf8);
        assert_eq!(found(&["2024-02-29", "2024-02-29 10:11:12"]), DataType::Timestamp(TimeUnit::Second, None));
        let mixed = ["2024-02-29 10:11:12.5", "2024-02-29 10:11:12.123456789"];
        assert_eq!(found(&mixed), DataType::Timestamp(TimeUnit::Nanosecond, None));
    }
}
