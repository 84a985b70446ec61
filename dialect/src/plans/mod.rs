//! Rules of the planner, beside DataFusion's own: for plans that DataFusion 55 answers wrongly, cannot plan, or cannot cancel.
//!
//! A statement passes three lists of rules, each in its order, and each in a folder: `analysis`, `logical`, `physical`.
//! `install.rs` puts them together; DataFusion's rules are part of each list, and some of them are confined to the plans that
//! they rewrite rightly.
//!
//! 1. **Analysis** (`analyzer_rules` and those that the session appends) settles types and makes a valid plan. INTERVAL_KEYS
//!    and RANGE_FRAMES come before DataFusion's coercion, which refuses the frames in question, and `DateComparisons`, since
//!    coercion would cast the operands. All others depend on types and come after it: first those of nodes (INSERTED_TYPES, GROUPING_SETS, SET_OPERATIONS,
//!    DISTINCT_SUBQUERIES); then those of subqueries (SCALAR_SUBQUERIES, and SUBQUERIES, which leaves EXISTS, before
//!    `Correlation`, which makes joins of it); then those of expressions. Of these VALUES is the first, since it writes
//!    `nullif` and `CASE x WHEN` as comparisons, which the others look at. SIMPLIFICATION is the last: it puts barriers
//!    around operands, which hide them from the optimizer, but would hide them from other rules as well.
//! 2. **Logical optimization** (`logical_rules`) repeats its list while the plan changes, three times at most. DataFusion's
//!    rules do not see what they mistake (`filter_pushdown`, `functional_dependencies`, `null_equality`), or find it rewritten
//!    right before (`window_twins`, `wide_keys`, PLAIN_LATERAL). AGGREGATE_ORDER, WINDOW_STRINGS and WINDOW_VALUES follow
//!    them. `PruneOutputs` comes twice: before `optimize_projections`, which saves a pass, and after it, for calls below
//!    joins. Afterwards `CheckedPlanner` replaces arithmetic by checked functions; before, the rules see plain operators, except
//!    of constants.
//! 3. **Physical optimization** (`physical_rules`) runs its list once. GROUPING_ORDER, LIMITED_GROUPS and OUTER_JOINS come before the
//!    rules that leave out sorts; WINDOWS after those that place them; UNREAD_PARTITIONS after the pushdown of filters, which makes
//!    joins wait; NAN_STATISTICS after filters have been pushed to scans. SCANNED_NAN comes behind these, since it puts projections
//!    over the scans that other rules look for, and FILE_FAULTS is the last, since it hides the readers of files.
//!
//! A rule belongs before the mistake that it prevents, and as close to it as may be. Wrong identities of expressions are
//! prevented in analysis, since simplification is among the optimizer's first steps; orderings only exist in physical plans.
//!
//! **To add one**, write a file named after its subject. Its first lines say which query DataFusion answers wrongly and why; in
//! it is a constant of one of the kinds of `node_rules`, which then gets its place in a list.
//!
//! - `ExpressionRule` rewrites expressions in analysis, and keeps their names (see `in_lists.rs`). For one more wrong identity
//!   a function in the list of `simplification/mod.rs` is enough.
//! - `LogicalRule` rewrites nodes of logical plans, in analysis or optimization (see `grouping_sets.rs`).
//! - `PhysicalRule` rewrites operators (see `grouping_order.rs`).
//! - A rule of DataFusion that errs on some plans is wrapped by a struct that hands it the others alone (see
//!   `aggregate_statistics.rs`), and replaced in `optimizer.rs` or `physical_optimizer.rs`.
//!
//! Its page ends with its thread upstream and a statement that shows it (`dialect/README.md`), and the test is a script of `tests/slt` with the
//! query and its right answer. `expressions.rs` has what rules share; barriers and
//! other functions that plans call are in `bonnet_values`.

mod analysis;
mod expressions;
mod logical;
mod node_rules;
mod physical;
mod stoppable;

pub(crate) use analysis::{
    Correlation, DISTINCT_SUBQUERIES, GROUPING_SETS, IN_LISTS, INSERTED_TYPES, NESTED_COMPARISONS, SCALAR_SUBQUERIES,
    SCANNED_NAN, SET_OPERATIONS, SIMPLIFICATION, SUBQUERIES, VALUES, analyzer_rules,
};
pub(crate) use logical::{AGGREGATE_ORDER, WINDOW_STRINGS, WINDOW_VALUES, logical_rules, without_false_keys};
pub use node_rules::PhysicalRule;
pub(crate) use physical::{NAN_STATISTICS, UNREAD_PARTITIONS, WINDOWS, YIELDING_JOINS, physical_rules};
pub(crate) use stoppable::make_stoppable;
