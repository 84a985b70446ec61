//! A physical expression that evaluates another one, and hides it from optimizer rules or makes it cancellable.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, Schema};
use bonnet_sql::RunningStatement;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_plan::PhysicalExpr;

/// The purpose of a [`WrappedExpression`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Purpose {
    /// The expression is evaluated on rows alone: pruning by statistics does not know the wrapper.
    RowsOnly,
    /// The evaluation fails once the statement is cancelled.
    Cancellation,
}

/// An expression with the value of the one inside.
#[derive(Debug, Eq)]
pub(super) struct WrappedExpression {
    inner: Arc<dyn PhysicalExpr>,
    purpose: Purpose,
}

impl WrappedExpression {
    pub(super) fn new(inner: Arc<dyn PhysicalExpr>, purpose: Purpose) -> Self {
        Self { inner, purpose }
    }
}

// Derived, it would move the expression.
impl PartialEq for WrappedExpression {
    fn eq(&self, other: &Self) -> bool {
        self.purpose == other.purpose && self.inner.eq(&other.inner)
    }
}

impl Hash for WrappedExpression {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.purpose.hash(state);
        self.inner.hash(state);
    }
}

impl fmt::Display for WrappedExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.purpose {
            Purpose::RowsOnly => write!(f, "of_rows({})", self.inner),
            Purpose::Cancellation => self.inner.fmt(f),
        }
    }
}

impl PhysicalExpr for WrappedExpression {
    fn data_type(&self, schema: &Schema) -> Result<DataType> {
        self.inner.data_type(schema)
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.inner.nullable(schema)
    }

    fn return_field(&self, schema: &Schema) -> Result<FieldRef> {
        self.inner.return_field(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        if self.purpose == Purpose::Cancellation {
            RunningStatement::check_current()?;
        }
        self.inner.evaluate(batch)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.inner]
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn PhysicalExpr>>) -> Result<Arc<dyn PhysicalExpr>> {
        match (children.pop(), children.pop()) {
            (Some(inner), None) => Ok(Arc::new(Self::new(inner, self.purpose))),
            _ => internal_err!("WrappedExpression has one child"),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_sql(f)
    }
}
