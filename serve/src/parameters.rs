//! Parameters of a client as literals of SQL.

use super::types::{
    self, BOOL, BYTEA, DATE, FLOAT4, FLOAT8, INT2, INT4, INT8, INTERVAL, JSON, NUMERIC, Oid, TIME, TIMESTAMP,
    TIMESTAMPTZ,
};
use super::values::{EPOCH_DAYS, EPOCH_MICROSECONDS};

/// `oid` and `jsonb` and `uuid` of `pg_type`.
const OID: Oid = 26;
const JSONB: Oid = 3802;
const UUID: Oid = 2950;

/// The most digits of a decimal number.
const MOST_DIGITS: usize = 76;

/// Writes a parameter of this type as a literal; `None` is NULL.
///
/// # Errors
/// If the bytes are no value of the type.
pub(super) fn literal(value: Option<&[u8]>, oid: Oid, binary: bool) -> Result<String, String> {
    let Some(bytes) = value else {
        return Ok(match types::of_oid(oid) {
            Some(known) if types::to_arrow(oid).is_some() => format!("CAST(NULL AS {})", sql_name(known)),
            _ => "NULL".to_owned(),
        });
    };
    if let Some(element) = types::element(oid) {
        let elements = if binary { binary_array(bytes)? } else { text_array(text(bytes)?)? };
        let literals = elements.iter().map(|value| literal(value.as_deref(), element.oid, binary));
        let literals = literals.collect::<Result<Vec<_>, String>>()?;
        return Ok(match literals.is_empty() {
            true => format!("CAST([] AS {}[])", sql_name(element)),
            false => format!("[{}]", literals.join(", ")),
        });
    }
    if binary { of_binary(bytes, oid) } else { of_text(text(bytes)?, oid) }
}

/// A name of the type that our dialect reads.
fn sql_name(known: &types::PgType) -> &'static str {
    match known.oid {
        TIMESTAMP => "TIMESTAMP",
        TIME => "TIME",
        TIMESTAMPTZ => "TIMESTAMP WITH TIME ZONE",
        oid if types::to_arrow(oid) == Some(arrow::datatypes::DataType::Utf8) => "VARCHAR",
        OID => "BIGINT",
        _ => known.sql,
    }
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| "a text parameter is not UTF-8".to_owned())
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn cast(text: &str, oid: Oid) -> String {
    let name = types::of_oid(oid).map_or("VARCHAR", sql_name);
    format!("CAST({} AS {name})", quoted(text))
}

fn of_text(value: &str, oid: Oid) -> Result<String, String> {
    let wrong = |what: &str| format!("the parameter '{value}' is no {what}");
    let trimmed = value.trim();
    match oid {
        INT2 | INT4 | INT8 | OID => {
            let number: i64 = trimmed.parse().map_err(|_| wrong("whole number"))?;
            Ok(integer(number))
        }
        BOOL => match trimmed.to_ascii_lowercase().as_str() {
            "t" | "true" | "on" | "yes" | "y" | "1" => Ok("true".to_owned()),
            "f" | "false" | "off" | "no" | "n" | "0" => Ok("false".to_owned()),
            _ => Err(wrong("truth value")),
        },
        FLOAT4 | FLOAT8 => {
            let number: f64 = trimmed.parse().map_err(|_| wrong("number"))?;
            Ok(cast(&number.to_string(), oid))
        }
        NUMERIC => decimal(trimmed).ok_or_else(|| wrong("decimal number of at most 76 digits")),
        BYTEA => {
            let digits =
                trimmed.strip_prefix("\\x").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
            digits.map(|digits| format!("X'{digits}'")).ok_or_else(|| wrong("bytes in hexadecimal digits"))
        }
        DATE | TIME | TIMESTAMP | TIMESTAMPTZ => Ok(cast(trimmed, oid)),
        INTERVAL => Ok(format!("INTERVAL {}", quoted(trimmed))),
        _ => Ok(quoted(value)),
    }
}

/// Negative numbers stand in parentheses: the sign must not meet another.
fn integer(number: i64) -> String {
    if number < 0 { format!("({number})") } else { number.to_string() }
}

/// A decimal number with just the digits that are written.
fn decimal(text: &str) -> Option<String> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = whole.len() + fraction.len();
    let valid = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    (valid(whole) && valid(fraction) && (1..=MOST_DIGITS).contains(&digits))
        .then(|| format!("CAST({} AS DECIMAL({digits}, {}))", quoted(text), fraction.len()))
}

fn of_binary(bytes: &[u8], oid: Oid) -> Result<String, String> {
    let name = types::of_oid(oid).map_or("unknown", |known| known.sql);
    let wrong = || format!("a binary parameter of the type {name} has {} bytes", bytes.len());
    let integer_of = |size: usize| -> Result<i64, String> {
        if bytes.len() != size {
            return Err(wrong());
        }
        let start = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
        Ok(bytes.iter().fold(start, |value, byte| value << 8 | i64::from(*byte)))
    };
    match oid {
        BOOL if bytes.len() == 1 => Ok((bytes[0] != 0).to_string()),
        INT2 => integer_of(2).map(integer),
        INT4 => integer_of(4).map(integer),
        OID => integer_of(4).map(|number| integer(number & 0xffff_ffff)),
        INT8 => integer_of(8).map(integer),
        FLOAT4 => bytes.try_into().map(|b| cast(&f32::from_be_bytes(b).to_string(), oid)).map_err(|_| wrong()),
        FLOAT8 => bytes.try_into().map(|b| cast(&f64::from_be_bytes(b).to_string(), oid)).map_err(|_| wrong()),
        BYTEA => Ok(format!("X'{}'", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())),
        DATE => Ok(format!("(DATE '1970-01-01' + INTERVAL '{} days')::DATE", integer_of(4)? + i64::from(EPOCH_DAYS))),
        TIMESTAMP | TIMESTAMPTZ => {
            let microseconds = integer_of(8)?.checked_add(EPOCH_MICROSECONDS).ok_or_else(wrong)?;
            let time = format!("to_timestamp_micros({microseconds})");
            Ok(format!("CAST({time} AS {})", types::of_oid(oid).map_or("TIMESTAMP", sql_name)))
        }
        TIME => {
            let time = integer_of(8)?;
            let (seconds, fraction) = (time.div_euclid(1_000_000), time.rem_euclid(1_000_000));
            let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
            Ok(cast(&format!("{clock}.{fraction:06}"), oid))
        }
        NUMERIC => decimal_of_binary(bytes).ok_or_else(wrong),
        UUID if bytes.len() == 16 => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            Ok(format!("'{}-{}-{}-{}-{}'", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
        }
        JSONB => text(bytes.get(1..).unwrap_or_default()).map(quoted),
        INTERVAL if bytes.len() == 16 => {
            let part = |range: std::ops::Range<usize>| {
                of_binary(&bytes[range.clone()], if range.len() == 8 { INT8 } else { INT4 })
            };
            let (time, days, months) = (part(0..8)?, part(8..12)?, part(12..16)?);
            let plain = |number: String| number.trim_matches(['(', ')']).to_owned();
            Ok(format!("INTERVAL '{} months {} days {} microseconds'", plain(months), plain(days), plain(time)))
        }
        BOOL | UUID | INTERVAL => Err(wrong()),
        JSON | types::TEXT | types::VARCHAR | types::UNKNOWN | 0 | 18 | 19 | 1042 => text(bytes).map(quoted),
        other => Err(format!("binary parameters of the type {other} are not known: send it as text")),
    }
}

fn decimal_of_binary(bytes: &[u8]) -> Option<String> {
    decimal(&digits_of_binary(bytes)?)
}

/// The digits of a decimal number in binary.
pub(super) fn digits_of_binary(bytes: &[u8]) -> Option<String> {
    let mut parts = bytes.chunks_exact(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]]));
    let (count, weight, sign, scale) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let groups: Vec<i16> = parts.collect();
    // Other signs stand for NaN and the infinities.
    if groups.len() != usize::try_from(count).ok()? || !matches!(sign, 0 | 0x4000) || weight > 19 {
        return None;
    }
    let group = |at: i16| usize::try_from(at).ok().and_then(|at| groups.get(at).copied()).unwrap_or(0);
    let whole: String = (0..=weight).map(|at| format!("{:04}", group(at))).collect();
    let scale = usize::try_from(scale).ok()?;
    let mut fraction: String = (0..scale.div_ceil(4)).map(|i| format!("{:04}", group(weight + 1 + i as i16))).collect();
    fraction.truncate(scale);
    let whole = whole.trim_start_matches('0');
    let sign = if sign == 0 { "" } else { "-" };
    let (whole, point) = (if whole.is_empty() { "0" } else { whole }, if fraction.is_empty() { "" } else { "." });
    Some(format!("{sign}{whole}{point}{fraction}"))
}

/// The elements of an array of one dimension in binary.
pub(super) fn binary_array(bytes: &[u8]) -> Result<Vec<Option<Vec<u8>>>, String> {
    let wrong = || "a binary parameter is no array of one dimension".to_owned();
    let mut at = 0;
    let mut number = || -> Result<i32, String> {
        let part = bytes.get(at..at + 4).ok_or_else(wrong)?;
        at += 4;
        Ok(i32::from_be_bytes([part[0], part[1], part[2], part[3]]))
    };
    let (dimensions, _nulls, _type) = (number()?, number()?, number()?);
    if dimensions == 0 {
        return Ok(Vec::new());
    }
    let (count, _lower) = (number()?, number()?);
    if dimensions != 1 {
        return Err(wrong());
    }
    let mut rest = bytes.get(20..).ok_or_else(wrong)?;
    let mut elements = Vec::new();
    for _ in 0..count {
        let (length, body) = rest.split_at_checked(4).ok_or_else(wrong)?;
        let length = i32::from_be_bytes([length[0], length[1], length[2], length[3]]);
        let (value, after) = body.split_at_checked(usize::try_from(length).unwrap_or(0)).ok_or_else(wrong)?;
        elements.push((length >= 0).then(|| value.to_vec()));
        rest = after;
    }
    Ok(elements)
}

/// The elements of an array of one dimension as text: `{1,NULL,"a b"}`.
pub(super) fn text_array(text: &str) -> Result<Vec<Option<Vec<u8>>>, String> {
    let wrong = || format!("'{text}' is no array of one dimension, such as {{1,2}}");
    let inner = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).ok_or_else(wrong)?;
    let mut elements = Vec::new();
    if inner.trim().is_empty() {
        return Ok(elements);
    }
    let (mut value, mut in_quotes, mut was_quoted) = (String::new(), false, false);
    let mut chars = inner.chars();
    let mut end = |value: &mut String, was_quoted: &mut bool| {
        let text = std::mem::take(value);
        let null = !*was_quoted && text.trim().eq_ignore_ascii_case("null");
        let text = if *was_quoted { text } else { text.trim().to_owned() };
        elements.push((!null).then(|| text.into_bytes()));
        *was_quoted = false;
    };
    while let Some(next) = chars.next() {
        match next {
            '\\' => value.push(chars.next().ok_or_else(wrong)?),
            '"' => {
                in_quotes = !in_quotes;
                was_quoted = true;
            }
            ',' if !in_quotes => end(&mut value, &mut was_quoted),
            '{' | '}' if !in_quotes => return Err(wrong()),
            next => value.push(next),
        }
    }
    if in_quotes {
        return Err(wrong());
    }
    end(&mut value, &mut was_quoted);
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &str, oid: Oid) -> String {
        literal(Some(value.as_bytes()), oid, false).unwrap()
    }

    #[test]
    fn texts_become_literals_of_their_types() {
        assert_eq!(of("-7", INT8), "(-7)");
        assert_eq!(of("it's", types::TEXT), "'it''s'");
        assert_eq!(of("1e3", FLOAT8), "CAST('1000' AS double precision)");
        assert_eq!(of("-12.50", NUMERIC), "CAST('-12.50' AS DECIMAL(4, 2))");
        assert_eq!(of("2026-01-31", DATE), "CAST('2026-01-31' AS date)");
        assert_eq!(of("\\x00ff", BYTEA), "X'00ff'");
        assert_eq!(of("{1,NULL,-2}", 1016), "[1, CAST(NULL AS bigint), (-2)]");
        assert_eq!(of(r#"{"a,\"b",null,"null", c }"#, 1009), r#"['a,"b', CAST(NULL AS VARCHAR), 'null', 'c']"#);
        assert_eq!(of("{}", 1016), "CAST([] AS bigint[])");
        assert_eq!(literal(None, INT4, true).unwrap(), "CAST(NULL AS integer)");
        assert_eq!(literal(None, 0, false).unwrap(), "NULL");
    }

    #[test]
    fn bytes_become_literals_of_their_types() {
        let of = |bytes: &[u8], oid| literal(Some(bytes), oid, true).unwrap();
        assert_eq!(of(&[0xff, 0xfe], INT2), "(-2)");
        assert_eq!(of(&[0, 0, 1, 0], INT4), "256");
        assert_eq!(of(&1.5f64.to_be_bytes(), FLOAT8), "CAST('1.5' AS double precision)");
        assert_eq!(of(&[0, 0, 0, 1], DATE), "(DATE '1970-01-01' + INTERVAL '10958 days')::DATE");
        let number: Vec<u8> = [3i16, 1, 0, 3, 1, 2345, 6780].iter().flat_map(|part| part.to_be_bytes()).collect();
        assert_eq!(of(&number, NUMERIC), "CAST('12345.678' AS DECIMAL(8, 3))");
        let array =
            [[0, 0, 0, 1], [0; 4], [0, 0, 0, 23], [0, 0, 0, 2], [0, 0, 0, 1], [0, 0, 0, 4], [0, 0, 0, 5], [0xff; 4]];
        assert_eq!(of(&array.concat(), 1007), "[5, CAST(NULL AS integer)]");
    }

    #[test]
    fn what_is_no_value_of_the_type_is_an_error() {
        for (bytes, oid, binary) in [
            (&b"seven"[..], INT4, false),
            (b"1.2.3", NUMERIC, false),
            (b"perhaps", BOOL, false),
            (b"\xff", types::TEXT, false),
            (b"{1,{2}}", 1016, false),
            (b"{\"1}", 1016, false),
            (b"{1,2", 1016, false),
            (&[0, 0, 1], INT4, true),
            (&[], INT8, true),
            (&[0, 9, 0, 0], NUMERIC, true),
            (&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 9, 0, 0, 0, 1], 1007, true),
        ] {
            assert!(literal(Some(bytes), oid, binary).is_err(), "{bytes:?} {oid}");
        }
    }
}
