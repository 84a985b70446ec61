//! Shares of the jobs of a call, for processes that train one list of jobs beside each other: its option `share`.

use arrow::array::RecordBatch;
use bonnet_sql::{Call, Parameter, usage_error};
use datafusion::common::Result;

use crate::sql::provenance::for_each_row_hash;

/// The option.
pub(in crate::sql) const SHARE: &str = "share";

/// The option as the functions over jobs declare it.
pub(in crate::sql) fn parameter() -> Parameter {
    Parameter::text(
        SHARE,
        "'i/n' runs the i-th of n shares of the jobs alone, i from 1 to n: n processes with the same statement run every job once. A job's \
         share follows from what it says, not from its place or from the other jobs, so it is the same when jobs that are done are left \
         out.",
    )
    .optional()
}

/// One of several shares of the jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sql) struct Share {
    /// Counted from 0.
    number: u64,
    of: u64,
}

impl Share {
    /// The share that a call asks for, if it asks for one.
    ///
    /// # Errors
    /// If the option is not `i/n` with `i` from 1 to `n`.
    pub fn of_call(function: &str, call: &Call) -> Result<Option<Self>> {
        let Some(text) = call.options.text(SHARE)? else { return Ok(None) };
        match Self::parse(text) {
            Some(share) => Ok(Some(share)),
            None => usage_error(format!(
                "{function}: {SHARE} => '{text}': expected 'i/n' with i from 1 to n, such as '1/4', '2/4', '3/4' and '4/4' for four processes"
            )),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (number, of) = text.split_once('/')?;
        let [number, of] = [number, of].map(|part| part.trim().parse::<u64>().ok());
        let (number, of) = (number?, of?);
        (1..=of).contains(&number).then(|| Self { number: number - 1, of })
    }

    /// Which rows of a batch of jobs are of this share, by the values of the columns that mean something to a run, in whatever order
    /// these stand. O(bytes).
    ///
    /// # Errors
    /// If a column's values cannot be compared, which none of a job's lacks.
    pub fn rows(self, batch: &RecordBatch, means_something: impl Fn(&str) -> bool) -> Result<Vec<bool>> {
        let schema = batch.schema();
        let mut columns: Vec<_> =
            schema.fields().iter().zip(batch.columns()).filter(|(field, _)| means_something(field.name())).collect();
        columns.sort_by_key(|(field, _)| field.name());
        let columns: Vec<_> = columns.into_iter().map(|(_, column)| column.clone()).collect();
        if columns.is_empty() {
            // All jobs are the same: the options of the call.
            return Ok(vec![self.number == 0; batch.num_rows()]);
        }
        let mut ours = Vec::with_capacity(batch.num_rows());
        for_each_row_hash("jobs", &columns, |hash| ours.push(hash % self.of == self.number))?;
        Ok(ours)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int32Array, Int64Array, StringArray};

    use super::*;

    fn jobs(rows: std::ops::Range<i64>) -> RecordBatch {
        let models: ArrayRef =
            Arc::new(StringArray::from_iter_values(rows.clone().map(|i| ["gcn", "mlp"][i as usize % 2])));
        let seeds: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.clone().map(|i| i / 2)));
        let notes: ArrayRef = Arc::new(Int64Array::from_iter_values(rows));
        RecordBatch::try_from_iter([("model", models), ("seed", seeds), ("note", notes)]).unwrap()
    }

    fn rows(share: &str, batch: &RecordBatch) -> Vec<bool> {
        Share::parse(share).unwrap().rows(batch, |name| name != "note").unwrap()
    }

    #[test]
    fn every_job_is_in_one_share() {
        let batch = jobs(0..1000);
        for n in [1, 2, 3, 7] {
            let shares: Vec<_> = (1..=n).map(|i| rows(&format!("{i}/{n}"), &batch)).collect();
            for row in 0..batch.num_rows() {
                assert_eq!(shares.iter().filter(|share| share[row]).count(), 1, "job {row} of {n} shares");
            }
            for share in shares {
                // Five deviations of a binomial distribution about its mean.
                let (count, p) = (share.iter().filter(|mine| **mine).count() as f64, 1.0 / n as f64);
                assert!((count - 1000.0 * p).abs() <= 5.0 * (1000.0 * p * (1.0 - p)).sqrt(), "{count} of {n} shares");
            }
        }
    }

    #[test]
    fn a_job_is_in_the_same_share_wherever_it_stands() {
        let whole = rows("2/3", &jobs(0..100));
        assert_eq!(rows("2/3", &jobs(40..60)), whole[40..60]);
        // Neither the order of the columns matters, nor the width of a number, nor a column that means nothing.
        let batch = jobs(0..100);
        let seeds = Int32Array::from_iter_values((0..100).map(|i| i / 2));
        let turned = [("seed", Arc::new(seeds) as ArrayRef), ("model", Arc::clone(batch.column(0)))];
        assert_eq!(rows("2/3", &RecordBatch::try_from_iter(turned).unwrap()), whole);
    }

    #[test]
    fn shares_are_counted_from_1() {
        assert_eq!(Share::parse("1/4"), Some(Share { number: 0, of: 4 }));
        assert_eq!(Share::parse(" 4 / 4 "), Some(Share { number: 3, of: 4 }));
        for text in ["", "1", "0/4", "5/4", "1/0", "0/0", "-1/4", "1/4/2", "a/b", "1.0/4"] {
            assert_eq!(Share::parse(text), None, "{text:?}");
        }
    }
}
