//! `avg` of dates and timestamps, as in DuckDB: the exact total divided once. DataFusion 55 has none.
//!
//! Upstream: <https://github.com/apache/datafusion/issues/200>
//! Shows: `SELECT avg(x) = TIMESTAMP '2024-01-02' FROM (VALUES (DATE '2024-01-01'), (DATE '2024-01-03')) AS t(x)` gives `true`

use std::fmt::Debug;
use std::marker::PhantomData;

use arrow::array::ArrowPrimitiveType;
use arrow::datatypes::DataType;
use bonnet_common::{ErrorKind, Raised};
use datafusion::common::{DataFusionError, Result};

use crate::aggregates::exact_accumulators::Finish;
use crate::aggregates::total::Summed;

/// The last step of `avg` of timestamps of this type.
pub(crate) struct Moments<T> {
    to: DataType,
    of: PhantomData<T>,
}

impl<T> Moments<T> {
    pub(crate) fn new(to: &DataType) -> Self {
        Self { to: to.clone(), of: PhantomData }
    }
}

impl<T> Clone for Moments<T> {
    fn clone(&self) -> Self {
        Self::new(&self.to)
    }
}

impl<T> Debug for Moments<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Moments({})", self.to)
    }
}

impl<T: Summed<Native = i64>> Finish for Moments<T> {
    type Of = T;
    type To = T;
    const COUNTS: bool = true;

    fn to(&self) -> &DataType {
        &self.to
    }

    fn scale(&self) -> i8 {
        0
    }

    fn finish(&self, total: i128, count: u64) -> Result<<T as ArrowPrimitiveType>::Native> {
        i64::try_from(total / i128::from(count)).map_err(|_| self.overflow())
    }

    fn overflow(&self) -> DataFusionError {
        Raised::new(ErrorKind::OutOfRange, "overflow: the total of avg is too large").into()
    }
}

/// An expression of the [`Moments`] of a type of timestamps; another expression for other types.
macro_rules! of_moments {
    ($to:expr, $other:expr, |$finish:ident| $made:expr) => {
        match $to {
            DataType::Timestamp(TimeUnit::Second, _) => {
                let $finish = Moments::<TimestampSecondType>::new($to);
                $made
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                let $finish = Moments::<TimestampMillisecondType>::new($to);
                $made
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                let $finish = Moments::<TimestampMicrosecondType>::new($to);
                $made
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                let $finish = Moments::<TimestampNanosecondType>::new($to);
                $made
            }
            _ => $other,
        }
    };
}

pub(crate) use of_moments;
