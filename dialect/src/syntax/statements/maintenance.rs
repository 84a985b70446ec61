//! `OPTIMIZE` and `VACUUM`.

use std::time::Duration;

use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

use crate::syntax::statements::statement::Statement;
use crate::syntax::statements::words::{expect_word, parse_word, table_name};

/// The form of OPTIMIZE.
pub(crate) const OPTIMIZE: &str = "OPTIMIZE table";
/// The form of VACUUM.
pub(crate) const VACUUM: &str = "VACUUM [table] [RETAIN n HOURS]";

pub(crate) fn optimize(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    expect_word(parser, "OPTIMIZE")?;
    let _ = parser.parse_keyword(Keyword::TABLE);
    Ok(Statement::Optimize { table: table_name(parser)? })
}

pub(crate) fn vacuum(parser: &mut Parser<'_>) -> Result<Statement, ParserError> {
    expect_word(parser, "VACUUM")?;
    let retains = matches!(parser.peek_token().token, Token::Word(word) if word.value.eq_ignore_ascii_case("RETAIN"));
    let named = matches!(parser.peek_token().token, Token::Word(_)) && !retains;
    let table = if named { Some(table_name(parser)?) } else { None };
    if !parse_word(parser, "RETAIN") {
        return Ok(Statement::Vacuum { table, retain: None });
    }
    let found = parser.next_token();
    let hours = match &found.token {
        Token::Number(number, _) => number.parse::<f64>().ok(),
        _ => None,
    };
    // A hundred years: longer times overflow clocks.
    let Some(hours) = hours.filter(|hours| (0.0..=876_000.0).contains(hours)) else {
        return parser.expected("a number of hours", found);
    };
    let unit = parser.next_token();
    let days = match &unit.token {
        Token::Word(word) if matches!(word.value.to_ascii_uppercase().as_str(), "HOUR" | "HOURS") => 1.0,
        Token::Word(word) if matches!(word.value.to_ascii_uppercase().as_str(), "DAY" | "DAYS") => 24.0,
        _ => return parser.expected("HOURS or DAYS", unit),
    };
    Ok(Statement::Vacuum { table, retain: Some(Duration::from_secs_f64(hours * days * 3600.0)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::statements::parse::parse;
    use crate::testing::{error, name, parsed};

    #[test]
    fn upkeep_of_tables_parses() {
        assert_eq!(parsed("optimize a.b"), Statement::Optimize { table: name(&["a", "b"]) });
        assert_eq!(parsed("VACUUM"), Statement::Vacuum { table: None, retain: None });
        let hours = |hours: u64| Some(Duration::from_secs(hours * 3600));
        assert_eq!(parsed("VACUUM RETAIN 2 HOURS"), Statement::Vacuum { table: None, retain: hours(2) });
        let vacuum = Statement::Vacuum { table: Some(name(&["T x"])), retain: hours(48) };
        assert_eq!(parsed("vacuum \"T x\" retain 2 days"), vacuum);
        for text in ["VACUUM t RETAIN", "VACUUM t RETAIN x HOURS", "VACUUM t RETAIN 2", "OPTIMIZE", "VACUUM 'x'"] {
            let found = error(parse(text));
            assert!(found.contains("the form is") || found.contains("end of statement"), "{text}: {found}");
        }
    }
}
