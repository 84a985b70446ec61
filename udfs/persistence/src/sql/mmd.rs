//! `mmd(descriptor, sample [, kernel => 'gaussian'] [, sigma => 1.0] [, unbiased => false])`.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::Monitor;
use bonnet_sql::{
    AggregateFunction, AggregateState, Body, Column, Function, OptionValue, Options, Parameter, ParameterKind,
    execution_error, stopped, usage_error,
};
use datafusion::common::{Result, ScalarValue};

use super::descriptors::{damaged, vector_type};
use crate::{Kernel, MmdError, mmd};

const NAME: &str = "mmd";

/// The registration.
pub fn function() -> Function {
    let descriptor = Parameter::column("descriptor", "A graph's vector, e.g. degree_histogram(src, dst).");
    Function::new(NAME, Body::Aggregate(Arc::new(Mmd)))
        .parameters([
            Parameter { kind: ParameterKind::Column(Column::Of(vector_type())), ..descriptor },
            Parameter::column("sample", "Which of the two samples the graph belongs to: any two different values."),
            Parameter::text("kernel", "'gaussian' on the Euclidean distance, 'gaussian_emd' on the earth mover's, or 'linear'.")
                .or(OptionValue::Text("gaussian".into())),
            Parameter::number("sigma", "The width of the Gaussian; for 'gaussian_emd' in bins.").or(OptionValue::Number(1.0)),
            Parameter::boolean("unbiased", false, "Whether to leave out the pairs of a vector with itself."),
        ])
        .returns("DOUBLE")
        .description(
            "The squared maximum mean discrepancy between two samples of vectors, kernel exp(-d^2 / (2 sigma^2)). Shorter \
             vectors are filled up with zeros. 'gaussian_emd' divides each vector by its sum and takes its components to lie \
             1 apart (a distance in units of s bins is sigma => s times the width). Rows with a NULL do not count; no rows \
             give NULL; one sample only is an error.",
        )
        .example(
            "SELECT mmd(d, s, kernel => 'gaussian_emd') FROM (SELECT degree_histogram(src, dst) AS d, 'a' AS s FROM \
             karate.edges UNION ALL SELECT degree_histogram(src, dst), 'b' FROM cycle(34))",
        )
        .source("Gretton et al., A Kernel Two-Sample Test (JMLR 2012), Eq. 3 and 5; You et al., GraphRNN (ICML 2018)")
}

#[derive(Debug)]
struct Mmd;

impl AggregateFunction for Mmd {
    fn data_type(&self) -> DataType {
        DataType::Float64
    }

    fn holds_rows(&self) -> bool {
        true
    }

    fn heavy(&self) -> bool {
        true
    }

    fn state(&self, options: &Options) -> Result<Box<dyn AggregateState>> {
        let sigma = options.number("sigma")?.unwrap_or(1.0);
        if !(sigma > 0.0 && sigma.is_finite()) {
            return usage_error(format!("{NAME}: {}", MmdError::Sigma(sigma)));
        }
        let kernel = match options.text("kernel")?.unwrap_or("gaussian") {
            "gaussian" => Kernel::Gaussian { sigma },
            "gaussian_emd" => Kernel::GaussianEmd { sigma },
            "linear" => Kernel::Linear,
            other => {
                return usage_error(format!(
                    "{NAME}: kernel => '{other}': expected 'gaussian', 'gaussian_emd' or 'linear'"
                ));
            }
        };
        let unbiased = options.boolean("unbiased")?.unwrap_or(false);
        Ok(Box::new(Samples { kernel, unbiased, vectors: BTreeMap::new(), bytes: 0 }))
    }
}

#[derive(Debug)]
struct Samples {
    kernel: Kernel,
    unbiased: bool,
    vectors: BTreeMap<String, Vec<Vec<f64>>>,
    bytes: usize,
}

impl Samples {
    fn add(&mut self, sample: &str, vector: Vec<f64>) -> Result<()> {
        self.bytes += 24 + 8 * vector.capacity();
        if let Some(vectors) = self.vectors.get_mut(sample) {
            vectors.push(vector);
            return Ok(());
        }
        if self.vectors.len() == 2 {
            let names: Vec<&str> = self.vectors.keys().map(String::as_str).chain([sample]).collect();
            return Err(execution_error(format!(
                "{NAME}: two samples are compared, and there are the samples '{}'; keep two: WHERE sample IN (...)",
                names.join("', '")
            )));
        }
        self.vectors.insert(sample.to_owned(), vec![vector]);
        Ok(())
    }
}

impl AggregateState for Samples {
    fn update(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let descriptors = columns[0].as_list::<i32>();
        let samples = cast(&columns[1], &DataType::Utf8)?;
        let samples = samples.as_string::<i32>();
        for row in 0..descriptors.len() {
            if descriptors.is_null(row) || samples.is_null(row) {
                continue;
            }
            let values = descriptors.value(row);
            let values = values.as_primitive::<Float64Type>();
            if values.null_count() > 0 {
                return Err(execution_error(format!(
                    "{NAME}: a descriptor of sample '{}' has a NULL in it",
                    samples.value(row)
                )));
            }
            self.add(samples.value(row), values.values().to_vec())?;
        }
        Ok(())
    }

    fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        let mut word = || -> Result<[u8; 8]> {
            let (word, after) = rest.split_first_chunk::<8>().ok_or_else(|| damaged(NAME))?;
            rest = after;
            Ok(*word)
        };
        for _ in 0..u64::from_le_bytes(word()?) {
            let name = (0..u64::from_le_bytes(word()?)).map(|_| Ok(word()?[0])).collect::<Result<Vec<u8>>>()?;
            let name = String::from_utf8(name).map_err(|_| damaged(NAME))?;
            for _ in 0..u64::from_le_bytes(word()?) {
                let length = u64::from_le_bytes(word()?);
                let vector = (0..length).map(|_| Ok(f64::from_le_bytes(word()?))).collect::<Result<Vec<f64>>>()?;
                self.add(&name, vector)?;
            }
        }
        Ok(())
    }

    /// Numbers and letters of 8 bytes each: counts, names, lengths, components.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut word = |word: u64| bytes.extend(word.to_le_bytes());
        word(self.vectors.len() as u64);
        for (name, vectors) in &self.vectors {
            word(name.len() as u64);
            name.bytes().for_each(|letter| word(u64::from(letter)));
            word(vectors.len() as u64);
            for vector in vectors {
                word(vector.len() as u64);
                vector.iter().for_each(|value| word(value.to_bits()));
            }
        }
        bytes
    }

    fn value(&self, monitor: &dyn Monitor) -> Result<ScalarValue> {
        let mut samples = self.vectors.iter();
        let Some((first, a)) = samples.next() else { return Ok(ScalarValue::Float64(None)) };
        let Some((second, b)) = samples.next() else {
            return Err(execution_error(format!("{NAME}: all rows are of the sample '{first}'; two are compared")));
        };
        match mmd(a, b, self.kernel, self.unbiased, monitor) {
            Ok(value) => Ok(ScalarValue::Float64(Some(value))),
            Err(MmdError::Stopped(reason)) => Err(stopped(reason)),
            Err(error) => Err(execution_error(format!("{NAME}: samples '{first}' and '{second}': {error}"))),
        }
    }

    fn size(&self) -> usize {
        self.bytes
    }
}
