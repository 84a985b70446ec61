//! Walks over syntax trees.
//!
//! The parser's walk is generic over its visitor: a thousand functions are compiled for each. Here all visitors share one.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, ObjectName, Query, Select, Statement, TableFactor, ValueWithSpan, Visit, VisitMut, Visitor, VisitorMut,
};

use crate::{Error, Result};

/// The flow of a walk that an error ends. It is boxed, since it travels up through every level of the tree.
pub(crate) type Flow = ControlFlow<Box<Error>>;

/// Ends a walk by an error.
pub(crate) fn flow(result: Result<()>) -> Flow {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(Box::new(error)),
    }
}

/// The result of such a walk.
pub(crate) fn result(flow: Flow) -> Result<()> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(*error),
    }
}

/// Visits a tree and may change it.
pub(crate) fn walk<V: VisitorMut>(tree: &mut impl VisitMut, visitor: &mut V) -> ControlFlow<V::Break> {
    captured(tree, CapturingVisitor { visitor, value: None, subqueries: None })
}

/// Visits a tree but for the subqueries in it, and may change it.
pub(crate) fn walk_outside_subqueries<V: VisitorMut>(
    tree: &mut impl VisitMut,
    visitor: &mut V,
) -> ControlFlow<V::Break> {
    captured(tree, CapturingVisitor { visitor, value: None, subqueries: Some(0) })
}

fn captured<V: VisitorMut>(tree: &mut impl VisitMut, mut visitor: CapturingVisitor<V>) -> ControlFlow<V::Break> {
    let _ = tree.visit(&mut ErasedVisitor(&mut visitor));
    visitor.value.map_or(ControlFlow::Continue(()), ControlFlow::Break)
}

/// The first expression of a tree for which something holds, not counting those of subqueries.
pub(crate) fn find(tree: &impl Visit, holds: &dyn Fn(&Expr) -> bool) -> Option<Expr> {
    struct Finder<'a> {
        holds: &'a dyn Fn(&Expr) -> bool,
        subqueries: usize,
    }
    impl Visitor for Finder<'_> {
        type Break = Box<Expr>;

        fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<Self::Break> {
            self.subqueries += 1;
            ControlFlow::Continue(())
        }

        fn post_visit_query(&mut self, _: &Query) -> ControlFlow<Self::Break> {
            self.subqueries -= 1;
            ControlFlow::Continue(())
        }

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Self::Break> {
            match self.subqueries == 0 && (self.holds)(expr) {
                true => ControlFlow::Break(Box::new(expr.clone())),
                false => ControlFlow::Continue(()),
            }
        }
    }
    tree.visit(&mut Finder { holds, subqueries: 0 }).break_value().map(|found| *found)
}

/// A visitor of any type behind one.
struct ErasedVisitor<'a>(&'a mut dyn VisitorMut<Break = ()>);

/// A visitor, and the value that it stopped with.
struct CapturingVisitor<'a, V: VisitorMut> {
    visitor: &'a mut V,
    value: Option<V::Break>,
    /// The number of subqueries around, where these are left out.
    subqueries: Option<usize>,
}

impl<V: VisitorMut> CapturingVisitor<'_, V> {
    fn visit(&mut self, visit: impl FnOnce(&mut V) -> ControlFlow<V::Break>) -> ControlFlow<()> {
        match self.subqueries {
            None | Some(0) => visit(self.visitor).map_break(|value| self.value = Some(value)),
            Some(_) => ControlFlow::Continue(()),
        }
    }
}

macro_rules! forward {
    ($($method:ident: $node:ty),*) => {
        impl VisitorMut for ErasedVisitor<'_> {
            type Break = ();

            $(fn $method(&mut self, node: &mut $node) -> ControlFlow<()> {
                self.0.$method(node)
            })*

            fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
                self.0.pre_visit_query(query)
            }

            fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
                self.0.post_visit_query(query)
            }
        }

        impl<V: VisitorMut> VisitorMut for CapturingVisitor<'_, V> {
            type Break = ();

            $(fn $method(&mut self, node: &mut $node) -> ControlFlow<()> {
                self.visit(|visitor| visitor.$method(node))
            })*

            fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
                let flow = self.visit(|visitor| visitor.pre_visit_query(query));
                self.subqueries = self.subqueries.map(|count| count + 1);
                flow
            }

            fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
                self.subqueries = self.subqueries.map(|count| count - 1);
                self.visit(|visitor| visitor.post_visit_query(query))
            }
        }
    };
}

forward!(
    pre_visit_select: Select,
    post_visit_select: Select,
    pre_visit_relation: ObjectName,
    post_visit_relation: ObjectName,
    pre_visit_table_factor: TableFactor,
    post_visit_table_factor: TableFactor,
    pre_visit_expr: Expr,
    post_visit_expr: Expr,
    pre_visit_statement: Statement,
    post_visit_statement: Statement,
    pre_visit_value: ValueWithSpan,
    post_visit_value: ValueWithSpan
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::statements::statement;
    use crate::testing::parsed;

    #[test]
    fn every_kind_of_node_is_visited_and_a_stop_carries_its_value() {
        #[derive(Default)]
        struct Counter([usize; 7], usize);

        macro_rules! count {
            ($($i:literal: $before:ident, $after:ident, $node:ty);*) => {
                impl VisitorMut for Counter {
                    type Break = &'static str;

                    $(fn $before(&mut self, _: &mut $node) -> ControlFlow<&'static str> {
                        self.0[$i] += 1;
                        let stops = self.0.iter().sum::<usize>() == self.1;
                        if stops { ControlFlow::Break("here") } else { ControlFlow::Continue(()) }
                    }

                    fn $after(&mut self, _: &mut $node) -> ControlFlow<&'static str> {
                        self.0[$i] += 100;
                        ControlFlow::Continue(())
                    })*
                }
            };
        }
        count!(
            0: pre_visit_query, post_visit_query, Query;
            1: pre_visit_select, post_visit_select, Select;
            2: pre_visit_relation, post_visit_relation, ObjectName;
            3: pre_visit_table_factor, post_visit_table_factor, TableFactor;
            4: pre_visit_expr, post_visit_expr, Expr;
            5: pre_visit_statement, post_visit_statement, Statement;
            6: pre_visit_value, post_visit_value, ValueWithSpan
        );
        let statement::Statement::Sql(mut parsed) = parsed("SELECT a + 1 FROM t") else { panic!() };
        let mut counter = Counter::default();
        assert_eq!(crate::syntax::tree::visit::visit_statement(&mut parsed, &mut counter), ControlFlow::Continue(()));
        // The sum, the column and the number are expressions.
        assert_eq!(counter.0, [101, 101, 101, 101, 303, 101, 101]);
        let mut counter = Counter([0; 7], 2);
        assert_eq!(crate::syntax::tree::visit::visit_statement(&mut parsed, &mut counter), ControlFlow::Break("here"));
        assert_eq!(counter.0.iter().sum::<usize>(), 2);
    }
}
