//! `adjusted_rand_index(a, b)` and `purity(class, label)`: aggregates of a table of pairs.

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
const PURITY: &str = "purity";

/// The registration.
pub fn adjusted_rand_index() -> Function {
    Function::new(NAME, Body::Aggregate(Arc::new(OfPairs { name: NAME, value: crate::adjusted_rand_index })))
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

/// The registration of `purity`.
pub fn purity() -> Function {
    Function::new(PURITY, Body::Aggregate(Arc::new(OfPairs { name: PURITY, value: crate::purity })))
        .parameters([
            Parameter::column("class", "The item's class or cluster: any values."),
            Parameter::column("label", "Its label."),
        ])
        .returns("DOUBLE")
        .description(
            "The share of items whose label is the most frequent one of their class: the best accuracy of anything that gives all              items of a class one answer. With colours of wl_colors as classes of nodes, or wl_hash as the class of a graph, no model              that passes messages along edges and sees nothing else can be more accurate. Rows with a NULL do not count; no rows give              NULL.",
        )
        .example("SELECT purity(color, node % 2) AS ceiling FROM wl_colors(karate.edges)")
        .source("Manning, Raghavan and Schuetze, Introduction to Information Retrieval (2008), Eq. 16.1")
}

/// A number of the table of two columns.
#[derive(Debug)]
struct OfPairs {
    name: &'static str,
    value: fn(&Contingency) -> Option<f64>,
}

impl AggregateFunction for OfPairs {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn state(&self, _: &Options) -> Result<Box<dyn AggregateState>> {
        Ok(Box::new(Pairs {
            name: self.name,
            value: self.value,
            a: Names::default(),
            b: Names::default(),
            table: Contingency::default(),
        }))
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

#[derive(Debug)]
struct Pairs {
    name: &'static str,
    value: fn(&Contingency) -> Option<f64>,
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
        let (a, b, counts): PairCountsState = serde_json::from_slice(bytes).map_err(|_| damaged(self.name))?;
        let a: Vec<u32> = a.iter().map(|name| self.a.number(name)).collect();
        let b: Vec<u32> = b.iter().map(|name| self.b.number(name)).collect();
        for (of_a, of_b, count) in counts {
            let (Some(&of_a), Some(&of_b)) = (a.get(of_a as usize), b.get(of_b as usize)) else {
                return Err(damaged(self.name));
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
        Ok(ScalarValue::Float64((self.value)(&self.table)))
    }

    fn size(&self) -> usize {
        self.a.bytes() + self.b.bytes() + self.table.bytes()
    }
}
