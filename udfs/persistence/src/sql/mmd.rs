//! `mmd(descriptor, sample [, kernel => 'gaussian'] [, sigma => 1.0] [, unbiased => false])`.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use bonnet_graph::{Monitor, Reservation};
use bonnet_sql::{
    Column, Function, GraphValue, OptionValue, Options, Parameter, ParameterKind, RowsKernel, execution_error,
    rows_function, stopped, usage_error,
};
use datafusion::common::Result;

use crate::{Kernel, MmdError};

const NAME: &str = "mmd";

/// The registration.
pub fn mmd() -> Function {
    let descriptor = Parameter::column("descriptor", "A graph's vector, e.g. degree_histogram(src, dst).");
    rows_function(NAME, DataType::Float64, bind).heavy()
        .parameters([
            Parameter { kind: ParameterKind::Column(Column::Of(Vec::<f64>::data_type())), ..descriptor },
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

fn bind(options: &Options) -> Result<RowsKernel> {
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
    Ok(Box::new(move |groups, monitor| {
        let columns = groups.columns();
        let (descriptors, names) = (columns[0].as_list::<i32>(), cast(&columns[1], &DataType::Utf8)?);
        let names = names.as_string::<i32>();
        let values = groups.map(|group| {
            let offsets = descriptors.value_offsets();
            let numbers = (offsets[group.end] - offsets[group.start]) as usize;
            let _reservation = Reservation::new(monitor, 8 * numbers + 24 * group.len()).map_err(stopped)?;
            let mut samples: Samples = BTreeMap::new();
            for row in group {
                let vector = descriptors.value(row);
                let vector = vector.as_primitive::<Float64Type>();
                if vector.null_count() > 0 {
                    let sample = names.value(row);
                    return Err(execution_error(format!("{NAME}: a descriptor of sample '{sample}' has a NULL in it")));
                }
                samples.entry(names.value(row)).or_default().push(vector.values().to_vec());
            }
            of_samples(&samples, kernel, unbiased, monitor)
        })?;
        Ok(Arc::new(Float64Array::from(values)))
    }))
}

/// The vectors of each sample, by its name.
type Samples<'a> = BTreeMap<&'a str, Vec<Vec<f64>>>;

/// The discrepancy of two samples; `None` without any.
fn of_samples(samples: &Samples, kernel: Kernel, unbiased: bool, monitor: &dyn Monitor) -> Result<Option<f64>> {
    let mut there = samples.iter();
    let ((first, a), (second, b)) = match (there.next(), there.next(), there.next()) {
        (None, ..) => return Ok(None),
        (Some(first), Some(second), None) => (first, second),
        (Some((only, _)), None, _) => {
            return Err(execution_error(format!("{NAME}: all rows are of the sample '{only}'; two are compared")));
        }
        _ => {
            let names: Vec<&str> = samples.keys().take(3).copied().collect();
            return Err(execution_error(format!(
                "{NAME}: two samples are compared, and there are the samples '{}'; keep two: WHERE sample IN (...)",
                names.join("', '")
            )));
        }
    };
    match crate::mmd(a, b, kernel, unbiased, monitor) {
        Ok(value) => Ok(Some(value)),
        Err(MmdError::Stopped(reason)) => Err(stopped(reason)),
        Err(error) => Err(execution_error(format!("{NAME}: samples '{first}' and '{second}': {error}"))),
    }
}
