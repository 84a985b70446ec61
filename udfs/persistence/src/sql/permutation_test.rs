//! `permutation_test(diagram, sample)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    AggregateFunction, AggregateState, Body, Function, OptionValue, Options, Parameter, execution_error, stopped,
    usage_error,
};
use datafusion::common::{Result, ScalarValue};

use super::bytes::{Reader, Writer};
use super::columns::{Diagrams, named_exponent};
use super::diagram::diagram_parameter;
use crate::{Exponent, Point};

const NAME: &str = "permutation_test";

/// The registration.
pub(super) fn permutation_test() -> Function {
    Function::new(NAME, Body::Aggregate(Arc::new(Test)))
        .parameters([
            diagram_parameter("diagram"),
            Parameter::column("sample", "The sample that the diagram is of: two different values in all."),
            Parameter::number_or_text("p", "The exponent of the distance, at least 1, or 'inf' for the supremum.")
                .or(OptionValue::Number(2.0)),
            Parameter::integer("permutations", "The number of random regroupings.").or(OptionValue::Integer(1000)),
            Parameter::seed(),
        ])
        .returns("{distance, p_value, share_above}")
        .description(
            "Whether two samples of diagrams differ. distance: the L^p distance of their mean landscapes, infinite deaths \
             cut as persistence_landscape does, summed over the dimensions. p_value: (1 + the number of regroupings of the \
             same sizes with at least that distance) / (1 + permutations); share_above: the share of regroupings with a \
             larger distance. Rows with a NULL do not count; no rows give NULL.",
        )
        .example(
            "WITH graphs AS (SELECT src % 8 AS id, persistence_diagram(src, dst, dst - src) AS diagram FROM karate.edges \
             GROUP BY src % 8) SELECT permutation_test(diagram, id % 2, permutations => 100)['p_value'] AS p_value FROM graphs",
        )
        .source("Southern et al., Curvature Filtrations for Graph Generative Model Evaluation (NeurIPS 2023), Sec. 4.6")
}

fn fields() -> Fields {
    ["distance", "p_value", "share_above"].into_iter().map(|name| Field::new(name, DataType::Float64, true)).collect()
}

#[derive(Debug)]
struct Test;

impl AggregateFunction for Test {
    fn data_type(&self) -> DataType {
        DataType::Struct(fields())
    }

    fn holds_rows(&self) -> bool {
        true
    }

    fn state(&self, options: &Options) -> Result<Box<dyn AggregateState>> {
        let p = match options.get("p") {
            Some(OptionValue::Number(value)) => match Exponent::new(*value) {
                Some(p) => p,
                None => return usage_error(format!("{NAME}: p => {value}: expected at least 1, or 'inf'")),
            },
            Some(OptionValue::Text(text)) => named_exponent(NAME, text)?,
            _ => return usage_error(format!("{NAME}: p is NULL: expected a number of at least 1, or 'inf'")),
        };
        let permutations = options.integer_from("permutations", 1)?.unwrap_or(1000) as usize;
        let seed = options.integer("seed")?.unwrap_or(0) as u64;
        Ok(Box::new(Samples { p, permutations, seed, names: Vec::new(), rows: Vec::new(), bytes: 0 }))
    }

    fn heavy(&self) -> bool {
        true
    }
}

/// The diagrams of a group, each with the number of its sample's name.
#[derive(Debug)]
struct Samples {
    p: Exponent,
    permutations: usize,
    seed: u64,
    names: Vec<String>,
    rows: Vec<(u8, Vec<Point>)>,
    bytes: usize,
}

impl Samples {
    fn add(&mut self, name: &str, points: Vec<Point>) -> Result<()> {
        let number = match self.names.iter().position(|known| known == name) {
            Some(number) => number,
            None if self.names.len() == 2 => {
                let [a, b] = [&self.names[0], &self.names[1]];
                return Err(execution_error(format!(
                    "{NAME}: sample has more than two values: {a}, {b}, {name}. Choose two with WHERE, or make them two by CASE"
                )));
            }
            None => {
                self.names.push(name.to_owned());
                self.names.len() - 1
            }
        };
        self.bytes += size_of_val(points.as_slice()) + size_of::<(u8, Vec<Point>)>();
        self.rows.push((number as u8, points));
        Ok(())
    }
}

impl AggregateState for Samples {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let diagrams = Diagrams::new(&columns[0], NAME, "diagram")?;
        if columns[1].data_type().is_nested() {
            return usage_error(format!("{NAME}: sample is {}, expected integers or text", columns[1].data_type()));
        }
        let names = cast(&columns[1], &DataType::Utf8)?;
        let names = names.as_string::<i32>();
        for row in 0..names.len() {
            if names.is_null(row) {
                continue;
            }
            if let Some(points) = diagrams.row(row)? {
                self.add(names.value(row), points)?;
            }
        }
        Ok(())
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let mut reader = Reader(bytes);
        let names = (0..reader.count()?).map(|_| reader.text()).collect::<Result<Vec<_>>>()?;
        while !reader.is_empty() {
            let number = reader.count()?;
            let points = reader.points()?;
            self.add(names.get(number).map_or("", String::as_str), points)?;
        }
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.count(self.names.len());
        self.names.iter().for_each(|name| writer.text(name));
        for (number, points) in &self.rows {
            writer.count(usize::from(*number));
            writer.points(points);
        }
        writer.0
    }

    fn value(&self, monitor: &dyn Monitor) -> Result<ScalarValue> {
        if self.rows.is_empty() {
            return ScalarValue::try_from(DataType::Struct(fields()));
        }
        if self.names.len() < 2 {
            return Err(execution_error(format!(
                "{NAME}: all {} diagrams are of the sample {}: a test needs two samples",
                self.rows.len(),
                self.names[0]
            )));
        }
        let _room = Reservation::new(monitor, self.bytes).map_err(stopped)?;
        // The sample whose name comes first is the first, whichever came first.
        let first = u8::from(self.names[1] < self.names[0]);
        let in_first: Vec<bool> = self.rows.iter().map(|(number, _)| *number == first).collect();
        let diagrams = self.rows.iter().map(|(_, points)| points.clone()).collect();
        let test = crate::permutation_test(diagrams, &in_first, self.p, self.permutations, self.seed, monitor)
            .map_err(stopped)?;
        let numbers = [test.distance, test.p_value, test.share_above];
        let columns = numbers.map(|number| Arc::new(Float64Array::from(vec![number])) as ArrayRef);
        Ok(ScalarValue::Struct(Arc::new(StructArray::try_new(fields(), columns.to_vec(), None)?)))
    }

    fn size(&self) -> usize {
        self.bytes
    }
}
