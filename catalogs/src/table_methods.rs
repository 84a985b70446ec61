//! Methods of tables as `async_trait` declares them, written out around a plain method with one lifetime.
//!
//! Under the bounds between lifetimes that `async_trait` gives an `async fn`, the compiler proves again for each type inside
//! a plan or an expression that threads may share it, thousands of times: a minute and a half for this crate. A method with
//! one lifetime has no such bounds, and the proofs are made once. So tables that own expressions, or hold them while they
//! wait, take their methods from here.

/// The methods of a `TableProvider`: `scan` by a method that returns a boxed future, the others by methods that wait for
/// nothing and return their plan.
macro_rules! table_methods {
    () => {};
    (scan by $method:ident; $($rest:tt)*) => {
        fn scan<'s, 'a, 'b, 'c, 'f>(
            &'s self,
            session: &'a dyn ::datafusion::catalog::Session,
            projection: Option<&'b Vec<usize>>,
            filters: &'c [::datafusion::logical_expr::Expr],
            limit: Option<usize>,
        ) -> $crate::table_methods::Planned<'f>
        where
            's: 'f,
            'a: 'f,
            'b: 'f,
            'c: 'f,
            Self: 'f,
        {
            self.$method(session, projection, filters, limit)
        }
        $crate::table_methods::table_methods! { $($rest)* }
    };
    (insert_into by $method:ident; $($rest:tt)*) => {
        $crate::table_methods::table_methods! {
            @ready insert_into by $method(
                input: ::std::sync::Arc<dyn ::datafusion::physical_plan::ExecutionPlan>,
                insert_op: ::datafusion::logical_expr::dml::InsertOp
            )
        }
        $crate::table_methods::table_methods! { $($rest)* }
    };
    (delete_from by $method:ident; $($rest:tt)*) => {
        $crate::table_methods::table_methods! {
            @ready delete_from by $method(filters: Vec<::datafusion::logical_expr::Expr>)
        }
        $crate::table_methods::table_methods! { $($rest)* }
    };
    (update by $method:ident; $($rest:tt)*) => {
        $crate::table_methods::table_methods! {
            @ready update by $method(
                assignments: Vec<(String, ::datafusion::logical_expr::Expr)>,
                filters: Vec<::datafusion::logical_expr::Expr>
            )
        }
        $crate::table_methods::table_methods! { $($rest)* }
    };
    (truncate by $method:ident; $($rest:tt)*) => {
        $crate::table_methods::table_methods! { @ready truncate by $method() }
        $crate::table_methods::table_methods! { $($rest)* }
    };
    (@ready $name:ident by $method:ident($($argument:ident: $type:ty),*)) => {
        fn $name<'s, 'a, 'f>(
            &'s self,
            session: &'a dyn ::datafusion::catalog::Session,
            $($argument: $type),*
        ) -> $crate::table_methods::Planned<'f>
        where
            's: 'f,
            'a: 'f,
            Self: 'f,
        {
            Box::pin(::std::future::ready(self.$method(session, $($argument),*)))
        }
    };
}
pub(crate) use table_methods;

/// A plan that is being made.
pub(crate) type Planned<'a> = futures::future::BoxFuture<
    'a,
    datafusion::common::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
>;
