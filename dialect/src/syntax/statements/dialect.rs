//! The dialect: DuckDB's, except that `f(a = b)` is a comparison.

use std::any::TypeId;

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, UnaryOperator};
use datafusion::sql::sqlparser::dialect::{Dialect, DuckDbDialect};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;

/// The precedence of `^`: between that of COLLATE (42) and of `::` (50).
const POWER: u8 = 45;

/// Chains of AND and OR of so many terms are no trees worth a balance.
pub(crate) const FEW: usize = 16;

/// Methods that answer as DuckDB's dialect does.
macro_rules! forward {
    ($($method:ident($($argument:ident: $type:ty)?),)*) => {
        $(fn $method(&self $(, $argument: $type)?) -> bool {
            DuckDbDialect.$method($($argument)?)
        })*
    };
}

/// DuckDB's dialect under DuckDB's identity, with these differences. `f(a = b)` hands a comparison to `f`, so that
/// `count(a = 1)` and `bool_or(src = dst)` work; arguments are named with `f(x => 1)` or `f(x := 1)`. And a table's
/// version (`VERSION AS OF`) parses, instead of being read as an alias; `E'a\n'` is a text with escapes; and `^` binds as the
/// power that it is in DuckDB itself.
///
/// Every method that [`DuckDbDialect`] overrides is forwarded; the others have the same defaults for both.
#[derive(Debug, Default, Clone, Copy)]
pub struct BonnetDialect;

impl Dialect for BonnetDialect {
    // The parser asks for the dialect's type in places where it has no method to ask.
    fn dialect(&self) -> TypeId {
        TypeId::of::<DuckDbDialect>()
    }

    fn supports_named_fn_args_with_eq_operator(&self) -> bool {
        false
    }

    fn supports_table_versioning(&self) -> bool {
        true
    }

    // `first_value(x IGNORE NULLS)`, as in DuckDB itself.
    fn supports_window_function_null_treatment_arg(&self) -> bool {
        true
    }

    // `E'a\n'`, as in DuckDB itself.
    fn supports_string_escape_constant(&self) -> bool {
        true
    }

    // `^` is the power: it binds closer than `*`, and the sign of a number closer still.
    fn get_next_precedence(&self, parser: &Parser) -> Option<Result<u8, ParserError>> {
        (parser.peek_token_ref().token == Token::Caret).then_some(Ok(POWER))
    }

    fn parse_prefix(&self, parser: &mut Parser) -> Option<Result<Expr, ParserError>> {
        let op = match parser.peek_token_ref().token {
            Token::Minus => UnaryOperator::Minus,
            Token::Plus => UnaryOperator::Plus,
            _ => return None,
        };
        parser.next_token();
        Some(parser.parse_subexpr(POWER).map(|expr| Expr::UnaryOp { op, expr: Box::new(expr) }))
    }

    // `a IS DISTINCT FROM b AND c`: the parser takes all that follows for the other side.
    fn parse_infix(&self, parser: &mut Parser, expr: &Expr, precedence: u8) -> Option<Result<Expr, ParserError>> {
        for (keyword, op) in [(Keyword::OR, BinaryOperator::Or), (Keyword::AND, BinaryOperator::And)] {
            if parser.parse_keyword(keyword) {
                return Some(chain(parser, expr, keyword, op, precedence));
            }
        }
        if !parser.parse_keyword(Keyword::IS) {
            return None;
        }
        let negated = parser.parse_keywords(&[Keyword::NOT, Keyword::DISTINCT, Keyword::FROM]);
        if !negated && !parser.parse_keywords(&[Keyword::DISTINCT, Keyword::FROM]) {
            parser.prev_token();
            return None;
        }
        let expr = Box::new(expr.clone());
        Some(parser.parse_subexpr(precedence).map(Box::new).map(|other| match negated {
            true => Expr::IsNotDistinctFrom(expr, other),
            false => Expr::IsDistinctFrom(expr, other),
        }))
    }

    forward!(
        is_identifier_start(ch: char),
        is_identifier_part(ch: char),
        supports_trailing_commas(),
        supports_filter_during_aggregation(),
        supports_group_by_expr(),
        supports_bitwise_shift_operators(),
        supports_named_fn_args_with_assignment_operator(),
        supports_dictionary_syntax(),
        support_map_literal_syntax(),
        supports_lambda_functions(),
        allow_extract_single_quotes(),
        supports_explain_with_utility_options(),
        supports_load_extension(),
        supports_array_typedef_with_brackets(),
        supports_from_first_select(),
        supports_order_by_all(),
        supports_select_wildcard_exclude(),
        supports_notnull_operator(),
        supports_install(),
        supports_detach(),
        supports_select_wildcard_replace(),
        supports_comma_separated_trim(),
    );
}

/// A chain of AND or OR as a tree that is as shallow as can be: the depth of a tree is limited.
fn chain(
    parser: &mut Parser,
    first: &Expr,
    keyword: Keyword,
    op: BinaryOperator,
    precedence: u8,
) -> Result<Expr, ParserError> {
    let mut terms = vec![first.clone()];
    loop {
        terms.push(parser.parse_subexpr(precedence)?);
        if !parser.parse_keyword(keyword) {
            return Ok(balanced(&mut terms.into_iter(), &op).unwrap_or_else(|| first.clone()));
        }
    }
}

/// All terms, in their order.
fn balanced(terms: &mut std::vec::IntoIter<Expr>, op: &BinaryOperator) -> Option<Expr> {
    fn tree(terms: &mut std::vec::IntoIter<Expr>, count: usize, op: &BinaryOperator) -> Option<Expr> {
        if count == 1 {
            return terms.next();
        }
        // Chains of a few terms lean to the left, as they always have.
        let left = if count <= FEW { count - 1 } else { count / 2 };
        let (left, right) = (tree(terms, left, op)?, tree(terms, count - left, op)?);
        Some(Expr::BinaryOp { left: Box::new(left), op: op.clone(), right: Box::new(right) })
    }
    let count = terms.len();
    tree(terms, count, op)
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::keywords::ALL_KEYWORDS_INDEX;

    use super::*;

    /// The names of the methods that differ between the two dialects, among those given.
    macro_rules! differing {
        ($($method:ident),* $(,)?) => {{
            let mut differing: Vec<&str> = Vec::new();
            $(if BonnetDialect.$method() != DuckDbDialect.$method() { differing.push(stringify!($method)); })*
            differing
        }};
    }

    // Every method of the trait that answers yes or no, so that an override of DuckDB's dialect cannot be lost.
    #[test]
    fn every_other_answer_is_duckdbs() {
        let differing = differing!(
            allow_extract_custom,
            allow_extract_single_quotes,
            convert_type_before_value,
            describe_requires_table_keyword,
            ignores_wildcard_escapes,
            require_interval_qualifier,
            requires_single_line_comment_whitespace,
            support_map_literal_syntax,
            supports_alter_column_type_using,
            supports_array_join_syntax,
            supports_array_typedef_with_brackets,
            supports_array_typedef_without_element_type,
            supports_asc_desc_in_column_definition,
            supports_bang_not_operator,
            supports_binary_kw_as_cast,
            supports_bitwise_shift_operators,
            supports_boolean_literals,
            supports_column_definition_trailing_commas,
            supports_comma_separated_drop_column_list,
            supports_comma_separated_set_assignments,
            supports_comma_separated_trim,
            supports_comment_on,
            supports_comment_optimizer_hint,
            supports_connect_by,
            supports_constraint_keyword_without_name,
            supports_create_index_with_clause,
            supports_create_table_like_parenthesized,
            supports_create_table_multi_schema_info_sources,
            supports_create_table_select,
            supports_create_table_using,
            supports_create_view_comment_syntax,
            supports_cross_join_constraint,
            supports_cte_without_as,
            supports_data_type_signed_suffix,
            supports_detach,
            supports_dictionary_syntax,
            supports_dollar_as_money_prefix,
            supports_dollar_placeholder,
            supports_double_ampersand_operator,
            supports_empty_projections,
            supports_end_transaction_modifier,
            supports_eq_alias_assignment,
            supports_execute_immediate,
            supports_explain_with_utility_options,
            supports_extract_comma_syntax,
            supports_factorial_operator,
            supports_filter_during_aggregation,
            supports_from_first_insert,
            supports_from_first_select,
            supports_from_trailing_commas,
            supports_geometric_types,
            supports_group_by_expr,
            supports_group_by_with_modifier,
            supports_in_empty_list,
            supports_insert_format,
            supports_insert_set,
            supports_insert_table_alias,
            supports_insert_table_function,
            supports_insert_table_query,
            supports_install,
            supports_interpolate,
            supports_interval_options,
            supports_key_column_option,
            supports_lambda_functions,
            supports_left_associative_joins_without_parens,
            supports_limit_by,
            supports_limit_comma,
            supports_listen_notify,
            supports_load_data,
            supports_load_extension,
            supports_long_type_as_bigint,
            supports_map_literal_with_angle_brackets,
            supports_match_against,
            supports_match_recognize,
            supports_multiline_comment_hints,
            supports_named_fn_args_with_assignment_operator,
            supports_named_fn_args_with_colon_operator,
            supports_named_fn_args_with_expr_name,
            supports_named_fn_args_with_rarrow_operator,
            supports_nested_comments,
            supports_notnull_operator,
            supports_numeric_literal_underscores,
            supports_numeric_prefix,
            supports_object_name_double_dot_notation,
            supports_optimize_table,
            supports_order_by_all,
            supports_outer_join_operator,
            supports_parens_around_table_factor,
            supports_parenthesized_set_variables,
            supports_partiql,
            supports_partition_by_after_order_by,
            supports_pipe_operator,
            supports_prewhere,
            supports_projection_trailing_commas,
            supports_quote_delimited_string,
            supports_select_exclude,
            supports_select_expr_star,
            supports_select_format,
            supports_select_item_multi_column_alias,
            supports_select_modifiers,
            supports_select_wildcard_except,
            supports_select_wildcard_exclude,
            supports_select_wildcard_ilike,
            supports_select_wildcard_rename,
            supports_select_wildcard_replace,
            supports_select_wildcard_with_alias,
            supports_semantic_view_table_factor,
            supports_set_names,
            supports_set_stmt_without_operator,
            supports_settings,
            supports_show_like_before_in,
            supports_space_separated_column_options,
            supports_start_transaction_modifier,
            supports_string_escape_constant,
            supports_string_literal_backslash_escape,
            supports_string_literal_concatenation,
            supports_string_literal_concatenation_with_newline,
            supports_struct_literal,
            supports_subquery_as_function_arg,
            supports_table_hints,
            supports_table_sample_before_alias,
            supports_top_before_distinct,
            supports_trailing_commas,
            supports_triple_quoted_string,
            supports_try_convert,
            supports_unicode_string_literal,
            supports_update_order_by,
            supports_user_host_grantee,
            supports_values_as_table_factor,
            supports_window_clause_named_window_reference,
            supports_window_function_null_treatment_arg,
            supports_with_fill,
            supports_within_after_array_aggregation,
            supports_xml_expressions,
        );
        assert_eq!(differing, ["supports_string_escape_constant", "supports_window_function_null_treatment_arg"]);
        for c in (0..0x500).filter_map(char::from_u32) {
            assert_eq!(BonnetDialect.is_identifier_start(c), DuckDbDialect.is_identifier_start(c), "{c:?}");
            assert_eq!(BonnetDialect.is_identifier_part(c), DuckDbDialect.is_identifier_part(c), "{c:?}");
            assert_eq!(
                BonnetDialect.is_delimited_identifier_start(c),
                DuckDbDialect.is_delimited_identifier_start(c),
                "{c:?}"
            );
            assert_eq!(BonnetDialect.is_custom_operator_part(c), DuckDbDialect.is_custom_operator_part(c), "{c:?}");
        }
        for &keyword in ALL_KEYWORDS_INDEX {
            let (ours, theirs) = (BonnetDialect, DuckDbDialect);
            assert_eq!(ours.is_reserved_for_identifier(keyword), theirs.is_reserved_for_identifier(keyword));
        }
        assert_eq!(BonnetDialect.identifier_quote_style("a"), DuckDbDialect.identifier_quote_style("a"));
        assert_eq!(BonnetDialect.dialect(), DuckDbDialect.dialect());
    }

    #[test]
    fn an_equals_sign_in_an_argument_compares() {
        for text in ["SELECT count(a = 1) FROM t", "SELECT coalesce(a = 1, false), bool_or(src = dst) FROM t"] {
            let parsed = Parser::parse_sql(&BonnetDialect, text).unwrap();
            assert_eq!(parsed[0].to_string(), text);
            assert!(!format!("{parsed:?}").contains("Named"), "{parsed:?}");
        }
    }

    #[test]
    fn both_arrows_name_arguments() {
        let parsed = Parser::parse_sql(&BonnetDialect, "SELECT f(a, x => 1, y := 2)").unwrap();
        assert_eq!(format!("{parsed:?}").matches("Named {").count(), 2);
    }

    #[test]
    fn the_dialect_is_known_as_duckdbs() {
        // `//` is DuckDB's integer division, which the tokenizer grants to that dialect by its type.
        let dialect: &dyn Dialect = &BonnetDialect;
        assert!(dialect.is::<DuckDbDialect>());
        assert_eq!(Parser::parse_sql(dialect, "SELECT 7 // 2").unwrap()[0].to_string(), "SELECT 7 // 2");
        assert!(Parser::parse_sql(dialect, "SELECT {'a': 1}, MAP {3: 0.5}, x -> x + 1").is_ok());
    }
}
