//! Texts of a pickle that are written with escapes, a line each, as protocol 0 has them.

/// The bytes of a `str` in quotes, as Python's `repr` writes it.
pub(super) fn quoted(line: &[u8]) -> Result<Vec<u8>, String> {
    let wrong = || format!("{} is no text in quotes", String::from_utf8_lossy(line));
    let [quote @ (b'\'' | b'"'), text @ .., last] = line else { return Err(wrong()) };
    if quote != last {
        return Err(wrong());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&escape, behind) = rest.split_first().ok_or_else(wrong)?;
        rest = behind;
        bytes.push(match escape {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'x' => {
                let (digits, behind) = rest.split_at_checked(2).ok_or_else(wrong)?;
                rest = behind;
                hexadecimal(digits).and_then(|code| u8::try_from(code).ok()).ok_or_else(wrong)?
            }
            b'0'..=b'7' => {
                let length = 1 + rest.iter().take(2).take_while(|digit| matches!(digit, b'0'..=b'7')).count();
                let (more, behind) = rest.split_at(length - 1);
                rest = behind;
                let code = more.iter().fold(u32::from(escape - b'0'), |code, digit| code * 8 + u32::from(digit - b'0'));
                u8::try_from(code).map_err(|_| wrong())?
            }
            escape => escape,
        });
    }
    Ok(bytes)
}

/// The UTF-8 of a text whose letters are bytes of Latin-1, and others `\\u` and `\\U` with their codes.
pub(super) fn unicode(line: &[u8]) -> Result<Vec<u8>, String> {
    let wrong = || "a text has an escape that is none".to_owned();
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        let length = match (byte, rest.first()) {
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            _ => {
                text.push(char::from(byte));
                continue;
            }
        };
        let (digits, behind) = rest[1..].split_at_checked(length).ok_or_else(wrong)?;
        rest = behind;
        text.push(hexadecimal(digits).and_then(char::from_u32).ok_or_else(wrong)?);
    }
    Ok(text.into_bytes())
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_stand_for_bytes() {
        assert_eq!(quoted(b"'i4'").unwrap(), b"i4");
        assert_eq!(quoted(b"\"a'\\n\\x00\\xff\\\\\\'\\0\\101\"").unwrap(), b"a'\n\x00\xff\\'\0A");
        for wrong in [&b"a"[..], b"'", b"'a\"", b"'\\'", b"'\\x1'", b"'\\x'", b"'\\777'", b""] {
            assert!(quoted(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn letters_beyond_latin_have_their_codes() {
        assert_eq!(unicode(b"a\xe9\\u20ac\\U0001d538\\u005c").unwrap(), "a\u{e9}\u{20ac}\u{1d538}\\".as_bytes());
        assert!(unicode(b"\\u12").is_err() && unicode(b"\\ud800").is_err());
        assert_eq!(unicode(b"\\x").unwrap(), b"\\x");
    }
}
