//! The dialect: DuckDB's, except that `f(a = b)` is a comparison.

use std::any::TypeId;

use datafusion::sql::sqlparser::dialect::{Dialect, DuckDbDialect};

/// DuckDB's dialect under DuckDB's identity, with two differences. `f(a = b)` hands a comparison to `f`, so that
/// `count(a = 1)` and `bool_or(src = dst)` work; arguments are named with `f(x => 1)` or `f(x := 1)`. And a table's
/// version (`VERSION AS OF`) parses, so that it can be refused by name instead of being read as an alias.
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

    fn is_identifier_start(&self, ch: char) -> bool {
        DuckDbDialect.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        DuckDbDialect.is_identifier_part(ch)
    }

    fn supports_trailing_commas(&self) -> bool {
        DuckDbDialect.supports_trailing_commas()
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        DuckDbDialect.supports_filter_during_aggregation()
    }

    fn supports_group_by_expr(&self) -> bool {
        DuckDbDialect.supports_group_by_expr()
    }

    fn supports_bitwise_shift_operators(&self) -> bool {
        DuckDbDialect.supports_bitwise_shift_operators()
    }

    fn supports_named_fn_args_with_assignment_operator(&self) -> bool {
        DuckDbDialect.supports_named_fn_args_with_assignment_operator()
    }

    fn supports_dictionary_syntax(&self) -> bool {
        DuckDbDialect.supports_dictionary_syntax()
    }

    fn support_map_literal_syntax(&self) -> bool {
        DuckDbDialect.support_map_literal_syntax()
    }

    fn supports_lambda_functions(&self) -> bool {
        DuckDbDialect.supports_lambda_functions()
    }

    fn allow_extract_single_quotes(&self) -> bool {
        DuckDbDialect.allow_extract_single_quotes()
    }

    fn supports_explain_with_utility_options(&self) -> bool {
        DuckDbDialect.supports_explain_with_utility_options()
    }

    fn supports_load_extension(&self) -> bool {
        DuckDbDialect.supports_load_extension()
    }

    fn supports_array_typedef_with_brackets(&self) -> bool {
        DuckDbDialect.supports_array_typedef_with_brackets()
    }

    fn supports_from_first_select(&self) -> bool {
        DuckDbDialect.supports_from_first_select()
    }

    fn supports_order_by_all(&self) -> bool {
        DuckDbDialect.supports_order_by_all()
    }

    fn supports_select_wildcard_exclude(&self) -> bool {
        DuckDbDialect.supports_select_wildcard_exclude()
    }

    fn supports_notnull_operator(&self) -> bool {
        DuckDbDialect.supports_notnull_operator()
    }

    fn supports_install(&self) -> bool {
        DuckDbDialect.supports_install()
    }

    fn supports_detach(&self) -> bool {
        DuckDbDialect.supports_detach()
    }

    fn supports_select_wildcard_replace(&self) -> bool {
        DuckDbDialect.supports_select_wildcard_replace()
    }

    fn supports_comma_separated_trim(&self) -> bool {
        DuckDbDialect.supports_comma_separated_trim()
    }
}
