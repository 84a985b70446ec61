//! Optimization barriers: functions that answer their argument, and into which DataFusion's simplifier does not look. Some
//! of its rules hold for certain types only, or for operands that are neither NULL nor volatile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::datatypes::{Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarUDF};

use crate::same_type_function::{Kernel, written};

/// The expression as one of which no more is known than its type, its nullability and its order.
pub fn opaque(expr: Expr) -> Expr {
    Barrier { nullable: false, identity: 0 }.function().call(vec![expr])
}

/// The expression as one that may be NULL, and of which no more is known than its type and its order.
pub fn nullable(expr: Expr) -> Expr {
    Barrier { nullable: true, identity: 0 }.function().call(vec![expr])
}

/// The expression as one that is equal to no other: each call of a volatile function has a value of its own.
pub fn unique_expression(expr: Expr) -> Expr {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let identity = NEXT.fetch_add(1, Ordering::Relaxed);
    Barrier { nullable: false, identity }.function().call(vec![expr])
}

/// The functions behind [`opaque`] and [`nullable`].
pub(crate) fn functions() -> [Arc<ScalarUDF>; 2] {
    [false, true].map(|nullable| Arc::new(Barrier { nullable, identity: 0 }.function()))
}

/// The identity function, as far as values go.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Barrier {
    nullable: bool,
    /// A number that makes two barriers differ, or 0.
    identity: u64,
}

impl Kernel for Barrier {
    fn name(&self) -> &str {
        if self.nullable { "nullable" } else { "opaque" }
    }

    /// What is around a column once a CASE is simplified may be a key of a join, whose names differ from the columns'.
    fn column_name(arg: &Expr) -> String {
        match arg {
            Expr::Column(_) => format!("barrier({arg})"),
            _ => written(arg),
        }
    }

    fn field(&self, arg: &FieldRef) -> FieldRef {
        let nullable = self.nullable || arg.is_nullable();
        Arc::new(Field::clone(arg).with_nullable(nullable))
    }

    fn ordering(arg: &ExprProperties) -> SortProperties {
        arg.sort_properties
    }

    fn evaluate(&self, arg: &ColumnarValue, _: usize) -> Result<ColumnarValue> {
        Ok(arg.clone())
    }
}
