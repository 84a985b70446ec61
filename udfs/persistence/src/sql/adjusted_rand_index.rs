//! `adjusted_rand_index(a, b)`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use bonnet_graph::Monitor;
use bonnet_sql::{AggregateFunction, AggregateState, Body, Function, Options, Parameter, execution_error};
use datafusion::common::{Result, ScalarValue};

use super::descriptors::damaged;
use crate::Contingency;

const NAME: &str = "adjusted_rand_index";

/// The registration.
pub fn adjusted_rand_index() -> Function {
    Function::new(NAME, Body::Aggregate(Arc::new(Index)))
        .parameters([
            Parameter::column("a", "The item's cluster or class in one clustering: any values."),
            Parameter::column("b", "Its cluster in the other."),
        ])
        .returns("DOUBLE")
        .description(
            "How well two clusterings of the same items agree, corrected for chance: 1 where they are the same up to \
             names, 0 in the mean over random ones of the same sizes. Rows with a NULL do not count; no rows give NULL.",
        )
        .example("SELECT adjusted_rand_index(a, b) FROM (VALUES (0, 'x'), (0, 'x'), (1, 'y'), (1, 'z')) t(a, b)")
        .source("Hubert and Arabie, Comparing partitions (1985), Eq. 5")
}

#[derive(Debug)]
struct Index;

impl AggregateFunction for Index {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn state(&self, _: &Options) -> Result<Box<dyn AggregateState>> {
        Ok(Box::new(Pairs::default()))
    }
}

/// The names of a clustering's clusters, numbered as they come.
#[derive(Debug, Default)]
struct Names(HashMap<String, u32>);

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        let next = self.0.len() as u32;
        match self.0.get(name) {
            Some(number) => *number,
            None => {
                self.0.insert(name.to_owned(), next);
                next
            }
        }
    }

    fn in_order(&self) -> Vec<&str> {
        let mut names: Vec<(&u32, &String)> = self.0.iter().map(|(name, number)| (number, name)).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name.as_str()).collect()
    }

    fn bytes(&self) -> usize {
        self.0.keys().map(|name| name.capacity() + 40).sum()
    }
}

#[derive(Debug, Default)]
struct Pairs {
    a: Names,
    b: Names,
    table: Contingency,
}

/// The state of a partition: the names of both sides and the counts of pairs.
type PairCountsState = (Vec<String>, Vec<String>, Vec<(u32, u32, u64)>);

impl AggregateState for Pairs {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let text = |column: &ArrayRef| -> Result<StringArray> {
            Ok(cast(column, &DataType::Utf8)?.as_string::<i32>().clone())
        };
        let (a, b) = (text(&columns[0])?, text(&columns[1])?);
        for (a, b) in a.iter().zip(&b) {
            if let (Some(a), Some(b)) = (a, b) {
                let (a, b) = (self.a.number(a), self.b.number(b));
                self.table.add(a, b, 1);
            }
        }
        Ok(())
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let (a, b, counts): PairCountsState = serde_json::from_slice(bytes).map_err(|_| damaged(NAME))?;
        let a: Vec<u32> = a.iter().map(|name| self.a.number(name)).collect();
        let b: Vec<u32> = b.iter().map(|name| self.b.number(name)).collect();
        for (of_a, of_b, count) in counts {
            let (Some(&of_a), Some(&of_b)) = (a.get(of_a as usize), b.get(of_b as usize)) else {
                return Err(damaged(NAME));
            };
            self.table.add(of_a, of_b, count);
        }
        Ok(())
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        let written = (self.a.in_order(), self.b.in_order(), self.table.counts());
        serde_json::to_vec(&written).map_err(|error| execution_error(error.to_string()))
    }

    fn value(&self, _: &dyn Monitor) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(crate::adjusted_rand_index(&self.table)))
    }

    fn size(&self) -> usize {
        self.a.bytes() + self.b.bytes() + self.table.bytes()
    }
}
