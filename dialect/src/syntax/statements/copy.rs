//! `COPY ... TO`: DataFusion's clauses, and DuckDB's list of options.

use std::ffi::OsStr;
use std::path::Path;

use datafusion::sql::parser::{CopyToSource, CopyToStatement};
use datafusion::sql::sqlparser::ast::Value;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

use crate::syntax::statements::words::{option_name, option_value};
use crate::syntax::tree::ast;

/// The form of COPY.
pub(crate) const FORM: &str = "COPY table or (query) TO 'file' [(FORMAT f, option value, ...)]";

/// The endings of names that say a format.
const ENDINGS: [&str; 10] = ["csv", "parquet", "json", "arrow", "mantra", "svg", "html", "vega-lite", "pdf", "png"];

/// The options of formats whose others DataFusion refuses without saying which there are: its names, and ours.
const OPTIONS: [(&str, &[&str], &str); 3] = [
    (
        "csv",
        &[
            "has_header",
            "delimiter",
            "quote",
            "escape",
            "null_value",
            "date_format",
            "datetime_format",
            "timestamp_format",
            "timestamp_tz_format",
            "time_format",
            "double_quote",
            "terminator",
            "compression",
            "compression_level",
        ],
        "HEADER, DELIM, QUOTE, ESCAPE, NULLSTR, DATEFORMAT, TIMESTAMPFORMAT, COMPRESSION, PARTITION_BY",
    ),
    ("json", &["compression", "compression_level"], "COMPRESSION, PARTITION_BY"),
    ("arrow", &[], "PARTITION_BY"),
];

/// Parses `COPY (query | table) TO 'file'` with `(FORMAT f, option value, ...)` as DuckDB writes it, or with
/// `STORED AS f`, `PARTITIONED BY (...)` and `OPTIONS (...)` as DataFusion does. Without a format, the file's extension
/// says it.
pub(crate) fn parse(parser: &mut Parser<'_>) -> Result<CopyToStatement, ParserError> {
    parser.expect_keyword(Keyword::COPY)?;
    let source = if parser.consume_token(&Token::LParen) {
        let query = parser.parse_query()?;
        parser.expect_token(&Token::RParen)?;
        CopyToSource::Query(query)
    } else {
        // In a FROM clause a name may be text: `COPY 'a.csv' TO 'b.parquet'`.
        match parser.peek_token().token {
            Token::SingleQuotedString(_) => {
                CopyToSource::Query(Box::new(ast::select_all(ast::table(parser.parse_object_name(true)?))))
            }
            _ => CopyToSource::Relation(parser.parse_object_name(false)?),
        }
    };
    if matches!(&parser.peek_token().token, Token::Word(word) if word.keyword == Keyword::FROM) {
        return parser.expected("TO 'file', or FROM 'file' behind a table", parser.peek_token());
    }
    parser.expect_keyword(Keyword::TO)?;
    let mut copy = CopyToStatement {
        source,
        target: parser.parse_literal_string()?,
        partitioned_by: vec![],
        stored_as: None,
        options: vec![],
    };
    loop {
        let found = parser.peek_token();
        if parser.parse_keyword(Keyword::STORED) {
            parser.expect_keyword(Keyword::AS)?;
            match option_value(parser)? {
                Some(format) => set_format(parser, &mut copy, &format)?,
                None => return parser.expected("a format", parser.peek_token()),
            }
        } else if parser.parse_keyword(Keyword::PARTITIONED) {
            parser.expect_keyword(Keyword::BY)?;
            copy.partitioned_by = columns(parser)?;
        } else if parser.parse_keyword(Keyword::OPTIONS) {
            parser.expect_token(&Token::LParen)?;
            options(parser, &mut copy, false)?;
        } else if found.token == Token::LParen
            || (parser.parse_keyword(Keyword::WITH) && parser.peek_token().token == Token::LParen)
        {
            parser.expect_token(&Token::LParen)?;
            options(parser, &mut copy, true)?;
        } else if matches!(found.token, Token::EOF | Token::SemiColon) {
            read_ending(&mut copy);
            check(&copy)?;
            return Ok(copy);
        } else {
            return parser.expected("end of statement or (FORMAT f, ...)", found);
        }
    }
}

fn set_format(parser: &Parser<'_>, copy: &mut CopyToStatement, format: &str) -> Result<(), ParserError> {
    if copy.stored_as.is_some() {
        return parser.expected("one format", parser.peek_token());
    }
    // DataFusion falls back to the extension when it does not know the format: a wrong one must be an error.
    match format.to_ascii_uppercase().as_str() {
        "NDJSON" | "JSONL" => copy.stored_as = Some("JSON".to_owned()),
        "VEGA_LITE" | "VEGALITE" => copy.stored_as = Some("VEGA-LITE".to_owned()),
        known @ ("CSV" | "PARQUET" | "JSON" | "ARROW" | "MANTRA" | "SVG" | "HTML" | "VEGA-LITE") => {
            copy.stored_as = Some(known.to_owned());
        }
        _ => {
            let formats = "a format among csv, parquet, json, arrow, mantra, svg, html, vega_lite";
            return parser.expected(formats, parser.peek_token());
        }
    }
    Ok(())
}

/// The name of a file in lower case without the ending that says its compression, and that.
pub(crate) fn uncompressed(name: &str) -> (String, Option<&'static str>) {
    const COMPRESSIONS: [(&str, &str); 4] = [(".gz", "gzip"), (".bz2", "bzip2"), (".xz", "xz"), (".zst", "zstd")];
    let name = name.to_ascii_lowercase();
    let found = COMPRESSIONS.iter().find_map(|(ending, known)| Some((name.strip_suffix(ending)?.to_owned(), *known)));
    found.map_or((name, None), |(stem, compression)| (stem, Some(compression)))
}

/// The format and the compression that the ending of the target's name says, where no clause does: `t.ndjson`, `t.csv.gz`.
fn read_ending(copy: &mut CopyToStatement) {
    let (stem, compression) = uncompressed(&copy.target);
    let inferred = match stem.rsplit_once('.').map(|(_, ending)| ending) {
        Some("ndjson" | "jsonl") => Some("JSON"),
        Some("json") if compression.is_some() => Some("JSON"),
        Some("csv") if compression.is_some() => Some("CSV"),
        _ => None,
    };
    if copy.stored_as.is_none() {
        copy.stored_as = inferred.map(str::to_owned);
    }
    let compresses = matches!(copy.stored_as.as_deref(), Some("CSV" | "JSON"));
    let given = copy.options.iter().any(|(name, _)| name.ends_with("compression"));
    if let Some(name) = compression
        && compresses
        && !given
    {
        copy.options.push(("compression".to_owned(), Value::SingleQuotedString(name.to_owned())));
    }
}

/// Refuses a format that is not known, and options that a format does not have.
fn check(copy: &CopyToStatement) -> Result<(), ParserError> {
    let refuse = |text: String| Err(ParserError::ParserError(text));
    let target = copy.target.to_ascii_lowercase();
    let ending = Path::new(&target).extension().and_then(OsStr::to_str).unwrap_or_default();
    let format = copy.stored_as.as_deref().map_or_else(|| ending.to_owned(), str::to_ascii_lowercase);
    if copy.stored_as.is_none() && !ENDINGS.contains(&ending) {
        return refuse(format!(
            "the ending of '{}' names no format: say it behind, (FORMAT csv), or parquet, json, arrow, mantra, svg, html, \
             vega_lite",
            copy.target
        ));
    }
    let Some((_, known, shown)) = OPTIONS.iter().find(|(name, ..)| *name == format) else { return Ok(()) };
    for (name, _) in &copy.options {
        let name = name.strip_prefix("format.").unwrap_or(name);
        if !known.contains(&name) && !name.contains([':', '.']) {
            return refuse(format!("COPY to {format} has no option {name}; it takes {shown}"));
        }
    }
    let one = |name: &str, usual: &str| {
        let given = copy.options.iter().find(|(option, _)| option == name).map(|(_, value)| value);
        match given {
            Some(Value::SingleQuotedString(text)) => text.clone(),
            _ => usual.to_owned(),
        }
    };
    if format == "csv" && one("delimiter", ",") == one("quote", "\"") {
        return refuse("COPY to csv: DELIM and QUOTE are the same character".to_owned());
    }
    Ok(())
}

/// An option's value as DataFusion reads it; an error where it can mean nothing.
fn checked_value(option: &str, value: String) -> Result<String, ParserError> {
    let refuse = |expected: &str| {
        Err(ParserError::ParserError(format!("{} is '{value}': {expected} is expected", option.to_ascii_uppercase())))
    };
    match option {
        "header" => match value.to_ascii_lowercase().as_str() {
            "true" | "1" | "on" => Ok("true".to_owned()),
            "false" | "0" | "off" => Ok("false".to_owned()),
            _ => refuse("true or false"),
        },
        "delim" | "sep" | "delimiter" | "quote" | "escape" if value.len() != 1 || !value.is_ascii() => {
            refuse("one character of ASCII")
        }
        "row_group_size" if !value.parse::<u64>().is_ok_and(|rows| rows > 0) => refuse("a number of rows"),
        _ => Ok(value),
    }
}

fn columns(parser: &mut Parser<'_>) -> Result<Vec<String>, ParserError> {
    if !parser.consume_token(&Token::LParen) {
        return Ok(vec![ast::normalized(&parser.parse_identifier()?)]);
    }
    let columns = parser.parse_comma_separated(Parser::parse_identifier)?;
    parser.expect_token(&Token::RParen)?;
    Ok(columns.iter().map(ast::normalized).collect())
}

/// The options up to the closing parenthesis. `FORMAT` and `PARTITION_BY` are options in DuckDB's list only.
fn options(parser: &mut Parser<'_>, copy: &mut CopyToStatement, duckdb: bool) -> Result<(), ParserError> {
    while !parser.consume_token(&Token::RParen) {
        let name = option_name(parser)?;
        match name.as_str() {
            "format" if duckdb => match option_value(parser)? {
                Some(format) => set_format(parser, copy, &format)?,
                None => return parser.expected("the format's name after FORMAT", parser.peek_token()),
            },
            "partition_by" if duckdb => copy.partitioned_by = columns(parser)?,
            _ => {
                let value = option_value(parser)?.unwrap_or_else(|| "true".to_owned());
                let value = if duckdb { checked_value(&name, value)? } else { value };
                let name = if duckdb { datafusion_name(&name).to_owned() } else { name };
                copy.options.push((name, Value::SingleQuotedString(value)));
            }
        }
        if !parser.consume_token(&Token::Comma) && parser.peek_token().token != Token::RParen {
            return parser.expected("',' or ')' after an option", parser.peek_token());
        }
    }
    // Parquet's codecs carry a level in DataFusion; these are the levels that the codecs' own tools default to.
    let parquet = copy.stored_as.as_deref() == Some("PARQUET")
        || (copy.stored_as.is_none() && copy.target.to_ascii_lowercase().ends_with(".parquet"));
    for (name, value) in copy.options.iter_mut().filter(|_| parquet) {
        if let ("compression", Value::SingleQuotedString(codec)) = (name.as_str(), &value) {
            let with_level = match codec.to_ascii_lowercase().as_str() {
                "zstd" => "zstd(3)",
                "gzip" => "gzip(6)",
                "brotli" => "brotli(6)",
                _ => continue,
            };
            *value = Value::SingleQuotedString(with_level.to_owned());
        }
    }
    Ok(())
}

/// DataFusion's name of an option of DuckDB.
fn datafusion_name(name: &str) -> &str {
    match name {
        "header" => "has_header",
        "delim" | "sep" => "delimiter",
        "null" | "nullstr" => "null_value",
        "dateformat" => "date_format",
        "timestampformat" => "timestamp_format",
        "row_group_size" => "max_row_group_size",
        "codec" => "compression",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{error, rows, session};

    /// The text that COPY wrote with these options.
    async fn written(options: &str) -> String {
        let context = session().await;
        // DataFusion makes a folder of a name without an extension.
        let file = std::env::temp_dir().join(format!("bonnetdb-copy-{}-{}.out", std::process::id(), options.len()));
        let source = "SELECT city, amount FROM sales WHERE city = 'Bonn' ORDER BY amount";
        rows(&context, &format!("COPY ({source}) TO '{}' {options}", file.display())).await.unwrap();
        let bytes = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    #[tokio::test]
    async fn options_of_duckdb_do_what_they_say() {
        assert_eq!(written("(FORMAT csv, HEADER false, DELIMITER ';')").await, "Bonn;8\nBonn;16\n");
        assert_eq!(written("(FORMAT csv, HEADER, sep '|')").await, "city|amount\nBonn|8\nBonn|16\n");
        assert_eq!(written("STORED AS CSV OPTIONS (has_header false)").await, "Bonn,8\nBonn,16\n");
        assert_eq!(
            written("WITH (FORMAT ndjson)").await,
            "{\"city\":\"Bonn\",\"amount\":8}\n{\"city\":\"Bonn\",\"amount\":16}\n"
        );
        for codec in ["zstd", "gzip", "snappy", "'zstd(9)'"] {
            let text = written(&format!("(FORMAT parquet, COMPRESSION {codec}, ROW_GROUP_SIZE 1)")).await;
            assert!(text.starts_with("PAR1") && text.ends_with("PAR1"), "{codec}");
        }
    }

    #[tokio::test]
    async fn the_ending_says_the_format_and_the_compression() {
        let context = session().await;
        for (ending, options) in
            [("ndjson", ""), ("jsonl", ""), ("csv.gz", ""), ("csv.gz", "(FORMAT csv)"), ("json.zst", "")]
        {
            let file = std::env::temp_dir().join(format!("bonnetdb-copy-ending-{}.{ending}", std::process::id()));
            rows(&context, &format!("COPY (SELECT 1 AS a) TO '{}' {options}", file.display())).await.unwrap();
            let bytes = std::fs::read(&file).unwrap();
            std::fs::remove_file(&file).unwrap();
            match ending {
                "csv.gz" => assert_eq!(bytes[..2], [0x1f, 0x8b]),
                "json.zst" => assert_eq!(bytes[..4], [0x28, 0xb5, 0x2f, 0xfd]),
                _ => assert_eq!(bytes, b"{\"a\":1}\n"),
            }
        }
    }

    #[tokio::test]
    async fn unknown_options_are_refused() {
        let context = session().await;
        let file = std::env::temp_dir().join("bonnetdb-copy-refused.out");
        let found =
            error(rows(&context, &format!("COPY sales TO '{}' (FORMAT csv, COLOUR red)", file.display())).await);
        assert!(found.contains("colour"), "{found}");
        assert!(!file.exists());
    }
}
