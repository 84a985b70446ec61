//! Sizes of memory as a user writes them.

/// Reads a size such as `512MB`, `4GiB` or `1g` into bytes.
///
/// `kB`, `MB`, `GB`, `TB` count by 1000; `KiB`, `MiB`, `GiB`, `TiB` and the letters `k`, `m`, `g`, `t` alone by 1024; a
/// number alone counts bytes. Case does not matter.
///
/// ```
/// assert_eq!(bonnetdb::parse_size("4GB"), Ok(4_000_000_000));
/// assert_eq!(bonnetdb::parse_size("4GiB"), Ok(4 << 30));
/// ```
///
/// # Errors
/// Zero, what does not fit the machine's word, and what is no size, with the reason.
pub fn parse(text: &str) -> Result<usize, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..digits], text[digits..].trim());
    let number: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` is not a size: write a number and a unit, such as 512MB or 4GiB"))?;
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1000,
        "mb" => 1000_u64.pow(2),
        "gb" => 1000_u64.pow(3),
        "tb" => 1000_u64.pow(4),
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        _ => {
            return Err(format!(
                "`{unit}` is not a unit of size: use B, kB, MB, GB, TB (by 1000) or KiB, MiB, GiB, TiB (by 1024)"
            ));
        }
    };
    let bytes = (number * factor as f64).floor();
    if bytes < 1.0 {
        return Err(format!("`{text}` is no memory at all: the limit must be at least one byte"));
    }
    if bytes >= usize::MAX as f64 {
        return Err(format!("`{text}` is more than this machine can address"));
    }
    Ok(bytes as usize)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_are_read_in_both_counts() {
        assert_eq!(parse("512MB"), Ok(512_000_000));
        assert_eq!(parse("4GiB"), Ok(4_294_967_296));
        assert_eq!(parse("1g"), Ok(1_073_741_824));
        assert_eq!(parse("1.5 kb"), Ok(1500));
        assert_eq!(parse("2T"), Ok(2_199_023_255_552));
        assert_eq!(parse("1024"), Ok(1024));
        assert_eq!(parse("7B"), Ok(7));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for (text, reason) in [
            ("", "is not a size"),
            ("MB", "is not a size"),
            ("-1MB", "is not a size"),
            ("1.2.3MB", "is not a size"),
            (".", "is not a size"),
            ("0", "no memory"),
            ("0.1B", "no memory"),
            ("1XB", "`XB` is not a unit"),
            ("99999999999999TB", "more than"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
