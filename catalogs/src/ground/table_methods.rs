//! Methods of tables as `async_trait` declares them, written out around a plain method with one lifetime.
//!
//! Under the bounds between lifetimes that `async_trait` gives an `async fn`, the compiler proves again for each type inside
//! a plan or an expression that threads may share it, thousands of times: a minute and a half for this crate. A method with
//! one lifetime has no such bounds, and the proofs are made once. So tables that own expressions, or hold them while they
//! wait, take their methods from here.

/// The methods of a `TableProvider`: `scan` by a method that returns a boxed future, the others by methods that wait for
/// nothing and return their plan. `changes` are DELETE and UPDATE, both by a method that takes a
/// [`RowChange`](crate::ground::change_exec::RowChange), as `truncate` does.
macro_rules! table_methods {
    () => {};
    (scan by $method:ident; $($rest:tt)*) => {
        fn scan<'s, 'a, 'b, 'c, 'f>(
            &'s self,
            session: &'a dyn ::datafusion::catalog::Session,
            projection: Option<&'b Vec<usize>>,
            filters: &'c [::datafusion::logical_expr::Expr],
            limit: Option<usize>,
        ) -> $crate::ground::table_methods::Planned<'f>
        where
            's: 'f,
            'a: 'f,
            'b: 'f,
            'c: 'f,
            Self: 'f,
        {
            self.$method(session, projection, filters, limit)
        }
        $crate::ground::table_methods::table_methods! { $($rest)* }
    };
    (insert_into by $method:ident; $($rest:tt)*) => {
        $crate::ground::table_methods::table_methods! {
            @ready insert_into(
                input: ::std::sync::Arc<dyn ::datafusion::physical_plan::ExecutionPlan>,
                insert_op: ::datafusion::logical_expr::dml::InsertOp
            ) by $method(input, insert_op)
        }
        $crate::ground::table_methods::table_methods! { $($rest)* }
    };
    (changes by $method:ident; $($rest:tt)*) => {
        $crate::ground::table_methods::table_methods! {
            @ready delete_from(filters: Vec<::datafusion::logical_expr::Expr>)
            by $method($crate::ground::change_exec::RowChange::delete(filters))
        }
        $crate::ground::table_methods::table_methods! {
            @ready update(
                assignments: Vec<(String, ::datafusion::logical_expr::Expr)>,
                filters: Vec<::datafusion::logical_expr::Expr>
            ) by $method($crate::ground::change_exec::RowChange::update(assignments, filters))
        }
        $crate::ground::table_methods::table_methods! { $($rest)* }
    };
    (truncate by $method:ident; $($rest:tt)*) => {
        $crate::ground::table_methods::table_methods! {
            @ready truncate() by $method($crate::ground::change_exec::RowChange::delete(Vec::new()))
        }
        $crate::ground::table_methods::table_methods! { $($rest)* }
    };
    (@ready $name:ident($($argument:ident: $type:ty),*) by $method:ident($($value:expr),*)) => {
        fn $name<'s, 'a, 'f>(
            &'s self,
            session: &'a dyn ::datafusion::catalog::Session,
            $($argument: $type),*
        ) -> $crate::ground::table_methods::Planned<'f>
        where
            's: 'f,
            'a: 'f,
            Self: 'f,
        {
            Box::pin(::std::future::ready(self.$method(session, $($value),*)))
        }
    };
}
pub(crate) use table_methods;

/// A plan that is being made.
pub(crate) type Planned<'a> = futures::future::BoxFuture<
    'a,
    datafusion::common::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
>;
